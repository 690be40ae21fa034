//! Exact search among binary descriptors by Hamming distance ([`HammingScan`]), over blocks of
//! descriptors. The leaf kernel of compositional kernel machines, which looks at positions too,
//! builds on [`distances`] alone.
//!
//! [`NearDescriptors`] finds those that differ in few bits without looking at all.
//!
//! Sixteen descriptors lie side by side, word by word, so that one instruction counts bits of
//! several of them.

mod near;
mod scan;

use multiversion::multiversion;

use crate::descriptor::Descriptor;
use crate::linalg::dots;
pub use near::NearDescriptors;
pub use scan::HammingScan;

/// Descriptors in a block.
pub const LANES: usize = dots::LANES;

/// Word `w` of descriptor `i` is `block[w][i]`.
pub type Block = [[u64; LANES]; 4];

/// Descriptors in the layout for searching; positions count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    blocks: Vec<Block>,
    len: usize,
}

impl FromIterator<Descriptor> for Blocks {
    fn from_iter<I: IntoIterator<Item = Descriptor>>(descriptors: I) -> Self {
        let mut all = Self::default();
        descriptors.into_iter().for_each(|descriptor| all.push(descriptor));
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

    /// Makes room for so many more descriptors and no others.
    pub fn reserve(&mut self, count: usize) {
        self.blocks.reserve_exact((self.len + count).div_ceil(LANES) - self.blocks.len());
    }

    /// Appends a descriptor.
    pub fn push(&mut self, descriptor: Descriptor) {
        if self.len.is_multiple_of(LANES) {
            self.blocks.push(Block::default());
        }
        self.len += 1;
        self.set(self.len - 1, descriptor);
    }

    /// Removes the descriptor at `position`, which must be below [`Blocks::len`]; the last one
    /// takes its place.
    pub fn swap_remove(&mut self, position: usize) {
        let last = self.len - 1;
        self.set(position, self.get(last));
        self.set(last, Descriptor::default());
        self.len = last;
        self.blocks.truncate(last.div_ceil(LANES));
    }

    fn set(&mut self, position: usize, descriptor: Descriptor) {
        let block = &mut self.blocks[position / LANES];
        for (words, word) in block.iter_mut().zip(descriptor.0) {
            words[position % LANES] = word;
        }
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

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2", "x86_64+avx2+popcnt+bmi1+bmi2"))]
fn fill(blocks: &[Block], query: &Descriptor, out: &mut [u32]) {
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<LANES>().0) {
        *out = distances(block, query);
    }
}
