//! Principal components of sparse vectors, by subspace iteration.
//!
//! - Halko, Martinsson and Tropp, *Finding structure with randomness*, 2011: a random subspace,
//!   multiplied by the covariance matrix a few times, contains them.

use std::collections::BTreeMap;

use rand::RngExt;

use super::eigen::symmetric;
use super::single::{add_scaled, dot};
use crate::random::Rng;
use crate::sparse::SparseVec;

/// Rounds of subspace iteration.
const ROUNDS: usize = 5;

/// The directions along which vectors vary most.
#[derive(Clone, Debug)]
pub struct Pca {
    dimensions: usize,
    /// The row of `directions` of each feature that occurs.
    rows: BTreeMap<u32, usize>,
    /// A row for each feature, a column for each direction, most variance first.
    directions: Vec<f32>,
    /// The projection of the mean of the vectors.
    middle: Vec<f32>,
}

impl Pca {
    /// The at most `dimensions` directions of most variance. O(rounds d (features of all vectors +
    /// d features that occur)).
    pub fn new(vectors: &[SparseVec], dimensions: usize, rng: &mut Rng) -> Self {
        let mut rows = BTreeMap::new();
        let mut mean: Vec<f32> = Vec::new();
        for &(index, value) in vectors.iter().flat_map(|x| x.entries()) {
            let row = *rows.entry(index).or_insert(mean.len());
            if row == mean.len() {
                mean.push(0.0);
            }
            mean[row] += value / vectors.len() as f32;
        }
        let k = dimensions.min(rows.len()).min(vectors.len());
        let mut pca = Self { dimensions: k, rows, directions: Vec::new(), middle: vec![0.0; k] };
        if k == 0 {
            return pca;
        }
        pca.directions = (0..mean.len() * k).map(|_| rng.random::<f32>() - 0.5).collect();
        orthonormalise(&mut pca.directions, k);
        for _ in 0..ROUNDS {
            pca.multiply(vectors, &mean);
            orthonormalise(&mut pca.directions, k);
        }
        pca.turn(vectors, &mean);
        pca
    }

    /// The number of directions.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The coordinates of `x` along the directions, from the mean: `(dimensions)`.
    /// O(features of x * directions).
    pub fn project(&self, x: &SparseVec) -> Vec<f32> {
        let mut projected: Vec<f32> = self.middle.iter().map(|middle| -middle).collect();
        for (index, value) in x.entries() {
            if let Some(row) = self.rows.get(index) {
                add_scaled(&mut projected, *value, self.direction(*row));
            }
        }
        projected
    }

    fn direction(&self, row: usize) -> &[f32] {
        &self.directions[row * self.dimensions..][..self.dimensions]
    }

    /// Sets `middle` to the projection of the mean.
    fn centre(&mut self, mean: &[f32]) {
        let mut middle = vec![0.0; self.dimensions];
        for (row, value) in mean.iter().enumerate() {
            add_scaled(&mut middle, *value, self.direction(row));
        }
        self.middle = middle;
    }

    /// One round of subspace iteration: multiplies the directions by the covariance matrix of the
    /// vectors.
    fn multiply(&mut self, vectors: &[SparseVec], mean: &[f32]) {
        let k = self.dimensions;
        self.centre(mean);
        let mut product = vec![0.0; self.directions.len()];
        let mut sum = vec![0.0; k];
        for x in vectors {
            let projected = self.project(x);
            add_scaled(&mut sum, 1.0, &projected);
            for (index, value) in x.entries() {
                add_scaled(&mut product[self.rows[index] * k..][..k], *value, &projected);
            }
        }
        for (row, value) in mean.iter().enumerate() {
            add_scaled(&mut product[row * k..][..k], -value, &sum);
        }
        self.directions = product;
    }

    /// Rotates the directions so that the vectors are uncorrelated along them, and puts the one of
    /// most variance first.
    fn turn(&mut self, vectors: &[SparseVec], mean: &[f32]) {
        let k = self.dimensions;
        self.centre(mean);
        let mut covariance = vec![0.0f64; k * k];
        for x in vectors {
            let projected = self.project(x);
            for (row, a) in covariance.chunks_exact_mut(k).zip(&projected) {
                row.iter_mut().zip(&projected).for_each(|(sum, b)| *sum += f64::from(a * b));
            }
        }
        let turns = symmetric(covariance, k);
        for row in self.directions.chunks_exact_mut(k) {
            let old = row.to_vec();
            for (value, (_, turn)) in row.iter_mut().zip(&turns) {
                *value = old.iter().zip(turn).map(|(a, b)| f64::from(*a) * b).sum::<f64>() as f32;
            }
        }
        self.centre(mean);
    }
}

/// Makes the `k` columns of a matrix orthogonal and of length 1, as [`orthonormal`] does.
fn orthonormalise(matrix: &mut [f32], k: usize) {
    let n = matrix.len() / k;
    let mut columns: Vec<Vec<f32>> = (0..k).map(|j| (0..n).map(|i| matrix[i * k + j]).collect()).collect();
    orthonormal(&mut columns);
    for (j, column) in columns.iter().enumerate() {
        column.iter().enumerate().for_each(|(i, value)| matrix[i * k + j] = *value);
    }
}

/// Makes vectors orthogonal and of length 1, by Gram and Schmidt, twice over; those that depend
/// linearly on the ones before them become 0. O(vectors^2 * dimension).
pub(crate) fn orthonormal(vectors: &mut [Vec<f32>]) {
    for j in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(j);
        let vector = &mut rest[0];
        let before = dot(vector, vector).sqrt();
        for _ in 0..2 {
            for other in done.iter() {
                let part = dot(vector, other);
                add_scaled(vector, -part, other);
            }
        }
        let length = dot(vector, vector).sqrt();
        let scale = if length > 1e-6 * before { 1.0 / length } else { 0.0 };
        vector.iter_mut().for_each(|value| *value *= scale);
    }
}
