//! Cells of points that are kept elsewhere: what names the candidates of a query, but measures no
//! distance.

use rayon::prelude::*;

use super::super::candidates::KnnGraph;
use super::super::corpus::{Places, PointSet};
use super::super::pool::Pool;
use super::super::tuning::{Measured, frontier};
use super::partition::{Partition, Scratch};
use super::tune::sweep;
use super::{CellOptions, CellWay};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::Growth;
use crate::progress::Progress;

/// Steps of this length meet places as if they were drawn at random: 2^64 by the golden ratio.
const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Names those of many points that a query is worth being compared with, by a distance that whoever
/// keeps the points knows.
///
/// As a [`super::CellIndex`] without its points: it keeps the codes of their places in cells alone,
/// so that many vectors of an image can each have one. Cells are found once; points come and go,
/// and [`CellCandidates::is_due`] tells when they should be found anew.
#[derive(Debug)]
pub struct CellCandidates {
    pub(super) options: CellOptions,
    /// Prepares points; it holds none.
    pub(super) frame: PointSet,
    pub(super) places: Places,
    pub(super) partition: Partition,
    pub(super) grown_at: usize,
    scratches: Pool<Scratch>,
}

/// What was measured of a way to name candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateCurve {
    /// The way, its recall and its cost.
    pub measured: Measured<CellWay>,
    /// The probability that the nearest candidate is one of the true neighbours, that the second
    /// is, and so on.
    pub probabilities: Vec<f32>,
}

impl CellCandidates {
    /// Cells for some points, with an identifier for each.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range; [`Error::Value`] when there are no points
    /// or points of no values, not as many identifiers, or one twice; [`Error::Cancelled`].
    pub fn new(points: &PointSet, ids: Vec<ItemId>, options: CellOptions, progress: &Progress) -> Result<Self> {
        options.check()?;
        if points.is_empty() || points.dimension() == 0 || ids.len() != points.len() {
            let found = format!("{} points of {} values and {} identifiers", points.len(), points.dimension(), ids.len());
            return Err(Error::value("points", "one or more, with an identifier each", found));
        }
        let partition = Partition::new(points, &options, progress)?;
        let grown_at = ids.len();
        Self::with(options, PointSet::new(points.dimension(), points.metric()), ids, partition, grown_at)
    }

    pub(super) fn with(options: CellOptions, frame: PointSet, ids: Vec<ItemId>, partition: Partition, grown_at: usize) -> Result<Self> {
        Ok(Self { options, frame, places: Places::new(ids)?, partition, grown_at, scratches: Pool::default() })
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.places.ids().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.ids().is_empty()
    }

    /// Whether there is a point of this identifier.
    pub fn contains(&self, id: ItemId) -> bool {
        self.places.of(id).is_some()
    }

    /// Whether cells should be found anew, for the number of points has doubled since or fallen to
    /// a quarter.
    pub fn is_due(&self) -> bool {
        Growth { first: 1 }.is_due(self.len(), self.grown_at)
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.partition.bytes() + self.places.bytes()
    }

    /// Adds a point.
    ///
    /// # Errors
    /// [`Error::Value`] when the identifier is in use, or the point is not like the others.
    pub fn insert(&mut self, id: ItemId, point: &[f32]) -> Result<()> {
        self.frame.check(point)?;
        self.places.check_free(id)?;
        self.places.push(id);
        self.partition.push(&self.frame.prepared(point));
        Ok(())
    }

    /// Removes a point. Returns whether there was one of this identifier.
    pub fn remove(&mut self, id: ItemId) -> bool {
        let place = self.places.swap_remove(id);
        place.inspect(|place| self.partition.swap_remove(*place)).is_some()
    }

    /// About which share of the points `admits` lets through, by `n` of them.
    pub fn share(&self, n: usize, admits: impl Fn(ItemId) -> bool) -> f64 {
        let ids = self.places.ids();
        let place = |i: usize| (i as u64).wrapping_mul(SCATTER) as usize % ids.len();
        let n = if self.is_empty() { 0 } else { n };
        (0..n).filter(|i| admits(ids[place(*i)])).count() as f64 / n.max(1) as f64
    }

    /// At most `way.shortlist` points that `admits` lets through, of the `way.probes` cells nearest
    /// to the query, and of more cells while there are fewer than `k`: those that are estimated to
    /// be nearest, the nearest first.
    ///
    /// # Errors
    /// [`Error::Value`] when the query is not like the points.
    pub fn candidates(&self, query: &[f32], way: CellWay, k: usize, admits: impl Fn(ItemId) -> bool) -> Result<Vec<ItemId>> {
        self.frame.check(query)?;
        let query = self.frame.prepared(query);
        let ids = self.places.ids();
        let is_wanted = |place: u32| admits(ids[place as usize]);
        let (places, ..) = self.scratches.with(|scratch| self.partition.select(&query, (way.probes, way.shortlist, k), is_wanted, scratch));
        Ok(places.into_iter().map(|place| ids[place as usize]).collect())
    }

    /// Measures many ways on some of the points, each asked for its neighbours among the others:
    /// `truth` are the k nearest of each, nearest first. Returns the ways that none other beats,
    /// the cheapest first. Equal on any number of threads. O(queries * ways).
    ///
    /// # Errors
    /// [`Error::Value`] when there is not a list of as many known points for each query, or a query
    /// is not like the points; [`Error::Cancelled`].
    pub fn curve(&self, queries: &PointSet, own: &[ItemId], truth: &[Vec<ItemId>], progress: &Progress) -> Result<Vec<CandidateCurve>> {
        let place = |id: &ItemId| self.places.of(*id).ok_or_else(|| Error::value("neighbours", "points of these cells", id.0.to_string()));
        let own: Vec<u32> = own.iter().map(place).collect::<Result<_>>()?;
        let truth: Vec<Vec<u32>> = truth.iter().map(|list| list.iter().map(place).collect()).collect::<Result<_>>()?;
        if own.len() != queries.len() || truth.len() != queries.len() || queries.dimension() != self.frame.dimension() {
            let found = format!("{} of {} values, {} identifiers, {} lists", queries.len(), queries.dimension(), own.len(), truth.len());
            let expected = format!("as many of {} values, identifiers and lists", self.frame.dimension());
            return Err(Error::value("queries", expected, found));
        }
        let truth = KnnGraph::of(&truth)?;
        let ways = frontier(sweep(&self.partition, queries, &truth, |query, place| own[query] != place, progress)?);
        let k = truth.k();
        let curve = |measured: Measured<CellWay>| {
            let CellWay { probes, shortlist } = measured.way;
            let found = |scratch: &mut Scratch, i: usize| {
                let is_other = |place| own[i] != place;
                let (places, ..) = self.partition.select(queries.row(i), (probes, shortlist, k), is_other, scratch);
                places.iter().filter(|place| truth.list(i).contains(place)).count()
            };
            let found: Vec<usize> = (0..queries.len()).into_par_iter().map_init(Scratch::default, found).collect();
            // The candidates are ordered by their true distance, so the true neighbours come first.
            let share = |place: usize| found.iter().filter(|found| **found > place).count() as f32 / queries.len().max(1) as f32;
            CandidateCurve { measured, probabilities: (0..k).map(share).collect() }
        };
        Ok(ways.into_iter().map(curve).collect())
    }
}
