//! The index of pieces: what it finds, what it leaves out, and that it follows images as they come
//! and go.

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use tessera_core::Error;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, Example, Scores, Search, Without};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::progress::Progress;
use tessera_core::random;

use super::{add, machine, presets, unjudged};
use crate::scenes::scene;

const ALL: usize = usize::MAX;
const CLASSES: [ClassId; 3] = [ClassId(0), ClassId(1), ClassId(2)];

fn searching(options: CkmOptions, n: u32, probes: usize) -> Ckm {
    let mut ckm = machine(options, n);
    ckm.set_search(Search::Index { probes }).unwrap();
    ckm
}

fn query(ckm: &Ckm, seed: u64) -> Elements {
    ckm.elements(&scene(seed, 100, 70).into()).unwrap()
}

fn scores(ckm: &Ckm, seeds: std::ops::Range<u64>) -> Vec<Scores> {
    seeds.map(|seed| ckm.scores(&query(ckm, seed), Without::Nothing)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn with_all_lists_probed_scores_are_exact(seed in 100u64..100_000, n in 9u32..24, bonus in prop_oneof![Just(-0.2f32), Just(0.0), Just(0.2)]) {
        for mut options in presets() {
            options.kinds.iter_mut().for_each(|kind| kind.kernel.pair_bonus = bonus);
            let (exact, ckm) = (machine(options.clone(), n), searching(options, n, ALL));
            let query = query(&ckm, seed);
            for without in [Without::Nothing, Without::Image(ItemId(2)), Without::Group("round/00")] {
                prop_assert_eq!(ckm.scores(&query, without), exact.scores(&query, without));
            }
            prop_assert_eq!(ckm.comparisons(&query, Without::Nothing).points, exact.comparisons(&query, Without::Nothing).points);
        }
    }

    #[test]
    fn an_index_that_followed_its_images_finds_what_a_new_one_finds(seed: u64, kind in 0usize..4) {
        use rand::RngExt as _;
        let options = presets()[kind].clone();
        let mut rng = random::seeded(seed);
        let mut ckm = searching(options.clone(), 0, 2);
        for _ in 0..40 {
            let i = rng.random_range(0..24);
            if rng.random_bool(0.7) { add(&mut ckm, i) } else { ckm.remove(ItemId(i)); }
        }
        let mut anew = ckm.clone();
        anew.set_search(Search::Exact).unwrap();
        anew.set_search(Search::Index { probes: 2 }).unwrap();
        prop_assert_eq!(scores(&ckm, 70..73), scores(&anew, 70..73));
    }
}

#[test]
fn a_few_lists_take_a_part_of_the_comparisons_and_find_most() {
    let (exact, ckm) = (machine(Preset::Hog.options(), 60), searching(Preset::Hog.options(), 60, 4));
    let query = query(&ckm, 91);
    let (all, some) = (exact.comparisons(&query, Without::Nothing), ckm.comparisons(&query, Without::Nothing));
    assert!(some.points * 2 < all.points && some.nodes > 0 && some.leaves > 0, "{some:?} of {all:?}");
    for (found, all) in ckm.scores(&query, Without::Nothing).of.iter().zip(exact.scores(&query, Without::Nothing).of) {
        let (found, all) = (found.unwrap(), all.unwrap());
        assert!(found <= all && found > 0.7 * all, "{found} of {all}");
    }
}

#[test]
fn what_is_left_out_gives_no_piece_and_takes_no_probe() {
    for options in presets() {
        let ckm = searching(options, 27, 1);
        for (class, example) in ckm.examples().step_by(4) {
            let own = &ckm.explain(&example.elements.get(), Without::Nothing, &[class])[0];
            assert!(own.contributions.iter().any(|c| c.matched.as_ref().unwrap().image == example.id), "it finds itself");
            let group = example.group.as_deref().unwrap();
            for without in [Without::Image(example.id), Without::Group(group)] {
                for explanation in ckm.explain(&example.elements.get(), without, &CLASSES) {
                    for contribution in &explanation.contributions {
                        let matched = contribution.matched.as_ref().expect("each class has other images");
                        assert_ne!(matched.image, example.id);
                        assert!(without == Without::Image(example.id) || !matched.name.starts_with(group));
                    }
                }
            }
        }
        let (_, example) = ckm.examples().next().unwrap();
        let all: std::collections::BTreeSet<ItemId> = ckm.classes()[0].examples.iter().map(|e| e.id).collect();
        assert_eq!(ckm.scores(&example.elements.get(), Without::Images(&all)).of[0], None);
    }
}

#[test]
fn contributions_of_found_pieces_sum_to_the_score() {
    for options in presets() {
        let ckm = searching(options, 27, 1);
        let query = query(&ckm, 61);
        let scores = ckm.scores(&query, Without::Nothing);
        for explanation in ckm.explain(&query, Without::Nothing, &CLASSES) {
            let score = scores.of[explanation.class.index()].unwrap();
            let sum: f64 = explanation.contributions.iter().map(|c| c.value).sum();
            assert!((sum - score).abs() < 1e-4 && (explanation.score - score).abs() < 1e-9, "{sum} is not {score}");
        }
    }
}

#[test]
fn threads_do_not_change_what_an_index_finds() {
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let ckm = searching(Preset::Mixed.options(), 60, 3);
            judge(&ckm, 20, &mut random::seeded(3), Vec::new(), &Progress::default()).unwrap().held_out
        })
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn an_index_follows_weights() {
    let mut ckm = searching(Preset::Orb.options(), 18, ALL);
    let mut exact = machine(Preset::Orb.options(), 18);
    let images: Vec<(ItemId, usize)> = ckm.examples().map(|(_, e)| (e.id, e.elements.len())).collect();
    for (id, n) in images {
        let weights: Vec<f32> = (0..n).map(|i| (i % 7) as f32 / 20.0 - 0.1).collect();
        for ckm in [&mut ckm, &mut exact] {
            assert!(ckm.set_weights(id, std::slice::from_ref(&weights)).unwrap());
        }
    }
    assert_eq!(scores(&ckm, 30..33), scores(&exact, 30..33));
}

#[test]
fn the_index_is_kept_with_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = unjudged(searching(Preset::Mixed.options(), 9, 2));
    model.save(folder.path()).unwrap();
    let found = RecogniserModel::load(folder.path()).unwrap();
    assert_eq!(found.ckm.search(), Search::Index { probes: 2 });
    assert_eq!(found, model);
    assert_eq!(scores(&found.ckm, 50..52), scores(&model.ckm, 50..52));
}

#[test]
fn an_index_of_no_probe_is_refused_and_one_that_was_cancelled_is_not_there() {
    let mut ckm = machine(Preset::Colour.options(), 3);
    assert!(matches!(ckm.set_search(Search::Index { probes: 0 }), Err(Error::Option { name: "search", .. })));
    let progress = Progress::default();
    progress.cancel();
    assert!(matches!(ckm.set_search_watched(Search::INDEX, &progress), Err(Error::Cancelled)));
    assert_eq!(ckm.search(), Search::Exact);
}

/// Beyond 2^18 elements a class has fewer centres for its elements.
#[test]
fn centres_are_thinned_out_at_a_power_of_two() {
    const EACH: usize = 1 << 12;
    let kernel = LeafKernel { rho: 100.0, cost: 0.3, reach: 40.0, pair_bonus: 0.0, weight: 1.0 };
    let options = CkmOptions {
        neighbours: 0,
        decompositions: 1,
        ..CkmOptions::own("own", ElementForm::Dense { dimension: 2, low: 0.0, high: 255.0 }, kernel)
    };
    let elements = |i: u32, n: usize| {
        use rand::RngExt as _;
        let mut rng = random::seeded(u64::from(i));
        let mut bytes = [100u32.to_le_bytes(), 80u32.to_le_bytes(), (n as u32).to_le_bytes()].concat();
        bytes.extend((0..2 * n).flat_map(|_| rng.random_range(-60.0f32..60.0).to_le_bytes()));
        bytes.extend((0..2 * n).map(|_| rng.random_range(0..=255u8)));
        Elements::from_bytes(&bytes, &options).unwrap()
    };
    let of = |n: u32| {
        let mut ckm = Ckm::new(options.clone()).unwrap();
        for i in 0..n {
            ckm.add("all", Example { id: ItemId(i), name: String::new(), group: None, elements: elements(i, EACH).into() }).unwrap();
        }
        ckm.set_search(Search::Index { probes: 1 }).unwrap();
        ckm
    };
    let query = elements(1000, 20);
    let ask = |ckm: &Ckm| (ckm.scores(&query, Without::Nothing), ckm.comparisons(&query, Without::Nothing));
    let (fewer, more) = (of(63), of(64));
    // All centres are looked at only where all lists are.
    let centres = |ckm: &Ckm| {
        let mut ckm = ckm.clone();
        ckm.set_search(Search::Index { probes: ALL }).unwrap();
        ckm.comparisons(&query, Without::Nothing).nodes / 20
    };
    assert!(centres(&fewer) > 3500 && centres(&more) < 2500, "{} and {}", centres(&fewer), centres(&more));
    let mut ckm = fewer.clone();
    ckm.add("all", Example { id: ItemId(63), name: String::new(), group: None, elements: elements(63, EACH).into() }).unwrap();
    assert_eq!(ask(&ckm), ask(&more));
    assert!(ckm.remove(ItemId(63)));
    assert_eq!(ask(&ckm), ask(&fewer));
}
