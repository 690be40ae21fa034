//! What a layout is worth.

use rayon::prelude::*;

use super::PlanePoint;
use crate::error::Result;
use crate::ids::ItemId;
use crate::linalg::single::squared_distances;
use crate::nearest::TopK;
use crate::progress::Progress;
use crate::random::{drawn, stream};

/// Neighbours in the plane that are looked at, where nothing else is said.
pub const NEIGHBORS: usize = 10;

/// Points between two reports of progress.
const TASK: usize = 16;

/// How far the neighbours in a layout can be trusted (Venna and Kaski 2001): 1 where the `k` points
/// next to each in the plane are its `k` nearest, and less by how far down the list of its nearest
/// the others stand; about 0.5 for places by chance. Points are the rows of a matrix, compared by
/// Euclidean distance; of equals the earlier one is nearer. Measured at all points, or at `sample`
/// of them, drawn by `seed`; `k` is at most what the measure is defined for, (n - 1) / 2; of fewer
/// than three points it is 1. Equal on any number of threads. O(sample * n * dimension).
///
/// # Errors
/// [`crate::Error::Cancelled`].
///
/// # Panics
/// When there are not as many places as rows.
pub fn trustworthiness(
    rows: &[f32],
    dimension: usize,
    places: &[PlanePoint],
    k: usize,
    (sample, seed): (usize, u64),
    progress: &Progress,
) -> Result<f64> {
    let n = places.len();
    assert_eq!(rows.len(), n * dimension, "a row for each place");
    let k = k.min(n.saturating_sub(1) / 2);
    if k == 0 || sample == 0 {
        return Ok(1.0);
    }
    let asked = drawn(n, sample, &mut stream(seed, 2));
    progress.begin("Measuring the map", asked.len().div_ceil(TASK) as u64);
    let of = |i: usize, distances: &mut Vec<f32>| -> u64 {
        distances.resize(n, 0.0);
        squared_distances(&rows[i * dimension..][..dimension], rows, distances);
        let [x, y] = places[i];
        let in_plane = |j: usize| f64::from(places[j][0] - x).powi(2) + f64::from(places[j][1] - y).powi(2);
        let near = TopK::of(k, (0..n).filter(|j| *j != i).map(|j| (ItemId(j as u32), in_plane(j))));
        let beyond = |near: ItemId| {
            let (near, own) = (near.0 as usize, distances[near.0 as usize]);
            let is_nearer = |(j, distance): (usize, &f32)| j != i && (*distance < own || *distance == own && j < near);
            let rank = 1 + distances.iter().enumerate().filter(|one| is_nearer(*one)).count();
            rank.saturating_sub(k) as u64
        };
        near.into_iter().map(|near| beyond(near.id)).sum()
    };
    let sums: Vec<u64> = asked
        .par_chunks(TASK)
        .map(|asked| {
            progress.step()?;
            let mut distances = Vec::new();
            Ok(asked.iter().map(|i| of(*i, &mut distances)).sum())
        })
        .collect::<Result<_>>()?;
    let (n, k, m) = (n as f64, k as f64, asked.len() as f64);
    Ok(1.0 - 2.0 / (m * k * (2.0 * n - 3.0 * k - 1.0)) * sums.iter().sum::<u64>() as f64)
}
