//! The arguments of experiments with indexes of nearest neighbours.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `eval ann`.
#[derive(Debug, Args)]
pub(super) struct EvalAnn {
    /// The points to find: .npy, .fvecs or idx(.gz), a row each
    #[arg(long, value_name = "FILE")]
    pub(super) corpus: PathBuf,
    /// The queries that answers are judged by
    #[arg(long, value_name = "FILE")]
    pub(super) queries: PathBuf,
    /// The queries that options are chosen on [default: a fiftieth of the corpus, which is then not
    /// searched]
    #[arg(long, value_name = "FILE")]
    pub(super) validation: Option<PathBuf>,
    /// Queries whose neighbours in the corpus are learned from [default: the corpus]
    #[arg(long, value_name = "FILE")]
    pub(super) train_queries: Option<PathBuf>,
    /// Neighbours wanted
    #[arg(short, default_value_t = 10, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) k: u32,
    /// How space is parted
    #[arg(long, value_enum, default_value_t = TreeChoice::Auto)]
    pub(super) tree: TreeChoice,
    /// How candidates are selected
    #[arg(long, value_enum, default_value_t = SelectChoice::Auto)]
    pub(super) select: SelectChoice,
    /// The share of the true neighbours to find
    #[arg(long, default_value_t = 0.9, value_name = "R")]
    pub(super) target_recall: f64,
    /// Instead of a recall: find the most neighbours within so many operations for a query
    #[arg(long, value_name = "N", conflicts_with_all = ["target_recall", "within_ms"])]
    pub(super) within_operations: Option<f64>,
    /// Instead of a recall: find the most neighbours within so many milliseconds for a query, which
    /// are turned into operations once and told (`operations`)
    #[arg(long, value_name = "MS", conflicts_with = "target_recall")]
    pub(super) within_ms: Option<f64>,
    /// Besides, time each kind of partition with each way of selection by itself, at each of these
    /// recalls
    #[arg(long, value_name = "R,R...", value_delimiter = ',')]
    pub(super) each: Vec<f64>,
    /// The share of the true neighbours that trees learn from; below 1 they are found by an index
    /// of cells, which is faster
    #[arg(long, default_value_t = 1.0, value_name = "R")]
    pub(super) graph_recall: f64,
    /// Trees that are grown of each kind
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=300))]
    pub(super) trees: u32,
    /// What is nearest
    #[arg(long, value_enum, default_value_t = MetricChoice::Euclidean)]
    pub(super) metric: MetricChoice,
}

/// Kinds of partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TreeChoice {
    /// At the median of a sparse random projection
    Rp,
    /// At the median of a coordinate of large variance
    Kd,
    /// At the median along the direction of most variance
    Pca,
    /// At the median of the coordinates in turn
    Chronological,
    /// Where the labels of both sides become most likely
    Forest,
    /// As forest, along directions of some coordinates
    Oblique,
    /// By the centres of k-means
    Kmeans,
    /// k-means where --select allows it, which was faster than all trees wherever it was measured;
    /// otherwise the best of the trees, without chronological ones
    Auto,
}

/// Ways to select candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SelectChoice {
    /// All points in a leaf of the query
    Lookup,
    /// Points in the query's leaf of enough trees
    Voting,
    /// Points that are often enough neighbours of the training points in the query's leaves
    Natural,
    /// All neighbours of the training points in the query's leaves: natural from a score of 0 on
    Labels,
    /// With --tree kmeans: those of largest inner product by a regression of low rank in each cell
    Regression,
    /// With --tree kmeans: those of largest inner product by their first principal coordinates
    Codes,
    /// The best of all that go with --tree
    Auto,
}

/// What is nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MetricChoice {
    /// The least Euclidean distance
    Euclidean,
    /// The smallest angle
    Cosine,
    /// The largest inner product
    InnerProduct,
}
