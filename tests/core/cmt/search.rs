//! Queries against a scan of everything, and reasons against scores.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tessera_core::cmt::{Cmt, CmtOptions, Similarity, TreePath};
use tessera_core::ids::ItemId;
use tessera_core::sparse::SparseVec;

use super::structure::{act, acts};
use super::{filled, options, texts, vector};

/// The paper's score without weights, as it stands.
fn similarity(kind: Similarity, x: &SparseVec, z: &SparseVec) -> f64 {
    match kind {
        Similarity::Cosine if x.is_empty() || z.is_empty() => 0.0,
        Similarity::Cosine => x.dot(z) / (x.norm() * z.norm()),
        Similarity::NegEuclid => -x.distance_squared(z).sqrt(),
    }
}

/// All memories by score: by the similarity if nothing was learned, by the scorer itself otherwise.
fn scan(cmt: &Cmt<u32>, score: impl Fn(ItemId, &SparseVec) -> f64) -> Vec<(ItemId, f64)> {
    let mut all: Vec<(ItemId, f64)> = cmt.iter().map(|memory| (memory.id, score(memory.id, &memory.x))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn all_leaves_are_a_scan(options in options(), acts in acts(60), x in vector(), k in 0usize..9) {
        let mut cmt = Cmt::new(&options).unwrap();
        acts.iter().for_each(|done| drop(act(&mut cmt, done)));
        let answer = cmt.query_budget(&x, k, usize::MAX);
        let mut all = scan(&cmt, |id, _| cmt.explain(&x, id, 0).unwrap().score);
        all.truncate(k);
        let found: Vec<(ItemId, f64)> = answer.hits.iter().map(|hit| (hit.id, hit.score)).collect();
        prop_assert_eq!(found, all);
        prop_assert_eq!(answer.cost.points, cmt.len() as u64);
        let leaves: usize = cmt.shapes().iter().map(|shape| shape.leaves).sum();
        prop_assert_eq!(answer.cost.leaves, leaves as u64);
        prop_assert_eq!(cmt.reached(&x, usize::MAX).len(), cmt.len());
    }

    #[test]
    fn reasons_sum_up(options in options(), acts in acts(60), x in vector()) {
        let mut cmt = Cmt::new(&options).unwrap();
        acts.iter().for_each(|done| drop(act(&mut cmt, done)));
        for memory in cmt.iter() {
            let explanation = cmt.explain(&x, memory.id, usize::MAX).unwrap();
            let sum: f64 = explanation.terms.iter().map(|(_, term)| term).sum();
            prop_assert!((sum - explanation.score).abs() < 1e-5, "{} and {}", sum, explanation.score);
            prop_assert_eq!(explanation.paths.len(), cmt.n_trees());
            for path in &explanation.paths {
                for turn in &path.turns {
                    let sum = turn.constant + turn.features.iter().map(|(_, term)| term).sum::<f64>();
                    prop_assert!((sum.clamp(-1.0, 1.0) - turn.margin).abs() < 1e-9);
                }
            }
        }
        for tree in 0..cmt.n_trees() {
            let path = cmt.path(tree, &x, 2).unwrap();
            prop_assert!(path.turns.iter().all(|turn| turn.follows() && turn.features.len() <= 2));
        }
    }
}

#[test]
fn unlearned_scores_are_the_similarity() {
    for similarity_kind in [Similarity::Cosine, Similarity::NegEuclid] {
        let xs = texts(300, 6, 80, 11);
        let cmt = filled(&CmtOptions { similarity: similarity_kind, ..CmtOptions::default() }, &xs);
        for x in texts(50, 5, 80, 12) {
            let wanted = scan(&cmt, |_, z| similarity(similarity_kind, &x, z));
            let hits = cmt.query_budget(&x, 10, usize::MAX).hits;
            for (hit, (_, score)) in hits.iter().zip(&wanted) {
                assert!((hit.score - score).abs() < 1e-9, "{} and {score}", hit.score);
            }
        }
    }
}

#[test]
fn one_leaf_is_where_the_path_leads() {
    let xs = texts(600, 6, 200, 13);
    let cmt = filled(&CmtOptions { trees: 3, ..CmtOptions::default() }, &xs);
    for x in texts(60, 6, 200, 14) {
        let answer = cmt.query(&x, usize::MAX);
        let paths: Vec<_> = (0..3).map(|tree| cmt.path(tree, &x, 0).unwrap()).collect();
        assert_eq!(answer.cost.leaves, 3);
        assert_eq!(answer.cost.nodes, paths.iter().map(|path| path.turns.len() as u64).sum::<u64>());
        assert_eq!(answer.hits.len() as u64, answer.cost.points);
        let at_its_leaves = |id| cmt.explain(&x, id, 0).unwrap().paths.iter().any(|path| path.turns.iter().all(|turn| turn.follows()));
        assert!(answer.hits.iter().all(|hit| at_its_leaves(hit.id)));
        assert!(answer.hits.len() <= paths.iter().map(|path| path.memories).sum());
    }
}

#[test]
fn the_leaves_looked_at_go_least_against_the_routers() {
    let xs = texts(500, 6, 200, 19);
    for trees in [1, 2] {
        let cmt = filled(&CmtOptions { trees, reroutes: 1, ..CmtOptions::default() }, &xs);
        for x in texts(40, 6, 200, 20) {
            // The detour cost of a memory, the least over all trees.
            let cost = |id| -> f64 {
                let against = |path: &TreePath| path.turns.iter().filter(|turn| !turn.follows()).map(|turn| turn.margin.abs()).sum::<f64>();
                cmt.explain(&x, id, 0).unwrap().paths.iter().map(against).fold(f64::INFINITY, f64::min)
            };
            for leaves in [1, 2, 5, 20] {
                let reached: BTreeSet<ItemId> = cmt.reached(&x, leaves).into_iter().collect();
                let dearest = reached.iter().map(|id| cost(*id)).fold(0.0, f64::max);
                let passed_over = cmt.iter().filter(|memory| !reached.contains(&memory.id)).map(|memory| cost(memory.id));
                let cheapest = passed_over.fold(f64::INFINITY, f64::min);
                assert!(dearest <= cheapest + 1e-12, "{leaves} leaves cost {dearest}, but there was one for {cheapest}");
                assert!(leaves > 1 || dearest == 0.0);
            }
        }
    }
}

#[test]
fn more_leaves_find_more() {
    let xs = texts(1200, 6, 300, 15);
    let cmt = filled(&CmtOptions { reroutes: 2, ..CmtOptions::default() }, &xs);
    let queries = texts(150, 6, 300, 16);
    let truth: Vec<f64> = queries.iter().map(|x| cmt.query_budget(x, 1, usize::MAX).hits[0].score).collect();
    let found =
        |leaves: usize| queries.iter().zip(&truth).filter(|(x, best)| cmt.query_budget(x, 1, leaves).hits[0].score == **best).count();
    let counts: Vec<usize> = [1, 2, 4, 8, 16, 1000].into_iter().map(found).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    assert!(counts[0] < counts[3] && counts[5] == queries.len(), "{counts:?}");
}

#[test]
fn more_trees_find_more() {
    let xs = texts(1200, 6, 300, 17);
    let queries = texts(200, 6, 300, 18);
    let score = |trees: u32| {
        let cmt = filled(&CmtOptions { trees, reroutes: 1, ..CmtOptions::default() }, &xs);
        queries.iter().map(|x| cmt.query(x, 1).hits[0].score).sum::<f64>()
    };
    let (one, four) = (score(1), score(4));
    assert!(four > one * 1.05, "{one} with one tree, {four} with four");
}
