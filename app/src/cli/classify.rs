//! `tessera classify`.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Map, Value, json};
use tessera_core::Error;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::explain::{Contribution, Explanation, Match};
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::whole::Alike;
use tessera_core::ckm::{Example, Without};
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::features::hash_file;
use tessera_core::library::import::hold;
use tessera_core::library::state::State;
use tessera_core::picture::decode::SIDE;

use super::Done;
use super::args::Classify;
use super::librarian::{Librarian, number};
use super::output::{Failures, Output};
use super::paths::images;
use super::train::search;
use crate::command::WeightChoice;
use crate::session::Session;
use crate::session::collage::Collage;
use crate::session::library::{Target, what_is};
use crate::session::library_weights::weight_choice;
use crate::session::models;
use crate::session::recognise::{RecognisedImage, kind_name};
use crate::session::reports::{self, last_report, listed};

/// Pieces that are printed one by one; the rest is summed up.
const TOLD: usize = 8;

/// The source of answers: a model, or a library in its current state.
struct Answerer {
    model: RecogniserModel,
    library: Option<Shelf>,
}

/// The images of a library and their paths.
struct Shelf {
    state: State,
    ids: HashMap<PathBuf, ItemId>,
}

/// An image to be recognised.
struct ImageToRecognise {
    path: PathBuf,
    /// The image of the library, if it was given by its number.
    id: Option<ItemId>,
}

/// What is printed beside the answer itself.
struct Beside<'a> {
    answerer: &'a Answerer,
    is_unknown: bool,
    explanations: &'a [Explanation],
    without: Without<'a>,
}

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Classify) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let search = search(arguments.searching)?;
    if let Some(folder) = &arguments.draw {
        check_drawings(folder)?;
    }
    let mut answerer = answerer(librarian, &librarian.named_if_nothing(&arguments.model), &arguments.paths)?;
    if let Some(search) = search {
        out.watched(session.progress(), || session.set_search(&mut answerer.model, search))?;
    }
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    if let Some(folder) = &arguments.draw {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    let (mut answered, mut learned) = (0, 0);
    for asked in all_asked(session, &answerer, &arguments.paths, &mut failures)? {
        if session.progress().is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        let example = asked.id.and_then(|id| answerer.example(id));
        // An image of the library would be compared with itself, so it is left out with its object.
        let without = example.map_or(Without::Nothing, Example::without_itself);
        let answer = session
            .picture(&asked.path, SIDE)
            .and_then(|picture| session.recognise_picture(&answerer.model, &asked.path, picture, without));
        match answer {
            Ok(answer) => {
                answered += 1;
                learned += usize::from(example.is_none() && answerer.id_of(&asked.path).is_some_and(|id| answerer.example(id).is_some()));
                let wanted = arguments.explain || arguments.draw.is_some();
                let explanations = if wanted { session.explain(&answerer.model, &answer, without) } else { Vec::new() };
                let told = if arguments.explain { explanations.as_slice() } else { &[] };
                let told = Beside {
                    answerer: &answerer,
                    is_unknown: is_unknown(arguments, &answerer.model, &answer),
                    explanations: told,
                    without,
                };
                out.answer(|| in_json(&answer, &told), || in_words(&answerer.model, &answer, told.is_unknown, told.explanations));
                if let Some(folder) = &arguments.draw {
                    draw(session, arguments, &answerer, &answer, &explanations, folder, answered, out)
                        .or_else(|error| failures.file(&asked.path, error))?;
                }
            }
            Err(error) => failures.file(&asked.path, error)?,
        }
    }
    let Metrics { unknown_curve, novelty, .. } = &answerer.model.metrics;
    if arguments.answered.is_some_and(|share| share < 1.0 || novelty.is_none()) && unknown_curve.is_empty() {
        out.note("--answered changes nothing: this model was judged on too few classes or images to choose what is unknown.");
    }
    if learned > 0 {
        out.note(&format!(
            "{learned} of these images were learned by this library and were compared with themselves too; as #ID an image is judged \
             without the images of its object."
        ));
    }
    failures.finish(answered)
}

/// Whether an answer counts as unknown.
fn is_unknown(arguments: &Classify, model: &RecogniserModel, answer: &RecognisedImage) -> bool {
    arguments
        .unknown_below
        .map_or_else(|| model.metrics.unknown_by(arguments.answered, answer.standing).is_some(), |least| answer.confidence < least)
}

/// Whether the image looks like none of the classes, by the bar that was found when the model was
/// judged.
fn looks_unknown(model: &RecogniserModel, answer: &RecognisedImage) -> bool {
    model.metrics.unknown_by(None, answer.standing).is_some()
}

/// Drawings do not go into a library or a model, whose folders are the program's own.
fn check_drawings(folder: &Path) -> Result<(), Error> {
    let full = std::path::absolute(folder).map_err(Error::io("find", folder))?;
    let found = full.ancestors().find_map(|path| match what_is(path) {
        Target::Library => Some("a library"),
        Target::Collection => Some("a collection"),
        Target::Backup => Some("a backup"),
        Target::Model => Some("a model"),
        _ => None,
    });
    found.map_or(Ok(()), |found| Err(Error::data(folder, "a folder for drawings", found, "choose another folder")))
}

/// The library or the model at a path.
fn answerer(librarian: &Librarian<'_>, path: &Path, paths: &[PathBuf]) -> Result<Answerer> {
    let out = librarian.out;
    match what_is(path) {
        Target::Library | Target::Collection | Target::Backup => librarian.with_shared(librarian.open(path)?, |library| {
            if is_judging_due(&hold(library)) {
                out.note(
                    "The library is judged first, for it never was or has changed much since (`tessera train LIBRARY` does that, too).",
                );
                out.watched(librarian.session.progress(), || librarian.session.judge_uniform(library))?;
            }
            let library = hold(library);
            let model = models::live_recogniser(&library);
            if model.ckm.classes().is_empty() {
                if let Some(error) = library.unlearned() {
                    return Err(error.into());
                }
                let advice = "label images of two classes, or import folders that are classes";
                return Err(Error::data(path, "labelled images to compare with", "no labelled image yet", advice).into());
            }
            librarian.note_unlearned(&library);
            if model.calibration.n == 0 {
                out.note("Confidence means nothing here: no class has two objects to judge it by.");
            }
            // While the library is open, so that it keeps what is made.
            if paths.iter().any(|path| number(path).is_some() || path.exists()) {
                prepare(librarian, &model)?;
            }
            let state = library.state().clone();
            Ok(Answerer { model, library: Some(Shelf { state, ids: library.by_path() }) })
        }),
        Target::Nothing => {
            let advice = "train one with `tessera train FOLDER --to MODEL`";
            Err(Error::data(path, "a library or a model", "nothing of that name", advice).into())
        }
        _ => {
            let model = models::load_model(path)?;
            if model.calibration.n == 0 {
                out.note("This model's confidence means nothing: it was saved before the recogniser was judged (`tessera train`), or no class had two objects to judge it by.");
            }
            Ok(Answerer { model, library: None })
        }
    }
}

/// Makes what all answers need, of which it shows progress.
fn prepare(librarian: &Librarian<'_>, model: &RecogniserModel) -> Result<()> {
    let session = librarian.session;
    let prepared = || session.on_threads(|| model.ckm.prepare_by(session.progress()));
    Ok(librarian.out.watched(session.progress(), prepared)?)
}

/// The images to classify: `#ID`s of a library, and paths, with each folder replaced by the images
/// in it.
fn all_asked(session: &Session, answerer: &Answerer, paths: &[PathBuf], failures: &mut Failures<'_>) -> Result<Vec<ImageToRecognise>> {
    let mut all = Vec::new();
    for path in paths {
        let Some((shelf, id)) = answerer.library.as_ref().and_then(|shelf| Some((shelf, number(path)?))) else {
            let files = images(session, std::slice::from_ref(path), failures)?;
            all.extend(files.into_iter().map(|path| ImageToRecognise { path, id: None }));
            continue;
        };
        match shelf.state.image(id).and_then(|image| shelf.state.path_of(image)) {
            Some(path) => all.push(ImageToRecognise { path, id: Some(id) }),
            None => failures.file(path, Error::data(path, "an image of this library", "no file of that number", "check the number"))?,
        }
    }
    Ok(all)
}

/// Whether a library is to be judged before it answers.
fn is_judging_due(library: &Library) -> bool {
    let ckm = library.recogniser().ckm();
    let report = last_report(library).map(|(_, report)| report);
    let classes = ckm.classes().iter().map(|class| class.name.as_str());
    weight_choice(library) == WeightChoice::Uniform && reports::is_judging_due(report.as_ref(), classes, ckm.examples().count())
}

impl Answerer {
    /// The training example of an image.
    fn example(&self, id: ItemId) -> Option<&Example> {
        self.model.ckm.examples().find(|(_, example)| example.id == id).map(|(_, example)| example)
    }

    /// The image of the library whose file, or a copy of it, this is.
    fn id_of(&self, path: &Path) -> Option<ItemId> {
        let shelf = self.library.as_ref()?;
        let same_bytes = || shelf.state.with_hash(hash_file(path).ok()?).map(|image| image.id);
        std::fs::canonicalize(path).ok().and_then(|path| shelf.ids.get(&path).copied()).or_else(same_bytes)
    }

    /// The path of an image of the library.
    fn place(&self, id: ItemId) -> Option<PathBuf> {
        self.library.as_ref().and_then(|shelf| shelf.state.path_of(shelf.state.image(id)?))
    }
}

/// Draws an explanation into `folder`, under a name that begins with the number of the answer.
#[expect(clippy::too_many_arguments, reason = "a private step of run, which holds all of these")]
fn draw(
    session: &Session,
    arguments: &Classify,
    answerer: &Answerer,
    answer: &RecognisedImage,
    explanations: &[Explanation],
    folder: &Path,
    number: usize,
    out: &Output,
) -> tessera_core::Result<()> {
    let root = arguments.training_images.clone().unwrap_or_else(|| PathBuf::from(&answerer.model.root));
    let find = |id, name: &str| answerer.place(id).unwrap_or_else(|| root.join(name));
    let drawing = session.draw_explanation(&answerer.model, answer, explanations, &find);
    let stem: String = answer.path.file_stem().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    let file = folder.join(format!("{number:04}-{stem}.png"));
    let saved = |file: &Path, saved: image::ImageResult<()>| -> Result<(), Error> {
        saved.map_err(|error| Error::io("write", file)(std::io::Error::other(error)))?;
        out.note(&format!("drew {}", display(file)));
        Ok(())
    };
    saved(&file, drawing.picture.save(&file))?;
    if let Some(best) = explanations.first() {
        let collage = folder.join(format!("{number:04}-{stem}-collage.png"));
        let painted = session.draw_collage(&answerer.model, answer, best, &find);
        saved(&collage, painted.picture.save(&collage))?;
        let legend = collage.with_extension("txt");
        std::fs::write(&legend, legend_of(&painted)).map_err(Error::io("write", &legend))?;
        out.note(&format!("{} tells where each piece comes from", display(&legend)));
    }
    if drawing.missing > 0 && answerer.library.is_none() && !answerer.model.has_names() {
        out.note("This model was saved without the names of its training images: they are drawn as empty frames.");
    } else if drawing.missing > 0 && answerer.library.is_some() {
        out.note(&format!("{} training images are not where they were: `tessera relocate` tells the library", drawing.missing));
    } else if drawing.missing > 0 {
        out.note(&format!(
            "{} training images are not in {} any more: name their folder with --training-images DIR",
            drawing.missing,
            display(&root)
        ));
    }
    Ok(())
}

/// Where the pieces of a collage come from, one a line.
fn legend_of(collage: &Collage) -> String {
    let mut text = "middle in the image (pixels), half side, worth, training image\n".to_owned();
    for piece in collage.pieces.iter().filter(|piece| piece.is_painted) {
        let [x, y] = piece.middle;
        let _ = writeln!(text, "{x:.0},{y:.0}\t{:.0}\t{:+.3}\t{}", piece.half, piece.value, display(Path::new(&piece.name)));
    }
    text
}

fn class_of<'a>(model: &'a RecogniserModel, answer: &RecognisedImage) -> Option<&'a str> {
    answer.ranking.first().map(|(class, _)| model.ckm.classes()[class.index()].name.as_str())
}

fn in_json(answer: &RecognisedImage, told: &Beside<'_>) -> Value {
    let model = &told.answerer.model;
    let best = class_of(model, answer);
    let scores: Map<String, Value> =
        answer.ranking.iter().map(|(class, score)| (model.ckm.classes()[class.index()].name.clone(), json!(score))).collect();
    let mut line = json!({"path": answer.path.to_string_lossy(), "class": best,
        "confidence": answer.confidence, "unknown": told.is_unknown, "looks_unknown": looks_unknown(model, answer), "novelty": answer.standing.novelty, "nearest_class": best, "scores": scores, "margin": margin(answer),
        "pieces": pieces(model, &answer.elements), "not_told_apart": best.map(|best| model.metrics.confused_with(best)).unwrap_or_default()});
    if told.answerer.library.is_some() {
        line["left_out"] = match told.without {
            Without::Nothing => Value::Null,
            Without::Image(_) => json!("image"),
            Without::Group(group) => json!(format!("object {group}")),
            Without::Images(_) => json!("images"),
        };
    }
    let contributions =
        |explanation: &Explanation| -> Value { explanation.contributions.iter().map(|c| contribution_json(told.answerer, c)).collect() };
    let alike = |explanation: &Explanation| -> Value { explanation.alike.iter().map(|a| alike_json(told.answerer, a)).collect() };
    if let Some(explanation) = told.explanations.first() {
        line["contributions"] = contributions(explanation);
        line["class_term"] = json!(explanation.term);
        line["whole"] = json!(explanation.whole);
        line["alike"] = alike(explanation);
    }
    if let Some(explanation) = told.explanations.get(1) {
        line["runner_up"] = json!({"class": model.ckm.classes()[explanation.class.index()].name, "score": explanation.score,
            "contributions": contributions(explanation), "class_term": explanation.term, "whole": explanation.whole,
            "alike": alike(explanation)});
    }
    line
}

fn alike_json(answerer: &Answerer, alike: &Alike) -> Value {
    let place = answerer.place(alike.image).map_or_else(|| alike.name.clone(), |path| path.to_string_lossy().into_owned());
    json!({"image": place, "value": alike.value})
}

fn contribution_json(answerer: &Answerer, c: &Contribution) -> Value {
    let image = |m: &Match| answerer.place(m.image).map_or_else(|| m.name.clone(), |path| path.to_string_lossy().into_owned());
    json!({"kind": answerer.model.ckm.options().kinds[c.kind].source.name(), "query": c.position,
        "image": c.matched.as_ref().map(image), "element": c.matched.as_ref().map(|m| m.position),
        "likeness": c.likeness, "nearness": c.nearness, "weight": c.weight, "bonus": c.bonus, "value": c.value})
}

/// The best class's lead over the second in score; none with one class.
fn margin(answer: &RecognisedImage) -> Option<f64> {
    Some(answer.ranking.first()?.1 - answer.ranking.get(1)?.1)
}

/// The answer and its reasons in words.
pub(super) fn in_words(model: &RecogniserModel, answer: &RecognisedImage, is_unknown: bool, explanations: &[Explanation]) -> String {
    let name = |class: tessera_core::ids::ClassId| model.ckm.classes()[class.index()].name.as_str();
    let Some((best, score)) = answer.ranking.first() else {
        return format!("{}: nothing to compare it with", display(&answer.path));
    };
    let verdict = if is_unknown { format!("unknown, nearest {}", name(*best)) } else { name(*best).to_owned() };
    let of_classes = if is_unknown { " if it is of one of the classes" } else { "" };
    let confidence = match model.calibration.n {
        0 => "not judged yet".into(),
        _ => format!("confidence {:.2}{of_classes}", answer.confidence),
    };
    let mut text = format!("{}: {verdict} ({confidence}", display(&answer.path));
    if let Some((second, other)) = answer.ranking.get(1) {
        let _ = write!(text, "; score {score:.2} against {other:.2} for {}", name(*second));
    }
    text.push(')');
    if looks_unknown(model, answer) && !is_unknown {
        text.push_str("; it may be of none of these classes");
    }
    if let [class, others @ ..] = &model.metrics.confused_with(name(*best))[..] {
        let _ = write!(text, "; {class} cannot be told apart yet from {}", listed(others));
    }
    if answer.elements.is_empty() {
        text.push_str("; nothing was found in the image to compare, so this is only the class with most training images");
    }
    for explanation in explanations {
        let _ = write!(text, "\n  {} scores {:.3}, the sum of", name(explanation.class), explanation.score);
        for (i, (kind, (count, sum))) in by_kind(model, explanation).into_iter().enumerate() {
            let _ = write!(text, "{} {sum:.3} from {count} {kind}", if i == 0 { "" } else { "," });
        }
        if explanation.term != 0.0 {
            let _ = write!(text, ", and {:+.3} as the term of the class", explanation.term);
        }
        if explanation.whole != 0.0 {
            let _ = write!(text, ", and {:+.3} for the likeness of the whole image", explanation.whole);
        }
        if let Some(most) = explanation.alike.first() {
            let _ = write!(text, " (most: {:+.3} by {})", most.value, display(Path::new(&most.name)));
        }
    }
    let pieces = match explanations {
        [] => return text,
        [only] => only.contributions.iter().map(|c| (c, c.value)).collect(),
        [best, second, ..] => {
            let _ = write!(text, "\n  What spoke most for {} against {}:", name(best.class), name(second.class));
            best.against(second)
        }
    };
    for (c, lead) in pieces.iter().take(TOLD) {
        let _ = write!(text, "\n  {lead:+9.3}  {}", piece(model, c));
    }
    if let [best, second, ..] = explanations
        && best.term != second.term
    {
        let _ = write!(text, "\n  {:+9.3}  the difference of the two classes' terms", best.term - second.term);
    }
    if let [best, second, ..] = explanations
        && best.whole != second.whole
    {
        let _ = write!(text, "\n  {:+9.3}  the difference of the likenesses of the whole image", best.whole - second.whole);
    }
    let (rest, sum) = pieces.iter().skip(TOLD).fold((0, 0.0), |(n, sum), (_, lead)| (n + 1, sum + lead));
    let _ = write!(text, "\n  {sum:+9.3}  the other {rest} pieces together");
    text.push_str(
        "\n  (likeness: 1 is identical; distance: lying elsewhere in the image; weight: learned for that piece; pair bonus: a neighbour comes from the same image; term of the class: makes up for how many images it has and how much is on them; likeness of the whole image: learned from mean values all over the image)",
    );
    text
}

/// How many pieces an image was cut into.
fn pieces(model: &RecogniserModel, elements: &Elements) -> usize {
    model.ckm.options().kinds_with_pieces().map(|(k, _)| elements.sets[k].len()).sum()
}

fn by_kind(model: &RecogniserModel, explanation: &Explanation) -> Vec<(String, (usize, f64))> {
    let kinds = model.ckm.options().kinds_with_pieces();
    let sum = |k: usize| {
        let of_kind = explanation.contributions.iter().filter(|c| c.kind == k);
        of_kind.fold((0, 0.0), |(n, sum), c| (n + 1, sum + c.value))
    };
    kinds.map(|(k, kind)| (format!("{}s", kind_name(kind.source.name())), sum(k))).collect()
}

fn piece(model: &RecogniserModel, c: &Contribution) -> String {
    let kind = kind_name(model.ckm.options().kinds[c.kind].source.name());
    let [x, y] = c.position.map(whole);
    let Some(m) = &c.matched else {
        return format!("{kind} at ({x}, {y}): the class has none of this kind");
    };
    let together = if c.bonus == 0.0 { String::new() } else { format!(", pair bonus {:.2}", c.bonus) };
    let weight = if c.weight == 0.0 { String::new() } else { format!(", weight {:+.3}", c.weight) };
    let [ex, ey] = m.position.map(whole);
    format!(
        "{kind} at ({x}, {y}) is like ({ex}, {ey}) of {} (likeness {:.2}, distance costs {:.2}{weight}{together})",
        display(Path::new(&m.name)),
        c.likeness,
        c.nearness.abs()
    )
}

/// A coordinate as a whole number, for words.
fn whole(coordinate: f32) -> i32 {
    coordinate.round() as i32
}
