//! `tessera eval cmt-…`: experiments with memory trees.

use anyhow::Result;
use serde_json::json;
use tessera_core::cmt::{CmtOptions, LeafCap, Split};
use tessera_core::eval::few_shot::Training;

use super::Done;
use super::args::{EvalCmtClassify, Grow};
use super::output::Output;
use crate::session::Session;

/// Options of trees from what the user gave.
fn options(session: &Session, grow: &Grow) -> CmtOptions {
    CmtOptions {
        alpha: grow.alpha,
        leaf_cap: grow.leaf_cap.map_or(LeafCap::Log { c: grow.c }, LeafCap::Fixed),
        split: if grow.fresh_routers { Split::FreshRouter } else { Split::TrainedRouter },
        reroutes: grow.reroutes,
        router_rate: grow.router_rate,
        scorer_rate: grow.scorer_rate,
        learn_scorer: !grow.fixed_scorer,
        trees: grow.trees,
        seed: session.seed(),
        ..CmtOptions::default()
    }
}

pub(super) fn classify(session: &Session, arguments: &EvalCmtClassify, out: &Output) -> Result<Done> {
    let training = Training {
        options: options(session, &arguments.grow),
        unsupervised_passes: arguments.unsupervised_passes,
        supervised_passes: arguments.supervised_passes,
        online: arguments.online,
    };
    let done =
        out.watched(session.progress(), || session.few_shot(&arguments.train, &arguments.test, &training, arguments.leaves as usize))?;
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    let depth = done.shapes.iter().map(|shape| shape.depth).max().unwrap_or(0);
    let fullest = done.shapes.iter().map(|shape| shape.fullest).max().unwrap_or(0);
    out.answer(
        || {
            json!({"error": done.tested.error, "progressive_error": done.trained.progressive_error,
                "entropy_reduction": done.entropy_reduction, "train_ms": ms(done.trained.time), "test_ms": ms(done.tested.time),
                "self_consistency_error": done.self_consistency_error, "nn_error": done.nearest.error,
                "nn_test_ms": ms(done.nearest.time), "depth_max": depth, "leaf_max": fullest,
                "memories": done.trained.memory.len(), "classes": done.classes,
                "routers_asked": done.tested.work[0], "memories_scored": done.tested.work[1], "features_read": done.tested.work[2],
                "nn_features_read": done.nearest.work[2]})
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
