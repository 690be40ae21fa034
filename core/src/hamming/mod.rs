//! Exact search among binary descriptors by Hamming distance ([`HammingScan`]), over blocks of
//! descriptors. The leaf kernel of compositional kernel machines, which looks at positions too,
//! builds on [`portable`] and its likes alone.
//!
//! [`NearDescriptors`] finds those that differ in few bits without looking at all.
//!
//! Sixteen descriptors lie side by side, word by word, so that one instruction counts bits of
//! several of them.

mod near;
mod scan;

use multiversion::multiversion;
use multiversion::target::match_target;

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

/// The distances of `query` to the descriptors of a block, on any processor.
#[inline(always)]
pub fn portable(block: &Block, query: &Descriptor) -> [u32; LANES] {
    let mut distances = [0; LANES];
    for (words, word) in block.iter().zip(query.0) {
        for (distance, candidate) in distances.iter_mut().zip(words) {
            *distance += (candidate ^ word).count_ones();
        }
    }
    distances
}

/// Distances in bits as floats; `map` would be a call in tests.
#[inline(always)]
pub(crate) fn floats(distances: [u32; LANES]) -> [f32; LANES] {
    let mut floats = [0.0; LANES];
    for (float, distance) in floats.iter_mut().zip(distances) {
        *float = distance as i32 as f32;
    }
    floats
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{avx2, vpopcnt, vpopcnt_floats};

/// The compiler counts bits of one word after another, so what counts those of several at a time is
/// called by name, through safe functions.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use bytemuck::cast;

    use super::{Block, LANES};
    use crate::descriptor::Descriptor;

    /// As [`super::portable`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(crate) fn vpopcnt(block: &Block, query: &Descriptor) -> [u32; LANES] {
        cast(counts(block, query))
    }

    /// As [`vpopcnt`], as floats.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(crate) fn vpopcnt_floats(block: &Block, query: &Descriptor) -> [f32; LANES] {
        cast(_mm512_cvtepi32_ps(counts(block, query)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn counts(block: &Block, query: &Descriptor) -> __m512i {
        let mut sums = [_mm512_setzero_si512(); 2];
        for (words, word) in block.iter().zip(query.0) {
            let words: [__m512i; 2] = cast(*words);
            let word = _mm512_set1_epi64(word as i64);
            for half in 0..2 {
                sums[half] = _mm512_add_epi64(sums[half], _mm512_popcnt_epi64(_mm512_xor_si512(words[half], word)));
            }
        }
        let [first, second] = sums.map(|sums| _mm512_cvtepi64_epi32(sums));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second)
    }

    /// Bits that are set in 0 to 15.
    const SET: [i8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

    /// As [`super::portable`]: four bits at a time are looked up in a table (W. Mula, N. Kurz and
    /// D. Lemire, *Faster Population Counts Using AVX2 Instructions*, section 3.1).
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2(block: &Block, query: &Descriptor) -> [u32; LANES] {
        let set: __m256i = cast([SET; 2]);
        let low = _mm256_set1_epi8(15);
        let mut sums = [_mm256_setzero_si256(); LANES / 4];
        for (words, word) in block.iter().zip(query.0) {
            let words: [__m256i; LANES / 4] = cast(*words);
            let word = _mm256_set1_epi64x(word as i64);
            for part in 0..LANES / 4 {
                let differing = _mm256_xor_si256(words[part], word);
                let lower = _mm256_shuffle_epi8(set, _mm256_and_si256(differing, low));
                let upper = _mm256_shuffle_epi8(set, _mm256_and_si256(_mm256_srli_epi16(differing, 4), low));
                sums[part] = _mm256_add_epi8(sums[part], _mm256_add_epi8(lower, upper));
            }
        }
        let mut distances = [0; LANES];
        for part in 0..LANES / 4 {
            let sums: [u64; 4] = cast(_mm256_sad_epu8(sums[part], _mm256_setzero_si256()));
            for lane in 0..4 {
                distances[part * 4 + lane] = sums[lane] as u32;
            }
        }
        distances
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2", "x86_64+avx2+popcnt+bmi1+bmi2"))]
fn fill(blocks: &[Block], query: &Descriptor, out: &mut [u32]) {
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<LANES>().0) {
        *out = match_target! {
            "x86_64+avx512f+avx512vpopcntdq" => vpopcnt(block, query),
            "x86_64+avx2" => avx2(block, query),
            _ => portable(block, query),
        };
    }
}
