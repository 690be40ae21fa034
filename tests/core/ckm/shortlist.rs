//! Shortlists: what they choose, what they leave out, and that they follow images as they come and
//! go.

use rayon::ThreadPoolBuilder;
use tessera_core::Error;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, Search, Without};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::progress::Progress;
use tessera_core::random;

use super::{add, machine, presets, unjudged};
use crate::scenes::scene;

fn searching(options: CkmOptions, n: u32, images: usize) -> Ckm {
    let mut ckm = machine(options, n);
    ckm.set_search(Search::Shortlist { images }).unwrap();
    ckm
}

#[test]
fn a_list_of_all_images_scores_exactly() {
    for options in presets() {
        let (exact, ckm) = (machine(options.clone(), 18), searching(options, 18, 6));
        let query = ckm.elements(&scene(90, 100, 70).into()).unwrap();
        assert_eq!(ckm.scores(&query, Without::Nothing), exact.scores(&query, Without::Nothing));
    }
}

#[test]
fn a_list_scores_as_a_machine_of_its_images() {
    for options in presets() {
        let ckm = searching(options.clone(), 27, 2);
        let query = ckm.elements(&scene(91, 100, 70).into()).unwrap();
        let scores = ckm.scores(&query, Without::Nothing);
        for class in 0..3u32 {
            // Of all pairs of a class's images, one gives exactly this score.
            let ids: Vec<ItemId> = ckm.classes()[class as usize].examples.iter().map(|example| example.id).collect();
            let of_pair = |a: ItemId, b: ItemId| {
                let holds = |_, id| id == a || id == b;
                ckm.scores_by_parts(&query, 1, holds)[0].of[class as usize]
            };
            let pairs = ids.iter().flat_map(|a| ids.iter().filter(move |b| a < *b).map(move |b| (*a, *b)));
            let found = pairs.filter(|(a, b)| of_pair(*a, *b) == scores.of[class as usize]).count();
            assert!(found > 0, "no two images of class {class} have its score");
        }
    }
}

#[test]
fn an_image_is_on_its_own_list() {
    let ckm = searching(Preset::Mixed.options(), 27, 1);
    for (class, example) in ckm.examples() {
        let explanation = &ckm.explain(&example.elements.get(), Without::Nothing, &[class])[0];
        assert!(explanation.contributions.iter().all(|c| c.matched.as_ref().unwrap().image == example.id));
    }
}

#[test]
fn leaving_out_comes_before_the_choice() {
    for options in presets() {
        let ckm = searching(options, 27, 2);
        for (_, example) in ckm.examples().step_by(4) {
            let group = example.group.as_deref().unwrap();
            for without in [Without::Image(example.id), Without::Group(group)] {
                let mut smaller = ckm.clone();
                let gone = |e: &tessera_core::ckm::Example| match without {
                    Without::Image(id) => e.id == id,
                    _ => e.group.as_deref() == Some(group),
                };
                ckm.examples().filter(|(_, e)| gone(e)).for_each(|(_, e)| assert!(smaller.remove(e.id)));
                assert_eq!(ckm.scores(&example.elements.get(), without), smaller.scores(&example.elements.get(), Without::Nothing));
            }
        }
    }
}

#[test]
fn a_machine_grown_image_by_image_equals_one_trained_at_once() {
    let options = Preset::Mixed.options();
    let expected = searching(options.clone(), 18, 3);
    let mut ckm = Ckm::new(options).unwrap();
    for i in [20, 5, 21, 3].into_iter().chain((0..20).rev()) {
        add(&mut ckm, i);
    }
    ckm.set_search(Search::Shortlist { images: 3 }).unwrap();
    (18..22).for_each(|i| assert!(ckm.remove(ItemId(i))));
    assert_eq!(ckm, expected);
    (0..18).for_each(|i| assert!(ckm.remove(ItemId(i))));
    let query = ckm.elements(&scene(1, 96, 80).into()).unwrap();
    assert!(ckm.scores(&query, Without::Nothing).of.is_empty());
}

#[test]
fn contributions_from_a_list_sum_to_the_score() {
    for options in presets() {
        let ckm = searching(options, 27, 3);
        let query = ckm.elements(&scene(61, 100, 70).into()).unwrap();
        let scores = ckm.scores(&query, Without::Nothing);
        for explanation in ckm.explain(&query, Without::Nothing, &[ClassId(0), ClassId(1), ClassId(2)]) {
            let score = scores.of[explanation.class.index()].unwrap();
            let sum: f64 = explanation.contributions.iter().map(|c| c.value).sum();
            assert!((sum - score).abs() < 1e-4 && (explanation.score - score).abs() < 1e-9, "{sum} is not {score}");
        }
    }
}

#[test]
fn threads_do_not_change_an_answer_from_a_list() {
    let ckm = searching(Preset::Mixed.options(), 60, 4);
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| judge(&ckm, 20, &mut random::seeded(3), Vec::new(), &Progress::default()).unwrap().held_out)
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn the_search_is_kept_with_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = unjudged(searching(Preset::Mixed.options(), 9, 2));
    model.save(folder.path()).unwrap();
    let found = RecogniserModel::load(folder.path()).unwrap();
    assert_eq!(found.ckm.search(), Search::Shortlist { images: 2 });
    assert_eq!(found, model);
}

#[test]
fn a_list_of_no_image_is_refused() {
    let mut ckm = machine(Preset::Colour.options(), 3);
    assert!(matches!(ckm.set_search(Search::Shortlist { images: 0 }), Err(Error::Option { name: "search", .. })));
    assert_eq!(ckm.search(), Search::Exact);
}
