//! One iteration of a fit whose points are not in one place: each part of the points draws clusters
//! and adds up whole numbers, so that the sums are exact and join in any order.

use super::MixtureModel;
use super::components::{exponentials, largest};
use super::draw::pick;
use super::family::{Covariance, Prior};
use crate::error::Result;
use rayon::prelude::*;

/// Points that one parallel task looks at.
const TASK: usize = 256;

/// Exact sums over points of a cluster, whose values are whole numbers times a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeSums {
    /// How many points there are.
    pub points: u64,
    /// Sums of values.
    pub values: Vec<i64>,
    /// Sums of their squares.
    pub squares: Vec<i64>,
}

impl WholeSums {
    /// Adds a point.
    pub fn add(&mut self, point: &[i16]) {
        if self.values.is_empty() {
            (self.values, self.squares) = (vec![0; point.len()], vec![0; point.len()]);
        }
        self.points += 1;
        for ((sum, square), value) in self.values.iter_mut().zip(&mut self.squares).zip(point) {
            *sum += i64::from(*value);
            *square += i64::from(*value).pow(2);
        }
    }

    /// Adds the sums of other points.
    pub fn join(&mut self, other: &Self) {
        if self.values.is_empty() {
            self.clone_from(other);
            return;
        }
        self.points += other.points;
        self.values.iter_mut().zip(&other.values).for_each(|(sum, value)| *sum += value);
        self.squares.iter_mut().zip(&other.squares).for_each(|(sum, value)| *sum += value);
    }
}

impl MixtureModel {
    /// For each row of a matrix a cluster drawn from its posterior, by a number in 0..1 for each,
    /// and the logarithm of the mixture's density. A row's answer does not depend on the others.
    /// O(n clusters d).
    ///
    /// # Errors
    /// As [`super::MixtureData::new`].
    pub fn drawn(&self, values: &[f32], numbers: &[f32]) -> Result<Vec<(u32, f64)>> {
        let data = self.points(values)?;
        let components = self.components();
        let parts: Vec<Vec<(u32, f64)>> = data
            .rows
            .par_chunks(TASK * data.d)
            .zip(numbers.par_chunks(TASK))
            .map(|(rows, numbers)| {
                let (mut scores, mut own) = (Vec::new(), Vec::new());
                components.scores(rows, &mut scores);
                let n = rows.len() / data.d;
                let draw = |(at, number): (usize, &f32)| {
                    own.clear();
                    own.extend(scores[at..].iter().step_by(n));
                    let most = largest(own.iter().copied());
                    let total = exponentials(&mut own, most);
                    (pick(&own, number * total), f64::from(most) + f64::from(total).ln())
                };
                numbers.iter().take(n).enumerate().map(draw).collect()
            })
            .collect();
        Ok(parts.concat())
    }

    /// The mixture whose clusters are most probable for points with these sums, one for each
    /// cluster, in units of `unit`. A cluster without points stays where it is. O(clusters d).
    #[must_use]
    pub fn estimated(&self, sums: &[WholeSums], unit: f64, prior: &Prior) -> Self {
        let (covariance, family) = (self.covariance(), self.covariance().family());
        let (n, k) = (sums.iter().map(|own| own.points as f64).sum::<f64>(), self.clusters() as f64);
        let estimate = |(before, own): (&super::Parameters, &WholeSums)| {
            if own.points == 0 {
                return before.clone();
            }
            let points = own.points as f64;
            let sums = own.values.iter().map(|sum| *sum as f64 * unit);
            let around = sums.clone().zip(self.centre()).map(|(sum, centre)| sum - points * centre);
            let square =
                |((square, sum), centre): ((&i64, f64), &f64)| *square as f64 * unit * unit - 2.0 * centre * sum + points * centre * centre;
            let squares = own.squares.iter().zip(sums).zip(self.centre()).map(square);
            let phi: Vec<f64> = if covariance == Covariance::Directions { around.collect() } else { around.chain(squares).collect() };
            family.estimate(points, &phi, prior)
        };
        let parameters = self.parameters().iter().zip(sums).map(estimate).collect();
        let log_shares = sums.iter().map(|own| (own.points as f64 + prior.share).ln() - (n + k * prior.share).ln()).collect();
        Self::new(covariance, self.centre().to_vec(), parameters, log_shares)
    }
}
