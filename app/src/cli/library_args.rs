//! The arguments of commands that work on libraries.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use tessera_core::copies::{NEAR, SIMILAR};
use tessera_core::data::Labels;
use tessera_core::layout::TsneOptions;
use tessera_core::library::acts::LEAST_REWARD;
use tessera_core::library::chain::NotedHead;
use tessera_core::library::looks::{Look, RECALL};

use super::label_source::label_source;
use crate::command::Crop;
use crate::session::map::MapColour;
use crate::settings::SEARCH_LEAVES;

/// A library and nothing else.
#[derive(Debug, Args)]
pub(super) struct OfLibrary {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The library: one that is there, or a new name
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Folders of images; with --unpack also NORB `-dat.mat` files
    #[arg(required = true, value_name = "FOLDER")]
    pub(super) folders: Vec<PathBuf>,
    /// Where labels are read from [default: auto; of a folder that was imported before as then,
    /// with the same --exclude and --masks unless these are given]
    #[arg(long, value_parser = label_source(Labels::ALL))]
    pub(super) labels: Option<Labels>,
    /// All images are of this class, now and when the folder is imported again
    #[arg(long, value_name = "NAME")]
    pub(super) class: Option<String>,
    /// Then read captions and labels from this file: CSV, TSV, JSON lines, COCO or Flickr8k
    #[arg(long, value_name = "FILE")]
    pub(super) captions: Option<PathBuf>,
    /// Then take in vectors of images from this file: .npy with a path on each line of a .txt of
    /// the same name, .safetensors, or CSV of a path and numbers; `similar` and `search` compare
    /// them
    #[arg(long, value_name = "FILE")]
    pub(super) vectors: Option<PathBuf>,
    /// The name of their set; that of the file without its ending if it is not given
    #[arg(long, value_name = "NAME", requires = "vectors")]
    pub(super) vectors_name: Option<String>,
    /// Leave out what fits this pattern, such as `*.tmp` or `drafts/**`
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// What becomes of pictures that are masks or maps of others, such as `cow-mask.png` beside
    /// `cow.png` [default: auto]
    #[arg(long, value_enum)]
    pub(super) masks: Option<Masks>,
    /// Only say what would be taken in and how the folder is understood; nothing is made or changed
    #[arg(long, visible_alias = "plan")]
    pub(super) dry_run: bool,
    /// Take in files that were forgotten before, too
    #[arg(long)]
    pub(super) again: bool,
    /// Write the pictures of NORB `-dat.mat` files into this folder first, as PNG, and import that
    #[arg(long, value_name = "DIR")]
    pub(super) unpack: Option<PathBuf>,
    /// List each file here that was not taken in, with the reason, and each that is a duplicate, as
    /// JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// What becomes of masks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Masks {
    /// Left out where a few of them, looked at, have one channel or few colours
    Auto,
    /// Taken in as all others
    Keep,
    /// Left out by their names, whatever they look like
    LeaveOut,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(super) struct Search {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Words of captions, classes and file names; `"a phrase"` must be there, and `-word` in none
    /// of them (last, after `--`); or `#ID`
    #[arg(value_name = "WORDS")]
    pub(super) words: Vec<String>,
    /// Search by visual similarity to this image, a file or `#ID` of the library; with words, both
    /// count half
    #[arg(long, value_name = "IMAGE")]
    pub(super) like: Option<String>,
    /// Only this part of it counts, in its pixels; where what the network sees is compared, images
    /// that contain it are found. `all` for an image that is itself a part of another
    #[arg(long, requires = "like", value_name = "X,Y,WIDTH,HEIGHT|all", value_parser = crop)]
    pub(super) crop: Option<Crop>,
    /// What is compared with it: `appearance`, `edges`, `colours`, `network`, or a set of vectors
    /// that was brought
    #[arg(long, requires = "like", value_name = "VECTORS", value_parser = look)]
    pub(super) look: Option<Look>,
    /// With --like and without words: the share of the most alike images that is to be found, where
    /// an index answers; 1 compares all images
    #[arg(long, requires = "like", default_value_t = RECALL, value_name = "R", value_parser = recall)]
    pub(super) recall: f64,
    /// Only images of this class; without words or --like, all of them by name
    #[arg(long, value_name = "CLASS")]
    pub(super) class: Option<String>,
    /// Only images in or below this folder; without words or --like, all of them by name
    #[arg(long, value_name = "FOLDER")]
    pub(super) folder: Option<PathBuf>,
    /// Images wanted, at most
    #[arg(short = 'k', default_value_t = 10, value_name = "N", value_parser = at_least_one)]
    pub(super) k: usize,
    /// The engine that answers
    #[arg(long, value_enum, default_value_t = By::Memory)]
    pub(super) by: By,
    /// Leaves of the caption memory to visit: more find more, and take longer
    #[arg(long, default_value_t = SEARCH_LEAVES, value_name = "N", value_parser = at_least_one)]
    pub(super) leaves: usize,
    /// Explain each hit: the terms of its score, and its path through the memory tree
    #[arg(long)]
    pub(super) explain: bool,
    /// Instead of searching, list how the last word may go on: by classes, words of captions and
    /// names
    #[arg(long, requires = "words", conflicts_with_all = ["like", "class", "folder", "explain"])]
    pub(super) complete: bool,
}

fn crop(text: &str) -> Result<Crop, String> {
    if text == "all" {
        return Ok(Crop::ALL);
    }
    let numbers: Option<Vec<u32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    let four: Option<[u32; 4]> = numbers.and_then(|numbers| numbers.try_into().ok());
    four.map(Crop).ok_or_else(|| "expected four whole numbers, X,Y,WIDTH,HEIGHT, in pixels, or all".into())
}

/// The engine that answers a search.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum By {
    /// The caption memory, which learns from `tessera feedback`
    Memory,
    /// The exact index of words
    Index,
}

fn reward(text: &str) -> Result<f64, String> {
    match text.parse::<f64>().ok().filter(|value| (-1.0..=1.0).contains(value)) {
        None => Err("expected a number from -1 to 1".into()),
        Some(value) if value.abs() < LEAST_REWARD => {
            Err("expected a number from -1 to 1 at least 0.001 from 0, which says nothing; --unteach takes back what was said".into())
        }
        Some(value) => Ok(value),
    }
}

/// Arguments of `feedback`.
#[derive(Debug, Args)]
pub(super) struct Feedback {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// What was searched for
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true, required_unless_present = "stdin")]
    pub(super) query: Option<String>,
    /// The image that answered: a path or #ID
    #[arg(long, value_name = "IMAGE", required_unless_present_any = ["stdin", "unteach"])]
    pub(super) image: Option<PathBuf>,
    /// How well, from -1 (not at all) to 1 (just so)
    #[arg(long, value_name = "R", allow_negative_numbers = true, required_unless_present_any = ["unteach", "stdin"], value_parser = reward)]
    pub(super) reward: Option<f64>,
    /// Take back its reward for this query; without --image, those of all images
    #[arg(long, conflicts_with = "reward")]
    pub(super) unteach: bool,
    /// Read a JSON object a line, {"query": words, "image": a path, "#ID" or ID, "reward": -1 to 1,
    /// or null to take it back}, and answer each with one: {ok, image, query, reward, event} once
    /// it is on disk, or {ok: false, error}
    #[arg(long, conflicts_with_all = ["query", "image", "reward", "unteach"])]
    pub(super) stdin: bool,
}

/// Arguments of `suggest`.
#[derive(Debug, Args)]
pub(super) struct Suggest {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Images of the library: paths or `#ID`; without any, those that have no class
    #[arg(value_name = "IMAGE")]
    pub(super) images: Vec<PathBuf>,
    /// Images wanted, where none are named; no more than 400 in an order for which advisers are
    /// asked
    #[arg(short = 'k', default_value_t = 10, value_name = "N", value_parser = at_least_one)]
    pub(super) k: usize,
    /// Which of those without a class come first: those that teach most, those on which advisers
    /// disagree, by their paths, or by chance
    #[arg(long, default_value = "folder", value_name = "ORDER", value_parser = ["useful", "disagreement", "folder", "random"])]
    pub(super) order: String,
}

/// Arguments of `review`.
#[derive(Debug, Args)]
pub(super) struct Review {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Doubted labels shown, or misleading images
    #[arg(short = 'k', default_value_t = 20, value_name = "N", value_parser = at_least_one)]
    pub(super) k: usize,
    /// List instead the training images that mislead the recogniser: without each, the mean of the
    /// classes' recalls would be higher on the images that it is judged by, or right ones further
    /// ahead; those whose harm is clear come first
    #[arg(long)]
    pub(super) harm: bool,
}

/// Arguments of `similar`.
#[derive(Debug, Args)]
pub(super) struct Similar {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// The image: a file, or a path or `#ID` of the library
    #[arg(value_name = "IMAGE")]
    pub(super) image: String,
    /// Images wanted, at most
    #[arg(short = 'k', default_value_t = 10, value_name = "N", value_parser = at_least_one)]
    pub(super) k: usize,
    /// The share of the most alike images that is to be found, where an index answers; 1 compares
    /// all images
    #[arg(long, default_value_t = RECALL, value_name = "R", value_parser = recall)]
    pub(super) recall: f64,
    /// What is compared: edges and colours (`appearance`), `edges` or `colours` alone, what the
    /// network sees (`network`), the `words` of captions, the recogniser's `elements`, or a set of
    /// vectors that was brought, by its name; without it, what the network sees, or the appearance
    /// where it has not looked
    #[arg(long, value_name = "VECTORS", value_parser = look)]
    pub(super) by: Option<Look>,
    /// Only this part of the image counts, in its pixels; where what the network sees is compared,
    /// images that contain it are found. `all` for an image that is itself a part of another
    #[arg(long, value_name = "X,Y,WIDTH,HEIGHT|all", value_parser = crop)]
    pub(super) crop: Option<Crop>,
    /// Only images of this class
    #[arg(long, value_name = "CLASS")]
    pub(super) class: Option<String>,
    /// Only images in or below this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) folder: Option<PathBuf>,
    /// Tell also which recall other numbers of compared images have, measured on this library;
    /// makes an index for that, if there is none, also in a small library
    #[arg(long)]
    pub(super) curve: bool,
    /// Tell also which recall other kinds of indexes would have, each made of at most 20,000 images
    /// of the library and asked by others
    #[arg(long)]
    pub(super) partitions: bool,
}

fn recall(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| "expected a number above 0, up to 1".into())
}

/// A name that is not built in may be that of a set.
fn look(text: &str) -> Result<Look, String> {
    let built_in = Look::BUILT_IN.into_iter().find(|look| look.name() == text);
    Ok(built_in.unwrap_or_else(|| Look::Brought(text.into())))
}

/// Arguments of `map`.
#[derive(Debug, Args)]
pub(super) struct Map {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// The file that is written, by the ending of its name: vectors (.svg), pixels (.png) or a
    /// table of places (.csv)
    #[arg(long, value_name = "FILE")]
    pub(super) to: PathBuf,
    /// The vectors by which images are near each other, as `tessera similar` takes them
    #[arg(long, value_name = "VECTORS", value_parser = look)]
    pub(super) by: Option<Look>,
    /// What colours say: the class, how sure the recogniser is when it is judged (score), whether
    /// it is right then (error), when files were last changed (date), or the cluster (cluster)
    #[arg(long, value_name = "WHAT", default_value = "class", value_parser = map_colour())]
    pub(super) colour: MapColour,
    /// How images are laid out: neighbours stay together, or by the two principal components
    #[arg(long, value_enum, default_value_t = MapLayout::Neighbours, value_name = "LAYOUT")]
    pub(super) layout: MapLayout,
    /// The neighbours of each image that count, in effect (1 to 200)
    #[arg(long, default_value_t = TsneOptions::default().perplexity, value_name = "P")]
    pub(super) perplexity: f64,
    /// Rounds in which the layout of neighbours is improved
    #[arg(long, default_value_t = TsneOptions::default().rounds, value_name = "N")]
    pub(super) rounds: u32,
    /// Pixels of the map's side
    #[arg(long, default_value_t = 1200, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(100..=10_000))]
    pub(super) size: u32,
    /// Draw thumbnails where there is room for them (.png)
    #[arg(long)]
    pub(super) thumbnails: bool,
}

fn map_colour() -> impl clap::builder::TypedValueParser<Value = MapColour> {
    let of = |name: String| MapColour::ALL.into_iter().find(|colour| colour.name() == name).unwrap_or_default();
    clap::builder::TypedValueParser::map(clap::builder::PossibleValuesParser::new(MapColour::ALL.map(MapColour::name)), of)
}

/// How a map is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MapLayout {
    /// Neighbours stay together
    Neighbours,
    /// By the two principal components
    Components,
}

impl MapLayout {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Neighbours => "neighbours",
            Self::Components => "components",
        }
    }
}

/// Arguments of `vectors`.
#[derive(Debug, Args)]
pub(super) struct Vectors {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Look at all images with this network of yours (`tessera network list`), and bring its
    /// vectors as a set of its name; a second time only new or changed images are looked at
    #[arg(long, value_name = "NETWORK", conflicts_with = "drop")]
    pub(super) by: Option<String>,
    /// With --by: another name for the set
    #[arg(long, value_name = "SET", requires = "by")]
    pub(super) name: Option<String>,
    /// With --by: list each image here that has no vector, with the reason, as JSON lines of path,
    /// reason and detail
    #[arg(long, value_name = "FILE", requires = "by")]
    pub(super) report: Option<PathBuf>,
    /// Take this set off all images; `undo` brings it back
    #[arg(long, value_name = "NAME")]
    pub(super) drop: Option<String>,
}

/// Arguments of `cluster`.
#[derive(Debug, Args)]
pub(super) struct Cluster {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// What is compared: edges and colours (`appearance`), `edges` or `colours` alone, what the
    /// network sees (`network`), the `words` of captions, the recogniser's `elements`, or a set of
    /// vectors that was brought, by its name [default: as last; at first what the network sees, or
    /// the appearance where it has not looked]
    #[arg(long, value_name = "VECTORS", value_parser = look)]
    pub(super) by: Option<Look>,
    /// The number of clusters, or `open`: as many as describe images best that took no part
    /// [default: as last; at first open]
    #[arg(long, value_name = "K", value_parser = clusters)]
    pub(super) clusters: Option<ClusterNumber>,
    /// Iterations, which go on from clusters that were found by the same options [default: 20 for
    /// new clusters]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) iterations: Option<u32>,
    /// Begin anew, whatever was found before
    #[arg(long)]
    pub(super) again: bool,
    /// Two images that belong in one cluster, from now on
    #[arg(long, num_args = 2, action = clap::ArgAction::Append, value_names = ["IMAGE", "IMAGE"])]
    pub(super) together: Vec<PathBuf>,
    /// Two images that belong in two, from now on
    #[arg(long, num_args = 2, action = clap::ArgAction::Append, value_names = ["IMAGE", "IMAGE"])]
    pub(super) apart: Vec<PathBuf>,
    /// Drop all that was said of pairs of images before
    #[arg(long)]
    pub(super) drop_pairs: bool,
    /// Make clusters one, by their numbers, and go on from there
    #[arg(long, value_name = "N,N", value_delimiter = ',', num_args = 1, conflicts_with_all = ["by", "clusters", "again", "split"])]
    pub(super) merge: Vec<usize>,
    /// Make cluster N two, and go on from there
    #[arg(long, value_name = "N", conflicts_with_all = ["by", "clusters", "again"])]
    pub(super) split: Option<usize>,
    /// Write a table of all images with their clusters to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
    /// Copy all images into a folder for each cluster below this one
    #[arg(long, value_name = "FOLDER")]
    pub(super) folders: Option<PathBuf>,
    /// With --folders: say what would be copied, and copy nothing
    #[arg(long, requires = "folders")]
    pub(super) dry_run: bool,
    /// Typical images of each cluster told with --json
    #[arg(short = 'k', default_value_t = 5, value_name = "N", value_parser = at_least_one)]
    pub(super) k: usize,
    /// Label all images of cluster N with a class, in one act
    #[arg(long, value_name = "N=CLASS", value_parser = named_cluster,
        conflicts_with_all = ["by", "clusters", "iterations", "again", "together", "apart", "drop_pairs", "merge", "split", "to", "folders"])]
    pub(super) name: Option<(usize, String)>,
}

/// A number of clusters; none where it is left open.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterNumber(pub(super) Option<usize>);

fn clusters(text: &str) -> Result<ClusterNumber, String> {
    if text == "open" {
        return Ok(ClusterNumber(None));
    }
    let number = text.parse().ok().filter(|number| (1..=100_000).contains(number));
    number.map(|number| ClusterNumber(Some(number))).ok_or_else(|| "expected `open` or a number from 1 to 100,000".into())
}

fn named_cluster(text: &str) -> Result<(usize, String), String> {
    let parts = text.split_once('=').and_then(|(number, class)| Some((number.trim().parse().ok()?, class.to_owned())));
    parts.ok_or_else(|| "expected the number of a cluster and a class, such as 3=beach".into())
}

/// Arguments of `duplicates`.
#[derive(Debug, Args)]
pub(super) struct Duplicates {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// How far copies may be from the best of their group: `identical` (the same pixels), `near`
    /// (2), `similar` (8, so that photos of one scene a moment later are among them), or a number
    /// from 0 to 100, the percentage of their structure that differs
    #[arg(long, default_value = "near", value_name = "D", value_parser = copy_distance)]
    pub(super) distance: f64,
    /// Groups shown, at most
    #[arg(short = 'k', value_name = "N", value_parser = at_least_one)]
    pub(super) k: Option<usize>,
    /// Remove all images of each group but its best, in one act that `undo` takes back
    #[arg(long, conflicts_with = "k")]
    pub(super) keep_best: bool,
    /// With --keep-best: also move the files of the others to the bin of the system, from which
    /// undo puts them back
    #[arg(long, requires = "keep_best")]
    pub(super) to_bin: bool,
    /// Say that two images are no copies of each other: they are not found as such any more
    #[arg(long, num_args = 2, value_names = ["IMAGE", "IMAGE"], conflicts_with_all = ["k", "distance", "keep_best"])]
    pub(super) not_copies: Vec<PathBuf>,
    /// Take that back
    #[arg(long, num_args = 2, value_names = ["IMAGE", "IMAGE"], conflicts_with_all = ["k", "distance", "keep_best", "not_copies"])]
    pub(super) maybe_copies: Vec<PathBuf>,
}

fn copy_distance(text: &str) -> Result<f64, String> {
    let number = match text {
        "identical" => Some(0.0),
        "near" => Some(NEAR),
        "similar" => Some(SIMILAR),
        number => number.parse().ok().filter(|number| (0.0..=100.0).contains(number)),
    };
    number.ok_or_else(|| "expected identical, near, similar, or a number from 0 to 100".into())
}

/// Arguments of `label`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["class", "none", "not", "not_guessed", "stdin"])))]
pub(super) struct Label {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Images of the library: paths or `#ID`
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin", value_name = "IMAGE")]
    pub(super) images: Vec<PathBuf>,
    /// Their class, which is made if need be
    #[arg(long = "as", value_name = "CLASS")]
    pub(super) class: Option<String>,
    /// Takes in image files that the library does not have, each with this label in one act;
    /// nothing else of their folders comes with them
    #[arg(long, requires = "class", conflicts_with_all = ["stdin", "none", "not", "not_guessed"])]
    pub(super) take_in: bool,
    /// Lists the files that could not be taken in, in this file: JSON lines {path, reason, detail}
    #[arg(long, value_name = "FILE", requires = "take_in")]
    pub(super) report: Option<PathBuf>,
    /// They are of no class, whatever their folder says
    #[arg(long)]
    pub(super) none: bool,
    /// They are not of this class, which is not suggested for them any more; their labels stay
    #[arg(long, value_name = "CLASS")]
    pub(super) not: Option<String>,
    /// This word, which the network guessed, is not guessed for them any more; their labels stay
    #[arg(long, value_name = "WORD")]
    pub(super) not_guessed: Option<String>,
    /// Read a JSON object a line, {"image": a path, "#ID" or ID, "label": a class, or null for
    /// none} or {"image": …, "not": a class}, which "rejected": false takes back, and answer each
    /// with one: {ok, image, label, event} once it is on disk, or {ok: false, error}
    #[arg(long)]
    pub(super) stdin: bool,
}

/// Arguments of `caption`.
#[derive(Debug, Args)]
pub(super) struct Caption {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// An image of the library: a path or `#ID`
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin", value_name = "IMAGE")]
    pub(super) image: Option<PathBuf>,
    /// Its captions, each in quotation marks if it has several words; an empty one takes them off
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin", value_name = "TEXT")]
    pub(super) captions: Vec<String>,
    /// Read a JSON object a line, {"image": a path, "#ID" or ID, "caption": a text, a list of
    /// texts, or null for none}, and answer each with one: {ok, image, caption, event} once it is
    /// on disk, or {ok: false, error}
    #[arg(long)]
    pub(super) stdin: bool,
}

/// Arguments of `remove`.
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    pub(super) images: Images,
    /// Also move their files to the bin of the system, from which undo puts them back
    #[arg(long)]
    pub(super) to_bin: bool,
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub(super) struct Images {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Images of the library: paths or `#ID`
    #[arg(required = true, value_name = "IMAGE")]
    pub(super) images: Vec<PathBuf>,
}

/// Arguments of `forget`.
#[derive(Debug, Args)]
pub(super) struct Forget {
    #[command(flatten)]
    pub(super) images: Images,
    /// Do not ask; without a terminal this is needed, or --json
    #[arg(long)]
    pub(super) yes: bool,
}

/// Arguments of `relocate`.
#[derive(Debug, Args)]
pub(super) struct Relocate {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Where the folder was
    #[arg(value_name = "OLD")]
    pub(super) old: PathBuf,
    /// Where it is
    #[arg(value_name = "NEW")]
    pub(super) new: PathBuf,
    /// List each file that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// What is written
    #[arg(value_enum, value_name = "WHAT")]
    pub(super) what: ExportContent,
    /// The file, or the folder, that is written; a model becomes one file where the name ends in
    /// `.tessera-model`
    #[arg(long, value_name = "PATH")]
    pub(super) to: PathBuf,
    /// How it is written [default: csv; events: jsonl]
    #[arg(long, value_enum)]
    pub(super) format: Option<Format>,
    /// Class folders of links to the images, not of copies
    #[arg(long)]
    pub(super) links: bool,
    /// Of csv and tsv: guard what a spreadsheet program would take for a formula; `import` reads it
    /// back as it was
    #[arg(long)]
    pub(super) csv_safe: bool,
    /// Of a model: leave out the names of the training images and where they lie
    #[arg(long)]
    pub(super) without_names: bool,
    /// Only say how much would be written
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// What can be exported of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportContent {
    /// A row for each labelled image
    Labels,
    /// A row for each captioned image
    Captions,
    /// The recogniser's prediction for every image, each with its object left out
    Predictions,
    /// The log of everything that was done
    Events,
    /// The recogniser, to be used elsewhere
    Model,
}

/// Formats of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// One JSON object a line
    Jsonl,
    /// COCO JSON
    Coco,
    /// `image.jpg#0<tab>caption`; captions only
    Flickr8k,
    /// A `.txt` file for each image; captions only
    Sidecar,
    /// Copies of the images in a folder for each class; labels only
    ClassFolders,
    /// Copies of the images in one folder, named like `truck_07_3_12_4_lt.png`; what is not known
    /// is 0; labels only
    NorbNames,
}

/// One of two histories.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum KeptSide {
    /// What `library.db` tells
    Database,
    /// What `journal.jsonl` tells
    Journal,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Repair what is damaged, from snapshots, the journal and the images
    #[arg(long)]
    pub(super) repair: bool,
    /// Where database and journal went apart: go on with one of them, and save the other as a
    /// library of its own
    #[arg(long, conflicts_with = "repair")]
    pub(super) keep: Option<KeptSide>,
    /// Show the head, which stands for the whole history; with a head that was noted before, say
    /// whether it is in this history, and what is missing if not
    #[arg(long, value_name = "HEAD", num_args = 0..=1)]
    pub(super) head: Option<Option<NotedHead>>,
}

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// The folder of the backup: a new one, or an older backup, which is brought up to date
    #[arg(required_unless_present = "restore", conflicts_with = "restore", value_name = "TO")]
    pub(super) to: Option<PathBuf>,
    /// Put this backup in the place of the library; what is there is kept beside it
    #[arg(long, value_name = "FROM")]
    pub(super) restore: Option<PathBuf>,
    /// Also where the backup is of another history than that of the library
    #[arg(long, requires = "restore")]
    pub(super) other_history: bool,
}

/// Parses a number of answers.
fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "expected a whole number from 1".into())
}
