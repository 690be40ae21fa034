//! The exact scan over sparse vectors: the query is expanded to a dense array, so that each entry
//! of a point costs one access to it.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{Cost, Distance as _, Dynamic, Filter, Metric, NeighborIndex, Neighbors, TopK, Within, taken};
use crate::error::Result;
use crate::ids::ItemId;
use crate::sparse::SparseVec;

thread_local! {
    /// The array of the last query of this thread, all zero: 4 bytes for each feature up to the
    /// largest. A query takes it and puts it back, so that a filter may ask another scan meanwhile.
    static EXPANDED: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Features from here on are looked up in the query itself, so that the array stays small.
const EXPANDED_BELOW: u32 = 1 << 24;

fn has_large(point: &SparseVec) -> bool {
    point.entries().last().is_some_and(|entry| entry.0 >= EXPANDED_BELOW)
}

/// A corpus of sparse vectors; a query computes its distance to every one of them. Exact but for
/// rounding: inner products are sums of f32.
#[derive(Clone, Debug)]
pub struct SparseScan {
    metric: Metric,
    points: Vec<(ItemId, SparseVec)>,
    at: HashMap<ItemId, usize>,
    entries: usize,
    /// How many points have features that are looked up in the query.
    large: usize,
}

impl SparseScan {
    /// A scan without points.
    pub fn new(metric: Metric) -> Self {
        Self { metric, points: Vec::new(), at: HashMap::new(), entries: 0, large: 0 }
    }

    /// The key that vectors are ordered by, the smaller the nearer, from the inner product with the
    /// query.
    fn key(&self, dot: f64, point: &SparseVec) -> f64 {
        match self.metric {
            Metric::Euclidean => point.square() - 2.0 * dot,
            Metric::InnerProduct => 0.0 - dot,
            Metric::Cosine if dot == 0.0 => 0.0,
            Metric::Cosine => 0.0 - dot / point.norm(),
        }
    }

    fn distance(&self, key: f64, query: &SparseVec) -> f64 {
        match self.metric {
            Metric::Euclidean => (key + query.square()).max(0.0).sqrt(),
            Metric::InnerProduct => key,
            Metric::Cosine if key == 0.0 => 1.0,
            Metric::Cosine => 1.0 + key / query.norm(),
        }
    }

    fn offer(&self, query: &SparseVec, expanded: &[f32], admits: Filter<'_>, nearest: &mut TopK) {
        for (id, point) in &self.points {
            let term = |&(index, value): &(u32, f32)| expanded.get(index as usize).copied().unwrap_or(0.0) * value;
            let mut dot = point.entries().iter().map(term).sum::<f32>();
            if self.large > 0 {
                let large = point.entries().iter().rev().take_while(|entry| entry.0 >= EXPANDED_BELOW);
                dot += large.map(|&(index, value)| query.get(index) * value).sum::<f32>();
            }
            let key = self.key(f64::from(dot), point);
            if nearest.admits(*id, key) && admits(*id) {
                nearest.offer(*id, key);
            }
        }
    }
}

impl NeighborIndex for SparseScan {
    type Point = SparseVec;

    fn len(&self) -> usize {
        self.points.len()
    }

    /// O(entries of all points).
    fn nearest(&self, query: &SparseVec, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.metric.check(query, None)?;
        let small = query.entries().partition_point(|entry| entry.0 < EXPANDED_BELOW);
        let small = &query.entries()[..small];
        let mut expanded = EXPANDED.take();
        let n = small.last().map_or(0, |entry| entry.0 as usize + 1);
        if expanded.len() < n {
            expanded.resize(n, 0.0);
        }
        small.iter().for_each(|&(index, value)| expanded[index as usize] = value);
        let mut nearest = TopK::new(k);
        self.offer(query, &expanded, admits, &mut nearest);
        small.iter().for_each(|&(index, _)| expanded[index as usize] = 0.0);
        EXPANDED.set(expanded);
        let mut list = nearest.finish();
        list.iter_mut().for_each(|neighbor| neighbor.distance = self.distance(neighbor.distance, query));
        Ok(Neighbors { list, cost: Cost { points: self.points.len() as u64, values: self.entries as u64, ..Cost::default() } })
    }
}

impl Within for SparseScan {
    fn within(&self, query: &SparseVec, radius: f64, admits: Filter<'_>) -> Result<Neighbors> {
        let mut found = self.nearest(query, self.points.len(), admits)?;
        found.list.retain(|neighbor| neighbor.distance <= radius);
        Ok(found)
    }
}

impl Dynamic for SparseScan {
    fn insert(&mut self, id: ItemId, point: &SparseVec) -> Result<()> {
        self.metric.check(point, None)?;
        if self.at.contains_key(&id) {
            return Err(taken(id));
        }
        self.at.insert(id, self.points.len());
        self.points.push((id, point.clone()));
        self.entries += point.len();
        self.large += usize::from(has_large(point));
        Ok(())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        let Some(at) = self.at.remove(&id) else { return false };
        let (_, gone) = self.points.swap_remove(at);
        self.entries -= gone.len();
        self.large -= usize::from(has_large(&gone));
        if let Some((moved, _)) = self.points.get(at) {
            self.at.insert(*moved, at);
        }
        true
    }
}
