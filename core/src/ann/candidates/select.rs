//! Candidates from the leaves of an ensemble of trees.
//!
//! V. Hyvonen, E. Jaasaari and T. Roos, *A Multilabel Classification Framework for Approximate
//! Nearest Neighbor Search*, NeurIPS 2022: the nearest neighbours of a query are its labels, of
//! which a point of the corpus is one or is not. Training points, of which the neighbours are
//! known, fall into the leaves of trees. The *natural classifier* (section 4) estimates the
//! probability that a corpus point is a neighbour of a query by the share of training points in the
//! query's leaf of which it is one, averaged over the trees, and selects all points above a
//! threshold. *Lookup* and *voting* (section 6), which select points for lying in the query's leaf
//! themselves, are what it is compared with.

use rayon::prelude::*;

use super::super::corpus::PointSet;
use super::graph::KnnGraph;
use super::ground::{Ground, Labels, TreeKind};
use super::tables::Table;
use super::tree::{DEEPEST, Tree};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::random;

/// How candidates are selected from leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelectionRule {
    /// All corpus points in a leaf of the query.
    Lookup,
    /// Corpus points that lie in the query's leaf of enough trees; the score is their number.
    Voting,
    /// Points of which the training points in the query's leaves are often enough neighbours; the
    /// score is the estimated probability to be one.
    Natural,
    /// All neighbours of the training points in the query's leaves: [`SelectionRule::Natural`]
    /// from a score of 0 on.
    AllLabels,
}

impl SelectionRule {
    /// All ways.
    pub const ALL: [Self; 4] = [Self::Lookup, Self::Voting, Self::AllLabels, Self::Natural];

    /// Whether leaves select the labels of their training points, and not these themselves.
    pub fn is_of_labels(self) -> bool {
        matches!(self, Self::Natural | Self::AllLabels)
    }
}

/// How trees are grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// How they part space.
    pub kind: TreeKind,
    /// Their number, 1 or more.
    pub trees: usize,
    /// Levels of each, from 0 to 24.
    pub depth: usize,
    /// The share of coordinates that a projection has and a forest tries, in 0..=1; 0: one over the
    /// square root of the dimension.
    pub density: f64,
    /// Neighbours of a training point that are its labels for the growth of a forest, 1 or more.
    pub labels: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self { kind: TreeKind::Forest, trees: 20, depth: 10, density: 0.0, labels: 10, seed: 0 }
    }
}

/// Trees, and the leaves that the training points fell into.
#[derive(Clone, Debug, PartialEq)]
pub struct Trees {
    options: TreeOptions,
    trees: Vec<Tree>,
    leaves: Vec<Vec<u32>>,
}

impl Trees {
    /// Grows trees on training points, whose neighbours in the corpus `graph` tells. Equal on any
    /// number of threads. A tree by medians takes O(n depth d density), a forest's O(100 depth d
    /// density k 2^depth).
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range; [`Error::Value`] when the graph has not a
    /// list for each point; [`Error::Cancelled`].
    pub fn grow(points: &PointSet, graph: &KnnGraph, options: TreeOptions, progress: &Progress) -> Result<Self> {
        let wrong = |name, found: String, expected| Err(Error::Option { name, found, expected });
        if options.trees == 0 {
            return wrong("trees", "0".into(), "1 or more");
        }
        if options.depth > DEEPEST {
            return wrong("depth", options.depth.to_string(), "0 to 24");
        }
        if options.labels == 0 {
            return wrong("labels", "0".into(), "1 or more");
        }
        if graph.len() < points.len() && graph.k() > 0 {
            return Err(Error::value("graph", format!("a list for each of {} training points", points.len()), graph.len().to_string()));
        }
        // Below one point a leaf there is nothing to part.
        let options = TreeOptions { depth: options.depth.min(points.len().max(1).ilog2() as usize + 1), ..options };
        if !(0.0..=1.0).contains(&options.density) {
            return wrong("density", options.density.to_string(), "a share from 0 to 1");
        }
        let labels = Labels { graph, count: options.labels };
        let density = if options.density > 0.0 { options.density } else { 1.0 / (points.dimension().max(1) as f64).sqrt() };
        let ground = Ground { kind: options.kind, points, labels: &labels, depth: options.depth, density };
        progress.begin("Growing trees", options.trees as u64);
        let grown = |tree: usize| {
            let grown = Tree::grow(&ground, &mut random::stream(options.seed, tree as u64));
            progress.step().map(|()| grown)
        };
        let grown: Vec<(Tree, Vec<u32>)> = (0..options.trees).into_par_iter().map(grown).collect::<Result<_>>()?;
        let (trees, leaves) = grown.into_iter().unzip();
        Ok(Self { options, trees, leaves })
    }

    /// How they were grown.
    pub fn options(&self) -> &TreeOptions {
        &self.options
    }

    /// What the first trees select from, cut off at a depth: with the first `labels` neighbours of
    /// each training point where these are selected ([`SelectionRule::is_of_labels`]); the others
    /// select training points, so these must be the corpus. Scores of candidates are at least
    /// `threshold`. O(training points * labels * trees).
    pub fn selector(
        &self,
        graph: &KnnGraph,
        selection: SelectionRule,
        trees: usize,
        depth: usize,
        labels: usize,
        threshold: f32,
    ) -> Selector {
        let trees = trees.clamp(1, self.trees.len());
        let depth = depth.min(self.options.depth);
        let labels = Labels { graph, count: labels };
        let table = |leaves: &Vec<u32>| {
            let of = leaves.iter().map(|leaf| leaf >> (self.options.depth - depth));
            Table::new(of, depth, selection.is_of_labels().then_some(&labels))
        };
        let tables = self.leaves[..trees].par_iter().map(table).collect();
        let mut kept = self.trees[..trees].to_vec();
        kept.iter_mut().for_each(|tree| tree.cut(depth));
        Selector { selection, depth, threshold, trees: kept, tables }
    }
}

/// An ensemble that selects candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    selection: SelectionRule,
    depth: usize,
    threshold: f32,
    trees: Vec<Tree>,
    tables: Vec<Table>,
}

/// What selecting candidates needs, kept from one query to the next.
#[derive(Clone, Debug, Default)]
pub struct Votes {
    scores: Vec<f32>,
    pub(super) touched: Vec<u32>,
}

impl Votes {
    /// Adds the shares of some points. Which of them are new is not foreseeable, so that a place is
    /// written for each and kept for those: a branch would take most of the time.
    fn add(&mut self, points: &[u32], share: impl Fn(usize) -> f32) {
        let mut known = self.touched.len();
        self.touched.resize(known + points.len(), 0);
        for (at, point) in points.iter().enumerate() {
            let sum = &mut self.scores[*point as usize];
            self.touched[known] = *point;
            known += usize::from(*sum == 0.0);
            *sum += share(at);
        }
        self.touched.truncate(known);
    }

    /// The score of a point.
    pub(super) fn score(&self, point: u32) -> f32 {
        self.scores[point as usize]
    }

    pub(super) fn clear(&mut self) {
        for point in self.touched.drain(..) {
            self.scores[point as usize] = 0.0;
        }
    }
}

impl Selector {
    /// The score from which on a point is a candidate.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Sets the score from which on a point is a candidate.
    pub fn set_threshold(&mut self, threshold: f32) {
        self.threshold = threshold;
    }

    /// The leaf of each tree that a query falls into. All trees go down a level together, so that
    /// the processor waits for the memory of many nodes at a time. O(trees * depth).
    pub(super) fn leaves(&self, x: &[f32]) -> Vec<u32> {
        let mut nodes = vec![1; self.trees.len()];
        for level in 0..self.depth {
            nodes.iter_mut().zip(&self.trees).for_each(|(node, tree)| *node = tree.child(*node, level, x));
        }
        nodes.into_iter().map(|node| (node - (1 << self.depth)) as u32).collect()
    }

    /// Adds what a leaf of a tree says in a corpus of `n` points, and returns the number of its
    /// labels.
    pub(super) fn vote(&self, tree: usize, leaf: u32, n: usize, votes: &mut Votes) -> usize {
        votes.scores.resize(n.max(votes.scores.len()), 0.0);
        let (labels, counts, share) = self.tables[tree].leaf(leaf);
        match self.selection {
            SelectionRule::Natural | SelectionRule::AllLabels => {
                votes.add(labels, |at| f32::from(counts[at]) * share);
            }
            SelectionRule::Lookup | SelectionRule::Voting => votes.add(labels, |_| 1.0),
        }
        labels.len()
    }

    /// Whether all trees look at the coordinates of vectors of `d` values alone.
    pub(super) fn is_of(&self, d: usize) -> bool {
        self.trees.iter().all(|tree| tree.is_of(d))
    }

    /// What the sum of the trees' votes is divided by to make a score.
    pub(super) fn divisor(&self, trees: usize) -> f32 {
        if self.selection.is_of_labels() { trees as f32 } else { 1.0 }
    }

    /// The number of trees.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Levels of the trees.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How candidates are selected.
    pub fn rule(&self) -> SelectionRule {
        self.selection
    }

    /// The candidates for a prepared query of a corpus of `n` points, in no special order, each
    /// with its score. O(trees * depth + labels of the leaves).
    pub fn candidates(&self, x: &[f32], n: usize, votes: &mut Votes) -> Vec<(u32, f32)> {
        self.vote_of_all(x, n, votes);
        let selected = self.selected(votes).map(|point| (point, self.score(votes, point))).collect();
        votes.clear();
        selected
    }

    /// Adds what all trees say of a query.
    pub(super) fn vote_of_all(&self, x: &[f32], n: usize, votes: &mut Votes) {
        for (tree, leaf) in self.leaves(x).into_iter().enumerate() {
            self.vote(tree, leaf, n, votes);
        }
    }

    /// The score of a point by the votes of all trees.
    pub(super) fn score(&self, votes: &Votes, point: u32) -> f32 {
        votes.score(point) / self.divisor(self.trees.len())
    }

    /// The points that the votes of all trees make candidates.
    pub(super) fn selected(&self, votes: &Votes) -> impl Iterator<Item = u32> {
        let least = self.threshold * self.divisor(self.trees.len());
        votes.touched.iter().copied().filter(move |point| votes.score(*point) >= least)
    }

    /// Coordinates that the nodes on the way to a leaf look at, in the first trees together.
    pub(super) fn looks(&self, trees: usize) -> f64 {
        self.trees[..trees].iter().map(|tree| tree.looks()).sum()
    }

    /// The largest label of all leaves.
    pub(super) fn largest_label(&self) -> Option<u32> {
        self.tables.iter().filter_map(Table::largest_label).max()
    }

    /// The number of labels in all leaves of a tree, and the sum of their counts.
    pub fn entries(&self, tree: usize) -> (usize, u64) {
        self.tables[tree].entries()
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.trees.iter().map(Tree::bytes).sum::<usize>() + self.tables.iter().map(Table::bytes).sum::<usize>()
    }
}

impl Stored for Selector {
    fn write(&self, out: &mut Writer) {
        let rule = SelectionRule::ALL.iter().position(|rule| *rule == self.selection).unwrap_or_default();
        out.put(&(rule as u8));
        out.put(&self.threshold);
        out.put(&self.trees);
        out.put(&self.tables);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (rule, threshold) = (from.get::<u8>()?, from.finite()?);
        let Some(selection) = SelectionRule::ALL.get(usize::from(rule)).copied() else {
            return Err(from.wrong(format!("a rule below {}", SelectionRule::ALL.len()), rule.to_string()));
        };
        let (trees, tables): (Vec<Tree>, Vec<Table>) = (from.get()?, from.get()?);
        let depth = trees.first().map(Tree::depth);
        let is_alike = trees.iter().all(|tree| Some(tree.depth()) == depth)
            && tables.iter().all(|table| Some(table.leaves()) == depth.map(|depth| 1 << depth));
        match depth.filter(|_| is_alike && trees.len() == tables.len()) {
            Some(depth) => Ok(Self { selection, depth, threshold, trees, tables }),
            None => {
                Err(from
                    .wrong("trees of one depth, each with its leaves", format!("{} trees and the leaves of {}", trees.len(), tables.len())))
            }
        }
    }
}
