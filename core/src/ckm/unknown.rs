//! Whether an image looks like none of a machine's classes.
//!
//! What such images look like is learned without any, in two ways. An image that the training
//! images explain less than nearly all of themselves, each left out, is unlike all of them
//! ([`NoveltyBar`]): a drawing among photographs, which some class leads for all that. And a
//! left-out image whose own class is struck out is an image of a class that the machine does not
//! know: [`UnknownBar::fit`] sets a bar where such images lead by less; [`UnknownCurve`] shows what
//! other bars would do. A novel image counts as one without any lead.

use serde::{Deserialize, Serialize};

use super::Scores;
use super::class_terms::ClassTerms;
use super::held_out::HeldOut;
use crate::ids::ClassId;

/// The share of images of known classes that may be taken for unknown, and of these the part that
/// may be for their novelty.
const TAKEN: f64 = 0.05;
const NOVEL: f64 = 0.5;

/// The share of images of struck classes that must be found, for anything to be said at all.
const FOUND: f64 = 0.25;

/// How many times as often images of struck classes must be found as images of known ones where
/// another class is struck out: with few classes, one fewer makes every lead smaller.
const TIMES: f64 = 3.0;

/// What of an answer tells whether the image may be of none of the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// The lead of the best class over the mean of the others; `None` with fewer than two.
    pub lead: Option<f64>,
    /// How new the image is to the machine ([`super::Ckm::novelty`]); `None` where nothing is told
    /// by it.
    pub novelty: Option<f64>,
}

/// Why an image counts as unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WhyUnknown {
    /// It is unlike all training images.
    Novel(NoveltyBar),
    /// Its best class leads by little.
    LeadsLittle(UnknownBar),
}

/// What judging a machine tells of images of none of its classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnknownBars {
    /// Below which lead an image looks like none of the classes; `None` where that cannot be told.
    pub lead: Option<UnknownBar>,
    /// What other bars would do.
    pub curve: UnknownCurve,
    /// Above which novelty an image looks unlike all training images; `None` where that cannot be
    /// told.
    pub novelty: Option<NoveltyBar>,
}

impl UnknownBars {
    /// Fits the bars to left-out images. Novelty tells only where `terms` count whole images: then
    /// answers compare them in any case. O(images * classes + images log images).
    pub fn fit(held_out: &[HeldOut], terms: &ClassTerms) -> Self {
        let novelty = if terms.whole() > 0.0 { NoveltyBar::fit(held_out) } else { None };
        Self { lead: UnknownBar::fit(held_out, novelty), curve: UnknownCurve::fit(held_out, novelty), novelty }
    }
}

/// The novelty above which an image looks unlike all training images.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoveltyBar {
    /// The novelty.
    pub novelty: f64,
    /// The share of left-out images that are above it: known, and taken for unknown.
    pub taken: f64,
}

impl NoveltyBar {
    /// Fits the bar to left-out images: at most one of forty of them is above it. `None` with fewer
    /// than 40 of which it is known how new they are. O(images log images).
    pub fn fit(held_out: &[HeldOut]) -> Option<Self> {
        let mut known: Vec<f64> = held_out.iter().filter_map(|held| held.novelty).collect();
        if known.len() < UnknownCurve::FEWEST {
            return None;
        }
        known.sort_by(|a, b| b.total_cmp(a));
        let novelty = known[(TAKEN * NOVEL * known.len() as f64) as usize];
        let taken = known.partition_point(|other| *other > novelty) as f64 / known.len() as f64;
        Some(Self { novelty, taken })
    }

    /// Whether an image of this novelty is above the bar.
    pub fn is_below(&self, novelty: Option<f64>) -> bool {
        novelty.is_some_and(|novelty| novelty > self.novelty)
    }
}

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
    /// Fits the bar to left-out images: at most one of twenty of them is below it or novel. `None`
    /// with fewer than three classes or 40 images, where fewer than a quarter of the images of
    /// struck classes would be found, and where they would hardly be found more often than known
    /// ones. O(images * classes + images log images).
    pub fn fit(held_out: &[HeldOut], novelty: Option<NoveltyBar>) -> Option<Self> {
        let leads = |without: fn(&HeldOut) -> Option<ClassId>| leads(held_out, novelty, without);
        let (known, struck, other) = (leads(|_| None), leads(|held| Some(held.class)), leads(|held| Some(next(held))));
        if [&known, &struck, &other].iter().any(|leads| leads.len() < UnknownCurve::FEWEST) {
            return None;
        }
        let lead = known[(TAKEN * known.len() as f64) as usize];
        let (taken, found) = (below(&known, lead), below(&struck, lead));
        (found >= FOUND && found >= TIMES * below(&other, lead)).then_some(Self { lead, taken, found })
    }

    /// Whether this lead is smaller.
    pub fn is_above(&self, lead: Option<f64>) -> bool {
        lead.is_some_and(|lead| lead < self.lead)
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
    pub fn fit(held_out: &[HeldOut], novelty: Option<NoveltyBar>) -> Self {
        let of = |held: &HeldOut| Some((standing_lead(held, novelty, None)?, held.class == held.predicted));
        let mut known: Vec<(f64, bool)> = held_out.iter().filter_map(of).collect();
        let struck = leads(held_out, novelty, |held| Some(held.class));
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
fn leads(held_out: &[HeldOut], novel: Option<NoveltyBar>, without: fn(&HeldOut) -> Option<ClassId>) -> Vec<f64> {
    let mut leads: Vec<f64> = held_out.iter().filter_map(|held| standing_lead(held, novel, without(held))).collect();
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

/// The lead of a left-out image, the least there is where it is novel.
fn standing_lead(held: &HeldOut, novel: Option<NoveltyBar>, without: Option<ClassId>) -> Option<f64> {
    let lead = lead(&held.scores, without)?;
    Some(if novel.is_some_and(|bar| bar.is_below(held.novelty)) { f64::MIN } else { lead })
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
