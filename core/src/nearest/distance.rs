//! Distances between points of several kinds, which define what is nearest.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linalg::single;
use crate::sparse::SparseVec;

/// A distance between points: the smaller, the nearer.
pub trait Distance<P: ?Sized>: Sync {
    /// The distance of two points that passed [`Distance::check`]; never NaN.
    fn between(&self, a: &P, b: &P) -> f64;

    /// Whether it is a metric: never negative, symmetric, 0 between equal points, and no detour is
    /// shorter (the triangle inequality). Trees that work for any metric rely on that.
    fn is_metric(&self) -> bool;

    /// Checks that a point can be compared with the points of an index, one of which is `other`.
    ///
    /// # Errors
    /// [`Error::Value`] when it cannot.
    fn check(&self, point: &P, other: Option<&P>) -> Result<()>;
}

/// The largest absolute value of a component.
const LARGEST: f32 = 1e15;

/// The usual distances between vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// The Euclidean distance.
    Euclidean,
    /// One minus the cosine of the angle; 1 when one of the two is the zero vector.
    Cosine,
    /// Minus the inner product.
    InnerProduct,
}

impl Metric {
    /// Whether it is a metric in the mathematical sense.
    fn is_one(self) -> bool {
        self == Self::Euclidean
    }
}

impl Distance<[f32]> for Metric {
    fn between(&self, a: &[f32], b: &[f32]) -> f64 {
        match self {
            Self::Euclidean => f64::from(single::squared_distance(a, b)).sqrt(),
            Self::InnerProduct => 0.0 - f64::from(single::dot(a, b)),
            Self::Cosine => {
                let lengths = f64::from(single::norm(a)) * f64::from(single::norm(b));
                if lengths > 0.0 { 1.0 - f64::from(single::dot(a, b)) / lengths } else { 1.0 }
            }
        }
    }

    fn is_metric(&self) -> bool {
        self.is_one()
    }

    fn check(&self, point: &[f32], other: Option<&[f32]>) -> Result<()> {
        check_dense(point, other.map_or(point.len(), <[f32]>::len))
    }
}

impl Distance<SparseVec> for Metric {
    fn between(&self, a: &SparseVec, b: &SparseVec) -> f64 {
        match self {
            Self::Euclidean => a.distance_squared(b).sqrt(),
            Self::InnerProduct => 0.0 - a.dot(b),
            Self::Cosine => 1.0 - a.cosine(b),
        }
    }

    fn is_metric(&self) -> bool {
        self.is_one()
    }

    fn check(&self, point: &SparseVec, _: Option<&SparseVec>) -> Result<()> {
        check_size(point.entries().iter().map(|entry| entry.1))
    }
}

/// Refuses a dense point of another dimension, or with values that [`check_size`] refuses.
pub(super) fn check_dense(point: &[f32], dimension: usize) -> Result<()> {
    if point.len() != dimension {
        return Err(Error::value("point", format!("{dimension} values"), point.len().to_string()));
    }
    check_size(point.iter().copied())
}

/// Refuses what is not finite and what is so large that a sum of products could overflow, or two
/// infinite ones cancel to NaN.
fn check_size(mut values: impl Iterator<Item = f32> + Clone) -> Result<()> {
    // All together first, which takes a few instructions.
    if values.clone().fold(true, |fits, value| fits & (value.abs() <= LARGEST)) {
        return Ok(());
    }
    match values.find(|value| value.is_nan() || value.abs() > LARGEST) {
        Some(value) => Err(Error::value("point", format!("finite values of at most {LARGEST:e}"), value.to_string())),
        None => Ok(()),
    }
}
