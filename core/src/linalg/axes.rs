//! Principal axes of dense vectors, by subspace iteration.
//!
//! As [`super::pca`] does for sparse vectors.

use multiversion::multiversion;
use rand::RngExt as _;
use rayon::prelude::*;

use super::dots::LANES;
use super::eigen::symmetric;
use super::pca::orthonormal;
use super::single::{add_scaled, dot};
use crate::random::{Rng, drawn};

/// Rounds of subspace iteration.
const ROUNDS: usize = 4;

/// Vectors that one parallel task multiplies.
const TASK: usize = 512;

/// Blocks of axes whose sums fit the registers together.
const GROUP: usize = 4;

/// The axes along which vectors vary most, through their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes {
    mean: Vec<f32>,
    /// Value d of [`LANES`] axes, group by group of [`GROUP`] blocks: `[group][d][block][axis]`.
    values: Vec<[[f32; LANES]; GROUP]>,
    /// The projection of the mean.
    offset: Vec<f32>,
    /// What coordinates are in units of.
    unit: f32,
}

/// Where axis `k` lies: its group, its block in that, and its lane.
fn place(k: usize) -> (usize, usize, usize) {
    (k / (LANES * GROUP), k / LANES % GROUP, k % LANES)
}

impl Axes {
    /// The `count` axes of most variance, at most as many as there are dimensions, of vectors that
    /// are the rows of a matrix. Coordinates along them are in units of the largest deviation of a
    /// value from its mean, so that sums of their products neither overflow nor vanish. Equal on
    /// any number of threads. O(rows * dimension * count).
    pub fn new(rows: &[f32], dimension: usize, count: usize, rng: &mut Rng) -> Self {
        let n = rows.len().checked_div(dimension).unwrap_or(0);
        let count = count.min(dimension).min(n);
        let mut sums = vec![0.0f64; dimension];
        for row in rows.chunks_exact(dimension.max(1)) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let mean: Vec<f32> = sums.into_iter().map(|sum| (sum / n.max(1) as f64) as f32).collect();
        let deviation = |row: &[f32]| row.iter().zip(&mean).fold(0.0, |most: f32, (value, mean)| most.max((value - mean).abs()));
        let largest = rows.chunks_exact(dimension.max(1)).map(deviation).fold(0.0, f32::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let of_unit: Vec<f32> = rows.chunks_exact(dimension.max(1)).flatten().map(|value| value / unit).collect();
        let middle: Vec<f32> = mean.iter().map(|value| value / unit).collect();
        let mut columns: Vec<Vec<f32>> = (0..count).map(|_| (0..dimension).map(|_| rng.random::<f32>() - 0.5).collect()).collect();
        orthonormal(&mut columns);
        for _ in 0..ROUNDS {
            let product = Self::with(middle.clone(), &columns, 1.0).times_covariance(&of_unit);
            columns = (0..count).map(|k| product.iter().map(|row| row[k / LANES][k % LANES]).collect()).collect();
            orthonormal(&mut columns);
        }
        let mut turned = Self::with(middle, &columns, 1.0).turned(&columns, &of_unit);
        turned.iter_mut().flatten().for_each(|value| *value /= unit);
        Self::with(mean, &turned, unit)
    }

    /// As [`Axes::new`], of at most `sample` of the rows, drawn at random.
    pub fn of_sample(rows: &[f32], dimension: usize, count: usize, sample: usize, rng: &mut Rng) -> Self {
        let n = rows.len().checked_div(dimension).unwrap_or(0);
        if n <= sample {
            return Self::new(rows, dimension, count, rng);
        }
        let taken: Vec<f32> = drawn(n, sample, rng).into_iter().flat_map(|i| &rows[i * dimension..][..dimension]).copied().collect();
        Self::new(&taken, dimension, count, rng)
    }

    /// Axes through a mean, each of as many values and of length 1 over `unit`.
    pub(crate) fn with(mean: Vec<f32>, columns: &[Vec<f32>], unit: f32) -> Self {
        let dimension = mean.len();
        let groups = columns.len().div_ceil(LANES * GROUP);
        let mut values = vec![[[0.0; LANES]; GROUP]; groups * dimension];
        for (k, column) in columns.iter().enumerate() {
            let (group, block, lane) = place(k);
            values[group * dimension..][..dimension].iter_mut().zip(column).for_each(|(to, value)| to[block][lane] = *value);
        }
        let offset = columns.iter().map(|column| dot(column, &mean)).collect();
        Self { mean, values, offset, unit }
    }

    /// The number of axes.
    pub fn count(&self) -> usize {
        self.offset.len()
    }

    /// The axes, one after another.
    pub fn rows(&self) -> Vec<f32> {
        let dimension = self.mean.len();
        let of = |k: usize| {
            let (group, block, lane) = place(k);
            self.values[group * dimension..][..dimension].iter().map(move |values| values[block][lane])
        };
        (0..self.count()).flat_map(of).collect()
    }

    /// The projection of the mean itself.
    pub fn offset(&self) -> &[f32] {
        &self.offset
    }

    /// What coordinates are in units of.
    pub fn unit(&self) -> f32 {
        self.unit
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }

    /// The mean of the vectors.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// The coordinates of `x` along the axes, from the mean. O(dimension * count).
    pub fn project(&self, x: &[f32], out: &mut Vec<f32>) {
        out.clear();
        if !x.is_empty() {
            let centred: Vec<f32> = x.iter().zip(&self.mean).map(|(value, mean)| value - mean).collect();
            project(&centred, &self.values, out);
        }
        out.truncate(self.count());
    }

    /// The projections of all rows, one after another, on all threads.
    pub fn project_all(&self, rows: &[f32]) -> Vec<f32> {
        let of = |rows: &[f32]| {
            let (mut all, mut one) = (Vec::new(), Vec::new());
            for row in rows.chunks_exact(self.mean.len().max(1)) {
                self.project(row, &mut one);
                all.extend_from_slice(&one);
            }
            all
        };
        let parts: Vec<Vec<f32>> = rows.par_chunks(TASK * self.mean.len().max(1)).map(of).collect();
        parts.concat()
    }

    /// The covariance matrix (times the number of rows) times the axes: for each dimension a row.
    fn times_covariance(&self, rows: &[f32]) -> Vec<Vec<[f32; LANES]>> {
        let (dimension, blocks) = (self.mean.len(), self.count().div_ceil(LANES));
        let of = |rows: &[f32]| {
            let mut sums = vec![[0.0f32; LANES]; dimension * blocks];
            let (mut projected, mut centred) = (Vec::new(), vec![0.0; dimension]);
            for row in rows.chunks_exact(dimension.max(1)) {
                self.project(row, &mut projected);
                projected.resize(blocks * LANES, 0.0);
                for ((to, value), mean) in centred.iter_mut().zip(row).zip(&self.mean) {
                    *to = value - mean;
                }
                add_products(&mut sums, &centred, projected.as_chunks().0);
            }
            sums
        };
        let parts: Vec<Vec<[f32; LANES]>> = rows.par_chunks(TASK * dimension.max(1)).map(of).collect();
        let mut sums = vec![[0.0f32; LANES]; dimension * blocks];
        for part in parts {
            add_scaled(sums.as_flattened_mut(), 1.0, part.as_flattened());
        }
        sums.chunks(blocks.max(1)).map(<[_]>::to_vec).collect()
    }

    /// The same axes, turned so that the rows are uncorrelated along them, most variance first.
    fn turned(&self, columns: &[Vec<f32>], rows: &[f32]) -> Vec<Vec<f32>> {
        let k = self.count();
        let projected = self.project_all(rows);
        let of = |rows: &[f32]| {
            let mut covariance = vec![0.0f32; k * k];
            for row in rows.chunks_exact(k.max(1)) {
                covariance.chunks_exact_mut(k.max(1)).zip(row).for_each(|(to, a)| add_scaled(to, *a, row));
            }
            covariance
        };
        let parts: Vec<Vec<f32>> = projected.par_chunks((TASK * k).max(1)).map(of).collect();
        let mut covariance = vec![0.0f64; k * k];
        for part in parts {
            covariance.iter_mut().zip(part).for_each(|(sum, value)| *sum += f64::from(value));
        }
        let turns = symmetric(covariance, k);
        let turn = |(_, turn): &(f64, Vec<f64>)| {
            let mut axis = vec![0.0; self.mean.len()];
            columns.iter().zip(turn).for_each(|(column, part)| add_scaled(&mut axis, *part as f32, column));
            axis
        };
        turns.iter().map(turn).collect()
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn project(x: &[f32], values: &[[[f32; LANES]; GROUP]], out: &mut Vec<f32>) {
    for group in values.chunks_exact(x.len()) {
        let [mut a, mut b, mut c, mut d] = [[0.0f32; LANES]; GROUP];
        for (blocks, value) in group.iter().zip(x) {
            for i in 0..LANES {
                a[i] += blocks[0][i] * value;
            }
            for i in 0..LANES {
                b[i] += blocks[1][i] * value;
            }
            for i in 0..LANES {
                c[i] += blocks[2][i] * value;
            }
            for i in 0..LANES {
                d[i] += blocks[3][i] * value;
            }
        }
        [a, b, c, d].iter().for_each(|sums| out.extend_from_slice(sums));
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn add_products(sums: &mut [[f32; LANES]], x: &[f32], projected: &[[f32; LANES]]) {
    for (sums, value) in sums.chunks_exact_mut(projected.len().max(1)).zip(x) {
        for (sum, projected) in sums.iter_mut().zip(projected) {
            for i in 0..LANES {
                sum[i] += projected[i] * value;
            }
        }
    }
}
