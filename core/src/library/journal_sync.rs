//! Keeps `library.db` and `journal.jsonl` in step: what one has lost is taken from the other, and
//! what is purged from one is purged from the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::chain::{Fault, Head, faults, join};
use super::event::{Change, ContentHash, Event, EventId, FolderReading, RootId};
use super::forget::Purge;
use super::fork::{KEEP, first_apart};
use super::journal::{self, DamagedLine, Line};
use super::state::{Image, Place, Root, State};
use super::store::inspect::{known_fault, lost_from};
use super::store::{FORGOT_AT, LIBRARY, RESTORED, Store};
use crate::error::{Error, Result, display};
use crate::plural::count;
use crate::utc::now;
use crate::utc::utc;

/// The name of the fact that the journal was written with links: what bears none is not of this
/// history.
const LINKED: &str = "journal has links";

/// What is said where the journal was damaged.
pub(super) const WRITTEN_ANEW: &str = "the journal was written anew from the database";

/// A number that no event reaches: files that show a larger one are of no history.
const MOST_EVENTS: u64 = 1 << 40;

/// What was found and done when database and journal were compared, in sentences.
#[derive(Debug, Default)]
pub(super) struct Tended {
    /// What one had lost and the other gave back.
    pub(super) mended: Vec<String>,
    /// What could not be done.
    pub(super) remarks: Vec<String>,
    /// What is lost, or may be.
    pub(super) lost: Vec<String>,
    /// The damage that was found, whatever became of it.
    pub(super) found: Vec<String>,
}

impl Store {
    /// Which library this is, and when a snapshot was last put back in it.
    pub(super) fn identity(&self) -> Result<(i64, i64)> {
        Ok((self.fact(LIBRARY)?.unwrap_or(0), self.fact(RESTORED)?.unwrap_or(0)))
    }

    /// Updates database and journal where one may lack what the other has.
    ///
    /// # Errors
    /// [`Error::Data`] when the journal is that of another library, or when both tell other events
    /// under the same numbers: nothing is changed then.
    pub(super) fn tend_journal(&mut self, state: &mut State) -> Result<Tended> {
        let head = self.head()?;
        let last = head.event;
        let text = self.journal.text()?;
        let mut tended = Tended::default();
        if self.was_clean && text.as_ref().is_some_and(|text| self.journal.go_on(text, head)) {
            return Ok(tended);
        }
        if text.is_none() && last.0 > 0 {
            tended.found.push("there is no journal".into());
        }
        let is_there = text.is_some();
        let text = text.unwrap_or_default();
        let (lines, problems) = journal::read(&text);
        if is_there && problems.is_empty() && self.was_clean && self.fact(LINKED)?.is_some() {
            tended.found.push("the journal does not end as it did when the library was closed".into());
        }
        let own = self.identity()?;
        if let Some(Line::Library(id, _)) = lines.iter().find(|line| matches!(line, Line::Library(id, _) if *id != own.0)) {
            let found = format!("the journal of another one ({id:x} beside {:x})", own.0);
            let advice = "put back the file that was exchanged, `library.db` or `journal.jsonl`";
            return Err(Error::data(&self.path, "a library with its own journal", found, advice));
        }
        let told: BTreeMap<EventId, &Line> = lines.iter().filter_map(|line| Some((line.event_id()?, line))).collect();
        let newest = told.keys().next_back().copied().unwrap_or(EventId(0));
        let is_lacking = is_there && self.joints()?.iter().any(|joint| !told.contains_key(&joint.after.event));
        // A journal from before something was forgotten is out of date, and may hold what must go.
        let is_outdated = self.fact(FORGOT_AT)?.is_some_and(|event| newest.0 < event as u64);
        let is_unnamed = !lines.iter().any(|line| matches!(line, Line::Library(..)));
        let has_our_head = || told.get(&last).and_then(|line| line.link()).is_some_and(|link| link.head == head.digest);
        let is_own = lines.contains(&Line::Library(own.0, own.1)) || (is_unnamed && has_our_head());
        if is_own {
            self.check_for_fork(&told, head, is_outdated)?;
        }
        if !is_outdated && (!problems.is_empty() || (!is_own && !told.is_empty())) {
            let kept = self.journal.keep_damaged()?;
            tended.mended.push(format!("the journal as it was found is kept as {}", display(&kept)));
        }
        if is_own && newest > last {
            let (n, lost) = self.take_over(lines, Vec::new())?;
            tended.mended.push(format!("{} that the database had lost were taken from the journal", count(n, "event")));
            tended.found.push(format!("the database has lost {}, which the journal tells", count(n, "event")));
            tended.remarks.extend(lost);
            tended.lost.extend(self.note_faults(last)?);
            *state = self.load()?;
        }
        if is_own && !is_outdated {
            let lost = self.note_lost_end(journal::reached(&text), "the journal")?;
            tended.lost.extend(lost);
        }
        tended.found.extend(problems.iter().map(|problem| problem.words.clone()));
        for DamagedLine { words, event } in problems {
            // A line that cannot be read at all may have told of an event that the database had
            // lost too; where it has lost none, nothing is missing.
            if event.map_or(newest > last, |event| event > last) {
                tended.lost.push(words);
            }
        }
        match self.rewrite_journal(state) {
            Ok(()) if is_lacking || !tended.found.is_empty() => tended.mended.push(WRITTEN_ANEW.into()),
            Ok(()) => {}
            Err(error) => tended.remarks.push(format!("the journal is as it was: {error}")),
        }
        Ok(tended)
    }

    /// Refuses a journal that tells another event under a number than the database does, as they do
    /// where two copies of a library were used and their files mixed.
    fn check_for_fork(&self, told: &BTreeMap<EventId, &Line>, last: Head, is_outdated: bool) -> Result<()> {
        let own = self.events_after(0)?;
        // What was forgotten since has the head that it had.
        let linked = || told.iter().filter(|(_, line)| line.link().is_some()).map(|(id, line)| (*id, *line)).collect();
        let apart = if is_outdated { first_apart(&own, &linked(), last) } else { first_apart(&own, told, last) };
        let Some(first) = apart else {
            return if is_outdated { Ok(()) } else { self.check_contents(&own, told) };
        };
        let newest = told.keys().next_back().copied().unwrap_or(first.id);
        let found = format!(
            "two histories: from event {} ({}) on, `library.db` goes on to event {} and `journal.jsonl` to another event {}",
            first.id.0,
            utc(first.at),
            last.event.0,
            newest.0
        );
        Err(Error::data(&self.path, "a database and a journal of one history", found, KEEP))
    }

    /// Refuses a database whose damage the journal, written anew, would take over: one that lacks
    /// an event between others, or has one that is not what its link says.
    fn check_contents(&self, own: &[Event], told: &BTreeMap<EventId, &Line>) -> Result<()> {
        let known: BTreeSet<EventId> = own.iter().map(|event| event.id).collect();
        let is_within = |id: &EventId| own.last().is_some_and(|last| *id <= last.id);
        if let Some((id, _)) = told.iter().find(|(id, line)| is_within(id) && line.link().is_some() && !known.contains(id)) {
            return Err(self.damaged(&format!("no event {}, which the journal tells", id.0)));
        }
        // A line of the journal was compared with its link when it was read.
        let is_sound = |event: &Event| match told.get(&event.id).filter(|line| line.link().is_some()) {
            Some(line) => **line == Line::event(event),
            None => event.holds(),
        };
        match own.iter().find(|event| !is_sound(event)) {
            Some(event) => Err(self.damaged(&Fault::Altered(event.id).to_string())),
            None => Ok(()),
        }
    }

    /// The faults of the chain that show after event `after` and are not known yet, in sentences.
    /// From here on they are known: the next check lists them, and does not complain any more.
    pub(super) fn note_faults(&mut self, after: EventId) -> Result<Vec<String>> {
        let new = self.unknown(faults(&self.events_after(0)?, false))?;
        let new: Vec<Fault> = new.into_iter().filter(|fault| fault.at() > after).collect();
        new.iter().try_for_each(|fault| self.set_fact(&known_fault(fault.at()), now()))?;
        Ok(new.iter().map(Fault::to_string).collect())
    }

    /// Notes that there were events after the last one, up to the one that was told of, which are
    /// in no file any more: in a sentence, unless that is known.
    pub(super) fn note_lost_end(&mut self, told: EventId, by: &str) -> Result<Option<String>> {
        let first = self.next_event()?;
        if told < first || told.0 > MOST_EVENTS {
            return Ok(None);
        }
        self.set_fact(&lost_from(first), told.0 as i64)?;
        Ok(Some(format!("{}; {by} shows that there was an event {}", Fault::Lost(first, told), told.0)))
    }

    /// What is wrong with the chain of these events, which are all, in sentences; without what a
    /// repair could not mend. O(changes of all events).
    pub(super) fn new_faults(&self, events: &[Event]) -> Result<Vec<String>> {
        Ok(self.unknown(faults(events, true))?.iter().map(Fault::to_string).collect())
    }

    fn unknown(&self, faults: Vec<Fault>) -> Result<Vec<Fault>> {
        let mut found = Vec::new();
        for fault in faults {
            if self.fact(&known_fault(fault.at()))?.is_none() {
                found.push(fault);
            }
        }
        Ok(found)
    }

    /// Adds what lines of a journal say, and events from elsewhere, where the database lacks it.
    /// Events enter with the links that they have; those of a library of before events had links
    /// are tied to the last one. Returns the number of events added, and what could not be
    /// recovered, in sentences.
    pub(super) fn take_over(&mut self, lines: Vec<Line>, more: Vec<Event>) -> Result<(usize, Vec<String>)> {
        let known = self.head()?;
        let mut lost = Vec::new();
        let mut events = BTreeMap::new();
        let mut rest = Vec::new();
        // The event before the last line of each root, and the last event.
        let (mut told, mut last) = (BTreeMap::new(), EventId(0));
        for line in lines {
            match line {
                Line::Event { .. } => events.extend(line.into_event().map(|event| {
                    last = event.id;
                    (event.id, event)
                })),
                other => {
                    if let Line::Root { id, .. } = &other {
                        told.insert(*id, last);
                    }
                    rest.push(other);
                }
            }
        }
        let refused = join(&mut events, more);
        if let (Some(first), n) = (refused.first(), refused.len()) {
            lost.push(format!("{} from event {} on are of another history, and stay in the damaged file", count(n, "event"), first.0));
        }
        let has_links = self.fact(LINKED)?.is_some() || events.values().any(|event| event.link.is_some());
        events.retain(|id, _| *id > known.event);
        let leads_on = |event: &Event| event.link.as_ref().is_none_or(|link| link.previous == known.digest);
        if let Some((id, event)) = events.first_key_value()
            && id.0 == known.event.0.saturating_add(1)
            && !leads_on(event)
        {
            lost.push(format!("{} from event {} on follow another event {}", count(events.len(), "event"), id.0, known.event.0));
            events.clear();
        }
        events.retain(|id, event| {
            let is_ours = event.link.is_some() || !has_links;
            if !is_ours {
                lost.push(format!("event {} ({}) bears no link to this history, and was left out", id.0, event.words));
            }
            is_ours
        });
        // Places need their roots; the events that follow may move those, so they are written again
        // below.
        self.put_roots(&rest)?;
        for event in events.values_mut() {
            match self.enter(event) {
                // An event does not fit when earlier ones are lost.
                Err(error @ Error::Data { .. }) => {
                    lost.push(format!("event {} ({}) could not be entered: {error}", event.id.0, event.words));
                }
                // Nothing is lost because a disk is full: that ends the work.
                entered => entered?,
            }
        }
        self.put_roots(&rest)?;
        self.change_roots_again(&told)?;
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
                Line::Forgotten(hash) => self.put_forgotten(hash)?,
                Line::Again(hash) => self.unforget(hash)?,
                Line::Next(next) => self.set_fact("next image", i64::from(next).max(self.fact("next image")?.unwrap_or(0)))?,
                Line::Library(id, restored) => {
                    self.set_fact(LIBRARY, id)?;
                    self.set_fact(RESTORED, restored)?;
                }
                Line::Lost(first, last) if last.0 <= MOST_EVENTS => self.set_fact(&lost_from(first), last.0 as i64)?,
                Line::Root { .. } | Line::Event { .. } | Line::Lost(..) | Line::End(_) => {}
            }
        }
        let roots = self.roots()?;
        let (below, orphans): (Vec<_>, Vec<_>) = places.into_iter().partition(|((root, _), _)| roots.contains_key(root));
        if !orphans.is_empty() {
            let lie = if orphans.len() == 1 { "lies" } else { "lie" };
            lost.push(format!("{} {lie} below a folder whose name is lost; import it again", count(orphans.len(), "file")));
        }
        let here: Vec<_> = below.iter().filter_map(|(_, place)| place.as_ref()).map(|(image, place)| (*image, place)).collect();
        self.put_places(&here)?;
        let gone: Vec<_> = below.iter().filter(|(_, place)| place.is_none()).map(|((root, path), _)| (*root, path.clone())).collect();
        self.drop_places(&gone)?;
        Ok((events.len(), lost))
    }

    /// Changes roots once more as events do that came after these.
    fn change_roots_again(&mut self, after: &BTreeMap<RootId, EventId>) -> Result<()> {
        let events = self.events_after(0)?;
        let changes = events.iter().flat_map(|event| event.changes.iter().map(|change| (event.id, change)));
        let is_later = |(id, change): &(EventId, &Change)| match change {
            Change::Root(root, _) | Change::Reading(root, _) => after.get(root).is_some_and(|after| id > after),
            _ => false,
        };
        self.project(changes.filter(is_later).map(|(_, change)| change))
    }

    fn put_roots(&mut self, lines: &[Line]) -> Result<()> {
        for line in lines {
            if let Line::Root { id, path, labels, exclude } = line {
                let reading = FolderReading { labels: labels.clone(), exclude: exclude.clone() };
                self.put_root(*id, &Root { path: path.0.clone(), reading })?;
            }
        }
        Ok(())
    }

    /// What is wrong with the journal, in sentences; nothing when it agrees with the database.
    pub(super) fn check_journal(&self, events: &[Event]) -> Result<Vec<String>> {
        if let Some(behind) = self.journal.behind() {
            return Ok(vec![format!("the journal lacks what was done last: {behind}")]);
        }
        let Some(text) = self.journal.text()? else { return Ok(vec!["there is no journal".into()]) };
        let (lines, problems) = journal::read(&text);
        let mut problems: Vec<String> = problems.into_iter().map(|problem| problem.words).collect();
        let own: BTreeMap<EventId, &Event> = events.iter().map(|event| (event.id, event)).collect();
        let differs = |line: &&Line| line.event_id().and_then(|id| own.get(&id)).is_some_and(|event| !line.tells(event));
        if let Some(first) = lines.iter().find(differs).and_then(Line::event_id) {
            problems.push(format!("from event {} on, `library.db` and `journal.jsonl` tell two histories; {KEEP}", first.0));
            return Ok(problems);
        }
        let told: Vec<Event> = lines.into_iter().filter_map(Line::into_event).collect();
        if problems.is_empty() && told != events {
            problems.push("the journal does not tell the events of the database".into());
        }
        Ok(problems)
    }

    fn rewrite_journal(&mut self, state: &State) -> Result<()> {
        let (id, restored) = self.identity()?;
        let mut lines = vec![Line::Library(id, restored)];
        lines.extend(state.roots().map(|(id, root)| Line::root(id, root)));
        lines.push(Line::Next(state.next_image));
        lines.extend(self.events_after(0)?.iter().map(Line::event));
        lines.extend(self.lost_ends()?.into_iter().filter_map(Line::lost));
        let places = |image: &Arc<Image>| image.places.iter().map(|place| Line::place(image.id, place)).collect::<Vec<_>>();
        lines.extend(state.records().iter().flat_map(places));
        let mut forgotten: Vec<ContentHash> = self.forgotten()?.into_iter().collect();
        forgotten.sort_unstable();
        lines.extend(forgotten.into_iter().map(Line::Forgotten));
        self.journal.rewrite(lines)?;
        if self.fact(LINKED)?.is_none() { self.set_fact(LINKED, 1) } else { Ok(()) }
    }

    /// Purges images from both, and overwrites what was deleted.
    pub(super) fn forget(&mut self, purge: &Purge, next_image: u32) -> Result<()> {
        self.purge(purge, next_image)?;
        let state = self.load()?;
        self.rewrite_journal(&state)?;
        self.compact()
    }
}
