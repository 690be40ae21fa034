//! Work on a thread of its own: watched, cancelled, finished once.

use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use tessera_core::error::contained;
use tessera_core::progress::{Progress, ProgressSnapshot};

/// Work under way. Dropping it cancels it: nobody waits for it any more.
pub struct Job<T> {
    name: String,
    progress: Progress,
    started: Instant,
    outcome: Receiver<Result<T, String>>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts `work` with a progress of its own; `wake` is called when it has ended. A panic inside ends this job with a
    /// sentence, nothing else.
    pub fn spawn(
        name: impl Into<String>,
        progress: Progress,
        wake: impl FnOnce() + Send + 'static,
        work: impl FnOnce(&Progress) -> Result<T, String> + Send + 'static,
    ) -> Self {
        let (send, outcome) = mpsc::channel();
        let theirs = progress.clone();
        let name = name.into();
        let run = move || {
            let result = contained(|| work(&theirs)).unwrap_or_else(|words| Err(mistake(&words)));
            // The receiver is gone when nobody waits.
            let _ = send.send(result);
            wake();
        };
        if let Err(error) = thread::Builder::new().name(name.clone()).spawn(run) {
            let (refused, outcome) = mpsc::channel();
            let _ = refused.send(Err(format!("the system gave no thread for this: {error}; close other programs and try again")));
            return Self { name, progress, started: Instant::now(), outcome };
        }
        Self { name, progress, started: Instant::now(), outcome }
    }

    /// What it does, in words.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How far it is.
    pub fn snapshot(&self) -> ProgressSnapshot {
        self.progress.snapshot()
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Asks it to stop; what was done till then stays.
    pub fn cancel(&self) {
        self.progress.cancel();
    }

    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    /// Its outcome, once.
    pub fn poll(&self) -> Option<Result<T, String>> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err("it ended without a word".into())),
        }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

/// What to tell of a panic.
pub fn mistake(words: &str) -> String {
    format!("this ran into a mistake in the program ({words}); everything else goes on, and nothing that was saved is lost")
}
