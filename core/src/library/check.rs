//! Checking: compares the files of a library with each other.

use std::path::Path;

use super::event::EventKind;
use super::health::CHECKED;
use super::models::Models;
use super::repair::later;
use super::snapshot::snapshots;
use super::state::State;
use super::store::Store;
use super::store::inspect::verify;
use crate::error::{Error, Result};
use crate::plural::count;
use crate::progress::Progress;
use crate::utc::now;

/// What is wrong with the library in `folder`, each in a sentence. When nothing is, the time is
/// noted as a fact. O(events + images).
pub(super) fn check(folder: &Path, state: &State, store: &Store, models: &Models) -> Result<Vec<String>> {
    match problems(folder, state, store, models) {
        // Damage that ends the check is what it looks for.
        Err(error @ Error::Data { .. }) => Ok(vec![error.to_string()]),
        outcome => outcome,
    }
}

fn problems(folder: &Path, state: &State, store: &Store, models: &Models) -> Result<Vec<String>> {
    let mut problems: Vec<String> = store.integrity()?.into_iter().map(|line| format!("library.db: {line}")).collect();
    let broken = store.broken_events()?;
    problems.extend(broken.iter().map(|id| format!("event {id} is not as it was written")));
    if !broken.is_empty() {
        return Ok(problems);
    }
    let tables = store.load()?;
    if tables != *state {
        problems.push("the tables are not what this program holds in memory".into());
    }
    let mut replayed = tables.without_words();
    let events = store.events_after(0)?;
    for event in &events {
        replayed.step(event);
        if let EventKind::Undo(act) | EventKind::Redo(act) = event.kind
            && act >= event.id
        {
            problems.push(format!("event {} takes back one that came after it", event.id.0));
        }
    }
    problems.extend(differences(&tables, &replayed));
    problems.extend(store.new_faults(&events)?);
    problems.extend(store.check_journal(&events)?);
    let (sound, damaged): (Vec<_>, Vec<_>) =
        snapshots(folder).into_iter().partition(|snapshot| verify(&snapshot.path, &Progress::default()).is_ok());
    problems.extend(damaged.iter().map(|snapshot| format!("the snapshot after event {} is damaged", snapshot.event.0)));
    let head = store.head()?;
    if let Some(snapshot) = later(&sound, head, store.identity()?, &Progress::default()) {
        problems.push(format!("the history goes on to event {} in a snapshot, and ends at event {}", snapshot.event.0, head.event.0));
    }
    let wanted = tables.images().filter(|image| image.label().is_some()).count();
    let (held, missing) = (models.recogniser.ckm().examples().count(), models.recogniser.missing().len());
    if held + missing != wanted {
        let have = if wanted == 1 { "has" } else { "have" };
        problems.push(format!("the recogniser holds {} where {wanted} {have} a class", count(held, "image")));
    }
    if problems.is_empty() && !store.is_frozen() {
        store.set_fact(CHECKED, now())?;
    }
    Ok(problems)
}

/// Where the state after replaying the events differs from the tables, in sentences.
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
