//! Models that catch up with a library while it is in use.
//!
//! What the library holds is there as soon as it is opened: images, classes, captions, history. Its
//! models read more (texts, elements) and may take many times as long. They are taught on the side,
//! from the state of one moment; what was done meanwhile, which is on disk like any other act, they
//! learn at the end.

use std::sync::Arc;

use super::Library;
use super::cache::Cache;
use super::event::EventId;
use super::features::{Extraction, FeatureStore};
use super::models::{Log, Models};
use super::state::State;
use crate::ckm::CkmOptions;
use crate::error::{Error, Result};
use crate::picture::Decoder;
use crate::progress::Progress;

/// Models that catch up with a library.
pub struct CatchingUp {
    models: Models,
    log: Log,
    /// The state of the library when this was begun.
    state: State,
    cache: Cache,
    decoder: Arc<dyn Decoder>,
    options: CkmOptions,
    extraction: Extraction,
    in_memory: usize,
}

impl CatchingUp {
    /// Teaches the models; the library is not needed. O(images and their texts, and events since
    /// the last checkpoint).
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Data`] when the cache is damaged, which
    /// [`Library::end_catching_up`] mends; [`Error::Io`].
    pub fn learn(mut self, progress: &Progress) -> Result<Self> {
        let Self { models, log, state, cache, decoder, options, extraction, in_memory } = &mut self;
        let features = FeatureStore { cache, decoder, options, extraction, in_memory: *in_memory };
        models.catch_up(log, state, &features, progress)?;
        Ok(self)
    }
}

impl Library {
    /// Whether the models have learned everything. Until then answers that need them are those of
    /// models that know nothing, and whoever wants one waits.
    pub fn has_caught_up(&self) -> bool {
        !self.models.are_behind()
    }

    /// Begins to teach models that are behind, as they are in a library that was opened with
    /// [`super::LibraryOptions::later`]; `None` where they are not. Acts are possible meanwhile.
    /// O(events since the last checkpoint).
    ///
    /// # Errors
    /// [`Error::Data`] when the log is damaged, [`Error::Io`].
    pub fn begin_to_catch_up(&self) -> Result<Option<CatchingUp>> {
        if self.has_caught_up() {
            return Ok(None);
        }
        let models = Models::new(&self.options)?;
        let log = Log::of(&models, &self.store, &self.cache, &self.state)?;
        Ok(Some(CatchingUp {
            models,
            log,
            state: self.state.clone(),
            cache: Cache::beside(self.cache.path())?,
            decoder: Arc::clone(&self.decoder),
            options: self.options.clone(),
            extraction: self.extraction.clone(),
            in_memory: self.in_memory,
        }))
    }

    /// Takes over models that have caught up with an earlier state, and teaches them what came
    /// since. Where the cache was found to be damaged, it is begun anew and they learn everything
    /// here. O(images, and events since then).
    ///
    /// # Errors
    /// The error of `caught` but for damage of the cache; as [`CatchingUp::learn`]. The models are
    /// behind then.
    pub fn end_catching_up(&mut self, caught: Result<CatchingUp>, progress: &Progress) -> Result<()> {
        if self.has_caught_up() {
            return Ok(());
        }
        match caught {
            Ok(mut caught) if !caught.models.are_behind() && caught.options == self.options => {
                let since = self.store.events_after(caught.state.last_event().unwrap_or(EventId(0)).0)?;
                let Self { cache, state, decoder, options, extraction, in_memory, .. } = self;
                let features = FeatureStore { cache, decoder, options, extraction, in_memory: *in_memory };
                caught.models.follow(caught.state, &since, state, &features, progress)?;
                self.models = caught.models;
                self.read_sums();
                Ok(())
            }
            // A checkpoint could not be used, so all events are needed.
            Ok(_) => self.catch_up(progress),
            Err(Error::Data { path, .. }) if path == self.cache.path() => {
                self.renew_cache()?;
                self.catch_up(progress)
            }
            Err(error) => Err(error),
        }
    }
}
