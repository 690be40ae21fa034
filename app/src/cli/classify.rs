//! `tessera classify`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use tessera_core::ckm::explain::{Contribution, Explanation};
use tessera_core::ckm::model::Recognizer;
use tessera_core::data::{Dataset, Labels, OpenOptions};
use tessera_core::error::display;
use tessera_core::{Error, envelope};

use super::Done;
use super::args::Classify;
use super::output::{Failures, Output};
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
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    if let Some(folder) = &arguments.draw {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    let root = arguments.training_images.clone().unwrap_or_else(|| PathBuf::from(&model.root));
    let mut answered = 0;
    let mut first_error = None;
    for path in images(session, &arguments.paths, &mut failures, &mut first_error)? {
        if session.progress().is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        match session.recognise(&model, &path, arguments.unknown_below) {
            Ok(answer) => {
                answered += 1;
                let wanted = arguments.explain || arguments.draw.is_some();
                let explanations = if wanted { session.explain(&model, &answer) } else { Vec::new() };
                if let Some(folder) = &arguments.draw {
                    let file = folder.join(format!("{answered:04}-{}.png", path.file_stem().unwrap_or_default().to_string_lossy()));
                    session
                        .draw_explanation(&answer, &explanations, &root)
                        .save(&file)
                        .with_context(|| format!("cannot write {}", display(&file)))?;
                    out.note(&format!("drew {}", display(&file)));
                }
                let told = if arguments.explain { explanations.as_slice() } else { &[] };
                out.answer(|| in_json(&model, &answer, told), || in_words(&model, &answer, told));
            }
            Err(error) => {
                failures.file(&path, &error)?;
                first_error.get_or_insert(error);
            }
        }
    }
    failures.finish()?;
    Done::after(answered, first_error)
}

/// The paths with each folder replaced by the images in it.
fn images(session: &Session, paths: &[PathBuf], failures: &mut Failures<'_>, first_error: &mut Option<Error>) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let options = OpenOptions { labels: Labels::None, ..OpenOptions::default() };
        match Dataset::open(path, &options, session.progress()) {
            Ok(data) => {
                all.extend(data.items.iter().map(|item| item.path().to_owned()));
                for skipped in &data.skipped {
                    failures.passed_over(&skipped.path, skipped.reason, &skipped.detail)?;
                }
            }
            Err(error) => {
                failures.file(path, &error)?;
                first_error.get_or_insert(error);
            }
        }
    }
    Ok(all)
}

fn class_of<'a>(model: &'a Recognizer, answer: &Answer) -> Option<&'a str> {
    answer.ranking.first().map(|(class, _)| model.ckm.classes()[class.index()].name.as_str())
}

fn in_json(model: &Recognizer, answer: &Answer, explanations: &[Explanation]) -> Value {
    let best = class_of(model, answer);
    let scores: Map<String, Value> =
        answer.ranking.iter().map(|(class, score)| (model.ckm.classes()[class.index()].name.clone(), json!(score))).collect();
    let mut line = json!({"path": answer.path.to_string_lossy(), "class": if answer.unknown { Some("unknown") } else { best },
        "confidence": answer.confidence, "nearest_class": best, "scores": scores});
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
    let [x, y] = c.position;
    let Some(m) = &c.matched else {
        return format!("{kind} at ({x:.0}, {y:.0}): the class has none of this kind");
    };
    let together = if c.bonus == 0.0 { String::new() } else { format!(", pair bonus {:.2}", c.bonus) };
    let [ex, ey] = m.position;
    format!(
        "{kind} at ({x:.0}, {y:.0}) is like ({ex:.0}, {ey:.0}) of {} (likeness {:.2}, distance costs {:.2}{together})",
        display(Path::new(&m.name)),
        c.likeness,
        c.nearness.abs()
    )
}
