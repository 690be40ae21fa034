//! A logarithmic pool of chances whose exponents are learned.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;

/// No class has a smaller chance than this over the number of classes.
const LEAST: f64 = 1e-6;
/// The weight of the initial exponents: A, the sum of curvatures, begins as this multiple of I.
const FIRM: f64 = 16.0;
/// The largest exponent.
const MOST: f64 = 4.0;
/// Slopes are clipped to this size, however unlikely the truth was.
const STEEPEST: f64 = 4.0;

/// Normalises logarithms of chances; no class becomes impossible.
pub(super) fn chances(mut logarithms: Vec<f64>) -> Vec<f64> {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.iter_mut().for_each(|x| *x = (*x - most).exp());
    let sum: f64 = logarithms.iter().sum();
    let floor = LEAST / logarithms.len().max(1) as f64;
    logarithms.iter_mut().for_each(|x| *x = (1.0 - LEAST) * *x / sum + floor);
    logarithms
}

/// p ∝ Π p_i^θ_i over n factors p_i.
///
/// Its log loss -Σ θ_i ln p_i(truth) + ln Σ_c Π p_i(c)^θ_i is convex in θ. Its slope in θ_i is the
/// mean of ln p_i under p less ln p_i(truth), its curvature H the covariance of (ln p_1, ..., ln
/// p_n) under p. Each round takes Newton's step for all rounds so far, A = FIRM I + Σ H,
///
/// ```text
/// θ <- θ - A^-1 slope,   kept within 0..=4.
/// ```
///
/// O(n^2 k) a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    exponents: Vec<f64>,
    /// A^-1, row-major.
    inverse: Vec<f64>,
}

impl Pool {
    /// A pool that begins with these exponents.
    pub fn new(exponents: Vec<f64>) -> Self {
        let n = exponents.len();
        let mut inverse = vec![0.0; n * n];
        inverse.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0 / FIRM);
        Self { exponents, inverse }
    }

    /// The exponents, all in 0..=4.
    pub fn exponents(&self) -> &[f64] {
        &self.exponents
    }

    /// The chances of k classes by those that each factor gives, all above 0.
    pub fn chances(&self, factors: &[&[f64]]) -> Vec<f64> {
        let k = factors.first().map_or(0, |p| p.len());
        let mut pooled = vec![0.0; k];
        for (exponent, factor) in self.exponents.iter().zip(factors) {
            pooled.iter_mut().zip(*factor).for_each(|(sum, p)| *sum += exponent * p.ln());
        }
        chances(pooled)
    }

    /// Learns that class `truth` was right when the factors gave the chances `factors` and the pool
    /// the chances `pooled`.
    pub fn learn(&mut self, factors: &[&[f64]], pooled: &[f64], truth: usize) {
        let n = self.exponents.len();
        let means: Vec<f64> = factors.iter().map(|factor| pooled.iter().zip(*factor).map(|(p, own)| p * own.ln()).sum()).collect();
        if n == 0 || means.len() != n || truth >= pooled.len() {
            return;
        }
        let times = |inverse: &[f64], v: &[f64]| -> Vec<f64> {
            inverse.chunks_exact(n).map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
        };
        for (class, p) in pooled.iter().enumerate() {
            // (A + v v')^-1 = A^-1 - u u' / (1 + v'u) with u = A^-1 v.
            let v: Vec<f64> = factors.iter().zip(&means).map(|(factor, mean)| (factor[class].ln() - mean) * p.sqrt()).collect();
            let u = times(&self.inverse, &v);
            let share = 1.0 / (1.0 + v.iter().zip(&u).map(|(a, b)| a * b).sum::<f64>());
            for (row, own) in self.inverse.chunks_exact_mut(n).zip(&u) {
                row.iter_mut().zip(&u).for_each(|(x, u)| *x -= share * own * u);
            }
        }
        let slope: Vec<f64> =
            factors.iter().zip(&means).map(|(factor, mean)| (mean - factor[truth].ln()).clamp(-STEEPEST, STEEPEST)).collect();
        let step = times(&self.inverse, &slope);
        self.exponents.iter_mut().zip(&step).for_each(|(exponent, step)| *exponent = (*exponent - step).clamp(0.0, MOST));
    }
}

impl Stored for Pool {
    fn write(&self, out: &mut Writer) {
        out.put(&self.exponents);
        out.put(&self.inverse);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (exponents, inverse): (Vec<f64>, Vec<f64>) = (from.get()?, from.get()?);
        let fits = inverse.len() == exponents.len() * exponents.len() && inverse.iter().all(|x| x.is_finite());
        if !fits || !exponents.iter().all(|x| (0.0..=MOST).contains(x)) {
            return Err(from.wrong("exponents of a pool", format!("{} of them", exponents.len())));
        }
        Ok(Self { exponents, inverse })
    }
}
