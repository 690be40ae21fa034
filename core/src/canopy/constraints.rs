//! What the user says of points: that some belong together, and that some do not.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};

/// Points, by number, that must share a cluster or must not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// Pairs that must be in one cluster.
    pub together: Vec<(u32, u32)>,
    /// Pairs that must be in two.
    pub apart: Vec<(u32, u32)>,
}

/// Points that are assigned as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Block {
    /// In ascending order.
    pub(super) points: Vec<u32>,
    /// Blocks before this one that must be in another cluster.
    pub(super) apart: Vec<usize>,
}

impl Constraints {
    /// The blocks of all points that are named, in the order of their first points.
    ///
    /// # Errors
    /// [`Error::Value`] for a point that does not exist, a pair that is both together and apart
    /// (also by way of others), and a block that must be apart from as many as there are clusters.
    pub(super) fn blocks(&self, points: usize, clusters: usize) -> Result<Vec<Block>> {
        let mut leaders: BTreeMap<u32, u32> = BTreeMap::new();
        for point in self.together.iter().chain(&self.apart).flat_map(|(a, b)| [*a, *b]) {
            if point as usize >= points {
                return Err(Error::value("constraints", format!("numbers of {points} points"), point.to_string()));
            }
            leaders.insert(point, point);
        }
        for (a, b) in &self.together {
            let (from, to) = (leaders[a].max(leaders[b]), leaders[a].min(leaders[b]));
            leaders.values_mut().filter(|leader| **leader == from).for_each(|leader| *leader = to);
        }
        let firsts: BTreeSet<u32> = leaders.values().copied().collect();
        let places: BTreeMap<u32, usize> = firsts.into_iter().zip(0..).collect();
        let block_of = |point: u32| places[&leaders[&point]];
        let mut blocks = vec![Block::default(); places.len()];
        leaders.keys().for_each(|point| blocks[block_of(*point)].points.push(*point));
        let mut neighbours = vec![BTreeSet::new(); blocks.len()];
        for (a, b) in &self.apart {
            let (one, other) = (block_of(*a), block_of(*b));
            if one == other {
                let found = format!("{a} and {b} said to be both");
                return Err(Error::value("constraints", "points that belong together, or apart, not both", found));
            }
            neighbours[one].insert(other);
            neighbours[other].insert(one);
        }
        for (at, near) in neighbours.iter().enumerate() {
            if near.len() >= clusters {
                let found = format!("point {} apart from {} others among {clusters} clusters", blocks[at].points[0], near.len());
                return Err(Error::value("constraints", "fewer points apart from one than there are clusters", found));
            }
            blocks[at].apart = near.iter().copied().filter(|other| *other < at).collect();
        }
        Ok(blocks)
    }
}
