//! `tessera suggest`.

use anyhow::Result;
use serde_json::json;
use tessera_core::error::display;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::Suggestion;

use super::Done;
use super::librarian::{Librarian, count, find_all};
use super::library_args::Suggest;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Suggest) -> Result<Done> {
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let (session, out) = (librarian.session, librarian.out);
        let images = find_all(&hold(library), &arguments.images)?;
        let (suggestions, learned) = out.watched(session.progress(), || session.suggest(library, &images, arguments.k))?;
        let library = hold(library);
        let path = |suggestion: &Suggestion| library.state().image(suggestion.image).and_then(|image| library.state().path_of(image));
        if learned == 0 {
            out.note("No image has a class yet: label some with `tessera label` first.");
        }
        out.answer(
            || {
                let adviser = |(name, class, trust): &(&str, Option<String>, f64)| json!({"name": name, "class": class, "trust": trust});
                let suggestion = |suggestion: &Suggestion| {
                    let (class, chance) = &suggestion.ranking[0];
                    json!({"image": suggestion.image.0, "path": path(suggestion).map(|path| path.to_string_lossy().into_owned()),
                        "class": class, "chance": chance, "ranking": suggestion.ranking,
                        "advisers": suggestion.advisers.iter().map(adviser).collect::<Vec<_>>()})
                };
                json!({"suggestions": suggestions.iter().map(suggestion).collect::<Vec<_>>(), "learned": learned})
            },
            || {
                if suggestions.is_empty() {
                    return "Nothing to suggest.".into();
                }
                let line = |suggestion: &Suggestion| {
                    let (class, chance) = &suggestion.ranking[0];
                    let agree = suggestion.advisers.iter().filter(|(_, said, _)| said.as_ref() == Some(class));
                    let names: Vec<&str> = agree.map(|(name, ..)| *name).collect();
                    let path = path(suggestion).map(|path| display(&path)).unwrap_or_default();
                    format!("{:.2}  {class}  #{} {path}\n      (says {})", chance, suggestion.image.0, names.join(", "))
                };
                let lines: Vec<String> = suggestions.iter().map(line).collect();
                format!("{}\n{} learned", lines.join("\n"), count(learned, "label"))
            },
        );
        Ok(Done::Whole)
    })
}
