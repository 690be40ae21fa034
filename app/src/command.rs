//! Commands: everything that menus, keys, panels and tests can ask of an open library, as values.

use std::path::PathBuf;
use std::sync::Arc;

use image::RgbImage;
use serde::{Deserialize, Serialize};
use tessera_core::ckm::Search;
use tessera_core::ckm::presets::Subject;
use tessera_core::data::Labels;
use tessera_core::error::{display, display_name};
use tessera_core::ids::ItemId;
use tessera_core::library::bonds::Bond;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::clusters::ClusterAim;
use tessera_core::library::event::{Caption, EventId, UserLabel};
use tessera_core::library::fork::Side;
use tessera_core::library::import::ImportOptions;
use tessera_core::library::looks::Look;
use tessera_core::library::search::Engine;
use tessera_core::library::suggest::LabelOrder;
use tessera_core::plural::count;

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Command {
    /// Open whatever lies there: a library, a folder of images (whose library is made if need be),
    /// a model, or an image, which is recognised.
    Open(PathBuf),
    /// As [`Command::Open`], but a folder of images joins the library that is open.
    Add(PathBuf),
    /// As [`Command::AddPlanned`], but images like an image are found, as [`Command::Similar`]
    /// does.
    AddSimilar(PathBuf),
    /// As [`Command::Open`], but a folder without a library waits for the user to see what an
    /// import would take in.
    OpenPlanned(PathBuf),
    /// As [`Command::Add`], but with such a plan.
    AddPlanned(PathBuf),
    /// Open the built-in sample.
    OpenSample,
    /// Close the library.
    Close,
    /// Import a folder of images.
    Import {
        /// The folder.
        folder: PathBuf,
        /// Where labels are read from.
        labels: Labels,
        /// Patterns of what is left out.
        exclude: Vec<String>,
        /// A file of captions or labels that is read afterwards.
        table: Option<PathBuf>,
    },
    /// Import a folder again with the options that it was imported with.
    ImportAgain(PathBuf),
    /// Work out what an import of a folder would take in, with these options or those that it was
    /// imported with before; the import then waits for the user.
    PlanImport(PathBuf, Option<ImportOptions>),
    /// Give up the import that waits.
    GiveUpImport,
    /// Start the import that waits, and read this file of captions or labels afterwards.
    ImportPlanned(Option<PathBuf>),
    /// Import all folders again.
    Rescan,
    /// Read captions and labels from a file.
    ReadTable(PathBuf),
    /// Take an image file in where it lies, and label it.
    TakeIn(PathBuf, String),
    /// Save the pasted picture that was recognised as a PNG file there, take it in and label it.
    KeepPicture(PathBuf, String),
    /// Label images.
    Label(Vec<ItemId>, UserLabel),
    /// Replace the captions of an image.
    Caption(ItemId, Vec<Caption>),
    /// Hide images and their influence.
    Remove(Vec<ItemId>),
    /// Hide images in whose place others stay, which take over captions and classes.
    Clear(Vec<Clearance>),
    /// As [`Command::Clear`], and move their files to the bin of the system, as long as those that
    /// are kept in their place are there.
    RemoveToBin(Vec<Clearance>),
    /// Move files to the bin of the system, each one of several files of its image.
    FilesToBin(Arc<Vec<(ItemId, PathBuf)>>),
    /// Bring removed images back.
    Restore(Vec<ItemId>),
    /// Purge images for good.
    Forget(Vec<ItemId>),
    /// Create a class.
    NewClass(String),
    /// Rename a class, or join it with another.
    RenameClass(String, String),
    /// Choose a class's colour.
    RecolourClass(String, Option<[u8; 3]>),
    /// Delete a class.
    DeleteClass(String),
    /// Undo the last act.
    Undo,
    /// Undo the last act; where that takes several images out of the library, it is asked first.
    UndoByKey,
    /// Undo the act with this identifier, if it is still the last one.
    UndoAct(EventId),
    /// Redo the act that was undone last.
    Redo,
    /// Record that an imported folder has moved: where it was, where it is.
    Relocate(PathBuf, PathBuf),
    /// Find images by words.
    Search(String),
    /// Search by visual similarity to an image, or to a part of it, besides by words; `None` ends
    /// that.
    SearchByImage(Option<(ImageQuery, Option<Crop>)>),
    /// Choose the vectors by which images that a search finds are to resemble one; `None` chooses
    /// the usual ones.
    SearchLikeBy(Option<Look>),
    /// Find the images of the library that are most like an image, or like a part of it.
    Similar(ImageQuery, Option<Crop>),
    /// Find those most like another part of the same image, or like all of it.
    SimilarPart(Option<Crop>),
    /// Go back to the image whose similar images were found before.
    SimilarBack,
    /// Choose the vectors by which images are similar; `None` chooses the usual ones.
    SimilarBy(Option<Look>),
    /// Set the recall that an index of these vectors is to have, 0 to 1; with 1 all images are
    /// compared.
    SimilarRecall(f64),
    /// Compares kinds of indexes on the vectors by which images are alike.
    ComparePartitions,
    /// Find more similar images.
    MoreSimilar,
    /// Lay out the map of the collection anew, by these vectors or by the usual ones.
    LayOutMap(Option<Look>),
    /// Go on with the layout of the map where it was stopped.
    GoOnWithMap,
    /// Find clusters of images, or go on finding them.
    FindClusters(ClusterAim),
    /// Make clusters, by their numbers, one.
    MergeClusters(Vec<usize>),
    /// Make one cluster, by its number, two, and find clusters from there.
    SplitCluster(usize),
    /// Say that images belong together, or that no two of them do, and find clusters from there.
    SayBond(Vec<ItemId>, Bond),
    /// Drop all that was said of pairs of images, and find clusters from there.
    DropBonds,
    /// Search among these images only; `None` searches among all.
    Narrow(Option<Arc<Vec<ItemId>>>),
    /// Give these images of the answer to the search in full: caption, words, reasons.
    HitsInFull(Vec<ItemId>),
    /// Explain why the search found an image.
    Why(ItemId),
    /// Put the answer to the search in order anew, the best first.
    SortHits,
    /// Choose the engine that answers searches.
    SearchBy(Engine),
    /// Reward an image as an answer to a query, in -1..=1; `None` takes the reward back.
    Reward(String, ItemId, Option<f64>),
    /// Take back the rewards of all answers to a query.
    TakeRewardsBack(String),
    /// Fill the labelling queue with these images, or with all that have no class, in an order.
    LabelFrom(Option<Arc<Vec<ItemId>>>, LabelOrder),
    /// Label images of the queue; it took so many key presses.
    LabelNext(Vec<ItemId>, String, usize),
    /// Reject a class for an image of the queue.
    Reject(ItemId, String),
    /// Reject all classes for an image of the queue, which leaves it until there is a new class.
    RejectAll(ItemId),
    /// Take such a rejection back.
    AllowAgain(ItemId, String),
    /// Reject a guessed word for images.
    RejectGuess(Vec<ItemId>, String),
    /// Move an image to the end of the queue.
    Skip(ItemId),
    /// Move an image to the head of the queue.
    TakeUp(ItemId),
    /// Undo the last label or rejection given to the queue, and go back to its image.
    GoBack,
    /// Review labels: find those that may be wrong.
    Review,
    /// Confirm the label of an image, and reject these classes for it.
    Confirm(ItemId, Vec<String>),
    /// Evaluate the recogniser on its own training images, each with its object left out.
    Evaluate,
    /// Find what each training image does to the answers about images of other objects.
    FindHarm,
    /// Find near copies in the whole library, up to this distance.
    FindCopies(f64),
    /// Draw where an image and a copy of it differ.
    DrawDifference(ItemId, ItemId),
    /// Say that two images are no copies of each other.
    NotCopies(ItemId, ItemId),
    /// Choose which training images the library's recogniser compares.
    ChooseSearch(SearchChoice),
    /// Chooses the weights of the library's recogniser; learned ones are learned if there are none.
    ChooseWeights(WeightChoice),
    /// Chooses how much kinds of elements and their places count; it is fitted if it was not yet.
    ChooseKinds(KindChoice),
    /// Say what is in the images of the library: the preset that kinds begin with; what is fitted
    /// is fitted from there if it was not yet.
    ChooseSubject(Subject),
    /// Let kinds count as they did before the last change of that.
    KindsBack,
    /// Turn learned features on or off, for all answers of the library.
    UseLearnedFeatures(bool),
    /// Let words find images of the library by the pair of encoders of this name, or by none.
    UseWordsNetwork(Option<String>),
    /// Recognise an image.
    Recognise(ImageQuery),
    /// Recognise all images of a folder.
    RecogniseFolder(PathBuf),
    /// Drop the answers about the images of a folder.
    CloseRecognisedFolder,
    /// Write the answers about the images of a folder as a table; this share of the images of the
    /// classes is to be answered.
    SaveAnswers(PathBuf, Option<f64>),
    /// Paint the best virtual instance of the recognised image as a collage.
    DrawCollage,
    /// Score the recognised image without one more training image.
    LeaveOut(ItemId),
    /// Recognise with the library's own recogniser again, not with a model that was loaded.
    UseLibrary,
    /// Save the recogniser as a model folder, or as one file when the name ends in
    /// `.tessera-model`.
    SaveModel(PathBuf),
    /// Load a model and recognise with it.
    LoadModel(PathBuf),
    /// Delete a saved model of this library.
    DeleteModel(PathBuf),
    /// Ask a cluster about the collection on show.
    AskCluster(RemoteCluster, RemoteQuestion),
    /// Try the network in a file or a folder, and keep it under a name, or else under that of the
    /// file.
    AddNetwork(PathBuf, Option<String>),
    /// Look at all images of the library with the network of this name, and bring its vectors.
    BringVectorsBy(String),
    /// Remove a network that the user brought.
    RemoveNetwork(String),
    /// Export something to a file or a folder.
    Export(Export, PathBuf),
    /// Preview an export into class folders that is to be written there; `None` drops the preview.
    PreviewExport(Option<PathBuf>),
    /// Write the explanation on show as a PNG file.
    ExportPicture(PathBuf),
    /// Write something in place of what is there.
    Replace(Written, PathBuf),
    /// Check the library.
    Check,
    /// Make a backup of the library in this folder, or bring the one there up to date.
    BackUp(PathBuf),
    /// Take a snapshot of the library's database.
    TakeSnapshot,
    /// Put a snapshot in the place of the database.
    RestoreSnapshot(PathBuf),
    /// Write the list of what was not taken in to a file.
    SaveReport(PathBuf),
    /// Try again to import files that brought their decoder down.
    RetrySkipped,
    /// Repair a damaged library from its snapshots and its journal.
    Repair(PathBuf),
    /// Go on with one of the two histories of the library in this folder, and save the other.
    KeepHistory(PathBuf, Side),
    /// Read what a backup holds, to be asked where to restore it.
    LookAtBackup(PathBuf),
    /// Put a backup in a library's place.
    RestoreBackup(Restoration),
    /// Read the health of the library: its folders, skipped files, snapshots and sizes.
    LookAtHealth,
    /// List the entries of a folder.
    ListFolder(PathBuf),
    /// Stop a job.
    Cancel(JobId),
    /// Puts off a job that the program does by itself, or lets it go on.
    PutOff(JobId, bool),
    /// Show a file in the system's file manager.
    Reveal(PathBuf),
}

/// A backup that is to be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restoration {
    /// The folder of the backup.
    pub from: PathBuf,
    /// The folder of the library: a new name, or one whose place it takes.
    pub to: PathBuf,
    /// Whether it may take the place of a library with another history.
    pub other_history: bool,
}

/// A job's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// Where questions are answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteCluster {
    /// The address of a Dask scheduler; empty asks in the process itself, on this machine.
    pub scheduler: String,
    /// The Python interpreter that has the package; empty is `python3`.
    pub python: String,
}

/// A question to a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteQuestion {
    /// What an image file shows.
    Recognise(PathBuf),
    /// Which images are most like an image file.
    Similar(PathBuf),
    /// Which images words are about.
    Search(String),
    /// How often images are recognised rightly, each without its object.
    Evaluate,
}

/// An image to be recognised.
#[derive(Clone, Debug)]
pub enum ImageQuery {
    /// A file.
    File(PathBuf),
    /// An image of the library, by the recogniser without it and its object.
    Item(ItemId),
    /// Pixels from elsewhere, such as the clipboard.
    Pixels(Arc<RgbImage>),
}

impl ImageQuery {
    /// Whether both ask for the same image. Pixels are the same where they are in memory once.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one == other,
            (Self::Item(one), Self::Item(other)) => one == other,
            (Self::Pixels(one), Self::Pixels(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// A part of a picture: x and y of its top left corner, width and height, in the picture's own
/// pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop(pub [u32; 4]);

impl Crop {
    /// All of a picture of any size, compared as a part of others is.
    pub const ALL: Self = Self([0, 0, u32::MAX, u32::MAX]);

    /// This part of a picture of this size.
    pub fn of(self, (width, height): (u32, u32)) -> Self {
        if self == Self::ALL { Self([0, 0, width, height]) } else { self }
    }
}

/// Something that is written to a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// An export.
    Export(Export),
    /// The recogniser as a model.
    Model,
    /// The explanation on show.
    Explanation,
    /// The pasted picture that was recognised, which is then taken in.
    Picture,
    /// The answers about the images of a folder.
    Answers,
}

/// What is exported, and in which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    /// Labels.
    Labels(ExportFormat),
    /// Captions.
    Captions(ExportFormat),
    /// The recogniser's prediction for every image, each with its object left out.
    Predictions(ExportFormat),
    /// The log of events, as JSON lines.
    Events,
}

impl Command {
    /// Whether it needs models that have learned everything in the open library. Acts do not, and
    /// neither does what is done to files or to what is on display.
    pub fn needs_models(&self) -> bool {
        !matches!(
            self,
            Self::Open(_)
                | Self::Add(_)
                | Self::AddSimilar(_)
                | Self::OpenPlanned(_)
                | Self::AddPlanned(_)
                | Self::OpenSample
                | Self::Close
                | Self::RestoreSnapshot(_)
                | Self::Repair(_)
                | Self::KeepHistory(..)
                | Self::LookAtBackup(_)
                | Self::RestoreBackup(_)
                | Self::GiveUpImport
                | Self::SaveReport(_)
                | Self::CloseRecognisedFolder
                | Self::SaveAnswers(..)
                | Self::Label(..)
                | Self::Caption(..)
                | Self::Remove(_)
                | Self::Clear(_)
                | Self::RemoveToBin(_)
                | Self::FilesToBin(_)
                | Self::Restore(_)
                | Self::NewClass(_)
                | Self::RenameClass(..)
                | Self::RecolourClass(..)
                | Self::DeleteClass(_)
                | Self::AllowAgain(..)
                | Self::Undo
                | Self::UndoByKey
                | Self::UndoAct(_)
                | Self::Redo
                | Self::LabelFrom(..)
                | Self::LabelNext(..)
                | Self::Reject(..)
                | Self::RejectAll(_)
                | Self::Skip(_)
                | Self::TakeUp(_)
                | Self::GoBack
                | Self::Check
                | Self::BackUp(_)
                | Self::AskCluster(..)
                | Self::LookAtHealth
                | Self::ListFolder(_)
                | Self::Reveal(_)
                | Self::Cancel(_)
                | Self::PutOff(..)
        )
    }

    /// Whether a later command of its kind takes its place where it has to wait.
    pub fn is_replaced(&self) -> bool {
        matches!(
            self,
            Self::Search(_)
                | Self::SearchBy(_)
                | Self::SortHits
                | Self::SearchByImage(_)
                | Self::SearchLikeBy(_)
                | Self::Narrow(_)
                | Self::HitsInFull(_)
                | Self::Why(_)
                | Self::Similar(..)
                | Self::Recognise(_)
        )
    }

    /// What is not done if it waits and is then dropped, in words; `None` for what is asked again
    /// easily, or comes again by itself when the library is next opened.
    pub fn if_dropped(&self) -> Option<String> {
        Some(match self {
            Self::ImportAgain(_) | Self::PlanImport(..) => return None,
            replaced if replaced.is_replaced() => return None,
            Self::Forget(images) => format!("Forgetting {}", count(images.len(), "image")),
            Self::TakeIn(file, _) | Self::KeepPicture(file, _) => format!("Taking in {}", display_name(file)),
            Self::RecogniseFolder(folder) => format!("Recognising {}", display(folder)),
            Self::Import { folder, .. } => format!("Importing {}", display(folder)),
            Self::ImportPlanned(_) => "Importing the folder that was shown".into(),
            Self::Rescan | Self::RetrySkipped => "Looking for changes in all folders".into(),
            Self::Relocate(_, to) => format!("Relocating to {}", display(to)),
            Self::ReadTable(file) => format!("Reading {}", display_name(file)),
            Self::Export(_, to) => format!("Exporting to {}", display(to)),
            Self::SaveModel(to) => format!("Saving the model {}", display_name(to)),
            _ => "Something else that was asked for".into(),
        })
    }
}

impl Export {
    /// The noun for one exported thing.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Labels(format) if format.is_images() => "image",
            Self::Labels(_) => "label",
            Self::Captions(_) => "captioned image",
            Self::Predictions(_) => "prediction",
            Self::Events => "event",
        }
    }

    /// Whether it writes a folder of images for each class.
    pub fn is_sorted(self) -> bool {
        matches!(self, Self::Labels(ExportFormat::ClassFolders | ExportFormat::ClassLinks))
    }

    /// Whether it writes a folder, not a file.
    pub fn is_folder(self) -> bool {
        matches!(self, Self::Labels(format) if format.is_images()) || self == Self::Captions(ExportFormat::Sidecar)
    }
}

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON object a line.
    JsonLines,
    /// COCO JSON.
    Coco,
    /// `image.jpg#0<tab>caption`.
    Flickr8k,
    /// A `.txt` file for each image.
    Sidecar,
    /// Copies of the images in a folder for each class.
    ClassFolders,
    /// Links to the images in a folder for each class.
    ClassLinks,
    /// Copies of the images under NORB-style names.
    NorbNames,
}

impl ExportFormat {
    /// Whether the images themselves are exported.
    pub fn is_images(self) -> bool {
        matches!(self, Self::ClassFolders | Self::ClassLinks | Self::NorbNames)
    }
}

/// The weights of the elements of training images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WeightChoice {
    /// All the same.
    #[default]
    Uniform,
    /// Learned from training images scored without their objects.
    Learned,
}

impl WeightChoice {
    /// Both choices.
    pub const ALL: [Self; 2] = [Self::Uniform, Self::Learned];

    /// Its name, and what it means in a sentence.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Uniform => ("All alike", "Each piece of a labelled image counts as much as any other"),
            Self::Learned => {
                ("As learned", "Pieces that also look like images of other classes count less; learned when you first choose it, and kept")
            }
        }
    }
}

/// How much kinds of elements and their places count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KindChoice {
    /// As the preset says.
    Preset,
    /// Weights as is best on the user's own images, each judged without its object.
    #[default]
    Fitted,
    /// Weights and places as is best on them.
    Places,
}

impl KindChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Preset, Self::Fitted, Self::Places];

    /// Its name, and what it means in a sentence.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Preset => ("As usual", "As is usual for what the images show"),
            Self::Fitted => {
                ("Fitted", "As recognises the labelled images of this library best, each compared with images of other objects alone")
            }
            Self::Places => {
                ("Fitted with places", "Also finds how much it matters where in the image a piece lies; takes six times as long")
            }
        }
    }

    /// Whether kernels are fitted, and if so whether with places.
    pub fn fit(self) -> Option<bool> {
        match self {
            Self::Preset => None,
            Self::Fitted => Some(false),
            Self::Places => Some(true),
        }
    }
}

/// The name of a subject, and what it means in a sentence.
pub fn subject_words(subject: Subject) -> (&'static str, &'static str) {
    match subject {
        Subject::Object => ("Single objects", "Each image shows one thing, upright and in the middle"),
        Subject::Scene => ("Scenes", "Things lie anywhere in the image: where a piece lies matters half as much"),
        Subject::Texture => {
            ("Surfaces", "Materials and patterns, alike all over: where a piece lies does not matter, corners and colours matter more")
        }
    }
}

/// Which training images are compared with an image to be recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchChoice {
    /// All of a small library, a shortlist of a large one.
    #[default]
    Automatic,
    /// All.
    Exact,
    /// Of each class those most like the image as a whole.
    Shortlist,
    /// Of each class the pieces that an index finds near each piece of the image.
    Index,
}

impl SearchChoice {
    /// All choices.
    pub const ALL: [Self; 4] = [Self::Automatic, Self::Exact, Self::Shortlist, Self::Index];

    /// Its name, and what it means in a sentence.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Automatic => ("Automatic", "All labelled images of a small library, the most similar images of a large one"),
            Self::Exact => ("All images", "Every labelled image: nothing is missed, but it is slower the more there are"),
            Self::Shortlist => (
                "Similar images",
                "The 32 labelled images of each class that look most like it as a whole: the fastest, for single things in the middle",
            ),
            Self::Index => (
                "Similar pieces",
                "For each piece of it the pieces of labelled images that are most like it: for things that lie anywhere in the image; takes room on the disk, and some time when the library is opened",
            ),
        }
    }

    /// What is compared; `None` leaves it to the number of training images.
    pub fn search(self) -> Option<Search> {
        match self {
            Self::Automatic => None,
            Self::Exact => Some(Search::Exact),
            Self::Shortlist => Some(Search::SHORTLIST),
            Self::Index => Some(Search::INDEX),
        }
    }
}
