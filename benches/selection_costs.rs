//! What selecting candidates takes beside what the choice of settings reckons:
//! `cargo bench -p tessera-core --bench selection_costs -- PREFIX TREES DEPTH [KIND]`.
//!
//! PREFIX-corpus.npy and PREFIX-queries.npy are matrices as `benches/vector_sets.py` makes them. Of
//! each way of selection it times some settings on 500 queries, one at a time on one thread, the
//! shortest of three rounds, and prints nanoseconds and operations of a query; last, how many
//! operations are reckoned for a nanosecond, and by which factor that strays.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

use std::path::Path;
use std::time::Instant;

use tessera_core::ann::PointSet;
use tessera_core::ann::candidates::{CandidateIndex, KnnGraph, SelectionGrid, SelectionRule, TreeKind, TreeOptions, Trees, sweep};
use tessera_core::data::vectors::VectorFile;
use tessera_core::ids::ItemId;
use tessera_core::nearest::{Metric, everything};
use tessera_core::progress::Progress;

/// Neighbours that are asked for, queries, rounds.
const K: usize = 10;
const QUERIES: usize = 500;
const ROUNDS: usize = 3;
/// Recalls of which the cheapest setting is timed.
const RECALLS: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

fn points(prefix: &str, name: &str, most: usize) -> PointSet {
    let file = VectorFile::read(Path::new(&format!("{prefix}-{name}.npy"))).unwrap();
    let mut set = PointSet::new(file.dimension, Metric::Euclidean);
    file.rows().take(most).for_each(|row| set.push(row).unwrap());
    set
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [prefix, trees, depth, kind @ ..] = &arguments[..] else {
        println!("skipped: expected PREFIX TREES DEPTH, such as OUT/fashion 60 12");
        return;
    };
    let (trees, depth): (usize, usize) = (trees.parse().unwrap(), depth.parse().unwrap());
    let (corpus, queries) = (points(prefix, "corpus", usize::MAX), points(prefix, "queries", QUERIES));
    let progress = Progress::default();
    let truth = KnnGraph::exact(&corpus, &queries, K, false, &progress).unwrap();
    let graph = KnnGraph::exact(&corpus, &corpus, 50, true, &progress).unwrap();
    let ids: Vec<ItemId> = (0..corpus.len() as u32).map(ItemId).collect();
    for tree in [TreeKind::Kd, TreeKind::RandomProjection, TreeKind::Principal, TreeKind::Forest] {
        if kind.first().is_some_and(|kind| *kind != format!("{tree:?}")) {
            continue;
        }
        let options = TreeOptions { kind: tree, trees, depth, labels: K, ..TreeOptions::default() };
        let grown = Trees::grow(&corpus, &graph, options, &progress).unwrap();
        let mut index: Option<CandidateIndex> = None;
        let mut ratios = Vec::new();
        for selection in SelectionRule::ALL {
            let depths = if selection.is_of_labels() { [depth - 2, depth] } else { [depth - 4, depth - 1] };
            let labels = if selection.is_of_labels() { vec![K, 50] } else { vec![1] };
            let grid = SelectionGrid { selections: vec![selection], depths: depths.into(), trees: vec![5, 20, trees], labels };
            let all = sweep(&grown, &graph, corpus.len(), &queries, &truth, &grid, &progress).unwrap();
            for wanted in RECALLS {
                let Some(way) = all.iter().filter(|way| way.recall >= wanted).min_by(|a, b| a.operations.total_cmp(&b.operations)) else {
                    continue;
                };
                let chosen = way.way;
                let selector = grown.selector(&graph, selection, chosen.trees, chosen.depth, chosen.labels, chosen.threshold);
                match &mut index {
                    Some(index) => index.set_selector(selector).unwrap(),
                    None => index = Some(CandidateIndex::new(corpus.clone(), ids.clone(), selector).unwrap()),
                }
                let index = index.as_ref().unwrap();
                let round = || {
                    let start = Instant::now();
                    (0..queries.len()).for_each(|query| drop(index.scored(queries.row(query), K, &everything).unwrap()));
                    start.elapsed().as_secs_f64() * 1e9 / queries.len() as f64
                };
                let took = (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min);
                ratios.push(way.operations / took);
                println!("{tree:?} {selection:?}: recall {:.3}, {took:.0} ns, {:.0} operations", way.recall, way.operations);
            }
        }
        ratios.sort_by(f64::total_cmp);
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let spread = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt().exp();
        println!(
            "{tree:?}: {:.2} operations for a nanosecond at the median, straying by a factor of {spread:.2}",
            ratios[ratios.len() / 2]
        );
    }
}
