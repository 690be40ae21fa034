//! What is said of images, that they belong together or do not: the newest word holds, nothing
//! contradicts it, and it is an event like any other.

use proptest::collection::vec;
use proptest::prelude::*;
use tessera_core::ids::ItemId;
use tessera_core::library::bonds::{Bond, Bonds};

/// Whether two images are joined by pairs that belong together.
fn are_joined(bonds: &Bonds, a: ItemId, b: ItemId) -> bool {
    let mut reached = vec![a];
    let mut at = 0;
    while let Some(image) = reached.get(at).copied() {
        for (one, other) in bonds.of(Bond::Together) {
            for (from, to) in [(one, other), (other, one)] {
                if from == image && !reached.contains(&to) {
                    reached.push(to);
                }
            }
        }
        at += 1;
    }
    reached.contains(&b)
}

fn is_apart(bonds: &Bonds, a: ItemId, b: ItemId) -> bool {
    bonds.of(Bond::Apart).any(|pair| pair == (a.min(b), a.max(b)))
}

proptest! {
    #[test]
    fn the_newest_word_holds_and_contradicts_no_other(said in vec((any::<bool>(), vec(0u32..9, 1..4)), 1..20)) {
        let mut bonds = Bonds::default();
        let mut all: Vec<Bonds> = Vec::new();
        for (is_together, images) in said {
            let images: Vec<ItemId> = images.into_iter().map(ItemId).collect();
            if is_together { bonds.say_together(&images) } else { bonds.say_apart(&images) }
            for a in &images {
                for b in images.iter().filter(|b| *b != a) {
                    prop_assert_eq!((are_joined(&bonds, *a, *b), is_apart(&bonds, *a, *b)), (is_together, !is_together));
                }
            }
            prop_assert!(bonds.of(Bond::Apart).all(|(a, b)| a < b && !are_joined(&bonds, a, b)));
            prop_assert!(bonds.of(Bond::Together).all(|(a, b)| a < b));
            // Marks are the same where the same is said.
            prop_assert!(all.iter().all(|before| (before.mark() == bonds.mark()) == (*before == bonds)));
            all.push(bonds.clone());
        }
        // Images of which some are gone: the others belong together as before.
        let is_there = |image: ItemId| image.0 % 3 != 1;
        let mut left = Bonds::default();
        bonds.together_among(is_there).into_iter().for_each(|(a, b)| left.say_together(&[a, b]));
        for a in (0..9).map(ItemId).filter(|image| is_there(*image)) {
            for b in (0..9).map(ItemId).filter(|image| is_there(*image)) {
                prop_assert_eq!(are_joined(&left, a, b), are_joined(&bonds, a, b));
            }
        }
        prop_assert!(left.of(Bond::Together).all(|(a, b)| is_there(a) && is_there(b)));
    }
}
