//! Queries: the nearest points, and all within a radius.

use super::{CoverTree, TreePoints};
use crate::error::Result;
use crate::nearest::{Cost, Distance, Filter, NeighborIndex, Neighbors, TopK, Within};

/// Points below a node that are compared one after another instead of by walking, at most.
const SCANNED: u32 = 24;

/// How much a computed distance may be off, as a share: that of f32 sums over ten thousand values.
const SLACK: f64 = 5e-5;

struct TreeSearch<'a, P: ?Sized> {
    query: &'a P,
    admits: Filter<'a>,
    radius: f64,
    /// No point farther than this is wanted any more.
    limit: f64,
    nearest: TopK,
    cost: Cost,
    /// Children still to be visited, with their distances, of all nodes on the way.
    open: Vec<(f64, f64, u32)>,
}

impl<S: TreePoints, D: Distance<S::Point>> CoverTree<S, D> {
    fn search(&self, query: &S::Point, nearest: TopK, admits: Filter<'_>, radius: f64) -> Result<Neighbors> {
        self.points.check(query)?;
        self.distance.check(query, self.root().map(|root| self.point(root)))?;
        let mut search = TreeSearch { query, admits, radius, limit: radius, nearest, cost: Cost::default(), open: Vec::new() };
        if let Some(root) = self.root() {
            let distance = self.distance.between(query, self.point(root));
            search.cost.points += 1;
            self.offer(root, distance, &mut search);
            self.visit(root, distance, &mut search);
        }
        Ok(Neighbors { list: search.nearest.finish(), cost: search.cost })
    }

    /// Offers the points at a node.
    fn offer(&self, node: u32, distance: f64, search: &mut TreeSearch<'_, S::Point>) {
        if distance > search.limit {
            return;
        }
        let mut one = |id| {
            if search.nearest.admits(id, distance) && (search.admits)(id) {
                search.nearest.offer(id, distance);
            }
        };
        one(self.nodes[node as usize].id);
        if let Some(copies) = self.copies.get(&node) {
            copies.iter().copied().for_each(one);
        }
        search.limit = search.radius.min(search.nearest.bound());
    }

    /// Visits what is below a node at that distance from the query.
    fn visit(&self, node: u32, distance: f64, search: &mut TreeSearch<'_, S::Point>) {
        let own = &self.nodes[node as usize];
        let slack = |distance: f64| SLACK * (distance + own.radius);
        search.cost.nodes += 1;
        if own.end > 0 && own.end - node - 1 <= SCANNED {
            let (from, count) = (node + 1, own.end - node - 1);
            search.cost.leaves += 1;
            search.cost.points += u64::from(count);
            let mut distances = [0.0; SCANNED as usize];
            let distances = &mut distances[..count as usize];
            self.points.distances(&self.distance, search.query, from as usize, distances);
            for (below, distance) in (from..).zip(distances.iter()) {
                self.offer(below, *distance, search);
            }
            return;
        }
        let start = search.open.len();
        for child in self.children(node) {
            let below = &self.nodes[child as usize];
            // The triangle over the parent tells of some children that they are too far away.
            if (distance - below.parent_distance).abs() - below.radius - slack(distance) > search.limit {
                continue;
            }
            let apart = self.distance.between(search.query, self.point(child));
            search.cost.points += 1;
            self.offer(child, apart, search);
            if below.first_child != super::NONE {
                search.open.push((apart - below.radius, apart, child));
            }
        }
        search.open[start..].sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)));
        let end = search.open.len();
        for at in start..end {
            let (least, apart, child) = search.open[at];
            if least - slack(apart) <= search.limit {
                self.visit(child, apart, search);
            }
        }
        search.open.truncate(start);
    }
}

impl<S: TreePoints, D: Distance<S::Point>> NeighborIndex for CoverTree<S, D> {
    type Point = S::Point;

    fn len(&self) -> usize {
        self.places.len()
    }

    fn nearest(&self, query: &S::Point, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.search(query, TopK::new(k), admits, f64::INFINITY)
    }
}

impl<S: TreePoints, D: Distance<S::Point>> Within for CoverTree<S, D> {
    fn within(&self, query: &S::Point, radius: f64, admits: Filter<'_>) -> Result<Neighbors> {
        self.search(query, TopK::new(self.places.len()), admits, radius)
    }
}
