//! The exact scan over dense vectors: rows side by side, distances by vector instructions.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::distance::check_dense;
use super::{Cost, Dynamic, Filter, Metric, NeighborIndex, Neighbors, TopK, Within, taken};
use crate::error::Result;
use crate::ids::ItemId;
use crate::linalg::single;

/// Values in a block of rows, which all queries of a batch scan before the next block, so that it
/// stays in the processor's cache.
const BLOCK_VALUES: usize = 32 * 1024;
/// Rows whose distances are computed at once.
const ROWS: usize = 64;
/// Queries that share a block of rows.
const QUERIES: usize = 16;
/// The number of values from which on a single query uses several threads.
const PARALLEL: usize = 1 << 22;

/// A corpus of dense vectors; a query computes its distance to every one of them. Exact, for any
/// [`Metric`].
///
/// Memory: 4 bytes a value and 32 a vector. Removing one moves the last into its place.
#[derive(Clone, Debug)]
pub struct DenseScan {
    dimension: usize,
    metric: Metric,
    /// Row-major `(n, dimension)`.
    rows: Vec<f32>,
    ids: Vec<ItemId>,
    /// The Euclidean length of each row; empty unless the metric needs it.
    norms: Vec<f64>,
    row_of: HashMap<ItemId, usize>,
}

/// A query, with what is computed once for all its distances.
struct Prepared<'a> {
    query: &'a [f32],
    norm: f64,
}

impl DenseScan {
    /// An empty scan over vectors of `dimension` values.
    pub fn new(dimension: usize, metric: Metric) -> Self {
        Self { dimension, metric, rows: Vec::new(), ids: Vec::new(), norms: Vec::new(), row_of: HashMap::new() }
    }

    /// The vector of that identifier, `(dimension)`.
    pub fn get(&self, id: ItemId) -> Option<&[f32]> {
        self.row_of.get(&id).map(|&row| self.row(row))
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.rows[row * self.dimension..][..self.dimension]
    }

    fn check(&self, point: &[f32]) -> Result<()> {
        check_dense(point, self.dimension)
    }

    fn prepare<'a>(&self, query: &'a [f32]) -> Result<Prepared<'a>> {
        self.check(query)?;
        Ok(Prepared { query, norm: if self.metric == Metric::Cosine { f64::from(single::norm(query)) } else { 0.0 } })
    }

    /// Offers rows by their keys: the distance, or its square where that gives the same order. The
    /// filter may be expensive, so it is called only for rows that would be kept.
    fn offer(&self, prepared: &Prepared<'_>, rows: Range<usize>, admits: Filter<'_>, nearest: &mut TopK) {
        let mut values = [0.0; ROWS];
        for start in rows.clone().step_by(ROWS) {
            let rows = start..(start + ROWS).min(rows.end);
            let values = &mut values[..rows.len()];
            let matrix = &self.rows[rows.start * self.dimension..rows.end * self.dimension];
            match self.metric {
                Metric::Euclidean => single::squared_distances(prepared.query, matrix, values),
                Metric::Cosine | Metric::InnerProduct => single::dots(prepared.query, matrix, values),
            }
            for (row, value) in rows.zip(values.iter()) {
                let value = f64::from(*value);
                let key = match self.metric {
                    Metric::Euclidean => value,
                    Metric::InnerProduct => 0.0 - value,
                    Metric::Cosine => {
                        let lengths = prepared.norm * self.norms[row];
                        if lengths > 0.0 { 1.0 - value / lengths } else { 1.0 }
                    }
                };
                let id = self.ids[row];
                if nearest.admits(id, key) && admits(id) {
                    nearest.offer(id, key);
                }
            }
        }
    }

    fn finish(&self, nearest: TopK) -> Neighbors {
        let mut list = nearest.finish();
        if self.metric == Metric::Euclidean {
            list.iter_mut().for_each(|neighbor| neighbor.distance = neighbor.distance.sqrt());
        }
        Neighbors { list, cost: Cost { points: self.ids.len() as u64, values: self.rows.len() as u64, ..Cost::default() } }
    }

    fn block(&self) -> usize {
        (BLOCK_VALUES / self.dimension.max(1)).max(1)
    }
}

impl NeighborIndex for DenseScan {
    type Point = [f32];

    fn len(&self) -> usize {
        self.ids.len()
    }

    /// O(n d). The filter is called only for points that would otherwise be among the nearest so
    /// far.
    fn nearest(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        let prepared = self.prepare(query)?;
        let n = self.ids.len();
        let part = |rows: Range<usize>| {
            let mut nearest = TopK::new(k);
            self.offer(&prepared, rows, admits, &mut nearest);
            nearest
        };
        if self.rows.len() < PARALLEL {
            return Ok(self.finish(part(0..n)));
        }
        let block = self.block() * 16;
        let parts: Vec<TopK> = (0..n.div_ceil(block)).into_par_iter().map(|at| part(at * block..((at + 1) * block).min(n))).collect();
        let mut nearest = TopK::new(k);
        parts.into_iter().for_each(|part| nearest.join(part));
        Ok(self.finish(nearest))
    }

    /// Rows are read from memory once for every 16 queries.
    fn nearest_of_all(&self, queries: &[&[f32]], k: usize, admits: Filter<'_>) -> Result<Vec<Neighbors>> {
        let (n, block) = (self.ids.len(), self.block());
        let answer = |queries: &[&[f32]]| -> Result<Vec<Neighbors>> {
            let prepared: Vec<Prepared<'_>> = queries.iter().map(|query| self.prepare(query)).collect::<Result<_>>()?;
            let mut nearest = vec![TopK::new(k); queries.len()];
            for start in (0..n).step_by(block) {
                for (prepared, nearest) in prepared.iter().zip(&mut nearest) {
                    self.offer(prepared, start..(start + block).min(n), admits, nearest);
                }
            }
            Ok(nearest.into_iter().map(|nearest| self.finish(nearest)).collect())
        };
        let parts: Vec<Vec<Neighbors>> = queries.par_chunks(QUERIES).map(answer).collect::<Result<_>>()?;
        Ok(parts.into_iter().flatten().collect())
    }
}

impl Within for DenseScan {
    fn within(&self, query: &[f32], radius: f64, admits: Filter<'_>) -> Result<Neighbors> {
        let mut found = self.nearest(query, self.ids.len(), admits)?;
        found.list.retain(|neighbor| neighbor.distance <= radius);
        Ok(found)
    }
}

impl Dynamic for DenseScan {
    /// O(d).
    fn insert(&mut self, id: ItemId, point: &[f32]) -> Result<()> {
        self.check(point)?;
        if self.row_of.contains_key(&id) {
            return Err(taken(id));
        }
        self.row_of.insert(id, self.ids.len());
        self.ids.push(id);
        self.rows.extend_from_slice(point);
        if self.metric == Metric::Cosine {
            self.norms.push(f64::from(single::norm(point)));
        }
        Ok(())
    }

    /// O(d).
    fn remove(&mut self, id: ItemId) -> bool {
        let Some(row) = self.row_of.remove(&id) else { return false };
        self.ids.swap_remove(row);
        let last = self.ids.len();
        self.rows.copy_within(last * self.dimension.., row * self.dimension);
        self.rows.truncate(last * self.dimension);
        if self.metric == Metric::Cosine {
            self.norms.swap_remove(row);
        }
        if let Some(&moved) = self.ids.get(row) {
            self.row_of.insert(moved, row);
        }
        true
    }
}
