//! Principal components: the first two as a layout, some more as the vectors that neighbours are
//! found by.

use super::PlanePoint;
use crate::linalg::axes::Axes;
use crate::random::seeded;

/// Axes that are kept.
const AXES: usize = 64;
/// Points that axes are computed from, at most.
const SAMPLE: usize = 10_000;

/// Points along the axes of most variance.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    len: usize,
    axes: usize,
    values: Vec<f32>,
}

impl Components {
    /// The components of points that are the rows of a matrix, of finite values: at most 64. Each
    /// axis points to where most of its variance comes from, so that a map is not mirrored by
    /// chance. Equal on any number of threads. O(rows * dimension * 64).
    ///
    /// # Panics
    /// When `rows` is no whole number of rows.
    pub fn new(rows: &[f32], dimension: usize, seed: u64) -> Self {
        let len = rows.len().checked_div(dimension).unwrap_or(0);
        assert_eq!(len * dimension, rows.len(), "a whole number of rows");
        let axes = Axes::of_sample(rows, dimension, AXES, SAMPLE, &mut seeded(seed));
        let count = axes.count();
        let mut values = axes.project_all(rows);
        for axis in 0..count {
            let cubes: f64 = values.iter().skip(axis).step_by(count).map(|value| f64::from(*value).powi(3)).sum();
            if cubes < 0.0 {
                values.iter_mut().skip(axis).step_by(count).for_each(|value| *value = -*value);
            }
        }
        Self { len, axes: count, values }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Values of each point.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// Point `i` along the axes, most variance first.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.axes..][..self.axes]
    }

    /// The points by their first two components.
    pub fn places(&self) -> Vec<PlanePoint> {
        let of = |i: usize| [0, 1].map(|axis| self.row(i).get(axis).copied().unwrap_or(0.0));
        (0..self.len).map(of).collect()
    }
}
