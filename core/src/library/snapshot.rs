//! `snapshots/`: whole copies of `library.db`, each verified before it is put in place; the oldest
//! are deleted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache::Cache;
use super::event::EventId;
use super::files::{CACHE, DATABASE, JOURNAL, Scratch, copy, keep_damaged, put_in_place, with_ending};
use super::lock;
use super::store::inspect::verify;
use super::store::{FORGOT, FORGOT_AT, RESTORED, Store};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::storage::{Disk, Storage};
use crate::utc::now;

pub use super::files::SNAPSHOTS;

/// Snapshots that are kept.
pub const KEPT: usize = 10;
/// Milliseconds after which a library that has changed gets a new snapshot when it is closed.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The name of the fact in the store: what the clock said when the last snapshot was made.
const TAKEN: &str = "snapshot taken";

/// A copy of a library's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The file.
    pub path: PathBuf,
    /// When it was made, in milliseconds since 1970; later than the one before it, whatever the
    /// clock said.
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

/// The time, or if the clock is behind it, one after the newest snapshot: the order of snapshots,
/// and whether one is from before a restoration, must not depend on a clock that was once ahead.
pub(super) fn next_time(folder: &Path) -> i64 {
    let newest = snapshots(folder).first().map_or(0, |snapshot| snapshot.at);
    now().max(newest.saturating_add(1))
}

/// The snapshots of an open library.
pub(super) struct Snapshots<'a> {
    /// The library's folder.
    pub(super) library: &'a Path,
    /// Where they are kept.
    pub(super) storage: &'a dyn Storage,
}

impl Snapshots<'_> {
    /// Takes a snapshot now, of a store whose last event is `event`, and deletes the oldest beyond
    /// [`KEPT`].
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Data`] when what was written is not sound; the older ones stay then.
    pub(super) fn take(&self, store: &Store, event: Option<EventId>) -> Result<Snapshot> {
        let folder = self.library.join(SNAPSHOTS);
        let (at, event) = (next_time(self.library), event.unwrap_or(EventId(0)));
        let path = folder.join(format!("{at}-{}.db", event.0));
        self.storage.create_folder(&folder).map_err(Error::io("create", &folder))?;
        let part = path.with_extension("part");
        let written = store.copy_to(&part).and_then(|()| verify(&part, &Progress::default())).and_then(|()| {
            put_in_place(self.storage, &part, &path).map_err(Error::io("write", &path))?;
            Ok(fs::metadata(&path).map_err(Error::io("write", &path))?.len())
        });
        let bytes = written.inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })?;
        for old in snapshots(self.library).into_iter().skip(KEPT) {
            // A snapshot too many does no harm.
            let _ = self.storage.remove(&old.path);
        }
        store.set_fact(TAKEN, now())?;
        Ok(Snapshot { path, at, event, bytes })
    }

    /// Takes a snapshot when there were events since the last one and the clock is a day from where
    /// it was then, later or earlier, or when the last one is from before a snapshot was restored.
    pub(super) fn take_if_due(&self, store: &Store, event: Option<EventId>) -> Result<()> {
        let restored = store.fact(RESTORED)?.unwrap_or(0);
        let taken = store.fact(TAKEN)?;
        let is_old = |last: &Snapshot| now().abs_diff(taken.unwrap_or(last.at)) > DAY;
        let is_due = |last: Snapshot| last.at <= restored || (Some(last.event) < event && is_old(&last));
        let is_due = snapshots(self.library).into_iter().next().is_none_or(is_due);
        if is_due && event.is_some() { self.take(store, event).map(|_| ()) } else { Ok(()) }
    }

    /// Deletes every snapshot, before something is forgotten that they hold.
    pub(super) fn drop_all(&self) -> Result<()> {
        let folder = self.library.join(SNAPSHOTS);
        match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::io("list", &folder)(error)),
            Ok(_) => self.drop_those(|_| true),
        }
    }

    /// Deletes the snapshots from before something was forgotten.
    pub(super) fn drop_outdated(&self, store: &Store) -> Result<()> {
        let Some(event) = store.fact(FORGOT_AT)? else { return Ok(()) };
        let time = store.fact(FORGOT)?.unwrap_or(0);
        self.drop_those(|old| (old.event.0 as i64) < event || old.at <= time)
    }

    fn drop_those(&self, are_meant: impl Fn(&Snapshot) -> bool) -> Result<()> {
        for old in snapshots(self.library).into_iter().filter(are_meant) {
            self.storage.remove(&old.path).map_err(Error::io("delete", &old.path))?;
        }
        Ok(())
    }
}

/// Restores a snapshot as the library's database. The old database and its journal are kept under
/// other names, and a repair no longer uses newer snapshots. Returns the path of the old database.
///
/// # Errors
/// [`Error::Busy`] when a program has the library; [`Error::Data`] when the snapshot is not sound;
/// [`Error::Io`]; [`Error::Cancelled`] before anything was replaced.
pub fn restore(folder: &Path, snapshot: &Path, progress: &Progress) -> Result<PathBuf> {
    let _lock = lock::take(folder)?;
    verify(snapshot, progress)?;
    let scratch = Scratch::new(folder)?;
    let draft = scratch.database();
    copy(snapshot, &draft).map_err(Error::io("copy", snapshot))?;
    {
        let mut store = Store::open(&draft, false, Arc::new(Disk), progress)?;
        store.set_fact(RESTORED, next_time(folder))?;
        store.settle();
    }
    // The new database is on the disk before the old one is touched.
    Disk.sync(&draft).map_err(Error::io("write", &draft))?;
    let kept = keep_damaged(folder)?.unwrap_or_else(|| folder.join(DATABASE));
    // Without a journal the next opening writes one; the old one would bring back what was taken
    // away.
    let journal = folder.join(JOURNAL);
    if journal.is_file() {
        fs::rename(&journal, with_ending(&journal, &format!(".damaged-{}", now()))).map_err(Error::io("rename", &journal))?;
    }
    scratch.put_in_place()?;
    // The checkpoints of models hold what events taught that are gone now.
    if let Ok(mut cache) = Cache::open(&folder.join(CACHE)) {
        cache.purge(&BTreeSet::new(), &[])?;
    }
    Ok(kept)
}
