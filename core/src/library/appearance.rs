//! Images of a library by appearance: an exact scan over one short vector for each image.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use image::RgbImage;
use rayon::prelude::*;

use super::Library;
use super::event::ContentHash;
use super::features::from_file;
use super::state::{Image, State};
use crate::descriptor::Descriptor;
use crate::error::Result;
use crate::ids::ItemId;
use crate::picture::appearance::{Appearance, VERSION};
use crate::picture::perceptual_hash::perceptual_hash;
use crate::picture::{Decoder, thumbnail};
use crate::progress::Progress;

/// The appearances that are in memory, by the hash of the file's bytes.
#[derive(Debug, Default)]
pub(super) struct Appearances {
    of: HashMap<ContentHash, Appearance>,
    /// Files without a thumbnail, of which none can be made.
    without: HashSet<ContentHash>,
}

/// The most files decoded in one call, where the cache has no thumbnail.
const DECODED: usize = 64;

/// The small picture of a file that still has an image's bytes.
fn small_of(state: &State, image: &Image, decoder: &dyn Decoder) -> Option<RgbImage> {
    let picture = from_file(state, image, decoder, &Progress::default())?;
    Some(thumbnail::shrink(&picture.pixels))
}

/// Its perceptual hash, and the thumbnail.
fn kept_of(small: &RgbImage) -> (Descriptor, Vec<u8>) {
    (perceptual_hash(small), thumbnail::encode(small))
}

/// A thumbnail made from a file that still has an image's bytes, and its perceptual hash.
pub(super) fn thumbnail_of(state: &State, image: &Image, decoder: &dyn Decoder) -> Option<(Descriptor, Vec<u8>)> {
    small_of(state, image, decoder).as_ref().map(kept_of)
}

impl Library {
    /// Loads the appearances of at most `n` images into memory, from the cache, where an import
    /// leaves them, from their thumbnails, or else from at most 64 of their files, and returns the
    /// number of images still to be loaded: call it until that is 0. O(images + n thumbnails).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn load_appearances(&mut self, n: usize) -> Result<usize> {
        self.load_appearances_except(n, |_| false)
    }

    /// As [`Library::load_appearances`], but for images that are not needed.
    pub(super) fn load_appearances_except(&mut self, n: usize, is_needless: impl Fn(&Image) -> bool) -> Result<usize> {
        let state = self.state.clone();
        self.load_wanted(state.images().filter(|image| !is_needless(image)), n)
    }

    /// As [`Library::load_appearances`], but for some images alone. O(these images).
    ///
    /// # Errors
    /// As [`Library::load_appearances`].
    pub fn load_appearances_of(&mut self, images: &[ItemId], n: usize) -> Result<usize> {
        let state = self.state.clone();
        self.load_wanted(images.iter().filter_map(|id| state.image(*id)).filter(|image| image.is_live()), n)
    }

    fn load_wanted<'a>(&mut self, images: impl Iterator<Item = &'a Arc<Image>>, n: usize) -> Result<usize> {
        let held = &self.appearances;
        let is_new = |hash: &ContentHash| !held.of.contains_key(hash) && !held.without.contains(hash);
        let wanted: Vec<(ContentHash, &Arc<Image>)> =
            images.filter_map(|image| Some((image.content?.hash, image))).filter(|(hash, _)| is_new(hash)).collect();
        let (mut found, mut small, mut n_decoded) = (Vec::new(), Vec::new(), 0);
        for &(hash, image) in wanted.iter().take(n) {
            match self.cache.feature(hash, VERSION)?.sound().and_then(|bytes| Appearance::from_bytes(&bytes)) {
                Some(appearance) => found.push((hash, appearance)),
                None => {
                    let jpeg = self.cache.thumbnail(hash)?;
                    n_decoded += usize::from(jpeg.is_none());
                    small.push((hash, image, jpeg));
                    if n_decoded == DECODED {
                        break;
                    }
                }
            }
        }
        let left = wanted.len() - found.len() - small.len();
        let (state, decoder) = (&self.state, &*self.decoder);
        let look = |(hash, image, jpeg): (ContentHash, &Arc<Image>, Option<Vec<u8>>)| {
            let from_file = if jpeg.is_none() { small_of(state, image, decoder) } else { None };
            let made = from_file.as_ref().map(kept_of);
            let small = from_file.or_else(|| thumbnail::decode(&jpeg?));
            (hash, made, small.map(|small| Appearance::of(&small)))
        };
        let looked: Vec<_> = small.into_par_iter().map(look).collect();
        let made: Vec<_> = looked.iter().filter_map(|(hash, made, _)| made.clone().map(|(look, jpeg)| (*hash, look, jpeg))).collect();
        let fresh: Vec<_> = looked.iter().filter_map(|(hash, _, found)| Some((*hash, found.as_ref()?.to_bytes()))).collect();
        self.cache.put_thumbnails(&made)?;
        self.cache.put_features(VERSION, &fresh)?;
        self.appearances.of.extend(found);
        for (hash, _, found) in looked {
            match found {
                Some(appearance) => {
                    self.appearances.of.insert(hash, appearance);
                }
                None => {
                    self.appearances.without.insert(hash);
                }
            }
        }
        Ok(left)
    }

    /// How many of some images have an appearance that is not in memory. O(these images).
    pub fn n_without_appearance(&self, images: &[ItemId]) -> usize {
        let Appearances { of, without } = &self.appearances;
        let hashes = images.iter().filter_map(|id| Some(self.state.image(*id)?.content?.hash));
        hashes.filter(|hash| !of.contains_key(hash) && !without.contains(hash)).count()
    }

    /// The appearance of an image, in memory or in the cache.
    pub fn appearance_of(&self, image: &Image) -> Option<Appearance> {
        let in_cache = || Appearance::from_bytes(&self.cache.feature(image.content?.hash, VERSION).ok()?.sound()?);
        self.appearance(image).cloned().or_else(in_cache)
    }

    /// The appearance of an image, if it is in memory.
    pub fn appearance(&self, image: &Image) -> Option<&Appearance> {
        self.appearances.of.get(&image.content?.hash)
    }
}
