//! Algorithms 2 and 3, INSERT and INSERTLEAF: a memory descends the tree and trains the routers on
//! its path.

use super::memories::Memories;
use super::tree::{Kind, Tree, balance};
use super::{CmtOptions, Router, Slot};

impl<R: Router> Tree<R> {
    /// Puts a memory into the tree; with `teach`, the routers that it passes learn, and the router
    /// as it is afterwards decides. The leaf it reaches is split when it is over the cap. O(depth *
    /// features), besides the split.
    pub(super) fn insert<V>(&mut self, memories: &Memories<V>, slot: Slot, options: &CmtOptions, teach: bool) {
        let x = memories.vector(slot);
        let mut node = self.root;
        while let Kind::Inner(inner) = &mut self.nodes[node as usize].kind {
            let margin = if teach {
                let balance = balance(inner.counts);
                inner.router.step(x, |margin| (label(margin, balance, options.alpha), 1.0))
            } else {
                inner.router.predict(x)
            };
            let side = usize::from(margin > 0.0);
            inner.counts[side] += 1;
            node = inner.sides[side];
        }
        self.push(node, slot, |other| memories.vector(other) == x);
        self.split_while_full(memories, node, options);
    }
}

/// The label that a router learns for a memory that is inserted: the sign of (1 - α) g(x) + α B.
pub(super) fn label(margin: f64, balance: f64, alpha: f64) -> f32 {
    if (1.0 - alpha) * margin + alpha * balance >= 0.0 { 1.0 } else { -1.0 }
}
