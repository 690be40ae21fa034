//! Points in seven bits a value, and bounds of the error that this makes.
//!
//! The squared distance of a query q from a point x is |q - m|² + |x - m|² - 2 (q - m)(x - m) for
//! any m; here m is the mean of the points. Of the inner product only rounded values are
//! multiplied. What rounding leaves of the point changes it by at most |q - m| times the length of
//! that rest, and what it leaves of the query by at most the length of that rest times the length
//! of the rounded point (Cauchy and Schwarz). It is far less where the rest has nothing to do with
//! the query, as is likely.

use super::outliers::usual;
use super::point_set::PointSet;
use super::steps::{ZERO, steps, unit};
use crate::linalg::single::{add_scaled, dot, norm};
use crate::nearest::Metric;

/// Standard deviations of what rounding leaves.
const LIKELY: f32 = 4.0;

/// What is known of each point beside its rounded values.
#[derive(Clone, Debug, Default)]
pub(in crate::ann) struct Rounding {
    middle: Vec<f32>,
    /// The length of the middle.
    length: f32,
    /// The size of a step in each dimension.
    pub(in crate::ann) units: Vec<f32>,
    pub(in crate::ann) points: Vec<Rounded>,
}

/// What is known of a point.
#[derive(Clone, Copy, Debug)]
pub(in crate::ann) struct Rounded {
    /// What twice the inner product is taken off.
    pub(in crate::ann) offset: f32,
    /// The length of what rounding left.
    rest: f32,
    /// The length in steps.
    size: f32,
    /// What sums of f32 may be wrong by.
    slack: f32,
}

/// How far a query is from the middle, and how long what rounding left of it is, in steps.
#[derive(Clone, Copy, Debug)]
pub(in crate::ann) struct Query {
    pub(in crate::ann) length: f32,
    pub(in crate::ann) rest: f32,
    /// What sums of f32 may be wrong by.
    slack: f32,
}

impl Rounding {
    /// That of a corpus, and its values rounded, point by point. Points of unusual size have no
    /// part in the choice of the steps; what is beyond these is never excluded.
    pub(in crate::ann) fn of(corpus: &PointSet) -> (Self, Vec<u8>) {
        let usual = usual(corpus.rows());
        let rows = || corpus.rows().zip(&usual).filter(|(_, is_usual)| **is_usual).map(|(row, _)| row);
        let mut middle = vec![0.0; corpus.dimension()];
        let share = 1.0 / rows().count().max(1) as f32;
        rows().for_each(|row| add_scaled(&mut middle, share, row));
        let mut largest = vec![0.0f32; corpus.dimension()];
        for row in rows() {
            for ((most, value), middle) in largest.iter_mut().zip(row).zip(&middle) {
                *most = most.max((value - middle).abs());
            }
        }
        Self::around(middle, largest.into_iter().map(unit).collect(), corpus)
    }

    /// That of a corpus around a middle and in steps that were found for others.
    pub(super) fn around(middle: Vec<f32>, units: Vec<f32>, corpus: &PointSet) -> (Self, Vec<u8>) {
        let mut rounding = Self { length: norm(&middle), middle, units, points: Vec::new() };
        let values = corpus.rows().flat_map(|row| rounding.push(row, corpus.metric())).collect();
        (rounding, values)
    }

    pub(super) fn middle(&self) -> &[f32] {
        &self.middle
    }

    /// Adds a point and returns its rounded values.
    pub(super) fn push(&mut self, row: &[f32], metric: Metric) -> Vec<u8> {
        let centred = self.centred(row);
        let values: Vec<u8> = centred.iter().zip(&self.units).map(|(value, unit)| steps(*value, *unit)).collect();
        let signed: Vec<f32> = values.iter().map(|value| f32::from(*value) - ZERO as f32).collect();
        let rest: Vec<f32> = centred.iter().zip(&signed).zip(&self.units).map(|((value, steps), unit)| value - steps * unit).collect();
        let square = dot(&centred, &centred);
        let offset = match metric {
            Metric::Euclidean => square,
            Metric::Cosine | Metric::InnerProduct => -2.0 * dot(row, &self.middle),
        };
        // What is beyond the steps is nothing that cancels out.
        let is_clamped = centred.iter().zip(&self.units).any(|(value, unit)| (value / unit).abs() > ZERO as f32);
        let slack = if is_clamped { f32::INFINITY } else { self.slack() * (square + norm(row) * self.length) };
        self.points.push(Rounded { offset, rest: norm(&rest), size: norm(&signed), slack });
        values
    }

    /// Forgets a point; the last one takes its place.
    pub(super) fn swap_remove(&mut self, i: usize) {
        self.points.swap_remove(i);
    }

    pub(in crate::ann) fn centred(&self, x: &[f32]) -> Vec<f32> {
        x.iter().zip(&self.middle).map(|(value, middle)| value - middle).collect()
    }

    /// What is known of a centred query of which such a rest was left, in steps of this size.
    pub(in crate::ann) fn query(&self, centred: &[f32], rest: &[f32], step: f32) -> Query {
        Query { length: norm(centred), rest: step * norm(rest), slack: self.slack() * dot(centred, centred) }
    }

    /// The same for bounds that hold but for one point of ten thousands: what rounding leaves of a
    /// value is as good as drawn at random, up to half a step, so that its products with other
    /// values mostly cancel out. Four standard deviations are added.
    pub(super) fn likely(&self, centred: &[f32], rest: &[f32], step: f32) -> Query {
        let scaled: Vec<f32> = centred.iter().zip(&self.units).map(|(value, unit)| value * unit).collect();
        let length = LIKELY * norm(&scaled) / norm(&self.units).max(f32::MIN_POSITIVE);
        let sure = self.query(centred, rest, step);
        Query { length: length.min(sure.length), rest: sure.rest * (LIKELY / (rest.len() as f32).sqrt()).min(1.0), ..sure }
    }

    /// The relative error that sums over all values may have, generously.
    fn slack(&self) -> f32 {
        1e-5 + 1e-8 * self.middle.len() as f32
    }
}

impl Rounded {
    /// The least and the largest value that, up to what is the same for all points, a squared
    /// distance or minus twice an inner product may have.
    #[inline]
    pub(in crate::ann) fn bounds(&self, query: Query, product: f32) -> (f32, f32) {
        let estimate = self.offset - 2.0 * product;
        // A thousandth more is for the rounding of the lengths.
        let error = 2.002 * (query.length * self.rest + query.rest * self.size) + self.slack + query.slack;
        (estimate - error, estimate + error)
    }
}

/// The points that may be among the k nearest, given bounds of their distances.
pub(in crate::ann) struct Shortlist {
    k: usize,
    /// The least upper bounds, ascending.
    least: Vec<f32>,
    bar: f32,
    /// Lower bounds.
    kept: Vec<(f32, u32)>,
}

impl Shortlist {
    pub(in crate::ann) fn new(k: usize) -> Self {
        Self { k, least: Vec::with_capacity(k + 1), bar: f32::INFINITY, kept: Vec::new() }
    }

    #[inline]
    pub(in crate::ann) fn offer(&mut self, point: u32, (lower, upper): (f32, f32)) {
        if lower > self.bar {
            return;
        }
        self.kept.push((lower, point));
        let at = self.least.partition_point(|bound| *bound <= upper);
        if at < self.k && upper.is_finite() {
            self.least.insert(at, upper);
            self.least.truncate(self.k);
            if self.least.len() == self.k {
                self.bar = self.least[self.k - 1];
            }
        }
    }

    /// The points, in the order in which they were offered.
    pub(in crate::ann) fn finish(self) -> impl Iterator<Item = u32> {
        self.kept.into_iter().filter(move |(lower, _)| *lower <= self.bar).map(|(_, point)| point)
    }
}
