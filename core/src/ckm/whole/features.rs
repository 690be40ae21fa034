//! The features of a whole image: random waves over the mean values of its elements.
//!
//! A. Rahimi and B. Recht, *Random Features for Large-Scale Kernel Machines*, NIPS 2007, Algorithm
//! 1: the product of two images' features, summed, is near a Gaussian kernel of their distance. The
//! directions of the waves are random signs and the features whole numbers of [`STEPS`], so that
//! sums of their products are exact. Nothing here depends on other images.

use std::sync::LazyLock;

use rand::RngExt as _;

use crate::ckm::element::{ElementSet, Elements};
use crate::ckm::options::{ElementKind, ElementSource};
use crate::ckm::shortlist::{add_signed, means};
use crate::random;

/// Features of an image.
pub(super) const SIZE: usize = 1024;

/// The value of a feature at the top of its wave.
pub(super) const STEPS: f32 = 127.0;

/// The seed of directions and phases.
const SEED: u64 = 0;

pub(super) type Features = [i8; SIZE];

/// What is taken from a kind of elements.
struct Part {
    /// Cells along each side of a grid; the mean of the elements in each is taken.
    grid: usize,
    /// Whether of the square roots of the values: then a few large ones count less.
    is_root: bool,
    /// The usual squared distance between such means of two images, on which the width of the
    /// kernel rests; measured on training images of photographs.
    spread: f32,
    /// How much the kind counts beside others; chosen on folds of training images.
    share: f32,
}

/// What is taken from a kind; nothing from binary descriptors, and from elements that the caller
/// brings, whose spread is not known.
fn part(source: &ElementSource) -> Option<Part> {
    match source {
        #[cfg(feature = "images")]
        ElementSource::Hog(_) => Some(Part { grid: 4, is_root: false, spread: 6.0, share: 1.0 }),
        #[cfg(feature = "images")]
        ElementSource::Colour(_) => Some(Part { grid: 4, is_root: false, spread: 6.0, share: 1.0 }),
        #[cfg(feature = "network")]
        ElementSource::Network(_) => Some(Part { grid: 1, is_root: true, spread: 2.0, share: 6.0 }),
        _ => None,
    }
}

/// Whether machines of these kinds have features of whole images.
pub(crate) fn are_there(kinds: &[ElementKind]) -> bool {
    kinds.iter().any(|kind| part(&kind.source).is_some())
}

/// The features of an image. O(values of its elements + [`SIZE`] * values of the means).
pub(super) fn features(elements: &Elements, kinds: &[ElementKind]) -> Features {
    let all: f32 = kinds.iter().filter_map(|kind| part(&kind.source)).map(|part| part.share).sum();
    let mut angles = [0.0; SIZE];
    for ((set, kind), k) in elements.sets.iter().zip(kinds).zip(0..) {
        let Some(part) = part(&kind.source) else { continue };
        let scale = (part.share / all / part.spread).sqrt();
        let mut signs = random::stream(SEED, k);
        for mean in values(set, &kind.source, &part, elements.cut.side as f32) {
            for block in angles.as_chunks_mut::<64>().0 {
                add_signed(block, scale * mean, signs.random());
            }
        }
    }
    std::array::from_fn(|i| (STEPS * wave(angles[i] / std::f32::consts::TAU + PHASES[i])).round() as i8)
}

/// Where each wave begins, in turns.
static PHASES: LazyLock<[f32; SIZE]> = LazyLock::new(|| {
    let mut rng = random::stream(SEED, u64::MAX);
    std::array::from_fn(|_| rng.random())
});

/// The mean values in each cell of the grid, each value in 0..=1; 0 where there is no element.
fn values(set: &ElementSet, source: &ElementSource, part: &Part, side: f32) -> Vec<f32> {
    let largest = f32::from(source.largest());
    let value = |step: usize| if part.is_root { (step as f32 / largest).sqrt() } else { step as f32 / largest };
    let values: [f32; 256] = std::array::from_fn(value);
    let add = |i: usize, sums: &mut [f32]| sums.iter_mut().zip(set.row(i)).for_each(|(sum, step)| *sum += values[usize::from(step)]);
    means(set, source.dimension(), part.grid, side, add)
}

/// The cosine of so many turns, to three digits, from additions and multiplications alone: the
/// mathematics library of another system may round otherwise.
fn wave(turns: f32) -> f32 {
    let from_half = (turns - turns.floor() - 0.5).abs();
    let angle = std::f32::consts::TAU * (from_half - 0.25);
    let square = angle * angle;
    angle * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0)))
}

#[cfg(test)]
mod tests {
    use super::wave;

    #[test]
    fn a_wave_is_a_cosine() {
        for i in -300..300 {
            let turns = i as f32 / 100.0;
            assert!((wave(turns) - (std::f32::consts::TAU * turns).cos()).abs() < 1e-3, "{turns}");
        }
    }
}
