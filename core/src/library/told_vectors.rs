//! Vectors of images by the words of their captions, and by the mean values of the recogniser's
//! elements.
//!
//! A word is a direction of random signs, drawn from its stem, and an image's vector is the sum of
//! its captions' words, each by its tf-idf: cosines of such vectors are those of the captions' own
//! tf-idf vectors, within a few hundredths. The rarer a word is among the captions that the library
//! has now, the more it counts.
//!
//! Elements are told by the features of whole images ([`crate::ckm::whole`]), whose cosines are the
//! kernel by which the recogniser judges whole images.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rand::Rng as _;
use rayon::prelude::*;

use super::Library;
use super::brought_vector::BroughtVector;
use super::event::ContentHash;
use super::state::Image;
use crate::ckm::element::Elements;
use crate::ckm::whole::{are_there, whole_features};
use crate::error::Result;
use crate::progress::Progress;
use crate::random;
use crate::text::hashing::{Stemming, stem};
use crate::text::words;

/// Values of a vector of words.
const WORD_VALUES: usize = 512;
/// The seed of the directions of words.
const SEED: u64 = 0;
/// The kind of rows of elements.
const VERSION: &str = "whole-2";
/// Images whose elements are read at one time.
const TURN: usize = 64;

/// The features of whole images that are in memory, by the hash of the file's bytes; none for one
/// that has no elements.
#[derive(Debug, Default)]
pub(super) struct Wholes {
    /// Of which elements.
    version: String,
    of: HashMap<ContentHash, Option<Box<[i8]>>>,
}

impl Wholes {
    /// Drops those of an image whose elements are others now.
    pub(super) fn give_up(&mut self, hash: ContentHash) {
        self.of.remove(&hash);
    }

    pub(super) fn clear(&mut self) {
        self.of.clear();
    }
}

/// Whether a version of elements ([`Library::whole_version`]) has cells of the network among them.
pub(super) fn has_cells(version: &str) -> bool {
    version.rsplit(' ').next().is_some_and(|cells| !cells.is_empty())
}

fn vector_of(features: &[i8]) -> Option<BroughtVector> {
    BroughtVector::of(&features.iter().map(|value| f32::from(*value)).collect::<Vec<f32>>())
}

impl Library {
    /// The vector of the words of an image's captions; none where there are no words.
    /// O(words * values).
    pub(super) fn caption_vector(&self, image: &Image) -> Option<BroughtVector> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for word in image.captions.iter().flat_map(|caption| words(&caption.text)) {
            *counts.entry(word).or_insert(0) += 1;
        }
        let index = &self.models.words;
        let texts = 1.0 + index.memories() as f64;
        let mut sums = [0.0f32; WORD_VALUES];
        for (word, count) in counts {
            let rarity = (texts / (1.0 + index.texts_with(&word) as f64)).ln().max(0.0) + 1.0;
            let weight = ((1.0 + (count as f64).ln()) * rarity) as f32;
            let mut signs = random::stream(SEED, crate::hash::hash64(stem(&word, Stemming::English).as_bytes()));
            for values in sums.chunks_mut(64) {
                let signs = signs.next_u64();
                values.iter_mut().enumerate().for_each(|(i, value)| *value += if signs >> i & 1 == 1 { weight } else { -weight });
            }
        }
        BroughtVector::of(&sums)
    }

    /// Of which elements features of whole images are now.
    pub(super) fn whole_version(&self) -> String {
        let (own, cells) = self.extraction.versions(&self.options);
        format!("{VERSION} {own} {}", cells.unwrap_or_default())
    }

    /// The features of an image's elements, if they are in memory.
    pub(super) fn whole(&self, image: &Image) -> Option<BroughtVector> {
        let known = Some(&self.wholes).filter(|wholes| wholes.version == self.whole_version())?;
        vector_of(known.of.get(&image.content?.hash)?.as_ref()?)
    }

    /// The features of an image's elements, if they are in the cache.
    pub(super) fn kept_whole(&self, image: &Image) -> Option<BroughtVector> {
        let bytes = self.cache.feature(image.content?.hash, &self.whole_version()).ok()?.sound()?;
        vector_of(&bytes.into_iter().map(|byte| byte as i8).collect::<Vec<i8>>())
    }

    /// Loads the features of the elements of at most `n` images into memory, from the cache, or
    /// else from at most 64 of their images' elements, and returns the number of images still to be
    /// loaded: call it until that is 0. O(images + n rows).
    pub(super) fn load_wholes(&mut self, n: usize) -> Result<usize> {
        let version = self.whole_version();
        if self.wholes.version != version {
            self.wholes = Wholes { version: version.clone(), of: HashMap::new() };
        }
        if !are_there(&self.options.kinds) {
            return Ok(0);
        }
        let held = &self.wholes.of;
        let is_new = |image: &&Arc<Image>| image.content.is_some_and(|content| !held.contains_key(&content.hash));
        let wanted: BTreeMap<ContentHash, &Arc<Image>> =
            self.state.images().filter(is_new).filter_map(|image| Some((image.content?.hash, image))).collect();
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for (&hash, image) in wanted.iter().take(n) {
            match self.cache.feature(hash, &version)?.sound() {
                Some(bytes) => found.push((hash, Some(bytes.into_iter().map(|byte| byte as i8).collect()))),
                None if others.len() < TURN => others.push((hash, &***image)),
                None => break,
            }
        }
        let left = wanted.len() - found.len() - others.len();
        let images: Vec<&Image> = others.iter().map(|(_, image)| *image).collect();
        let elements = self.features().of(&self.state, &images, &Progress::default())?;
        let kinds = &self.options.kinds;
        let made: Vec<Option<Box<[i8]>>> =
            elements.par_iter().map(|elements| whole_features(elements.as_ref()?, kinds).map(Vec::into_boxed_slice)).collect();
        let made: Vec<(ContentHash, Option<Box<[i8]>>)> = others.iter().map(|(hash, _)| *hash).zip(made).collect();
        // What the network has not looked at yet is computed again once it has.
        let row = |((hash, features), elements): (&(ContentHash, Option<Box<_>>), &Option<Elements>)| {
            elements.as_ref().filter(|elements| !elements.lacks_network())?;
            let features: &[i8] = features.as_deref()?;
            Some((*hash, features.iter().map(|value| *value as u8).collect::<Vec<u8>>()))
        };
        let fresh: Vec<(ContentHash, Vec<u8>)> = made.iter().zip(&elements).filter_map(row).collect();
        self.cache.put_features(&version, &fresh)?;
        self.wholes.of.extend(found.into_iter().chain(made));
        Ok(left)
    }
}
