//! `tessera suggest`.

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::error::display;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::{LabelOrder, Suggestion, Vote};

use super::Done;
use super::librarian::{Librarian, count, find_all};
use super::library_args::Suggest;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Suggest) -> Result<Done> {
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let (session, out) = (librarian.session, librarian.out);
        let order = LabelOrder::ALL.into_iter().find(|order| order.name() == arguments.order).unwrap_or_default();
        let images = find_all(&hold(library), &arguments.images)?;
        librarian.complete(library)?;
        let (suggestions, learned) = out.watched(session.progress(), || session.suggest(library, &images, arguments.k, order))?;
        let library = hold(library);
        let path = |suggestion: &Suggestion| library.state().image(suggestion.image).and_then(|image| library.state().path_of(image));
        librarian.note_unlearned(&library);
        if learned == 0 && library.unlearned().is_none() {
            out.note("No image has a class yet: label some with `tessera label` first.");
        }
        out.answer(
            || {
                let suggestion = |suggestion: &Suggestion| {
                    let (class, chance) = &suggestion.ranking[0];
                    json!({"image": suggestion.image.0, "path": path(suggestion).map(|path| path.to_string_lossy().into_owned()),
                        "class": class, "chance": chance, "ranking": suggestion.ranking,
                        "advisers": votes(&suggestion.advisers)})
                };
                json!({"suggestions": suggestions.iter().map(suggestion).collect::<Vec<_>>(), "learned": learned})
            },
            || {
                if suggestions.is_empty() {
                    return "Nothing to suggest.".into();
                }
                let line = |suggestion: &Suggestion| {
                    let (class, chance) = &suggestion.ranking[0];
                    let path = path(suggestion).map(|path| display(&path)).unwrap_or_default();
                    format!("{chance:.2}  {class}  #{} {path}\n      (says {})", suggestion.image.0, agreeing(&suggestion.advisers, class))
                };
                let lines: Vec<String> = suggestions.iter().map(line).collect();
                format!("{}\n{} learned", lines.join("\n"), count(learned, "label"))
            },
        );
        Ok(Done::Whole)
    })
}

/// The votes of the advisers as JSON.
pub(super) fn votes(votes: &[Vote]) -> Vec<Value> {
    votes.iter().map(|vote| json!({"name": vote.adviser, "class": vote.class, "trust": vote.trust})).collect()
}

/// The advisers that vote for a class, in words.
pub(super) fn agreeing(votes: &[Vote], class: &str) -> String {
    let names: Vec<&str> = votes.iter().filter(|vote| vote.class.as_deref() == Some(class)).map(|vote| vote.adviser.as_str()).collect();
    if names.is_empty() { "all together".into() } else { names.join(", ") }
}
