//! Repair: a damaged `library.db` made again from the newest sound snapshot, the journal, and what of it is still sound itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::event::{Event, EventId};
use super::journal::{self, JOURNAL, Line};
use super::snapshot::snapshots;
use super::state::{Place, Root};
use super::store::Store;
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
/// # Errors
/// [`Error::Busy`] when a program has the library; [`Error::Io`].
pub fn repair(folder: &Path) -> Result<Repaired> {
    let _lock = lock(folder)?;
    let path = folder.join(DATABASE);
    let mut done = Repaired::default();
    if path.is_file() && Store::verify(&path).is_ok() {
        return Ok(done);
    }
    // In a folder of its own, so that what is entered does not go into this library's journal.
    let scratch = folder.join("repair");
    fs::create_dir_all(&scratch).map_err(Error::io("create", &scratch))?;
    let draft = scratch.join(DATABASE);
    for ending in ["", "-wal", "-shm"] {
        remove(&scratch.join(format!("{DATABASE}{ending}")))?;
    }
    if let Some(base) = snapshots(folder).into_iter().find(|snapshot| Store::verify(&snapshot.path).is_ok()) {
        fs::copy(&base.path, &draft).map_err(Error::io("copy", &base.path))?;
        done.done.push(format!("taken from the snapshot after event {}", base.event.0));
    }
    let damaged = keep_damaged(folder, &path)?;
    let (lines, problems) = match fs::read(folder.join(JOURNAL)) {
        Ok(text) => journal::read(&text),
        Err(error) => (Vec::new(), vec![format!("the journal could not be read: {error}")]),
    };
    {
        let mut store = Store::open(&draft, true, Arc::new(Disk))?;
        fill(&mut store, lines, &problems, damaged.as_deref(), &mut done)?;
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
    done.damaged = damaged;
    Ok(done)
}

/// Enters everything that can be had.
fn fill(store: &mut Store, lines: Vec<Line>, problems: &[String], damaged: Option<&Path>, done: &mut Repaired) -> Result<()> {
    let before = store.last_event()?;
    let mut events: BTreeMap<EventId, Event> = BTreeMap::new();
    let mut rest = Vec::new();
    for line in lines {
        match line {
            Line::Event { id, .. } if id.0 <= before => {}
            Line::Event { .. } => events.extend(line.into_event().map(|event| (event.id, event))),
            other => rest.push(other),
        }
    }
    done.done.push(format!("{} events from the journal", events.len()));
    if let Some(damaged) = damaged {
        let mut saved = 0;
        for event in Store::salvage(damaged).into_iter().filter(|event| event.id.0 > before) {
            saved += usize::from(events.insert(event.id, event).is_none());
        }
        if saved > 0 {
            done.done.push(format!("{saved} events from the damaged file"));
        }
    }
    let last = events.keys().next_back().map_or(before, |id| id.0);
    // What was forgotten leaves gaps; so does what was lost. Only a journal that is not whole can have lost something.
    let missing: BTreeSet<u64> = (before + 1..=last).filter(|id| !events.contains_key(&EventId(*id))).collect();
    if !problems.is_empty() {
        done.lost.extend(problems.iter().cloned());
        done.lost.extend(missing.iter().map(|id| format!("event {id} is in no copy")));
    }
    for line in &rest {
        if let Line::Root { id, path, labels, exclude } = line {
            store.put_root(*id, &Root { path: path.0.clone(), labels: labels.clone(), exclude: exclude.clone() })?;
        }
    }
    store.enter(&events.into_values().collect::<Vec<_>>())?;
    let mut places = BTreeMap::new();
    for line in rest {
        match line {
            Line::Place { image, root, path, hash, bytes, modified, here } => {
                let place = Place { root, path: path.0.clone(), hash, bytes, modified, here };
                places.insert((root, path.0), Some((image, place)));
            }
            Line::Gone { root, path } => {
                places.insert((root, path.0), None);
            }
            Line::Forgotten(hash) => store.put_forgotten(hash)?,
            Line::Again(hash) => store.unforget(hash)?,
            Line::Next(next) => store.set_fact("next image", i64::from(next))?,
            Line::Root { .. } | Line::Event { .. } => {}
        }
    }
    let here: Vec<_> = places.values().flatten().map(|(image, place)| (*image, place)).collect();
    store.put_places(&here)?;
    let gone: Vec<_> = places.iter().filter(|(_, place)| place.is_none()).map(|((root, path), _)| (*root, path.clone())).collect();
    store.drop_places(&gone)?;
    if let Some(damaged) = damaged.filter(|_| !problems.is_empty()) {
        store.salvage_places(damaged);
    }
    Ok(())
}

/// Copies the damaged database aside, with what belongs to it. None when there was no file.
fn keep_damaged(folder: &Path, path: &Path) -> Result<Option<PathBuf>> {
    if !path.is_file() {
        return Ok(None);
    }
    let kept = folder.join(format!("{DATABASE}.damaged-{}", now()));
    fs::copy(path, &kept).map_err(Error::io("copy", path))?;
    let wal = folder.join(format!("{DATABASE}-wal"));
    if wal.is_file() {
        let mut to = kept.clone().into_os_string();
        to.push("-wal");
        fs::copy(&wal, &to).map_err(Error::io("copy", &wal))?;
    }
    Ok(Some(kept))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("delete", path)(error)),
        _ => Ok(()),
    }
}
