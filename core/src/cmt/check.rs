//! Checks of the invariants of trees, and measures of their shape.

use super::memories::Memories;
use super::tree::{Kind, NONE, Node, Place, Tree};
use super::{Cmt, CmtOptions, Memory, Router, Slot};
use crate::ids::ItemId;

/// The shape of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeShape {
    /// Inner nodes.
    pub nodes: usize,
    /// Leaves.
    pub leaves: usize,
    /// Inner nodes on the longest path from the root to a leaf.
    pub depth: usize,
    /// Memories in the fullest leaf.
    pub fullest: usize,
    /// Features that the routers have weights for, summed over routers.
    pub weights: usize,
}

impl<V, R: Router> Cmt<V, R> {
    /// The shape of each tree. O(nodes).
    pub fn shapes(&self) -> Vec<TreeShape> {
        self.trees.iter().map(|tree| shape(tree)).collect()
    }

    /// The bytes that memories, nodes and routers take, without what values point to and what the
    /// allocator adds. O(memories + nodes).
    pub fn bytes(&self) -> usize {
        let memories = self.memories.slots.iter().flatten().map(|memory| memory.x.len() * size_of::<(u32, f32)>()).sum::<usize>();
        // Slot, place among the living, living slot, and the map from identifiers with its load of
        // at most 7/8.
        let each = size_of::<Option<Memory<V>>>() + 2 * size_of::<Slot>() + 2 * size_of::<(ItemId, Slot)>();
        let node = |node: &Node<R>| match &node.kind {
            Kind::Inner(inner) => inner.router.bytes(),
            Kind::Leaf(leaf) => leaf.members.capacity() * size_of::<Slot>(),
            Kind::Vacant => 0,
        };
        let tree = |tree: &Tree<R>| {
            let nodes: usize = tree.nodes.iter().map(node).sum();
            nodes + tree.nodes.capacity() * size_of::<Node<R>>() + tree.places.capacity() * size_of::<Place>()
        };
        memories + self.memories.slots.len() * each + self.trees.iter().map(tree).sum::<usize>()
    }

    /// Checks the invariants of the trees: each memory is in the leaf that the map says, counts are
    /// exact, no leaf but a root is empty, and none is over the cap but for memories that are all
    /// equal. O(memories * features).
    ///
    /// # Errors
    /// The first invariant that does not hold, in words; that is a bug of this module.
    pub fn check(&self) -> Result<(), String> {
        self.memories.check()?;
        self.trees.iter().try_for_each(|tree| check_tree(tree, &self.memories, &self.options))
    }
}

fn shape<R: Router>(tree: &Tree<R>) -> TreeShape {
    let mut shape = TreeShape::default();
    let mut open = vec![(tree.root, 0)];
    while let Some((node, depth)) = open.pop() {
        match &tree.node(node).kind {
            Kind::Inner(inner) => {
                shape.nodes += 1;
                shape.weights += inner.router.n_weights();
                open.extend(inner.sides.map(|side| (side, depth + 1)));
            }
            Kind::Leaf(leaf) => {
                shape.leaves += 1;
                shape.depth = shape.depth.max(depth);
                shape.fullest = shape.fullest.max(leaf.members.len());
            }
            Kind::Vacant => {}
        }
    }
    shape
}

/// Safe for trees with arbitrary links, as damaged files have them.
pub(super) fn check_tree<V, R>(tree: &Tree<R>, memories: &Memories<V>, options: &CmtOptions) -> Result<(), String> {
    let n = tree.nodes.len();
    let mut seen = vec![false; n];
    let mut order = Vec::new();
    let mut open = vec![(tree.root, NONE)];
    while let Some((number, parent)) = open.pop() {
        let Some(node) = tree.nodes.get(number as usize) else { return Err(format!("node {number} of {n}")) };
        if std::mem::replace(&mut seen[number as usize], true) {
            return Err(format!("node {number} has two parents"));
        }
        if node.parent != parent {
            return Err(format!("node {number} has the parent {}, not {parent}", node.parent));
        }
        order.push(number);
        match &node.kind {
            Kind::Inner(inner) => open.extend(inner.sides.map(|side| (side, number))),
            Kind::Leaf(_) => {}
            Kind::Vacant => return Err(format!("node {number} is not in use")),
        }
    }
    for &number in &tree.vacant {
        let is_vacant = tree.nodes.get(number as usize).is_some_and(|node| matches!(node.kind, Kind::Vacant));
        if !is_vacant || std::mem::replace(&mut seen[number as usize], true) {
            return Err(format!("node {number} cannot be taken"));
        }
    }
    if let Some(lost) = seen.iter().position(|seen| !seen) {
        return Err(format!("node {lost} is neither in the tree nor vacant"));
    }
    check_counts(tree, memories, options, &order)
}

/// `order`: the nodes in use, parents first.
fn check_counts<V, R>(tree: &Tree<R>, memories: &Memories<V>, options: &CmtOptions, order: &[u32]) -> Result<(), String> {
    let cap = options.leaf_cap.of(memories.peak);
    let mut sizes = vec![0u64; tree.nodes.len()];
    for &number in order.iter().rev() {
        sizes[number as usize] = match &tree.node(number).kind {
            Kind::Inner(inner) => {
                let below = inner.sides.map(|side| sizes[side as usize]);
                if below != inner.counts.map(u64::from) {
                    return Err(format!("node {number} counts {:?}, not {below:?}", inner.counts));
                }
                below[0] + below[1]
            }
            Kind::Leaf(leaf) => {
                for (at, &slot) in leaf.members.iter().enumerate() {
                    let place = Place { leaf: number, at: at as u32 };
                    if memories.get(slot).is_none() || tree.places.get(slot as usize) != Some(&place) {
                        return Err(format!("slot {slot} is not where the map says"));
                    }
                }
                if leaf.members.len() > cap && !memories.are_alike(&leaf.members) {
                    return Err(format!("leaf {number} has {} memories, more than {cap}", leaf.members.len()));
                }
                if leaf.members.is_empty() && number != tree.root {
                    return Err(format!("leaf {number} is empty"));
                }
                leaf.members.len() as u64
            }
            Kind::Vacant => 0,
        };
    }
    let all = sizes[tree.root as usize];
    if all == memories.len() as u64 { Ok(()) } else { Err(format!("{all} memories in the tree, not {}", memories.len())) }
}
