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
pub(super) struct ClusterTree {
    covariance: Covariance,
    /// The cluster at each node of `tree`.
    pub(super) clusters: Vec<u32>,
    pub(super) tree: OutcomeTree,
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
    /// A cover tree of the clusters' means. O(clusters log clusters) distances.
    ///
    /// # Errors
    /// None for finite means.
    pub(super) fn new(covariance: Covariance, parameters: &[Parameters], shares: &[f64]) -> Result<Self> {
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
    pub(super) fn at<'a>(&'a self, x: &'a [f64]) -> PointLikelihoods<'a> {
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
pub(super) struct PointLikelihoods<'a> {
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
pub(super) struct NaturalBox {
    covariance: Covariance,
    sides: Vec<(f64, f64)>,
}

impl NaturalBox {
    pub(super) fn new(covariance: Covariance, parameters: &[Parameters]) -> Self {
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
    pub(super) fn of(&self, x: &[f32], near: &[f32]) -> f64 {
        let family = self.covariance.family();
        let phi = |row: &[f32]| family.phi(&wide(row));
        phi(x).iter().zip(phi(near)).zip(&self.sides).map(|((x, near), (low, high))| ((x - near) * low).max((x - near) * high)).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ClusterTree, NaturalBox};
    use crate::canopy::data::wide;
    use crate::canopy::family::{Covariance, Parameters};
    use crate::canopy::outcomes::{Frontier, Likelihoods as _};
    use crate::random::{self, Rng};

    /// Clusters with their shares, and points near and far.
    #[derive(Debug)]
    struct Made {
        covariance: Covariance,
        parameters: Vec<Parameters>,
        shares: Vec<f64>,
        points: Vec<Vec<f32>>,
    }

    fn made() -> impl Strategy<Value = Made> {
        (0usize..3, 1usize..40, 1usize..9, any::<u64>()).prop_map(|(shape, k, d, seed)| {
            let covariance = [Covariance::Isotropic, Covariance::Diagonal, Covariance::Directions][shape];
            let mut rng = random::seeded(seed);
            let scale = 10f64.powf(rng.random_range(-2.0..2.0));
            let spreads = rng.random_range(0.0..3.0);
            let row = |rng: &mut Rng, scale: f64| -> Vec<f64> {
                let row: Vec<f64> = (0..d).map(|_| scale * random::normal(rng)).collect();
                let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                if covariance == Covariance::Directions { row.into_iter().map(|value| value / length).collect() } else { row }
            };
            let variance = |rng: &mut Rng| 10f64.powf(rng.random_range(-spreads..=spreads));
            let mut parameters: Vec<Parameters> = Vec::new();
            for at in 0..k {
                // Some have the mean of another, as clusters without points do.
                let other = (at > 0 && rng.random_bool(0.2)).then(|| parameters[rng.random_range(0..at)].middle.clone());
                let middle = other.unwrap_or_else(|| row(&mut rng, scale));
                let spread = match covariance {
                    Covariance::Isotropic => vec![variance(&mut rng); d],
                    Covariance::Diagonal => (0..d).map(|_| variance(&mut rng)).collect(),
                    Covariance::Directions => vec![variance(&mut rng)],
                };
                parameters.push(Parameters { middle, spread });
            }
            let shares: Vec<f64> = (0..k).map(|_| rng.random_range(0.01..1.0)).collect();
            let total: f64 = shares.iter().sum();
            let narrow = |row: Vec<f64>| row.into_iter().map(|value| value as f32).collect();
            let mut points: Vec<Vec<f32>> = [0.1, 1.0, 1.0, 1.0, 10.0].into_iter().map(|far| narrow(row(&mut rng, far * scale))).collect();
            points.push(narrow(parameters[0].middle.clone()));
            Made { covariance, parameters, shares: shares.into_iter().map(|share| share / total).collect(), points }
        })
    }

    impl Made {
        fn density(&self, x: &[f64], cluster: usize) -> f64 {
            self.covariance.family().log_density(x, &self.parameters[cluster])
        }

        /// The posterior of the clusters at a point, by their densities.
        fn posterior(&self, x: &[f64]) -> Vec<f64> {
            let logs: Vec<f64> = self.shares.iter().enumerate().map(|(at, share)| share.ln() + self.density(x, at)).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = logs.iter().map(|log| (log - most).exp()).sum();
            logs.into_iter().map(|log| (log - most).exp() / total).collect()
        }
    }

    proptest! {
        #[test]
        fn no_cluster_of_a_subtree_exceeds_its_bound(made in made()) {
            let clusters = ClusterTree::new(made.covariance, &made.parameters, &made.shares).unwrap();
            let mut named = clusters.clusters.clone();
            named.sort_unstable();
            prop_assert!(named.into_iter().eq(0..made.parameters.len() as u32), "each cluster is at one node");
            for x in &made.points {
                let x = wide(x);
                let at = clusters.at(&x);
                for node in 0..clusters.tree.len() as u32 {
                    let (own, density) = (at.likelihood(node), made.density(&x, clusters.clusters[node as usize] as usize));
                    prop_assert!((own - density).abs() <= 1e-9 * (1e3 + density.abs()), "{own}, not {density}");
                    let (mut below, mut above) = (at.bound(node), Some(node));
                    while let Some(ancestor) = above {
                        let bound = at.bound(ancestor);
                        prop_assert!(own <= bound, "{own} above the bound {bound} of {ancestor}");
                        prop_assert!(below <= bound, "the bound {below} above that of {ancestor}, {bound}");
                        (below, above) = (bound, clusters.tree.parents()[ancestor as usize]);
                    }
                }
            }
        }

        #[test]
        fn what_a_list_leaves_out_is_bounded(made in made(), share in 1e-6..1.0f64, most in 1usize..40) {
            let clusters = ClusterTree::new(made.covariance, &made.parameters, &made.shares).unwrap();
            for x in &made.points {
                let x = wide(x);
                let mut frontier = Frontier::new(&clusters.tree, clusters.at(&x));
                let bound = frontier.refine(share, most);
                let posterior = made.posterior(&x);
                let mut is_listed = vec![false; posterior.len()];
                frontier.singles().for_each(|(node, _)| is_listed[clusters.clusters[node as usize] as usize] = true);
                let outside: f64 = posterior.iter().zip(&is_listed).filter(|(_, is_listed)| !**is_listed).map(|(share, _)| share).sum();
                prop_assert!(outside <= bound + 1e-9, "{outside} left out, at most {bound} told");
                let listed = is_listed.iter().filter(|is_listed| **is_listed).count();
                prop_assert!(bound <= share || listed >= most.min(posterior.len()), "{listed} clusters for {bound}");
                prop_assert!(listed < posterior.len() || bound == 0.0);
            }
        }

        /// The partition of one point, with bounds at another, draws by the other's posterior.
        #[test]
        fn a_frontier_found_nearby_has_the_law_of_the_point(made in made(), most in 1usize..40) {
            let clusters = ClusterTree::new(made.covariance, &made.parameters, &made.shares).unwrap();
            let near = wide(&made.points[0]);
            let mut frontier = Frontier::new(&clusters.tree, clusters.at(&near));
            frontier.refine(1.0, most);
            for x in &made.points {
                let x = wide(x);
                let law = frontier.for_another(clusters.at(&x)).law();
                let total: f64 = law.iter().sum();
                prop_assert!(total <= 1.0 + 1e-9, "{total}");
                // Where no round is likely to end, the law is told by what rounding leaves of it.
                prop_assume!(total > 1e-200);
                let posterior = made.posterior(&x);
                for (node, share) in law.iter().enumerate() {
                    let expected = posterior[clusters.clusters[node] as usize];
                    prop_assert!((share / total - expected).abs() < 1e-8, "{} for {expected}", share / total);
                }
            }
        }

        #[test]
        fn no_point_of_a_group_exceeds_its_bound(made in made(), alone in any::<prop::sample::Index>()) {
            let d = made.points[0].len();
            let near: Vec<f32> = (0..d).map(|i| made.points.iter().map(|x| x[i]).sum::<f32>() / made.points.len() as f32).collect();
            let all = NaturalBox::new(made.covariance, &made.parameters);
            let one = alone.index(made.parameters.len());
            let single = NaturalBox::new(made.covariance, &made.parameters[one..=one]);
            for x in &made.points {
                let bound = all.of(x, &near);
                let gain = |cluster: usize| {
                    let (here, there) = (made.density(&wide(x), cluster), made.density(&wide(&near), cluster));
                    (here - there, 1e-9 * (1e3 + here.abs() + there.abs() + bound.abs()))
                };
                for cluster in 0..made.parameters.len() {
                    let (gain, rounding) = gain(cluster);
                    prop_assert!(gain <= bound + rounding, "{gain} of cluster {cluster}, at most {bound} told");
                }
                // The bound of one cluster is what it gains; none grows by leaving clusters out.
                let (gain, rounding) = gain(one);
                prop_assert!((single.of(x, &near) - gain).abs() <= rounding && single.of(x, &near) <= bound);
            }
        }
    }
}
