//! What a picture looks like as a whole, as one short vector: where its edges run and where its
//! colours are.

use image::RgbImage;

use super::colour::{ColourOptions, colour_layout};
use super::hog::{HogOptions, dense_hog};
use super::resize::resize_rgb;

/// Changes whenever the same picture would get other values. An import takes those of the small
/// picture; where only a thumbnail of it is left, as in libraries of before, of that, which differs
/// by what JPEG loses.
pub const VERSION: &str = "appearance-1";
/// Values of an appearance: 9 blocks of 36 gradients, and 16 squares of 3 colours.
pub const VALUES: usize = EDGES + 4 * super::colour::VALUES;
/// Those of gradients, which come first.
const EDGES: usize = 9 * super::hog::VALUES;

/// Pixels of the square that every picture is brought to.
const SIDE: u32 = 64;
/// The whole number that represents 1.
const ONE: f32 = 16384.0;

/// The appearance of a picture or a part of one: a vector of length 1 of which gradients and
/// colours each make a half.
///
/// Whole numbers, so that likenesses are the same on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appearance(Box<[i16]>);

impl Appearance {
    /// The appearance of `picture`, whatever its size and shape. O(pixels).
    pub fn of(picture: &RgbImage) -> Self {
        if picture.width() == 0 || picture.height() == 0 {
            return Self(vec![0; VALUES].into());
        }
        let square = resize_rgb(picture, SIDE, SIDE);
        let hog = HogOptions { cell: SIDE / 4, ..HogOptions::default() };
        let gradients: Vec<f32> = dense_hog(&square, &hog).iter().flat_map(|block| block.values).collect();
        let colours = colour_layout(&square, &ColourOptions { grid: 2 });
        // A middle grey is no colour.
        let colours: Vec<f32> = colours
            .iter()
            .flat_map(|block| block.values.as_chunks::<3>().0.iter().flat_map(|[light, a, b]| [light - 0.5, *a, *b]).collect::<Vec<_>>())
            .collect();
        Self([gradients, colours].iter().flat_map(|part| halved(part)).collect())
    }

    /// The appearance whose [`Appearance::to_bytes`] are these; `None` for any other number of
    /// bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (pairs, rest) = bytes.as_chunks::<2>();
        (pairs.len() == VALUES && rest.is_empty()).then(|| Self(pairs.iter().map(|pair| i16::from_le_bytes(*pair)).collect()))
    }

    /// Two bytes a value.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// The values, of a vector of length 1.
    pub fn values(&self) -> Vec<f64> {
        self.0.iter().map(|value| f64::from(*value) / f64::from(ONE)).collect()
    }

    /// How alike two appearances are: their cosine, 1 for the same picture. O([`VALUES`]).
    pub fn likeness(&self, other: &Self) -> f64 {
        f64::from(dot(&self.0, &other.0)) / f64::from(ONE * ONE)
    }

    /// How alike their edges are, 1 for the same. O([`VALUES`]).
    pub fn edge_likeness(&self, other: &Self) -> f64 {
        2.0 * f64::from(dot(self.edges(), other.edges())) / f64::from(ONE * ONE)
    }

    /// How alike their colours are, 1 for the same. O([`VALUES`]).
    pub fn colour_likeness(&self, other: &Self) -> f64 {
        2.0 * f64::from(dot(self.colours(), other.colours())) / f64::from(ONE * ONE)
    }

    /// All values, as whole numbers.
    pub fn whole(&self) -> &[i16] {
        &self.0
    }

    /// The values of gradients.
    pub fn edges(&self) -> &[i16] {
        &self.0[..EDGES]
    }

    /// The values of colours.
    pub fn colours(&self) -> &[i16] {
        &self.0[EDGES..]
    }
}

/// A part scaled to a squared length of one half, in whole numbers: two parts make a vector of
/// length 1.
fn halved(part: &[f32]) -> Vec<i16> {
    let length = part.iter().map(|value| value * value).sum::<f32>().sqrt();
    let scale = if length > 0.0 { ONE * std::f32::consts::FRAC_1_SQRT_2 / length } else { 0.0 };
    part.iter().map(|value| (value * scale).round() as i16).collect()
}

/// At most 2^29 by size, for the vectors are of length 2^14 but for rounding: nothing wraps, and
/// without checks several products are made at a time.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).fold(0, |sum, (a, b)| sum.wrapping_add(i32::from(*a).wrapping_mul(i32::from(*b))))
}
