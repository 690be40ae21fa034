//! That bounds of the densities of many clusters hold, and lists have the most probable.

use proptest::prelude::*;
use tessera_core::canopy::{ClusterTree, Covariance, Frontier, Likelihoods as _, MostProbable, NaturalBox, Parameters};
use tessera_core::random::{self, Rng};

fn wide(row: &[f32]) -> Vec<f64> {
    row.iter().map(|value| f64::from(*value)).collect()
}

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
    fn a_list_has_the_most_probable_and_tells_the_share_of_the_rest(
        scores in prop::collection::vec(prop_oneof![-40.0..0.0f32, Just(-7.5f32), Just(-1e4f32)], 1..400),
        most in 1usize..70,
    ) {
        let mut blocks = vec![[f32::NEG_INFINITY; 16]; scores.len().div_ceil(16)];
        scores.iter().enumerate().for_each(|(at, score)| blocks[at / 16][at % 16] = *score);
        let mut probable = MostProbable::default();
        probable.listed = vec![5];
        let told = probable.list(&mut blocks, scores.len(), most);
        let listed = &mut probable.listed;
        listed.sort_unstable();
        let mut expected: Vec<u32> = (0..scores.len() as u32).collect();
        expected.sort_by(|a, b| scores[*b as usize].total_cmp(&scores[*a as usize]));
        expected.truncate(most);
        expected.sort_unstable();
        prop_assert_eq!(&*listed, &expected);
        let share = |score: &f32| f64::from(*score).exp();
        let total: f64 = scores.iter().map(share).sum();
        let rest: f64 = (0..).zip(&scores).filter(|(at, _)| !listed.contains(at)).map(|(_, score)| share(score)).sum();
        prop_assert!(total == 0.0 || (told - rest / total).abs() < 1e-5, "{told}, not {}", rest / total);
    }

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
