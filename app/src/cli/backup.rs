//! `tessera backup`: copies a library to a folder, or puts such a copy back.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tessera_core::error::display;
use tessera_core::library::backup::{BackupReport, back_up, restore_backup};

use super::Done;
use super::librarian::{Librarian, count};
use super::library_args::Backup;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Backup) -> Result<Done> {
    let library = &librarian.named(&arguments.library);
    let progress = librarian.session.progress();
    let (report, words) = match (&arguments.to, &arguments.restore) {
        (Some(to), _) => {
            let report = librarian.patiently(|| back_up(library, to, progress))?;
            let words = format!("Backed up {} to {}: {}", display(library), display(to), in_words(&report));
            (report, words)
        }
        // Without TO the parser requires FROM.
        (None, from) => {
            librarian.session.check_writable(library)?;
            let from = from.as_deref().unwrap_or(Path::new(""));
            let report = librarian.patiently(|| restore_backup(library, from, arguments.other_history, progress))?;
            let kept = report.kept.as_ref().map_or_else(String::new, |kept| format!("; what was there is now {}", display(kept)));
            let words = format!("Restored {} from {}: {}{kept}", display(library), display(from), in_words(&report));
            (report, words)
        }
    };
    librarian.out.answer(
        || {
            json!({"ok": true, "events": report.events, "head": report.head.to_string(), "bytes": report.bytes, "copied": report.copied,
                "kept": report.kept.as_ref().map(|kept| kept.to_string_lossy())})
        },
        || words.clone(),
    );
    librarian.out.note("Image files are not part of a backup: they stay where they are.");
    Ok(Done::Whole)
}

fn in_words(report: &BackupReport) -> String {
    let BackupReport { head, events, bytes, copied, .. } = report;
    format!("{}, {} bytes, {} copied; the head is {head}", count(*events, "event"), bytes, count(*copied, "file"))
}
