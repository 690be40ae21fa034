//! Exact nearest neighbours among dense vectors, by a kd-tree.
//!
//! - Friedman, Bentley and Finkel, *An algorithm for finding best matches in logarithmic expected
//!   time*, 1977.
//! - Arya and Mount, *Algorithms for fast vector quantization*, 1993: the distance to a box is
//!   updated from the distance to the box around it.

use super::distance::check_dense;
use super::{Cost, Filter, NeighborIndex, Neighbors, TopK, Within};
use crate::error::Result;
use crate::ids::ItemId;
use crate::linalg::single;

/// Points in a leaf at most.
const LEAF: usize = 32;

/// A kd-tree: points in nested boxes, with Euclidean distances. Exact.
///
/// Memory: a copy of the points, and O(points) nodes. A query visits few points where there are few
/// dimensions; from some twenty on it visits nearly all.
#[derive(Clone, Debug)]
pub struct KdTree {
    dimensions: usize,
    /// Row by row, leaf by leaf.
    points: Vec<f32>,
    /// The identifier of each row.
    ids: Vec<ItemId>,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf {
        from: usize,
        to: usize,
    },
    /// Points with a smaller coordinate along `axis` are on the left, which is the next node.
    Inner {
        axis: usize,
        at: f32,
        right: usize,
    },
}

impl KdTree {
    /// A tree of points of `dimensions` values, split in the middle along the axis of largest
    /// spread. O(n (d + log n) log n).
    ///
    /// # Errors
    /// [`crate::Error::Value`] when a point has another number of values, or one that is not finite
    /// or beyond 1e15 in size.
    pub fn new<'a>(dimensions: usize, points: impl IntoIterator<Item = (ItemId, &'a [f32])>) -> Result<Self> {
        let mut tree = Self { dimensions, points: Vec::new(), ids: Vec::new(), nodes: Vec::new() };
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        for (id, point) in points {
            tree.check(point)?;
            rows.extend_from_slice(point);
            ids.push(id);
        }
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        tree.split(&rows, &mut order, 0);
        tree.points = order.iter().flat_map(|&row| &rows[row as usize * dimensions..][..dimensions]).copied().collect();
        tree.ids = order.into_iter().map(|row| ids[row as usize]).collect();
        Ok(tree)
    }

    fn check(&self, point: &[f32]) -> Result<()> {
        check_dense(point, self.dimensions)
    }

    fn split(&mut self, points: &[f32], rows: &mut [u32], from: usize) {
        let at = |row: u32, axis: usize| points[row as usize * self.dimensions + axis];
        let spread = |axis: usize| {
            let values = rows.iter().map(|&row| at(row, axis));
            let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
            high - low
        };
        let widest = (0..self.dimensions).map(|axis| (axis, spread(axis))).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((axis, _)) = widest.filter(|(_, spread)| *spread > 0.0 && rows.len() > LEAF) else {
            self.nodes.push(Node::Leaf { from, to: from + rows.len() });
            return;
        };
        let middle = rows.len() / 2;
        rows.select_nth_unstable_by(middle, |&a, &b| at(a, axis).total_cmp(&at(b, axis)));
        let cut = at(rows[middle], axis);
        let node = self.nodes.len();
        self.nodes.push(Node::Inner { axis, at: cut, right: 0 });
        let (left, right) = rows.split_at_mut(middle);
        self.split(points, left, from);
        let next = self.nodes.len();
        if let Node::Inner { right, .. } = &mut self.nodes[node] {
            *right = next;
        }
        self.split(points, right, from + middle);
    }

    fn search(&self, query: &[f32], nearest: TopK, admits: Filter<'_>, radius: f64) -> Result<Neighbors> {
        self.check(query)?;
        let offsets = vec![0.0; self.dimensions];
        let farthest = radius * radius;
        let mut search = Search { query, admits, farthest, limit: farthest, nearest, cost: Cost::default(), offsets };
        if !self.ids.is_empty() {
            self.visit(0, 0.0, &mut search);
        }
        let mut list = search.nearest.finish();
        list.iter_mut().for_each(|neighbor| neighbor.distance = neighbor.distance.sqrt());
        Ok(Neighbors { list, cost: search.cost })
    }

    /// `distance` is the squared distance from the query to the node's box.
    fn visit(&self, node: usize, distance: f32, search: &mut Search<'_>) {
        match self.nodes[node] {
            Node::Leaf { from, to } => {
                search.cost.leaves += 1;
                search.cost.points += (to - from) as u64;
                search.cost.values += ((to - from) * self.dimensions) as u64;
                for start in (from..to).step_by(LEAF) {
                    self.scan(start..(start + LEAF).min(to), search);
                }
            }
            Node::Inner { axis, at, right } => {
                search.cost.nodes += 1;
                let offset = search.query[axis] - at;
                let (near, far) = if offset < 0.0 { (node + 1, right) } else { (right, node + 1) };
                self.visit(near, distance, search);
                let before = search.offsets[axis];
                let beyond = distance - before * before + offset * offset;
                // The sum may have been rounded up, so a box that is only just too far is visited
                // all the same.
                if f64::from(beyond) * 0.999 <= search.limit {
                    search.offsets[axis] = offset;
                    self.visit(far, beyond, search);
                    search.offsets[axis] = before;
                }
            }
        }
    }

    /// Offers at most [`LEAF`] rows.
    fn scan(&self, rows: std::ops::Range<usize>, search: &mut Search<'_>) {
        let mut squares = [0.0; LEAF];
        let squares = &mut squares[..rows.len()];
        let points = &self.points[rows.start * self.dimensions..rows.end * self.dimensions];
        single::squared_distances(search.query, points, squares);
        for (square, id) in squares.iter().zip(&self.ids[rows]) {
            let square = f64::from(*square);
            if square <= search.limit && search.nearest.admits(*id, square) && (search.admits)(*id) {
                search.nearest.offer(*id, square);
                search.limit = search.farthest.min(search.nearest.bound());
            }
        }
    }
}

struct Search<'a> {
    query: &'a [f32],
    admits: Filter<'a>,
    /// The largest squared distance that is accepted.
    farthest: f64,
    /// The largest square of a distance that could still be among the nearest.
    limit: f64,
    /// The nearest so far, by squared distance.
    nearest: TopK,
    cost: Cost,
    /// The distance from the query to the present box along each axis.
    offsets: Vec<f32>,
}

impl NeighborIndex for KdTree {
    type Point = [f32];

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn nearest(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.search(query, TopK::new(k), admits, f64::INFINITY)
    }
}

impl Within for KdTree {
    fn within(&self, query: &[f32], radius: f64, admits: Filter<'_>) -> Result<Neighbors> {
        // The squared radius is rounded, so the search reaches a little further, and what lies
        // beyond is dropped at the end.
        let mut found = self.search(query, TopK::new(self.ids.len()), admits, radius * (1.0 + 1e-9))?;
        found.list.retain(|neighbor| neighbor.distance <= radius);
        Ok(found)
    }
}
