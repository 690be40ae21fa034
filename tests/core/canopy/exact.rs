//! That what is drawn has the right law, and that densities are what they should be.

use proptest::prelude::*;
use tessera_core::canopy::{
    AliasTable, ClusterDraw, ClusterStart, Constraints, Covariance, Family, Frontier, Likelihoods, MixtureData, MixtureFit, MixtureMethod,
    MixtureOptions, OutcomeTree, Parameters, Prior,
};
use tessera_core::progress::Progress;
use tessera_core::random;

/// Pearson's statistic of counts, and the number of outcomes that it is over; outcomes of which
/// fewer than five are expected are put together.
pub(super) fn chi_square(counts: &[u64], law: &[f64]) -> (f64, f64) {
    let n: u64 = counts.iter().sum();
    let (mut statistic, mut terms, mut rest) = (0.0, 0.0, (0.0, 0.0));
    for (count, share) in counts.iter().zip(law) {
        let expected = share * n as f64;
        if expected < 5.0 {
            rest = (rest.0 + *count as f64, rest.1 + expected);
        } else {
            statistic += (*count as f64 - expected).powi(2) / expected;
            terms += 1.0;
        }
    }
    if rest.1 > 0.5 {
        statistic += (rest.0 - rest.1).powi(2) / rest.1;
        terms += 1.0;
    }
    (statistic, terms - 1.0)
}

/// That counts may come from a law: the statistic is far beyond any that chance gives in a billion
/// tries.
pub(super) fn assert_law(counts: &[u64], law: &[f64], what: &str) {
    let (statistic, freedom) = chi_square(counts, law);
    assert!(statistic < freedom + 8.0 * (2.0 * freedom.max(1.0)).sqrt() + 30.0, "{what}: {statistic} for {freedom}: {counts:?}, {law:?}");
}

proptest! {
    #[test]
    fn a_table_has_the_law_of_its_weights(weights in prop::collection::vec(prop_oneof![Just(0.0), 1e-9..1e9f64], 1..50)) {
        let total: f64 = weights.iter().sum();
        match AliasTable::new(&weights) {
            Err(_) => prop_assert!(total == 0.0),
            Ok(table) => {
                for (share, weight) in table.law().iter().zip(&weights) {
                    prop_assert!((share - weight / total).abs() < 1e-12);
                }
                prop_assert_eq!(table.len(), weights.len());
            }
        }
    }
}

#[test]
fn a_million_draws_of_a_table_follow_it() {
    let weights = [0.5, 3.0, 0.0, 1.0, 1e-3, 7.0, 0.25];
    let table = AliasTable::new(&weights).unwrap();
    let mut rng = random::seeded(7);
    let mut counts = [0u64; 7];
    (0..1_000_000).for_each(|_| counts[table.draw(&mut rng)] += 1);
    assert_eq!(counts[2], 0);
    assert_law(&counts, &table.law(), "alias table");
    assert!(AliasTable::new(&[]).is_err() && AliasTable::new(&[1.0, -1.0]).is_err() && AliasTable::new(&[f64::NAN]).is_err());
}

/// A random tree of outcomes with likelihoods and bounds that are valid and more or less loose.
#[derive(Debug)]
struct Made {
    tree: OutcomeTree,
    shares: Vec<f64>,
    likelihoods: Vec<f64>,
    bounds: Vec<f64>,
}

impl Likelihoods for &Made {
    fn likelihood(&self, outcome: u32) -> f64 {
        self.likelihoods[outcome as usize]
    }

    fn bound(&self, outcome: u32) -> f64 {
        self.bounds[outcome as usize]
    }
}

fn made() -> impl Strategy<Value = Made> {
    let node = (any::<prop::sample::Index>(), 0.01..1.0f64, -30.0..0.0f64, prop_oneof![Just(0.0), 0.0..4.0f64]);
    prop::collection::vec(node, 1..25).prop_map(|nodes| {
        let parents: Vec<Option<u32>> =
            nodes.iter().enumerate().map(|(at, node)| (at > 0).then(|| node.0.index(at.max(1)) as u32)).collect();
        let shares: Vec<f64> = nodes.iter().map(|node| node.1).collect();
        let likelihoods: Vec<f64> = nodes.iter().map(|node| node.2).collect();
        let mut most = likelihoods.clone();
        for at in (1..most.len()).rev() {
            let parent = parents[at].unwrap() as usize;
            most[parent] = most[parent].max(most[at]);
        }
        let bounds = most.iter().zip(&nodes).map(|(most, node)| most + node.3).collect();
        Made { tree: OutcomeTree::new(parents, shares.clone()), shares, likelihoods, bounds }
    })
}

impl Made {
    fn posterior(&self) -> Vec<f64> {
        let masses: Vec<f64> = self.shares.iter().zip(&self.likelihoods).map(|(share, likelihood)| share * likelihood.exp()).collect();
        let total: f64 = masses.iter().sum();
        masses.into_iter().map(|mass| mass / total).collect()
    }
}

proptest! {
    #[test]
    fn rejection_on_a_tree_has_the_law_of_the_posterior(made in made(), refined in 0usize..12) {
        let mut frontier = Frontier::new(&made.tree, &made);
        let left = frontier.refine(1e-12, refined);
        let law = frontier.law();
        let total: f64 = law.iter().sum();
        prop_assert!(total <= 1.0 + 1e-10);
        for (share, expected) in law.iter().zip(made.posterior()) {
            prop_assert!((share / total - expected).abs() < 1e-10, "{law:?}");
        }
        // The bound of what is not among the single outcomes holds.
        let single: f64 = frontier.singles().map(|(outcome, _)| made.posterior()[outcome as usize]).sum();
        prop_assert!(1.0 - single <= left + 1e-10, "{single}, {left}");
    }

    #[test]
    fn rejection_on_a_tree_draws_the_posterior(made in made(), seed in any::<u64>()) {
        let mut rng = random::seeded(seed);
        let mut counts = vec![0u64; made.shares.len()];
        for _ in 0..300 {
            // Fresh for some draws, and kept from one to the next for others.
            let mut frontier = Frontier::new(&made.tree, &made);
            for _ in 0..10 {
                let (outcome, failed) = frontier.draw(&mut rng);
                prop_assert!(failed <= made.shares.len());
                counts[outcome as usize] += 1;
            }
        }
        assert_law(&counts, &made.posterior(), "rejection");
    }

    #[test]
    fn densities_are_those_of_the_natural_parameters(seed in any::<u64>(), d in 1usize..9, shape in 0usize..3) {
        let covariance = [Covariance::Isotropic, Covariance::Diagonal, Covariance::Directions][shape];
        let family: &dyn Family = covariance.family();
        let mut rng = random::seeded(seed);
        let points: Vec<Vec<f64>> = (0..12).map(|_| (0..d).map(|_| random::normal(&mut rng)).collect()).collect();
        let mut sums = vec![0.0; family.statistics(d)];
        points.iter().for_each(|x| sums.iter_mut().zip(family.phi(x)).for_each(|(sum, value)| *sum += value));
        let own = family.estimate(12.0, &sums, &Prior::default());
        let (theta, g) = family.natural(&own);
        for x in &points {
            let direct = family.phi(x).iter().zip(&theta).map(|(phi, theta)| phi * theta).sum::<f64>() - g;
            prop_assert!((family.log_density(x, &own) - direct).abs() < 1e-6 * direct.abs().max(1.0), "{direct}");
        }
    }

    /// The parameters are those of the largest density: no others nearby have a larger one.
    #[test]
    fn estimates_are_most_probable(seed in any::<u64>(), shape in 0usize..3) {
        let covariance = [Covariance::Isotropic, Covariance::Diagonal, Covariance::Directions][shape];
        let family = covariance.family();
        let mut rng = random::seeded(seed);
        let d = 3;
        let points: Vec<Vec<f64>> = (0..200)
            .map(|_| {
                let x: Vec<f64> = (0..d).map(|at| at as f64 + random::normal(&mut rng)).collect();
                let length = if shape == 2 { x.iter().map(|value| value * value).sum::<f64>().sqrt() } else { 1.0 };
                x.into_iter().map(|value| value / length).collect()
            })
            .collect();
        let mut sums = vec![0.0; family.statistics(d)];
        points.iter().for_each(|x| sums.iter_mut().zip(family.phi(x)).for_each(|(sum, value)| *sum += value));
        // Next to no prior, so that the most probable are the most likely.
        let prior = Prior { mean_weight: 0.0, variance_weight: 0.0, variance: 0.0, floor: 0.0, share: 1.0 };
        let weight = if shape == 2 { 199.0 } else { 200.0 };
        let own = family.estimate(weight, &sums, &prior);
        let likelihood = |own: &Parameters| points.iter().map(|x| family.log_density(x, own)).sum::<f64>();
        let best = likelihood(&own);
        for at in 0..own.spread.len() {
            for factor in [0.9, 1.1] {
                let mut other = own.clone();
                if shape == 0 { other.spread.iter_mut().for_each(|value| *value *= factor) } else { other.spread[at] *= factor }
                prop_assert!(likelihood(&other) < best, "spread {at} x {factor}");
            }
        }
    }
}

/// The density of a direction in three dimensions is known in closed form.
#[test]
fn directions_integrate_to_one() {
    let family = Covariance::Directions.family();
    for concentration in [0.1f64, 3.0, 250.0] {
        let own = Parameters { middle: vec![1.0, 0.0, 0.0], spread: vec![concentration] };
        let expected = concentration - (2.0 * std::f64::consts::TAU * concentration.sinh().min(f64::MAX) / concentration).ln();
        let expected = if concentration > 100.0 { (concentration / std::f64::consts::TAU).ln() } else { expected };
        assert!((family.log_density(&[1.0, 0.0, 0.0], &own) - expected).abs() < 1e-6, "{concentration}");
    }
    let even = Parameters { middle: vec![1.0, 0.0, 0.0], spread: vec![0.0] };
    assert!((family.log_density(&[0.0, 1.0, 0.0], &even) + (2.0 * std::f64::consts::TAU).ln()).abs() < 1e-12);
}

/// With parameters that stand still, draws from the posterior stay draws from the posterior,
/// however poor the proposals are.
#[test]
fn every_method_leaves_the_posterior_as_it_is() {
    let (k, d, copies) = (40, 2, 2000);
    let mut rng = random::seeded(2);
    let middles: Vec<f32> = (0..k * d).map(|_| (3.0 * random::normal(&mut rng)) as f32).collect();
    let kinds: Vec<Vec<f32>> = (0..6).map(|_| (0..d).map(|_| (3.0 * random::normal(&mut rng)) as f32).collect()).collect();
    let values: Vec<f32> = (0..kinds.len() * copies).flat_map(|i| kinds[i % kinds.len()].clone()).collect();
    let ways = [
        (MixtureMethod::Esca, ClusterDraw::Usual),
        (MixtureMethod::Canopy1, ClusterDraw::Usual),
        (MixtureMethod::Canopy1, ClusterDraw::Rejection),
        (MixtureMethod::Canopy2, ClusterDraw::Usual),
        (MixtureMethod::Canopy2, ClusterDraw::TreeLists),
        (MixtureMethod::Canopy2, ClusterDraw::Rejection),
    ];
    for covariance in [Covariance::Isotropic, Covariance::Diagonal, Covariance::Directions] {
        let data = MixtureData::new(&values, d, covariance).unwrap();
        // One group holds several kinds of points, and lists are short.
        let options = |method, draw| {
            let start = ClusterStart::Means(middles.clone());
            let (surrogate_points, candidates) = (Some(3 * copies), Some(8));
            MixtureOptions { clusters: k, covariance, method, draw, start, surrogate_points, candidates, ..MixtureOptions::default() }
        };
        let none = Constraints::default();
        let mut exact = MixtureFit::new(data.clone(), options(MixtureMethod::Esca, ClusterDraw::Usual), &none).unwrap();
        exact.draw_only(1000, &Progress::default()).unwrap();
        let model = exact.model().clone();
        for (method, draw) in ways {
            let mut fit = MixtureFit::resumed(data.clone(), options(method, draw), &none, exact.state()).unwrap();
            for round in 0..30 {
                fit.draw_only(round, &Progress::default()).unwrap();
            }
            let mut counts = vec![vec![0u64; k]; kinds.len()];
            fit.drawn().iter().enumerate().for_each(|(i, cluster)| counts[i % kinds.len()][*cluster as usize] += 1);
            for (counts, kind) in counts.iter().zip(&kinds) {
                let length =
                    if covariance == Covariance::Directions { kind.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt() } else { 1.0 };
                let x: Vec<f64> = kind.iter().zip(model.centre()).map(|(x, centre)| (f64::from(*x) - centre) / length).collect();
                let logs: Vec<f64> = model.parameters().iter().map(|own| covariance.family().log_density(&x, own)).collect();
                let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = logs.iter().map(|log| (log - most).exp()).sum();
                let law: Vec<f64> = logs.iter().map(|log| (log - most).exp() / total).collect();
                assert_law(counts, &law, &format!("{covariance:?} {method:?} {draw:?}"));
            }
        }
    }
}
