//! One-against-some: predicts labels for a vector, from among the labels of the memories in the
//! leaf that it is led to.
//!
//! Each label has a linear scoring function. One-against-all evaluates the functions of all labels;
//! here a memory tree finds few candidates first, so that the cost grows with the leaf and not with
//! the number of labels (Sun et al. 2019).

use std::collections::BTreeMap;

use super::{Cmt, CmtOptions, Exploration, Router};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};
use crate::online_linear::{AdaptiveLinear, LinearOptions, OnlineRegressor};
use crate::sparse::SparseVec;

/// For each label a linear function that is above 0 where the label holds.
///
/// Labels are ascending wherever a list of them is handed in or out.
#[derive(Clone, Debug)]
pub struct LabelScores {
    options: LinearOptions,
    functions: BTreeMap<ClassId, AdaptiveLinear>,
}

impl LabelScores {
    /// No labels yet.
    ///
    /// # Errors
    /// [`Error::Option`] when the rate is out of range.
    pub fn new(rate: f32) -> Result<Self> {
        let options = LinearOptions { rate, constant: true, clipped: true };
        options.check()?;
        Ok(Self { options, functions: BTreeMap::new() })
    }

    /// Learns that of the labels `asked`, which are the ones scored, exactly those in `truth` hold
    /// for `x`. O(asked * features).
    pub fn learn(&mut self, x: &SparseVec, asked: &[ClassId], truth: &[ClassId]) {
        for label in asked {
            let function = self.functions.entry(*label).or_insert_with(|| AdaptiveLinear::new(&self.options));
            function.update(x, if truth.binary_search(label).is_ok() { 1.0 } else { -1.0 }, 1.0);
        }
    }

    /// The labels among `asked` that score above 0. O(asked * features).
    pub fn predict(&self, x: &SparseVec, asked: &[ClassId]) -> Vec<ClassId> {
        asked.iter().copied().filter(|label| self.score(x, *label) > 0.0).collect()
    }

    /// One-against-all: every label that scores above 0. O(labels * features).
    pub fn predict_all(&self, x: &SparseVec) -> Vec<ClassId> {
        let above = self.functions.iter().filter(|(_, function)| function.predict(x) > 0.0);
        above.map(|(label, _)| *label).collect()
    }

    /// The score of a label, -1 to 1; 0 for one that was never seen.
    pub fn score(&self, x: &SparseVec, label: ClassId) -> f64 {
        self.functions.get(&label).map_or(0.0, |function| function.predict(x))
    }

    /// The constant of a label's function and what one unit of each feature adds; `None` for a
    /// label that was never seen.
    pub(super) fn weights(&self, label: ClassId) -> Option<(f64, impl Iterator<Item = (u32, f64)>)> {
        self.functions.get(&label).map(|function| (function.constant(), function.weights()))
    }

    /// All labels seen.
    pub fn labels(&self) -> Vec<ClassId> {
        self.functions.keys().copied().collect()
    }
}

/// A memory tree whose values are sets of labels, and the scoring functions of the labels.
#[derive(Clone, Debug)]
pub struct OneAgainstSome<R = AdaptiveLinear> {
    memories: Cmt<Vec<ClassId>, R>,
    scores: LabelScores,
}

impl<R: Router> OneAgainstSome<R> {
    /// No memories and no labels. The functions of labels learn at the rate `rate`.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range.
    pub fn new(options: &CmtOptions, rate: f32) -> Result<Self> {
        // Labels are ranked by their functions, not by memories.
        let options = CmtOptions { learn_scorer: false, ..*options };
        Ok(Self { memories: Cmt::new(&options)?, scores: LabelScores::new(rate)? })
    }

    /// Stores the labels of `x`. Before that, the functions of these labels and of those in the
    /// leaf that `x` is led to learn from it.
    ///
    /// # Errors
    /// As [`Cmt::insert`]; [`Error::Value`] when the labels do not ascend.
    pub fn insert(&mut self, id: ItemId, x: SparseVec, labels: Vec<ClassId>) -> Result<()> {
        check_labels(&labels)?;
        if self.memories.get(id).is_none() {
            let candidates = self.candidates(&x, 1);
            self.learn(&x, candidates, &labels);
        }
        self.memories.insert(id, x, labels)
    }

    /// Removes a memory. What was learned from it stays.
    pub fn remove(&mut self, id: ItemId) -> bool {
        self.memories.remove(id).is_some()
    }

    /// Explores one tree with `x`, whose labels are `truth`: the functions of the labels in the
    /// leaf that was reached learn, and the router at which it explored learns from the share of
    /// the true labels that are in that leaf, for no others can be predicted.
    ///
    /// The choice of this reward is ours, not the paper's.
    ///
    /// # Errors
    /// As [`Cmt::explore`]; [`Error::Value`] when the labels do not ascend.
    pub fn update(&mut self, tree: usize, x: &SparseVec, truth: &[ClassId], epsilon: f64) -> Result<()> {
        check_labels(truth)?;
        let explored = self.memories.explore(tree, x, usize::MAX, epsilon)?;
        self.learn_from(x, truth, &explored)
    }

    /// [`OneAgainstSome::update`] with the vector and the labels of a memory. Returns whether there
    /// is such a memory.
    ///
    /// # Errors
    /// As [`Cmt::explore`].
    pub fn replay(&mut self, tree: usize, id: ItemId, epsilon: f64) -> Result<bool> {
        let Some(memory) = self.memories.get(id).cloned() else { return Ok(false) };
        self.update(tree, &memory.x, &memory.value, epsilon)?;
        Ok(true)
    }

    fn learn_from(&mut self, x: &SparseVec, truth: &[ClassId], explored: &Exploration) -> Result<()> {
        let candidates = self.labels_of(explored.hits.iter().map(|hit| hit.id));
        let found = truth.iter().filter(|label| candidates.binary_search(label).is_ok()).count();
        let reward = if truth.is_empty() { 0.0 } else { found as f32 / truth.len() as f32 };
        self.learn(x, candidates, truth);
        self.memories.update(x, explored, &vec![reward; explored.hits.len()])
    }

    /// The labels predicted for `x`: of those in the at most `leaves` leaves for each tree that it
    /// is led to, the ones that score above 0. O((depth + cap + candidates) features) with one
    /// leaf.
    pub fn predict(&self, x: &SparseVec, leaves: usize) -> Vec<ClassId> {
        self.scores.predict(x, &self.candidates(x, leaves))
    }

    /// The labels that [`OneAgainstSome::predict`] scores: those of the memories in the leaves.
    pub fn candidates(&self, x: &SparseVec, leaves: usize) -> Vec<ClassId> {
        self.labels_of(self.memories.reached(x, leaves).into_iter())
    }

    /// The memories.
    pub fn memories(&self) -> &Cmt<Vec<ClassId>, R> {
        &self.memories
    }

    /// The scoring functions; their [`LabelScores::predict_all`] is the baseline to compare with.
    pub fn scores(&self) -> &LabelScores {
        &self.scores
    }

    fn labels_of(&self, ids: impl Iterator<Item = ItemId>) -> Vec<ClassId> {
        let memories = ids.filter_map(|id| self.memories.get(id));
        let mut labels: Vec<ClassId> = memories.flat_map(|memory| &memory.value).copied().collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    fn learn(&mut self, x: &SparseVec, mut candidates: Vec<ClassId>, truth: &[ClassId]) {
        candidates.extend(truth);
        candidates.sort_unstable();
        candidates.dedup();
        self.scores.learn(x, &candidates, truth);
    }
}

fn check_labels(labels: &[ClassId]) -> Result<()> {
    match labels.windows(2).find(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::value("labels", "ascending, each once", format!("{} after {}", pair[1].0, pair[0].0))),
    }
}

impl Stored for ClassId {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(from.get()?))
    }
}

impl Stored for LabelScores {
    fn write(&self, out: &mut Writer) {
        out.put(&self.options.rate);
        out.count(self.functions.len());
        for (label, function) in &self.functions {
            out.put(label);
            out.put(function);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let mut scores = Self::new(from.get()?)?;
        for _ in 0..from.count()? {
            let (label, function): (ClassId, AdaptiveLinear) = (from.get()?, from.get()?);
            if *function.options() != scores.options || scores.functions.insert(label, function).is_some() {
                return Err(from.wrong("labels with functions that learn alike", format!("label {}", label.0)));
            }
        }
        Ok(scores)
    }
}

impl<R: Router> Stored for OneAgainstSome<R> {
    fn write(&self, out: &mut Writer) {
        out.put(&self.memories);
        out.put(&self.scores);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let made = Self { memories: from.get()?, scores: from.get()? };
        made.memories.iter().try_for_each(|memory| check_labels(&memory.value))?;
        Ok(made)
    }
}
