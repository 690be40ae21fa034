//! What a tree looks like: whether it is one, its levels, and prototypes of its points.

use super::{CoverTree, NONE, TreePoints};
use crate::nearest::Distance;

/// How deep and how wide a tree is.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeStatistics {
    /// Nodes: points that differ.
    pub nodes: usize,
    /// Nodes on the longest way from the root to a leaf.
    pub depth: usize,
    /// The largest number of children of a node.
    pub degree: usize,
    /// The mean number of children of the nodes that have any.
    pub mean_degree: f64,
    /// The level of the root and how many nodes are on it, then on each level below.
    pub levels: (i32, Vec<usize>),
}

/// Some nodes as prototypes of all points.
#[derive(Clone, Debug, PartialEq)]
pub struct Surrogates {
    /// The nodes, in ascending order; each with all its ancestors.
    pub nodes: Vec<u32>,
    /// For each node of the tree its surrogate, as a place in `nodes`: the lowest ancestor among
    /// them, or itself.
    pub of: Vec<u32>,
}

impl<S: TreePoints, D: Distance<S::Point>> CoverTree<S, D> {
    /// All nodes with their depth, each before those below it.
    fn walk(&self) -> Vec<(u32, usize)> {
        let mut order = Vec::new();
        let mut open: Vec<(u32, usize)> = self.root().map(|root| (root, 1)).into_iter().collect();
        while let Some((node, depth)) = open.pop() {
            order.push((node, depth));
            open.extend(self.children(node).map(|child| (child, depth + 1)));
        }
        order
    }

    /// Depth, degrees and levels. O(n).
    pub fn statistics(&self) -> TreeStatistics {
        let nodes = self.walk();
        let degrees: Vec<usize> = nodes.iter().map(|(node, _)| self.children(*node).count()).filter(|degree| *degree > 0).collect();
        let depth = nodes.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        let mut levels = vec![0; depth];
        nodes.iter().for_each(|(_, depth)| levels[depth - 1] += 1);
        TreeStatistics {
            nodes: nodes.len(),
            depth,
            degree: degrees.iter().copied().max().unwrap_or(0),
            mean_degree: degrees.iter().sum::<usize>() as f64 / degrees.len().max(1) as f64,
            levels: (self.root().map_or(0, |root| self.level(root)), levels),
        }
    }

    /// What is wrong with the tree: its levels, covering, separation, radii, or points that are
    /// lost or there twice; of nearest ancestors, points that are nearer to a sibling of one. Empty
    /// for a sound tree. O(n (depth + degree)) distances, O(n depth degree) of nearest ancestors.
    pub fn check(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let nodes = self.walk();
        let ids: usize = nodes.iter().map(|(node, _)| self.ids(*node).count()).sum();
        if ids != self.places.len() {
            wrong.push(format!("{ids} points at nodes, and {} that can be found", self.places.len()));
        }
        for &(node, _) in &nodes {
            let own = &self.nodes[node as usize];
            for id in self.ids(node).filter(|id| self.places.get(id) != Some(&node)) {
                wrong.push(format!("point {} is not where it should be", id.0));
            }
            let children: Vec<u32> = self.children(node).collect();
            for (i, &child) in children.iter().enumerate() {
                let below = &self.nodes[child as usize];
                let distance = self.between(node, child);
                if below.parent != node || below.parent_distance != distance {
                    wrong.push(format!("node {child} does not know its parent"));
                }
                if below.level != own.level - 1 {
                    wrong.push(format!("node {child} of level {} is below one of level {}", below.level, own.level));
                }
                if distance > self.cover(own.level) {
                    wrong.push(format!("node {child} is {distance} from its parent, which covers {}", self.cover(own.level)));
                }
                for other in &children[..i] {
                    let apart = self.between(child, *other);
                    if apart <= self.cover(below.level) {
                        wrong.push(format!("siblings {child} and {other} are only {apart} apart"));
                    }
                }
            }
            if self.options.nearest_ancestors {
                for &child in &children {
                    for point in self.below(child) {
                        let to_own = self.between(child, point);
                        if let Some(nearer) = children.iter().find(|other| self.between(**other, point) < to_own) {
                            wrong.push(format!("node {point} is below {child}, and nearer to its sibling {nearer}"));
                        }
                    }
                }
            }
            let mut above = own.parent;
            while above != NONE {
                let (distance, radius) = (self.between(above, node), self.nodes[above as usize].radius);
                if distance > radius {
                    wrong.push(format!("node {node} is {distance} from {above}, beyond its radius {radius}"));
                }
                above = self.nodes[above as usize].parent;
            }
            let below = if own.end > 0 { (own.end - node - 1) as usize } else { 0 };
            if own.end > 0 && below != self.below(node).len() {
                wrong.push(format!("node {node} has other nodes below it than those that follow it"));
            }
        }
        wrong
    }

    /// At least `count` prototypes, or all nodes: every level from the root down that fits wholly,
    /// and of the next one those with the farthest point below them. Each point is within the
    /// radius of its surrogate. O(n log n).
    pub fn surrogates(&self, count: usize) -> Surrogates {
        let nodes = self.walk();
        let mut by_level: Vec<(i32, f64, u32)> =
            nodes.iter().map(|(node, _)| (-self.nodes[*node as usize].level, -self.nodes[*node as usize].radius, *node)).collect();
        by_level.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut chosen: Vec<u32> = by_level.into_iter().take(count.max(1)).map(|(_, _, node)| node).collect();
        chosen.sort_unstable();
        let mut of = vec![NONE; self.nodes.len()];
        chosen.iter().zip(0..).for_each(|(node, place)| of[*node as usize] = place);
        for (node, _) in nodes {
            if of[node as usize] == NONE {
                of[node as usize] = of[self.nodes[node as usize].parent as usize];
            }
        }
        Surrogates { nodes: chosen, of }
    }
}
