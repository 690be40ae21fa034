//! Exact Hamming search against looking at every descriptor one by one.

use proptest::prelude::*;
use tessera_core::descriptor::Descriptor;
use tessera_core::hamming::{Blocks, HammingScan, LANES, NearDescriptors, portable};
use tessera_core::ids::{ItemId, Neighbor};
use tessera_core::nearest::{NeighborIndex, everything};

fn descriptors(n: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<Descriptor>> {
    // Few different bits, so that equal distances are common.
    prop::collection::vec(prop::array::uniform4(0u64..16).prop_map(Descriptor), n)
}

fn by_looking_at_each(all: &[Descriptor], query: &Descriptor) -> Vec<Neighbor> {
    let mut found: Vec<Neighbor> =
        all.iter().zip(0..).map(|(d, i)| Neighbor { id: ItemId(i), distance: d.hamming(query) as f64 }).collect();
    found.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
    found
}

proptest! {
    #[test]
    fn any_bits_are_counted(all in prop::collection::vec(prop::array::uniform4(any::<u64>()).prop_map(Descriptor), LANES), query in any::<[u64; 4]>()) {
        let query = Descriptor(query);
        let blocks: Blocks = all.iter().copied().collect();
        let expected: Vec<u32> = all.iter().map(|descriptor| descriptor.hamming(&query)).collect();
        prop_assert_eq!(&portable(&blocks.blocks()[0], &query)[..], &expected[..]);
        let scan: HammingScan = (0..).map(ItemId).zip(all.iter().copied()).collect();
        prop_assert_eq!(scan.nearest(&query, LANES, &everything).unwrap().list, by_looking_at_each(&all, &query));
    }

    #[test]
    fn finds_what_looking_at_each_finds(all in descriptors(0..70), query in descriptors(1), k in 0usize..80) {
        let scan: HammingScan = (0..).map(ItemId).zip(all.iter().copied()).collect();
        let mut expected = by_looking_at_each(&all, &query[0]);
        expected.truncate(k);
        prop_assert_eq!(scan.nearest(&query[0], k, &everything).unwrap().list, expected);
    }

    #[test]
    fn finds_the_best_of_each_segment(all in descriptors(0..70), query in descriptors(1), cuts in prop::collection::vec(0usize..70, 0..6)) {
        let scan: HammingScan = (0..).map(ItemId).zip(all.iter().copied()).collect();
        let mut ends: Vec<usize> = cuts.into_iter().map(|c| c.min(all.len())).collect();
        ends.sort_unstable();
        let mut start = 0;
        for &end in &ends {
            let is_inside = |id: ItemId| (start..end).contains(&(id.0 as usize));
            let found = scan.nearest(&query[0], 1, &is_inside).unwrap().list.first().copied();
            let expected = by_looking_at_each(&all[start..end], &query[0]).first().map(|n| (n.id.0 + start as u32, n.distance));
            prop_assert_eq!(found.map(|n| (n.id.0, n.distance)), expected);
            start = end;
        }
    }

    #[test]
    fn near_descriptors_are_found_by_equal_pieces(
        all in descriptors(0..70),
        query in descriptors(1),
        flips in prop::collection::vec((0usize..70, prop::collection::vec(0usize..256, 0..20)), 0..10),
        radius in 0u32..20,
    ) {
        // Some differ from the query in a few bits anywhere.
        let mut all = all;
        for (at, bits) in flips {
            let mut near = query[0];
            bits.iter().for_each(|bit| near.0[bit / 64] ^= 1 << (bit % 64));
            if let Some(place) = all.get_mut(at) {
                *place = near;
            }
        }
        let index: NearDescriptors = (0..).map(ItemId).zip(all.iter().copied()).collect();
        let is_odd = |id: ItemId| id.0 % 2 == 1;
        let most = f64::from(radius.min(NearDescriptors::MOST));
        let expected = by_looking_at_each(&all, &query[0]).into_iter().find(|found| found.distance <= most && is_odd(found.id));
        prop_assert_eq!(index.nearest(&query[0], radius, &is_odd), expected);
    }

    #[test]
    fn gives_back_what_was_put_in(all in descriptors(0..70)) {
        let blocks: Blocks = all.iter().copied().collect();
        prop_assert_eq!(blocks.len(), all.len());
        prop_assert_eq!((0..all.len()).map(|i| blocks.get(i)).collect::<Vec<_>>(), all);
    }

    #[test]
    fn bytes_and_hex_tell_the_same(words in prop::array::uniform4(any::<u64>())) {
        let descriptor = Descriptor(words);
        prop_assert_eq!(Descriptor::from_bytes(&descriptor.to_bytes()), descriptor);
        let hex: String = descriptor.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        prop_assert_eq!(descriptor.to_string(), hex);
    }
}
