//! `tessera classify`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Map, Value, json};
use tessera_core::ckm::Without;
use tessera_core::ckm::explain::{Contribution, Explanation};
use tessera_core::ckm::model::Recognizer;
use tessera_core::error::display;
use tessera_core::{Error, envelope};

use super::Done;
use super::args::Classify;
use super::output::{Failures, Output};
use super::paths::images;
use crate::session::Session;
use crate::session::recognise::Answer;

/// Pieces told in words; the rest is summed up.
const TOLD: usize = 8;

pub(super) fn run(session: &Session, arguments: &Classify, out: &Output) -> Result<Done> {
    if !envelope::is_model(&arguments.model) && !arguments.model.exists() {
        let advice = "train one with `tessera train FOLDER --to MODEL`";
        return Err(Error::data(&arguments.model, "a model", "nothing of that name", advice).into());
    }
    let model = Recognizer::load(&arguments.model)?;
    if model.calibration.n == 0 {
        out.note("This model's confidence means nothing: when it was trained, no class had two objects to judge it by.");
    }
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    if let Some(folder) = &arguments.draw {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    let mut answered = 0;
    for path in images(session, &arguments.paths, &mut failures)? {
        if session.progress().is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        match session.recognise(&model, &path, arguments.unknown_below) {
            Ok(answer) => {
                answered += 1;
                let wanted = arguments.explain || arguments.draw.is_some();
                let explanations = if wanted { session.explain(&model, &answer, Without::Nothing) } else { Vec::new() };
                let told = if arguments.explain { explanations.as_slice() } else { &[] };
                out.answer(|| in_json(&model, &answer, told), || in_words(&model, &answer, told));
                if let Some(folder) = &arguments.draw {
                    draw(session, arguments, &model, &answer, &explanations, folder, answered, out)
                        .or_else(|error| failures.file(&path, error))?;
                }
            }
            Err(error) => failures.file(&path, error)?,
        }
    }
    failures.finish(answered)
}

/// Draws an explanation into `folder`, under a name that begins with the number of the answer.
#[expect(clippy::too_many_arguments, reason = "a private step of run, which holds all of these")]
fn draw(
    session: &Session,
    arguments: &Classify,
    model: &Recognizer,
    answer: &Answer,
    explanations: &[Explanation],
    folder: &Path,
    number: usize,
    out: &Output,
) -> tessera_core::Result<()> {
    let root = arguments.training_images.clone().unwrap_or_else(|| PathBuf::from(&model.root));
    let drawing = session.draw_explanation(model, answer, explanations, &|_, name| root.join(name));
    let stem: String = answer.path.file_stem().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    let file = folder.join(format!("{number:04}-{stem}.png"));
    drawing.picture.save(&file).map_err(|error| Error::io("write", &file)(std::io::Error::other(error)))?;
    out.note(&format!("drew {}", display(&file)));
    if drawing.missing > 0 {
        out.note(&format!(
            "{} training images are not in {} any more: name their folder with --training-images DIR",
            drawing.missing,
            display(&root)
        ));
    }
    Ok(())
}

fn class_of<'a>(model: &'a Recognizer, answer: &Answer) -> Option<&'a str> {
    answer.ranking.first().map(|(class, _)| model.ckm.classes()[class.index()].name.as_str())
}

fn in_json(model: &Recognizer, answer: &Answer, explanations: &[Explanation]) -> Value {
    let best = class_of(model, answer);
    let scores: Map<String, Value> =
        answer.ranking.iter().map(|(class, score)| (model.ckm.classes()[class.index()].name.clone(), json!(score))).collect();
    let mut line = json!({"path": answer.path.to_string_lossy(), "class": if answer.unknown { Some("unknown") } else { best },
        "confidence": answer.confidence, "unknown": answer.unknown, "nearest_class": best, "scores": scores, "margin": margin(answer), "pieces": answer.elements.len()});
    if let Some(explanation) = explanations.first() {
        line["contributions"] = explanation.contributions.iter().map(|c| contribution_json(model, c)).collect();
    }
    if let Some(explanation) = explanations.get(1) {
        line["runner_up"] = json!({"class": model.ckm.classes()[explanation.class.index()].name, "score": explanation.score,
            "contributions": explanation.contributions.iter().map(|c| contribution_json(model, c)).collect::<Vec<_>>()});
    }
    line
}

fn contribution_json(model: &Recognizer, c: &Contribution) -> Value {
    json!({"kind": model.ckm.options().kinds[c.kind].source.name(), "query": c.position,
        "image": c.matched.as_ref().map(|m| &m.name), "element": c.matched.as_ref().map(|m| m.position),
        "likeness": c.likeness, "nearness": c.nearness, "bonus": c.bonus, "value": c.value})
}

/// The best class's lead over the second in score; none with one class.
fn margin(answer: &Answer) -> Option<f64> {
    Some(answer.ranking.first()?.1 - answer.ranking.get(1)?.1)
}

/// The answer and its reasons in words.
pub(super) fn in_words(model: &Recognizer, answer: &Answer, explanations: &[Explanation]) -> String {
    let name = |class: tessera_core::ids::ClassId| model.ckm.classes()[class.index()].name.as_str();
    let Some((best, score)) = answer.ranking.first() else {
        return format!("{}: nothing to compare it with", display(&answer.path));
    };
    let verdict = if answer.unknown { format!("unknown, nearest {}", name(*best)) } else { name(*best).to_owned() };
    let mut text = format!("{}: {verdict} (confidence {:.2}", display(&answer.path), answer.confidence);
    if let Some((second, other)) = answer.ranking.get(1) {
        let _ = write!(text, "; score {score:.2} against {other:.2} for {}", name(*second));
    }
    text.push(')');
    if answer.elements.is_empty() {
        text.push_str("; nothing was found in the image to compare, so this is only the class with most training images");
    }
    for explanation in explanations {
        let _ = write!(text, "\n  {} scores {:.3}, the sum of", name(explanation.class), explanation.score);
        for (i, (kind, (count, sum))) in by_kind(model, explanation).into_iter().enumerate() {
            let _ = write!(text, "{} {sum:.3} from {count} {kind}", if i == 0 { "" } else { "," });
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
    let (rest, sum) = pieces.iter().skip(TOLD).fold((0, 0.0), |(n, sum), (_, lead)| (n + 1, sum + lead));
    let _ = write!(text, "\n  {sum:+9.3}  the other {rest} pieces together");
    text.push_str(
        "\n  (likeness: 1 is identical; distance: lying elsewhere in the image; pair bonus: a neighbour comes from the same image)",
    );
    text
}

fn by_kind(model: &Recognizer, explanation: &Explanation) -> Vec<(&'static str, (usize, f64))> {
    let kinds = model.ckm.options().kinds.iter().enumerate();
    let sum = |k: usize| {
        let of_kind = explanation.contributions.iter().filter(|c| c.kind == k);
        of_kind.fold((0, 0.0), |(n, sum), c| (n + 1, sum + c.value))
    };
    kinds.map(|(k, kind)| (plural(kind.source.name()), sum(k))).collect()
}

fn plural(kind: &str) -> &'static str {
    match kind {
        "orb" => "corners",
        "hog" => "gradient blocks",
        _ => "colour squares",
    }
}

fn piece(model: &Recognizer, c: &Contribution) -> String {
    let kind = match model.ckm.options().kinds[c.kind].source.name() {
        "orb" => "corner",
        "hog" => "gradient block",
        _ => "colour square",
    };
    let [x, y] = c.position.map(whole);
    let Some(m) = &c.matched else {
        return format!("{kind} at ({x}, {y}): the class has none of this kind");
    };
    let together = if c.bonus == 0.0 { String::new() } else { format!(", pair bonus {:.2}", c.bonus) };
    let [ex, ey] = m.position.map(whole);
    format!(
        "{kind} at ({x}, {y}) is like ({ex}, {ey}) of {} (likeness {:.2}, distance costs {:.2}{together})",
        display(Path::new(&m.name)),
        c.likeness,
        c.nearness.abs()
    )
}

/// A coordinate as a whole number, for words.
fn whole(coordinate: f32) -> i32 {
    coordinate.round() as i32
}
