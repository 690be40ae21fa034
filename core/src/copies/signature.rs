//! The signature of a picture: its grey values at 32 x 32 pixels, and the lowest frequencies of it
//! and of its parts.

use std::sync::OnceLock;

use image::RgbImage;

use super::align::{CropWindow, Taps};
use super::turn::Turn;
use crate::picture::{grey, resize};

/// Changes whenever the same picture would get another signature.
pub const VERSION: &str = "copies-1";

/// Pixels of a side.
pub(super) const SIDE: usize = 32;
/// Frequencies of a side.
const LOW: usize = 8;
/// A coefficient that is not larger than this is noise. They are those of an orthonormal cosine
/// transform of grey levels.
const NOISE: f32 = 4.0;
/// Where pixels differ from the mean of their neighbours by less than this, in grey levels, the
/// picture is flat: nothing tells it from other flat ones.
const LEAST_DETAIL: f32 = 1.0;
/// What a crop may have taken from a length: each is tried at the start, at the end, and by halves
/// at both.
const CROPS: [f32; 3] = [0.05, 0.1, 0.15];
/// As many of them are tried in both directions at once.
const IN_BOTH: usize = 2;

/// A picture as 32 x 32 grey pixels, whatever its size and shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(Box<[u8]>);

impl Signature {
    /// That of a picture. O(pixels).
    pub fn of(picture: &RgbImage) -> Self {
        Self(grey(&resize::resize_rgb(picture, SIDE as u32, SIDE as u32)).into_raw().into())
    }

    /// The signature whose [`Signature::bytes`] are these; `None` for any other number of them.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == SIDE * SIDE).then(|| Self(bytes.into()))
    }

    /// The pixels, row by row.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is too little in the picture to tell it from others, as in a plain wall or an
    /// even change from light to dark.
    pub fn is_flat(&self) -> bool {
        let at = |x: usize, y: usize| f32::from(self.0[y * SIDE + x]);
        let detail = |x: usize, y: usize| at(x, y) - (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1)) / 4.0;
        let inner = 1..SIDE - 1;
        let squares: f32 = inner.clone().flat_map(|y| inner.clone().map(move |x| detail(x, y).powi(2))).sum();
        squares < LEAST_DETAIL * LEAST_DETAIL * (inner.len() * inner.len()) as f32
    }
}

/// The lowest frequencies: coefficient `u` downwards and `v` to the right is at `8 u + v`.
#[derive(Clone, Debug)]
pub(super) struct Spectrum([f32; LOW * LOW]);

/// Bits of odd `u`, and of odd `v`.
const ODD_ROWS: u64 = 0xff00_ff00_ff00_ff00;
const ODD_COLUMNS: u64 = 0xaaaa_aaaa_aaaa_aaaa;

impl Spectrum {
    /// That of the turned picture.
    pub(super) fn turned(&self, turn: Turn) -> Self {
        Self(std::array::from_fn(|at| {
            let (u, v) = (at / LOW, at % LOW);
            let value = self.0[if turn.transposes() { LOW * v + u } else { at }];
            let is_negated = (turn.flips_y() && u % 2 == 1) != (turn.flips_x() && v % 2 == 1);
            if is_negated { -value } else { value }
        }))
    }

    /// Which coefficients but the first are above zero, and which below, each a bit.
    pub(super) fn signs(&self) -> Signs {
        let mut signs = Signs { above: 0, below: 0 };
        for (at, value) in self.0.iter().enumerate().skip(1) {
            signs.above |= u64::from(*value > NOISE) << at;
            signs.below |= u64::from(*value < -NOISE) << at;
        }
        signs
    }

    /// The squared distance to another, without regard to brightness, over their mean squared
    /// length.
    pub(super) fn distance(&self, other: &Self) -> f32 {
        let (mut apart, mut length) = (0.0, 0.0);
        for (a, b) in self.0.iter().zip(&other.0).skip(1) {
            apart += (a - b) * (a - b);
            length += a * a + b * b;
        }
        2.0 * apart / length.max(1.0)
    }
}

/// The signs of a spectrum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    above: u64,
    below: u64,
}

impl Signs {
    /// Which coefficients of the turned picture are above zero.
    pub(super) fn turned(self, turn: Turn) -> u64 {
        let Self { mut above, mut below } = self;
        if turn.transposes() {
            (above, below) = (transposed(above), transposed(below));
        }
        let negated = if turn.flips_y() { ODD_ROWS } else { 0 } ^ if turn.flips_x() { ODD_COLUMNS } else { 0 };
        above & !negated | below & negated
    }
}

/// An 8 x 8 matrix of bits, transposed (H. Warren, *Hacker's Delight*, 7-3).
fn transposed(mut bits: u64) -> u64 {
    for (step, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let moved = (bits ^ (bits >> step)) & mask;
        bits ^= moved ^ (moved << step);
    }
    bits
}

/// A part of a length that a crop may have left, and the matrix that takes the 32 pixels of the
/// length to the lowest frequencies of the part.
struct Stretch {
    ends: (f32, f32),
    matrix: Vec<[f32; SIDE]>,
}

/// The parts that may be left of a picture, the whole first: positions in the list of stretches.
struct Parts {
    stretches: Vec<Stretch>,
    /// Across and down.
    pairs: Vec<(usize, usize)>,
}

fn parts() -> &'static Parts {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    PARTS.get_or_init(|| {
        let left = |crop: f32| [(crop, 1.0), (0.0, 1.0 - crop), (crop / 2.0, 1.0 - crop / 2.0)];
        let ends: Vec<(f32, f32)> = std::iter::once((0.0, 1.0)).chain(CROPS.into_iter().flat_map(left)).collect();
        let mut pairs = vec![(0, 0)];
        pairs.extend((1..ends.len()).flat_map(|at| [(at, 0), (0, at)]));
        // Those of one crop stand beside each other.
        let group = |at: usize| (at - 1) / 3;
        let both = 1..=3 * IN_BOTH;
        pairs.extend(both.clone().flat_map(|x| both.clone().map(move |y| (x, y))).filter(|(x, y)| group(*x) == group(*y)));
        let stretches = ends.into_iter().map(|ends| Stretch { ends, matrix: matrix(ends) }).collect();
        Parts { stretches, pairs }
    })
}

/// The lowest cosine frequencies of a part of 32 pixels, stretched to 32 pixels.
fn matrix(ends: (f32, f32)) -> Vec<[f32; SIDE]> {
    let taps = Taps::new(SIDE, ends, SIDE);
    let row = |k: usize| {
        let scale = if k == 0 { 1.0 / SIDE as f32 } else { 2.0 / SIDE as f32 }.sqrt();
        let mut row = [0.0; SIDE];
        for i in 0..SIDE {
            let wave = scale * (std::f32::consts::PI * k as f32 * (i as f32 + 0.5) / SIDE as f32).cos();
            let (start, weights) = taps.at(i);
            for (value, weight) in row[start..].iter_mut().zip(weights) {
                *value += wave * weight;
            }
        }
        row
    };
    (0..LOW).map(row).collect()
}

/// The parts of a picture that a crop may have left, the whole first.
pub(super) fn windows() -> impl Iterator<Item = CropWindow> {
    let Parts { stretches, pairs } = parts();
    pairs.iter().map(|(x, y)| CropWindow { x: stretches[*x].ends, y: stretches[*y].ends })
}

/// The spectra of those parts that are wanted, each stretched to the whole, in their order.
pub(super) fn spectra(signature: &Signature, is_wanted: impl Fn(&CropWindow) -> bool) -> Vec<Spectrum> {
    let Parts { stretches, pairs } = parts();
    let greys: Vec<f32> = signature.0.iter().map(|grey| f32::from(*grey)).collect();
    let rows = greys.as_chunks::<SIDE>().0;
    // Each stretch across, with a column for each row of pixels.
    let mut across: Vec<Option<Vec<[f32; SIDE]>>> = stretches.iter().map(|_| None).collect();
    let mut found = Vec::new();
    for ((x, y), _) in pairs.iter().zip(windows()).filter(|(_, window)| is_wanted(window)) {
        let along = across[*x].get_or_insert_with(|| {
            let frequency = |wave: &[f32; SIDE]| std::array::from_fn(|row| sum(wave, &rows[row]));
            stretches[*x].matrix.iter().map(frequency).collect()
        });
        let down = &stretches[*y].matrix;
        found.push(Spectrum(std::array::from_fn(|at| sum(&down[at / LOW], &along[at % LOW]))));
    }
    found
}

/// The sum of products, in a fixed order.
fn sum(a: &[f32; SIDE], b: &[f32; SIDE]) -> f32 {
    let mut parts = [0.0; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            parts[lane] += a[lane] * b[lane];
        }
    }
    parts.iter().sum()
}
