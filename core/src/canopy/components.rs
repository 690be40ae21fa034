//! The clusters of a mixture in tables, and the densities of many points in many clusters.
//!
//! The density of a Gaussian is a constant less the square of the length of x * scale - shift,
//! value by value; that of a direction is a constant plus the inner product of x with shift. All
//! terms of the square are positive, so that f32 loses nothing by cancellation.

use multiversion::multiversion;
use rayon::prelude::*;

use super::family::{Covariance, Parameters};

/// Clusters side by side.
pub(super) const LANES: usize = 16;

/// Points that share each load of parameters.
const TILE: usize = 8;

/// Values that are added up before they are added to the rest, so that long sums stay exact enough.
const RUN: usize = 64;

/// For one value of a point, the scale and shift of [`LANES`] clusters.
type Lens = [[f32; LANES]; 2];

/// Scores of [`LANES`] clusters.
pub(super) type Scores = [f32; LANES];

/// The parameters of some clusters, block by block.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    /// For each block, the lenses of all values.
    lenses: Vec<Lens>,
    /// What a density begins with, for each block; minus infinity beyond the last cluster.
    bases: Vec<Scores>,
    d: usize,
}

/// The clusters of a mixture, as tables.
#[derive(Clone, Debug)]
pub(super) struct Components {
    covariance: Covariance,
    d: usize,
    /// Logarithms of shares plus those of the densities' constant factors.
    bases: Vec<f32>,
    /// Logarithms of the shares.
    pub(super) log_shares: Vec<f64>,
    /// Cluster by cluster, `(clusters, d)`.
    scales: Vec<f32>,
    shifts: Vec<f32>,
    packed: Packed,
}

impl Packed {
    /// No clusters, for points of `d` values.
    fn clear(&mut self, d: usize) {
        self.lenses.clear();
        self.bases.clear();
        self.d = d;
    }

    /// Adds a cluster as number `i`; the numbers come in order.
    fn push(&mut self, i: usize, base: f32, scales: &[f32], shifts: &[f32]) {
        let lane = i % LANES;
        if lane == 0 {
            self.lenses.extend(std::iter::repeat_n([[0.0; LANES]; 2], self.d));
            self.bases.push([f32::NEG_INFINITY; LANES]);
        }
        let block = i / LANES;
        self.bases[block][lane] = base;
        for ((lens, scale), shift) in self.lenses[block * self.d..].iter_mut().zip(scales).zip(shifts) {
            lens[0][lane] = *scale;
            lens[1][lane] = *shift;
        }
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.bases.len()
    }

    /// The scores of some points, rows of a matrix, block after block and within each point by
    /// point: `(blocks, points)`. O(points * clusters * d).
    pub(super) fn scores(&self, covariance: Covariance, points: &[f32], out: &mut Vec<Scores>) {
        let n = points.len() / self.d.max(1);
        out.clear();
        out.resize(n * self.blocks(), [0.0; LANES]);
        for ((lenses, base), out) in self.lenses.chunks_exact(self.d.max(1)).zip(&self.bases).zip(out.chunks_exact_mut(n.max(1))) {
            let tiles = points.chunks(self.d * TILE).zip(out.chunks_mut(TILE));
            for (points, out) in tiles {
                match covariance {
                    Covariance::Directions => products(points, lenses, base, out),
                    Covariance::Isotropic | Covariance::Diagonal => squares(points, lenses, base, out),
                }
            }
        }
    }
}

impl Components {
    /// Tables of clusters with the logarithms of their shares. O(clusters * d).
    pub(super) fn new(covariance: Covariance, parameters: &[Parameters], log_shares: Vec<f64>) -> Self {
        let d = parameters.first().map_or(0, |parameters| parameters.middle.len());
        let family = covariance.family();
        let rows: Vec<(f32, Vec<f32>, Vec<f32>)> = parameters
            .par_iter()
            .zip(&log_shares)
            .map(|(own, log_share)| {
                if covariance == Covariance::Directions {
                    let (theta, g) = family.natural(own);
                    return ((log_share - g) as f32, vec![0.0; d], theta.iter().map(|value| *value as f32).collect());
                }
                let constant: f64 = own.spread.iter().map(|variance| -0.5 * (std::f64::consts::TAU * variance).ln()).sum();
                let scales: Vec<f64> = own.spread.iter().map(|variance| (0.5 / variance).sqrt()).collect();
                let shifts = own.middle.iter().zip(&scales).map(|(mean, scale)| (mean * scale) as f32).collect();
                ((log_share + constant) as f32, scales.iter().map(|scale| *scale as f32).collect(), shifts)
            })
            .collect();
        let mut components = Self {
            covariance,
            d,
            bases: rows.iter().map(|row| row.0).collect(),
            log_shares,
            scales: rows.iter().flat_map(|row| &row.1).copied().collect(),
            shifts: rows.iter().flat_map(|row| &row.2).copied().collect(),
            packed: Packed::default(),
        };
        let mut packed = Packed::default();
        components.pack(0..components.count() as u32, &mut packed);
        components.packed = packed;
        components
    }

    /// The number of clusters.
    pub(super) fn count(&self) -> usize {
        self.bases.len()
    }

    /// The share of each cluster.
    pub(super) fn shares(&self) -> Vec<f64> {
        self.log_shares.iter().map(|share| share.exp()).collect()
    }

    fn row<'a>(&self, values: &'a [f32], cluster: usize) -> &'a [f32] {
        &values[cluster * self.d..][..self.d]
    }

    /// Packs some clusters, in that order.
    pub(super) fn pack(&self, clusters: impl Iterator<Item = u32>, packed: &mut Packed) {
        packed.clear(self.d);
        for (i, cluster) in clusters.map(|cluster| cluster as usize).enumerate() {
            packed.push(i, self.bases[cluster], self.row(&self.scales, cluster), self.row(&self.shifts, cluster));
        }
    }

    /// The logarithms of share times density of all clusters, as [`Packed::scores`].
    pub(super) fn scores(&self, points: &[f32], out: &mut Vec<Scores>) {
        self.packed.scores(self.covariance, points, out);
    }

    /// The same of packed ones.
    pub(super) fn scores_of(&self, packed: &Packed, points: &[f32], out: &mut Vec<Scores>) {
        packed.scores(self.covariance, points, out);
    }

    /// The logarithm of share times density of one cluster. O(d).
    pub(super) fn score(&self, x: &[f32], cluster: usize) -> f32 {
        let (scales, shifts) = (self.row(&self.scales, cluster), self.row(&self.shifts, cluster));
        let base = self.bases[cluster];
        match self.covariance {
            Covariance::Directions => base + crate::linalg::single::dot(x, shifts),
            Covariance::Isotropic | Covariance::Diagonal => base - square(x, scales, shifts),
        }
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.scales[..]) * 2 + size_of_val(&self.packed.lenses[..])
    }
}

/// The square of the length of x * scales - shifts.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn square(x: &[f32], scales: &[f32], shifts: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (longs, rest) = x.as_chunks::<LANES>();
    let (scale_longs, scale_rest) = scales.as_chunks::<LANES>();
    let (shift_longs, shift_rest) = shifts.as_chunks::<LANES>();
    for ((x, scale), shift) in longs.iter().zip(scale_longs).zip(shift_longs) {
        for i in 0..LANES {
            let t = x[i] * scale[i] - shift[i];
            sums[i] += t * t;
        }
    }
    let rest = rest.iter().zip(scale_rest).zip(shift_rest).map(|((x, scale), shift)| (x * scale - shift) * (x * scale - shift));
    sums.iter().sum::<f32>() + rest.sum::<f32>()
}

/// Scores of at most [`TILE`] points in one block of Gaussians.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn squares(points: &[f32], lenses: &[Lens], base: &Scores, out: &mut [Scores]) {
    let d = lenses.len();
    if out.len() == TILE {
        let rows: [&[f32]; TILE] = std::array::from_fn(|p| &points[p * d..(p + 1) * d]);
        let mut totals = [[0.0f32; LANES]; TILE];
        for start in (0..d).step_by(RUN) {
            let end = d.min(start + RUN);
            let lenses = &lenses[start..end];
            let rows: [&[f32]; TILE] = std::array::from_fn(|p| &rows[p][start..end]);
            let mut sums = [[0.0f32; LANES]; TILE];
            for (at, [scale, shift]) in lenses.iter().enumerate() {
                for p in 0..TILE {
                    let x = rows[p][at];
                    for i in 0..LANES {
                        let t = x * scale[i] - shift[i];
                        sums[p][i] += t * t;
                    }
                }
            }
            for p in 0..TILE {
                for i in 0..LANES {
                    totals[p][i] += sums[p][i];
                }
            }
        }
        for (out, total) in out.iter_mut().zip(&totals) {
            *out = std::array::from_fn(|i| base[i] - total[i]);
        }
        return;
    }
    for (out, row) in out.iter_mut().zip(points.chunks_exact(d.max(1))) {
        let mut total = [0.0f32; LANES];
        for (row, lenses) in row.chunks(RUN).zip(lenses.chunks(RUN)) {
            let mut sums = [0.0f32; LANES];
            for (x, [scale, shift]) in row.iter().zip(lenses) {
                for i in 0..LANES {
                    let t = x * scale[i] - shift[i];
                    sums[i] += t * t;
                }
            }
            for i in 0..LANES {
                total[i] += sums[i];
            }
        }
        *out = std::array::from_fn(|i| base[i] - total[i]);
    }
}

/// Scores of at most [`TILE`] points in one block of directions.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn products(points: &[f32], lenses: &[Lens], base: &Scores, out: &mut [Scores]) {
    for (out, row) in out.iter_mut().zip(points.chunks_exact(lenses.len().max(1))) {
        let mut sums = [0.0f32; LANES];
        for (x, [_, shift]) in row.iter().zip(lenses) {
            for i in 0..LANES {
                sums[i] += x * shift[i];
            }
        }
        *out = std::array::from_fn(|i| base[i] + sums[i]);
    }
}

/// Replaces scores by their exponentials after `most` is taken off, and returns their sum. `most`
/// is the largest, so that none is above 1; those below 1e-37 are 0. O(n).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub(super) fn exponentials(scores: &mut [Scores], most: f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    for scores in scores {
        for i in 0..LANES {
            scores[i] = exp(scores[i] - most);
            sums[i] += scores[i];
        }
    }
    sums.iter().sum()
}

/// The exponential of what is at most 0, off by 2e-7 of it: a power of 2 times a polynomial on
/// [-ln 2 / 2, ln 2 / 2].
#[inline(always)]
fn exp(x: f32) -> f32 {
    const LEAST: f32 = -85.0;
    const ROUND: f32 = 12_582_912.0;
    let bounded = if x > LEAST { x } else { LEAST };
    let turns = bounded * std::f32::consts::LOG2_E + ROUND;
    let whole = turns - ROUND;
    let rest = (bounded - whole * 0.693_359_4) - whole * -2.121_944_4e-4;
    let p = 1.987_569_1e-4f32;
    let p = p * rest + 1.398_199_9e-3;
    let p = p * rest + 8.333_452e-3;
    let p = p * rest + 4.166_579_6e-2;
    let p = p * rest + 0.166_666_66;
    let p = p * rest + 0.5;
    let value = p * (rest * rest) + rest + 1.0;
    let power = f32::from_bits(((turns.to_bits() as i32 - ROUND.to_bits() as i32 + 127) << 23) as u32);
    if x > LEAST { value * power } else { 0.0 }
}

/// The first cluster of the largest score, and that score. O(n).
pub(super) fn best<'a>(scores: impl Iterator<Item = &'a Scores> + Clone) -> (u32, f32) {
    let most = largest(scores.clone().copied());
    let place = |(block, scores): (usize, &Scores)| Some(block * LANES + scores.iter().position(|score| *score == most)?);
    (scores.enumerate().find_map(place).unwrap_or(0) as u32, most)
}

/// The largest of some scores, which lie one block each `step` apart. O(n).
pub(super) fn largest(scores: impl Iterator<Item = Scores>) -> f32 {
    let lanes = scores
        .fold([f32::NEG_INFINITY; LANES], |most, scores| std::array::from_fn(|i| if scores[i] > most[i] { scores[i] } else { most[i] }));
    lanes.into_iter().fold(f32::NEG_INFINITY, f32::max)
}
