//! How alike an image is to what is looked for, and the vectors by which an index finds it.

use std::borrow::Cow;

use super::Look;
use crate::library::glimpse::{Glimpse, GlimpseLikeness, without};
use crate::picture::appearance::Appearance;

/// What is known of an image's look.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "where many are held, all are of one kind")]
pub(in crate::library) enum Seen<'a> {
    /// Its appearance, of which one or both parts are compared.
    Appearance(Look, Cow<'a, Appearance>),
    /// What the network sees in it.
    Network(Cow<'a, Glimpse>),
}

impl Seen<'_> {
    /// The same, on its own.
    pub(super) fn into_owned(self) -> Seen<'static> {
        match self {
            Self::Appearance(look, appearance) => Seen::Appearance(look, Cow::Owned(appearance.into_owned())),
            Self::Network(glimpse) => Seen::Network(Cow::Owned(glimpse.into_owned())),
        }
    }

    /// The vector whose cosine with others is their likeness, or most of it.
    pub(super) fn vector(&self, common: &[f64]) -> Vec<f32> {
        match self {
            Self::Appearance(look, appearance) => values(*look, appearance),
            Self::Network(glimpse) => without(glimpse, common).into_iter().map(|value| value as f32).collect(),
        }
    }
}

/// The values of an appearance that are compared.
fn values(look: Look, appearance: &Appearance) -> Vec<f32> {
    let part = match look {
        Look::Edges => appearance.edges(),
        Look::Colours => appearance.colours(),
        Look::Appearance | Look::Network => appearance.whole(),
    };
    part.iter().map(|value| f32::from(*value)).collect()
}

/// Measures how alike images are to one.
#[derive(Debug)]
pub(in crate::library) enum Likeness<'a> {
    Appearance(Look, &'a Appearance),
    Network(GlimpseLikeness<'a>, &'a Glimpse),
}

impl<'a> Likeness<'a> {
    pub(super) fn appearance(look: Look, appearance: &'a Appearance) -> Self {
        Self::Appearance(look, appearance)
    }

    pub(super) fn network(glimpse: &'a Glimpse, common: Vec<f64>) -> Self {
        Self::Network(GlimpseLikeness::around(glimpse, common), glimpse)
    }

    /// A measure of how alike others are to what was seen.
    pub(super) fn to(seen: &'a Seen<'_>, common: &[f64]) -> Self {
        match seen {
            Seen::Appearance(look, appearance) => Self::appearance(*look, appearance),
            Seen::Network(glimpse) => Self::network(glimpse, common.to_vec()),
        }
    }

    /// The vectors that it compares.
    pub(super) fn look(&self) -> Look {
        match self {
            Self::Appearance(look, _) => *look,
            Self::Network(..) => Look::Network,
        }
    }

    /// The vector that is looked for in an index.
    pub(super) fn vector(&self, common: &[f64]) -> Vec<f32> {
        match self {
            Self::Appearance(look, appearance) => values(*look, appearance),
            Self::Network(_, glimpse) => Seen::Network(Cow::Borrowed(*glimpse)).vector(common),
        }
    }

    /// How alike an image is; `None` where something else is known of it.
    pub(super) fn of(&self, seen: &Seen<'_>) -> Option<f64> {
        match (self, seen) {
            (Self::Appearance(Look::Edges, one), Seen::Appearance(_, other)) => Some(one.edge_likeness(other)),
            (Self::Appearance(Look::Colours, one), Seen::Appearance(_, other)) => Some(one.colour_likeness(other)),
            (Self::Appearance(..), Seen::Appearance(_, other)) => match self {
                Self::Appearance(_, one) => Some(one.likeness(other)),
                Self::Network(..) => None,
            },
            (Self::Network(likeness, _), Seen::Network(other)) => Some(likeness.of(other)),
            (Self::Appearance(..), Seen::Network(_)) | (Self::Network(..), Seen::Appearance(..)) => None,
        }
    }
}
