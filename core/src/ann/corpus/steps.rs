//! Numbers as few whole steps.

use multiversion::multiversion;

use crate::linalg::dots::LANES;

/// What stands for 0 among the steps of a stored vector, of which there are 127.
pub(super) const ZERO: i32 = 64;

/// The least step of stored values, so that no product with it leaves the range of f32.
const LEAST_UNIT: f32 = 1e-18;

/// The largest.
const LARGEST_UNIT: f32 = 1e15;

/// The least step of a question.
const LEAST_STEP: f32 = 1e-30;

/// The largest number of steps of a question.
const MOST: f32 = 127.0;

/// Adding it to a number of less than 2^22 in size rounds that number to a whole one.
const ROUND: f32 = 12_582_912.0;

/// The step in which stored values up to `largest` fit.
pub(super) fn unit(largest: f32) -> f32 {
    if largest > 0.0 { (largest / (ZERO - 1) as f32).max(LEAST_UNIT) } else { 1.0 }
}

/// Whether values can be stored in such steps.
pub(super) fn is_unit(unit: f32) -> bool {
    (LEAST_UNIT..=LARGEST_UNIT).contains(&unit)
}

/// A stored value in steps of `unit`.
pub(super) fn steps(value: f32, unit: f32) -> u8 {
    let most = ZERO as f32;
    ((value / unit).round().clamp(-most, most - 1.0) as i32 + ZERO) as u8
}

/// Writes `x` times `units`, value by value, in steps of at most 127 in size, each as a byte with
/// its sign, and what the rounding leaves, in steps, into `rest`, where that is as long as `x`.
/// Returns the size of a step and the sum of all steps.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn write(x: &[f32], units: &[f32], bytes: &mut [u8], rest: &mut [f32]) -> (f32, i32) {
    let mut largest = [0.0f32; LANES];
    let (blocks, last) = x.as_chunks::<LANES>();
    let (unit_blocks, last_units) = units.as_chunks::<LANES>();
    for (x, units) in blocks.iter().zip(unit_blocks) {
        for i in 0..LANES {
            let size = (x[i] * units[i]).abs();
            largest[i] = if size > largest[i] { size } else { largest[i] };
        }
    }
    let mut most = largest.into_iter().fold(0.0, f32::max);
    for (x, unit) in last.iter().zip(last_units) {
        most = most.max((x * unit).abs());
    }
    let step = if most > 0.0 { (most / MOST).max(LEAST_STEP) } else { 1.0 };
    let scale = 1.0 / step;
    let mut sums = [0i32; LANES];
    for ((x, units), bytes) in blocks.iter().zip(unit_blocks).zip(bytes.as_chunks_mut::<LANES>().0) {
        for i in 0..LANES {
            let steps = (x[i] * units[i] * scale + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i32;
            sums[i] += steps;
            bytes[i] = steps as u8;
        }
    }
    let mut sum: i32 = sums.into_iter().sum();
    let start = blocks.len() * LANES;
    for ((x, unit), byte) in last.iter().zip(last_units).zip(&mut bytes[start..]) {
        let steps = (x * unit * scale + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i32;
        sum += steps;
        *byte = steps as u8;
    }
    for (((rest, x), unit), byte) in rest.iter_mut().zip(x).zip(units).zip(bytes.iter()) {
        *rest = x * unit * scale - f32::from(*byte as i8);
    }
    (step, sum)
}
