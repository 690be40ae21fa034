//! The yardsticks of memory trees, and the curves.

use std::collections::BTreeSet;

use rand::RngExt;
use tessera_core::cmt::oas::{LabelScores, OneAgainstSome};
use tessera_core::cmt::{CmtOptions, LeafCap};
use tessera_core::data::multilabel::MultiLabel;
use tessera_core::eval::calibration::{calibration_error, calibration_error_by_chance};
use tessera_core::eval::captions::{self, MemoryUnit, Photo, RetrievalSetting};
use tessera_core::eval::multilabel::{self, MultiLabelTraining};
use tessera_core::eval::one_against_all::OneAgainstAll;
use tessera_core::eval::{few_shot, figures};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::progress::Progress;
use tessera_core::random;
use tessera_core::sparse::SparseVec;

/// Topics of three labels each, with words of their own.
fn topics(n: usize, seed: u64) -> MultiLabel {
    let mut rng = random::seeded(seed);
    let mut one = || {
        let topic = rng.random_range(0..10u32);
        let labels: Vec<ClassId> = (0..3).filter(|_| rng.random_bool(0.8)).map(|part| ClassId(topic * 3 + part)).collect();
        let words: BTreeSet<u32> = labels.iter().map(|label| label.0).chain((0..3).map(|_| 100 + rng.random_range(0..30u32))).collect();
        (SparseVec::from_pairs(words.into_iter().map(|word| (word, 2.0))).unwrap(), labels)
    };
    MultiLabel { n_labels: 30, examples: (0..n).map(|_| one()).collect() }
}

#[test]
fn side_by_side_functions_learn_as_single_ones_do() {
    let train = topics(300, 6);
    let asked: Vec<ClassId> = (0..30).map(ClassId).collect();
    let (mut all, mut one_by_one) = (OneAgainstAll::new(30, 0.2).unwrap(), LabelScores::new(0.2).unwrap());
    for _ in 0..2 {
        for (x, truth) in &train.examples {
            all.learn(x, truth).unwrap();
            one_by_one.learn(x, &asked, truth);
        }
    }
    for (x, _) in &topics(100, 7).examples {
        for (score, label) in all.scores(x).into_iter().zip(&asked) {
            assert!((f64::from(score).clamp(-1.0, 1.0) - one_by_one.score(x, *label)).abs() < 1e-3);
        }
    }
    assert!(OneAgainstAll::new(3, 0.0).is_err());
    let mut huge = OneAgainstAll::new(1 << 28, 0.1).unwrap();
    let error = huge.learn(&SparseVec::new(&[1, 2], &[1.0, 1.0]).unwrap(), &[]).unwrap_err().to_string();
    assert!(error.contains("labels times features"), "{error}");
}

#[test]
fn labellers_answer_as_what_they_were_made_of() {
    let train = topics(500, 8);
    for trees in [1, 3] {
        let options = CmtOptions { leaf_cap: LeafCap::Fixed(8), trees, ..CmtOptions::default() };
        let mut some: OneAgainstSome = OneAgainstSome::new(&options, 0.2).unwrap();
        assert!(some.labeller().unwrap().predict(&train.examples[0].0, 1).is_empty());
        for ((x, labels), i) in train.examples.iter().zip(0..) {
            some.insert(ItemId(i), x.clone(), labels.clone()).unwrap();
        }
        for i in 0..500 {
            some.replay(i as usize % trees as usize, ItemId(i), 1.0).unwrap();
            some.remove(ItemId(i / 3));
        }
        let quick = some.labeller().unwrap();
        for (x, _) in &topics(200, 9).examples {
            for leaves in [1, 2, usize::MAX] {
                assert_eq!(quick.predict(x, leaves), some.predict(x, leaves), "{trees} trees, {leaves} leaves");
            }
            assert_eq!(quick.predict_all(x), some.scores().predict_all(x));
            assert_eq!(quick.n_scored(x, 2) as usize, some.candidates(x, 2).len());
        }
        let voted = some.labeller_voted(2).unwrap();
        for (x, _) in &topics(200, 9).examples {
            let reached = some.memories().reached(x, 1);
            let mut labels: Vec<ClassId> = reached.iter().flat_map(|id| some.memories().get(*id).unwrap().value.clone()).collect();
            labels.sort_unstable();
            // With one tree and one leaf: labels that come twice.
            labels = labels.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect();
            assert!(trees > 1 || voted.predict(x, 1) == some.scores().predict(x, &labels));
            assert!(trees > 1 || voted.n_scored(x, 1) as usize == labels.len());
            assert!(voted.n_scored(x, 1) <= quick.n_scored(x, 1));
        }
    }
}

#[test]
fn losses_count_what_differs() {
    let examples = vec![(SparseVec::default(), vec![ClassId(1), ClassId(2)]), (SparseVec::default(), vec![])];
    let progress = Progress::default();
    let [tested, none] = multilabel::test(&examples, &progress, [&|_| vec![ClassId(2), ClassId(5)], &|_| vec![]]).unwrap();
    assert_eq!((tested.hamming, tested.f1, tested.predicted), (2.0, 0.25, 2.0));
    assert_eq!((none.hamming, none.f1), (1.0, 0.5));
    let (train, test) = (topics(400, 10), topics(100, 11));
    let options = CmtOptions { leaf_cap: LeafCap::Fixed(8), ..CmtOptions::default() };
    let training = MultiLabelTraining { options, label_rate: 0.3, supervised_passes: 2, votes: 1 };
    let (all, _) = multilabel::train_all(&train, &training, &progress).unwrap();
    let (some, _) = multilabel::train_some(&train.examples, &training, &progress).unwrap();
    let ways: [multilabel::LabelRule<'_>; 3] = [&|x| all.predict(x), &|x| some.predict(x, 4), &|_| vec![]];
    let [all, some, none] = multilabel::test(&test.examples, &progress, ways).unwrap();
    assert!(all.hamming < 0.2 * none.hamming && some.hamming < 0.6 * none.hamming, "{} {} {}", all.hamming, some.hamming, none.hamming);
    assert!(all.f1 > 0.9 && some.f1 > 0.5, "{} {}", all.f1, some.f1);
}

/// Photos of ten subjects: those of one subject have similar pictures and similar captions.
fn photos(n: usize, seed: u64) -> Vec<Photo> {
    let mut rng = random::seeded(seed);
    let mut one = |i: usize| {
        let subject = i % 10;
        let mut look: Vec<f32> = (0..20).map(|j| if j / 2 == subject { 1.0 } else { 0.1 * rng.random::<f32>() }).collect();
        let length = look.iter().map(|v| v * v).sum::<f32>().sqrt();
        look.iter_mut().for_each(|v| *v /= length);
        let mut caption = || format!("the thing{subject} of a kind{i} with word{}", rng.random_range(0..20u32));
        Photo { name: format!("{i}.jpg"), captions: (0..5).map(|_| caption()).collect(), look }
    };
    (0..n).map(&mut one).collect()
}

#[test]
fn photos_are_found_by_their_captions() {
    let (train, test) = (photos(200, 12), photos(60, 13));
    let options = CmtOptions { leaf_cap: LeafCap::Fixed(20), reroutes: 1, ..CmtOptions::default() };
    let setting = RetrievalSetting { options, supervised_passes: 1, baseline: None, leaves: 1 };
    let progress = Progress::default();
    let found = captions::retrieve(&train, &test, &setting, &progress).unwrap();
    for way in [found.nearest, found.nearest_cosine, found.index] {
        assert!(way.reward > 0.95, "{found:?}");
    }
    assert!(found.kd.reward > 0.8 && found.supervised.reward > 0.5 && found.unsupervised.reward > 0.5, "{found:?}");
    assert!(found.supervised.memories < 21.0 && found.nearest.memories == 200.0);
    let everywhere = RetrievalSetting { leaves: usize::MAX, supervised_passes: 0, ..setting };
    let exact = captions::retrieve(&train, &test, &everywhere, &progress).unwrap();
    assert!((exact.unsupervised.reward - exact.nearest_cosine.reward).abs() < 1e-9, "all leaves are the scan");
    for what in [MemoryUnit::Captions, MemoryUnit::Photos] {
        let recalls = captions::recall(&train, &test, what, &everywhere, &progress).unwrap();
        assert_eq!((recalls.memory.at_1, recalls.memory.at_10), (recalls.nearest.at_1, recalls.nearest.at_10));
        assert!(recalls.nearest.at_10 > 0.9 && recalls.nearest.at_1 <= recalls.nearest.at_10, "{recalls:?}");
        assert!(recalls.index.features > 0.0);
    }
}

#[test]
fn curves_have_their_rows() {
    let texts = |seed: u64| -> Vec<(ClassId, SparseVec)> {
        let mut rng = random::seeded(seed);
        let mut one = |class: u32| SparseVec::from_pairs((0..3).map(|_| (class * 4 + rng.random_range(0..5u32), 1.0))).unwrap();
        (0..90).map(|i| (ClassId(i % 30), one(i % 30))).collect()
    };
    let (train, test) = (texts(14), texts(15));
    let progress = Progress::default();
    let options = CmtOptions::default();
    let curves = figures::few_shot(&train, &test, &options, 2, &progress).unwrap();
    let rows: Vec<(&str, usize)> = curves.iter().map(|curve| (curve.name, curve.rows.len())).collect();
    assert_eq!(rows, [("reroutes", 6), ("passes", 6), ("leaves_c", 6), ("shots", 3), ("budget", 30), ("yardsticks", 1)]);
    assert!(curves.iter().all(|curve| curve.rows.iter().all(|row| row.len() == curve.columns.len())));
    assert_eq!(curves[3].column("memories"), [30.0, 60.0, 90.0]);
    let exact = curves[5].column("error")[0];
    assert!((curves[4].column("error")[29] - exact).abs() < 0.05, "16 trees and 32 leaves each look at nearly all");
    let postings = few_shot::postings(&train, &test);
    assert!(postings > 0.0 && curves[5].column("index_postings") == [postings]);
    assert!(curves[0].column("no such column").is_empty());

    let grown = figures::growth(3000, &options, &progress).unwrap();
    assert_eq!(grown.column("memories"), [1000.0, 2154.0, 3000.0]);
    assert!(grown.column("bytes_per_memory").iter().all(|bytes| (100.0..20_000.0).contains(bytes)));
    assert!(grown.column("query_memories").iter().all(|scored| *scored < 60.0) && grown.column("depth")[2] < 20.0);
}

#[test]
fn a_calibration_error_is_the_gap_between_confidence_and_share() {
    assert_eq!(calibration_error([]), 0.0);
    // Three of four answers given with 0.95 are right, and one of two given with 0.5.
    let answers = [(0.95, true), (0.95, true), (0.95, true), (0.95, false), (0.5, true), (0.5, false)];
    assert!((calibration_error(answers) - 4.0 / 6.0 * 0.2).abs() < 1e-12);
    assert!((calibration_error([(1.0, false), (0.0, false)]) - 0.5).abs() < 1e-12);
}

#[test]
fn a_calibrated_recogniser_shows_an_error_by_chance_that_shrinks_with_its_answers() {
    let mut rng = random::seeded(3);
    let confidences: Vec<f64> = (0..20_000).map(|_| rng.random_range(0.2..1.0)).collect();
    let errors: Vec<f64> = [20, 200, 20_000].map(|n| calibration_error_by_chance(&confidences[..n], 1)).to_vec();
    assert!(errors[0] > 2.0 * errors[1] && errors[1] > 5.0 * errors[2] && errors[2] < 0.01, "{errors:?}");
    let drawn: Vec<(f64, bool)> = confidences.iter().map(|&confidence| (confidence, rng.random_bool(confidence))).collect();
    assert!((calibration_error(drawn) - errors[2]).abs() < 0.01);
}
