//! What the user says of points: that some belong together, and that some do not.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::joined::Joined;

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

/// The blocks that each must be apart from.
type Neighbours = Vec<BTreeSet<usize>>;

impl Constraints {
    /// The blocks of all points that are named, each after fewer than `clusters` of those that it
    /// must be apart from, so that there is a cluster for each: in the order of their first points
    /// if that does, else in one that does if any does.
    ///
    /// # Errors
    /// [`Error::Value`] for a point that does not exist, a pair that is both together and apart
    /// (also by way of others), and fewer clusters than [`Constraints::enough_clusters`].
    pub(super) fn blocks(&self, points: usize, clusters: usize) -> Result<Vec<Block>> {
        let (members, neighbours) = self.graph(points)?;
        let (order, needed) = better_order(&neighbours, clusters);
        if needed > clusters {
            let expected = format!("{needed} or more, which are enough for what is said to be apart");
            return Err(Error::value("clusters", expected, clusters.to_string()));
        }
        let places = places_of(&order);
        let apart = |at: usize| neighbours[at].iter().map(|other| places[*other]).filter(|place| *place < places[at]).collect();
        Ok(order.iter().map(|at| Block { points: members[*at].clone(), apart: apart(*at) }).collect())
    }

    /// As many clusters as are certainly enough for what is said of these points: one more than the
    /// most blocks that one must be apart from of those before it, in the better of two orders.
    /// Fewer may do.
    ///
    /// # Errors
    /// [`Error::Value`] for a point that does not exist, and for a pair that is both together and
    /// apart.
    pub fn enough_clusters(&self, points: usize) -> Result<usize> {
        Ok(better_order(&self.graph(points)?.1, 0).1)
    }

    /// The points of each block, ascending, in the order of their first points; and the blocks that
    /// each must be apart from.
    fn graph(&self, points: usize) -> Result<(Vec<Vec<u32>>, Neighbours)> {
        let mut named = BTreeSet::new();
        for point in self.together.iter().chain(&self.apart).flat_map(|(a, b)| [*a, *b]) {
            if point as usize >= points {
                return Err(Error::value("constraints", format!("numbers of {points} points"), point.to_string()));
            }
            named.insert(point);
        }
        let mut joined = Joined::of(self.together.iter().copied());
        let firsts: BTreeMap<u32, u32> = named.into_iter().map(|point| (point, joined.first(point))).collect();
        let places: BTreeMap<u32, usize> = firsts.values().collect::<BTreeSet<_>>().into_iter().copied().zip(0..).collect();
        let block_of = |point: u32| places[&firsts[&point]];
        let mut members = vec![Vec::new(); places.len()];
        firsts.keys().for_each(|point| members[block_of(*point)].push(*point));
        let mut neighbours: Neighbours = vec![BTreeSet::new(); members.len()];
        for (a, b) in &self.apart {
            let (one, other) = (block_of(*a), block_of(*b));
            if one == other {
                let found = format!("{a} and {b} said to be both");
                return Err(Error::value("constraints", "points that belong together, or apart, not both", found));
            }
            neighbours[one].insert(other);
            neighbours[other].insert(one);
        }
        Ok((members, neighbours))
    }
}

/// The place of each block in an order of them.
fn places_of(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(at, place)| places[*at] = place);
    places
}

/// The most neighbours that a block has before it in an order.
fn most_before(order: &[usize], neighbours: &[BTreeSet<usize>]) -> usize {
    let places = places_of(order);
    let before = |at: usize| neighbours[at].iter().filter(|other| places[**other] < places[at]).count();
    (0..order.len()).map(before).max().unwrap_or(0)
}

/// An order of blocks, and the clusters that it certainly needs no more of: theirs if `clusters`
/// do, else the better of that one and [`smallest_last`].
fn better_order(neighbours: &[BTreeSet<usize>], clusters: usize) -> (Vec<usize>, usize) {
    let needed = |order: Vec<usize>| {
        let needed = most_before(&order, neighbours) + 1;
        (order, needed)
    };
    let given = needed((0..neighbours.len()).collect());
    if given.1 <= clusters {
        return given;
    }
    let other = needed(smallest_last(neighbours));
    if other.1 < given.1 { other } else { given }
}

/// The order whose most neighbours before a block are fewest: again and again the block with fewest
/// neighbours among those left comes last (Matula and Beck, *Smallest-last ordering and clustering
/// and graph coloring algorithms*, JACM 1983). O((blocks + pairs) log blocks).
fn smallest_last(neighbours: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = neighbours.iter().map(BTreeSet::len).collect();
    let mut waiting: BTreeSet<(usize, usize)> = left.iter().copied().zip(0..).collect();
    let mut order = Vec::with_capacity(neighbours.len());
    while let Some((_, at)) = waiting.pop_first() {
        order.push(at);
        for other in &neighbours[at] {
            if waiting.remove(&(left[*other], *other)) {
                left[*other] -= 1;
                waiting.insert((left[*other], *other));
            }
        }
    }
    order.reverse();
    order
}
