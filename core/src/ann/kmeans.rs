//! k-means by Lloyd's iterations.

use rand::seq::index::sample;
use rayon::prelude::*;

use super::rows::Rows;
use crate::linalg::single::least;
use crate::random::Rng;

/// Rows that one parallel task assigns.
const TASK: usize = 1024;

/// For each row of a row-major matrix the nearest centre, of equals the first, on all threads.
/// O(rows * centres * dimension).
pub(super) fn assign(matrix: &[f32], dimension: usize, centres: &Rows) -> Vec<usize> {
    let task = |rows: &[f32]| {
        let mut squares = Vec::new();
        let nearest = |row: &[f32]| {
            centres.squares(row, &mut squares);
            least(&squares, centres.len())
        };
        rows.chunks_exact(dimension).map(nearest).collect::<Vec<usize>>()
    };
    let parts: Vec<Vec<usize>> = matrix.par_chunks(TASK * dimension).map(task).collect();
    parts.concat()
}

/// At most `k` centres of the rows of a row-major matrix: rows drawn at random, moved to the means
/// of what is nearest to them, a few times. One that is nearest to nothing stays where it is. Equal
/// on any number of threads. O(iterations * rows * k * dimension).
pub(super) fn kmeans(matrix: &[f32], dimension: usize, k: usize, iterations: usize, rng: &mut Rng) -> Rows {
    let n = matrix.len() / dimension;
    let mut centres = Rows::new(dimension);
    let mut drawn = sample(rng, n, k.min(n)).into_vec();
    drawn.sort_unstable();
    drawn.iter().for_each(|i| centres.push(&matrix[i * dimension..][..dimension]));
    for _ in 0..iterations {
        let homes = assign(matrix, dimension, &centres);
        let mut sums = vec![0.0f64; centres.len() * dimension];
        let mut counts = vec![0usize; centres.len()];
        for (row, home) in matrix.chunks_exact(dimension).zip(homes) {
            counts[home] += 1;
            sums[home * dimension..][..dimension].iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        for (centre, (sums, count)) in sums.chunks_exact(dimension).zip(counts).enumerate() {
            if count > 0 {
                let mean: Vec<f32> = sums.iter().map(|sum| (sum / count as f64) as f32).collect();
                centres.set(centre, &mean);
            }
        }
    }
    centres
}
