//! Which images of a library look like a picture: exactly, by a scan over one short vector an image.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::Library;
use super::event::ContentHash;
use super::state::Image;
use crate::error::Result;
use crate::ids::ItemId;
use crate::picture::appearance::{Appearance, VERSION};
use crate::picture::thumbnail;

/// The appearances that are in the machine, by the bytes of files.
#[derive(Debug, Default)]
pub(super) struct Appearances {
    of: HashMap<ContentHash, Appearance>,
    /// Files without a kept thumbnail.
    without: HashSet<ContentHash>,
}

impl Library {
    /// Brings the appearances of at most `n` images into the machine, from the cache or else from their thumbnails, and gives the
    /// number of those that are still to be brought: call it until that is 0. O(images + n thumbnails).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn bring_appearances(&mut self, n: usize) -> Result<usize> {
        let held = &self.appearances;
        let hashes = self.state.images().filter_map(|image| Some(image.content?.hash));
        let wanted: HashSet<ContentHash> = hashes.filter(|hash| !held.of.contains_key(hash) && !held.without.contains(hash)).collect();
        let mut turn: Vec<ContentHash> = wanted.iter().copied().collect();
        turn.sort_unstable();
        turn.truncate(n);
        let mut small = Vec::new();
        for &hash in &turn {
            match self.cache.feature(hash, VERSION)?.and_then(|bytes| Appearance::from_bytes(&bytes)) {
                Some(appearance) => {
                    self.appearances.of.insert(hash, appearance);
                }
                None => small.push((hash, self.cache.thumbnail(hash)?)),
            }
        }
        let look =
            |(hash, jpeg): (ContentHash, Option<Vec<u8>>)| (hash, jpeg.and_then(|jpeg| Some(Appearance::of(&thumbnail::decode(&jpeg)?))));
        let looked: Vec<(ContentHash, Option<Appearance>)> = small.into_par_iter().map(look).collect();
        let fresh: Vec<_> = looked.iter().filter_map(|(hash, found)| Some((*hash, found.as_ref()?.to_bytes()))).collect();
        if !fresh.is_empty() {
            self.cache.put_features(VERSION, &fresh)?;
        }
        for (hash, found) in looked {
            match found {
                Some(appearance) => {
                    self.appearances.of.insert(hash, appearance);
                }
                None => {
                    self.appearances.without.insert(hash);
                }
            }
        }
        Ok(wanted.len() - turn.len())
    }

    /// The appearance of an image, if it is in the machine.
    pub fn appearance(&self, image: &Image) -> Option<&Appearance> {
        self.appearances.of.get(&image.content?.hash)
    }

    /// The `k` images that look most like `wanted` and that `fits` lets through, most alike first, of those whose appearances are in
    /// the machine. O(images).
    pub fn look_alikes(&self, wanted: &Appearance, k: usize, fits: impl Fn(ItemId) -> bool) -> Vec<(ItemId, f64)> {
        let images = self.state.images().filter(|image| fits(image.id));
        let mut found: Vec<(ItemId, f64)> = images.filter_map(|image| Some((image.id, self.appearance(image)?.likeness(wanted)))).collect();
        let order = |a: &(ItemId, f64), b: &(ItemId, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if found.len() > k && k > 0 {
            found.select_nth_unstable_by(k - 1, order);
        }
        found.truncate(k);
        found.sort_by(order);
        found
    }
}
