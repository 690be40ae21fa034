//! Rotated BRIEF: 256 comparisons of two pixels each, on a smoothed picture, in a pattern that is
//! rotated with the patch.

use std::sync::LazyLock;

use multiversion::multiversion;
use rand::RngExt;

use crate::descriptor::Descriptor;
pub use crate::descriptor::PATTERN_VERSION;
use crate::picture::pyramid::Bordered;
use crate::random;

/// The seed of the pattern of [`PATTERN_VERSION`].
const PATTERN_SEED: u64 = 0x7E55_E4A0;

const POINTS: usize = 512;

/// The sampling pattern for patches of one size.
///
/// The points are drawn from a Gaussian with a deviation of a fifth of the patch, and kept inside
/// the patch's inscribed disc, so that no rotation takes them outside. The Gaussian is a sum of
/// uniform integers: the same on every machine.
#[derive(Clone, Debug)]
pub struct BriefPattern {
    xs: [f32; POINTS],
    ys: [f32; POINTS],
}

/// The points for patches one pixel wide.
static UNIT: LazyLock<BriefPattern> = LazyLock::new(|| {
    let mut rng = random::seeded(PATTERN_SEED);
    let mut pattern = BriefPattern { xs: [0.0; POINTS], ys: [0.0; POINTS] };
    for (x, y) in pattern.xs.iter_mut().zip(&mut pattern.ys) {
        loop {
            let mut normal = || (0..12).map(|_| rng.random_range(0..=4096i32)).sum::<i32>() as f32 / 4096.0 - 6.0;
            (*x, *y) = (normal() / 5.0, normal() / 5.0);
            if *x * *x + *y * *y <= 0.25 {
                break;
            }
        }
    }
    pattern
});

impl BriefPattern {
    /// The pattern for patches of `patch` pixels.
    pub fn new(patch: u32) -> Self {
        let scale = |values: &[f32; POINTS]| values.map(|v| v * (patch - 1) as f32);
        Self { xs: scale(&UNIT.xs), ys: scale(&UNIT.ys) }
    }

    /// The descriptor of the patch around pixel (`x`, `y`) of a smoothed picture, with the pattern
    /// rotated to `direction` (a unit vector).
    pub fn describe(&self, smooth: &Bordered, x: usize, y: usize, direction: (f32, f32)) -> Descriptor {
        describe(&self.xs, &self.ys, &smooth.pixels, smooth.index(x, y), smooth.stride, direction)
    }
}

/// Adding and subtracting this rounds a small number to the nearest integer, ties to even.
const ROUND: f32 = 12_582_912.0;

#[multiversion(targets("x86_64+avx2"))]
fn describe(xs: &[f32; POINTS], ys: &[f32; POINTS], pixels: &[u8], at: usize, stride: usize, (cos, sin): (f32, f32)) -> Descriptor {
    let mut offsets = [0i32; POINTS];
    for ((offset, x), y) in offsets.iter_mut().zip(xs).zip(ys) {
        let right = (x * cos - y * sin + ROUND).to_bits() as i32 - ROUND.to_bits() as i32;
        let down = (x * sin + y * cos + ROUND).to_bits() as i32 - ROUND.to_bits() as i32;
        *offset = down * stride as i32 + right;
    }
    let value = |offset: i32| pixels[at.wrapping_add_signed(offset as isize)];
    let mut words = [0u64; 4];
    for (word, part) in words.iter_mut().zip(offsets.as_chunks::<128>().0) {
        for (i, pair) in part.as_chunks::<2>().0.iter().enumerate() {
            *word |= u64::from(value(pair[0]) < value(pair[1])) << i;
        }
    }
    Descriptor(words)
}
