//! Where the points of a tree are kept.

use std::borrow::Borrow;

use crate::error::Result;
use crate::linalg::single::squared_distances;
use crate::nearest::Distance;

/// Points, numbered from 0.
pub trait TreePoints: Send + Sync + Sized {
    /// A point.
    type Point: ?Sized + Sync;

    /// The number of points.
    fn count(&self) -> usize;

    /// Point `i`.
    fn point(&self, i: usize) -> &Self::Point;

    /// Puts a point in the place of point `i`, or after the last.
    fn set(&mut self, i: usize, point: &Self::Point);

    /// Some of the points, in that order.
    fn ordered(&self, order: &[u32]) -> Self;

    /// Whether a point fits these, if that can be told without one of them.
    ///
    /// # Errors
    /// [`crate::Error::Value`] when it does not.
    fn check(&self, _: &Self::Point) -> Result<()> {
        Ok(())
    }

    /// A point in the middle, where a tree should have its root.
    fn middle(&self) -> usize {
        0
    }

    /// The distances of `query` to the points from `from` on, as [`Distance::between`] has them.
    fn distances<D: Distance<Self::Point>>(&self, distance: &D, query: &Self::Point, from: usize, out: &mut [f64]) {
        for (out, i) in out.iter_mut().zip(from..) {
            *out = distance.between(query, self.point(i));
        }
    }
}

/// Vectors of f32, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct DensePoints {
    dimension: usize,
    values: Vec<f32>,
}

impl DensePoints {
    /// The rows of a matrix of `dimension` columns.
    ///
    /// # Errors
    /// [`crate::Error::Value`] when the values are no such matrix.
    pub fn new(dimension: usize, values: Vec<f32>) -> Result<Self> {
        if dimension == 0 || !values.len().is_multiple_of(dimension) {
            let found = format!("{} values", values.len());
            return Err(crate::Error::value("points", format!("rows of {dimension} values, one or more each"), found));
        }
        Ok(Self { dimension, values })
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

impl TreePoints for DensePoints {
    type Point = [f32];

    fn count(&self) -> usize {
        self.values.len() / self.dimension
    }

    fn point(&self, i: usize) -> &[f32] {
        &self.values[i * self.dimension..][..self.dimension]
    }

    fn set(&mut self, i: usize, point: &[f32]) {
        if i == self.count() {
            self.values.extend_from_slice(point);
        } else {
            self.values[i * self.dimension..][..self.dimension].copy_from_slice(point);
        }
    }

    fn ordered(&self, order: &[u32]) -> Self {
        let mut values = Vec::with_capacity(order.len() * self.dimension);
        order.iter().for_each(|i| values.extend_from_slice(self.point(*i as usize)));
        Self { dimension: self.dimension, values }
    }

    fn check(&self, point: &[f32]) -> Result<()> {
        if point.len() == self.dimension {
            return Ok(());
        }
        Err(crate::Error::value("point", format!("{} values", self.dimension), point.len().to_string()))
    }

    /// The point nearest to the mean.
    fn middle(&self) -> usize {
        let mut sums = vec![0.0f64; self.dimension];
        for row in self.values.chunks_exact(self.dimension) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let mean: Vec<f32> = sums.into_iter().map(|sum| (sum / self.count().max(1) as f64) as f32).collect();
        let mut squares = vec![0.0; self.count()];
        squared_distances(&mean, &self.values, &mut squares);
        (1..squares.len()).fold(0, |best, i| if squares[i] < squares[best] { i } else { best })
    }
}

/// Points of any kind, each by itself.
#[derive(Clone, Debug)]
pub struct OwnedPoints<P: ?Sized + ToOwned>(Vec<P::Owned>);

impl<P: ?Sized + ToOwned> OwnedPoints<P> {
    /// These points.
    pub fn new(points: Vec<P::Owned>) -> Self {
        Self(points)
    }
}

impl<P: ?Sized + ToOwned<Owned: Send + Sync + Clone> + Sync> TreePoints for OwnedPoints<P> {
    type Point = P;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn point(&self, i: usize) -> &P {
        self.0[i].borrow()
    }

    fn set(&mut self, i: usize, point: &P) {
        if i == self.0.len() {
            self.0.push(point.to_owned());
        } else {
            self.0[i] = point.to_owned();
        }
    }

    fn ordered(&self, order: &[u32]) -> Self {
        Self(order.iter().map(|i| self.0[*i as usize].clone()).collect())
    }
}
