//! `tessera train`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Result;
use serde_json::json;
use tessera_core::ckm::accuracy::{Accuracy, Estimate};
use tessera_core::ckm::fit::KernelFit;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::presets::{Preset, Subject};
use tessera_core::ckm::unknown::NoveltyBar;
use tessera_core::ckm::weights::{LearnOptions, LearnReport};
use tessera_core::ckm::{Ckm, CkmOptions, ElementKind, ElementSource, Search};
use tessera_core::data::{Labels, OpenOptions};
use tessera_core::error::display;
use tessera_core::eval::recognition::RecognitionScores;
use tessera_core::ids::ClassId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::plural::count;
use tessera_core::{Error, envelope};

use super::Done;
use super::args::{self, Build, Train};
use super::librarian::Librarian;
use super::network_args::Elements;
use super::output::{Failures, Output};
use super::switch::Switch;
use crate::command::{KindChoice, WeightChoice};
use crate::session::Session;
use crate::session::experiment::{Outcome, TestSplit};
use crate::session::kinds_kept::KindSetting;
use crate::session::library::{MODEL_ENDING, what_is};
use crate::session::library_kinds::{KindUse, kind_in_words, kind_use, kinds_in_words, scale_in_words};
use crate::session::models;
use crate::session::reports::{against_largest_class, folders_as_objects, last_report, told_apart};
use crate::session::train::{TrainOptions, Trained};

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Train) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let folder = librarian.named_if_nothing(&arguments.folder);
    if what_is(&folder).has_images() {
        return of_library(librarian, arguments, &folder);
    }
    if arguments.learned_features.is_some() {
        let expected = "left out for a folder: `--elements all` takes cells of the network";
        return Err(Error::Option { name: "--learned-features", found: "given".into(), expected }.into());
    }
    if arguments.words_network.is_some() {
        let expected = "left out for a folder: words are looked for in libraries";
        return Err(Error::Option { name: "--words-network", found: "given".into(), expected }.into());
    }
    let to = arguments.to.clone().unwrap_or_else(|| default_model(&arguments.folder));
    check_place(&to)?;
    let options = options(session, &arguments.build)?;
    let search = search(arguments.build.searching)?;
    let mut failures = Failures::new(out, arguments.build.report.as_deref())?;
    let options = TrainOptions {
        search,
        weights: learn_options(&arguments.build),
        kinds: kind_choice(&arguments.build)?,
        scales: fits_scales(&arguments.build),
        ..TrainOptions::of(options)
    };
    let trained = out.watched(session.progress(), || session.train(&arguments.folder, &open_options(&arguments.build), &options))?;
    tell(&trained, out);
    let Trained { recogniser, data, failed, train_ms_per_image, network_ms_per_image, weights, kinds, accuracy, .. } = trained;
    failures.skipped(&data.skipped)?;
    for failed in failed {
        failures.file(&failed.path, failed.error)?;
    }
    let recogniser = if arguments.without_names { recogniser.without_names()? } else { recogniser };
    models::save_model(&recogniser, &to, true, session.progress())?;

    let ckm = &recogniser.ckm;
    let images = ckm.examples().count();
    let failed = failures.failed();
    let done = failures.finish(images)?;
    let lost: Vec<&str> = data.classes.iter().map(String::as_str).filter(|name| ckm.class_id(name).is_none()).collect();
    if !lost.is_empty() {
        out.complain(&format!(
            "{} of {} were not learned, for none of their images could be read: {}",
            lost.len(),
            count(data.classes.len(), "class"),
            lost.join(", ")
        ));
    }
    tell_objects(&recogniser, out);
    let told = Told {
        preset: arguments.build.options.is_none().then(|| subject(&arguments.build)),
        in_use: None,
        kinds: kinds.as_ref().map(|found| found.loss),
        scales: kinds.filter(|_| options.scales).map(|found| scaled(&found, ckm.options())),
        recalls: recalls(ckm.classes().iter().map(|class| class.name.as_str()), accuracy.as_ref()),
    };
    answer(out, &recogniser, failed, Some([train_ms_per_image, network_ms_per_image]), weights.as_ref(), &told, &to);
    Ok(done)
}

/// Evaluates and saves the recogniser of a library; it was trained when images were imported and
/// labelled.
fn of_library(librarian: &Librarian<'_>, arguments: &Train, folder: &Path) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let build = &arguments.build;
    let refused = match (&build.options, &build.elements, build.labels) {
        _ if build.searching.search.is_some() => Some(("--search", "given".to_owned())),
        _ if fits_scales(build) => Some(("--kinds", "scales".to_owned())),
        (Some(_), ..) => Some(("--options", "given".to_owned())),
        (None, elements, _) if *elements != Elements::Mixed => Some(("--elements", elements.to_string())),
        (None, _, Labels::Auto) => None,
        (None, ..) => Some(("--labels", "given".to_owned())),
    };
    if let Some((name, found)) = refused {
        let expected = "left out for a library, which learned as it was filled; train its folder of images instead";
        return Err(Error::Option { name, found, expected }.into());
    }
    let to = arguments.to.clone().unwrap_or_else(|| models::model_folder(folder, "recogniser"));
    let mut failures = Failures::new(out, build.report.as_deref())?;
    let library = librarian.open(folder)?;
    if let Some(why) = library.read_only().filter(|_| is_in(&to, folder)) {
        return Err(why.error_of_place(&to).into());
    }
    check_place(&to)?;
    let weights = build.weights.map(|weights| match weights {
        args::Weights::Uniform => WeightChoice::Uniform,
        args::Weights::Learned => WeightChoice::Learned,
    });
    let judged = librarian.with_shared(library, |library| {
        if arguments.learned_features.is_some() || arguments.words_network.is_some() {
            out.watched(session.progress(), || {
                if let Some(switch) = arguments.learned_features {
                    session.set_learned_features(library, switch == Switch::On)?;
                }
                if let Some(name) = arguments.words_network.as_deref() {
                    session.set_words_network(library, Some(name).filter(|name| *name != "off"))?;
                }
                session.compute_learned_features(library)
            })?;
        }
        if arguments.words_network.is_some() {
            out.note(&match hold(library).words_network()? {
                Some(pair) => format!(
                    "Words find images by the pair `{}` too: it has looked at {} of {}.",
                    pair.name.as_deref().unwrap_or(&pair.hash),
                    pair.seen,
                    count(pair.images, "image")
                ),
                None => "Words find images by no pair of encoders.".into(),
            });
        }
        out.watched(session.progress(), || choose_kinds(session, library, build))?;
        let is_chosen = build.kinds.is_some() || build.preset.is_some();
        if is_chosen || arguments.learned_features.is_some() || arguments.words_network.is_some() {
            // Choices are for libraries that have nothing to judge, too.
            let library = hold(library);
            if library.recogniser().ckm().classes().len() < 2 {
                let (learned, kinds) = (library.learned_features()?, kind_use(&library));
                let words = if learned.is_on { "on" } else { "off" };
                let chosen = if is_chosen { in_use(&kinds) } else { String::new() };
                out.answer(
                    || json!({"learned_features": learned.recognises, "preset": kinds.setting.subject.name()}),
                    || format!("Learned features are {words}. There are no two classes to judge the recogniser by, so no model was saved.{chosen}"),
                );
                return Ok(None);
            }
        }
        let weights = out.watched(session.progress(), || session.judge(library, weights))?;
        let library = hold(library);
        let missing: Vec<PathBuf> = library.recogniser().missing().iter().filter_map(|id| library.path(*id)).collect();
        let ms = session.train_ms_per_image(&library)?;
        let report = last_report(&library).map(|(_, report)| report).unwrap_or_default();
        let recalls = recalls(report.classes.iter().map(String::as_str), report.accuracy.as_ref());
        let kinds = kind_use(&library);
        let in_use = is_chosen.then(|| in_use(&kinds));
        let told = Told { preset: Some(kinds.setting.subject), in_use, kinds: kinds.loss, scales: None, recalls };
        Ok(Some((models::model(&library)?, missing, ms, weights, told)))
    })?;
    let Some((model, missing, ms, weights, told)) = judged else { return Ok(Done::Whole) };
    let model = if arguments.without_names { model.without_names()? } else { model };
    models::save_model(&model, &to, true, session.progress())?;
    for path in &missing {
        let advice = "see that the file is there and import its folder again, or use `tessera relocate`";
        failures.file(path, Error::data(path, "an image of the library that can be read", "none", advice))?;
    }
    let done = failures.finish(model.ckm.examples().count())?;
    tell_objects(&model, out);
    answer(out, &model, missing.len(), ms, weights.as_ref(), &told, &to);
    Ok(done)
}

/// Lets kinds of a library count as the arguments say, if they do.
fn choose_kinds(session: &Session, library: &Mutex<Library>, build: &Build) -> tessera_core::Result<()> {
    let now = kind_use(&hold(library)).setting;
    match (build.kinds, build.preset) {
        (None, None) => {}
        (Some(args::Kinds::Back), Some(_)) => {
            let expected = "left out beside `--kinds back`, which brings the preset of before";
            return Err(Error::Option { name: "--preset", found: "given".into(), expected });
        }
        (Some(args::Kinds::Back), None) => {
            if !session.kinds_back(library)? {
                let (expected, found) = ("a change of how kinds count, to take back", "none so far");
                return Err(Error::data(hold(library).folder(), expected, found, "leave `--kinds back` out"));
            }
        }
        (kinds, preset) => {
            let choice = if kinds.is_some() { kind_choice(build)? } else { now.choice };
            let setting = KindSetting { subject: preset.map_or(now.subject, |_| subject(build)), choice };
            // What is asked for by name is fitted anew.
            if kinds.is_some() || !session.choose_kinds(library, setting)? {
                session.fit_kinds(library, setting)?;
            }
        }
    }
    Ok(())
}

/// The recall of each class of which images were judged.
fn recalls<'a>(classes: impl Iterator<Item = &'a str>, accuracy: Option<&Accuracy>) -> Vec<(String, Estimate)> {
    let of = classes.zip(accuracy.map_or(&[][..], |accuracy| &accuracy.recalls));
    of.filter_map(|(class, recall)| Some((class.to_owned(), (*recall)?))).collect()
}

/// Classes whose recalls are told in words.
const TOLD: usize = 30;

/// What training tells beside the model.
struct Told {
    /// What is in the images, unless options come from a file.
    preset: Option<Subject>,
    /// How kinds count in a library, in a sentence that follows others, where that was chosen.
    in_use: Option<String>,
    /// The log loss of left-out images with usual and with fitted kinds, if these were fitted.
    kinds: Option<[f64; 2]>,
    /// What choosing scales came to, as sentences that follow others, if that was wanted.
    scales: Option<String>,
    /// Of single classes.
    recalls: Vec<(String, Estimate)>,
}

/// Prints the statistics of training; `ms` is the time of an image, and what networks took of it.
fn answer(
    out: &Output,
    recogniser: &RecogniserModel,
    failed: usize,
    ms: Option<[f64; 2]>,
    weights: Option<&(LearnReport, f64)>,
    told: &Told,
    to: &Path,
) {
    let (ckm, metrics) = (&recogniser.ckm, &recogniser.metrics);
    let (images, classes, elements) = (ckm.examples().count(), ckm.classes().len(), ckm.n_elements());
    out.answer(
        || {
            json!({"images": images, "classes": classes, "elements": elements, "held_out_accuracy": metrics.held_out_accuracy,
                "held_out_spread": metrics.held_out_spread,
                "held_out_mean_recall": metrics.held_out_mean_recall.map(|recall| recall.value),
                "held_out_mean_recall_spread": metrics.held_out_mean_recall.map(|recall| recall.spread),
                "recalls": told.recalls.iter().map(|(class, recall)| json!({"class": class, "recall": recall.value, "spread": recall.spread})).collect::<Vec<_>>(),
                "held_out": metrics.held_out, "largest_class": ckm.largest_class(), "not_told_apart": metrics.not_told_apart,
                "unknown": metrics.unknown.map(|bar| json!({"answered": 1.0 - bar.taken, "found": bar.found})),
                "novelty": metrics.novelty.map(|bar| json!({"above": bar.novelty, "taken": bar.taken})),
                "answered": metrics.unknown_curve.points.iter().map(|point| json!({"answered": point.answered(), "right": point.right, "found": point.bar.found})).collect::<Vec<_>>(),
                "objects_unknown": metrics.objects_unknown, "failed": failed, "learned_features": ckm.options().is_of_network(),
                "train_ms_per_image": ms.map(|[all, _]| all), "network_ms_per_image": ms.map(|[_, network]| network), "learn_ms_per_image": weights.map_or(0.0, |(_, ms)| *ms),
                "epochs": weights.map_or(0, |(report, _)| report.epochs),
                "preset": told.preset.map(Subject::name), "kinds": ckm.options().kinds_with_pieces().map(|(_, kind)| kind_in_json(kind)).collect::<Vec<_>>(),
                "kinds_loss": told.kinds.map(|loss| loss[1]), "kinds_loss_before": told.kinds.map(|loss| loss[0]), "model": to.to_string_lossy()})
        },
        || {
            let accuracy = match metrics.held_out_accuracy {
                Some(accuracy) => {
                    let spread = metrics.held_out_spread.map_or_else(String::new, |spread| format!(" +- {:.1}", 100.0 * spread));
                    let mean = metrics.held_out_mean_recall.map_or_else(String::new, |recall| {
                        format!(" (mean over classes {:.1} +- {:.1} %)", 100.0 * recall.value, 100.0 * recall.spread)
                    });
                    let (of, by) = if metrics.held_out < images {
                        (format!(" of {images}"), ", each class counting by its images")
                    } else {
                        (String::new(), "")
                    };
                    let judged = metrics.held_out;
                    let together = told_apart(&metrics.not_told_apart);
                    let sentences: Vec<String> = [against_largest_class(ckm.largest_class()), together].into_iter().flatten().collect();
                    let apart = sentences.iter().map(|sentence| format!(". {}", sentence.trim_end_matches('.'))).collect::<String>();
                    format!("{:.1}{spread} % right{mean}{by}, on {judged}{of} images judged {}{apart}", 100.0 * accuracy, without(recogniser))
                }
                None => "no class has two objects to judge it by".into(),
            };
            let of_network = |network: f64| if network > 0.0 { format!(", {network:.2} of these the network's") } else { String::new() };
            let ms = ms.map_or_else(String::new, |[all, network]| format!(", {all:.2} ms an image{}", of_network(network)));
            let mut of_classes = String::new();
            for (class, recall) in told.recalls.iter().take(TOLD) {
                let _ = write!(of_classes, "\n  {:5.1} +- {:4.1} % of {class}", 100.0 * recall.value, 100.0 * recall.spread);
            }
            if told.recalls.len() > TOLD {
                let _ = write!(of_classes, "\n  ... and {} more classes, which --json lists", told.recalls.len() - TOLD);
            }
            format!(
                "Trained on {} of {} ({elements} elements{ms}{}): {accuracy}.{of_classes}{}{}{}{}{}\nThe model is in {}",
                count(images, "image"),
                count(classes, "class"),
                if ckm.options().is_of_network() { ", learned features" } else { "" },
                weights.map_or_else(String::new, |(report, ms)| learned(report, *ms)),
                told.in_use.as_deref().unwrap_or_default(),
                told.kinds.map_or_else(String::new, |loss| fitted(loss, ckm.options())),
                told.scales.as_deref().unwrap_or_default(),
                unknown_in_words(metrics),
                display(to)
            )
        },
    );
}

/// What the model can tell of images of classes that it does not know, as sentences that follow
/// others; nothing where it was not judged.
fn unknown_in_words(metrics: &Metrics) -> String {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut words = match &metrics.unknown {
        _ if metrics.held_out_accuracy.is_none() => return String::new(),
        Some(bar) => format!(
            "\nImages of classes that it does not know: {} are noticed as unknown, and {} of those that it knows are taken for unknown.",
            percent(bar.found),
            percent(bar.taken)
        ),
        None if metrics.unknown_curve.is_empty() => {
            "\nIt was judged on too few classes or images to tell images of classes that it does not know.".into()
        }
        None => {
            "\nIt cannot tell yet which images are of classes that it does not know: `classify --answered` sets a bar all the same.".into()
        }
    };
    if let Some(NoveltyBar { taken, .. }) = metrics.novelty {
        let _ =
            write!(words, "\nImages unlike all training images are unknown in any case: {} of those of its classes are.", percent(taken));
    }
    words
}

/// What learning weights came to, as sentences that follow others.
pub(super) fn learned(report: &LearnReport, ms: f64) -> String {
    match (report.held_out.first(), report.held_out.get(report.epochs)) {
        (Some(uniform), Some(learned)) if report.epochs > 0 => format!(
            "\nWeights were learned in {} ({ms:.1} ms an image): {:.1} % right on held-out objects, {:.1} % with uniform weights.",
            count(report.epochs, "pass"),
            100.0 * learned,
            100.0 * uniform
        ),
        (Some(_), _) => {
            format!("\nNo learned weights were better on held-out objects than uniform ones ({ms:.1} ms an image), so these stay.")
        }
        (None, _) => "\nNo class has two objects to learn weights by, so they stay uniform.".into(),
    }
}

/// A kind of elements and how it counts.
fn kind_in_json(kind: &ElementKind) -> serde_json::Value {
    let plain = |value: f32| (1e6 * f64::from(value)).round() / 1e6;
    let LeafKernel { weight, cost, reach, .. } = kind.kernel;
    json!({"kind": kind.source.name(), "weight": plain(weight), "cost": plain(cost), "reach": plain(reach),
        "scale": scale_in_words(&kind.source)})
}

/// How kinds count in a library now, as a sentence that follows others; their weights are told
/// after it where they were fitted.
fn in_use(kinds: &KindUse) -> String {
    let weights = match (kinds.loss, kinds.setting.choice) {
        (Some(_), _) => String::new(),
        (None, KindChoice::Preset) => format!(": {}", kinds.words),
        (None, _) => format!(" once they are judged, and until then: {}", kinds.words),
    };
    format!("\nIn use now: {}{weights}.", kinds.setting.words())
}

/// What fitting kinds came to, as sentences that follow others.
fn fitted([before, after]: [f64; 2], options: &CkmOptions) -> String {
    let words = kinds_in_words(options);
    if before == after {
        return format!("\nNo other weights of kinds were clearly better on left-out images, so these stay: {words}.");
    }
    format!("\nKinds count as was best on left-out images: {words} (loss {after:.3} nats, {before:.3} before).")
}

/// What choosing scales came to, as sentences that follow others.
fn scaled(found: &KernelFit, options: &CkmOptions) -> String {
    if found.is_without_scales {
        return "\nSome images could not be read again, so other scales of pieces could not be chosen, and all stay.".into();
    }
    if found.scales.is_empty() {
        return "\nNo other scale of pieces was clearly better on left-out images, so all stay.".into();
    }
    let of = |(k, source): &(usize, ElementSource)| format!("{} in {}", kind_in_words(&options.kinds[*k].source), scale_in_words(source));
    format!(
        "\nPieces of other scales were clearly better on left-out images: {}.",
        found.scales.iter().map(of).collect::<Vec<_>>().join(", ")
    )
}

/// How much kinds of elements and their places count: what a file of options says stays, unless
/// something else was asked for.
///
/// # Errors
/// [`Error::Option`] for what only a library has.
pub(super) fn kind_choice(build: &Build) -> tessera_core::Result<KindChoice> {
    Ok(match build.kinds {
        None if build.options.is_some() => KindChoice::Preset,
        Some(args::Kinds::Preset) => KindChoice::Preset,
        None | Some(args::Kinds::Fitted | args::Kinds::Scales) => KindChoice::Fitted,
        Some(args::Kinds::Places) => KindChoice::Places,
        Some(args::Kinds::Back) => {
            let expected = "left out for a folder: only a library keeps how kinds counted before";
            return Err(Error::Option { name: "--kinds", found: "back".into(), expected });
        }
    })
}

/// Whether the scales at which elements are cut are chosen too.
pub(super) fn fits_scales(build: &Build) -> bool {
    matches!(build.kinds, Some(args::Kinds::Scales))
}

/// Whether a path lies in a folder.
fn is_in(path: &Path, folder: &Path) -> bool {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    full(path).starts_with(full(folder))
}

/// Checks that a model can be written there, before the long part begins.
fn check_place(to: &Path) -> Result<(), Error> {
    models::check_model_place(to, true)?;
    if to.extension().is_some_and(|ending| ending == MODEL_ENDING) { Ok(()) } else { envelope::check_place(to) }
}

/// Notes for the user about the training images.
pub(super) fn tell(trained: &Trained, out: &Output) {
    out.note(&trained.data.layout.to_string());
    if trained.featureless > 0 {
        out.note(&format!("{} gave no element at all, and taught nothing.", count(trained.featureless, "image")));
    }
    let (unknown, all) = (trained.recogniser.metrics.objects_unknown, trained.recogniser.ckm.examples().count());
    if unknown > 0 {
        let which = if unknown == all { "The names do not tell".into() } else { format!("{unknown} of {all} names do not tell") };
        out.note(&format!(
            "{which} which object the image shows: near copies of it may have been left in; then accuracy and confidence read too high."
        ));
    }
}

/// Tells of folders inside those of classes which are objects, but may be meant as classes.
fn tell_objects(model: &RecogniserModel, out: &Output) {
    let ckm = &model.ckm;
    let class = |class: ClassId| ckm.classes()[class.index()].name.as_str();
    if let Some(words) = folders_as_objects(ckm.examples().map(|(of, example)| (class(of), example.group.as_deref()))) {
        out.note(&format!("{words}, all images of which are left out together; if they are classes, use --labels folder-paths."));
    }
}

/// What was left out when images were evaluated, in words.
pub(super) fn without(recogniser: &RecogniserModel) -> &'static str {
    if recogniser.metrics.objects_unknown == recogniser.ckm.examples().count() { "each without itself" } else { "without their objects" }
}

fn default_model(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut name = absolute.file_name().unwrap_or("tessera".as_ref()).to_owned();
    name.push(".model");
    PathBuf::from(name)
}

pub(super) fn open_options(build: &Build) -> OpenOptions {
    labelled(build.labels)
}

/// Images with labels that are read from there.
pub(super) fn labelled(labels: Labels) -> OpenOptions {
    OpenOptions { labels, ..OpenOptions::default() }
}

/// How weights are learned, if they are.
pub(super) fn learn_options(build: &Build) -> Option<LearnOptions> {
    match build.weights {
        None | Some(args::Weights::Uniform) => None,
        Some(args::Weights::Learned) => Some(LearnOptions::default()),
    }
}

pub(super) fn options(session: &Session, build: &Build) -> Result<CkmOptions> {
    let mut options = machine(session, &build.elements, build.options.as_deref())?;
    subject(build).set(&mut options);
    Ok(options)
}

/// What is in the images.
fn subject(build: &Build) -> Subject {
    match build.preset {
        None | Some(args::Subject::Object) => Subject::Object,
        Some(args::Subject::Scene) => Subject::Scene,
        Some(args::Subject::Texture) => Subject::Texture,
    }
}

/// Runs an experiment, and tells of each file that could not be used.
pub(super) fn experiment(
    session: &Session,
    out: &Output,
    split: &TestSplit<'_>,
    build: &Build,
    options: &TrainOptions,
    failures: &mut Failures<'_>,
) -> Result<Outcome> {
    let mut outcome = out.watched(session.progress(), || session.experiment(split, &open_options(build), options))?;
    failures.skipped(&outcome.skipped)?;
    for failed in outcome.learned.failed.drain(..).chain(outcome.tested.failed.drain(..)) {
        failures.file(&failed.path, failed.error)?;
    }
    Ok(outcome)
}

/// The classes of which there are test images and no training image; a note tells of them.
pub(super) fn untrained(tested: &RecognitionScores, ckm: &Ckm, out: &Output) -> Vec<String> {
    let untrained = tested.untrained(ckm);
    if !untrained.is_empty() {
        let images: u32 = untrained.iter().map(|(_, n)| n).sum();
        let names: Vec<&str> = untrained.iter().map(|(class, _)| *class).collect();
        out.note(&format!(
            "{} of {} test images are of classes without a training image, so their answers all count as wrong: {}",
            images,
            tested.n(),
            names.join(", ")
        ));
    }
    untrained.into_iter().map(|(class, _)| class.to_owned()).collect()
}

/// The options of a machine: those in a file if there is one, or else of these kinds of elements.
pub(super) fn machine(session: &Session, elements: &Elements, file: Option<&Path>) -> Result<CkmOptions> {
    let options = match file {
        Some(path) => options_in(path)?,
        None => usual(session, elements)?,
    };
    options.check_networks()?;
    Ok(CkmOptions { seed: session.seed(), ..options })
}

fn options_in(path: &Path) -> Result<CkmOptions> {
    let text = std::fs::read_to_string(path).map_err(Error::text(path))?;
    let wrong =
        |error: ron::de::SpannedError| Error::data(path, "options as --print-options writes them", error.to_string(), "mend that line");
    Ok(ron::from_str(&text).map_err(wrong)?)
}

fn usual(session: &Session, elements: &Elements) -> Result<CkmOptions> {
    let preset = match elements {
        Elements::Orb => Preset::Orb,
        Elements::Hog => Preset::Hog,
        Elements::Colour => Preset::Colour,
        Elements::Mixed => Preset::Mixed,
        Elements::Network => Preset::Network,
        Elements::All => Preset::All,
        Elements::Brought(name) if session.networks().check_free(name).is_ok() => {
            let expected = "orb, hog, colour, mixed, network, all, or a network that `tessera network list` shows";
            return Err(Error::Option { name: "--elements", found: format!("`{name}`"), expected }.into());
        }
        Elements::Brought(name) => return Ok(session.machine_of_network(name)?),
    };
    Ok(preset.options())
}

/// The search that the arguments ask for, if they do.
pub(super) fn search(arguments: args::Searching) -> Result<Option<Search>> {
    let args::Searching { search, shortlist, probes } = arguments;
    let refuse = |name, found: usize, expected| Err(Error::Option { name, found: found.to_string(), expected }.into());
    match (search, shortlist, probes) {
        (Some(args::Search::Exact | args::Search::Index), Some(n), _) => {
            return refuse("--shortlist", n, "left out unless with --search shortlist");
        }
        (Some(args::Search::Exact | args::Search::Shortlist), _, Some(n)) => {
            return refuse("--probes", n, "left out unless with --search index");
        }
        _ => {}
    }
    let search = search.map(|search| match search {
        args::Search::Exact => Search::Exact,
        args::Search::Shortlist => shortlist.map_or(Search::SHORTLIST, |images| Search::Shortlist { images }),
        args::Search::Index => probes.map_or(Search::INDEX, |probes| Search::Index { probes }),
    });
    search.map_or(Ok(()), |search| search.check())?;
    Ok(search)
}
