//! Events: what can happen to a library, as changes that can be taken back.
//!
//! An event is a list of changes, each of which names what was there before and what is there
//! after. Applying the changes of all events in order gives the library's state; applying an
//! event's inverse gives the state before it. An undo is an event of its own, whose changes are the
//! inverse of those it takes back, so the log only ever grows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::brought_vector::BroughtVector;
use super::link::Link;
use crate::bytes::{Reader, Stored, Writer};
use crate::data::Meta;
use crate::ids::ItemId;
use crate::raw_path::RawPath;

/// An event's place in the log, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u64);

/// A folder that images were imported from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RootId(pub u32);

/// xxh3-128 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub u128);

impl std::fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

impl Stored for ContentHash {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> crate::Result<Self> {
        from.get().map(Self)
    }
}

/// The bytes behind an image record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Their hash.
    pub hash: ContentHash,
    /// Width and height in pixels, upright.
    pub size: (u32, u32),
    /// Their number.
    pub bytes: u64,
    /// Whether they are others than those first imported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
}

/// What folders and file names say about an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderWord {
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The object it shows: other images of it are near copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The circumstances of the shot.
    #[serde(default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// The label the user gave an image. It outranks that of its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UserLabel {
    /// None: the folder's label holds.
    #[default]
    Unsaid,
    /// It is of this class.
    Class(String),
    /// It is of no class, whatever the folder says.
    NoClass,
}

/// A caption and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caption {
    /// The text.
    pub text: String,
    /// Whether the user wrote it; otherwise it was read from a file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_user: bool,
}

/// How a class is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassStyle {
    /// Its place among the classes; the first ten have keys.
    pub position: u32,
    /// A colour the user chose: red, green, blue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<[u8; 3]>,
}

/// What was there before and what is there after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swap<T>(pub T, pub T);

impl<T> Swap<T> {
    fn inverse(self) -> Self {
        Self(self.1, self.0)
    }
}

/// A change of one property of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Field {
    /// Its bytes; none before it was imported.
    Content(Swap<Option<Content>>),
    /// What its folder and file name say.
    Folder(Swap<FolderWord>),
    /// The user's label.
    Label(Swap<UserLabel>),
    /// Its captions.
    Captions(Swap<Vec<Caption>>),
    /// Whether the user removed it.
    Removed(Swap<bool>),
    /// The user's reward of it as an answer to a query.
    Reward(String, Swap<Option<Reward>>),
    /// Whether the user rejected a class for it.
    Rejection(String, Swap<bool>),
    /// Whether the user rejected a guessed word for it.
    Guess(String, Swap<bool>),
    /// Its vector in a set that the user brought.
    Vector(String, Swap<Option<BroughtVector>>),
    /// Whether the user said that another image is no copy of it.
    NotCopy(ItemId, Swap<bool>),
    /// Whether the user said that it and another image belong together.
    Bond(ItemId, Swap<Option<Bond>>),
}

/// How well an image answers a query by the user's word: in thousandths, from -1000 (not at all) to
/// 1000 (perfectly).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reward(pub i16);

impl Reward {
    /// The same from -1 to 1.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

/// What the user says of two images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Bond {
    /// They belong together.
    Together,
    /// They do not.
    Apart,
}

/// How a folder of images is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderReading {
    /// Where labels are looked for, as the command line writes it; behind it what becomes of masks
    /// and the one class of all images, where these are said.
    pub labels: String,
    /// Patterns of what is left out.
    pub exclude: Vec<String>,
}

impl FolderReading {
    /// What stands before the one class of all images of a folder, at the end. Only behind what
    /// becomes of masks: a version that knows no such class then still reads the source of labels.
    pub(super) const CLASS: &str = ", class ";

    /// The source of labels with what becomes of masks, and the one class of all images.
    pub(super) fn with_class(labels: &str) -> (&str, Option<&str>) {
        labels.split_once(Self::CLASS).map_or((labels, None), |(rest, class)| (rest, Some(class)))
    }
}

/// One step from one state to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Of an image.
    Image(ItemId, Field),
    /// Of a class: none is a class that does not exist.
    Class(String, Swap<Option<ClassStyle>>),
    /// Of the class that a folder's word stands for, where that is not the class of the same name.
    Alias(String, Swap<Option<String>>),
    /// Of the place of a root.
    Root(RootId, Swap<RawPath>),
    /// Of how a root is read.
    Reading(RootId, Swap<FolderReading>),
}

impl Change {
    /// The step back.
    pub fn inverse(self) -> Self {
        match self {
            Self::Image(image, field) => Self::Image(
                image,
                match field {
                    Field::Content(swap) => Field::Content(swap.inverse()),
                    Field::Folder(swap) => Field::Folder(swap.inverse()),
                    Field::Label(swap) => Field::Label(swap.inverse()),
                    Field::Captions(swap) => Field::Captions(swap.inverse()),
                    Field::Removed(swap) => Field::Removed(swap.inverse()),
                    Field::Reward(query, swap) => Field::Reward(query, swap.inverse()),
                    Field::Rejection(class, swap) => Field::Rejection(class, swap.inverse()),
                    Field::Guess(word, swap) => Field::Guess(word, swap.inverse()),
                    Field::Vector(set, swap) => Field::Vector(set, swap.inverse()),
                    Field::NotCopy(other, swap) => Field::NotCopy(other, swap.inverse()),
                    Field::Bond(other, swap) => Field::Bond(other, swap.inverse()),
                },
            ),
            Self::Class(name, swap) => Self::Class(name, swap.inverse()),
            Self::Alias(word, swap) => Self::Alias(word, swap.inverse()),
            Self::Root(root, swap) => Self::Root(root, swap.inverse()),
            Self::Reading(root, swap) => Self::Reading(root, swap.inverse()),
        }
    }

    /// The image it is about.
    pub fn image(&self) -> Option<ItemId> {
        match self {
            Self::Image(image, _) => Some(*image),
            _ => None,
        }
    }

    /// Another image that it names.
    pub(super) fn other_image(&self) -> Option<ItemId> {
        match self {
            Self::Image(_, Field::NotCopy(other, _) | Field::Bond(other, _)) => Some(*other),
            _ => None,
        }
    }
}

/// The inverse of a whole event: each step back, the last first.
pub fn inverse(changes: Vec<Change>) -> Vec<Change> {
    changes.into_iter().rev().map(Change::inverse).collect()
}

/// What an event does to the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The user did something new: what had been undone can no longer be redone.
    Act,
    /// The act is undone.
    Undo(EventId),
    /// The act is redone.
    Redo(EventId),
    /// An event that undo does not reach.
    Final,
}

/// An event as it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place.
    pub id: EventId,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The first event of the act it belongs to; long work writes several.
    pub act: EventId,
    /// What it does to the history.
    pub kind: EventKind,
    /// What happened, in words, as the history shows it.
    pub words: String,
    /// What it changed.
    pub changes: Vec<Change>,
    /// What ties it to the event before; none before it is written, and in files of earlier
    /// versions.
    pub link: Option<Link>,
}

/// The words of an event of which everything was forgotten.
pub(super) const FORGOTTEN: &str = "Forgotten";

/// The words of an event that was left with changes of classes alone: its own may have named an
/// image.
pub(super) fn words_left(kind: EventKind, changes: &[Change]) -> String {
    let made = |change: &Change| match change {
        Change::Class(name, _) => Some(name.clone()),
        _ => None,
    };
    let unique: BTreeSet<String> = changes.iter().filter_map(made).collect();
    let names = unique.into_iter().collect::<Vec<_>>().join(", ");
    match kind {
        EventKind::Undo(_) => format!("Undo: Classes {names}"),
        EventKind::Redo(_) => format!("Redo: Classes {names}"),
        _ => format!("Classes {names}"),
    }
}

impl Event {
    /// Whether nothing is left of it but its number, its time and its link.
    pub fn is_forgotten(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.opening.is_forgotten())
    }

    /// The images that it touches, in order.
    pub fn images(&self) -> Vec<ItemId> {
        self.changes.iter().filter_map(Change::image).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
