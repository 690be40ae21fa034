//! What is said of images that are to be clustered: the newest word holds, and nothing contradicts
//! it.

use proptest::collection::vec;
use proptest::prelude::*;
use tessera_core::ids::ItemId;
use tessera_core::library::clusters::ClusterAim;

/// Whether two images are joined by pairs that belong together.
fn are_joined(aim: &ClusterAim, a: ItemId, b: ItemId) -> bool {
    let mut reached = vec![a];
    let mut at = 0;
    while let Some(image) = reached.get(at).copied() {
        for (one, other) in &aim.together {
            for (from, to) in [(one, other), (other, one)] {
                if *from == image && !reached.contains(to) {
                    reached.push(*to);
                }
            }
        }
        at += 1;
    }
    reached.contains(&b)
}

fn is_apart(aim: &ClusterAim, a: ItemId, b: ItemId) -> bool {
    aim.apart.contains(&(a.min(b), a.max(b)))
}

proptest! {
    #[test]
    fn the_newest_word_holds_and_contradicts_no_other(said in vec((any::<bool>(), vec(0u32..9, 1..4)), 1..20)) {
        let mut aim = ClusterAim::default();
        for (is_together, images) in said {
            let images: Vec<ItemId> = images.into_iter().map(ItemId).collect();
            if is_together { aim.say_together(&images) } else { aim.say_apart(&images) }
            for a in &images {
                for b in images.iter().filter(|b| *b != a) {
                    prop_assert_eq!((are_joined(&aim, *a, *b), is_apart(&aim, *a, *b)), (is_together, !is_together));
                }
            }
            prop_assert!(aim.apart.iter().all(|(a, b)| a < b && !are_joined(&aim, *a, *b)));
            prop_assert!(aim.together.iter().all(|(a, b)| a < b));
        }
        aim.retain_pairs(|image| image != ItemId(3));
        prop_assert!(aim.together.iter().chain(&aim.apart).all(|(a, b)| *a != ItemId(3) && *b != ItemId(3)));
    }
}
