//! `tessera eval …`: experiments on plain files.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::json;
use tessera_core::error::display;
use tessera_core::eval::recognition::RecognitionScores;
use tessera_core::features::OrbOptions;

use super::args::{self, Eval, EvalCkm, Features};
use super::librarian::Librarian;
use super::output::{Failures, Output};
use super::paths::images;
use super::train::{experiment, fits_scales, kind_choice, learn_options, learned, options, search, untrained};
use super::{Done, evaluate_memories, evaluate_mixtures, evaluate_neighbours, evaluate_online, evaluate_sets, evaluate_words};
use crate::session::Session;
use crate::session::experiment::{Outcome, TestSplit};
use crate::session::train::{Terms, TrainOptions};

pub(super) fn run(session: &Session, command: &Eval, librarian: &Librarian<'_>, out: &Output) -> Result<Done> {
    match command {
        Eval::Features(arguments) => features(session, arguments, out),
        Eval::Ckm(arguments) => ckm(session, arguments, out),
        Eval::Sets(arguments) => evaluate_sets::run(session, arguments, out),
        Eval::CmtClassify(arguments) => evaluate_memories::classify(session, arguments, out),
        Eval::CmtMultilabel(arguments) => evaluate_memories::multilabel(session, arguments, out),
        Eval::CmtCaptions(arguments) => evaluate_memories::captions(session, arguments, out),
        Eval::CmtFigures(arguments) => evaluate_memories::figures(session, arguments, out),
        Eval::CmtGrowth(arguments) => evaluate_memories::growth(session, arguments, out),
        Eval::Online(arguments) => evaluate_online::online(session, arguments, out),
        Eval::OnlineFigures(arguments) => evaluate_online::figures(session, arguments, out),
        Eval::Desk(arguments) => evaluate_online::desk(session, arguments, out),
        Eval::Ann(arguments) => evaluate_neighbours::ann(session, arguments, out),
        Eval::Canopy(arguments) => evaluate_mixtures::canopy(session, arguments, out),
        Eval::CoverTree(arguments) => evaluate_mixtures::cover_tree(session, arguments, out),
        Eval::Words(arguments) => evaluate_words::run(librarian, arguments),
    }
}

fn features(session: &Session, arguments: &Features, out: &Output) -> Result<Done> {
    let options = match arguments.features {
        Some(count) => OrbOptions { count, area: 0.0, ..OrbOptions::default() },
        None => OrbOptions::default(),
    };
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    let mut answered = 0;
    for path in images(session, &arguments.paths, &mut failures)? {
        if session.progress().is_cancelled() {
            return Err(tessera_core::Error::Cancelled.into());
        }
        // The first picture is processed twice, so that the timing starts with warm caches.
        if answered == 0 {
            let _ = session.features(&path, &options);
        }
        match session.features(&path, &options) {
            Ok(seen) => {
                answered += 1;
                out.answer(
                    || {
                        let keypoints: Vec<_> =
                            seen.features.keypoints.iter().map(|k| json!([k.x, k.y, k.scale, k.angle, k.response])).collect();
                        let descriptors: Vec<_> = seen.features.descriptors.iter().map(ToString::to_string).collect();
                        json!({"path": seen.path.to_string_lossy(), "width": seen.size.0, "height": seen.size.1,
                            "keypoints": keypoints, "descriptors": descriptors, "ms": seen.ms})
                    },
                    || format!("{}: {} keypoints in {:.2} ms", display(&seen.path), seen.features.keypoints.len(), seen.ms),
                );
            }
            Err(error) => failures.file(&path, error)?,
        }
    }
    failures.finish(answered)
}

fn ckm(session: &Session, arguments: &EvalCkm, out: &Output) -> Result<Done> {
    let options = options(session, &arguments.build)?;
    if arguments.print_options {
        let text = ron::ser::to_string_pretty(&options, ron::ser::PrettyConfig::default()).context("cannot write the options down")?;
        out.answer(|| json!({"options": text}), || text.clone());
        return Ok(Done::Whole);
    }
    let search = search(arguments.build.searching)?;
    let terms = match arguments.class_terms {
        args::Terms::Fitted => Terms::Fitted,
        args::Terms::None => Terms::None,
    };
    let mut failures = Failures::new(out, arguments.build.report.as_deref())?;
    let split = match (&arguments.train, &arguments.test, &arguments.data) {
        (Some(train), Some(test), _) => TestSplit::Folders { train, test },
        (_, _, Some(data)) if !arguments.test_instances.is_empty() => TestSplit::Instances { data, test: &arguments.test_instances },
        (_, _, Some(data)) => TestSplit::LeaveObjectOut { data, without: &arguments.without_instances, limit: arguments.limit },
        _ => unreachable!("clap asks for --train and --test or for --data"),
    };
    let build = &arguments.build;
    let (weights, kinds, scales) = (learn_options(build), kind_choice(build)?, fits_scales(build));
    let options = TrainOptions { ckm: options, search, terms, weights, kinds, scales };
    let outcome = experiment(session, out, &split, &arguments.build, &options, &mut failures)?;
    let Outcome { learned: machine, weights, tested, model_bytes, .. } = outcome;
    let n_train = machine.ckm.examples().count();
    let done = failures.finish(n_train + tested.n())?;
    let accuracy = tested.estimate().unwrap_or_default();
    let unknown = match split {
        TestSplit::LeaveObjectOut { .. } => machine.ckm.examples().filter(|(_, example)| example.group.is_none()).count(),
        _ => 0,
    };
    if unknown > 0 {
        out.note(&format!(
            "The names of {unknown} of {n_train} images do not tell which object they show: only the image itself was left out for \
             them, so near copies may have been left in; then this reads too high."
        ));
    }
    let untrained = untrained(&tested, &machine.ckm, out);
    out.answer(
        || {
            json!({"accuracy": tested.accuracy(), "accuracy_spread": accuracy.overall.spread,
                "mean_recall": accuracy.mean_recall.value,
                "mean_recall_spread": accuracy.mean_recall.spread, "n_train": n_train, "n_test": tested.n(),
                "objects_unknown": unknown, "untrained": untrained, "classes": machine.ckm.classes().len(), "elements": machine.ckm.n_elements(),
                "train_ms_per_image": machine.ms_per_image(), "learn_ms_per_image": weights.as_ref().map_or(0.0, |(_, ms)| *ms),
                "epochs": weights.as_ref().map_or(0, |(report, _)| report.epochs), "test_ms_per_image": tested.ms_per_image(),
                "network_ms_per_image": tested.network_ms_per_image(),
                "model_bytes": model_bytes, "pairs_compared": tested.share_compared(),
                "classes_answered": tested.classes.iter().zip(tested.answered()).map(|(class, n)| (class.clone(), json!(n))).collect::<serde_json::Map<_, _>>(),
                "confusion": {"classes": tested.classes, "counts": tested.confusion}})
        },
        || {
            format!(
                "accuracy {:.4} on {} images (standard error {:.4} with these sizes of classes; mean over classes {:.4} +- {:.4}), after {n_train} images of {} classes ({:.2} ms an image to train, {:.1} ms to test, {:.1} MB){}\n{}",
                tested.accuracy(),
                tested.n(),
                accuracy.overall.spread,
                accuracy.mean_recall.value,
                accuracy.mean_recall.spread,
                machine.ckm.classes().len(),
                machine.ms_per_image(),
                tested.ms_per_image(),
                model_bytes as f64 / 1e6,
                weights.as_ref().map_or_else(String::new, |(report, ms)| learned(report, *ms)),
                table(&tested)
            )
        },
    );
    Ok(done)
}

/// The confusion matrix: a row for each true class, a column for each answer.
fn table(tested: &RecognitionScores) -> String {
    let width = tested.classes.iter().map(|class| class.chars().count()).max().unwrap_or(0).clamp(5, 24);
    let mut text = format!("{:width$} ", "");
    for class in &tested.classes {
        let short: String = class.chars().take(6).collect();
        let _ = write!(text, " {short:>6}");
    }
    for (class, row) in tested.classes.iter().zip(&tested.confusion) {
        let short: String = class.chars().take(width).collect();
        let _ = write!(text, "\n{short:width$} ");
        for n in row {
            let _ = write!(text, " {n:>6}");
        }
    }
    text
}
