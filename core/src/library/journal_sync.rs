//! Keeps `library.db` and `journal.jsonl` in step: what one has lost is taken from the other, and
//! what is purged from one is purged from the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::event::{ContentHash, Event, EventId};
use super::forget::Purge;
use super::journal::{self, DamagedLine, Line};
use super::state::{Image, Place, Root, State};
use super::store::{FORGOT_AT, LIBRARY, RESTORED, Store};
use crate::error::{Error, Result, display};
use crate::plural::count;
use crate::utc::utc;

/// What was found and done when database and journal were compared, in sentences.
#[derive(Debug, Default)]
pub(super) struct Tended {
    /// What one had lost and the other gave back.
    pub(super) mended: Vec<String>,
    /// What could not be done.
    pub(super) remarks: Vec<String>,
    /// What is lost, or may be.
    pub(super) lost: Vec<String>,
}

impl Store {
    /// Which library this is, and when a snapshot was last put back in it.
    fn library(&self) -> Result<(i64, i64)> {
        Ok((self.fact(LIBRARY)?.unwrap_or(0), self.fact(RESTORED)?.unwrap_or(0)))
    }

    /// Updates database and journal where one may lack what the other has.
    ///
    /// # Errors
    /// [`Error::Data`] when the journal is that of another library, or when both tell other events
    /// under the same numbers: nothing is changed then.
    pub(super) fn tend_journal(&mut self, state: &mut State) -> Result<Tended> {
        let last = state.last_event().unwrap_or(EventId(0));
        let text = self.journal.text()?;
        let mut tended = Tended::default();
        if self.was_clean && text.as_ref().is_some_and(|text| self.journal.go_on(text, last)) {
            return Ok(tended);
        }
        let (lines, problems) = journal::read(&text.unwrap_or_default());
        let own = self.library()?;
        if let Some(Line::Library(id, _)) = lines.iter().find(|line| matches!(line, Line::Library(id, _) if *id != own.0)) {
            let found = format!("the journal of another one ({id:x} beside {:x})", own.0);
            let advice = "put back the file that was exchanged, `library.db` or `journal.jsonl`";
            return Err(Error::data(&self.path, "a library with its own journal", found, advice));
        }
        let told: BTreeMap<EventId, &Line> = lines.iter().filter_map(|line| Some((line.event_id()?, line))).collect();
        let newest = told.keys().next_back().copied().unwrap_or(EventId(0));
        // A journal from before something was forgotten is out of date, and may hold what must go.
        let is_outdated = self.fact(FORGOT_AT)?.is_some_and(|event| newest.0 < event as u64);
        let is_own = lines.contains(&Line::Library(own.0, own.1));
        if is_own && !is_outdated {
            self.check_for_fork(&told, last)?;
        }
        if !is_outdated && (!problems.is_empty() || (!is_own && !told.is_empty())) {
            let kept = self.journal.keep_damaged()?;
            tended.mended.push(format!("the journal as it was found is kept as {}", display(&kept)));
        }
        if is_own && newest > last {
            let (n, lost) = self.take_over(lines, Vec::new())?;
            tended.mended.push(format!("{} that the database had lost were taken from the journal", count(n, "event")));
            tended.remarks.extend(lost);
            if !problems.is_empty() {
                // In a journal without damage, numbers are missing where events were forgotten.
                let known: BTreeSet<u64> = self.events_after(last.0)?.iter().map(|event| event.id.0).collect();
                let missing = (last.0 + 1..=newest.0).filter(|id| !known.contains(id));
                tended.lost.extend(missing.map(|id| format!("event {id} is lost: it is in no file of the library")));
            }
            *state = self.load()?;
        }
        for DamagedLine { words, event } in problems {
            // A line that cannot be read at all may have told of an event that the database had
            // lost too; where it has lost none, nothing is missing.
            if event.map_or(newest > last, |event| event > last) {
                tended.lost.push(words);
            }
        }
        if let Err(error) = self.rewrite_journal(state) {
            tended.remarks.push(format!("the journal is as it was: {error}"));
        }
        Ok(tended)
    }

    /// Refuses a journal that tells another event under a number than the database does, as they do
    /// where two copies of a library were used and their files mixed.
    fn check_for_fork(&self, told: &BTreeMap<EventId, &Line>, last: EventId) -> Result<()> {
        let own = self.events_after(0)?;
        let differs = |event: &&Event| told.get(&event.id).is_some_and(|line| **line != Line::event(event));
        let Some(first) = own.iter().find(differs) else { return Ok(()) };
        let newest = told.keys().next_back().copied().unwrap_or(first.id);
        let found = format!(
            "two histories: from event {} ({}) on, `library.db` goes on to event {} and `journal.jsonl` to another event {}",
            first.id.0,
            utc(first.at),
            last.0,
            newest.0
        );
        let advice = "run `tessera check LIBRARY --keep database` or `--keep journal`, which saves the other one as a library of its own";
        Err(Error::data(&self.path, "a database and a journal of one history", found, advice))
    }

    /// Adds what lines of a journal say, and events from elsewhere, where the database lacks it.
    /// Returns the number of events added, and what could not be recovered, in sentences.
    pub(super) fn take_over(&mut self, lines: Vec<Line>, more: Vec<Event>) -> Result<(usize, Vec<String>)> {
        let known = self.last_event()?;
        let mut lost = Vec::new();
        let mut events: BTreeMap<EventId, Event> = more.into_iter().map(|event| (event.id, event)).collect();
        let mut rest = Vec::new();
        for line in lines {
            match line {
                Line::Event { .. } => events.extend(line.into_event().map(|event| (event.id, event))),
                other => rest.push(other),
            }
        }
        events.retain(|id, _| id.0 > known);
        // Places need their roots; the events that follow may move those, so they are written again
        // below.
        self.put_roots(&rest)?;
        for event in events.values() {
            // An event does not fit when earlier ones are lost.
            if let Err(error) = self.enter(event) {
                lost.push(format!("event {} ({}) could not be entered: {error}", event.id.0, event.words));
            }
        }
        self.put_roots(&rest)?;
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
                Line::Root { .. } | Line::Event { .. } | Line::End(_) => {}
            }
        }
        let roots = self.roots()?;
        let (below, orphans): (Vec<_>, Vec<_>) = places.into_iter().partition(|((root, _), _)| roots.contains_key(root));
        if !orphans.is_empty() {
            lost.push(format!("{} files lie below a folder whose name is lost; import it again", orphans.len()));
        }
        let here: Vec<_> = below.iter().filter_map(|(_, place)| place.as_ref()).map(|(image, place)| (*image, place)).collect();
        self.put_places(&here)?;
        let gone: Vec<_> = below.iter().filter(|(_, place)| place.is_none()).map(|((root, path), _)| (*root, path.clone())).collect();
        self.drop_places(&gone)?;
        Ok((events.len(), lost))
    }

    fn put_roots(&mut self, lines: &[Line]) -> Result<()> {
        for line in lines {
            if let Line::Root { id, path, labels, exclude } = line {
                self.put_root(*id, &Root { path: path.0.clone(), labels: labels.clone(), exclude: exclude.clone() })?;
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
        let told: Vec<Event> = lines.into_iter().filter_map(Line::into_event).collect();
        if problems.is_empty() && told != events {
            problems.push("the journal does not tell the events of the database".into());
        }
        Ok(problems)
    }

    fn rewrite_journal(&mut self, state: &State) -> Result<()> {
        let (id, restored) = self.library()?;
        let mut lines = vec![Line::Library(id, restored)];
        lines.extend(state.roots().map(|(id, root)| Line::root(id, root)));
        lines.push(Line::Next(state.next_image));
        lines.extend(self.events_after(0)?.iter().map(Line::event));
        let places = |image: &Arc<Image>| image.places.iter().map(|place| Line::place(image.id, place)).collect::<Vec<_>>();
        lines.extend(state.records().iter().flat_map(places));
        let mut forgotten: Vec<ContentHash> = self.forgotten()?.into_iter().collect();
        forgotten.sort_unstable();
        lines.extend(forgotten.into_iter().map(Line::Forgotten));
        self.journal.rewrite(lines)
    }

    /// Purges images from both, and overwrites what was deleted.
    pub(super) fn forget(&mut self, purge: &Purge, next_image: u32) -> Result<()> {
        self.purge(purge, next_image)?;
        let state = self.load()?;
        self.rewrite_journal(&state)?;
        self.compact()
    }
}
