//! `tessera review`.

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::ckm::harm::Harm;
use tessera_core::error::display;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::Doubt;

use super::librarian::{Librarian, count};
use super::library_args::Review;
use super::suggest::{agreeing, votes};
use super::{AlreadyPrinted, Done};

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Review) -> Result<Done> {
    if arguments.harm {
        return harm(librarian, arguments);
    }
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let (session, out) = (librarian.session, librarian.out);
        let reviewed = out.watched(session.progress(), || {
            let review = session.begin_review(library)?;
            session.on_threads(|| review.judge(session.progress()))
        })?;
        let library = hold(library);
        librarian.note_unlearned(&library);
        let path = |image| library.state().image(image).and_then(|image| library.state().path_of(image));
        let shown = &reviewed.doubts[..reviewed.doubts.len().min(arguments.k)];
        out.answer(
            || {
                let doubt = |doubt: &Doubt| {
                    json!({"image": doubt.image.0, "path": path(doubt.image).map(|path| path.to_string_lossy().into_owned()),
                        "label": doubt.label.0, "chance": doubt.label.1, "instead": doubt.instead, "advisers": votes(&doubt.advisers),
                        "alike": doubt.alike.iter().map(|(image, class)| json!({"image": image.0, "class": class})).collect::<Vec<_>>()})
                };
                json!({"doubts": shown.iter().map(doubt).collect::<Vec<_>>(), "doubted": reviewed.doubts.len(), "judged": reviewed.judged,
                    "passed": reviewed.passed, "left": reviewed.left, "objects_unknown": reviewed.objects_unknown})
            },
            || {
                let line = |doubt: &Doubt| {
                    let (label, own) = &doubt.label;
                    let (class, chance) = &doubt.instead[0];
                    let path = path(doubt.image).map(|path| display(&path)).unwrap_or_default();
                    let says = agreeing(&doubt.advisers, class);
                    format!("{label} ({own:.2}), rather {class} ({chance:.2})  #{} {path}\n      (says {says})", doubt.image.0)
                };
                let mut lines: Vec<String> = shown.iter().map(line).collect();
                let of = count(reviewed.judged, "label");
                lines.push(format!("{} of {of} doubted; {} could not be judged", reviewed.doubts.len(), reviewed.passed));
                if reviewed.objects_unknown > 0 {
                    let n = count(reviewed.objects_unknown, "image");
                    lines.push(format!(
                        "Of {n} it is not known which object they show: near copies with the same wrong label speak for it."
                    ));
                }
                if reviewed.left > 0 {
                    lines.push(format!("Stopped: {} not judged yet", count(reviewed.left, "label")));
                }
                lines.join("\n")
            },
        );
        if reviewed.left > 0 { Err(AlreadyPrinted(Error::Cancelled).into()) } else { Ok(Done::Whole) }
    })
}

/// Lists the training images that mislead the recogniser.
fn harm(librarian: &Librarian<'_>, arguments: &Review) -> Result<Done> {
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let (session, out) = (librarian.session, librarian.out);
        let report = out.watched(session.progress(), || session.harm(library))?;
        let library = hold(library);
        let state = library.state();
        let path = |image| state.image(image).and_then(|image| state.path_of(image));
        let label = |image| state.image(image).and_then(|image| image.label());
        let harmful: Vec<&Harm> = report.images.iter().filter(|harm| harm.is_harmful()).collect();
        let clear = harmful.iter().filter(|harm| harm.is_clear()).count();
        let shown = &harmful[..harmful.len().min(arguments.k)];
        out.answer(
            || {
                let of_image = |harm: &&Harm| {
                    json!({"image": harm.image.0, "path": path(harm.image).map(|path| path.to_string_lossy().into_owned()),
                        "label": label(harm.image), "misled": harm.misled, "helped": harm.helped, "gain": harm.gain.value,
                        "gain_spread": harm.gain.spread, "clear": harm.is_clear(), "lead": harm.lead})
                };
                json!({"judged": report.judged, "misleading": harmful.len(), "clear": clear, "harmful": shown.iter().map(of_image).collect::<Vec<_>>()})
            },
            || {
                let line = |harm: &&Harm| {
                    let path = path(harm.image).map(|path| display(&path)).unwrap_or_default();
                    let (label, Harm { misled, helped, .. }) = (label(harm.image).unwrap_or_default(), harm);
                    let change = match (misled, helped) {
                        (0, 0) => "right answers would be a little further ahead".into(),
                        _ => {
                            let (gain, spread) = (100.0 * harm.gain.value, 100.0 * harm.gain.spread);
                            format!("{misled} more would be right, {helped} fewer: {gain:+.1} +- {spread:.1} points of mean recall")
                        }
                    };
                    format!("{label}: without it {change}  #{} {path}", harm.image.0)
                };
                let (all, judged) = (count(report.images.len(), "image"), count(report.judged, "image"));
                let last = format!(
                    "{} of {all} do more harm than good; judged by {judged}. Of {clear} of them this is clear, by two standard errors or more.",
                    harmful.len()
                );
                let lines = shown.iter().map(line).chain([last]);
                lines.collect::<Vec<_>>().join("\n")
            },
        );
        Ok(Done::Whole)
    })
}
