//! What the paper proves, measured.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::cmt::{Cmt, CmtOptions, LeafCap, Router, RouterStep, Similarity, SplitRule};
use tessera_core::ids::ItemId;
use tessera_core::online_linear::{AdaptiveLinear, OnlineRegressor};
use tessera_core::sparse::SparseVec;
use tessera_core::{Error, Result};

use super::{filled, self_error, texts};

/// A router that counts the examples after which it was still wrong, and tells their number as its
/// constant.
#[derive(Clone)]
struct Watched {
    /// Without one, the input decides: feature 0 is the prediction; after learning it is the label,
    /// but for inputs with a feature 1, whose sign it is then.
    mind: Option<AdaptiveLinear>,
    /// Not a number for a router that was not learned: theorems say nothing of its node.
    mistakes: f64,
}

impl OnlineRegressor for Watched {
    fn predict(&self, x: &SparseVec) -> f64 {
        self.mind.as_ref().map_or_else(|| f64::from(x.get(0)).clamp(-1.0, 1.0), |mind| mind.predict(x))
    }

    fn step(&mut self, x: &SparseVec, teach: impl FnOnce(f64) -> (f32, f32)) -> f64 {
        let mut label = 0.0;
        let teach = |margin| {
            let lesson = teach(margin);
            label = lesson.0;
            lesson
        };
        let after = match &mut self.mind {
            Some(mind) => mind.step(x, teach),
            None => {
                let (label, _) = teach(f64::from(x.get(0)).clamp(-1.0, 1.0));
                f64::from(if x.get(1) == 0.0 { label } else { x.get(1).signum() })
            }
        };
        self.mistakes += f64::from((after > 0.0) != (label > 0.0));
        after
    }
}

impl Stored for Watched {
    fn write(&self, _: &mut Writer) {}
    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Err(Error::value("router", "one that was written", "none"))
    }
}

impl Router for Watched {
    /// The rate selects the kind of router under test.
    fn new(options: &CmtOptions) -> Self {
        Self { mind: (options.router_rate != PUPPET).then(|| Router::new(options)), mistakes: 0.0 }
    }
    fn step_at(options: &CmtOptions, feature: u32, threshold: f32, scale: f32) -> Self {
        Self { mind: Some(Router::step_at(options, feature, threshold, scale)), mistakes: f64::NAN }
    }
    fn reasons(&self, _: &SparseVec) -> (f64, Vec<(u32, f64)>) {
        (self.mistakes, Vec::new())
    }
    fn weights(&self) -> (f64, Vec<(u32, f64)>) {
        (self.mistakes, Vec::new())
    }
    fn n_weights(&self) -> usize {
        0
    }
    fn bytes(&self) -> usize {
        0
    }
}

const PUPPET: f32 = 77.0;

/// 1 - κ of Theorem 3.3.
fn share(alpha: f64) -> f64 {
    1.0 - 1.0 / (1.0 + f64::exp(1.0 - 1.0 / alpha))
}

/// Inserts all and does nothing else, as the theorems assume.
fn grown(alpha: f64, rate: f32, leaf_cap: LeafCap, xs: &[SparseVec]) -> Cmt<u32, Watched> {
    let options = CmtOptions { alpha, router_rate: rate, leaf_cap, split: SplitRule::FreshRouter, reroutes: 0, ..CmtOptions::default() };
    let mut cmt = Cmt::new(&options).unwrap();
    for (x, i) in xs.iter().zip(0..) {
        cmt.insert(ItemId(i), x.clone(), i).unwrap();
    }
    cmt
}

/// All inner nodes, by number.
fn nodes(cmt: &Cmt<u32, Watched>) -> BTreeMap<u32, RouterStep> {
    let ways = cmt.iter().map(|memory| cmt.explain(&memory.x, memory.id, 0).unwrap().paths.remove(0));
    ways.flat_map(|path| path.turns).map(|turn| (turn.node, turn)).collect()
}

/// Theorem 3.3 at every node, with the error that was measured there.
fn check_balance(cmt: &Cmt<u32, Watched>, alpha: f64) -> Result<(), String> {
    for turn in nodes(cmt).values().filter(|turn| !turn.constant.is_nan()) {
        let n = f64::from(turn.counts[0] + turn.counts[1]);
        let smaller = f64::from(turn.counts[0].min(turn.counts[1]));
        let error = turn.constant / n;
        let bound = (1.0 - error) * share(alpha) - 1.0 / n;
        if smaller / n < bound - 1e-9 {
            return Err(format!("{:?} memories with error {error}, less than {bound}", turn.counts));
        }
    }
    Ok(())
}

fn puppet_input() -> impl Strategy<Value = SparseVec> {
    let margin = prop::sample::select(vec![-9.0f32, -1.0, -0.3, 0.3, 1.0, 9.0]);
    let error = prop::sample::select(vec![0.0f32, 0.0, 0.0, 1.0, 1.0, -1.0]);
    (margin, error, 2u32..1000).prop_map(|(margin, error, own)| SparseVec::from_pairs([(0, margin), (1, error), (own, 1.0)]).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn theorem_3_3_whatever_the_router_says(xs in prop::collection::vec(puppet_input(), 1..300), alpha in prop::sample::select(vec![0.3, 0.5, 0.9, 1.0])) {
        let cmt = grown(alpha, PUPPET, LeafCap::Fixed(2), &xs);
        prop_assert_eq!(check_balance(&cmt, alpha), Ok(()));
    }

    #[test]
    fn theorem_3_3_when_all_pull_one_way(n in 1usize..300, margin in prop::sample::select(vec![-1.0f32, 1.0]), alpha in prop::sample::select(vec![0.3, 0.5, 0.9]), wrong in 0usize..4) {
        let error = |i: usize| if i % 4 < wrong { margin } else { 0.0 };
        let xs: Vec<SparseVec> = (0..n).map(|i| SparseVec::from_pairs([(0, margin), (1, error(i)), (i as u32 + 2, 1.0)]).unwrap()).collect();
        let cmt = grown(alpha, PUPPET, LeafCap::Log { c: 1.0 }, &xs);
        prop_assert_eq!(check_balance(&cmt, alpha), Ok(()));
    }

    #[test]
    fn theorem_3_3_for_routers_that_learn(seed: u64, words in 1usize..6, vocabulary in 4u32..300, alpha in prop::sample::select(vec![0.5, 0.9]), rate in prop::sample::select(vec![0.02f32, 0.5, 3.0])) {
        let mut xs = texts(250, words, vocabulary, seed);
        // Runs of copies, and their opposites: what a linear function likes least.
        for i in (1..xs.len()).filter(|i| i % 7 < 3) {
            xs[i] = if i % 14 < 7 { xs[i - 1].clone() } else { SparseVec::from_pairs(xs[i - 1].entries().iter().map(|(j, v)| (*j, -v))).unwrap() };
        }
        let cmt = grown(alpha, rate, LeafCap::Log { c: 1.0 }, &xs);
        prop_assert_eq!(check_balance(&cmt, alpha), Ok(()));
    }

    #[test]
    fn lemma_a_4_what_was_just_remembered_is_found(seed: u64, split in any::<bool>(), euclid: bool, leaf_cap in prop::sample::select(vec![LeafCap::Fixed(1), LeafCap::Fixed(5), LeafCap::Log { c: 2.0 }]), rate in prop::sample::select(vec![0.05f32, 0.5, 5.0])) {
        let options = CmtOptions {
            split: if split { SplitRule::FreshRouter } else { SplitRule::TrainedRouter },
            similarity: if euclid { Similarity::NegEuclid } else { Similarity::Cosine },
            leaf_cap,
            router_rate: rate,
            reroutes: 0,
            ..CmtOptions::default()
        };
        let mut cmt: Cmt<()> = Cmt::new(&options).unwrap();
        for (x, i) in texts(200, 4, 60, seed).into_iter().zip(0..) {
            // No two in one direction.
            let x = SparseVec::from_pairs(x.entries().iter().copied().chain([(1000 + i, 1.0)])).unwrap();
            cmt.insert(ItemId(i), x.clone(), ()).unwrap();
            prop_assert_eq!(cmt.query(&x, 1).hits[0].id, ItemId(i));
        }
    }
}

/// Theorem 3.4 for routers that always follow: a query asks at most K ln T routers and scores at
/// most c log2 T memories.
#[test]
fn theorem_3_4_queries_are_logarithmic() {
    for (alpha, k) in [(0.9, 2.1175), (0.5, 3.7183)] {
        assert!((1.0 / share(alpha) - k).abs() < 1e-3);
        for t in [100u32, 1000, 4000] {
            // Feature 0 pulls all to the right as hard as it can.
            let xs: Vec<SparseVec> = (0..t).map(|i| SparseVec::new(&[0, i + 2], &[1.0, 1.0]).unwrap()).collect();
            let cmt = grown(alpha, PUPPET, LeafCap::Log { c: 4.0 }, &xs);
            let (depth, cap) = (k * f64::from(t).ln(), 4.0 * f64::from(t).log2());
            assert!(cmt.shapes()[0].depth as f64 <= depth, "{:?}", cmt.shapes());
            let cost = cmt.query(&xs[7], 1).cost;
            assert!(cost.nodes as f64 <= depth && cost.points as f64 <= cap, "{cost:?}");
            assert_eq!(cost.values, cost.nodes * 2 + cost.points * 2);
        }
    }
}

/// The same of routers that learn: with errors of one half at most, K is 4.24.
#[test]
fn theorem_3_4_for_routers_that_learn() {
    for (xs, reroutes) in [(texts(3000, 8, 1000, 31), 0), (texts(3000, 8, 1000, 32), 3), (texts(3000, 3, 12, 33), 1)] {
        let cmt = filled(&CmtOptions { reroutes, ..CmtOptions::default() }, &xs);
        let shape = cmt.shapes()[0];
        assert!(shape.depth as f64 <= 4.24 * 3000f64.ln(), "{shape:?}");
        // Storage is linear: a node for each memory at most, and few weights.
        assert!(shape.nodes < 3000 && shape.weights < 3000 * 8 * 12, "{shape:?}");
    }
}

/// Rerouting lowers the error of finding memories by their own vectors; settling removes it.
#[test]
fn self_consistency_grows_with_reroutes() {
    let mut xs = texts(1500, 8, 3000, 41);
    let mut seen = std::collections::BTreeSet::new();
    xs.retain(|x| seen.insert(format!("{x:?}")));
    let grown = |reroutes| filled(&CmtOptions { reroutes, similarity: Similarity::NegEuclid, ..CmtOptions::default() }, &xs);
    let errors = [0, 1, 4].map(|reroutes| self_error(&grown(reroutes), &xs));
    assert!(errors[0] > 0.02 && errors[0] > 1.5 * errors[1] && errors[1] > 1.5 * errors[2], "{errors:?}");
    assert_eq!(self_error(&grown(40), &xs), 0.0);
    let mut cmt = grown(0);
    cmt.settle();
    assert_eq!(cmt.check(), Ok(()));
    assert_eq!(self_error(&cmt, &xs), 0.0);
}
