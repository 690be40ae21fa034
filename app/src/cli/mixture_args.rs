//! The arguments of experiments with mixtures and cover trees.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `eval canopy`.
#[derive(Debug, Args)]
pub(super) struct EvalCanopy {
    /// The points: .npy, .fvecs or idx(.gz), a row each
    #[arg(long, value_name = "FILE")]
    pub(super) data: PathBuf,
    /// Their classes as numbers, to measure purity
    #[arg(long, value_name = "FILE")]
    pub(super) labels: Option<PathBuf>,
    /// The number of clusters
    #[arg(long, default_value_t = 10, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) clusters: u32,
    /// How points and clusters are matched
    #[arg(long, value_enum, default_value_t = MethodChoice::Auto)]
    pub(super) method: MethodChoice,
    /// How Canopy draws
    #[arg(long, value_enum, default_value_t = DrawChoice::Usual)]
    pub(super) draw: DrawChoice,
    /// The shape of clusters
    #[arg(long, value_enum, default_value_t = ShapeChoice::Diagonal)]
    pub(super) covariance: ShapeChoice,
    /// The first means: random1 (points), random2 (means of points dealt out at random), kmeans++,
    /// cover-tree, or a FILE of rows
    #[arg(long, default_value = "kmeans++", value_name = "START")]
    pub(super) init: PathBuf,
    /// Iterations
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) iterations: u32,
    /// What is added to each variance
    #[arg(long, default_value_t = 1e-3, value_name = "V")]
    pub(super) floor: f64,
    /// Of so many points one is held out to measure likelihoods on; 0: none, and all are measured
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = held_out)]
    pub(super) held_out: u32,
    /// Points that share a surrogate, on average [default: by the number of clusters]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) surrogate_points: Option<u32>,
    /// Clusters that Canopy II draws from [default: by their number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) candidates: Option<u32>,
    /// Proposals for each point in an iteration of Canopy I
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) steps: u32,
}

fn held_out(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number != 1);
    number.ok_or_else(|| "expected 0, for none, or 2 or more: of so many points one is held out".into())
}

/// Ways to match points and clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodChoice {
    /// Every point has a share in every cluster
    Em,
    /// Every point is in one cluster, drawn from its posterior
    Esca,
    /// Draws by tables of the posterior at surrogates
    Canopy1,
    /// Draws among the clusters that are probable at surrogates
    Canopy2,
    /// esca for few clusters, else canopy2
    Auto,
}

/// Ways in which Canopy draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DrawChoice {
    /// canopy1: proposals that are tested; canopy2: lists of clusters, by comparing each surrogate
    /// with all
    Usual,
    /// canopy2: lists by a tree of clusters, with a proven bound of what they leave out
    TreeLists,
    /// canopy1: rejection in place of the test; canopy2: proposals by rejection on a tree of
    /// clusters
    Rejection,
}

/// Shapes of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ShapeChoice {
    /// One variance for all dimensions
    Isotropic,
    /// A variance for each dimension
    Diagonal,
    /// Directions around a direction (von Mises-Fisher)
    Directions,
}

/// Arguments of `eval cover-tree`.
#[derive(Debug, Args)]
pub(super) struct EvalCoverTree {
    /// The points: .npy, .fvecs or idx(.gz), a row each
    #[arg(long, value_name = "FILE")]
    pub(super) data: PathBuf,
    /// The queries, asked one at a time
    #[arg(long, value_name = "FILE")]
    pub(super) queries: PathBuf,
    /// Neighbours wanted
    #[arg(short, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) k: u32,
    /// The ratio of the radii of one level and the next
    #[arg(long, default_value_t = tessera_core::cover_tree::BASE, value_name = "B")]
    pub(super) base: f64,
}
