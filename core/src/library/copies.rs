//! Near copies among the images of a library, in groups around the best of each.
//!
//! Signatures are made of thumbnails when they are first needed, and kept in the cache.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use image::RgbImage;
use rayon::prelude::*;

use super::appearance::thumbnail_of;
use super::draft::{Acts, Draft};
use super::event::{Change, EventId, EventKind, Field, Swap};
use super::features::from_file;
use super::state::{Image, State};
use super::{Library, hold};
use crate::copies::{Candidate, Comparison, CropWindow, Extent, Relation, Signature, Turn, VERSION, candidates, compare_within, groups};
use crate::error::Result;
use crate::ids::ItemId;
use crate::picture::{Decoder, thumbnail};
use crate::progress::Progress;

/// Images, or pairs of them, that are worked on between two moments in which the library is held.
const BATCH: usize = 256;
/// Images whose thumbnails stay in memory while they are compared with all their candidates.
const FIRSTS: usize = 256;
/// A copy that shows by so much less of a picture was cropped.
const CROP: f32 = 0.03;
/// Pixels by which a copy may seem to be cropped that is not.
const UNSURE: f32 = 2.0;

/// A file in a group of copies.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// Its image. Files of the same bytes are one image.
    pub image: ItemId,
    /// Where it lies.
    pub path: PathBuf,
    /// How far it is from the first of its group ([`Comparison::distance`]).
    pub distance: f64,
    /// What was done to the first of its group to make it.
    pub relation: Relation,
}

/// The near copies in a library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copies {
    /// The groups, those with the most files first. The first file of each is the best, which has
    /// the most pixels and, of several, is the largest; the others are copies of it, the nearest
    /// first.
    pub groups: Vec<Vec<Copy>>,
    /// Pairs of files within the distance.
    pub pairs: usize,
    /// Images that were looked at.
    pub images: usize,
    /// Of these, images without detail: only files of the same bytes are copies of them.
    pub flat: usize,
    /// Images that could not be looked at, for they have neither a thumbnail nor a readable file.
    pub unread: usize,
}

impl Copies {
    /// Files in groups.
    pub fn files(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }
}

impl State {
    /// Whether folders or names say that two images show one object: what looks like a copy may be
    /// another view of it.
    pub fn may_be_views(&self, one: ItemId, other: ItemId) -> bool {
        let object = |image| self.image(image).and_then(|image| image.folder.group.as_deref());
        one != other && object(one).is_some_and(|of_one| object(other) == Some(of_one))
    }

    /// Of some images, those that may be other views of what `one` shows, each once.
    pub fn views_among(&self, one: ItemId, images: impl IntoIterator<Item = ItemId>) -> usize {
        images.into_iter().collect::<BTreeSet<_>>().into_iter().filter(|image| self.may_be_views(one, *image)).count()
    }

    /// Whether the user said that two images are no copies of each other.
    pub fn are_no_copies(&self, one: ItemId, other: ItemId) -> bool {
        self.image(one.min(other)).is_some_and(|image| image.not_copies.contains(&one.max(other)))
    }
}

impl Acts<'_> {
    /// Says that two images are no copies of each other (`is_said`), so that they are not found as
    /// such any more, or takes that back.
    ///
    /// # Errors
    /// As [`Acts::label`]; [`crate::Error::Unfit`] when both are the same image.
    pub fn not_copies(&self, one: ItemId, other: ItemId, is_said: bool) -> Result<Draft> {
        let both = self.present(&[one, other])?;
        let [first, second] = both.as_slice() else {
            return Err(self.unfit("images", format!("#{} twice", one.0), "two different images"));
        };
        let words = format!("{} and {} {} copies", first.file_name(), second.file_name(), if is_said { "are no" } else { "may again be" });
        let change = Change::Image(first.id, Field::NotCopy(second.id, Swap(!is_said, is_said)));
        Ok(Draft::new(words, if first.not_copies.contains(&second.id) == is_said { Vec::new() } else { vec![change] }))
    }
}

impl Library {
    /// Says that two images are no copies of each other, or takes that back. Returns its event, or
    /// `None` when it would change nothing.
    ///
    /// # Errors
    /// As [`Acts::not_copies`]; [`crate::Error::Io`].
    pub fn not_copies(&mut self, one: ItemId, other: ItemId, is_said: bool) -> Result<Option<EventId>> {
        let draft = self.acts().not_copies(one, other, is_said)?;
        self.commit(None, EventKind::Act, draft)
    }

    /// The signatures of some images as far as they are kept, or else their thumbnails.
    fn signatures(&self, images: &[Arc<Image>]) -> Result<Vec<Kept>> {
        let of = |image: &Arc<Image>| {
            let Some(content) = image.content else { return Ok(Kept::Nothing) };
            let kept = self.cache.feature(content.hash, VERSION)?.sound();
            Ok(match kept.and_then(|bytes| Signature::from_bytes(&bytes)) {
                Some(signature) => Kept::Signature(signature),
                None => self.cache.thumbnail(content.hash)?.map_or(Kept::Nothing, Kept::Thumbnail),
            })
        };
        images.iter().map(of).collect()
    }
}

/// What the cache has of an image.
enum Kept {
    Signature(Signature),
    Thumbnail(Vec<u8>),
    Nothing,
}

/// The images as they are looked at, in the order of their identifiers.
struct Looked {
    images: Vec<Arc<Image>>,
    signatures: Vec<Signature>,
    unread: usize,
}

/// Finds the near copies in a library, up to a distance in percent of their structure
/// ([`Comparison::distance`]; [`crate::copies::NEAR`] is what people call copies). Images that were
/// removed take no part. The library is held only for moments, and nothing in it is changed.
///
/// # Errors
/// [`crate::Error::Io`] when the cache cannot be used, [`crate::Error::Cancelled`].
///
/// # Complexity
/// As [`candidates`], and 1 ms for each candidate; about 2 ms for each image when it is looked at
/// for the first time.
pub fn find_copies(library: &Mutex<Library>, distance: f64, progress: &Progress) -> Result<Copies> {
    let (state, decoder) = {
        let library = hold(library);
        (library.state.clone(), Arc::clone(&library.decoder))
    };
    let looked = look(library, &state, &*decoder, progress)?;
    let found = candidates(&looked.signatures, progress)?;
    let mut pairs = compared(library, &looked.images, &found, distance, progress)?;
    pairs.retain(|(a, b), _| !looked.images[*a].not_copies.contains(&looked.images[*b].id));
    let mut best_first: Vec<usize> = (0..looked.images.len()).collect();
    best_first.sort_by_key(|at| {
        let size =
            looked.images[*at].content.map_or((0, 0), |content| (u64::from(content.size.0) * u64::from(content.size.1), content.bytes));
        (std::cmp::Reverse(size), *at)
    });
    let grouped = groups(&best_first, pairs.keys().copied());
    progress.begin("Comparing pixels", grouped.len() as u64);
    let files = |group: &Vec<usize>| {
        progress.step()?;
        let best = group[0];
        let copy = |at: &usize| {
            let (candidate, comparison) = pairs.get(&(best.min(*at), best.max(*at)))?;
            let relation = relation(
                &state,
                [&looked.images[best], &looked.images[*at]],
                candidate.from == best,
                (candidate, comparison),
                &*decoder,
                progress,
            );
            Some((*at, comparison.distance, relation))
        };
        let mut copies: Vec<_> = group[1..].iter().filter_map(copy).collect();
        copies.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let all = std::iter::once((best, 0.0, Relation::Identical)).chain(copies);
        Ok(all.flat_map(|(at, distance, relation)| files_of(&state, &looked.images[at], distance, relation)).collect())
    };
    let mut all: Vec<Vec<Copy>> = grouped.par_iter().map(files).collect::<Result<_>>()?;
    // Images without near copies may lie in several files.
    let in_groups: BTreeSet<usize> = grouped.iter().flatten().copied().collect();
    let alone = state
        .images()
        .filter(|image| looked.images.binary_search_by_key(&image.id, |image| image.id).map_or(true, |at| !in_groups.contains(&at)));
    all.extend(alone.map(|image| files_of(&state, image, 0.0, Relation::Identical)).filter(|files| files.len() > 1));
    all.sort_by(|a, b| b.len().cmp(&a.len()).then(a[0].image.cmp(&b[0].image)));
    let same = |image: &Arc<Image>| {
        let n = image.files().count();
        n * n.saturating_sub(1) / 2
    };
    Ok(Copies {
        pairs: pairs.len() + state.images().map(same).sum::<usize>(),
        groups: all,
        images: looked.images.len(),
        flat: looked.signatures.par_iter().filter(|signature| signature.is_flat()).count(),
        unread: looked.unread,
    })
}

/// The files of an image, of which the first is its place and the others are identical to it.
fn files_of(state: &State, image: &Image, distance: f64, relation: Relation) -> Vec<Copy> {
    let first = image.place();
    let others = image.places.iter().filter(|place| place.here && Some(*place) != first);
    first.into_iter().chain(others).map(|place| Copy { image: image.id, path: state.full_path(place), distance, relation }).collect()
}

/// Reads or makes the signatures of all images that take part.
fn look(library: &Mutex<Library>, state: &State, decoder: &dyn Decoder, progress: &Progress) -> Result<Looked> {
    let images: Vec<Arc<Image>> = state.images().cloned().collect();
    progress.begin("Looking at thumbnails", images.len() as u64);
    let mut looked = Looked { images: Vec::new(), signatures: Vec::new(), unread: 0 };
    for batch in images.chunks(BATCH) {
        let kept = hold(library).signatures(batch)?;
        let see = |(image, kept): (&Arc<Image>, Kept)| {
            progress.step()?;
            let made = match &kept {
                Kept::Nothing => thumbnail_of(state, image, decoder),
                Kept::Signature(_) | Kept::Thumbnail(_) => None,
            };
            let jpeg = if let Kept::Thumbnail(jpeg) = &kept { Some(jpeg) } else { made.as_ref().map(|(_, jpeg)| jpeg) };
            let fresh = jpeg.and_then(|jpeg| thumbnail::decode(jpeg)).map(|picture| Signature::of(&picture));
            Ok((if let Kept::Signature(signature) = kept { Some(signature) } else { None }, fresh, made))
        };
        let seen: Vec<_> = batch.par_iter().zip(kept).map(see).collect::<Result<_>>()?;
        let (mut rows, mut thumbnails) = (Vec::new(), Vec::new());
        let library = hold(library);
        for (image, (kept, fresh, made)) in batch.iter().zip(seen) {
            // What was forgotten meanwhile leaves nothing behind.
            let hash = image.content.map(|content| content.hash).filter(|hash| library.has_bytes(image.id, *hash));
            if let (Some(hash), Some(fresh)) = (hash, &fresh) {
                rows.push((hash, fresh.bytes().to_vec()));
            }
            if let (Some(hash), Some((look, jpeg))) = (hash, made) {
                thumbnails.push((hash, look, jpeg));
            }
            match kept.or(fresh) {
                Some(signature) => {
                    looked.images.push(Arc::clone(image));
                    looked.signatures.push(signature);
                }
                None => looked.unread += 1,
            }
        }
        library.cache.put_features(VERSION, &rows)?;
        library.cache.put_thumbnails(&thumbnails)?;
    }
    Ok(looked)
}

/// Candidates that are copies, by their places in the list, the lower first.
type Pairs = BTreeMap<(usize, usize), (Candidate, Comparison)>;

/// Compares the thumbnails of candidates, which are in order of the first, and keeps the pairs
/// within a distance. Where one image has many candidates, as drawings have, its thumbnail is
/// decoded once for each [`FIRSTS`] others, not for each pair.
fn compared(library: &Mutex<Library>, images: &[Arc<Image>], found: &[Candidate], distance: f64, progress: &Progress) -> Result<Pairs> {
    progress.begin("Comparing near copies", found.len() as u64);
    let mut pairs = Pairs::new();
    let by_first: Vec<&[Candidate]> = found.chunk_by(|a, b| a.from == b.from).collect();
    for block in by_first.chunks(FIRSTS) {
        let firsts = thumbnails(library, images, block.iter().map(|of_one| of_one[0].from))?;
        let mut by_second: Vec<&Candidate> = block.iter().copied().flatten().collect();
        by_second.sort_by_key(|pair| (pair.to, pair.from));
        for batch in by_second.chunks(BATCH) {
            let seconds = batch.iter().map(|pair| pair.to).filter(|to| !firsts.contains_key(to));
            let seconds = thumbnails(library, images, seconds)?;
            let measure = |pair: &&Candidate| {
                progress.step()?;
                let to = firsts.get(&pair.to).or_else(|| seconds.get(&pair.to));
                let Some((from, to)) = firsts.get(&pair.from).zip(to) else { return Ok(None) };
                let comparison = compare_within(&pair.turn.of(from), to, pair.turn.window(pair.window), distance);
                Ok(comparison.map(|comparison| (**pair, comparison)))
            };
            let measured: Vec<Option<(Candidate, Comparison)>> = batch.par_iter().map(measure).collect::<Result<_>>()?;
            for (pair, comparison) in measured.into_iter().flatten() {
                let key = (pair.from.min(pair.to), pair.from.max(pair.to));
                let is_nearer = |(before, apart): &(Candidate, Comparison)| {
                    comparison.distance.total_cmp(&apart.distance).then(pair.from.cmp(&before.from)).is_lt()
                };
                if pairs.get(&key).is_none_or(is_nearer) {
                    pairs.insert(key, (pair, comparison));
                }
            }
        }
    }
    Ok(pairs)
}

/// The thumbnails of some images by their places in the list, as far as the library keeps them.
fn thumbnails(library: &Mutex<Library>, images: &[Arc<Image>], wanted: impl Iterator<Item = usize>) -> Result<HashMap<usize, RgbImage>> {
    let wanted: BTreeSet<usize> = wanted.collect();
    let jpegs: Vec<(usize, Vec<u8>)> = {
        let library = hold(library);
        let of = |at: usize| {
            let Some(content) = images[at].content else { return Ok(None) };
            Ok(library.cache.thumbnail(content.hash)?.map(|jpeg| (at, jpeg)))
        };
        wanted.into_iter().filter_map(|at| of(at).transpose()).collect::<Result<_>>()?
    };
    Ok(jpegs.into_par_iter().filter_map(|(at, jpeg)| Some((at, thumbnail::decode(&jpeg)?))).collect())
}

/// What was done to the first image to make the second; `forwards` is whether that is how they were
/// found.
fn relation(
    state: &State,
    [first, second]: [&Image; 2],
    forwards: bool,
    (candidate, comparison): (&Candidate, &Comparison),
    decoder: &dyn Decoder,
    progress: &Progress,
) -> Relation {
    let size = |image: &Image| image.content.map_or((0, 0), |content| content.size);
    let shorter = [size(first), size(second)].into_iter().map(|(width, height)| width.min(height)).min().unwrap_or(0);
    let is_part = comparison.window.area() < 1.0 - CROP.max(UNSURE / shorter.max(1) as f32);
    let (a, b) = if candidate.turn.transposes() { (size(first), (size(second).1, size(second).0)) } else { (size(first), size(second)) };
    // Equal thumbnails are of equal pictures most of the time.
    if candidate.turn == Turn::default() && comparison.window == CropWindow::WHOLE && comparison.distance == 0.0 && a == b {
        let pixels = [first, second].map(|image| from_file(state, image, decoder, progress).map(|picture| picture.pixels));
        if pixels[0].is_some() && pixels[0] == pixels[1] {
            return Relation::SamePixels;
        }
    }
    let part = if is_part { Extent::Cropped } else { Extent::Whole };
    let found = Relation::Changed { turn: candidate.turn, part, is_resized: !is_part && a != b };
    if forwards { found } else { found.inverse() }
}
