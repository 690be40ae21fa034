//! Identifiers as types, so that an image is never taken for a class.

use serde::{Deserialize, Serialize};

/// An image, a memory, a row of a corpus: anything that is learned from and found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemId(pub u32);

/// A class, as a position in its model's list of class names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClassId(pub u32);

impl ClassId {
    /// The position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An item and how far it is from the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// The item.
    pub id: ItemId,
    /// Its distance, in the units of the distance that the index uses.
    pub distance: f64,
}
