//! Things that are joined by pairs, also by way of others, and the first of those that are.

use std::collections::BTreeMap;

/// Things that are joined, each led to an earlier one that it is joined with; the first of them,
/// and a thing that is joined with none, to none.
#[derive(Clone, Debug)]
pub struct Joined<K>(BTreeMap<K, K>);

impl<K: Copy + Ord> Joined<K> {
    /// Joins the two of each pair. O(pairs * log^2(pairs)).
    pub fn of(pairs: impl IntoIterator<Item = (K, K)>) -> Self {
        let mut joined = Self(BTreeMap::new());
        for (one, other) in pairs {
            joined.join(one, other);
        }
        joined
    }

    /// Joins two things, and all that are joined with either. Whether they were not.
    /// O(log^2(things)) over many calls.
    pub fn join(&mut self, one: K, other: K) -> bool {
        let (one, other) = (self.first(one), self.first(other));
        if one == other {
            return false;
        }
        self.0.insert(one.max(other), one.min(other));
        true
    }

    /// The first of those that are joined with one, which stands for all of these. It leads there
    /// more directly afterwards. O(log^2(things)) over many calls.
    pub fn first(&mut self, mut at: K) -> K {
        while let Some(next) = self.0.get(&at).copied() {
            if let Some(earlier) = self.0.get(&next).copied() {
                self.0.insert(at, earlier);
            }
            at = next;
        }
        at
    }
}
