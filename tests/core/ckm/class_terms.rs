//! Class terms: a class does not win by its size.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tessera_core::ckm::accuracy::Accuracy;
use tessera_core::ckm::class_terms::ClassTerms;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, Example, Scores, Without};
use tessera_core::data::toys::{Category, ToyOptions, render};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::progress::Progress;
use tessera_core::random;

use super::machine;

fn judged(ckm: &Ckm) -> (ClassTerms, Vec<HeldOut>) {
    let judgement = judge(ckm, usize::MAX, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap();
    (judgement.terms, judgement.raw)
}

#[test]
fn a_machine_grown_image_by_image_gets_the_terms_of_one_trained_at_once() {
    let at_once = machine(Preset::Hog.options(), 27);
    let mut grown = machine(Preset::Hog.options(), 36);
    let (terms, _) = judged(&grown);
    grown.set_terms(terms);
    for id in (27..36).rev() {
        assert!(grown.remove(ItemId(id)));
    }
    assert_eq!(judged(&grown), judged(&at_once));
}

#[test]
fn terms_are_part_of_scores_and_explanations_and_go_with_their_class() {
    let mut ckm = machine(Preset::Mixed.options(), 27);
    let query = Elements::clone(&ckm.examples().next().unwrap().1.elements.get());
    let raw = ckm.scores(&query, Without::Image(ItemId(0)));
    let (terms, _) = judged(&ckm);
    assert!(!terms.is_empty());
    let sum: f64 = ckm.classes().iter().map(|class| terms.of(&class.name)).sum();
    assert!(sum.abs() < 1e-9, "their mean is 0, not {sum}");
    ckm.set_terms(terms.clone());
    let scores = ckm.scores(&query, Without::Image(ItemId(0)));
    let classes: Vec<ClassId> = (0..3).map(ClassId).collect();
    for explanation in ckm.explain(&query, Without::Image(ItemId(0)), &classes) {
        let c = explanation.class.index();
        let term = raw.mass * terms.of(&ckm.classes()[c].name);
        let pieces: f64 = explanation.contributions.iter().map(|contribution| contribution.value).sum();
        assert_eq!(explanation.term, term);
        let added = term + explanation.whole;
        assert!((scores.of[c].unwrap() - raw.of[c].unwrap() - added).abs() < 1e-9);
        assert!((explanation.score - scores.of[c].unwrap()).abs() < 1e-9 && (pieces + added - explanation.score).abs() < 1e-3);
    }
    let gone = ckm.classes()[0].name.clone();
    for example in ckm.classes()[0].examples.clone() {
        ckm.remove(example.id);
    }
    assert_eq!(ckm.terms().of(&gone), 0.0);
}

#[test]
fn judging_goes_on_from_what_was_judged() {
    let ckm = machine(Preset::Hog.options(), 45);
    let of = |limit: usize, known: Vec<HeldOut>| judge(&ckm, limit, &mut random::seeded(5), known, &Progress::default()).unwrap();
    let first = of(15, Vec::new());
    let progress = Progress::default();
    let more = judge(&ckm, 30, &mut random::seeded(5), first.raw, &progress).unwrap();
    assert_eq!(progress.snapshot().total, 15, "only the new ones are scored");
    assert_eq!(more, of(30, Vec::new()));
    let per_class = |c: u32| more.raw.iter().filter(|held| held.class == ClassId(c)).count();
    assert_eq!([0, 1, 2].map(per_class), [10; 3], "as many of each class");
}

fn held(class: u32, scores: Vec<f64>) -> HeldOut {
    let examples = vec![1; scores.len()];
    let predicted = ClassId(0);
    HeldOut {
        id: ItemId(0),
        class: ClassId(class),
        predicted,
        scores: Scores { of: scores.into_iter().map(Some).collect(), examples, mass: 1.0 },
        whole: Vec::new(),
        novelty: None,
    }
}

proptest! {
    /// What every query adds to one class's score is taken off again, and a class counts the same
    /// however many of its images were judged.
    #[test]
    fn an_advantage_of_one_class_is_taken_off(advantage in -3.0..3.0f64, copies in 1usize..8) {
        let names = ["a".to_owned(), "b".to_owned()];
        let mut all = Vec::new();
        for i in 0..200 {
            let x = (f64::from(i) - 99.5) / 50.0;
            // Two overlapping normal-like classes on a line.
            let class = u32::from(i % 4 == 0) ^ u32::from(x > 0.0);
            let n = if class == 0 { copies } else { 1 };
            all.extend((0..n).map(|_| held(class, vec![-x + advantage, x])));
        }
        let terms = ClassTerms::fit(&names, &all, 1.0);
        let difference = terms.of("a") - terms.of("b");
        prop_assert!((difference + advantage).abs() < 0.1 + 0.05 * advantage.abs(), "{difference} for {advantage}");
    }
}

#[test]
fn classes_without_left_out_images_get_no_term() {
    let names: Vec<String> = ["a", "b", "lonely"].map(str::to_owned).into();
    let all: Vec<HeldOut> = (0..20).map(|i| held(i % 2, vec![f64::from(i % 2 == 0), 0.5, 9.0])).collect();
    let terms = ClassTerms::fit(&names, &all, 1.0);
    assert!(terms.of("a") != 0.0 && terms.of("lonely") == 0.0);
    assert!(ClassTerms::fit(&names, &all[..1], 1.0).is_empty());
}

#[test]
fn spreads_count_objects_and_are_never_zero() {
    let ckm = machine(Preset::Colour.options(), 18);
    let right: Vec<HeldOut> =
        ckm.examples().map(|(class, example)| HeldOut { id: example.id, predicted: class, ..held(class.0, vec![0.0; 3]) }).collect();
    let accuracy = Accuracy::of(&ckm, &right).unwrap();
    assert_eq!((accuracy.overall.value, accuracy.mean_recall.value), (1.0, 1.0));
    assert!(accuracy.overall.spread > 0.01);
    // Where all views of an object agree, an object is one observation.
    let by_object: Vec<HeldOut> =
        right.iter().map(|held| HeldOut { predicted: ClassId(u32::from(held.id.0 >= 9)), ..held.clone() }).collect();
    let by_view: Vec<HeldOut> = right.iter().map(|held| HeldOut { predicted: ClassId(held.id.0 % 2), ..held.clone() }).collect();
    let spread = |all: &[HeldOut]| Accuracy::of(&ckm, all).unwrap().recalls[0].unwrap().spread;
    assert!(spread(&by_object) > 1.3 * spread(&by_view), "{} and {}", spread(&by_object), spread(&by_view));
    assert_eq!(Accuracy::of(&ckm, &[]), None);
}

/// The elements of views of toys, by category, object and view.
type Seen = BTreeMap<(&'static str, u32, u32), Elements>;

/// The mean recall of the six categories of toys, and the recall of each, by a machine in which one
/// of them has `times` as many objects as the others.
fn recalls(seen: &mut Seen, large: Option<usize>, times: u32) -> Vec<f64> {
    let options = ToyOptions { side: 64, instances: 40, ..ToyOptions::default() };
    let mut ckm = Ckm::new(Preset::Hog.options()).unwrap();
    let mut cut = |ckm: &Ckm, category: Category, instance: u32, view: u32| {
        let cut = || ckm.elements(&render(category, instance, view, &options).picture.into()).unwrap();
        seen.entry((category.name(), instance, view)).or_insert_with(cut).clone()
    };
    let mut id = 0;
    for (c, category) in Category::ALL.into_iter().enumerate() {
        let objects = if large == Some(c) { 3 * times } else { 3 };
        for (object, view) in (0..objects).flat_map(|object| (0..3).map(move |view| (object, view))) {
            let elements = cut(&ckm, category, object, view);
            let group = Some(format!("{} {object}", category.name()));
            ckm.add(category.name(), Example { id: ItemId(id), name: String::new(), group, elements: elements.into() }).unwrap();
            id += 1;
        }
    }
    let (terms, _) = judged(&ckm);
    ckm.set_terms(terms);
    let mut recalls = vec![0.0; Category::ALL.len()];
    for category in Category::ALL {
        let class = ckm.class_id(category.name()).unwrap();
        let right = (30..40).flat_map(|object| (3..6).map(move |view| (object, view))).filter(|&(object, view)| {
            let scores = ckm.scores(&cut(&ckm, category, object, view), Without::Nothing);
            scores.ranking()[0].0 == class
        });
        recalls[class.index()] = right.count() as f64 / 30.0;
    }
    recalls
}

#[test]
fn a_class_ten_times_as_large_takes_little_from_the_others() {
    let mean = |recalls: &[f64]| recalls.iter().sum::<f64>() / recalls.len() as f64;
    let mut seen = Seen::new();
    let base = recalls(&mut seen, None, 1);
    for times in [3, 10] {
        let (mut others, mut own, mut all) = (0.0, 0.0, 0.0);
        let n = base.len();
        // Every other category, for time.
        let large = (0..n).step_by(2);
        let shares = large.len() as f64;
        for large in large {
            let category = Category::ALL[large];
            let mut names: Vec<&str> = Category::ALL.iter().map(|category| category.name()).collect();
            names.sort_unstable();
            let c = names.iter().position(|name| *name == category.name()).unwrap();
            let found = recalls(&mut seen, Some(large), times);
            let without = |recalls: &[f64]| (recalls.iter().sum::<f64>() - recalls[c]) / (n - 1) as f64;
            others += (without(&found) - without(&base)) / shares;
            own += (found[c] - base[c]) / shares;
            all += (mean(&found) - mean(&base)) / shares;
        }
        println!("{times} times: others {others:+.3}, own {own:+.3}, mean {all:+.3}");
        assert!(others > -0.02 && own > -0.02 && all > -0.02, "{times} times: others {others}, own {own}, mean {all}");
    }
}
