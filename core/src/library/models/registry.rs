//! All models that follow the events of a library, as one value. A new model is one line in the
//! list `registry!`.

use super::caption_memory::CaptionMemory;
use super::model::{Model, ModelUpdate};
use super::recogniser::Recogniser;
use super::words::Words;
use crate::ckm::CkmOptions;
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::cache::Cache;
use crate::library::event::{Event, EventId};
use crate::library::features::{FeatureStore, OUTLINES};
use crate::library::state::State;
use crate::library::store::Store;
use crate::progress::Progress;

/// Machines whose outlines are kept: with the usual and with fitted kernels, with learned features
/// and without.
const KEPT_OUTLINES: usize = 4;
/// Events between checkpoints of the models.
const CHECKPOINT_EVERY: u64 = 500;

macro_rules! registry {
    ($($(#[$doc:meta])* $name:ident: $model:ty,)*) => {
        /// The models that follow the events of a library.
        pub struct Models {
            $($(#[$doc])* pub $name: $model,)*
            /// The event up to which all of them have checkpoints.
            kept_at: Option<EventId>,
            /// Whether one of them lacks an event: until they have caught up, none is taught and no
            /// checkpoint is written.
            behind: bool,
        }

        impl Models {
            /// Models that have learned nothing yet.
            ///
            /// # Errors
            /// As [`Model::new`].
            pub fn new(options: &CkmOptions) -> Result<Self> {
                Ok(Self { $($name: Model::new(options)?,)* kept_at: None, behind: true })
            }

            /// Each of them.
            pub fn all(&self) -> Vec<&dyn Model> {
                vec![$(&self.$name),*]
            }

            fn all_mut(&mut self) -> Vec<&mut dyn Model> {
                vec![$(&mut self.$name),*]
            }
        }
    };
}

registry! {
    /// Recognises the classes of images.
    recogniser: Recogniser,
    /// Finds images by the words of their texts.
    words: Words,
    /// Finds images by captions and by what users said of earlier answers.
    recall: CaptionMemory,
}

impl Models {
    /// Each model's name and everything it learned, as bytes that can be compared.
    pub fn everything(&self, state: &State) -> Vec<(String, Vec<u8>)> {
        self.all().into_iter().map(|model| (model.name(), model.everything(state))).collect()
    }

    /// Brings all of them up to date with `state`, the state after all events: each from its
    /// checkpoint in the cache where that can be used, otherwise from the first event. O(events
    /// after the checkpoints). `false` where a checkpoint cannot be used and `log` begins later:
    /// the models are behind then.
    ///
    /// # Errors
    /// As [`Model::learn`], and [`crate::Error::Data`] when the cache is damaged; the models are
    /// behind then.
    pub(in crate::library) fn catch_up(
        &mut self,
        log: &Log,
        state: &State,
        features: &FeatureStore<'_>,
        progress: &Progress,
    ) -> Result<bool> {
        self.behind = true;
        let mut kept_at = state.last_event();
        // The one with the largest checkpoint first, while the others take no memory yet.
        for model in self.all_mut().into_iter().rev() {
            // Copied: while a row is read, what others write would keep this from writing.
            let checkpoint = features.cache.checkpoint(&model.name())?;
            kept_at = kept_at.min(checkpoint.as_ref().map(|(at, _)| *at));
            let checkpoint = checkpoint.as_ref().map(|(at, bytes)| (*at, &bytes[..]));
            if !catch_up(model, checkpoint, log, state, features, progress)? {
                return Ok(false);
            }
            model.caught_up(progress)?;
        }
        self.kept_at = kept_at;
        self.behind = false;
        // Where they cannot be written, elements are read at the next opening too.
        let _ = self.keep_outlines(state.last_event().unwrap_or(EventId(0)), features.cache);
        Ok(true)
    }

    /// Teaches models that have caught up with the state `before` what came after it: the events,
    /// and then what is no event, such as where files were found.
    ///
    /// # Errors
    /// As [`Model::learn`]; the models are behind then.
    pub(in crate::library) fn follow(
        &mut self,
        before: State,
        events: &[Event],
        now: &State,
        features: &FeatureStore<'_>,
        progress: &Progress,
    ) -> Result<()> {
        self.behind = true;
        let mut state = before;
        for event in events {
            let images = event.images();
            let before = state.part(&images);
            state.step(event);
            self.learn(&ModelUpdate { before: &before, after: &state, images: &images, features, progress })?;
        }
        let images: Vec<ItemId> =
            now.records().iter().filter(|image| state.image(image.id) != Some(*image)).map(|image| image.id).collect();
        if !images.is_empty() {
            self.learn(&ModelUpdate { before: &state, after: now, images: &images, features, progress })?;
        }
        self.behind = false;
        Ok(())
    }

    /// Teaches all of them a step.
    ///
    /// # Errors
    /// As [`Model::learn`]: some may have learned it and others not, so that they have to catch up.
    pub(in crate::library) fn learn(&mut self, update: &ModelUpdate<'_>) -> Result<()> {
        self.all_mut().into_iter().try_for_each(|model| model.learn(update))
    }

    /// Whether one of them lacks an event.
    pub(in crate::library) fn are_behind(&self) -> bool {
        self.behind
    }

    /// Notes that the log was rewritten, so that what they learned and their checkpoints do not
    /// count any more.
    pub(in crate::library) fn outdate(&mut self) {
        (self.behind, self.kept_at) = (true, None);
    }

    /// Writes checkpoints of all of them, unless they are behind.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub(in crate::library) fn keep(&mut self, state: &State, cache: &mut Cache) -> Result<()> {
        let Some(at) = state.last_event().filter(|_| !self.behind) else { return Ok(()) };
        for model in self.all() {
            cache.put_checkpoint(&model.name(), at, model.checkpoint(state))?;
        }
        self.keep_outlines(at, cache)?;
        self.kept_at = Some(at);
        Ok(())
    }

    /// Writes the outlines of the recogniser's images, if too few of them are kept.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub(in crate::library) fn keep_outlines(&mut self, at: EventId, cache: &Cache) -> Result<()> {
        let Some((name, outlines)) = self.recogniser.take_outlines() else { return Ok(()) };
        cache.put_checkpoint(&name, at, outlines.into_bytes())?;
        cache.drop_checkpoints(OUTLINES, KEPT_OUTLINES)
    }

    /// Whether there are checkpoints of this state.
    pub(in crate::library) fn are_kept(&self, state: &State) -> bool {
        self.kept_at == state.last_event()
    }

    /// Whether there were so many events since the last checkpoints that new ones are due.
    pub(in crate::library) fn are_due(&self, now: EventId) -> bool {
        self.kept_at.is_none_or(|at| now.0 >= at.0 + CHECKPOINT_EVERY)
    }
}

/// The events that models may have to learn: those after the earliest of their checkpoints, or all
/// where one of them has none.
pub(in crate::library) struct Log {
    from: EventId,
    events: Vec<Event>,
}

impl Log {
    /// What `models` need to catch up with `state`, the state after all events. O(events after the
    /// checkpoints).
    ///
    /// # Errors
    /// [`crate::Error::Data`] when the log is damaged, [`crate::Error::Io`].
    pub(in crate::library) fn of(models: &Models, store: &Store, cache: &Cache, state: &State) -> Result<Self> {
        let mut from = state.last_event().unwrap_or(EventId(0));
        for model in models.all() {
            let at = cache.checkpoint_event(&model.name())?;
            let is_usable = match at {
                Some(at) => Some(at) <= state.last_event() && store.has(at)?,
                None => false,
            };
            from = from.min(at.filter(|_| is_usable).unwrap_or(EventId(0)));
        }
        Ok(Self { from, events: store.events_after(from.0)? })
    }

    /// All events.
    ///
    /// # Errors
    /// As [`Log::of`].
    pub(in crate::library) fn whole(store: &Store) -> Result<Self> {
        Ok(Self { from: EventId(0), events: store.events_after(0)? })
    }

    /// Whether all events are there.
    fn is_whole(&self) -> bool {
        self.from == EventId(0)
    }

    fn has(&self, event: EventId) -> bool {
        event == self.from || self.events.binary_search_by_key(&event, |event| event.id).is_ok()
    }

    fn after(&self, event: EventId) -> &[Event] {
        &self.events[self.events.partition_point(|other| other.id <= event)..]
    }
}

fn catch_up(
    model: &mut dyn Model,
    checkpoint: Option<(EventId, &[u8])>,
    log: &Log,
    state: &State,
    features: &FeatureStore<'_>,
    progress: &Progress,
) -> Result<bool> {
    // A checkpoint after an event that is lost has learned what the log does not tell.
    let checkpoint = match checkpoint {
        Some((at, _)) if state.last_event() < Some(at) || !log.has(at) => None,
        found => found,
    };
    if let Some((at, bytes)) = checkpoint {
        let events = log.after(at);
        // The state at the checkpoint is today's with all later changes reversed.
        let mut then = state.clone();
        for event in events.iter().rev() {
            for change in event.changes.iter().rev() {
                then.apply(&change.clone().inverse());
            }
        }
        model.clear();
        let update = ModelUpdate { before: &State::default(), after: &then, images: &[], features, progress };
        if model.restore(bytes, &update)? {
            return replay(model, then, events, features, progress).map(|()| true);
        }
    }
    if !log.is_whole() {
        return Ok(false);
    }
    model.clear();
    replay(model, state.without_words(), &log.events, features, progress).map(|()| true)
}

fn replay(model: &mut dyn Model, mut state: State, events: &[Event], features: &FeatureStore<'_>, progress: &Progress) -> Result<()> {
    progress.begin("Learning what was done before", events.len() as u64);
    for event in events {
        progress.step()?;
        let images = event.images();
        let before = state.part(&images);
        state.step(event);
        model.learn(&ModelUpdate { before: &before, after: &state, images: &images, features, progress })?;
    }
    Ok(())
}
