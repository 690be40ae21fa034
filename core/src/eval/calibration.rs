//! How far confidences are from the shares of answers that are right.

use rand::RngExt as _;

use crate::random;

/// Bins of equal width from 0 to 1.
const BINS: usize = 10;
/// Sets of outcomes drawn to find what a calibrated recogniser shows.
const DRAWS: usize = 500;

/// The expected calibration error of answers, each with its confidence in 0..=1 and whether it was
/// right: the mean over the answers of the difference, in their bin of 10, between the mean
/// confidence and the share that was right (M. Naeini, G. Cooper, M. Hauskrecht, *Obtaining well
/// calibrated probabilities using Bayesian binning*, 2015). 0 without answers. O(answers).
pub fn calibration_error(answers: impl IntoIterator<Item = (f64, bool)>) -> f64 {
    let mut sums = [0.0; BINS];
    let mut n = 0;
    for (confidence, is_right) in answers {
        sums[((confidence * BINS as f64) as usize).min(BINS - 1)] += confidence - f64::from(u8::from(is_right));
        n += 1;
    }
    if n == 0 { 0.0 } else { sums.iter().map(|sum| sum.abs()).sum::<f64>() / f64::from(n) }
}

/// The mean [`calibration_error`] of a recogniser that is calibrated perfectly, when it gives these
/// confidences: chance alone makes it larger than 0, the more the fewer answers there are. Drawn by
/// `seed`. O(answers).
pub fn calibration_error_by_chance(confidences: &[f64], seed: u64) -> f64 {
    let mut rng = random::seeded(seed);
    let mut draw = || calibration_error(confidences.iter().map(|&confidence| (confidence, rng.random_bool(confidence.clamp(0.0, 1.0)))));
    (0..DRAWS).map(|_| draw()).sum::<f64>() / DRAWS as f64
}
