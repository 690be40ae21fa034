//! The health of a library: its roots, files that could not be imported, its snapshots, and its
//! size on disk.

use std::fs;
use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::chain::Head;
use super::event::RootId;
use super::import::{DUPLICATE, copy_of, is_unfinished};
use super::models::Models;
use super::snapshot::{Snapshot, snapshots};
use super::state::{Image, Root, State};
use super::store::Store;
use crate::error::Result;

/// The health of a library at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Its roots.
    pub roots: Vec<RootHealth>,
    /// Files that could not be taken in when their folders were last imported.
    pub skipped: Vec<SkippedFile>,
    /// Further files with the bytes of an image, each told with another one of its files.
    pub copies: Vec<SkippedFile>,
    /// Its snapshots, the newest first.
    pub snapshots: Vec<Snapshot>,
    /// The end of its history.
    pub head: Option<Head>,
    /// When it was last checked and found sound, in milliseconds since 1970.
    pub checked_at: Option<i64>,
    /// Its files and folders with their sizes in bytes, the largest first.
    pub stored: Vec<(String, u64)>,
}

/// About the bytes that a library takes in memory, by what they are of. What the system and its
/// databases keep besides is not counted, nor what is computed for a page or an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InMemory {
    /// Images, their places, labels and captions.
    pub images: u64,
    /// The index of words.
    pub words: u64,
    /// The caption memory.
    pub captions: u64,
    /// The recogniser: sketches of its images and elements, those read last too.
    pub recogniser: u64,
}

impl InMemory {
    /// What `state` and `models` take. O(images + texts + words).
    pub(super) fn of(state: &State, models: &Models) -> Self {
        Self {
            images: state.bytes() as u64,
            words: models.words.bytes() as u64,
            captions: models.recall.bytes() as u64,
            recogniser: models.recogniser.bytes() as u64,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.images + self.words + self.captions + self.recogniser
    }
}

/// The health of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootHealth {
    /// Its number.
    pub id: RootId,
    /// Its path.
    pub path: PathBuf,
    /// Whether its import was broken off, or is under way.
    pub is_broken_off: bool,
    /// Whether the folder is there; its images stay in the library when it is not.
    pub is_here: bool,
    /// Images below it.
    pub images: usize,
    /// Of these: images whose file was not there when it was last looked for.
    pub missing: usize,
}

/// A file that could not be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// The file.
    pub path: PathBuf,
    /// The reason as one word, for programs.
    pub reason: String,
    /// The reason in words.
    pub detail: String,
}

/// The name of the fact in the store: when the library was last checked and found sound.
pub(super) const CHECKED: &str = "checked at";

/// The health of the library in `folder`. O(images + files of the library).
pub(super) fn health(folder: &Path, state: &State, store: &Store, cache: &Cache) -> Result<Health> {
    let root = |(id, root): (RootId, &Root)| {
        let lies_below = state.lies_below(&root.path);
        let below = state.images().filter(|image| image.found_at().any(&lies_below));
        let (mut images, mut missing) = (0, 0);
        for image in below {
            images += 1;
            missing += usize::from(!image.is_here());
        }
        let is_broken_off = is_unfinished(store, id)?;
        Ok(RootHealth { id, path: root.path.clone(), is_broken_off, is_here: root.path.is_dir(), images, missing })
    };
    let skipped = cache.skipped()?.into_iter().map(|(path, reason, detail)| SkippedFile { path, reason, detail });
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut stored: Vec<(String, u64)> =
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), size_of(&entry.path()))).collect();
    stored.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(Health {
        roots: state.roots().map(root).collect::<Result<_>>()?,
        skipped: skipped.collect(),
        copies: state.images().flat_map(|image| copies(state, image)).collect(),
        snapshots: snapshots(folder),
        head: Some(store.head()?),
        checked_at: store.fact(CHECKED)?,
        stored,
    })
}

/// The files of an image that are there and have its bytes, but for the first.
fn copies(state: &State, image: &Image) -> Vec<SkippedFile> {
    if image.places.len() < 2 {
        return Vec::new();
    }
    let hash = image.content.map(|content| content.hash);
    let mut files = image.places.iter().filter(|place| place.here && Some(place.hash) == hash).map(|place| state.full_path(place));
    let Some(first) = files.next() else { return Vec::new() };
    files.map(|path| SkippedFile { path, reason: DUPLICATE.into(), detail: copy_of(&first) }).collect()
}

/// Bytes of a file, or of everything in a folder.
fn size_of(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size_of(&entry.path())).sum(),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    }
}
