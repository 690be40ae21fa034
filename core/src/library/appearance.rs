//! Which images of a library look like a picture: exactly, by a scan over one short vector an image.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::Library;
use super::event::ContentHash;
use super::features::from_file;
use super::state::{Image, State};
use crate::descriptor::Descriptor;
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::TopK;
use crate::picture::appearance::{Appearance, VERSION};
use crate::picture::look::fingerprint;
use crate::picture::{Decoder, thumbnail};
use crate::progress::Progress;

/// The appearances that are in the machine, by the bytes of files.
#[derive(Debug, Default)]
pub(super) struct Appearances {
    of: HashMap<ContentHash, Appearance>,
    /// Files of which there is neither a thumbnail nor one that can be made.
    without: HashSet<ContentHash>,
}

/// Files that are decoded at one time, for want of a kept thumbnail.
const DECODED: usize = 64;

/// A thumbnail made from a file that still has an image's bytes, and its look.
fn thumbnail_of(state: &State, image: &Image, decoder: &dyn Decoder) -> Option<(Descriptor, Vec<u8>)> {
    let picture = from_file(state, image, decoder, &Progress::default())?;
    let small = thumbnail::shrink(&picture.pixels);
    Some((fingerprint(&small), thumbnail::encode(&small)))
}

impl Library {
    /// Brings the appearances of at most `n` images into the machine, from the cache, from their thumbnails, or else from a few of their
    /// files, and gives the number of those that are still to be brought: call it until that is 0. O(images + n thumbnails).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn bring_appearances(&mut self, n: usize) -> Result<usize> {
        let held = &self.appearances;
        let unknown = |image: &&Arc<Image>| {
            image.content.is_some_and(|content| !held.of.contains_key(&content.hash) && !held.without.contains(&content.hash))
        };
        let wanted: BTreeMap<ContentHash, &Arc<Image>> =
            self.state.images().filter(unknown).filter_map(|image| Some((image.content?.hash, image))).collect();
        let (mut found, mut small, mut n_decoded) = (Vec::new(), Vec::new(), 0);
        for (&hash, image) in wanted.iter().take(n) {
            match self.cache.feature(hash, VERSION)?.and_then(|bytes| Appearance::from_bytes(&bytes)) {
                Some(appearance) => found.push((hash, appearance)),
                None => {
                    let jpeg = self.cache.thumbnail(hash)?;
                    n_decoded += usize::from(jpeg.is_none());
                    small.push((hash, *image, jpeg));
                    if n_decoded == DECODED {
                        break;
                    }
                }
            }
        }
        let left = wanted.len() - found.len() - small.len();
        let (state, decoder) = (&self.state, &*self.decoder);
        let look = |(hash, image, jpeg): (ContentHash, &Arc<Image>, Option<Vec<u8>>)| {
            let made = if jpeg.is_none() { thumbnail_of(state, image, decoder) } else { None };
            let appearance = jpeg.as_ref().or(made.as_ref().map(|(_, jpeg)| jpeg)).and_then(|jpeg| thumbnail::decode(jpeg));
            (hash, made, appearance.map(|picture| Appearance::of(&picture)))
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

    /// The appearance of an image, if it is in the machine.
    pub fn appearance(&self, image: &Image) -> Option<&Appearance> {
        self.appearances.of.get(&image.content?.hash)
    }

    /// The `k` images that look most like `wanted` and that `fits` lets through, most alike first, of those whose appearances are in
    /// the machine. O(images).
    pub fn look_alikes(&self, wanted: &Appearance, k: usize, fits: impl Fn(ItemId) -> bool) -> Vec<(ItemId, f64)> {
        let images = self.state.images().filter(|image| fits(image.id));
        // The larger a likeness, the nearer.
        let distances = images.filter_map(|image| Some((image.id, -self.appearance(image)?.likeness(wanted))));
        TopK::of(k, distances).into_iter().map(|found| (found.id, -found.distance)).collect()
    }
}
