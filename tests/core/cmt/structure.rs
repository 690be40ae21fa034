//! What holds of trees after any sequence of operations.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tessera_core::cmt::{Cmt, CmtOptions, LeafCap, SplitRule};
use tessera_core::ids::ItemId;
use tessera_core::sparse::SparseVec;

use super::{filled, options, self_error, texts, vector};

/// An operation on a memory.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Insert(u32, SparseVec),
    Remove(u32),
    Explore(SparseVec, usize, f32),
    Replay(u32),
    Teach(u32, SparseVec, f32),
    Reroute,
    Settle,
}

pub(super) fn acts(n: usize) -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0u32..60, vector()).prop_map(|(id, x)| Act::Insert(id, x)),
        3 => (0u32..60).prop_map(Act::Remove),
        2 => (vector(), 1usize..4, 0.0f32..1.0).prop_map(|(x, k, reward)| Act::Explore(x, k, reward)),
        1 => (0u32..60).prop_map(Act::Replay),
        1 => (0u32..60, vector(), 0.0f32..1.0).prop_map(|(id, x, reward)| Act::Teach(id, x, reward)),
        1 => Just(Act::Reroute),
        1 => Just(Act::Settle),
    ];
    prop::collection::vec(act, 0..n)
}

/// Performs the operation, and returns its outcome.
pub(super) fn act(cmt: &mut Cmt<u32>, act: &Act) -> String {
    let value = |id: u32| id % 3;
    match act {
        Act::Insert(id, x) => format!("{}", cmt.insert(ItemId(*id), x.clone(), value(*id)).is_ok()),
        Act::Remove(id) => format!("{:?}", cmt.remove(ItemId(*id))),
        Act::Explore(x, k, reward) => (0..cmt.n_trees())
            .map(|tree| {
                let explored = cmt.explore(tree, x, *k, 0.8).unwrap();
                cmt.update(x, &explored, &vec![*reward; explored.hits.len()]).unwrap();
                format!("{explored:?}")
            })
            .collect(),
        Act::Replay(id) => format!("{}", cmt.replay(0, ItemId(*id), 2, 1.0, |a, b| f32::from(a == b)).unwrap()),
        Act::Teach(id, x, reward) => format!("{}", cmt.teach(x, ItemId(*id), *reward).unwrap()),
        Act::Reroute => {
            cmt.reroute(3);
            String::new()
        }
        Act::Settle => {
            cmt.settle();
            String::new()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn trees_hold_after_everything(options in options(), acts in acts(120)) {
        let mut cmt = Cmt::new(&options).unwrap();
        let mut model = BTreeMap::new();
        for done in &acts {
            let said = act(&mut cmt, done);
            match done {
                Act::Insert(id, x) => {
                    prop_assert_eq!(said == "true", !model.contains_key(id));
                    model.entry(*id).or_insert_with(|| x.clone());
                }
                Act::Remove(id) => prop_assert_eq!(said == "None", model.remove(id).is_none()),
                _ => {}
            }
            prop_assert_eq!(cmt.check(), Ok(()), "after {:?}", done);
            prop_assert_eq!(cmt.len(), model.len());
        }
        for (id, x) in &model {
            let memory = cmt.get(ItemId(*id)).unwrap();
            prop_assert_eq!((&memory.x, memory.value), (x, id % 3));
        }
        prop_assert_eq!(cmt.iter().count(), model.len());
        for shape in cmt.shapes() {
            prop_assert!(shape.leaves == shape.nodes + 1 && shape.leaves <= model.len().max(1));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_trees(options in options(), acts in acts(60)) {
        let run = || {
            let mut cmt = Cmt::new(&options).unwrap();
            let said: Vec<String> = acts.iter().map(|done| act(&mut cmt, done)).collect();
            (said, cmt.to_bytes())
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn another_seed_gives_another_tree() {
    let xs = texts(300, 6, 200, 1);
    let tree = |seed| filled(&CmtOptions { seed, ..CmtOptions::default() }, &xs).to_bytes();
    assert_ne!(tree(1), tree(2));
}

#[test]
fn removing_all_leaves_nothing_behind() {
    let xs = texts(500, 6, 200, 2);
    let mut cmt = filled(&CmtOptions { trees: 2, ..CmtOptions::default() }, &xs);
    for i in 0..500 {
        let removed = cmt.remove(ItemId(i * 7 % 500)).unwrap();
        assert_eq!(removed.x, xs[(i * 7 % 500) as usize]);
        assert!(cmt.query(&removed.x, 3).hits.iter().all(|hit| hit.id != removed.id));
        assert_eq!(cmt.check(), Ok(()));
    }
    assert!(cmt.is_empty());
    assert!(cmt.shapes().iter().all(|shape| (shape.nodes, shape.leaves, shape.depth) == (0, 1, 0)));
    assert!(cmt.query(&xs[0], 3).hits.is_empty());
    cmt.insert(ItemId(1), xs[1].clone(), 1).unwrap();
    assert_eq!(cmt.query(&xs[0], 3).hits[0].id, ItemId(1));
}

#[test]
fn equal_vectors_share_a_leaf_of_any_size() {
    for split in [SplitRule::TrainedRouter, SplitRule::FreshRouter] {
        let mut cmt: Cmt<u32> = Cmt::new(&CmtOptions { leaf_cap: LeafCap::Fixed(2), split, ..CmtOptions::default() }).unwrap();
        let (x, y) = (SparseVec::new(&[1, 2], &[1.0, 1.0]).unwrap(), SparseVec::new(&[2], &[1.0]).unwrap());
        for i in 0..200 {
            cmt.insert(ItemId(i), x.clone(), i).unwrap();
        }
        assert_eq!(cmt.check(), Ok(()));
        assert_eq!(cmt.shapes()[0].leaves, 1);
        // One memory that differs splits the leaf at once.
        cmt.insert(ItemId(200), y.clone(), 200).unwrap();
        assert_eq!(cmt.check(), Ok(()));
        assert!(cmt.shapes()[0].leaves > 1);
        assert_eq!(cmt.query_budget(&y, 1, 100).hits[0].id, ItemId(200));
        assert_eq!(cmt.query_budget(&x, 1, 100).hits[0].id, ItemId(0), "of equals the lowest identifier");
    }
}

#[test]
fn zero_vectors_are_memories_too() {
    let mut cmt: Cmt<u32> = Cmt::new(&CmtOptions { leaf_cap: LeafCap::Fixed(1), ..CmtOptions::default() }).unwrap();
    for i in 0..5 {
        cmt.insert(ItemId(i), SparseVec::default(), i).unwrap();
    }
    for i in 5..30 {
        cmt.insert(ItemId(i), SparseVec::new(&[i], &[1.0]).unwrap(), i).unwrap();
        assert_eq!(cmt.check(), Ok(()));
    }
    let hits = cmt.query_budget(&SparseVec::default(), 40, 100).hits;
    assert_eq!(hits.len(), 30);
    assert!(hits.iter().all(|hit| hit.score == 0.0), "a zero vector is at no angle to anything");
    assert_eq!(hits[0].id, ItemId(0));
}

#[test]
fn a_cap_of_one_gives_every_vector_a_leaf() {
    let xs = texts(400, 6, 300, 3);
    let mut distinct: Vec<String> = xs.iter().map(|x| format!("{x:?}")).collect();
    distinct.sort();
    distinct.dedup();
    let cmt = filled(&CmtOptions { leaf_cap: LeafCap::Fixed(1), ..CmtOptions::default() }, &xs);
    assert_eq!(cmt.check(), Ok(()));
    assert!(cmt.shapes()[0].leaves >= distinct.len());
    assert!(self_error(&cmt, &xs) < 0.1);
}

#[test]
fn near_copies_can_be_told_apart() {
    let mut cmt: Cmt<u32> = Cmt::new(&CmtOptions { leaf_cap: LeafCap::Fixed(1), reroutes: 0, ..CmtOptions::default() }).unwrap();
    let mut value = 1.0f32;
    for i in 0..40 {
        cmt.insert(ItemId(i), SparseVec::new(&[3, 9], &[value, 1.0]).unwrap(), i).unwrap();
        value = value.next_up();
        assert_eq!(cmt.check(), Ok(()));
    }
    assert_eq!(cmt.shapes()[0].leaves, 40);
}

#[test]
fn what_is_out_of_range_is_refused_in_a_sentence() {
    let refused = |change: fn(&mut CmtOptions)| {
        let mut options = CmtOptions::default();
        change(&mut options);
        Cmt::<u32>::new(&options).err().unwrap().to_string()
    };
    assert_eq!(refused(|o| o.alpha = 0.0), "option `alpha` is 0, but it must be above 0 and at most 1");
    assert_eq!(refused(|o| o.alpha = f64::NAN), "option `alpha` is NaN, but it must be above 0 and at most 1");
    assert_eq!(refused(|o| o.trees = 0), "option `trees` is 0, but it must be 1 to 64");
    assert_eq!(refused(|o| o.leaf_cap = LeafCap::Fixed(0)), "option `leaf_cap` is 0, but it must be 1 or more");
    assert_eq!(refused(|o| o.leaf_cap = LeafCap::Log { c: f64::NAN }), "option `c` is NaN, but it must be above 0 and at most 1000000");
    assert_eq!(refused(|o| o.router_rate = 0.0), "option `router_rate` is 0, but it must be above 0 and at most 100");

    let mut cmt = filled(&CmtOptions::default(), &texts(20, 4, 30, 4));
    let x = SparseVec::default();
    let before = cmt.to_bytes();
    let again = cmt.insert(ItemId(3), x.clone(), 0).unwrap_err();
    assert_eq!(again.to_string(), "memory: expected an identifier that is new, found 3, which is there already");
    assert!(cmt.explore(1, &x, 1, 0.5).is_err());
    assert!(cmt.explore(0, &x, 1, f64::NAN).is_err());
    let explored = cmt.explore(0, &x, 2, 0.0).unwrap();
    assert!(cmt.update(&x, &explored, &[1.0]).is_err());
    assert!(cmt.update(&x, &explored, &[1.0, f32::NAN]).is_err());
    assert!(cmt.teach(&x, ItemId(3), f32::INFINITY).is_err());
    assert_eq!(cmt.to_bytes(), before);
}

#[test]
fn an_update_outlives_what_it_is_about() {
    let xs = texts(200, 5, 60, 5);
    let mut cmt = filled(&CmtOptions { leaf_cap: LeafCap::Fixed(4), ..CmtOptions::default() }, &xs);
    let explored: Vec<_> = xs.iter().map(|x| cmt.explore(0, x, 3, 1.0).unwrap()).collect();
    (0..190).for_each(|i| drop(cmt.remove(ItemId(i))));
    for (x, explored) in xs.iter().zip(&explored) {
        cmt.update(x, explored, &vec![1.0; explored.hits.len()]).unwrap();
        assert_eq!(cmt.check(), Ok(()));
    }
}
