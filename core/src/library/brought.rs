//! Vectors of images that the user brings, in sets with names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Library;
use super::brought_vector::BroughtVector;
use super::draft::{Acts, Draft};
use super::event::{Change, EventId, EventKind, Field, Swap};
use super::looks::Look;
use crate::data::named_vectors::NamedVectors;
use crate::data::tables::{Matcher, PathMatch};
use crate::error::Result;
use crate::ids::ItemId;
use crate::plural::count;
use crate::progress::Progress;

/// Most sets of one library.
pub const MOST_SETS: usize = 32;
/// Images whose vectors stand in one event.
const BATCH: usize = 500;

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
