//! Exact draws of a cluster by rejection on a tree of clusters (Zaheer et al. 2017, section 3.2.2
//! and appendix B).
//!
//! The outcomes are the nodes of a tree. Of each subtree the sum of shares is known, and a bound
//! that no likelihood in it exceeds; the bound of a node is at most that of its parent. A round
//! goes down from a subtree of the frontier: at each node it ends with that outcome, goes on to a
//! child, or leaves without an outcome. Each outcome is returned with a probability in proportion
//! to share times likelihood, whatever the bounds are; the tighter they are, the fewer rounds fail.
//!
//! Deviations: the paper's bound is that of an exponential family by the distance of natural
//! parameters, printed with a radius that is too small under its own covering rule; here any bound
//! will do that is valid and does not grow downwards. After a round that failed, the subtree that
//! it began with is parted, so at most as many rounds fail as there are outcomes: the law of each
//! round is the posterior whatever the frontier is, as it depends on the past alone.

use rand::RngExt as _;

use crate::random::Rng;

/// Outcomes in a tree, with their shares.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeTree {
    parents: Vec<Option<u32>>,
    children: Vec<Vec<u32>>,
    shares: Vec<f64>,
    /// Of each subtree the sum of shares.
    below: Vec<f64>,
}

/// Likelihoods of outcomes, and bounds of them.
pub trait Likelihoods {
    /// The logarithm of the likelihood of an outcome.
    fn likelihood(&self, outcome: u32) -> f64;

    /// What no logarithm of a likelihood in the outcome's subtree exceeds.
    fn bound(&self, outcome: u32) -> f64;
}

impl OutcomeTree {
    /// The tree in which each outcome, but for the first, has a parent before it.
    pub fn new(parents: Vec<Option<u32>>, shares: Vec<f64>) -> Self {
        let mut children = vec![Vec::new(); parents.len()];
        let mut below = shares.clone();
        for (node, parent) in parents.iter().enumerate().rev() {
            if let Some(parent) = parent {
                below[*parent as usize] += below[node];
            }
        }
        for (node, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent as usize].push(node as u32);
            }
        }
        Self { parents, children, shares, below }
    }

    /// The number of outcomes.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there are no outcomes.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The parent of each outcome.
    pub fn parents(&self) -> &[Option<u32>] {
        &self.parents
    }
}

/// Outcomes by themselves, or all of a subtree.
#[derive(Clone, Copy, Debug)]
struct FrontierEntry {
    node: u32,
    /// Whether it stands for all of the node's subtree.
    is_subtree: bool,
    /// The logarithm of share times likelihood, or of the bound of that.
    mass: f64,
    /// The bound of the likelihoods in the subtree.
    bound: f64,
}

/// A partition of the outcomes into single ones, whose likelihoods are known, and subtrees with
/// bounds: what draws for one point are made from.
pub struct Frontier<'a, L> {
    tree: &'a OutcomeTree,
    likelihoods: L,
    entries: Vec<FrontierEntry>,
    /// Likelihoods that were computed.
    evaluated: usize,
}

impl<'a, L: Likelihoods> Frontier<'a, L> {
    /// All of the tree, in one. The tree is not empty.
    pub fn new(tree: &'a OutcomeTree, likelihoods: L) -> Self {
        let mut frontier = Self { tree, likelihoods, entries: Vec::new(), evaluated: 0 };
        let root = frontier.subtree(0, f64::INFINITY);
        frontier.entries.push(root);
        frontier
    }

    fn subtree(&self, node: u32, above: f64) -> FrontierEntry {
        let bound = self.likelihoods.bound(node).min(above);
        FrontierEntry { node, is_subtree: true, mass: self.tree.below[node as usize].ln() + bound, bound }
    }

    fn single(&mut self, node: u32) -> FrontierEntry {
        self.evaluated += 1;
        let mass = self.tree.shares[node as usize].ln() + self.likelihoods.likelihood(node);
        FrontierEntry { node, is_subtree: false, mass, bound: f64::NEG_INFINITY }
    }

    /// Parts a subtree into its top and the subtrees below that.
    fn part(&mut self, at: usize) {
        let FrontierEntry { node, bound, .. } = self.entries[at];
        self.entries[at] = self.single(node);
        for child in &self.tree.children[node as usize] {
            let entry = self.subtree(*child, bound);
            self.entries.push(entry);
        }
    }

    /// The same partition for other likelihoods, those of a point nearby.
    pub fn for_another<M: Likelihoods>(&self, likelihoods: M) -> Frontier<'a, M> {
        let mut other = Frontier { tree: self.tree, likelihoods, entries: Vec::with_capacity(self.entries.len()), evaluated: 0 };
        for entry in &self.entries {
            let entry = if entry.is_subtree { other.subtree(entry.node, f64::INFINITY) } else { other.single(entry.node) };
            other.entries.push(entry);
        }
        other
    }

    /// The logarithms of the summed masses of single outcomes, and of subtrees.
    fn masses(&self) -> (f64, f64) {
        let most = self.entries.iter().fold(f64::NEG_INFINITY, |most, entry| most.max(entry.mass));
        if most == f64::NEG_INFINITY {
            return (most, most);
        }
        let sum = |is_subtree| {
            self.entries.iter().filter(|entry| entry.is_subtree == is_subtree).map(|entry| (entry.mass - most).exp()).sum::<f64>()
        };
        (most + sum(false).ln(), most + sum(true).ln())
    }

    /// Parts the subtree of largest mass, again and again, until subtrees have at most `share` of
    /// what single outcomes have, or `most` likelihoods are known. Returns a proven bound of the
    /// share that all outcomes other than the single ones have together in the posterior.
    pub fn refine(&mut self, share: f64, most: usize) -> f64 {
        loop {
            let (single, rest) = self.masses();
            let left = if rest == f64::NEG_INFINITY { 0.0 } else { 1.0 / (1.0 + (single - rest).exp()) };
            if left <= share / (1.0 + share) || self.evaluated >= most {
                return left;
            }
            let subtrees = self.entries.iter().enumerate().filter(|(_, entry)| entry.is_subtree);
            let largest = subtrees.fold(None, |best: Option<(usize, f64)>, (at, entry)| match best {
                Some((_, mass)) if mass >= entry.mass => best,
                _ => Some((at, entry.mass)),
            });
            match largest {
                Some((at, _)) => self.part(at),
                None => return 0.0,
            }
        }
    }

    /// The single outcomes with the logarithms of share times likelihood.
    pub fn singles(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.entries.iter().filter(|entry| !entry.is_subtree).map(|entry| (entry.node, entry.mass))
    }

    /// Likelihoods that were computed so far, those of descents included.
    pub fn evaluated(&self) -> usize {
        self.evaluated
    }

    /// Draws an outcome from the posterior, and the number of rounds that failed before.
    /// Likelihoods must not all be 0.
    pub fn draw(&mut self, rng: &mut Rng) -> (u32, usize) {
        let mut failed = 0;
        loop {
            let most = self.entries.iter().fold(f64::NEG_INFINITY, |most, entry| most.max(entry.mass));
            let total: f64 = self.entries.iter().map(|entry| (entry.mass - most).exp()).sum();
            let mut left = rng.random::<f64>() * total;
            let at = self.entries.iter().position(|entry| {
                left -= (entry.mass - most).exp();
                left < 0.0
            });
            let Some(at) = at else { continue };
            let entry = self.entries[at];
            if !entry.is_subtree {
                return (entry.node, failed);
            }
            if let Some(outcome) = self.descend(entry, rng) {
                return (outcome, failed);
            }
            failed += 1;
            self.part(at);
        }
    }

    /// One round from the top of a subtree: an outcome, or none.
    fn descend(&mut self, from: FrontierEntry, rng: &mut Rng) -> Option<u32> {
        let mut at = from;
        loop {
            // All in units of the mass of this subtree.
            let mut left = rng.random::<f64>();
            left -= (self.single(at.node).mass - at.mass).exp();
            if left < 0.0 {
                return Some(at.node);
            }
            let next = self.tree.children[at.node as usize].iter().map(|child| self.subtree(*child, at.bound)).find(|child| {
                left -= (child.mass - at.mass).exp();
                left < 0.0
            });
            at = next?;
        }
    }

    /// The probability that one round returns each outcome, `(outcomes)`, by following every way
    /// that a round can go. They add up to less than 1 where it may fail. O(outcomes).
    pub fn law(&mut self) -> Vec<f64> {
        let (single, rest) = self.masses();
        let most = single.max(rest);
        let total = most + ((single - most).exp() + (rest - most).exp()).ln();
        let mut law = vec![0.0; self.tree.len()];
        let mut open: Vec<(FrontierEntry, f64)> = self.entries.iter().map(|entry| (*entry, (entry.mass - total).exp())).collect();
        while let Some((entry, reached)) = open.pop() {
            if !entry.is_subtree {
                law[entry.node as usize] += reached;
                continue;
            }
            let accepted = (self.single(entry.node).mass - entry.mass).exp();
            law[entry.node as usize] += reached * accepted;
            for child in &self.tree.children[entry.node as usize] {
                let child = self.subtree(*child, entry.bound);
                let conditional = (child.mass - entry.mass).exp() / (1.0 - accepted);
                open.push((child, reached * (1.0 - accepted) * conditional));
            }
        }
        law
    }
}
