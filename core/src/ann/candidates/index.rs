//! An index that selects candidates by trees and compares these alone.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::fine::Fine;
use super::point_set::PointSet;
use super::select::{SelectionRule, Selector, Votes};
use crate::error::{Error, Result};
use crate::ids::{ItemId, Neighbor};
use crate::nearest::{Cost, Filter, Metric, NeighborIndex, Neighbors, TopK, taken};

/// Values of a point from which on rounded ones are compared first.
const LONG: usize = 64;

/// An index of nearest neighbours by candidate selection.
///
/// A query falls through the trees of a [`Selector`], which selects candidates; the distances of
/// these are computed and the nearest returned. Where points have many values, rounded ones are
/// compared first, and the distances of those candidates that the error of rounding does not
/// exclude, so that this loses nothing. Approximate: a neighbour that is no candidate is not found.
/// Where a filter leaves fewer than k candidates, further points are looked at, in the end all.
///
/// Memory: the points, a quarter of that for rounded ones, and [`Selector::bytes`].
#[derive(Debug)]
pub struct CandidateIndex {
    points: PointSet,
    ids: Vec<ItemId>,
    fine: Option<Fine>,
    selector: Selector,
    /// For scores from the largest down the probability.
    reliability: Vec<(f32, f32)>,
    votes: Mutex<Vec<Votes>>,
}

/// A neighbour that was found, with the probability that made it a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The neighbour.
    pub id: ItemId,
    /// Its distance.
    pub distance: f64,
    /// The estimated probability that a point with its score is one of the nearest; without
    /// [`CandidateIndex::set_reliability`] the score itself. 0 for a point that no tree names.
    pub probability: f32,
}

impl CandidateIndex {
    /// An index of a corpus, with an identifier for each point, that selects as `selector` does,
    /// which was made for that corpus.
    ///
    /// # Errors
    /// [`Error::Value`] when there are not as many identifiers as points, or one twice, or
    /// when the selector selects points that there are not.
    pub fn new(points: PointSet, ids: Vec<ItemId>, selector: Selector) -> Result<Self> {
        if ids.len() != points.len() {
            return Err(Error::value("identifiers", format!("one for each of {} points", points.len()), ids.len().to_string()));
        }
        let mut seen = HashMap::new();
        if let Some(id) = ids.iter().find(|id| seen.insert(**id, ()).is_some()) {
            return Err(taken(*id));
        }
        if let Some(label) = selector.largest_label().filter(|label| *label as usize >= points.len()) {
            return Err(Error::value("selector", format!("one of a corpus of {} points", points.len()), format!("a label {label}")));
        }
        let fine = (points.dimension() >= LONG).then(|| Fine::new(&points));
        Ok(Self { points, ids, fine, selector, reliability: Vec::new(), votes: Mutex::default() })
    }

    /// What selects candidates.
    pub fn selector(&self) -> &Selector {
        &self.selector
    }

    /// Sets the score from which on a point is a candidate.
    pub fn set_threshold(&mut self, threshold: f32) {
        self.selector.set_threshold(threshold);
    }

    /// Sets what makes scores probabilities, as [`super::reliability`] measures it.
    pub fn set_reliability(&mut self, reliability: Vec<(f32, f32)>) {
        self.reliability = reliability;
    }

    fn probability(&self, score: f32) -> f32 {
        match self.reliability.as_slice() {
            [] if self.selector.rule() == SelectionRule::Natural => score,
            [] => score / self.selector.trees() as f32,
            known => known.iter().find(|(threshold, _)| score >= *threshold).map_or(0.0, |(_, probability)| *probability),
        }
    }

    /// The candidates for a query, in no special order, each with its probability.
    ///
    /// # Errors
    /// As [`NeighborIndex::nearest`].
    pub fn candidates(&self, query: &[f32]) -> Result<Vec<(ItemId, f32)>> {
        self.points.check(query)?;
        let selected = self.selector.candidates(&self.points.prepared(query), self.ids.len(), &mut Votes::default());
        Ok(selected.into_iter().map(|(point, score)| (self.ids[point as usize], self.probability(score))).collect())
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.points.bytes() + size_of_val(&self.ids[..]) + self.fine.as_ref().map_or(0, Fine::bytes) + self.selector.bytes()
    }

    /// The at most `k` nearest candidates that `admits` lets through, with their probabilities.
    ///
    /// # Errors
    /// As [`NeighborIndex::nearest`].
    pub fn scored(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<(Vec<Scored>, Cost)> {
        self.points.check(query)?;
        if k == 0 || self.ids.is_empty() {
            return Ok((Vec::new(), Cost::default()));
        }
        let query = self.points.prepared(query);
        let mut votes = self.votes.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let found = self.nearest_candidates(&query, k, admits, &mut votes);
        votes.clear();
        self.votes.lock().unwrap_or_else(PoisonError::into_inner).push(votes);
        Ok(found)
    }

    fn nearest_candidates(&self, query: &[f32], k: usize, admits: Filter<'_>, votes: &mut Votes) -> (Vec<Scored>, Cost) {
        let (trees, n) = (self.selector.trees(), self.ids.len());
        for tree in 0..trees {
            self.selector.vote(tree, query, n, votes);
        }
        let divisor = self.selector.divisor(trees);
        let is_wanted = |point: &u32| admits(self.ids[*point as usize]);
        let mut points: Vec<u32> =
            votes.touched.iter().copied().filter(|point| votes.score(*point) / divisor >= self.selector.threshold()).collect();
        points.retain(is_wanted);
        if points.len() < k {
            points = votes.touched.iter().copied().filter(is_wanted).collect();
        }
        if points.len() < k {
            points = (0..n as u32).filter(is_wanted).collect();
        }
        let (candidates, d) = (points.len() as u64, self.points.dimension() as u64);
        if let Some(fine) = self.fine.as_ref().filter(|_| points.len() > k) {
            points = fine.nearest(query, k, &points);
        }
        let mut nearest = TopK::new(k);
        let mut place_of = HashMap::new();
        for point in points {
            let id = self.ids[point as usize];
            let distance = f64::from(self.points.distance(query, point as usize));
            if nearest.admits(id, distance) {
                nearest.offer(id, distance);
                place_of.insert(id, point);
            }
        }
        let scored = nearest.finish().into_iter().map(|neighbor| {
            let distance = if self.points.metric() == Metric::Euclidean { neighbor.distance.sqrt() } else { neighbor.distance };
            Scored { id: neighbor.id, distance, probability: self.probability(votes.score(place_of[&neighbor.id]) / divisor) }
        });
        let cost = Cost { nodes: (trees * self.selector.depth()) as u64, leaves: trees as u64, points: candidates, values: candidates * d };
        (scored.collect(), cost)
    }
}

impl NeighborIndex for CandidateIndex {
    type Point = [f32];

    fn len(&self) -> usize {
        self.ids.len()
    }

    /// Approximate: see [`CandidateIndex`].
    fn nearest(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        let (scored, cost) = self.scored(query, k, admits)?;
        let list = scored.into_iter().map(|Scored { id, distance, .. }| Neighbor { id, distance }).collect();
        Ok(Neighbors { list, cost })
    }
}
