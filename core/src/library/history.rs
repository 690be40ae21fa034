//! The history of a library: the changes of an undo and of a redo.

use std::collections::HashMap;
use std::sync::Arc;

use super::draft::Draft;
use super::event::{Change, ContentHash, EventKind, Field, Swap, inverse};
use super::state::{Act, State};
use super::store::Store;
use crate::error::Result;
use crate::ids::ItemId;

/// An undo or a redo. It is written even when forgetting has left no changes of its act.
pub(super) struct Step {
    /// The act that is undone or redone.
    pub(super) act: Arc<Act>,
    /// Which of the two.
    pub(super) kind: EventKind,
    /// Its changes in the present state.
    pub(super) draft: Draft,
}

/// The undo of the last act; `None` when there is nothing to undo.
pub(super) fn undo(state: &State, store: &Store) -> Result<Option<Step>> {
    let Some(act) = state.history().last().cloned() else { return Ok(None) };
    let events = store.events_of(act.id)?.into_iter().filter(|event| event.kind == EventKind::Act);
    let changes = inverse(events.flat_map(|event| event.changes).collect());
    let draft = Draft::new(format!("Undo: {}", act.words), state.fitting(changes));
    Ok(Some(Step { kind: EventKind::Undo(act.id), act, draft }))
}

/// The redo of the act that was undone last; `None` when there is nothing to redo.
pub(super) fn redo(state: &State, store: &Store) -> Result<Option<Step>> {
    let Some(act) = state.future().last().cloned() else { return Ok(None) };
    let changes = store.last_undo_of(act.id)?.map(|event| inverse(event.changes)).unwrap_or_default();
    let draft = Draft::new(format!("Redo: {}", act.words), state.fitting(changes));
    Ok(Some(Step { kind: EventKind::Redo(act.id), act, draft }))
}

impl State {
    /// Adapts the changes of an undo or redo to the present state. Files change outside of the
    /// history, so a change of contents starts from the present ones, and bytes that have become
    /// another image's stay with that image.
    fn fitting(&self, changes: Vec<Change>) -> Vec<Change> {
        let holder: HashMap<ContentHash, ItemId> =
            self.records().iter().filter_map(|image| Some((image.content?.hash, image.id))).collect();
        let fit = |change| {
            let Change::Image(id, Field::Content(Swap(_, after))) = change else { return Some(change) };
            let now = self.image(id).and_then(|image| image.content);
            let is_taken = after.is_some_and(|content| holder.get(&content.hash).is_some_and(|holder| *holder != id));
            (now != after && !is_taken).then_some(Change::Image(id, Field::Content(Swap(now, after))))
        };
        changes.into_iter().filter_map(fit).collect()
    }
}
