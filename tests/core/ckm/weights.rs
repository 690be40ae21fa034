//! Weights of elements: what they add to scores, and how they are learned.

use proptest::prelude::*;
use rand::RngExt;
use rayon::ThreadPoolBuilder;
use tessera_core::Error;
use tessera_core::ckm::element::{ElementSet, Elements};
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::weights::descent::{Descent, Method, StepOptions, loss};
use tessera_core::ckm::weights::lists::{ListSize, Lists};
use tessera_core::ckm::weights::{LearnOptions, learn};
use tessera_core::ckm::{Ckm, CkmOptions, Example, Without};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::progress::Progress;
use tessera_core::random;

use super::{add, machine, unjudged};
use crate::scenes::scene;

const SIZE: ListSize = ListSize { images: 3, pair_images: 2, rivals: 2 };
const STEPS: StepOptions = StepOptions { margin: 2.0, step: 0.002, lowest: -0.3, highest: 0.3 };

/// All kinds at a small side, where pairs are worth `bonus`.
fn small(bonus: f32) -> CkmOptions {
    let mut options = CkmOptions { side: 48, decompositions: 3, ..Preset::Mixed.options() };
    options.kinds[0].kernel.weight = 0.5;
    options.kinds.iter_mut().for_each(|kind| kind.kernel.pair_bonus = bonus);
    options
}

/// Sets random weights of up to `size`.
fn weigh(ckm: &mut Ckm, seed: u64, size: f32) {
    let mut rng = random::seeded(seed);
    let lengths: Vec<(ItemId, Vec<usize>)> =
        ckm.examples().map(|(_, e)| (e.id, e.elements.get().sets.iter().map(|set| set.len()).collect())).collect();
    for (id, lengths) in lengths {
        let weights: Vec<Vec<f32>> = lengths.into_iter().map(|n| (0..n).map(|_| rng.random_range(-size..=size)).collect()).collect();
        assert!(ckm.set_weights(id, &weights).unwrap());
    }
}

fn own_lists(ckm: &Ckm, size: ListSize) -> Lists {
    let held: Vec<_> = ckm.examples().map(|(class, e)| (class, e.elements.get(), e.without_itself())).collect();
    let queries: Vec<_> = held.iter().map(|(class, elements, without)| (*class, &**elements, *without)).collect();
    Lists::make(ckm, &queries, size, &Progress::default()).unwrap()
}

fn weights_of(ckm: &Ckm) -> Vec<f32> {
    let of = |set: &ElementSet| (0..set.len()).map(|i| set.weight(i)).collect::<Vec<f32>>();
    ckm.examples().flat_map(|(_, e)| e.elements.get().sets.iter().flat_map(of).collect::<Vec<f32>>()).collect()
}

fn set_all(ckm: &mut Ckm, weights: &[Vec<Vec<f32>>]) {
    let ids: Vec<ItemId> = ckm.examples().map(|(_, e)| e.id).collect();
    for (id, weights) in ids.into_iter().zip(weights) {
        ckm.set_weights(id, weights).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn contributions_with_weights_sum_to_the_score(seed: u64, size in 0.0f32..2.0, bonus in prop::sample::select(vec![-0.1f32, 0.0, 0.2])) {
        let mut ckm = machine(small(bonus), 9);
        weigh(&mut ckm, seed, size);
        let query = ckm.elements(&scene(seed ^ 1, 60, 50).into()).unwrap();
        let scores = ckm.scores(&query, Without::Nothing);
        for explanation in ckm.explain(&query, Without::Nothing, &[ClassId(0), ClassId(1), ClassId(2)]) {
            let score = scores.of[explanation.class.index()].unwrap();
            let sum: f64 = explanation.contributions.iter().map(|c| c.value).sum();
            prop_assert!((sum - score).abs() < 1e-3 && (explanation.score - score).abs() < 1e-9, "{} is not {}", sum, score);
            for c in &explanation.contributions {
                let m = c.matched.as_ref().unwrap();
                let (_, example) = ckm.examples().find(|(_, e)| e.id == m.image).unwrap();
                prop_assert_eq!(c.weight, example.elements.get().sets[c.kind].weight(m.element));
            }
        }
    }

    #[test]
    fn scores_from_lists_are_full_scores_at_the_weights_of_the_lists(seed: u64, bonus in prop::sample::select(vec![-0.1f32, 0.0, 0.2])) {
        let mut ckm = machine(small(bonus), 18);
        for round in 0..2 {
            let lists = own_lists(&ckm, SIZE);
            let weights = weights_of(&ckm);
            prop_assert_eq!(&lists.numbering().weights(&ckm), &weights);
            for (i, (class, example)) in ckm.examples().enumerate() {
                let full = ckm.scores(&example.elements.get(), example.without_itself());
                prop_assert_eq!(lists.images[i].classes[0], class);
                for (class, score) in lists.images[i].classes.iter().zip(lists.scores(i, &weights)) {
                    let full = full.of[class.index()].unwrap();
                    prop_assert!((score - full).abs() < 1e-4, "round {}: {} is not {}", round, score, full);
                }
            }
            weigh(&mut ckm, seed, 0.5);
            // Old lists know some elements only, so they give no more than there is.
            let weights = weights_of(&ckm);
            for (i, (_, example)) in ckm.examples().enumerate() {
                let full = ckm.scores(&example.elements.get(), example.without_itself());
                for (class, score) in lists.images[i].classes.iter().zip(lists.scores(i, &weights)) {
                    prop_assert!(score < full.of[class.index()].unwrap() + 1e-4);
                }
            }
        }
    }
}

#[test]
fn a_weight_may_push_an_element_below_the_floor() {
    let mut ckm = machine(Preset::Colour.options(), 9);
    let query = ckm.elements(&scene(3, 60, 60).into()).unwrap();
    let before = ckm.scores(&query, Without::Nothing).of;
    let n = ckm.examples().map(|(_, e)| e.elements.len()).max().unwrap();
    let ids: Vec<ItemId> = ckm.examples().map(|(_, e)| e.id).collect();
    for id in ids {
        ckm.set_weights(id, &[vec![-10.0; n]]).unwrap();
    }
    let lost = 10.0 * f64::from(ckm.options().kinds[0].kernel.weight) * query.len() as f64;
    for (before, after) in before.iter().zip(ckm.scores(&query, Without::Nothing).of) {
        assert!((before.unwrap() - lost - after.unwrap()).abs() < 1e-2, "{before:?} became {after:?}");
    }
}

/// The gradient of each loss against differences of the losses of machines with one weight changed.
#[test]
fn gradients_are_slopes_of_full_losses() {
    for bonus in [-0.1, 0.2] {
        let mut ckm = machine(small(bonus), 18);
        // Random weights leave no ties.
        weigh(&mut ckm, 5, 0.2);
        let lists = own_lists(&ckm, SIZE);
        let weights = weights_of(&ckm);
        let margin = 30.0;
        let full_loss = |weights: &[f32], i: usize| -> f64 {
            let mut ckm = ckm.clone();
            set_all(&mut ckm, &lists.numbering().split(weights));
            let (class, example) = ckm.examples().nth(i).unwrap();
            let of: Vec<f64> = ckm.scores(&example.elements.get(), example.without_itself()).of.into_iter().map(Option::unwrap).collect();
            let other = (0..of.len()).filter(|c| *c != class.index()).map(|c| of[c]).fold(f64::NEG_INFINITY, f64::max);
            (margin + other - of[class.index()]).max(0.0).powi(2)
        };
        for i in [0, 7] {
            let mut slopes = std::collections::BTreeMap::new();
            let value = loss(&lists, i, &weights, margin, &mut |element, slope| *slopes.entry(element).or_insert(0.0) += slope);
            assert!((value - full_loss(&weights, i)).abs() < 1e-2 && slopes.len() > 50, "{value}, {} slopes", slopes.len());
            let mut compared = 0;
            for (&element, &slope) in slopes.iter().step_by(slopes.len() / 20) {
                // In f32 smaller steps drown in rounding.
                let step = 1e-3;
                let at = |by: f32| {
                    let mut changed = weights.clone();
                    changed[element as usize] += by;
                    full_loss(&changed, i)
                };
                let [up, down] = [at(step) - value, value - at(-step)].map(|rise| rise / f64::from(step));
                // Where the two sides differ, another element takes over within the step.
                if (up - down).abs() < 0.02 * slope.abs() {
                    compared += 1;
                    let found = (up + down) / 2.0;
                    assert!((found - slope).abs() < 0.02 * slope.abs(), "image {i}, element {element}: {found}, not {slope}");
                }
            }
            assert!(compared > 10, "{compared} slopes compared");
            let untouched = (0..weights.len() as u32).find(|element| !slopes.contains_key(element)).unwrap();
            let mut changed = weights.clone();
            changed[untouched as usize] -= 0.1;
            assert!((full_loss(&changed, i) - value).abs() < 1e-2);
        }
    }
}

#[test]
fn descent_lessens_the_loss_and_keeps_weights_small() {
    let ckm = machine(small(0.2), 27);
    for method in [Method::Stochastic, Method::Blocks] {
        let lists = own_lists(&ckm, SIZE);
        let n = lists.images.len();
        let mean_loss =
            |lists: &Lists, weights: &[f32]| (0..n).map(|i| loss(lists, i, weights, STEPS.margin, &mut |_, _| {})).sum::<f64>() / n as f64;
        let options = StepOptions { lowest: -0.05, highest: 0.05, ..STEPS };
        let mut descent = Descent::new(lists, weights_of(&ckm), options);
        let before = mean_loss(descent.lists(), descent.weights());
        for _ in 0..4 {
            descent.epoch(method, &mut random::seeded(1), &Progress::default()).unwrap();
        }
        let after = mean_loss(descent.lists(), descent.weights());
        assert!(after < 0.7 * before, "{method:?}: {before} became {after}");
        assert!(descent.weights().iter().all(|weight| weight.abs() <= 0.05));
        let mean = descent.mean();
        assert!(mean.iter().zip(descent.weights()).any(|(mean, now)| mean != now) && mean.iter().all(|weight| weight.abs() <= 0.05 + 1e-6));
    }
}

/// The mean that is kept without passes over all weights, against the sum over steps.
#[test]
fn the_mean_is_that_of_all_steps() {
    let ckm = machine(small(0.2), 18);
    // One image, so that an epoch is a step.
    let (class, example) = ckm.examples().next().unwrap();
    let lists = Lists::make(&ckm, &[(class, &example.elements.get(), example.without_itself())], SIZE, &Progress::default()).unwrap();
    let mut descent = Descent::new(lists, weights_of(&ckm), StepOptions { margin: 100.0, ..STEPS });
    let mut sum = vec![0.0f64; descent.weights().len()];
    for _ in 0..5 {
        descent.epoch(Method::Stochastic, &mut random::seeded(1), &Progress::default()).unwrap();
        sum.iter_mut().zip(descent.weights()).for_each(|(sum, weight)| *sum += f64::from(*weight));
    }
    assert!(sum.iter().any(|sum| *sum != 0.0));
    assert!(descent.mean().iter().zip(&sum).all(|(mean, sum)| (f64::from(*mean) - sum / 5.0).abs() < 1e-6));
}

fn options() -> LearnOptions {
    LearnOptions { steps: STEPS, epochs: 3, lists: SIZE, ..LearnOptions::default() }
}

#[test]
fn learning_is_the_same_on_any_number_of_threads() {
    for method in [Method::Stochastic, Method::Blocks] {
        let on = |threads: usize| {
            ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let mut ckm = machine(small(0.2), 27);
                let learned = learn(&mut ckm, &LearnOptions { method, ..options() }, 3, &Progress::default()).unwrap();
                (ckm, learned)
            })
        };
        let (alone, together) = (on(1), on(2));
        assert_eq!(alone, together);
        let learned = alone.1;
        assert_eq!((learned.held_out.len(), learned.judgement.held_out.len(), learned.images), (4, 27, 27));
        assert_eq!(alone.0.is_weighted(), learned.epochs > 0, "no epoch, no weight");
        let right = learned.judgement.held_out.iter().filter(|held| held.class == held.predicted).count();
        assert_eq!(right as f64 / 27.0, learned.held_out[learned.epochs]);
        assert!(learned.held_out.iter().all(|share| *share <= learned.held_out[learned.epochs]), "{:?}", learned.held_out);
    }
}

#[test]
fn memory_shortens_lists_and_then_takes_fewer_images() {
    let learned = |memory: usize| {
        let mut ckm = machine(small(0.2), 27);
        learn(&mut ckm, &LearnOptions { memory, ..options() }, 3, &Progress::default()).unwrap()
    };
    let whole = learned(1 << 30);
    assert_eq!((whole.lists, whole.images), (SIZE, 27));
    let short = learned(800_000);
    assert!(short.lists.images < SIZE.images && short.images == 27, "{short:?}");
    let few = learned(100_000);
    assert!((few.lists.images, few.lists.pair_images) == (1, 1) && (1..27).contains(&few.images), "{few:?}");
}

#[test]
fn a_class_with_one_object_and_a_machine_of_one_class_are_no_trouble() {
    // The first class has two objects, the others one each.
    let mut ckm = machine(small(0.2), 12);
    let learned = learn(&mut ckm, &options(), 3, &Progress::default()).unwrap();
    assert_eq!(learned.judgement.held_out.len(), 6, "only the first class can be judged");
    let mut alone = machine(small(0.2), 3);
    assert_eq!(learn(&mut alone, &options(), 3, &Progress::default()).unwrap().epochs, 0);
    assert!(!alone.is_weighted());
}

#[test]
fn learning_can_be_cancelled_and_refuses_options_out_of_range() {
    let mut ckm = machine(small(0.2), 18);
    let progress = Progress::default();
    progress.cancel();
    assert!(matches!(learn(&mut ckm, &options(), 0, &progress), Err(Error::Cancelled)));
    let with = |change: fn(&mut LearnOptions)| {
        let mut options = options();
        change(&mut options);
        options.check().unwrap_err().to_string()
    };
    assert!(with(|o| o.steps.margin = 0.0).contains("margin"));
    assert!(with(|o| o.steps.step = f64::NAN).contains("step"));
    assert!(with(|o| o.steps.lowest = 1.0).contains("lowest"));
    assert!(with(|o| o.steps.highest = f32::NAN).contains("highest"));
    assert!(with(|o| o.lists.rivals = 0).contains("rivals"));
    assert!(with(|o| o.folds = 1).contains("folds"));
}

#[test]
fn weights_survive_adding_and_removing_and_a_new_image_begins_at_zero() {
    let mut ckm = machine(small(0.2), 9);
    weigh(&mut ckm, 1, 0.3);
    let of = |ckm: &Ckm, id: u32| -> Vec<f32> {
        let (_, example) = ckm.examples().find(|(_, e)| e.id == ItemId(id)).unwrap();
        example.elements.get().sets.iter().flat_map(|set| (0..set.len()).map(|i| set.weight(i))).collect()
    };
    let before = of(&ckm, 4);
    add(&mut ckm, 9);
    assert!(of(&ckm, 9).iter().all(|weight| *weight == 0.0));
    assert!(ckm.remove(ItemId(3)));
    assert_eq!(of(&ckm, 4), before);
    add(&mut ckm, 4);
    assert!(of(&ckm, 4).iter().all(|weight| *weight == 0.0), "an image that is learned again is new");
    assert!(!ckm.set_weights(ItemId(77), &[]).unwrap());
    assert!(ckm.set_weights(ItemId(5), &[vec![0.0]]).unwrap_err().to_string().contains("weights"));
}

#[test]
fn a_copy_of_a_machine_keeps_its_own_weights() {
    let uniform = machine(small(0.2), 9);
    let mut weighted = uniform.clone();
    weigh(&mut weighted, 1, 0.3);
    assert!(weighted.is_weighted() && !uniform.is_weighted());
    assert_ne!(weighted, uniform);
}

#[test]
fn models_keep_weights_and_element_bytes_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut ckm = machine(small(0.2), 9);
    let uniform = unjudged(ckm.clone());
    let bytes: Vec<Vec<u8>> = ckm.examples().map(|(_, e)| e.elements.get().to_bytes()).collect();
    uniform.save(&folder.path().join("uniform")).unwrap();
    assert_eq!(RecogniserModel::load(&folder.path().join("uniform")).unwrap(), uniform);
    weigh(&mut ckm, 1, 0.3);
    let weighted = unjudged(ckm.clone());
    weighted.save(&folder.path().join("weighted")).unwrap();
    assert_eq!(RecogniserModel::load(&folder.path().join("weighted")).unwrap(), weighted);
    let four_each = 4 * ckm.n_elements() as u64;
    let more = weighted.weight_bytes().unwrap() - uniform.weight_bytes().unwrap();
    assert!((four_each..four_each + 1000).contains(&more), "{more}");
    for ((_, example), bytes) in ckm.examples().zip(bytes) {
        assert_eq!(example.elements.get().to_bytes(), bytes);
        let read = Elements::from_bytes(&bytes, ckm.options()).unwrap();
        let fresh = Example { elements: read.into(), ..example.clone() };
        assert!(fresh.elements.get().sets.iter().all(|set| (0..set.len()).all(|i| set.weight(i) == 0.0)));
    }
}
