//! Confidence: how often a lead of this size was right on holdout images, whose object the machine
//! had not seen.

use serde::{Deserialize, Serialize};

use super::Scores;
use super::held_out::HeldOut;

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
        self.at(scores.margin())
    }

    /// The probability that an answer with this lead is right, in 0..=1.
    pub fn at(&self, margin: f64) -> f64 {
        logistic(self.offset + self.slope * margin)
    }
}

fn logistic(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}
