//! How many clusters points have: as many as describe points best that took no part.

use super::constraints::Constraints;
use super::data::{MixtureData, hold_out};
use super::fit::MixtureFit;
use super::options::MixtureOptions;
use crate::error::Result;
use crate::progress::Progress;

/// One point of so many is held out.
const HELD_OUT: usize = 5;

/// Iterations for each number of clusters.
const ITERATIONS: usize = 12;

/// Points that a cluster must have on average.
const LEAST_POINTS: usize = 8;

/// How well a number of clusters describes points that took no part: the mean logarithm of their
/// densities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterCount {
    /// The number of clusters.
    pub clusters: usize,
    /// The mean logarithm of the densities of points held out.
    pub likelihood: f64,
}

/// Tries 1, 2, 4, 8 … clusters for the rows of a matrix of `d` columns on four fifths of them,
/// until the rest is described worse than before, or a cluster had fewer than eight points on
/// average. The best is the number to take; all that were tried are returned, at least one. O(as
/// long as fitting the largest).
///
/// # Errors
/// As [`MixtureFit::new`]; [`crate::Error::Cancelled`].
pub fn choose_clusters(values: &[f32], d: usize, options: &MixtureOptions, progress: &Progress) -> Result<(usize, Vec<ClusterCount>)> {
    let (fitted, held_out) = hold_out(values, d, HELD_OUT);
    let n = fitted.len() / d.max(1);
    let mut tried: Vec<ClusterCount> = Vec::new();
    let mut clusters = 1;
    progress.begin("Trying numbers of clusters", 0);
    while clusters == 1 || clusters * LEAST_POINTS <= n {
        let options = MixtureOptions { clusters, ..options.clone() };
        let data = MixtureData::new(&fitted, d, options.covariance)?;
        let mut fit = MixtureFit::new(data, options, &Constraints::default())?;
        for _ in 0..ITERATIONS {
            fit.step(progress)?;
        }
        progress.step()?;
        let likelihood = if held_out.is_empty() { 0.0 } else { fit.model().likelihood(&held_out)?.mix };
        let is_worse = tried.last().is_some_and(|before| likelihood <= before.likelihood);
        tried.push(ClusterCount { clusters, likelihood });
        if is_worse {
            break;
        }
        clusters *= 2;
    }
    let best = tried.iter().fold(tried[0], |best, own| if own.likelihood > best.likelihood { *own } else { best });
    Ok((best.clusters, tried))
}
