//! The likeness of whole images: learned in one pass, taken back exactly, a part of every score.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use proptest::prelude::*;
use rand::seq::SliceRandom as _;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use tessera_core::ckm::class_terms::ClassTerms;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::whole::whole_features;
use tessera_core::ckm::{Ckm, CkmOptions, Example, Scores, Without};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::network::{CHANNELS, CLASS_VALUES};
use tessera_core::progress::Progress;
use tessera_core::random;

use super::machine;
use crate::scenes::scene;

/// Terms by which the whole counts so much.
fn counting(whole: f64) -> ClassTerms {
    ron::from_str(&format!("(terms: {{}}, whole: {whole})")).unwrap()
}

fn scores(ckm: &Ckm, without: Without<'_>) -> Vec<Scores> {
    ckm.examples().map(|(_, example)| ckm.scores(&example.elements.get(), without)).collect()
}

/// What a query is compared with is made at the first score, on all threads: none of these may wait
/// for another that takes up the next query meanwhile.
#[test]
fn many_queries_at_once_do_not_wait_for_each_other() {
    let (done, ended) = channel();
    std::thread::spawn(move || {
        let pool = ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        let ckm = with_whole();
        let queries: Vec<&Example> = ckm.examples().map(|(_, example)| example).collect();
        for round in 0..16 {
            let mut fresh = ckm.clone();
            fresh.remove(ItemId(round % 27));
            let all: Vec<Scores> =
                pool.install(|| queries.par_iter().map(|query| fresh.scores(&query.elements.get(), Without::Nothing)).collect());
            let one = fresh.scores(&queries[0].elements.get(), Without::Nothing);
            assert_eq!(all[0], one);
        }
        done.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(300)).expect("scores wait for each other");
}

/// A machine of 27 toys in which the whole counts.
fn with_whole() -> Ckm {
    let mut ckm = machine(Preset::Mixed.options(), 27);
    ckm.set_terms(counting(0.5));
    ckm
}

#[test]
fn clones_share_what_is_made_until_their_images_differ() {
    let ckm = with_whole();
    let clone = ckm.clone();
    let mut other = ckm.clone();
    other.remove(ItemId(5));
    assert!([&ckm, &clone, &other].iter().all(|ckm| ckm.is_to_be_prepared()));
    let stopped = Progress::default();
    stopped.cancel();
    assert!(matches!(clone.prepare_by(&stopped), Err(tessera_core::Error::Cancelled)) && clone.is_to_be_prepared());
    let progress = Progress::default();
    clone.prepare_by(&progress).unwrap();
    assert_eq!(progress.snapshot().done, 27);
    assert!(!clone.is_to_be_prepared() && !ckm.is_to_be_prepared() && other.is_to_be_prepared());
    // A machine that does not count the whole shares it too, and hands on what follows its changes.
    let mut bare = clone.clone();
    bare.set_terms(ClassTerms::default());
    bare.remove(ItemId(7));
    let mut counted = bare.clone();
    counted.set_terms(counting(0.5));
    for (ckm, gone) in [(&other, 5), (&counted, 7)] {
        let mut fresh = machine(Preset::Mixed.options(), 27);
        fresh.set_terms(counting(0.5));
        fresh.remove(ItemId(gone));
        assert_eq!(scores(ckm, Without::Nothing), scores(&fresh, Without::Nothing));
    }
    assert_eq!(scores(&ckm, Without::Nothing), scores(&with_whole(), Without::Nothing));
    // The first guess is what the pieces say.
    let query = ckm.examples().next().unwrap().1.elements.get();
    assert_eq!(
        with_whole().scores_by_pieces(&query, Without::Nothing),
        machine(Preset::Mixed.options(), 27).scores(&query, Without::Nothing)
    );
}

/// The variance of a Gaussian process by its products with every training image: equation 2.26 of
/// Rasmussen and Williams, as a share of that without any.
fn slow_novelty(query: &Elements, training: &[Arc<Example>], options: &CkmOptions) -> f64 {
    let wide = |elements: &Elements| whole_features(elements, &options.kinds).unwrap().into_iter().map(f64::from).collect::<Vec<_>>();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (query, all): (Vec<f64>, Vec<Vec<f64>>) = (wide(query), training.iter().map(|example| wide(&example.elements.get())).collect());
    let (n, ridge) = (all.len(), 0.3 * 127.0 * 127.0 * 512.0);
    // Elimination in the products, with those of the query beside them.
    let mut rows: Vec<Vec<f64>> = all.iter().map(|a| all.iter().map(|b| dot(a, b)).chain([dot(a, &query)]).collect()).collect();
    (0..n).for_each(|i| rows[i][i] += ridge);
    for i in 0..n {
        let pivot = rows[i].clone();
        for row in &mut rows[i + 1..] {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut solved = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i][j] * solved[j]).sum();
        solved[i] = (rows[i][n] - known) / rows[i][i];
    }
    let explained: f64 = all.iter().zip(&solved).map(|(a, weight)| weight * dot(a, &query)).sum();
    1.0 - explained / dot(&query, &query)
}

#[test]
fn novelty_is_what_training_images_do_not_explain() {
    let ckm = with_whole();
    let examples: Vec<Arc<Example>> = ckm.examples().map(|(_, example)| Arc::new(example.clone())).collect();
    for query in examples.iter().step_by(4) {
        let elements = query.elements.get();
        let many: BTreeSet<ItemId> = examples.iter().map(|example| example.id).take(20).collect();
        for without in [Without::Nothing, Without::Image(query.id), Without::Images(&many)] {
            let training: Vec<_> = examples.iter().filter(|example| !without.leaves_out(example)).cloned().collect();
            let (found, slow) = (ckm.novelty(&elements, without).unwrap(), slow_novelty(&elements, &training, ckm.options()));
            assert!((found - slow).abs() < 1e-9, "{found} for {slow}");
        }
        assert!(ckm.novelty(&elements, Without::Nothing) < ckm.novelty(&elements, Without::Image(query.id)));
    }
    let judged = judge(&ckm, 100, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap();
    assert!(!judged.held_out.is_empty());
    for held in judged.held_out {
        let example = examples.iter().find(|example| example.id == held.id).unwrap();
        let alone = ckm.novelty(&example.elements.get(), example.without_itself()).unwrap();
        assert!((held.novelty.unwrap() - alone).abs() < 1e-12, "judged without its object");
    }
}

/// In any order, an image has the values that a machine of the images before it gives.
#[test]
fn values_in_turn_are_those_of_machines_that_learn_one_image_after_another() {
    let all = with_whole();
    let mut order: Vec<ItemId> = all.examples().map(|(_, example)| example.id).collect();
    order.shuffle(&mut random::seeded(3));
    let in_turn = all.whole_values_in_turn(&order);
    let mut before = Ckm::new(all.options().clone()).unwrap();
    for (id, found) in order.iter().zip(&in_turn) {
        let (class, example) = all.examples().find(|(_, example)| example.id == *id).unwrap();
        let expected = before.whole_values(&example.elements.get(), Without::Nothing);
        for (class, value) in before.classes().iter().zip(&expected) {
            let own = all.classes().iter().position(|own| own.name == class.name).unwrap();
            assert!((found[own] - value).abs() < 1e-9, "{} for {value}", found[own]);
        }
        before.add(&all.classes()[class.index()].name, example.clone()).unwrap();
    }
    assert_eq!(in_turn.last().map(Vec::len), Some(all.classes().len()));
    let unknown = ItemId(1000);
    assert_eq!(all.whole_values_in_turn(&[unknown, order[0]]), [vec![], vec![0.0; all.classes().len()]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_machine_that_had_other_images_equals_one_that_never_had(gone in proptest::collection::btree_set(27u32..36, 1..9)) {
        let mut grown = machine(Preset::Mixed.options(), 36);
        grown.set_terms(counting(0.5));
        // The sums are there from now on, and follow.
        scores(&grown, Without::Nothing);
        for id in &gone {
            grown.remove(ItemId(*id));
        }
        for id in (27..36).filter(|id| !gone.contains(id)) {
            grown.remove(ItemId(id));
        }
        prop_assert_eq!(scores(&grown, Without::Nothing), scores(&with_whole(), Without::Nothing));
    }

    #[test]
    fn leaving_images_out_is_removing_them(left_out in proptest::collection::btree_set((0u32..27).prop_map(ItemId), 1..12)) {
        let ckm = with_whole();
        let mut without = ckm.clone();
        for id in &left_out {
            without.remove(*id);
        }
        for (class, example) in ckm.examples().filter(|(_, example)| !left_out.contains(&example.id)) {
            let expected = without.scores(&example.elements.get(), Without::Nothing);
            let found = ckm.scores(&example.elements.get(), Without::Images(&left_out));
            let own = without.class_id(&ckm.classes()[class.index()].name).unwrap();
            let (expected, found) = (expected.of[own.index()].unwrap(), found.of[class.index()].unwrap());
            prop_assert!((expected - found).abs() < 1e-6 * expected.abs(), "{} is not {}", found, expected);
        }
    }
}

#[test]
fn leaving_out_many_equals_leaving_out_few_at_a_time() {
    // Above a quarter of the features another way is taken.
    let ckm = with_whole();
    let all_but_class: BTreeSet<ItemId> = ckm.examples().map(|(_, example)| example.id).filter(|id| id.0 >= 9).collect();
    let (_, query) = ckm.examples().next().unwrap();
    let mut removed = ckm.clone();
    all_but_class.iter().for_each(|id| assert!(removed.remove(*id)));
    let values = |scores: Scores| scores.of.into_iter().flatten().collect::<Vec<f64>>();
    let (found, expected) = (
        values(ckm.scores(&query.elements.get(), Without::Images(&all_but_class))),
        values(removed.scores(&query.elements.get(), Without::Nothing)),
    );
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6 * expected.abs(), "{found} is not {expected}");
    }
}

#[test]
fn explanations_sum_to_the_score_and_name_images_of_the_class() {
    let ckm = with_whole();
    let (_, query) = ckm.examples().next().unwrap();
    let without = Without::Image(query.id);
    let scores = ckm.scores(&query.elements.get(), without);
    let classes: Vec<ClassId> = (0..3).map(ClassId).collect();
    let pieces = {
        let mut plain = ckm.clone();
        plain.set_terms(ClassTerms::default());
        plain.scores(&query.elements.get(), without)
    };
    for explanation in ckm.explain(&query.elements.get(), without, &classes) {
        let c = explanation.class.index();
        assert_eq!(scores.of[c], Some(pieces.of[c].unwrap() + explanation.whole));
        let sum: f64 = explanation.contributions.iter().map(|contribution| contribution.value).sum();
        assert!((sum + explanation.whole + explanation.term - explanation.score).abs() < 1e-3);
        assert!(explanation.whole != 0.0 && !explanation.alike.is_empty());
        for alike in &explanation.alike {
            assert!(alike.image != query.id && ckm.classes()[c].examples.iter().any(|example| example.id == alike.image));
        }
    }
}

#[test]
fn values_of_judged_images_are_those_without_their_object() {
    let ckm = machine(Preset::Hog.options(), 27);
    let judgement = judge(&ckm, usize::MAX, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap();
    let mut counted = ckm.clone();
    counted.set_terms(counting(1.0));
    for held in &judgement.raw {
        let (_, example) = ckm.examples().find(|(_, example)| example.id == held.id).unwrap();
        let without = example.without_itself();
        let (plain, with) = (ckm.scores(&example.elements.get(), without), counted.scores(&example.elements.get(), without));
        for (c, value) in held.whole.iter().enumerate() {
            let found = (with.of[c].unwrap() - plain.of[c].unwrap()) / with.mass;
            assert!((found - value).abs() < 1e-9, "{found} is not {value}");
        }
    }
}

/// An image of `n` cells of the network, one of which has 1 in some channels and the others zeros.
fn of_cells(options: &CkmOptions, n: usize, is_on: impl Fn(usize) -> bool) -> Elements {
    // Width, height, how many elements, and all of their places in the middle; 127 stands for 1.
    let numbers = [vec![100, 100, n as u32], vec![0; 2 * n]].concat();
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend((0..n * CHANNELS).map(|i| if i < CHANNELS && is_on(i) { 127 } else { 0 }));
    Elements::from_bytes(&bytes, options).unwrap()
}

/// `benches/make_squeezenet.py` tells the squared distances from 0 by the last layer itself.
#[test]
fn pictures_are_as_alike_as_the_last_layer_has_them() {
    let network = Preset::Network.options();
    let options = CkmOptions { kinds: network.kinds[..1].to_vec(), ..network };
    let features = |elements: &Elements| whole_features(elements, &options.kinds).unwrap();
    let nothing = features(&of_cells(&options, 1, |_| false));
    let product = |other: &[i8]| nothing.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    for (factor, distance) in [(37, 90.9568f64), (53, 98.2137)] {
        // The mean of the cells is so many times nearer to 0.
        for n in [20, 30] {
            let waves = features(&of_cells(&options, n, |i| i * factor % 101 < 50));
            let found = -2.0 * (product(&waves) / product(&nothing)).ln() * (n * n) as f64;
            assert!((found / distance - 1.0).abs() < 0.01, "{found}, not {distance}, of {n} cells");
            // Each pair is a cosine and a sine, off by 0.001, and by half a step of 127.
            let (cosines, sines) = waves.split_at(waves.len() / 2);
            for (cosine, sine) in cosines.iter().zip(sines) {
                let square = f64::from(*cosine).powi(2) + f64::from(*sine).powi(2);
                assert!((square / 127.0f64.powi(2) - 1.0).abs() < 0.014, "{cosine} and {sine}");
            }
        }
    }
}

/// The features of an image by the network's kinds, each brought to length 1 or so: waves, and what
/// it says of its own classes, whose steps count 17 times as much.
fn all_features(elements: &Elements, options: &CkmOptions) -> Vec<f64> {
    let waves = whole_features(elements, &options.kinds).unwrap();
    let bytes = elements.to_bytes();
    let classes = bytes[bytes.len() - CLASS_VALUES..].iter().map(|value| 17.0 * (f64::from(*value) - 128.0).clamp(-127.0, 127.0));
    waves.iter().map(|wave| f64::from(*wave)).chain(classes).map(|value| value / 127.0 / 512.0f64.sqrt()).collect()
}

/// Solves equations by elimination.
fn solved(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|a, b| rows[*a][i].abs().total_cmp(&rows[*b][i].abs())).unwrap();
        rows.swap(i, pivot);
        let own = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i] / own[i];
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

/// Ridge regression image by image, in place of sums over them.
#[test]
fn values_are_those_of_kernel_ridge_regression() {
    let options = Preset::Network.options();
    let mut ckm = machine(options.clone(), 24);
    let query = ckm.elements(&scene(77, 90, 96).into()).unwrap();
    let plain = ckm.scores(&query, Without::Nothing);
    ckm.set_terms(counting(1.0));
    let with = ckm.scores(&query, Without::Nothing);
    let images: Vec<(usize, Vec<f64>)> =
        ckm.examples().map(|(class, example)| (class.index(), all_features(&example.elements.get(), &options))).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let own = all_features(&query, &options);
    for (c, class) in ckm.classes().iter().enumerate() {
        let share = class.examples.len() as f64 / images.len() as f64;
        let row = |(i, (of, one)): (usize, &(usize, Vec<f64>))| {
            let kernel = images.iter().enumerate().map(|(j, (_, other))| product(one, other) + if i == j { 0.3 } else { 0.0 });
            kernel.chain([f64::from(u8::from(*of == c)) - share]).collect()
        };
        let weights = solved(images.iter().enumerate().map(row).collect());
        let expected: f64 = images.iter().zip(&weights).map(|((_, image), weight)| weight * product(image, &own)).sum();
        let found = (with.of[c].unwrap() - plain.of[c].unwrap()) / with.mass;
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }
}

#[test]
fn what_the_network_says_of_its_classes_is_left_out_and_taken_back_too() {
    let mut ckm = machine(Preset::All.options(), 18);
    ckm.set_terms(counting(0.5));
    scores(&ckm, Without::Nothing);
    let gone: BTreeSet<ItemId> = [ItemId(4), ItemId(11)].into();
    let mut without = ckm.clone();
    gone.iter().for_each(|id| assert!(without.remove(*id)));
    let mut never = machine(Preset::All.options(), 18);
    gone.iter().for_each(|id| assert!(never.remove(*id)));
    never.set_terms(counting(0.5));
    assert_eq!(scores(&without, Without::Nothing), scores(&never, Without::Nothing));
    let (_, query) = without.examples().next().unwrap();
    let (removed, left_out) =
        (without.scores(&query.elements.get(), Without::Nothing), ckm.scores(&query.elements.get(), Without::Images(&gone)));
    for (removed, left_out) in removed.of.iter().flatten().zip(left_out.of.iter().flatten()) {
        assert!((removed - left_out).abs() < 1e-6 * removed.abs(), "{left_out} is not {removed}");
    }
}

/// Left-out images whose pieces say nothing, and whose whole names the class if `tells`.
fn judged(tells: bool) -> Vec<HeldOut> {
    let held = |i: u32| {
        let class = ClassId(i % 3);
        let noise = |c: u32| f64::from((i * 7 + c * 5) % 11) / 11.0;
        let scores = Scores { of: (0..3).map(|c| Some(noise(c))).collect(), examples: vec![10; 3], mass: 1.0 };
        let whole = (0..3).map(|c| if tells { f64::from(u8::from(c == class.0)) } else { f64::from((i / 3 * 5 + c * 3) % 7) }).collect();
        HeldOut { id: ItemId(i), class, predicted: class, scores, whole, novelty: None }
    };
    (0..60).map(held).collect()
}

#[test]
fn the_whole_counts_where_it_tells_images_apart() {
    let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
    let (telling, silent) = (ClassTerms::fit(&names, &judged(true), 1.0), ClassTerms::fit(&names, &judged(false), 1.0));
    assert!(telling.whole() > 1.0, "{}", telling.whole());
    assert!(silent.whole() < 0.05, "{}", silent.whole());
    let half = ClassTerms::fit(&names, &judged(true), 0.5).whole();
    assert!((half - 0.5 * telling.whole()).abs() < 1e-9 * half, "{half}");
}

#[test]
fn machines_of_bits_have_no_value_of_the_whole() {
    let ckm = machine(Preset::Orb.options(), 27);
    let judgement = judge(&ckm, usize::MAX, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap();
    assert!(judgement.raw.iter().all(|held| held.whole.is_empty()));
    assert_eq!(judgement.terms.whole(), 0.0);
}
