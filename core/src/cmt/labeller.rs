//! One-against-some made ready to answer fast: what leaves hold is listed, and functions lie side by side.

use std::collections::HashMap;

use super::oas::{LabelScores, OneAgainstSome};
use super::query::visit;
use super::tree::Kind;
use super::{Cmt, Operations, Router};
use crate::ids::ClassId;
use crate::sparse::SparseVec;

/// Labels that are worked on at once.
const LANES: usize = 8;
type Lane = [f32; LANES];

/// A copy of [`OneAgainstSome`] that learns no more. It predicts the same labels, but for scores so near to 0 that f32 cannot tell.
///
/// Labels are put into blocks of 8, the most frequent first, so that those which come together often share blocks. Memory: 4 bytes a
/// label and feature, and O(labels) for each leaf.
#[derive(Clone, Debug)]
pub struct Labeller<'a, R> {
    memories: &'a Cmt<Vec<ClassId>, R>,
    /// By place in the blocks.
    labels: Vec<ClassId>,
    /// Which row is a feature's.
    rows: HashMap<u32, u32>,
    /// A row of blocks for each feature, the constant one first.
    weights: Vec<Lane>,
    n_blocks: usize,
    /// By tree and node: the blocks that have labels of the leaf, and a bit for each that is.
    leaves: Vec<Vec<Vec<(u32, u8)>>>,
}

impl<R: Router> OneAgainstSome<R> {
    /// A copy that answers fast. O(labels * features + labels of memories).
    pub fn labeller(&self) -> Labeller<'_, R> {
        Labeller::new(self.memories(), self.scores())
    }
}

impl<'a, R: Router> Labeller<'a, R> {
    fn new(memories: &'a Cmt<Vec<ClassId>, R>, scores: &LabelScores) -> Self {
        let mut counts: HashMap<ClassId, usize> = scores.labels().into_iter().map(|label| (label, 0)).collect();
        for label in memories.iter().flat_map(|memory| &memory.value) {
            *counts.entry(*label).or_default() += 1;
        }
        let mut labels: Vec<ClassId> = scores.labels();
        labels.sort_by_key(|label| (std::cmp::Reverse(counts[label]), *label));
        let n_blocks = labels.len().div_ceil(LANES);
        let mut made = Self { memories, labels, rows: HashMap::new(), weights: vec![[0.0; LANES]; n_blocks], n_blocks, leaves: Vec::new() };
        for (place, label) in made.labels.clone().into_iter().enumerate() {
            let Some((constant, weights)) = scores.weights(label) else { continue };
            made.weights[place / LANES][place % LANES] = constant as f32;
            for (feature, weight) in weights {
                let next = made.rows.len() as u32 + 1;
                let row = *made.rows.entry(feature).or_insert(next) as usize;
                if row == next as usize {
                    made.weights.resize((row + 1) * n_blocks, [0.0; LANES]);
                }
                made.weights[row * n_blocks + place / LANES][place % LANES] = weight as f32;
            }
        }
        let places: HashMap<ClassId, usize> = made.labels.iter().copied().zip(0..).collect();
        made.leaves = memories.trees.iter().map(|tree| tree.nodes.iter().map(|node| made.blocks(&node.kind, &places)).collect()).collect();
        made
    }

    fn blocks(&self, kind: &Kind<R>, places: &HashMap<ClassId, usize>) -> Vec<(u32, u8)> {
        let Kind::Leaf(leaf) = kind else { return Vec::new() };
        let mut masks = vec![0u8; self.n_blocks];
        for label in leaf.members.iter().flat_map(|&slot| &self.memories.memories.at(slot).value) {
            if let Some(place) = places.get(label) {
                masks[place / LANES] |= 1 << (place % LANES);
            }
        }
        (0..).zip(masks).filter(|(_, mask)| *mask != 0).collect()
    }

    /// As [`OneAgainstSome::predict`]. O(depth * features + blocks * features) with one leaf.
    pub fn predict(&self, x: &SparseVec, leaves: usize) -> Vec<ClassId> {
        let mut masks = Vec::new();
        let mut only = None;
        visit(&self.memories.trees, x, leaves, &mut Operations::default(), |tree, leaf, _, _| {
            let blocks = &self.leaves[tree][leaf as usize];
            if leaves.saturating_mul(self.memories.n_trees()) == 1 {
                only = Some(blocks);
                return;
            }
            masks.resize(self.n_blocks, 0u8);
            for &(block, mask) in blocks {
                masks[block as usize] |= mask;
            }
        });
        match only {
            Some(blocks) => self.above_zero(x, blocks.iter().copied()),
            None => self.above_zero(x, (0..).zip(masks).filter(|(_, mask)| *mask != 0)),
        }
    }

    /// Every label that scores above 0, one block after the other: what asking all costs in the same form. O(labels * features).
    pub fn predict_all(&self, x: &SparseVec) -> Vec<ClassId> {
        self.above_zero(x, (0..self.n_blocks as u32).map(|block| (block, !0)))
    }

    fn above_zero(&self, x: &SparseVec, blocks: impl Iterator<Item = (u32, u8)>) -> Vec<ClassId> {
        let row = |(index, value): &(u32, f32)| Some((*self.rows.get(index)? as usize * self.n_blocks, *value));
        let features: Vec<(usize, f32)> = x.entries().iter().filter_map(row).collect();
        let mut above = Vec::new();
        for (block, mask) in blocks {
            let scores = self.score(&features, block as usize);
            for (lane, _) in scores.iter().enumerate().filter(|(lane, score)| **score > 0.0 && mask >> lane & 1 == 1) {
                above.extend(self.labels.get(block as usize * LANES + lane));
            }
        }
        above.sort_unstable();
        above
    }

    fn score(&self, features: &[(usize, f32)], block: usize) -> Lane {
        let mut scores = self.weights[block];
        for &(row, value) in features {
            for (score, weight) in scores.iter_mut().zip(&self.weights[row + block]) {
                *score += weight * value;
            }
        }
        scores
    }
}
