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

    /// The element of `image` (the first of equals) that makes query element `j`'s best, and its
    /// kernel without the weight. O(elements of the image), several at a time.
    pub(super) fn piece(&self, image: &ElementSet, j: usize) -> Option<(usize, f32)> {
        let best = match &image.values {
            Values::Binary(blocks) => binary_piece(self, blocks.blocks(), &image.places, j),
            Values::Dense { lanes, norms } => dense_piece(self, lanes, norms, &image.places, j),
        };
        best.first()
    }

    /// The element of `image` (the first of equals) that makes query element `j`'s best.
    pub(super) fn trace(&self, image: &ElementSet, j: usize) -> Option<Traced> {
        let [x, y] = self.set.position(j);
        let mut best: Option<(f32, Traced)> = None;
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
            let weight = places.weight[z % LANES];
            let value = likeness + nearness + weight;
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, Traced { element: z, distance, likeness, nearness, weight }));
            }
        }
        best.map(|(_, found)| found)
    }
}

/// A training element that makes a query element's best kernel, and the parts of that kernel.
#[derive(Clone, Copy)]
pub(super) struct Traced {
    /// Which of its image's elements of the kind.
    pub(super) element: usize,
    /// The distance of the features.
    pub(super) distance: f32,
    pub(super) likeness: f32,
    pub(super) nearness: f32,
    pub(super) weight: f32,
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

/// For each lane the largest kernel with its weight, the kernel without it, and the block it is in.
struct BestLanes {
    value: [f32; LANES],
    kernel: [f32; LANES],
    block: [u32; LANES],
}

impl BestLanes {
    fn new() -> Self {
        Self { value: [f32::NEG_INFINITY; LANES], kernel: [0.0; LANES], block: [0; LANES] }
    }

    #[inline(always)]
    fn see(&mut self, kernel: &LeafKernel, block: usize, distances: &[f32; LANES], places: &Places, x: f32, y: f32) {
        for i in 0..LANES {
            let (likeness, nearness) = kernel.parts(distances[i], x - places.x[i], y - places.y[i]);
            let value = likeness + nearness + places.weight[i];
            let is_better = value > self.value[i];
            self.value[i] = if is_better { value } else { self.value[i] };
            self.kernel[i] = if is_better { likeness + nearness } else { self.kernel[i] };
            self.block[i] = if is_better { block as u32 } else { self.block[i] };
        }
    }

    /// The first element of the largest value, and its kernel.
    fn first(&self) -> Option<(usize, f32)> {
        let most = reduce(&self.value);
        let element = |i: usize| self.block[i] as usize * LANES + i;
        let equals = (0..LANES).filter(|&i| most > f32::NEG_INFINITY && self.value[i] == most);
        equals.min_by_key(|&i| element(i)).map(|i| (element(i), self.kernel[i]))
    }
}

#[multiversion(targets("x86_64+avx2+popcnt+bmi1+bmi2", "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2"))]
fn binary_piece(queries: &Queries<'_>, blocks: &[hamming::Block], places: &[Places], j: usize) -> BestLanes {
    let (descriptor, [x, y]) = (queries.set.descriptor(j), queries.set.position(j));
    let mut best = BestLanes::new();
    for (b, (block, places)) in blocks.iter().zip(places).enumerate() {
        let distances = hamming::distances(block, &descriptor).map(|d| d as i32 as f32);
        best.see(&queries.kernel, b, &distances, places, x, y);
    }
    best
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2"))]
fn dense_piece(queries: &Queries<'_>, lanes: &[[u8; LANES]], norms: &[[f32; LANES]], places: &[Places], j: usize) -> BestLanes {
    let (dimension, [x, y]) = (queries.dimension, queries.set.position(j));
    let row = &queries.rows[j * dimension..][..dimension];
    let mut best = BestLanes::new();
    for (b, ((block, norms), places)) in lanes.chunks_exact(dimension).zip(norms).zip(places).enumerate() {
        let mut dots = [0.0f32; LANES];
        for (values, factor) in block.iter().zip(row) {
            for i in 0..LANES {
                dots[i] += factor * f32::from(values[i]);
            }
        }
        let mut distances = [0.0; LANES];
        for i in 0..LANES {
            distances[i] = (queries.norms[j] + norms[i] - 2.0 * dots[i]).sqrt() * (1.0 / queries.unit);
        }
        best.see(&queries.kernel, b, &distances, places, x, y);
    }
    best
}
