//! Vectors of images that the user brings, in sets with names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Library;
use super::brought_vector::BroughtVector;
use super::classes::tidy_name;
use super::draft::{Acts, Draft};
use super::event::{Change, EventId, EventKind, Field, Swap};
use super::looks::Look;
use crate::data::named_vectors::NamedVectors;
use crate::data::tables::PathMatch;
use crate::error::Result;
use crate::ids::ItemId;
use crate::plural::count;
use crate::progress::Progress;

/// Most sets of one library.
pub const MOST_SETS: usize = 32;
/// Most values of all vectors of one set.
const MOST_IN_ALL: usize = 150_000_000;
/// Images whose vectors stand in one event.
const BATCH: usize = 500;
/// What the name of a set may be.
pub const SET_NAME: &str = "1 to 200 characters, and none of the built-in vectors' names";

/// The name of a set without the blanks around it, or what is wrong with it.
///
/// # Errors
/// What was found in place of [`SET_NAME`].
pub fn set_name(name: &str) -> std::result::Result<String, String> {
    let name = tidy_name(name)?;
    if Look::BUILT_IN.iter().any(|look| look.name() == name) { Err(format!("`{name}`")) } else { Ok(name) }
}

/// How many last parts two paths have in common.
fn common_end(name: &str, path: &Path) -> usize {
    let path = path.to_string_lossy();
    let parts = |text: &'_ str| text.rsplit(['/', '\\']).map(str::to_lowercase).collect::<Vec<_>>();
    parts(name).iter().zip(&parts(&path)).take_while(|(a, b)| a == b).count()
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
        let set = self.check_set(set, vectors.dimension, 0)?;
        let mut read = VectorsRead::default();
        let matcher = self.state.matcher();
        let mut of: BTreeMap<ItemId, Vec<(&String, &Vec<f32>)>> = BTreeMap::new();
        for (name, values) in &vectors.rows {
            match matcher.find(name) {
                PathMatch::One(id) => of.entry(id).or_default().push((name, values)),
                PathMatch::None => read.unmatched.push(name.clone()),
                PathMatch::Several(_) => read.ambiguous.push(name.clone()),
            }
        }
        let mut found: BTreeMap<ItemId, BroughtVector> = BTreeMap::new();
        for (id, rows) in of {
            // A path that has only its end in common with the image's gives way to one with more.
            let places = self.state.image(id).map_or(&[][..], |image| &image.places);
            let common = |name: &str| places.iter().map(|place| common_end(name, &self.state.full_path(place))).max().unwrap_or(0);
            let most = rows.iter().map(|(name, _)| common(name)).max().unwrap_or(0);
            let (best, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(name, _)| common(name) == most);
            read.unmatched.extend(others.into_iter().map(|(name, _)| name.clone()));
            match best[..] {
                [(_, values)] => {
                    read.matched += 1;
                    found.extend(BroughtVector::of(values).map(|vector| (id, vector)));
                }
                _ => read.ambiguous.extend(best.into_iter().map(|(name, _)| name.clone())),
            }
        }
        self.check_size(vectors.dimension, found.len())?;
        let draft = self.set_vectors(&set, found);
        read.changed = draft.changes.len();
        Ok((read, draft))
    }

    /// The name of a set that `images` of the library may get vectors in, of so many values each.
    pub(super) fn check_set(&self, set: &str, dimension: usize, images: usize) -> Result<String> {
        let set = set_name(set).map_err(|found| self.unfit("name of vectors", found, SET_NAME))?;
        let sets = self.state.set_names();
        if !sets.contains(set.as_str()) && sets.len() >= MOST_SETS {
            return Err(self.unfit("vectors", format!("{MOST_SETS} sets and one more"), "at most 32 sets"));
        }
        let having = self.state.records().iter().filter_map(|image| image.vectors.get(&set));
        if let Some(other) = having.map(|vector| vector.values().len()).find(|values| *values != dimension) {
            let words = format!("{dimension}, where images have {other} in `{set}`");
            let expected = "as many values as the set has; drop it first, or give another name (--vectors-name, or --name)";
            return Err(self.unfit("vectors", words, expected));
        }
        self.check_size(dimension, images)?;
        Ok(set)
    }

    /// Checks that a set may have so many vectors of so many values.
    fn check_size(&self, dimension: usize, images: usize) -> Result<()> {
        if images.saturating_mul(dimension) > MOST_IN_ALL {
            let words = format!("{images} of {dimension} values");
            return Err(self.unfit("vectors", words, "at most 150 million values in a set"));
        }
        Ok(())
    }

    /// The changes by which images have these vectors in a set; those that have them already are
    /// left out.
    pub(super) fn set_vectors(&self, set: &str, vectors: impl IntoIterator<Item = (ItemId, BroughtVector)>) -> Draft {
        let before = |id: ItemId| self.state.image(id).and_then(|image| image.vectors.get(set).cloned());
        let all = vectors.into_iter().map(|(id, vector)| (id, before(id), Some(vector)));
        let changes: Vec<Change> = all
            .filter(|(_, before, after)| before != after)
            .map(|(id, before, after)| Change::Image(id, Field::Vector(set.to_owned(), Swap(before, after))))
            .collect();
        Draft::new(format!("Brought vectors {set} of {}", count(changes.len(), "image")), changes)
    }

    /// Takes a set of vectors off all images.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is none of that name; it names those that there are.
    pub fn drop_vectors(&self, set: &str) -> Result<Draft> {
        let sets = self.state.set_names();
        if !sets.contains(set) {
            let names: Vec<&str> = sets.into_iter().collect();
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

    /// Whether an image has a vector of this set.
    pub fn has_vector(&self, image: ItemId, set: &str) -> bool {
        self.image(image).is_some_and(|image| image.vectors.contains_key(set))
    }

    /// The sets of which any image has a vector, also one that was removed. O(images).
    fn set_names(&self) -> BTreeSet<&str> {
        self.records().iter().flat_map(|image| image.vectors.keys()).map(String::as_str).collect()
    }
}

impl Library {
    /// Takes in the vectors of a set, in one act. Cancelling keeps those that are in already.
    ///
    /// # Errors
    /// As [`Acts::bring_vectors`]; [`crate::Error::Io`].
    pub fn bring_vectors(&mut self, set: &str, vectors: &NamedVectors, progress: &Progress) -> Result<VectorsRead> {
        let (mut read, draft) = self.acts().bring_vectors(set, vectors)?;
        let (done, _) = self.take_in_vectors(&draft, progress)?;
        (read.changed, read.cancelled) = (done, done < draft.changes.len());
        Ok(read)
    }

    /// Takes in what [`Acts::set_vectors`] says, in one act, up to where it is cancelled. Returns
    /// the number of vectors that are in, and the act.
    pub(super) fn take_in_vectors(&mut self, draft: &Draft, progress: &Progress) -> Result<(usize, Option<EventId>)> {
        progress.begin("Taking in vectors", draft.changes.len().div_ceil(BATCH) as u64);
        self.commit_in_batches(draft, progress)
    }

    /// Writes an act as several events, up to where it is cancelled. Returns the number of changes
    /// that are on disk, and the act.
    fn commit_in_batches(&mut self, draft: &Draft, progress: &Progress) -> Result<(usize, Option<EventId>)> {
        let (mut done, mut act) = (0, None);
        for changes in draft.changes.chunks(BATCH) {
            if progress.step().is_err() {
                break;
            }
            let event = self.append(act, EventKind::Act, Draft::new(draft.words.clone(), changes.to_vec()))?;
            act.get_or_insert(event);
            done += changes.len();
        }
        Ok((done, act))
    }

    /// Takes a set of vectors off all images.
    ///
    /// # Errors
    /// As [`Acts::drop_vectors`]; [`crate::Error::Io`].
    pub fn drop_vectors(&mut self, set: &str) -> Result<Option<EventId>> {
        let draft = self.acts().drop_vectors(set)?;
        self.commit_in_batches(&draft, &Progress::default()).map(|(_, act)| act)
    }
}
