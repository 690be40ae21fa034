//! The elements of a training image: in memory, or on a shelf that they are read from whenever they
//! are compared. A machine answers the same either way.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use super::element::{Cut, ElementSet, Elements};
use super::options::CkmOptions;
use super::outline::{Outline, Outlines};
use super::weights::ImageWeights;

/// Where elements are read from.
pub trait Shelf: Debug + Send + Sync {
    /// The elements under a key; `None` where they are lost. The same ones each time.
    fn read(&self, key: u128) -> Option<Arc<Elements>>;

    /// What was kept of the outlines that a machine with these options had of the elements; with
    /// them it can be made without reading any.
    fn outlines(&self, _options: &CkmOptions) -> Outlines {
        Outlines::default()
    }
}

/// The elements of a training image.
#[derive(Clone, Debug)]
pub struct Kept(Place);

#[derive(Clone, Debug)]
enum Place {
    Here(Elements),
    Away(Away),
}

/// What is known of elements that are on a shelf.
#[derive(Clone, Debug)]
pub(super) struct Away {
    pub(super) shelf: Arc<dyn Shelf>,
    pub(super) key: u128,
    pub(super) size: (u32, u32),
    /// The bytes that they take where they are read.
    pub(super) bytes: u32,
    /// How many there are of each kind.
    pub(super) counts: Box<[u32]>,
    cut: Arc<Cut>,
    /// None where all are 0.
    weights: Option<Arc<ImageWeights>>,
}

/// Elements that are in memory as long as this is.
#[derive(Debug)]
pub enum Held<'a> {
    /// Those of a machine.
    Here(&'a Elements),
    /// Those that were read.
    Read(Arc<Elements>),
}

impl Deref for Held<'_> {
    type Target = Elements;

    fn deref(&self) -> &Elements {
        match self {
            Self::Here(elements) => elements,
            Self::Read(elements) => elements,
        }
    }
}

impl From<Elements> for Kept {
    fn from(elements: Elements) -> Self {
        Self(Place::Here(elements))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        *self.get() == *other.get()
    }
}

impl Kept {
    /// The elements, read where they are not in memory. Where they are lost there are none.
    pub fn get(&self) -> Held<'_> {
        match &self.0 {
            Place::Here(elements) => Held::Here(elements),
            Place::Away(away) => Held::Read(away.read()),
        }
    }

    /// The same elements, which must be on `shelf` under `key`, out of memory.
    #[must_use]
    pub fn put_away(&self, shelf: &Arc<dyn Shelf>, key: u128) -> Self {
        let Place::Here(elements) = &self.0 else { return self.clone() };
        let counts = elements.sets.iter().map(|set| set.len() as u32).collect();
        let (size, bytes, cut) = (elements.size, elements.bytes() as u32, Arc::clone(&elements.cut));
        let weights = kept_weights(weights_of(elements));
        Self(Place::Away(Away { shelf: Arc::clone(shelf), key, size, bytes, counts, cut, weights }))
    }

    /// Elements that are on `shelf` under `key`, by their outline.
    pub(super) fn away(shelf: &Arc<dyn Shelf>, key: u128, outline: &Outline, cut: &Arc<Cut>) -> Self {
        let Outline { size, bytes, counts, .. } = outline;
        let (shelf, cut) = (Arc::clone(shelf), Arc::clone(cut));
        Self(Place::Away(Away { shelf, key, size: *size, bytes: *bytes, counts: counts.clone(), cut, weights: None }))
    }

    /// What is known of elements out of memory.
    pub(super) fn away_from_here(&self) -> Option<&Away> {
        match &self.0 {
            Place::Here(_) => None,
            Place::Away(away) => Some(away),
        }
    }

    /// Whether they are in memory.
    pub fn is_here(&self) -> bool {
        matches!(self.0, Place::Here(_))
    }

    /// Width and height of the image in its own pixels.
    pub fn size(&self) -> (u32, u32) {
        match &self.0 {
            Place::Here(elements) => elements.size,
            Place::Away(away) => away.size,
        }
    }

    /// How many elements there are of each kind.
    pub fn counts(&self) -> impl Iterator<Item = usize> {
        let (sets, counts): (&[_], &[u32]) = match &self.0 {
            Place::Here(elements) => (&elements.sets, &[]),
            Place::Away(away) => (&[], &away.counts),
        };
        sets.iter().map(ElementSet::len).chain(counts.iter().map(|count| *count as usize))
    }

    /// The number of elements of all kinds.
    pub fn len(&self) -> usize {
        self.counts().sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that they take in memory now.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Place::Here(elements) => elements.bytes(),
            Place::Away(away) => {
                let weights = away.weights.as_ref().map_or(0, |weights| weights.iter().map(|weights| size_of_val(&weights[..])).sum());
                size_of_val(&*away.counts) + weights
            }
        }
    }

    pub(super) fn cut(&self) -> &Arc<Cut> {
        match &self.0 {
            Place::Here(elements) => &elements.cut,
            Place::Away(away) => &away.cut,
        }
    }

    pub(super) fn share_cut(&mut self, cut: &Arc<Cut>) {
        let own = match &mut self.0 {
            Place::Here(elements) => &mut elements.cut,
            Place::Away(away) => &mut away.cut,
        };
        *own = Arc::clone(cut);
    }

    /// Whether an element has a weight other than 0. O(elements).
    pub(super) fn is_weighted(&self) -> bool {
        match &self.0 {
            Place::Here(elements) => elements.is_weighted(),
            Place::Away(away) => away.weights.is_some(),
        }
    }

    /// The weights of the elements. O(elements); nothing is read.
    pub fn weights(&self) -> ImageWeights {
        match &self.0 {
            Place::Here(elements) => weights_of(elements),
            Place::Away(Away { weights: Some(own), .. }) => ImageWeights::clone(own),
            Place::Away(away) => away.counts.iter().map(|count| vec![0.0; *count as usize]).collect(),
        }
    }

    /// Whether the elements have these weights, of which there are as many. O(elements).
    pub(super) fn has_weights(&self, weights: &[Vec<f32>]) -> bool {
        let is_same = |(set, weights): (&ElementSet, &Vec<f32>)| weights.iter().zip(0..).all(|(weight, i)| set.weight(i) == *weight);
        match &self.0 {
            Place::Here(elements) => elements.sets.iter().zip(weights).all(is_same),
            Place::Away(Away { weights: Some(own), .. }) => **own == *weights,
            Place::Away(_) => weights.iter().flatten().all(|weight| *weight == 0.0),
        }
    }

    /// Gives the elements these weights, of which there must be as many.
    pub(super) fn set_weights(&mut self, weights: &[Vec<f32>]) {
        match &mut self.0 {
            Place::Here(elements) => elements.sets.iter_mut().zip(weights).for_each(|(set, weights)| set.set_weights(weights)),
            Place::Away(away) => away.weights = kept_weights(weights.to_vec()),
        }
    }
}

fn weights_of(elements: &Elements) -> ImageWeights {
    elements.sets.iter().map(|set| (0..set.len()).map(|i| set.weight(i)).collect()).collect()
}

/// Weights as they are kept of elements that are not in memory: none where all are 0.
fn kept_weights(weights: ImageWeights) -> Option<Arc<ImageWeights>> {
    weights.iter().flatten().any(|weight| *weight != 0.0).then(|| Arc::new(weights))
}

impl Away {
    fn read(&self) -> Arc<Elements> {
        let found = self.shelf.read(self.key).filter(|elements| elements.cut == self.cut).and_then(|elements| self.as_they_were(elements));
        let mut elements = found.unwrap_or_else(|| Arc::new(Elements::none(self.size, &self.cut)));
        if let Some(weights) = &self.weights {
            let own = Arc::make_mut(&mut elements);
            own.sets.iter_mut().zip(&**weights).for_each(|(set, weights)| set.set_weights(weights));
        }
        elements
    }

    /// The elements as they were put away: kinds that came later are left out.
    fn as_they_were(&self, mut elements: Arc<Elements>) -> Option<Arc<Elements>> {
        let is_new = |(set, count): (&ElementSet, &u32)| *count == 0 && !set.is_empty();
        if elements.sets.iter().zip(&self.counts).any(is_new) {
            let none = Elements::none(self.size, &self.cut);
            let own = Arc::make_mut(&mut elements);
            for ((set, none), _) in own.sets.iter_mut().zip(none.sets).zip(&self.counts).filter(|(_, count)| **count == 0) {
                *set = none;
            }
        }
        // Others are none of this image.
        elements.sets.iter().map(|set| set.len() as u32).eq(self.counts.iter().copied()).then_some(elements)
    }
}
