//! The arguments of the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use tessera_core::ckm::unknown::UnknownCurve;
use tessera_core::data::Labels;

use super::label_source::{OF_CLASSES, label_source};
use super::library_args::{
    Backup, Caption, Check, Cluster, Duplicates, Export, Feedback, Forget, Images, Import, Label, Map, OfLibrary, Relocate, Remove, Review,
    Search as Find, Similar, Suggest, Vectors,
};
use super::memory_args::{EvalCmtCaptions, EvalCmtClassify, EvalCmtFigures, EvalCmtGrowth, EvalCmtMultilabel};
use super::mixture_args::{EvalCanopy, EvalCoverTree};
use super::neighbour_args::EvalAnn;
use super::network_args::{ELEMENTS, Elements, Network};
use super::online_args::{EvalDesk, EvalOnline, EvalOnlineFigures};
use super::switch::Switch;
use crate::settings::{ELEMENT_MEGABYTES, PICTURE_MEGABYTES};

/// Find and recognise images on your own machine.
///
/// Without a command it opens the window; where there is none, it trains on the built-in sample and
/// explains one answer.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = EXIT_CODES)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) global: Global,
    /// Open this in the window: a library, a folder of images, a model or an image
    #[arg(value_name = "LIBRARY|FOLDER")]
    pub(super) path: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

impl Arguments {
    /// Reads the command line of this process.
    pub(super) fn read() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&with_negative_numbers(Self::command()).try_get_matches()?)
    }

    /// The words after `--` on a command line that look like options of `command`.
    pub(super) fn options_after_dashes(command: &str, line: impl IntoIterator<Item = OsString>) -> Vec<String> {
        let mut program = Self::command();
        program.build();
        let options: Vec<_> =
            program.find_subcommand(command).map(|command| command.get_arguments().cloned().collect()).unwrap_or_default();
        let is_option = |word: &String| match word.strip_prefix("--") {
            Some(long) => options.iter().any(|option| option.get_long() == long.split('=').next()),
            None => word.strip_prefix('-').and_then(|short| short.split_at_checked(1)).is_some_and(|(short, value)| {
                let is_it = options.iter().any(|option| option.get_short().is_some_and(|own| short.starts_with(own)));
                is_it && value.chars().all(|c| c.is_ascii_digit())
            }),
        };
        let words = line.into_iter().skip_while(|word| word != "--").skip(1);
        words.map(|word| word.to_string_lossy().into_owned()).filter(is_option).collect()
    }
}

/// Lets `-3` be the value of every option that takes a number, so that what is wrong with it is
/// said by that option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_number = |arg: &clap::Arg| !arg.is_positional() && arg.get_action().takes_values();
    let command = command.mut_args(|arg| if takes_number(&arg) { arg.allow_negative_numbers(true) } else { arg });
    command.mut_subcommands(with_negative_numbers)
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 done, but some files failed; 2 wrong usage; 65 bad data; 74 input or output failed; 75 library busy; 130 cancelled.";

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    /// Print JSON: one object, or one a line for commands that stream
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Seed of all randomness [default: 0; of clusters as last]
    #[arg(long, global = true, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Threads to work with; 0: all
    #[arg(long, global = true, default_value_t = 0, value_name = "N", value_parser = threads)]
    pub(super) threads: usize,
    /// Memory budget for decoding pictures, all together; one alone is always decoded
    #[arg(long, global = true, default_value_t = PICTURE_MEGABYTES, value_name = "MEGABYTES", value_parser = clap::value_parser!(u64).range(64..=65_536))]
    pub(super) picture_memory: u64,
    /// Memory budget for the elements that a library's recogniser compares; those of a larger
    /// library are read when they are compared
    #[arg(long, global = true, default_value_t = ELEMENT_MEGABYTES, value_name = "MEGABYTES", value_parser = clap::value_parser!(u64).range(0..=65_536))]
    pub(super) element_memory: u64,
    /// No progress and no notes
    #[arg(long, global = true)]
    pub(super) quiet: bool,
    /// Wait this long for a library that another program has open
    #[arg(long, global = true, default_value_t = 0, value_name = "SECONDS")]
    pub(super) wait: u32,
    /// Change nothing in a library, and leave it to others: what writes to it is refused
    #[arg(long, global = true)]
    pub(super) read_only: bool,
    /// With each answer that acknowledges an act, give the head after it, to be noted: `tessera
    /// check LIBRARY --head HEAD` finds it again
    #[arg(long, global = true)]
    pub(super) with_head: bool,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= 1024 => Ok(n),
        _ => Err("expected a whole number from 0 to 1024".into()),
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Import folders of images into a library, which is made if need be
    Import(Import),
    /// Train a recogniser on a folder of labelled images, or judge and save the one that a library
    /// has
    Train(Train),
    /// Choose the options of a recogniser on held-out objects of a folder of labelled images
    Tune(Tune),
    /// Recognise images with a library or a trained model; prints one answer an image
    Classify(Classify),
    /// Find images of a library by words, by how they look, or by both
    Search(Find),
    /// Say how well an image answered a search: the caption memory learns from it
    Feedback(Feedback),
    /// Suggest classes for images, by advisers that learn from every label
    Suggest(Suggest),
    /// Find labels that look wrong: each is judged by advisers that never saw its object
    Review(Review),
    /// Find groups of images that look alike, without labels
    Cluster(Cluster),
    /// Find the images that look most like one, of the library or from elsewhere
    Similar(Similar),
    /// Lay all images out in the plane, those that look alike near each other, and draw that
    Map(Map),
    /// List the sets of vectors that were brought to a library, bring one by a network, or take one
    /// off
    Vectors(Vectors),
    /// Find copies and near copies: recompressed, resized, rotated, mirrored or cropped
    Duplicates(Duplicates),
    /// List the lessons: rewards given with `tessera feedback` or in the window
    Lessons(OfLibrary),
    /// Say which class images belong to
    Label(Label),
    /// Say what an image shows; takes the place of the captions it has
    Caption(Caption),
    /// Take back the last act
    Undo(OfLibrary),
    /// Do again what was last taken back
    Redo(OfLibrary),
    /// Hide images and their influence; `restore` and `undo` bring them back
    Remove(Remove),
    /// Bring removed images back
    Restore(Images),
    /// Purge images from a library for good; their files stay where they are
    Forget(Forget),
    /// Tell a library that a folder moved
    Relocate(Relocate),
    /// Write out what a library holds
    Export(Export),
    /// Look for damage in a library
    Check(Check),
    /// Copy a library, verified by the head of its history, or put such a copy back
    Backup(Backup),
    /// Make a collection of images as Parquet shards from folders and libraries, for work on many
    /// machines
    Shard(Shard),
    /// Train on the built-in sample and explain one answer
    Sample,
    /// Add, list and remove networks of your own
    #[command(subcommand)]
    Network(Network),
    /// Run an experiment on plain files
    #[command(subcommand)]
    Eval(Eval),
    /// Generate data
    #[command(subcommand)]
    Generate(Generate),
    /// Decode pictures for another process
    #[command(hide = true)]
    DecodeWorker {
        /// Only say whether it can open this file, write into this folder, use the network and
        /// start this program
        #[arg(long = "try", value_names = ["FILE", "FOLDER", "PROGRAM"], num_args = 3)]
        tries: Option<Vec<PathBuf>>,
    },
    /// Try a network for another process
    #[command(hide = true)]
    NetworkWorker,
}

impl Command {
    /// Whether its answer is that of an act: an event, or the reason why there is none.
    pub(super) fn is_act(&self) -> bool {
        use Command::{Caption, Feedback, Forget, Label, Redo, Relocate, Remove, Restore, Undo};
        matches!(self, Label(_) | Caption(_) | Undo(_) | Redo(_) | Remove(_) | Restore(_) | Forget(_) | Relocate(_) | Feedback(_))
    }
}

/// What is added to the scores of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Terms {
    /// Terms fitted to training images whose object is left out
    Fitted,
    /// Nothing
    None,
}

/// The weights of elements.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Weights {
    /// All the same
    Uniform,
    /// Learned from training images scored without their objects
    Learned,
}

/// What is in images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Subject {
    /// Single things, upright and in the middle
    Object,
    /// Things that lie anywhere: lying elsewhere costs half as much
    Scene,
    /// Surfaces that look alike all over: place counts for nothing, corners and colours for more
    Texture,
}

/// How much kinds of elements and their places count.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Kinds {
    /// As the preset says
    Preset,
    /// Kinds as is best on images whose objects are left out
    Fitted,
    /// Kinds and places as is best on them, which takes six times as long
    Places,
    /// Kinds and the scales at which their pieces are cut as is best on them, which takes about six
    /// times as long; not of a library
    Scales,
    /// Of a library: as they counted before the last change
    Back,
}

/// What an image is compared with.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Search {
    /// All training images
    Exact,
    /// Of each class the training images most like the image as a whole
    Shortlist,
    /// Of each class the pieces that an index finds near each piece of the image
    Index,
}

/// What an image is compared with, and how much of it.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Searching {
    /// What an image is compared with [default: all; a shortlist in models of more than 5,000
    /// images]
    #[arg(long, value_enum)]
    pub(super) search: Option<Search>,
    /// Images of each class on the shortlist [default: 32]
    #[arg(long, value_name = "N", requires = "search")]
    pub(super) shortlist: Option<usize>,
    /// Lists of each class that the index looks at for each piece [default: 8]
    #[arg(long, value_name = "N", requires = "search")]
    pub(super) probes: Option<usize>,
}

/// How images are read and a machine is built.
#[derive(Debug, Args)]
pub(super) struct Build {
    /// Where labels are read from
    #[arg(long, default_value = Labels::Auto.name(), value_parser = label_source(OF_CLASSES))]
    pub(super) labels: Labels,
    /// How element weights are set [default: uniform; of a library those in use]
    #[arg(long, value_enum)]
    pub(super) weights: Option<Weights>,
    /// Which elements the recogniser is made of: orb, hog, colour, mixed, network, all, or the name
    /// of a network that was added
    #[arg(long, default_value_t = Elements::Mixed, value_name = ELEMENTS, value_parser = Elements::parse)]
    pub(super) elements: Elements,
    /// What is in the images: how much kinds of elements and their places count to begin with
    /// [default: object; of a library as was last chosen]
    #[arg(long, value_enum, conflicts_with = "options")]
    pub(super) preset: Option<Subject>,
    /// How much kinds of elements and their places count [default: fitted; with --options preset;
    /// of a library as was last chosen]
    #[arg(long, value_enum)]
    pub(super) kinds: Option<Kinds>,
    /// Read all options of the machine from this RON file instead (`tessera eval ckm
    /// --print-options` writes one)
    #[arg(long, value_name = "FILE", conflicts_with = "elements")]
    pub(super) options: Option<PathBuf>,
    #[command(flatten)]
    pub(super) searching: Searching,
    /// List each file that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// Arguments of `train`.
#[derive(Debug, Args)]
pub(super) struct Train {
    /// A library; or a folder of images in class folders or with NORB-style names, or a NORB
    /// `-dat.mat` file
    #[arg(value_name = "LIBRARY|FOLDER")]
    pub(super) folder: PathBuf,
    /// Where the model goes; one file where the name ends in `.tessera-model` [default:
    /// `models/recogniser` in the library, or the folder's name with `.model`, here]
    #[arg(long, value_name = "MODEL")]
    pub(super) to: Option<PathBuf>,
    /// Leave out of the model the names of the training images and where they lay: explanations
    /// give their numbers
    #[arg(long)]
    pub(super) without_names: bool,
    /// Of a library: whether the network that comes with the program takes part in all of its
    /// answers
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true)]
    pub(super) learned_features: Option<Switch>,
    /// Of a library: the pair of encoders, as `tessera network list` shows it, by which words find
    /// images without captions
    #[arg(long, value_name = "NAME|off")]
    pub(super) words_network: Option<String>,
    #[command(flatten)]
    pub(super) build: Build,
}

/// Arguments of `shard`.
#[derive(Debug, Args)]
pub(super) struct Shard {
    /// The folder of the collection, which is made if need be
    #[arg(value_name = "COLLECTION")]
    pub(super) collection: PathBuf,
    /// Folders of images and libraries whose images are added
    #[arg(value_name = "FOLDER|LIBRARY", conflicts_with = "forget")]
    pub(super) from: Vec<PathBuf>,
    /// Images in a shard
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) images: u32,
    /// Which elements are made, where a collection is begun: orb, hog, colour, mixed, network, all,
    /// or the name of a network that was added
    #[arg(long, default_value_t = Elements::Mixed, value_name = ELEMENTS, value_parser = Elements::parse)]
    pub(super) elements: Elements,
    /// Where the labels of folders are read from
    #[arg(long, default_value = Labels::Auto.name(), value_parser = label_source(OF_CLASSES))]
    pub(super) labels: Labels,
    /// Take images out for good, known by the 32 digits of their hashes: shards that hold them are
    /// written anew, and all states are deleted
    #[arg(long, value_name = "HASH", num_args = 1..)]
    pub(super) forget: Vec<String>,
    /// List each file that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// Arguments of `tune`.
#[derive(Debug, Args)]
pub(super) struct Tune {
    /// A folder of training images whose names tell objects; no images that anything is tested on
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
    /// Work at most: judgements of an image by one kind of elements
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(super) steps: u64,
    /// Write the options of the best here, for --options of `train`, `eval ckm` and `tune`
    #[arg(long, value_name = "FILE")]
    pub(super) write: Option<PathBuf>,
    /// Where labels are read from
    #[arg(long, default_value = Labels::Auto.name(), value_parser = label_source(OF_CLASSES))]
    pub(super) labels: Labels,
    /// The elements to begin with, of those that `train` takes: kinds may be dropped, none is added
    #[arg(long, default_value_t = Elements::Mixed, value_name = ELEMENTS, value_parser = Elements::parse)]
    pub(super) elements: Elements,
    /// Begin with the options in this RON file instead
    #[arg(long, value_name = "FILE", conflicts_with = "elements")]
    pub(super) options: Option<PathBuf>,
    /// List each file that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// Arguments of `classify`.
#[derive(Debug, Args)]
pub(super) struct Classify {
    /// A library, or a model that `train` or `export` wrote
    #[arg(value_name = "LIBRARY|MODEL")]
    pub(super) model: PathBuf,
    /// Images, or folders of images; `#ID` is an image of the library, judged without the images of
    /// its object
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Show the pieces of training images that made the scores of the best class and the runner-up
    #[arg(long)]
    pub(super) explain: bool,
    /// Draw each explanation into this folder, as PNG, and a collage of the best class's pieces
    #[arg(long, value_name = "DIR")]
    pub(super) draw: Option<PathBuf>,
    /// Where the training images lie now, if they moved
    #[arg(long, value_name = "DIR", requires = "draw")]
    pub(super) training_images: Option<PathBuf>,
    /// Share of the images of its classes that is answered, 0.5 to 1: the others, and images of
    /// other classes, are unknown; 0.95 if not given, where that can be told
    #[arg(long, value_name = "S", value_parser = answered_share)]
    pub(super) answered: Option<f64>,
    /// Call an image unknown when the confidence is below this instead, 0 to 1
    #[arg(long, value_name = "P", value_parser = probability, conflicts_with = "answered")]
    pub(super) unknown_below: Option<f64>,
    #[command(flatten)]
    pub(super) searching: Searching,
    /// List each file that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

fn answered_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (UnknownCurve::LEAST..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("expected a number from {} to 1", UnknownCurve::LEAST)),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

/// Experiments.
#[derive(Debug, Subcommand)]
pub(super) enum Eval {
    /// Print the keypoints and descriptors of pictures
    Features(Features),
    /// Train and test a recogniser
    Ckm(EvalCkm),
    /// Train and test a recogniser on each of some folders of photographs
    Sets(EvalSets),
    /// Train a memory tree on examples of classes and test it
    CmtClassify(EvalCmtClassify),
    /// Train a memory tree to find the labels that hold for examples, beside one-against-all
    CmtMultilabel(EvalCmtMultilabel),
    /// Find photos by their captions, by a memory tree and by exact and approximate yardsticks
    CmtCaptions(EvalCmtCaptions),
    /// Draw how error and work of a memory tree change with its options
    CmtFigures(EvalCmtFigures),
    /// Draw how depth, work and room of a memory tree grow with its memories
    CmtGrowth(EvalCmtGrowth),
    /// Learn classes from one label at a time, by contextual search and by classical rules
    Online(EvalOnline),
    /// Draw how loss and mistakes grow on long streams, of contextual search and of classical rules
    OnlineFigures(EvalOnlineFigures),
    /// Count the corrections until everything is labelled: a mixture of advisers beside each of
    /// them
    Desk(EvalDesk),
    /// Find nearest neighbours among the candidates that trees select, tuned for a recall
    Ann(EvalAnn),
    /// Fit a mixture of clusters to vectors, iteration by iteration
    Canopy(EvalCanopy),
    /// Find exact nearest neighbours by a cover tree
    CoverTree(EvalCoverTree),
    /// Search a library by words with errors of typing and other forms of nouns, and while typing
    Words(EvalWords),
}

/// Arguments of `eval features`.
#[derive(Debug, Args)]
pub(super) struct Features {
    /// Pictures
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Features wanted of each picture [default: one for each 128 pixels, at most 500]
    #[arg(long, value_name = "N")]
    pub(super) features: Option<usize>,
    /// List each file that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// Arguments of `eval ckm`.
#[derive(Debug, Args)]
pub(super) struct EvalCkm {
    /// Folder to train on
    #[arg(long, value_name = "DIR", requires = "test", required_unless_present_any = ["data", "print_options"])]
    pub(super) train: Option<PathBuf>,
    /// Folder to test on
    #[arg(long, value_name = "DIR", requires = "train")]
    pub(super) test: Option<PathBuf>,
    /// One folder for both: each image is tested without its object, or without itself alone where
    /// that is not known, unless --test-instances is given
    #[arg(long, value_name = "DIR", conflicts_with = "train")]
    pub(super) data: Option<PathBuf>,
    /// With --data: test the objects of these instance numbers and train on the others
    #[arg(long, value_name = "N,N", value_delimiter = ',', requires = "data", conflicts_with = "without_instances")]
    pub(super) test_instances: Vec<u32>,
    /// With --data: leave out the objects of these instance numbers altogether
    #[arg(long, value_name = "N,N", value_delimiter = ',', requires = "data")]
    pub(super) without_instances: Vec<u32>,
    /// With --data: test at most this many images, chosen at random
    #[arg(long, value_name = "N", default_value_t = usize::MAX, hide_default_value = true, requires = "data")]
    pub(super) limit: usize,
    /// What is added to the scores of classes to make up for their size and clutter
    #[arg(long, value_enum, default_value_t = Terms::Fitted)]
    pub(super) class_terms: Terms,
    /// Print the options the machine would be built with, as RON, and stop
    #[arg(long)]
    pub(super) print_options: bool,
    #[command(flatten)]
    pub(super) build: Build,
}

/// Arguments of `eval words`.
#[derive(Debug, Args)]
pub(super) struct EvalWords {
    /// The library
    #[arg(value_name = "LIBRARY")]
    pub(super) library: PathBuf,
    /// Captions that are asked for, in any form that `import` reads; best those that it does not
    /// have
    #[arg(long, value_name = "FILE")]
    pub(super) captions: PathBuf,
    /// Captions asked for as they are, with an error of typing, and with a noun in another form
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub(super) queries: usize,
    /// Queries of random words whose hits are looked at for words that they do not have
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(super) claims: usize,
    /// Captions that are typed letter by letter
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(super) typed: usize,
}

#[derive(Debug, Args)]
pub(super) struct EvalSets {
    /// Folders, each with `train` and `test`, which have a folder for each class
    #[arg(required = true, value_name = "DIR")]
    pub(super) sets: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) build: Build,
}

/// Data that can be generated.
#[derive(Debug, Subcommand)]
pub(super) enum Generate {
    /// A world of toys: six categories, any number of instances, seen from many sides
    Toys(Toys),
    /// Pictures of three objects each: the class is the collection that most of them come from
    Compositions(Compositions),
    /// Pictures of one object each, shifted, turned, scaled and lit in other ways, on clutter
    Symmetries(Symmetries),
}

/// The objects that scenes are made of.
#[derive(Debug, Args)]
pub(super) struct Objects {
    /// Objects to cut out: a folder of images whose names tell objects and views, or a NORB
    /// `-dat.mat` file; the built-in toys if left out
    #[arg(long, value_name = "DIR")]
    pub(super) objects: Option<PathBuf>,
    /// Masks of the images: a folder of PNG files of the same names, bright on the object
    #[arg(long, value_name = "DIR", requires = "objects")]
    pub(super) masks: Option<PathBuf>,
    /// Toys of each category
    #[arg(long, default_value_t = 10, value_name = "N", conflicts_with = "objects")]
    pub(super) instances: u32,
    /// Views of each toy, half of them for training
    #[arg(long, default_value_t = 20, value_name = "N", conflicts_with = "objects")]
    pub(super) views: u32,
}

/// Arguments of `generate compositions`.
#[derive(Debug, Args)]
pub(super) struct Compositions {
    /// An empty or new folder
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    #[command(flatten)]
    pub(super) objects: Objects,
    /// The categories of the three objects [default: the first three]
    #[arg(long, value_name = "NAME,NAME,NAME", value_delimiter = ',')]
    pub(super) categories: Vec<String>,
    /// Training pictures
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(super) train: u32,
    /// Test pictures
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub(super) test: u32,
    /// Pixels of a picture's side
    #[arg(long, default_value_t = 256, value_name = "N")]
    pub(super) side: u32,
}

/// Arguments of `generate symmetries`.
#[derive(Debug, Args)]
pub(super) struct Symmetries {
    /// An empty or new folder
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    #[command(flatten)]
    pub(super) objects: Objects,
    /// Training pictures
    #[arg(long, default_value_t = 800, value_name = "N")]
    pub(super) train: u32,
    /// Test pictures
    #[arg(long, default_value_t = 2916, value_name = "N")]
    pub(super) test: u32,
    /// Pixels of a picture's side
    #[arg(long, default_value_t = 108, value_name = "N")]
    pub(super) side: u32,
}

/// Arguments of `generate toys`.
#[derive(Debug, Args)]
pub(super) struct Toys {
    /// An empty or new folder
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    /// Instances of each category
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub(super) instances: u32,
    /// Views of each instance
    #[arg(long, default_value_t = 12, value_name = "N")]
    pub(super) views: u32,
    /// Pixels of an image's side
    #[arg(long, default_value_t = 128, value_name = "N")]
    pub(super) side: u32,
    /// Two cameras, left and right
    #[arg(long)]
    pub(super) stereo: bool,
    /// How the images are stored
    #[arg(long, value_enum, default_value_t = ToyFormat::Folders)]
    pub(super) format: ToyFormat,
    /// The built-in sample instead: planted mistakes, near-duplicates, a broken file and images set
    /// aside to try
    #[arg(long, conflicts_with_all = ["instances", "views", "side", "stereo", "format"])]
    pub(super) sample: bool,
}

/// How toys are stored.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ToyFormat {
    /// A folder for each category
    Folders,
    /// NORB-style names in train and test
    NorbNames,
    /// Small NORB's `.mat` files
    Mat,
}
