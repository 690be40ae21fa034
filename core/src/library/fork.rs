//! Two histories of one library: its database and its journal went apart, as they do where files of
//! two copies of it were mixed. The user says with which one the library goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chain::Head;
use super::event::{Event, EventId};
use super::files::{DATABASE, JOURNAL, Scratch, beside, copy, keep_damaged, of_database, remove, remove_folder};
use super::journal::{self, Line, told_identity};
use super::lock;
use super::read_only::ReadCopy;
use super::store::Store;
use super::store::inspect::{identity_of, salvage, verify};
use crate::error::{Error, Result};
use crate::plural::count;
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
    pub(super) fn between(path: &Path, lines: &[Line], progress: &Progress) -> Option<Self> {
        let identity = told_identity(lines);
        if identity.is_none() || identity != identity_of(path, progress) {
            return None;
        }
        let mut own = salvage(path, progress);
        own.sort_by_key(|event| event.id);
        let last = own.last().and_then(|event| Some(Head { event: event.id, digest: event.link.as_ref()?.head }))?;
        let told: BTreeMap<EventId, &Line> = lines.iter().filter_map(|line| Some((line.event_id()?, line))).collect();
        let first = first_apart(&own, &told, last)?.id;
        let shared = own.partition_point(|event| event.id < first);
        let mut journal: Vec<Event> = lines.iter().cloned().filter_map(Line::into_event).filter(|event| event.id >= first).collect();
        journal.sort_by_key(|event| event.id);
        Some(Self { shared, database: own.split_off(shared), journal })
    }

    /// The error of a library with these histories, of the database at `path`.
    pub(super) fn error(&self, path: &Path) -> Error {
        let found = format!("two histories, which have {} in common", count(self.shared, "event"));
        Error::data(path, "a database and a journal of one history", found, KEEP)
    }

    /// The number from which on they differ.
    fn first(&self) -> EventId {
        let first = |events: &[Event]| events.first().map(|event| event.id);
        first(&self.database).into_iter().chain(first(&self.journal)).min().unwrap_or(EventId(0))
    }

    /// The events of one of them after those that both have.
    pub fn events(&self, side: Side) -> &[Event] {
        match side {
            Side::Database => &self.database,
            Side::Journal => &self.journal,
        }
    }
}

/// The two histories of the library in `folder`, if its database and its journal went apart. No
/// file of it is changed. O(events).
pub fn fork_of(folder: &Path, progress: &Progress) -> Option<Fork> {
    let lines = journal::read(&journal::text_of(folder).ok()?).0;
    Fork::between(&ReadCopy::of(folder).ok()?.database(), &lines, progress)
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

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Database => Self::Journal,
            Self::Journal => Self::Database,
        }
    }
}

/// Goes on with one of two histories, and saves the other in a new folder beside the library's, as
/// a library of its own. A database that is damaged, too, is made again from what of it is sound,
/// and stays beside the new one. Returns what was lost by that, and the new folder.
///
/// # Errors
/// [`Error::Busy`] when a program has the library; [`Error::Data`] when it has one history only;
/// [`Error::Io`]; [`Error::Cancelled`]. The library is as it was then.
pub fn keep(folder: &Path, side: Side, progress: &Progress) -> Result<(Vec<String>, PathBuf)> {
    let _lock = lock::take(folder)?;
    let database = folder.join(DATABASE);
    let text = match journal::text_of(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        text => text.map_err(Error::io("read", folder.join(JOURNAL)))?,
    };
    let (lines, problems) = journal::read(&text);
    let Some(fork) = Fork::between(&database, &lines, progress) else {
        let advice = "run `tessera check LIBRARY`, and with --repair if it names damage";
        return Err(Error::data(folder, "a library whose database and journal tell two histories", "one history", advice));
    };
    let told = Told {
        lines,
        reached: journal::reached(&text),
        first: fork.first(),
        database,
        is_sound: verify(&folder.join(DATABASE), progress).is_ok(),
    };
    let other = beside(folder);
    fs::create_dir(&other).map_err(Error::io("create", &other))?;
    let mut lost: Vec<String> = problems.into_iter().map(|problem| problem.words).collect();
    let mut work = || {
        lost.extend(told.write(side.other(), &other.join(DATABASE), progress)?);
        settle_as_another(&other.join(DATABASE), progress)?;
        if side == Side::Database && told.is_sound {
            return remove(&folder.join(JOURNAL));
        }
        let scratch = Scratch::new(folder)?;
        lost.extend(told.write(side, &scratch.database(), progress)?);
        verify(&scratch.database(), progress)?;
        if !told.is_sound {
            keep_damaged(folder)?;
        }
        scratch.put_in_place()?;
        if side == Side::Database { remove(&folder.join(JOURNAL)) } else { Ok(()) }
    };
    match work() {
        Ok(()) => Ok((lost, other)),
        Err(error) => {
            // What could not be made is of no use to anyone; the first error counts.
            let _ = remove_folder(&other);
            Err(error)
        }
    }
}

/// What database and journal of a library tell.
struct Told {
    database: PathBuf,
    is_sound: bool,
    lines: Vec<Line>,
    /// The last event that the journal knows of.
    reached: EventId,
    /// The event from which on they differ.
    first: EventId,
}

impl Told {
    /// Writes what one of them tells to a new database. Returns what it could not take in.
    fn write(&self, side: Side, to: &Path, progress: &Progress) -> Result<Vec<String>> {
        if side == Side::Journal {
            return from_lines(to, self.lines.clone(), Vec::new(), self.reached, progress);
        }
        if self.is_sound {
            let folder = |path: &Path| path.parent().unwrap_or(path).to_owned();
            let files = of_database(&folder(&self.database), DATABASE).into_iter().zip(of_database(&folder(to), DATABASE));
            for (from, to) in files.take(2).filter(|(from, _)| from.is_file()) {
                copy(&from, &to).map_err(Error::io("copy", &from))?;
            }
            return Ok(Vec::new());
        }
        let is_shared = |line: &&Line| line.event_id().is_none_or(|event| event < self.first);
        let lines = self.lines.iter().filter(is_shared).cloned().collect();
        from_lines(to, lines, salvage(&self.database, progress), EventId(0), progress)
    }
}

/// A new database of what a journal says and of events from elsewhere, which knows of events up to
/// `reached`. Returns what it could not take in.
fn from_lines(path: &Path, lines: Vec<Line>, more: Vec<Event>, reached: EventId, progress: &Progress) -> Result<Vec<String>> {
    let mut store = Store::open(path, true, Arc::new(Disk), progress)?;
    let (_, mut lost) = store.take_over(lines, more)?;
    lost.extend(store.note_faults(EventId(0))?);
    lost.extend(store.note_lost_end(reached, "the journal")?);
    store.settle();
    store.set_fact("clean", 0)?;
    Ok(lost)
}

/// Makes a copy of a library one of its own: with another number, and with a journal.
fn settle_as_another(database: &Path, progress: &Progress) -> Result<()> {
    let mut store = Store::open(database, false, Arc::new(Disk), progress)?;
    store.renumber()?;
    let mut state = store.load()?;
    store.tend_journal(&mut state)?;
    store.settle();
    drop(store);
    verify(database, progress)
}
