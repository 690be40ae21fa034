//! The one place where what happens to a library reaches the models that learn from it.

use std::collections::BTreeSet;

use super::event::{Event, EventId};
use super::features::FeatureStore;
use super::state::State;
use super::store::Store;
use crate::error::Result;
use crate::ids::ItemId;
use crate::progress::Progress;

/// A model that learns from a library.
///
/// Every model upholds: taught the same lessons from its beginning, it is the same, byte for byte. Lessons taken back
/// are lessons whose `after` is the earlier state.
pub trait Model: Send {
    /// The name its checkpoints are kept under; it changes with their form.
    fn name(&self) -> String;

    /// Forgets everything.
    fn clear(&mut self);

    /// Learns the step from one state of the library to the next.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`]; [`crate::Error::Io`] when the cache cannot be used.
    fn learn(&mut self, lesson: &ModelUpdate<'_>) -> Result<()>;

    /// Everything it learned, as bytes, for comparing. Images are named by their hashes: identifiers differ between libraries.
    fn everything(&self, state: &State) -> Vec<u8>;

    /// What it needs to be taken up where it stands. O(images).
    fn checkpoint(&self, state: &State) -> Vec<u8> {
        self.everything(state)
    }

    /// Takes up a checkpoint of the library in this state. Returns whether it could: if not, it is taught from the beginning.
    ///
    /// # Errors
    /// As [`Model::learn`].
    fn restore(&mut self, bytes: &[u8], lesson: &ModelUpdate<'_>) -> Result<bool>;
}

/// A step from one state of a library to the next.
pub struct ModelUpdate<'a> {
    /// What was there of these images.
    pub before: &'a State,
    /// What is there now.
    pub after: &'a State,
    /// The images that changed, in order.
    pub images: &'a [ItemId],
    /// Where the elements of images come from.
    pub features: &'a FeatureStore<'a>,
    /// Counts and asks.
    pub progress: &'a Progress,
}

/// Brings a state to what it is after an event, which is entered in the history.
pub(super) fn step(state: &mut State, event: &Event) {
    for change in &event.changes {
        state.apply(change);
    }
    state.record(event);
}

/// The images that an event touches, in order.
pub(super) fn touched(event: &Event) -> Vec<ItemId> {
    event.changes.iter().filter_map(super::event::Change::image).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Brings a model up to date: from its checkpoint if it has one that can be used, otherwise from the first event on.
/// `state` is what all events lead to. O(events after the checkpoint).
pub(super) fn catch_up(
    model: &mut dyn Model,
    checkpoint: Option<(EventId, Vec<u8>)>,
    store: &Store,
    state: &State,
    features: &FeatureStore<'_>,
    progress: &Progress,
) -> Result<()> {
    if let Some((at, bytes)) = checkpoint.filter(|(at, _)| state.last_event() >= Some(*at)) {
        let events = store.events_after(at.0)?;
        // The state at the checkpoint is today's, with everything since taken back.
        let mut then = state.clone();
        for event in events.iter().rev() {
            for change in event.changes.iter().rev() {
                then.apply(&change.clone().inverse());
            }
        }
        model.clear();
        let lesson = ModelUpdate { before: &State::default(), after: &then, images: &[], features, progress };
        if model.restore(&bytes, &lesson)? {
            return teach(model, then, &events, features, progress);
        }
    }
    model.clear();
    let places = state.without_words();
    teach(model, places, &store.events_after(0)?, features, progress)
}

fn teach(model: &mut dyn Model, mut state: State, events: &[Event], features: &FeatureStore<'_>, progress: &Progress) -> Result<()> {
    progress.begin("Learning what was done before", events.len() as u64);
    for event in events {
        progress.step()?;
        let images = touched(event);
        let before = state.part(&images);
        step(&mut state, event);
        model.learn(&ModelUpdate { before: &before, after: &state, images: &images, features, progress })?;
    }
    Ok(())
}
