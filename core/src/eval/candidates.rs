//! How fast and how rightly indexes find nearest neighbours: one is built, tuned on validation
//! queries, and asked test queries one at a time.

use std::hint::black_box;
use std::time::Instant;

use crate::ann::candidates::{
    CandidateIndex, KnnGraph, SelectionGrid, SelectionRule, TreeKind, TreeOptions, TreeWay, Trees, reliability, sweep,
};
use crate::ann::cells::{CellCodes, CellIndex, CellOptions, CellWay, approximate_graph};
use crate::ann::{Measured, PointSet, cheapest, frontier, within};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::{NeighborIndex, everything};
use crate::progress::Progress;

/// Labels of a training point that are tried.
const LABELS: [usize; 2] = [10, 50];

/// Times that all queries are asked, of which the fastest counts.
const PASSES: usize = 3;

/// Bins of the reliability of probabilities.
const BINS: usize = 10;

/// What a way to search is chosen for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchAim {
    /// This share of the true neighbours, at the least cost.
    Recall(f64),
    /// The most of them within so many operations for a query.
    Operations(f64),
    /// Within so many seconds for a query, which are turned into operations once: by the time of
    /// the cheapest way that finds nine of ten.
    Seconds(f64),
}

/// The recall of the way by whose time seconds are turned into operations.
const TIMED: f64 = 0.9;

/// What is measured.
#[derive(Clone, Debug)]
pub struct CandidateRun {
    /// Kinds of trees that are tried.
    pub kinds: Vec<TreeKind>,
    /// Ways of selection from trees that are tried.
    pub selections: Vec<SelectionRule>,
    /// Codes in cells that are tried.
    pub codes: Vec<CellCodes>,
    /// The number of neighbours asked for.
    pub k: usize,
    /// What a way is chosen for.
    pub aim: SearchAim,
    /// Recalls at which each kind of partition with each way of selection is timed by itself.
    pub each: Vec<f64>,
    /// Trees that are grown of each kind.
    pub trees: usize,
    /// The share of the true neighbours of training points that are their labels; below 1 they are
    /// found by [`approximate_graph`].
    pub graph_recall: f64,
    /// The seed.
    pub seed: u64,
}

/// A way to find neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NeighborWay {
    /// Candidates from trees.
    Trees(TreeWay),
    /// Candidates from so many cells with such codes.
    Cells {
        /// What estimates inner products.
        codes: CellCodes,
        /// The number of cells.
        cells: usize,
        /// How they are searched.
        way: CellWay,
    },
}

/// Of one kind of partition and one way of selection the cheapest that reaches a recall, or else
/// the one of most recall.
#[derive(Clone, Copy, Debug)]
pub struct EachWay {
    /// The recall that was asked for.
    pub wanted: f64,
    /// What was measured on validation queries.
    pub way: Measured<NeighborWay>,
    /// The share of true neighbours found for test queries.
    pub recall: f64,
    /// Seconds for a test query.
    pub seconds: f64,
    /// The mean number of points that a test query was compared with.
    pub candidates: f64,
    /// Memory of the index in bytes.
    pub bytes: usize,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct CandidateScores {
    /// The way that was chosen on validation queries.
    pub way: Measured<NeighborWay>,
    /// Of all ways tried those that none beats in recall and cost.
    pub curve: Vec<Measured<NeighborWay>>,
    /// The operations for a query within which it was chosen, where that was asked for.
    pub operations: Option<f64>,
    /// Of each kind of partition with each way of selection, the cheapest for each recall in turn.
    pub each: Vec<EachWay>,
    /// The share of true neighbours found for test queries.
    pub recall: f64,
    /// Seconds for a test query.
    pub seconds: f64,
    /// Seconds for a test query where all are asked together, on all threads.
    pub batch_seconds: f64,
    /// Seconds from the points to the tuned index.
    pub build_seconds: f64,
    /// Seconds of these for the labels of training points, and the share that they hold of their
    /// true neighbours; `None` where nothing was trained on labels.
    pub graph: Option<(f64, f64)>,
    /// Memory of the index in bytes.
    pub bytes: usize,
    /// The mean number of points that a test query was compared with.
    pub candidates: f64,
    /// The mean difference between the probabilities of answers and the share of these that are
    /// true neighbours, in ten bins: of all candidates from trees, of neighbours found in cells.
    pub probability_error: f64,
}

/// An index that was built.
enum Built {
    Trees(Box<CandidateIndex>),
    Cells(Box<CellIndex>),
}

impl Built {
    /// Points with the probability that they are true neighbours of a query: all candidates from
    /// trees, or the neighbours that are found in cells.
    fn told(&self, query: &[f32], k: usize) -> Result<Vec<(ItemId, f32)>> {
        match self {
            Self::Trees(index) => index.candidates(query),
            Self::Cells(index) => {
                let found = index.nearest(query, k, &everything)?.list;
                Ok(found.iter().zip(0..).map(|(found, place)| (found.id, index.probability(place))).collect())
            }
        }
    }

    fn index(&self) -> &dyn NeighborIndex<Point = [f32]> {
        match self {
            Self::Trees(index) => &**index,
            Self::Cells(index) => &**index,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Trees(index) => index.bytes(),
            Self::Cells(index) => index.bytes(),
        }
    }
}

/// What an experiment is made on.
struct Ground<'a> {
    corpus: &'a PointSet,
    training: Option<&'a PointSet>,
    validation: &'a PointSet,
    /// The true neighbours of the validation queries.
    checked: KnnGraph,
}

/// Trees of each kind that is tried, with the graph that they were grown by.
struct Grove {
    graph: KnnGraph,
    /// The seconds that it took, and the share of the true neighbours that it holds.
    found: (f64, f64),
    trees: Vec<Trees>,
}

impl Grove {
    fn grow(ground: &Ground<'_>, options: &CandidateRun, progress: &Progress) -> Result<Self> {
        let points = ground.training.unwrap_or(ground.corpus);
        let (is_own, start) = (ground.training.is_none(), Instant::now());
        let (graph, recall) = if options.graph_recall < 1.0 {
            approximate_graph(ground.corpus, points, (LABELS[1], is_own), (options.graph_recall, options.seed), progress)?
        } else {
            (KnnGraph::exact(ground.corpus, points, LABELS[1], is_own, progress)?, 1.0)
        };
        let found = (start.elapsed().as_secs_f64(), recall);
        let grow = |kind: &TreeKind| {
            let (depth, seed) = (deepest(points), options.seed);
            let grow = TreeOptions { kind: *kind, trees: options.trees, depth, labels: LABELS[0], seed, ..TreeOptions::default() };
            Trees::grow(points, &graph, grow, progress)
        };
        let trees = options.kinds.iter().map(grow).collect::<Result<_>>()?;
        Ok(Self { graph, found, trees })
    }

    fn sweep(&self, ground: &Ground<'_>, options: &CandidateRun, progress: &Progress) -> Result<Vec<Measured<NeighborWay>>> {
        let deepest = deepest(ground.training.unwrap_or(ground.corpus));
        let numbers = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300];
        let mut all = Vec::new();
        for (trees, selection) in self.trees.iter().flat_map(|trees| options.selections.iter().map(move |selection| (trees, *selection))) {
            let depths = match selection {
                SelectionRule::Natural | SelectionRule::AllLabels => deepest.saturating_sub(2).max(1)..=deepest,
                SelectionRule::Voting | SelectionRule::Lookup => deepest.saturating_sub(7).max(1)..=deepest.saturating_sub(1).max(1),
            };
            let trees_tried = numbers.into_iter().filter(|n| *n < options.trees).chain([options.trees]).collect();
            let grid = SelectionGrid { selections: vec![selection], depths: depths.collect(), trees: trees_tried, labels: LABELS.to_vec() };
            let ways = sweep(trees, &self.graph, ground.corpus.len(), ground.validation, &ground.checked, &grid, progress)?;
            all.extend(ways.into_iter().map(|measured| measured.map(NeighborWay::Trees)));
        }
        Ok(all)
    }
}

fn deepest(points: &PointSet) -> usize {
    (points.len().max(4).ilog2() as usize).saturating_sub(2).clamp(1, 16)
}

/// What can be searched in many ways, and what was measured of these on validation queries.
struct Ways {
    cells: Vec<CellIndex>,
    grove: Option<Grove>,
    all: Vec<Measured<NeighborWay>>,
}

fn ids(corpus: &PointSet) -> Vec<ItemId> {
    (0..corpus.len() as u32).map(ItemId).collect()
}

impl Ways {
    fn measure(ground: &Ground<'_>, options: &CandidateRun, progress: &Progress) -> Result<Self> {
        let of_cells = |codes: &CellCodes| {
            let cells = CellOptions { codes: *codes, seed: options.seed, ..CellOptions::default() };
            CellIndex::new(ground.corpus.clone(), ids(ground.corpus), cells, progress)
        };
        let cells: Vec<CellIndex> = options.codes.iter().map(of_cells).collect::<Result<_>>()?;
        let mut all = Vec::new();
        for index in &cells {
            let of_index = |way| NeighborWay::Cells { codes: index.options().codes, cells: index.cells(), way };
            let ways = index.sweep(ground.validation, &ground.checked, progress)?;
            all.extend(ways.into_iter().map(|measured| measured.map(of_index)));
        }
        let grove = if options.kinds.is_empty() { None } else { Some(Grove::grow(ground, options, progress)?) };
        if let Some(grove) = &grove {
            all.extend(grove.sweep(ground, options, progress)?);
        }
        Ok(Self { cells, grove, all })
    }

    /// The index that is searched in a way, which is put into `built` where trees select.
    fn built(&mut self, ground: &Ground<'_>, way: NeighborWay, before: Option<Built>) -> Result<Built> {
        match (way, &self.grove) {
            (NeighborWay::Trees(way), Some(Grove { graph, trees, .. })) => {
                let grown = trees.iter().find(|trees| trees.options().kind == way.kind).unwrap_or(&trees[0]);
                let selector = way.selector(grown, graph);
                let mut index = match before {
                    Some(Built::Trees(mut index)) => {
                        index.set_selector(selector)?;
                        index
                    }
                    _ => Box::new(CandidateIndex::new(ground.corpus.clone(), ids(ground.corpus), selector)?),
                };
                index.set_reliability(reliability(index.selector(), ground.corpus.len(), ground.validation, &ground.checked));
                Ok(Built::Trees(index))
            }
            (way, _) => {
                if let Some(Built::Cells(index)) = before {
                    self.cells.push(*index);
                }
                let is_chosen = |index: &CellIndex| matches!(way, NeighborWay::Cells { codes, .. } if codes == index.options().codes);
                let at = self.cells.iter().position(is_chosen).unwrap_or(0);
                let mut index = self.cells.swap_remove(at);
                if let NeighborWay::Cells { way, .. } = way {
                    index.set_way(way.probes, way.shortlist);
                }
                index.measure_reliability(ground.validation, &ground.checked)?;
                Ok(Built::Cells(Box::new(index)))
            }
        }
    }

    /// Of each kind of partition with each way of selection those that none other beats.
    fn by_partition(&self) -> Vec<PartitionCurve> {
        let mut curves: Vec<PartitionCurve> = Vec::new();
        for measured in &self.all {
            let partition = PartitionKind::of(measured.way);
            match curves.iter_mut().find(|curve| curve.partition == partition) {
                Some(curve) => curve.ways.push(*measured),
                None => curves.push(PartitionCurve { partition, ways: vec![*measured] }),
            }
        }
        curves.into_iter().map(|curve| PartitionCurve { ways: frontier(curve.ways), ..curve }).collect()
    }
}

/// A kind of partition with a way of selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionKind {
    /// Trees.
    Trees(TreeKind, SelectionRule),
    /// Cells of k-means with codes.
    Cells(CellCodes),
}

/// What was measured of one kind of partition on validation queries.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionCurve {
    /// The kind of partition, with its way of selection.
    pub partition: PartitionKind,
    /// The ways that none other of the kind beats in recall and cost, the cheapest first.
    pub ways: Vec<Measured<NeighborWay>>,
}

impl PartitionKind {
    fn of(way: NeighborWay) -> Self {
        match way {
            NeighborWay::Trees(way) => Self::Trees(way.kind, way.selection),
            NeighborWay::Cells { codes, .. } => Self::Cells(codes),
        }
    }
}

/// Test queries with their true neighbours.
struct Test<'a> {
    queries: &'a PointSet,
    truth: KnnGraph,
    k: usize,
}

impl Test<'_> {
    /// The recall of an index, the mean number of points that a query is compared with, and the
    /// seconds of one.
    fn of(&self, index: &dyn NeighborIndex<Point = [f32]>) -> Result<(f64, f64, f64)> {
        let (mut found, mut compared) = (0, 0);
        for (i, query) in self.queries.rows().enumerate() {
            let answer = index.nearest(query, self.k, &everything)?;
            found += answer.list.iter().filter(|found| self.truth.list(i).contains(&found.id.0)).count();
            compared += answer.cost.values / self.queries.dimension().max(1) as u64;
        }
        let n = self.queries.len() as f64;
        let one_by_one = || self.queries.rows().try_for_each(|query| index.nearest(query, self.k, &everything).map(black_box).map(drop));
        let seconds = fastest(one_by_one)?;
        Ok((found as f64 / (n * self.truth.k().max(1) as f64), compared as f64 / n, seconds / n))
    }
}

/// Times each kind of partition with each way of selection by itself.
fn each(ways: &mut Ways, ground: &Ground<'_>, test: &Test<'_>, wanted: &[f64], progress: &Progress) -> Result<Vec<EachWay>> {
    let curves = if wanted.is_empty() { Vec::new() } else { ways.by_partition() };
    progress.begin("Timing each way by itself", (curves.len() * wanted.len()) as u64);
    let (mut all, mut built) = (Vec::new(), None);
    for (curve, wanted) in curves.iter().flat_map(|curve| wanted.iter().map(move |wanted| (curve, *wanted))) {
        progress.step()?;
        let way = cheapest(&curve.ways, wanted)?;
        let index = ways.built(ground, way.way, built.take())?;
        let (recall, candidates, seconds) = test.of(index.index())?;
        all.push(EachWay { wanted, way, recall, seconds, candidates, bytes: index.bytes() });
        built = Some(index);
    }
    if let Some(Built::Cells(index)) = built {
        ways.cells.push(*index);
    }
    Ok(all)
}

/// The seconds of the fastest of some passes.
fn fastest(mut pass: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut seconds = f64::INFINITY;
    for _ in 0..PASSES {
        let start = Instant::now();
        pass()?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

/// Measures each kind of partition with each way of selection on validation queries, without timing
/// any: of `options` neither the aim nor `each` counts. Equal on any number of threads.
///
/// # Errors
/// As [`run`].
pub fn partitions(corpus: &PointSet, validation: &PointSet, options: &CandidateRun, progress: &Progress) -> Result<Vec<PartitionCurve>> {
    check(corpus, &[("corpus", corpus), ("validation queries", validation)])?;
    let checked = KnnGraph::exact(corpus, validation, options.k, false, progress)?;
    let ground = Ground { corpus, training: None, validation, checked };
    Ok(Ways::measure(&ground, options, progress)?.by_partition())
}

/// Refuses sets of points without any, or of other dimensions than the corpus.
fn check(corpus: &PointSet, sets: &[(&'static str, &PointSet)]) -> Result<()> {
    match sets.iter().find(|(_, set)| set.dimension() != corpus.dimension() || set.is_empty()) {
        Some((name, set)) => {
            let expected = format!("one or more of {} values", corpus.dimension());
            Err(Error::value(name, expected, format!("{} of {}", set.len(), set.dimension())))
        }
        None => Ok(()),
    }
}

/// Builds, tunes and asks. Labels for trees are the neighbours of `training` queries in the corpus,
/// or of the corpus's own points where there are none; then lookup and voting are possible too.
///
/// # Errors
/// [`Error::Value`] when there are no queries or points or they have different dimensions;
/// [`Error::Cancelled`].
pub fn run(
    corpus: &PointSet,
    training: Option<&PointSet>,
    validation: &PointSet,
    queries: &PointSet,
    options: &CandidateRun,
    progress: &Progress,
) -> Result<CandidateScores> {
    let training_queries = training.unwrap_or(corpus);
    check(corpus, &[("corpus", corpus), ("queries", queries), ("validation queries", validation), ("training queries", training_queries)])?;
    let start = Instant::now();
    let checked = KnnGraph::exact(corpus, validation, options.k, false, progress)?;
    let ground = Ground { corpus, training, validation, checked };
    let mut ways = Ways::measure(&ground, options, progress)?;
    let measured_seconds = start.elapsed().as_secs_f64();

    let truth = KnnGraph::exact(corpus, queries, options.k, false, progress)?;
    let test = Test { queries, truth, k: options.k };
    let each = each(&mut ways, &ground, &test, &options.each, progress)?;
    let start = Instant::now();
    let curve = frontier(ways.all.clone());
    let (way, operations, before) = match options.aim {
        SearchAim::Recall(recall) => (cheapest(&curve, recall)?, None, None),
        SearchAim::Operations(operations) => (within(&curve, operations)?, Some(operations), None),
        SearchAim::Seconds(wanted) => {
            let timed = cheapest(&curve, TIMED)?;
            let index = ways.built(&ground, timed.way, None)?;
            let on = Test { queries: validation, truth: ground.checked.clone(), k: options.k };
            let operations = wanted * timed.operations / on.of(index.index())?.2.max(f64::MIN_POSITIVE);
            (within(&curve, operations)?, Some(operations), Some(index))
        }
    };
    let index = ways.built(&ground, way.way, before)?;
    let build_seconds = measured_seconds + start.elapsed().as_secs_f64();

    let mut said = 0u32;
    let mut bins = [(0.0, 0usize); BINS];
    for (i, query) in queries.rows().enumerate() {
        for (id, probability) in index.told(query, options.k)? {
            let bin = &mut bins[((probability * BINS as f32) as usize).min(BINS - 1)];
            *bin = (bin.0 + f64::from(probability), bin.1 + usize::from(test.truth.list(i).contains(&id.0)));
            said += 1;
        }
    }
    let (recall, candidates, seconds) = test.of(index.index())?;
    let together: Vec<&[f32]> = queries.rows().collect();
    let batch_seconds = fastest(|| black_box(index.index().nearest_of_all(&together, options.k, &everything)).map(drop))?;
    let error = bins.iter().map(|(sum, right)| (sum - *right as f64).abs()).sum::<f64>() / f64::from(said.max(1));
    Ok(CandidateScores {
        way,
        curve,
        operations,
        each,
        recall,
        seconds,
        batch_seconds: batch_seconds / queries.len() as f64,
        build_seconds,
        graph: ways.grove.map(|grove| grove.found),
        bytes: index.bytes(),
        candidates,
        probability_error: error,
    })
}
