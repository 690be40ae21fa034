//! Bounds of the densities of many clusters, by boxes around their parameters.
//!
//! Bounds of a tree add up the terms of a density in the same order, each at least as large, so
//! that rounding cannot bring them below what they bound, nor below the bounds further down.

use super::data::wide;
use super::family::{Covariance, Parameters};
use super::outcomes::{Likelihoods, OutcomeTree};
use crate::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::Metric;

/// A tree of clusters in which each subtree has a box around its means and variances.
pub struct ClusterTree {
    covariance: Covariance,
    /// The cluster at each node of `tree`.
    pub clusters: Vec<u32>,
    /// The nodes, with the shares of their clusters.
    pub tree: OutcomeTree,
    /// The box of the cluster at each node, and that of all clusters from it down.
    own: Vec<ParameterBox>,
    boxes: Vec<ParameterBox>,
}

/// Bounds of the parameters of some clusters.
#[derive(Clone)]
struct ParameterBox {
    /// The largest constant of a density.
    constant: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    /// The largest variance of each dimension; nothing for directions.
    widest: Vec<f64>,
}

impl ClusterTree {
    /// A cover tree of the clusters' means, with the share of each cluster; there is one or more.
    /// O(clusters log clusters) distances.
    ///
    /// # Errors
    /// None for finite means.
    pub fn new(covariance: Covariance, parameters: &[Parameters], shares: &[f64]) -> Result<Self> {
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
        let own: Vec<ParameterBox> = clusters.iter().map(|cluster| ParameterBox::of(covariance, &parameters[*cluster as usize])).collect();
        let mut boxes = own.clone();
        for node in (0..boxes.len()).rev() {
            if let Some(parent) = tree.parents()[node] {
                let (above, below) = boxes.split_at_mut(node);
                above[parent as usize].widen(&below[0]);
            }
        }
        Ok(Self { covariance, clusters, tree, own, boxes })
    }

    /// The likelihoods of a point in these clusters.
    pub fn at<'a>(&'a self, x: &'a [f64]) -> PointLikelihoods<'a> {
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

    /// The logarithm of a density at `x` that none of these clusters exceeds; of one cluster its
    /// own. O(d).
    fn most(&self, covariance: Covariance, x: &[f64]) -> f64 {
        let sides = x.iter().zip(self.low.iter().zip(&self.high));
        let sum: f64 = if covariance == Covariance::Directions {
            sides.map(|(x, (low, high))| (x * low).max(x * high)).sum()
        } else {
            let outside = |(x, (low, high)): (&f64, (&f64, &f64))| (low - x).max(x - high).max(0.0);
            sides.map(outside).zip(&self.widest).map(|(outside, variance)| -0.5 * outside * outside / variance).sum()
        };
        self.constant + sum
    }
}

/// The likelihoods of one point.
pub struct PointLikelihoods<'a> {
    clusters: &'a ClusterTree,
    x: &'a [f64],
}

impl Likelihoods for PointLikelihoods<'_> {
    fn likelihood(&self, outcome: u32) -> f64 {
        self.clusters.own[outcome as usize].most(self.clusters.covariance, self.x)
    }

    fn bound(&self, outcome: u32) -> f64 {
        self.clusters.boxes[outcome as usize].most(self.clusters.covariance, self.x)
    }
}

/// The least and the largest natural parameter of all clusters, value by value.
pub struct NaturalBox {
    covariance: Covariance,
    sides: Vec<(f64, f64)>,
}

impl NaturalBox {
    /// The box of some clusters, one or more. O(clusters * d).
    pub fn new(covariance: Covariance, parameters: &[Parameters]) -> Self {
        let family = covariance.family();
        let mut sides: Vec<(f64, f64)> = Vec::new();
        for own in parameters {
            let theta = family.natural(own).0;
            sides.resize(theta.len(), (f64::INFINITY, f64::NEG_INFINITY));
            sides.iter_mut().zip(theta).for_each(|(side, theta)| *side = (side.0.min(theta), side.1.max(theta)));
        }
        Self { covariance, sides }
    }

    /// At least the largest logarithm of how much more likely a cluster is at `x` than at `near`.
    /// O(d).
    pub fn of(&self, x: &[f32], near: &[f32]) -> f64 {
        let family = self.covariance.family();
        let phi = |row: &[f32]| family.phi(&wide(row));
        phi(x).iter().zip(phi(near)).zip(&self.sides).map(|((x, near), (low, high))| ((x - near) * low).max((x - near) * high)).sum()
    }
}
