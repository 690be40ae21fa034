//! The exact scan over binary descriptors.

use std::collections::HashMap;

use super::{Blocks, LANES, fill};
use crate::descriptor::Descriptor;
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::{Cost, Dynamic, Filter, NeighborIndex, Neighbors, TopK, Within, taken};

/// A corpus of binary descriptors; a query computes its Hamming distance (the number of differing
/// bits) to every one of them. Exact.
///
/// Memory: 32 bytes a descriptor, besides its identifier.
#[derive(Clone, Debug, Default)]
pub struct HammingScan {
    blocks: Blocks,
    ids: Vec<ItemId>,
    at: HashMap<ItemId, usize>,
}

/// Of several descriptors of one identifier the first is kept.
impl FromIterator<(ItemId, Descriptor)> for HammingScan {
    fn from_iter<I: IntoIterator<Item = (ItemId, Descriptor)>>(descriptors: I) -> Self {
        let mut scan = Self::default();
        for (id, descriptor) in descriptors {
            // Insertion fails only for an identifier that is already in use.
            let _ = scan.insert(id, &descriptor);
        }
        scan
    }
}

impl HammingScan {
    fn search(&self, query: &Descriptor, k: usize, radius: f64, admits: Filter<'_>) -> Neighbors {
        let mut distances = vec![0; self.blocks.blocks().len() * LANES];
        fill(self.blocks.blocks(), query, &mut distances);
        let mut nearest = TopK::new(k);
        for (&id, &distance) in self.ids.iter().zip(&distances) {
            let distance = f64::from(distance);
            if distance <= radius && nearest.admits(id, distance) && admits(id) {
                nearest.offer(id, distance);
            }
        }
        let points = self.ids.len() as u64;
        Neighbors { list: nearest.finish(), cost: Cost { points, values: 4 * points, ..Cost::default() } }
    }
}

impl NeighborIndex for HammingScan {
    type Point = Descriptor;

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn nearest(&self, query: &Descriptor, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        Ok(self.search(query, k, f64::INFINITY, admits))
    }
}

impl Within for HammingScan {
    fn within(&self, query: &Descriptor, radius: f64, admits: Filter<'_>) -> Result<Neighbors> {
        Ok(self.search(query, self.ids.len(), radius, admits))
    }
}

impl Dynamic for HammingScan {
    fn insert(&mut self, id: ItemId, point: &Descriptor) -> Result<()> {
        if self.at.contains_key(&id) {
            return Err(taken(id));
        }
        self.at.insert(id, self.ids.len());
        self.ids.push(id);
        self.blocks.push(*point);
        Ok(())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        let Some(at) = self.at.remove(&id) else { return false };
        self.ids.swap_remove(at);
        self.blocks.swap_remove(at);
        if let Some(&moved) = self.ids.get(at) {
            self.at.insert(moved, at);
        }
        true
    }
}
