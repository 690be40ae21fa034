//! `tessera eval ann`: how fast and how rightly nearest neighbours are found.

use anyhow::Result;
use clap::ValueEnum as _;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::ann::candidates::{SelectionRule, TreeKind, TreeWay};
use tessera_core::ann::cells::{CellCodes, CellWay};
use tessera_core::eval::candidates::{CandidateRun, EachWay, NeighborWay, PartitionKind, SearchAim};
use tessera_core::nearest::Metric;

use super::Done;
use super::neighbour_args::{EvalAnn, MetricChoice, SelectChoice, TreeChoice};
use super::output::Output;
use crate::session::Session;
use crate::session::neighbours::{VectorFiles, candidates};

/// Codes in cells that are compared, by the first principal coordinates.
const COORDINATES: usize = 64;
/// The rank of the regression in each cell.
const RANK: usize = 32;

fn name(kind: TreeKind) -> &'static str {
    match kind {
        TreeKind::RandomProjection => "rp",
        TreeKind::Kd => "kd",
        TreeKind::Principal => "pca",
        TreeKind::Chronological => "chronological",
        TreeKind::Forest => "forest",
        TreeKind::Oblique => "oblique",
    }
}

fn selection_name(selection: SelectionRule) -> &'static str {
    match selection {
        SelectionRule::Lookup => "lookup",
        SelectionRule::Voting => "voting",
        SelectionRule::Natural => "natural",
        SelectionRule::AllLabels => "labels",
    }
}

fn word(select: SelectChoice) -> String {
    select.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// What is compared: kinds of trees, ways of selection from these, and codes in cells.
type Compared = (Vec<TreeKind>, Vec<SelectionRule>, Vec<CellCodes>);

fn compared(arguments: &EvalAnn) -> Result<Compared, Error> {
    let (tree, select, is_corpus_trained) = (arguments.tree, arguments.select, arguments.train_queries.is_none());
    let times_each = !arguments.each.is_empty();
    let (regression, codes) = (CellCodes::Regression(RANK), CellCodes::Axes(COORDINATES));
    let in_cells = match select {
        SelectChoice::Auto if tree == TreeChoice::Auto && !is_corpus_trained => Vec::new(),
        SelectChoice::Auto => vec![regression, codes],
        SelectChoice::Regression => vec![regression],
        SelectChoice::Codes => vec![codes],
        SelectChoice::Lookup | SelectChoice::Voting | SelectChoice::Natural | SelectChoice::Labels => Vec::new(),
    };
    let wrong = |found: &str, expected| Err(Error::Option { name: "--select", found: found.into(), expected });
    if matches!(tree, TreeChoice::Kmeans | TreeChoice::Auto) && !in_cells.is_empty() && !is_corpus_trained {
        let expected = "natural, labels or auto without --tree kmeans, with --train-queries: cells learn from the corpus alone";
        return wrong(&word(select), expected);
    }
    let is_everything = times_each && (tree, select) == (TreeChoice::Auto, SelectChoice::Auto);
    let kinds = match tree {
        TreeChoice::Kmeans | TreeChoice::Auto if !in_cells.is_empty() && !is_everything => return Ok((Vec::new(), Vec::new(), in_cells)),
        TreeChoice::Kmeans => return wrong(&word(select), "regression, codes or auto with --tree kmeans: the others go with trees"),
        TreeChoice::Rp => vec![TreeKind::RandomProjection],
        TreeChoice::Kd => vec![TreeKind::Kd],
        TreeChoice::Pca => vec![TreeKind::Principal],
        TreeChoice::Chronological => vec![TreeKind::Chronological],
        TreeChoice::Forest => vec![TreeKind::Forest],
        TreeChoice::Oblique => vec![TreeKind::Oblique],
        TreeChoice::Auto => TreeKind::ALL.into_iter().filter(|kind| *kind != TreeKind::Chronological).collect(),
    };
    let selections = match select {
        SelectChoice::Lookup => vec![SelectionRule::Lookup],
        SelectChoice::Voting => vec![SelectionRule::Voting],
        SelectChoice::Labels => vec![SelectionRule::AllLabels],
        SelectChoice::Auto if times_each => {
            SelectionRule::ALL.into_iter().filter(|rule| is_corpus_trained || rule.is_of_labels()).collect()
        }
        SelectChoice::Auto if is_corpus_trained => vec![SelectionRule::Voting, SelectionRule::Natural],
        SelectChoice::Natural | SelectChoice::Auto => vec![SelectionRule::Natural],
        SelectChoice::Regression | SelectChoice::Codes => {
            return wrong(&word(select), "lookup, voting, natural, labels or auto with this --tree: regression and codes go with kmeans");
        }
    };
    if !is_corpus_trained && !selections.iter().all(|rule| rule.is_of_labels()) {
        return wrong(&word(select), "natural, labels or auto with --train-queries: the others select the points that trees were grown on");
    }
    Ok((kinds, selections, if is_everything { in_cells } else { Vec::new() }))
}

/// How space is parted and candidates selected, as `--tree` and `--select` name them.
pub(super) fn partition_names(kind: PartitionKind) -> (&'static str, &'static str) {
    match kind {
        PartitionKind::Trees(kind, selection) => (name(kind), selection_name(selection)),
        PartitionKind::Cells(CellCodes::Regression(_)) => ("kmeans", "regression"),
        PartitionKind::Cells(CellCodes::Axes(_)) => ("kmeans", "codes"),
    }
}

/// A way as it is told: how space is parted and candidates selected; trees, their depth, labels and
/// threshold; cells, those looked at, and candidates.
type Told = (&'static str, &'static str, (usize, usize, usize, f32), [usize; 3]);

fn told(way: NeighborWay) -> Told {
    match way {
        NeighborWay::Trees(TreeWay { kind, selection, trees, depth, labels, threshold }) => {
            let (tree, select) = partition_names(PartitionKind::Trees(kind, selection));
            (tree, select, (trees, depth, labels, threshold), [0; 3])
        }
        NeighborWay::Cells { codes, cells, way: CellWay { probes, shortlist } } => {
            let (tree, select) = partition_names(PartitionKind::Cells(codes));
            // Few points are all compared.
            (tree, if cells > 0 { select } else { "all" }, (0, 0, 0, 0.0), [cells, probes, shortlist])
        }
    }
}

fn each_json(each: &EachWay) -> Value {
    let (tree, select, (trees, depth, labels, threshold), [cells, probes, shortlist]) = told(each.way.way);
    json!({"tree": tree, "select": select, "target_recall": each.wanted, "recall": each.recall, "validation_recall": each.way.recall,
        "s_per_1000": each.seconds * 1000.0, "candidates": each.candidates, "bytes": each.bytes, "trees": trees, "depth": depth,
        "labels": labels, "threshold": threshold, "cells": cells, "probes": probes, "shortlist": shortlist})
}

fn each_words(each: &EachWay) -> String {
    let (tree, select, ..) = told(each.way.way);
    let EachWay { wanted, recall, seconds, candidates, .. } = each;
    let falls_short = if each.way.recall < *wanted { ", the most that was found" } else { "" };
    format!("\n{tree}, {select}: recall {recall:.4} for {wanted}{falls_short}, {:.4} ms a query, {candidates:.1} candidates", seconds * 1e3)
}

pub(super) fn ann(session: &Session, arguments: &EvalAnn, out: &Output) -> Result<Done> {
    for (name, found) in [("--within-operations", arguments.within_operations), ("--within-ms", arguments.within_ms)] {
        if let Some(found) = found.filter(|found| !(*found > 0.0 && found.is_finite())) {
            return Err(Error::Option { name, found: found.to_string(), expected: "a number above 0" }.into());
        }
    }
    let recalls = [("--target-recall", arguments.target_recall), ("--graph-recall", arguments.graph_recall)];
    let each = arguments.each.iter().map(|recall| ("--each", *recall));
    if let Some((name, recall)) = recalls.into_iter().chain(each).find(|(_, recall)| !(0.0..=1.0).contains(recall)) {
        return Err(Error::Option { name, found: recall.to_string(), expected: "a share from 0 to 1" }.into());
    }
    let files = VectorFiles {
        corpus: &arguments.corpus,
        queries: &arguments.queries,
        validation: arguments.validation.as_deref(),
        train_queries: arguments.train_queries.as_deref(),
    };
    let metric = match arguments.metric {
        MetricChoice::Euclidean => Metric::Euclidean,
        MetricChoice::Cosine => Metric::Cosine,
        MetricChoice::InnerProduct => Metric::InnerProduct,
    };
    let (kinds, selections, codes) = compared(arguments)?;
    let aim = match (arguments.within_operations, arguments.within_ms) {
        (Some(operations), _) => SearchAim::Operations(operations),
        (None, Some(ms)) => SearchAim::Seconds(ms / 1e3),
        (None, None) => SearchAim::Recall(arguments.target_recall),
    };
    let run = CandidateRun {
        kinds,
        selections,
        codes,
        k: arguments.k as usize,
        aim,
        each: arguments.each.clone(),
        trees: arguments.trees as usize,
        graph_recall: arguments.graph_recall,
        seed: session.seed(),
    };
    let (scores, [n, d]) = out.watched(session.progress(), || candidates(&files, metric, &run, session.progress()))?;
    let reached = scores.way.recall;
    if let SearchAim::Recall(wanted) = aim
        && reached < wanted
    {
        out.note(&format!(
            "no way that was tried finds {wanted} of the neighbours of validation queries: this one finds the most; {} may find more",
            if run.codes.is_empty() { "--tree kmeans or more trees (--trees)" } else { "--tree auto --select natural" },
        ));
    }
    if let Some(operations) = scores.operations.filter(|operations| scores.way.operations > *operations) {
        out.note(&format!("no way that was tried costs {operations:.0} operations or fewer: this one costs the fewest"));
    }
    let wanted = if let SearchAim::Recall(recall) = aim { Some(recall) } else { None };
    let (tree, select, (trees, depth, labels, threshold), [cells, probes, shortlist]) = told(scores.way.way);
    out.answer(
        || {
            let curve: Vec<_> = scores.curve.iter().map(|way| json!([way.recall, way.operations])).collect();
            json!({"target_recall": wanted, "operations": scores.way.operations, "within_operations": scores.operations, "recall": scores.recall, "s_per_1000": scores.seconds * 1000.0, "batch_s_per_1000": scores.batch_seconds * 1000.0, "build_s": scores.build_seconds, "bytes": scores.bytes,
                "n": n, "d": d, "k": arguments.k, "tree": tree, "select": select, "trees": trees, "depth": depth, "labels": labels,
                "threshold": threshold, "cells": cells, "probes": probes, "shortlist": shortlist, "candidates": scores.candidates,
                "probability_error": scores.probability_error, "validation_recall": reached, "curve": curve,
                "graph_s": scores.graph.map(|(seconds, _)| seconds), "graph_recall": scores.graph.map(|(_, recall)| recall),
                "each": scores.each.iter().map(each_json).collect::<Vec<_>>()})
        },
        || {
            let way = if cells > 0 {
                format!("{probes} of {cells} cells, {select}, and the best {shortlist}")
            } else if trees > 0 {
                format!("{trees} trees ({tree}) of {depth} levels, {select} from score {threshold:.4} on")
            } else {
                "few points, which are all compared".into()
            };
            let each: String = scores.each.iter().map(each_words).collect();
            let graph = scores.graph.filter(|(_, recall)| *recall < 1.0).map(|(seconds, recall)| {
                format!("\ntrained on {recall:.3} of the true neighbours, found in {seconds:.1} s")
            });
            let graph = graph.unwrap_or_default();
            let cost = scores.operations.map(|within| format!("\n{:.0} operations a query, of at most {within:.0}", scores.way.operations));
            let cost = cost.unwrap_or_default();
            format!(
                "recall {:.4} of the {} nearest ({reached:.4} on validation queries), {:.4} ms a query, {:.1} candidates of {n} points of \
                 {d} values\n{way}; built in {:.1} s, {:.1} MB; probabilities are off by {:.3}{cost}{graph}{each}",
                scores.recall,
                arguments.k,
                scores.seconds * 1e3,
                scores.candidates,
                scores.build_seconds,
                scores.bytes as f64 / 1e6,
                scores.probability_error,
            )
        },
    );
    Ok(Done::Whole)
}
