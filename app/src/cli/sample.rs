//! `tessera` without a command: trains on the built-in sample and explains one answer in words.

use anyhow::{Context, Result};
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{CkmOptions, Without};
use tessera_core::data::{Dataset, Labels, OpenOptions};
use tessera_core::error::display;

use super::Done;
use super::classify::in_words;
use super::output::Output;
use super::train::tell;
use crate::session::Session;
use crate::session::train::TrainOptions;

pub(super) fn run(session: &Session, out: &Output) -> Result<Done> {
    let sample = session.sample()?;
    out.note(&format!("Training on the built-in sample in {}", display(&sample.train)));
    let options = CkmOptions { seed: session.seed(), ..Preset::Mixed.options() };
    let trained = out.watched(session.progress(), || session.train(&sample.train, &OpenOptions::default(), &TrainOptions::of(options)))?;
    tell(&trained, out);
    if !trained.failed.is_empty() {
        let n = trained.failed.len();
        out.note(&format!("{n} file cannot be read, on purpose: the sample has a few faults to find, listed in its planted.tsv."));
    }
    let model = &trained.recogniser;
    let tray = OpenOptions { labels: Labels::None, ..OpenOptions::default() };
    let tray = Dataset::open(&sample.try_these, &tray, session.progress())?;
    let chosen = session.seed() as usize % tray.items.len().max(1);
    let path = tray.items.get(chosen).map(|item| item.path()).context("the sample has no images to try")?;
    let answer = session.recognise(model, path)?;
    let explanations = session.explain(model, &answer, Without::Nothing);
    let metrics = &model.metrics;
    out.answer(
        || {
            serde_json::json!({"images": model.ckm.examples().count(), "classes": model.ckm.classes().len(),
                "held_out_accuracy": metrics.held_out_accuracy, "train_ms_per_image": trained.train_ms_per_image,
                "path": answer.path.to_string_lossy(), "confidence": answer.confidence,
                "class": answer.ranking.first().map(|(class, _)| &model.ckm.classes()[class.index()].name)})
        },
        || {
            format!(
                "Learned {} images of {} classes in one pass, {:.2} ms an image; {:.0} % right on {} images judged without their objects.\n\n\
                 An image of an object it has never seen:\n{}\n\n\
                 Next: tessera train FOLDER --to MODEL, then tessera classify MODEL IMAGE --explain",
                model.ckm.examples().count(),
                model.ckm.classes().len(),
                trained.train_ms_per_image,
                100.0 * metrics.held_out_accuracy.unwrap_or(0.0),
                metrics.held_out,
                in_words(model, &answer, false, &explanations)
            )
        },
    );
    Ok(Done::Whole)
}
