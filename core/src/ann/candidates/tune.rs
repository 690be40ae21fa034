//! The choice of a selector for a recall that is asked for.
//!
//! After E. Jaasaari, V. Hyvonen and T. Roos, *Efficient Autotuning of Hyperparameters in
//! Approximate Nearest Neighbor Search*, PAKDD 2019, for all ways of selection: trees are grown
//! once, as many and as deep as may be wanted. Validation queries fall through them, and after each
//! tree the points with their scores tell the recall and the number of candidates at every
//! threshold, so that one sweep measures the whole grid. Costs are operations, not times, so that
//! the choice is the same on every machine.

use rayon::prelude::*;

use super::super::corpus::PointSet;
use super::super::tuning::{Measured, Sums};
use super::graph::KnnGraph;
use super::ground::TreeKind;
use super::select::{SelectionRule, Selector, Trees, Votes};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// Thresholds that are tried, from the largest down, each so much smaller than the one before.
const THRESHOLDS: usize = 48;
const RATIO: f32 = 0.82;

/// What the parts of a query cost, in nanoseconds of one machine (`docs/benchmarks/neighbours.md`):
/// a node of a tree, which is waited for; a coordinate that it looks at; a label of a leaf; a
/// candidate, and each of its values.
const NODE: f64 = 55.0;
const STEP: f64 = 3.5;
const LABEL: f64 = 3.0;
const CANDIDATE: f64 = 20.0;
const VALUE: f64 = 0.2;

/// Ways of selection that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionGrid {
    /// How candidates are selected.
    pub selections: Vec<SelectionRule>,
    /// Depths at which trees are cut off.
    pub depths: Vec<usize>,
    /// Numbers of trees.
    pub trees: Vec<usize>,
    /// Neighbours of a training point that are its labels, where these are selected
    /// ([`SelectionRule::is_of_labels`]).
    pub labels: Vec<usize>,
}

/// A way of selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeWay {
    /// How the trees part space.
    pub kind: TreeKind,
    /// How candidates are selected.
    pub selection: SelectionRule,
    /// The number of trees.
    pub trees: usize,
    /// Their depth.
    pub depth: usize,
    /// Labels of a training point.
    pub labels: usize,
    /// The score from which on a point is a candidate.
    pub threshold: f32,
}

impl TreeWay {
    /// The selector that was measured, of the trees that it was measured with.
    pub fn selector(&self, trees: &Trees, graph: &KnnGraph) -> Selector {
        trees.selector(graph, self.selection, self.trees, self.depth, self.labels, self.threshold)
    }
}

/// Measures every way of a grid that trees allow. `queries` are validation queries that are not in
/// the corpus, with their true neighbours. Equal on any number of threads.
/// O(ways * queries * (labels of the leaves + thresholds)).
///
/// # Errors
/// [`Error::Value`] when there is not a list of true neighbours for each query;
/// [`Error::Cancelled`].
pub fn sweep(
    trees: &Trees,
    graph: &KnnGraph,
    n: usize,
    queries: &PointSet,
    truth: &KnnGraph,
    grid: &SelectionGrid,
    progress: &Progress,
) -> Result<Vec<Measured<TreeWay>>> {
    if truth.len() != queries.len() {
        return Err(Error::value("true neighbours", format!("a list for each of {} queries", queries.len()), truth.len().to_string()));
    }
    let mut tried: Vec<(SelectionRule, usize, usize)> = Vec::new();
    for selection in &grid.selections {
        for depth in grid.depths.iter().filter(|depth| **depth <= trees.options().depth) {
            let labels: &[usize] = if selection.is_of_labels() { &grid.labels } else { &[1] };
            tried.extend(labels.iter().map(|labels| (*selection, *depth, *labels)));
        }
    }
    progress.begin("Comparing ways to select candidates", tried.len() as u64);
    let mut all = Vec::new();
    for (selection, depth, labels) in tried {
        progress.step()?;
        let selector = trees.selector(graph, selection, trees.options().trees, depth, labels, 0.0);
        let of_kind =
            |measured: Measured<TreeWay>| Measured { way: TreeWay { kind: trees.options().kind, labels, ..measured.way }, ..measured };
        all.extend(measure(&selector, n, queries, truth, &grid.trees).into_iter().map(of_kind));
    }
    Ok(all)
}

/// The threshold number `i` of a way of selection, if it has so many.
fn threshold(selection: SelectionRule, i: usize) -> Option<f32> {
    match selection {
        SelectionRule::Natural => Some(RATIO.powi(i as i32 + 1)),
        SelectionRule::Voting => Some((THRESHOLDS - i) as f32),
        SelectionRule::Lookup => (i == 0).then_some(1.0),
        SelectionRule::AllLabels => (i == 0).then_some(0.0),
    }
}

/// All thresholds for each number of trees.
fn measure(selector: &Selector, n: usize, queries: &PointSet, truth: &KnnGraph, numbers: &[usize]) -> Vec<Measured<TreeWay>> {
    let selection = selector.rule();
    let counts: Vec<usize> = (1..=selector.trees()).filter(|count| numbers.contains(count)).collect();
    let bars: Vec<f32> = (0..THRESHOLDS).map_while(|i| threshold(selection, i)).collect();
    let of_query = |votes: &mut Votes, i: usize| {
        let (query, truth) = (queries.row(i), truth.list(i));
        let mut sums = vec![[Sums::default(); THRESHOLDS]; counts.len()];
        let mut labels = vec![0u64; counts.len()];
        let (mut seen, mut at) = (0, 0);
        for (tree, leaf) in selector.leaves(query).into_iter().enumerate() {
            seen += selector.vote(tree, leaf, n, votes) as u64;
            if counts.get(at) != Some(&(tree + 1)) {
                continue;
            }
            let divisor = selector.divisor(tree + 1);
            let class = |point: u32| {
                // A score of 0 is none: no tree has named the point.
                let score = votes.score(point);
                let place = bars.partition_point(|bar| *bar * divisor > score);
                (score > 0.0 && place < bars.len()).then_some(place)
            };
            let sums = &mut sums[at];
            for place in votes.touched.iter().filter_map(|point| class(*point)) {
                sums[place].candidates += 1;
            }
            for place in truth.iter().filter_map(|point| class(*point)) {
                sums[place].found += 1;
            }
            for place in 1..THRESHOLDS {
                sums[place].candidates += sums[place - 1].candidates;
                sums[place].found += sums[place - 1].found;
            }
            sums.iter_mut().for_each(|sums| sums.squares = sums.found * sums.found);
            labels[at] = seen;
            at += 1;
        }
        votes.clear();
        (sums, labels)
    };
    let parts: Vec<_> = (0..queries.len()).into_par_iter().map_init(Votes::default, of_query).collect();
    let mut all = Vec::new();
    for (at, trees) in counts.iter().enumerate() {
        let labels = parts.iter().map(|(_, labels)| labels[at]).sum::<u64>() as f64 / queries.len().max(1) as f64;
        let selecting = NODE * (*trees * selector.depth()) as f64 + STEP * selector.looks(*trees) + LABEL * labels;
        let candidate = CANDIDATE + VALUE * queries.dimension() as f64;
        for (place, threshold) in bars.iter().copied().enumerate() {
            let sums = parts.iter().fold(Sums::default(), |sum, (sums, _)| sum.plus(sums[at][place]));
            let way = TreeWay { kind: TreeKind::Forest, selection, trees: *trees, depth: selector.depth(), labels: 1, threshold };
            all.push(sums.measured(way, selecting, candidate, queries.len(), truth.k()));
        }
    }
    all
}

/// For scores from the largest down, how many of a hundred points with about that score are true
/// neighbours, as a share: what makes a score a probability, also where points had other numbers of
/// labels than queries have neighbours. Never grows as scores fall.
pub fn reliability(selector: &Selector, n: usize, queries: &PointSet, truth: &KnnGraph) -> Vec<(f32, f32)> {
    let all = measure(selector, n, queries, truth, &[selector.trees()]);
    let neighbours = truth.k() as f64;
    let mut known: Vec<(f32, f64, f64)> = Vec::new();
    let mut before = (0.0, 0.0);
    for measured in all {
        let (found, candidates) = (measured.recall * neighbours, measured.candidates);
        if candidates > before.1 {
            known.push((measured.way.threshold, found - before.0, candidates - before.1));
        }
        before = (found, candidates);
        // Neighbours that are more frequent at a smaller score are counted with those before.
        while let [.., a, b] = known.as_slice()
            && b.1 * a.2 > a.1 * b.2
        {
            let joined = (b.0, a.1 + b.1, a.2 + b.2);
            known.truncate(known.len() - 2);
            known.push(joined);
        }
    }
    known.into_iter().map(|(threshold, found, candidates)| (threshold, (found / candidates) as f32)).collect()
}
