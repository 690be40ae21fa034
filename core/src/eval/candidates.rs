//! How fast and how rightly indexes find nearest neighbours: one is built, tuned on validation
//! queries, and asked test queries one at a time.

use std::hint::black_box;
use std::time::Instant;

use crate::ann::candidates::{
    CandidateIndex, KnnGraph, SelectionGrid, SelectionRule, TreeKind, TreeOptions, TreeWay, Trees, reliability, sweep,
};
use crate::ann::cells::{CellCodes, CellIndex, CellOptions, CellWay};
use crate::ann::{Measured, PointSet, cheapest, frontier};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::{Cost, NeighborIndex, everything};
use crate::progress::Progress;

/// Labels of a training point that are tried.
const LABELS: [usize; 2] = [10, 50];

/// Times that all queries are asked, of which the fastest counts.
const PASSES: usize = 3;

/// Bins of the reliability of probabilities.
const BINS: usize = 10;

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
    /// The recall that is asked for.
    pub recall: f64,
    /// Trees that are grown of each kind.
    pub trees: usize,
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

/// What was measured.
#[derive(Clone, Debug)]
pub struct CandidateScores {
    /// The way that was chosen on validation queries.
    pub way: Measured<NeighborWay>,
    /// Of all ways tried those that none beats in recall and cost.
    pub curve: Vec<Measured<NeighborWay>>,
    /// The share of true neighbours found for test queries.
    pub recall: f64,
    /// Seconds for a test query.
    pub seconds: f64,
    /// Seconds for a test query where all are asked together, on all threads.
    pub batch_seconds: f64,
    /// Seconds from the points to the tuned index.
    pub build_seconds: f64,
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

/// What an index says of a query: points with the probability that they are true neighbours, those
/// that it found, and the work.
type Answer = (Vec<(ItemId, f32)>, Vec<ItemId>, Cost);

impl Built {
    fn answer(&self, query: &[f32], k: usize) -> Result<Answer> {
        match self {
            Self::Trees(index) => {
                let (found, cost) = index.scored(query, k, &everything)?;
                Ok((index.candidates(query)?, found.into_iter().map(|found| found.id).collect(), cost))
            }
            Self::Cells(index) => {
                let found = index.nearest(query, k, &everything)?;
                let ids: Vec<ItemId> = found.list.iter().map(|found| found.id).collect();
                let sure = ids.iter().enumerate().map(|(place, id)| (*id, index.probability(place))).collect();
                Ok((sure, ids, found.cost))
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
    trees: Vec<Trees>,
}

impl Grove {
    fn grow(ground: &Ground<'_>, options: &CandidateRun, progress: &Progress) -> Result<Self> {
        let points = ground.training.unwrap_or(ground.corpus);
        let graph = KnnGraph::exact(ground.corpus, points, LABELS[1], ground.training.is_none(), progress)?;
        let grow = |kind: &TreeKind| {
            let (depth, seed) = (deepest(points), options.seed);
            let grow = TreeOptions { kind: *kind, trees: options.trees, depth, labels: LABELS[0], seed, ..TreeOptions::default() };
            Trees::grow(points, &graph, grow, progress)
        };
        let trees = options.kinds.iter().map(grow).collect::<Result<_>>()?;
        Ok(Self { graph, trees })
    }

    fn sweep(&self, ground: &Ground<'_>, options: &CandidateRun, progress: &Progress) -> Result<Vec<Measured<NeighborWay>>> {
        let deepest = deepest(ground.training.unwrap_or(ground.corpus));
        let numbers = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300];
        let mut all = Vec::new();
        for (trees, selection) in self.trees.iter().flat_map(|trees| options.selections.iter().map(move |selection| (trees, *selection))) {
            let depths = match selection {
                SelectionRule::Natural => deepest.saturating_sub(2).max(1)..=deepest,
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

/// The index that was tuned, what was measured of its way, and the ways that none other beats.
type Tuned = (Built, Measured<NeighborWay>, Vec<Measured<NeighborWay>>);

fn tuned(ground: &Ground<'_>, options: &CandidateRun, progress: &Progress) -> Result<Tuned> {
    let ids = || (0..ground.corpus.len() as u32).map(ItemId).collect::<Vec<ItemId>>();
    let of_cells = |codes: &CellCodes| {
        let cells = CellOptions { codes: *codes, seed: options.seed, ..CellOptions::default() };
        CellIndex::new(ground.corpus.clone(), ids(), cells, progress)
    };
    let mut indexes: Vec<CellIndex> = options.codes.iter().map(of_cells).collect::<Result<_>>()?;
    let mut all = Vec::new();
    for index in &indexes {
        let of_index = |way| NeighborWay::Cells { codes: index.options().codes, cells: index.cells(), way };
        let ways = index.sweep(ground.validation, &ground.checked, progress)?;
        all.extend(ways.into_iter().map(|measured| measured.map(of_index)));
    }
    let grove = if options.kinds.is_empty() { None } else { Some(Grove::grow(ground, options, progress)?) };
    if let Some(grove) = &grove {
        all.extend(grove.sweep(ground, options, progress)?);
    }
    let curve = frontier(all);
    let chosen = cheapest(&curve, options.recall)?;
    let built = match (chosen.way, grove) {
        (NeighborWay::Trees(way), Some(Grove { graph, trees })) => {
            let grown = trees.iter().find(|trees| trees.options().kind == way.kind).unwrap_or(&trees[0]);
            let mut index = CandidateIndex::new(ground.corpus.clone(), ids(), way.selector(grown, &graph))?;
            index.set_reliability(reliability(index.selector(), ground.corpus.len(), ground.validation, &ground.checked));
            Built::Trees(Box::new(index))
        }
        (way, _) => {
            let is_chosen = |index: &CellIndex| matches!(way, NeighborWay::Cells { codes, .. } if codes == index.options().codes);
            let at = indexes.iter().position(is_chosen).unwrap_or(0);
            let mut index = indexes.swap_remove(at);
            if let NeighborWay::Cells { way, .. } = way {
                index.set_way(way.probes, way.shortlist);
            }
            index.measure_reliability(ground.validation, &ground.checked)?;
            Built::Cells(Box::new(index))
        }
    };
    Ok((built, chosen, curve))
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
    for (name, set) in
        [("corpus", corpus), ("queries", queries), ("validation queries", validation), ("training queries", training.unwrap_or(corpus))]
    {
        if set.dimension() != corpus.dimension() || set.is_empty() {
            let expected = format!("one or more of {} values", corpus.dimension());
            return Err(Error::value(name, expected, format!("{} of {}", set.len(), set.dimension())));
        }
    }
    let start = Instant::now();
    let checked = KnnGraph::exact(corpus, validation, options.k, false, progress)?;
    let (index, way, curve) = tuned(&Ground { corpus, training, validation, checked }, options, progress)?;
    let build_seconds = start.elapsed().as_secs_f64();

    let truth = KnnGraph::exact(corpus, queries, options.k, false, progress)?;
    let (mut found, mut said, mut compared) = (0, 0u32, 0);
    let mut bins = [(0.0, 0usize); BINS];
    for (i, query) in queries.rows().enumerate() {
        let is_true = |id: &ItemId| truth.list(i).contains(&id.0);
        let (sure, answer, cost) = index.answer(query, options.k)?;
        compared += cost.values / corpus.dimension().max(1) as u64;
        found += answer.iter().filter(|id| is_true(id)).count();
        for (id, probability) in sure {
            let bin = &mut bins[((probability * BINS as f32) as usize).min(BINS - 1)];
            *bin = (bin.0 + f64::from(probability), bin.1 + usize::from(is_true(&id)));
            said += 1;
        }
    }
    let seconds =
        fastest(|| queries.rows().try_for_each(|query| black_box(index.index().nearest(query, options.k, &everything)).map(drop)))?;
    let together: Vec<&[f32]> = queries.rows().collect();
    let batch_seconds = fastest(|| black_box(index.index().nearest_of_all(&together, options.k, &everything)).map(drop))?;
    let n = queries.len() as f64;
    let error = bins.iter().map(|(sum, right)| (sum - *right as f64).abs()).sum::<f64>() / f64::from(said.max(1));
    Ok(CandidateScores {
        way,
        curve,
        recall: found as f64 / (n * truth.k().max(1) as f64),
        seconds: seconds / n,
        batch_seconds: batch_seconds / n,
        build_seconds,
        bytes: index.bytes(),
        candidates: compared as f64 / n,
        probability_error: error,
    })
}
