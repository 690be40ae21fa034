//! The elements of a library's images: from the cache, or computed from the files where the cache
//! has none. Cells of the network are in a row of their own, so that turning them on or off changes
//! nothing of the others.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::cache::{Cache, CacheRow, Cut};
use super::event::ContentHash;
use super::glimpse::Glimpse;
use super::image_vector::ImageVector;
use super::state::{Image, State};
use crate::bytes::options_text;
use crate::ckm::element::{Elements, VERSION};
use crate::ckm::outline::Outlines;
use crate::ckm::{CkmOptions, ElementKind};
use crate::envelope::hash64;
use crate::error::{Error, Result};
use crate::features::brief::PATTERN_VERSION;
use crate::network::{Network, Seen};
use crate::picture::appearance::{self, Appearance};
use crate::picture::decode::SIDE;
use crate::picture::perceptual_hash::perceptual_hash;
use crate::picture::{Decoder, Picture, thumbnail};
use crate::progress::Progress;

/// What is expected and found where a file has other bytes than its image, and the way out.
pub(super) const CHANGED: [&str; 3] = ["the bytes that the library knows", "other bytes", "import its folder again"];

/// Where the elements of images come from.
pub struct FeatureStore<'a> {
    pub(super) cache: &'a Cache,
    pub(super) decoder: &'a Arc<dyn Decoder>,
    /// Those of the recogniser.
    pub(super) options: &'a CkmOptions,
    pub(super) extraction: &'a Extraction,
    /// Bytes of elements that the recogniser may keep in memory.
    pub(super) in_memory: usize,
}

/// What is computed of each picture and kept.
#[derive(Clone)]
pub(super) struct Extraction {
    /// Every kind that takes no network.
    own: Kept,
    /// Cells of the network, if learned features are on.
    pub(super) cells: Option<Kept>,
    /// The hash of the pair of encoders by which words find images, if learned features are on.
    pub(super) pair: Option<String>,
}

/// Some kinds of elements, and the version under which the cache keeps them.
#[derive(Clone)]
pub(super) struct Kept {
    options: CkmOptions,
    pub(super) version: String,
}

/// Whether a kind of elements is computed by a network.
fn is_learned(kind: &ElementKind) -> bool {
    kind.source.is_of_network()
}

impl Kept {
    fn of(options: &CkmOptions, fits: impl Fn(&ElementKind) -> bool) -> Self {
        let kinds = options.kinds.iter().filter(|kind| fits(kind)).cloned().collect();
        let options = CkmOptions { kinds, ..options.clone() };
        // Kernels are left out: they do not change the elements.
        let sources: Vec<_> = options.kinds.iter().map(|kind| &kind.source).collect();
        let version = format!("{:016x}-{PATTERN_VERSION}-{VERSION}", hash64(options_text(&(options.side, sources)).as_bytes()));
        Self { options, version }
    }
}

impl Extraction {
    /// What a recogniser with these options needs, and one with `learned` besides.
    /// `pair` is the hash of a pair of encoders; without `learned` it is left out.
    pub(super) fn new(options: &CkmOptions, learned: Option<&CkmOptions>, pair: Option<&str>) -> Self {
        Self {
            own: Kept::of(options, |kind| !is_learned(kind)),
            cells: learned.map(|learned| Kept::of(learned, is_learned)),
            pair: pair.filter(|_| learned.is_some()).map(str::to_owned),
        }
    }

    /// The version of the rows that take no network.
    pub(super) fn own_version(&self) -> &str {
        &self.own.version
    }

    /// The row of a picture's cells.
    pub(super) fn cells_of(&self, seen: &Seen, size: (u32, u32)) -> Result<Option<(String, Vec<u8>)>> {
        let row = |Kept { options, version }: &Kept| {
            let cells = Elements::of_seen(seen, size, options.side, &options.kinds)?;
            Ok((version.clone(), cells.to_bytes()))
        };
        self.cells.as_ref().map(row).transpose()
    }

    /// The versions of the rows of a recogniser with these options: its own, and that of cells.
    pub(super) fn versions(&self, options: &CkmOptions) -> (&str, Option<&str>) {
        (&self.own.version, self.cells_for(options).map(|cells| &*cells.version))
    }

    /// The cells that a row of [`Self::cells_of`] has.
    pub(super) fn cells_from(&self, row: &[u8]) -> Option<Elements> {
        Elements::from_bytes(row, &self.cells.as_ref()?.options)
    }

    fn cells_for(&self, options: &CkmOptions) -> Option<&Kept> {
        self.cells.as_ref().filter(|_| options.is_of_network())
    }

    /// The elements of these rows; `None` where the first is missing or none of ours.
    pub(super) fn read(&self, own: Option<&[u8]>, cells: Option<&[u8]>, options: &CkmOptions) -> Option<Elements> {
        let elements = Elements::from_bytes(own?, &self.own.options)?;
        let Some(kept) = self.cells_for(options) else { return Some(elements) };
        let seen = cells.and_then(|bytes| Elements::from_bytes(bytes, &kept.options));
        let size = elements.size;
        let parts: Vec<Elements> = [Some(elements), seen].into_iter().flatten().collect();
        Some(Elements::gathered(&parts, size, options))
    }

    /// The rows of elements that were computed elsewhere.
    pub(super) fn rows_of(&self, elements: &Elements) -> Vec<(String, Vec<u8>)> {
        let row = |kept: &Kept| {
            let of = Elements::gathered(std::slice::from_ref(elements), elements.size, &kept.options);
            (kept.version.clone(), of.to_bytes())
        };
        std::iter::once(&self.own).chain(&self.cells).map(row).collect()
    }

    /// The elements of what was computed from a file.
    pub(super) fn read_cut(&self, cut: &Cut, options: &CkmOptions) -> Option<Elements> {
        let (own, cells) = self.versions(options);
        self.read(cut.row(own), cells.and_then(|version| cut.row(version)), options)
    }

    /// Computes what the cache keeps of a picture. Where a network cannot be run, its rows are
    /// left out.
    pub(super) fn cut(&self, hash: ContentHash, picture: &Picture) -> Result<Cut> {
        let Kept { options, version } = &self.own;
        let mut rows = vec![(version.clone(), Elements::of(picture, options.side, &options.kinds)?.to_bytes())];
        if self.cells.is_some()
            && let Ok(seen) = Network::shipped().and_then(|network| network.look_at(&picture.pixels))
        {
            rows.extend(self.cells_of(&seen, picture.size)?);
            rows.push((Glimpse::VERSION.to_owned(), Glimpse::of(&seen).to_bytes()));
        }
        if let Some(hash) = &self.pair
            && let Ok(vector) = ImageVector::of(hash, &picture.pixels)
        {
            rows.push((ImageVector::version(hash), vector.to_bytes()));
        }
        let small = thumbnail::shrink(&picture.pixels);
        rows.push((appearance::VERSION.to_owned(), Appearance::of(&small).to_bytes()));
        Ok(Cut { hash, rows, look: perceptual_hash(&small), jpeg: thumbnail::encode(&small) })
    }
}

/// The name of checkpoints of a recogniser with these options. They hold no elements, so whether
/// some are cells of a network does not matter.
pub(super) fn version(options: &CkmOptions) -> String {
    Kept::of(options, |kind| !is_learned(kind)).version
}

/// The name under which the cache keeps the outlines of a recogniser with these options.
pub(super) fn outlines_name(options: &CkmOptions, extraction: &Extraction) -> String {
    name_by_elements(OUTLINES, options, extraction)
}

/// The name, beginning with `prefix`, of what the cache keeps that depends on the elements of a
/// recogniser with these options.
pub(super) fn name_by_elements(prefix: &str, options: &CkmOptions, extraction: &Extraction) -> String {
    let kinds = hash64(options_text(&(options.side, &options.kinds)).as_bytes());
    let (own, cells) = extraction.versions(options);
    format!("{prefix}{kinds:016x}-{own}-{}", cells.unwrap_or_default())
}

/// What the names of outlines begin with.
pub(super) const OUTLINES: &str = "outlines-1-";

/// The outlines that a cache keeps of a recogniser with these options; none where they are damaged.
pub(super) fn outlines(cache: &Cache, options: &CkmOptions, extraction: &Extraction) -> Outlines {
    let kept = cache.checkpoint(&outlines_name(options, extraction)).ok().flatten();
    kept.and_then(|(_, bytes)| Outlines::from_bytes(bytes, options.kinds.len())).unwrap_or_default()
}

/// A sound row of the cache, if there is one.
type Row = Option<Vec<u8>>;

/// Images whose elements are computed at one time.
const TURN: usize = 64;

impl FeatureStore<'_> {
    /// Keeps what was computed from some files.
    pub(super) fn keep(&self, cuts: &[Cut]) -> Result<()> {
        self.cache.put(cuts)
    }

    /// What the cache keeps of a recogniser with these options, so that elements need not be read.
    pub(super) fn outlines(&self, options: &CkmOptions) -> Outlines {
        outlines(self.cache, options, self.extraction)
    }

    /// Whether the elements of a file whose elements were just read or computed are in the cache.
    pub(super) fn has(&self, hash: ContentHash) -> Result<bool> {
        let own = self.extraction.own_version();
        Ok(self.cache.keeps() || matches!(self.cache.feature(hash, own)?, CacheRow::Sound(_)))
    }

    /// The elements of each of `images`; `None` where there is neither a kept copy nor a file that
    /// still has the bytes. No file is decoded for cells of the network alone: an image without
    /// kept ones has none until they are computed ([`super::learned::compute`]).
    ///
    /// # Errors
    /// [`Error::Io`] when the cache cannot be used, [`Error::Cancelled`].
    pub fn of(&self, state: &State, images: &[&Image], progress: &Progress) -> Result<Vec<Option<Elements>>> {
        let mut all = Vec::with_capacity(images.len());
        let Extraction { own, cells, .. } = self.extraction;
        let cells = cells.as_ref().filter(|_| self.options.is_of_network());
        for turn in images.chunks(TURN) {
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let row = |image: &Image, kept: &Kept| match image.content {
                Some(content) => self.cache.feature(content.hash, &kept.version),
                None => Ok(CacheRow::Absent),
            };
            let rows = |image: &&Image| {
                let cells = cells.map_or(Ok(CacheRow::Absent), |cells| row(image, cells))?;
                // With the file decoded anew, both rows are computed again.
                let own = if cells == CacheRow::Damaged { None } else { row(image, own)?.sound() };
                Ok((own, cells.sound()))
            };
            let kept: Vec<(Row, Row)> = turn.iter().map(rows).collect::<Result<_>>()?;
            // The database is used by this thread alone; all threads decode and compute.
            let (decoder, options, extraction) = (&**self.decoder, self.options, self.extraction);
            let found: Vec<(Option<Elements>, Option<Cut>)> = turn
                .par_iter()
                .zip(&kept)
                .map(|(image, (own_row, cells_row))| {
                    if let Some(elements) = extraction.read(own_row.as_deref(), cells_row.as_deref(), options) {
                        return (Some(elements), None);
                    }
                    let made =
                        from_file(state, image, decoder, progress).and_then(|picture| extraction.cut(image.content?.hash, &picture).ok());
                    let Some(made) = made else { return (None, None) };
                    (extraction.read_cut(&made, options), Some(made))
                })
                .collect();
            let fresh: Vec<Cut> = found.iter().filter_map(|(_, cut)| cut.clone()).collect();
            if !fresh.is_empty() {
                self.keep(&fresh)?;
            }
            // An image whose decoding was cancelled is not one without elements.
            if progress.is_cancelled() && found.iter().any(|(elements, _)| elements.is_none()) {
                return Err(Error::Cancelled);
            }
            all.extend(found.into_iter().map(|(elements, _)| elements));
        }
        Ok(all)
    }
}

/// A row of the cache of that version; one that is damaged is computed again, with all others of
/// the image, where a file still has its bytes.
pub(super) fn row_or_anew(
    cache: &Cache,
    version: &str,
    image: &Image,
    state: &State,
    decoder: &dyn Decoder,
    extraction: &Extraction,
) -> Result<Option<Vec<u8>>> {
    let Some(content) = image.content else { return Ok(None) };
    match cache.feature(content.hash, version)? {
        CacheRow::Sound(bytes) => Ok(Some(bytes)),
        CacheRow::Absent => Ok(None),
        CacheRow::Damaged => {
            let picture = from_file(state, image, decoder, &Progress::default());
            let Some(cut) = picture.and_then(|picture| extraction.cut(content.hash, &picture).ok()) else { return Ok(None) };
            cache.put(std::slice::from_ref(&cut))?;
            Ok(cut.row(version).map(<[u8]>::to_vec))
        }
    }
}

/// The picture of an image, from a file that still has its bytes.
pub(super) fn from_file(state: &State, image: &Image, decoder: &dyn Decoder, progress: &Progress) -> Option<Picture> {
    let hash = image.content?.hash;
    image.places.iter().find_map(|place| picture_of(&state.full_path(place), hash, decoder, progress).ok())
}

/// The picture in a file, if it has these bytes before and after it was decoded.
///
/// # Errors
/// [`Error::Data`] for other bytes, those of reading and of decoding.
pub(super) fn picture_of(path: &Path, hash: ContentHash, decoder: &dyn Decoder, progress: &Progress) -> Result<Picture> {
    let changed = || {
        let [expected, found, advice] = CHANGED;
        Error::data(path, expected, found, advice)
    };
    let before = Stamp::of(path)?;
    if hash_file(path)? != hash {
        return Err(changed());
    }
    let picture = decoder.decode(path, SIDE, progress)?;
    if Stamp::of(path)? == before { Ok(picture) } else { Err(changed()) }
}

/// What tells whether a file was written to or replaced between two moments: its device and number,
/// its length, and when it was last changed, which no program can set.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp([i128; 5]);

impl Stamp {
    /// That of the file at a path.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let meta = std::fs::metadata(path).map_err(Error::io("read", path))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            Ok(Self([meta.dev().into(), meta.ino().into(), meta.len().into(), meta.ctime().into(), meta.ctime_nsec().into()]))
        }
        #[cfg(not(unix))]
        {
            let since = meta.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
            Ok(Self([0, 0, meta.len().into(), since.as_secs().into(), since.subsec_nanos().into()]))
        }
    }
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
