//! Exact Hamming search over blocks of descriptors: the nearest of all ([`Blocks::nearest`]) and of each class or image
//! ([`Blocks::nearest_of_each`]). The leaf kernel, which looks at positions too, builds on [`distances`] alone.
//!
//! Sixteen descriptors lie side by side, word by word, so that one instruction counts bits of several of them.

use multiversion::multiversion;

use crate::descriptor::Descriptor;
use crate::ids::{ItemId, Neighbor};

/// Descriptors in a block.
pub const LANES: usize = 16;

/// Word `w` of descriptor `i` is `block[w][i]`.
pub type Block = [[u64; LANES]; 4];

/// Descriptors laid out for searching; positions count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    blocks: Vec<Block>,
    len: usize,
}

impl FromIterator<Descriptor> for Blocks {
    fn from_iter<I: IntoIterator<Item = Descriptor>>(descriptors: I) -> Self {
        let mut all = Self::default();
        for descriptor in descriptors {
            let lane = all.len % LANES;
            if lane == 0 {
                all.blocks.push(Block::default());
            }
            if let Some(block) = all.blocks.last_mut() {
                for (words, word) in block.iter_mut().zip(descriptor.0) {
                    words[lane] = word;
                }
            }
            all.len += 1;
        }
        all
    }
}

impl Blocks {
    /// The number of descriptors.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The blocks; lanes of the last one beyond [`Blocks::len`] are zero.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The descriptor at `position`, which must be below [`Blocks::len`].
    pub fn get(&self, position: usize) -> Descriptor {
        let block = &self.blocks[position / LANES];
        Descriptor([0, 1, 2, 3].map(|word| block[word][position % LANES]))
    }

    /// The `k` nearest to `query`, nearest first, of equals the first. O(len + k log k).
    pub fn nearest(&self, query: &Descriptor, k: usize) -> Vec<Neighbor> {
        let mut distances = vec![0; self.blocks.len() * LANES];
        fill(&self.blocks, query, &mut distances);
        let mut all: Vec<(u32, u32)> = distances[..self.len].iter().zip(0..).map(|(&d, i)| (d, i)).collect();
        if k < all.len() {
            all.select_nth_unstable(k);
            all.truncate(k);
        }
        all.sort_unstable();
        all.into_iter().map(|(distance, i)| Neighbor { id: ItemId(i), distance: distance as f32 }).collect()
    }

    /// For each segment (`ends[s]` is one past its last position; a segment begins where the one before ends) the
    /// nearest to `query`, of equals the first; `None` for an empty segment. O(len).
    pub fn nearest_of_each(&self, query: &Descriptor, ends: &[usize]) -> Vec<Option<Neighbor>> {
        let mut distances = vec![0; self.blocks.len() * LANES];
        fill(&self.blocks, query, &mut distances);
        let mut start = 0;
        let best_of = |&end: &usize| {
            let segment = start..end.clamp(start, self.len);
            start = segment.end;
            let best = segment.map(|i| (distances[i], i as u32)).min();
            best.map(|(distance, i)| Neighbor { id: ItemId(i), distance: distance as f32 })
        };
        ends.iter().map(best_of).collect()
    }
}

/// The distances of `query` to the descriptors of a block.
#[inline(always)]
pub fn distances(block: &Block, query: &Descriptor) -> [u32; LANES] {
    let mut sums = [0u64; LANES];
    for (words, word) in block.iter().zip(query.0) {
        for (sum, candidate) in sums.iter_mut().zip(words) {
            *sum += u64::from((candidate ^ word).count_ones());
        }
    }
    sums.map(|sum| sum as u32)
}

#[multiversion(targets("x86_64+avx2+popcnt+bmi1+bmi2", "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2"))]
fn fill(blocks: &[Block], query: &Descriptor, out: &mut [u32]) {
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<LANES>().0) {
        *out = distances(block, query);
    }
}
