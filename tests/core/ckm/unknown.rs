//! Images of none of the classes: what is said of them, and when nothing is.

use proptest::prelude::*;
use tessera_core::ckm::Scores;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::model::Metrics;
use tessera_core::ckm::unknown::{UnknownBar, UnknownCurve};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::random::seeded;

/// A left-out image with these scores.
fn held(id: u32, class: u32, of: Vec<f64>) -> HeldOut {
    let best = (0..of.len()).max_by(|a, b| of[*a].total_cmp(&of[*b])).unwrap() as u32;
    let scores = Scores { examples: vec![5; of.len()], of: of.into_iter().map(Some).collect(), mass: 1.0 };
    HeldOut { id: ItemId(id), class: ClassId(class), predicted: ClassId(best), scores, whole: Vec::new() }
}

/// Images whose own class leads the others by `lead`, these being a little apart.
fn images(n: u32, classes: u32, lead: f64) -> Vec<HeldOut> {
    let one = |i: u32| {
        let own = i % classes;
        let score = |c: u32| f64::from((i * 7 + c * 3) % 10) / 100.0 + if c == own { lead } else { 0.0 };
        held(i, own, (0..classes).map(score).collect())
    };
    (0..n).map(one).collect()
}

#[test]
fn classes_that_lead_by_far_let_others_be_noticed() {
    let bar = UnknownBar::fit(&images(60, 3, 1.0)).unwrap();
    assert!(bar.found > 0.99 && bar.taken <= 0.05, "{bar:?}");
    assert!(bar.is_below(&held(0, 0, vec![0.1, 0.05, 0.0]).scores));
    assert!(!bar.is_below(&held(0, 0, vec![1.1, 0.05, 0.0]).scores));
}

#[test]
fn nothing_is_said_where_it_cannot_be_told() {
    for classes in 3..9 {
        let mut rng = seeded(u64::from(classes));
        let noise: Vec<HeldOut> = (0..600).map(|i| held(i, i % classes, (0..classes).map(|_| rng.random()).collect())).collect();
        assert_eq!(UnknownBar::fit(&noise), None, "no class leads");
    }
    assert_eq!(UnknownBar::fit(&images(39, 3, 1.0)), None, "few images");
    assert_eq!(UnknownBar::fit(&images(60, 2, 1.0)), None, "one class is left when one is struck out");
    let one = Scores { of: vec![Some(1.0), None], examples: vec![5, 0], mass: 1.0 };
    assert!(!UnknownBar { lead: 9.0, taken: 0.0, found: 1.0 }.is_below(&one), "one class has no lead");
}

#[test]
fn without_enough_images_there_is_no_curve() {
    assert!(UnknownCurve::fit(&images(39, 3, 1.0)).is_empty());
    assert!(UnknownCurve::fit(&images(60, 2, 1.0)).is_empty());
    assert_eq!(UnknownCurve::default().answering(0.9), None);
    // A share of the curve cannot be chosen without one: the bar that was found holds.
    let bar = UnknownBar { lead: 0.5, taken: 0.05, found: 0.8 };
    let metrics = Metrics { unknown: Some(bar), ..Metrics::default() };
    assert_eq!([None, Some(0.7)].map(|answered| metrics.unknown_bar(answered)), [Some(bar); 2]);
    let (all, curve) = (Metrics { unknown_curve: UnknownCurve::fit(&images(60, 3, 1.0)), ..metrics }, Some(0.7));
    assert!(all.unknown_bar(curve).is_some_and(|chosen| chosen != bar) && all.unknown_bar(Some(1.0)).is_none());
}

proptest! {
    #[test]
    fn a_curve_counts_what_its_bars_do(leads in prop::collection::vec((0.0f64..1.0, prop::bool::weighted(0.8)), 40..120)) {
        let score = |own: u32, c: u32, lead: f64, is_right: bool| if c == if is_right { own } else { (own + 1) % 3 } { lead } else { 0.0 };
        let one = |(i, (lead, is_right)): (u32, &(f64, bool))| held(i, i % 3, (0..3).map(|c| score(i % 3, c, *lead, *is_right)).collect());
        let all: Vec<HeldOut> = (0..).zip(&leads).map(one).collect();
        let curve = UnknownCurve::fit(&all);
        let n = all.len() as f64;
        for point in &curve.points {
            let answered: Vec<&HeldOut> = all.iter().filter(|held| !point.bar.is_below(&held.scores)).collect();
            let right = answered.iter().filter(|held| held.class == held.predicted).count() as f64;
            prop_assert!((point.answered() - answered.len() as f64 / n).abs() < 1e-12);
            prop_assert!((point.right - right / answered.len() as f64).abs() < 1e-12);
        }
        prop_assert!(curve.points.windows(2).all(|pair| pair[0].bar.lead < pair[1].bar.lead && pair[0].bar.found <= pair[1].bar.found));
        prop_assert_eq!(curve.answering(1.0), None);
        for share in [0.5, 0.7, 0.9, 0.95, 0.99] {
            if let Some(bar) = curve.answering(share) {
                prop_assert!(1.0 - bar.taken >= share - 0.005 - 1e-12);
            }
        }
    }

    #[test]
    fn one_of_twenty_is_taken_at_most(leads in prop::collection::vec(0.0f64..1.0, 40..120)) {
        let all: Vec<HeldOut> = leads.iter().zip(0..).map(|(lead, i)| held(i, i % 3, (0..3).map(|c| if c == i % 3 { *lead } else { 0.0 }).collect())).collect();
        if let Some(bar) = UnknownBar::fit(&all) {
            let below = all.iter().filter(|held| bar.is_below(&held.scores)).count() as f64 / all.len() as f64;
            prop_assert!(below <= 0.05);
            prop_assert!((below - bar.taken).abs() < 1e-12);
        }
    }
}
