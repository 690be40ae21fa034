//! Which classes cannot be told apart yet.

use tessera_core::ckm::Scores;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::model::Metrics;
use tessera_core::ckm::told_apart::not_told_apart;
use tessera_core::ids::{ClassId, ItemId};

/// A left-out image of a class, with its scores.
fn held(id: u32, class: u32, scores: [f64; 4]) -> HeldOut {
    let predicted = ClassId((0..4).max_by(|a, b| scores[*a as usize].total_cmp(&scores[*b as usize])).unwrap());
    let scores = Scores { of: scores.map(Some).to_vec(), examples: vec![20; 4], mass: 1.0 };
    HeldOut { id: ItemId(id), class: ClassId(class), predicted, scores, whole: Vec::new(), novelty: None }
}

/// 20 images of each of `classes`: the first two are mixed up, the others stand out.
fn judged(classes: u32) -> Vec<HeldOut> {
    let image = |i: u32| {
        let (class, turn) = (i % classes, i / classes);
        let mut scores = [0.0; 4];
        let shown = if class < 2 { (class + turn) % 2 } else { class };
        scores[shown as usize] = 1.0;
        held(i, class, scores)
    };
    (0..20 * classes).map(image).collect()
}

#[test]
fn classes_that_are_mixed_up_are_named() {
    assert_eq!(not_told_apart(4, &judged(4)), [vec![ClassId(0), ClassId(1)]]);
}

#[test]
fn classes_with_few_judged_images_are_not() {
    let few: Vec<HeldOut> = judged(4).into_iter().filter(|held| held.class != ClassId(1) || held.id.0 < 16).collect();
    assert_eq!(not_told_apart(4, &few), Vec::<Vec<ClassId>>::new());
    assert_eq!(not_told_apart(4, &[]), Vec::<Vec<ClassId>>::new());
}

#[test]
fn a_class_that_always_loses_to_another_is_not_told_apart_from_it() {
    let swallowed: Vec<HeldOut> = (0..40).map(|i| held(i, i % 2, [1.0, 0.0, 0.0, 0.0])).collect();
    assert_eq!(not_told_apart(4, &swallowed), [vec![ClassId(0), ClassId(1)]]);
}

#[test]
fn classes_are_in_one_group_only_where_each_is_mixed_up_with_each_other_one() {
    // The second class is taken for the first and for the third, which are never mixed up.
    let image = |i: u32| {
        let (class, turn) = (i % 4, i / 4 % 2);
        let scores = match class {
            0 => [1.0, f64::from(turn) * 2.0, 0.0, 0.0],
            1 => [f64::from(turn) * 2.0, 1.0, f64::from(turn) * 2.0, 0.0],
            2 => [0.0, f64::from(turn) * 2.0, 1.0, 0.0],
            _ => [0.0, 0.0, 0.0, 1.0],
        };
        held(i, class, scores)
    };
    let chained: Vec<HeldOut> = (0..80).map(image).collect();
    assert_eq!(not_told_apart(4, &chained), [vec![ClassId(0), ClassId(1)], vec![ClassId(1), ClassId(2)]]);
    let names = |group: &[u32]| group.iter().map(|class| ["a", "b", "c", "d"][*class as usize].to_owned()).collect();
    let metrics = Metrics { not_told_apart: vec![names(&[0, 1]), names(&[1, 2])], ..Metrics::default() };
    assert_eq!(metrics.confused_with("a"), ["a", "b"]);
    assert_eq!(metrics.confused_with("b"), ["b", "a", "c"]);
    assert!(metrics.confused_with("d").is_empty());
}
