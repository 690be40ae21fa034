//! What the network sees in an image as a whole: one vector, and the most probable of its classes.

use crate::network::{CHANNELS, Seen};

/// Classes of which the probabilities are kept.
const KEPT: usize = 10;

/// What the network sees in an image as a whole, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Glimpse {
    /// Shares of the largest value, in 255 steps.
    values: [u8; CHANNELS],
    /// The most probable classes, with their probabilities in steps of 1 in 65,535.
    classes: Vec<(u16, u16)>,
}

impl Glimpse {
    /// Changes whenever the same picture would get other bytes.
    pub(super) const VERSION: &str = "glimpse-1";

    /// What is kept of what the network has seen.
    pub fn of(seen: &Seen) -> Self {
        let vector = seen.vector();
        let largest = vector.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let mut classes: Vec<(u16, f32)> = (0..).zip(seen.classes().iter().copied()).collect();
        classes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        classes.truncate(KEPT);
        let steps = |(class, chance): (u16, f32)| (class, (chance * f32::from(u16::MAX)).round() as u16);
        Self { values: vector.map(|value| (value / largest * 255.0).round() as u8), classes: classes.into_iter().map(steps).collect() }
    }

    /// The values, then of each class its number and its probability.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let classes = self.classes.iter().flat_map(|(class, chance)| [class.to_le_bytes(), chance.to_le_bytes()]);
        self.values.into_iter().chain(classes.flatten()).collect()
    }

    /// What [`Glimpse::to_bytes`] wrote; `None` for other bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, classes) = bytes.split_first_chunk::<CHANNELS>()?;
        let (classes, rest) = classes.as_chunks::<4>();
        let class = |[a, b, c, d]: &[u8; 4]| (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
        rest.is_empty().then(|| Self { values: *values, classes: classes.iter().map(class).collect() })
    }

    /// The values, of a vector of length 1, or zeros.
    pub fn values(&self) -> Vec<f64> {
        let length = self.values.iter().map(|value| u32::from(*value).pow(2)).sum::<u32>();
        self.values.iter().map(|value| f64::from(*value) / f64::from(length.max(1)).sqrt()).collect()
    }

    /// How alike two images are to the network: the cosine of their vectors, 0..=1.
    pub fn likeness(&self, other: &Self) -> f64 {
        let dot = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| u32::from(*a) * u32::from(*b)).sum::<u32>();
        let lengths = f64::from(dot(&self.values, &self.values)) * f64::from(dot(&other.values, &other.values));
        if lengths > 0.0 { f64::from(dot(&self.values, &other.values)) / lengths.sqrt() } else { 0.0 }
    }

    /// The most probable of the network's classes, the best first, with their probabilities.
    pub fn classes(&self) -> impl Iterator<Item = (usize, f64)> {
        self.classes.iter().map(|(class, chance)| (usize::from(*class), f64::from(*chance) / f64::from(u16::MAX)))
    }
}
