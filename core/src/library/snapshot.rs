//! `snapshots/`: whole copies of `library.db`, each verified before it counts, the oldest dropped.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache::Cache;
use super::event::EventId;
use super::journal::JOURNAL;
use super::repair::{SCRATCH, keep_damaged, remove};
use super::store::{FORGOT, RESTORED, Store};
use super::{CACHE, DATABASE, Library, lock, now};
use crate::error::{Error, Result};
use crate::storage::{Disk, Storage};

/// The folder of snapshots.
pub const SNAPSHOTS: &str = "snapshots";
/// Snapshots that are kept.
pub const KEPT: usize = 10;
/// Milliseconds after which a library that has changed gets a new snapshot when it is closed.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// A copy of a library's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The file.
    pub path: PathBuf,
    /// When it was made, in milliseconds since 1970.
    pub at: i64,
    /// The last event in it.
    pub event: EventId,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The snapshots in the folder of a library, the newest first.
pub fn snapshots(folder: &Path) -> Vec<Snapshot> {
    let entries = fs::read_dir(folder.join(SNAPSHOTS)).into_iter().flatten().flatten();
    let mut found: Vec<Snapshot> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (at, event) = name.strip_suffix(".db")?.split_once('-')?;
            let bytes = entry.metadata().ok()?.len();
            Some(Snapshot { path: entry.path(), at: at.parse().ok()?, event: EventId(event.parse().ok()?), bytes })
        })
        .collect();
    found.sort_by_key(|snapshot| std::cmp::Reverse((snapshot.at, snapshot.event)));
    found
}

impl Library {
    /// Makes a snapshot now.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Data`] when what was written is not sound; the older ones stay then.
    pub fn take_snapshot(&mut self) -> Result<Snapshot> {
        let folder = self.folder.join(SNAPSHOTS);
        let (at, event) = (now(), self.state.last_event().unwrap_or(EventId(0)));
        let path = folder.join(format!("{at}-{}.db", event.0));
        self.storage.create_folder(&folder).map_err(Error::io("create", &folder))?;
        let part = path.with_extension("part");
        let written = self.store.copy_to(&part).and_then(|()| Store::verify(&part));
        let bytes = match written.and_then(|()| put(&*self.storage, &part, &path, &folder)) {
            Ok(bytes) => bytes,
            Err(error) => {
                let _ = fs::remove_file(&part);
                return Err(error);
            }
        };
        for old in snapshots(&self.folder).into_iter().skip(KEPT) {
            // One too many does no harm.
            let _ = self.storage.remove(&old.path);
        }
        Ok(Snapshot { path, at, event, bytes })
    }

    /// Makes a snapshot when the last one is a day old and something has happened since, or it is from before one was put back.
    pub(super) fn take_snapshot_if_due(&mut self) -> Result<()> {
        let restored = self.store.fact(RESTORED)?.unwrap_or(0);
        let is_due = |last: Snapshot| last.at <= restored || (Some(last.event) < self.state.last_event() && now() - last.at > DAY);
        let is_due = snapshots(&self.folder).into_iter().next().is_none_or(is_due);
        if is_due && self.state.last_event().is_some() { self.take_snapshot().map(|_| ()) } else { Ok(()) }
    }

    /// Drops every snapshot, before something is forgotten that they hold.
    pub(super) fn drop_all_snapshots(&self) -> Result<()> {
        let folder = self.folder.join(SNAPSHOTS);
        match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("list", &folder)(error)),
            Ok(_) => {}
        }
        for old in snapshots(&self.folder) {
            self.storage.remove(&old.path).map_err(Error::io("delete", &old.path))?;
        }
        Ok(())
    }

    /// Drops snapshots from before something was forgotten.
    pub(super) fn drop_snapshots(&self) -> Result<()> {
        let Some(event) = self.store.fact("forgot at")? else { return Ok(()) };
        let time = self.store.fact(FORGOT)?.unwrap_or(0);
        for old in snapshots(&self.folder).into_iter().filter(|old| (old.event.0 as i64) < event || old.at <= time) {
            self.storage.remove(&old.path).map_err(Error::io("delete", &old.path))?;
        }
        Ok(())
    }
}

/// Puts a snapshot in the place of the library's database. That and its journal are kept under other names, and newer snapshots
/// are no longer what a repair goes back to. Returns where the old database is.
///
/// # Errors
/// [`Error::Busy`] when a program has the library; [`Error::Data`] when the snapshot is not sound; [`Error::Io`].
pub fn restore(folder: &Path, snapshot: &Path) -> Result<PathBuf> {
    let _lock = lock(folder)?;
    Store::verify(snapshot)?;
    let database = folder.join(DATABASE);
    let scratch = folder.join(SCRATCH);
    let draft = scratch.join(DATABASE);
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(Error::io("create", &scratch))?;
    fs::copy(snapshot, &draft).map_err(Error::io("copy", snapshot))?;
    {
        let mut store = Store::open(&draft, false, Arc::new(Disk))?;
        store.set_fact(RESTORED, now())?;
        store.settle();
    }
    Disk.sync(&draft).map_err(Error::io("write", &draft))?;
    let kept = keep_damaged(folder, &database)?.unwrap_or_else(|| database.clone());
    // Without a journal the next opening writes one; the old one would bring back what was taken away.
    let journal = folder.join(JOURNAL);
    if journal.is_file() {
        let mut aside = journal.clone().into_os_string();
        aside.push(format!(".damaged-{}", now()));
        fs::rename(&journal, &aside).map_err(Error::io("rename", &journal))?;
    }
    for ending in ["-wal", "-shm"] {
        remove(&folder.join(format!("{DATABASE}{ending}")))?;
    }
    Disk.rename(&draft, &database).map_err(Error::io("rename", &draft))?;
    Disk.sync_folder(folder).map_err(Error::io("write", folder))?;
    let _ = fs::remove_dir_all(&scratch);
    // Checkpoints know of events that are gone.
    if let Ok(mut cache) = Cache::open(&folder.join(CACHE)) {
        cache.purge(&BTreeSet::new(), &[])?;
    }
    Ok(kept)
}

/// Brings a written file to the disk and gives it its name. Returns its size.
fn put(storage: &dyn Storage, part: &Path, path: &Path, folder: &Path) -> Result<u64> {
    let put = || {
        storage.sync(part)?;
        storage.rename(part, path)?;
        storage.sync_folder(folder)?;
        Ok(fs::metadata(path)?.len())
    };
    put().map_err(Error::io("write", path))
}
