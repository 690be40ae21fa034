//! An index that selects candidates by trees and compares these alone.

use super::super::corpus::{Compared, Corpus, PointSet};
use super::super::pool::Pool;
use super::select::{Selector, Votes};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::ids::{ItemId, Neighbor};
use crate::nearest::{Cost, Filter, NeighborIndex, Neighbors};

/// An index of nearest neighbours by candidate selection.
///
/// A query falls through the trees of a [`Selector`], which selects candidates; the distances of
/// these are computed and the nearest returned. Where points have many values, rounded ones are
/// compared first, and the distances of those candidates that the error of rounding does not
/// exclude; hardly one of ten thousands is lost by that. Approximate: a neighbour that is no
/// candidate is not found. Where a filter leaves fewer than k candidates, further points are looked
/// at, in the end all.
///
/// It is grown of all its points at once and does not change: [`crate::ann::cells::CellIndex`]
/// follows points that come and go, with its recall kept. It is saved as [`Stored`].
///
/// Memory: the points, a quarter of that for rounded ones, and [`Selector::bytes`].
#[derive(Debug)]
pub struct CandidateIndex {
    corpus: Corpus,
    selector: Selector,
    /// For scores from the largest down the probability.
    reliability: Vec<(f32, f32)>,
    votes: Pool<Votes>,
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

/// Refuses a selector of points that there are not.
fn check(selector: &Selector, points: usize) -> Result<()> {
    match selector.largest_label().filter(|label| *label as usize >= points) {
        Some(label) => Err(Error::value("selector", format!("one of a corpus of {points} points"), format!("a label {label}"))),
        None => Ok(()),
    }
}

impl CandidateIndex {
    /// An index of a corpus, with an identifier for each point, that selects as `selector` does,
    /// which was made for that corpus.
    ///
    /// # Errors
    /// [`Error::Value`] when there are not as many identifiers as points, or one twice, or
    /// when the selector selects points that there are not.
    pub fn new(points: PointSet, ids: Vec<ItemId>, selector: Selector) -> Result<Self> {
        check(&selector, points.len())?;
        Ok(Self { corpus: Corpus::new(points, ids)?, selector, reliability: Vec::new(), votes: Pool::default() })
    }

    /// Selects from now on as another selector does, which was made for the same corpus.
    ///
    /// # Errors
    /// [`Error::Value`] when it selects points that there are not.
    pub fn set_selector(&mut self, selector: Selector) -> Result<()> {
        check(&selector, self.corpus.len())?;
        (self.selector, self.reliability) = (selector, Vec::new());
        Ok(())
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
            [] if self.selector.rule().is_of_labels() => score,
            [] => score / self.selector.trees() as f32,
            known => known.iter().find(|(threshold, _)| score >= *threshold).map_or(0.0, |(_, probability)| *probability),
        }
    }

    /// The candidates for a query, in no special order, each with its probability.
    ///
    /// # Errors
    /// As [`NeighborIndex::nearest`].
    pub fn candidates(&self, query: &[f32]) -> Result<Vec<(ItemId, f32)>> {
        let query = self.corpus.prepared(query)?;
        let selected = self.votes.with(|votes| self.selector.candidates(&query, self.corpus.len(), votes));
        Ok(selected.into_iter().map(|(point, score)| (self.corpus.ids()[point as usize], self.probability(score))).collect())
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.corpus.bytes() + self.selector.bytes()
    }

    /// The at most `k` nearest candidates that `admits` lets through, with their probabilities.
    ///
    /// # Errors
    /// As [`NeighborIndex::nearest`].
    pub fn scored(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<(Vec<Scored>, Cost)> {
        let query = self.corpus.prepared(query)?;
        if k == 0 || self.corpus.is_empty() {
            return Ok((Vec::new(), Cost::default()));
        }
        Ok(self.votes.with(|votes| {
            let found = self.nearest_candidates(&query, k, admits, votes);
            votes.clear();
            found
        }))
    }

    fn nearest_candidates(&self, query: &[f32], k: usize, admits: Filter<'_>, votes: &mut Votes) -> (Vec<Scored>, Cost) {
        let (trees, n) = (self.selector.trees(), self.corpus.len());
        self.selector.vote_of_all(query, n, votes);
        let is_wanted = |place: &u32| admits(self.corpus.ids()[*place as usize]);
        let mut places: Vec<u32> = self.selector.selected(votes).filter(is_wanted).collect();
        if places.len() < k {
            places = votes.touched.iter().copied().filter(is_wanted).collect();
        }
        if places.len() < k {
            places = (0..n as u32).filter(is_wanted).collect();
        }
        let (points, d) = (places.len() as u64, self.corpus.points().dimension() as u64);
        let cost = Cost { nodes: (trees * self.selector.depth()) as u64, leaves: trees as u64, points, values: points * d };
        let scored = |compared: Compared| {
            let probability = self.probability(self.selector.score(votes, compared.place));
            Scored { id: compared.id, distance: compared.distance, probability }
        };
        (self.corpus.nearest(query, k, places).into_iter().map(scored).collect(), cost)
    }
}

/// Answers afterwards as before, bit for bit.
impl Stored for CandidateIndex {
    fn write(&self, out: &mut Writer) {
        out.put(&self.corpus);
        out.put(&self.selector);
        out.put(&self.reliability);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (corpus, selector): (Corpus, Selector) = (from.get()?, from.get()?);
        let reliability: Vec<(f32, f32)> = from.get()?;
        check(&selector, corpus.len())?;
        let dimension = corpus.points().dimension();
        if !selector.is_of(dimension) {
            return Err(from.wrong(format!("trees of points of {dimension} values"), "trees that look at others"));
        }
        if reliability.iter().any(|(score, share)| score.is_nan() || !(0.0..=1.0).contains(share)) {
            return Err(from.wrong("the probability of each score", "numbers that are none"));
        }
        Ok(Self { corpus, selector, reliability, votes: Pool::default() })
    }
}

impl NeighborIndex for CandidateIndex {
    type Point = [f32];

    fn len(&self) -> usize {
        self.corpus.len()
    }

    /// Approximate: see [`CandidateIndex`].
    fn nearest(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        let (scored, cost) = self.scored(query, k, admits)?;
        let list = scored.into_iter().map(|Scored { id, distance, .. }| Neighbor { id, distance }).collect();
        Ok(Neighbors { list, cost })
    }
}
