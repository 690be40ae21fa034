//! Vectors of a library's images by an image encoder that the user brought: computed from the
//! files, and taken in as a set of brought vectors, which everything compares as any other.
//!
//! The cache keeps each vector by the encoder's hash and that of the file's bytes, so that only new
//! or changed images are looked at again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::brought_vector::BroughtVector;
use super::event::{ContentHash, EventId};
use super::features::{CHANGED, picture_of};
use super::image_vector::ImageVector;
use super::import::FailedFile;
use super::state::{Image, State};
use super::{Library, hold};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::network::folder::image_encoder;
use crate::picture::Decoder;
use crate::progress::Progress;

/// Images that are looked at between two moments in which the library is held.
const BATCH: usize = 16;
/// Digits of an encoder's hash that name its rows in the cache.
const DIGITS: usize = 16;

/// What is expected and found of an image that has no file, and the way out.
const NO_FILE: [&str; 3] = ["a file of an image", "none", "import its folder again"];
/// The same of a vector that cannot be compared.
const NO_DIRECTION: [&str; 3] = ["a vector that can be compared", "zeros alone", "leave this image out, or choose another network"];

/// What looking at all images came to.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// The name of the set.
    pub set: String,
    /// Values of a vector.
    pub dimension: usize,
    /// Images that take part, and are still there at the end.
    pub images: usize,
    /// Images that the encoder looked at now; of the others their vectors were kept.
    pub looked: usize,
    /// Of each of these images that has no vector, the file and why: it cannot be read, holds other
    /// bytes now, or is none that the encoder can look at. When cancelled, those known by then.
    pub failed: Vec<FailedFile>,
    /// Images that have another vector in the set than before, or one for the first time.
    pub changed: usize,
    /// The act, unless nothing changed.
    pub act: Option<EventId>,
    /// Whether it was cancelled: what was done until then stays.
    pub cancelled: bool,
}

/// Has the image encoder with this hash ([`crate::network::ImageForm::identity`]) look at all
/// images that it has not looked at, and takes their vectors in as set `set`, in one act, in the
/// place of those that the set had of these images. The library is held only for moments, and to
/// take them in. Cancelling keeps what was done. What keeps one image from being looked at is told
/// of that image, and does not end it.
///
/// # Errors
/// As [`image_encoder`]; as [`super::draft::Acts::bring_vectors`] for a set that cannot have this
/// name or vectors of so many values, also where it came about meanwhile; [`Error::ReadOnly`];
/// [`Error::Io`].
///
/// # Complexity
/// The time of decoding and of the encoder for each new image.
pub fn bring(library: &Mutex<Library>, hash: &str, set: &str, progress: &Progress) -> Result<Encoded> {
    let dimension = image_encoder(hash)?.form().dimension;
    let version = ImageVector::version(hash.get(..DIGITS).unwrap_or(hash));
    let (set, images, decoder) = {
        let library = hold(library);
        if let Some(why) = library.read_only {
            return Err(why.error(&library.folder));
        }
        let images: Vec<Arc<Image>> = library.state.images().cloned().collect();
        (library.acts().check_set(set, dimension, images.len())?, images, Arc::clone(&library.decoder))
    };
    let mut done = Encoded { set, dimension, images: images.len(), ..Encoded::default() };
    let mut found: BTreeMap<ItemId, (ContentHash, BroughtVector)> = BTreeMap::new();
    let mut failed: BTreeMap<ItemId, FailedFile> = BTreeMap::new();
    progress.begin("Looking at images with a network", images.len() as u64);
    for batch in images.chunks(BATCH) {
        let (state, kept) = {
            let library = hold(library);
            let kept = |image: &Arc<Image>| -> Result<Option<ImageVector>> {
                let Some(content) = image.content else { return Ok(None) };
                Ok(library.cache.feature(content.hash, &version)?.sound().and_then(|bytes| ImageVector::from_bytes(&bytes)))
            };
            (library.state.clone(), batch.iter().map(kept).collect::<Result<Vec<_>>>()?)
        };
        let look = |(image, kept): (&Arc<Image>, Option<ImageVector>)| -> Result<(ItemId, Result<Seen, FailedFile>)> {
            progress.step()?;
            let seen = match kept {
                Some(vector) => Ok(Seen { vector, is_new: false }),
                None => look_at(&state, image, hash, &*decoder, progress)?.map(|vector| Seen { vector, is_new: true }),
            };
            Ok((image.id, seen))
        };
        let seen = match batch.par_iter().zip(kept).map(look).collect::<Result<Vec<_>>>() {
            Err(Error::Cancelled) => {
                done.cancelled = true;
                break;
            }
            seen => seen?,
        };
        let library = hold(library);
        let mut rows = Vec::new();
        for (image, (id, seen)) in batch.iter().zip(seen) {
            let content = image.content.map(|content| content.hash).filter(|content| library.has_bytes(id, *content));
            match (seen, content) {
                (Ok(Seen { vector, is_new }), Some(content)) => {
                    if is_new {
                        rows.push((content, vector.to_bytes()));
                    }
                    match BroughtVector::of(vector.values()) {
                        Some(brought) => drop(found.insert(id, (content, brought))),
                        None => drop(failed.insert(id, failure(&state, image, NO_DIRECTION))),
                    }
                }
                (Ok(_), None) => {}
                (Err(why), _) => drop(failed.insert(id, why)),
            }
        }
        done.looked += rows.len();
        library.cache.put_features(&version, &rows)?;
    }
    let mut library = hold(library);
    // What was forgotten meanwhile leaves nothing behind.
    found.retain(|id, (content, _)| library.has_bytes(*id, *content));
    let is_there = |id: ItemId| library.state.image(id).is_some_and(|image| image.is_live());
    failed.retain(|id, _| is_there(*id));
    let there: Vec<&Arc<Image>> = images.iter().filter(|image| is_there(image.id)).collect();
    for image in there.iter().filter(|image| !done.cancelled && !found.contains_key(&image.id)) {
        failed.entry(image.id).or_insert_with(|| failure(&library.state, image, CHANGED));
    }
    (done.images, done.failed) = (there.len(), failed.into_values().collect());
    // Others may have brought vectors meanwhile.
    library.acts().check_set(&done.set, done.dimension, found.len())?;
    let draft = library.acts().set_vectors(&done.set, found.into_iter().map(|(id, (_, vector))| (id, vector)));
    // What was computed until it was cancelled is taken in.
    let rest = if done.cancelled { progress.another() } else { progress.clone() };
    let (changed, act) = library.take_in_vectors(&draft, &rest)?;
    done.cancelled |= changed < draft.changes.len();
    (done.changed, done.act) = (changed, act);
    Ok(done)
}

/// The vector of an image, and whether the encoder looked at it now.
struct Seen {
    vector: ImageVector,
    is_new: bool,
}

/// The vector of an image, by the first of its files that can be looked at; or why there is none,
/// by the first of all.
///
/// # Errors
/// [`Error::Cancelled`] alone.
fn look_at(
    state: &State,
    image: &Image,
    hash: &str,
    decoder: &dyn Decoder,
    progress: &Progress,
) -> Result<Result<ImageVector, FailedFile>> {
    let Some(content) = image.content else { return Ok(Err(failure(state, image, CHANGED))) };
    let mut why = None;
    for place in &image.places {
        let path = state.full_path(place);
        match picture_of(&path, content.hash, decoder, progress).and_then(|picture| ImageVector::of(hash, &picture.pixels)) {
            Ok(vector) => return Ok(Ok(vector)),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => drop(why.get_or_insert((path, error))),
        }
    }
    let told = |(path, error): (PathBuf, Error)| FailedFile { path, reason: error.reason(), detail: error.to_string() };
    Ok(Err(why.map_or_else(|| failure(state, image, NO_FILE), told)))
}

/// Why an image has no vector.
fn failure(state: &State, image: &Image, [expected, found, advice]: [&'static str; 3]) -> FailedFile {
    let path = state.path_of(image).unwrap_or_else(|| format!("#{}", image.id.0).into());
    let error = Error::data(&path, expected, found, advice);
    FailedFile { reason: error.reason(), detail: error.to_string(), path }
}
