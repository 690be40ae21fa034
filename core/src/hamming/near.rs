//! Descriptors that differ from a query in few bits, found by equal pieces of them.

use crate::descriptor::Descriptor;
use crate::ids::{ItemId, Neighbor};
use crate::nearest::Filter;

/// Pieces of a descriptor, of 16 bits each.
const PIECES: usize = 16;

/// A descriptor that differs in at most so many bits has this many pieces in common at least.
const fn common(radius: u32) -> usize {
    PIECES - radius as usize
}

/// Binary descriptors, of which those near to a query are found without a look at most others:
/// where at most 15 bits differ, a piece of 16 bits is equal (M. Norouzi, A. Punjani and D. Fleet,
/// *Fast search in Hamming space with multi-index hashing*, 2012). Exact.
///
/// Memory: 164 bytes a descriptor.
#[derive(Clone, Debug, Default)]
pub struct NearDescriptors {
    points: Vec<(ItemId, Descriptor)>,
    /// For each piece the places of all points, sorted by their values of it.
    pieces: Vec<Vec<(u16, u32)>>,
}

fn piece(descriptor: &Descriptor, i: usize) -> u16 {
    (descriptor.0[i / 4] >> (16 * (i % 4))) as u16
}

impl FromIterator<(ItemId, Descriptor)> for NearDescriptors {
    /// O(n log n).
    fn from_iter<I: IntoIterator<Item = (ItemId, Descriptor)>>(points: I) -> Self {
        let points: Vec<(ItemId, Descriptor)> = points.into_iter().collect();
        let sorted = |i: usize| {
            let mut values: Vec<(u16, u32)> = points.iter().zip(0..).map(|((_, point), place)| (piece(point, i), place)).collect();
            values.sort_unstable();
            values
        };
        let pieces = (0..PIECES).map(sorted).collect();
        Self { points, pieces }
    }
}

impl NearDescriptors {
    /// The largest number of bits in which neighbours may differ.
    pub const MOST: u32 = PIECES as u32 - 1;

    /// The number of descriptors.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The nearest descriptor that `admits` lets through of those that differ from the query in at
    /// most `radius` bits, which is lowered to [`NearDescriptors::MOST`]; of equals the one of the
    /// lower identifier. O(log n + those with an equal piece), of all pieces but the most frequent
    /// ones.
    pub fn nearest(&self, query: &Descriptor, radius: u32, admits: Filter<'_>) -> Option<Neighbor> {
        let radius = radius.min(Self::MOST);
        let equal = |(i, values): (usize, &Vec<(u16, u32)>)| {
            let wanted = piece(query, i);
            let start = values.partition_point(|(value, _)| *value < wanted);
            let length = values[start..].partition_point(|(value, _)| *value == wanted);
            (length, i, start)
        };
        let mut ranges: Vec<(usize, usize, usize)> = self.pieces.iter().enumerate().map(equal).collect();
        ranges.sort_unstable();
        // So many pieces are equal that one is, if all but one of these are left out.
        ranges.truncate(PIECES + 1 - common(radius));
        let mut best: Option<(u32, ItemId)> = None;
        let mut offer = |place: usize| {
            let (id, point) = &self.points[place];
            let found = (query.hamming(point), *id);
            if found.0 <= radius && best.is_none_or(|best| found < best) && admits(*id) {
                best = Some(found);
            }
        };
        if ranges.iter().map(|(length, ..)| length).sum::<usize>() < self.points.len() {
            let places = ranges.iter().flat_map(|(length, i, start)| &self.pieces[*i][*start..start + length]);
            places.for_each(|(_, place)| offer(*place as usize));
        } else {
            (0..self.points.len()).for_each(offer);
        }
        best.map(|(distance, id)| Neighbor { id, distance: f64::from(distance) })
    }
}
