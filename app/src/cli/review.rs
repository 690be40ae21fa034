//! `tessera review`.

use anyhow::Result;
use serde_json::json;
use tessera_core::error::display;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::Doubt;

use super::Done;
use super::librarian::{Librarian, count};
use super::library_args::Review;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Review) -> Result<Done> {
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let (session, out) = (librarian.session, librarian.out);
        let reviewed = out.watched(session.progress(), || session.review(library))?;
        let library = hold(library);
        let path = |image| library.state().image(image).and_then(|image| library.state().path_of(image));
        let shown = &reviewed.doubts[..reviewed.doubts.len().min(arguments.k)];
        out.answer(
            || {
                let adviser = |(name, class, trust): &(&str, Option<String>, f64)| json!({"name": name, "class": class, "trust": trust});
                let doubt = |doubt: &Doubt| {
                    json!({"image": doubt.image.0, "path": path(doubt.image).map(|path| path.to_string_lossy().into_owned()),
                        "label": doubt.label.0, "chance": doubt.label.1, "instead": doubt.instead,
                        "advisers": doubt.advisers.iter().map(adviser).collect::<Vec<_>>(),
                        "alike": doubt.alike.iter().map(|(image, class)| json!({"image": image.0, "class": class})).collect::<Vec<_>>()})
                };
                json!({"doubts": shown.iter().map(doubt).collect::<Vec<_>>(), "doubted": reviewed.doubts.len(), "judged": reviewed.judged,
                    "passed": reviewed.passed, "left": reviewed.left})
            },
            || {
                let line = |doubt: &Doubt| {
                    let (label, own) = &doubt.label;
                    let (class, chance) = &doubt.instead[0];
                    let names: Vec<&str> =
                        doubt.advisers.iter().filter(|(_, said, _)| said.as_ref() == Some(class)).map(|(name, ..)| *name).collect();
                    let path = path(doubt.image).map(|path| display(&path)).unwrap_or_default();
                    let says = if names.is_empty() { "all together".into() } else { names.join(", ") };
                    format!("{label} ({own:.2}), rather {class} ({chance:.2})  #{} {path}\n      (says {says})", doubt.image.0)
                };
                let mut lines: Vec<String> = shown.iter().map(line).collect();
                let of = count(reviewed.judged, "label");
                lines.push(format!("{} of {of} doubted; {} could not be judged", reviewed.doubts.len(), reviewed.passed));
                if reviewed.left > 0 {
                    lines.push(format!("Stopped: {} not come to", count(reviewed.left, "label")));
                }
                lines.join("\n")
            },
        );
        Ok(if reviewed.left > 0 { Done::Partly } else { Done::Whole })
    })
}
