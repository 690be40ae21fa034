//! Images of none of the classes: what is said of them, and when nothing is.

use proptest::prelude::*;
use tessera_core::ckm::Scores;
use tessera_core::ckm::class_terms::ClassTerms;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::model::Metrics;
use tessera_core::ckm::unknown::{NoveltyBar, Standing, UnknownBar, UnknownBars, UnknownCurve, WhyUnknown, lead_of};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::random::seeded;

/// A left-out image with these scores.
fn held(id: u32, class: u32, of: Vec<f64>) -> HeldOut {
    let best = (0..of.len()).max_by(|a, b| of[*a].total_cmp(&of[*b])).unwrap() as u32;
    let scores = Scores { examples: vec![5; of.len()], of: of.into_iter().map(Some).collect(), mass: 1.0 };
    HeldOut { id: ItemId(id), class: ClassId(class), predicted: ClassId(best), scores, whole: Vec::new(), novelty: None }
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
    let bar = UnknownBar::fit(&images(60, 3, 1.0), None).unwrap();
    assert!(bar.found > 0.99 && bar.taken <= 0.05, "{bar:?}");
    assert!(bar.is_above(lead_of(&held(0, 0, vec![0.1, 0.05, 0.0]).scores)));
    assert!(!bar.is_above(lead_of(&held(0, 0, vec![1.1, 0.05, 0.0]).scores)));
}

#[test]
fn nothing_is_said_where_it_cannot_be_told() {
    for classes in 3..9 {
        let mut rng = seeded(u64::from(classes));
        let noise: Vec<HeldOut> = (0..600).map(|i| held(i, i % classes, (0..classes).map(|_| rng.random()).collect())).collect();
        assert_eq!(UnknownBar::fit(&noise, None), None, "no class leads");
    }
    assert_eq!(UnknownBar::fit(&images(39, 3, 1.0), None), None, "few images");
    assert_eq!(UnknownBar::fit(&images(60, 2, 1.0), None), None, "one class is left when one is struck out");
    let one = Scores { of: vec![Some(1.0), None], examples: vec![5, 0], mass: 1.0 };
    assert!(!UnknownBar { lead: 9.0, taken: 0.0, found: 1.0 }.is_above(lead_of(&one)), "one class has no lead");
}

#[test]
fn without_enough_images_there_is_no_curve() {
    assert!(UnknownCurve::fit(&images(39, 3, 1.0), None).is_empty());
    assert!(UnknownCurve::fit(&images(60, 2, 1.0), None).is_empty());
    assert_eq!(UnknownCurve::default().answering(0.9), None);
    // A share of the curve cannot be chosen without one: the bar that was found holds.
    let bar = UnknownBar { lead: 0.5, taken: 0.05, found: 0.8 };
    let metrics = Metrics { unknown: Some(bar), ..Metrics::default() };
    assert_eq!([None, Some(0.7)].map(|answered| metrics.unknown_bar(answered)), [Some(bar); 2]);
    let (all, curve) = (Metrics { unknown_curve: UnknownCurve::fit(&images(60, 3, 1.0), None), ..metrics }, Some(0.7));
    assert!(all.unknown_bar(curve).is_some_and(|chosen| chosen != bar) && all.unknown_bar(Some(1.0)).is_none());
}

#[test]
fn what_is_unlike_all_is_unknown_whatever_leads() {
    let few: Vec<HeldOut> = images(39, 2, 1.0).into_iter().map(|held| HeldOut { novelty: Some(0.2), ..held }).collect();
    assert_eq!(NoveltyBar::fit(&few), None, "few images");
    let bar = NoveltyBar { novelty: 0.3, taken: 0.02 };
    let leads = UnknownBar { lead: 0.5, taken: 0.05, found: 0.8 };
    let metrics = Metrics { novelty: Some(bar), unknown: Some(leads), ..Metrics::default() };
    let by = |answered, lead, novelty| metrics.unknown_by(answered, Standing { lead, novelty });
    assert_eq!(by(None, Some(9.0), Some(0.31)), Some(WhyUnknown::Novel(bar)));
    assert_eq!(by(None, None, Some(0.31)), Some(WhyUnknown::Novel(bar)), "with one class, too");
    assert_eq!(by(None, Some(0.1), Some(0.3)), Some(WhyUnknown::LeadsLittle(leads)));
    assert_eq!([by(None, Some(9.0), Some(0.3)), by(None, Some(9.0), None), by(Some(1.0), Some(0.1), Some(0.9))], [None; 3]);
    // A share that leaves none out is chosen on the curve, too.
    let held: Vec<HeldOut> = images(100, 3, 1.0).into_iter().map(|held| HeldOut { novelty: Some(f64::from(held.id.0)), ..held }).collect();
    let counting = |whole: f64| ron::from_str::<ClassTerms>(&format!("(terms: {{}}, whole: {whole})")).unwrap();
    let metrics = Metrics::default().with_unknown(UnknownBars::fit(&held, &counting(0.5)));
    let by = |answered| metrics.unknown_by(answered, Standing { lead: Some(9.0), novelty: Some(1e3) });
    assert_eq!(metrics.novelty.map(|bar| bar.taken), Some(0.02));
    assert!([None, Some(0.5), Some(0.98)].iter().all(|answered| by(*answered).is_some()) && by(Some(0.99)).is_none());
    assert_eq!(UnknownBars::fit(&held, &counting(0.0)).novelty, None, "answers do not compare wholes");
}

proptest! {
    #[test]
    fn a_curve_counts_what_its_bars_do(leads in prop::collection::vec((0.0f64..1.0, prop::bool::weighted(0.8), 0.0f64..1.0), 40..120), knows in any::<bool>()) {
        let score = |own: u32, c: u32, lead: f64, is_right: bool| if c == if is_right { own } else { (own + 1) % 3 } { lead } else { 0.0 };
        let one = |(i, (lead, is_right, novelty)): (u32, &(f64, bool, f64))| HeldOut {
            novelty: knows.then_some(*novelty),
            ..held(i, i % 3, (0..3).map(|c| score(i % 3, c, *lead, *is_right)).collect())
        };
        let all: Vec<HeldOut> = (0..).zip(&leads).map(one).collect();
        let novel = NoveltyBar::fit(&all);
        let curve = UnknownCurve::fit(&all, novel);
        let is_novel = |held: &HeldOut| novel.is_some_and(|bar| bar.is_below(held.novelty));
        let n = all.len() as f64;
        prop_assert!(curve.points[0].bar.taken == 0.0, "the first bar answers all");
        for point in &curve.points {
            let is_first = point.bar.taken == 0.0;
            let answered: Vec<&HeldOut> = all.iter().filter(|held| is_first || !point.bar.is_above(lead_of(&held.scores)) && !is_novel(held)).collect();
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
    fn one_of_twenty_is_taken_at_most(leads in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0), 40..120), knows in any::<bool>()) {
        let one = |(&(lead, novelty), i): (&(f64, f64), u32)| HeldOut {
            novelty: knows.then_some(novelty),
            ..held(i, i % 3, (0..3).map(|c| if c == i % 3 { lead } else { 0.0 }).collect())
        };
        let all: Vec<HeldOut> = leads.iter().zip(0..).map(one).collect();
        let novel = NoveltyBar::fit(&all);
        prop_assert_eq!(novel.is_some(), knows);
        let is_novel = |held: &HeldOut| novel.is_some_and(|bar| bar.is_below(held.novelty));
        let above = all.iter().filter(|held| is_novel(held)).count() as f64 / all.len() as f64;
        prop_assert!(above <= 0.025 && novel.is_none_or(|bar| (above - bar.taken).abs() < 1e-12));
        if let Some(bar) = UnknownBar::fit(&all, novel) {
            let below = all.iter().filter(|held| is_novel(held) || bar.is_above(lead_of(&held.scores))).count() as f64 / all.len() as f64;
            prop_assert!(below <= 0.05);
            prop_assert!((below - bar.taken).abs() < 1e-12);
        }
    }
}
