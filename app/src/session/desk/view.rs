//! What a desk shows, as plain data.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use image::RgbImage;
use tessera_core::ckm::model::Metrics;
use tessera_core::ckm::unknown::{Standing, WhyUnknown};
use tessera_core::ids::ItemId;
use tessera_core::library::event::EventId;
use tessera_core::library::looks::Look;
use tessera_core::progress::ProgressSnapshot;
use tessera_core::utc::now;

use crate::command::JobId;
use crate::job::JobKind;
use crate::session::completion::Completion;
use crate::session::reference::ReferenceImage;
use crate::session::search::{Engine, Found, SearchHit};

/// A notice to the user: one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The sentence.
    pub words: String,
    /// Whether it reports success, information or failure.
    pub tone: Tone,
    /// The act that it reports, if that can be undone.
    pub undo: Option<EventId>,
    /// The folder whose import was broken off, if it reports that.
    pub go_on: Option<PathBuf>,
    /// When it came, in milliseconds since 1970.
    pub at: i64,
}

impl Notice {
    /// A notice that comes now, of nothing that can be undone.
    pub fn new(words: impl Into<String>, tone: Tone) -> Self {
        Self { words: words.into(), tone, undo: None, go_on: None, at: now() }
    }
}

/// The tone of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Success.
    Done,
    /// Information.
    Note,
    /// Failure.
    Problem,
}

/// A running job.
#[derive(Clone, Debug)]
pub struct JobView {
    /// Its number, for cancelling.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// What it does, in words.
    pub name: String,
    /// Its progress.
    pub snapshot: ProgressSnapshot,
    /// How long it has been running.
    pub elapsed: Duration,
    /// How long its stage has been running.
    pub stage_elapsed: Duration,
    /// Whether it was cancelled.
    pub stopping: bool,
    /// Whether it waits for something that was asked for, or was put off.
    pub waits: bool,
    /// Of what the program does by itself, whether the user has put it off.
    pub put_off: Option<bool>,
}

/// The answer to a search.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// The number of the search.
    pub number: u64,
    /// What was searched for.
    pub query: String,
    /// The image that hits are to resemble, if one is set.
    pub like: Option<Arc<ReferenceImage>>,
    /// Images whose appearance is not indexed yet, or of which it is not read what the network
    /// sees.
    pub unseen: usize,
    /// All images that answer, best first, or else as they stood before the library changed.
    pub images: Arc<Vec<ItemId>>,
    /// Whether the best of them come first.
    pub is_best_first: bool,
    /// The same with their scores, best first.
    pub found: Arc<Vec<Found>>,
    /// How many have all words of the query that any image has.
    pub with_all: usize,
    /// The first of them, and those that were judged, in full.
    pub hits: Vec<SearchHit>,
    /// What was probably meant, where a word is in no text.
    pub did_you_mean: Option<String>,
    /// Words of the query that nothing has, each with the one that it is read as.
    pub corrections: Vec<(String, String)>,
    /// Where nothing answers, words of what the network sees in many images.
    pub often_seen: Vec<String>,
    /// All words that the words of the query are read as, which are marked in texts.
    pub readings: Vec<String>,
    /// How the text may go on.
    pub completions: Vec<Completion>,
    /// Captions in the memory.
    pub memories: usize,
    /// Words of the query that no text contains.
    pub unknown: Vec<String>,
    /// Of these, the words in whose place nothing was looked for.
    pub missing: Vec<String>,
    /// How many words were looked for, these included.
    pub asked: usize,
    /// The engine that answered.
    pub engine: Engine,
    /// Lessons in the library.
    pub lessons: usize,
    /// The vectors by which they resemble an image; `None` for the usual ones.
    pub by: Option<Look>,
    /// Beside an image to resemble, the sets of vectors that were brought, with the images that
    /// have one.
    pub sets: Vec<(Arc<str>, usize)>,
}

/// What is shown of an image before its recognition is there.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstLook {
    /// What it is called.
    pub name: String,
    /// The image, shrunk to the size that the recogniser needs.
    pub picture: Arc<RgbImage>,
    /// Classes from the best down by pieces alone, where whole images are yet to be compared, too.
    pub guess: Vec<String>,
}

/// An image recognised, with its reasons.
#[derive(Clone, Debug)]
pub struct Recognition {
    /// The name of the image.
    pub name: String,
    /// The image of the library, if it is one.
    pub item: Option<ItemId>,
    /// Its file, if it is one.
    pub path: Option<PathBuf>,
    /// Its pixels, shrunk where it is large.
    pub picture: Arc<RgbImage>,
    /// Width and height in its own pixels.
    pub size: (u32, u32),
    /// The model that answered: `this library`, or a loaded model's name.
    pub by: String,
    /// What was left out of the training images, so that the image is not compared with itself.
    pub left_out: LeftOut,
    /// Classes from the best down, with their scores.
    pub scores: Vec<(String, f64)>,
    /// The scores before the last change, where there was one.
    pub before: Option<Vec<(String, f64)>>,
    /// The probability that the best is right, in 0..=1.
    pub confidence: f64,
    /// The classes that the best one cannot be told apart from yet, behind it; empty when there
    /// are none.
    pub not_told_apart: Vec<String>,
    /// From what it is told whether the image looks like none of the classes.
    pub standing: Standing,
    /// What was measured of the model that answered.
    pub metrics: Metrics,
    /// Whether the confidence is calibrated: there were images to calibrate it with.
    pub calibrated: bool,
    /// Every contribution to the score of the best class.
    pub best: Option<ClassReasons>,
    /// Every contribution to the score of the runner-up.
    pub second: Option<ClassReasons>,
    /// The training images that decided most, at most six.
    pub tiles: Vec<Tile>,
    /// The most decisive pieces, numbered from 1 in this order.
    pub pieces: Vec<Piece>,
}

impl Recognition {
    /// Why the image counts as unknown, if it does: see [`Metrics::unknown_by`].
    pub fn unknown(&self, answered: Option<f64>) -> Option<WhyUnknown> {
        self.metrics.unknown_by(answered, self.standing)
    }
}

/// The scores of the recognised image without one more training image.
#[derive(Clone, Debug, PartialEq)]
pub struct WithoutImage {
    /// The training image.
    pub image: ItemId,
    /// Its name.
    pub name: String,
    /// Its class.
    pub label: String,
    /// Whether the answer left it out already.
    pub was_left_out: bool,
    /// Classes from the best down, with their scores without it.
    pub scores: Vec<(String, f64)>,
}

/// Training images that were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Nothing.
    Nothing,
    /// The image itself.
    Image,
    /// All views of its object.
    Object(String),
}

/// The explanation of a class's score.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReasons {
    /// The class.
    pub class: String,
    /// Its score.
    pub score: f64,
    /// The class's term, which is part of the score.
    pub term: f64,
    /// What the likeness of the whole image adds to the score.
    pub whole: f64,
    /// The training images that add most to that, with their names and what they add.
    pub alike: Vec<(ItemId, String, f64)>,
    /// The contributions whose sum with the term and the whole it is, the largest first.
    pub contributions: Vec<ContributionRow>,
}

/// The contribution of one element of the query to a score.
#[derive(Clone, Debug, PartialEq)]
pub struct ContributionRow {
    /// `corner`, `gradient block` or `colour square`.
    pub kind: &'static str,
    /// Its position in the query, in pixels.
    pub query: [f32; 2],
    /// The training image, its name, and the position there; none when the class has no element of
    /// the kind.
    pub matched: Option<(ItemId, String, [f32; 2])>,
    /// Likeness in 0..=1.
    pub likeness: f32,
    /// The penalty for its distance from the matched position, 0 or less.
    pub nearness: f32,
    /// The learned weight of the training element.
    pub weight: f32,
    /// Half of a pair bonus.
    pub bonus: f32,
    /// What it adds to the score.
    pub value: f64,
}

/// A training image with a large share in the decision.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The image of the library; none for a model from elsewhere.
    pub item: Option<ItemId>,
    /// Its name.
    pub name: String,
    /// Its class.
    pub label: String,
    /// Its pixels, shrunk where it is large; none when its file is not there.
    pub picture: Option<Arc<RgbImage>>,
    /// Width and height in its own pixels.
    pub size: (u32, u32),
    /// The lead it gave the best class over the second.
    pub lead: f64,
}

/// An element of the query and the training element that it was matched with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The position in `tiles`.
    pub tile: usize,
    /// Its position in the query, in pixels.
    pub query: [f32; 2],
    /// Its position in the tile, in the training image's own pixels.
    pub position: [f32; 2],
    /// The lead it gave the best class over the second.
    pub lead: f64,
}

/// A model saved with the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedModel {
    /// Its folder.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// An image to try the recogniser on.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its file.
    pub path: PathBuf,
    /// A small picture of it.
    pub thumbnail: Arc<RgbImage>,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
}
