//! `tessera search`.

use std::fmt::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::error::display;
use tessera_core::text::Query;

use super::Done;
use super::acts::tell;
use super::librarian::{Librarian, find_all, of};
use super::library_args::{By, Feedback, Search};
use crate::session::search::{Engine, Hit};

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Search) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let text = arguments.words.join(" ");
    let query = Query::parse(&text);
    let engine = match arguments.by {
        By::Memory => Engine::Memory,
        By::Index => Engine::Index,
    };
    librarian.with(&arguments.library, |library| {
        let hits = session.search(library, &query, arguments.k, engine);
        let unknown = session.unknown_words(library, &query);
        let memories = library.words().memories();
        if query.is_empty() {
            out.note("There is no word in that to search for.");
        }
        if memories == 0 {
            out.note("No captions are remembered yet: only classes and file names are searched. Add some with `tessera caption`.");
        }
        if !unknown.is_empty() {
            out.note(&format!("Nothing in this library has the word {}.", unknown.join(", ")));
        }
        out.answer(
            || {
                json!({"query": text, "hits": hits.iter().map(hit_json).collect::<Vec<_>>(), "memories": memories,
                    "unknown_words": unknown})
            },
            || {
                if hits.is_empty() {
                    return format!("Nothing was found for: {text}");
                }
                hits.iter().map(hit_words).collect::<Vec<_>>().join("\n")
            },
        );
        Ok(Done::Whole)
    })
}

/// `tessera feedback`.
pub(super) fn feedback(librarian: &Librarian<'_>, arguments: &Feedback) -> Result<Done> {
    librarian.with(&arguments.library, |library| {
        let image = find_all(library, std::slice::from_ref(&arguments.image))?[0];
        let reward = if arguments.unteach { None } else { arguments.reward };
        let event = library.reward(&arguments.query, image, reward).map_err(of(library))?;
        tell(librarian, library, event);
        Ok(Done::Whole)
    })
}

fn hit_json(hit: &Hit) -> Value {
    json!({"image": hit.image.0, "path": hit.path.as_ref().map(|path| path.to_string_lossy()), "caption": hit.caption,
        "score": hit.score, "words": hit.words, "taught": hit.taught})
}

fn hit_words(hit: &Hit) -> String {
    let path = hit.path.as_deref().map(display).unwrap_or_default();
    let mut words = format!("{:.2}  #{} {path}", hit.score, hit.image.0);
    if let Some(caption) = &hit.caption {
        let _ = write!(words, "\n      {}", display(caption.as_ref()));
    }
    let _ = write!(words, "\n      (has {})", hit.words.join(", "));
    words
}
