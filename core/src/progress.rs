//! One handle that reports progress and carries cancellation.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Reports progress and carries cancellation. Clones share one state: the worker counts steps,
/// anyone may read the progress or cancel.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Shared>);

/// Time between looks whether work that is paused may go on.
const PAUSE: Duration = Duration::from_millis(10);

type Watcher = dyn Fn(ProgressSnapshot) + Send + Sync;

#[derive(Default)]
struct Shared {
    /// The stage's name, its number of steps and when it began. `done` goes back to 0 only while
    /// this is held.
    stage: Mutex<(&'static str, u64, Option<Instant>)>,
    done: AtomicU64,
    cancelled: AtomicBool,
    paused: AtomicBool,
    watcher: Option<Arc<Watcher>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("stage", &self.stage).field("done", &self.done).field("cancelled", &self.cancelled).finish()
    }
}

/// The progress at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressSnapshot {
    /// What is being done, in words for people.
    pub stage: &'static str,
    /// Steps done.
    pub done: u64,
    /// Steps in all; 0 when that is not known.
    pub total: u64,
}

impl Progress {
    /// A handle that calls `watcher` at every stage and step, on the thread that does the work.
    pub fn watched(watcher: impl Fn(ProgressSnapshot) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared { watcher: Some(Arc::new(watcher)), ..Shared::default() }))
    }

    /// A new handle, for other work, with the same watcher.
    pub fn another(&self) -> Self {
        Self(Arc::new(Shared { watcher: self.0.watcher.clone(), ..Shared::default() }))
    }

    /// Starts a stage of `total` steps (0: not known).
    pub fn begin(&self, stage: &'static str, total: u64) {
        let mut current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        *current = (stage, total, Some(Instant::now()));
        self.0.done.store(0, Ordering::Relaxed);
        drop(current);
        self.tell();
    }

    /// Counts one step, once the work is not paused any more.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once the work was cancelled; the step then does not count.
    pub fn step(&self) -> Result<()> {
        self.steps(1)
    }

    /// Counts so many steps at once; with 0 it only tells whether to go on.
    ///
    /// # Errors
    /// As [`Progress::step`].
    pub fn steps(&self, count: u64) -> Result<()> {
        while self.is_paused() && !self.is_cancelled() {
            std::thread::sleep(PAUSE);
        }
        if self.is_cancelled() {
            return Err(Error::Cancelled);
        }
        self.0.done.fetch_add(count, Ordering::Relaxed);
        if count > 0 {
            self.tell();
        }
        Ok(())
    }

    fn tell(&self) {
        if let Some(watcher) = &self.0.watcher {
            watcher(self.snapshot());
        }
    }

    /// Pauses the work, which waits at its next step, or lets it go on. Only work that holds
    /// nothing others wait for may be paused.
    pub fn pause(&self, is_paused: bool) {
        self.0.paused.store(is_paused, Ordering::Relaxed);
    }

    /// Whether the work is paused.
    pub fn is_paused(&self) -> bool {
        self.0.paused.load(Ordering::Relaxed)
    }

    /// Cancels the work: its next step fails.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// The time since the stage began; none before the first.
    pub fn stage_elapsed(&self) -> Duration {
        let current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        current.2.map_or(Duration::ZERO, |begun| begun.elapsed())
    }

    /// The progress now.
    pub fn snapshot(&self) -> ProgressSnapshot {
        let current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let (stage, total, _) = *current;
        ProgressSnapshot { stage, done: self.0.done.load(Ordering::Relaxed), total }
    }
}
