//! Points whose values are all whole numbers from 0 to 255, as pixels and many descriptors are: a
//! byte each, and nothing lost.

use super::point_set::PointSet;
use crate::linalg::single::long_squared_distance_to_bytes;
use crate::nearest::Metric;

/// The points once more, so that a quarter is read for a distance.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes {
    dimension: usize,
    values: Vec<u8>,
}

impl Bytes {
    /// The points by Euclidean distance, if all values are such numbers.
    pub(super) fn of(points: &PointSet) -> Option<Self> {
        let mut bytes = Self { dimension: points.dimension(), values: Vec::new() };
        (points.metric() == Metric::Euclidean && points.rows().all(|row| bytes.push(row))).then_some(bytes)
    }

    /// Adds a point and says whether that was possible.
    pub(super) fn push(&mut self, row: &[f32]) -> bool {
        let is_byte = |value: &f32| f32::from(*value as u8) == *value;
        let fits = row.iter().all(is_byte);
        if fits {
            self.values.extend(row.iter().map(|value| *value as u8));
        }
        fits
    }

    /// Removes point `i`; the last one takes its place.
    pub(super) fn swap_remove(&mut self, i: usize) {
        let last = self.values.len() - self.dimension;
        self.values.copy_within(last.., i * self.dimension);
        self.values.truncate(last);
    }

    /// The square of the distance of point `i` from a query.
    pub(super) fn distance(&self, query: &[f32], i: usize) -> f32 {
        long_squared_distance_to_bytes(query, &self.values[i * self.dimension..][..self.dimension])
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.values.len()
    }
}
