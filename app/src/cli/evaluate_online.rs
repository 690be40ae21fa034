//! `tessera eval online`: classes learned from one label at a time.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;
use tessera_core::advise::AdviserKind;
use tessera_core::contextual::{GUARD, Geometry};
use tessera_core::eval::online::{Corrections, Desks, Long, OnlineLearner, OnlineSetting, StreamOrder, StreamSource, play};
use tessera_core::online_linear::Rule;

use super::Done;
use super::evaluate_memories::tell_curves;
use super::online_args::{EvalDesk, EvalOnline, EvalOnlineFigures, Learner};
use super::output::Output;
use super::switch::Switch;
use crate::session::Session;
use crate::session::online::{DeskFiles, online_figures, write_stream};

fn who(learner: Learner) -> OnlineLearner {
    match learner {
        Learner::Ellipsoid => OnlineLearner::Ellipsoid,
        Learner::Polytope => OnlineLearner::Polytope,
        Learner::Served => OnlineLearner::Served,
        Learner::Perceptron => OnlineLearner::Linear(Rule::Perceptron),
        Learner::Averaged => OnlineLearner::Linear(Rule::Averaged),
        Learner::CrammerSinger => OnlineLearner::Linear(Rule::CrammerSinger),
        Learner::Pa => OnlineLearner::Linear(Rule::PassiveAggressive { aggressiveness: 1.0 }),
        Learner::SecondOrder => OnlineLearner::Linear(Rule::SecondOrder { ridge: 1.0 }),
        Learner::Halving => OnlineLearner::Halving,
        Learner::Majority => OnlineLearner::Majority,
    }
}

pub(super) fn online(session: &Session, arguments: &EvalOnline, out: &Output) -> Result<Done> {
    let (mut dimension, mut classes) = (arguments.d as usize, arguments.k as usize);
    let mut guard = arguments.guard;
    let source = match arguments.stream.as_str() {
        "sphere" => StreamSource::Sphere,
        "collinear" => StreamSource::Collinear,
        "perceptron-killer" => StreamSource::PerceptronKiller,
        "adversary" => StreamSource::Adversary,
        "convex-lower-bound" => StreamSource::ConvexLowerBound,
        path => {
            let (source, names) = session.examples(Path::new(path), dimension)?;
            if let StreamSource::Examples(examples) = &source {
                dimension = examples.first().map_or(dimension, |(_, x)| x.len());
            }
            classes = names.names().len();
            guard = guard.or(Some(GUARD));
            source
        }
    };
    let metric = match arguments.metric {
        Geometry::Chebyshev(p, _) => Geometry::Chebyshev(p, arguments.degree),
        metric => metric,
    };
    let setting = OnlineSetting {
        who: who(arguments.learner),
        source,
        metric,
        power: arguments.loss_power,
        margin: arguments.margin,
        update: arguments.update.into(),
        dimension,
        classes,
        rounds: arguments.rounds as usize,
        guard,
        verify: arguments.verify,
        keep: arguments.to.is_some(),
        seed: session.seed(),
    };
    let played = out.watched(session.progress(), || play(&setting, session.progress()))?;
    if let Some(to) = &arguments.to {
        write_stream(&played.asked, to)?;
    }
    let ms = played.time.as_secs_f64() * 1e3;
    out.answer(
        || {
            let curve: Vec<[f64; 2]> = played.curve.iter().map(|row| [row[0], row[1]]).collect();
            let expected: Vec<[f64; 2]> = played.curve.iter().map(|row| [row[0], row[2]]).collect();
            json!({"loss": played.loss, "expected_loss": played.expected_loss, "mistakes": played.mistakes, "bound": played.bound,
                "ms_per_round": ms, "rounds": played.rounds, "d": dimension, "k": classes, "checks": played.checks,
                "inflations": played.inflations, "robust_mistakes": played.robust, "curve": curve, "expected_curve": expected})
        },
        || {
            let chance = if matches!(arguments.learner, Learner::Polytope) { ", but for chance" } else { "" };
            let bound = played.bound.map_or_else(|| "no bound holds here".into(), |bound| format!("proven: at most {bound:.1}{chance}"));
            let checks = if arguments.verify { format!("; {} checks, none of which failed", played.checks) } else { String::new() };
            format!(
                "loss {:.4} ({:.4} on average over what was drawn; {bound}), {} mistakes in {} rounds, {ms:.4} ms a round{checks}",
                played.loss, played.expected_loss, played.mistakes, played.rounds
            )
        },
    );
    Ok(Done::Whole)
}

pub(super) fn figures(session: &Session, arguments: &EvalOnlineFigures, out: &Output) -> Result<Done> {
    let long = Long { rounds: arguments.rounds as usize, dimension: arguments.d as usize, runs: arguments.runs, seed: session.seed() };
    let (curves, written) = out.watched(session.progress(), || online_figures(&long, &arguments.to, session.progress()))?;
    tell_curves(&curves, &written, out);
    Ok(Done::Whole)
}

pub(super) fn desk(session: &Session, arguments: &EvalDesk, out: &Output) -> Result<Done> {
    let files = DeskFiles {
        stream: &arguments.stream,
        groups: arguments.groups.as_deref(),
        captions: arguments.captions.as_deref(),
        learned_features: arguments.learned_features == Switch::On,
        dimension: arguments.d as usize,
    };
    let kinds: Vec<StreamOrder> = arguments.order.iter().map(|order| (*order).into()).collect();
    let orders = arguments.orders as usize;
    let work = || -> tessera_core::Result<_> {
        let things = session.things(&files)?;
        let only = arguments.served.then_some(&AdviserKind::SERVED[..]);
        let found = session.desks(&things, only, &kinds, orders)?;
        let written = arguments.to.as_deref().map(|to| session.write_desks(&things, &kinds, orders, to)).transpose()?;
        Ok((things.failed, found, written.unwrap_or_default()))
    };
    let (failed, found, written) = out.watched(session.progress(), work)?;
    for failed in &failed {
        out.note(&failed.error.to_string());
    }
    for (order, found) in arguments.order.iter().zip(&found) {
        tell_desks(order.name(), found, failed.len(), &written, out);
    }
    Ok(if failed.is_empty() { Done::Whole } else { Done::Partly })
}

fn tell_desks(order: &str, found: &Desks, failed: usize, written: &[PathBuf], out: &Output) {
    let everyone = || std::iter::once(&found.mixture).chain([&found.last]).chain(&found.advisers);
    out.answer(
        || {
            let tell = |corrections: &Corrections| {
                let ms = corrections.time.as_secs_f64() * 1e3;
                json!({"corrections": corrections.mean(), "deviation": corrections.deviation(), "ms_per_example": ms})
            };
            let advisers: serde_json::Map<String, serde_json::Value> =
                found.advisers.iter().map(|corrections| (corrections.name.to_owned(), tell(corrections))).collect();
            let trust: serde_json::Map<String, serde_json::Value> =
                found.advisers.iter().zip(&found.trust).map(|(adviser, trust)| (adviser.name.to_owned(), json!(trust))).collect();
            json!({"order": order, "examples": found.examples, "classes": found.classes, "orders": found.mixture.of.len(),
                "corrections": found.mixture.mean(), "deviation": found.mixture.deviation(), "ratio_to_best": found.ratio(),
                "advisers": advisers, "trust": trust, "last_class": found.last.mean(), "mixing_ms": found.mixture.time.as_secs_f64() * 1e3,
                "failed": failed, "written": written.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
                "regret": found.regret[0], "regret_bound": found.regret[1]})
        },
        || {
            let line = |corrections: &Corrections| {
                format!("{:>14}: {:8.1} corrections, +- {:.1}", corrections.name, corrections.mean(), corrections.deviation())
            };
            let head = format!("{} examples of {} classes in {} orders ({order})", found.examples, found.classes, found.mixture.of.len());
            std::iter::once(head).chain(everyone().map(line)).collect::<Vec<_>>().join("\n")
        },
    );
}
