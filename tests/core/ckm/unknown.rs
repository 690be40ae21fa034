//! Images of none of the classes: what is said of them, and when nothing is.

use proptest::prelude::*;
use tessera_core::ckm::Scores;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::unknown::UnknownBar;
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

proptest! {
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
