//! Many classes: the fall of the potentials covers the loss of each round, and what is lost without
//! the game.

use proptest::prelude::*;
use rand::RngExt;
use tessera_core::contextual::{Contextual, ContextualOptions, EllipsoidLadder, Game, MajorityVote, PairLearner, PairSpace, PairUpdate};
use tessera_core::ids::ClassId;
use tessera_core::learn::OnlineClassifier;
use tessera_core::random;

use super::{beside, centres, dot, truth, unit};

type Learner = Contextual<EllipsoidLadder>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// In every round the mean loss is at most what the potential falls by, for both policies, over
    /// the share that is paid.
    #[test]
    fn each_round_is_paid_for(k in 2usize..7, d in 2usize..6, paper in any::<bool>(), power in prop::sample::select(vec![0.5, 1.0, 2.0]), seed in 0u64..1000) {
        let mut rng = random::seeded(seed);
        let centres = centres(k, d, &mut rng);
        let update = if paper { PairUpdate::Paper } else { PairUpdate::AllPairs };
        let space = PairSpace { power, ..PairSpace::unit(d) };
        let options = ContextualOptions { space, update, guard: None };
        let mut learner = Learner::new(&options).unwrap();
        learner.announce(k).unwrap();
        let mut total = 0.0;
        for _ in 0..200 {
            let q = match rng.random_range(0..3) {
                0 => unit(d, &mut rng),
                1 => unit(d, &mut rng).iter().map(|x| x * rng.random::<f64>()).collect(),
                // Near the border of two classes.
                _ => {
                    let w: Vec<f64> = centres[0].iter().zip(&centres[1]).map(|(a, b)| a - b).collect();
                    beside(&w, 10f64.powf(-6.0 * rng.random::<f64>()) * dot(&w, &w).sqrt(), &mut rng)
                }
            };
            let right = truth(&centres, &q);
            let class = ClassId(right as u32);
            let round = learner.predict(&q, &mut rng).unwrap();
            let loss = round.answer.expected(|guess| (dot(&centres[right], &q) - dot(&centres[guess.unwrap().index()], &q)).max(0.0).powf(power));
            prop_assert!(round.value >= -1e-9);
            if let Some([least, most]) = round.game {
                prop_assert!(least >= -1e-9 * most && round.value >= -1e-9 * most);
            }
            let owed = round.expected_drop(class);
            prop_assert!(owed >= loss * space.share() - 1e-9, "{owed} for {loss}");
            let (before, booked): (f64, f64) = (learner.pairs().iter().map(EllipsoidLadder::potential).sum(), learner.dropped());
            learner.learn(&q, &round, class, &mut rng).unwrap();
            let fallen = before - learner.pairs().iter().map(EllipsoidLadder::potential).sum::<f64>();
            prop_assert!((fallen - (learner.dropped() - booked)).abs() < 1e-9 * before);
            if !paper {
                prop_assert!(fallen >= owed - 1e-9 * before, "{fallen} for {owed}");
            }
            for (a, pairs) in (0..k).flat_map(|b| (0..b).map(move |a| (a, b))).zip(learner.pairs()) {
                let w: Vec<f64> = centres[a.0].iter().zip(&centres[a.1]).map(|(x, y)| x - y).collect();
                prop_assert!(pairs.outside(&q, &w) <= 1e-11);
            }
            total += loss;
        }
        prop_assert!(total <= Learner::bound(&options, k));
    }
}

/// With rows and columns of M exchanged the loss is not covered: the check above detects it.
#[test]
fn an_exchanged_game_is_noticed() {
    let mut rng = random::seeded(5);
    let (k, d) = (4, 3);
    let centres = centres(k, d, &mut rng);
    let mut pairs: Vec<EllipsoidLadder> = (0..k * (k - 1) / 2).map(|_| EllipsoidLadder::new(&PairSpace::unit(d))).collect();
    let mut worst = 0.0f64;
    for _ in 0..1500 {
        let q = unit(d, &mut rng);
        let right = truth(&centres, &q);
        let mut game = Game::new(k);
        let (mut drops, mut looks) = (vec![0.0; k * k], Vec::new());
        for (b, a) in (0..k).flat_map(|b| (0..b).map(move |a| (b, a))) {
            let look = pairs[looks.len()].look(&q, &mut rng);
            looks.push(look);
            (drops[a * k + b], drops[b * k + a]) = (look.drops[0], look.drops[1]);
            game.set(b, a, look.drops[0] - look.losses[0]);
            game.set(a, b, look.drops[1] - look.losses[1]);
        }
        let solved = game.solve();
        let mean = |of: &dyn Fn(usize) -> f64| solved.chances.iter().enumerate().map(|(guess, v)| v * of(guess)).sum::<f64>();
        let paid = mean(&|guess| drops[right * k + guess]);
        let loss = mean(&|guess| dot(&centres[right], &q) - dot(&centres[guess], &q));
        worst = worst.min(paid - loss);
        for (at, (b, a)) in (0..k).flat_map(|b| (0..b).map(move |a| (b, a))).enumerate() {
            if a == right || b == right {
                pairs[at].learn(&q, &looks[at], a == right);
            }
        }
    }
    assert!(worst < -0.1, "{worst}");
}

/// One query for ever. Classes 0 to 3 draw: most votes go to class 0, and the pair of 0 and 3 has
/// nothing left to learn.
#[test]
fn a_majority_may_be_wrong_for_ever() {
    let q = [0.6, 0.8];
    let wrong_of = |update: PairUpdate, vote: bool| {
        let mut rng = random::seeded(3);
        let options = ContextualOptions { update, ..ContextualOptions::unit(2) };
        let mut learner = Learner::new(&options).unwrap();
        learner.announce(4).unwrap();
        let mut majority: MajorityVote<EllipsoidLadder> = MajorityVote::new(&options).unwrap();
        let mut wrong = 0.0;
        for _ in 0..2000 {
            if vote {
                let answer = majority.predict(&q, &mut rng).unwrap();
                wrong += answer.expected(|guess| if guess == Some(ClassId(3)) { 0.0 } else { 1.0 });
                majority.learn(&q, &answer, ClassId(3), &mut rng).unwrap();
            } else {
                let round = learner.predict(&q, &mut rng).unwrap();
                wrong += round.answer.expected(|guess| if guess == Some(ClassId(3)) { 0.0 } else { 1.0 });
                learner.learn(&q, &round, ClassId(3), &mut rng).unwrap();
            }
        }
        wrong
    };
    assert!(wrong_of(PairUpdate::Paper, true) > 1990.0, "the vote never recovers");
    assert!(wrong_of(PairUpdate::AllPairs, true) < 5.0, "with all pairs taught it does");
    assert!(wrong_of(PairUpdate::Paper, false) < 60.0, "{}", wrong_of(PairUpdate::Paper, false));
    assert!(wrong_of(PairUpdate::AllPairs, false) < 5.0);
}

/// A class that comes late has its pairs from then on; what was learned about the others stays.
#[test]
fn classes_come_late() {
    let mut rng = random::seeded(8);
    let (k, d) = (5, 4);
    let centres = centres(k, d, &mut rng);
    let mut learner = Learner::new(&ContextualOptions::unit(d)).unwrap();
    let answer = learner.predict(&unit(d, &mut rng), &mut rng).unwrap().answer;
    assert_eq!((answer.guess, answer.chances.len()), (None, 0));
    let mut total = 0.0;
    let mut last = 0.0;
    for round in 0..6000 {
        let q = unit(d, &mut rng);
        let known = 1 + (round / 600).min(k - 1);
        let right = truth(&centres[..known], &q);
        let played = learner.predict(&q, &mut rng).unwrap();
        let loss = |guess: Option<ClassId>| guess.map_or(1.0, |guess| dot(&centres[right], &q) - dot(&centres[guess.index()], &q));
        let cost = played.answer.expected(loss);
        total += cost;
        last += if round >= 5000 { cost } else { 0.0 };
        learner.learn(&q, &played, ClassId(right as u32), &mut rng).unwrap();
    }
    assert_eq!(learner.n_classes(), k);
    assert!(total < 60.0 && last < 0.05 * total, "{total}, at the end {last}");
}

/// With a known margin mistakes are counted, and classes that cannot be right are left out.
#[test]
fn a_known_margin_bounds_mistakes_of_many_classes() {
    for update in [PairUpdate::Paper, PairUpdate::AllPairs] {
        let mut rng = random::seeded(4);
        let (k, d, margin) = (5, 3, 0.02);
        let centres = centres(k, d, &mut rng);
        let space = PairSpace { margin: Some(margin), ..PairSpace::unit(d) };
        let options = ContextualOptions { space, update, guard: None };
        let mut learner = Learner::new(&options).unwrap();
        learner.announce(k).unwrap();
        let mut mistakes = 0.0;
        for _ in 0..4000 {
            let q = unit(d, &mut rng);
            let right = truth(&centres, &q);
            let lead =
                (0..k).filter(|&i| i != right).map(|i| dot(&centres[right], &q) - dot(&centres[i], &q)).fold(f64::INFINITY, f64::min);
            if lead < margin {
                continue;
            }
            let class = ClassId(right as u32);
            let round = learner.predict(&q, &mut rng).unwrap();
            let missed = round.answer.expected(|guess| if guess == Some(class) { 0.0 } else { 1.0 });
            assert!(round.expected_drop(class) >= missed / 2.0 - 1e-9);
            mistakes += missed;
            learner.learn(&q, &round, class, &mut rng).unwrap();
        }
        assert!(mistakes <= Learner::bound(&options, k), "{mistakes}");
    }
}

#[test]
fn what_is_no_query_or_class_is_refused() {
    let mut rng = random::seeded(1);
    let mut learner = Learner::new(&ContextualOptions::unit(2)).unwrap();
    let round = learner.predict(&[0.0, 0.0], &mut rng).unwrap();
    for bad in [&[1.0][..], &[1.0, 1.0], &[f64::NAN, 0.0], &[f64::INFINITY, 0.0]] {
        assert!(learner.predict(bad, &mut rng).is_err() && learner.learn(bad, &round, ClassId(0), &mut rng).is_err(), "{bad:?}");
    }
    let error = learner.learn(&[0.0, 0.5], &round, ClassId(u32::MAX), &mut rng).unwrap_err().to_string();
    assert!(error.contains("below 1024"), "{error}");
    // Nothing is known of 0, nor taught by it.
    for class in [0, 1, 0] {
        let round = learner.predict(&[0.0, 0.0], &mut rng).unwrap();
        learner.learn(&[0.0, 0.0], &round, ClassId(class), &mut rng).unwrap();
    }
    assert_eq!(learner.dropped(), 0.0);
    for space in [
        PairSpace { dimension: 0, ..PairSpace::unit(1) },
        PairSpace { radius: -1.0, ..PairSpace::unit(1) },
        PairSpace { power: 0.0, ..PairSpace::unit(1) },
    ] {
        assert!(Learner::new(&ContextualOptions { space, ..ContextualOptions::unit(1) }).is_err());
    }
}

/// The state does not depend on what was drawn, where all pairs are taught; and the same seed gives
/// the same answers.
#[test]
fn same_seed_same_answer() {
    let play = |seed: u64| {
        let mut rng = random::seeded(11);
        let centres = centres(4, 3, &mut rng);
        let mut draws = random::seeded(seed);
        let mut learner = Learner::new(&ContextualOptions::unit(3)).unwrap();
        let mut guesses = Vec::new();
        for _ in 0..300 {
            let q = unit(3, &mut rng);
            let round = learner.predict(&q, &mut draws).unwrap();
            guesses.push(round.answer.clone());
            learner.learn(&q, &round, ClassId(truth(&centres, &q) as u32), &mut draws).unwrap();
        }
        (guesses, learner)
    };
    assert_eq!(play(1), play(1));
    assert!(play(1).1 == play(2).1);
}
