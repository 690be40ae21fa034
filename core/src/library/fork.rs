//! Two histories of one library: its database and its journal went apart, as they do where files of
//! two copies of it were mixed. The user says with which one the library goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chain::Head;
use super::event::{Event, EventId};
use super::files::{DATABASE, JOURNAL, Scratch, beside, copy, of_database, remove};
use super::journal::{self, Line, told_identity};
use super::lock;
use super::store::inspect::{identity_of, salvage, verify};
use super::store::{REPAIR, Store};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::storage::Disk;

/// The way out where database and journal tell two histories.
pub(super) const KEEP: &str =
    "run `tessera check LIBRARY --keep database` or `--keep journal`, which saves the other one as a library of its own";

/// The histories of a library whose database and journal went apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// How many events both have, at the beginning.
    pub shared: usize,
    /// The events that the database has after those.
    pub database: Vec<Event>,
    /// The events that the journal tells after those.
    pub journal: Vec<Event>,
}

impl Fork {
    /// What the database at `path` and the lines of its journal tell, if that is two histories.
    /// None where the journal is not that database's own.
    pub(super) fn between(path: &Path, lines: Vec<Line>, progress: &Progress) -> Option<Self> {
        let identity = told_identity(&lines);
        if identity.is_none() || identity != identity_of(path, progress) {
            return None;
        }
        let mut own = salvage(path, progress);
        own.sort_by_key(|event| event.id);
        let last = own.last().and_then(|event| Some(Head { event: event.id, digest: event.link.as_ref()?.head }))?;
        let told: BTreeMap<EventId, &Line> = lines.iter().filter_map(|line| Some((line.event_id()?, line))).collect();
        let first = first_apart(&own, &told, last)?.id;
        let shared = own.partition_point(|event| event.id < first);
        let mut journal: Vec<Event> = lines.into_iter().filter_map(Line::into_event).filter(|event| event.id >= first).collect();
        journal.sort_by_key(|event| event.id);
        Some(Self { shared, database: own.split_off(shared), journal })
    }

    /// The events of one of them after those that both have.
    pub fn events(&self, side: Side) -> &[Event] {
        match side {
            Side::Database => &self.database,
            Side::Journal => &self.journal,
        }
    }
}

/// The two histories of the library in `folder`, if its database and its journal went apart.
/// O(events).
pub fn fork_of(folder: &Path, progress: &Progress) -> Option<Fork> {
    let lines = journal::read(&journal::text_of(folder).ok()?).0;
    Fork::between(&folder.join(DATABASE), lines, progress)
}

/// The first of the events of a database, which end at `last`, that a journal tells otherwise; of a
/// journal whose next event does not follow `last`, that last one.
pub(super) fn first_apart<'e>(own: &'e [Event], told: &BTreeMap<EventId, &Line>, last: Head) -> Option<&'e Event> {
    let next = told.get(&EventId(last.event.0.saturating_add(1))).and_then(|line| line.link());
    let is_astray = next.is_some_and(|link| link.previous != last.digest);
    let differs = |event: &&Event| told.get(&event.id).is_some_and(|line| !line.tells(event));
    own.iter().find(differs).or_else(|| own.last().filter(|_| is_astray))
}

/// One of two histories.
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
    let text = journal::text_of(folder).map_err(Error::io("read", &journal_path))?;
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
            done.extend(from_lines(&draft, lines, journal::reached(&text), progress)?);
            remove(&journal_path)?;
        }
        Side::Journal => {
            for (from, to) in
                of_database(folder, DATABASE).iter().zip(of_database(&other, DATABASE)).take(2).filter(|(from, _)| from.is_file())
            {
                copy(from, &to).map_err(Error::io("copy", from))?;
            }
            let scratch = Scratch::new(folder)?;
            done.extend(from_lines(&scratch.database(), lines, journal::reached(&text), progress)?);
            scratch.put_in_place()?;
        }
    }
    let mut store = Store::open(&draft, false, Arc::new(Disk), progress)?;
    store.renumber()?;
    let mut state = store.load()?;
    store.tend_journal(&mut state)?;
    store.settle();
    verify(&path, progress)?;
    Ok((done, other))
}

/// A new database of what a journal says, which knows of events up to `reached`. Returns what it
/// could not take in.
fn from_lines(path: &Path, lines: Vec<Line>, reached: EventId, progress: &Progress) -> Result<Vec<String>> {
    let mut store = Store::open(path, true, Arc::new(Disk), progress)?;
    let (_, mut lost) = store.take_over(lines, Vec::new())?;
    lost.extend(store.note_faults(EventId(0))?);
    lost.extend(store.note_lost_end(reached, "the journal")?);
    store.settle();
    store.set_fact("clean", 0)?;
    Ok(lost)
}
