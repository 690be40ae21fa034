//! A memory as an index of neighbours, so that it can be compared with any other.

use super::{Cmt, Router};
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::{Dynamic, Filter, NeighborIndex, Neighbors};
use crate::online_linear::AdaptiveLinear;
use crate::sparse::SparseVec;

/// A memory that is asked for the nearest memories: those of the best score in some leaves.
///
/// Distances are minus the scores, which a scorer that has learned may make of any sign. Approximate: with as
/// many leaves as there are memories it is exact with regard to the score.
#[derive(Clone, Debug)]
pub struct CmtIndex<V, R = AdaptiveLinear> {
    /// The memory.
    pub memory: Cmt<V, R>,
    /// Leaves looked at, for each tree.
    pub leaves: usize,
}

impl<V: Sync, R: Router + Sync> NeighborIndex for CmtIndex<V, R> {
    type Point = SparseVec;

    fn len(&self) -> usize {
        self.memory.len()
    }

    /// [`Cmt::query_budget`]; O((depth + cap) features) a leaf.
    fn nearest(&self, query: &SparseVec, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        Ok(self.memory.nearest(query, k, self.leaves, admits))
    }
}

impl<V: Default + Sync, R: Router + Sync> Dynamic for CmtIndex<V, R> {
    fn insert(&mut self, id: ItemId, point: &SparseVec) -> Result<()> {
        self.memory.insert(id, point.clone(), V::default())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        self.memory.remove(id).is_some()
    }
}
