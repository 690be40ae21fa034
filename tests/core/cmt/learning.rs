//! What trees learn from rewards.

use rand::RngExt;
use tessera_core::cmt::{Cmt, CmtOptions, LeafCap};
use tessera_core::ids::ItemId;
use tessera_core::random;
use tessera_core::sparse::SparseVec;

/// `n` vectors of ten classes: a word of the class that counts little, and loud words that say
/// nothing.
fn noisy(n: usize, seed: u64) -> Vec<(SparseVec, u32)> {
    let mut rng = random::seeded(seed);
    let mut one = |class: u32| {
        let noise: Vec<(u32, f32)> = (0..4).map(|_| (100 + rng.random_range(0..60u32), 1.0)).collect();
        (SparseVec::from_pairs(noise.into_iter().chain([(class, 0.5)])).unwrap(), class)
    };
    (0..n).map(|i| one(i as u32 % 10)).collect()
}

fn accuracy(cmt: &Cmt<u32>, test: &[(SparseVec, u32)]) -> f64 {
    let right = |x: &SparseVec, class| cmt.query(x, 1).hits.first().is_some_and(|hit| cmt.get(hit.id).unwrap().value == class);
    test.iter().filter(|(x, class)| right(x, *class)).count() as f64 / test.len() as f64
}

fn remembered(options: &CmtOptions, train: &[(SparseVec, u32)]) -> Cmt<u32> {
    let mut cmt = Cmt::new(options).unwrap();
    for ((x, class), i) in train.iter().zip(0..) {
        cmt.insert(ItemId(i), x.clone(), *class).unwrap();
    }
    cmt
}

/// Passes over examples that are not memories; the reward is 1 for a memory of the same class.
fn taught(mut cmt: Cmt<u32>, lessons: &[(SparseVec, u32)], passes: usize, k: usize) -> Cmt<u32> {
    for _ in 0..passes {
        for (x, class) in lessons {
            for tree in 0..cmt.n_trees() {
                let explored = cmt.explore(tree, x, k, 1.0).unwrap();
                let rewards: Vec<f32> = explored.hits.iter().map(|hit| f32::from(cmt.get(hit.id).unwrap().value == *class)).collect();
                cmt.update(x, &explored, &rewards).unwrap();
            }
        }
    }
    assert_eq!(cmt.check(), Ok(()));
    cmt
}

#[test]
fn updates_raise_the_reward() {
    let (train, lessons, test) = (noisy(400, 51), noisy(800, 52), noisy(400, 53));
    for k in [1, 5] {
        let before = remembered(&CmtOptions::default(), &train);
        let first = accuracy(&before, &test);
        let after = accuracy(&taught(before, &lessons, 3, k), &test);
        assert!(after > first + 0.3, "k {k}: {first} before, {after} after");
    }
}

#[test]
fn the_scorer_alone_learns_from_a_persons_judgement() {
    let (train, lessons, test) = (noisy(300, 54), noisy(900, 55), noisy(300, 56));
    let mut cmt = remembered(&CmtOptions::default(), &train);
    let first = accuracy(&cmt, &test);
    for (x, class) in &lessons {
        let hits = cmt.query(x, 3).hits;
        for hit in hits {
            let reward = f32::from(cmt.get(hit.id).unwrap().value == *class);
            assert!(cmt.teach(x, hit.id, reward).unwrap());
        }
    }
    let after = accuracy(&cmt, &test);
    assert!(after > first + 0.2, "{first} before, {after} after");
}

#[test]
fn routers_learn_which_side_pays() {
    let (train, lessons, test) = (noisy(400, 57), noisy(1500, 58), noisy(400, 59));
    // The scorer does not learn: an answer is as good as its leaf.
    let options = CmtOptions { learn_scorer: false, alpha: 0.2, leaf_cap: LeafCap::Fixed(40), ..CmtOptions::default() };
    let share = |cmt: &Cmt<u32>| {
        let of = |x: &SparseVec, class| {
            let hits = cmt.query(x, usize::MAX).hits;
            let good = hits.iter().filter(|hit| cmt.get(hit.id).unwrap().value == class).count();
            good as f64 / hits.len().max(1) as f64
        };
        test.iter().map(|(x, class)| of(x, *class)).sum::<f64>() / test.len() as f64
    };
    let before = remembered(&options, &train);
    let first = share(&before);
    let after = share(&taught(before, &lessons, 4, 1));
    assert!(after > first * 1.15, "{first} before, {after} after");
}

#[test]
fn replay_teaches_what_is_remembered() {
    let (train, test) = (noisy(500, 60), noisy(400, 61));
    let mut cmt = remembered(&CmtOptions::default(), &train);
    let first = accuracy(&cmt, &test);
    for _ in 0..4 {
        for i in 0..500 {
            assert!(cmt.replay(0, ItemId(i), 4, 1.0, |own, other| f32::from(own == other)).unwrap());
        }
    }
    assert!(!cmt.replay(0, ItemId(9999), 1, 1.0, |_, _| 1.0).unwrap());
    assert_eq!(cmt.check(), Ok(()));
    let after = accuracy(&cmt, &test);
    assert!(after > first + 0.2, "{first} before, {after} after");
}

#[test]
fn without_learning_a_reward_changes_no_score() {
    let (train, lessons) = (noisy(100, 62), noisy(200, 63));
    let options = CmtOptions { learn_scorer: false, ..CmtOptions::default() };
    let cmt = taught(remembered(&options, &train), &lessons, 1, 2);
    for (x, _) in &lessons {
        for hit in cmt.query(x, 3).hits {
            let z = &cmt.get(hit.id).unwrap().x;
            assert!((hit.score - x.dot(z) / (x.norm() * z.norm())).abs() < 1e-12);
        }
    }
}
