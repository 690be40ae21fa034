//! The sum-product function of a query: decompositions into pairs and singles, and their max-sum
//! value.

use crate::random;
use rand::seq::SliceRandom;

/// What a product node multiplies: a query element alone, or an edge of two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Unary scope: this query element.
    Single(u32),
    /// Binary scope: this position in [`Architecture::edges`].
    Pair(u32),
}

/// The structure of the function over the query elements of one kind; the same for every class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// Pairs of query elements of which one is among the k nearest of the other, the smaller first,
    /// in order.
    pub edges: Vec<(u32, u32)>,
    /// Decompositions: in each, every query element is in exactly one node.
    pub decompositions: Vec<Vec<Node>>,
}

impl Architecture {
    /// Draws `count` decompositions (at least one) of elements at `positions`, whose pairs are
    /// taken at random from the `neighbours` nearest of each element until none can be added. O(n^2
    /// + count * n * neighbours).
    pub fn draw(positions: &[[f32; 2]], neighbours: usize, count: usize, seed: u64) -> Self {
        let edges = edges(positions, neighbours);
        let decompositions = (0..count.max(1) as u64).map(|p| decompose(positions.len(), &edges, seed, p)).collect();
        Self { edges, decompositions }
    }
}

fn edges(positions: &[[f32; 2]], neighbours: usize) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    let mut others: Vec<(f32, u32)> = Vec::new();
    for (j, a) in positions.iter().enumerate() {
        others.clear();
        for (i, b) in positions.iter().enumerate() {
            if i != j {
                others.push(((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2), i as u32));
            }
        }
        let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if neighbours < others.len() {
            others.select_nth_unstable_by(neighbours, order);
            others.truncate(neighbours);
        }
        edges.extend(others.iter().map(|&(_, i)| (i.min(j as u32), i.max(j as u32))));
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn decompose(n: usize, edges: &[(u32, u32)], seed: u64, index: u64) -> Vec<Node> {
    let mut order: Vec<u32> = (0..edges.len() as u32).collect();
    order.shuffle(&mut random::stream(seed, index));
    let mut free = vec![true; n];
    let mut nodes = Vec::with_capacity(n);
    for edge in order {
        let (a, b) = edges[edge as usize];
        if free[a as usize] && free[b as usize] {
            (free[a as usize], free[b as usize]) = (false, false);
            nodes.push(Node::Pair(edge));
        }
    }
    nodes.extend((0..n as u32).filter(|&j| free[j as usize]).map(Node::Single));
    nodes
}

/// No training image.
pub const NO_IMAGE: u32 = u32::MAX;

/// The maxima over a class's training images that the unary and pair nodes of a query need.
///
/// A pair node is `max over (z, z')` of both kernels plus the bonus when z and z' come from one
/// image. That is the larger of the best of each side without the bonus, and the best image's sum
/// of both sides with it: O(elements) instead of O(elements^2). With a negative bonus the first
/// term must take the two sides from different images.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Of each query element: the best kernel and its image, and the best of any other image and
    /// that image.
    pub unary: Vec<[(f32, u32); 2]>,
    /// Of each edge: the largest sum of two kernels from one image, and the image.
    pub same: Vec<(f32, u32)>,
}

impl Evidence {
    /// No training image yet.
    pub fn new(elements: usize, edges: usize) -> Self {
        Self { unary: vec![[(f32::NEG_INFINITY, NO_IMAGE); 2]; elements], same: vec![(f32::NEG_INFINITY, NO_IMAGE); edges] }
    }

    /// The evidence of some of `images` images for each query element: in any order, each with its
    /// best kernel. `edges` are in order. O(images + edges * images of an element).
    pub fn of_pieces(pieces: &[Vec<(u32, f32)>], edges: &[(u32, u32)], images: usize) -> Self {
        let mut evidence = Self::new(pieces.len(), edges.len());
        for (entry, pieces) in evidence.unary.iter_mut().zip(pieces) {
            pieces.iter().for_each(|&(image, value)| insert(entry, (value, image)));
        }
        // What each image has for the first element of an edge.
        let mut first = vec![f32::NEG_INFINITY; images];
        let mut done = 0;
        for edges in edges.chunk_by(|one, other| one.0 == other.0) {
            let own = &pieces[edges[0].0 as usize];
            own.iter().for_each(|&(image, value)| first[image as usize] = value);
            for (entry, (_, b)) in evidence.same[done..].iter_mut().zip(edges) {
                for &(image, value) in &pieces[*b as usize] {
                    let new = (first[image as usize] + value, image);
                    if is_before(new, *entry) {
                        *entry = new;
                    }
                }
            }
            own.iter().for_each(|&(image, _)| first[image as usize] = f32::NEG_INFINITY);
            done += edges.len();
        }
        evidence
    }

    /// Adds the best kernels of one image that was not added before. Of equals the lower image
    /// stays, so the order in which images come does not matter.
    pub fn add(&mut self, image: u32, bests: &[f32], edges: &[(u32, u32)]) {
        for (entry, &value) in self.unary.iter_mut().zip(bests) {
            insert(entry, (value, image));
        }
        for (entry, &(a, b)) in self.same.iter_mut().zip(edges) {
            let new = (bests[a as usize] + bests[b as usize], image);
            if is_before(new, *entry) {
                *entry = new;
            }
        }
    }

    /// Adds the evidence of other images: associative and commutative.
    pub fn merge(&mut self, others: &Self) {
        for (entry, other) in self.unary.iter_mut().zip(&others.unary) {
            insert(entry, other[0]);
            insert(entry, other[1]);
        }
        for (entry, &other) in self.same.iter_mut().zip(&others.same) {
            if is_before(other, *entry) {
                *entry = other;
            }
        }
    }

    /// The value of the unary node of element `j`, and the image of its element; `floor` for a
    /// class without elements of the kind.
    pub fn single(&self, j: u32, floor: f32) -> (f32, u32) {
        let best = self.unary[j as usize][0];
        if best.1 == NO_IMAGE { (floor, NO_IMAGE) } else { best }
    }

    /// The value of the pair node of `edge`, and the images of its two elements.
    pub fn pair(&self, edge: u32, edges: &[(u32, u32)], bonus: f32, floor: f32) -> (f32, [u32; 2]) {
        let (a, b) = edges[edge as usize];
        let (sum, image) = self.same[edge as usize];
        let together = (sum + bonus, [image, image]);
        let (x, y) = (self.single(a, floor), self.single(b, floor));
        let mut apart = (x.0 + y.0, [x.1, y.1]);
        if bonus < 0.0 && x.1 == y.1 && x.1 != NO_IMAGE {
            let (x2, y2) = (self.unary[a as usize][1], self.unary[b as usize][1]);
            let (first, second) = ((x2.0 + y.0, [x2.1, y.1]), (x.0 + y2.0, [x.1, y2.1]));
            apart = if first.0 >= second.0 { first } else { second };
        }
        if together.0 > apart.0 { together } else { apart }
    }

    /// The root's value: the largest decomposition's sum, and which decomposition (of equals the
    /// first).
    pub fn root(&self, architecture: &Architecture, bonus: f32, floor: f32) -> (f64, usize) {
        let pairs: Vec<f32> = (0..architecture.edges.len() as u32).map(|e| self.pair(e, &architecture.edges, bonus, floor).0).collect();
        let value = |nodes: &Vec<Node>| -> f64 {
            let node = |node: &Node| match *node {
                Node::Single(j) => self.single(j, floor).0,
                Node::Pair(edge) => pairs[edge as usize],
            };
            nodes.iter().map(|n| f64::from(node(n))).sum()
        };
        let mut best = (f64::NEG_INFINITY, 0);
        for (p, nodes) in architecture.decompositions.iter().enumerate() {
            let value = value(nodes);
            if value > best.0 {
                best = (value, p);
            }
        }
        best
    }
}

/// Whether a value is the larger one, or of equals that of the lower image; never without an
/// element.
fn is_before(new: (f32, u32), other: (f32, u32)) -> bool {
    new.0 > other.0 || (new.0 == other.0 && new.1 < other.1 && new.0 > f32::NEG_INFINITY)
}

/// Keeps the two best of different images; of equals the lower image.
fn insert(entry: &mut [(f32, u32); 2], new: (f32, u32)) {
    if new.0 < entry[1].0 {
        return;
    }
    if is_before(new, entry[0]) {
        *entry = [new, entry[0]];
    } else if is_before(new, entry[1]) {
        entry[1] = new;
    }
}
