//! A memory tree as an index of nearest neighbours, so that it can be compared with any other
//! index.

use super::{Cmt, Router};
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::{Dynamic, Filter, NeighborIndex, Neighbors};
use crate::online_linear::AdaptiveLinear;
use crate::sparse::SparseVec;

/// An index that finds the memories of highest score in the leaves that a query visits.
///
/// Distances are minus the scores, so they may have any sign once the scorer has learned.
/// Approximate: with as many leaves as there are memories it is exact with regard to the score.
#[derive(Clone, Debug)]
pub struct CmtIndex<V, R = AdaptiveLinear> {
    /// The memory tree.
    pub memory: Cmt<V, R>,
    /// Leaves that a query visits in each tree.
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
