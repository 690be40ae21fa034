//! Importing folders and tables, relocating folders, forgetting images.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tessera_core::data::tables::{self, Table};
use tessera_core::error::{display, display_name};
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::import::{ClassConflict, FailedFile, ImportOptions, Imported, TextLeftOut, hold};
use tessera_core::plural::grouped;
use tessera_core::{Error, Result};

use super::super::Session;
use super::super::import::take_table;
use super::Message;
use super::context::Context;
use super::library_act::state_and;
use super::notices::{NewNotice, count, done, problem};
use super::recognising;
use super::upkeep;
use super::view::{Notice, Tone};
use crate::job::JobKind;

/// Failed files that are logged one by one, at most.
const TOLD: usize = 200;
/// Time between updates of the state on display during an import.
const REFRESH: Duration = Duration::from_millis(700);

/// Updates the state on display during an import.
pub(super) struct Refresher(Instant);

impl Refresher {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    /// Requests the state of the library when that is due.
    pub(super) fn refresh(&mut self, ctx: &mut Context) {
        if ctx.library.is_some() && ctx.jobs.is_importing() && self.0.elapsed() > REFRESH {
            self.0 = Instant::now();
            ctx.with_library(|_, library| Message::State(library.state().clone()));
        }
    }
}

/// The table of captions or labels that is read after an import.
pub(super) enum Texts {
    /// With the first import of a folder this one, or else the one called `captions` in it.
    Usual(Option<PathBuf>),
    /// This one, or none.
    Only(Option<PathBuf>),
}

/// Imports a folder of images, and reads a table of captions or labels.
pub(super) fn import(ctx: &mut Context, folder: PathBuf, options: ImportOptions, texts: Texts) {
    // Captions beside the images are read with the folder's first import only: later the user may
    // have changed them. Taking in single files of it was no import.
    let is_first = ctx.state().is_some_and(|state| {
        let mut imported = state.roots().filter(|(_, root)| !root.is_of_files());
        imported.all(|(_, root)| !folder.starts_with(&root.path))
    });
    ctx.library_job(JobKind::Import(folder.clone()), move |session, library| {
        let mut report = session.import(library, &folder, &options)?;
        let table = match texts {
            Texts::Usual(table) if is_first => table.or_else(|| captions_in(session, &folder, &options)),
            Texts::Usual(_) => None,
            Texts::Only(table) => table,
        };
        let table = table.map(|path| path.canonicalize().unwrap_or(path));
        let read_in = table.as_ref().map(|path| tables::read(path, session.progress()));
        if matches!(read_in, Some(Ok(_))) {
            report.others.retain(|path| table.as_ref() != Some(path));
        }
        let mut messages = imported(library, &report, &folder);
        if let Some((path, table)) = table.zip(read_in) {
            let read = table.and_then(|table| read(library, &table, &path, false));
            messages.extend(read.unwrap_or_else(|error| vec![problem(error).into()]));
        }
        Ok(messages)
    });
}

/// Imports all folders again, each with the options that it was imported with.
pub(super) fn rescan(ctx: &mut Context) {
    let roots: Vec<(PathBuf, ImportOptions)> =
        ctx.state().into_iter().flat_map(|state| state.roots()).map(|(_, root)| (root.path.clone(), ImportOptions::of(root))).collect();
    ctx.library_job(JobKind::Rescan, move |session, library| {
        let mut messages = Vec::new();
        for (root, options) in roots {
            match session.import(library, &root, &options) {
                Ok(report) => messages.extend(imported(library, &report, &root)),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                // A folder on a disk that is not connected may come back later.
                Err(error) => messages.push(problem(format!("{error}; its images stay in the library")).into()),
            }
        }
        Ok(messages)
    });
}

/// Reads captions and labels from a file.
pub(super) fn read_table(ctx: &mut Context, path: PathBuf) {
    ctx.library_job(JobKind::ReadTable, move |session, library| read(library, &tables::read(&path, session.progress())?, &path, true));
}

/// Records that an imported folder has moved.
pub(super) fn relocate(ctx: &mut Context, old: PathBuf, new: PathBuf) {
    ctx.library_job(JobKind::Relocate, move |session, library| {
        let moved = match session.relocate(library, &old, &new) {
            Err(Error::Unfit { found, .. }) => {
                let old = display(&old);
                let words = format!("You chose {found}. Nothing was changed: choose the folder where the images of {old} lie now");
                return Ok(vec![Message::from(problem(words))]);
            }
            outcome => outcome?,
        };
        let missing = if moved.missing == 0 { "none is missing".to_owned() } else { format!("{} still missing", moved.missing) };
        let words = format!("{} is now {}: {} found, {missing}", display(&old), display(&new), count(moved.found, "image"));
        let mut told = state_and(library, Notice { undo: moved.event, ..Notice::new(words, Tone::Done) });
        let library = hold(library);
        told.extend([Message::from(recognising::back(&library)), upkeep::health(&library)]);
        Ok(told)
    });
}

/// Purges images for good.
pub(super) fn forget(ctx: &mut Context, images: Vec<ItemId>) {
    ctx.library_job(JobKind::Forget, move |session, library| {
        session.forget(&mut hold(library), &images)?;
        // Reports, learned weights and saved models are gone with them.
        let known = recognising::known(&hold(library));
        let words = format!("Forgot {}; this cannot be taken back", count(images.len(), "image"));
        let health = upkeep::health(&hold(library));
        Ok(vec![known.into(), upkeep::Message::Forgotten.into(), health, state_and(library, done(words)).into()])
    });
}

fn last_act(library: &Mutex<Library>) -> Option<EventId> {
    hold(library).state().history().last().map(|act| act.id)
}

fn imported(library: &Mutex<Library>, report: &Imported, folder: &Path) -> Vec<Message> {
    let mut whole = format!("{} imported", count(report.imported, "image"));
    for (n, what) in [
        (report.cut_off.len(), "of them cut off"),
        (report.unchanged, "unchanged"),
        (report.moved, "moved"),
        (report.duplicate - report.moved, "duplicate"),
        (report.relabelled, "of these images with another class by their folders than before"),
        (report.unsupported, "that are no pictures of a known format"),
        (report.masks.len(), "left out as masks of others"),
        (report.failed.len(), "failed"),
        (report.missing, "missing"),
    ] {
        if n > 0 {
            whole.push_str(&format!(", {n} {what}"));
        }
    }
    if !report.layout.is_empty() {
        whole.push_str(&format!(" ({})", report.layout));
    }
    let aside = match report.failed.len() {
        _ if report.cancelled => "; stopped, what was done stays".to_owned(),
        0 => match report.unsupported + report.masks.len() + report.copies.len() + report.cut_off.len() {
            0 => String::new(),
            n => format!("; {} not taken in, copies or cut off, listed on the page Library", count(n, "file")),
        },
        n => format!("; {} failed, listed on the page Library", count(n, "file")),
    };
    let aside = match report.conflicts.len() {
        0 => aside,
        1 => format!("{aside}; a copy lies in the folder of another class, as the log tells"),
        n => format!("{aside}; {n} copies lie in folders of other classes, as the log tells"),
    };
    let words = match report.imported {
        0 => format!("No new images{aside}"),
        n => format!("Imported {}{aside}", count(n, "image")),
    };
    let words = match report.relabelled {
        0 => words,
        1 => format!("{words}; 1 image of the library has another class by its folder than before"),
        n => format!("{words}; {} images of the library have another class by their folders than before", grouped(n)),
    };
    let undo = last_act(library).filter(|_| report.imported + report.relabelled > 0);
    let mut messages = state_and(library, Notice { undo, ..Notice::new(words, Tone::Done) });
    messages.push(Message::NewNotice(NewNotice::Logged(done(format!("{}: {whole}", display(folder))))));
    messages.push(upkeep::imported(folder.to_owned(), whole, report.left_out()));
    let failed = |failed: &FailedFile| Message::NewNotice(NewNotice::Logged(problem(&failed.detail)));
    messages.extend(report.failed.iter().take(TOLD).map(failed));
    let left_out = |text: &TextLeftOut| Message::NewNotice(NewNotice::Logged(problem(format!("{}: {}", display(&text.path), text.detail))));
    messages.extend(report.texts_left_out.iter().take(TOLD).map(left_out));
    let conflict = |file: &ClassConflict| {
        let words = format!(
            "{}: the image keeps the class {}, though this copy lies in the folder of {}",
            display(&file.path),
            file.kept,
            file.class
        );
        Message::NewNotice(NewNotice::Logged(problem(words)))
    };
    messages.extend(report.conflicts.iter().take(TOLD).map(conflict));
    messages.push(upkeep::health(&hold(library)));
    messages
}

/// Reads a table of captions or labels; the notice counts names without an image only if the user
/// requested the table.
fn read(library: &Mutex<Library>, table: &Table, path: &Path, was_asked: bool) -> Result<Vec<Message>> {
    let read = take_table(library, table, path)?;
    let mut words = format!("{}: {} and {} added", display_name(path), count(read.captions, "caption"), count(read.labels, "label"));
    for (n, what) in [
        (if was_asked { read.unmatched.len() } else { 0 }, "names without an image"),
        (read.ambiguous.len(), "names that several images have"),
        (read.kept, "labels kept as you gave them"),
        (read.n_left_out(), "captions left out, too long or too many for one image"),
        (table.n_problems, "lines that could not be read"),
    ] {
        if n > 0 {
            words.push_str(&format!(", {n} {what}"));
        }
    }
    let undo = last_act(library).filter(|_| read.captions + read.labels > 0);
    let mut messages = state_and(library, Notice { undo, ..Notice::new(words, Tone::Done) });
    messages.push(upkeep::names_without(path, &read));
    Ok(messages)
}

/// The table of captions in a folder of images that its plan would choose; one recognised by its
/// name may be of any size.
fn captions_in(session: &Session, folder: &Path, options: &ImportOptions) -> Option<PathBuf> {
    let named = ["tsv", "csv", "jsonl", "json", "txt"].iter().map(|ending| folder.join(format!("captions.{ending}")));
    let planned = || session.plan_import(None, folder, options).ok()?.captions_table().map(|table| table.path.clone());
    named.into_iter().find(|path| path.is_file()).or_else(planned)
}
