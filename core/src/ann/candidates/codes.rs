//! Vectors in seven bits a value, and the estimates of inner products that they give.
//!
//! A value is kept as a whole number of units, one unit for each dimension, so that dimensions of
//! little variance keep as many digits as the others. A question is scaled by the units and kept in
//! eight bits. The products of these whole numbers are exact on every processor; what they leave
//! out of the true inner product is the rounding.

use std::ops::Range;

use multiversion::multiversion;
use multiversion::target::match_target;

use super::steps::{ZERO, write};
use crate::linalg::dots::{self, Factors, LANES, Quads, TILE};

/// Vectors of seven bits a value, sixteen side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Codes {
    units: Vec<f32>,
    blocks: Vec<Quads>,
    len: usize,
}

/// A question to [`Codes`].
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Four values each.
    factors: Vec<i32>,
    unit: f32,
    /// What zeros of the codes add.
    zeros: i32,
}

impl Asked {
    /// The size of a step.
    pub(super) fn step(&self) -> f32 {
        self.unit
    }
}

impl Codes {
    /// No vectors, of as many values as there are units.
    pub(super) fn new(units: Vec<f32>) -> Self {
        Self { units, blocks: Vec::new(), len: 0 }
    }

    fn quads(&self) -> usize {
        self.units.len().div_ceil(4)
    }

    /// Appends a vector, in steps of the units.
    pub(super) fn push(&mut self, steps: &[u8]) {
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

    /// Prepares a question: a vector of as many values. What its rounding leaves goes into `rest`,
    /// where that is as long.
    pub(super) fn ask(&self, x: &[f32], asked: &mut Asked, rest: &mut [f32]) {
        asked.factors.clear();
        asked.factors.resize(self.quads(), 0);
        let (unit, sum) = write(x, &self.units, bytemuck::cast_slice_mut(&mut asked.factors), rest);
        (asked.unit, asked.zeros) = (unit, ZERO * sum);
    }

    /// Puts at most [`TILE`] questions side by side.
    pub(super) fn tile(&self, asked: &[Asked]) -> Tile {
        let mut tile = Tile { factors: vec![[0; TILE]; self.quads()], units: [0.0; TILE], zeros: [0; TILE] };
        for (t, asked) in asked.iter().enumerate() {
            tile.factors.iter_mut().zip(&asked.factors).for_each(|(row, factor)| row[t] = *factor);
            (tile.units[t], tile.zeros[t]) = (asked.unit, asked.zeros);
        }
        tile
    }

    /// The inner products of several questions with the vectors of some blocks of [`LANES`]; lanes
    /// beyond the last vector hold anything. O(questions * vectors * values).
    pub(super) fn products_of(&self, tile: &Tile, blocks: Range<usize>, out: &mut Vec<[[f32; LANES]; TILE]>) {
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
pub(super) struct Tile {
    factors: Vec<Factors>,
    units: [f32; TILE],
    zeros: [i32; TILE],
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vnni+avx2", "x86_64+avx2"))]
fn products_of(blocks: &[Quads], tile: &Tile, out: &mut Vec<[[f32; LANES]; TILE]>) {
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

#[cfg(test)]
mod tests {
    use super::{Asked, Codes};
    use crate::linalg::dots::{TILE, portable_signed};

    #[test]
    fn products_are_those_of_the_bytes() {
        for dimension in [1, 4, 7, 70] {
            let mut codes = Codes::new(vec![1.0; dimension]);
            let vector =
                |i: usize| -> Vec<u8> { (0..dimension).map(|d| [0, 127, 64, (i * 31 + d * 7) as u8 % 128][(i + d) % 4]).collect() };
            (0..37).for_each(|i| codes.push(&vector(i)));
            let mut asked = vec![Asked::default(); TILE];
            for (t, asked) in asked.iter_mut().enumerate() {
                let x: Vec<f32> = (0..dimension).map(|d| [127.0, -127.0, 0.0, (d % 100) as f32 - 50.0][(t + d) % 4]).collect();
                codes.ask(&x, asked, &mut []);
            }
            let tile = codes.tile(&asked);
            let mut products = Vec::new();
            codes.products_of(&tile, 0..3, &mut products);
            let portable = portable_signed(&codes.blocks[..codes.quads()], &tile.factors);
            for (t, asked) in asked.iter().enumerate() {
                let factors: Vec<i32> =
                    asked.factors.iter().flat_map(|four| four.to_le_bytes()).map(|byte| i32::from(byte as i8)).collect();
                for i in 0..37 {
                    let sum: i32 = vector(i).iter().zip(&factors).map(|(a, b)| (i32::from(*a) - 64) * b).sum();
                    assert_eq!(products[i / 16][t][i % 16], sum as f32 * asked.unit, "{dimension} values, vector {i}");
                    if i < 16 {
                        assert_eq!(portable[t][i] - asked.zeros, sum);
                    }
                }
            }
        }
    }
}
