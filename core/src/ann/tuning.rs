//! The choice of a way to search an index for a recall that is asked for.

use crate::error::{Error, Result};

/// What was measured of a way to search on validation queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured<W> {
    /// The way.
    pub way: W,
    /// The mean share of the true neighbours that are candidates.
    pub recall: f64,
    /// The standard error of the recall.
    pub spread: f64,
    /// Candidates for a query.
    pub candidates: f64,
    /// The cost of a query, in operations: some nanoseconds each.
    pub operations: f64,
}

impl<W> Measured<W> {
    /// The same, of a way as another type.
    pub fn map<V>(self, of: impl FnOnce(W) -> V) -> Measured<V> {
        let Self { way, recall, spread, candidates, operations } = self;
        Measured { way: of(way), recall, spread, candidates, operations }
    }
}

/// What is summed up over queries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// True neighbours that are candidates.
    pub(super) found: u64,
    /// The squares of these numbers.
    pub(super) squares: u64,
    pub(super) candidates: u64,
}

impl Sums {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { found: self.found + other.found, squares: self.squares + other.squares, candidates: self.candidates + other.candidates }
    }

    /// What they say of a way in which selecting candidates costs `selecting` and comparing one
    /// costs `candidate`, of so many queries with `k` neighbours each.
    pub(super) fn measured<W>(self, way: W, selecting: f64, candidate: f64, queries: usize, k: usize) -> Measured<W> {
        let (m, k) = (queries.max(1) as f64, k.max(1) as f64);
        let recall = self.found as f64 / (m * k);
        let variance = (self.squares as f64 / (m * k * k) - recall * recall).max(0.0);
        let candidates = self.candidates as f64 / m;
        let operations = selecting + candidates * candidate;
        // Where all queries are right, one of so many more may be wrong.
        Measured { way, recall, spread: (variance / m).sqrt().max(1.0 / m), candidates, operations }
    }
}

/// Of some ways those that none other beats in recall and cost, the cheapest first.
pub fn frontier<W>(mut measured: Vec<Measured<W>>) -> Vec<Measured<W>> {
    measured.sort_by(|a, b| a.operations.total_cmp(&b.operations).then(b.recall.total_cmp(&a.recall)));
    let mut most = -1.0;
    measured.retain(|way| {
        let is_better = way.recall > most;
        most = way.recall.max(most);
        is_better
    });
    measured
}

/// The cheapest way that reaches a recall on validation queries by two standard errors more, so
/// that it may be promised for others; the one of most recall where none does.
///
/// # Errors
/// [`Error::Value`] when there is none at all.
pub fn cheapest<W: Copy>(frontier: &[Measured<W>], recall: f64) -> Result<Measured<W>> {
    let reaches = frontier.iter().find(|way| way.recall - 2.0 * way.spread >= recall);
    let most = || frontier.iter().max_by(|a, b| a.recall.total_cmp(&b.recall));
    reaches.or_else(most).copied().ok_or_else(|| Error::value("ways to search", "one or more", "none"))
}

/// The way of most recall on validation queries that costs at most so many operations; the cheapest
/// where none does.
///
/// # Errors
/// [`Error::Value`] when there is none at all.
pub fn within<W: Copy>(frontier: &[Measured<W>], operations: f64) -> Result<Measured<W>> {
    let fits = frontier.iter().filter(|way| way.operations <= operations).max_by(|a, b| a.recall.total_cmp(&b.recall));
    let least = || frontier.iter().min_by(|a, b| a.operations.total_cmp(&b.operations));
    fits.or_else(least).copied().ok_or_else(|| Error::value("ways to search", "one or more", "none"))
}
