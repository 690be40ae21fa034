//! Repair: a damaged `library.db` made again from the newest sound snapshot, the journal, and what
//! of it is still sound itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::event::{Event, EventId};
use super::files::{DATABASE, JOURNAL, Scratch, beside, is_library, keep_damaged, of_database, remove};
use super::journal::{self, DamagedLine, Line};
use super::learned::SWITCH;
use super::link::Digest;
use super::lock;
use super::pair::PAIR;
use super::snapshot::{Snapshot, snapshots};
use super::store::inspect::{fact_of, salvage, tip_of, verify};
use super::store::{LIBRARY, REPAIR, RESTORED, Store};
use crate::error::{Error, Result};
use crate::progress::Progress;
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
/// [`Error::Busy`] when a program has the library; [`Error::Data`] when a file in it is a link or
/// the like; [`Error::Io`]; [`Error::Cancelled`] before anything was replaced.
pub fn repair(folder: &Path, progress: &Progress) -> Result<Repaired> {
    let _lock = lock::take(folder)?;
    let path = folder.join(DATABASE);
    let mut done = Repaired::default();
    let mut closed_at = None;
    let (lines, problems) = match fs::read(folder.join(JOURNAL)) {
        Ok(text) => {
            closed_at = journal::closed_at(&text);
            journal::read(&text)
        }
        Err(error) => {
            let words = format!("the journal could not be read: {error}");
            (Vec::new(), vec![DamagedLine { words, event: None }])
        }
    };
    let (sound, broken): (Vec<_>, Vec<_>) = snapshots(folder).into_iter().partition(|snapshot| verify(&snapshot.path, progress).is_ok());
    if path.is_file() && verify(&path, progress).is_ok() {
        if !problems.is_empty() || lacks_events(&lines, &salvage(&path, progress)) {
            // The journal of a library that was not closed is written anew.
            drop(Store::open(&path, false, Arc::new(Disk), progress)?);
            let mut store = Store::open(&path, false, Arc::new(Disk), progress)?;
            let mut state = store.load()?;
            // What cannot be done is told when the library is opened next.
            if let Ok(tended) = store.tend_journal(&mut state) {
                done.done.extend(tended.mended);
                done.lost.extend(tended.lost);
                let is_written = store.journal.behind().is_none();
                done.done.extend(is_written.then(|| "the journal was written anew from the database".to_owned()));
            }
        }
        drop_broken(&broken, &mut done)?;
        return Ok(done);
    }
    let scratch = Scratch::new(folder)?;
    let draft = scratch.database();
    let damaged = keep_damaged(folder)?;
    let last = lines.iter().filter_map(Line::event_id).max().unwrap_or(EventId(0));
    let mut more = damaged.as_deref().map(|path| salvage(path, progress)).unwrap_or_default();
    let has_links = lines.iter().any(|line| line.link().is_some()) || more.iter().any(|event| event.link.is_some());
    let base = base(sound, &lines, has_links, damaged.as_deref(), progress);
    if has_links {
        let told: BTreeSet<EventId> = lines.iter().filter_map(Line::event_id).collect();
        more.retain(|event| !told.contains(&event.id));
    } else if problems.is_empty() {
        more.retain(|event| event.id > last);
    }
    let is_short = !problems.is_empty() || !more.is_empty();
    if let Some(base) = base.filter(|base| is_short || base.event > last) {
        fs::copy(&base.path, &draft).map_err(Error::io("copy", &base.path))?;
        done.done.push(format!("taken from the snapshot after event {}", base.event.0));
    }
    {
        let mut store = Store::open(&draft, true, Arc::new(Disk), progress)?;
        let (n, lost) = store.take_over(lines, more)?;
        done.done.push(format!("{n} events from the journal and the damaged file"));
        if !problems.is_empty() {
            done.lost.extend(problems.into_iter().map(|problem| problem.words));
        }
        let lost_events = store.note_faults(EventId(0))?;
        // A journal that was cut at the end of a line looks whole, so what it says of its end
        // counts where the damaged database says the same.
        let told = damaged.as_deref().and_then(|path| tip_of(path, progress));
        if told.is_none() || told != closed_at {
            let last = store.last_event()?;
            done.done.push(format!("the history ends at event {last}; that there were later ones cannot be excluded"));
        }
        done.lost.extend(lost_events);
        if let Some(damaged) = damaged.as_ref().filter(|_| is_short) {
            store.salvage_places(damaged);
        }
        done.lost.extend(lost);
        store.settle();
        for choice in [SWITCH, PAIR] {
            if let Some(value) = damaged.as_deref().and_then(|path| fact_of(path, choice, progress)) {
                store.set_fact(choice, value)?;
            }
        }
        // The journal is written anew when the library is next opened.
        store.set_fact("clean", 0)?;
    }
    verify(&draft, progress)?;
    scratch.put_in_place()?;
    drop_broken(&broken, &mut done)?;
    done.damaged = damaged;
    Ok(done)
}

/// One of the two histories of a library whose database and journal went apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// That of the database.
    Database,
    /// That of the journal.
    Journal,
}

/// Goes on with one of two histories, and saves the other in a new folder beside the library's, as
/// a library of its own. Returns what was done, and the new folder.
///
/// # Errors
/// [`Error::Busy`] when a program has the library; [`Error::Data`] when the journal tells no
/// events; [`Error::Io`]; [`Error::Cancelled`]. The library is as it was then.
pub fn keep(folder: &Path, side: Side, progress: &Progress) -> Result<(Vec<String>, PathBuf)> {
    let _lock = lock::take(folder)?;
    let (path, journal_path) = (folder.join(DATABASE), folder.join(JOURNAL));
    let text = fs::read(&journal_path).map_err(Error::io("read", &journal_path))?;
    let (lines, problems) = journal::read(&text);
    if !lines.iter().any(|line| line.event_id().is_some()) {
        return Err(Error::data(&journal_path, "a journal that tells events", "none that can be read", REPAIR));
    }
    let other = beside(folder);
    fs::create_dir(&other).map_err(Error::io("create", &other))?;
    let draft = other.join(DATABASE);
    let mut done: Vec<String> = problems.into_iter().map(|problem| problem.words).collect();
    match side {
        Side::Database => {
            done.extend(from_lines(&draft, lines, progress)?);
            remove(&journal_path)?;
        }
        Side::Journal => {
            for (from, to) in
                of_database(folder, DATABASE).iter().zip(of_database(&other, DATABASE)).take(2).filter(|(from, _)| from.is_file())
            {
                fs::copy(from, to).map_err(Error::io("copy", from))?;
            }
            let scratch = Scratch::new(folder)?;
            done.extend(from_lines(&scratch.database(), lines, progress)?);
            scratch.put_in_place()?;
        }
    }
    let mut store = Store::open(&draft, false, Arc::new(Disk), progress)?;
    store.renumber()?;
    store.settle();
    verify(&path, progress)?;
    Ok((done, other))
}

/// A new database of what a journal says. Returns what it could not take in.
fn from_lines(path: &Path, lines: Vec<Line>, progress: &Progress) -> Result<Vec<String>> {
    let mut store = Store::open(path, true, Arc::new(Disk), progress)?;
    let (_, mut lost) = store.take_over(lines, Vec::new())?;
    lost.extend(store.note_faults(EventId(0))?);
    store.settle();
    store.set_fact("clean", 0)?;
    Ok(lost)
}

/// Deletes damaged snapshots, once there is a sound database.
fn drop_broken(broken: &[Snapshot], done: &mut Repaired) -> Result<()> {
    for snapshot in broken {
        remove(&snapshot.path)?;
        done.done.push(format!("the damaged snapshot after event {} was deleted", snapshot.event.0));
    }
    Ok(())
}

/// Whether a journal lacks events of its database, without telling another history.
fn lacks_events(lines: &[Line], events: &[Event]) -> bool {
    let told: BTreeMap<EventId, &Line> = lines.iter().filter_map(|line| Some((line.event_id()?, line))).collect();
    let told_of = |event: &Event| told.get(&event.id).map(|line| line.tells(event));
    events.iter().all(|event| told_of(event) != Some(false)) && events.iter().any(|event| told_of(event).is_none())
}

/// The newest sound snapshot of this library since a snapshot was last restored: earlier ones are
/// not its past any more. Neither are those of another history, nor those without links where
/// there are events with links.
fn base(sound: Vec<Snapshot>, lines: &[Line], has_links: bool, damaged: Option<&Path>, progress: &Progress) -> Option<Snapshot> {
    let told = lines.iter().find_map(|line| if let Line::Library(id, restored) = line { Some((*id, *restored)) } else { None });
    let of = |path: &Path| Some((fact_of(path, LIBRARY, progress)?, fact_of(path, RESTORED, progress).unwrap_or(0)));
    let wanted = told.or_else(|| of(damaged?));
    let mut sound: Vec<((i64, i64), Snapshot)> = sound
        .into_iter()
        .filter_map(|snapshot| Some((of(&snapshot.path)?, snapshot)))
        .filter(|(of, _)| wanted.is_none_or(|wanted| wanted == *of))
        .filter(|(_, snapshot)| match tip_of(&snapshot.path, progress) {
            Some(tip) => told_head(lines, tip.event).is_none_or(|head| head == tip.digest),
            None => !has_links,
        })
        .collect();
    sound.sort_by_key(|((_, restored), snapshot)| (*restored, snapshot.at, snapshot.event));
    sound.pop().map(|(_, snapshot)| snapshot)
}

/// The head after an event by a journal.
fn told_head(lines: &[Line], event: EventId) -> Option<Digest> {
    lines.iter().find(|line| line.event_id() == Some(event))?.link().map(|link| link.head)
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
