//! Why a vector went where it did, and why a memory scored as it did.

use super::tree::Tree;
use super::{Cmt, Router};
use crate::ids::ItemId;
use crate::sparse::SparseVec;

/// A way from the root of a tree to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Which tree.
    pub tree: usize,
    /// The nodes on the way and the sides taken, root first.
    pub turns: Vec<RouterStep>,
    /// The leaf's number.
    pub leaf: u32,
    /// The memories in that leaf.
    pub memories: usize,
}

/// A node on a way.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterStep {
    /// The node's number.
    pub node: u32,
    /// What its router says of the vector, -1 (left) to 1 (right).
    pub margin: f64,
    /// The side the way goes on.
    pub right: bool,
    /// The memories on the left and on the right.
    pub counts: [u32; 2],
    /// What the router says of any vector.
    pub constant: f64,
    /// The features that moved it most and by how much, most first. With those left out and the
    /// constant they sum up to the margin, before it is clipped.
    pub features: Vec<(u32, f64)>,
}

impl RouterStep {
    /// Whether the way goes where the router sends the vector.
    pub fn follows(&self) -> bool {
        self.right == (self.margin > 0.0)
    }
}

/// Why a memory scored as it did as an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryExplanation {
    /// Its score.
    pub score: f64,
    /// What each feature added to the score, most first by size; they sum up to it.
    pub terms: Vec<(u32, f64)>,
    /// For each tree, the way to the memory.
    pub paths: Vec<Path>,
}

impl<V, R: Router> Cmt<V, R> {
    /// Algorithm 1, PATH: where the routers of a tree lead `x`, with the at most `features` most
    /// telling features of each; `None` if there is no such tree. O(depth * features of x).
    pub fn path(&self, tree: usize, x: &SparseVec, features: usize) -> Option<Path> {
        let own = self.trees.get(tree)?;
        let leaf = own.route(own.root, x, |_, _, _| {});
        Some(path_to(own, tree, leaf, x, features))
    }

    /// What each feature adds to the score of a memory as an answer to `x`, by ascending feature;
    /// they sum up to it. `None` if there is no such memory. O(features).
    pub fn terms(&self, x: &SparseVec, id: ItemId) -> Option<Vec<(u32, f64)>> {
        Some(self.scorer.terms(x, &self.get(id)?.x))
    }

    /// Why a memory scores as it does as an answer to `x`, and the way to it, with the at most
    /// `features` most telling features of each node; `None` if there is no such memory. O(depth *
    /// features) a tree.
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

fn path_to<R: Router>(tree: &Tree<R>, number: usize, leaf: u32, x: &SparseVec, features: usize) -> Path {
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
    Path { tree: number, turns, leaf, memories: tree.members(leaf).len() }
}
