//! The exact nearest neighbour among sparse vectors, by looking at all of them: the yardstick of memory trees.

use crate::sparse::SparseVec;

/// What nearest means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The least Euclidean distance.
    Euclid,
    /// The largest cosine; 0 when one of the two is the zero vector.
    Cosine,
}

/// A query spread out over all features, so that each feature of a vector is one look. 4 bytes for each feature that queries may
/// have, up to the largest.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    query: Vec<f32>,
}

impl Scan {
    /// The at most `k` nearest of `vectors` by position, nearest first and of equals the lower position, and the features gone
    /// through. O(features of all vectors).
    pub fn nearest(&mut self, vectors: &[SparseVec], x: &SparseVec, k: usize, measure: Measure) -> (Vec<usize>, u64) {
        let largest = |x: &SparseVec| x.entries().last().map_or(0, |entry| entry.0 as usize + 1);
        if self.query.len() < largest(x) {
            self.query.resize(largest(x), 0.0);
        }
        for &(index, value) in x.entries() {
            self.query[index as usize] = value;
        }
        let mut best: Vec<(f64, usize)> = Vec::with_capacity(k + 1);
        let mut work = 0;
        for (i, z) in vectors.iter().enumerate() {
            work += z.len() as u64;
            let term = |&(index, value): &(u32, f32)| self.query.get(index as usize).copied().unwrap_or(0.0) * value;
            let dot = f64::from(z.entries().iter().map(term).sum::<f32>());
            let near = match measure {
                Measure::Euclid => 2.0 * dot - z.square(),
                Measure::Cosine if dot == 0.0 => 0.0,
                Measure::Cosine => dot / z.square().sqrt(),
            };
            if best.len() < k || best.last().is_some_and(|worst| near > worst.0) {
                let at = best.partition_point(|other| other.0 >= near);
                best.insert(at, (near, i));
                best.truncate(k);
            }
        }
        for &(index, _) in x.entries() {
            self.query[index as usize] = 0.0;
        }
        (best.into_iter().map(|(_, i)| i).collect(), work)
    }
}
