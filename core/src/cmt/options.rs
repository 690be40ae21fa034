//! The options of a memory tree.

use serde::{Deserialize, Serialize};

use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::online_linear::{LinearOptions, check_rate};

/// How a memory is grown and taught. The defaults are the paper's where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CmtOptions {
    /// The paper's α: how much the balance of a node's two sides weighs against its router's own
    /// prediction, above 0 and at most 1. With α = 0.9 and a router that follows its labels, the
    /// smaller side keeps 47 % of the memories.
    ///
    /// Vowpal Wabbit's `--alpha` is 1 minus this one.
    pub alpha: f64,
    /// How many memories a leaf holds before it is split.
    pub leaf_cap: LeafCap,
    /// How a leaf is split.
    pub split: SplitRule,
    /// The paper's d: how many random memories are rerouted (removed and inserted again) after each
    /// insertion and each update of a tree.
    pub reroutes: u32,
    /// Whether memories that are rerouted after an update train the routers on their path, as those
    /// after an insertion always do.
    pub update_reroutes_train: bool,
    /// The rate at which routers learn: above 0, at most 100.
    pub router_rate: f32,
    /// The rate at which the scorer learns: above 0, at most 100.
    pub scorer_rate: f32,
    /// The similarity that the scorer starts from.
    pub similarity: Similarity,
    /// Whether the scorer learns from rewards.
    pub learn_scorer: bool,
    /// Adds the similarity to the reward that the scorer's weights learn, instead of subtracting
    /// it, as Vowpal Wabbit does: its scores then tend to the reward plus twice the similarity. For
    /// comparisons only.
    pub opposed_offset: bool,
    /// Trees that all hold the same memories, 1 to 64. The paper has one.
    pub trees: u32,
    /// The seed of all random choices.
    pub seed: u64,
}

/// How many memories a leaf holds before it is split.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum LeafCap {
    /// c log2(n), rounded down, at least 2, with n the memories there are (the paper's).
    Log {
        /// The paper's c.
        c: f64,
    },
    /// A fixed number, 1 or more (Vowpal Wabbit's).
    Fixed(u32),
}

impl LeafCap {
    /// The cap among `n` memories.
    pub fn of(self, n: usize) -> usize {
        match self {
            Self::Log { c } => ((c * (n.max(1) as f64).log2()) as usize).max(2),
            Self::Fixed(cap) => cap as usize,
        }
    }
}

/// How a leaf is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum SplitRule {
    /// A new router learns from all memories of the leaf, and then decides the side of each.
    TrainedRouter,
    /// The memories are inserted one by one below a new router, each where the router sends it at
    /// that moment (the paper's).
    FreshRouter,
}

/// The similarity that the scorer starts from, which without rewards is the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Similarity {
    /// The cosine of the angle; 0 when one of the two is the zero vector.
    Cosine,
    /// The Euclidean distance with a minus sign.
    NegEuclid,
}

impl Default for CmtOptions {
    fn default() -> Self {
        Self {
            alpha: 0.9,
            leaf_cap: LeafCap::Log { c: 4.0 },
            split: SplitRule::TrainedRouter,
            reroutes: 5,
            update_reroutes_train: false,
            router_rate: 0.5,
            scorer_rate: 0.1,
            similarity: Similarity::Cosine,
            learn_scorer: true,
            opposed_offset: false,
            trees: 1,
            seed: 0,
        }
    }
}

impl CmtOptions {
    /// Makes sure that the options are in range.
    ///
    /// # Errors
    /// [`Error::Option`] for the first that is not.
    pub fn check(&self) -> Result<()> {
        let out = |name, found: String, expected| Err(Error::Option { name, found, expected });
        if !(self.alpha > 0.0 && self.alpha <= 1.0) {
            return out("alpha", self.alpha.to_string(), "above 0 and at most 1");
        }
        match self.leaf_cap {
            LeafCap::Log { c } if !(c > 0.0 && c <= 1e6) => return out("c", c.to_string(), "above 0 and at most 1000000"),
            LeafCap::Fixed(0) => return out("leaf_cap", "0".into(), "1 or more"),
            _ => {}
        }
        if !(1..=64).contains(&self.trees) {
            return out("trees", self.trees.to_string(), "1 to 64");
        }
        if self.reroutes > 1000 {
            return out("reroutes", self.reroutes.to_string(), "0 to 1000");
        }
        check_rate("router_rate", self.router_rate)?;
        check_rate("scorer_rate", self.scorer_rate)
    }

    /// How routers learn: clipped, as Theorem 3.3 asks for.
    pub fn router(&self) -> LinearOptions {
        LinearOptions { rate: self.router_rate, constant: true, clipped: true }
    }

    /// How the scorer learns.
    pub(super) fn scorer(&self) -> LinearOptions {
        LinearOptions { rate: self.scorer_rate, constant: false, clipped: false }
    }
}

impl Stored for CmtOptions {
    fn write(&self, out: &mut Writer) {
        out.options(self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let options: Self = from.options()?;
        options.check()?;
        Ok(options)
    }
}
