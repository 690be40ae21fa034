//! `tessera eval sets`: one table of a recogniser on several folders of photographs.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::eval::calibration::{calibration_error, calibration_error_by_chance};

use super::Done;
use super::args::EvalSets;
use super::output::{Failures, Output};
use super::train::{experiment, fits_scales, kind_choice, learn_options, options, search, untrained};
use crate::session::Session;
use crate::session::experiment::{Outcome, TestSplit};
use crate::session::train::{Terms, TrainOptions};

pub(super) fn run(session: &Session, arguments: &EvalSets, out: &Output) -> Result<Done> {
    let build = &arguments.build;
    let options = TrainOptions {
        ckm: options(session, build)?,
        search: search(build.searching)?,
        terms: Terms::Fitted,
        weights: learn_options(build),
        kinds: kind_choice(build)?,
        scales: fits_scales(build),
    };
    // What is wrong with one of them is told before the first is trained.
    for set in &arguments.sets {
        check(set)?;
    }
    let mut failures = Failures::new(out, build.report.as_deref())?;
    out.words(|| {
        format!(
            "{:24} {:>6} {:>6} {:>7}  {:>8} {:>16} {:>8}  {:>18} {:>8} {:>10}",
            "set", "train", "test", "classes", "largest", "accuracy", "classes", "calibration error", "ms", "of network"
        )
    });
    let mut n = 0;
    for set in &arguments.sets {
        let split = TestSplit::Folders { train: &set.join("train"), test: &set.join("test") };
        let Outcome { learned, tested, calibration, .. } = experiment(session, out, &split, build, &options, &mut failures)?;
        let n_train = learned.ckm.examples().count();
        n += n_train + tested.n();
        let name = set.file_name().map_or_else(|| display(set), |name| name.to_string_lossy().into_owned());
        let accuracy = tested.estimate().unwrap_or_default();
        let untrained = untrained(&tested, &learned.ckm, out);
        let answers: Vec<(f64, bool)> = tested.margins.iter().map(|&(margin, is_right)| (calibration.at(margin), is_right)).collect();
        let confidences: Vec<f64> = answers.iter().map(|answer| answer.0).collect();
        let (error, by_chance) = (calibration_error(answers), calibration_error_by_chance(&confidences, session.seed()));
        // The share of a recogniser that always answers the class with the most training images.
        let classes = learned.ckm.classes();
        let largest = classes.iter().reduce(|most, class| if class.examples.len() > most.examples.len() { class } else { most });
        let row = largest.and_then(|class| tested.classes.iter().position(|name| *name == class.name));
        let largest = row.map_or(0.0, |row| f64::from(tested.confusion[row].iter().sum::<u32>()) / tested.n() as f64);
        out.answer(
            || {
                json!({"set": name, "n_train": n_train, "n_test": tested.n(), "untrained": untrained, "classes": classes.len(), "accuracy": tested.accuracy(),
                    "accuracy_spread": accuracy.overall.spread, "mean_class_accuracy": accuracy.mean_recall.value,
                    "largest_class": largest, "calibration_error": error, "calibration_error_by_chance": by_chance,
                    "train_ms_per_image": learned.ms_per_image(), "test_ms_per_image": tested.ms_per_image(),
                    "network_ms_per_image": tested.network_ms_per_image()})
            },
            || {
                format!(
                    "{name:24} {n_train:>6} {:>6} {:>7}  {largest:>8.3} {:>8.3} +- {:.3} {:>8.3}  {error:>6.3} (chance {by_chance:.3}) {:>8.1} {:>10.1}",
                    tested.n(),
                    classes.len(),
                    tested.accuracy(),
                    accuracy.overall.spread,
                    accuracy.mean_recall.value,
                    tested.ms_per_image(),
                    tested.network_ms_per_image(),
                )
            },
        );
    }
    failures.finish(n)
}

/// Whether a set has both of its folders.
fn check(set: &Path) -> Result<(), Error> {
    let lacking = ["train", "test"].into_iter().find(|part| !set.join(part).is_dir());
    lacking.map_or(Ok(()), |part| {
        let advice = "put images to train on and to test on into folders of these names, in a folder for each class";
        Err(Error::data(set, "a folder with `train` and `test`", format!("no folder `{part}`"), advice))
    })
}
