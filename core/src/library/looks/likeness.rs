//! How alike an image is to what is looked for, and the vectors by which an index finds it.

use std::borrow::Cow;

use super::Look;
use crate::library::brought_vector::BroughtVector;
use crate::library::glimpse::{Glimpse, GlimpseLikeness, without};
use crate::picture::appearance::Appearance;

/// What is known of an image's look.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "where many are held, all are of one kind")]
pub(in crate::library) enum Seen<'a> {
    /// Its appearance.
    Appearance(Cow<'a, Appearance>),
    /// What the network sees in it.
    Network(Cow<'a, Glimpse>),
    /// Its vector of a set that the user brought, of its words or of its elements.
    Vector(BroughtVector),
}

impl Seen<'_> {
    /// The same, on its own.
    pub(super) fn into_owned(self) -> Seen<'static> {
        match self {
            Self::Appearance(appearance) => Seen::Appearance(Cow::Owned(appearance.into_owned())),
            Self::Network(glimpse) => Seen::Network(Cow::Owned(glimpse.into_owned())),
            Self::Vector(vector) => Seen::Vector(vector),
        }
    }

    /// The vector whose cosine with others is their likeness, or most of it.
    pub(in crate::library) fn vector(&self, look: &Look, common: &[f64]) -> Vec<f32> {
        let whole = |values: &[i16]| values.iter().map(|value| f32::from(*value)).collect();
        match self {
            Self::Appearance(appearance) => whole(match look {
                Look::Edges => appearance.edges(),
                Look::Colours => appearance.colours(),
                _ => appearance.whole(),
            }),
            Self::Network(glimpse) => without(glimpse, common).into_iter().map(|value| value as f32).collect(),
            Self::Vector(vector) => whole(vector.values()),
        }
    }
}

/// Measures how alike images are to one.
#[derive(Debug)]
pub(in crate::library) struct Likeness {
    look: Look,
    to: Seen<'static>,
    /// Where it is what the network sees: what is common to all images is taken off.
    network: Option<GlimpseLikeness>,
    common: Vec<f64>,
}

impl Likeness {
    /// A measure of how alike images are to one, by these vectors; `common` is what is common to
    /// the vectors of all images, where that is taken off.
    pub(super) fn new(look: Look, to: Seen<'static>, common: Vec<f64>) -> Self {
        let network = match &to {
            Seen::Network(glimpse) => Some(GlimpseLikeness::around(glimpse, common.clone())),
            Seen::Appearance(_) | Seen::Vector(_) => None,
        };
        Self { look, to, network, common }
    }

    /// The vectors that it compares.
    pub(super) fn look(&self) -> &Look {
        &self.look
    }

    /// What is common to the vectors of all images, where that is taken off.
    pub(super) fn common(&self) -> &[f64] {
        &self.common
    }

    /// The vector that is looked for in an index.
    pub(super) fn vector(&self) -> Vec<f32> {
        self.to.vector(&self.look, &self.common)
    }

    /// How alike an image is; `None` where something else is known of it.
    pub(super) fn of(&self, seen: &Seen<'_>) -> Option<f64> {
        match (&self.to, seen) {
            (Seen::Appearance(one), Seen::Appearance(other)) => Some(match self.look {
                Look::Edges => one.edge_likeness(other),
                Look::Colours => one.colour_likeness(other),
                _ => one.likeness(other),
            }),
            (Seen::Network(_), Seen::Network(other)) => self.network.as_ref().map(|likeness| likeness.of(other)),
            (Seen::Vector(one), Seen::Vector(other)) => Some(one.cosine(other)),
            _ => None,
        }
    }
}
