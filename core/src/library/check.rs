//! Checking: the files of a library against themselves.

use super::event::EventKind;
use super::snapshot::snapshots;
use super::state::State;
use super::store::Store;
use super::{Library, apply};
use crate::error::Result;

impl Library {
    /// What is wrong with the library, each in a sentence; nothing when all is well. Looks at SQLite's own structures, at the
    /// hash of every event, at whether the events lead to what the tables hold, at the journal, the snapshots and the models.
    /// O(events + images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the files cannot be read at all.
    pub fn check(&self) -> Result<Vec<String>> {
        let mut problems: Vec<String> = self.store.integrity()?.into_iter().map(|line| format!("library.db: {line}")).collect();
        let broken = self.store.broken_events()?;
        problems.extend(broken.iter().map(|id| format!("event {id} is not as it was written")));
        if !broken.is_empty() {
            return Ok(problems);
        }
        let tables = self.store.load()?;
        if tables != self.state {
            problems.push("the tables are not what this program holds in memory".into());
        }
        let mut replayed = tables.without_words();
        let events = self.store.events_after(0)?;
        for event in &events {
            apply::step(&mut replayed, event);
            if let EventKind::Undo(act) | EventKind::Redo(act) = event.kind
                && act >= event.id
            {
                problems.push(format!("event {} takes back one that came after it", event.id.0));
            }
        }
        problems.extend(differences(&tables, &replayed));
        problems.extend(self.store.check_journal(&events)?);
        let damaged = snapshots(&self.folder).into_iter().filter(|snapshot| Store::verify(&snapshot.path).is_err());
        problems.extend(damaged.map(|snapshot| format!("the snapshot after event {} is damaged", snapshot.event.0)));
        let wanted = tables.images().filter(|image| image.label().is_some()).count();
        let (held, missing) = (self.recogniser.ckm().examples().count(), self.recogniser.missing().len());
        if held + missing != wanted {
            problems.push(format!("the recogniser holds {held} images where {wanted} have a class"));
        }
        if problems.is_empty() {
            self.note_check()?;
        }
        Ok(problems)
    }
}

/// Where the state that the events lead to differs from what the tables hold.
fn differences(tables: &State, events: &State) -> Vec<String> {
    let mut found = Vec::new();
    for image in tables.records() {
        if events.image(image.id) != Some(image) {
            found.push(format!("image {} ({}) is not what the events say", image.id.0, image.name()));
        }
    }
    let unknown = events.records().iter().filter(|image| tables.image(image.id).is_none());
    found.extend(unknown.map(|image| format!("image {} has events and no row", image.id.0)));
    if tables.classes != events.classes || tables.aliases != events.aliases {
        found.push("the classes are not what the events say".into());
    }
    if (tables.history(), tables.future()) != (events.history(), events.future()) {
        found.push("the history is not what the events say".into());
    }
    found
}
