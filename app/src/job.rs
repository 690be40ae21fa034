//! Jobs: work on a thread of its own, with progress, cancellation and one result.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use tessera_core::error::{contained, display};
use tessera_core::progress::{Progress, ProgressSnapshot};

/// What a job does. Jobs are distinguished by this, never by their words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Opens a library.
    Open,
    /// Teaches the models of a library that was opened.
    CatchUp,
    /// Imports this folder.
    Import(PathBuf),
    /// Imports all folders again.
    Rescan,
    /// Takes in one image with its label.
    TakeIn,
    /// Reads a file of captions and labels.
    ReadTable,
    /// Purges images for good.
    Forget,
    /// Records that an imported folder has moved.
    Relocate,
    /// Evaluates the recogniser on its own images.
    Judge,
    /// Recognises an image.
    Recognise,
    /// Looks at all images that the recogniser compares, once, before it can say how alike whole
    /// images are.
    CompareWholes,
    /// Recognises the images of a folder.
    RecogniseFolder,
    /// Saves the recogniser as a model.
    SaveModel,
    /// Loads a model.
    LoadModel,
    /// Tries a network, and keeps it.
    AddNetwork,
    /// Draws the explanation of an answer.
    DrawExplanation,
    /// Paints the collage of an answer.
    DrawCollage,
    /// Scores an answer without one more training image.
    LeaveOut,
    /// Finds what each training image does to answers.
    Harm,
    /// Moves files of removed images to the bin of the system.
    MoveToBin,
    /// Puts files back from the bin of the system.
    PutBack,
    /// Draws where an image and a copy of it differ.
    DrawDifference,
    /// Finds near copies.
    FindCopies,
    /// Lets the recogniser compare other training images.
    ChooseSearch,
    /// Learns the weights of the recogniser.
    LearnWeights,
    /// Fits how much kinds of elements and their places count.
    FitKinds,
    /// Turns learned features on or off, or chooses a network for words.
    ChooseLearnedFeatures,
    /// Looks with the network at images of a library that came without.
    LookWithNetwork,
    /// Looks at all images of a library with a network of the user's, and brings its vectors.
    BringVectors,
    /// Computes the appearance that hits are to resemble.
    FindLike,
    /// Prepares a query for images like it.
    FindSimilar,
    /// Makes the indexes that name images like one.
    GrowLooks,
    /// Compares kinds of indexes on the library's own images.
    ComparePartitions,
    /// Lays out the map of the collection.
    LayOutMap,
    /// Finds clusters of images.
    FindClusters,
    /// Gives new images clusters.
    AssignClusters,
    /// Reviews labels: finds those that may be wrong.
    Review,
    /// Works out what an import would take in.
    PlanImport,
    /// Previews an export into class folders.
    CountClassFolders,
    /// Exports something.
    Export,
    /// Makes a backup of the library.
    BackUp,
    /// Asks a cluster about a collection.
    AskCluster,
    /// Decodes the picture on display.
    Picture,
}

impl JobKind {
    /// Its name for the user.
    pub fn words(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Open => "Opening",
            Self::CatchUp => "Reading words and pieces",
            Self::Import(folder) => return Cow::Owned(format!("Import {}", display(folder))),
            Self::Rescan => "Import again",
            Self::TakeIn => "Taking in",
            Self::ReadTable => "Reading captions",
            Self::Forget => "Forgetting",
            Self::Relocate => "Relocating",
            Self::Judge => "Judging the recogniser",
            Self::Recognise => "Recognising",
            Self::CompareWholes => "Comparing whole images",
            Self::RecogniseFolder => "Recognising a folder",
            Self::SaveModel => "Saving the model",
            Self::LoadModel => "Loading the model",
            Self::AddNetwork => "Trying the network",
            Self::DrawExplanation => "Drawing the explanation",
            Self::DrawCollage => "Painting the collage",
            Self::LeaveOut => "Leaving an image out",
            Self::Harm => "Looking for images that mislead",
            Self::MoveToBin => "Moving files to the bin",
            Self::PutBack => "Putting files back from the bin",
            Self::DrawDifference => "Comparing two copies",
            Self::FindCopies => "Looking for copies",
            Self::ChooseSearch => "Preparing comparisons",
            Self::LearnWeights => "Learning weights",
            Self::FitKinds => "Choosing how much edges, colours and corners count",
            Self::ChooseLearnedFeatures => "Choosing learned features",
            Self::LookWithNetwork => "Looking at images with the network",
            Self::BringVectors => "Looking at images with a network of your own",
            Self::FindLike => "Preparing the search by look",
            Self::FindSimilar => "Looking for similar images",
            Self::GrowLooks => "Preparing look-alikes",
            Self::ComparePartitions => "Comparing kinds of indexes",
            Self::LayOutMap => "Laying out the map",
            Self::FindClusters => "Finding clusters",
            Self::AssignClusters => "Giving new images clusters",
            Self::Review => "Reviewing labels",
            Self::PlanImport => "Looking through the folder",
            Self::CountClassFolders => "Counting class folders",
            Self::Export => "Exporting",
            Self::BackUp => "Backing up",
            Self::AskCluster => "Asking the cluster",
            Self::Picture => "Picture",
        })
    }

    /// Whether a new job of this kind replaces one that is running. Otherwise the running one goes
    /// on, and the new one is not started.
    pub fn is_replaced(&self) -> bool {
        match self {
            Self::Open
            | Self::Recognise
            | Self::RecogniseFolder
            | Self::LoadModel
            | Self::DrawExplanation
            | Self::DrawCollage
            | Self::LeaveOut
            | Self::FindLike
            | Self::FindSimilar
            | Self::FindCopies
            | Self::DrawDifference
            | Self::LayOutMap
            | Self::FindClusters
            | Self::PlanImport
            | Self::CountClassFolders
            | Self::AskCluster
            | Self::Picture => true,
            Self::CatchUp
            | Self::CompareWholes
            | Self::Import(_)
            | Self::Rescan
            | Self::TakeIn
            | Self::ReadTable
            | Self::Forget
            | Self::MoveToBin
            | Self::PutBack
            | Self::Relocate
            | Self::Judge
            | Self::Harm
            | Self::ChooseSearch
            | Self::LearnWeights
            | Self::FitKinds
            | Self::ChooseLearnedFeatures
            | Self::LookWithNetwork
            | Self::BringVectors
            | Self::GrowLooks
            | Self::ComparePartitions
            | Self::SaveModel
            | Self::AddNetwork
            | Self::AssignClusters
            | Self::Review
            | Self::Export
            | Self::BackUp => false,
        }
    }

    /// Whether it brings images into a library.
    pub fn is_import(&self) -> bool {
        matches!(self, Self::Import(_) | Self::Rescan)
    }
}

/// A running job. Dropping it cancels it.
pub struct Job<T> {
    kind: JobKind,
    progress: Progress,
    started: Instant,
    outcome: Receiver<Result<T, String>>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts `work` with a progress of its own; `wake` is called when it has ended. A panic in it
    /// becomes an error of this job and affects nothing else.
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
            // The receiver is gone when the job was dropped.
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

    /// Its progress.
    pub fn snapshot(&self) -> ProgressSnapshot {
        self.progress.snapshot()
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long its stage has been running.
    pub fn stage_elapsed(&self) -> Duration {
        self.progress.stage_elapsed()
    }

    /// Cancels it; what was done until then stays.
    pub fn cancel(&self) {
        self.progress.cancel();
    }

    /// Lets it wait at its next step, or go on.
    pub fn pause(&self, is_paused: bool) {
        self.progress.pause(is_paused);
    }

    /// Whether it waits.
    pub fn is_paused(&self) -> bool {
        self.progress.is_paused()
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    /// Its result, once it has ended; returned once.
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

/// The message about a panic.
pub fn mistake(words: &str) -> String {
    format!("this ran into a mistake in the program ({words}); everything else goes on, and nothing that was saved is lost")
}
