//! The k nearest of a stream of candidates.

use std::cmp::Ordering;

use crate::ids::{ItemId, Neighbor};

/// Collects the at most k nearest candidates; of equal distances, those of lower identifiers. The
/// order in which candidates come does not matter.
///
/// Memory: 2 k candidates. O(1) for a candidate on average, and O(k log k) at the end.
#[derive(Clone, Debug)]
pub struct TopK {
    k: usize,
    kept: Vec<Neighbor>,
    /// The neighbour that a candidate must beat, once there are k.
    bar: Option<Neighbor>,
}

/// The nearer first; of equals, the lower identifier.
fn order(a: &Neighbor, b: &Neighbor) -> Ordering {
    a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id))
}

impl TopK {
    /// An empty collector of at most `k` neighbours.
    pub fn new(k: usize) -> Self {
        Self { k, kept: Vec::new(), bar: None }
    }

    /// The nearest of some candidates.
    pub fn of(k: usize, candidates: impl Iterator<Item = (ItemId, f64)>) -> Vec<Neighbor> {
        let mut nearest = Self::new(k);
        candidates.for_each(|(id, distance)| nearest.offer(id, distance));
        nearest.finish()
    }

    /// Whether a candidate may belong to the k nearest, given those offered so far. May be true for
    /// one that is dropped later, but is never false for one that belongs to the result.
    #[inline]
    pub fn admits(&self, id: ItemId, distance: f64) -> bool {
        match &self.bar {
            None => self.k > 0,
            // Nearly all candidates are too far: one comparison tells.
            Some(bar) if distance > bar.distance => false,
            Some(bar) => order(&Neighbor { id, distance }, bar).is_lt(),
        }
    }

    /// A distance beyond which no candidate belongs to the nearest any more; infinite as long as
    /// fewer than k are known.
    pub fn bound(&self) -> f64 {
        self.bar.as_ref().map_or(f64::INFINITY, |bar| bar.distance)
    }

    /// Adds a candidate if it may be among the nearest so far. Each identifier may be offered once
    /// only.
    #[inline]
    pub fn offer(&mut self, id: ItemId, distance: f64) {
        if !self.admits(id, distance) {
            return;
        }
        let candidate = Neighbor { id, distance };
        if self.k == 1 {
            self.bar = Some(candidate);
            return;
        }
        self.kept.push(candidate);
        let most = if self.bar.is_none() { self.k } else { self.k.saturating_mul(2) };
        if self.kept.len() >= most {
            self.kept.select_nth_unstable_by(self.k - 1, order);
            self.kept.truncate(self.k);
            self.bar = self.kept.last().copied();
        }
    }

    /// Adds what another collector has kept of other candidates.
    pub fn join(&mut self, other: Self) {
        other.finish().into_iter().for_each(|neighbor| self.offer(neighbor.id, neighbor.distance));
    }

    /// The at most k nearest candidates, nearest first.
    pub fn finish(mut self) -> Vec<Neighbor> {
        if self.k == 1 {
            return self.bar.into_iter().collect();
        }
        self.kept.sort_unstable_by(order);
        self.kept.truncate(self.k);
        self.kept
    }
}
