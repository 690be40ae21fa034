//! Bounds of the densities of all clusters in a subtree, by boxes around their parameters.

use super::family::{Covariance, Parameters};
use super::outcomes::{Likelihoods, OutcomeTree};
use crate::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::Metric;

/// A tree of clusters in which each subtree has a box around its means and variances.
pub(super) struct ClusterTree<'a> {
    covariance: Covariance,
    parameters: &'a [Parameters],
    /// The cluster at each node of `tree`.
    pub(super) clusters: Vec<u32>,
    pub(super) tree: OutcomeTree,
    boxes: Vec<ParameterBox>,
}

/// Bounds of the parameters in a subtree.
#[derive(Clone)]
struct ParameterBox {
    /// The largest constant of a density.
    constant: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    /// The largest variance of each dimension; nothing for directions.
    widest: Vec<f64>,
}

impl<'a> ClusterTree<'a> {
    /// A cover tree of the clusters' means. O(clusters log clusters) distances.
    ///
    /// # Errors
    /// None for finite means.
    pub(super) fn new(covariance: Covariance, parameters: &'a [Parameters], shares: &[f64]) -> Result<Self> {
        let d = parameters[0].middle.len();
        let means: Vec<f32> = parameters.iter().flat_map(|own| &own.middle).map(|value| *value as f32).collect();
        let ids: Vec<ItemId> = (0..parameters.len() as u32).map(ItemId).collect();
        let cover = DenseTree::new(DensePoints::new(d, means)?, &ids, Metric::Euclidean, CoverTreeOptions::default())?;
        let (mut clusters, mut parents) = (Vec::new(), Vec::new());
        let mut open: Vec<(u32, Option<u32>)> = cover.root().map(|root| (root, None)).into_iter().collect();
        while let Some((node, parent)) = open.pop() {
            let own = clusters.len() as u32;
            // Clusters of equal means are children of the first of them.
            for (id, at) in cover.ids(node).zip(0..) {
                clusters.push(id.0);
                parents.push(if at == 0 { parent } else { Some(own) });
            }
            open.extend(cover.children(node).map(|child| (child, Some(own))));
        }
        let tree = OutcomeTree::new(parents, clusters.iter().map(|cluster| shares[*cluster as usize]).collect());
        let mut boxes: Vec<ParameterBox> =
            clusters.iter().map(|cluster| ParameterBox::of(covariance, &parameters[*cluster as usize])).collect();
        for node in (0..boxes.len()).rev() {
            if let Some(parent) = tree.parents()[node] {
                let (above, own) = boxes.split_at_mut(node);
                above[parent as usize].widen(&own[0]);
            }
        }
        Ok(Self { covariance, parameters, clusters, tree, boxes })
    }

    /// The likelihoods of a point in these clusters.
    pub(super) fn at(&'a self, x: &'a [f64]) -> PointLikelihoods<'a> {
        PointLikelihoods { clusters: self, x }
    }
}

impl ParameterBox {
    fn of(covariance: Covariance, parameters: &Parameters) -> Self {
        if covariance == Covariance::Directions {
            let (theta, g) = covariance.family().natural(parameters);
            return Self { constant: -g, low: theta.clone(), high: theta, widest: Vec::new() };
        }
        let constant = parameters.spread.iter().map(|variance| -0.5 * (std::f64::consts::TAU * variance).ln()).sum();
        Self { constant, low: parameters.middle.clone(), high: parameters.middle.clone(), widest: parameters.spread.clone() }
    }

    fn widen(&mut self, other: &Self) {
        self.constant = self.constant.max(other.constant);
        self.low.iter_mut().zip(&other.low).for_each(|(low, other)| *low = low.min(*other));
        self.high.iter_mut().zip(&other.high).for_each(|(high, other)| *high = high.max(*other));
        self.widest.iter_mut().zip(&other.widest).for_each(|(widest, other)| *widest = widest.max(*other));
    }
}

/// The likelihoods of one point.
pub(super) struct PointLikelihoods<'a> {
    clusters: &'a ClusterTree<'a>,
    x: &'a [f64],
}

impl Likelihoods for PointLikelihoods<'_> {
    fn likelihood(&self, outcome: u32) -> f64 {
        let cluster = self.clusters.clusters[outcome as usize] as usize;
        self.clusters.covariance.family().log_density(self.x, &self.clusters.parameters[cluster])
    }

    fn bound(&self, outcome: u32) -> f64 {
        let own = &self.clusters.boxes[outcome as usize];
        let sides = self.x.iter().zip(own.low.iter().zip(&own.high));
        let sum: f64 = if self.clusters.covariance == Covariance::Directions {
            sides.map(|(x, (low, high))| (x * low).max(x * high)).sum()
        } else {
            let outside = |(x, (low, high)): (&f64, (&f64, &f64))| (low - x).max(x - high).max(0.0);
            sides.map(outside).zip(&own.widest).map(|(outside, variance)| -0.5 * outside * outside / variance).sum()
        };
        // Rounding must not bring the bound below what it bounds.
        own.constant + sum + 1e-9 * (own.constant.abs() + sum.abs())
    }
}
