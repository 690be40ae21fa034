//! Repair: a damaged `library.db` made again from the newest sound snapshot, the journal, and what
//! of it is still sound itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::event::EventId;
use super::files::{DATABASE, Scratch, is_library, keep_damaged, of_database, remove};
use super::journal::{self, JOURNAL, Line};
use super::learned::SWITCH;
use super::lock;
use super::pair::PAIR;
use super::snapshot::{Snapshot, snapshots};
use super::store::inspect::{fact_of, salvage, verify};
use super::store::{LIBRARY, RESTORED, Store};
use crate::error::{Error, Result};
use crate::storage::Disk;

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// What was done, in sentences; nothing when the database was sound.
    pub done: Vec<String>,
    /// What could not be recovered, in sentences.
    pub lost: Vec<String>,
    /// The copy of the damaged file that was kept.
    pub damaged: Option<PathBuf>,
}

/// Makes the database of the library in `folder` again if it is damaged. Nothing is thrown away:
/// the damaged file stays beside it.
///
/// A journal without gaps is complete up to its last event; later events, and those a journal with
/// gaps lacks, are taken from the newest sound snapshot and from the damaged file.
///
/// # Errors
/// [`Error::Busy`] when a program has the library; [`Error::Io`].
pub fn repair(folder: &Path) -> Result<Repaired> {
    let _lock = lock::take(folder)?;
    let path = folder.join(DATABASE);
    let mut done = Repaired::default();
    let (lines, problems) = match fs::read(folder.join(JOURNAL)) {
        Ok(text) => journal::read(&text),
        Err(error) => (Vec::new(), vec![format!("the journal could not be read: {error}")]),
    };
    let (sound, broken): (Vec<_>, Vec<_>) = snapshots(folder).into_iter().partition(|snapshot| verify(&snapshot.path).is_ok());
    if path.is_file() && verify(&path).is_ok() {
        if !problems.is_empty() {
            // Opening a library that was not closed writes the journal anew.
            drop(Store::open(&path, false, Arc::new(Disk))?);
            done.done.push("the journal was written anew from the database".into());
        }
        drop_broken(&broken, &mut done)?;
        return Ok(done);
    }
    let scratch = Scratch::new(folder)?;
    let draft = scratch.database();
    let damaged = keep_damaged(folder)?;
    let base = base(sound, &lines, damaged.as_deref());
    let last = lines.iter().filter_map(Line::event_id).max().unwrap_or(EventId(0));
    let mut more = damaged.as_deref().map(salvage).unwrap_or_default();
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
            // Numbers are missing where events were forgotten, and where they were lost.
            let known: BTreeSet<u64> = store.events_after(before)?.iter().map(|event| event.id.0).collect();
            let missing = (before + 1..=store.last_event()?).filter(|id| !known.contains(id));
            done.lost.extend(missing.map(|id| format!("event {id} is in no copy")));
        }
        if let Some(damaged) = damaged.as_ref().filter(|_| is_short) {
            store.salvage_places(damaged);
        }
        done.lost.extend(lost);
        store.settle();
        for choice in [SWITCH, PAIR] {
            if let Some(value) = damaged.as_deref().and_then(|path| fact_of(path, choice)) {
                store.set_fact(choice, value)?;
            }
        }
        // The journal is written anew when the library is next opened.
        store.set_fact("clean", 0)?;
    }
    verify(&draft)?;
    scratch.put_in_place()?;
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

/// The newest sound snapshot of this library since a snapshot was last restored: earlier ones are
/// not its past any more.
fn base(sound: Vec<Snapshot>, lines: &[Line], damaged: Option<&Path>) -> Option<Snapshot> {
    let told = lines.iter().find_map(|line| if let Line::Library(id, restored) = line { Some((*id, *restored)) } else { None });
    let of = |path: &Path| Some((fact_of(path, LIBRARY)?, fact_of(path, RESTORED).unwrap_or(0)));
    let wanted = told.or_else(|| of(damaged?));
    let mut sound: Vec<((i64, i64), Snapshot)> = sound
        .into_iter()
        .filter_map(|snapshot| Some((of(&snapshot.path)?, snapshot)))
        .filter(|(of, _)| wanted.is_none_or(|wanted| wanted == *of))
        .collect();
    sound.sort_by_key(|((_, restored), snapshot)| (*restored, snapshot.at, snapshot.event));
    sound.pop().map(|(_, snapshot)| snapshot)
}

/// Whether a folder has the journal or snapshots of a library, but not its database.
pub fn has_lost_its_database(folder: &Path) -> bool {
    let told = || fs::read(folder.join(JOURNAL)).is_ok_and(|text| journal::tells_events(&text));
    // A new database file is empty until its write-ahead log is merged into it.
    let is_filled = |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    let [database, wal, _] = of_database(folder, DATABASE);
    let is_there = is_filled(&database) || (is_library(folder) && is_filled(&wal));
    !is_there && (!snapshots(folder).is_empty() || told())
}
