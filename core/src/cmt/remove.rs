//! Algorithms 6 and 7, REMOVE and REROUTE: a memory is removed, or moved to where the routers lead
//! it now.

use rand::RngExt;

use super::memories::Memories;
use super::tree::{Kind, NONE, Tree};
use super::{CmtOptions, Router, Slot};

impl<R> Tree<R> {
    /// Removes a memory from the tree, and its leaf if that becomes empty: the leaf's sibling then
    /// takes their parent's place, and the parent's router is dropped. O(depth).
    pub(super) fn remove(&mut self, slot: Slot) {
        let place = self.places[slot as usize];
        let leaf = self.leaf_mut(place.leaf);
        leaf.members.swap_remove(place.at as usize);
        let is_empty = leaf.members.is_empty();
        if let Some(&moved) = leaf.members.get(place.at as usize) {
            self.places[moved as usize].at = place.at;
        }
        let mut below = place.leaf;
        let mut node = self.node(below).parent;
        while node != NONE {
            let parent = self.node(node).parent;
            if let Some(inner) = self.inner_mut(node) {
                let side = usize::from(inner.sides[1] == below);
                inner.counts[side] -= 1;
            }
            (below, node) = (node, parent);
        }
        if is_empty {
            self.drop_leaf(place.leaf);
        }
    }

    fn drop_leaf(&mut self, leaf: u32) {
        let Some((parent, inner)) = self.above(leaf) else { return };
        let sibling = inner.sides[usize::from(inner.sides[0] == leaf)];
        let above = self.node(parent).parent;
        self.node_mut(sibling).parent = above;
        if above == NONE {
            self.root = sibling;
        } else if let Kind::Inner(inner) = &mut self.node_mut(above).kind {
            let side = usize::from(inner.sides[1] == parent);
            inner.sides[side] = sibling;
        }
        self.free(leaf);
        self.free(parent);
    }
}

impl<R: Router> Tree<R> {
    /// Removes each memory and inserts it again where the routers lead it now; no router learns.
    pub(super) fn settle<V>(&mut self, memories: &Memories<V>, options: &CmtOptions) {
        for &slot in &memories.live {
            self.remove(slot);
            self.insert(memories, slot, options, false);
        }
    }

    /// Removes a random memory from the tree and inserts it again; with `teach`, the routers on its
    /// path learn from it.
    pub(super) fn reroute<V>(&mut self, memories: &Memories<V>, options: &CmtOptions, teach: bool) {
        let live = &memories.live;
        if live.is_empty() {
            return;
        }
        let slot = live[self.rng.random_range(0..live.len() as u32) as usize];
        self.remove(slot);
        self.insert(memories, slot, options, teach);
    }
}
