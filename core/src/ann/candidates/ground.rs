//! What trees are grown from.

use rand::seq::index::sample;

use super::super::corpus::PointSet;
use super::graph::KnnGraph;
use crate::random::Rng;

/// How trees part space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeKind {
    /// At the median of a sparse random projection, one for each level.
    RandomProjection,
    /// At the median of a coordinate drawn from the five of most variance.
    Kd,
    /// At the median along the direction of most variance of some coordinates.
    Principal,
    /// At the median of the coordinates in turn.
    Chronological,
    /// Where the labels of both sides become most likely: a random forest that is trained.
    Forest,
    /// As [`TreeKind::Forest`], along directions of some coordinates instead of one.
    Oblique,
}

impl TreeKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::RandomProjection, Self::Kd, Self::Principal, Self::Chronological, Self::Forest, Self::Oblique];
}

/// The labels of each training point: the first of its neighbours in the corpus.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels<'a> {
    pub(super) graph: &'a KnnGraph,
    /// How many of each list count.
    pub(super) count: usize,
}

impl Labels<'_> {
    pub(super) fn of(&self, point: u32) -> &[u32] {
        let list = self.graph.list(point as usize);
        &list[..self.count.min(list.len())]
    }
}

/// What a tree is grown from.
pub(super) struct Ground<'a> {
    pub(super) kind: TreeKind,
    pub(super) points: &'a PointSet,
    /// The labels of each point; only forests look at them.
    pub(super) labels: &'a Labels<'a>,
    pub(super) depth: usize,
    /// The share of coordinates that directions have and forests try.
    pub(super) density: f64,
}

/// The number of coordinates that a share of them comes to, at least one.
pub(super) fn share(ground: &Ground<'_>) -> usize {
    ((ground.density * ground.points.dimension() as f64) as usize).clamp(1, ground.points.dimension().max(1))
}

/// At most `count` of some points, drawn at random, in a fixed order.
pub(super) fn some(points: &[u32], count: usize, rng: &mut Rng) -> Vec<u32> {
    if points.len() <= count {
        return points.to_vec();
    }
    sample(rng, points.len(), count).into_iter().map(|i| points[i]).collect()
}
