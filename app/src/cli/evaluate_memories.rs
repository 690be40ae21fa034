//! `tessera eval cmt-…`: experiments with memory trees.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::cmt::{CmtOptions, LeafCap, SplitRule, TreeShape};
use tessera_core::error::display;
use tessera_core::eval::captions::RetrievalSetting;
use tessera_core::eval::few_shot::FewShotTraining;
use tessera_core::eval::figures::Curve;
use tessera_core::eval::multilabel;

use super::Done;
use super::memory_args::{EvalCmtCaptions, EvalCmtClassify, EvalCmtFigures, EvalCmtGrowth, EvalCmtMultilabel, Grow};
use super::output::{Failures, Output};
use crate::session::Session;
use crate::session::memories::{self, CaptionFiles};

/// Options of trees from the arguments; `c` and `reroutes` are the defaults for those.
fn options(session: &Session, grow: &Grow, c: f64, reroutes: u32) -> CmtOptions {
    CmtOptions {
        alpha: grow.alpha,
        leaf_cap: grow.leaf_cap.map_or(LeafCap::Log { c: grow.c.unwrap_or(c) }, LeafCap::Fixed),
        split: if grow.fresh_routers { SplitRule::FreshRouter } else { SplitRule::TrainedRouter },
        reroutes: grow.reroutes.unwrap_or(reroutes),
        update_reroutes_train: grow.reroutes_teach,
        router_rate: grow.router_rate,
        scorer_rate: grow.scorer_rate,
        learn_scorer: !grow.fixed_scorer,
        opposed_offset: grow.opposed_offset,
        trees: grow.trees,
        seed: session.seed(),
        ..CmtOptions::default()
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Routers on the longest path, and memories in the fullest leaf.
fn extremes(shapes: &[TreeShape]) -> (usize, usize) {
    (shapes.iter().map(|shape| shape.depth).max().unwrap_or(0), shapes.iter().map(|shape| shape.fullest).max().unwrap_or(0))
}

pub(super) fn classify(session: &Session, arguments: &EvalCmtClassify, out: &Output) -> Result<Done> {
    let mut options = options(session, &arguments.grow, 4.0, 5);
    options.learn_scorer &= !arguments.online || arguments.online_scorer;
    let training = FewShotTraining {
        options,
        unsupervised_passes: arguments.unsupervised_passes,
        supervised_passes: arguments.supervised_passes,
        online: arguments.online,
    };
    let leaves = arguments.budget.leaves as usize;
    let done = out.watched(session.progress(), || {
        memories::few_shot(&arguments.examples.train, &arguments.examples.test, &training, leaves, session.progress())
    })?;
    let (depth, fullest) = extremes(&done.shapes);
    out.answer(
        || {
            json!({"error": done.tested.error, "progressive_error": done.trained.progressive_error,
                "entropy_reduction": done.entropy_reduction, "train_ms": ms(done.trained.time), "test_ms": ms(done.tested.time),
                "self_consistency_error": done.self_consistency_error, "nn_error": done.nearest.error,
                "nn_test_ms": ms(done.nearest.time), "depth_max": depth, "leaf_max": fullest,
                "memories": done.trained.memory.len(), "classes": done.classes,
                "routers_asked": done.tested.work[0], "memories_scored": done.tested.work[1], "features_read": done.tested.work[2],
                "nn_features_read": done.nearest.work[2], "index_postings": done.postings})
        },
        || {
            format!(
                "error {:.4} ({:.4} while learning; the nearest of all examples: {:.4}), {:.2} bits; {:.4} ms an example and pass to train, \
                 {:.4} ms to answer (all examples: {:.3} ms)\n{} memories, at most {depth} routers deep, at most {fullest} in a leaf; \
                 {:.4} of them are not found by their own vector",
                done.tested.error,
                done.trained.progressive_error,
                done.nearest.error,
                done.entropy_reduction,
                ms(done.trained.time),
                ms(done.tested.time),
                ms(done.nearest.time),
                done.trained.memory.len(),
                done.self_consistency_error,
            )
        },
    );
    Ok(Done::Whole)
}

pub(super) fn multilabel(session: &Session, arguments: &EvalCmtMultilabel, out: &Output) -> Result<Done> {
    let training = multilabel::MultiLabelTraining {
        options: options(session, &arguments.grow, 2.0, 10),
        label_rate: arguments.label_rate,
        supervised_passes: arguments.supervised_passes,
        votes: arguments.votes,
    };
    let leaves = arguments.budget.leaves as usize;
    let done =
        out.watched(session.progress(), || memories::multilabel(&arguments.train, &arguments.test, &training, leaves, session.progress()))?;
    let ((some, some_time), (all, all_time)) = (done.some, done.all);
    let (depth, fullest) = extremes(&done.shapes);
    out.answer(
        || {
            json!({"hamming": some.hamming, "trivial_hamming": done.trivial_hamming, "oaa_hamming": all.hamming, "test_ms": ms(some.time),
                "oaa_test_ms": ms(all.time), "train_ms": ms(some_time), "oaa_train_ms": ms(all_time), "f1": some.f1, "oaa_f1": all.f1,
                "oaa_alike_test_ms": ms(done.all_alike.time), "labels": done.labels, "labels_asked": done.asked,
                "labels_predicted": some.predicted, "oaa_labels_predicted": all.predicted, "memories": done.trained,
                "depth_max": depth, "leaf_max": fullest})
        },
        || {
            format!(
                "labels wrong or missing: {:.3} an example (one against all: {:.3}, predicting none: {:.3}); F1 {:.4} (one against all: {:.4})\n\
                 {:.1} of {} labels asked; {:.4} ms to answer (one against all: {:.4} ms), {:.4} ms an example and pass to train ({:.4} ms)",
                some.hamming,
                all.hamming,
                done.trivial_hamming,
                some.f1,
                all.f1,
                done.asked,
                done.labels,
                ms(some.time),
                ms(all.time),
                ms(some_time),
                ms(all_time),
            )
        },
    );
    Ok(Done::Whole)
}

pub(super) fn captions(session: &Session, arguments: &EvalCmtCaptions, out: &Output) -> Result<Done> {
    let setting = RetrievalSetting {
        options: options(session, &arguments.grow, 5.0, 1),
        supervised_passes: arguments.supervised_passes,
        baseline: arguments.baseline,
        leaves: arguments.budget.leaves as usize,
    };
    let files =
        CaptionFiles { images: &arguments.images, captions: &arguments.captions, train: &arguments.train_list, test: &arguments.test_list };
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    let mut found = out.watched(session.progress(), || session.captions(&files, &setting))?;
    for failed in found.failed.drain(..) {
        failures.file(&failed.path, failed.error)?;
    }
    let done = failures.finish(found.photos.iter().sum())?;
    let (ways, recalls) = (&found.retrieval, &found.recalls);
    let (depth, fullest) = extremes(&ways.shapes);
    out.answer(
        || {
            json!({"reward_unsupervised": ways.unsupervised.reward, "reward": ways.supervised.reward, "nn_reward": ways.nearest.reward,
                "nn_cosine_reward": ways.nearest_cosine.reward, "kd_reward": ways.kd.reward, "inverted_index_reward": ways.index.reward,
                "test_ms_unsupervised": ms(ways.unsupervised.time), "test_ms": ms(ways.supervised.time), "nn_test_ms": ms(ways.nearest.time),
                "nn_cosine_test_ms": ms(ways.nearest_cosine.time), "kd_test_ms": ms(ways.kd.time), "inverted_index_test_ms": ms(ways.index.time),
                "train_ms_unsupervised": ms(ways.train[0]), "train_ms": ms(ways.train[1]),
                "recall_at_1": recalls.memory.at_1, "recall_at_10": recalls.memory.at_10, "recall_test_ms": ms(recalls.memory.time),
                "nn_recall_at_1": recalls.nearest.at_1, "nn_recall_at_10": recalls.nearest.at_10,
                "inverted_index_recall_at_1": recalls.index.at_1, "inverted_index_recall_at_10": recalls.index.at_10, "recall_features_read": recalls.memory.features,
                "recall_postings": recalls.index.features, "memories": found.photos[0], "queries": found.photos[1],
                "memories_scored": ways.supervised.memories, "kd_components": ways.components, "kd_points_looked_at": ways.kd.memories,
                "depth_max": depth, "leaf_max": fullest})
        },
        || {
            format!(
                "reward {:.4}, {:.4} before rewards (scan {:.4}, by cosine {:.4}, kd-tree {:.4}, inverted index {:.4})\n\
                 {:.4} ms to answer, {:.4} ms before rewards (scan {:.4} ms, kd-tree {:.4} ms, inverted index {:.3} ms)\n\
                 the right photo is first for {:.4} of the captions, among ten for {:.4} (scan: {:.4})",
                ways.supervised.reward,
                ways.unsupervised.reward,
                ways.nearest.reward,
                ways.nearest_cosine.reward,
                ways.kd.reward,
                ways.index.reward,
                ms(ways.supervised.time),
                ms(ways.unsupervised.time),
                ms(ways.nearest.time),
                ms(ways.kd.time),
                ms(ways.index.time),
                recalls.memory.at_1,
                recalls.memory.at_10,
                recalls.nearest.at_10,
            )
        },
    );
    Ok(done)
}

pub(super) fn figures(session: &Session, arguments: &EvalCmtFigures, out: &Output) -> Result<Done> {
    let options = options(session, &arguments.grow, 4.0, 5);
    let work = || {
        memories::memory_figures(
            &arguments.examples.train,
            &arguments.examples.test,
            &arguments.to,
            &options,
            arguments.runs,
            session.progress(),
        )
    };
    let (curves, written) = out.watched(session.progress(), work)?;
    tell_curves(&curves, &written, out);
    Ok(Done::Whole)
}

pub(super) fn growth(session: &Session, arguments: &EvalCmtGrowth, out: &Output) -> Result<Done> {
    let options = options(session, &arguments.grow, 4.0, 5);
    let (curve, written) =
        out.watched(session.progress(), || memories::memory_growth(arguments.memories, &arguments.to, &options, session.progress()))?;
    tell_curves(&[curve], &written, out);
    Ok(Done::Whole)
}

/// Prints which curves were written.
pub(super) fn tell_curves(curves: &[Curve], written: &[PathBuf], out: &Output) {
    let rows = |curve: &Curve| -> Vec<Value> {
        let row = |row: &Vec<f64>| curve.columns.iter().zip(row).map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        curve.rows.iter().map(|values| Value::Object(row(values))).collect()
    };
    out.answer(
        || {
            let tables: serde_json::Map<String, Value> = curves.iter().map(|curve| (curve.name.to_owned(), json!(rows(curve)))).collect();
            json!({"written": written.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(), "curves": tables})
        },
        || written.iter().map(|path| display(path)).collect::<Vec<_>>().join("\n"),
    );
}
