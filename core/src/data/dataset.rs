//! Labelled pictures, and a report of how they were read.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::norb::NorbSet;
use super::shot::{Camera, Meta};
use crate::error::{self, Result};
use crate::ids::ClassId;
use crate::picture::{Decoder, Picture};
pub(super) use crate::plural::count;
use crate::progress::Progress;

/// The one class of a set that was opened with [`Labels::None`].
pub const UNLABELLED: &str = "unlabelled";

/// Labelled pictures. The same files give the same set, in the same order, on every machine.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What was opened: a folder, or a NORB `-dat.mat` file.
    pub root: PathBuf,
    /// The names of the classes, sorted; a [`ClassId`] is a position here.
    pub classes: Vec<String>,
    /// The pictures, sorted by path or by frame.
    pub items: Vec<Item>,
    /// How classes and objects were read from the files.
    pub layout: Layout,
    /// What was left out and why, sorted by path.
    pub skipped: Vec<Skipped>,
    /// Pictures that were left out because they are masks of others, sorted by path.
    pub masks: Vec<Mask>,
    /// Files beside the pictures that are none by their ending, such as texts and tables; sorted.
    pub others: Vec<PathBuf>,
}

/// A picture that is a mask or a map of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// Where it lies.
    pub path: PathBuf,
    /// The picture that it belongs to.
    pub of: PathBuf,
}

/// One picture and what is known about it.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where its pixels are.
    pub source: ImageSource,
    /// Its class.
    pub class: ClassId,
    /// The object it shows, such as `truck/07`: all views of one object share it. `None` when that
    /// is not known.
    pub group: Option<String>,
    /// The circumstances of the shot.
    pub meta: Meta,
}

/// The source of a picture's pixels.
#[derive(Clone, Debug)]
pub enum ImageSource {
    /// In an image file.
    File(PathBuf),
    /// In a NORB set.
    Frame {
        /// The set, shared by all its items.
        set: Arc<NorbSet>,
        /// The frame: twice the number of its pair, plus 1 for the right camera.
        index: u32,
    },
}

/// Where labels are looked for in a folder of images; a NORB file has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// In folders or in names of files, whichever fits the files.
    #[default]
    Auto,
    /// In the names of folders of one level; a folder inside one of these is a single object.
    ClassFolders,
    /// In the paths of folders: `birds/wren` is a class, and no folder is an object.
    FolderPaths,
    /// In the names of files.
    NorbNames,
    /// Nowhere: all pictures are of [`OpenOptions::one_class`], or else of the folder's name.
    WholeFolder,
    /// Nowhere: every picture is [`UNLABELLED`].
    None,
}

impl Labels {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Auto, Self::ClassFolders, Self::FolderPaths, Self::NorbNames, Self::WholeFolder, Self::None];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ClassFolders => "class-folders",
            Self::FolderPaths => "folder-paths",
            Self::NorbNames => "norb-names",
            Self::WholeFolder => "whole-folder",
            Self::None => "none",
        }
    }
}

/// What becomes of pictures that are masks or maps of other pictures: named like one with `mask`,
/// `map`, `gt`, `seg` and the like, in a folder beside it or in the same; or outlines beside a JPEG
/// of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Masks {
    /// They are left out where a few of them, looked at, have one channel or few colours.
    #[default]
    Auto,
    /// They are pictures like all others.
    Keep,
    /// Those that are named so are left out whatever they look like.
    LeaveOut,
}

impl Masks {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Keep => "keep",
            Self::LeaveOut => "leave-out",
        }
    }
}

/// How a set is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Where labels are looked for.
    pub labels: Labels,
    /// The class of all pictures by [`Labels::WholeFolder`]; the folder's name where none is given.
    pub one_class: Option<String>,
    /// Which half of a stereo pair becomes the item.
    pub camera: Camera,
    /// Patterns of files and folders of images that are left out: `*` stands for any part of a
    /// name, `**` for any folders. A pattern without `/` is compared with names, one with `/` with
    /// paths from the root.
    pub exclude: Vec<String>,
    /// What becomes of masks.
    pub masks: Masks,
    /// Whether pictures without a class are items too, of class [`UNLABELLED`]; otherwise they are
    /// skipped, and a folder without any class is an error.
    pub unlabelled_too: bool,
    /// Whether folders whose names are dates tell no classes where labels are looked for by
    /// [`Labels::Auto`].
    pub passes_dates: bool,
}

/// How classes and objects were read from the files of a set.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Where the classes come from.
    pub classes_from: ClassesFrom,
    /// The name of the naming pattern that was used, one of [`PATTERNS`](super::names::PATTERNS).
    pub pattern: Option<&'static str>,
    /// A description in words.
    pub words: String,
    /// A few pictures, with what was read from their paths.
    pub preview: Vec<Preview>,
    /// Stereo pairs, each of which became one item.
    pub pairs: usize,
    /// Files that are not images and were passed over.
    pub ignored: usize,
    /// Hidden files and folders that were passed over.
    pub hidden: usize,
}

/// Where classes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassesFrom {
    /// The names of folders.
    Folders,
    /// The paths of folders.
    Paths,
    /// The names of files.
    Names,
    /// That of the folder, or a name that was given: there is one class.
    WholeFolder,
    /// The category file of a NORB set.
    Norb,
    /// Nowhere: there is one class, [`UNLABELLED`].
    Nowhere,
}

/// What was read from a picture's path, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The picture's name.
    pub name: String,
    /// What was read, such as `truck, instance 7, left camera`.
    pub parts: String,
}

/// A file or folder that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// What was left out.
    pub path: PathBuf,
    /// The reason as one word, for programs: `unsupported`, `link`, `special`, `too_deep`, `io` or
    /// `no_class`.
    pub reason: &'static str,
    /// The reason in words.
    pub detail: String,
}

impl Dataset {
    /// The picture of item `item`, at most `side` pixels on its longer side.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; none for a NORB frame.
    ///
    /// # Panics
    /// When there is no such item.
    pub fn picture(&self, item: usize, decoder: &dyn Decoder, side: u32, progress: &Progress) -> Result<Picture> {
        match &self.items[item].source {
            ImageSource::File(path) => decoder.decode(path, side, progress),
            ImageSource::Frame { set, index } => Ok(Picture::shrunk(set.rgb(*index), side)),
        }
    }

    /// The name of a class.
    ///
    /// # Panics
    /// When the class is not one of this set.
    pub fn class_name(&self, class: ClassId) -> &str {
        &self.classes[class.index()]
    }

    /// The items of each class, by position in `classes`.
    pub fn by_class(&self) -> Vec<Vec<usize>> {
        let mut out = vec![Vec::new(); self.classes.len()];
        for (i, item) in self.items.iter().enumerate() {
            out[item.class.index()].push(i);
        }
        out
    }

    /// The items that show each known object. Items whose object is not known are missing.
    pub fn groups(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut out: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, item) in self.items.iter().enumerate() {
            if let Some(group) = &item.group {
                out.entry(group).or_default().push(i);
            }
        }
        out
    }
}

impl Item {
    /// The file that holds the pixels: an image, or a NORB `-dat.mat` file.
    pub fn path(&self) -> &Path {
        match &self.source {
            ImageSource::File(path) => path,
            ImageSource::Frame { set, .. } => set.path(),
        }
    }

    /// A name to be shown: the file's, or for a NORB frame the one of [`NorbSet::name`].
    pub fn name(&self) -> String {
        match &self.source {
            ImageSource::File(path) => error::display(Path::new(path.file_name().unwrap_or_default())),
            ImageSource::Frame { set, index } => set.name(*index),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.words)?;
        self.preview.iter().try_for_each(|preview| writeln!(f, "  {}: {}", preview.name, preview.parts))
    }
}

/// The name of an object: numbers get two digits, so that `7` and `07` are one object.
pub(super) fn group_name(class: &str, instance: &str) -> String {
    match instance.parse::<u32>() {
        Ok(number) => format!("{class}/{number:02}"),
        Err(_) => format!("{class}/{instance}"),
    }
}

/// A few items, spread evenly over the set, with what was read from their paths.
pub(super) fn preview(items: &[Item], classes: &[String]) -> Vec<Preview> {
    let parts = |item: &Item| match item.meta.to_string() {
        meta if meta.is_empty() => classes[item.class.index()].clone(),
        meta => format!("{}, {meta}", classes[item.class.index()]),
    };
    let spread = (0..items.len().min(5)).map(|i| &items[i * items.len() / items.len().min(5)]);
    spread.map(|item| Preview { name: item.name(), parts: parts(item) }).collect()
}
