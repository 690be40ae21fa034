//! `tessera import --dry-run`: what an import would take in, and how the folders are understood.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::data::plan::{ImportPlan, PlannedFile};
use tessera_core::data::{ClassesFrom, Labels, Masks};
use tessera_core::error::display;
use tessera_core::library::import::ImportRequest;
use tessera_core::plural::count;

use super::librarian::Librarian;
use super::output::Failures;
use super::{Done, library_args as args};
use crate::session::import::{known_left_out, of_folders_inside};

/// The widest that a column of the table is printed, in characters.
const COLUMN: usize = 48;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &args::Import, mut failures: Failures<'_>) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    // It is only read, so it need not be free.
    let place = librarian.named(&arguments.library);
    let reader = session.clone().reading_only(true);
    let state = reader.open_library(&place).ok().map(|library| library.state().clone());
    let mut plans = Vec::new();
    for folder in &arguments.folders {
        let options = request(arguments).options(state.as_ref(), folder)?;
        plans.push(out.watched(session.progress(), || session.plan_import(state.as_ref(), folder, &options))?);
    }
    for skipped in plans.iter().flat_map(|plan| &plan.skipped) {
        failures.line(&skipped.path, skipped.reason, &skipped.detail)?;
    }
    let sum = |n: fn(&ImportPlan) -> usize| plans.iter().map(n).sum::<usize>();
    out.answer(
        || {
            json!({"dry_run": true, "images": sum(|plan| plan.images), "known": sum(|plan| plan.known), "masks": sum(|plan| plan.masks),
                "skipped": sum(|plan| plan.skipped.len()), "folders": plans.iter().map(|plan| in_json(plan, arguments)).collect::<Vec<_>>()})
        },
        || plans.iter().map(|plan| in_words(plan, arguments)).collect::<Vec<_>>().join("\n"),
    );
    Ok(Done::Whole)
}

/// What the arguments say of how a folder is imported.
pub(super) fn request(arguments: &args::Import) -> ImportRequest {
    let masks = arguments.masks.map(|masks| match masks {
        args::Masks::Auto => Masks::Auto,
        args::Masks::Keep => Masks::Keep,
        args::Masks::LeaveOut => Masks::LeaveOut,
    });
    ImportRequest { labels: arguments.labels, one_class: arguments.class.clone(), exclude: arguments.exclude.clone(), masks }
}

/// Where classes come from, as the command line writes it.
fn source_name(plan: &ImportPlan) -> Option<&'static str> {
    plan.classes_from.map(|from| match from {
        ClassesFrom::Folders => Labels::ClassFolders.name(),
        ClassesFrom::Paths => Labels::FolderPaths.name(),
        ClassesFrom::Names => Labels::NorbNames.name(),
        ClassesFrom::WholeFolder => Labels::WholeFolder.name(),
        ClassesFrom::Norb => "norb",
        ClassesFrom::Nowhere => Labels::None.name(),
    })
}

/// The place in a plan of the table that `--captions` names.
fn table_of(plan: &ImportPlan, arguments: &args::Import) -> Option<usize> {
    let named = arguments.captions.as_ref()?.canonicalize().ok()?;
    plan.tables.iter().position(|table| table.path.canonicalize().is_ok_and(|path| path == named))
}

fn in_json(plan: &ImportPlan, arguments: &args::Import) -> Value {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let counts = |counts: &[(String, usize)]| counts.iter().map(|(name, n)| (name.clone(), json!(n))).collect::<serde_json::Map<_, _>>();
    let chosen = table_of(plan, arguments);
    let example = |example: &PlannedFile| {
        json!({"path": path(&example.path), "class": example.class, "object": example.object, "caption": example.caption_with(chosen),
            "mask_of": example.mask_of.as_deref().map(path)})
    };
    json!({"folder": path(&plan.root), "images": plan.images, "known": plan.known, "known_left_out": plan.known_left_out,
        "pairs": plan.pairs, "files": counts(&plan.kinds),
        "labels": source_name(plan), "words": plan.words, "classes": counts(&plan.classes), "objects": plan.objects,
        "unlabelled": plan.unlabelled, "of_folders_inside": plan.of_folders_inside,
        "sources": plan.sources.iter().map(|source| json!({"labels": source.labels.name(), "images": source.images,
            "classes": source.classes, "objects": source.objects, "words": source.words})).collect::<Vec<_>>(),
        "masks": plan.masks, "named_like_masks": plan.mask_names, "captioned": plan.captioned,
        "tables": plan.tables.iter().map(|table| json!({"path": path(&table.path), "format": table.format, "captions": table.captions,
            "labels": table.labels, "classes": table.classes, "matched": table.matched, "unmatched": table.unmatched}))
            .collect::<Vec<_>>(),
        "excluded": plan.excluded.iter().map(|(pattern, files)| json!({"pattern": pattern, "files": files})).collect::<Vec<_>>(),
        "skipped": plan.skipped_by_reason, "hidden": plan.hidden, "norb": plan.norb.as_deref().map(path),
        "examples": plan.examples.iter().map(example).collect::<Vec<_>>()})
}

fn in_words(plan: &ImportPlan, arguments: &args::Import) -> String {
    let mut lines = Vec::new();
    let mut tell = |title: &str, words: String| lines.push(format!("{title:<13}{words}"));
    tell("Folder", display(&plan.root));
    tell("Images", format!("{} ({})", plan.images, list(&plan.kinds)));
    if plan.known > 0 {
        tell("Known", format!("{} of them, read again only if they have changed", plan.known));
    }
    tell("Understood", plan.words.clone());
    let chosen = source_name(plan);
    for (i, source) in plan.sources.iter().enumerate() {
        let name = source.labels.name();
        let mark = if chosen == Some(name) { "*" } else { " " };
        tell(if i == 0 { "Labels" } else { "" }, format!("{mark} {:<24}{}", format!("--labels {name}"), source.counts()));
    }
    if !plan.classes.is_empty() {
        tell("Classes", list(&plan.classes));
    }
    if plan.of_folders_inside > 0 {
        tell("", of_folders_inside(plan));
    }
    if plan.unlabelled > 0 && (chosen != Some(Labels::None.name()) || !plan.classes.is_empty()) {
        tell("Unlabelled", count(plan.unlabelled, "image"));
    }
    if plan.masks > 0 {
        tell("Masks", format!("{} of other pictures left out; --masks keep takes them in", plan.masks));
    }
    if plan.mask_names > 0 {
        tell(
            "Masks",
            format!("{} named like masks look like photographs; --masks leave-out leaves them out", count(plan.mask_names, "file")),
        );
    }
    for (pattern, files) in &plan.excluded {
        tell("Left out", format!("{} by {pattern}", count(*files, "file")));
    }
    if plan.known_left_out > 0 {
        tell("", known_left_out(plan));
    }
    if plan.captioned > 0 {
        tell("Captions", format!("{} with a text beside", count(plan.captioned, "image")));
    }
    for table in &plan.tables {
        let words = format!(
            "{} ({}): {}, {}; {} found, {} not; --captions FILE reads it",
            display(&table.path),
            table.format,
            count(table.captions, "caption"),
            count(table.labels, "label"),
            count(table.matched, "name"),
            table.unmatched
        );
        tell("Table", words);
    }
    for (reason, n) in &plan.skipped_by_reason {
        tell("Not taken in", format!("{}: {reason} (--report FILE lists them)", count(*n, "file")));
    }
    if !plan.examples.is_empty() {
        tell("Examples", String::new());
        lines.extend(table(&plan.examples, table_of(plan, arguments)));
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// The first few names with their numbers.
fn list(counts: &[(String, usize)]) -> String {
    const TOLD: usize = 12;
    let told: Vec<String> = counts.iter().take(TOLD).map(|(name, n)| format!("{} {n}", display(Path::new(name)))).collect();
    match counts.len().checked_sub(TOLD).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", told.join(", ")),
        None => told.join(", "),
    }
}

fn table(examples: &[PlannedFile], captions: Option<usize>) -> Vec<String> {
    let row = |example: &PlannedFile| {
        let of = example.mask_of.as_deref().map(display).unwrap_or_default();
        let text = |text: Option<&str>| text.map(|text| display(Path::new(text))).unwrap_or_default();
        let paths = [display(&example.path), of].map(|path| short(&path, true));
        let [class, object, caption] =
            [example.class.as_deref(), example.object.as_deref(), example.caption_with(captions)].map(|cell| short(&text(cell), false));
        let [path, of] = paths;
        [path, class, object, caption, of]
    };
    let head = ["path", "class", "object", "caption", "mask of"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(examples.iter().map(row)).collect();
    let widths: [usize; 5] = std::array::from_fn(|c| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; 5]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("  {}", cells.join("  "))
    };
    rows.iter().map(line).collect()
}

/// A text that is cut where it is too long for a column; of a path the end is kept.
fn short(text: &str, keeps_end: bool) -> String {
    match text.chars().count().checked_sub(COLUMN).filter(|over| *over > 0) {
        Some(over) if keeps_end => format!("…{}", text.chars().skip(over + 1).collect::<String>()),
        Some(_) => format!("{}…", text.chars().take(COLUMN - 1).collect::<String>()),
        None => text.to_owned(),
    }
}
