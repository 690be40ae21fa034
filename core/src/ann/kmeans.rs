//! k-means by Lloyd's iterations; over bits this is k-majority.

use std::borrow::Borrow as _;

use rayon::prelude::*;

use super::vectors::Vectors;
use crate::linalg::single::least;
use crate::random::{Rng, drawn};

/// Points that one parallel task assigns.
const TASK: usize = 1024;

/// For each point the nearest centre, of equals the first, on all threads. O(points * centres *
/// dimension).
pub(super) fn assign<V: Vectors>(points: &V, centres: &V) -> Vec<usize> {
    let task = |start: usize| {
        let mut compared = Vec::new();
        let nearest = |i: usize| {
            centres.compare(points.get(i).borrow(), &mut compared);
            least(&compared, centres.points())
        };
        (start..points.points().min(start + TASK)).map(nearest).collect::<Vec<usize>>()
    };
    let starts: Vec<usize> = (0..points.points()).step_by(TASK).collect();
    let parts: Vec<Vec<usize>> = starts.into_par_iter().map(task).collect();
    parts.concat()
}

/// At most `k` centres: points drawn at random, moved to the middle of what is nearest to them, a
/// few times. One that is nearest to nothing stays where it is. Equal on any number of threads.
/// O(iterations * points * k * dimension).
pub(super) fn kmeans<V: Vectors>(points: &V, k: usize, iterations: usize, rng: &mut Rng) -> V {
    let (n, dimension) = (points.points(), points.dimension());
    let mut centres = V::new(dimension);
    drawn(n, k, rng).into_iter().for_each(|i| centres.push(points.get(i).borrow()));
    for _ in 0..iterations {
        let homes = assign(points, &centres);
        let mut sums = vec![0.0f64; centres.points() * dimension];
        let mut counts = vec![0usize; centres.points()];
        for (i, home) in homes.into_iter().enumerate() {
            counts[home] += 1;
            points.add_to(i, &mut sums[home * dimension..][..dimension]);
        }
        let mut moved = V::new(dimension);
        for (centre, (sums, count)) in sums.chunks_exact(dimension).zip(counts).enumerate() {
            let middle = if count > 0 { V::middle(sums, count) } else { centres.get(centre) };
            moved.push(middle.borrow());
        }
        centres = moved;
    }
    centres
}
