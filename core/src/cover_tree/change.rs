//! Points that come and go.

use super::build::level_of;
use super::{CoverTree, NONE, TreeNode, TreePoints};
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::{Distance, Dynamic, taken};
use crate::progress::Progress;

/// Changes after which a tree is built anew, at least.
const CHANGES: usize = 256;

impl<S: TreePoints, D: Distance<S::Point>> CoverTree<S, D> {
    /// The identifier and point of every node, those of equal points one after another.
    fn all(&self) -> (Vec<u32>, Vec<ItemId>) {
        self.places.iter().map(|(id, node)| (*node, *id)).unzip()
    }

    /// Builds the tree anew.
    fn rebuild(&mut self) {
        let (nodes, ids) = self.all();
        let points = self.points.ordered(&nodes);
        // Nothing cancels it.
        let _ = self.build(points, &ids, &Progress::default());
    }

    /// Counts a change, and builds the tree anew when there were as many as half of the points.
    fn changed(&mut self) {
        self.changes += 1;
        if self.changes > CHANGES.max(self.places.len() / 2) {
            self.rebuild();
        }
    }

    /// A node for a point that is not in the tree yet.
    fn node(&mut self, id: ItemId, point: &S::Point) -> u32 {
        let fresh =
            TreeNode { id, level: 0, parent: NONE, first_child: NONE, next_sibling: NONE, end: 0, radius: 0.0, parent_distance: 0.0 };
        let number = self.free.pop().unwrap_or(self.nodes.len() as u32);
        if number as usize == self.nodes.len() {
            self.nodes.push(fresh);
        } else {
            self.nodes[number as usize] = fresh;
        }
        self.points.set(number as usize, point);
        number
    }

    /// Hangs a node without children below the root, which covers it, or adds its identifiers to
    /// those of an equal point; then the node is free.
    fn place(&mut self, node: u32) {
        let mut above = self.root;
        let mut distance = self.between(above, node);
        loop {
            if distance == 0.0 {
                self.join(above, node);
                return;
            }
            let to = &mut self.nodes[above as usize];
            to.radius = to.radius.max(distance);
            to.end = 0;
            let level = to.level;
            let nearest = self
                .children(above)
                .map(|child| (self.between(child, node), child))
                .fold(None, |best: Option<(f64, u32)>, at| if best.is_none_or(|best| at.0 < best.0) { Some(at) } else { best });
            match nearest {
                Some((near, child)) if near <= self.cover(level - 1) => (above, distance) = (child, near),
                _ => {
                    self.hang(node, above, distance);
                    if self.options.nearest_ancestors {
                        self.draw(node, above);
                    }
                    return;
                }
            }
        }
    }

    fn hang(&mut self, node: u32, above: u32, distance: f64) {
        let (level, first) = (self.nodes[above as usize].level - 1, self.nodes[above as usize].first_child);
        self.nodes[above as usize].first_child = node;
        let own = &mut self.nodes[node as usize];
        (own.parent, own.next_sibling, own.parent_distance, own.level) = (above, first, distance, level);
    }

    /// Makes the identifiers of `node` further ones of `kept`.
    fn join(&mut self, kept: u32, node: u32) {
        let mut ids: Vec<ItemId> = self.ids(node).collect();
        self.copies.remove(&node);
        self.places.extend(ids.iter().map(|id| (*id, kept)));
        let copies = self.copies.entry(kept).or_default();
        copies.append(&mut ids);
        copies.sort_unstable();
        self.free.push(node);
    }

    /// Takes a node off its parent, and forgets that the points below its ancestors lie together.
    fn detach(&mut self, node: u32) {
        let parent = self.nodes[node as usize].parent;
        let next = self.nodes[node as usize].next_sibling;
        let before = self.children(parent).find(|child| self.nodes[*child as usize].next_sibling == node);
        match before {
            Some(before) => self.nodes[before as usize].next_sibling = next,
            None => self.nodes[parent as usize].first_child = next,
        }
        let mut above = parent;
        while above != NONE {
            self.nodes[above as usize].end = 0;
            above = self.nodes[above as usize].parent;
        }
    }

    /// All nodes below `node`, each before those below it.
    pub(super) fn below(&self, node: u32) -> Vec<u32> {
        let mut found: Vec<u32> = self.children(node).collect();
        let mut at = 0;
        while let Some(next) = found.get(at).copied() {
            found.extend(self.children(next));
            at += 1;
        }
        found
    }

    /// Makes nodes without children of some, and places them again, in that order.
    fn place_again(&mut self, nodes: Vec<u32>) {
        for &node in &nodes {
            let own = &mut self.nodes[node as usize];
            (own.first_child, own.next_sibling, own.end, own.radius) = (NONE, NONE, 0, 0.0);
        }
        nodes.into_iter().for_each(|node| self.place(node));
    }

    /// Places again what is below siblings of a new child and nearer to it than to them
    /// (Izbicki and Shelton, section 3, with single points in place of subtrees).
    fn draw(&mut self, new: u32, above: u32) {
        let mut nearer = Vec::new();
        let siblings: Vec<u32> = self.children(above).filter(|child| *child != new).collect();
        for sibling in siblings {
            let reach = self.nodes[sibling as usize].radius;
            let apart = self.between(sibling, new);
            // A point nearer to the new one is at least half as far from its own as they are apart.
            if reach < apart * 0.5 * (1.0 - 1e-6) {
                continue;
            }
            let mut roots: Vec<u32> = Vec::new();
            let mut open: Vec<u32> = self.children(sibling).collect();
            while let Some(node) = open.pop() {
                if self.between(node, new) < self.between(node, sibling)
                    && self.between(node, new) <= self.cover(self.nodes[new as usize].level)
                {
                    roots.push(node);
                } else {
                    open.extend(self.children(node));
                }
            }
            for root in roots {
                nearer.push(root);
                nearer.extend(self.below(root));
                self.detach(root);
            }
        }
        self.place_again(nearer);
    }
}

impl<S: TreePoints, D: Distance<S::Point>> Dynamic for CoverTree<S, D> {
    /// O(c^O(1) log n) distances, and from time to time the tree is built anew: when as much has
    /// changed as half of the points, or when the point lies beyond all that the root covers.
    fn insert(&mut self, id: ItemId, point: &S::Point) -> Result<()> {
        self.points.check(point)?;
        self.distance.check(point, self.root().map(|root| self.point(root)))?;
        if self.places.contains_key(&id) {
            return Err(taken(id));
        }
        let node = self.node(id, point);
        self.places.insert(id, node);
        let Some(root) = self.root() else {
            self.root = node;
            return Ok(());
        };
        let distance = self.between(root, node);
        if distance > 0.0 && self.nodes[root as usize].first_child == NONE {
            self.nodes[root as usize].level = level_of(distance, self.options.base);
        } else if distance > self.cover(self.nodes[root as usize].level) {
            self.rebuild();
            return Ok(());
        }
        self.place(node);
        self.changed();
        Ok(())
    }

    /// O(points below it) insertions; for the root, the tree is built anew.
    fn remove(&mut self, id: ItemId) -> bool {
        let Some(node) = self.places.remove(&id) else { return false };
        if let Some(copies) = self.copies.get_mut(&node) {
            if self.nodes[node as usize].id == id {
                self.nodes[node as usize].id = copies.remove(0);
            } else {
                copies.retain(|other| *other != id);
            }
            if copies.is_empty() {
                self.copies.remove(&node);
            }
            return true;
        }
        if self.places.is_empty() || node == self.root {
            self.rebuild();
            return true;
        }
        let below = self.below(node);
        self.detach(node);
        self.free.push(node);
        self.place_again(below);
        self.changed();
        true
    }
}
