//! The nearest neighbours of every point: the labels that candidate selection is learned from.

use rayon::prelude::*;

use super::super::corpus::{CodeQuery, Codes, PointSet, Rounding, Shortlist};
use crate::error::{Error, Result};
use crate::linalg::dots::{LANES, TILE};
use crate::nearest::Metric;
use crate::progress::Progress;

/// Blocks of points that are compared with several queries before the next ones.
const BLOCKS: usize = 32;

/// Points between two reports of progress.
const TASK: usize = 8 * TILE;

/// For each of some queries its nearest points of a corpus, nearest first, by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnnGraph {
    k: usize,
    lists: Vec<u32>,
}

impl KnnGraph {
    /// The `k` nearest points of the corpus for each query (fewer where there are fewer points).
    /// Where queries are the corpus itself, `is_own`, each point comes first in its own list, also
    /// where others are equal to it, but not by inner product, where others may be nearer.
    ///
    /// Exact: a first look compares vectors of seven bits a value, whose error has a bound by the
    /// inequality of Cauchy and Schwarz; the distance itself is computed of all points that the
    /// bound does not exclude. On all threads, and equal on any number of them. O(queries * points
    /// * dimension), of which most are products of bytes.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn exact(corpus: &PointSet, queries: &PointSet, k: usize, is_own: bool, progress: &Progress) -> Result<Self> {
        let k = k.min(corpus.len());
        let look = Look::new(corpus);
        progress.begin("Finding the neighbours of all points", queries.len().div_ceil(TASK) as u64);
        let places: Vec<usize> = (0..queries.len()).collect();
        let lists = |places: &[usize]| -> Result<Vec<u32>> {
            progress.step()?;
            Ok(places.chunks(TILE).flat_map(|places| look.nearest(corpus, queries, places, k, is_own)).collect())
        };
        let parts: Vec<Vec<u32>> = places.par_chunks(TASK).map(lists).collect::<Result<_>>()?;
        Ok(Self { k, lists: parts.concat() })
    }

    /// Lists that were found elsewhere, one for each query.
    ///
    /// # Errors
    /// [`Error::Value`] when they are not of one length.
    pub fn of(lists: &[Vec<u32>]) -> Result<Self> {
        let k = lists.first().map_or(0, Vec::len);
        match lists.iter().find(|list| list.len() != k) {
            Some(list) => Err(Error::value("neighbours", format!("{k} of each query"), list.len().to_string())),
            None => Ok(Self { k, lists: lists.concat() }),
        }
    }

    /// The length of each list.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.lists.len().checked_div(self.k).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The nearest points of query `i`, nearest first.
    pub fn list(&self, i: usize) -> &[u32] {
        &self.lists[i * self.k..][..self.k]
    }
}

/// What the first look needs.
struct Look {
    rounding: Rounding,
    codes: Codes,
}

impl Look {
    fn new(corpus: &PointSet) -> Self {
        let (rounding, rounded) = Rounding::of(corpus);
        let mut codes = Codes::new(rounding.units.clone());
        rounded.chunks_exact(corpus.dimension().max(1)).for_each(|steps| codes.push(steps));
        Self { rounding, codes }
    }

    /// The lists of at most [`TILE`] queries, one after another.
    fn nearest(&self, corpus: &PointSet, queries: &PointSet, places: &[usize], k: usize, is_own: bool) -> Vec<u32> {
        let mut asked = vec![CodeQuery::default(); places.len()];
        let mut known = Vec::new();
        for (place, asked) in places.iter().zip(&mut asked) {
            let centred = self.rounding.centred(queries.row(*place));
            let mut rest = vec![0.0; centred.len()];
            self.codes.ask(&centred, asked, &mut rest);
            known.push(self.rounding.query(&centred, &rest, asked.step()));
        }
        let tile = self.codes.tile(&asked);
        let mut lists: Vec<Shortlist> = places.iter().map(|_| Shortlist::new(k)).collect();
        let (mut products, n) = (Vec::new(), corpus.len());
        for start in (0..n.div_ceil(LANES)).step_by(BLOCKS) {
            let blocks = start..(start + BLOCKS).min(n.div_ceil(LANES));
            self.codes.products_of(&tile, blocks, &mut products);
            for (products, first) in products.iter().zip((start * LANES..n).step_by(LANES)) {
                let rounded = &self.rounding.points[first..(first + LANES).min(n)];
                for ((products, query), list) in products.iter().zip(&known).zip(&mut lists) {
                    for ((product, rounded), point) in products.iter().zip(rounded).zip(first as u32..) {
                        list.offer(point, rounded.bounds(*query, *product));
                    }
                }
            }
        }
        let mut all = Vec::new();
        for (list, place) in lists.into_iter().zip(places) {
            let row = queries.row(*place);
            let is_first = is_own && corpus.metric() != Metric::InnerProduct;
            let is_other = |point: u32| !(is_first && point as usize == *place);
            let mut points: Vec<u32> = list.finish().collect();
            if points.len() < k {
                // No bound could be told.
                points = (0..n as u32).collect();
            }
            let measured = |point: u32| (is_other(point), corpus.distance(row, point as usize), point);
            let mut near: Vec<(bool, f32, u32)> = points.into_iter().map(measured).collect();
            near.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
            all.extend(near.iter().take(k).map(|(_, _, point)| *point));
        }
        all
    }
}
