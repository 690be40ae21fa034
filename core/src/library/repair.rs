//! Repair: a damaged `library.db` made again from the newest sound snapshot, the journal, and what of it is still sound itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::event::EventId;
use super::journal::{self, JOURNAL, Line};
use super::snapshot::{Snapshot, snapshots};
use super::store::{LIBRARY, RESTORED, Store};
use super::{DATABASE, lock, now};
use crate::error::{Error, Result};
use crate::storage::{Disk, Storage as _};

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// What was done, in sentences; nothing when the database was sound.
    pub done: Vec<String>,
    /// What could not be had again, in sentences.
    pub lost: Vec<String>,
    /// The damaged file, which is kept.
    pub damaged: Option<PathBuf>,
}

/// Makes the database of the library in `folder` again if it is damaged. Nothing is thrown away: the damaged file stays beside it.
///
/// A journal without gaps is the whole truth up to its last event; what came later, and what it has lost, is taken from the newest
/// sound snapshot and from the damaged file.
///
/// # Errors
/// [`Error::Busy`] when a program has the library; [`Error::Io`].
pub fn repair(folder: &Path) -> Result<Repaired> {
    let _lock = lock(folder)?;
    let path = folder.join(DATABASE);
    let mut done = Repaired::default();
    let (lines, problems) = match fs::read(folder.join(JOURNAL)) {
        Ok(text) => journal::read(&text),
        Err(error) => (Vec::new(), vec![format!("the journal could not be read: {error}")]),
    };
    let (sound, broken): (Vec<_>, Vec<_>) = snapshots(folder).into_iter().partition(|snapshot| Store::verify(&snapshot.path).is_ok());
    if path.is_file() && Store::verify(&path).is_ok() {
        if !problems.is_empty() {
            // Opening a library that was not closed writes the journal anew.
            drop(Store::open(&path, false, Arc::new(Disk))?);
            done.done.push("the journal was written anew from the database".into());
        }
        drop_broken(&broken, &mut done)?;
        return Ok(done);
    }
    // In a folder of its own, so that what is entered does not go into this library's journal.
    let scratch = folder.join(SCRATCH);
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(Error::io("create", &scratch))?;
    let draft = scratch.join(DATABASE);
    let damaged = keep_damaged(folder, &path)?;
    let base = base(sound, &lines, damaged.as_deref());
    let last = lines.iter().filter_map(Line::event_id).max().unwrap_or(EventId(0));
    let mut more = damaged.as_deref().map(Store::salvage).unwrap_or_default();
    if problems.is_empty() {
        more.retain(|event| event.id > last);
    }
    let is_short = !problems.is_empty() || !more.is_empty();
    if let Some(base) = base.filter(|base| is_short || base.event > last) {
        fs::copy(&base.path, &draft).map_err(Error::io("copy", &base.path))?;
        done.done.push(format!("taken from the snapshot after event {}", base.event.0));
    }
    {
        let mut store = Store::open(&draft, true, Arc::new(Disk))?;
        let before = store.last_event()?;
        let (n, lost) = store.take_over(lines, more)?;
        done.done.push(format!("{n} events from the journal and the damaged file"));
        if !problems.is_empty() {
            done.lost.extend(problems);
            // What was forgotten leaves gaps; so does what was lost.
            let known: BTreeSet<u64> = store.events_after(before)?.iter().map(|event| event.id.0).collect();
            let missing = (before + 1..=store.last_event()?).filter(|id| !known.contains(id));
            done.lost.extend(missing.map(|id| format!("event {id} is in no copy")));
        }
        if let Some(damaged) = damaged.as_ref().filter(|_| is_short) {
            store.salvage_places(damaged);
        }
        done.lost.extend(lost);
        store.settle();
        // The journal is written anew when the library is next opened.
        store.set_fact("clean", 0)?;
    }
    Store::verify(&draft)?;
    for ending in ["-wal", "-shm"] {
        remove(&folder.join(format!("{DATABASE}{ending}")))?;
        remove(&scratch.join(format!("{DATABASE}{ending}")))?;
    }
    Disk.sync(&draft).map_err(Error::io("write", &draft))?;
    Disk.rename(&draft, &path).map_err(Error::io("rename", &draft))?;
    Disk.sync_folder(folder).map_err(Error::io("write", folder))?;
    let _ = fs::remove_dir_all(&scratch);
    drop_broken(&broken, &mut done)?;
    done.damaged = damaged;
    Ok(done)
}

/// Deletes damaged snapshots, once there is a sound database.
fn drop_broken(broken: &[Snapshot], done: &mut Repaired) -> Result<()> {
    for snapshot in broken {
        remove(&snapshot.path)?;
        done.done.push(format!("the damaged snapshot after event {} was deleted", snapshot.event.0));
    }
    Ok(())
}

/// The folder in which a database is made again.
pub(super) const SCRATCH: &str = "repair";

/// The newest sound snapshot of this library as it was last put back: what came before that is not its past any more.
fn base(sound: Vec<Snapshot>, lines: &[Line], damaged: Option<&Path>) -> Option<Snapshot> {
    let told = lines.iter().find_map(|line| if let Line::Library(id, restored) = line { Some((*id, *restored)) } else { None });
    let of = |path: &Path| Some((Store::fact_of(path, LIBRARY)?, Store::fact_of(path, RESTORED).unwrap_or(0)));
    let wanted = told.or_else(|| of(damaged?));
    let mut sound: Vec<((i64, i64), Snapshot)> = sound
        .into_iter()
        .filter_map(|snapshot| Some((of(&snapshot.path)?, snapshot)))
        .filter(|(of, _)| wanted.is_none_or(|wanted| wanted == *of))
        .collect();
    sound.sort_by_key(|((_, restored), snapshot)| (*restored, snapshot.at, snapshot.event));
    sound.pop().map(|(_, snapshot)| snapshot)
}

/// Copies the damaged database aside, with what belongs to it. None when there was no file.
pub(super) fn keep_damaged(folder: &Path, path: &Path) -> Result<Option<PathBuf>> {
    let kept = folder.join(format!("{DATABASE}.damaged-{}", now()));
    if !path.is_file() {
        // A folder or a link that leads nowhere would be in the way.
        if fs::symlink_metadata(path).is_ok() {
            fs::rename(path, &kept).map_err(Error::io("rename", path))?;
        }
        return Ok(None);
    }
    fs::copy(path, &kept).map_err(Error::io("copy", path))?;
    let wal = folder.join(format!("{DATABASE}-wal"));
    if wal.is_file() {
        let mut to = kept.clone().into_os_string();
        to.push("-wal");
        fs::copy(&wal, &to).map_err(Error::io("copy", &wal))?;
    }
    Ok(Some(kept))
}

pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("delete", path)(error)),
        _ => Ok(()),
    }
}
