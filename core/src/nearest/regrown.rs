//! Keeps an index that is costly to build up to date: the index as it was built last, a linear scan
//! of the points added since, a mask of those removed since, and a rebuild when too much has
//! changed.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Distance, Dynamic, Filter, NeighborIndex, Neighbors, TopK, taken};
use crate::error::Result;
use crate::ids::ItemId;

/// When an index is rebuilt: when there are at least twice, or less than a quarter, as many points
/// as when it was built. Rebuilding then costs a constant number of times the work of building
/// once, however points are inserted and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The number of points at which the index is first built.
    pub first: usize,
}

impl Growth {
    /// Whether an index that was built for `then` points (0: none was built) must be rebuilt for
    /// `now` points.
    pub fn is_due(self, now: usize, then: usize) -> bool {
        let then = then.max(self.first / 2);
        now >= then.saturating_mul(2) || (then > self.first && now < then / 4)
    }
}

/// Copies of the points of an index.
type Points<I> = BTreeMap<ItemId, <<I as NeighborIndex>::Point as ToOwned>::Owned>;

/// A [`Dynamic`] index made of one that cannot change once it is built.
///
/// `G` builds an index of points. Until there are [`Growth::first`] points there is no index, and
/// all points are scanned. Exact if the index is. Memory: the index and a copy of each point.
pub struct Regrown<I: NeighborIndex, D, G>
where
    I::Point: ToOwned,
{
    grow: G,
    distance: D,
    growth: Growth,
    points: Points<I>,
    index: Option<I>,
    grown_at: usize,
    /// Points that the index does not have: they are scanned.
    tail: BTreeSet<ItemId>,
    /// Points of the index that were removed since, or are in the tail with other values.
    masked: BTreeSet<ItemId>,
}

impl<I, D, G> Regrown<I, D, G>
where
    I: NeighborIndex,
    I::Point: ToOwned<Owned: Sync>,
    D: Distance<I::Point>,
    G: Fn(&Points<I>) -> Result<I> + Sync,
{
    /// An index without points. `distance` must be the one that the built index uses.
    pub fn new(growth: Growth, distance: D, grow: G) -> Self {
        let (points, tail, masked) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { grow, distance, growth, points, index: None, grown_at: 0, tail, masked }
    }

    /// Rebuilds the index of all present points if that is due. When building fails, it is tried
    /// again at the next change; until then the old index and the scan answer.
    fn regrow(&mut self) {
        if self.growth.is_due(self.points.len(), self.grown_at)
            && let Ok(index) = (self.grow)(&self.points)
        {
            self.index = Some(index);
            self.grown_at = self.points.len();
            self.tail.clear();
            self.masked.clear();
        }
    }
}

impl<I, D, G> NeighborIndex for Regrown<I, D, G>
where
    I: NeighborIndex,
    I::Point: ToOwned<Owned: Sync>,
    D: Distance<I::Point>,
    G: Fn(&Points<I>) -> Result<I> + Sync,
{
    type Point = I::Point;

    fn len(&self) -> usize {
        self.points.len()
    }

    /// The cost of the index, and O(points inserted since it was built) distances.
    fn nearest(&self, query: &I::Point, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.distance.check(query, self.points.values().next().map(Borrow::borrow))?;
        let mut nearest = TopK::new(k);
        let mut cost = super::Cost::default();
        if let Some(index) = &self.index {
            let found = index.nearest(query, k, &|id| !self.masked.contains(&id) && admits(id))?;
            cost += found.cost;
            found.list.iter().for_each(|neighbor| nearest.offer(neighbor.id, neighbor.distance));
        }
        let fresh = self.tail.iter().filter(|id| admits(**id)).filter_map(|id| Some((*id, self.points.get(id)?)));
        for (id, point) in fresh {
            cost.points += 1;
            nearest.offer(id, self.distance.between(query, point.borrow()));
        }
        Ok(Neighbors { list: nearest.finish(), cost })
    }
}

impl<I, D, G> Dynamic for Regrown<I, D, G>
where
    I: NeighborIndex,
    I::Point: ToOwned<Owned: Sync>,
    D: Distance<I::Point>,
    G: Fn(&Points<I>) -> Result<I> + Sync,
{
    fn insert(&mut self, id: ItemId, point: &I::Point) -> Result<()> {
        self.distance.check(point, self.points.values().next().map(Borrow::borrow))?;
        if self.points.contains_key(&id) {
            return Err(taken(id));
        }
        self.points.insert(id, point.to_owned());
        self.tail.insert(id);
        self.regrow();
        Ok(())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        if self.points.remove(&id).is_none() {
            return false;
        }
        if !self.tail.remove(&id) {
            self.masked.insert(id);
        }
        self.regrow();
        true
    }
}
