//! That fits find clusters, agree with one another, and can be stopped and gone on with.

use proptest::prelude::*;
use tessera_core::canopy::{
    ClusterDraw, ClusterStart, Constraints, Covariance, MixtureData, MixtureFit, MixtureMethod, MixtureModel, MixtureOptions, MixtureState,
    Parameters, Prior, normalised_mutual_information, purity,
};
use tessera_core::progress::Progress;
use tessera_core::{Error, random};

/// Points around `k` well separated centres, and the centre of each.
fn separated(n: usize, d: usize, k: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
    let mut rng = random::seeded(seed);
    let centres: Vec<f64> = (0..k * d).map(|_| 12.0 * random::normal(&mut rng)).collect();
    let labels: Vec<u32> = (0..n as u32).map(|i| i % k as u32).collect();
    let values = labels
        .iter()
        .flat_map(|label| centres[*label as usize * d..][..d].to_vec())
        .map(|centre| (centre + random::normal(&mut rng)) as f32)
        .collect();
    (values, labels)
}

const WAYS: [(MixtureMethod, ClusterDraw); 7] = [
    (MixtureMethod::Em, ClusterDraw::Usual),
    (MixtureMethod::Esca, ClusterDraw::Usual),
    (MixtureMethod::Canopy1, ClusterDraw::Usual),
    (MixtureMethod::Canopy1, ClusterDraw::Rejection),
    (MixtureMethod::Canopy2, ClusterDraw::Usual),
    (MixtureMethod::Canopy2, ClusterDraw::TreeLists),
    (MixtureMethod::Canopy2, ClusterDraw::Rejection),
];

fn fitted(values: &[f32], d: usize, options: &MixtureOptions, constraints: &Constraints, iterations: usize) -> MixtureFit {
    let data = MixtureData::new(values, d, options.covariance).unwrap();
    let mut fit = MixtureFit::new(data, options.clone(), constraints).unwrap();
    for _ in 0..iterations {
        fit.step(&Progress::default()).unwrap();
    }
    fit
}

#[test]
fn all_methods_agree_on_separated_clusters() {
    let (d, k) = (8, 12);
    let (values, labels) = separated(4000, d, k, 1);
    let (train, test) = values.split_at(3600 * d);
    for covariance in [Covariance::Isotropic, Covariance::Diagonal] {
        let likelihood = |options: &MixtureOptions| {
            let fit = fitted(train, d, options, &Constraints::default(), 25);
            (fit.model().likelihood(test).unwrap().mix, purity(&fit.assign(), &labels[..3600]))
        };
        let options = |method, draw, clusters| {
            let start = if clusters == 1 { ClusterStart::Random1 } else { ClusterStart::Means(train[..k * d].to_vec()) };
            let (surrogate_points, candidates) = (Some(8), Some(4));
            MixtureOptions { clusters, covariance, method, draw, start, surrogate_points, candidates, ..MixtureOptions::default() }
        };
        let one = likelihood(&options(MixtureMethod::Em, ClusterDraw::Usual, 1)).0;
        let (best, best_purity) = likelihood(&options(MixtureMethod::Em, ClusterDraw::Usual, k));
        assert!(best > one + 3.0, "{best}, {one}");
        for (method, draw) in WAYS {
            let (own, own_purity) = likelihood(&options(method, draw, k));
            assert!(own >= best - 0.01 * (best - one), "{covariance:?} {method:?} {draw:?}: {own}, EM {best}, one Gaussian {one}");
            assert!(own_purity >= best_purity - 0.01, "{method:?} {draw:?}: {own_purity}, EM {best_purity}");
        }
    }
}

#[test]
fn directions_are_found_whatever_their_lengths() {
    let (d, k) = (5, 6);
    let (values, labels) = separated(1200, d, k, 4);
    let scaled: Vec<f32> = values.chunks(d).enumerate().flat_map(|(i, row)| row.iter().map(move |x| x * (1.0 + i as f32))).collect();
    for (method, draw) in WAYS {
        let options = MixtureOptions { clusters: k, covariance: Covariance::Directions, method, draw, ..MixtureOptions::default() };
        let fit = fitted(&scaled, d, &options, &Constraints::default(), 20);
        let found = fit.assign();
        assert!(normalised_mutual_information(&found, &labels) > 0.85, "{method:?}: {}", normalised_mutual_information(&found, &labels));
    }
}

/// The logarithm of the prior's density at a model's parameters, but for a constant.
fn log_prior(model: &MixtureModel, covariance: Covariance, prior: &Prior) -> f64 {
    let shares: f64 = model.shares().iter().map(|share| prior.share * share.ln()).sum();
    let of = |own: &Parameters| {
        if covariance == Covariance::Directions {
            // One direction of no length.
            return -covariance.family().natural(own).1;
        }
        let term = |(mean, variance): (&f64, &f64)| {
            let sum = prior.mean_weight * mean * mean + prior.variance_weight * prior.variance;
            -0.5 * (prior.variance_weight * variance.ln() + sum / variance)
        };
        own.middle.iter().zip(&own.spread).map(term).sum()
    };
    shares + model.parameters().iter().map(of).sum::<f64>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn expectation_maximisation_never_lowers_the_posterior(seed in any::<u64>(), k in 1usize..6, shape in 0usize..3) {
        let (n, d) = (200, 3);
        let covariance = [Covariance::Isotropic, Covariance::Diagonal, Covariance::Directions][shape];
        let (values, _) = separated(n, d, 4, seed);
        let mut options = MixtureOptions { clusters: k, covariance, method: MixtureMethod::Em, seed, ..MixtureOptions::default() };
        // What is added to variances is no part of what is maximised.
        options.prior.floor = 0.0;
        let data = MixtureData::new(&values, d, covariance).unwrap();
        let mut fit = MixtureFit::new(data, options.clone(), &Constraints::default()).unwrap();
        let mut last = f64::NEG_INFINITY;
        for iteration in 0..20 {
            let believed = log_prior(fit.model(), covariance, &options.prior);
            let now = n as f64 * fit.step(&Progress::default()).unwrap().likelihood.unwrap() + believed;
            prop_assert!(now >= last - 0.02, "{iteration}: {last} to {now}");
            last = now;
        }
    }

    #[test]
    fn fast_tables_agree_with_the_densities(seed in any::<u64>(), d in 1usize..40, k in 1usize..40, shape in 0usize..3) {
        let covariance = [Covariance::Isotropic, Covariance::Diagonal, Covariance::Directions][shape];
        let n = 60;
        let (values, _) = separated(n, d, 3, seed);
        let options = MixtureOptions { clusters: k.min(n), covariance, method: MixtureMethod::Esca, seed, ..MixtureOptions::default() };
        let fit = fitted(&values, d, &options, &Constraints::default(), 2);
        let (model, family) = (fit.model(), covariance.family());
        let best = model.best(&values).unwrap();
        for (row, (cluster, log)) in values.chunks(d).zip(best) {
            let length = if shape == 2 { row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt() } else { 1.0 };
            let x: Vec<f64> = row.iter().zip(model.centre()).map(|(x, centre)| (f64::from(*x) - centre) / length).collect();
            let logs: Vec<f64> = model.parameters().iter().zip(model.shares()).map(|(own, share)| family.log_density(&x, own) + share.ln()).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((logs[cluster as usize] - most).abs() <= 1e-3 * most.abs().max(1.0), "{cluster}: {logs:?}");
            prop_assert!((log - most).abs() <= 1e-3 * most.abs().max(1.0), "{log}, {most}");
        }
    }

    #[test]
    fn what_the_user_says_of_points_is_held_to(
        seed in any::<u64>(),
        together in prop::collection::vec((0u32..60, 0u32..60), 0..12),
        apart in prop::collection::vec((0u32..60, 0u32..60), 0..12),
        soft in any::<bool>(),
    ) {
        let (values, _) = separated(60, 2, 5, seed);
        let constraints = Constraints { together, apart };
        let options = MixtureOptions { clusters: 12, method: if soft { MixtureMethod::Em } else { MixtureMethod::Canopy2 }, seed, ..MixtureOptions::default() };
        let data = MixtureData::new(&values, 2, options.covariance).unwrap();
        let clusters = options.clusters;
        match MixtureFit::new(data, options, &constraints) {
            Err(error) => {
                prop_assert!(matches!(error, Error::Value { .. }), "{error}");
                prop_assert!(constraints.enough_clusters(60).is_ok_and(|least| least > clusters) || constraints.enough_clusters(60).is_err());
            }
            Ok(mut fit) => {
                for _ in 0..3 {
                    fit.step(&Progress::default()).unwrap();
                    for clusters in [fit.drawn(), fit.assign()] {
                        let of = |point: u32| clusters[point as usize];
                        prop_assert!(constraints.together.iter().all(|(a, b)| of(*a) == of(*b)));
                        prop_assert!(constraints.apart.iter().all(|(a, b)| of(*a) != of(*b)));
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_chosen_depends_on_clusters_and_dimensions() {
    let chosen = |clusters, d| MixtureOptions { clusters, ..MixtureOptions::default() }.chosen(d);
    for (clusters, d, method) in [
        (32, 30, MixtureMethod::Esca),
        (64, 30, MixtureMethod::Canopy2),
        (64, 784, MixtureMethod::Esca),
        (128, 784, MixtureMethod::Canopy2),
        (97, 100_000, MixtureMethod::Canopy2),
    ] {
        assert_eq!(chosen(clusters, d), method, "{clusters} clusters in {d} dimensions");
    }
}

#[test]
fn one_point_may_be_apart_from_many() {
    let (values, _) = separated(60, 2, 5, 3);
    let data = || MixtureData::new(&values, 2, Covariance::Diagonal).unwrap();
    let options = |clusters| MixtureOptions { clusters, ..MixtureOptions::default() };
    // All others may share a cluster.
    let star = Constraints { apart: (0..9).map(|other| (other, 9)).collect(), ..Constraints::default() };
    let fit = MixtureFit::new(data(), options(2), &star).unwrap();
    assert!(star.apart.iter().all(|(a, b)| fit.assign()[*a as usize] != fit.assign()[*b as usize]));
    // No two of these may.
    let all = Constraints { apart: (0..4).flat_map(|a| (0..a).map(move |b| (a, b))).collect(), ..Constraints::default() };
    assert_eq!(all.enough_clusters(60).unwrap(), 4);
    let refused = MixtureFit::new(data(), options(3), &all).err().unwrap().to_string();
    assert!(refused.contains("clusters: expected 4 or more"), "{refused}");
}

#[test]
fn a_fit_goes_on_bit_for_bit_and_is_equal_on_any_number_of_threads() {
    let d = 6;
    let (values, _) = separated(3000, d, 9, 8);
    for (method, draw) in WAYS {
        let options = MixtureOptions { clusters: 50, method, draw, surrogate_points: Some(10), ..MixtureOptions::default() };
        let whole = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fitted(&values, d, &options, &Constraints::default(), 4).state())
        };
        let one = whole(1);
        assert_eq!(one, whole(3), "{method:?} {draw:?}");
        let kept = fitted(&values, d, &options, &Constraints::default(), 2).state();
        let kept = ron::from_str(&ron::to_string(&kept).unwrap()).unwrap();
        let data = MixtureData::new(&values, d, options.covariance).unwrap();
        let mut fit = MixtureFit::resumed(data, options.clone(), &Constraints::default(), kept).unwrap();
        fit.step(&Progress::default()).unwrap();
        fit.step(&Progress::default()).unwrap();
        assert_eq!(fit.state(), one, "{method:?} {draw:?} gone on");
    }
}

#[test]
fn starts_are_what_they_say() {
    let d = 3;
    let (values, _) = separated(300, d, 5, 3);
    for start in [ClusterStart::Random1, ClusterStart::Random2, ClusterStart::KMeansPlusPlus, ClusterStart::CoverTree] {
        let options = MixtureOptions { clusters: 5, start: start.clone(), ..MixtureOptions::default() };
        let data = MixtureData::new(&values, d, options.covariance).unwrap();
        let model: MixtureModel = MixtureFit::new(data, options, &Constraints::default()).unwrap().model().clone();
        assert_eq!(model.clusters(), 5);
        let is_point =
            |mean: Vec<f64>| values.chunks(d).any(|row| row.iter().zip(&mean).all(|(x, mean)| (f64::from(*x) - mean).abs() < 1e-3));
        let points = (0..5).filter(|cluster| is_point(model.mean(*cluster))).count();
        assert_eq!(points, if start == ClusterStart::Random2 { 0 } else { 5 }, "{start:?}");
    }
}

#[test]
fn edges_are_errors_or_right() {
    let fit = |values: &[f32], clusters, method| {
        let options = MixtureOptions { clusters, method, ..MixtureOptions::default() };
        let data = MixtureData::new(values, 2, options.covariance)?;
        let mut fit = MixtureFit::new(data, options, &Constraints::default())?;
        for _ in 0..3 {
            fit.step(&Progress::default())?;
        }
        Ok::<_, Error>((fit.assign(), fit.model().clone()))
    };
    for (method, _) in WAYS {
        assert!(fit(&[], 1, method).is_err(), "no points");
        assert!(fit(&[1.0, 2.0], 2, method).is_err(), "more clusters than points");
        assert!(fit(&[1.0, 2.0], 0, method).is_err(), "no clusters");
        assert!(fit(&[f32::NAN, 2.0], 1, method).is_err(), "not a number");
        assert!(fit(&[1.0, 2.0, 3.0], 1, method).is_err(), "half a point");
        assert_eq!(fit(&[1.0, 2.0], 1, method).unwrap().0, [0]);
        // All points are equal, and there are as many clusters.
        let (assigned, model) = fit(&[5.0; 80], 40, method).unwrap();
        assert_eq!(assigned.len(), 40);
        assert!(model.checked().is_ok(), "{method:?}");
    }
    let cancelled = Progress::default();
    cancelled.cancel();
    let data = MixtureData::new(&[0.0, 1.0], 1, Covariance::Diagonal).unwrap();
    let mut fit = MixtureFit::new(data, MixtureOptions { clusters: 1, ..MixtureOptions::default() }, &Constraints::default()).unwrap();
    assert!(matches!(fit.step(&cancelled), Err(Error::Cancelled)));
    assert_eq!(fit.iterations(), 0);
}

#[test]
fn points_out_of_reach_of_all_clusters_end_in_one() {
    // One surrogate in the middle, from which the density of both clusters is 0 in f32.
    let far = 2f32.powi(49);
    let values: Vec<f32> = (0..64).map(|i| if i % 2 == 0 { -far } else { far }).collect();
    let prior = Prior { floor: 0.0, variance: 0.0, mean_weight: 0.0, ..Prior::default() };
    let options = MixtureOptions { clusters: 2, prior, surrogate_points: Some(64), ..MixtureOptions::default() };
    let narrow = MixtureOptions { method: MixtureMethod::Em, start: ClusterStart::Means(vec![-far, far]), ..options.clone() };
    let narrow = fitted(&values, 1, &narrow, &Constraints::default(), 3);
    assert!(narrow.model().parameters().iter().all(|own| own.spread[0] < 1e-9));
    for (method, draw) in WAYS {
        let options = MixtureOptions { method, draw, ..options.clone() };
        let state = MixtureState { model: narrow.model().clone(), assigned: vec![u32::MAX; 64], iterations: 0 };
        let data = MixtureData::new(&values, 1, options.covariance).unwrap();
        let mut fit = MixtureFit::resumed(data, options, &Constraints::default(), state).unwrap();
        for _ in 0..3 {
            fit.step(&Progress::default()).unwrap();
        }
        assert!(fit.drawn().into_iter().chain(fit.assign()).all(|cluster| cluster < 2), "{method:?} {draw:?}");
    }
}

#[test]
fn agreement_with_classes_is_measured_as_defined() {
    assert_eq!(purity(&[0, 0, 1, 1], &[3, 3, 3, 4]), 0.75);
    assert!((normalised_mutual_information(&[0, 0, 1, 1], &[5, 5, 2, 2]) - 1.0).abs() < 1e-12);
    assert!(normalised_mutual_information(&[0, 1, 0, 1], &[0, 0, 1, 1]).abs() < 1e-12);
    assert_eq!(normalised_mutual_information(&[0, 0], &[1, 1]), 1.0);
}
