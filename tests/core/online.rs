//! Experiments with online classification: streams do what they are made for, checks check, desks count.

use tessera_core::contextual::{Metric, Update};
use tessera_core::eval::online::{Setting, Source, Who, dense, desks, play};
use tessera_core::ids::ClassId;
use tessera_core::online_linear::Rule;
use tessera_core::progress::Progress;
use tessera_core::sparse::SparseVec;

fn setting(who: Who, source: Source, d: usize, k: usize, rounds: usize) -> Setting {
    Setting {
        who,
        source,
        metric: Metric::Inner,
        power: 1.0,
        margin: None,
        update: Update::AllPairs,
        dimension: d,
        classes: k,
        rounds,
        guard: None,
        verify: true,
        seed: 0,
    }
}

fn played(setting: &Setting) -> tessera_core::eval::online::Played {
    play(setting, &Progress::default()).unwrap()
}

/// The Perceptron is wrong in every round and loses sqrt(T); contextual search hardly loses, and every check holds.
#[test]
fn the_perceptron_is_killed() {
    let rounds = 2500;
    let perceptron = played(&setting(Who::Linear(Rule::Perceptron), Source::PerceptronKiller, 5, 2, rounds));
    assert!(perceptron.mistakes >= rounds as u64 - 1 && (perceptron.loss - 50.0).abs() < 0.1, "{perceptron:?}");
    let ellipsoid = played(&setting(Who::Ellipsoid, Source::PerceptronKiller, 5, 2, rounds));
    assert!(ellipsoid.loss < 5.0 && ellipsoid.checks > 10_000, "{ellipsoid:?}");
    assert!(ellipsoid.expected_loss <= ellipsoid.bound.unwrap());
    assert_eq!(perceptron.bound, None);
}

#[test]
fn checks_hold_on_all_streams() {
    for (source, d, k, margin) in [
        (Source::Sphere, 4, 2, None),
        (Source::Sphere, 3, 5, None),
        (Source::Sphere, 3, 3, Some(0.05)),
        (Source::Collinear, 3, 6, None),
        (Source::Adversary, 4, 2, None),
        (Source::PerceptronKiller, 4, 2, None),
    ] {
        for update in [Update::Paper, Update::AllPairs] {
            for (who, rounds) in [(Who::Ellipsoid, 1500), (Who::Polytope, 60)] {
                let setting = Setting { update, margin, ..setting(who, source.clone(), d, k, rounds) };
                let played = played(&setting);
                assert!(played.checks > rounds as u64 && played.rounds == rounds as u64, "{source:?}");
                let counted = if margin.is_some() { played.mistakes as f64 } else { played.expected_loss };
                assert!(counted <= played.bound.unwrap(), "{source:?}: {counted}");
            }
        }
    }
    for metric in [Metric::L2, Metric::Even(4)] {
        let played = played(&Setting { metric, ..setting(Who::Ellipsoid, Source::Sphere, 2, 3, 500) });
        assert!(played.expected_loss <= played.bound.unwrap() && played.checks > 500);
    }
}

/// Answers against the learner, whoever it is, for as long as possible; then it learns.
#[test]
fn the_adversary_is_consistent() {
    for who in [Who::Ellipsoid, Who::Linear(Rule::Perceptron), Who::Linear(Rule::PassiveAggressive { aggressiveness: 1.0 })] {
        let played = played(&setting(who, Source::Adversary, 4, 2, 3000));
        assert!(played.mistakes > 40 && played.curve.len() > 10, "{who:?}: {played:?}");
    }
}

/// Of general convex regions nothing can be learned: half of all guesses are wrong, at a cost that falls with T too slowly.
#[test]
fn convex_regions_cannot_be_learned() {
    for who in [Who::Ellipsoid, Who::Linear(Rule::Averaged)] {
        let loss = |rounds| {
            let played = played(&Setting { verify: false, ..setting(who, Source::ConvexLowerBound, 8, 2, rounds) });
            let share = played.mistakes as f64 / rounds as f64;
            assert!((share - 0.5).abs() < 0.1 && played.bound.is_none(), "{share}");
            played.loss
        };
        // T^((d-4)/(d-2)) = T^(2/3).
        let exponent = (loss(15_625) / loss(729)).ln() / (15_625f64 / 729.0).ln();
        assert!((exponent - 2.0 / 3.0).abs() < 0.12, "{exponent}");
    }
}

/// A bound on losses bounds mistakes at any margin, with no condition on other queries.
#[test]
fn robust_mistakes_are_bounded() {
    let played = played(&setting(Who::Ellipsoid, Source::Sphere, 4, 2, 3000));
    for [margin, mistakes] in &played.robust {
        assert!(mistakes * margin <= played.bound.unwrap() && mistakes * margin <= played.expected_loss + 1e-9);
    }
    assert!(played.robust.last().unwrap()[1] >= played.robust[0][1]);
}

fn groups() -> Vec<(ClassId, SparseVec)> {
    let example = |i: u32| (ClassId(i % 5), SparseVec::from_pairs([(i % 5, 2.0), (5 + i * 7 % 13, 0.5), (40 + i % 90, 0.2)]).unwrap());
    (0..200).map(example).collect()
}

#[test]
fn examples_become_queries() {
    for dimension in [8, 300] {
        let mapped = dense(&groups(), dimension, 1);
        assert!(mapped.iter().all(|(_, x)| x.len() <= dimension && x.iter().map(|x| x * x).sum::<f64>() <= 1.0 + 1e-12));
        assert_eq!(mapped, dense(&groups(), dimension, 1));
    }
    let source = Source::Examples(dense(&groups(), 64, 1));
    for who in [Who::Ellipsoid, Who::Served, Who::Majority, Who::Linear(Rule::CrammerSinger)] {
        let setting = Setting { guard: Some(4), ..setting(who, source.clone(), dense(&groups(), 64, 1)[0].1.len(), 5, 1000) };
        let played = played(&setting);
        assert!(played.rounds == 200 && played.bound.is_none() && played.loss == played.mistakes as f64);
        assert!(played.mistakes < 100, "{who:?}: {}", played.mistakes);
    }
}

#[test]
fn desks_count_corrections() {
    let examples = dense(&groups(), 64, 1);
    let found = desks(&examples, 3, 7, &Progress::default()).unwrap();
    assert_eq!((found.examples, found.classes, found.mixture.of.len()), (200, 5, 3));
    assert!(found.mixture.of.iter().all(|n| *n >= 5.0) && found.ratio() < 1.5, "{found:?}");
    assert!(found.regret[0] <= found.regret[1] && (found.trust.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(found, desks(&examples, 3, 7, &Progress::default()).unwrap());
    assert!(desks(&[], 3, 7, &Progress::default()).is_err() && desks(&examples, 0, 7, &Progress::default()).is_err());
    let stopped = Progress::default();
    stopped.cancel();
    assert!(desks(&examples, 3, 7, &stopped).is_err());
}

#[test]
fn settings_that_are_none_are_refused() {
    let base = || setting(Who::Ellipsoid, Source::PerceptronKiller, 4, 2, 10);
    for (wrong, word) in [
        (Setting { classes: 3, ..base() }, "stream"),
        (Setting { dimension: 2, ..base() }, "`d`"),
        (Setting { margin: Some(0.9), ..base() }, "margin"),
        (Setting { source: Source::Sphere, classes: 0, ..base() }, "`k`"),
        (Setting { source: Source::Sphere, power: 0.0, ..base() }, "loss_power"),
        (Setting { source: Source::Sphere, metric: Metric::L2, margin: Some(0.1), ..base() }, "margin"),
        (Setting { who: Who::Polytope, dimension: 40, ..base() }, "learner"),
    ] {
        let error = play(&wrong, &Progress::default()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}
