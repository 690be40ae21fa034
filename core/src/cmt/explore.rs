//! Algorithms 4 and 5, QUERY with exploration and UPDATE: a tree explores, and learns from the
//! reward.

use rand::RngExt;
use rand::seq::index;

use super::memories::Memories;
use super::query::Best;
use super::scorer::Scorer;
use super::tree::{Tree, balance};
use super::{Cmt, CmtOptions, MemoryHit, Router, Slot};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::{Cost, everything};
use crate::sparse::SparseVec;

/// The outcome of an exploration, for [`Cmt::update`] to learn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Exploration {
    /// The memories found.
    pub hits: Vec<MemoryHit>,
    /// The work done.
    pub cost: Cost,
    tree: usize,
    choice: Choice,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    /// No exploration: the best memories of the leaf where the routers lead.
    None,
    /// Random memories of that leaf.
    Leaf,
    /// A random side of a node, and then the best memories of the leaf where the routers lead from
    /// there.
    Turn {
        node: u32,
        stamp: u32,
        right: bool,
        /// The importance weight: how many times as likely this choice would be if leaves were
        /// never chosen.
        importance: f32,
    },
}

impl<V, R: Router> Cmt<V, R> {
    /// Queries one tree for at most `k` memories; with probability `epsilon` it explores: a
    /// position on the path to the leaf is drawn. At an inner node a side is drawn, and the answers
    /// are the best in the leaf where the routers lead from there; at the leaf, memories are drawn.
    ///
    /// O((depth + cap) features).
    ///
    /// # Errors
    /// [`Error::Option`] when there is no such tree or `epsilon` is not in 0..=1.
    pub fn explore(&mut self, tree: usize, x: &SparseVec, k: usize, epsilon: f64) -> Result<Exploration> {
        self.check_exploring(tree, epsilon)?;
        Ok(explore(&mut self.trees[tree], tree, &self.memories, &self.scorer, x, k, epsilon))
    }

    /// Teaches a tree the `rewards` of the hits of `exploration`, which was made with `x`: 0 to 1,
    /// in the order of the hits. The router at which it explored learns from the first, the scorer
    /// from all. Then [`CmtOptions::reroutes`] random memories are rerouted.
    ///
    /// Memories and nodes that were removed in between are skipped.
    ///
    /// # Errors
    /// [`Error::Value`] when there are not as many rewards as hits, or one is not finite. Nothing
    /// was learned then.
    pub fn update(&mut self, x: &SparseVec, exploration: &Exploration, rewards: &[f32]) -> Result<()> {
        let n = exploration.hits.len();
        if rewards.len() != n || exploration.tree >= self.trees.len() {
            return Err(Error::value("rewards", format!("{n}, one for each hit"), rewards.len().to_string()));
        }
        rewards.iter().try_for_each(|reward| check_reward(*reward))?;
        update(&mut self.trees[exploration.tree], &self.memories, &mut self.scorer, &self.options, x, exploration, rewards);
        Ok(())
    }

    /// [`Cmt::explore`] and [`Cmt::update`] with the vector of a memory: how a tree is trained
    /// repeatedly with the memories that it holds. `reward(own, other)` is the reward of another
    /// memory's value as an answer to this one's. Returns whether there is such a memory.
    ///
    /// # Errors
    /// As both.
    pub fn replay(&mut self, tree: usize, id: ItemId, k: usize, epsilon: f64, mut reward: impl FnMut(&V, &V) -> f32) -> Result<bool> {
        self.check_exploring(tree, epsilon)?;
        let Some(slot) = self.memories.slot(id) else { return Ok(false) };
        let memory = self.memories.at(slot);
        let explored = explore(&mut self.trees[tree], tree, &self.memories, &self.scorer, &memory.x, k, epsilon);
        let found = explored.hits.iter().filter_map(|hit| self.get(hit.id));
        let rewards: Vec<f32> = found.map(|other| reward(&memory.value, &other.value)).collect();
        rewards.iter().try_for_each(|reward| check_reward(*reward))?;
        update(&mut self.trees[tree], &self.memories, &mut self.scorer, &self.options, &memory.x, &explored, &rewards);
        Ok(true)
    }

    /// Teaches the scorer alone the `reward` of a memory as an answer to `x`. Returns whether there
    /// is such a memory. Routers can learn only from random choices; when a person judges the
    /// answers of [`Cmt::query`], there were none.
    ///
    /// # Errors
    /// [`Error::Value`] when the reward is not finite.
    pub fn teach(&mut self, x: &SparseVec, id: ItemId, reward: f32) -> Result<bool> {
        check_reward(reward)?;
        let Some(slot) = self.memories.slot(id) else { return Ok(false) };
        if self.options.learn_scorer {
            self.scorer.learn(x, self.memories.vector(slot), reward, 1.0);
        }
        Ok(true)
    }

    fn check_exploring(&self, tree: usize, epsilon: f64) -> Result<()> {
        if tree >= self.trees.len() {
            return Err(Error::Option { name: "tree", found: tree.to_string(), expected: "below the number of trees" });
        }
        if !(0.0..=1.0).contains(&epsilon) {
            return Err(Error::Option { name: "epsilon", found: epsilon.to_string(), expected: "0 to 1" });
        }
        Ok(())
    }
}

fn check_reward(reward: f32) -> Result<()> {
    if reward.is_finite() { Ok(()) } else { Err(Error::value("reward", "a finite number, best 0 to 1", reward.to_string())) }
}

fn explore<V, R: Router>(
    tree: &mut Tree<R>,
    number: usize,
    memories: &Memories<V>,
    scorer: &Scorer,
    x: &SparseVec,
    k: usize,
    epsilon: f64,
) -> Exploration {
    let mut cost = Cost::default();
    let mut path = Vec::new();
    let mut leaf = tree.route(tree.root, x, |node, _, _| path.push(node));
    let mut nodes = path.len();
    let mut choice = Choice::None;
    if epsilon > 0.0 && tree.rng.random_bool(epsilon) {
        let position = tree.rng.random_range(0..=path.len() as u32) as usize;
        choice = match path.get(position) {
            None => Choice::Leaf,
            Some(&node) => {
                let right = tree.rng.random_bool(0.5);
                let side = tree.inner(node).map_or(node, |inner| inner.sides[usize::from(right)]);
                leaf = tree.route(side, x, |_, _, _| nodes += 1);
                let importance = (path.len() + 1) as f32 / path.len() as f32;
                Choice::Turn { node, stamp: tree.node(node).stamp, right, importance }
            }
        };
    }
    cost.nodes = nodes as u64;
    cost.leaves = 1;
    cost.values = (nodes * x.len()) as u64;
    let prepared = scorer.prepare(x);
    let n = tree.members(leaf).len();
    let mut best = Best::new(k.min(n), &everything);
    if choice == Choice::Leaf {
        let drawn: Vec<Slot> = index::sample(&mut tree.rng, n, k.min(n)).into_iter().map(|at| tree.members(leaf)[at]).collect();
        best.scan(memories, &prepared, &drawn, &mut cost);
    } else {
        best.scan(memories, &prepared, tree.members(leaf), &mut cost);
    }
    let hits = best.finish();
    Exploration { hits, cost, tree: number, choice }
}

fn update<V, R: Router>(
    tree: &mut Tree<R>,
    memories: &Memories<V>,
    scorer: &mut Scorer,
    options: &CmtOptions,
    x: &SparseVec,
    exploration: &Exploration,
    rewards: &[f32],
) {
    let mut importance = 1.0;
    match exploration.choice {
        Choice::None | Choice::Leaf => {}
        Choice::Turn { node, stamp, right, importance: corrected } => {
            importance = corrected;
            let still_there = tree.nodes.get(node as usize).is_some_and(|node| node.stamp == stamp);
            if let (true, Some(&reward), Some(inner)) = (still_there, rewards.first(), tree.inner_mut(node)) {
                let (label, importance) = lesson(reward, right, balance(inner.counts), options.alpha);
                inner.router.update(x, label, importance);
            }
        }
    }
    if exploration.choice != Choice::None && options.learn_scorer {
        for (hit, &reward) in exploration.hits.iter().zip(rewards) {
            if let Some(slot) = memories.slot(hit.id) {
                scorer.learn(x, memories.vector(slot), reward, importance);
            }
        }
    }
    for _ in 0..options.reroutes {
        tree.reroute(memories, options, options.update_reroutes_train);
    }
}

/// The label and the importance that a router learns from the reward of a side that was drawn with
/// probability 1/2.
///
/// The reward over its probability, with the sign of the side, is an unbiased estimate of what
/// going right gains over going left; it is mixed with the balance as in an insertion. The size of
/// the result becomes its importance, within 0.01 and 100.
fn lesson(reward: f32, right: bool, balance: f64, alpha: f64) -> (f32, f32) {
    let gain = f64::from(reward) / 0.5 * if right { 1.0 } else { -1.0 };
    let aim = (1.0 - alpha) * gain + alpha * balance;
    (if aim >= 0.0 { 1.0 } else { -1.0 }, aim.abs().clamp(0.01, 100.0) as f32)
}
