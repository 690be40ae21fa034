//! Outlines of training images whose elements are on a shelf: what a machine must know of an image
//! to hold it without its elements.

use super::element::is_size;
use super::shortlist::{SIZE, Sketch};

/// The outline of a training image.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Width and height of the image in its own pixels.
    pub size: (u32, u32),
    /// The bytes that its elements take in memory.
    pub bytes: u32,
    /// How many there are of each kind.
    pub counts: Box<[u32]>,
    pub(super) sketch: Sketch,
}

/// The outlines of a machine's images, by the keys of their elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlines {
    kinds: usize,
    /// One record after the other, by ascending key: key, width, height, bytes, counts, sketch.
    bytes: Vec<u8>,
}

impl Outlines {
    fn record(kinds: usize) -> usize {
        16 + 12 + 4 * kinds + 4 * SIZE
    }

    /// The outlines that [`Outlines::into_bytes`] gave of a machine with so many kinds; `None` for
    /// other bytes. O(outlines).
    pub fn from_bytes(bytes: Vec<u8>, kinds: usize) -> Option<Self> {
        let found = Self { kinds, bytes };
        let keys = (0..found.len()).map(|at| found.key(at));
        (found.bytes.len().is_multiple_of(Self::record(kinds)) && keys.is_sorted_by(|a, b| a < b)).then_some(found)
    }

    /// All of them as bytes, numbers little-endian.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / Self::record(self.kinds)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn at(&self, at: usize) -> &[u8] {
        let record = Self::record(self.kinds);
        &self.bytes[at * record..][..record]
    }

    fn key(&self, at: usize) -> u128 {
        self.at(at).first_chunk().map_or(0, |key| u128::from_le_bytes(*key))
    }

    /// The outline of the elements under a key. O(log outlines).
    pub fn get(&self, key: u128) -> Option<Outline> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < key { low = middle + 1 } else { high = middle }
        }
        if low == self.len() || self.key(low) != key {
            return None;
        }
        let words: Vec<[u8; 4]> = self.at(low)[16..].as_chunks::<4>().0.to_vec();
        let number = |at: usize| words.get(at).copied().map(u32::from_le_bytes);
        let (size, bytes) = ((number(0)?, number(1)?), number(2)?);
        let counts = words[3..][..self.kinds].iter().copied().map(u32::from_le_bytes).collect();
        let mut sketch = [0.0; SIZE];
        sketch.iter_mut().zip(&words[3 + self.kinds..]).for_each(|(value, bytes)| *value = f32::from_le_bytes(*bytes));
        (is_size(size) && sketch.iter().all(|value| value.is_finite())).then_some(Outline { size, bytes, counts, sketch })
    }

    pub(super) fn of(kinds: usize, mut all: Vec<(u128, Outline)>) -> Self {
        all.sort_unstable_by_key(|(key, _)| *key);
        all.dedup_by_key(|(key, _)| *key);
        let mut bytes = Vec::with_capacity(all.len() * Self::record(kinds));
        for (key, outline) in all {
            bytes.extend(key.to_le_bytes());
            let head = [outline.size.0, outline.size.1, outline.bytes];
            bytes.extend(head.into_iter().chain(outline.counts).flat_map(u32::to_le_bytes));
            bytes.extend(outline.sketch.into_iter().flat_map(f32::to_le_bytes));
        }
        Self { kinds, bytes }
    }
}
