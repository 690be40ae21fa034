//! Confidence: how often a lead of this size was right on holdout images, whose object the machine
//! had not seen.

use rand::seq::index::sample;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Ckm, Scores};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random::Rng;

/// A training image's scores by a machine that has not seen its object.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// The image.
    pub id: ItemId,
    /// Its class.
    pub class: ClassId,
    /// The class the machine gave it.
    pub predicted: ClassId,
    /// All scores.
    pub scores: Scores,
}

/// Scores at most `limit` training images (a random choice of `rng` when there are more), each with
/// its whole group left out, or where no group is known itself. Images whose class has no other
/// group cannot be judged and are left out. Equal on any number of threads. O(limit * query
/// elements * training elements).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn held_out(ckm: &Ckm, limit: usize, rng: &mut Rng, progress: &Progress) -> Result<Vec<HeldOut>> {
    let examples: Vec<_> = ckm.examples().collect();
    let mut chosen: Vec<usize> =
        if limit < examples.len() { sample(rng, examples.len(), limit).into_vec() } else { (0..examples.len()).collect() };
    chosen.sort_unstable();
    progress.begin("Judging each image without its object", chosen.len() as u64);
    let judge = |&i: &usize| -> Result<Option<HeldOut>> {
        progress.step()?;
        let (class, example) = examples[i];
        let scores = ckm.scores(&example.elements, example.without_itself());
        if scores.of[class.index()].is_none() {
            return Ok(None);
        }
        let predicted = scores.ranking().first().map(|best| best.0);
        Ok(predicted.map(|predicted| HeldOut { id: example.id, class, predicted, scores }))
    };
    let judged: Vec<Option<HeldOut>> = chosen.par_iter().map(judge).collect::<Result<_>>()?;
    Ok(judged.into_iter().flatten().collect())
}

/// The share of right answers; 0 when there are none at all.
pub fn accuracy(held_out: &[HeldOut]) -> f64 {
    let right = held_out.iter().filter(|h| h.class == h.predicted).count();
    if held_out.is_empty() { 0.0 } else { right as f64 / held_out.len() as f64 }
}

/// A logistic curve from margin to the probability of being right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The curve at margin 0.
    pub offset: f64,
    /// Its slope, 0 or more: a larger lead is never less certain.
    pub slope: f64,
    /// Held-out images it was fitted to.
    pub n: usize,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { offset: 0.0, slope: 0.0, n: 0 }
    }
}

impl Calibration {
    /// Fits the curve to the margins of held-out images and whether they were right.
    pub fn fit(held_out: &[HeldOut]) -> Self {
        let judged: Vec<(f64, bool)> = held_out.iter().map(|h| (h.scores.margin(), h.class == h.predicted)).collect();
        Self::fit_margins(&judged)
    }

    /// Fits the curve by Newton's method to margins and whether each was right, with the targets
    /// drawn in a little (J. Platt, *Probabilistic outputs for support vector machines*, 1999), so
    /// that no probability becomes 0 or 1.
    pub fn fit_margins(judged: &[(f64, bool)]) -> Self {
        if judged.is_empty() {
            return Self::default();
        }
        let right = judged.iter().filter(|(_, is_right)| *is_right).count() as f64;
        let (high, low) = ((right + 1.0) / (right + 2.0), 1.0 / (judged.len() as f64 - right + 2.0));
        let points: Vec<(f64, f64)> = judged.iter().map(|&(margin, is_right)| (margin, if is_right { high } else { low })).collect();
        // Margins are small numbers: in units of their mean the problem is well scaled.
        let mean = points.iter().map(|p| p.0.abs()).sum::<f64>() / points.len() as f64;
        let unit = mean.max(f64::MIN_POSITIVE);
        let (mut a, mut b) = (0.0, 1.0);
        for _ in 0..50 {
            let (mut ga, mut gb) = (1e-6 * a, 1e-3 * b);
            let (mut haa, mut hab, mut hbb) = (1e-6, 0.0, 1e-3);
            for &(margin, target) in &points {
                let x = margin / unit;
                let p = logistic(a + b * x);
                let curvature = p * (1.0 - p);
                ga += p - target;
                gb += (p - target) * x;
                haa += curvature;
                hab += curvature * x;
                hbb += curvature * x * x;
            }
            let determinant = haa * hbb - hab * hab;
            let (da, db) = ((hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant);
            // Long steps overshoot where the curve is flat.
            let shrink = (2.0 / da.abs().max(db.abs())).min(1.0);
            (a, b) = (a - shrink * da, b - shrink * db);
            if da.abs().max(db.abs()) < 1e-9 {
                break;
            }
        }
        // Without any lead there is nothing to tell a slope from.
        if mean == 0.0 || b <= 0.0 {
            let share = (points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64).clamp(1e-6, 1.0 - 1e-6);
            (a, b) = ((share / (1.0 - share)).ln(), 0.0);
        }
        Self { offset: a, slope: b / unit, n: points.len() }
    }

    /// The probability that the best class of `scores` is right, in 0..=1.
    pub fn confidence(&self, scores: &Scores) -> f64 {
        logistic(self.offset + self.slope * scores.margin())
    }
}

fn logistic(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}
