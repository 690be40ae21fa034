//! Points of a corpus, one after another, and their distances.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::linalg::single::{dot, long_squared_distance, norm};
use crate::nearest::{Distance as _, Metric};

/// The most values of a point: sums of as many products of bytes fit 32 bits.
const LONGEST: usize = 130_000;

/// Vectors of one dimension; those of a cosine are kept at length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSet {
    dimension: usize,
    metric: Metric,
    len: usize,
    values: Vec<f32>,
}

impl Stored for PointSet {
    fn write(&self, out: &mut Writer) {
        out.count(self.dimension);
        out.options(&self.metric);
        out.count(self.len);
        out.put(&self.values);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (dimension, metric) = (from.get::<u64>()? as usize, from.options()?);
        let (len, values) = (from.get::<u64>()? as usize, from.finite_values()?);
        if len.checked_mul(dimension) != Some(values.len()) {
            return Err(from.wrong(format!("{len} points of {dimension} values"), format!("{} values", values.len())));
        }
        let points = Self { dimension, metric, len, values };
        if dimension > LONGEST {
            return Err(from.wrong(format!("at most {LONGEST} values a point"), dimension.to_string()));
        }
        if dimension > 0 {
            points.rows().try_for_each(|row| points.check(row))?;
        }
        Ok(points)
    }
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
    pub(in crate::ann) fn check(&self, point: &[f32]) -> Result<()> {
        if point.len() != self.dimension {
            return Err(Error::value("point", format!("{} values", self.dimension), point.len().to_string()));
        }
        if self.dimension > LONGEST {
            return Err(Error::value("point", format!("at most {LONGEST} values"), self.dimension.to_string()));
        }
        self.metric.check(point, None)
    }

    /// A point as it is kept.
    pub(in crate::ann) fn prepared(&self, point: &[f32]) -> Vec<f32> {
        let length = norm(point);
        if self.metric == Metric::Cosine && length > 0.0 { point.iter().map(|value| value / length).collect() } else { point.to_vec() }
    }

    /// Appends a point.
    ///
    /// # Errors
    /// [`Error::Value`] when it has another number of values or more than 130,000, one that is not
    /// finite or one beyond 1e15 in size.
    pub fn push(&mut self, point: &[f32]) -> Result<()> {
        self.check(point)?;
        let prepared = self.prepared(point);
        self.values.extend(prepared);
        self.len += 1;
        Ok(())
    }

    /// Removes point `i`; the last one takes its place.
    pub(super) fn swap_remove(&mut self, i: usize) {
        let (d, last) = (self.dimension, self.len - 1);
        self.values.copy_within(last * d.., i * d);
        self.values.truncate(last * d);
        self.len = last;
    }

    /// Point `i` as it is kept.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dimension..][..self.dimension]
    }

    /// All points as they are kept.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        (0..self.len).map(|i| self.row(i))
    }

    /// The values of all points as they are kept, point by point.
    pub(in crate::ann) fn values(&self) -> &[f32] {
        &self.values
    }

    /// The distance of point `i` from a prepared query, for [`Metric::Euclidean`] its square.
    pub(in crate::ann) fn distance(&self, query: &[f32], i: usize) -> f32 {
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
