//! The best kernels of a query's elements over the elements of a training image.

use multiversion::multiversion;
use multiversion::target::match_target;

use super::element::{ElementSet, Places, Values};
use super::kernel::LeafKernel;
use super::options::ElementKind;
use crate::hamming::{self, LANES};
use crate::linalg::dots::{self, Factors, NARROW, Quads, TILE};

/// The elements of a query, ready to be compared.
pub(super) struct Queries<'a> {
    set: &'a ElementSet,
    /// Dense values, for each tile of query elements four by four.
    factors: Vec<Factors>,
    /// Squared lengths of dense elements.
    norms: Vec<i32>,
    /// Four dense values are a quad.
    quads: usize,
    /// Whether no value is above [`NARROW`].
    is_narrow: bool,
    unit: f32,
    kernel: LeafKernel,
}

impl<'a> Queries<'a> {
    pub(super) fn new(set: &'a ElementSet, kind: &ElementKind) -> Self {
        let quads = kind.source.dimension().div_ceil(4);
        let mut factors = vec![[0; TILE]; set.len().div_ceil(TILE) * quads];
        let mut norms = Vec::new();
        if quads > 0 {
            for j in 0..set.len() {
                for (d, value) in set.row(j).enumerate() {
                    factors[j / TILE * quads + d / 4][j % TILE] |= i32::from_le_bytes([value, 0, 0, 0]) << (8 * (d % 4));
                }
                norms.push(set.row(j).map(|value| i32::from(value).pow(2)).sum());
            }
        }
        let is_narrow = kind.source.largest() <= NARROW;
        Self { set, factors, norms, quads, is_narrow, unit: kind.source.unit(), kernel: kind.kernel }
    }

    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    /// Compares the query with images one after another.
    pub(super) fn comparison(&self) -> Comparison<'_> {
        Comparison { queries: self, nearness: Nearness::default() }
    }

    /// The element of `image` (the first of equals) that makes query element `j`'s best, and its
    /// kernel without the weight. O(elements of the image), several at a time.
    pub(super) fn piece(&self, image: &ElementSet, j: usize) -> Option<(usize, f32)> {
        let best = match &image.values {
            Values::Binary(blocks) => binary_piece(self, blocks.blocks(), &image.places, j),
            Values::Dense { quads, norms, .. } => dense_piece(self, quads, norms, &image.places, j),
        };
        best.first()
    }

    /// The element of `image` (the first of equals) that makes query element `j`'s best, or where a
    /// value was found that may not be the best, the one whose value is that.
    pub(super) fn trace(&self, image: &ElementSet, j: usize, found: Option<f32>) -> Option<Traced> {
        let [x, y] = self.set.position(j);
        let mut best: Option<(f32, Traced)> = None;
        for z in 0..image.len() {
            let distance = match &image.values {
                Values::Binary(_) => self.set.descriptor(j).hamming(&image.descriptor(z)) as f32,
                Values::Dense { .. } => {
                    let square: i32 = self.set.row(j).zip(image.row(z)).map(|(a, b)| (i32::from(a) - i32::from(b)).pow(2)).sum();
                    (square as f32).sqrt() * (1.0 / self.unit)
                }
            };
            let places = &image.places[z / LANES];
            let (likeness, nearness) = self.kernel.parts(distance, x - places.x[z % LANES], y - places.y[z % LANES]);
            let weight = places.weight[z % LANES];
            let value = likeness + nearness + weight;
            let fit = found.map_or(value, |found| -(value - found).abs());
            if best.is_none_or(|(most, _)| fit > most) {
                best = Some((fit, Traced { element: z, distance, likeness, nearness, weight }));
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

/// Compares one query with images one after another. Dense elements mostly lie on the same grid in
/// all images, so their nearness is computed anew only where the grid changes.
pub(super) struct Comparison<'a> {
    queries: &'a Queries<'a>,
    nearness: Nearness,
}

impl Comparison<'_> {
    /// For each query element the largest kernel (plus element weight) over the elements of one
    /// training image; minus infinity when it has none. O(query elements * training elements).
    pub(super) fn bests(&mut self, image: &ElementSet, out: &mut [f32]) {
        match &image.values {
            Values::Binary(blocks) => binary_bests(self.queries, blocks.blocks(), &image.places, out),
            Values::Dense { quads, norms, .. } => {
                self.nearness.update(self.queries, &image.places);
                dense_bests(self.queries, quads, norms, &image.places, &self.nearness.table, out);
            }
        }
    }
}

/// The kernel's part for position of every query element with every element of an image.
#[derive(Default)]
struct Nearness {
    x: Vec<[f32; LANES]>,
    y: Vec<[f32; LANES]>,
    /// For each tile of query elements, the blocks of the image's elements.
    table: Vec<[[f32; LANES]; TILE]>,
}

impl Nearness {
    fn update(&mut self, queries: &Queries<'_>, places: &[Places]) {
        let is_same = self.x.len() == places.len() && self.x.iter().zip(&self.y).zip(places).all(|((x, y), p)| *x == p.x && *y == p.y);
        if is_same {
            return;
        }
        self.x = places.iter().map(|places| places.x).collect();
        self.y = places.iter().map(|places| places.y).collect();
        self.table.clear();
        self.table.resize(queries.len().div_ceil(TILE) * places.len(), [[0.0; LANES]; TILE]);
        for j in 0..queries.len() {
            let [x, y] = queries.set.position(j);
            for (rows, places) in self.table[j / TILE * places.len()..].iter_mut().zip(places) {
                rows[j % TILE] = nearness(&queries.kernel, places, x, y);
            }
        }
    }
}

#[inline(always)]
fn nearness(kernel: &LeafKernel, places: &Places, x: f32, y: f32) -> [f32; LANES] {
    std::array::from_fn(|i| kernel.parts(0.0, x - places.x[i], y - places.y[i]).1)
}

#[inline(always)]
fn largest(kernel: &LeafKernel, distances: &[f32; LANES], places: &Places, x: f32, y: f32, best: &mut [f32; LANES]) {
    for i in 0..LANES {
        let (likeness, nearness) = kernel.parts(distances[i], x - places.x[i], y - places.y[i]);
        best[i] = most(likeness + nearness + places.weight[i], best[i]);
    }
}

/// The larger of two numbers: one instruction, where `f32::max` must look for what is no number.
#[inline(always)]
fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
fn reduce(lanes: &[f32; LANES]) -> f32 {
    let eight: [f32; LANES / 2] = std::array::from_fn(|i| most(lanes[i], lanes[i + LANES / 2]));
    let four: [f32; LANES / 4] = std::array::from_fn(|i| most(eight[i], eight[i + LANES / 4]));
    most(most(four[0], four[2]), most(four[1], four[3]))
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2", "x86_64+avx2+popcnt+bmi1+bmi2"))]
fn binary_bests(queries: &Queries<'_>, blocks: &[hamming::Block], places: &[Places], out: &mut [f32]) {
    let kernel = queries.kernel;
    for (j, out) in out.iter_mut().enumerate() {
        let descriptor = queries.set.descriptor(j);
        let [x, y] = queries.set.position(j);
        let mut best = [f32::NEG_INFINITY; LANES];
        for (block, places) in blocks.iter().zip(places) {
            let distances = match_target! {
                "x86_64+avx512f+avx512vpopcntdq" => hamming::vpopcnt_floats(block, &descriptor),
                "x86_64+avx2" => hamming::floats(hamming::avx2(block, &descriptor)),
                _ => hamming::floats(hamming::portable(block, &descriptor)),
            };
            largest(&kernel, &distances, places, x, y, &mut best);
        }
        *out = reduce(&best);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vnni+avx2", "x86_64+avx2"))]
fn dense_bests(
    queries: &Queries<'_>,
    values: &[Quads],
    norms: &[[i32; LANES]],
    places: &[Places],
    nearness: &[[[f32; LANES]; TILE]],
    out: &mut [f32],
) {
    let n_blocks = norms.len();
    for (tile, out) in out.chunks_mut(TILE).enumerate() {
        // The last tile may have rows to spare; what they give is not kept.
        let own: [i32; TILE] = std::array::from_fn(|t| queries.norms.get(tile * TILE + t).copied().unwrap_or(0));
        let rows = &queries.factors[tile * queries.quads..][..queries.quads];
        let nearness = &nearness[tile * n_blocks..][..n_blocks];
        let mut bests = [[f32::NEG_INFINITY; LANES]; TILE];
        for (((block, norms), places), nearness) in values.chunks_exact(queries.quads).zip(norms).zip(places).zip(nearness) {
            let dots = if queries.is_narrow {
                match_target! {
                    "x86_64+avx512f+avx512vnni" => dots::vnni(block, rows),
                    "x86_64+avx2" => dots::avx2(block, rows),
                    _ => dots::portable(block, rows),
                }
            } else {
                dots::portable(block, rows)
            };
            for t in 0..TILE {
                let found = kernels(queries, own[t], norms, dots[t], nearness[t], places.weight);
                bests[t] = match_target! {
                    "x86_64+avx512f" => x86::most_avx512(found, bests[t]),
                    "x86_64+avx2" => x86::most_avx2(found, bests[t]),
                    _ => std::array::from_fn(|i| most(found[i], bests[t][i])),
                };
            }
        }
        for (out, best) in out.iter_mut().zip(&bests) {
            *out = reduce(best);
        }
    }
}

/// The kernels of a query element with the elements of a block. Arrays go in and out by value, so
/// that the compiler sees sixteen lanes and not eight rows. What is added is far from overflowing;
/// checks of that would undo the lanes in tests.
#[inline(always)]
fn kernels(
    queries: &Queries<'_>,
    own: i32,
    norms: &[i32; LANES],
    dots: [i32; LANES],
    nearness: [f32; LANES],
    weights: [f32; LANES],
) -> [f32; LANES] {
    let mut found = [0.0; LANES];
    for i in 0..LANES {
        let square = own.wrapping_add(norms[i]).wrapping_sub(dots[i].wrapping_mul(2)) as f32;
        found[i] = queries.kernel.likeness(square.sqrt() * (1.0 / queries.unit)) + nearness[i] + weights[i];
    }
    found
}

/// [`most`] of each lane, called by name: the compiler would compare and then write under a mask to
/// the places of the bests so far, whose next load waits for that.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use bytemuck::cast;

    use super::LANES;

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn most_avx512(found: [f32; LANES], bests: [f32; LANES]) -> [f32; LANES] {
        cast(_mm512_max_ps(cast(found), cast(bests)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn most_avx2(found: [f32; LANES], bests: [f32; LANES]) -> [f32; LANES] {
        let (found, bests): ([__m256; 2], [__m256; 2]) = (cast(found), cast(bests));
        cast([_mm256_max_ps(found[0], bests[0]), _mm256_max_ps(found[1], bests[1])])
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
        for (i, &distance) in distances.iter().enumerate() {
            let (likeness, nearness) = kernel.parts(distance, x - places.x[i], y - places.y[i]);
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
        let distances = match_target! {
            "x86_64+avx512f+avx512vpopcntdq" => hamming::vpopcnt_floats(block, &descriptor),
            "x86_64+avx2" => hamming::floats(hamming::avx2(block, &descriptor)),
            _ => hamming::floats(hamming::portable(block, &descriptor)),
        };
        best.see(&queries.kernel, b, &distances, places, x, y);
    }
    best
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2"))]
fn dense_piece(queries: &Queries<'_>, values: &[Quads], norms: &[[i32; LANES]], places: &[Places], j: usize) -> BestLanes {
    let [x, y] = queries.set.position(j);
    let mut best = BestLanes::new();
    for (b, ((block, norms), places)) in values.chunks_exact(queries.quads).zip(norms).zip(places).enumerate() {
        let mut dots = [0; LANES];
        for (quads, row) in block.iter().zip(&queries.factors[j / TILE * queries.quads..]) {
            let factors = row[j % TILE].to_le_bytes().map(i32::from);
            for i in 0..LANES {
                for d in 0..4 {
                    dots[i] += factors[d] * i32::from(quads[i][d]);
                }
            }
        }
        let distance = |i: usize| ((queries.norms[j] + norms[i] - 2 * dots[i]) as f32).sqrt() * (1.0 / queries.unit);
        let distances = std::array::from_fn(distance);
        best.see(&queries.kernel, b, &distances, places, x, y);
    }
    best
}
