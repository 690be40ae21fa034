//! Everything that can be asked of an open library, as values: menus, keys, panels and tests all send these.

use std::path::PathBuf;
use std::sync::Arc;

use image::RgbImage;
use tessera_core::data::Labels;
use tessera_core::ids::ItemId;
use tessera_core::library::event::{Caption, UserLabel};
use tessera_core::library::suggest::LabelOrder;

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Command {
    /// Open whatever lies there: a library, a folder of images (whose library is made if need be), a model, or an image,
    /// which is recognised.
    Open(PathBuf),
    /// As [`Command::Open`], but a folder of images joins the library that is open.
    Add(PathBuf),
    /// Open the built-in sample.
    OpenSample,
    /// Close the library.
    Close,
    /// Import a folder of images.
    Import {
        /// The folder.
        folder: PathBuf,
        /// Where labels are looked for.
        labels: Labels,
        /// Patterns of what is left out.
        exclude: Vec<String>,
        /// A file of captions or labels that is read afterwards.
        table: Option<PathBuf>,
    },
    /// Look at all imported folders again.
    Rescan,
    /// Read captions and labels from a file.
    ReadTable(PathBuf),
    /// Say what class images are of.
    Label(Vec<ItemId>, UserLabel),
    /// Replace the captions of an image.
    Caption(ItemId, Vec<Caption>),
    /// Hide images and their influence.
    Remove(Vec<ItemId>),
    /// Bring removed images back.
    Restore(Vec<ItemId>),
    /// Purge images for good.
    Forget(Vec<ItemId>),
    /// Make a class.
    NewClass(String),
    /// Rename a class, or join it with another.
    RenameClass(String, String),
    /// Choose a class's colour.
    RecolourClass(String, Option<[u8; 3]>),
    /// Take a class away.
    DeleteClass(String),
    /// Take back the last act.
    Undo,
    /// Do it again.
    Redo,
    /// Say where a folder went.
    Relocate(PathBuf, PathBuf),
    /// Find images by words.
    Search(String),
    /// Find images that look like one, or like a part of it, besides; nothing ends that.
    Like(Option<(ImageQuery, Option<Crop>)>),
    /// Find images among these alone; nothing ends that.
    Narrow(Option<Arc<Vec<ItemId>>>),
    /// Say why the search found an image.
    Why(ItemId),
    /// Say who answers searches.
    SearchBy(Engine),
    /// Say how well an image answers a query, -1..=1; nothing takes back what was said.
    Reward(String, ItemId, Option<f64>),
    /// Begin labelling these images, or all that have no class, in an order.
    LabelFrom(Option<Arc<Vec<ItemId>>>, LabelOrder),
    /// Say at the labelling desk what class images are of, which took so many keys.
    Give(Vec<ItemId>, String, usize),
    /// Say there that an image is not of a class.
    Refuse(ItemId, String),
    /// Take that back.
    Allow(ItemId, String),
    /// Come back to an image after all others.
    Skip(ItemId),
    /// Take an image up next there.
    TakeUp(ItemId),
    /// Take back what was said last at the labelling desk, and go back to its image.
    GoBack,
    /// Look for labels that may be wrong.
    Review,
    /// Say that the label of an image is right, and that it is of none of these classes.
    Confirm(ItemId, Vec<String>),
    /// Judge the recogniser on its own images.
    Train,
    /// Recognise an image.
    Recognise(ImageQuery),
    /// Recognise with the library's own recogniser again, not with a model that was loaded.
    UseLibrary,
    /// Save the recogniser as a model folder, or as one file when the name ends in `.tessera-model`.
    SaveModel(PathBuf),
    /// Load a model and recognise with it.
    LoadModel(PathBuf),
    /// Delete a saved model of this library.
    DeleteModel(PathBuf),
    /// Write something out.
    Export(Export, PathBuf),
    /// Say what an export into class folders would write; `None` forgets it.
    Plan(Option<PathBuf>),
    /// Write the explanation on show as a PNG file.
    ExportPicture(PathBuf),
    /// Check the library.
    Check,
    /// Copy the library's database.
    TakeSnapshot,
    /// Put a copy in its place.
    RestoreSnapshot(PathBuf),
    /// Look again at files that could not be taken in.
    RetrySkipped,
    /// Make a damaged library again from its copies.
    Repair(PathBuf),
    /// Look how the library is.
    LookAtHealth,
    /// List what is in a folder.
    ListFolder(PathBuf),
    /// Stop a job.
    Cancel(JobId),
    /// Show a file in the system's file manager.
    Reveal(PathBuf),
}

/// Who answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The caption memory, which learns from what is said of its answers.
    #[default]
    Memory,
    /// The exact index of words, which learns nothing.
    Index,
}

/// A job's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

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

/// A part of a picture: x and y of its top left corner, width and height, in the picture's own pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop(pub [u32; 4]);

/// What is written out, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    /// Labels.
    Labels(ExportFormat),
    /// Captions.
    Captions(ExportFormat),
    /// What the recogniser says of every image, each judged without its object.
    Predictions(ExportFormat),
    /// The log of events, as JSON lines.
    Events,
}

impl Export {
    /// What is written out, one of it.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Labels(format) if format.is_images() => "image",
            Self::Labels(_) => "label",
            Self::Captions(_) => "captioned image",
            Self::Predictions(_) => "prediction",
            Self::Events => "event",
        }
    }

    /// Whether it is of images in a folder for each class.
    pub fn is_sorted(self) -> bool {
        matches!(self, Self::Labels(ExportFormat::ClassFolders | ExportFormat::ClassLinks))
    }

    /// Whether it fills a folder.
    pub fn is_folder(self) -> bool {
        matches!(self, Self::Labels(format) if format.is_images()) || self == Self::Captions(ExportFormat::Sidecar)
    }
}

/// The form of an export.
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
    /// Whether it is of images themselves.
    pub fn is_images(self) -> bool {
        matches!(self, Self::ClassFolders | Self::ClassLinks | Self::NorbNames)
    }
}
