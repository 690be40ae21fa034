//! The features of a whole image: random waves over the mean values of its elements, and what the
//! network that comes with the program says of its own classes.
//!
//! A. Rahimi and B. Recht, *Random Features for Large-Scale Kernel Machines*, NIPS 2007, Algorithm
//! 1: the product of two images' features, summed, is near a Gaussian kernel of their distance. The
//! directions of the waves are random signs and the features whole numbers of [`STEPS`], so that
//! sums of their products are exact. Nothing here depends on other images.
//!
//! Cells of the network are compared as its own last layer compares them: their squared distance is
//! a quarter of the plain one and a sixteenth of that of the last layer's 1,000 sums. Their waves
//! are pairs of a cosine and a sine along directions that are at right angles by this distance: F.
//! Yu and others, *Orthogonal Random Features*, NIPS 2016. The logarithms of the probabilities of
//! the network's classes are compared by their product alone, along 128 axes.

use std::sync::LazyLock;

use rand::RngExt as _;

use crate::ckm::element::{ElementSet, Elements};
use crate::ckm::options::{ElementKind, ElementSource};
use crate::ckm::shortlist::{add_signed, means};
#[cfg(feature = "network")]
use crate::network::{CHANNELS, CLASS_ZERO};
use crate::random;

/// Waves, of which the first features of an image are values.
pub(super) const WAVES: usize = 1024;

/// What the network says of its own classes, in the features after them.
#[cfg(feature = "network")]
const CLASS_VALUES: usize = crate::network::CLASS_VALUES;
#[cfg(not(feature = "network"))]
const CLASS_VALUES: usize = 0;

/// Features of an image.
pub(super) const SIZE: usize = WAVES + CLASS_VALUES;

/// How much a step of what the network says counts, in steps of a wave; chosen on folds of training
/// images.
pub(super) const CLASS_STEP: f64 = 17.0;

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
    /// How much the kind counts beside others; chosen on folds of training images.
    share: f32,
    directions: Directions,
    /// The part that is kept of the weight fitted to left-out images: see [`kept_part`].
    kept: f64,
}

/// Along what waves go.
enum Directions {
    /// Random signs. `spread` is the usual squared distance between the means of two images, on
    /// which the width of the kernel rests; measured on training images of photographs.
    #[cfg_attr(not(feature = "images"), expect(dead_code, reason = "no kind is there"))]
    Signs { spread: f32 },
    /// As the last layer of the network that comes with the program compares.
    #[cfg(feature = "network")]
    LastLayer,
}

/// For each of the network's channels what it adds to the angle of each wave, in [`STEP`]s. Made by
/// `benches/make_squeezenet.py`.
#[cfg(feature = "network")]
static LAST_LAYER: &[u8; CHANNELS * WAVES / 2] = include_bytes!("../../../../assets/squeezenet-directions.bin");

/// In radians for a value of 1.
#[cfg(feature = "network")]
const STEP: f32 = 1.0 / 32.0;

/// What is taken from a kind; nothing from binary descriptors, and from elements that the caller
/// brings, whose spread is not known.
fn part(source: &ElementSource) -> Option<Part> {
    match source {
        #[cfg(feature = "images")]
        ElementSource::Hog(_) | ElementSource::Colour(_) => {
            Some(Part { grid: 4, is_root: false, share: 1.0, directions: Directions::Signs { spread: 6.0 }, kept: 0.5 })
        }
        #[cfg(feature = "network")]
        ElementSource::Network(_) => Some(Part { grid: 1, is_root: true, share: 14.0, directions: Directions::LastLayer, kept: 1.0 }),
        _ => None,
    }
}

/// Whether machines of these kinds have features of whole images.
pub(crate) fn are_there(kinds: &[ElementKind]) -> bool {
    kinds.iter().any(|kind| part(&kind.source).is_some())
}

/// The part of the weight that is fitted to left-out images which whole images keep. Where views of
/// one object are not known to be such, its other views are left in, and the whole then reads too
/// well: by blocks and colours more than by a network, which knows things from other places. Chosen
/// on folds of training images.
pub(super) fn kept_part(kinds: &[ElementKind]) -> f64 {
    kinds.iter().filter_map(|kind| part(&kind.source)).map(|part| part.kept).fold(0.0, f64::max)
}

/// The features of an image: values of waves, and what the network says of its own classes, zeros
/// where it says nothing. O(values of its elements + [`WAVES`] * values of the means).
pub(super) fn features(elements: &Elements, kinds: &[ElementKind]) -> Features {
    let parts = || kinds.iter().filter_map(|kind| part(&kind.source));
    let all: f32 = parts().map(|part| part.share).sum();
    // Pairs of a cosine and a sine halve the directions; without the network all differ.
    let waves = if parts().any(|part| !matches!(part.directions, Directions::Signs { .. })) { WAVES / 2 } else { WAVES };
    let mut angles = [0.0; WAVES];
    let angles = &mut angles[..waves];
    for ((set, kind), k) in elements.sets.iter().zip(kinds).zip(0..) {
        let Some(part) = part(&kind.source) else { continue };
        let means = values(set, &kind.source, &part, elements.cut.side as f32);
        match part.directions {
            Directions::Signs { spread } => {
                let scale = (part.share / all / spread).sqrt();
                let mut signs = random::stream(SEED, k);
                for mean in means {
                    for block in angles.as_chunks_mut::<64>().0 {
                        add_signed(block, scale * mean, signs.random());
                    }
                }
            }
            #[cfg(feature = "network")]
            Directions::LastLayer => add_along_last_layer(&means, angles),
        }
    }
    let mut features = [0; SIZE];
    for (i, feature) in features[..WAVES].iter_mut().enumerate() {
        let quarters = (i / waves) as f32 * 0.25;
        *feature = (STEPS * wave(angles[i % waves] / std::f32::consts::TAU + PHASES[i % waves] - quarters)).round() as i8;
    }
    #[cfg(feature = "network")]
    add_classes(elements, kinds, &mut features[WAVES..]);
    features
}

/// Sets what the network says of its own classes.
#[cfg(feature = "network")]
fn add_classes(elements: &Elements, kinds: &[ElementKind], features: &mut [i8]) {
    let classes = elements.sets.iter().zip(kinds).find(|(_, kind)| kind.source == ElementSource::NetworkClasses);
    if let Some((set, _)) = classes.filter(|(set, _)| !set.is_empty()) {
        let step = |value: u8| (i16::from(value) - i16::from(CLASS_ZERO)).clamp(-127, 127) as i8;
        features.iter_mut().zip(set.row(0)).for_each(|(feature, value)| *feature = step(value));
    }
}

/// Adds what the network's channels say to the angles of half the waves.
#[cfg(feature = "network")]
fn add_along_last_layer(means: &[f32], angles: &mut [f32]) {
    for (mean, row) in means.iter().zip(LAST_LAYER.as_chunks::<{ WAVES / 2 }>().0) {
        let scale = STEP * mean;
        angles.iter_mut().zip(row).for_each(|(angle, step)| *angle += scale * f32::from(*step as i8));
    }
}

/// Where each wave begins, in turns.
static PHASES: LazyLock<[f32; WAVES]> = LazyLock::new(|| {
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
