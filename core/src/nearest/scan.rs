//! The exact scan over points of any kind and any distance: the slow, obvious yardstick of all
//! indexes.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use super::{Cost, Distance, Dynamic, Filter, NeighborIndex, Neighbors, TopK, Within, taken};
use crate::error::Result;
use crate::ids::ItemId;

/// Points of any kind; a query computes its distance to every admitted one. Exact. O(n) distances a
/// query, O(log n) for an insertion or removal.
pub struct Scan<P: ?Sized + ToOwned, D> {
    distance: D,
    points: BTreeMap<ItemId, P::Owned>,
}

impl<P: ?Sized + ToOwned, D> Scan<P, D> {
    /// A scan without points.
    pub fn new(distance: D) -> Self {
        Self { distance, points: BTreeMap::new() }
    }

    /// The point of that identifier.
    pub fn get(&self, id: ItemId) -> Option<&P> {
        self.points.get(&id).map(Borrow::borrow)
    }
}

impl<P: ?Sized + ToOwned<Owned: Sync> + Sync, D: Distance<P>> Scan<P, D> {
    fn check(&self, point: &P) -> Result<()> {
        self.distance.check(point, self.points.values().next().map(Borrow::borrow))
    }

    /// Each admitted point with its distance.
    fn distances(&self, query: &P, admits: Filter<'_>) -> Result<Vec<(ItemId, f64)>> {
        self.check(query)?;
        let admitted = self.points.iter().filter(|(id, _)| admits(**id));
        Ok(admitted.map(|(id, point)| (*id, self.distance.between(query, point.borrow()))).collect())
    }
}

fn found(nearest: TopK, points: usize) -> Neighbors {
    Neighbors { list: nearest.finish(), cost: Cost { points: points as u64, ..Cost::default() } }
}

impl<P: ?Sized + ToOwned<Owned: Sync> + Sync, D: Distance<P>> NeighborIndex for Scan<P, D> {
    type Point = P;

    fn len(&self) -> usize {
        self.points.len()
    }

    fn nearest(&self, query: &P, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        let all = self.distances(query, admits)?;
        let mut nearest = TopK::new(k);
        all.iter().for_each(|(id, distance)| nearest.offer(*id, *distance));
        Ok(found(nearest, all.len()))
    }
}

impl<P: ?Sized + ToOwned<Owned: Sync> + Sync, D: Distance<P>> Within for Scan<P, D> {
    fn within(&self, query: &P, radius: f64, admits: Filter<'_>) -> Result<Neighbors> {
        let all = self.distances(query, admits)?;
        let mut nearest = TopK::new(all.len());
        all.iter().filter(|(_, distance)| *distance <= radius).for_each(|(id, distance)| nearest.offer(*id, *distance));
        Ok(found(nearest, all.len()))
    }
}

impl<P: ?Sized + ToOwned<Owned: Sync> + Sync, D: Distance<P>> Dynamic for Scan<P, D> {
    fn insert(&mut self, id: ItemId, point: &P) -> Result<()> {
        self.check(point)?;
        if self.points.contains_key(&id) {
            return Err(taken(id));
        }
        self.points.insert(id, point.to_owned());
        Ok(())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        self.points.remove(&id).is_some()
    }
}
