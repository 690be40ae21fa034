//! Which points attract each other, and how much.

use rayon::prelude::*;

use super::{Components, TASK};
use crate::ann::PointSet;
use crate::ann::candidates::KnnGraph;
use crate::error::Result;
use crate::linalg::single::squared_distance;
use crate::nearest::Metric;
use crate::progress::Progress;

/// Halvings of the interval in which a width is looked for.
const HALVINGS: usize = 50;
/// How far the logarithm of a perplexity may be off.
const TOLERANCE: f64 = 1e-5;

/// The symmetric probabilities of pairs of neighbours (p_ij), as lists of each point. All add up to
/// 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Affinities {
    starts: Vec<usize>,
    pairs: Vec<(u32, f32)>,
}

impl Affinities {
    /// Those of points to their exact neighbours, three times as many as the perplexity, which is
    /// at most a third of the number of other points.
    ///
    /// # Errors
    /// [`crate::Error::Value`] for values that are not finite; [`crate::Error::Cancelled`].
    pub(super) fn new(points: &Components, perplexity: f64, progress: &Progress) -> Result<Self> {
        let n = points.len();
        let perplexity = perplexity.min(n.saturating_sub(1) as f64 / 3.0).max(1.0);
        let k = (3.0 * perplexity).ceil() as usize;
        let mut set = PointSet::new(points.axes(), Metric::Euclidean);
        (0..n).try_for_each(|i| set.push(points.row(i)))?;
        let graph = KnnGraph::exact(&set, &set, k + 1, true, progress)?;
        let of = |i: usize| {
            let others = graph.list(i).iter().copied().filter(|j| *j as usize != i);
            let squared: Vec<(u32, f64)> =
                others.map(|j| (j, f64::from(squared_distance(points.row(i), points.row(j as usize))))).collect();
            probabilities(&squared, perplexity.ln())
        };
        let tasks: Vec<usize> = (0..if graph.k() > 1 { n } else { 0 }).collect();
        let lists: Vec<Vec<(u32, f64)>> = tasks.par_chunks(TASK).flat_map_iter(|task| task.iter().map(|i| of(*i))).collect();
        Ok(symmetric(&lists, n))
    }

    /// The points that point `i` attracts, with the probability of each pair.
    pub(super) fn of(&self, i: usize) -> &[(u32, f32)] {
        &self.pairs[self.starts[i]..self.starts[i + 1]]
    }
}

/// The probabilities of neighbours at these squared distances: a Gaussian as wide as gives them the
/// entropy that is asked for.
fn probabilities(squared: &[(u32, f64)], entropy: f64) -> Vec<(u32, f64)> {
    let nearest = squared.iter().map(|(_, squared)| *squared).fold(f64::INFINITY, f64::min);
    let mean = squared.iter().map(|(_, squared)| squared - nearest).sum::<f64>() / squared.len().max(1) as f64;
    let (mut low, mut high) = (0.0, f64::INFINITY);
    // All are equally near: no width is better than another.
    let mut precision = if mean > 0.0 { 1.0 / mean } else { 0.0 };
    for _ in 0..HALVINGS {
        let (mut total, mut weighted) = (0.0, 0.0);
        for (_, squared) in squared {
            let weight = (-precision * (squared - nearest)).exp();
            total += weight;
            weighted += weight * (squared - nearest);
        }
        let off = total.ln() + precision * weighted / total - entropy;
        if off.abs() < TOLERANCE || precision == 0.0 {
            break;
        }
        if off > 0.0 {
            low = precision;
            precision = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * precision };
        } else {
            high = precision;
            precision = f64::midpoint(low, high);
        }
    }
    let weights: Vec<f64> = squared.iter().map(|(_, squared)| (-precision * (squared - nearest)).exp()).collect();
    let total: f64 = weights.iter().sum();
    squared.iter().zip(weights).map(|((j, _), weight)| (*j, weight / total)).collect()
}

/// p_ij = (p_j|i + p_i|j) / 2n, each list by ascending points.
fn symmetric(lists: &[Vec<(u32, f64)>], n: usize) -> Affinities {
    let mut both: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    for (i, list) in (0u32..).zip(lists) {
        for (j, p) in list {
            both[i as usize].push((*j, *p));
            both[*j as usize].push((i, *p));
        }
    }
    let scale = 1.0 / (2.0 * n.max(1) as f64);
    let merged: Vec<Vec<(u32, f32)>> = both
        .into_par_iter()
        .map(|mut list| {
            list.sort_by_key(|(j, _)| *j);
            let mut merged: Vec<(u32, f32)> = Vec::with_capacity(list.len());
            for one in list.chunk_by(|a, b| a.0 == b.0) {
                merged.push((one[0].0, (one.iter().map(|(_, p)| p).sum::<f64>() * scale) as f32));
            }
            merged
        })
        .collect();
    let mut starts = vec![0];
    starts.extend(merged.iter().scan(0, |end, list| {
        *end += list.len();
        Some(*end)
    }));
    Affinities { starts, pairs: merged.concat() }
}
