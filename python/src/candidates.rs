//! Approximate neighbours by candidate selection.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tessera_core::ann::candidates::{
    CandidateIndex, KnnGraph, SelectionGrid, SelectionRule, TreeKind, TreeOptions, TreeWay, Trees, reliability, sweep,
};
use tessera_core::ann::{PointSet, cheapest, frontier};
use tessera_core::bytes::{Reader, Writer};
use tessera_core::ids::ItemId;
use tessera_core::nearest::{Metric, NeighborIndex as _, everything};
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use crate::errors::refused;
use crate::neighbours::{Found, ask};
use crate::work::run;

/// Trees that are tried, as far as there are so many.
const NUMBERS: [usize; 16] = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300];

/// How trees were grown and candidates are selected; nothing where all points are candidates.
struct Grown {
    graph: KnnGraph,
    depth: usize,
    way: TreeWay,
    reliability: Vec<(f32, f32)>,
}

/// An index of the rows of an array.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Candidates {
    index: CandidateIndex,
    grown: Option<Grown>,
    seed: u64,
    /// Measured on queries that nothing was chosen by.
    recall: f64,
    /// The mean number of candidates of those.
    compared: f64,
}

fn metric_of(name: &str) -> PyResult<Metric> {
    match name {
        "euclidean" => Ok(Metric::Euclidean),
        "cosine" => Ok(Metric::Cosine),
        _ => Err(refused("metric", name, "euclidean or cosine")),
    }
}

const KINDS: [(&str, TreeKind); 6] = [
    ("rp", TreeKind::RandomProjection),
    ("kd", TreeKind::Kd),
    ("pca", TreeKind::Principal),
    ("chronological", TreeKind::Chronological),
    ("forest", TreeKind::Forest),
    ("oblique", TreeKind::Oblique),
];

const RULES: [(&str, SelectionRule); 4] = [
    ("natural", SelectionRule::Natural),
    ("voting", SelectionRule::Voting),
    ("lookup", SelectionRule::Lookup),
    ("labels", SelectionRule::AllLabels),
];

fn named<T: Copy>(list: &[(&str, T)], option: &'static str, name: &str, expected: &'static str) -> PyResult<T> {
    list.iter().find(|(own, _)| *own == name).map(|(_, value)| *value).ok_or_else(|| refused(option, name, expected))
}

fn point_set(d: usize, rows: &[f32], metric: Metric) -> Result<PointSet> {
    let mut points = PointSet::new(d, metric);
    rows.chunks_exact(d.max(1)).try_for_each(|row| points.push(row))?;
    Ok(points)
}

fn ids(points: &PointSet) -> Vec<ItemId> {
    (0..points.len() as u32).map(ItemId).collect()
}

/// An index that compares a query with all points.
fn exact(points: PointSet) -> Result<CandidateIndex> {
    let (ids, own) = (ids(&points), KnnGraph::exact(&points, &points, 1, true, &Progress::default())?);
    let trees = Trees::grow(&points, &own, TreeOptions { trees: 1, depth: 0, labels: 1, ..TreeOptions::default() }, &Progress::default())?;
    let selector = trees.selector(&own, SelectionRule::Lookup, 1, 0, 1, 1.0);
    CandidateIndex::new(points, ids, selector)
}

impl Grown {
    fn trees(&self, points: &PointSet, trees: usize, seed: u64, progress: &Progress) -> Result<Trees> {
        grow(points, &self.graph, self.way.kind, trees, self.depth, seed, progress)
    }

    fn index(&self, points: PointSet, trees: &Trees) -> Result<CandidateIndex> {
        let ids = ids(&points);
        let mut index = CandidateIndex::new(points, ids, self.way.selector(trees, &self.graph))?;
        index.set_reliability(self.reliability.clone());
        Ok(index)
    }
}

fn grow(points: &PointSet, graph: &KnnGraph, kind: TreeKind, trees: usize, depth: usize, seed: u64, progress: &Progress) -> Result<Trees> {
    let labels = 10.min(graph.k().max(1));
    Trees::grow(points, graph, TreeOptions { kind, trees, depth, labels, seed, ..TreeOptions::default() }, progress)
}

#[pymethods]
impl Candidates {
    /// An index of `points`, whose way of selection is chosen on the queries `tuned` and measured
    /// on `checked`. Queries that are points themselves are not in `rest`, which then stands for
    /// the points while the way is chosen. Without queries all points are candidates.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the options of the estimator")]
    fn new(
        py: Python<'_>,
        points: PyReadonlyArray2<'_, f32>,
        rest: Option<PyReadonlyArray2<'_, f32>>,
        tuned: PyReadonlyArray2<'_, f32>,
        checked: PyReadonlyArray2<'_, f32>,
        k: usize,
        recall: f64,
        metric: &str,
        kind: &str,
        rule: &str,
        trees: usize,
        seed: u64,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let metric = metric_of(metric)?;
        let kind = named(&KINDS, "trees", kind, "rp, kd, pca, chronological, forest or oblique")?;
        let rule = named(&RULES, "selection", rule, "natural, labels, voting or lookup")?;
        let d = points.shape()[1];
        let (points, tuned, checked) = (points.as_slice()?, tuned.as_slice()?, checked.as_slice()?);
        let rest = rest.as_ref().map(|rest| rest.as_slice()).transpose()?;
        run(py, told, |progress| {
            let points = point_set(d, points, metric)?;
            if tuned.is_empty() || checked.is_empty() {
                let compared = points.len() as f64;
                return Ok(Self { index: exact(points)?, grown: None, seed, recall: 1.0, compared });
            }
            let rest = rest.map(|rest| point_set(d, rest, metric)).transpose()?;
            let [tuned, checked] = [point_set(d, tuned, metric)?, point_set(d, checked, metric)?];
            let corpus = rest.as_ref().unwrap_or(&points);
            let deepest = (corpus.len().max(4).ilog2() as usize).saturating_sub(2).clamp(1, 16);
            let labels = [10.max(k), 50.max(k)].map(|labels| labels.min(corpus.len()));
            let graph = KnnGraph::exact(corpus, corpus, labels[1], true, progress)?;
            let grown = grow(corpus, &graph, kind, trees, deepest, seed, progress)?;
            let least = deepest.saturating_sub(if rule.is_of_labels() { 2 } else { 7 });
            let grid = SelectionGrid {
                selections: vec![rule],
                depths: (least.max(1)..=deepest).collect(),
                trees: NUMBERS.into_iter().filter(|n| *n < trees).chain([trees]).collect(),
                labels: labels.to_vec(),
            };
            let [truth, checks] = [&tuned, &checked].map(|queries| KnnGraph::exact(corpus, queries, k, false, progress));
            let (truth, checks) = (truth?, checks?);
            let ways = frontier(sweep(&grown, &graph, corpus.len(), &tuned, &truth, &grid, progress)?);
            let way = cheapest(&ways, recall)?.way;
            let reliability = reliability(&way.selector(&grown, &graph), corpus.len(), &tuned, &truth);
            let mut own = Grown { graph, depth: deepest, way, reliability };
            let index = own.index(corpus.clone(), &grown)?;
            let (mut found, mut compared) = (0, 0);
            for i in 0..checked.len() {
                let near = index.nearest(checked.row(i), k, &everything)?;
                compared += near.cost.points;
                found += near.list.iter().filter(|near| checks.list(i).contains(&near.id.0)).count();
            }
            let n = checked.len() as f64;
            let (recall, compared) = (found as f64 / (n * checks.k() as f64), compared as f64 / n);
            let index = match rest {
                None => index,
                Some(_) => {
                    own.graph = KnnGraph::exact(&points, &points, labels[1], true, progress)?;
                    let trees = own.trees(&points, own.way.trees, seed, progress)?;
                    own.index(points, &trees)?
                }
            };
            Ok(Self { index, grown: Some(own), seed, recall, compared })
        })
    }

    /// The recall that was measured.
    fn recall(&self) -> f64 {
        self.recall
    }

    /// The mean number of points that a query was compared with where the recall was measured.
    fn compared(&self) -> f64 {
        self.compared
    }

    /// Trees, their depth, labels of a point and the score from which on it is a candidate; nothing
    /// where all are.
    fn way(&self) -> Option<(usize, usize, usize, f32)> {
        self.grown.as_ref().map(|grown| (grown.way.trees, grown.way.depth, grown.way.labels, grown.way.threshold))
    }

    /// The `k` nearest rows that are candidates for each query, nearest first.
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, f32>,
        k: usize,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Found<'py>> {
        ask(py, queries, told, |query| self.index.nearest(query, k, &everything))
    }

    /// All but the points, as bytes: trees are grown again from the graph of neighbours.
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut out = Writer::default();
        out.put(&self.seed);
        out.put(&self.recall);
        out.put(&self.compared);
        out.put(&self.grown.is_some());
        if let Some(grown) = &self.grown {
            let way = &grown.way;
            let kind = KINDS.iter().position(|(_, kind)| *kind == way.kind).unwrap_or(0);
            let rule = RULES.iter().position(|(_, rule)| *rule == way.selection).unwrap_or(0);
            [kind, rule, way.trees, way.depth, way.labels, grown.depth].into_iter().for_each(|n| out.put(&(n as u64)));
            out.put(&way.threshold);
            out.count(grown.reliability.len());
            grown.reliability.iter().for_each(|(score, share)| (out.put(score), out.put(share)).1);
            out.count(grown.graph.len());
            out.count(grown.graph.k());
            (0..grown.graph.len()).flat_map(|i| grown.graph.list(i)).for_each(|point| out.put(point));
        }
        PyBytes::new(py, &out.finish())
    }

    /// The index of the same points that [`Candidates::state`] wrote.
    #[staticmethod]
    fn restored(py: Python<'_>, points: PyReadonlyArray2<'_, f32>, metric: &str, bytes: &[u8]) -> PyResult<Self> {
        let metric = metric_of(metric)?;
        let d = points.shape()[1];
        let points = points.as_slice()?;
        run(py, None, |progress| {
            let points = point_set(d, points, metric)?;
            let mut from = Reader::new("state of candidates", bytes);
            let (seed, recall, compared) = (from.get()?, from.get()?, from.get()?);
            let grown = if from.get()? { Some(Grown::read(&mut from, points.len())?) } else { None };
            from.end()?;
            let index = match &grown {
                None => exact(points)?,
                Some(grown) => {
                    let trees = grown.trees(&points, grown.way.trees, seed, progress)?;
                    grown.index(points, &trees)?
                }
            };
            Ok(Self { index, grown, seed, recall, compared })
        })
    }
}

impl Grown {
    fn read(from: &mut Reader<'_>, n: usize) -> Result<Self> {
        let mut numbers = [0usize; 6];
        for number in &mut numbers {
            *number = usize::try_from(from.get::<u64>()?).unwrap_or(usize::MAX);
        }
        let [kind, rule, trees, depth, labels, deepest] = numbers;
        let threshold = from.get()?;
        let mut reliability = Vec::new();
        for _ in 0..from.count()? {
            reliability.push((from.get()?, from.get()?));
        }
        let (lists, k) = (from.count()?, from.count()?);
        let (Some((_, kind)), Some((_, rule))) = (KINDS.get(kind), RULES.get(rule)) else {
            return Err(from.wrong("kinds of trees and selection", format!("{kind} and {rule}")));
        };
        if lists != n || trees > 10_000 || depth > deepest || deepest > 24 || labels > k {
            return Err(from.wrong(format!("neighbours of {n} points and trees among them"), format!("those of {lists}")));
        }
        let mut all: Vec<Vec<u32>> = Vec::new();
        for _ in 0..lists {
            let list = (0..k).map(|_| from.get()).collect::<Result<Vec<u32>>>()?;
            if let Some(wrong) = list.iter().find(|point| **point as usize >= n) {
                return Err(Error::value("neighbour", format!("a point below {n}"), wrong.to_string()));
            }
            all.push(list);
        }
        let way = TreeWay { kind: *kind, selection: *rule, trees, depth, labels, threshold };
        Ok(Self { graph: KnnGraph::of(&all)?, depth: deepest, way, reliability })
    }
}
