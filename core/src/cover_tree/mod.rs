//! Cover trees: exact nearest neighbours in any metric, and sets of prototypes at every scale.
//!
//! - Beygelzimer, Kakade and Langford, *Cover trees for nearest neighbor*, ICML 2006.
//! - Izbicki and Shelton, *Faster cover trees*, ICML 2015: one node for each point (section 2), the
//!   largest distance to a descendant in each node, and nearest ancestors (section 3).
//!
//! A tree of base b has a node for each point, and each node a level. What holds, and
//! [`CoverTree::check`] verifies:
//!
//! - *levels*: the children of a node of level l have level l - 1;
//! - *covering*: a node of level l is within b^l of each of its children;
//! - *separation*: children of one node of level l are more than b^(l-1) apart.
//!
//! So a node of level l is within b^(l+1) / (b - 1) of every node below it, and nodes of level l
//! and above are prototypes of all points at that accuracy: see [`CoverTree::surrogates`].
//!
//! Deviations from the papers: a tree is built from the top down, all points at once
//! (farthest-first, Gonzalez 1985), so that each point is below the nearest of its siblings, which
//! is what nearest ancestors ask for; and nodes are laid out so that the points below a node lie
//! side by side, and small subtrees are scanned instead of walked.

mod build;
mod change;
mod points;
mod search;
mod shape;

use std::collections::BTreeMap;

pub use points::{DensePoints, OwnedPoints, TreePoints};
pub use shape::{Surrogates, TreeStatistics};

use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::{Distance, Metric, taken};
use crate::progress::Progress;

/// The base of levels that is quickest in Izbicki and Shelton's experiments, and in ours.
pub const BASE: f64 = 1.3;

/// Stands for no node.
const NONE: u32 = u32::MAX;

/// How a tree is built and kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverTreeOptions {
    /// The ratio of the radii of one level and the next, above 1.
    pub base: f64,
    /// Whether a point that is inserted draws those below its siblings that are nearer to it: the
    /// nearest-ancestor variant. Insertion costs more, queries less.
    pub nearest_ancestors: bool,
}

impl Default for CoverTreeOptions {
    fn default() -> Self {
        Self { base: BASE, nearest_ancestors: false }
    }
}

/// The place of one point in the tree. Nodes have the numbers of their points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TreeNode {
    id: ItemId,
    level: i32,
    parent: u32,
    first_child: u32,
    next_sibling: u32,
    /// If not 0, the points below this node are those after it and before `end`.
    end: u32,
    /// At least the distance to the farthest point below.
    radius: f64,
    /// The distance to the parent; 0 for the root.
    parent_distance: f64,
}

/// A cover tree over points in any metric. Exact.
///
/// Memory: the points, and 56 bytes for each. With c the expansion rate of the points (how many
/// times more lie within twice a radius), a tree is built in O(c^O(1) n log n) distances, and asked
/// in O(c^O(1) log n).
#[derive(Clone, Debug)]
pub struct CoverTree<S, D> {
    distance: D,
    options: CoverTreeOptions,
    points: S,
    nodes: Vec<TreeNode>,
    root: u32,
    /// The node of each identifier.
    places: BTreeMap<ItemId, u32>,
    /// Further identifiers of points that are equal to that of a node.
    copies: BTreeMap<u32, Vec<ItemId>>,
    /// Nodes without a point, to be used again.
    free: Vec<u32>,
    /// Insertions and removals since the tree was built.
    changes: usize,
}

impl<S: TreePoints, D: Distance<S::Point>> CoverTree<S, D> {
    /// A tree without points.
    ///
    /// # Errors
    /// [`Error::Value`] when `distance` is not a metric, or when the base is not above 1 or above
    /// 16.
    pub fn empty(points: S, distance: D, options: CoverTreeOptions) -> Result<Self> {
        if !distance.is_metric() {
            return Err(Error::value("distance", "a metric (the triangle inequality)", "a distance that is none"));
        }
        if !(options.base > 1.0 && options.base <= 16.0) {
            return Err(Error::value("base", "a number above 1, at most 16", options.base.to_string()));
        }
        let (nodes, free) = (Vec::new(), Vec::new());
        let (places, copies) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { distance, options, points: points.ordered(&[]), nodes, root: NONE, places, copies, free, changes: 0 })
    }

    /// A tree of all points of a store, each with its identifier. Equal on any number of threads.
    ///
    /// # Errors
    /// As [`CoverTree::empty`]; [`Error::Value`] when a point cannot be compared with the others,
    /// there are not as many identifiers as points, or two are equal.
    pub fn new(points: S, ids: &[ItemId], distance: D, options: CoverTreeOptions) -> Result<Self> {
        Self::watched(points, ids, distance, options, &Progress::default())
    }

    /// As [`CoverTree::new`], with progress: a step for each point.
    ///
    /// # Errors
    /// As [`CoverTree::new`], and [`Error::Cancelled`].
    pub fn watched(points: S, ids: &[ItemId], distance: D, options: CoverTreeOptions, progress: &Progress) -> Result<Self> {
        let mut tree = Self::empty(points.ordered(&[]), distance, options)?;
        if ids.len() != points.count() {
            return Err(Error::value("identifiers", format!("one for each of {} points", points.count()), ids.len().to_string()));
        }
        for i in 0..points.count() {
            tree.distance.check(points.point(i), Some(points.point(0)))?;
        }
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(taken(twice[0]));
        }
        tree.build(points, ids, progress)?;
        Ok(tree)
    }

    /// The number of the root, if there are points.
    pub fn root(&self) -> Option<u32> {
        (self.root != NONE).then_some(self.root)
    }

    /// The children of a node.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NONE).then_some(node);
        std::iter::successors(some(self.nodes[node as usize].first_child), move |child| some(self.nodes[*child as usize].next_sibling))
    }

    /// The identifiers of the points at a node: one, or several where points are equal.
    pub fn ids(&self, node: u32) -> impl Iterator<Item = ItemId> + '_ {
        let more = self.copies.get(&node).map_or(&[][..], Vec::as_slice);
        std::iter::once(self.nodes[node as usize].id).chain(more.iter().copied())
    }

    /// The point at a node.
    pub fn point(&self, node: u32) -> &S::Point {
        self.points.point(node as usize)
    }

    /// The level of a node.
    pub fn level(&self, node: u32) -> i32 {
        self.nodes[node as usize].level
    }

    fn between(&self, a: u32, b: u32) -> f64 {
        self.distance.between(self.points.point(a as usize), self.points.point(b as usize))
    }

    /// The radius that a node of this level covers.
    fn cover(&self, level: i32) -> f64 {
        self.options.base.powi(level)
    }
}

/// Vectors of f32 with the Euclidean distance.
pub type DenseTree = CoverTree<DensePoints, Metric>;
