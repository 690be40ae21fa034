//! The arguments of experiments with online classification.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tessera_core::contextual::{Geometry, PairUpdate};
use tessera_core::eval::online::StreamOrder;

use super::switch::Switch;

/// The learner.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Learner {
    /// Contextual search by ellipsoids
    Ellipsoid,
    /// Contextual search by polytopes and hit-and-run, for few dimensions
    Polytope,
    /// Contextual search by ellipsoids or the averaged Perceptron, whichever erred less
    Served,
    /// The Perceptron
    Perceptron,
    /// The averaged Perceptron
    Averaged,
    /// Crammer and Singer's ultraconservative rule
    CrammerSinger,
    /// Passive-aggressive, PA-I with C = 1
    Pa,
    /// The second-order Perceptron
    SecondOrder,
    /// The centre of the largest ball of what is consistent, by linear programs
    Halving,
    /// The majority of pairs of classes, each by ellipsoids
    Majority,
}

/// The pairs of classes that a label updates.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Taught {
    /// That of the guess and the truth, on a mistake
    Paper,
    /// All pairs of the truth
    AllPairs,
}

impl From<Taught> for PairUpdate {
    fn from(taught: Taught) -> Self {
        match taught {
            Taught::Paper => Self::Paper,
            Taught::AllPairs => Self::AllPairs,
        }
    }
}

/// Parses a metric, without the degree of approximations.
fn metric(text: &str) -> Result<Geometry, String> {
    let wrong = || format!("expected inner, l2 or lp:P with P from 2 to 16, found {text}");
    match text {
        "inner" => Ok(Geometry::Inner),
        "l2" => Ok(Geometry::L2),
        _ => {
            let p: f64 = text.strip_prefix("lp:").and_then(|p| p.parse().ok()).filter(|p| (2.0..=16.0).contains(p)).ok_or_else(wrong)?;
            Ok(if p % 2.0 == 0.0 { Geometry::Even(p as u32) } else { Geometry::Chebyshev(p, 8) })
        }
    }
}

/// Arguments of `eval online`.
#[derive(Debug, Args)]
pub(super) struct EvalOnline {
    /// The learner
    #[arg(long, value_enum, value_name = "LEARNER")]
    pub(super) learner: Learner,
    /// Queries: sphere, collinear, perceptron-killer, adversary, convex-lower-bound, or a file in
    /// libsvm's format
    #[arg(long, value_name = "STREAM|FILE.svm")]
    pub(super) stream: String,
    /// What makes a class's centre the nearest: inner, l2 or lp:P; a P that is no even number is an
    /// experiment without a bound
    #[arg(long, default_value = "inner", value_name = "METRIC", value_parser = metric)]
    pub(super) metric: Geometry,
    /// Degree of the polynomials of lp:P for other than even P
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=32))]
    pub(super) degree: u32,
    /// Power of the loss
    #[arg(long, default_value_t = 1.0, value_name = "A")]
    pub(super) loss_power: f64,
    /// Leave out queries with a smaller margin, and tell contextual search; of perceptron-killer,
    /// the margin of all queries [default: 1/sqrt(T)]
    #[arg(long, value_name = "G")]
    pub(super) margin: Option<f64>,
    /// Which pairs of classes a label updates
    #[arg(long, value_enum, default_value = "all-pairs", value_name = "POLICY")]
    pub(super) update: Taught,
    /// Components of a query; a file's are mapped to so many at random where there are more
    #[arg(long, value_name = "D", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) d: u32,
    /// Classes
    #[arg(long, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) k: u32,
    /// Rounds at most
    #[arg(long, value_name = "T", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(super) rounds: u32,
    /// Take a mistake at this scale or a finer one for a contradiction of labels [default: 4 for a
    /// file, otherwise none]
    #[arg(long, value_name = "SCALE")]
    pub(super) guard: Option<u32>,
    /// Check every inequality of the proofs in every round
    #[arg(long)]
    pub(super) verify: bool,
    /// Write the stream as a table, for other programs: a row of the class's number, each class's
    /// loss and the query for each round
    #[arg(long, value_name = "FILE.csv")]
    pub(super) to: Option<PathBuf>,
}

/// The order in which examples are labelled.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Labelled {
    /// At random
    Random,
    /// Class after class
    Folder,
    /// All pictures of an object together, objects at random
    Instance,
    /// Runs of pictures of an object, or of a class where objects are not known
    Runs,
}

impl Labelled {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Folder => "folder",
            Self::Instance => "instance",
            Self::Runs => "runs",
        }
    }
}

impl From<Labelled> for StreamOrder {
    fn from(order: Labelled) -> Self {
        match order {
            Labelled::Random => Self::Random,
            Labelled::Folder => Self::Folder,
            Labelled::Instance => Self::Instance,
            Labelled::Runs => Self::Runs,
        }
    }
}

/// Arguments of `eval desk`.
#[derive(Debug, Args)]
pub(super) struct EvalDesk {
    /// What is labelled: examples in libsvm's format, or a folder of images in class folders or
    /// with NORB-style names
    #[arg(long, value_name = "FILE.svm|DIR")]
    pub(super) stream: PathBuf,
    /// The order in which it is labelled; several, separated by commas, are answered one after
    /// another
    #[arg(long, value_enum, default_value = "random", value_delimiter = ',', value_name = "ORDER,...")]
    pub(super) order: Vec<Labelled>,
    /// Which object each example of a file shows, one name a line
    #[arg(long, value_name = "FILE")]
    pub(super) groups: Option<PathBuf>,
    /// Captions of the images of a folder, in any form that `import` reads
    #[arg(long, value_name = "FILE")]
    pub(super) captions: Option<PathBuf>,
    /// Of a folder: whether the network that comes with the program takes part
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, default_value_t = Switch::Off)]
    pub(super) learned_features: Switch,
    /// Components of a query; more features of a file are mapped to so many at random
    #[arg(long, value_name = "D", default_value_t = 64, value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub(super) d: u32,
    /// Orders in which everything is labelled
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) orders: u32,
    /// Only the advisers that the window's page of labels has
    #[arg(long)]
    pub(super) served: bool,
    /// Write examples and orders into this folder as well, for other programs
    #[arg(long, value_name = "DIR")]
    pub(super) to: Option<PathBuf>,
}

/// Arguments of `eval online-figures`.
#[derive(Debug, Args)]
pub(super) struct EvalOnlineFigures {
    /// Folder for the tables and plots
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    /// Rounds of each stream
    #[arg(long, value_name = "T", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(10..=100_000_000))]
    pub(super) rounds: u32,
    /// Components of a query
    #[arg(long, value_name = "D", default_value_t = 8, value_parser = clap::value_parser!(u32).range(3..=256))]
    pub(super) d: u32,
    /// Runs with different seeds, of which means are taken
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
}
