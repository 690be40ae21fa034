//! One-against-some prepared for fast predictions: the labels of each leaf are listed, and the
//! linear functions are laid out side by side.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use multiversion::multiversion;

use super::oas::OneAgainstSome;
use super::query::visit;
use super::tree::{Kind, Tree};
use super::{Cmt, Router};
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::nearest::Cost;
use crate::online_linear::FeatureRows;
use crate::sparse::SparseVec;

/// Labels that are scored at once.
const LANES: usize = 8;
type Lane = [f32; LANES];

/// The most weights of labels, and of routers, there may be.
const MOST_WEIGHTS: usize = 1 << 29;

/// A read-only copy of [`OneAgainstSome`]. It predicts the same labels, except where a router's
/// prediction or a score is so near to 0 that rounding to f32 changes its sign.
///
/// Labels are put into blocks of 8, the most frequent first, so that those which come together
/// often share blocks. Memory: 4 bytes for each feature of each label and each router, and
/// O(labels) for each leaf.
#[derive(Clone, Debug)]
pub struct Labeller<'a, R> {
    memories: &'a Cmt<Vec<ClassId>, R>,
    /// The label at each place in the blocks.
    labels: Vec<ClassId>,
    rows: FeatureRows,
    /// A row of blocks for each feature, the constant one first.
    weights: Vec<Lane>,
    n_blocks: usize,
    trees: Vec<Quick>,
}

/// A tree that only routes.
#[derive(Clone, Debug)]
struct Quick {
    root: u32,
    /// By node of the tree.
    steps: Vec<Step>,
    /// A row of features for each inner node, the constant one first.
    weights: Vec<f32>,
}

#[derive(Clone, Debug)]
enum Step {
    Inner {
        sides: [u32; 2],
        row: usize,
    },
    /// The blocks that have labels of the leaf, each with a bit mask of those labels.
    Leaf(Vec<(u32, u8)>),
}

impl<R: Router> OneAgainstSome<R> {
    /// A read-only copy that predicts fast. O((labels + nodes) features).
    ///
    /// # Errors
    /// [`Error::Value`] when there are too many weights to lay them out;
    /// [`OneAgainstSome::predict`] needs no such copy.
    pub fn labeller(&self) -> Result<Labeller<'_, R>> {
        self.labeller_voted(1)
    }

    /// As [`OneAgainstSome::labeller`], but only labels that at least `votes` memories of a leaf
    /// have are scored. In the paper one is enough.
    ///
    /// # Errors
    /// As [`OneAgainstSome::labeller`].
    pub fn labeller_voted(&self, votes: u32) -> Result<Labeller<'_, R>> {
        let memories = self.memories();
        let mut counts: HashMap<ClassId, usize> = HashMap::new();
        for label in memories.iter().flat_map(|memory| &memory.value) {
            *counts.entry(*label).or_default() += 1;
        }
        let mut labels = self.scores().labels();
        labels.sort_by_key(|label| (Reverse(counts.get(label).copied()), *label));
        let n_blocks = labels.len().div_ceil(LANES);
        let mut rows = FeatureRows::default();
        let mut weights = vec![[0.0; LANES]; n_blocks];
        for (place, label) in labels.iter().enumerate() {
            let Some((constant, own)) = self.scores().weights(*label) else { continue };
            weights[place / LANES][place % LANES] = constant as f32;
            for (feature, weight) in own {
                let (row, is_new) = rows.enter(feature);
                if is_new {
                    check_size("labels", (row + 2) * n_blocks * LANES)?;
                    weights.resize((row + 2) * n_blocks, [0.0; LANES]);
                }
                weights[(row + 1) * n_blocks + place / LANES][place % LANES] = weight as f32;
            }
        }
        for (feature, _) in memories.trees.iter().flat_map(|tree| &tree.nodes).flat_map(|node| match &node.kind {
            Kind::Inner(inner) => inner.router.weights().1,
            _ => Vec::new(),
        }) {
            rows.enter(feature);
        }
        weights.resize((rows.len() + 1) * n_blocks, [0.0; LANES]);
        let places: HashMap<ClassId, usize> = labels.iter().copied().zip(0..).collect();
        let trees = memories.trees.iter().map(|tree| Quick::new(tree, memories, &rows, &places, votes)).collect::<Result<_>>()?;
        Ok(Labeller { memories, labels, rows, weights, n_blocks, trees })
    }
}

fn check_size(what: &str, found: usize) -> Result<()> {
    if found <= MOST_WEIGHTS {
        return Ok(());
    }
    Err(Error::value("one against some", format!("at most {MOST_WEIGHTS} features times {what}"), found.to_string()))
}

impl Quick {
    fn new<R: Router>(
        tree: &Tree<R>,
        memories: &Cmt<Vec<ClassId>, R>,
        rows: &FeatureRows,
        places: &HashMap<ClassId, usize>,
        votes: u32,
    ) -> Result<Self> {
        let stride = rows.len() + 1;
        let mut made = Self { root: tree.root, steps: Vec::new(), weights: Vec::new() };
        for node in &tree.nodes {
            made.steps.push(match &node.kind {
                Kind::Inner(inner) => {
                    let row = made.weights.len();
                    check_size("nodes", row + stride)?;
                    made.weights.resize(row + stride, 0.0);
                    let (constant, own) = inner.router.weights();
                    made.weights[row] = constant as f32;
                    for (feature, weight) in own {
                        made.weights[row + rows.get(feature).map_or(0, |at| at + 1)] = weight as f32;
                    }
                    Step::Inner { sides: inner.sides, row }
                }
                Kind::Leaf(leaf) => {
                    let mut counts = vec![0u32; places.len()];
                    for label in leaf.members.iter().flat_map(|&slot| &memories.memories.at(slot).value) {
                        if let Some(place) = places.get(label) {
                            counts[*place] += 1;
                        }
                    }
                    let mask = |lanes: &[u32]| lanes.iter().rev().fold(0, |mask, count| mask << 1 | u8::from(*count >= votes.max(1)));
                    let masks = counts.chunks(LANES).map(mask);
                    Step::Leaf((0..).zip(masks).filter(|(_, mask)| *mask != 0).collect())
                }
                Kind::Vacant => Step::Leaf(Vec::new()),
            });
        }
        Ok(made)
    }

    /// The blocks of the leaf that these features lead to.
    fn route(&self, features: &[(usize, f32)]) -> &[(u32, u8)] {
        let mut node = self.root;
        loop {
            match &self.steps[node as usize] {
                Step::Leaf(blocks) => return blocks,
                Step::Inner { sides, row } => {
                    let weights = &self.weights[*row..];
                    let margin = features.iter().fold(weights[0], |sum, (row, value)| sum + weights[row + 1] * value);
                    node = sides[usize::from(margin > 0.0)];
                }
            }
        }
    }
}

impl<R: Router> Labeller<'_, R> {
    /// As [`OneAgainstSome::predict`]. O((depth + blocks) features) with one leaf.
    pub fn predict(&self, x: &SparseVec, leaves: usize) -> Vec<ClassId> {
        let features = self.features(x);
        self.above_zero(&features, &self.blocks(x, &features, leaves))
    }

    /// How many labels [`Labeller::predict`] scores.
    pub fn n_scored(&self, x: &SparseVec, leaves: usize) -> u32 {
        self.blocks(x, &self.features(x), leaves).iter().map(|(_, mask)| mask.count_ones()).sum()
    }

    fn blocks(&self, x: &SparseVec, features: &[(usize, f32)], leaves: usize) -> Cow<'_, [(u32, u8)]> {
        if let (1, [tree]) = (leaves, &self.trees[..]) {
            return tree.route(features).into();
        }
        let mut masks = vec![0u8; self.n_blocks];
        visit(&self.memories.trees, x, leaves, &mut Cost::default(), |tree, leaf, _, _| {
            if let Step::Leaf(blocks) = &self.trees[tree].steps[leaf as usize] {
                blocks.iter().for_each(|&(block, mask)| masks[block as usize] |= mask);
            }
        });
        (0..).zip(masks).filter(|(_, mask)| *mask != 0).collect()
    }

    /// One-against-all: every label that scores above 0, computed block by block as by
    /// [`Labeller::predict`]. O(labels * features).
    pub fn predict_all(&self, x: &SparseVec) -> Vec<ClassId> {
        let blocks: Vec<(u32, u8)> = (0..self.n_blocks as u32).map(|block| (block, !0)).collect();
        self.above_zero(&self.features(x), &blocks)
    }

    /// The features of `x` that have weights: their rows and values.
    fn features(&self, x: &SparseVec) -> Vec<(usize, f32)> {
        x.entries().iter().filter_map(|&(feature, value)| Some((self.rows.get(feature)?, value))).collect()
    }

    fn above_zero(&self, features: &[(usize, f32)], blocks: &[(u32, u8)]) -> Vec<ClassId> {
        let mut above = Vec::new();
        positive(&self.weights, self.n_blocks, features, blocks, &mut above);
        let mut labels: Vec<ClassId> = above.iter().filter_map(|&place| self.labels.get(place as usize).copied()).collect();
        labels.sort_unstable();
        labels
    }
}

/// The places in blocks that score above 0.
#[multiversion(targets("x86_64+avx2+fma"))]
fn positive(weights: &[Lane], n_blocks: usize, features: &[(usize, f32)], blocks: &[(u32, u8)], above: &mut Vec<u32>) {
    for &(block, mask) in blocks {
        let mut scores = weights[block as usize];
        for &(row, value) in features {
            let row = &weights[(row + 1) * n_blocks + block as usize];
            for lane in 0..LANES {
                scores[lane] += row[lane] * value;
            }
        }
        if scores.iter().any(|score| *score > 0.0) {
            let lanes = (0..LANES as u32).filter(|lane| scores[*lane as usize] > 0.0 && mask >> lane & 1 == 1);
            above.extend(lanes.map(|lane| block * LANES as u32 + lane));
        }
    }
}
