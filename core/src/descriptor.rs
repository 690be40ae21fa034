//! Binary descriptors of 256 bits and the keypoints they describe.

use std::fmt;

/// The version of the sampling pattern by which pictures are described: descriptors of different
/// versions cannot be compared.
pub const PATTERN_VERSION: u32 = 1;

/// A binary descriptor: 256 yes/no answers about a patch, compared by Hamming distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Descriptor(pub [u64; 4]);

impl Descriptor {
    /// The number of bits in which the two differ, `0..=256`.
    pub fn hamming(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// Each of its 256 bits, 0 or 1, in the order of [`Descriptor::to_bytes`].
    pub fn bits(&self) -> impl Iterator<Item = u8> {
        self.0.into_iter().flat_map(|word| (0..64).map(move |bit| (word >> bit & 1) as u8))
    }

    /// The 32 bytes, word by word, least significant first: bit `i` is bit `i % 8` of byte `i / 8`.
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (part, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            part.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The descriptor whose [`Descriptor::to_bytes`] are these.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let mut words = [0; 4];
        for (word, part) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*part);
        }
        Self(words)
    }
}

/// As 64 hexadecimal digits, byte by byte.
impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A distinctive point of a picture that can be found again in other pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keypoint {
    /// Pixels from the left edge of the picture it was found in, at full size.
    pub x: f32,
    /// Pixels from the top edge.
    pub y: f32,
    /// Pixels of the full-size picture that one pixel of the keypoint's pyramid level covers, 1 or
    /// more.
    pub scale: f32,
    /// Orientation in radians, clockwise on screen, in `-pi..=pi`.
    pub angle: f32,
    /// Corner strength (Harris), comparable within one picture.
    pub response: f32,
}
