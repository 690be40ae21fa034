//! Labels that contradict each other, and the baselines.

use rand::RngExt;
use tessera_core::contextual::{ContextualOptions, EllipsoidLadder, Halving, Served};
use tessera_core::ids::ClassId;
use tessera_core::learn::Online;
use tessera_core::online_linear::{Multiclass, Rule};
use tessera_core::random;

use super::{centres, dot, truth, unit};

/// The share of wrong answers in the last quarter, with this share of labels wrong.
fn late_error(learner: &mut impl Online, k: usize, d: usize, noise: f64, rounds: usize) -> f64 {
    let mut rng = random::seeded(21);
    let centres = centres(k, d, &mut rng);
    let mut wrong = 0.0;
    for round in 0..rounds {
        let q = unit(d, &mut rng);
        let right = truth(&centres, &q);
        let played = learner.predict(&q, &mut rng).unwrap();
        if round >= rounds / 4 * 3 {
            wrong += played.as_ref().expected(|guess| if guess == Some(ClassId(right as u32)) { 0.0 } else { 1.0 });
        }
        let told = if rng.random::<f64>() < noise { rng.random_range(0..k) } else { right };
        learner.learn(&q, &played, ClassId(told as u32), &mut rng).unwrap();
    }
    wrong / (rounds / 4) as f64
}

#[test]
fn every_baseline_learns() {
    let pa = Rule::PassiveAggressive { aggressiveness: 1.0 };
    for rule in [Rule::Perceptron, Rule::Averaged, Rule::CrammerSinger, pa, Rule::SecondOrder { ridge: 1.0 }] {
        for k in [2, 5] {
            let error = late_error(&mut Multiclass::new(rule, 4), k, 4, 0.0, 4000);
            let chance = 1.0 - 1.0 / k as f64;
            assert!(error < chance / 5.0, "{rule:?} with {k} classes: {error}");
        }
    }
    let error = late_error(&mut Halving::new(3), 3, 3, 0.0, 2000);
    assert!(error < 0.02, "halving: {error}");
}

/// The Perceptron of two classes is the usual one: it errs where <p, q> has the wrong sign, and then adds the query.
#[test]
fn two_classes_are_the_usual_perceptron() {
    let mut rng = random::seeded(5);
    let mut learner = Multiclass::new(Rule::Perceptron, 3);
    let mut p = vec![0.0; 3];
    let w = unit(3, &mut rng);
    // Both classes are known before it begins.
    for class in [0, 1] {
        let round = learner.predict(&[0.0; 3], &mut rng).unwrap();
        learner.learn(&[0.0; 3], &round, ClassId(class), &mut rng).unwrap();
    }
    for _ in 0..500 {
        let q = unit(3, &mut rng);
        let (first, says) = (dot(&q, &w) >= 0.0, dot(&q, &p) >= 0.0);
        let round = learner.predict(&q, &mut rng).unwrap();
        assert_eq!(round.guess, Some(ClassId(u32::from(!says))));
        learner.learn(&q, &round, ClassId(u32::from(!first)), &mut rng).unwrap();
        if first != says {
            p.iter_mut().zip(&q).for_each(|(p, q)| *p += if first { *q } else { -q });
        }
    }
}

#[test]
fn halving_is_for_few_numbers() {
    let mut rng = random::seeded(5);
    let mut learner = Halving::new(64);
    let round = learner.predict(&[0.1; 64], &mut rng).unwrap();
    let error = learner.learn(&[0.1; 64], &round, ClassId(30), &mut rng).unwrap_err().to_string();
    assert!(error.contains("fewer classes"), "{error}");
}

#[test]
fn wrong_labels_are_survived() {
    for noise in [0.05, 0.2] {
        let mut served: Served<EllipsoidLadder> = Served::new(&ContextualOptions::unit(4)).unwrap();
        let error = late_error(&mut served, 2, 4, noise, 8000);
        let mut averaged = Multiclass::new(Rule::Averaged, 4);
        let alone = late_error(&mut averaged, 2, 4, noise, 8000);
        assert!(error <= alone + 0.01, "{noise}: {error} beside {alone}");
        assert!(served.contextual().inflations() > 0 && !served.trusts_contextual());
    }
}
