//! Candidate selection: the graph of neighbours, what trees and tables hold, and what the paper
//! says of ways to select.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use tessera_core::ann::candidates::{
    CandidateIndex, KnnGraph, SelectionGrid, SelectionRule, Selector, TreeKind, TreeOptions, TreeWay, Trees, Votes, reliability, sweep,
};
use tessera_core::ann::cells::approximate_graph;
use tessera_core::ann::{Measured, PointSet, cheapest, frontier};
use tessera_core::bytes::{restored, stored};
use tessera_core::ids::ItemId;
use tessera_core::nearest::{Distance as _, Metric, NeighborIndex as _, everything};
use tessera_core::progress::Progress;
use tessera_core::random;

const K: usize = 10;

fn set(metric: Metric, dimension: usize, rows: impl IntoIterator<Item = Vec<f32>>) -> PointSet {
    let mut points = PointSet::new(dimension, metric);
    rows.into_iter().for_each(|row| points.push(&row).unwrap());
    points
}

/// Points around some places, on a surface of few dimensions in a space of many.
fn vectors(n: usize, seed: u64) -> PointSet {
    let mut rng = random::seeded(1);
    let places: Vec<Vec<f32>> = (0..40).map(|_| (0..8).map(|_| rng.random_range(-3.0..3.0)).collect()).collect();
    let mixing: Vec<Vec<f32>> = (0..80).map(|_| (0..8).map(|_| random::normal(&mut rng) as f32).collect()).collect();
    let mut rng = random::seeded(seed);
    set(
        Metric::Euclidean,
        80,
        (0..n).map(|_| {
            let place = &places[rng.random_range(0..places.len())];
            let inner: Vec<f32> = place.iter().map(|value| value + random::normal(&mut rng) as f32).collect();
            let value = |row: &Vec<f32>| row.iter().zip(&inner).map(|(a, b)| a * b).sum::<f32>();
            mixing.iter().map(|row| value(row) + 0.1 * random::normal(&mut rng) as f32).collect()
        }),
    )
}

fn graph(corpus: &PointSet, queries: &PointSet, k: usize, is_own: bool) -> KnnGraph {
    KnnGraph::exact(corpus, queries, k, is_own, &Progress::default()).unwrap()
}

fn grown(points: &PointSet, graph: &KnnGraph, kind: TreeKind, trees: usize, depth: usize) -> Trees {
    let options = TreeOptions { kind, trees, depth, labels: K, ..TreeOptions::default() };
    Trees::grow(points, graph, options, &Progress::default()).unwrap()
}

/// What a selector selects for each query.
fn selected(selector: &Selector, n: usize, queries: &PointSet) -> Vec<BTreeSet<u32>> {
    let mut votes = Votes::default();
    let of = |query: &[f32]| selector.candidates(query, n, &mut votes).into_iter().map(|(point, _)| point).collect();
    queries.rows().map(of).collect()
}

/// The mean share of true neighbours among candidates, and the mean number of candidates.
fn recall(selected: &[BTreeSet<u32>], truth: &KnnGraph) -> (f64, f64) {
    let found = |(i, points): (usize, &BTreeSet<u32>)| truth.list(i).iter().filter(|point| points.contains(point)).count();
    let all: usize = selected.iter().enumerate().map(found).sum();
    let candidates: usize = selected.iter().map(BTreeSet::len).sum();
    (all as f64 / (truth.k() * selected.len()) as f64, candidates as f64 / selected.len() as f64)
}

#[test]
fn the_graph_is_what_a_look_at_each_pair_finds() {
    let rows = prop::collection::vec(prop::collection::vec(-4i8..5, 5), 0..40);
    proptest!(ProptestConfig::with_cases(64), |(rows in rows, queries in prop::collection::vec(prop::collection::vec(-9i8..9, 5), 1..4), k in 1usize..6)| {
        let dense = |rows: &[Vec<i8>]| -> Vec<Vec<f32>> { rows.iter().map(|row| row.iter().map(|value| f32::from(*value)).collect()).collect() };
        for metric in [Metric::Euclidean, Metric::InnerProduct, Metric::Cosine] {
            let corpus = set(metric, 5, dense(&rows));
            let found = graph(&corpus, &set(metric, 5, dense(&queries)), k, false);
            let own = graph(&corpus, &corpus, k, true);
            prop_assert_eq!(own.k(), k.min(rows.len()));
            for (i, query) in dense(&queries).iter().enumerate().take(found.len()) {
                let mut expected: Vec<f64> = dense(&rows).iter().map(|row| metric.between(query.as_slice(), row.as_slice())).collect();
                let distances: Vec<f64> = found.list(i).iter().map(|point| expected[*point as usize]).collect();
                expected.sort_by(f64::total_cmp);
                for (found, expected) in distances.iter().zip(&expected) {
                    prop_assert!((found - expected).abs() < 1e-5, "{:?}: {} and not {}", metric, found, expected);
                }
                prop_assert_eq!(found.len(), queries.len() * usize::from(!rows.is_empty()));
                let different: BTreeSet<&u32> = found.list(i).iter().collect();
                prop_assert_eq!(different.len(), found.k());
            }
            for i in 0..own.len() {
                prop_assert!(metric == Metric::InnerProduct || own.list(i)[0] == i as u32);
            }
        }
    });
}

/// Values of very different sizes, of which some columns are nearly nothing beside others.
#[test]
fn the_graph_is_exact_whatever_the_sizes_of_values() {
    let mut rng = random::seeded(8);
    let sizes: [fn(usize) -> f32; 7] = [
        |_| 1.0,
        |i| if i == 0 { 1e10 } else { 1e-25 },
        |i| if i == 1 { 1e6 } else { 1e-30 },
        |_| 1e12,
        |_| 1e-19,
        |i| if i % 2 == 0 { 0.0 } else { 3.0 },
        |i| if i == 0 { 1e-45 } else { 0.5 },
    ];
    for (n, d) in [(1300, 3), (520, 70), (60, 784)] {
        for size in sizes {
            let mut rows: Vec<Vec<f32>> = (0..n).map(|_| (0..d).map(|i| size(i) * random::normal(&mut rng) as f32).collect()).collect();
            // One far from all others, and one amid them.
            rows[5] = rows[5].iter().map(|value| 100.0 * value).collect();
            rows[6] = vec![0.0; d];
            for metric in [Metric::Euclidean, Metric::InnerProduct, Metric::Cosine] {
                let corpus = set(metric, d, rows.iter().cloned());
                let queries = set(metric, d, rows.iter().take(12).cloned());
                let found = graph(&corpus, &queries, 4, false);
                assert_eq!((found.len(), found.k()), (12, 4));
                for i in 0..12 {
                    let distance = |point: u32| metric.between(rows[i].as_slice(), rows[point as usize].as_slice());
                    let mut expected: Vec<f64> = (0..n as u32).map(distance).collect();
                    expected.sort_by(f64::total_cmp);
                    let largest = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
                    for (point, expected) in found.list(i).iter().zip(expected) {
                        let near = (distance(*point) - expected).abs();
                        assert!(near <= 1e-5 * largest, "{metric:?}, {n} of {d}, query {i}: {} and not {expected}", distance(*point));
                    }
                }
            }
        }
    }
}

#[test]
fn leaves_hold_each_label_of_each_training_point_once() {
    let points = vectors(700, 2);
    let graph = graph(&points, &points, K, true);
    for kind in TreeKind::ALL {
        let trees = grown(&points, &graph, kind, 3, 6);
        for depth in [0, 3, 6] {
            let natural = trees.selector(&graph, SelectionRule::Natural, 3, depth, K, 0.0);
            let voting = trees.selector(&graph, SelectionRule::Voting, 3, depth, 1, 1.0);
            for tree in 0..3 {
                assert_eq!(natural.entries(tree).1, 7000, "{kind:?}");
                assert_eq!(voting.entries(tree), (700, 700), "{kind:?}");
            }
        }
    }
}

/// The log-likelihood, in bits, of the labels of some points, each by itself, under the shares of
/// these labels.
fn likelihood(graph: &KnnGraph, points: &[usize]) -> f64 {
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    points.iter().flat_map(|point| graph.list(*point)).for_each(|label| *counts.entry(*label).or_default() += 1.0);
    let all: f64 = counts.values().sum();
    counts.values().map(|count| count * (count / all).log2()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_forest_splits_where_labels_become_most_likely(n in 12usize..60, d in 1usize..4, seed in any::<u64>()) {
        let mut rng = random::seeded(seed);
        let rows: Vec<Vec<f32>> = (0..n).map(|_| (0..d).map(|_| rng.random_range(0..12) as f32).collect()).collect();
        let points = set(Metric::Euclidean, d, rows.iter().cloned());
        let graph = graph(&points, &points, 3, true);
        let options = TreeOptions { kind: TreeKind::Forest, trees: 1, depth: 1, labels: 3, density: 1.0, seed };
        let trees = Trees::grow(&points, &graph, options, &Progress::default()).unwrap();
        // Points in one leaf with a point are selected for it.
        let side = &selected(&trees.selector(&graph, SelectionRule::Lookup, 1, 1, 1, 1.0), n, &points)[0];
        let parted = |is_left: &dyn Fn(usize) -> bool| {
            let (left, right): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| is_left(*i));
            likelihood(&graph, &left) + likelihood(&graph, &right)
        };
        let found = parted(&|i| side.contains(&(i as u32)));
        let splits = (0..d).flat_map(|value| (0..12).map(move |up_to| (value, up_to as f32)));
        let best = splits.map(|(value, up_to)| parted(&|i| rows[i][value] <= up_to)).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!((found - best).abs() < 1e-9 * (1.0 + best.abs()), "{found}, not {best}");
    }
}

#[test]
fn with_itself_as_its_only_label_the_natural_classifier_is_lookup() {
    let (points, queries) = (vectors(500, 2), vectors(40, 3));
    let graph = graph(&points, &points, K, true);
    for kind in TreeKind::ALL {
        let trees = grown(&points, &graph, kind, 4, 5);
        let natural = trees.selector(&graph, SelectionRule::Natural, 4, 5, 1, 0.0);
        let lookup = trees.selector(&graph, SelectionRule::Lookup, 4, 5, 1, 1.0);
        assert_eq!(selected(&natural, 500, &queries), selected(&lookup, 500, &queries), "{kind:?}");
    }
}

#[test]
fn more_trees_and_lower_thresholds_select_more() {
    let (points, queries) = (vectors(800, 2), vectors(40, 3));
    let graph = graph(&points, &points, K, true);
    let trees = grown(&points, &graph, TreeKind::RandomProjection, 8, 6);
    let of = |selection, trees_used, threshold| selected(&trees.selector(&graph, selection, trees_used, 6, K, threshold), 800, &queries);
    for (few, more) in of(SelectionRule::Voting, 4, 2.0).iter().zip(of(SelectionRule::Voting, 8, 2.0)) {
        assert!(few.is_subset(&more));
    }
    for (few, more) in of(SelectionRule::Natural, 8, 0.2).iter().zip(of(SelectionRule::Natural, 8, 0.1)) {
        assert!(few.is_subset(&more) && few.len() < more.len());
    }
}

/// The fewest candidates with which each of the ways of one selection reaches a recall.
fn fewest(ways: &[Measured<TreeWay>], recall: f64) -> f64 {
    ways.iter().filter(|way| way.recall >= recall).map(|way| way.candidates).fold(f64::INFINITY, f64::min)
}

/// The paper's first finding (section 8): at the same recall the natural classifier takes fewer
/// candidates than voting, voting than lookup, and all labels of the leaves (a threshold of 0) more
/// than those that are frequent.
#[test]
fn the_natural_classifier_takes_the_fewest_candidates() {
    let (points, queries) = (vectors(4000, 2), vectors(100, 3));
    let (own, truth) = (graph(&points, &points, 30, true), graph(&points, &queries, K, false));
    for kind in [TreeKind::RandomProjection, TreeKind::Kd, TreeKind::Principal, TreeKind::Forest] {
        let trees = grown(&points, &own, kind, 20, 9);
        let ways = |selection| {
            let grid =
                SelectionGrid { selections: vec![selection], depths: (4..10).collect(), trees: vec![5, 10, 20], labels: vec![K, 30] };
            sweep(&trees, &own, 4000, &queries, &truth, &grid, &Progress::default()).unwrap()
        };
        let (lookup, voting, natural) = (ways(SelectionRule::Lookup), ways(SelectionRule::Voting), ways(SelectionRule::Natural));
        let all: Vec<Measured<TreeWay>> = (4..10)
            .flat_map(|depth| [5, 10, 20].map(|count| trees.selector(&own, SelectionRule::Natural, count, depth, K, 0.0)))
            .map(|selector| recall(&selected(&selector, 4000, &queries), &truth))
            .map(|(recall, candidates)| Measured { recall, candidates, ..natural[0] })
            .collect();
        for wanted in [0.7, 0.8, 0.9] {
            let [a, b, c, d] = [&natural, &voting, &lookup, &all].map(|ways| fewest(ways, wanted));
            assert!(a < b && b <= c && a < d, "{kind:?} at {wanted}: {a} natural, {b} voting, {c} lookup, {d} all labels");
        }
    }
}

#[test]
fn all_labels_are_the_natural_classifier_without_a_threshold() {
    let (points, queries) = (vectors(900, 2), vectors(40, 3));
    let own = graph(&points, &points, K, true);
    for kind in TreeKind::ALL {
        let trees = grown(&points, &own, kind, 4, 6);
        let natural = trees.selector(&own, SelectionRule::Natural, 4, 6, K, 0.0);
        let all = trees.selector(&own, SelectionRule::AllLabels, 4, 6, K, 0.0);
        assert_eq!(selected(&natural, 900, &queries), selected(&all, 900, &queries), "{kind:?}");
        // An index turns from one to the other.
        let ids = || (0..900).map(ItemId).collect();
        let mut index = CandidateIndex::new(points.clone(), ids(), trees.selector(&own, SelectionRule::Natural, 2, 6, K, 0.2)).unwrap();
        index.set_selector(all.clone()).unwrap();
        let anew = CandidateIndex::new(points.clone(), ids(), all).unwrap();
        let query = queries.row(0);
        assert_eq!(index.nearest(query, K, &everything).unwrap(), anew.nearest(query, K, &everything).unwrap(), "{kind:?}");
        let few = vectors(20, 5);
        let small = grown(&few, &graph(&few, &few, 3, true), kind, 1, 2).selector(&own, SelectionRule::Lookup, 1, 2, 1, 1.0);
        let mut of_few = CandidateIndex::new(few, (0..20).map(ItemId).collect(), small).unwrap();
        assert!(of_few.set_selector(index.selector().clone()).is_err(), "labels beyond the points");
    }
}

/// An index of each kind of trees and each rule.
fn indexes(n: usize) -> impl Iterator<Item = CandidateIndex> {
    let points = vectors(n, 2);
    let own = graph(&points, &points, K, true);
    let kinds = TreeKind::ALL.into_iter().flat_map(|kind| SelectionRule::ALL.map(|rule| (kind, rule)));
    kinds.map(move |(kind, rule)| {
        let selector = grown(&points, &own, kind, 4, 5).selector(&own, rule, 3, 4, K, 0.2);
        let mut index = CandidateIndex::new(points.clone(), (0..n as u32).map(|i| ItemId(3 * i)).collect(), selector).unwrap();
        index.set_reliability(vec![(0.5, 0.9), (0.1, 0.4)]);
        index
    })
}

#[test]
fn a_saved_index_answers_as_before() {
    let queries = vectors(20, 3);
    for index in indexes(700) {
        let bytes = stored(&index);
        let saved: CandidateIndex = restored("index", &bytes).unwrap();
        assert_eq!(stored(&saved), bytes);
        for query in (0..queries.len()).map(|i| queries.row(i)) {
            assert_eq!(saved.scored(query, K, &everything).unwrap(), index.scored(query, K, &everything).unwrap());
            assert_eq!(saved.candidates(query).unwrap(), index.candidates(query).unwrap());
        }
    }
}

#[test]
fn bytes_that_are_no_index_are_refused() {
    let query = vectors(1, 3);
    let mut rng = random::seeded(3);
    for index in indexes(90) {
        let bytes = stored(&index);
        for end in (0..bytes.len()).step_by(bytes.len() / 100) {
            assert!(restored::<CandidateIndex>("index", &bytes[..end]).is_err());
        }
        // Those of the points are numbers of any kind: most damage is done to the trees.
        let trees = bytes.len() - stored(index.selector()).len();
        for i in 0..300 {
            let mut changed = bytes.clone();
            let at = rng.random_range(if i % 3 == 0 { 0 } else { trees }..changed.len());
            changed[at] ^= 1 << rng.random_range(0..8);
            // What is read can be asked.
            if let Ok(index) = restored::<CandidateIndex>("index", &changed) {
                index.nearest(query.row(0), K, &everything).unwrap();
            }
        }
    }
}

#[test]
fn labels_that_an_index_finds_are_nearly_the_true_ones() {
    let points = vectors(3000, 2);
    let progress = Progress::default();
    let exact = graph(&points, &points, 30, true);
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| approximate_graph(&points, &points, (30, true), (0.9, 5), &progress).unwrap())
    };
    let (found, told) = on(1);
    assert_eq!((found.clone(), told), on(4), "whatever the number of threads");
    let right = |i: usize| exact.list(i).iter().filter(|point| found.list(i).contains(point)).count();
    let recall = (0..3000).map(right).sum::<usize>() as f64 / 90_000.0;
    assert!(recall >= 0.89 && (recall - told).abs() < 0.02, "{recall}, told {told}");
    assert!((0..3000).all(|i| found.list(i)[0] == i as u32), "each point is its own first label");
    // Trees that learn from them need hardly more candidates.
    let (queries, fewest_of) = (vectors(100, 3), |own: &KnnGraph| {
        let trees = grown(&points, own, TreeKind::Principal, 10, 8);
        let truth = graph(&points, &vectors(100, 3), K, false);
        let grid = SelectionGrid { selections: vec![SelectionRule::Natural], depths: vec![6, 7, 8], trees: vec![10], labels: vec![K, 30] };
        fewest(&sweep(&trees, own, 3000, &vectors(100, 3), &truth, &grid, &progress).unwrap(), 0.9)
    });
    let (by_true, by_found) = (fewest_of(&exact), fewest_of(&found));
    assert!(by_found < 1.2 * by_true, "{by_found} candidates, and not {by_true}");
    // Few points, and queries that are not the corpus.
    for n in [0, 1, 2, 40] {
        let few = vectors(n, 7);
        let (lists, told) = approximate_graph(&few, &queries, (5, false), (0.8, 0), &progress).unwrap();
        assert_eq!((lists, told), (graph(&few, &queries, 5, false), 1.0), "{n}");
    }
}

/// How far, in bins of candidates, probabilities are from the share that are true neighbours.
fn calibration_error(mut index: CandidateIndex, validation: (&PointSet, &KnnGraph), queries: (&PointSet, &KnnGraph)) -> f64 {
    index.set_reliability(reliability(index.selector(), index.len(), validation.0, validation.1));
    let mut bins = [(0.0, 0.0); 10];
    let mut n = 0.0;
    for (i, query) in queries.0.rows().enumerate() {
        for (id, probability) in index.candidates(query).unwrap() {
            let bin = &mut bins[((probability * 10.0) as usize).min(9)];
            *bin = (bin.0 + f64::from(probability), bin.1 + f64::from(u8::from(queries.1.list(i).contains(&id.0))));
            n += 1.0;
        }
    }
    bins.iter().map(|(said, right)| f64::abs(said - right)).sum::<f64>() / n
}

#[test]
fn a_recall_that_was_tuned_holds_for_other_queries() {
    let (points, validation, queries) = (vectors(4000, 2), vectors(400, 3), vectors(400, 4));
    let own = graph(&points, &points, 30, true);
    let (checked, truth) = (graph(&points, &validation, K, false), graph(&points, &queries, K, false));
    let trees = grown(&points, &own, TreeKind::Forest, 20, 9);
    let grid =
        SelectionGrid { selections: vec![SelectionRule::Natural], depths: vec![7, 8, 9], trees: vec![5, 10, 20], labels: vec![K, 30] };
    let curve = frontier(sweep(&trees, &own, 4000, &validation, &checked, &grid, &Progress::default()).unwrap());
    assert!(curve.windows(2).all(|pair| pair[0].recall < pair[1].recall && pair[0].operations <= pair[1].operations));
    for wanted in [0.8, 0.9, 0.95] {
        let way = cheapest(&curve, wanted).unwrap();
        let index = CandidateIndex::new(points.clone(), (0..4000).map(ItemId).collect(), way.way.selector(&trees, &own)).unwrap();
        let found = |(i, query): (usize, &[f32])| {
            let list = index.nearest(query, K, &everything).unwrap().list;
            list.iter().filter(|neighbor| truth.list(i).contains(&neighbor.id.0)).count()
        };
        let recall = queries.rows().enumerate().map(found).sum::<usize>() as f64 / 4000.0;
        assert!(recall >= wanted - 0.01, "{recall} where {wanted} was wanted");
        assert!(calibration_error(index, (&validation, &checked), (&queries, &truth)) < 0.05);
        assert!(way.candidates < 400.0, "{way:?}");
    }
    assert!(cheapest::<TreeWay>(&[], 0.5).is_err());
}

#[test]
fn rounded_values_lose_nothing() {
    let (points, queries) = (vectors(1500, 2), vectors(60, 3));
    let graph = graph(&points, &points, K, true);
    let selector = grown(&points, &graph, TreeKind::Kd, 4, 4).selector(&graph, SelectionRule::Lookup, 4, 4, 1, 1.0);
    let index = CandidateIndex::new(points.clone(), (0..1500).map(ItemId).collect(), selector.clone()).unwrap();
    for (query, candidates) in queries.rows().zip(selected(&selector, 1500, &queries)) {
        let mut expected: Vec<f64> = candidates.iter().map(|i| Metric::Euclidean.between(query, points.row(*i as usize))).collect();
        expected.sort_by(f64::total_cmp);
        let found = index.nearest(query, K, &everything).unwrap();
        assert_eq!(found.cost.points, candidates.len() as u64);
        for (found, expected) in found.list.iter().zip(&expected) {
            assert!((found.distance - expected).abs() < 1e-3 * expected, "{found:?}, not {expected}");
        }
    }
}

/// Theorem 3: with more training points the leaves of a chronological tree become smaller and
/// fuller, and the natural classifier's candidates become the neighbours and no other points.
#[test]
fn a_chronological_tree_becomes_right_with_more_training_points() {
    let mut rng = random::seeded(4);
    let mut drawn = |n: usize| set(Metric::Euclidean, 2, (0..n).map(|_| vec![rng.random::<f32>(), rng.random()]));
    let (corpus, queries) = (drawn(60), drawn(300));
    let truth = graph(&corpus, &queries, 5, false);
    let errors: Vec<f64> = [4, 6, 8, 10, 12]
        .into_iter()
        .map(|depth| {
            let training = drawn(8 << depth);
            let labels = graph(&corpus, &training, 5, false);
            let options = TreeOptions { kind: TreeKind::Chronological, trees: 1, depth, labels: 5, ..TreeOptions::default() };
            let trees = Trees::grow(&training, &labels, options, &Progress::default()).unwrap();
            let selected = selected(&trees.selector(&labels, SelectionRule::Natural, 1, depth, 5, 0.5), 60, &queries);
            let wrong = |(i, points): (usize, &BTreeSet<u32>)| {
                let true_ones: BTreeSet<u32> = truth.list(i).iter().copied().collect();
                points.symmetric_difference(&true_ones).count()
            };
            selected.iter().enumerate().map(wrong).sum::<usize>() as f64 / 300.0
        })
        .collect();
    assert!(errors.windows(2).all(|pair| pair[1] < 0.75 * pair[0]), "{errors:?}");
    assert!(errors[4] < 0.3, "{errors:?}");
}

#[test]
fn trees_and_answers_do_not_depend_on_threads() {
    let (points, queries) = (vectors(1200, 2), vectors(20, 3));
    for kind in TreeKind::ALL {
        let on = |threads: usize| {
            ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let graph = graph(&points, &points, K, true);
                let trees = grown(&points, &graph, kind, 6, 6);
                let selector = trees.selector(&graph, SelectionRule::Natural, 6, 6, K, 0.05);
                (graph, trees, selected(&selector, 1200, &queries), selector)
            })
        };
        assert_eq!(on(1), on(4), "{kind:?}");
    }
}

#[test]
fn few_equal_and_unfit_points() {
    let progress = Progress::default();
    for n in [0, 1, 2, 70] {
        let points = set(Metric::Euclidean, 3, (0..n).map(|_| vec![1.0, 2.0, 3.0]));
        let graph = graph(&points, &points, 4, true);
        for kind in TreeKind::ALL {
            let selector = grown(&points, &graph, kind, 2, 4).selector(&graph, SelectionRule::Natural, 2, 4, 4, 0.1);
            let index = CandidateIndex::new(points.clone(), (0..n as u32).map(ItemId).collect(), selector).unwrap();
            let (scored, _) = index.scored(&[1.0, 2.0, 2.0], 5, &everything).unwrap();
            assert_eq!(scored.len(), n.min(5), "{kind:?}");
            assert!(scored.iter().all(|scored| scored.distance == 1.0 && (0.0..=1.0).contains(&scored.probability)));
        }
    }
    let mut points = set(Metric::Euclidean, 2, [vec![0.0, 1.0]]);
    assert!(points.push(&[1.0]).is_err() && points.push(&[f32::NAN, 0.0]).is_err());
    assert_eq!(points.len(), 1);
    let graph = graph(&points, &points, 1, true);
    for options in [
        TreeOptions { trees: 0, ..TreeOptions::default() },
        TreeOptions { depth: 25, ..TreeOptions::default() },
        TreeOptions { density: f64::NAN, ..TreeOptions::default() },
    ] {
        assert!(Trees::grow(&points, &graph, options, &progress).is_err());
    }
    let selector = grown(&points, &graph, TreeKind::Kd, 1, 0).selector(&graph, SelectionRule::Lookup, 1, 0, 1, 1.0);
    assert!(CandidateIndex::new(points.clone(), Vec::new(), selector.clone()).is_err());
    assert!(CandidateIndex::new(PointSet::new(2, Metric::Euclidean), Vec::new(), selector).is_err(), "labels beyond the points");
    let cancelled = Progress::default();
    cancelled.cancel();
    assert!(KnnGraph::exact(&points, &points, 1, true, &cancelled).is_err());
}
