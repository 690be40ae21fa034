//! Whether an image looks like none of a machine's classes.
//!
//! What such images look like is learned without any: a left-out image whose own class is struck
//! out is an image of a class that the machine does not know. [`UnknownBar::fit`] sets a bar where
//! such images can be told apart; [`UnknownCurve`] shows what other bars would do.

use serde::{Deserialize, Serialize};

use super::Scores;
use super::held_out::HeldOut;
use crate::ids::ClassId;

/// The share of images of known classes that may be taken for unknown.
const TAKEN: f64 = 0.05;

/// The share of images of struck classes that must be found, for anything to be said at all.
const FOUND: f64 = 0.25;

/// How many times as often images of struck classes must be found as images of known ones where
/// another class is struck out: with few classes, one fewer makes every lead smaller.
const TIMES: f64 = 3.0;

/// The lead of the best class over the mean of the others below which an image looks unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnknownBar {
    /// The lead.
    pub lead: f64,
    /// The share of left-out images that have a smaller one: known, and taken for unknown.
    pub taken: f64,
    /// The share of left-out images that have a smaller one where their own class is struck out:
    /// unknown, and found.
    pub found: f64,
}

impl UnknownBar {
    /// Fits the bar to left-out images: at most one of twenty of them is below it. `None` with
    /// fewer than three classes or 40 images, where fewer than a quarter of the images of struck
    /// classes would be found, and where they would hardly be found more often than known ones.
    /// O(images * classes + images log images).
    pub fn fit(held_out: &[HeldOut]) -> Option<Self> {
        let (known, struck, other) =
            (leads(held_out, |_| None), leads(held_out, |held| Some(held.class)), leads(held_out, |held| Some(next(held))));
        if [&known, &struck, &other].iter().any(|leads| leads.len() < UnknownCurve::FEWEST) {
            return None;
        }
        let lead = known[(TAKEN * known.len() as f64) as usize];
        let (taken, found) = (below(&known, lead), below(&struck, lead));
        (found >= FOUND && found >= TIMES * below(&other, lead)).then_some(Self { lead, taken, found })
    }

    /// Whether an image with these scores looks unknown.
    pub fn is_below(&self, scores: &Scores) -> bool {
        lead(scores, None).is_some_and(|lead| self.is_above(lead))
    }

    /// Whether this lead ([`lead_of`]) is smaller.
    pub fn is_above(&self, lead: f64) -> bool {
        lead < self.lead
    }
}

/// A bar, and how often answers above it are right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnknownPoint {
    /// The bar.
    pub bar: UnknownBar,
    /// The share of left-out images at or above the bar whose answer is right.
    pub right: f64,
}

impl UnknownPoint {
    /// The share of images of known classes that are answered.
    pub fn answered(&self) -> f64 {
        1.0 - self.bar.taken
    }
}

/// What bars do, from the one that answers all images of known classes to one that answers half of
/// them: the risk of answering over its coverage (R. El-Yaniv, Y. Wiener, *On the Foundations of
/// Noise-free Selective Classification*, JMLR 2010, section 2). Empty with fewer than three classes
/// or 40 images.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnknownCurve {
    /// From the lowest bar up.
    pub points: Vec<UnknownPoint>,
}

impl UnknownCurve {
    /// The least share of images of known classes that a bar of the curve answers.
    pub const LEAST: f64 = 0.5;
    /// Judged images below which nothing is said.
    pub const FEWEST: usize = 40;

    /// The curve of left-out images. O(images * classes + images log images).
    pub fn fit(held_out: &[HeldOut]) -> Self {
        let mut known: Vec<(f64, bool)> =
            held_out.iter().filter_map(|held| Some((lead(&held.scores, None)?, held.class == held.predicted))).collect();
        let struck = leads(held_out, |held| Some(held.class));
        if known.len() < Self::FEWEST || struck.len() < Self::FEWEST {
            return Self::default();
        }
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n = known.len() as f64;
        let steps = (100.0 * (1.0 - Self::LEAST)).round() as usize;
        let mut points: Vec<UnknownPoint> = Vec::new();
        for step in 0..=steps {
            let lead = known[((step as f64 / 100.0 * n) as usize).min(known.len() - 1)].0;
            let answered = &known[known.partition_point(|(other, _)| *other < lead)..];
            let right = answered.iter().filter(|(_, is_right)| *is_right).count() as f64 / answered.len() as f64;
            let bar = UnknownBar { lead, taken: 1.0 - answered.len() as f64 / n, found: below(&struck, lead) };
            if points.last().is_none_or(|last| last.bar.lead < lead) {
                points.push(UnknownPoint { bar, right });
            }
        }
        Self { points }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The highest bar that answers at least this share of the images of known classes; `None`
    /// where all are to be answered. O(points).
    pub fn answering(&self, share: f64) -> Option<UnknownBar> {
        // A share that was read from the curve has been rounded.
        let wanted = 1.0 - share + 0.005;
        let point = self.points.iter().rev().find(|point| share < 1.0 && point.bar.taken > 0.0 && point.bar.taken <= wanted);
        point.map(|point| point.bar)
    }
}

/// Another class than an image's own.
fn next(held: &HeldOut) -> ClassId {
    ClassId((held.class.0 + 1) % held.scores.of.len().max(1) as u32)
}

/// Leads of left-out images in ascending order, each without the class that `without` names.
fn leads(held_out: &[HeldOut], without: fn(&HeldOut) -> Option<ClassId>) -> Vec<f64> {
    let mut leads: Vec<f64> = held_out.iter().filter_map(|held| lead(&held.scores, without(held))).collect();
    leads.sort_by(f64::total_cmp);
    leads
}

/// The share of ascending leads below this one.
fn below(leads: &[f64], lead: f64) -> f64 {
    leads.partition_point(|other| *other < lead) as f64 / leads.len() as f64
}

/// The lead of the best class over the mean of the others; `None` with fewer than two.
/// O(classes).
pub fn lead_of(scores: &Scores) -> Option<f64> {
    lead(scores, None)
}

/// The lead of the best class over the mean of the others, `without` aside; `None` with fewer than
/// two.
fn lead(scores: &Scores, without: Option<ClassId>) -> Option<f64> {
    let others = scores.of.iter().zip(0..).filter(|(_, class)| without != Some(ClassId(*class)));
    let values: Vec<f64> = others.filter_map(|(value, _)| *value).collect();
    let best = values.iter().copied().reduce(f64::max)?;
    let rest = values.len() - 1;
    (rest > 0).then(|| best - (values.iter().sum::<f64>() - best) / rest as f64)
}
