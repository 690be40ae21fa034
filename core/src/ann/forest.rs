//! Trees over binary descriptors, searched together.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use rand::seq::SliceRandom as _;

use crate::descriptor::Descriptor;
use crate::error::{Error, Result};
use crate::hamming::{Blocks, LANES, distances_of_all};
use crate::ids::ItemId;
use crate::nearest::{Cost, Dynamic, Filter, NeighborIndex, Neighbors, TopK, taken};
use crate::random;

/// How a forest is made and searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForestOptions {
    /// Trees with other centres, 1 to 64.
    pub trees: usize,
    /// Points of a leaf before it is split, 1 or more.
    pub leaf: usize,
    /// Points that a query is compared with before it ends, 1 or more.
    pub checks: usize,
    /// The seed of the choice of centres.
    pub seed: u64,
}

impl Default for ForestOptions {
    fn default() -> Self {
        Self { trees: 2, leaf: 96, checks: 1024, seed: 0 }
    }
}

/// Children of a node: their centres are one block.
const BRANCHES: usize = LANES;

#[derive(Clone, Debug)]
enum Node {
    Inner { centres: Blocks, children: Vec<u32> },
    Leaf { points: Blocks, ids: Vec<ItemId> },
}

#[derive(Clone, Debug)]
struct Tree {
    /// The root is the first.
    nodes: Vec<Node>,
}

/// Trees over binary descriptors by Hamming distance, after Muja and Lowe (2012): a node has up to
/// 16 centres, drawn at random among its points, each of which has the points that are nearest to
/// it. All trees are searched together, always where a centre is nearest to the query, until
/// `checks` points were compared and k were found. Approximate; exact with as many checks as there
/// are points in all trees.
///
/// An inserted point goes to one leaf of each tree, which is split when it is full and its points
/// differ; leaves that points are removed from stay. So answers depend on the order in which points
/// came, but not on the number of threads.
///
/// Memory: about 40 bytes a point and tree, and 64 a point. A query takes O(checks + trees * log
/// n), an insertion O(trees * log n) on average.
#[derive(Clone, Debug)]
pub struct HammingForest {
    options: ForestOptions,
    trees: Vec<Tree>,
    points: HashMap<ItemId, Descriptor>,
}

/// The place of the nearest of some centres, of equals the first.
fn nearest_centre(centres: &Blocks, point: &Descriptor, distances: &mut Vec<u32>) -> usize {
    distances_of_all(centres, point, distances);
    (0..centres.len()).min_by_key(|i| distances[*i]).unwrap_or(0)
}

impl Tree {
    fn leaf_of(&self, point: &Descriptor) -> usize {
        let (mut at, mut distances) = (0, Vec::new());
        while let Node::Inner { centres, children } = &self.nodes[at] {
            at = children[nearest_centre(centres, point, &mut distances)] as usize;
        }
        at
    }

    fn insert(&mut self, id: ItemId, point: &Descriptor, leaf: usize, seed: u64) {
        let at = self.leaf_of(point);
        if let Node::Leaf { points, ids } = &mut self.nodes[at] {
            points.push(*point);
            ids.push(id);
            if ids.len() > leaf {
                self.split(at, seed);
            }
        }
    }

    fn remove(&mut self, id: ItemId, point: &Descriptor) {
        let at = self.leaf_of(point);
        if let Node::Leaf { points, ids } = &mut self.nodes[at]
            && let Some(place) = ids.iter().position(|other| *other == id)
        {
            points.swap_remove(place);
            ids.swap_remove(place);
        }
    }

    /// Splits a leaf by centres drawn among its points, unless all are equal.
    fn split(&mut self, at: usize, seed: u64) {
        let n_nodes = self.nodes.len();
        let Node::Leaf { points, ids } = &self.nodes[at] else { return };
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.shuffle(&mut random::stream(seed, at as u64));
        let mut chosen: Vec<Descriptor> = Vec::new();
        for point in order.into_iter().map(|i| points.get(i)) {
            if chosen.len() < BRANCHES && !chosen.contains(&point) {
                chosen.push(point);
            }
        }
        if chosen.len() < 2 {
            return;
        }
        let centres: Blocks = chosen.into_iter().collect();
        let mut parts = vec![(Blocks::default(), Vec::new()); centres.len()];
        let mut distances = Vec::new();
        for (i, id) in ids.iter().enumerate() {
            let point = points.get(i);
            let part = &mut parts[nearest_centre(&centres, &point, &mut distances)];
            part.0.push(point);
            part.1.push(*id);
        }
        let children = (n_nodes as u32..).take(parts.len()).collect();
        self.nodes[at] = Node::Inner { centres, children };
        self.nodes.extend(parts.into_iter().map(|(points, ids)| Node::Leaf { points, ids }));
    }
}

impl HammingForest {
    /// An empty forest.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range.
    pub fn new(options: ForestOptions) -> Result<Self> {
        if !(1..=64).contains(&options.trees) {
            return Err(Error::Option { name: "trees", found: options.trees.to_string(), expected: "1 to 64" });
        }
        for (name, value) in [("leaf", options.leaf), ("checks", options.checks)] {
            if value == 0 {
                return Err(Error::Option { name, found: "0".into(), expected: "1 or more" });
            }
        }
        let tree = Tree { nodes: vec![Node::Leaf { points: Blocks::default(), ids: Vec::new() }] };
        Ok(Self { options, trees: vec![tree; options.trees], points: HashMap::new() })
    }

    /// How many points a query is compared with, from now on; at least one.
    pub fn set_checks(&mut self, checks: usize) {
        self.options.checks = checks.max(1);
    }
}

impl NeighborIndex for HammingForest {
    type Point = Descriptor;

    fn len(&self) -> usize {
        self.points.len()
    }

    /// Approximate: see [`HammingForest`].
    fn nearest(&self, query: &Descriptor, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        if k == 0 {
            return Ok(Neighbors::default());
        }
        let mut nearest = TopK::new(k);
        let mut cost = Cost::default();
        let mut distances = Vec::new();
        let mut seen = HashSet::new();
        // The nearest centre first; of equals, the first tree and node.
        let mut open: BinaryHeap<Reverse<(u32, u32, u32)>> = (0..self.trees.len() as u32).map(|tree| Reverse((0, tree, 0))).collect();
        while let Some(Reverse((_, tree, node))) = open.pop() {
            if cost.points >= self.options.checks as u64 && nearest.bound() < f64::INFINITY {
                break;
            }
            let nodes = &self.trees[tree as usize].nodes;
            let mut at = node as usize;
            while let Node::Inner { centres, children } = &nodes[at] {
                cost.nodes += 1;
                let best = nearest_centre(centres, query, &mut distances);
                let others = children.iter().zip(&distances).enumerate().filter(|(i, _)| *i != best);
                open.extend(others.map(|(_, (child, distance))| Reverse((*distance, tree, *child))));
                at = children[best] as usize;
            }
            let Node::Leaf { points, ids } = &nodes[at] else { continue };
            distances_of_all(points, query, &mut distances);
            cost.leaves += 1;
            cost.points += ids.len() as u64;
            for (id, distance) in ids.iter().zip(&distances) {
                let distance = f64::from(*distance);
                // Every tree has every point.
                if nearest.admits(*id, distance) && (self.trees.len() == 1 || seen.insert(*id)) && admits(*id) {
                    nearest.offer(*id, distance);
                }
            }
        }
        cost.values = 4 * cost.points;
        Ok(Neighbors { list: nearest.finish(), cost })
    }
}

impl Dynamic for HammingForest {
    fn insert(&mut self, id: ItemId, point: &Descriptor) -> Result<()> {
        if self.points.contains_key(&id) {
            return Err(taken(id));
        }
        self.points.insert(id, *point);
        for (tree, number) in self.trees.iter_mut().zip(0u64..) {
            tree.insert(id, point, self.options.leaf, self.options.seed.wrapping_add(number));
        }
        Ok(())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        let Some(point) = self.points.remove(&id) else { return false };
        self.trees.iter_mut().for_each(|tree| tree.remove(id, &point));
        true
    }
}
