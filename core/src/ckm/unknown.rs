//! Whether an image looks like none of a machine's classes.
//!
//! What such images look like is learned without any: a left-out image whose own class is struck
//! out is an image of a class that the machine does not know.

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

/// Judged images below which nothing is said.
const FEWEST: usize = 40;

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
        let of = |without: fn(&HeldOut) -> Option<ClassId>| -> Vec<f64> {
            let mut leads: Vec<f64> = held_out.iter().filter_map(|held| lead(&held.scores, without(held))).collect();
            leads.sort_by(f64::total_cmp);
            leads
        };
        let (known, struck, other) = (of(|_| None), of(|held| Some(held.class)), of(|held| Some(next(held))));
        if known.len() < FEWEST || struck.len() < FEWEST || other.len() < FEWEST {
            return None;
        }
        let lead = known[(TAKEN * known.len() as f64) as usize];
        let below = |leads: &[f64]| leads.partition_point(|other| *other < lead) as f64 / leads.len() as f64;
        let (taken, found) = (below(&known), below(&struck));
        (found >= FOUND && found >= TIMES * below(&other)).then_some(Self { lead, taken, found })
    }

    /// Whether an image with these scores looks unknown.
    pub fn is_below(&self, scores: &Scores) -> bool {
        lead(scores, None).is_some_and(|lead| lead < self.lead)
    }
}

/// Another class than an image's own.
fn next(held: &HeldOut) -> ClassId {
    ClassId((held.class.0 + 1) % held.scores.of.len().max(1) as u32)
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
