//! Vectors of images that the user brings, in sets with names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as TEXT;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Library;
use super::draft::{Acts, Draft};
use super::event::{Change, EventId, EventKind, Field, Swap};
use super::looks::Look;
use crate::data::named_vectors::{MOST_VALUES, NamedVectors};
use crate::data::tables::{Matcher, PathMatch};
use crate::error::Result;
use crate::ids::ItemId;
use crate::plural::count;
use crate::progress::Progress;

/// Most sets of one library.
pub const MOST_SETS: usize = 32;
/// Images whose vectors stand in one event.
const BATCH: usize = 500;

/// A vector of an image in a set that the user brought. Only its direction counts, so it is kept in
/// shares of its largest value, in 32,767 steps: answers are the same on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtVector(Arc<[i16]>);

impl BroughtVector {
    /// The vector of some finite values, one or more of which is not 0; `None` for others.
    pub fn of(values: &[f32]) -> Option<Self> {
        let largest = values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        let steps = |value: &f32| (value / largest * f32::from(i16::MAX)).round() as i16;
        (largest > 0.0 && largest.is_finite() && values.len() <= MOST_VALUES).then(|| Self(values.iter().map(steps).collect()))
    }

    /// Its steps.
    pub fn values(&self) -> &[i16] {
        &self.0
    }

    /// The cosine with another vector, -1..=1; 0 for one with another number of values. O(values).
    pub fn cosine(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let product = |a: &[i16], b: &[i16]| a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum::<i64>() as f64;
        product(&self.0, &other.0) / (product(&self.0, &self.0) * product(&other.0, &other.0)).sqrt()
    }

    /// Two bytes a value.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// What [`BroughtVector::to_bytes`] wrote; `None` for other bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<2>();
        let is_one = rest.is_empty() && values.len() <= MOST_VALUES && values.iter().any(|value| *value != [0, 0]);
        is_one.then(|| Self(values.iter().map(|value| i16::from_le_bytes(*value)).collect()))
    }
}

impl Serialize for BroughtVector {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&TEXT.encode(self.to_bytes()))
    }
}

impl<'de> Deserialize<'de> for BroughtVector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = TEXT.decode(text).map_err(serde::de::Error::custom)?;
        Self::from_bytes(&bytes).ok_or_else(|| serde::de::Error::custom("expected a vector, found other bytes"))
    }
}

/// What taking in vectors did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorsRead {
    /// Vectors whose image was found.
    pub matched: usize,
    /// Paths without an image.
    pub unmatched: Vec<String>,
    /// Paths that several images have.
    pub ambiguous: Vec<String>,
    /// Images that have another vector than before, or one for the first time.
    pub changed: usize,
    /// Whether it was cancelled: what was taken in until then stays.
    pub cancelled: bool,
}

impl Acts<'_> {
    /// The vectors of a set for the images that they name: what was read, and the changes.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] for a name that a set cannot have, for vectors with another number
    /// of values than those that other images have in the set, and for one set too many.
    pub fn bring_vectors(&self, set: &str, vectors: &NamedVectors) -> Result<(VectorsRead, Draft)> {
        let set = self.tidy_name(set)?;
        if Look::BUILT_IN.iter().any(|look| look.name() == set) {
            return Err(self.unfit("name of vectors", format!("`{set}`"), "a name that no built-in vectors have"));
        }
        let sets = self.state.vector_sets();
        if !sets.contains_key(set.as_str()) && sets.len() >= MOST_SETS {
            return Err(self.unfit("vectors", format!("{MOST_SETS} sets and one more"), "at most 32 sets"));
        }
        let mut read = VectorsRead::default();
        let paths: Vec<(ItemId, PathBuf)> =
            self.state.images().flat_map(|image| image.places.iter().map(|place| (image.id, self.state.full_path(place)))).collect();
        let matcher = Matcher::new(paths.iter().map(|(id, path)| (*id, path.as_path())));
        let mut found: BTreeMap<ItemId, BroughtVector> = BTreeMap::new();
        for (name, values) in &vectors.rows {
            match matcher.find(name) {
                PathMatch::One(id) => {
                    read.matched += 1;
                    found.extend(BroughtVector::of(values).map(|vector| (id, vector)));
                }
                PathMatch::None => read.unmatched.push(name.clone()),
                PathMatch::Several(_) => read.ambiguous.push(name.clone()),
            }
        }
        let others = self.state.records().iter().filter(|image| !found.contains_key(&image.id));
        if let Some(other) = others.filter_map(|image| image.vectors.get(&set)).find(|other| other.values().len() != vectors.dimension) {
            let words = format!("{}, where other images of `{set}` have {}", vectors.dimension, other.values().len());
            return Err(self.unfit("vectors", words, "as many values as the set has, or another --vectors-name"));
        }
        let before = |id: ItemId| self.state.image(id).and_then(|image| image.vectors.get(&set).cloned());
        let changes = found.into_iter().map(|(id, vector)| (id, before(id), Some(vector))).filter(|(_, before, after)| before != after);
        let changes: Vec<Change> =
            changes.map(|(id, before, after)| Change::Image(id, Field::Vector(set.clone(), Swap(before, after)))).collect();
        read.changed = changes.len();
        Ok((read, Draft::new(format!("Brought vectors {set} of {}", count(changes.len(), "image")), changes)))
    }

    /// Takes a set of vectors off all images.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is none of that name; it names those that there are.
    pub fn drop_vectors(&self, set: &str) -> Result<Draft> {
        let sets = self.state.vector_sets();
        if !sets.contains_key(set) {
            let names: Vec<&str> = sets.keys().copied().collect();
            let there = if names.is_empty() { "none was brought".to_owned() } else { format!("there are {}", names.join(", ")) };
            return Err(crate::Error::not_found(self.library, "vectors", format!("`{set}` ({there})"), "a set that was brought"));
        }
        let having = self.state.records().iter().filter_map(|image| Some((image.id, image.vectors.get(set)?.clone())));
        let changes: Vec<Change> =
            having.map(|(id, vector)| Change::Image(id, Field::Vector(set.to_owned(), Swap(Some(vector), None)))).collect();
        Ok(Draft::new(format!("Took vectors {set} off {}", count(changes.len(), "image")), changes))
    }
}

impl super::state::State {
    /// The sets of vectors that the user brought, each with the number of images that have one.
    /// O(images).
    pub fn vector_sets(&self) -> BTreeMap<&str, usize> {
        let mut sets = BTreeMap::new();
        for name in self.images().flat_map(|image| image.vectors.keys()) {
            *sets.entry(name.as_str()).or_insert(0) += 1;
        }
        sets
    }
}

impl Library {
    /// Takes in the vectors of a set, in one act. Cancelling keeps those that are in already.
    ///
    /// # Errors
    /// As [`Acts::bring_vectors`]; [`crate::Error::Io`].
    pub fn bring_vectors(&mut self, set: &str, vectors: &NamedVectors, progress: &Progress) -> Result<VectorsRead> {
        let (mut read, draft) = self.acts().bring_vectors(set, vectors)?;
        progress.begin("Taking in vectors", draft.changes.len().div_ceil(BATCH) as u64);
        let mut act: Option<EventId> = None;
        for (at, changes) in draft.changes.chunks(BATCH).enumerate() {
            if progress.step().is_err() {
                (read.changed, read.cancelled) = (at * BATCH, true);
                break;
            }
            let event = self.append(act, EventKind::Act, Draft::new(draft.words.clone(), changes.to_vec()))?;
            act.get_or_insert(event);
        }
        Ok(read)
    }

    /// Takes a set of vectors off all images.
    ///
    /// # Errors
    /// As [`Acts::drop_vectors`]; [`crate::Error::Io`].
    pub fn drop_vectors(&mut self, set: &str) -> Result<Option<EventId>> {
        let draft = self.acts().drop_vectors(set)?;
        self.commit(None, EventKind::Act, draft)
    }
}
