//! What an inverted file asks of the points that it holds: vectors of f32 or of bits.

use std::borrow::Borrow;

use multiversion::multiversion;
use multiversion::target::match_target;

use super::rows::Rows;
use crate::descriptor::Descriptor;
use crate::error::{Error, Result};
use crate::hamming::{self, Block, Blocks, LANES};
use crate::nearest::{Distance as _, Metric};

/// Points of one kind, numbered from 0, in the layout for searching.
pub trait Vectors: Clone + Send + Sync {
    /// A point: what is inserted and asked for.
    type Point: ?Sized + Sync;
    /// A point by itself.
    type Owned: Borrow<Self::Point>;

    /// No points of `dimension` values.
    fn new(dimension: usize) -> Self;

    /// Whether a point can be compared with others.
    ///
    /// # Errors
    /// [`Error::Value`] when it cannot.
    fn check(point: &Self::Point, dimension: usize) -> Result<()>;

    /// The number of points.
    fn points(&self) -> usize;

    /// A copy of point `i`.
    fn get(&self, i: usize) -> Self::Owned;

    /// Appends a point.
    fn push(&mut self, point: &Self::Point);

    /// Removes point `i`; the last one takes its place.
    fn swap_remove(&mut self, i: usize);

    /// What orders all points by their distance to `query`, block by block; lanes beyond the last
    /// point hold anything. O(points * dimension).
    fn compare(&self, query: &Self::Point, out: &mut Vec<[f32; LANES]>);

    /// The distance of which [`Vectors::compare`] gave `compared`.
    fn distance(compared: f64) -> f64;

    /// Adds the values of point `i` to `sums`, of which there are [`Vectors::dimension`].
    fn add_to(&self, i: usize, sums: &mut [f64]);

    /// The point in the middle of `count` points, of which `sums` are the sums.
    fn middle(sums: &[f64], count: usize) -> Self::Owned;

    /// Values of a point.
    fn dimension(&self) -> usize;
}

/// Compared by squares of Euclidean distances; the middle is the mean.
impl Vectors for Rows {
    type Point = [f32];
    type Owned = Vec<f32>;

    fn new(dimension: usize) -> Self {
        Self::new(dimension)
    }

    fn check(point: &[f32], dimension: usize) -> Result<()> {
        if point.len() != dimension {
            return Err(Error::value("point", format!("{dimension} values"), point.len().to_string()));
        }
        Metric::Euclidean.check(point, None)
    }

    fn points(&self) -> usize {
        self.len()
    }

    fn get(&self, i: usize) -> Vec<f32> {
        self.row(i)
    }

    fn push(&mut self, point: &[f32]) {
        self.push(point);
    }

    fn swap_remove(&mut self, i: usize) {
        self.swap_remove(i);
    }

    fn compare(&self, query: &[f32], out: &mut Vec<[f32; LANES]>) {
        self.squares(query, out);
    }

    fn distance(compared: f64) -> f64 {
        compared.sqrt()
    }

    fn add_to(&self, i: usize, sums: &mut [f64]) {
        sums.iter_mut().zip(self.row(i)).for_each(|(sum, value)| *sum += f64::from(value));
    }

    fn middle(sums: &[f64], count: usize) -> Vec<f32> {
        sums.iter().map(|sum| (sum / count as f64) as f32).collect()
    }

    fn dimension(&self) -> usize {
        self.dimension()
    }
}

/// Bits of a descriptor.
const BITS: usize = 256;

/// Compared by Hamming distances; the middle has each bit that more than half of the points have.
impl Vectors for Blocks {
    type Point = Descriptor;
    type Owned = Descriptor;

    fn new(_: usize) -> Self {
        Self::default()
    }

    fn check(_: &Descriptor, _: usize) -> Result<()> {
        Ok(())
    }

    fn points(&self) -> usize {
        self.len()
    }

    fn get(&self, i: usize) -> Descriptor {
        self.get(i)
    }

    fn push(&mut self, point: &Descriptor) {
        self.push(*point);
    }

    fn swap_remove(&mut self, i: usize) {
        self.swap_remove(i);
    }

    fn compare(&self, query: &Descriptor, out: &mut Vec<[f32; LANES]>) {
        out.clear();
        distances(self.blocks(), query, out);
    }

    fn distance(compared: f64) -> f64 {
        compared
    }

    fn add_to(&self, i: usize, sums: &mut [f64]) {
        sums.iter_mut().zip(self.get(i).bits()).for_each(|(sum, bit)| *sum += f64::from(bit));
    }

    fn middle(sums: &[f64], count: usize) -> Descriptor {
        let mut words = [0; 4];
        for (i, _) in sums.iter().enumerate().filter(|(_, sum)| 2.0 * **sum > count as f64) {
            words[i / 64] |= 1 << (i % 64);
        }
        Descriptor(words)
    }

    fn dimension(&self) -> usize {
        BITS
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2", "x86_64+avx2+popcnt+bmi1+bmi2"))]
fn distances(blocks: &[Block], query: &Descriptor, out: &mut Vec<[f32; LANES]>) {
    for block in blocks {
        out.push(match_target! {
            "x86_64+avx512f+avx512vpopcntdq" => hamming::vpopcnt_floats(block, query),
            "x86_64+avx2" => hamming::floats(hamming::avx2(block, query)),
            _ => hamming::floats(hamming::portable(block, query)),
        });
    }
}
