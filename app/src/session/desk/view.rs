//! What a desk shows: plain data that never waits for anything.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use image::RgbImage;
use tessera_core::ids::ItemId;
use tessera_core::library::event::EventId;
use tessera_core::progress::ProgressSnapshot;

use crate::command::JobId;
use crate::job::JobKind;
use crate::session::like::Like;
use crate::session::search::{Engine, SearchHit};

/// A sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What is said.
    pub words: String,
    /// How it is meant.
    pub tone: Tone,
    /// The act it tells of, if that can be taken back.
    pub undo: Option<EventId>,
}

/// How a notice is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something went well.
    Done,
    /// Something worth knowing.
    Note,
    /// Something went wrong.
    Problem,
}

/// A job under way.
#[derive(Clone, Debug)]
pub struct JobView {
    /// Its number, for cancelling.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// What it does, in words.
    pub name: String,
    /// How far it is.
    pub snapshot: ProgressSnapshot,
    /// How long it has been running.
    pub elapsed: Duration,
    /// Whether it was asked to stop.
    pub stopping: bool,
}

/// The answer to a search.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// The number of the search.
    pub number: u64,
    /// What was searched for.
    pub query: String,
    /// What is to be looked like besides.
    pub like: Option<Arc<Like>>,
    /// Images of which it is not known yet what they look like.
    pub unseen: usize,
    /// The best images.
    pub hits: Vec<SearchHit>,
    /// Captions remembered in all.
    pub memories: usize,
    /// Words of the query that nothing has.
    pub unknown: Vec<String>,
    /// Who answered.
    pub engine: Engine,
    /// What was said of answers, in all.
    pub lessons: usize,
}

/// An image recognised, with its reasons.
#[derive(Clone, Debug)]
pub struct Recognition {
    /// What was recognised, in words.
    pub name: String,
    /// The image of the library, if it is one.
    pub item: Option<ItemId>,
    /// Its file, if it is one.
    pub path: Option<PathBuf>,
    /// Its pixels, shrunk where it is large.
    pub picture: Arc<RgbImage>,
    /// Width and height in its own pixels.
    pub size: (u32, u32),
    /// Who answered: the library, or a loaded model's name.
    pub by: String,
    /// Whether the image, or its whole object, was left out of the machine that answered.
    pub left_out: LeftOut,
    /// Classes from the best down, with their scores.
    pub scores: Vec<(String, f64)>,
    /// The scores before the last change, where there was one.
    pub before: Option<Vec<(String, f64)>>,
    /// The probability that the best is right, in 0..=1.
    pub confidence: f64,
    /// Whether confidence could be learned at all.
    pub calibrated: bool,
    /// Why the best class has its score, every contribution.
    pub best: Option<ClassReasons>,
    /// Why the runner-up has its.
    pub second: Option<ClassReasons>,
    /// The training images that decided most, at most six.
    pub tiles: Vec<Tile>,
    /// The most decisive pieces, numbered from 1 in this order.
    pub pieces: Vec<Piece>,
}

/// What was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Nothing.
    Nothing,
    /// The image itself.
    Image,
    /// All views of its object.
    Object(String),
}

/// Why a class got its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReasons {
    /// The class.
    pub class: String,
    /// Its score.
    pub score: f64,
    /// Everything it is the sum of, the largest first.
    pub contributions: Vec<ContributionRow>,
}

/// One query element's part of a score.
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
    /// What lying elsewhere costs, 0 or less.
    pub nearness: f32,
    /// Half of a pair bonus.
    pub bonus: f32,
    /// What it adds to the score.
    pub value: f64,
}

/// A training image that decided much.
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

/// A piece of the query and its match.
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

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
}
