//! The arguments of experiments with memory trees.

use std::path::PathBuf;

use clap::Args;
use tessera_core::cmt::CmtOptions;

/// How memory trees are built and trained.
#[derive(Debug, Args)]
pub(super) struct Grow {
    /// Memories in a leaf: at most this many times log2 of all memories [default: 4;
    /// cmt-multilabel: 2; cmt-captions: 5]
    #[arg(long, value_name = "C")]
    pub(super) c: Option<f64>,
    /// Memories in a leaf: at most this many, whatever there are
    #[arg(long, value_name = "N", conflicts_with = "c")]
    pub(super) leaf_cap: Option<u32>,
    /// Memories that are rerouted (inserted again) at each step [default: 5; cmt-multilabel: 10;
    /// cmt-captions: 1]
    #[arg(long, value_name = "N")]
    pub(super) reroutes: Option<u32>,
    /// How much a router weighs the balance of its sides against its own prediction, above 0 and at
    /// most 1
    #[arg(long, default_value_t = 0.9, value_name = "A")]
    pub(super) alpha: f64,
    /// Trees that hold the same memories
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(super) trees: u32,
    /// How fast routers learn
    #[arg(long, default_value_t = CmtOptions::default().router_rate, value_name = "RATE")]
    pub(super) router_rate: f32,
    /// How fast the scorer learns
    #[arg(long, default_value_t = CmtOptions::default().scorer_rate, value_name = "RATE")]
    pub(super) scorer_rate: f32,
    /// The scorer learns nothing from rewards
    #[arg(long)]
    pub(super) fixed_scorer: bool,
    /// The scorer learns with its similarity taken away twice instead of kept, as Vowpal Wabbit's
    /// does
    #[arg(long)]
    pub(super) opposed_offset: bool,
    /// Routers also learn from memories that are inserted again after a reward
    #[arg(long)]
    pub(super) reroutes_teach: bool,
    /// Split leaves by inserting their memories one by one below a new router, as the paper has it
    #[arg(long)]
    pub(super) fresh_routers: bool,
}

/// How much of a tree is visited for an answer.
#[derive(Debug, Args)]
pub(super) struct Budget {
    /// Leaves visited in each tree
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) leaves: u64,
}

/// Examples of classes.
#[derive(Debug, Args)]
pub(super) struct Examples {
    /// Examples to train on, in libsvm's format
    #[arg(long, value_name = "FILE")]
    pub(super) train: PathBuf,
    /// Examples to test
    #[arg(long, value_name = "FILE")]
    pub(super) test: PathBuf,
}

/// Arguments of `eval cmt-classify`.
#[derive(Debug, Args)]
pub(super) struct EvalCmtClassify {
    #[command(flatten)]
    pub(super) examples: Examples,
    /// Passes without rewards: the first inserts the examples, the others insert them again
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) unsupervised_passes: u32,
    /// Passes in which answers are rewarded
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(super) supervised_passes: u32,
    /// Query with each example and reward the answer before it is inserted, in one pass
    #[arg(long)]
    pub(super) online: bool,
    /// With --online, let the scorer learn too: the paper's does not, for most answers to what is
    /// new are wrong
    #[arg(long, requires = "online", conflicts_with = "fixed_scorer")]
    pub(super) online_scorer: bool,
    #[command(flatten)]
    pub(super) budget: Budget,
    #[command(flatten)]
    pub(super) grow: Grow,
}

/// Arguments of `eval cmt-multilabel`.
#[derive(Debug, Args)]
pub(super) struct EvalCmtMultilabel {
    /// Examples to train on: Mulan's ARFF with its XML file beside it, or a text file of the
    /// Extreme Classification Repository
    #[arg(long, value_name = "FILE")]
    pub(super) train: PathBuf,
    /// Examples to test, in the same form
    #[arg(long, value_name = "FILE")]
    pub(super) test: PathBuf,
    /// Passes in which answers are rewarded, after the one that inserts; one-against-all has as
    /// many in all
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(super) supervised_passes: u32,
    /// How fast the functions of labels learn
    #[arg(long, default_value_t = 0.07, value_name = "RATE")]
    pub(super) label_rate: f32,
    /// Evaluate only labels that so many memories of a leaf have; 1 is the paper's
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) votes: u32,
    #[command(flatten)]
    pub(super) budget: Budget,
    #[command(flatten)]
    pub(super) grow: Grow,
}

/// Arguments of `eval cmt-captions`.
#[derive(Debug, Args)]
pub(super) struct EvalCmtCaptions {
    /// Folder of the photos
    #[arg(long, value_name = "DIR")]
    pub(super) images: PathBuf,
    /// Captions, as in Flickr8k.token.txt or in any table that import reads
    #[arg(long, value_name = "FILE")]
    pub(super) captions: PathBuf,
    /// Names of the photos to store, one a line
    #[arg(long, value_name = "FILE")]
    pub(super) train_list: PathBuf,
    /// Names of the photos to ask for
    #[arg(long, value_name = "FILE")]
    pub(super) test_list: PathBuf,
    /// Passes in which answers are rewarded
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(super) supervised_passes: u32,
    /// Taken from each reward before it is learned; 0 is the paper's [default: the mean of the
    /// rewards so far]
    #[arg(long, value_name = "R")]
    pub(super) baseline: Option<f32>,
    /// List each photo that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) budget: Budget,
    #[command(flatten)]
    pub(super) grow: Grow,
}

/// Arguments of `eval cmt-figures`.
#[derive(Debug, Args)]
pub(super) struct EvalCmtFigures {
    #[command(flatten)]
    pub(super) examples: Examples,
    /// Folder for the tables (CSV) and plots (SVG), which is made if need be
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    /// Runs of which means are taken, with seeds that follow each other
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) runs: u32,
    #[command(flatten)]
    pub(super) grow: Grow,
}

/// Arguments of `eval cmt-growth`.
#[derive(Debug, Args)]
pub(super) struct EvalCmtGrowth {
    /// Folder for the table (CSV) and plots (SVG), which is made if need be
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    /// Memories at the end
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(super) memories: u32,
    #[command(flatten)]
    pub(super) grow: Grow,
}
