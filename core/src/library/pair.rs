//! The pair of encoders by which words find images of a library: chosen, and its vectors of images
//! computed and loaded.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::event::ContentHash;
use super::features::{from_file, row_or_anew};
use super::image_vector::ImageVector;
use super::state::Image;
use super::{Library, hold};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::network::folder::{name_of_pair, text_encoder};
use crate::progress::Progress;

/// The fact in the store: the first 64 bits of the pair's hash; 0 where there is none.
pub(super) const PAIR: &str = "pair of encoders";
/// Images that are looked at between two moments in which the library is held.
const BATCH: usize = 16;
/// Vectors of texts that are kept in memory, at most.
const TEXTS: usize = 4096;

/// The pair of encoders of a library, and what is in memory of it.
#[derive(Default)]
pub(super) struct Pair {
    /// How the hash of its image encoder begins, in 16 digits; `None` where none was chosen.
    pub(super) hash: Option<String>,
    /// `None` for images of which the cache has no vector.
    vectors: HashMap<ContentHash, Option<ImageVector>>,
    texts: Mutex<BTreeMap<String, Arc<Vec<f32>>>>,
}

impl Pair {
    /// The pair with the number that the store keeps, of which nothing is in memory.
    pub(super) fn of(number: Option<i64>) -> Self {
        Self { hash: number.filter(|number| *number != 0).map(|number| format!("{:016x}", number as u64)), ..Self::default() }
    }

    /// Drops the vectors in memory.
    pub(super) fn clear(&mut self) {
        self.vectors.clear();
    }
}

/// The pair of encoders by which words find images of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordsNetwork {
    /// How the hash of its image encoder begins, in 16 digits.
    pub hash: String,
    /// What it is called here; `None` where no such pair was added, and words find images in other
    /// ways alone.
    pub name: Option<String>,
    /// Images that it has looked at.
    pub seen: usize,
    /// Images that take part.
    pub images: usize,
}

impl Library {
    /// The pair of encoders by which words find images, and how far it is; `None` where none was
    /// chosen. With learned features turned off it stays chosen, and finds nothing.
    ///
    /// # Errors
    /// [`Error::Io`] when the cache cannot be used.
    pub fn words_network(&self) -> Result<Option<WordsNetwork>> {
        let Some(hash) = &self.pair.hash else { return Ok(None) };
        let (seen, images) = self.looked_at(&ImageVector::version(hash))?;
        Ok(Some(WordsNetwork { hash: hash.clone(), name: name_of_pair(hash), seen, images }))
    }

    /// Chooses the pair of encoders by which words find images from now on, by the hash of its
    /// image encoder ([`crate::network::ImageForm::identity`]), or none. Vectors that were computed
    /// are kept; [`compute`] looks at the other images.
    ///
    /// # Errors
    /// [`Error::Data`] when no such pair was added; [`Error::Io`].
    pub fn set_words_network(&mut self, hash: Option<&str>) -> Result<()> {
        let number = match hash {
            None => 0,
            Some(hash) => {
                let digits = hash.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
                digits.ok_or_else(|| Error::value("hash of a network", "16 hexadecimal digits or more", hash))? as i64
            }
        };
        let pair = Pair::of(Some(number));
        pair.hash.as_deref().map(text_encoder).transpose()?;
        self.store.set_fact(PAIR, number)?;
        self.pair = pair;
        self.extraction.pair = self.pair.hash.clone().filter(|_| self.extraction.cells.is_some());
        Ok(())
    }

    /// Loads the vectors of at most `n` images by the pair of encoders into memory, and returns the
    /// number of images still to be loaded: call it until that is 0. O(images + n rows).
    ///
    /// # Errors
    /// [`Error::Io`] when the cache cannot be used.
    pub fn load_image_vectors(&mut self, n: usize) -> Result<usize> {
        let Some(hash) = &self.extraction.pair else { return Ok(0) };
        let version = ImageVector::version(hash);
        let images = self.state.images().filter_map(|image| Some((image.content?.hash, image)));
        let wanted: Vec<(ContentHash, &Arc<Image>)> = images.filter(|(hash, _)| !self.pair.vectors.contains_key(hash)).collect();
        for &(hash, image) in wanted.iter().take(n) {
            let row = row_or_anew(&self.cache, &version, image, &self.state, &*self.decoder, &self.extraction)?;
            self.pair.vectors.insert(hash, row.and_then(|bytes| ImageVector::from_bytes(&bytes)));
        }
        Ok(wanted.len().saturating_sub(n))
    }

    /// The vector of an image by the pair of encoders, if that is in memory and in use.
    pub(super) fn image_vector(&self, image: &Image) -> Option<&ImageVector> {
        self.extraction.pair.as_ref()?;
        self.pair.vectors.get(&image.content?.hash)?.as_ref()
    }

    /// The vector of a text by the pair of encoders; `None` where none is in use, or it is not
    /// there.
    pub(super) fn text_vector(&self, text: &str) -> Option<Arc<Vec<f32>>> {
        let hash = self.extraction.pair.as_ref()?;
        let mut texts = self.pair.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = texts.get(text) {
            return Some(Arc::clone(vector));
        }
        let vector = Arc::new(text_encoder(hash).and_then(|encoder| encoder.vector(text)).ok()?);
        if texts.len() >= TEXTS {
            texts.clear();
        }
        texts.insert(text.to_owned(), Arc::clone(&vector));
        Some(vector)
    }
}

/// Computes the vectors of images that have none, by the pair of encoders, where one is in use and
/// there. The library is held only for moments. Images without a readable file are left out.
/// Returns how many were looked at; cancelling keeps these.
///
/// # Errors
/// [`Error::Io`] when the cache cannot be used; [`Error::Cancelled`].
///
/// # Complexity
/// The time of decoding and of the pair's image encoder for an image.
pub fn compute(library: &Mutex<Library>, progress: &Progress) -> Result<usize> {
    let (hash, wanted, decoder) = {
        let library = hold(library);
        let Some(hash) = library.extraction.pair.clone().filter(|hash| name_of_pair(hash).is_some()) else { return Ok(0) };
        let wanted = library.lacking(&[&ImageVector::version(&hash)])?;
        (hash, wanted, Arc::clone(&library.decoder))
    };
    if wanted.is_empty() {
        return Ok(0);
    }
    progress.begin("Looking at images with the pair of encoders", wanted.len() as u64);
    let mut looked = 0;
    for batch in wanted.chunks(BATCH) {
        let state = {
            let library = hold(library);
            // Somebody chose another one, or turned learned features off.
            if library.extraction.pair.as_ref() != Some(&hash) {
                return Ok(looked);
            }
            library.state.clone()
        };
        let look = |image: &Arc<Image>| {
            progress.step()?;
            let vector = from_file(&state, image, &*decoder, progress).and_then(|picture| ImageVector::of(&hash, &picture.pixels).ok());
            Ok(image.content.zip(vector).map(|(content, vector)| (image.id, content.hash, vector)))
        };
        let found: Vec<Option<(ItemId, ContentHash, ImageVector)>> = batch.par_iter().map(look).collect::<Result<_>>()?;
        let mut library = hold(library);
        let found: Vec<_> = found.into_iter().flatten().filter(|(id, hash, _)| library.has_bytes(*id, *hash)).collect();
        looked += found.len();
        let rows: Vec<(ContentHash, Vec<u8>)> = found.iter().map(|(_, hash, vector)| (*hash, vector.to_bytes())).collect();
        library.cache.put_features(&ImageVector::version(&hash), &rows)?;
        // They are read when they are next needed.
        found.iter().for_each(|(_, hash, _)| drop(library.pair.vectors.remove(hash)));
    }
    Ok(looked)
}
