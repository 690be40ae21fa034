//! The elements of a library's images: from the cache, or computed from the files where the cache
//! has none.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rayon::prelude::*;

use super::cache::{Cache, Cut};
use super::event::ContentHash;
use super::state::{Image, State};
use crate::bytes::options_text;
use crate::ckm::CkmOptions;
use crate::ckm::element::{Elements, VERSION};
use crate::envelope::hash64;
use crate::error::{Error, Result};
use crate::features::brief::PATTERN_VERSION;
use crate::picture::decode::SIDE;
use crate::picture::perceptual_hash::perceptual_hash;
use crate::picture::{Decoder, Picture, thumbnail};
use crate::progress::Progress;

/// Where the elements of images come from.
pub struct FeatureStore<'a> {
    pub(super) cache: &'a Cache,
    pub(super) decoder: &'a dyn Decoder,
    pub(super) options: &'a CkmOptions,
    pub(super) version: &'a str,
}

/// The version under which the cache keeps the elements of a recogniser with these options.
pub(super) fn version(options: &CkmOptions) -> String {
    // Kernels are left out: they do not change the elements.
    let sources: Vec<_> = options.kinds.iter().map(|kind| &kind.source).collect();
    format!("{:016x}-{PATTERN_VERSION}-{VERSION}", hash64(options_text(&(options.side, sources)).as_bytes()))
}

/// Images whose elements are computed at one time.
const TURN: usize = 64;

impl FeatureStore<'_> {
    /// Keeps what was computed from some files.
    pub(super) fn keep(&self, cuts: &[Cut]) -> Result<()> {
        self.cache.put(self.version, cuts)
    }

    /// The elements of each of `images`; `None` where there is neither a kept copy nor a file that
    /// still has the bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when the cache cannot be used, [`Error::Cancelled`].
    pub fn of(&self, state: &State, images: &[&Image], progress: &Progress) -> Result<Vec<Option<Elements>>> {
        let mut all = Vec::with_capacity(images.len());
        for turn in images.chunks(TURN) {
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let kept = |image: &&Image| match image.content {
                Some(content) => self.cache.feature(content.hash, self.version),
                None => Ok(None),
            };
            let kept: Vec<Option<Vec<u8>>> = turn.iter().map(kept).collect::<Result<_>>()?;
            // The database is used by this thread alone; all threads decode and compute.
            let (decoder, options) = (self.decoder, self.options);
            let found: Vec<(Option<Elements>, Option<Cut>)> = turn
                .par_iter()
                .zip(&kept)
                .map(|(image, kept)| match kept.as_ref().and_then(|bytes| Elements::from_bytes(bytes, options)) {
                    Some(elements) => (Some(elements), None),
                    None => match from_file(state, image, decoder, progress)
                        .and_then(|picture| cut(image.content?.hash, &picture, options).ok())
                    {
                        Some(cut) => (Elements::from_bytes(&cut.elements, options), Some(cut)),
                        None => (None, None),
                    },
                })
                .collect();
            let fresh: Vec<Cut> = found.iter().filter_map(|(_, cut)| cut.clone()).collect();
            if !fresh.is_empty() {
                self.keep(&fresh)?;
            }
            all.extend(found.into_iter().map(|(elements, _)| elements));
        }
        Ok(all)
    }
}

/// The picture of an image, from a file that still has its bytes.
pub(super) fn from_file(state: &State, image: &Image, decoder: &dyn Decoder, progress: &Progress) -> Option<Picture> {
    let hash = image.content?.hash;
    image.places.iter().find_map(|place| {
        let path = state.full_path(place);
        if hash_file(&path).ok()? != hash {
            return None;
        }
        decoder.decode(&path, SIDE, progress).ok()
    })
}

/// Computes what the cache keeps of a picture.
pub(super) fn cut(hash: ContentHash, picture: &Picture, options: &CkmOptions) -> Result<Cut> {
    let elements = Elements::of(picture, options.side, &options.kinds)?;
    let small = thumbnail::shrink(&picture.pixels);
    Ok(Cut { hash, elements: elements.to_bytes(), look: perceptual_hash(&small), jpeg: thumbnail::encode(&small) })
}

/// The hash of a file's bytes, read a piece at a time.
///
/// # Errors
/// [`Error::Io`]; [`Error::Data`] when it is no ordinary file.
pub fn hash_file(path: &Path) -> Result<ContentHash> {
    hash_while(path, &Progress::default())
}

/// As [`hash_file`], until it is cancelled.
///
/// # Errors
/// [`Error::Cancelled`] too.
pub(super) fn hash_while(path: &Path, progress: &Progress) -> Result<ContentHash> {
    // Opening a pipe or a device could wait for ever, so the kind of file is looked up first.
    let meta = std::fs::metadata(path).map_err(Error::io("read", path))?;
    if !meta.is_file() {
        return Err(Error::data(path, "a file", "something else", "leave it out"));
    }
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let mut state = xxhash_rust::xxh3::Xxh3::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        match file.read(&mut buffer) {
            Ok(0) => return Ok(ContentHash(state.digest128())),
            Ok(n) => state.update(&buffer[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read", path)(error)),
        }
    }
}
