//! One conformance suite for all indexes of nearest neighbours. A new index is one more line in
//! [`cases`].

mod approximate;
mod candidates;
mod cells;
mod codes;
mod sparse_and_trees;

use std::borrow::Borrow;
use std::collections::BTreeMap;

use proptest::prelude::*;
use tessera_core::Result;
use tessera_core::ann::candidates::{CandidateIndex, KnnGraph, SelectionRule, TreeKind, TreeOptions, Trees};
use tessera_core::ann::cells::{CellCodes, CellIndex, CellOptions};
use tessera_core::ann::{BinaryIvf, Ivf, IvfOptions, PointSet};
use tessera_core::cmt::{Cmt, CmtIndex, CmtOptions};
use tessera_core::cover_tree::{CoverTree, CoverTreeOptions, DensePoints, DenseTree, OwnedPoints};
use tessera_core::descriptor::Descriptor;
use tessera_core::hamming::HammingScan;
use tessera_core::ids::{ItemId, Neighbor};
use tessera_core::nearest::{
    DenseScan, Distance, Dynamic, Filter, Growth, KdTree, Metric, NeighborIndex, Neighbors, Regrown, Scan, SparseScan, TopK, Within,
    everything, farthest_first,
};
use tessera_core::progress::Progress;
use tessera_core::sparse::SparseVec;

/// Values of a point. They are few small whole numbers, so that many distances are equal and all
/// are exact.
const DIMENSION: usize = 4;

type Values = [u8; DIMENSION];
type Points = BTreeMap<ItemId, Values>;

/// An index under test, whatever its kind of point.
trait Tested: Sync {
    fn len(&self) -> usize;
    fn nearest(&self, query: &Values, k: usize, admits: Filter<'_>) -> Result<Neighbors>;
    fn nearest_of_all(&self, queries: &[Values], k: usize, admits: Filter<'_>) -> Result<Vec<Neighbors>>;
    fn within(&self, query: &Values, radius: f64, admits: Filter<'_>) -> Option<Result<Neighbors>>;
    /// Insertion and removal; `None` where points cannot come and go.
    fn dynamic(&mut self) -> Option<&mut dyn Changing>;
    /// Answers to what is no point of the index.
    fn refused(&self) -> Vec<Result<Neighbors>>;
}

trait Changing {
    fn insert(&mut self, id: ItemId, point: &Values) -> Result<()>;
    fn remove(&mut self, id: ItemId) -> bool;
}

type WithinOf<I, P> = fn(&I, &P, f64, Filter<'_>) -> Result<Neighbors>;
type InsertInto<I, P> = fn(&mut I, ItemId, &P) -> Result<()>;

/// An index with the means to make its points.
struct Adapter<I, P> {
    index: I,
    point: fn(&Values) -> P,
    /// No points of it.
    wrong: Vec<P>,
    within: Option<WithinOf<I, P>>,
    insert: Option<InsertInto<I, P>>,
    remove: fn(&mut I, ItemId) -> bool,
}

impl<I: NeighborIndex, P: Borrow<I::Point>> Adapter<I, P> {
    fn new(index: I, point: fn(&Values) -> P) -> Self {
        Self { index, point, wrong: Vec::new(), within: None, insert: None, remove: |_, _| false }
    }

    fn refusing(mut self, wrong: Vec<P>) -> Self {
        self.wrong = wrong;
        self
    }

    fn exact(mut self) -> Self
    where
        I: Within,
    {
        self.within = Some(|index, query, radius, admits| index.within(query.borrow(), radius, admits));
        self
    }

    fn dynamic(mut self) -> Self
    where
        I: Dynamic,
    {
        self.insert = Some(|index, id, point| index.insert(id, point.borrow()));
        self.remove = |index, id| index.remove(id);
        self
    }
}

impl<I: NeighborIndex, P: Borrow<I::Point> + Sync> Tested for Adapter<I, P> {
    fn len(&self) -> usize {
        self.index.len()
    }

    fn nearest(&self, query: &Values, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.index.nearest((self.point)(query).borrow(), k, admits)
    }

    fn nearest_of_all(&self, queries: &[Values], k: usize, admits: Filter<'_>) -> Result<Vec<Neighbors>> {
        let queries: Vec<P> = queries.iter().map(self.point).collect();
        self.index.nearest_of_all(&queries.iter().map(P::borrow).collect::<Vec<_>>(), k, admits)
    }

    fn within(&self, query: &Values, radius: f64, admits: Filter<'_>) -> Option<Result<Neighbors>> {
        Some(self.within?(&self.index, &(self.point)(query), radius, admits))
    }

    fn dynamic(&mut self) -> Option<&mut dyn Changing> {
        if self.insert.is_some() { Some(self) } else { None }
    }

    fn refused(&self) -> Vec<Result<Neighbors>> {
        self.wrong.iter().map(|wrong| self.index.nearest(wrong.borrow(), 1, &everything)).collect()
    }
}

impl<I: NeighborIndex, P: Borrow<I::Point>> Changing for Adapter<I, P> {
    fn insert(&mut self, id: ItemId, point: &Values) -> Result<()> {
        match self.insert {
            Some(insert) => insert(&mut self.index, id, &(self.point)(point)),
            None => Ok(()),
        }
    }

    fn remove(&mut self, id: ItemId) -> bool {
        (self.remove)(&mut self.index, id)
    }
}

/// An index, how it is made of points, and the distance that it promises.
struct Case {
    name: &'static str,
    build: fn(&Points) -> Box<dyn Tested>,
    /// `None` for approximate indexes: of their answers only the form is tested.
    distance: Option<fn(&Values, &Values) -> f64>,
    /// Whether distances are exact, so that ties are.
    ties: bool,
}

fn dense(values: &Values) -> Vec<f32> {
    values.iter().map(|value| f32::from(*value)).collect()
}

fn sparse(values: &Values) -> SparseVec {
    SparseVec::from_pairs((0..).zip(dense(values))).unwrap()
}

fn bits(values: &Values) -> Descriptor {
    Descriptor(values.map(|value| (1 << value) - 1))
}

/// What is no dense point: a dimension too few or too many, a value that is no number or infinite.
fn no_points() -> Vec<Vec<f32>> {
    vec![vec![0.0; DIMENSION - 1], vec![0.0; DIMENSION + 1], vec![f32::NAN; DIMENSION], vec![f32::INFINITY, 0.0, 0.0, 0.0]]
}

fn filled<I: Dynamic, P: Borrow<I::Point>>(mut index: I, points: &Points, point: fn(&Values) -> P) -> I {
    points.iter().for_each(|(id, values)| index.insert(*id, point(values).borrow()).unwrap());
    index
}

fn dense_case(points: &Points, metric: Metric) -> Box<dyn Tested> {
    let index = filled(DenseScan::new(DIMENSION, metric), points, dense);
    Box::new(Adapter::new(index, dense).refusing(no_points()).exact().dynamic())
}

fn sparse_case(points: &Points, metric: Metric) -> Box<dyn Tested> {
    let huge = SparseVec::new(&[0, 7], &[1e30, -1e30]).unwrap();
    Box::new(Adapter::new(filled(SparseScan::new(metric), points, sparse), sparse).refusing(vec![huge]).exact().dynamic())
}

fn kd_tree(points: &BTreeMap<ItemId, Vec<f32>>) -> Result<KdTree> {
    KdTree::new(DIMENSION, points.iter().map(|(id, point)| (*id, point.as_slice())))
}

/// Small enough for the centres to be found anew several times.
fn few_lists(probes: usize) -> IvfOptions {
    IvfOptions { lists: 1.0, probes, first: 8, ..IvfOptions::default() }
}

fn inverted_file(points: &Points, probes: usize) -> Box<dyn Tested> {
    let index = filled(Ivf::new(DIMENSION, few_lists(probes)).unwrap(), points, dense);
    Box::new(Adapter::new(index, dense).refusing(no_points()).dynamic())
}

fn binary_inverted_file(points: &Points, probes: usize) -> Box<dyn Tested> {
    Box::new(Adapter::new(filled(BinaryIvf::new(few_lists(probes)).unwrap(), points, bits), bits).dynamic())
}

/// Candidates from a few trees of so many levels.
fn candidate_index(
    points: &Points,
    metric: Metric,
    kind: TreeKind,
    depth: usize,
    (selection, threshold): (SelectionRule, f32),
) -> Box<dyn Tested> {
    let mut corpus = PointSet::new(DIMENSION, metric);
    points.values().for_each(|values| corpus.push(&dense(values)).unwrap());
    let progress = Progress::default();
    let graph = KnnGraph::exact(&corpus, &corpus, 3, true, &progress).unwrap();
    let options = TreeOptions { kind, trees: 3, depth, labels: 3, ..TreeOptions::default() };
    let selector = Trees::grow(&corpus, &graph, options, &progress).unwrap().selector(&graph, selection, 3, depth, 3, threshold);
    let index = CandidateIndex::new(corpus, points.keys().copied().collect(), selector).unwrap();
    Box::new(Adapter::new(index, dense).refusing(no_points()))
}

/// Small enough for the cells to be found anew several times.
fn cell_index(points: &Points, metric: Metric, codes: CellCodes, is_exact: bool) -> Box<dyn Tested> {
    let (probes, shortlist) = if is_exact { (usize::MAX, usize::MAX) } else { (2, 4) };
    let options = CellOptions { cells: 1.0, codes, first: 8, probes, shortlist, ..CellOptions::default() };
    let empty = CellIndex::new(PointSet::new(DIMENSION, metric), Vec::new(), options, &Progress::default()).unwrap();
    Box::new(Adapter::new(filled(empty, points, dense), dense).refusing(no_points()).dynamic())
}

/// Half of the points at once, and half one by one.
fn cover_tree(points: &Points, options: CoverTreeOptions) -> Box<dyn Tested> {
    let (first, second): (Points, Points) = points.iter().partition(|(id, _)| id.0 % 2 == 0);
    let rows = DensePoints::new(DIMENSION, first.values().flat_map(dense).collect()).unwrap();
    let ids: Vec<ItemId> = first.keys().copied().collect();
    let tree = DenseTree::new(rows, &ids, Metric::Euclidean, options).unwrap();
    Box::new(Adapter::new(filled(tree, &second, dense), dense).refusing(no_points()).exact().dynamic())
}

fn euclidean(a: &Values, b: &Values) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}

fn product(a: &Values, b: &Values) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn minus_product(a: &Values, b: &Values) -> f64 {
    0.0 - product(a, b)
}

fn cosine(a: &Values, b: &Values) -> f64 {
    let lengths = (product(a, a) * product(b, b)).sqrt();
    if lengths > 0.0 { 1.0 - product(a, b) / lengths } else { 1.0 }
}

fn hamming(a: &Values, b: &Values) -> f64 {
    f64::from(bits(a).hamming(&bits(b)))
}

/// Hamming distance for the scan over anything.
struct Bits;

impl Distance<Descriptor> for Bits {
    fn between(&self, a: &Descriptor, b: &Descriptor) -> f64 {
        f64::from(a.hamming(b))
    }

    fn is_metric(&self) -> bool {
        true
    }

    fn check(&self, _: &Descriptor, _: Option<&Descriptor>) -> Result<()> {
        Ok(())
    }
}

fn cases() -> Vec<Case> {
    let exact = |name, build, distance: fn(&Values, &Values) -> f64| Case { name, build, distance: Some(distance), ties: true };
    let rounded = |name, build, distance: fn(&Values, &Values) -> f64| Case { name, build, distance: Some(distance), ties: false };
    vec![
        exact(
            "scan of anything, Euclidean",
            |points| Box::new(Adapter::new(filled(Scan::<[f32], _>::new(Metric::Euclidean), points, dense), dense).exact().dynamic()),
            euclidean,
        ),
        rounded(
            "scan of anything, cosine",
            |points| Box::new(Adapter::new(filled(Scan::<SparseVec, _>::new(Metric::Cosine), points, sparse), sparse).exact().dynamic()),
            cosine,
        ),
        exact(
            "scan of anything, bits",
            |points| Box::new(Adapter::new(filled(Scan::new(Bits), points, bits), bits).exact().dynamic()),
            hamming,
        ),
        exact("dense scan, Euclidean", |points| dense_case(points, Metric::Euclidean), euclidean),
        exact("dense scan, inner product", |points| dense_case(points, Metric::InnerProduct), minus_product),
        rounded("dense scan, cosine", |points| dense_case(points, Metric::Cosine), cosine),
        exact("sparse scan, Euclidean", |points| sparse_case(points, Metric::Euclidean), euclidean),
        exact("sparse scan, inner product", |points| sparse_case(points, Metric::InnerProduct), minus_product),
        rounded("sparse scan, cosine", |points| sparse_case(points, Metric::Cosine), cosine),
        exact(
            "Hamming scan",
            |points| Box::new(Adapter::new(filled(HammingScan::default(), points, bits), bits).exact().dynamic()),
            hamming,
        ),
        exact(
            "kd-tree",
            |points| {
                let points = points.iter().map(|(id, values)| (*id, dense(values))).collect();
                Box::new(Adapter::new(kd_tree(&points).unwrap(), dense).refusing(no_points()).exact())
            },
            euclidean,
        ),
        exact(
            "kd-tree grown anew",
            |points| {
                let index = Regrown::new(Growth { first: 8 }, Metric::Euclidean, kd_tree);
                Box::new(Adapter::new(filled(index, points, dense), dense).dynamic())
            },
            euclidean,
        ),
        exact("inverted file, all lists looked at", |points| inverted_file(points, usize::MAX), euclidean),
        Case { name: "inverted file", build: |points| inverted_file(points, 2), distance: None, ties: true },
        exact("inverted file over bits, all lists looked at", |points| binary_inverted_file(points, usize::MAX), hamming),
        Case { name: "inverted file over bits", build: |points| binary_inverted_file(points, 2), distance: None, ties: true },
        Case {
            name: "candidates by the natural classifier",
            build: |points| candidate_index(points, Metric::Euclidean, TreeKind::Forest, 3, (SelectionRule::Natural, 0.3)),
            distance: None,
            ties: true,
        },
        Case {
            name: "candidates by voting, cosine",
            build: |points| candidate_index(points, Metric::Cosine, TreeKind::RandomProjection, 3, (SelectionRule::Voting, 2.0)),
            distance: None,
            ties: true,
        },
        Case {
            name: "candidates by lookup, inner product",
            build: |points| candidate_index(points, Metric::InnerProduct, TreeKind::Kd, 3, (SelectionRule::Lookup, 1.0)),
            distance: None,
            ties: true,
        },
        exact(
            "candidates, all points in one leaf",
            |points| candidate_index(points, Metric::Euclidean, TreeKind::Principal, 0, (SelectionRule::Lookup, 1.0)),
            euclidean,
        ),
        exact("cells, all looked at", |points| cell_index(points, Metric::Euclidean, CellCodes::Regression(2), true), euclidean),
        rounded("cells, all looked at, cosine", |points| cell_index(points, Metric::Cosine, CellCodes::Axes(3), true), cosine),
        Case {
            name: "cells, inner product",
            build: |points| cell_index(points, Metric::InnerProduct, CellCodes::Regression(2), false),
            distance: None,
            ties: true,
        },
        exact("cover tree", |points| cover_tree(points, CoverTreeOptions::default()), euclidean),
        exact(
            "cover tree, nearest ancestors",
            |points| cover_tree(points, CoverTreeOptions { base: 2.0, nearest_ancestors: true }),
            euclidean,
        ),
        exact(
            "cover tree over bits",
            |points| {
                let empty = CoverTree::empty(OwnedPoints::<Descriptor>::new(Vec::new()), Bits, CoverTreeOptions::default()).unwrap();
                Box::new(Adapter::new(filled(empty, points, bits), bits).exact().dynamic())
            },
            hamming,
        ),
        Case {
            name: "memory tree",
            build: |points| {
                let index = CmtIndex { memory: Cmt::<()>::new(&CmtOptions::default()).unwrap(), leaves: 4 };
                Box::new(Adapter::new(filled(index, points, sparse), sparse).dynamic())
            },
            distance: None,
            ties: true,
        },
    ]
}

/// All admitted points by distance and identifier: the reference.
fn by_looking_at_each(points: &Points, query: &Values, distance: fn(&Values, &Values) -> f64, admits: Filter<'_>) -> Vec<Neighbor> {
    let admitted = points.iter().filter(|(id, _)| admits(**id));
    let mut all: Vec<Neighbor> = admitted.map(|(id, point)| Neighbor { id: *id, distance: distance(query, point) }).collect();
    all.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
    all
}

fn assert_form(case: &Case, points: &Points, found: &[Neighbor], k: usize, admits: Filter<'_>) {
    assert!(found.len() <= k, "{}: {} of {k}", case.name, found.len());
    assert!(found.iter().all(|neighbor| points.contains_key(&neighbor.id) && admits(neighbor.id)), "{}: {found:?}", case.name);
    assert!(found.iter().all(|neighbor| !neighbor.distance.is_nan()), "{}: {found:?}", case.name);
    assert!(found.windows(2).all(|pair| pair[0].distance <= pair[1].distance), "{}: not in order: {found:?}", case.name);
    let mut ids: Vec<ItemId> = found.iter().map(|neighbor| neighbor.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), found.len(), "{}: a point twice: {found:?}", case.name);
}

/// That what was found is what a look at each point finds.
fn assert_right(case: &Case, points: &Points, query: &Values, found: &[Neighbor], k: usize, admits: Filter<'_>) {
    assert_form(case, points, found, k, admits);
    let Some(distance) = case.distance else { return };
    let mut expected = by_looking_at_each(points, query, distance, admits);
    expected.truncate(k);
    assert_eq!(found.len(), expected.len(), "{}, k = {k}, {query:?}", case.name);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found.distance - expected.distance).abs() < 1e-6, "{}: {found:?}, not {expected:?}", case.name);
        assert!(!case.ties || found.id == expected.id, "{}: of equals the lower identifier: {found:?}, not {expected:?}", case.name);
        assert!((distance(query, &points[&found.id]) - found.distance).abs() < 1e-6, "{}: the distance of another point", case.name);
    }
}

fn odd(id: ItemId) -> bool {
    id.0 % 2 == 1
}

fn nobody(_: ItemId) -> bool {
    false
}

fn values() -> impl Strategy<Value = Values> {
    prop::array::uniform4(0u8..4)
}

fn points() -> impl Strategy<Value = Points> {
    prop::collection::btree_map((0u32..200).prop_map(ItemId), values(), 0..90)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn finds_what_a_look_at_each_point_finds(points in points(), query in values(), k in 0usize..100) {
        for case in cases() {
            let index = (case.build)(&points);
            prop_assert_eq!(index.len(), points.len());
            let filters: [Filter<'_>; 3] = [&everything, &odd, &nobody];
            for admits in filters {
                for k in [k, 1, points.len(), points.len() + 1] {
                    let found = index.nearest(&query, k, admits).unwrap();
                    assert_right(&case, &points, &query, &found.list, k, admits);
                    prop_assert_eq!(&found, &index.nearest(&query, k, admits).unwrap(), "{}: asked twice", case.name);
                }
                prop_assert!(index.nearest(&query, 0, admits).unwrap().list.is_empty());
            }
        }
    }

    #[test]
    fn finds_all_of_a_radius(points in points(), query in values(), radius in prop_oneof![0.0..6.0, Just(0.0), Just(2.0), Just(-1.0)]) {
        for case in cases() {
            let index = (case.build)(&points);
            let (Some(distance), Some(found)) = (case.distance, index.within(&query, radius, &odd)) else { continue };
            let found = found.unwrap();
            let all = by_looking_at_each(&points, &query, distance, &odd);
            let expected: Vec<Neighbor> = all.into_iter().filter(|neighbor| neighbor.distance <= radius).collect();
            if case.ties {
                assert_right(&case, &points, &query, &found.list, expected.len(), &odd);
                prop_assert_eq!(found.list.len(), expected.len(), "{}", case.name);
            } else {
                // A cosine may be rounded to the other side of the radius.
                assert_form(&case, &points, &found.list, points.len(), &odd);
                let clear = |by: f64| expected.iter().filter(|neighbor| neighbor.distance <= radius - by).count();
                prop_assert!(found.list.len() >= clear(1e-6), "{}", case.name);
                prop_assert!(found.list.iter().all(|neighbor| neighbor.distance <= radius));
            }
        }
    }

    #[test]
    fn points_come_and_go(first in points(), second in points(), gone in prop::collection::vec((0u32..200).prop_map(ItemId), 0..60), query in values()) {
        for case in cases() {
            let mut index = (case.build)(&first);
            let mut now = first.clone();
            let Some(changing) = index.dynamic() else { continue };
            for id in &gone {
                prop_assert_eq!(changing.remove(*id), now.remove(id).is_some(), "{}", case.name);
            }
            for (id, values) in &second {
                let is_new = !now.contains_key(id);
                prop_assert_eq!(changing.insert(*id, values).is_ok(), is_new, "{}: a taken identifier", case.name);
                now.entry(*id).or_insert(*values);
            }
            for id in gone.iter().take(5) {
                prop_assert_eq!(changing.remove(*id), now.remove(id).is_some(), "{}", case.name);
            }
            prop_assert_eq!(index.len(), now.len());
            let found = index.nearest(&query, 7, &everything).unwrap();
            assert_right(&case, &now, &query, &found.list, 7, &everything);
        }
    }

    #[test]
    fn many_queries_are_answered_as_one_by_one(points in points(), queries in prop::collection::vec(values(), 0..40), k in 0usize..9) {
        for case in cases() {
            let index = (case.build)(&points);
            let one_by_one: Vec<Neighbors> = queries.iter().map(|query| index.nearest(query, k, &odd).unwrap()).collect();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let at_once = pool.install(|| index.nearest_of_all(&queries, k, &odd).unwrap());
                prop_assert_eq!(&at_once, &one_by_one, "{} on {} threads", case.name, threads);
            }
        }
    }

    #[test]
    fn the_nearest_of_a_stream_do_not_depend_on_its_order(all in prop::collection::vec(0u8..6, 0..60), k in 0usize..70, cut in 0usize..60, seed in any::<u64>()) {
        use rand::seq::SliceRandom as _;
        let mut candidates: Vec<(ItemId, f64)> = (0..).map(ItemId).zip(all.iter().map(|value| f64::from(*value))).collect();
        let mut expected = candidates.clone();
        expected.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        expected.truncate(k);
        candidates.shuffle(&mut tessera_core::random::seeded(seed));
        let found = |candidates: &[(ItemId, f64)]| {
            let mut nearest = TopK::new(k);
            candidates.iter().for_each(|(id, distance)| nearest.offer(*id, *distance));
            nearest
        };
        let list = |nearest: TopK| nearest.finish().into_iter().map(|neighbor| (neighbor.id, neighbor.distance)).collect::<Vec<_>>();
        prop_assert_eq!(list(found(&candidates)), expected.clone());
        let (left, right) = candidates.split_at(cut.min(candidates.len()));
        let mut joined = found(left);
        joined.join(found(right));
        prop_assert_eq!(list(joined), expected);
    }
}

#[test]
fn what_is_no_point_is_refused() {
    let points: Points = (0..20).map(|i| (ItemId(i), [i as u8 % 4, 1, 2, 3])).collect();
    for case in cases() {
        let index = (case.build)(&points);
        for answer in index.refused() {
            assert_eq!(answer.unwrap_err().reason(), "value", "{}", case.name);
        }
    }
}

#[test]
fn equal_points_are_all_found_the_lower_identifiers_first() {
    let points: Points = (0..50).map(|i| (ItemId(99 - i), [1, 2, 3, 0])).collect();
    for case in cases() {
        let index = (case.build)(&points);
        let found = index.nearest(&[1, 2, 3, 0], 20, &everything).unwrap();
        let ids: Vec<u32> = found.list.iter().map(|neighbor| neighbor.id.0).collect();
        assert_eq!(ids, (50..70).collect::<Vec<u32>>(), "{}", case.name);
    }
}

#[test]
fn a_scan_of_many_rows_answers_the_same_on_any_number_of_threads() {
    let mut rng = tessera_core::random::seeded(3);
    let mut scan = DenseScan::new(512, Metric::Euclidean);
    let mut row = || -> Vec<f32> { (0..512).map(|_| tessera_core::random::normal(&mut rng) as f32).collect() };
    let query = row();
    (0..9000).for_each(|i| scan.insert(ItemId(i), &row()).unwrap());
    let ask = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| scan.nearest(&query, 30, &odd).unwrap())
    };
    let mut all: Vec<(f64, ItemId)> =
        (0..9000).map(ItemId).filter(|id| odd(*id)).map(|id| (Metric::Euclidean.between(&query[..], scan.get(id).unwrap()), id)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let expected: Vec<Neighbor> = all[..30].iter().map(|(distance, id)| Neighbor { id: *id, distance: *distance }).collect();
    assert_eq!(ask(1).list, expected);
    assert_eq!(ask(3), ask(1));
}

#[test]
fn trees_look_at_few_points_where_there_are_few_dimensions() {
    let mut rng = tessera_core::random::seeded(4);
    let mut row = || [tessera_core::random::normal(&mut rng) as f32, tessera_core::random::normal(&mut rng) as f32];
    let rows: Vec<f32> = (0..2000).flat_map(|_| row()).collect();
    let tree = KdTree::new(2, (0..).map(ItemId).zip(rows.chunks_exact(2))).unwrap();
    let cost: u64 = (0..50).map(|_| tree.nearest(&row(), 1, &everything).unwrap().cost.points).sum();
    assert!(cost < 50 * 2000 / 10, "{cost} points");
}

#[test]
fn what_is_grown_anew_is_so_at_twice_and_at_a_quarter() {
    let growth = Growth { first: 64 };
    assert!(!growth.is_due(63, 0) && growth.is_due(64, 0));
    assert!(!growth.is_due(127, 64) && growth.is_due(128, 64));
    assert!(!growth.is_due(250, 1000) && growth.is_due(249, 1000));
    assert!(!growth.is_due(0, 64), "a small one is kept");
}

#[test]
fn farthest_first_spreads() {
    let places: [f64; 6] = [0.0, 0.1, 5.0, 5.1, 10.0, 9.0];
    let apart = |a: usize, b: usize| (places[a] - places[b]).abs();
    assert_eq!(farthest_first(6, 3, apart, |_, distance| distance), [0, 4, 2]);
    assert_eq!(farthest_first(6, 9, apart, |_, distance| distance).len(), 6);
    assert!(farthest_first(0, 3, apart, |_, distance| distance).is_empty());
    let worth = |place: usize, distance: f64| if place == 1 { 100.0 } else { distance.min(50.0) };
    assert_eq!(farthest_first(6, 2, apart, worth), [1, 4]);
}

/// Trees over any metric cut branches off by the triangle inequality.
#[test]
fn what_is_called_a_metric_is_one() {
    let mut rng = tessera_core::random::seeded(9);
    let mut point = || -> Vec<f32> { (0..3).map(|_| tessera_core::random::normal(&mut rng) as f32).collect() };
    for metric in [Metric::Euclidean, Metric::Cosine, Metric::InnerProduct] {
        let mut breaks = 0;
        for _ in 0..2000 {
            let (a, b, c) = (point(), point(), point());
            let between = |x: &[f32], y: &[f32]| metric.between(x, y);
            assert_eq!(between(&a, &b), between(&b, &a), "{metric:?}");
            breaks += usize::from(between(&a, &c) > between(&a, &b) + between(&b, &c) + 1e-6);
        }
        assert_eq!(Distance::<[f32]>::is_metric(&metric), breaks == 0, "{metric:?}: {breaks} detours are shorter");
    }
}

#[test]
fn a_filter_may_ask_another_scan() {
    let scan = filled(SparseScan::new(Metric::Cosine), &(0..20).map(|i| (ItemId(i), [1, i as u8 % 4, 0, 2])).collect(), sparse);
    let query = sparse(&[1, 2, 0, 2]);
    let inner = scan.nearest(&query, 5, &everything).unwrap().list;
    let admits = |id: ItemId| scan.nearest(&query, 5, &everything).unwrap().list.iter().any(|neighbor| neighbor.id == id);
    assert_eq!(scan.nearest(&query, 9, &admits).unwrap().list, inner);
}

#[test]
fn features_of_any_number_are_compared() {
    let x = SparseVec::new(&[3, u32::MAX], &[1.0, 2.0]).unwrap();
    let mut scan = SparseScan::new(Metric::InnerProduct);
    scan.insert(ItemId(0), &x).unwrap();
    scan.insert(ItemId(1), &SparseVec::new(&[3], &[4.0]).unwrap()).unwrap();
    let found = scan.nearest(&x, 2, &everything).unwrap().list;
    assert_eq!(found, [Neighbor { id: ItemId(0), distance: -5.0 }, Neighbor { id: ItemId(1), distance: -4.0 }]);
}

/// Bounds that skip points are rounded as distances are; of equal points the lower identifier comes
/// first all the same.
#[test]
fn exact_indexes_agree_where_distances_are_rounded() {
    let mut rng = tessera_core::random::seeded(11);
    for dimension in [1, 2, 9, 40] {
        let mut row = || -> Vec<f32> { (0..dimension).map(|_| tessera_core::random::normal(&mut rng) as f32).collect() };
        let different: Vec<Vec<f32>> = (0..100).map(|_| row()).collect();
        // Three of each, the last inserted with the lowest identifier.
        let all: Vec<(ItemId, &[f32])> = (0..300).map(|i| (ItemId(299 - i as u32), different[i % 100].as_slice())).collect();
        let mut scan = Scan::<[f32], _>::new(Metric::Euclidean);
        let mut dense = DenseScan::new(dimension, Metric::Euclidean);
        for (id, point) in &all {
            scan.insert(*id, point).unwrap();
            dense.insert(*id, point).unwrap();
        }
        let tree = KdTree::new(dimension, all.iter().copied()).unwrap();
        let indexes: [(&str, &dyn NeighborIndex<Point = [f32]>); 2] = [("dense scan", &dense), ("kd-tree", &tree)];
        for query in (0..40).map(|_| row()).collect::<Vec<_>>() {
            for k in [1, 5, 20] {
                let expected = scan.nearest(&query, k, &everything).unwrap().list;
                for (name, index) in indexes {
                    assert_eq!(index.nearest(&query, k, &everything).unwrap().list, expected, "{name}, {dimension} dimensions, k = {k}");
                }
            }
        }
    }
}
