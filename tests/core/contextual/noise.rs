//! Labels that contradict each other, and the baselines.

use rand::RngExt;
use tessera_core::contextual::{Contextual, ContextualOptions, EllipsoidLadder, GUARD, Halving, Served};
use tessera_core::ids::ClassId;
use tessera_core::learn::OnlineClassifier;
use tessera_core::online_linear::{Multiclass, Rule};
use tessera_core::random;

use super::{centres, dot, truth, unit};

/// The share of wrong answers in the last quarter, with this share of labels wrong.
fn late_error(learner: &mut impl OnlineClassifier, k: usize, d: usize, noise: f64, rounds: usize) -> f64 {
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

/// The Perceptron of two classes is the usual one: it errs where <p, q> has the wrong sign, and
/// then adds the query.
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

/// A learner that takes mistakes at fine scales for contradictions.
fn guarded(dimension: usize) -> Contextual<EllipsoidLadder> {
    Contextual::new(&ContextualOptions { guard: Some(GUARD), ..ContextualOptions::unit(dimension) }).unwrap()
}

/// A direction that no query has is never cut: contradictions in others may not make it so large
/// that rounding decides everything, not after centres have changed places either.
#[test]
fn contradictions_leave_other_directions_alone() {
    let mut rng = random::seeded(22);
    let mut learner = guarded(4);
    let centre = unit(3, &mut rng);
    let mut late = [0.0; 2];
    for round in 0..30_000 {
        let mut q = unit(3, &mut rng);
        let is_first = (dot(&q, &centre) >= 0.0) == (round < 15_000);
        // Once, the fourth direction is there.
        q.push(if round == 0 { 0.01 } else { 0.0 });
        q.iter_mut().for_each(|x| *x *= 0.99);
        let told = if rng.random::<f64>() < 0.1 { !is_first } else { is_first };
        let played = learner.predict(&q, &mut rng).unwrap();
        let is_late = |half: usize| (half * 15_000 + 10_000..(half + 1) * 15_000).contains(&round);
        for half in [0, 1] {
            let is_right = |guess: Option<ClassId>| guess == Some(ClassId(u32::from(!is_first)));
            late[half] += if is_late(half) { played.as_ref().expected(|guess| f64::from(u8::from(!is_right(guess)))) } else { 0.0 };
        }
        learner.learn(&q, &played, ClassId(u32::from(!told)), &mut rng).unwrap();
    }
    let shares = late.map(|wrong| wrong / 5000.0);
    assert!(shares.iter().all(|share| *share < 0.25), "{shares:?}, {} inflations", learner.inflations());
    assert!(learner.inflations() < 3000 && learner.pairs()[0].ellipsoids().iter().all(|own| own.factor().iter().all(|x| x.is_finite())));
}

/// One query with one label and the other in turns, for ever.
#[test]
fn one_query_may_be_everything() {
    let mut rng = random::seeded(23);
    let mut learner = guarded(33);
    let q: Vec<f64> = unit(33, &mut rng).iter().map(|x| x * 0.9).collect();
    let other = unit(33, &mut rng);
    for round in 0..20_000 {
        let played = learner.predict(&q, &mut rng).unwrap();
        learner.learn(&q, &played, ClassId(round % 2), &mut rng).unwrap();
    }
    // It still learns.
    let w = unit(33, &mut rng);
    let mut wrong = 0;
    for round in 0..20_000 {
        let q = unit(33, &mut rng);
        let right = ClassId(u32::from(dot(&q, &w) < 0.0));
        let played = learner.predict(&q, &mut rng).unwrap();
        wrong += usize::from(round >= 15_000 && played.as_ref().guess != Some(right));
        learner.learn(&q, &played, right, &mut rng).unwrap();
    }
    assert!(learner.predict(&other, &mut rng).is_ok() && wrong < 500, "{wrong}, {} inflations", learner.inflations());
}
