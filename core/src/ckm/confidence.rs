//! Confidence: how often a lead of this size was right on holdout images, whose object the machine
//! had not seen.

use std::collections::{BTreeMap, BTreeSet};

use rand::seq::index::sample;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::class_terms::ClassTerms;
use super::{Ckm, Scores};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random::Rng;

/// A training image's scores by a machine that has not seen its object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// The machine's answers about training images whose objects it had not seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The images, each scored with class terms that were fitted without its object.
    pub held_out: Vec<HeldOut>,
    /// The class terms, fitted to all of them.
    pub terms: ClassTerms,
    /// The images with their scores without class terms, from which judging can go on.
    pub raw: Vec<HeldOut>,
}

/// The folds in which class terms are fitted for judging.
const FOLDS: usize = 5;

/// Judges a machine on at most `limit` of its training images, each with its whole group left out,
/// or where no group is known itself, and fits the terms of its classes, which are not set. When
/// there are more images, as many of each class are chosen at random, as far as it has them. Images
/// whose class has no other group cannot be judged and are left out. `known` are images that were
/// judged by the same machine before: with the same generator and a larger limit they are among
/// those chosen, and are not scored again. What the machine's own terms are does not matter. Equal
/// on any number of threads. O(limit * query elements * training elements).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn judge(ckm: &Ckm, limit: usize, rng: &mut Rng, known: Vec<HeldOut>, progress: &Progress) -> Result<Judgement> {
    let raw = held_out(ckm, limit, rng, known, progress)?;
    let classes: Vec<String> = ckm.classes().iter().map(|class| class.name.clone()).collect();
    let groups: BTreeMap<ItemId, Option<&str>> = ckm.examples().map(|(_, example)| (example.id, example.group.as_deref())).collect();
    let object = |held: &HeldOut| match groups.get(&held.id).copied().flatten() {
        Some(group) => (Some(group), ItemId(0)),
        None => (None, held.id),
    };
    let held_out = ClassTerms::cross_fitted(&classes, &raw, object, FOLDS);
    Ok(Judgement { held_out, terms: ClassTerms::fit(&classes, &raw), raw })
}

/// The images of [`judge`] with their scores without class terms.
fn held_out(ckm: &Ckm, limit: usize, rng: &mut Rng, known: Vec<HeldOut>, progress: &Progress) -> Result<Vec<HeldOut>> {
    let bare: Ckm;
    let ckm = if ckm.terms().is_empty() {
        ckm
    } else {
        let mut without = ckm.clone();
        without.set_terms(ClassTerms::default());
        bare = without;
        &bare
    };
    let examples: Vec<_> = ckm.examples().collect();
    let there: BTreeSet<ItemId> = known.iter().map(|held| held.id).collect();
    let chosen: Vec<usize> = choose(ckm, limit, rng).into_iter().filter(|&i| !there.contains(&examples[i].1.id)).collect();
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
    let mut all: Vec<HeldOut> = known.into_iter().chain(judged.into_iter().flatten()).collect();
    all.sort_by_key(|held| (held.class, held.id));
    Ok(all)
}

/// At most `limit` training images, as many of each class as far as it has them, in order.
fn choose(ckm: &Ckm, limit: usize, rng: &mut Rng) -> Vec<usize> {
    let mut first = 0;
    let mut turns = Vec::new();
    for (c, class) in ckm.classes().iter().enumerate() {
        let n = class.examples.len();
        // All of them are drawn, so that a larger limit adds to the choice.
        let of_class = sample(rng, n, n);
        turns.extend(of_class.into_iter().enumerate().map(|(turn, i)| (turn, c, first + i)));
        first += n;
    }
    turns.sort_unstable();
    let mut chosen: Vec<usize> = turns.into_iter().take(limit).map(|(.., i)| i).collect();
    chosen.sort_unstable();
    chosen
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
