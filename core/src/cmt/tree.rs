//! One tree: nodes that refer to each other by number, and for each memory the leaf that has it.

use super::{CmtOptions, Router, Slot};
use crate::random::{self, Rng};
use crate::sparse::SparseVec;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A binary tree over memories' slots. Memory: O(memories) nodes.
#[derive(Clone, Debug)]
pub(super) struct Tree<R> {
    pub(super) nodes: Vec<Node<R>>,
    /// Numbers of nodes that are not in use; the last is taken next.
    pub(super) vacant: Vec<u32>,
    pub(super) root: u32,
    /// By slot; for slots without a memory the value means nothing.
    pub(super) places: Vec<Place>,
    pub(super) rng: Rng,
}

#[derive(Clone, Debug)]
pub(super) struct Node<R> {
    pub(super) parent: u32,
    /// How often this number was given back: tells a node from a later one of the same number.
    pub(super) stamp: u32,
    pub(super) kind: Kind<R>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind<R> {
    Leaf(Leaf),
    Inner(Inner<R>),
    Vacant,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Leaf {
    pub(super) members: Vec<Slot>,
    /// Whether all members' vectors are known to be equal. When it is false they may be equal all
    /// the same.
    pub(super) alike: bool,
}

/// Two sides, the left one first.
#[derive(Clone, Debug)]
pub(super) struct Inner<R> {
    pub(super) sides: [u32; 2],
    /// The memories on each side.
    pub(super) counts: [u32; 2],
    pub(super) router: R,
}

/// Where a memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) leaf: u32,
    /// Which of the leaf's members.
    pub(super) at: u32,
}

/// The logarithm of how much fuller the left side is: the term of Algorithm 2 that keeps a tree
/// balanced. 0 for equal sides.
pub(super) fn balance(counts: [u32; 2]) -> f64 {
    ((f64::from(counts[0]) + 1.0) / (f64::from(counts[1]) + 1.0)).ln()
}

impl<R: Router> Tree<R> {
    /// Tree number `index`, with an empty leaf.
    pub(super) fn new(options: &CmtOptions, index: u32) -> Self {
        let root = Node { parent: NONE, stamp: 0, kind: Kind::Leaf(Leaf::default()) };
        let rng = random::stream(options.seed, u64::from(index));
        Self { nodes: vec![root], vacant: Vec::new(), root: 0, places: Vec::new(), rng }
    }
}

impl<R> Tree<R> {
    pub(super) fn node(&self, node: u32) -> &Node<R> {
        &self.nodes[node as usize]
    }

    pub(super) fn node_mut(&mut self, node: u32) -> &mut Node<R> {
        &mut self.nodes[node as usize]
    }

    pub(super) fn inner(&self, node: u32) -> Option<&Inner<R>> {
        match &self.node(node).kind {
            Kind::Inner(inner) => Some(inner),
            _ => None,
        }
    }

    pub(super) fn inner_mut(&mut self, node: u32) -> Option<&mut Inner<R>> {
        match &mut self.node_mut(node).kind {
            Kind::Inner(inner) => Some(inner),
            _ => None,
        }
    }

    /// The node above another.
    pub(super) fn above(&self, node: u32) -> Option<(u32, &Inner<R>)> {
        let parent = self.node(node).parent;
        Some((parent, if parent == NONE { return None } else { self.inner(parent)? }))
    }

    /// The members of a leaf; nothing for an inner node.
    pub(super) fn members(&self, leaf: u32) -> &[Slot] {
        match &self.node(leaf).kind {
            Kind::Leaf(leaf) => &leaf.members,
            _ => &[],
        }
    }

    /// The leaf at a number, which becomes one if it is none.
    pub(super) fn leaf_mut(&mut self, node: u32) -> &mut Leaf {
        let kind = &mut self.node_mut(node).kind;
        if !matches!(kind, Kind::Leaf(_)) {
            *kind = Kind::Leaf(Leaf::default());
        }
        match kind {
            Kind::Leaf(leaf) => leaf,
            _ => unreachable!("it was made a leaf"),
        }
    }

    /// An empty leaf below `parent`.
    pub(super) fn new_leaf(&mut self, parent: u32) -> u32 {
        let kind = Kind::Leaf(Leaf::default());
        if let Some(number) = self.vacant.pop() {
            let node = self.node_mut(number);
            (node.parent, node.kind) = (parent, kind);
            return number;
        }
        self.nodes.push(Node { parent, stamp: 0, kind });
        self.nodes.len() as u32 - 1
    }

    /// Frees a node, so that its number is used again.
    pub(super) fn free(&mut self, node: u32) {
        let freed = self.node_mut(node);
        freed.stamp = freed.stamp.wrapping_add(1);
        freed.kind = Kind::Vacant;
        self.vacant.push(node);
    }

    /// Puts a memory into a leaf. `alike` tells whether its vector equals that of a member; it is
    /// called only when needed.
    pub(super) fn push(&mut self, leaf: u32, slot: Slot, alike: impl FnOnce(Slot) -> bool) {
        let members = self.leaf_mut(leaf);
        members.alike = match members.members.first() {
            None => true,
            Some(&first) => members.alike && alike(first),
        };
        let at = members.members.len() as u32;
        members.members.push(slot);
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, Place { leaf: NONE, at: 0 });
        }
        self.places[slot as usize] = Place { leaf, at };
    }
}

impl<R: Router> Tree<R> {
    /// The leaf below `node` that routers lead `x` to. O(depth * features of x).
    pub(super) fn route(&self, node: u32, x: &SparseVec, mut passed: impl FnMut(u32, &Inner<R>, f64)) -> u32 {
        let mut node = node;
        while let Some(inner) = self.inner(node) {
            let margin = inner.router.predict(x);
            passed(node, inner, margin);
            node = inner.sides[usize::from(margin > 0.0)];
        }
        node
    }
}
