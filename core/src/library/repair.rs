//! Repair: a damaged `library.db` made again from the newest sound snapshot, the journal, and what
//! of it is still sound itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache::Cache;
use super::chain::Head;
use super::clusters::AIM;
use super::event::{Event, EventId};
use super::files::{CACHE, DATABASE, Scratch, copy, is_library, keep_damaged, of_database, remove};
use super::fork::Fork;
use super::journal::{self, DamagedLine, Line, told_identity};
use super::journal_sync::WRITTEN_ANEW;
use super::learned::SWITCH;
use super::link::Digest;
use super::lock;
use super::pair::PAIR;
use super::snapshot::{Snapshot, snapshots};
use super::store::inspect::{fact_of, identity_of, joints_of, reached, salvage, tip_of, verify};
use super::store::{LIBRARY, RESTORED, Store};
use crate::error::{Error, Result, display};
use crate::plural::count;
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
    let (mut closed_at, mut journal_reached) = (None, EventId(0));
    let (lines, problems) = match journal::text_of(folder) {
        Ok(text) => {
            closed_at = journal::closed_at(&text);
            journal_reached = journal::reached(&text);
            journal::read(&text)
        }
        Err(error) => {
            let words = format!("the journal could not be read: {error}");
            (Vec::new(), vec![DamagedLine { words, event: None }])
        }
    };
    let (sound, broken): (Vec<_>, Vec<_>) = snapshots(folder).into_iter().partition(|snapshot| verify(&snapshot.path, progress).is_ok());
    let is_sound = path.is_file() && verify(&path, progress).is_ok();
    let is_behind = || {
        let (tip, identity) = (tip_of(&path, progress)?, identity_of(&path, progress)?);
        later(&sound, tip, identity, progress)
    };
    if is_sound && is_behind().is_none() {
        if !problems.is_empty() || lacks_events(&lines, &salvage(&path, progress)) {
            // The journal of a library that was not closed is written anew.
            drop(Store::open(&path, false, Arc::new(Disk), progress)?);
            let mut store = Store::open(&path, false, Arc::new(Disk), progress)?;
            let mut state = store.load()?;
            // What cannot be done is told when the library is opened next.
            if let Ok(tended) = store.tend_journal(&mut state) {
                let is_told = tended.mended.iter().any(|words| words == WRITTEN_ANEW);
                done.done.extend(tended.mended);
                done.lost.extend(tended.lost);
                done.done.extend((!is_told && store.journal.behind().is_none()).then(|| WRITTEN_ANEW.to_owned()));
            }
        }
        let restored = fact_of(&path, RESTORED, progress).unwrap_or(0);
        let told = broken.iter().filter(|snapshot| snapshot.at > restored).map(told_by_name);
        if let Some((told, by)) = told.max_by_key(|(told, _)| *told) {
            let mut store = Store::open(&path, false, Arc::new(Disk), progress)?;
            done.lost.extend(store.note_lost_end(told, &by)?);
        }
        drop_broken(folder, &broken, &mut done)?;
        return Ok(done);
    }
    if let Some(fork) = Fork::between(&path, &lines, progress) {
        return Err(fork.error(&path));
    }
    let scratch = Scratch::new(folder)?;
    let draft = scratch.database();
    let damaged = keep_damaged(folder)?;
    let last = lines.iter().filter_map(Line::event_id).max().unwrap_or(EventId(0));
    let mut more = damaged.as_deref().map(|path| salvage(path, progress)).unwrap_or_default();
    let identity = told_identity(&lines).or_else(|| identity_of(damaged.as_deref()?, progress));
    let broken_own: Vec<&Snapshot> = broken.iter().filter(|snapshot| is_of(snapshot, identity, progress)).collect();
    let mut spare: Vec<Event> = broken_own.iter().flat_map(|snapshot| salvage(&snapshot.path, progress)).collect();
    spare.retain(|event| event.link.is_some());
    let has_links = !spare.is_empty() || lines.iter().any(|line| line.link().is_some()) || more.iter().any(|event| event.link.is_some());
    let base = base(sound, &lines, has_links, identity, progress);
    if has_links {
        let mut told: BTreeSet<EventId> = lines.iter().filter_map(Line::event_id).collect();
        more.retain(|event| !told.contains(&event.id));
        told.extend(more.iter().map(|event| event.id));
        told.extend(base.iter().flat_map(|base| (1..=base.event.0).map(EventId)));
        more.extend(spare.into_iter().filter(|event| told.insert(event.id)));
    } else if problems.is_empty() {
        more.retain(|event| event.id > last);
    }
    let is_short = !problems.is_empty() || !more.is_empty();
    if let Some(base) = base.filter(|base| is_short || base.event > last) {
        copy(&base.path, &draft).map_err(Error::io("copy", &base.path))?;
        done.done.push(format!("taken from the snapshot after event {}", base.event.0));
    }
    {
        let mut store = Store::open(&draft, true, Arc::new(Disk), progress)?;
        let sources = if more.is_empty() { "the journal" } else { "the journal and the damaged files" };
        let (n, lost) = store.take_over(lines, more)?;
        if n > 0 {
            done.done.push(format!("{} taken from {sources}", count(n, "event")));
        }
        let lost_events = store.note_faults(EventId(0))?;
        // A journal that was cut at the end of a line looks whole, so what it says of its end
        // counts where the damaged database says the same.
        let tip = damaged.as_deref().and_then(|path| tip_of(path, progress));
        let head = store.head()?;
        let last = head.event;
        let by_databases = damaged.iter().map(|path| (reached(path, last, progress), "the damaged database".to_owned()));
        let by_snapshots = broken_own.iter().flat_map(|snapshot| {
            let (told, by) = told_by_name(snapshot);
            [(told, by), (reached(&snapshot.path, last, progress), "a damaged snapshot".to_owned())]
        });
        let cached = Cache::open_read_only(&folder.join(CACHE), false).and_then(|cache| cache.reached()).ok().flatten();
        let by_cache = cached.map(|told| (told, format!("`{CACHE}`")));
        let told = [(journal_reached, "the journal".to_owned())].into_iter().chain(by_cache).chain(by_databases).chain(by_snapshots);
        let told = told.rev().max_by_key(|(told, _)| *told).filter(|(told, _)| *told > last);
        // Nothing is missing where the history ends as a file says that it did.
        let is_whole = lost_events.is_empty() && lost.is_empty() && told.is_none() && [tip, closed_at].contains(&Some(head));
        for DamagedLine { words, event } in problems {
            let is_there = is_whole && event.is_some_and(|event| event <= last);
            if is_there { &mut done.done } else { &mut done.lost }.push(words);
        }
        done.lost.extend(lost_events);
        if let Some((told, by)) = &told {
            done.lost.extend(store.note_lost_end(*told, by)?);
        }
        if tip.is_none() || tip != closed_at {
            let end = match told {
                None => format!("the history ends at event {}; that there were later ones", last.0),
                Some((told, _)) => {
                    format!("what is left of the history ends at event {}; that there were events after event {}", last.0, told.0)
                }
            };
            done.done.push(format!("{end} cannot be excluded"));
        }
        if let Some(damaged) = damaged.as_ref().filter(|_| is_short) {
            store.salvage_places(damaged);
        }
        done.lost.extend(lost);
        store.settle();
        for choice in [SWITCH, PAIR].into_iter().chain(AIM) {
            if let Some(value) = damaged.as_deref().and_then(|path| fact_of(path, choice, progress)) {
                store.set_fact(choice, value)?;
            }
        }
        // The journal is written anew when the library is next opened.
        store.set_fact("clean", 0)?;
    }
    verify(&draft, progress)?;
    scratch.put_in_place()?;
    drop_broken(folder, &broken, &mut done)?;
    done.damaged = damaged;
    Ok(done)
}

/// Deletes damaged snapshots, once there is a sound database; where something is lost they are kept
/// beside it.
fn drop_broken(folder: &Path, broken: &[Snapshot], done: &mut Repaired) -> Result<()> {
    for snapshot in broken {
        let what = format!("the damaged snapshot after event {}", snapshot.event.0);
        if done.lost.is_empty() {
            remove(&snapshot.path)?;
            done.done.push(format!("{what} was deleted"));
        } else {
            let name = snapshot.path.file_name().unwrap_or_default().to_string_lossy();
            let kept = folder.join(format!("{DATABASE}.damaged-snapshot-{name}"));
            fs::rename(&snapshot.path, &kept).map_err(Error::io("rename", &snapshot.path))?;
            done.done.push(format!("{what} is kept as {}", display(&kept)));
        }
    }
    Ok(())
}

/// Whether a journal lacks events of its database, without telling another history.
fn lacks_events(lines: &[Line], events: &[Event]) -> bool {
    let told: BTreeMap<EventId, &Line> = lines.iter().filter_map(|line| Some((line.event_id()?, line))).collect();
    let told_of = |event: &Event| told.get(&event.id).map(|line| line.tells(event));
    events.iter().all(|event| told_of(event) != Some(false)) && events.iter().any(|event| told_of(event).is_none())
}

/// Whether a damaged snapshot is one of this library since a snapshot was last restored, as far as
/// that can be told.
fn is_of(snapshot: &Snapshot, identity: Option<(i64, i64)>, progress: &Progress) -> bool {
    identity
        .is_none_or(|(id, restored)| snapshot.at > restored && fact_of(&snapshot.path, LIBRARY, progress).is_none_or(|found| found == id))
}

/// The last event of a snapshot by its name, and what says so.
fn told_by_name(snapshot: &Snapshot) -> (EventId, String) {
    let name = snapshot.path.file_name().unwrap_or_default().to_string_lossy();
    (snapshot.event, format!("the name of the damaged snapshot `{name}`"))
}

/// The newest sound snapshot of this library since a snapshot was last restored: earlier ones are
/// not its past any more. Neither are those of another history, nor those without links where
/// there are events with links.
fn base(sound: Vec<Snapshot>, lines: &[Line], has_links: bool, wanted: Option<(i64, i64)>, progress: &Progress) -> Option<Snapshot> {
    let mut sound: Vec<((i64, i64), Snapshot)> = sound
        .into_iter()
        .filter_map(|snapshot| Some((identity_of(&snapshot.path, progress)?, snapshot)))
        .filter(|(of, _)| wanted.is_none_or(|wanted| wanted == *of))
        .filter(|(_, snapshot)| match tip_of(&snapshot.path, progress) {
            Some(tip) => told_head(lines, tip.event).is_none_or(|head| head == tip.digest),
            None => !has_links,
        })
        .collect();
    sound.sort_by_key(|((_, restored), snapshot)| (*restored, snapshot.at, snapshot.event));
    sound.pop().map(|(_, snapshot)| snapshot)
}

/// The newest of some sound snapshots in which the history of a sound database goes on: the
/// database has lost its last events.
pub(super) fn later<'a>(sound: &'a [Snapshot], tip: Head, identity: (i64, i64), progress: &Progress) -> Option<&'a Snapshot> {
    let is_own = |snapshot: &&Snapshot| snapshot.event > tip.event && identity_of(&snapshot.path, progress) == Some(identity);
    let goes_on = |snapshot: &&Snapshot| {
        joints_of(&snapshot.path, progress).is_ok_and(|joints| tip.event.0 == 0 || joints.iter().any(|joint| joint.after == tip))
    };
    sound.iter().filter(is_own).max_by_key(|snapshot| (snapshot.at, snapshot.event)).filter(goes_on)
}

/// The head after an event by a journal.
fn told_head(lines: &[Line], event: EventId) -> Option<Digest> {
    lines.iter().find(|line| line.event_id() == Some(event))?.link().map(|link| link.head)
}

/// Whether a folder has the journal or snapshots of a library, but not its database.
pub fn has_lost_its_database(folder: &Path) -> bool {
    let told = || journal::text_of(folder).is_ok_and(|text| journal::reached(&text) > EventId(0));
    // A new database file is empty until its write-ahead log is merged into it.
    let is_filled = |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    let [database, wal, _] = of_database(folder, DATABASE);
    let is_there = is_filled(&database) || (is_library(folder) && is_filled(&wal));
    !is_there && (!snapshots(folder).is_empty() || told())
}
