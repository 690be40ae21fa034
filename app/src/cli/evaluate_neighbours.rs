//! `tessera eval ann`: how fast and how rightly nearest neighbours are found.

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::ann::candidates::{SelectionRule, TreeKind};
use tessera_core::eval::candidates::CandidateRun;
use tessera_core::nearest::Metric;

use super::Done;
use super::neighbour_args::{EvalAnn, MetricChoice, SelectChoice, TreeChoice};
use super::output::Output;
use crate::session::Session;
use crate::session::neighbours::{VectorFiles, candidates};

fn kinds(choice: TreeChoice) -> Vec<TreeKind> {
    match choice {
        TreeChoice::Rp => vec![TreeKind::RandomProjection],
        TreeChoice::Kd => vec![TreeKind::Kd],
        TreeChoice::Pca => vec![TreeKind::Principal],
        TreeChoice::Chronological => vec![TreeKind::Chronological],
        TreeChoice::Forest => vec![TreeKind::Forest],
        TreeChoice::Auto => TreeKind::ALL.into_iter().filter(|kind| *kind != TreeKind::Chronological).collect(),
    }
}

fn name(kind: TreeKind) -> &'static str {
    match kind {
        TreeKind::RandomProjection => "rp",
        TreeKind::Kd => "kd",
        TreeKind::Principal => "pca",
        TreeKind::Chronological => "chronological",
        TreeKind::Forest => "forest",
    }
}

fn selection_name(selection: SelectionRule) -> &'static str {
    match selection {
        SelectionRule::Lookup => "lookup",
        SelectionRule::Voting => "voting",
        SelectionRule::Natural => "natural",
    }
}

fn selections(choice: SelectChoice, is_corpus_trained: bool) -> Result<Vec<SelectionRule>, Error> {
    let chosen = match choice {
        SelectChoice::Lookup => vec![SelectionRule::Lookup],
        SelectChoice::Voting => vec![SelectionRule::Voting],
        SelectChoice::Auto if is_corpus_trained => vec![SelectionRule::Voting, SelectionRule::Natural],
        SelectChoice::Natural | SelectChoice::Auto => vec![SelectionRule::Natural],
    };
    if !is_corpus_trained && chosen != [SelectionRule::Natural] {
        let expected = "natural or auto with --train-queries: the others select the points that trees were grown on";
        return Err(Error::Option { name: "--select", found: selection_name(chosen[0]).into(), expected });
    }
    Ok(chosen)
}

pub(super) fn ann(session: &Session, arguments: &EvalAnn, out: &Output) -> Result<Done> {
    if !(0.0..=1.0).contains(&arguments.target_recall) {
        let found = arguments.target_recall.to_string();
        return Err(Error::Option { name: "--target-recall", found, expected: "a share from 0 to 1" }.into());
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
    let run = CandidateRun {
        kinds: kinds(arguments.tree),
        selections: selections(arguments.select, arguments.train_queries.is_none())?,
        k: arguments.k as usize,
        recall: arguments.target_recall,
        trees: arguments.trees as usize,
        seed: session.seed(),
    };
    let (scores, [n, d]) = out.watched(session.progress(), || candidates(&files, metric, &run, session.progress()))?;
    let way = scores.way;
    if way.recall < run.recall {
        out.note(&format!(
            "no way that was tried finds {} of the neighbours of validation queries: this one finds the most; more trees (--trees) or \
             --tree auto may find more",
            run.recall
        ));
    }
    out.answer(
        || {
            let curve: Vec<_> = scores.curve.iter().map(|way| json!([way.recall, way.operations])).collect();
            json!({"recall": scores.recall, "s_per_1000": scores.seconds * 1000.0, "build_s": scores.build_seconds, "bytes": scores.bytes,
                "n": n, "d": d, "k": arguments.k, "tree": name(way.kind), "select": selection_name(way.selection), "trees": way.trees,
                "depth": way.depth, "labels": way.labels, "threshold": way.threshold, "candidates": scores.candidates,
                "probability_error": scores.probability_error, "validation_recall": way.recall, "curve": curve})
        },
        || {
            format!(
                "recall {:.4} of the {} nearest ({:.4} on validation queries), {:.4} ms a query, {:.1} candidates of {n} points of {d} values\n\
                 {} trees ({}) of {} levels, {} from score {:.4} on; built in {:.1} s, {:.1} MB; probabilities are off by {:.3}",
                scores.recall,
                arguments.k,
                way.recall,
                scores.seconds * 1e3,
                scores.candidates,
                way.trees,
                name(way.kind),
                way.depth,
                selection_name(way.selection),
                way.threshold,
                scores.build_seconds,
                scores.bytes as f64 / 1e6,
                scores.probability_error,
            )
        },
    );
    Ok(Done::Whole)
}
