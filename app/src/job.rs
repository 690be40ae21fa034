//! Work on a thread of its own: watched, cancelled, finished once.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use tessera_core::error::{contained, display};
use tessera_core::progress::{Progress, ProgressSnapshot};

/// What a job does. Jobs are told apart by this, never by its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Opens a library.
    Open,
    /// Imports this folder.
    Import(PathBuf),
    /// Looks at all imported folders again.
    Rescan,
    /// Reads a file of captions and labels.
    ReadTable,
    /// Purges images for good.
    Forget,
    /// Tells a library where a folder went.
    Relocate,
    /// Judges the recogniser on its own images.
    Judge,
    /// Recognises an image.
    Recognise,
    /// Saves the recogniser as a model.
    SaveModel,
    /// Loads a model.
    LoadModel,
    /// Draws the explanation of an answer.
    DrawExplanation,
    /// Finds out what hits are to look like.
    FindLike,
    /// Looks for labels that may be wrong.
    Review,
    /// Counts what an export into class folders would write.
    CountClassFolders,
    /// Writes something out.
    Export,
    /// Decodes the picture that is looked at.
    Picture,
}

impl JobKind {
    /// What it does, in words for the user.
    pub fn words(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Open => "Opening",
            Self::Import(folder) => return Cow::Owned(format!("Import {}", display(folder))),
            Self::Rescan => "Import again",
            Self::ReadTable => "Reading captions",
            Self::Forget => "Forgetting",
            Self::Relocate => "Relocating",
            Self::Judge => "Judging the recogniser",
            Self::Recognise => "Recognising",
            Self::SaveModel => "Saving the model",
            Self::LoadModel => "Loading the model",
            Self::DrawExplanation => "Drawing the explanation",
            Self::FindLike => "Looking for alike",
            Self::Review => "Reviewing labels",
            Self::CountClassFolders => "Counting",
            Self::Export => "Exporting",
            Self::Picture => "Picture",
        })
    }

    /// Whether a new job of this kind takes the place of one that is running. Otherwise the running
    /// one goes on, and the new one is not started.
    pub fn is_replaced(&self) -> bool {
        match self {
            Self::Open
            | Self::Recognise
            | Self::LoadModel
            | Self::DrawExplanation
            | Self::FindLike
            | Self::CountClassFolders
            | Self::Picture => true,
            Self::Import(_)
            | Self::Rescan
            | Self::ReadTable
            | Self::Forget
            | Self::Relocate
            | Self::Judge
            | Self::SaveModel
            | Self::Review
            | Self::Export => false,
        }
    }

    /// Whether it brings images into a library.
    pub fn is_import(&self) -> bool {
        matches!(self, Self::Import(_) | Self::Rescan)
    }
}

/// Work under way. Dropping it cancels it: nobody waits for it any more.
pub struct Job<T> {
    kind: JobKind,
    progress: Progress,
    started: Instant,
    outcome: Receiver<Result<T, String>>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts `work` with a progress of its own; `wake` is called when it has ended. A panic inside
    /// ends this job with a sentence, nothing else.
    pub fn spawn(
        kind: JobKind,
        progress: Progress,
        wake: impl FnOnce() + Send + 'static,
        work: impl FnOnce(&Progress) -> Result<T, String> + Send + 'static,
    ) -> Self {
        let (send, outcome) = mpsc::channel();
        let theirs = progress.clone();
        let run = move || {
            let result = contained(|| work(&theirs)).unwrap_or_else(|words| Err(mistake(&words)));
            // The receiver is gone when nobody waits.
            let _ = send.send(result);
            wake();
        };
        let started = Instant::now();
        if let Err(error) = thread::Builder::new().name(kind.words().into_owned()).spawn(run) {
            let (refused, outcome) = mpsc::channel();
            let _ = refused.send(Err(format!("the system gave no thread for this: {error}; close other programs and try again")));
            return Self { kind, progress, started, outcome };
        }
        Self { kind, progress, started, outcome }
    }

    /// What it does.
    pub fn kind(&self) -> &JobKind {
        &self.kind
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
