//! Explanations: the path of a vector through a tree, and the parts of a memory's score.

use super::tree::Tree;
use super::{Cmt, Router};
use crate::ids::ItemId;
use crate::sparse::SparseVec;

/// A path from the root of a tree to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct TreePath {
    /// Which tree.
    pub tree: usize,
    /// The inner nodes on the path and the sides taken, root first.
    pub turns: Vec<RouterStep>,
    /// The leaf's number.
    pub leaf: u32,
    /// The memories in that leaf.
    pub memories: usize,
}

/// An inner node on a path.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterStep {
    /// The node's number.
    pub node: u32,
    /// Its router's prediction for the vector, -1 (left) to 1 (right).
    pub margin: f64,
    /// Whether the path goes on to the right side.
    pub right: bool,
    /// The memories on the left and on the right.
    pub counts: [u32; 2],
    /// The constant part of the router's prediction.
    pub constant: f64,
    /// The features that contribute most to the prediction, with their contributions, largest
    /// first. With the constant and the features left out they sum to the margin before clipping.
    pub features: Vec<(u32, f64)>,
}

impl RouterStep {
    /// Whether the path goes to the side that the router predicts.
    pub fn follows(&self) -> bool {
        self.right == (self.margin > 0.0)
    }
}

/// Why a memory has its score as an answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryExplanation {
    /// Its score.
    pub score: f64,
    /// What each feature adds to the score, largest absolute value first; they sum to it.
    pub terms: Vec<(u32, f64)>,
    /// For each tree, the path to the memory.
    pub paths: Vec<TreePath>,
}

impl<V, R: Router> Cmt<V, R> {
    /// Algorithm 1, PATH: where the routers of a tree lead `x`, with at most `features` features of
    /// each node, those that contribute most; `None` if there is no such tree. O(depth * features
    /// of x).
    pub fn path(&self, tree: usize, x: &SparseVec, features: usize) -> Option<TreePath> {
        let own = self.trees.get(tree)?;
        let leaf = own.route(own.root, x, |_, _, _| {});
        Some(path_to(own, tree, leaf, x, features))
    }

    /// What each feature adds to the score of a memory as an answer to `x`, by ascending feature;
    /// they sum up to it. `None` if there is no such memory. O(features).
    pub fn terms(&self, x: &SparseVec, id: ItemId) -> Option<Vec<(u32, f64)>> {
        Some(self.scorer.terms(x, &self.get(id)?.x))
    }

    /// What rewards have taught of a feature: what it adds to a score is multiplied by 1 plus this.
    /// 0 while nothing was taught. O(1).
    pub fn learned_weight(&self, feature: u32) -> f64 {
        self.scorer.weight(feature)
    }

    /// Why a memory has its score as an answer to `x`, and the path to it, with at most `features`
    /// features of each node, those that contribute most; `None` if there is no such memory.
    /// O(depth * features) a tree.
    pub fn explain(&self, x: &SparseVec, id: ItemId, features: usize) -> Option<QueryExplanation> {
        let slot = self.memories.slot(id)?;
        let z = self.memories.vector(slot);
        let mut terms = self.scorer.terms(x, z);
        sort(&mut terms);
        let way = |(number, tree): (usize, &Tree<R>)| path_to(tree, number, tree.places[slot as usize].leaf, x, features);
        let paths = self.trees.iter().enumerate().map(way).collect();
        Some(QueryExplanation { score: self.scorer.prepare(x).score(z), terms, paths })
    }
}

/// Largest first by size; of equals, the lower feature.
fn sort(terms: &mut [(u32, f64)]) {
    terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
}

fn path_to<R: Router>(tree: &Tree<R>, number: usize, leaf: u32, x: &SparseVec, features: usize) -> TreePath {
    let mut turns = Vec::new();
    let mut below = leaf;
    while let Some((node, inner)) = tree.above(below) {
        let (constant, mut reasons) = inner.router.reasons(x);
        sort(&mut reasons);
        reasons.truncate(features);
        let margin = inner.router.predict(x);
        turns.push(RouterStep { node, margin, right: inner.sides[1] == below, counts: inner.counts, constant, features: reasons });
        below = node;
    }
    turns.reverse();
    TreePath { tree: number, turns, leaf, memories: tree.members(leaf).len() }
}
