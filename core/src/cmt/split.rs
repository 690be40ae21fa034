//! Turning a leaf that is over the cap into a node with two leaves.

use super::insert::label;
use super::memories::Memories;
use super::tree::{Inner, Kind, Leaf, Tree, balance};
use super::{CmtOptions, Router, Slot, SplitRule};
use crate::sparse::SparseVec;

impl<R: Router> Tree<R> {
    /// Splits a leaf, and the leaves it becomes, for as long as they are over the cap. A leaf whose
    /// members are all equal stays whole: nothing could tell them apart. O(members * features * log
    /// members) a split.
    pub(super) fn split_while_full<V>(&mut self, memories: &Memories<V>, leaf: u32, options: &CmtOptions) {
        let cap = options.leaf_cap.of(memories.len());
        let mut full = vec![];
        let mut next = Some(leaf);
        while let Some(leaf) = next {
            if self.members(leaf).len() > cap && !self.is_alike(memories, leaf) {
                full.extend(self.split(memories, leaf, options));
            }
            next = full.pop();
        }
    }

    /// Whether all members of a leaf are equal. O(1) when that is known, O(features) for most
    /// leaves where they are not.
    fn is_alike<V>(&mut self, memories: &Memories<V>, leaf: u32) -> bool {
        let Kind::Leaf(Leaf { members, alike }) = &mut self.nodes[leaf as usize].kind else { return true };
        *alike = *alike || memories.are_alike(members);
        *alike
    }

    /// Splits a leaf whose members are not all equal. Returns the two new leaves, of which none is
    /// empty.
    ///
    /// With [`SplitRule::TrainedRouter`] each memory is counted where the router sends it while it
    /// learns, as in the paper, but ends up where the trained router sends it, so that memories are
    /// where routers have learned to find them. When a router leaves one side empty, as it may with
    /// few members, it is replaced by a threshold on a single feature.
    fn split<V>(&mut self, memories: &Memories<V>, leaf: u32, options: &CmtOptions) -> [u32; 2] {
        let members = std::mem::take(&mut self.leaf_mut(leaf).members);
        let mut router = R::new(options);
        let mut counts = [0; 2];
        let mut sides: Vec<usize> = Vec::with_capacity(members.len());
        for &slot in &members {
            let fullness = balance(counts);
            let margin = router.step(memories.vector(slot), |margin| (label(margin, fullness, options.alpha), 1.0));
            let side = usize::from(margin > 0.0);
            counts[side] += 1;
            sides.push(side);
        }
        if options.split == SplitRule::TrainedRouter {
            sides = sides_of(&router, memories, &members);
        }
        if sides.iter().all(|side| *side == sides[0])
            && let Some((feature, threshold, scale)) = best_cut(memories, &members)
        {
            router = R::step_at(options, feature, threshold, scale);
            sides = sides_of(&router, memories, &members);
        }
        let children = [self.new_leaf(leaf), self.new_leaf(leaf)];
        let mut counts = [0; 2];
        for (&slot, &side) in members.iter().zip(&sides) {
            counts[side] += 1;
            self.push(children[side], slot, |other| memories.vector(other) == memories.vector(slot));
        }
        self.node_mut(leaf).kind = Kind::Inner(Inner { sides: children, counts, router });
        children
    }
}

fn sides_of<R: Router, V>(router: &R, memories: &Memories<V>, members: &[Slot]) -> Vec<usize> {
    members.iter().map(|&slot| usize::from(router.predict(memories.vector(slot)) > 0.0)).collect()
}

/// The feature and the threshold that split these vectors most evenly, and the feature's largest
/// absolute value; of equals, the first feature and the lowest threshold. `None` if all are equal.
fn best_cut<V>(memories: &Memories<V>, members: &[Slot]) -> Option<(u32, f32, f32)> {
    let vectors: Vec<&SparseVec> = members.iter().map(|&slot| memories.vector(slot)).collect();
    let mut entries: Vec<(u32, f32)> = vectors.iter().flat_map(|x| x.entries()).copied().collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut best: Option<(usize, (u32, f32, f32))> = None;
    for column in entries.chunk_by(|a, b| a.0 == b.0) {
        let mut values: Vec<f32> = column.iter().map(|entry| entry.1).collect();
        let negative = values.partition_point(|value| *value < 0.0);
        values.splice(negative..negative, std::iter::repeat_n(0.0, vectors.len() - column.len()));
        let scale = f32::max(values[0].abs(), values[values.len() - 1].abs());
        for (i, pair) in values.windows(2).enumerate().filter(|(_, pair)| pair[0] < pair[1]) {
            let smaller = (i + 1).min(values.len() - i - 1);
            if best.is_none_or(|(even, _)| smaller > even) {
                best = Some((smaller, (column[0].0, pair[0], scale)));
            }
        }
    }
    best.map(|(_, cut)| cut)
}
