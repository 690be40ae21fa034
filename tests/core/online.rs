//! Experiments with online classification: streams, checks of the proofs, simulated desks.

use proptest::prelude::*;
use tessera_core::advise::AdviserKind;
use tessera_core::ckm::presets::Preset;
use tessera_core::contextual::{Geometry, PairUpdate};
use tessera_core::data::{Dataset, OpenOptions, tables};
use tessera_core::eval::online::{
    DeskItems, Desks, Long, OnlineLearner, OnlineSetting, StreamOrder, StreamSource, dense, desks, draw, figures, play,
};
use tessera_core::eval::recognition;
use tessera_core::ids::ClassId;
use tessera_core::online_linear::Rule;
use tessera_core::picture::{InProcess, Limits};
use tessera_core::progress::Progress;
use tessera_core::random;
use tessera_core::sparse::SparseVec;

fn setting(who: OnlineLearner, source: StreamSource, d: usize, k: usize, rounds: usize) -> OnlineSetting {
    OnlineSetting {
        who,
        source: source.clone(),
        metric: Geometry::Inner,
        power: 1.0,
        margin: None,
        update: PairUpdate::AllPairs,
        dimension: d,
        classes: k,
        rounds,
        guard: None,
        verify: matches!(who, OnlineLearner::Ellipsoid | OnlineLearner::Polytope)
            && !matches!(source, StreamSource::ConvexLowerBound | StreamSource::Examples(_)),
        keep: false,
        seed: 0,
    }
}

fn played(setting: &OnlineSetting) -> tessera_core::eval::online::Played {
    play(setting, &Progress::default()).unwrap()
}

/// The Perceptron is wrong in every round and loses sqrt(T); contextual search hardly loses, and
/// every check holds.
#[test]
fn the_perceptron_is_killed() {
    let rounds = 2500;
    let perceptron = played(&setting(OnlineLearner::Linear(Rule::Perceptron), StreamSource::PerceptronKiller, 5, 2, rounds));
    assert!(perceptron.mistakes >= rounds as u64 - 1 && (perceptron.loss - 50.0).abs() < 0.1, "{perceptron:?}");
    let ellipsoid = played(&setting(OnlineLearner::Ellipsoid, StreamSource::PerceptronKiller, 5, 2, rounds));
    assert!(ellipsoid.loss < 5.0 && ellipsoid.checks > 10_000, "{ellipsoid:?}");
    assert!(ellipsoid.expected_loss <= ellipsoid.bound.unwrap());
    assert_eq!(perceptron.bound, None);
}

/// Whatever T: hardly any loss after a tenth of it, and a twentieth of the Perceptron's at most.
#[test]
fn losses_end_where_the_perceptrons_grow() {
    let rounds = 100_000;
    for d in [4, 8, 16] {
        for seed in 0..2 {
            let play = |who| played(&OnlineSetting { verify: false, seed, ..setting(who, StreamSource::PerceptronKiller, d, 2, rounds) });
            let (own, other) = (play(OnlineLearner::Ellipsoid), play(OnlineLearner::Linear(Rule::Perceptron)));
            let then = own.curve.iter().find(|row| row[0] == 10_000.0).unwrap()[1];
            assert!(own.loss - then <= 0.05 * own.loss && own.loss <= other.loss / 20.0, "d {d}: {then}, {} and {}", own.loss, other.loss);
        }
    }
}

/// Where floating point reaches its limits, checks and bounds account for the losses that are not
/// paid for.
#[test]
fn margins_finer_than_numbers_are_told() {
    for margin in [1e-12, 1e-7] {
        let played = played(&OnlineSetting { margin: Some(margin), ..setting(OnlineLearner::Ellipsoid, StreamSource::Sphere, 8, 2, 5000) });
        assert!(played.checks > 5000 && played.mistakes as f64 <= played.bound.unwrap(), "{margin}: {played:?}");
    }
}

#[test]
fn what_cannot_be_checked_is_refused() {
    for (who, source) in
        [(OnlineLearner::Linear(Rule::Perceptron), StreamSource::Sphere), (OnlineLearner::Ellipsoid, StreamSource::ConvexLowerBound)]
    {
        let refused = play(&OnlineSetting { verify: true, ..setting(who, source, 4, 2, 10) }, &Progress::default());
        assert!(refused.unwrap_err().to_string().contains("verify"));
    }
    let examples: Vec<_> = (0..60).map(|n| (ClassId(n % 2), vec![0.5, 0.1 * f64::from(n % 7)])).collect();
    let of_a_file = setting(OnlineLearner::Ellipsoid, StreamSource::Examples(examples), 2, 2, 1000);
    assert!(play(&OnlineSetting { margin: Some(0.1), ..of_a_file.clone() }, &Progress::default()).is_err());
    // It ends before all rounds are played.
    assert_eq!(played(&of_a_file).curve.last().unwrap()[0], 60.0);
}

#[test]
fn checks_hold_on_all_streams() {
    for (source, d, k, margin) in [
        (StreamSource::Sphere, 4, 2, None),
        (StreamSource::Sphere, 3, 5, None),
        (StreamSource::Sphere, 3, 3, Some(0.05)),
        (StreamSource::Collinear, 3, 6, None),
        (StreamSource::Adversary, 4, 2, None),
        (StreamSource::PerceptronKiller, 4, 2, None),
    ] {
        for update in [PairUpdate::Paper, PairUpdate::AllPairs] {
            for (who, rounds) in [(OnlineLearner::Ellipsoid, 1500), (OnlineLearner::Polytope, 60)] {
                let setting = OnlineSetting { update, margin, ..setting(who, source.clone(), d, k, rounds) };
                let played = played(&setting);
                assert!(played.checks > rounds as u64 && played.rounds == rounds as u64, "{source:?}");
                let counted = if margin.is_some() { played.mistakes as f64 } else { played.expected_loss };
                assert!(counted <= played.bound.unwrap(), "{source:?}: {counted}");
            }
        }
    }
    for metric in [Geometry::L2, Geometry::Even(4)] {
        let played = played(&OnlineSetting { metric, ..setting(OnlineLearner::Ellipsoid, StreamSource::Sphere, 2, 3, 500) });
        assert!(played.expected_loss <= played.bound.unwrap() && played.checks > 500);
    }
}

/// Labels against the learner at hand for as long as possible; then it learns.
#[test]
fn the_adversary_is_consistent() {
    for who in [
        OnlineLearner::Ellipsoid,
        OnlineLearner::Linear(Rule::Perceptron),
        OnlineLearner::Linear(Rule::PassiveAggressive { aggressiveness: 1.0 }),
    ] {
        let played = played(&setting(who, StreamSource::Adversary, 4, 2, 3000));
        assert!(played.mistakes > 40 && played.curve.len() > 10, "{who:?}: {played:?}");
    }
}

/// Of general convex regions nothing can be learned: half of all guesses are wrong, at a cost that
/// falls with T too slowly.
#[test]
fn convex_regions_cannot_be_learned() {
    for who in [OnlineLearner::Ellipsoid, OnlineLearner::Linear(Rule::Averaged)] {
        let loss = |rounds| {
            let played = played(&OnlineSetting { verify: false, ..setting(who, StreamSource::ConvexLowerBound, 8, 2, rounds) });
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
    let played = played(&setting(OnlineLearner::Ellipsoid, StreamSource::Sphere, 4, 2, 3000));
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
    let source = StreamSource::Examples(dense(&groups(), 64, 1));
    for who in [OnlineLearner::Ellipsoid, OnlineLearner::Served, OnlineLearner::Majority, OnlineLearner::Linear(Rule::CrammerSinger)] {
        let setting = OnlineSetting { guard: Some(4), ..setting(who, source.clone(), dense(&groups(), 64, 1)[0].1.len(), 5, 1000) };
        let played = played(&setting);
        assert!(played.rounds == 200 && played.bound.is_none() && played.loss == played.mistakes as f64);
        assert!(played.mistakes < 100, "{who:?}: {}", played.mistakes);
    }
}

fn things(objects: &[&str]) -> DeskItems {
    DeskItems::of_examples(&groups(), objects, 64, 1).unwrap()
}

#[test]
fn desks_count_corrections() {
    let things = things(&[]);
    let desks = |orders| one(&things, StreamOrder::Random, orders, 7);
    let found = desks(3).unwrap();
    assert_eq!((found.examples, found.classes, found.mixture.of.len()), (200, 5, 3));
    assert!(found.mixture.of.iter().all(|n| *n >= 5.0) && found.ratio() < 1.5, "{found:?}");
    assert!(found.regret[0] <= found.regret[1] && (found.trust.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // No number of threads changes a count.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| desks(3).unwrap());
    let counts = |found: &Desks| -> Vec<Vec<f64>> {
        [&found.mixture, &found.last].into_iter().chain(&found.advisers).map(|corrections| corrections.of.clone()).collect()
    };
    assert_eq!((counts(&found), &found.trust), (counts(&alone), &alone.trust));
    assert!(one(&DeskItems::default(), StreamOrder::Random, 3, 7).is_err() && desks(0).is_err());
    let stopped = Progress::default();
    stopped.cancel();
    assert!(tessera_core::eval::online::desks(&things, None, &[StreamOrder::Random], 3, 7, &stopped).is_err());
}

fn one(things: &DeskItems, order: StreamOrder, orders: usize, seed: u64) -> tessera_core::Result<Desks> {
    Ok(desks(things, None, &[order], orders, seed, &Progress::default())?.remove(0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Every order labels everything once; folders come class by class, objects one by one, and
    /// runs never jump within an object.
    #[test]
    fn orders_are_orders(objects in prop::collection::vec(0usize..6, 1..60), seed in 0u64..1000) {
        let classes: Vec<usize> = objects.iter().map(|object| object % 3).collect();
        let mut rng = random::seeded(seed);
        for order in [StreamOrder::Random, StreamOrder::Folder, StreamOrder::Instance, StreamOrder::Runs] {
            for objects in [Some(&objects[..]), None] {
                let drawn = order.draw(&classes, objects, &mut rng);
                if (order, objects) == (StreamOrder::Instance, None) {
                    prop_assert!(drawn.is_err());
                    continue;
                }
                let places = drawn.unwrap();
                let mut sorted = places.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..classes.len()).collect::<Vec<_>>());
                let changes = |of: &[usize]| places.windows(2).filter(|pair| of[pair[0]] != of[pair[1]]).count();
                let kinds = |of: &[usize]| of.iter().collect::<std::collections::BTreeSet<_>>().len();
                match (order, objects) {
                    (StreamOrder::Folder, _) => prop_assert_eq!(changes(&classes) + 1, kinds(&classes)),
                    (StreamOrder::Instance, Some(objects)) => prop_assert_eq!(changes(objects) + 1, kinds(objects)),
                    (StreamOrder::Runs, Some(objects)) => {
                        for object in 0..6 {
                            let own: Vec<usize> = places.iter().copied().filter(|place| objects[*place] == object).collect();
                            prop_assert!(own.is_sorted());
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// In folders the class of the last item is nearly always right, and the mixture hardly errs more.
#[test]
fn desks_learn_the_order() {
    let found = one(&things(&[]), StreamOrder::Folder, 4, 3).unwrap();
    assert!(found.last.of.iter().all(|n| *n == 5.0), "{found:?}");
    assert!(found.mixture.of.iter().all(|n| *n <= 6.0), "{found:?}");
    let names: Vec<String> = (0..200).map(|i| format!("object {}", i / 10)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(one(&things(&names), StreamOrder::Instance, 2, 3).is_ok());
    assert!(one(&things(&[]), StreamOrder::Instance, 2, 3).is_err());
    assert!(DeskItems::of_examples(&groups(), &names[1..], 64, 1).is_err());
}

/// The curves show what was played.
#[test]
fn long_streams_make_curves() {
    let curves = figures(&Long { rounds: 300, dimension: 4, runs: 2, seed: 5 }, &Progress::default()).unwrap();
    let names: Vec<&str> = curves.iter().map(|curve| curve.name).collect();
    assert_eq!(names, ["online_killer", "online_sphere", "online_adversary", "online_margin", "online_known_margin"]);
    for curve in &curves[..3] {
        assert_eq!(curve.column("rounds").last(), Some(&300.0));
        for learner in ["ellipsoid", "perceptron", "pa", "crammer_singer"] {
            assert!(curve.column(learner).is_sorted(), "{} {learner}", curve.name);
        }
    }
    let known = &curves[4];
    assert!(known.column("most").iter().zip(known.column("bound")).all(|(most, bound)| *most <= bound), "{known:?}");
}

#[test]
fn settings_that_are_none_are_refused() {
    let base = || setting(OnlineLearner::Ellipsoid, StreamSource::PerceptronKiller, 4, 2, 10);
    for (wrong, word) in [
        (OnlineSetting { classes: 3, ..base() }, "stream"),
        (OnlineSetting { dimension: 2, ..base() }, "`d`"),
        (OnlineSetting { margin: Some(0.9), ..base() }, "margin"),
        (OnlineSetting { source: StreamSource::Sphere, classes: 0, ..base() }, "`k`"),
        (OnlineSetting { source: StreamSource::Sphere, power: 0.0, ..base() }, "loss_power"),
        (OnlineSetting { source: StreamSource::Sphere, metric: Geometry::L2, margin: Some(0.1), ..base() }, "margin"),
        (OnlineSetting { who: OnlineLearner::Polytope, dimension: 40, ..base() }, "learner"),
    ] {
        let error = play(&wrong, &Progress::default()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// Desks with images: appearance, pieces, and the captions that there are.
#[test]
fn desks_with_images() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::from("path,caption\n");
    for class in ["round", "square", "tall"] {
        std::fs::create_dir(folder.path().join(class)).unwrap();
        for i in 0..8u64 {
            let name = format!("{class}/{class}_{:02}_{i:03}_000.png", i / 4);
            crate::scenes::scene(class.len() as u64 * 100 + i / 2, 48, 48).save(folder.path().join(&name)).unwrap();
            rows += &format!("{name},a {class} thing number {i}\n");
        }
    }
    let progress = Progress::default();
    std::fs::write(folder.path().join("said.csv"), rows).unwrap();
    let table = tables::read(&folder.path().join("said.csv"), &progress).unwrap();
    let data = Dataset::open(folder.path(), &OpenOptions::default(), &progress).unwrap();
    let decoder = InProcess::new(Limits::default());
    let learned = recognition::learn(&data, |_| true, &Preset::Colour.options(), &decoder, &progress).unwrap();
    let things = DeskItems::of_images(&data, Some(&table), Some(learned.ckm), None, &decoder, 1, &progress).unwrap();
    assert_eq!((things.all.len(), things.failed.len()), (24, 0));
    assert!(
        things.all.iter().all(|thing| thing.object.is_some()
            && thing.views.words.entries().len() > 2
            && thing.views.whole.len() > thing.views.small.len())
    );
    let kinds = [StreamOrder::Random, StreamOrder::Instance, StreamOrder::Runs];
    for (order, found) in kinds.into_iter().zip(desks(&things, None, &kinds, 2, 5, &progress).unwrap()) {
        // The same alone as together with other orders.
        assert_eq!(one(&things, order, 2, 5).unwrap().mixture.of, found.mixture.of);
        let names: Vec<&str> = found.advisers.iter().map(|adviser| adviser.name).collect();
        assert!(names.ends_with(&["captions", "recogniser", "whole-images"]), "{names:?}");
        assert!(found.mixture.of.iter().all(|n| (3.0..=24.0).contains(n)) && found.regret[0] <= found.regret[1]);
        assert!(found.advisers.iter().all(|adviser| adviser.of.iter().all(|n| (3.0..=24.0).contains(n))), "{found:?}");
    }
    let served = desks(&things, Some(&AdviserKind::SERVED), &[StreamOrder::Random], 2, 5, &progress).unwrap().remove(0);
    let mut names: Vec<&str> = served.advisers.iter().map(|adviser| adviser.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["captions", "contextual", "nearest", "pa", "recogniser", "whole-images"]);
    // The recogniser knows the elements of earlier items only: the first has no scores, copies are
    // recognised.
    let places = draw(&things, StreamOrder::Instance, 1, 5).unwrap();
    assert_eq!(places, draw(&things, StreamOrder::Instance, 1, 5).unwrap());
    let plain = DeskItems::of_images(&data, None, None, None, &decoder, 1, &progress).unwrap();
    assert!(plain.pieces.is_none() && plain.all.iter().all(|thing| thing.views.words.is_empty()));
    assert_eq!(one(&plain, StreamOrder::Random, 1, 5).unwrap().advisers.len(), 7);
}
