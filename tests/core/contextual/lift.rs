//! Other distances: the maps are what they claim, and the loss of learning by them is within their
//! bounds.

use proptest::prelude::*;
use rand::RngExt;
use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::contextual::{ApproximateLadder, Contextual, ContextualOptions, EllipsoidLadder, Geometry, Lift, PairLearner, PairSpace};
use tessera_core::ids::ClassId;
use tessera_core::learn::OnlineClassifier;
use tessera_core::random::{self, Rng};

use super::{centres, dot, unit};

const METRICS: [Geometry; 5] = [Geometry::Inner, Geometry::L2, Geometry::Even(2), Geometry::Even(4), Geometry::Even(8)];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn maps_are_what_they_claim(metric in prop::sample::select(METRICS.to_vec()), d in 1usize..6, seed in 0u64..1000) {
        let mut rng = random::seeded(seed);
        let lift = Lift::new(metric, d).unwrap();
        let q: Vec<f64> = unit(d, &mut rng).iter().map(|x| x * if rng.random() { 1.0 } else { 0.7 }).collect();
        let centres = centres(2, d, &mut rng);
        let phi = lift.map(&q);
        prop_assert_eq!(phi.len(), lift.dimension());
        prop_assert!(dot(&phi, &phi) <= 1.0 + 1e-12);
        let (h, g) = (lift.image(&centres[0]).unwrap(), lift.image(&centres[1]).unwrap());
        let w: Vec<f64> = h.iter().zip(&g).map(|(a, b)| a - b).collect();
        prop_assert!(dot(&w, &w).sqrt() <= lift.radius() * (1.0 + 1e-12));
        let power = match metric { Geometry::Inner => 1.0, Geometry::Even(p) => f64::from(p), _ => 2.0 };
        let near = |i: usize| { let value = lift.nearness(&q, &centres[i]); if metric == Geometry::Inner { value } else { -(-value).powf(power) } };
        prop_assert!((dot(&phi, &w) - (near(0) - near(1))).abs() < 1e-10 * lift.radius(), "{} and {}", dot(&phi, &w), near(0) - near(1));
        let (truth, guess) = if dot(&phi, &w) >= 0.0 { (0, 1) } else { (1, 0) };
        let loss = lift.loss(&q, &centres[guess], &centres[truth]);
        prop_assert!(loss >= -1e-12 && loss.max(0.0) <= (dot(&phi, &w).abs() + 1e-14 * lift.radius()).powf(lift.power(1.0)) + 1e-9);
    }
}

/// The total loss in the metric itself is within the bound of the mapped one, for plain and squared
/// losses.
#[test]
fn the_bound_is_that_of_the_metric() {
    for metric in [Geometry::L2, Geometry::Even(4)] {
        for wanted in [1.0, 2.0] {
            let mut rng = random::seeded(9);
            let (k, d) = (3, 2);
            let lift = Lift::new(metric, d).unwrap();
            let centres = centres(k, d, &mut rng);
            let space = PairSpace { dimension: lift.dimension(), radius: lift.radius(), power: lift.power(wanted), margin: None };
            let options = ContextualOptions { space, ..ContextualOptions::unit(1) };
            let mut learner: Contextual<EllipsoidLadder> = Contextual::new(&options).unwrap();
            learner.announce(k).unwrap();
            let mut total = 0.0;
            for _ in 0..1500 {
                let q = unit(d, &mut rng);
                let right = (0..k).max_by(|&a, &b| lift.nearness(&q, &centres[a]).total_cmp(&lift.nearness(&q, &centres[b]))).unwrap();
                let phi = lift.map(&q);
                let round = learner.predict(&phi, &mut rng).unwrap();
                let loss =
                    round.answer.expected(|guess| lift.loss(&q, &centres[guess.unwrap().index()], &centres[right]).max(0.0).powf(wanted));
                assert!(round.expected_drop(ClassId(right as u32)) >= loss * space.share() - 1e-9);
                total += loss;
                learner.learn(&phi, &round, ClassId(right as u32), &mut rng).unwrap();
            }
            assert!(total <= Contextual::<EllipsoidLadder>::bound(&options, k), "{metric:?}: {total}");
        }
    }
}

/// The error of an approximation is at most the one that its degree states, also between points of
/// the grid; and the higher the degree, the smaller it is.
#[test]
fn errors_of_degrees_hold() {
    let mut rng = random::seeded(3);
    for (p, d) in [(2.5, 3), (3.0, 2), (7.3, 4)] {
        let lift = Lift::new(Geometry::Chebyshev(p, 16), d).unwrap();
        let degrees = lift.degrees();
        assert_eq!(degrees.iter().map(|own| own.degree).collect::<Vec<_>>(), [2, 4, 8, 16]);
        assert!(degrees.windows(2).all(|two| two[1].error < two[0].error / 1.5), "{degrees:?}");
        for _ in 0..300 {
            let within = |rng: &mut Rng| -> Vec<f64> { unit(d, rng).iter().map(|x| x * rng.random::<f64>()).collect() };
            let (q, [first, second]) = (within(&mut rng), [within(&mut rng), within(&mut rng)]);
            let power = |centre: &[f64]| q.iter().zip(centre).map(|(q, a)| (q - a).abs().powf(p)).sum::<f64>();
            let (phi, image) = (lift.map(&q), |centre: &[f64]| lift.image(centre).unwrap());
            let w: Vec<f64> = image(&first).iter().zip(image(&second)).map(|(x, y)| x - y).collect();
            // The components of a degree: the first so many of each 16, and the constant.
            for own in degrees {
                let is_part = |at: usize| at + 1 == phi.len() || at % 16 < own.degree as usize;
                let part = (0..phi.len()).filter(|at| is_part(*at)).map(|at| phi[at] * w[at]).sum::<f64>();
                let exact = power(&second) - power(&first);
                assert!((part - exact).abs() <= own.error, "p {p}, degree {}: {part} for {exact}", own.degree);
                let length = (0..phi.len()).filter(|at| is_part(*at)).map(|at| w[at] * w[at]).sum::<f64>().sqrt();
                assert!(length <= own.radius, "{length} of {}", own.radius);
            }
        }
    }
}

/// Any p, by several degrees: hidden vectors stay inside of what is known, and there are few
/// mistakes at the end.
#[test]
fn any_power_is_approximated() {
    for p in [2.5, 3.0] {
        let mut rng = random::seeded(2);
        let (k, d) = (3, 2);
        let lift = Lift::new(Geometry::Chebyshev(p, 16), d).unwrap();
        let centres = centres(k, d, &mut rng);
        let images: Vec<Vec<f64>> = centres.iter().map(|centre| lift.image(centre).unwrap()).collect();
        let space = PairSpace { dimension: lift.dimension(), radius: lift.radius(), power: 1.0 / p, margin: None };
        let options = ContextualOptions { space, ..ContextualOptions::unit(1) };
        let mut learner = Contextual::like(&options, ApproximateLadder::of(&lift, &space)).unwrap();
        let mut wrong = 0;
        for round in 0..4000 {
            let q: Vec<f64> = unit(d, &mut rng).iter().map(|x| x * rng.random::<f64>()).collect();
            let right = (0..k).max_by(|&a, &b| lift.nearness(&q, &centres[a]).total_cmp(&lift.nearness(&q, &centres[b]))).unwrap();
            let phi = lift.map(&q);
            assert!(dot(&phi, &phi) <= 1.0 + 1e-12);
            let played = learner.predict(&phi, &mut rng).unwrap();
            wrong += usize::from(round >= 3000 && played.answer.guess != Some(ClassId(right as u32)));
            learner.learn(&phi, &played, ClassId(right as u32), &mut rng).unwrap();
            for (b, a) in (0..learner.n_classes()).flat_map(|b| (0..b).map(move |a| (b, a))) {
                let w: Vec<f64> = images[a].iter().zip(&images[b]).map(|(x, y)| x - y).collect();
                let outside = learner.pairs()[tessera_core::contextual::pair_index(a, b)].outside(&phi, &w);
                assert!(outside <= 1e-9, "p {p}, round {round}: {outside} outside");
            }
        }
        assert!(wrong < 100, "p {p}: {wrong} of the last 1000");
        let mut out = Writer::default();
        learner.write(&mut out);
        let bytes = out.finish();
        assert_eq!(Contextual::<ApproximateLadder>::read(&mut Reader::new("learner", &bytes)).unwrap(), learner);
    }
}

#[test]
fn other_metrics_are_refused() {
    for metric in [
        Geometry::Even(3),
        Geometry::Even(0),
        Geometry::Even(18),
        Geometry::Chebyshev(1.5, 8),
        Geometry::Chebyshev(f64::NAN, 8),
        Geometry::Chebyshev(3.0, 99),
    ] {
        assert!(Lift::new(metric, 2).unwrap_err().to_string().contains("from 2 to 16"), "{metric:?}");
    }
}
