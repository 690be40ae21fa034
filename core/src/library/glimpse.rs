//! What the network sees in an image as a whole: one vector, and the most probable of its classes;
//! and how alike two images are by that.

use crate::network::{CHANNELS, CLASSES, Seen};

/// Classes of which the probabilities are kept.
const KEPT: usize = 10;
/// The share of classes in what advisers compare. Out of 0, 0.1, 0.2, 0.3 and 0.5 the largest that
/// is good for classes that are none of the network's, too: signs of the hand.
const CLASSES_SHARE: f64 = 0.1;

/// What the network sees in an image as a whole, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Glimpse {
    /// Shares of the largest value, in 255 steps.
    values: [u8; CHANNELS],
    classes: SeenClasses,
}

/// The most probable of the network's classes for an image, with their probabilities in steps of 1
/// in 65,535.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeenClasses(Box<[(u16, u16)]>);

impl SeenClasses {
    /// See [`Glimpse::classes`].
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().map(|(class, chance)| (usize::from(*class), f64::from(*chance) / f64::from(u16::MAX)))
    }
}

impl Glimpse {
    /// Changes whenever the same picture would get other bytes.
    pub(super) const VERSION: &str = "glimpse-1";
    /// Components of [`Glimpse::view`].
    pub const VIEW: usize = CHANNELS + CLASSES;

    /// What is kept of what the network has seen.
    pub fn of(seen: &Seen) -> Self {
        let vector = seen.vector();
        let largest = vector.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let mut classes: Vec<(u16, f32)> = (0..).zip(seen.classes().iter().copied()).collect();
        classes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        classes.truncate(KEPT);
        let steps = |(class, chance): (u16, f32)| (class, (chance * f32::from(u16::MAX)).round() as u16);
        Self {
            values: vector.map(|value| (value / largest * 255.0).round() as u8),
            classes: SeenClasses(classes.into_iter().map(steps).collect()),
        }
    }

    /// The values, then of each class its number and its probability.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let classes = self.classes.0.iter().flat_map(|(class, chance)| [class.to_le_bytes(), chance.to_le_bytes()]);
        self.values.into_iter().chain(classes.flatten()).collect()
    }

    /// What [`Glimpse::to_bytes`] wrote; `None` for other bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, classes) = bytes.split_first_chunk::<CHANNELS>()?;
        let (classes, rest) = classes.as_chunks::<4>();
        let class = |[a, b, c, d]: &[u8; 4]| (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
        rest.is_empty().then(|| Self { values: *values, classes: SeenClasses(classes.iter().map(class).collect()) })
    }

    /// The values, of a vector of length 1, or zeros.
    pub fn values(&self) -> Vec<f64> {
        let length = self.values.iter().map(|value| u32::from(*value).pow(2)).sum::<u32>();
        self.values.iter().map(|value| f64::from(*value) / f64::from(length.max(1)).sqrt()).collect()
    }

    /// What advisers compare: a vector of length 1 with [`Glimpse::VIEW`] components, the values
    /// and the roots of the probabilities that are kept, which make `CLASSES_SHARE` of its
    /// square.
    pub fn view(&self) -> Vec<f64> {
        let mut view: Vec<f64> = self.values().iter().map(|value| value * (1.0 - CLASSES_SHARE).sqrt()).collect();
        view.resize(Self::VIEW, 0.0);
        let total: f64 = self.classes().map(|(_, chance)| chance).sum();
        for (class, chance) in self.classes().filter(|_| total > 0.0) {
            if let Some(value) = view.get_mut(CHANNELS + class) {
                *value = (CLASSES_SHARE * chance / total).sqrt();
            }
        }
        view
    }

    /// The most probable of the network's classes, the best first, with their probabilities.
    pub fn classes(&self) -> impl Iterator<Item = (usize, f64)> {
        self.classes.iter()
    }

    /// The same as they are kept for words.
    pub(super) fn seen_classes(&self) -> &SeenClasses {
        &self.classes
    }
}

/// How alike images of a library are to one, to the network.
#[derive(Clone, Debug, PartialEq)]
pub struct GlimpseLikeness {
    one: Glimpse,
    /// The vector of that one, without what is common to all.
    own: Vec<f64>,
    /// What is common to all images of the library: the mean of their vectors, moved towards 0
    /// where they are few.
    common: Vec<f64>,
    own_common: f64,
    common_squared: f64,
}

/// A squared length below which nothing is left of a vector without what is common.
const LEAST: f64 = 1e-12;

/// The inner product with bytes, in eight sums.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(super) fn dot(values: &[f64], bytes: &[u8; CHANNELS]) -> f64 {
    let mut sums = [0.0; 8];
    for (values, bytes) in values.as_chunks::<8>().0.iter().zip(bytes.as_chunks::<8>().0) {
        for i in 0..8 {
            sums[i] += values[i] * f64::from(bytes[i]);
        }
    }
    sums.iter().sum()
}

/// Images with nothing in common that are added to the mean.
const OTHERS: f64 = 5.0;
/// Steps of a value in the sums of vectors: whole numbers, so that the order of images does not
/// matter.
const STEPS: f64 = 16_777_216.0;
/// The weight of the classes that two images may both show, where that of their vectors is 1. The
/// best for the ten nearest of 2,000 photographs, out of 0.1, 0.2, 0.3, 0.5 and 0.8.
const CLASSES_WEIGHT: f64 = 0.2;

impl GlimpseLikeness {
    /// Prepares to measure how alike images are to `one`, which need not be among `all` images of
    /// the library. O(images).
    pub fn new<'a>(one: &Glimpse, all: impl Iterator<Item = &'a Glimpse>) -> Self {
        Self::around(one, common(all))
    }

    /// As [`GlimpseLikeness::new`], by what is common to all images.
    pub(super) fn around(one: &Glimpse, common: Vec<f64>) -> Self {
        let own = without(one, &common);
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (own_common, common_squared) = (product(&own, &common), product(&common, &common));
        Self { one: one.clone(), own, common, own_common, common_squared }
    }

    /// How alike an image is, 0..=1, and 1 for the same: by the cosine of their vectors without
    /// what is common to all, and by the most probable classes that they share (the Bhattacharyya
    /// coefficient).
    pub fn of(&self, other: &Glimpse) -> f64 {
        let squared = other.values.iter().map(|value| u32::from(*value).pow(2)).sum::<u32>();
        let length = f64::from(squared.max(1)).sqrt();
        let product = dot(&self.own, &other.values) / length - self.own_common;
        // The squared length of the other vector without what is common.
        let rest = f64::from(squared.min(1)) - 2.0 * dot(&self.common, &other.values) / length + self.common_squared;
        let cosine = if rest > LEAST { product / rest.sqrt() } else { 0.0 };
        ((1.0 + cosine + CLASSES_WEIGHT * shared_classes(&self.one, other)) / (2.0 + CLASSES_WEIGHT)).clamp(0.0, 1.0)
    }
}

/// What is common to the vectors of some images: their mean, moved towards 0 where they are few.
pub(super) fn common<'a>(all: impl Iterator<Item = &'a Glimpse>) -> Vec<f64> {
    let (mut sums, mut n) = ([0_i64; CHANNELS], 0.0);
    for glimpse in all {
        sums.iter_mut().zip(glimpse.values()).for_each(|(sum, value)| *sum += (value * STEPS).round() as i64);
        n += 1.0;
    }
    sums.iter().map(|sum| *sum as f64 / STEPS / (n + OTHERS)).collect()
}

/// What of an image's vector is not common, brought to length 1, or zeros.
pub(super) fn without(glimpse: &Glimpse, common: &[f64]) -> Vec<f64> {
    without_common(&glimpse.values(), common)
}

/// What of a vector is not common, brought to length 1, or zeros.
pub(super) fn without_common(values: &[f64], common: &[f64]) -> Vec<f64> {
    let mut own: Vec<f64> = values.iter().zip(common).map(|(value, common)| value - common).collect();
    let length = own.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 {
        own.iter_mut().for_each(|value| *value /= length);
    }
    own
}

/// The sum of the roots of the products of the probabilities, where those kept of each image add up
/// to 1.
fn shared_classes(one: &Glimpse, other: &Glimpse) -> f64 {
    let total = |glimpse: &Glimpse| glimpse.classes().map(|(_, chance)| chance).sum::<f64>();
    let shared = |(class, chance): (usize, f64)| {
        let same = other.classes().find(|(other, _)| *other == class);
        same.map_or(0.0, |(_, other)| (chance * other).sqrt())
    };
    let totals = total(one) * total(other);
    if totals > 0.0 { one.classes().map(shared).sum::<f64>() / totals.sqrt() } else { 0.0 }
}
