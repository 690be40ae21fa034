//! QUERY without exploration: the best memories of the leaves that the routers lead to, and of
//! those that they nearly lead to.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::memories::Memories;
use super::scorer::Prepared;
use super::tree::Tree;
use super::{Cmt, Memory, MemoryHit, QueryResult, Router, Slot};
use crate::ids::ItemId;
use crate::nearest::{Cost, Filter, Neighbor, Neighbors, TopK, everything};
use crate::sparse::SparseVec;

impl<V, R: Router> Cmt<V, R> {
    /// The at most `k` best memories in the leaf that `x` is led to, in each tree: the paper's
    /// query, with ε = 0.
    ///
    /// O((depth + cap) features) a tree.
    pub fn query(&self, x: &SparseVec, k: usize) -> QueryResult {
        self.query_budget(x, k, 1)
    }

    /// The at most `k` best memories, best first and of equals the one with the lower identifier,
    /// among those in `leaves` leaves for each tree. The more leaves, the better the answer; with
    /// all of them it is the exact one.
    ///
    /// The detour cost of a leaf is the sum of |g| over the nodes at which the path to it goes
    /// against the router. First the leaf that the routers lead to is visited in each tree, whose
    /// cost is 0; then the others of all trees, lowest cost first. A memory in several trees is
    /// scored once. O((depth + cap) features) a leaf, plus O(log leaves).
    pub fn query_budget(&self, x: &SparseVec, k: usize, leaves: usize) -> QueryResult {
        let found = self.nearest(x, k, leaves, &everything);
        QueryResult { hits: found.list.into_iter().map(MemoryHit::from).collect(), cost: found.cost }
    }

    /// [`Cmt::query_budget`] among the memories that a filter admits, with minus the score as
    /// distance.
    pub(super) fn nearest(&self, x: &SparseVec, k: usize, leaves: usize, admits: Filter<'_>) -> Neighbors {
        let mut cost = Cost::default();
        let prepared = self.scorer.prepare(x);
        let mut best = Best::new(k.min(self.len()), admits);
        if self.trees.len() == 1 {
            visit(&self.trees, x, leaves, &mut cost, |_, _, slots, cost| best.scan(&self.memories, &prepared, slots, cost));
        } else {
            let candidates = self.candidates(x, leaves, &mut cost);
            best.scan(&self.memories, &prepared, &candidates, &mut cost);
        }
        Neighbors { list: best.nearest.finish(), cost }
    }

    /// The memories that [`Cmt::query_budget`] chooses from, in no particular order.
    pub fn reached(&self, x: &SparseVec, leaves: usize) -> Vec<ItemId> {
        let slots = self.candidates(x, leaves, &mut Cost::default());
        slots.into_iter().map(|slot| self.memories.at(slot).id).collect()
    }

    fn candidates(&self, x: &SparseVec, leaves: usize, cost: &mut Cost) -> Vec<Slot> {
        let mut candidates = Vec::new();
        visit(&self.trees, x, leaves, cost, |_, _, slots, _| candidates.extend(slots));
        if self.trees.len() > 1 {
            candidates.sort_unstable();
            candidates.dedup();
        }
        candidates
    }
}

/// A subtree that was not entered, and the detour cost of entering it.
struct Detour {
    cost: f64,
    tree: usize,
    node: u32,
}

impl Ord for Detour {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cost.total_cmp(&other.cost).then(self.tree.cmp(&other.tree)).then(self.node.cmp(&other.node))
    }
}

impl PartialOrd for Detour {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Detour {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Detour {}

/// Calls `scan` with the tree, the leaf and its members for at most `leaves` leaves a tree: first
/// the leaf that the routers lead to in each tree, then those of the lowest detour cost.
pub(super) fn visit<R: Router>(
    trees: &[Tree<R>],
    x: &SparseVec,
    leaves: usize,
    cost: &mut Cost,
    mut scan: impl FnMut(usize, u32, &[Slot], &mut Cost),
) {
    let mut detours = BinaryHeap::new();
    let mut roots = trees.iter().enumerate().map(|(tree, own)| Detour { cost: 0.0, tree, node: own.root });
    for left in (0..leaves.saturating_mul(trees.len())).rev() {
        let Some(way) = roots.next().or_else(|| detours.pop().map(|Reverse(way)| way)) else { return };
        let tree = &trees[way.tree];
        let leaf = tree.route(way.node, x, |_, inner, margin| {
            cost.nodes += 1;
            cost.values += x.len() as u64;
            if left > 0 {
                let node = inner.sides[usize::from(margin <= 0.0)];
                detours.push(Reverse(Detour { cost: way.cost + margin.abs(), tree: way.tree, node }));
            }
        });
        cost.leaves += 1;
        scan(way.tree, leaf, tree.members(leaf), cost);
    }
}

/// The best hits so far.
pub(super) struct Best<'a> {
    /// By minus the score.
    nearest: TopK,
    admits: Filter<'a>,
}

impl<'a> Best<'a> {
    pub(super) fn new(k: usize, admits: Filter<'a>) -> Self {
        Self { nearest: TopK::new(k), admits }
    }

    /// Scores memories and keeps the best.
    pub(super) fn scan<V>(&mut self, memories: &Memories<V>, prepared: &Prepared<'_>, slots: &[Slot], cost: &mut Cost) {
        let found: Vec<&Memory<V>> = slots.iter().map(|&slot| memories.at(slot)).collect();
        // A prefetch: the vectors lie anywhere in memory; independent reads, one for each 64 bytes,
        // bring all of them into the cache at the same time.
        let entries = found.iter().flat_map(|memory| memory.x.entries().iter().step_by(8));
        let near = entries.fold(0, |near, entry| near ^ entry.0);
        std::hint::black_box(near);
        cost.points += found.len() as u64;
        for memory in found {
            cost.values += memory.x.len() as u64;
            let distance = -prepared.score(&memory.x);
            if self.nearest.admits(memory.id, distance) && (self.admits)(memory.id) {
                self.nearest.offer(memory.id, distance);
            }
        }
    }

    /// Best first; of equals, the lower identifier.
    pub(super) fn finish(self) -> Vec<MemoryHit> {
        self.nearest.finish().into_iter().map(MemoryHit::from).collect()
    }
}

impl From<Neighbor> for MemoryHit {
    fn from(found: Neighbor) -> Self {
        Self { id: found.id, score: -found.distance }
    }
}
