//! A collection in a folder of this machine.
//!
//! Whoever changes it looks at the manifest's version, and puts the next one in its place, while it
//! holds the file `manifest.lock` locked, as the package for Python does too: of two who change the
//! same version one is refused. The file is never written to nor deleted.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::manifest::FORM_KEY;
use super::{ImageHash, MANIFEST, Manifest, Shard, ShardEntry, ShardImage, write_shard};
use crate::ckm::CkmOptions;
use crate::envelope;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// Bytes of a manifest within which its form stands.
const START: u64 = 64;

/// The folder within a collection where states are kept.
const STATES: &str = "states";

/// The file that is locked while a collection is changed.
const LOCK: &str = "manifest.lock";

/// A collection in a folder. One process at a time changes it.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionFolder {
    folder: PathBuf,
    manifest: Manifest,
}

/// What forgetting did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionForgotten {
    /// Images that were there.
    pub images: usize,
    /// Shards that were written anew or taken away.
    pub shards: usize,
    /// States that were deleted.
    pub states: usize,
}

impl CollectionFolder {
    /// Whether a collection lies in this folder: other programs have manifests of this name, too.
    pub fn is_one(folder: &Path) -> bool {
        let mut start = Vec::new();
        let file = fs::File::open(folder.join(MANIFEST)).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()));
        let read = file.is_some_and(|file| file.take(START).read_to_end(&mut start).is_ok());
        read && String::from_utf8_lossy(&start).contains(FORM_KEY)
    }

    /// Opens the collection in a folder.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Data`].
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(Error::text(&path))?;
        let advice = "take it from a copy of the collection, or make the collection again";
        let manifest =
            Manifest::from_json(&text).map_err(|error| Error::data(&path, "the manifest of a collection", error.to_string(), advice))?;
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    /// Opens the collection in a folder, or begins one whose elements are cut by these options.
    ///
    /// # Errors
    /// As [`CollectionFolder::open`]; [`Error::Exists`] for a folder with anything else in it.
    pub fn open_or_begin(folder: &Path, options: CkmOptions) -> Result<Self> {
        if folder.join(MANIFEST).is_file() {
            return Self::open(folder);
        }
        let is_other = |entry: std::io::Result<fs::DirEntry>| entry.map_or(true, |entry| entry.file_name() != LOCK);
        if fs::read_dir(folder).is_ok_and(|mut entries| entries.any(is_other)) {
            return Err(Error::Exists { path: folder.to_owned(), found: "a folder with other things in it" });
        }
        fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
        let _lock = locked(folder)?;
        // Another process may have begun it meanwhile.
        if folder.join(MANIFEST).is_file() {
            return Self::open(folder);
        }
        let begun = Self { folder: folder.to_owned(), manifest: Manifest::new(options) };
        envelope::replace(&folder.join(MANIFEST), begun.manifest.to_json().as_bytes())?;
        Ok(begun)
    }

    /// Its shards as they are now.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Reads a shard. O(its bytes).
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] where it is damaged.
    pub fn shard(&self, entry: &ShardEntry) -> Result<Shard> {
        let path = self.folder.join(&entry.file);
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        Shard::open(&path.to_string_lossy(), bytes, Some(&entry.hash))
    }

    /// The hashes of all images. O(bytes of all shards).
    ///
    /// # Errors
    /// As [`CollectionFolder::shard`].
    pub fn hashes(&self) -> Result<BTreeSet<ImageHash>> {
        let mut all = BTreeSet::new();
        for entry in self.manifest.shards() {
            all.extend(self.shard(entry)?.hashes());
        }
        Ok(all)
    }

    /// Adds images as a new shard, which readers see once it is whole. The images are none that are
    /// there already. O(bytes).
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Value`] without images.
    pub fn add(&mut self, images: &[ShardImage]) -> Result<ShardEntry> {
        let entry = self.put(images)?;
        let _lock = locked(&self.folder)?;
        self.commit(self.manifest.changed(&[], [entry.clone()]))?;
        Ok(entry)
    }

    /// Takes images out: writes the shards that hold them anew without them, and deletes these
    /// shards, shards that the manifest does not name, and every state that was made of a shard.
    /// O(bytes of all shards).
    ///
    /// # Errors
    /// As [`CollectionFolder::shard`] and [`CollectionFolder::add`]; [`Error::Cancelled`].
    pub fn forget(&mut self, hashes: &BTreeSet<ImageHash>, progress: &Progress) -> Result<CollectionForgotten> {
        let mut forgotten = CollectionForgotten::default();
        let (mut old, mut new) = (Vec::new(), Vec::new());
        progress.begin("Forgetting images", self.manifest.shards().len() as u64);
        for entry in self.manifest.shards() {
            progress.step()?;
            let shard = self.shard(entry)?;
            let gone = shard.hashes().iter().filter(|hash| hashes.contains(hash)).count();
            if gone == 0 {
                continue;
            }
            let mut images = shard.images()?;
            images.retain(|image| !hashes.contains(&image.hash));
            forgotten.images += gone;
            forgotten.shards += 1;
            old.push(entry.file.clone());
            if !images.is_empty() {
                new.push(self.put(&images)?);
            }
        }
        let _lock = locked(&self.folder)?;
        if old.is_empty() {
            self.check_version()?;
        } else {
            self.commit(self.manifest.changed(&old, new))?;
        }
        // A state of all shards has the image in it too, and may be left of a run that was ended
        // here.
        let states = self.folder.join(STATES);
        if states.is_dir() {
            forgotten.states = files_below(&states);
            fs::remove_dir_all(&states).map_err(Error::io("delete", &states))?;
        }
        self.sweep()?;
        Ok(forgotten)
    }

    /// Deletes shards that the manifest does not name: those before it, and what was begun and
    /// never ended.
    fn sweep(&self) -> Result<()> {
        let named: BTreeSet<&str> = self.manifest.shards().iter().map(|shard| &*shard.file).collect();
        for entry in fs::read_dir(&self.folder).map_err(Error::io("read", &self.folder))? {
            let path = entry.map_err(Error::io("read", &self.folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("shard-") && !named.contains(name) {
                fs::remove_file(&path).map_err(Error::io("delete", &path))?;
            }
        }
        Ok(())
    }

    fn put(&self, images: &[ShardImage]) -> Result<ShardEntry> {
        let bytes = write_shard(&self.manifest.options, images)?;
        let different: BTreeSet<ImageHash> = images.iter().map(|image| image.hash).collect();
        let entry = ShardEntry::of(&bytes, different.len());
        envelope::replace(&self.folder.join(&entry.file), &bytes)?;
        Ok(entry)
    }

    /// Refuses what another process has changed since this one read the manifest.
    fn check_version(&self) -> Result<()> {
        let now = Self::open(&self.folder)?.manifest.version;
        if now != self.manifest.version {
            let advice = "try again: one process at a time changes a collection";
            let (expected, found) = (format!("version {}", self.manifest.version), format!("version {now}, which another process wrote"));
            return Err(Error::data(&self.folder, expected, found, advice));
        }
        Ok(())
    }

    /// Puts the next version in its place. The lock is held.
    fn commit(&mut self, manifest: Manifest) -> Result<()> {
        self.check_version()?;
        // Who forgets images deletes what no manifest names, and that may be these, not named yet.
        let named: BTreeSet<&str> = self.manifest.shards().iter().map(|shard| &*shard.file).collect();
        for shard in manifest.shards().iter().filter(|shard| !named.contains(&*shard.file)) {
            let path = self.folder.join(&shard.file);
            if !path.is_file() {
                let found = "nothing: another process has deleted it";
                return Err(Error::data(
                    &path,
                    "a shard that was just written",
                    found,
                    "try again: one process at a time changes a collection",
                ));
            }
        }
        envelope::replace(&self.folder.join(MANIFEST), manifest.to_json().as_bytes())?;
        self.manifest = manifest;
        Ok(())
    }
}

/// Waits until no other process changes the collection in a folder; they wait until what is
/// returned is dropped. Where the system knows no locks they are not kept out.
fn locked(folder: &Path) -> Result<fs::File> {
    let path = folder.join(LOCK);
    let file = fs::File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(Error::io("open", &path))?;
    match file.lock() {
        Err(error) if !knows_no_locks(&error) => Err(Error::io("lock", path)(error)),
        _ => Ok(file),
    }
}

/// Whether this says that the system, or the one that a folder is mounted from, has no locks.
fn knows_no_locks(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        // The last is what a mounted folder without a service for locks answers.
        if Errno::from_io_error(error).is_some_and(|number| [Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::NOLCK].contains(&number))
        {
            return true;
        }
    }
    error.kind() == ErrorKind::Unsupported
}

fn files_below(folder: &Path) -> usize {
    let is_file = |entry: &walkdir::Result<walkdir::DirEntry>| entry.as_ref().is_ok_and(|entry| entry.file_type().is_file());
    walkdir::WalkDir::new(folder).into_iter().filter(is_file).count()
}
