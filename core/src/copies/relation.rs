//! What was done to a picture to make its copy, in words.

use std::fmt;

use super::turn::Turn;

/// How much of a picture its copy shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// A part of it.
    Cropped,
    /// More than it: the picture is a part of the copy.
    Extended,
}

/// What was done to a picture to make its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Nothing: both files have the same bytes.
    Identical,
    /// It was written anew: both have the same size and the same pixels.
    SamePixels,
    /// Its pixels are others.
    Changed {
        /// How it was turned.
        turn: Turn,
        /// How much of it the copy shows.
        part: Extent,
        /// Whether the copy has another number of pixels than that part.
        is_resized: bool,
    },
}

impl Relation {
    /// What was done to the copy to make the picture.
    pub fn inverse(self) -> Self {
        let Self::Changed { turn, part, is_resized } = self else { return self };
        let part = match part {
            Extent::Whole => Extent::Whole,
            Extent::Cropped => Extent::Extended,
            Extent::Extended => Extent::Cropped,
        };
        Self::Changed { turn: turn.inverse(), part, is_resized }
    }
}

/// Such as `identical`, `recompressed`, `mirrored, rotated 90, cropped`.
impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Changed { turn, part, is_resized } = self else {
            return f.write_str(if *self == Self::Identical { "identical" } else { "same pixels" });
        };
        let rotated = match turn.degrees() {
            90 => Some("rotated 90"),
            180 => Some("rotated 180"),
            270 => Some("rotated 270"),
            _ => None,
        };
        let part = match part {
            Extent::Whole => None,
            Extent::Cropped => Some("cropped"),
            Extent::Extended => Some("extended"),
        };
        let words: Vec<&str> =
            [turn.mirrors().then_some("mirrored"), rotated, part, is_resized.then_some("resized")].into_iter().flatten().collect();
        f.write_str(&if words.is_empty() { "recompressed".to_owned() } else { words.join(", ") })
    }
}
