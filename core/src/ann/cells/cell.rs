//! A cell: some points, and short codes that estimate their inner products with a query.
//!
//! In the axes of all cells together a code holds the first coordinates of its point. With a
//! [`Map`] of its own a cell needs fewer values for the same accuracy: the inner products of its
//! points with the queries that come to it are predicted by a regression of low rank.
//!
//! - E. Jaasaari, V. Hyvonen and T. Roos, *LoRANN: Low-Rank Matrix Factorization for Approximate
//!   Nearest Neighbor Search*, NeurIPS 2024: a regression of reduced rank in each cell, in 8 bits.

use super::super::corpus::{CodeQuery, Codes, units_of};
use crate::linalg::dots::LANES;
use crate::linalg::eigen::symmetric;
use crate::linalg::pca::orthonormal;
use crate::linalg::single::{add_scaled, dot, norm};
use crate::random::Rng;
use rand::RngExt as _;

/// Rounds of subspace iteration.
const ROUNDS: usize = 4;

/// A component of a regression whose part is so much smaller than the largest is left out.
const LEAST: f64 = 1e-9;

/// A linear map of queries and one of points, such that the inner product of their images is about
/// that of query and point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Map {
    /// What a query is multiplied with: a row for each value of the codes.
    pub(super) lens: Codes,
    /// What a point is multiplied with, row after row.
    pub(super) rows: Vec<f32>,
}

/// A [`Map`] that was learned, all in full precision.
#[derive(Clone, Debug)]
pub(super) struct Learned {
    /// What a query is multiplied with, row after row.
    pub(super) lens: Vec<f32>,
    /// What a point is multiplied with, row after row.
    rows: Vec<f32>,
    /// The steps in which the codes of the points fit.
    units: Vec<f32>,
}

impl Learned {
    /// The regression of reduced rank of the inner products of `points` with `queries`, both rows
    /// of `s` values. With the matrix G of the queries' products and P of the points, the best
    /// predictors of rank r are the first eigenvectors V of P G P'; queries are multiplied with
    /// P' V, and points with what predicts their own products best from these.
    /// O(rounds * rank * (points + s) * s + queries * s^2).
    pub(super) fn new<'a>(points: &[f32], queries: impl Iterator<Item = &'a [f32]>, s: usize, rank: usize, rng: &mut Rng) -> Self {
        let mut products = vec![0.0f32; s * s];
        for query in queries {
            products.chunks_exact_mut(s).zip(query).for_each(|(row, value)| add_scaled(row, *value, query));
        }
        let n = points.len() / s;
        let mut columns: Vec<Vec<f32>> = (0..rank.min(n).min(s)).map(|_| (0..n).map(|_| rng.random::<f32>() - 0.5).collect()).collect();
        orthonormal(&mut columns);
        let times_points = |column: &Vec<f32>| {
            let mut sum = vec![0.0; s];
            points.chunks_exact(s).zip(column).for_each(|(point, value)| add_scaled(&mut sum, *value, point));
            sum
        };
        let times_products = |x: &Vec<f32>| products.chunks_exact(s).map(|row| dot(row, x)).collect::<Vec<f32>>();
        for _ in 0..ROUNDS {
            for column in &mut columns {
                let image = times_products(&times_points(column));
                *column = points.chunks_exact(s).map(|point| dot(point, &image)).collect();
            }
            orthonormal(&mut columns);
        }
        let images: Vec<Vec<f32>> = columns.iter().map(times_points).collect();
        let seen: Vec<Vec<f32>> = images.iter().map(times_products).collect();
        let square = images.iter().flat_map(|a| seen.iter().map(move |b| f64::from(dot(a, b)))).collect();
        let turns = symmetric(square, images.len());
        let largest = turns.first().map_or(0.0, |(value, _)| *value);
        let (mut lens, mut rows) = (Vec::new(), Vec::new());
        for (value, turn) in turns.iter().filter(|(value, _)| *value > LEAST * largest) {
            let turned = |vectors: &[Vec<f32>]| {
                let mut sum = vec![0.0; s];
                vectors.iter().zip(turn).for_each(|(vector, part)| add_scaled(&mut sum, *part as f32, vector));
                sum
            };
            let (image, seen) = (turned(&images), turned(&seen));
            // Rows of the lens have length 1, so that all of them have as many digits.
            let length = norm(&image);
            lens.extend(image.iter().map(|value| value / length));
            rows.extend(seen.iter().map(|part| (f64::from(part * length) / value) as f32));
        }
        let mut codes = Vec::new();
        points.chunks_exact(s).for_each(|point| encode(&rows, point, &mut codes));
        let rank = rows.len() / s;
        Self { lens, rows, units: units_of(codes.chunks_exact(rank.max(1)), rank) }
    }
}

/// The values of a point's code, by what points are multiplied with.
fn encode(rows: &[f32], point: &[f32], out: &mut Vec<f32>) {
    out.extend(rows.chunks_exact(point.len()).map(|row| dot(row, point)));
}

/// Buffers of a query.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    inner: CodeQuery,
    pub(super) values: Vec<[f32; LANES]>,
}

/// Points that lie near one centre.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) map: Option<Map>,
    pub(super) places: Vec<u32>,
    /// What twice the inner product with a query is taken off, for each point.
    pub(super) offsets: Vec<[f32; LANES]>,
    pub(super) codes: Codes,
}

impl Cell {
    /// An empty cell whose codes are the first coordinates, in steps of `units`.
    pub(super) fn plain(units: Vec<f32>) -> Self {
        Self { map: None, places: Vec::new(), offsets: Vec::new(), codes: Codes::new(units) }
    }

    /// An empty cell with a regression, for queries in steps of `asked`.
    pub(super) fn learned(Learned { lens, rows, units }: Learned, asked: &[f32]) -> Self {
        let mut codes = Codes::new(asked.to_vec());
        lens.chunks_exact(asked.len()).for_each(|row| codes.push_values(row));
        Self { map: Some(Map { lens: codes, rows }), ..Self::plain(units) }
    }

    /// A cell of parts that were read, if they belong together.
    pub(super) fn restored(map: Option<Map>, places: Vec<u32>, offsets: &[f32], codes: Codes) -> Option<Self> {
        let fits =
            map.as_ref().is_none_or(|map| map.lens.len() == codes.dimension() && map.rows.len() == map.lens.len() * map.lens.dimension());
        let mut blocks = vec![[f32::INFINITY; LANES]; offsets.len().div_ceil(LANES)];
        blocks.as_flattened_mut()[..offsets.len()].copy_from_slice(offsets);
        let is_whole = fits && places.len() == offsets.len() && places.len() == codes.len();
        is_whole.then_some(Self { map, places, offsets: blocks, codes })
    }

    /// Whether it has a regression of its own.
    pub(super) fn has_map(&self) -> bool {
        self.map.is_some()
    }

    /// The steps of queries that it is asked.
    pub(super) fn units(&self) -> &[f32] {
        self.map.as_ref().map_or(&self.codes, |map| &map.lens).units()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn places(&self) -> &[u32] {
        &self.places
    }

    /// Adds a point and returns its number in the cell.
    pub(super) fn push(&mut self, place: u32, projected: &[f32], offset: f32) -> u32 {
        let at = self.places.len();
        if at.is_multiple_of(LANES) {
            self.offsets.push([f32::INFINITY; LANES]);
        }
        self.offsets[at / LANES][at % LANES] = offset;
        match &self.map {
            Some(map) => {
                let mut code = Vec::new();
                encode(&map.rows, projected, &mut code);
                self.codes.push_values(&code);
            }
            None => self.codes.push_values(&projected[..self.codes.dimension()]),
        }
        self.places.push(place);
        at as u32
    }

    /// Says that point `at` has another place from now on.
    pub(super) fn set_place(&mut self, at: u32, place: u32) {
        self.places[at as usize] = place;
    }

    /// Removes point `at`; the last one takes its number, and its place is returned.
    pub(super) fn swap_remove(&mut self, at: u32) -> Option<u32> {
        let (at, last) = (at as usize, self.places.len() - 1);
        self.offsets[at / LANES][at % LANES] = self.offsets[last / LANES][last % LANES];
        self.offsets[last / LANES][last % LANES] = f32::INFINITY;
        self.offsets.truncate(last.div_ceil(LANES));
        self.codes.swap_remove(at);
        self.places.swap_remove(at);
        self.places.get(at).copied()
    }

    /// Estimates what orders the points by their distance to a query, which was prepared in steps
    /// of [`Cell::units`], block by block: infinity in lanes beyond the last point.
    pub(super) fn estimate(&self, asked: &CodeQuery, buffers: &mut Buffers) {
        let Buffers { inner, values } = buffers;
        match &self.map {
            Some(map) => {
                map.lens.products(asked, values);
                self.codes.ask(&values.as_flattened()[..self.codes.dimension()], inner, &mut []);
                self.codes.products(inner, values);
            }
            None => self.codes.products(asked, values),
        }
        for (values, offsets) in values.iter_mut().zip(&self.offsets) {
            for i in 0..LANES {
                values[i] = offsets[i] - 2.0 * values[i];
            }
        }
    }

    /// Bytes that a query to the cell reads.
    pub(super) fn read_bytes(&self) -> usize {
        self.codes.bytes() + self.places.len() * 8 + self.map.as_ref().map_or(0, |map| map.lens.bytes())
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.read_bytes() + self.map.as_ref().map_or(0, |map| size_of_val(&map.rows[..]))
    }
}
