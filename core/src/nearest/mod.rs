//! Nearest neighbours: one trait that every index answers, the exact scans that they are compared
//! with, and what all of them share.
//!
//! Problem: of a set of points, each known by an [`ItemId`], find the at most k that are nearest to
//! a query and that a filter admits. [`NeighborIndex`] answers that question; [`Within`] finds all
//! points within a radius, which only exact indexes can do; points can be inserted into [`Dynamic`]
//! indexes and removed from them at any time. A [`Distance`] defines what is nearest.
//!
//! | index | points | answers | a query |
//! |---|---|---|---|
//! | [`Scan`] | of any kind | exactly; the yardstick of all others | O(n) distances |
//! | [`DenseScan`] | vectors of f32 | exactly | O(n d), vectorised, in blocks for many queries |
//! | [`SparseScan`] | sparse vectors | exactly | O(entries of all points) |
//! | [`KdTree`] | vectors of f32 | exactly | O(log n) for few dimensions, O(n) for many |
//! | [`crate::cover_tree::DenseTree`] | vectors of f32; a [`crate::cover_tree::CoverTree`] of points of any kind | exactly, in any metric | O(log n) where points lie near few dimensions, O(n) otherwise |
//! | [`crate::hamming::HammingScan`] | 256 bits | exactly | O(n), vectorised |
//! | [`crate::cmt::CmtIndex`] | sparse vectors | approximately, by learned routers | O(log n) |
//! | [`crate::ann::Ivf`] | vectors of f32 | approximately, by lists of the nearest centres | O((lists + probes * n / lists) d) |
//! | [`crate::ann::BinaryIvf`] | 256 bits | approximately, by lists of the nearest centres | O(lists + probes * n / lists) |
//! | [`crate::ann::cells::CellIndex`] | vectors of f32 | approximately, by short codes in cells, at a recall that is asked for | O(d axes + probes * n / cells * code + candidates * d) |
//! | [`crate::ann::candidates::CandidateIndex`] | vectors of f32 | approximately, by trees trained on neighbours | O(trees * depth + candidates * d) |
//! | [`Regrown`] | any | as the index that it wraps | as that index, and a scan of the points added since |
//!
//! Results are ordered by distance and, of equals, by identifier, so that an answer depends on
//! nothing but the points. Below some thousands of points a scan is as fast as any index, and
//! exact: it is the default.
//!
//! ```
//! use tessera_core::ids::ItemId;
//! use tessera_core::nearest::{DenseScan, Dynamic, Metric, NeighborIndex, everything};
//!
//! let mut index = DenseScan::new(2, Metric::Euclidean);
//! index.insert(ItemId(7), &[0.0, 0.0])?;
//! index.insert(ItemId(8), &[3.0, 4.0])?;
//! let found = index.nearest(&[3.0, 3.0], 1, &everything)?;
//! assert_eq!((found.list[0].id, found.list[0].distance), (ItemId(8), 1.0));
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod dense;
mod distance;
mod farthest;
mod kd_tree;
mod regrown;
mod scan;
mod sparse;
mod top_k;

pub use dense::DenseScan;
pub use distance::{Distance, Metric};
pub use farthest::farthest_first;
pub use kd_tree::KdTree;
pub use regrown::{Growth, Regrown};
pub use scan::Scan;
pub use sparse::SparseScan;
pub use top_k::TopK;

use rayon::prelude::*;

use crate::error::{Error, Result};
pub use crate::ids::{ItemId, Neighbor};

/// Which items may be found.
pub type Filter<'a> = &'a (dyn Fn(ItemId) -> bool + Sync);

/// The filter that admits every item.
pub fn everything(_: ItemId) -> bool {
    true
}

/// Work in units that are the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Inner nodes of trees visited; in memory trees, routers evaluated.
    pub nodes: u64,
    /// Leaves visited.
    pub leaves: u64,
    /// Points whose distance or score was computed.
    pub points: u64,
    /// Components of vectors that were read for that.
    pub values: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.leaves += other.leaves;
        self.points += other.points;
        self.values += other.values;
    }
}

/// The result of a query: the neighbours found, and the work done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbors {
    /// The nearest first; of equals, the lower identifier.
    pub list: Vec<Neighbor>,
    /// The work of this query alone.
    pub cost: Cost,
}

/// An index of points that answers queries for nearest neighbours.
pub trait NeighborIndex: Sync {
    /// The type of points and queries: `[f32]`, [`crate::sparse::SparseVec`],
    /// [`crate::descriptor::Descriptor`] …
    type Point: ?Sized + Sync;

    /// The number of points.
    fn len(&self) -> usize;

    /// Whether there are no points.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The at most `k` nearest points that `admits` lets through, nearest first. An index says in
    /// its own documentation whether that is exact.
    ///
    /// # Errors
    /// [`Error::Value`] when the query has another dimension than the points, or a value that is
    /// not finite; dense values beyond 1e15 in size are refused too.
    fn nearest(&self, query: &Self::Point, k: usize, admits: Filter<'_>) -> Result<Neighbors>;

    /// [`NeighborIndex::nearest`] of several queries, on all threads, in their order. The same
    /// answers.
    ///
    /// # Errors
    /// As [`NeighborIndex::nearest`].
    fn nearest_of_all(&self, queries: &[&Self::Point], k: usize, admits: Filter<'_>) -> Result<Vec<Neighbors>> {
        queries.par_iter().map(|query| self.nearest(query, k, admits)).collect()
    }
}

/// An exact index that finds every point within a radius.
pub trait Within: NeighborIndex {
    /// All points that `admits` lets through whose distance is at most `radius`, nearest first.
    ///
    /// # Errors
    /// As [`NeighborIndex::nearest`].
    fn within(&self, query: &Self::Point, radius: f64, admits: Filter<'_>) -> Result<Neighbors>;
}

/// An index whose points can be inserted and removed at any time.
pub trait Dynamic: NeighborIndex {
    /// Adds a point.
    ///
    /// # Errors
    /// [`Error::Value`] when there is a point of this identifier already, or as
    /// [`NeighborIndex::nearest`] when the point does not fit this index. Nothing has changed then.
    fn insert(&mut self, id: ItemId, point: &Self::Point) -> Result<()>;

    /// Removes a point. Returns whether there was one of this identifier.
    fn remove(&mut self, id: ItemId) -> bool;
}

/// The error for an identifier that is already in use.
pub(crate) fn taken(id: ItemId) -> Error {
    Error::value("point", "an identifier that is new", format!("{}, which is there already", id.0))
}
