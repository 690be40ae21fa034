//! Vectors in seven bits a value, and the estimates of inner products that they give.
//!
//! A value is kept as a whole number of units, one unit for each dimension, so that dimensions of
//! little variance keep as many digits as the others. A question is scaled by the units and kept in
//! eight bits. The products of these whole numbers are exact on every processor; what they leave
//! out of the true inner product is the rounding.

use std::ops::Range;

use multiversion::multiversion;
use multiversion::target::match_target;

use super::steps::{ZERO, is_unit, steps, unit, write};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::linalg::dots::{self, Factors, LANES, NARROW, Quads, TILE};

/// Vectors of seven bits a value, sixteen side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Codes {
    units: Vec<f32>,
    blocks: Vec<Quads>,
    len: usize,
}

/// A question to [`Codes`]: [`Codes::ask`] fills it.
#[derive(Clone, Debug, Default)]
pub struct CodeQuery {
    /// Four values each.
    factors: Vec<i32>,
    unit: f32,
    /// What zeros of the codes add.
    zeros: i32,
}

impl CodeQuery {
    /// The size of a step.
    pub fn step(&self) -> f32 {
        self.unit
    }

    /// What the question was rounded to: whole numbers of steps, at most 127 up or down.
    pub fn steps(&self) -> impl Iterator<Item = i8> + '_ {
        self.factors.iter().flat_map(|four| four.to_le_bytes()).map(|byte| byte as i8)
    }
}

impl Codes {
    /// No vectors, of as many values as there are units.
    pub fn new(units: Vec<f32>) -> Self {
        Self { units, blocks: Vec::new(), len: 0 }
    }

    /// Vectors one after another, of `dimension` values, with units that fit them.
    pub(in crate::ann) fn of(rows: &[f32], dimension: usize) -> Self {
        let mut codes = Self::new(units_of(rows.chunks_exact(dimension.max(1)), dimension));
        rows.chunks_exact(dimension.max(1)).for_each(|row| codes.push_values(row));
        codes
    }

    fn quads(&self) -> usize {
        self.units.len().div_ceil(4)
    }

    /// Appends a vector, in steps of the units.
    pub fn push(&mut self, steps: &[u8]) {
        let (quads, lane) = (self.quads(), self.len % LANES);
        if lane == 0 {
            self.blocks.extend(std::iter::repeat_n([[0; 4]; LANES], quads));
        }
        let block = &mut self.blocks[self.len / LANES * quads..];
        for (steps, quad) in steps.chunks(4).zip(block) {
            quad[lane][..steps.len()].copy_from_slice(steps);
        }
        self.len += 1;
    }

    /// Appends a vector. Values beyond those that the units fit become the largest of these.
    pub(in crate::ann) fn push_values(&mut self, x: &[f32]) {
        let rounded: Vec<u8> = x.iter().zip(&self.units).map(|(value, unit)| steps(*value, *unit)).collect();
        self.push(&rounded);
    }

    /// Removes vector `i`; the last one takes its place.
    pub(in crate::ann) fn swap_remove(&mut self, i: usize) {
        let (quads, last) = (self.quads(), self.len - 1);
        for quad in 0..quads {
            let moved = self.blocks[last / LANES * quads + quad][last % LANES];
            self.blocks[i / LANES * quads + quad][i % LANES] = moved;
        }
        self.len = last;
        self.blocks.truncate(last.div_ceil(LANES) * quads);
    }

    /// The steps of vector `i`.
    fn steps(&self, i: usize) -> impl Iterator<Item = u8> {
        let quads = self.quads();
        let values = (0..quads).flat_map(move |quad| self.blocks[i / LANES * quads + quad][i % LANES]);
        values.take(self.units.len())
    }

    /// The size of a step of each value.
    pub(in crate::ann) fn units(&self) -> &[f32] {
        &self.units
    }

    /// Values in each vector.
    pub(in crate::ann) fn dimension(&self) -> usize {
        self.units.len()
    }

    /// The number of vectors.
    pub(in crate::ann) fn len(&self) -> usize {
        self.len
    }

    /// Memory in bytes.
    pub(in crate::ann) fn bytes(&self) -> usize {
        size_of_val(&self.blocks[..]) + size_of_val(&self.units[..])
    }

    /// Prepares a question: a vector of as many values. What its rounding leaves goes into `rest`,
    /// where that is as long.
    pub fn ask(&self, x: &[f32], asked: &mut CodeQuery, rest: &mut [f32]) {
        asked.factors.clear();
        asked.factors.resize(self.quads(), 0);
        let (unit, sum) = write(x, &self.units, bytemuck::cast_slice_mut(&mut asked.factors), rest);
        (asked.unit, asked.zeros) = (unit, ZERO * sum);
    }

    /// The inner products of a question with all vectors, block by block; lanes beyond the last
    /// vector hold anything. O(vectors * values).
    pub fn products(&self, asked: &CodeQuery, out: &mut Vec<[f32; LANES]>) {
        out.clear();
        if self.quads() > 0 {
            products(&self.blocks, asked, out);
        } else {
            out.resize(self.len.div_ceil(LANES), [0.0; LANES]);
        }
    }

    /// Puts at most [`TILE`] questions side by side.
    pub fn tile(&self, asked: &[CodeQuery]) -> CodeQueries {
        let mut tile = CodeQueries { factors: vec![[0; TILE]; self.quads()], units: [0.0; TILE], zeros: [0; TILE] };
        for (t, asked) in asked.iter().enumerate() {
            tile.factors.iter_mut().zip(&asked.factors).for_each(|(row, factor)| row[t] = *factor);
            (tile.units[t], tile.zeros[t]) = (asked.unit, asked.zeros);
        }
        tile
    }

    /// The inner products of several questions with the vectors of some blocks of [`LANES`]; lanes
    /// beyond the last vector hold anything. O(questions * vectors * values).
    pub fn products_of(&self, tile: &CodeQueries, blocks: Range<usize>, out: &mut Vec<[[f32; LANES]; TILE]>) {
        out.clear();
        let quads = self.quads();
        if quads > 0 {
            products_of(&self.blocks[blocks.start * quads..blocks.end * quads], tile, out);
        } else {
            out.resize(blocks.len(), [[0.0; LANES]; TILE]);
        }
    }
}

/// Questions that are asked together.
pub struct CodeQueries {
    factors: Vec<Factors>,
    units: [f32; TILE],
    zeros: [i32; TILE],
}

/// Units and steps.
impl Stored for Codes {
    fn write(&self, out: &mut Writer) {
        out.put(&self.units);
        out.count(self.len);
        (0..self.len).flat_map(|i| self.steps(i)).for_each(|steps| out.put(&steps));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let units = from.finite_values()?;
        if let Some(wrong) = units.iter().find(|unit| !is_unit(**unit)) {
            return Err(from.wrong("steps of usual size", wrong.to_string()));
        }
        let mut codes = Self::new(units);
        let (len, dimension) = (from.count()?, codes.dimension());
        for _ in 0..len {
            let steps = (0..dimension).map(|_| from.get()).collect::<Result<Vec<u8>>>()?;
            if let Some(wrong) = steps.iter().find(|steps| **steps > NARROW) {
                return Err(from.wrong(format!("at most {NARROW}"), wrong.to_string()));
            }
            codes.push(&steps);
        }
        Ok(codes)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vnni+avx2", "x86_64+avx2"))]
fn products_of(blocks: &[Quads], tile: &CodeQueries, out: &mut Vec<[[f32; LANES]; TILE]>) {
    for block in blocks.chunks_exact(tile.factors.len()) {
        let dots = match_target! {
            "x86_64+avx512f+avx512vnni" => dots::vnni(block, &tile.factors),
            "x86_64+avx2" => dots::avx2(block, &tile.factors),
            _ => dots::portable_signed(block, &tile.factors),
        };
        let mut products = [[0.0; LANES]; TILE];
        for t in 0..TILE {
            for i in 0..LANES {
                products[t][i] = (dots[t][i] - tile.zeros[t]) as f32 * tile.units[t];
            }
        }
        out.push(products);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vnni+avx2", "x86_64+avx2"))]
fn products(blocks: &[Quads], asked: &CodeQuery, out: &mut Vec<[f32; LANES]>) {
    for block in blocks.chunks_exact(asked.factors.len()) {
        let dots = match_target! {
            "x86_64+avx512f+avx512vnni" => dots::vnni_one(block, &asked.factors),
            "x86_64+avx2" => dots::avx2_one(block, &asked.factors),
            _ => dots::portable_one_signed(block, &asked.factors),
        };
        let mut products = [0.0; LANES];
        for i in 0..LANES {
            products[i] = (dots[i] - asked.zeros) as f32 * asked.unit;
        }
        out.push(products);
    }
}

/// The size of a step in each dimension with which the values of some vectors fit.
pub(in crate::ann) fn units_of<'a>(rows: impl Iterator<Item = &'a [f32]>, dimension: usize) -> Vec<f32> {
    let mut largest = vec![0.0f32; dimension];
    for row in rows {
        largest.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(value.abs()));
    }
    largest.into_iter().map(unit).collect()
}
