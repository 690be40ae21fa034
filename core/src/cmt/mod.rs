//! Contextual memory trees: memories are found in logarithmic time, by a tree that learns from
//! rewards where to search.
//!
//! A memory is a sparse vector and a value. Each inner node of a tree has a router, a linear
//! function that sends vectors to one of two sides; it learns to keep its sides even, and from
//! rewards to send queries where good answers are. A scorer, one for all leaves, ranks the memories
//! of a leaf; it learns from the same rewards. Nothing is ever trained anew: memories are inserted
//! and removed one at a time, and at each step a few random ones are rerouted (removed and inserted
//! again), so that memories are where the routers of today lead.
//!
//! - Sun, Beygelzimer, Daumé, Langford and Mineiro, *Contextual memory trees*, ICML 2019:
//!   Algorithms 1 to 7 are [`Cmt::path`], [`Cmt::insert`], the splitting inside it,
//!   [`Cmt::explore`], [`Cmt::update`], [`Cmt::remove`] and [`Cmt::reroute`].
//!
//! Beyond the paper: [`Cmt::query_budget`] visits several leaves, and a forest of
//! [`CmtOptions::trees`] shares memories and scorer. Where the paper leaves something open or the
//! code departs from it, a comment says so. The main departures:
//! - Routers' predictions are clipped to -1..1: the proof of Theorem 3.3 needs it.
//! - A leaf's router is created when the leaf is split ([`SplitRule`]).
//! - Counts start at 1 and logarithms are natural, as in the proof.
//!
//! ```
//! use tessera_core::cmt::{Cmt, CmtOptions};
//! use tessera_core::ids::ItemId;
//! use tessera_core::sparse::SparseVec;
//!
//! let mut memory: Cmt<&str> = Cmt::new(&CmtOptions::default())?;
//! memory.insert(ItemId(0), SparseVec::new(&[1, 4], &[1.0, 1.0])?, "a red truck")?;
//! memory.insert(ItemId(1), SparseVec::new(&[2, 4], &[1.0, 1.0])?, "a blue truck")?;
//! let answer = memory.query(&SparseVec::new(&[2], &[1.0])?, 1);
//! assert_eq!(memory.get(answer.hits[0].id).unwrap().value, "a blue truck");
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod check;
mod explain;
mod explore;
mod index;
mod insert;
mod labeller;
mod memories;
pub mod oas;
mod options;
mod query;
mod remove;
mod router;
mod save;
mod scorer;
mod split;
mod tree;

pub use check::TreeShape;
pub use explain::{QueryExplanation, RouterStep, TreePath};
pub use explore::Exploration;
pub use index::CmtIndex;
pub use labeller::Labeller;
pub use options::{CmtOptions, LeafCap, Similarity, SplitRule};
pub use router::Router;

use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::Cost;
use crate::online_linear::AdaptiveLinear;
use crate::sparse::SparseVec;
use memories::Memories;
use scorer::Scorer;
use tree::Tree;

/// Where a memory is kept.
type Slot = u32;

/// A memory: a vector with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory<V> {
    /// Its identifier, given by the caller.
    pub id: ItemId,
    /// The vector that it is found by.
    pub x: SparseVec,
    /// The value that it holds.
    pub value: V,
}

/// A memory found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryHit {
    /// The memory.
    pub id: ItemId,
    /// How well it answers; the higher, the better.
    pub score: f64,
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryResult {
    /// Best first; of equals, the lower identifier.
    pub hits: Vec<MemoryHit>,
    /// The work done.
    pub cost: Cost,
}

/// A contextual memory tree, or several that share memories and scorer.
///
/// `V` is the type of a memory's value, `R` the kind of router. The same calls with the same seed
/// lead to the same trees, byte for byte. Memory: the vectors once, and for each tree O(memories)
/// nodes, each inner one with weights for the features it has seen.
#[derive(Clone, Debug)]
pub struct Cmt<V, R = AdaptiveLinear> {
    options: CmtOptions,
    memories: Memories<V>,
    trees: Vec<Tree<R>>,
    scorer: Scorer,
}

impl<V, R: Router> Cmt<V, R> {
    /// Trees without memories.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range.
    pub fn new(options: &CmtOptions) -> Result<Self> {
        options.check()?;
        let trees = (0..options.trees).map(|index| Tree::new(options, index)).collect();
        Ok(Self { options: *options, memories: Memories::default(), trees, scorer: Scorer::new(options) })
    }

    /// Stores `value` under the vector `x`: inserts it into each tree, training the routers on its
    /// path, and then reroutes [`CmtOptions::reroutes`] random memories. O((1 + reroutes) depth
    /// features) a tree, besides splits.
    ///
    /// # Errors
    /// [`Error::Value`] when a memory has this identifier already. Nothing has changed then.
    pub fn insert(&mut self, id: ItemId, x: SparseVec, value: V) -> Result<()> {
        if self.memories.slot(id).is_some() {
            return Err(Error::value("memory", "an identifier that is new", format!("{}, which is there already", id.0)));
        }
        let slot = self.memories.add(Memory { id, x, value });
        for tree in &mut self.trees {
            tree.insert(&self.memories, slot, &self.options, true);
            for _ in 0..self.options.reroutes {
                tree.reroute(&self.memories, &self.options, true);
            }
        }
        Ok(())
    }

    /// Removes a memory and returns it. What routers and scorer have learned from it stays.
    /// O(depth) a tree.
    pub fn remove(&mut self, id: ItemId) -> Option<Memory<V>> {
        let slot = self.memories.slot(id)?;
        for tree in &mut self.trees {
            tree.remove(slot);
        }
        self.memories.take(slot)
    }

    /// Reroutes `count` random memories in each tree: removes them and inserts them again, training
    /// the routers on their path. O(count depth features) a tree, besides splits.
    pub fn reroute(&mut self, count: usize) {
        for tree in &mut self.trees {
            for _ in 0..count {
                tree.reroute(&self.memories, &self.options, true);
            }
        }
    }

    /// Inserts every memory again where the routers lead it now, training none: afterwards each is
    /// in the leaf that its own vector is led to, unless [`SplitRule::FreshRouter`] split a leaf
    /// meanwhile. Rerouting tends to this state; here it is reached at once. O(memories * depth *
    /// features) a tree, besides splits.
    pub fn settle(&mut self) {
        for tree in &mut self.trees {
            tree.settle(&self.memories, &self.options);
        }
    }

    /// Resets the scorer: it forgets every reward.
    pub fn forget_rewards(&mut self) {
        self.scorer = Scorer::new(&self.options);
    }

    /// The memory of that identifier. O(1).
    pub fn get(&self, id: ItemId) -> Option<&Memory<V>> {
        self.memories.get(self.memories.slot(id)?)
    }

    /// All memories, in an order that depends on past insertions and removals.
    pub fn iter(&self) -> impl Iterator<Item = &Memory<V>> {
        self.memories.slots.iter().flatten()
    }

    /// The number of memories.
    pub fn len(&self) -> usize {
        self.memories.len()
    }

    /// Whether there are no memories.
    pub fn is_empty(&self) -> bool {
        self.memories.len() == 0
    }

    /// The number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The options it was made with.
    pub fn options(&self) -> &CmtOptions {
        &self.options
    }
}
