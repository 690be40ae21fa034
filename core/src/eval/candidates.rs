//! How fast and how rightly candidate selection finds nearest neighbours: an index is built, tuned
//! on validation queries, and asked test queries one at a time.

use std::time::Instant;

use crate::ann::candidates::{
    CandidateIndex, KnnGraph, Measured, PointSet, SelectionGrid, SelectionRule, TreeKind, TreeOptions, Trees, best, cheapest, reliability,
    sweep,
};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::{NeighborIndex as _, everything};
use crate::progress::Progress;

/// Labels of a training point that are tried.
const LABELS: [usize; 2] = [10, 50];

/// Bins of the reliability of probabilities.
const BINS: usize = 10;

/// What is measured.
#[derive(Clone, Debug)]
pub struct CandidateRun {
    /// Kinds of trees that are tried.
    pub kinds: Vec<TreeKind>,
    /// Ways of selection that are tried.
    pub selections: Vec<SelectionRule>,
    /// The number of neighbours asked for.
    pub k: usize,
    /// The recall that is asked for.
    pub recall: f64,
    /// Trees that are grown of each kind.
    pub trees: usize,
    /// The seed.
    pub seed: u64,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct CandidateScores {
    /// The way that was chosen on validation queries.
    pub way: Measured,
    /// Of all ways tried those that none beats in recall and cost.
    pub curve: Vec<Measured>,
    /// The share of true neighbours found for test queries.
    pub recall: f64,
    /// Seconds for a test query.
    pub seconds: f64,
    /// Seconds from the points to the tuned index.
    pub build_seconds: f64,
    /// Memory of the index in bytes.
    pub bytes: usize,
    /// The mean number of points that a test query was compared with.
    pub candidates: f64,
    /// The mean difference between the probabilities of candidates and the share of these that are
    /// true neighbours, in ten bins.
    pub probability_error: f64,
}

/// Builds, tunes and asks. Labels are the neighbours of `training` queries in the corpus, or of the
/// corpus's own points where there are none; then lookup and voting are possible too.
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
    let points = training.unwrap_or(corpus);
    let graph = KnnGraph::exact(corpus, points, LABELS[1], training.is_none(), progress)?;
    let checked = KnnGraph::exact(corpus, validation, options.k, false, progress)?;
    let deepest = (points.len().max(4).ilog2() as usize).saturating_sub(2).clamp(1, 16);
    let mut all: Vec<(usize, Measured)> = Vec::new();
    let mut grown = Vec::new();
    for (at, kind) in options.kinds.iter().enumerate() {
        let grow = TreeOptions {
            kind: *kind,
            trees: options.trees,
            depth: deepest,
            labels: LABELS[0],
            seed: options.seed,
            ..TreeOptions::default()
        };
        let trees = Trees::grow(points, &graph, grow, progress)?;
        for selection in &options.selections {
            let depths = match selection {
                SelectionRule::Natural => deepest.saturating_sub(2).max(1)..=deepest,
                SelectionRule::Voting | SelectionRule::Lookup => deepest.saturating_sub(7).max(1)..=deepest.saturating_sub(1).max(1),
            };
            let numbers = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300]
                .into_iter()
                .filter(|n| *n < options.trees)
                .chain([options.trees]);
            let grid =
                SelectionGrid { selections: vec![*selection], depths: depths.collect(), trees: numbers.collect(), labels: LABELS.to_vec() };
            let ways = sweep(&trees, &graph, corpus.len(), validation, &checked, &grid, progress)?;
            all.extend(ways.into_iter().map(|way| (at, way)));
        }
        grown.push(trees);
    }
    let curve = best(all.iter().map(|(_, way)| *way).collect());
    let way = cheapest(&curve, options.recall)?;
    let at = all.iter().find(|(_, other)| *other == way).map_or(0, |(at, _)| *at);
    let ids = (0..corpus.len() as u32).map(ItemId).collect();
    let mut index = CandidateIndex::new(corpus.clone(), ids, way.selector(&grown[at], &graph))?;
    index.set_reliability(reliability(index.selector(), corpus.len(), validation, &checked));
    drop(grown);
    let build_seconds = start.elapsed().as_secs_f64();

    let truth = KnnGraph::exact(corpus, queries, options.k, false, progress)?;
    let (mut found, mut candidates, mut compared) = (0, 0u32, 0);
    let mut bins = [(0.0, 0usize); BINS];
    for (i, query) in queries.rows().enumerate() {
        let answer = index.nearest(query, options.k, &everything)?;
        compared += answer.cost.points;
        found += answer.list.iter().filter(|neighbor| truth.list(i).contains(&neighbor.id.0)).count();
        for (id, probability) in index.candidates(query)? {
            let bin = &mut bins[((probability * BINS as f32) as usize).min(BINS - 1)];
            *bin = (bin.0 + f64::from(probability), bin.1 + usize::from(truth.list(i).contains(&id.0)));
            candidates += 1;
        }
    }
    let asked = Instant::now();
    for query in queries.rows() {
        std::hint::black_box(index.nearest(query, options.k, &everything)?);
    }
    let n = queries.len() as f64;
    let error = bins.iter().map(|(sum, right)| (sum - *right as f64).abs()).sum::<f64>() / f64::from(candidates.max(1));
    Ok(CandidateScores {
        way,
        curve,
        recall: found as f64 / (n * truth.k().max(1) as f64),
        seconds: asked.elapsed().as_secs_f64() / n,
        build_seconds,
        bytes: index.bytes(),
        candidates: compared as f64 / n,
        probability_error: error,
    })
}
