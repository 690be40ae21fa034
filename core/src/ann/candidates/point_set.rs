//! Points of a corpus, one after another, and their distances.

use crate::error::{Error, Result};
use crate::linalg::single::{add_scaled, dot, long_squared_distance, norm};
use crate::nearest::{Distance as _, Metric};

/// Vectors of one dimension; those of a cosine are kept at length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSet {
    dimension: usize,
    metric: Metric,
    len: usize,
    values: Vec<f32>,
}

impl PointSet {
    /// No points yet.
    pub fn new(dimension: usize, metric: Metric) -> Self {
        Self { dimension, metric, len: 0, values: Vec::new() }
    }

    /// Values in each point.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// What is nearest.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Refuses what cannot be compared with these points.
    pub(super) fn check(&self, point: &[f32]) -> Result<()> {
        if point.len() != self.dimension {
            return Err(Error::value("point", format!("{} values", self.dimension), point.len().to_string()));
        }
        self.metric.check(point, None)
    }

    /// A point as it is kept.
    pub(super) fn prepared(&self, point: &[f32]) -> Vec<f32> {
        let length = norm(point);
        if self.metric == Metric::Cosine && length > 0.0 { point.iter().map(|value| value / length).collect() } else { point.to_vec() }
    }

    /// Appends a point.
    ///
    /// # Errors
    /// [`Error::Value`] when it has another number of values, one that is not finite or one beyond
    /// 1e15 in size.
    pub fn push(&mut self, point: &[f32]) -> Result<()> {
        self.check(point)?;
        let prepared = self.prepared(point);
        self.values.extend(prepared);
        self.len += 1;
        Ok(())
    }

    /// Point `i` as it is kept.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dimension..][..self.dimension]
    }

    /// All points as they are kept.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        (0..self.len).map(|i| self.row(i))
    }

    /// Their mean.
    pub(super) fn mean(&self) -> Vec<f32> {
        let mut mean = vec![0.0; self.dimension];
        let share = 1.0 / self.len().max(1) as f32;
        self.rows().for_each(|row| add_scaled(&mut mean, share, row));
        mean
    }

    /// The distance of point `i` from a prepared query, for [`Metric::Euclidean`] its square.
    pub(super) fn distance(&self, query: &[f32], i: usize) -> f32 {
        match self.metric {
            Metric::Euclidean => long_squared_distance(query, self.row(i)),
            Metric::Cosine => 1.0 - dot(query, self.row(i)),
            Metric::InnerProduct => 0.0 - dot(query, self.row(i)),
        }
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }
}
