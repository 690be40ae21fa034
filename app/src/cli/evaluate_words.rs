//! `tessera eval words`: search by words, tried on a library.

use anyhow::Result;
use serde_json::json;

use super::Done;
use super::args::EvalWords;
use super::librarian::Librarian;
use crate::session::word_trial::{WordScores, WordTrial};

pub(super) fn run(librarian: &Librarian<'_>, arguments: &EvalWords) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let table = tessera_core::data::tables::read(&arguments.captions, session.progress())?;
    let trial = WordTrial { queries: arguments.queries, claims: arguments.claims, typed: arguments.typed };
    let scores = librarian.with(&arguments.library, |library| Ok(session.try_words(library, &table, &trial)?))?;
    let at = |share: f64| scores.typing_ms.get(((scores.typing_ms.len().max(1) - 1) as f64 * share) as usize).copied();
    let WordScores { queries, recall, recall_with_error, form_queries, form_recall, recall_in_other_form, .. } = scores;
    let of = |part: f64, whole: f64| if whole > 0.0 { Some(part / whole) } else { None };
    let (of_recall, of_form_recall) = (of(recall_with_error, recall), of(recall_in_other_form, form_recall));
    out.answer(
        || {
            json!({"images": scores.library[0], "captions": scores.library[1], "words": scores.library[2],
                "queries": queries, "recall_at_10": recall, "recall_at_10_with_error": recall_with_error, "kept_with_error": of_recall,
                "form_queries": form_queries, "form_recall_at_10": form_recall, "recall_at_10_in_other_form": recall_in_other_form,
                "kept_in_other_form": of_form_recall, "claim_queries": scores.claim_queries, "claims": scores.claims,
                "false_claims": scores.false_claims, "typed": scores.typing_ms.len(), "most_found": scores.most_found,
                "typing_ms": at(0.5), "typing_p99_ms": at(0.99), "typing_longest_ms": at(1.0)})
        },
        || {
            let share = |of: Option<f64>| of.map_or_else(String::new, |of| format!(", {of:.3} of that"));
            let mut lines = vec![
                format!("{} images, {} captions, {} different words", scores.library[0], scores.library[1], scores.library[2]),
                format!(
                    "recall at 10 of {queries} captions {recall:.3}; with an error of typing {recall_with_error:.3}{}",
                    share(of_recall)
                ),
                format!(
                    "recall at 10 of {form_queries} with a noun {form_recall:.3}; in its other form {recall_in_other_form:.3}{}",
                    share(of_form_recall)
                ),
                format!(
                    "{} words claimed of hits of {} queries, {} of them not there",
                    scores.claims, scores.claim_queries, scores.false_claims
                ),
            ];
            if let (Some(middle), Some(p99), Some(longest)) = (at(0.5), at(0.99), at(1.0)) {
                let n = scores.typing_ms.len();
                lines.push(format!("{n} answers while typing: median {middle:.1} ms, p99 {p99:.1} ms, longest {longest:.1} ms"));
            }
            lines.join("\n")
        },
    );
    Ok(Done::Whole)
}
