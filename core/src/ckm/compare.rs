//! The best kernels of a query's elements over the elements of a training image.

use multiversion::multiversion;

use super::element::{ElementSet, Places, Values};
use super::kernel::LeafKernel;
use super::options::ElementKind;
use crate::hamming::{self, LANES};

/// The elements of a query, ready to be compared.
pub(super) struct Queries<'a> {
    set: &'a ElementSet,
    /// Dense values, `dimension` an element.
    rows: Vec<f32>,
    norms: Vec<f32>,
    dimension: usize,
    unit: f32,
    kernel: LeafKernel,
}

impl<'a> Queries<'a> {
    pub(super) fn new(set: &'a ElementSet, kind: &ElementKind) -> Self {
        let (dimension, unit, kernel) = (kind.source.dimension(), kind.source.unit(), kind.kernel);
        let rows: Vec<f32> = (0..set.len()).flat_map(|i| set.row(i)).map(f32::from).collect();
        let norms =
            if dimension == 0 { Vec::new() } else { rows.chunks_exact(dimension).map(|row| row.iter().map(|v| v * v).sum()).collect() };
        Self { set, rows, norms, dimension, unit, kernel }
    }

    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    /// For each query element the largest kernel (plus element weight) over the elements of one
    /// training image; minus infinity when it has none. O(query elements * training elements).
    pub(super) fn bests(&self, image: &ElementSet, out: &mut [f32]) {
        match &image.values {
            Values::Binary(blocks) => binary_bests(self, blocks.blocks(), &image.places, out),
            Values::Dense { lanes, norms } => dense_bests(self, lanes, norms, &image.places, out),
        }
    }

    /// The element of `image` (the first of equals) that makes query element `j`'s best, with its
    /// feature distance and the kernel's two parts.
    pub(super) fn trace(&self, image: &ElementSet, j: usize) -> Option<(usize, f32, f32, f32)> {
        let [x, y] = self.set.position(j);
        let mut best: Option<(f32, (usize, f32, f32, f32))> = None;
        for z in 0..image.len() {
            let distance = match &image.values {
                Values::Binary(_) => self.set.descriptor(j).hamming(&image.descriptor(z)) as f32,
                Values::Dense { norms, .. } => {
                    let dot: f32 = image.row(z).zip(&self.rows[j * self.dimension..]).map(|(a, b)| f32::from(a) * b).sum();
                    (self.norms[j] + norms[z / LANES][z % LANES] - 2.0 * dot).sqrt() * (1.0 / self.unit)
                }
            };
            let places = &image.places[z / LANES];
            let (likeness, nearness) = self.kernel.parts(distance, x - places.x[z % LANES], y - places.y[z % LANES]);
            let value = likeness + nearness + places.weight[z % LANES];
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, (z, distance, likeness, nearness)));
            }
        }
        best.map(|(_, found)| found)
    }
}

#[inline(always)]
fn largest(kernel: &LeafKernel, distances: &[f32; LANES], places: &Places, x: f32, y: f32, best: &mut [f32; LANES]) {
    for i in 0..LANES {
        let (likeness, nearness) = kernel.parts(distances[i], x - places.x[i], y - places.y[i]);
        best[i] = best[i].max(likeness + nearness + places.weight[i]);
    }
}

#[inline(always)]
fn reduce(lanes: &[f32; LANES]) -> f32 {
    let mut halves = [f32::NEG_INFINITY; LANES / 2];
    for i in 0..LANES / 2 {
        halves[i] = lanes[i].max(lanes[i + LANES / 2]);
    }
    halves.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

#[multiversion(targets("x86_64+avx2+popcnt+bmi1+bmi2", "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2"))]
fn binary_bests(queries: &Queries<'_>, blocks: &[hamming::Block], places: &[Places], out: &mut [f32]) {
    let kernel = queries.kernel;
    for (j, out) in out.iter_mut().enumerate() {
        let descriptor = queries.set.descriptor(j);
        let [x, y] = queries.set.position(j);
        let mut best = [f32::NEG_INFINITY; LANES];
        for (block, places) in blocks.iter().zip(places) {
            let distances = hamming::distances(block, &descriptor).map(|d| d as i32 as f32);
            largest(&kernel, &distances, places, x, y, &mut best);
        }
        *out = reduce(&best);
    }
}

/// Query elements that share each load of a training element.
const TILE: usize = 4;

#[multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2"))]
fn dense_bests(queries: &Queries<'_>, lanes: &[[u8; LANES]], norms: &[[f32; LANES]], places: &[Places], out: &mut [f32]) {
    let kernel = queries.kernel;
    let dimension = queries.dimension;
    for (tile, out) in out.chunks_mut(TILE).enumerate() {
        // A tile at the end repeats its last row; what that gives is not kept.
        let row_of = |t: usize| (tile * TILE + t).min(queries.norms.len() - 1);
        let rows: [&[f32]; TILE] = std::array::from_fn(|t| &queries.rows[row_of(t) * dimension..][..dimension]);
        let mut bests = [[f32::NEG_INFINITY; LANES]; TILE];
        for ((block, norms), places) in lanes.chunks_exact(dimension).zip(norms).zip(places) {
            let mut dots = [[0.0f32; LANES]; TILE];
            for (d, values) in block.iter().enumerate() {
                let values = values.map(f32::from);
                for t in 0..TILE {
                    let factor = rows[t][d];
                    for i in 0..LANES {
                        dots[t][i] += factor * values[i];
                    }
                }
            }
            for t in 0..out.len() {
                let j = row_of(t);
                let [x, y] = queries.set.position(j);
                let mut distances = [0.0; LANES];
                for i in 0..LANES {
                    distances[i] = (queries.norms[j] + norms[i] - 2.0 * dots[t][i]).sqrt() * (1.0 / queries.unit);
                }
                largest(&kernel, &distances, places, x, y, &mut bests[t]);
            }
        }
        for (out, best) in out.iter_mut().zip(&bests) {
            *out = reduce(best);
        }
    }
}
