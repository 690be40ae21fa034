//! Contextual memory trees: what holds of every tree, what the paper proves, and what learning
//! gains.

mod learning;
mod oas;
mod save;
mod search;
mod structure;
mod theory;

use proptest::prelude::*;
use rand::RngExt;
use tessera_core::cmt::{Cmt, CmtOptions, LeafCap, Similarity, SplitRule};
use tessera_core::ids::ItemId;
use tessera_core::random;
use tessera_core::sparse::SparseVec;

/// `n` vectors of at most `words` words, of which low numbers are common and high ones rare.
pub(super) fn texts(n: usize, words: usize, vocabulary: u32, seed: u64) -> Vec<SparseVec> {
    let mut rng = random::seeded(seed);
    let mut word = || (f64::from(vocabulary).powf(rng.random::<f64>()) as u32 - 1, 1.0);
    (0..n).map(|_| SparseVec::from_pairs((0..words).map(|_| word())).unwrap()).collect()
}

/// Memory `i` has vector `i` and the value i.
pub(super) fn filled(options: &CmtOptions, xs: &[SparseVec]) -> Cmt<u32> {
    let mut cmt = Cmt::new(options).unwrap();
    for (x, i) in xs.iter().zip(0..) {
        cmt.insert(ItemId(i), x.clone(), i).unwrap();
    }
    cmt
}

/// The share of memories that are not found by their own vectors.
pub(super) fn self_error(cmt: &Cmt<u32>, xs: &[SparseVec]) -> f64 {
    let lost = xs.iter().zip(0..).filter(|(x, i)| cmt.query(x, 1).hits[0].id != ItemId(*i)).count();
    lost as f64 / xs.len() as f64
}

/// Options of every kind.
pub(super) fn options() -> impl Strategy<Value = CmtOptions> {
    let caps = vec![LeafCap::Fixed(1), LeafCap::Fixed(3), LeafCap::Log { c: 0.5 }, LeafCap::Log { c: 2.0 }];
    let parts =
        (prop::sample::select(caps), any::<[bool; 5]>(), 0u32..4, 1u32..4, any::<u64>(), prop::sample::select(vec![0.1, 0.5, 0.9, 1.0]));
    parts.prop_map(|(leaf_cap, [fresh, euclid, learn_scorer, train, opposed], reroutes, trees, seed, alpha)| CmtOptions {
        alpha,
        leaf_cap,
        split: if fresh { SplitRule::FreshRouter } else { SplitRule::TrainedRouter },
        reroutes,
        update_reroutes_train: train,
        similarity: if euclid { Similarity::NegEuclid } else { Similarity::Cosine },
        learn_scorer,
        opposed_offset: opposed,
        trees,
        seed,
        ..CmtOptions::default()
    })
}

/// Small vectors with many that are equal, many that are parallel, and the zero vector.
pub(super) fn vector() -> impl Strategy<Value = SparseVec> {
    let value = prop::sample::select(vec![-1.0f32, 1.0, 1.0, 2.0]);
    prop::collection::btree_map(0u32..6, value, 0..4).prop_map(|map| SparseVec::from_pairs(map).unwrap())
}
