//! The index of cells.

use super::super::corpus::{Compared, Corpus, PointSet};
use super::super::pool::Pool;
use super::partition::{Partition, Scratch};
use super::{CellCodes, CellOptions};
use crate::error::{Error, Result};
use crate::ids::{ItemId, Neighbor};
use crate::nearest::{Cost, Dynamic, Filter, Growth, NeighborIndex, Neighbors};
use crate::progress::Progress;

/// Iterations of k-means after which nothing moves any more.
const MOST_ITERATIONS: usize = 1000;

/// An index of nearest neighbours by cells and short codes.
///
/// Approximate; with as many probes as cells and candidates as points hardly one neighbour of ten
/// thousands is missed. An index of fewer than [`CellOptions::first`] points has no cells, and all
/// points are compared.
///
/// An inserted point goes to the cell of the nearest centre; axes, cells and codes are found anew
/// when there are twice as many points as then, or less than a quarter ([`Growth`]); then it should
/// be tuned again. So answers
/// depend on the order in which points came, but not on the number of threads.
///
/// With n points of d values, s axes, c cells, p probes, codes of r values and l candidates a query
/// takes O(d s + c s + p s r + p n / c r + l d). Memory: the points, a quarter of that for bytes or
/// rounded values, n r bytes of codes, and 5 c s r bytes of regressions.
#[derive(Debug)]
pub struct CellIndex {
    pub(super) options: CellOptions,
    pub(super) corpus: Corpus,
    pub(super) partition: Option<Partition>,
    pub(super) grown_at: usize,
    /// The share of the neighbours that queries find which are true ones, for the nearest of these,
    /// the second, and so on.
    pub(super) reliability: Vec<f32>,
    pub(super) scratches: Pool<Scratch>,
}

impl CellOptions {
    pub(super) fn check(&self) -> Result<()> {
        if !(self.cells > 0.0 && self.cells.is_finite()) {
            return Err(Error::Option { name: "cells", found: self.cells.to_string(), expected: "a number above 0" });
        }
        let (CellCodes::Axes(codes) | CellCodes::Regression(codes)) = self.codes;
        for (name, value) in [
            ("axes", self.axes),
            ("iterations", self.iterations),
            ("codes", codes),
            ("sample", self.sample),
            ("first", self.first),
            ("probes", self.probes),
            ("shortlist", self.shortlist),
        ] {
            if value == 0 {
                return Err(Error::Option { name, found: "0".into(), expected: "1 or more" });
            }
        }
        if self.iterations > MOST_ITERATIONS {
            return Err(Error::Option { name: "iterations", found: self.iterations.to_string(), expected: "1 to 1000" });
        }
        Ok(())
    }
}

impl CellIndex {
    /// An index of some points, with an identifier for each.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range; [`Error::Value`] when there are not as
    /// many identifiers as points, or one twice; [`Error::Cancelled`].
    pub fn new(points: PointSet, ids: Vec<ItemId>, options: CellOptions, progress: &Progress) -> Result<Self> {
        let mut index = Self::empty(options, Corpus::new(points, ids)?)?;
        if index.is_due() {
            index.grow(progress)?;
        }
        Ok(index)
    }

    /// An index without cells.
    pub(super) fn empty(options: CellOptions, corpus: Corpus) -> Result<Self> {
        options.check()?;
        Ok(Self { options, corpus, partition: None, grown_at: 0, reliability: Vec::new(), scratches: Pool::default() })
    }

    /// How it was made and is searched.
    pub fn options(&self) -> &CellOptions {
        &self.options
    }

    /// Sets how many cells a query looks at and how many candidates it is compared with, at least
    /// one of each.
    pub fn set_way(&mut self, probes: usize, shortlist: usize) {
        (self.options.probes, self.options.shortlist) = (probes.max(1), shortlist.max(1));
        self.reliability.clear();
    }

    /// The number of cells; 0 where there are none and all points are compared.
    pub fn cells(&self) -> usize {
        self.partition.as_ref().map_or(0, Partition::cells)
    }

    /// The probability that the neighbour which a query found in a place, from 0 on, is one of its
    /// true neighbours, as [`CellIndex::tune`] measured it; 1 where it was not measured.
    pub fn probability(&self, place: usize) -> f32 {
        self.reliability.get(place).copied().unwrap_or(1.0)
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.corpus.bytes() + self.partition.as_ref().map_or(0, Partition::bytes)
    }

    /// Whether cells are to be found for the points that there are now. Points of no values have
    /// nothing to be parted by.
    fn is_due(&self) -> bool {
        let n = self.corpus.len();
        n > 0 && self.corpus.points().dimension() > 0 && (Growth { first: self.options.first }).is_due(n, self.grown_at)
    }

    fn grow(&mut self, progress: &Progress) -> Result<()> {
        self.partition = Some(Partition::new(self.corpus.points(), &self.options, progress)?);
        self.grown_at = self.corpus.len();
        self.reliability.clear();
        Ok(())
    }

    /// Finds steps of rounded values and cells anew if that is due.
    fn regrow(&mut self) -> Result<()> {
        if self.is_due() {
            self.corpus.round_anew();
            self.grow(&Progress::default())?;
        }
        Ok(())
    }

    fn find(&self, query: &[f32], k: usize, admits: Filter<'_>, scratch: &mut Scratch) -> (Vec<Compared>, Cost) {
        let is_wanted = |place: u32| admits(self.corpus.ids()[place as usize]);
        let (d, mut cost) = (self.corpus.points().dimension() as u64, Cost::default());
        let places = match &self.partition {
            None => (0..self.corpus.len() as u32).filter(|place| is_wanted(*place)).collect(),
            Some(partition) => {
                let way = (self.options.probes, self.options.shortlist, k);
                let (places, cells, points) = partition.select(query, way, is_wanted, scratch);
                cost = Cost { nodes: partition.cells() as u64, leaves: cells as u64, points: points as u64, values: 0 };
                places
            }
        };
        cost.points = cost.points.max(places.len() as u64);
        cost.values = places.len() as u64 * d;
        (self.corpus.nearest(query, k, places), cost)
    }
}

impl NeighborIndex for CellIndex {
    type Point = [f32];

    fn len(&self) -> usize {
        self.corpus.len()
    }

    /// Approximate: see [`CellIndex`]. [`Cost::points`] are those whose inner product was
    /// estimated, [`Cost::values`] those of the candidates.
    fn nearest(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        let query = self.corpus.prepared(query)?;
        if k == 0 || self.corpus.is_empty() {
            return Ok(Neighbors::default());
        }
        let (found, cost) = self.scratches.with(|scratch| self.find(&query, k, admits, scratch));
        let list = found.into_iter().map(|Compared { id, distance, .. }| Neighbor { id, distance }).collect();
        Ok(Neighbors { list, cost })
    }
}

impl Dynamic for CellIndex {
    fn insert(&mut self, id: ItemId, point: &[f32]) -> Result<()> {
        self.corpus.push(id, point)?;
        if let Some(partition) = &mut self.partition {
            partition.push(self.corpus.points().row(self.corpus.len() - 1));
        }
        self.regrow()
    }

    fn remove(&mut self, id: ItemId) -> bool {
        let Some(place) = self.corpus.swap_remove(id) else { return false };
        if let Some(partition) = &mut self.partition {
            partition.swap_remove(place);
        }
        // Without a progress that cancels it, it cannot fail.
        self.regrow().is_ok()
    }
}
