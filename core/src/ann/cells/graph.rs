//! Graphs of neighbours that are found by an index of cells, and so nearly right.

use rayon::prelude::*;

use super::super::candidates::KnnGraph;
use super::super::corpus::PointSet;
use super::CellOptions;
use super::index::CellIndex;
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::{Metric, NeighborIndex as _, everything};
use crate::progress::Progress;
use crate::random::{self, drawn};

/// Queries that the way to search is chosen on, and as many that the lists are judged by.
const SAMPLE: usize = 500;

/// Queries between two reports of progress.
const TASK: usize = 512;

/// For each of some queries about its `k` nearest points of a corpus, as [`KnnGraph::exact`] finds
/// them: by a [`CellIndex`] that is tuned for a share of the true neighbours on some of the
/// queries. Returns the lists with the share that they hold of the neighbours of other queries.
/// Equal on any number of threads. O(sample * points * dimension + queries * a query of the index).
///
/// # Errors
/// As [`CellIndex::tune`].
pub fn approximate_graph(
    corpus: &PointSet,
    queries: &PointSet,
    (k, is_own): (usize, bool),
    (recall, seed): (f64, u64),
    progress: &Progress,
) -> Result<(KnnGraph, f64)> {
    let k = k.min(corpus.len());
    if k == 0 || queries.is_empty() || corpus.dimension() == 0 {
        return Ok((KnnGraph::exact(corpus, queries, k, is_own, progress)?, 1.0));
    }
    let ids = (0..corpus.len() as u32).map(ItemId).collect();
    let mut index = CellIndex::new(corpus.clone(), ids, CellOptions { seed, ..CellOptions::default() }, progress)?;
    let chosen = drawn(queries.len(), 2 * SAMPLE, &mut random::seeded(seed));
    let [tuned, judged] = [0, chosen.len().min(2) - 1].map(|first| chosen[first..].iter().copied().step_by(2).collect::<Vec<usize>>());
    let true_lists = |places: &[usize]| -> Result<(PointSet, KnnGraph)> {
        let mut some = PointSet::new(queries.dimension(), queries.metric());
        places.iter().try_for_each(|place| some.push(queries.row(*place)))?;
        let lists = KnnGraph::exact(corpus, &some, k, false, progress)?;
        Ok((some, lists))
    };
    let (some, truth) = true_lists(&tuned)?;
    index.tune(&some, &truth, recall, progress)?;
    progress.begin("Finding the neighbours of all points", queries.len().div_ceil(TASK) as u64);
    let puts_first = is_own && corpus.metric() != Metric::InnerProduct;
    let list = |place: usize| -> Result<Vec<u32>> {
        let found = index.nearest(queries.row(place), k, &everything)?.list;
        let mut list: Vec<u32> = found.into_iter().map(|found| found.id.0).collect();
        if puts_first {
            list.retain(|other| *other as usize != place);
            list.insert(0, place as u32);
            list.truncate(k);
        }
        Ok(list)
    };
    let places: Vec<usize> = (0..queries.len()).collect();
    let lists = |places: &[usize]| -> Result<Vec<Vec<u32>>> {
        progress.step()?;
        places.iter().map(|place| list(*place)).collect()
    };
    let parts: Vec<Vec<Vec<u32>>> = places.par_chunks(TASK).map(lists).collect::<Result<_>>()?;
    let graph = KnnGraph::of(&parts.concat())?;
    let (_, truth) = true_lists(&judged)?;
    let right = |(i, place): (usize, &usize)| truth.list(i).iter().filter(|point| graph.list(*place).contains(point)).count();
    let right: usize = judged.iter().enumerate().map(right).sum();
    Ok((graph, right as f64 / (judged.len() * k) as f64))
}
