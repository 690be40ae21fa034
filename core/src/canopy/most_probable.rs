//! The list of a point's most probable clusters.

use super::components::{LANES, Scores, exponentials, largest};

/// Clusters of which one alone tells whether any may be in a list, at first.
const CHUNK: usize = 8;

/// The clusters of the largest scores at a point, with the room that finding them takes.
#[derive(Clone, Debug, Default)]
pub struct MostProbable {
    /// The listed clusters, in any order.
    pub listed: Vec<u32>,
    keys: Vec<u32>,
    least: Vec<u32>,
    order: Vec<u64>,
}

impl MostProbable {
    /// Lists the `most` of so many clusters, 1 or more, that have the largest of `scores`:
    /// logarithms of share times density, at most 0, in blocks of 16; what is behind the last
    /// cluster is minus infinity. Of equal ones the first are listed. Returns the share of the
    /// others, and leaves in `scores` what each is of the largest. O(clusters).
    pub fn list(&mut self, scores: &mut [Scores], clusters: usize, most: usize) -> f64 {
        let Self { listed, keys, least, order } = self;
        listed.clear();
        if most >= clusters {
            listed.extend(0..clusters as u32);
            return 0.0;
        }
        // The larger the score the smaller the key.
        let key = |score: &f32| {
            let bits = (score + 0.0).to_bits();
            let ascending = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
            !ascending
        };
        keys.clear();
        keys.extend(scores.as_flattened()[..clusters].iter().map(key));
        // As many keys as are wanted, one in each of so many chunks, are no larger than this.
        least.clear();
        least.extend(keys.chunks(CHUNK).map(|chunk| chunk.iter().fold(u32::MAX, |least, key| least.min(*key))));
        let bar = if most < least.len() { *least.select_nth_unstable(most - 1).1 } else { u32::MAX };
        // Of equals the first cluster.
        let reached = keys.iter().zip(0u64..).filter(|(key, _)| **key <= bar);
        order.clear();
        order.extend(reached.map(|(key, cluster)| u64::from(*key) << 32 | cluster));
        order.select_nth_unstable(most - 1);
        listed.extend(order[..most].iter().map(|key| *key as u32));
        let top = largest(scores.iter().copied());
        let total = exponentials(scores, top);
        let inside: f32 = listed.iter().map(|cluster| scores[*cluster as usize / LANES][*cluster as usize % LANES]).sum();
        f64::from(1.0 - inside / total).max(0.0)
    }
}
