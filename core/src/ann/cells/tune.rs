//! The choice of cells and candidates for a recall that is asked for.

use rayon::prelude::*;

use super::super::candidates::KnnGraph;
use super::super::corpus::PointSet;
use super::super::tuning::{Measured, Sums, cheapest, frontier};
use super::index::CellIndex;
use super::partition::{Partition, Scratch};
use crate::error::{Error, Result};
use crate::nearest::{NeighborIndex as _, everything};
use crate::progress::Progress;

/// What the parts of a query cost, in nanoseconds of one machine: a value of the projection or of a
/// centre, a byte of a cell's codes, a cell, a candidate, and each of its values.
const FIXED: f64 = 0.06;
const BYTE: f64 = 0.05;
const CELL: f64 = 150.0;
const CANDIDATE: f64 = 50.0;
const VALUE: f64 = 0.4;

/// What a candidate of `d` values costs.
fn candidate_of(d: usize) -> f64 {
    CANDIDATE + VALUE * d as f64
}

/// Numbers of cells and of candidates that are tried.
const PROBES: [usize; 18] = [1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128];
const SHORTLISTS: [usize; 17] = [10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 80, 100, 120, 150, 200, 300, 400];

/// How a [`CellIndex`] is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellWay {
    /// Cells that a query looks at.
    pub probes: usize,
    /// Candidates that it is compared with.
    pub shortlist: usize,
}

/// Measures many ways on validation queries, of each among the points that `admits` lets through,
/// given the query's number and the point's place.
pub(super) fn sweep(
    partition: &Partition,
    queries: &PointSet,
    truth: &KnnGraph,
    admits: impl Fn(usize, u32) -> bool + Sync,
    progress: &Progress,
) -> Result<Vec<Measured<CellWay>>> {
    let (k, d) = (truth.k(), partition.axes.mean().len());
    let probes: Vec<usize> = PROBES.into_iter().filter(|probes| *probes <= partition.cells()).collect();
    let longest = SHORTLISTS[SHORTLISTS.len() - 1].max(k);
    progress.begin("Comparing ways to search", probes.len() as u64);
    let mut all = Vec::new();
    for probes in probes {
        progress.step()?;
        let of_query = |scratch: &mut Scratch, i: usize| {
            let (places, _, points) = partition.select(queries.row(i), (probes, longest, k), |place| admits(i, place), scratch);
            let found = |length: usize| {
                let kept = &places[..length.max(k).min(places.len())];
                let found = kept.iter().filter(|place| truth.list(i).contains(place)).count() as u64;
                Sums { found, squares: found * found, candidates: kept.len() as u64 }
            };
            (SHORTLISTS.map(found), points as u64)
        };
        let parts: Vec<_> = (0..queries.len()).into_par_iter().map_init(Scratch::default, of_query).collect();
        let points = parts.iter().map(|(_, points)| points).sum::<u64>() as f64 / queries.len().max(1) as f64;
        let selecting = FIXED * partition.fixed_values() as f64 + CELL * probes as f64 + BYTE * points * partition.bytes_per_point();
        for (at, shortlist) in SHORTLISTS.into_iter().enumerate() {
            let sums = parts.iter().fold(Sums::default(), |sum, (sums, _)| sum.plus(sums[at]));
            all.push(sums.measured(CellWay { probes, shortlist }, selecting, candidate_of(d), queries.len(), k));
        }
    }
    Ok(all)
}

impl CellIndex {
    /// Measures many ways to search on validation queries that are not in the index, with their
    /// true neighbours by places of the points, which are those in which they were given or
    /// inserted as long as none is removed. Where there are no cells the one way is to compare all
    /// points. Equal on any number of threads. O(queries * ways).
    ///
    /// # Errors
    /// [`Error::Value`] when there is not a list of true neighbours for each query, or a query does
    /// not fit; [`Error::Cancelled`].
    pub fn sweep(&self, queries: &PointSet, truth: &KnnGraph, progress: &Progress) -> Result<Vec<Measured<CellWay>>> {
        if truth.len() != queries.len() {
            return Err(Error::value("true neighbours", format!("a list for each of {} queries", queries.len()), truth.len().to_string()));
        }
        let (d, k) = (self.corpus.points().dimension(), truth.k());
        if queries.is_empty() || queries.dimension() != d {
            let found = format!("{} of {}", queries.len(), queries.dimension());
            return Err(Error::value("queries", format!("one or more of {d} values"), found));
        }
        let n = self.corpus.len();
        if let Some(place) = (0..truth.len()).flat_map(|i| truth.list(i)).find(|place| **place as usize >= n) {
            return Err(Error::value("true neighbours", format!("places of {n} points"), place.to_string()));
        }
        let Some(partition) = &self.partition else {
            let (n, k, queries) = (self.corpus.len() as u64, k as u64, queries.len() as u64);
            let sums = Sums { found: k * queries, squares: k * k * queries, candidates: n * queries };
            return Ok(vec![sums.measured(
                CellWay { probes: 1, shortlist: n as usize },
                0.0,
                candidate_of(d),
                queries as usize,
                k as usize,
            )]);
        };
        sweep(partition, queries, truth, |_, _| true, progress)
    }

    /// Searches from now on in the cheapest way that reaches a recall on validation queries by two
    /// standard errors more, and returns what was measured of it, and the ways that none other
    /// beats.
    ///
    /// # Errors
    /// As [`CellIndex::sweep`].
    pub fn tune(
        &mut self,
        queries: &PointSet,
        truth: &KnnGraph,
        recall: f64,
        progress: &Progress,
    ) -> Result<(Measured<CellWay>, Vec<Measured<CellWay>>)> {
        let frontier = frontier(self.sweep(queries, truth, progress)?);
        let chosen = cheapest(&frontier, recall)?;
        self.set_way(chosen.way.probes, chosen.way.shortlist);
        self.measure_reliability(queries, truth)?;
        Ok((chosen, frontier))
    }

    /// Measures which share of the neighbours that are found in each place are true ones.
    pub(crate) fn measure_reliability(&mut self, queries: &PointSet, truth: &KnnGraph) -> Result<()> {
        let k = truth.k();
        let ids = self.corpus.ids();
        let is_true = |i: usize| -> Result<Vec<bool>> {
            let found = self.nearest(queries.row(i), k, &everything)?.list;
            Ok(found.iter().map(|found| truth.list(i).iter().any(|place| ids[*place as usize] == found.id)).collect())
        };
        let all: Vec<Vec<bool>> = (0..queries.len()).into_par_iter().map(is_true).collect::<Result<_>>()?;
        let share = |place: usize| all.iter().filter(|found| found.get(place) == Some(&true)).count() as f32 / all.len().max(1) as f32;
        self.reliability = (0..k).map(share).collect();
        Ok(())
    }
}
