//! A mixture: its clusters, and what it says of points.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{Components, best, exponentials, largest};
use super::data::MixtureData;
use super::family::{Covariance, Parameters};
use crate::error::{Error, Result};

/// Points that one parallel task looks at.
const TASK: usize = 256;

/// A mixture of clusters of one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureModel {
    covariance: Covariance,
    /// The point around which means are told.
    centre: Vec<f64>,
    parameters: Vec<Parameters>,
    log_shares: Vec<f64>,
}

/// How well a mixture describes points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MixtureLikelihood {
    /// The mean over points of the logarithm of the largest share times density.
    pub max: f64,
    /// The mean over points of the logarithm of the mixture's density.
    pub mix: f64,
}

impl MixtureModel {
    pub(super) fn new(covariance: Covariance, centre: Vec<f64>, parameters: Vec<Parameters>, log_shares: Vec<f64>) -> Self {
        Self { covariance, centre, parameters, log_shares }
    }

    /// Whether this is a mixture of that many clusters of points of `d` values.
    pub(super) fn fits(&self, covariance: Covariance, d: usize, clusters: usize) -> bool {
        let spread = if covariance == Covariance::Directions { 1 } else { d };
        self.covariance == covariance
            && self.centre.len() == d
            && self.log_shares.len() == clusters
            && self.parameters.len() == clusters
            && self.parameters.iter().all(|own| own.middle.len() == d && own.spread.len() == spread)
    }

    pub(super) fn components(&self) -> Components {
        Components::new(self.covariance, &self.parameters, self.log_shares.clone())
    }

    /// The shape of its clusters.
    pub fn covariance(&self) -> Covariance {
        self.covariance
    }

    /// The number of clusters.
    pub fn clusters(&self) -> usize {
        self.parameters.len()
    }

    /// The parameters of each cluster; means are told around [`MixtureModel::centre`].
    pub fn parameters(&self) -> &[Parameters] {
        &self.parameters
    }

    /// The point around which means are told.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The share of each cluster in all points.
    pub fn shares(&self) -> Vec<f64> {
        self.log_shares.iter().map(|share| share.exp()).collect()
    }

    /// The mixture in which clusters of one number in `into`, which has one for each cluster, are
    /// one, with the mean and the variances of all their points. Numbers begin with 0, and none is
    /// left out. O(clusters d).
    pub fn joined(&self, into: &[u32]) -> Self {
        let clusters = into.iter().max().map_or(0, |last| *last as usize + 1);
        let join = |number: usize| {
            let parts: Vec<usize> = (0..into.len()).filter(|old| into[*old] as usize == number).collect();
            if let [only] = parts[..] {
                return (self.parameters[only].clone(), self.log_shares[only]);
            }
            let shares: Vec<f64> = parts.iter().map(|old| self.log_shares[*old].exp()).collect();
            let total: f64 = shares.iter().sum();
            let mean = |value: &dyn Fn(&Parameters) -> f64| {
                parts.iter().zip(&shares).map(|(old, share)| share * value(&self.parameters[*old])).sum::<f64>() / total
            };
            let mut middle: Vec<f64> = (0..self.centre.len()).map(|i| mean(&|own| own.middle[i])).collect();
            let spread = if self.covariance == Covariance::Directions {
                let length = middle.iter().map(|value| value * value).sum::<f64>().sqrt();
                middle.iter_mut().for_each(|value| *value /= length.max(f64::MIN_POSITIVE));
                vec![mean(&|own| own.spread[0])]
            } else {
                (0..middle.len()).map(|i| mean(&|own| own.spread[i] + (own.middle[i] - middle[i]).powi(2))).collect()
            };
            (Parameters { middle, spread }, total.ln())
        };
        let (parameters, log_shares) = (0..clusters).map(join).unzip();
        Self { covariance: self.covariance, centre: self.centre.clone(), parameters, log_shares }
    }

    /// The mixture in which a cluster is the first of a mixture of two, and the second one comes
    /// last; both share its share. O(clusters d).
    ///
    /// # Panics
    /// When there is no such cluster, or `two` are not two.
    pub fn split(&self, cluster: usize, two: &Self) -> Self {
        let half = |number: usize| {
            let middle = two.mean(number).iter().zip(&self.centre).map(|(mean, centre)| mean - centre).collect();
            let spread = two.parameters[number].spread.clone();
            (Parameters { middle, spread }, self.log_shares[cluster] + two.log_shares[number])
        };
        let mut split = self.clone();
        (split.parameters[cluster], split.log_shares[cluster]) = half(0);
        let (parameters, log_share) = half(1);
        split.parameters.push(parameters);
        split.log_shares.push(log_share);
        split
    }

    /// The mean of a cluster, in the terms of the points.
    pub fn mean(&self, cluster: usize) -> Vec<f64> {
        self.parameters[cluster].middle.iter().zip(&self.centre).map(|(middle, centre)| middle + centre).collect()
    }

    /// The cluster of largest share times density for each row of a matrix, and the logarithm of
    /// that. O(n clusters d).
    ///
    /// # Errors
    /// As [`MixtureData::new`]; [`Error::Value`] for rows of another length.
    pub fn best(&self, values: &[f32]) -> Result<Vec<(u32, f64)>> {
        let data = self.points(values)?;
        Ok(self.best_rows(&self.components(), &data.rows))
    }

    /// How well the mixture describes points that took no part in it.
    ///
    /// # Errors
    /// As [`MixtureModel::best`].
    pub fn likelihood(&self, values: &[f32]) -> Result<MixtureLikelihood> {
        Ok(self.likelihood_rows(&self.components(), &self.points(values)?.rows))
    }

    pub(super) fn likelihood_rows(&self, components: &Components, rows: &[f32]) -> MixtureLikelihood {
        let d = self.centre.len();
        let parts: Vec<MixtureLikelihood> = rows
            .par_chunks(TASK * d)
            .map(|rows| {
                let (mut sums, mut scores, mut own) = (MixtureLikelihood::default(), Vec::new(), Vec::new());
                components.scores(rows, &mut scores);
                let n = rows.len() / d;
                for at in 0..n {
                    own.clear();
                    own.extend(scores[at..].iter().step_by(n));
                    let most = largest(own.iter().copied());
                    sums.max += f64::from(most);
                    sums.mix += f64::from(most) + f64::from(exponentials(&mut own, most)).ln();
                }
                sums
            })
            .collect();
        let n = (rows.len() / d.max(1)).max(1) as f64;
        MixtureLikelihood {
            max: parts.iter().map(|part| part.max).sum::<f64>() / n,
            mix: parts.iter().map(|part| part.mix).sum::<f64>() / n,
        }
    }

    /// The rows of a matrix as points around this mixture's centre, for a fit that goes on with it.
    ///
    /// # Errors
    /// As [`MixtureData::new`].
    pub fn points(&self, values: &[f32]) -> Result<MixtureData> {
        MixtureData::check(values, self.centre.len())?;
        Ok(MixtureData::around(values, self.centre.clone(), self.covariance))
    }

    pub(super) fn best_rows(&self, components: &Components, rows: &[f32]) -> Vec<(u32, f64)> {
        let d = self.centre.len();
        let parts: Vec<Vec<(u32, f64)>> = rows
            .par_chunks(TASK * d)
            .map(|rows| {
                let (mut found, mut scores) = (Vec::new(), Vec::new());
                components.scores(rows, &mut scores);
                let n = rows.len() / d;
                for at in 0..n {
                    let (cluster, score) = best(scores[at..].iter().step_by(n));
                    found.push((cluster, f64::from(score)));
                }
                found
            })
            .collect();
        parts.concat()
    }

    /// Checks values that came from a file.
    ///
    /// # Errors
    /// [`Error::Value`] when a value is not finite, or there are no clusters.
    pub fn checked(self) -> Result<Self> {
        let finite =
            self.centre.iter().chain(&self.log_shares).chain(self.parameters.iter().flat_map(|own| own.middle.iter().chain(&own.spread)));
        let d = self.centre.len();
        if self.parameters.is_empty()
            || !self.fits(self.covariance, d, self.parameters.len())
            || !finite.into_iter().all(|value| value.is_finite())
        {
            return Err(Error::value("mixture", "one or more clusters of finite parameters, all of one length", "another thing"));
        }
        Ok(self)
    }
}
