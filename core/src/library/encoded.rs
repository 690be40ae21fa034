//! Vectors of a library's images by an image encoder that the user brought: computed from the
//! files, and taken in as a set of brought vectors, which everything compares as any other.
//!
//! The cache keeps each vector by the encoder's hash and that of the file's bytes, so that only new
//! or changed images are looked at again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::brought_vector::BroughtVector;
use super::event::{ContentHash, EventId};
use super::features::from_file;
use super::image_vector::ImageVector;
use super::state::Image;
use super::{Library, hold};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::network::folder::image_encoder;
use crate::progress::Progress;

/// Images that are looked at between two moments in which the library is held.
const BATCH: usize = 16;
/// Digits of an encoder's hash that name its rows in the cache.
const DIGITS: usize = 16;

/// What looking at all images came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The name of the set.
    pub set: String,
    /// Values of a vector.
    pub dimension: usize,
    /// Images that take part.
    pub images: usize,
    /// Images that the encoder looked at now; of the others their vectors were kept.
    pub looked: usize,
    /// Images without a vector: their files cannot be read, or hold other bytes now.
    pub missing: usize,
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
/// take them in. Cancelling keeps what was done.
///
/// # Errors
/// As [`image_encoder`]; as [`super::draft::Acts::bring_vectors`] for a set that cannot have this
/// name or vectors of so many values; [`Error::ReadOnly`]; [`Error::Io`].
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
        let look = |(image, kept): (&Arc<Image>, Option<ImageVector>)| -> Result<Option<(ItemId, ContentHash, ImageVector, bool)>> {
            progress.step()?;
            let Some(content) = image.content else { return Ok(None) };
            let is_new = kept.is_none();
            let seen = || ImageVector::of(hash, &from_file(&state, image, &*decoder, progress)?.pixels).ok();
            Ok(kept.or_else(seen).map(|vector| (image.id, content.hash, vector, is_new)))
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
        for (id, content, vector, is_new) in seen.into_iter().flatten().filter(|(id, content, ..)| library.has_bytes(*id, *content)) {
            if is_new {
                rows.push((content, vector.to_bytes()));
            }
            found.extend(BroughtVector::of(vector.values()).map(|brought| (id, (content, brought))));
        }
        done.looked += rows.len();
        library.cache.put_features(&version, &rows)?;
    }
    let mut library = hold(library);
    // What was forgotten meanwhile leaves nothing behind.
    found.retain(|id, (content, _)| library.has_bytes(*id, *content));
    done.missing = if done.cancelled { 0 } else { done.images - found.len() };
    let draft = library.acts().set_vectors(&done.set, found.into_iter().map(|(id, (_, vector))| (id, vector)));
    // What was computed until it was cancelled is taken in.
    let rest = if done.cancelled { Progress::default() } else { progress.clone() };
    let (changed, act) = library.take_in_vectors(&draft, &rest)?;
    done.cancelled |= changed < draft.changes.len();
    (done.changed, done.act) = (changed, act);
    Ok(done)
}
