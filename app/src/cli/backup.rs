//! `tessera backup`: copies a library to a folder, or puts such a copy back.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::backup::{BackupReport, restore_backup};

use super::Done;
use super::librarian::{Librarian, count};
use super::library_args::Backup;

/// Images that are printed one by one; the rest are counted.
const TOLD: usize = 20;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Backup) -> Result<Done> {
    let library = &librarian.named_itself(&arguments.library)?;
    let progress = librarian.session.progress();
    let (report, words) = match (&arguments.to, &arguments.restore) {
        (Some(to), _) => {
            let report = librarian.patiently(|| librarian.session.back_up(library, to))?;
            let words = format!("Backed up {} to {}: {}", display(library), display(to), in_words(&report));
            (report, words)
        }
        // Without TO the parser requires FROM.
        (None, from) => {
            librarian.session.check_writable(library)?;
            let from = from.as_deref().unwrap_or(Path::new(""));
            let report = librarian.patiently(|| restore_backup(library, from, arguments.other_history, progress))?;
            let kept = report.kept.as_ref().map_or_else(String::new, |kept| format!("; what was there is now {}", display(kept)));
            let back = came_back(&report.came_back);
            let words = format!("Restored {} from {}: {}{kept}{back}", display(library), display(from), in_words(&report));
            (report, words)
        }
    };
    librarian.out.answer(
        || {
            json!({"ok": true, "events": report.events, "head": report.head.to_string(), "bytes": report.bytes, "copied": report.copied,
                "kept": report.kept.as_ref().map(|kept| kept.to_string_lossy()),
                "came_back": report.came_back.iter().map(|image| image.0).collect::<Vec<_>>()})
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

/// Which images are back that the library before had forgotten, as a sentence that follows another.
fn came_back(images: &[ItemId]) -> String {
    if images.is_empty() {
        return String::new();
    }
    let told: Vec<String> = images.iter().take(TOLD).map(|image| format!("#{}", image.0)).collect();
    let more = if images.len() > TOLD { format!(" and {} more, which --json lists", images.len() - TOLD) } else { String::new() };
    format!(
        ". {} that it had forgotten came back from the backup: {}{more}; `tessera forget` forgets them again",
        count(images.len(), "image"),
        told.join(", ")
    )
}
