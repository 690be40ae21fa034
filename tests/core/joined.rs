//! Things joined by pairs are what a scan of all pairs, again and again, finds joined.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tessera_core::joined::Joined;

proptest! {
    #[test]
    fn the_first_of_those_that_are_joined_is_what_scans_find(pairs in proptest::collection::vec((0u32..24, 0u32..24), 0..40)) {
        let mut first: BTreeMap<u32, u32> = (0..24).map(|thing| (thing, thing)).collect();
        let mut joined = Joined::of([]);
        for (one, other) in pairs {
            let (a, b) = (first[&one], first[&other]);
            prop_assert_eq!(joined.join(one, other), a != b);
            first.values_mut().filter(|own| **own == a.max(b)).for_each(|own| *own = a.min(b));
        }
        for (thing, own) in first {
            prop_assert_eq!(joined.first(thing), own);
        }
    }
}
