//! The exact nearest neighbour among dense vectors, by a kd-tree.
//!
//! - Friedman, Bentley and Finkel, *An algorithm for finding best matches in logarithmic expected time*, 1977.
//! - Arya and Mount, *Algorithms for fast vector quantization*, 1993: the distance to a box from the one to the box around it.

use super::dense::square_distance;

/// Points in a leaf at most.
const LEAF: usize = 32;

/// Points in boxes within boxes. Memory: a copy of the points, and O(points) nodes.
#[derive(Clone, Debug)]
pub struct KdTree {
    dimensions: usize,
    /// Row by row, leaf by leaf.
    points: Vec<f32>,
    /// What a row was at first.
    order: Vec<u32>,
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
    /// A tree of the rows of `points`, each of `dimensions` values: split in the middle along the axis of largest spread.
    /// O(n (d + log n) log n).
    pub fn new(points: &[f32], dimensions: usize) -> Self {
        let n = points.len().checked_div(dimensions).unwrap_or(0);
        let mut tree = Self { dimensions, points: Vec::new(), order: (0..n as u32).collect(), nodes: Vec::new() };
        let mut order = std::mem::take(&mut tree.order);
        tree.split(points, &mut order, 0);
        tree.points = order.iter().flat_map(|&row| &points[row as usize * dimensions..][..dimensions]).copied().collect();
        tree.order = order;
        tree
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

    /// The nearest row to `query` by Euclidean distance, and how many rows were looked at; `None` if there is none.
    pub fn nearest(&self, query: &[f32]) -> Option<(usize, usize)> {
        let mut search = Search { query, best: None, looked_at: 0, offsets: vec![0.0; self.dimensions] };
        if !self.order.is_empty() {
            self.visit(0, 0.0, &mut search);
        }
        let looked_at = search.looked_at;
        search.best.map(|(_, row)| (self.order[row] as usize, looked_at))
    }

    /// `distance`: the square of that from the query to the node's box.
    fn visit(&self, node: usize, distance: f32, search: &mut Search<'_>) {
        match self.nodes[node] {
            Node::Leaf { from, to } => {
                search.looked_at += to - from;
                for row in from..to {
                    let point = &self.points[row * self.dimensions..][..self.dimensions];
                    let square = square_distance(point, search.query);
                    if search.best.is_none_or(|(least, _)| square < least) {
                        search.best = Some((square, row));
                    }
                }
            }
            Node::Inner { axis, at, right } => {
                let offset = search.query[axis] - at;
                let (near, far) = if offset < 0.0 { (node + 1, right) } else { (right, node + 1) };
                self.visit(near, distance, search);
                let before = search.offsets[axis];
                let beyond = distance - before * before + offset * offset;
                // The sum may be rounded up: a box that is only just too far is looked at all the same.
                if search.best.is_none_or(|(least, _)| beyond * 0.999 <= least) {
                    search.offsets[axis] = offset;
                    self.visit(far, beyond, search);
                    search.offsets[axis] = before;
                }
            }
        }
    }
}

struct Search<'a> {
    query: &'a [f32],
    best: Option<(f32, usize)>,
    looked_at: usize,
    /// How far the query is from the present box along each axis.
    offsets: Vec<f32>,
}
