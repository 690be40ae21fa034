//! `tessera import`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::data::plan::may_be_table;
use tessera_core::data::tables::{self, Problem, Table};
use tessera_core::error::display;
use tessera_core::library::Library;
use tessera_core::library::brought::VectorsRead;
use tessera_core::library::import::{ClassConflict, ImportOptions, Imported, TableRead, hold};

use super::import_plan::{self, request};
use super::librarian::{Librarian, count};
use super::output::{Failures, NO_IMAGE, Output, SEVERAL_IMAGES, TOLD};
use super::vectors::Brought;
use super::{AlreadyPrinted, Done, library_args as args};
use crate::session::import::{allow_forgotten, take_table};
use crate::session::library::{ENDING, Target, what_is};

/// The reason that a report gives for captions that were left out.
const LEFT_OUT: &str = "captions";

/// The totals of an import, up to an error if there was one.
#[derive(Default)]
struct Sum {
    all: Imported,
    table: Option<TableRead>,
    vectors: Option<VectorsRead>,
    seconds: f64,
    error: Option<Error>,
}

/// A table of captions and labels with its file, and vectors.
type More<'a> = (Option<&'a (Table, &'a Path)>, Option<&'a Brought<'a>>);

pub(super) fn run(librarian: &Librarian<'_>, arguments: &args::Import) -> Result<Done> {
    let out = librarian.out;
    for folder in &arguments.folders {
        check(folder, arguments.unpack.is_some())?;
    }
    request(arguments).check()?;
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    if arguments.dry_run {
        return import_plan::run(librarian, arguments, failures);
    }
    // A table that cannot be read is reported before the long part begins.
    let table = match &arguments.captions {
        Some(file) => Some((tables::read(file, librarian.session.progress())?, file.as_path())),
        None => None,
    };
    let vectors = Brought::read(arguments)?;
    let place = librarian.named(&arguments.library);
    let is_new = !place.exists();
    let bad_lines = table.as_ref().map_or(0, |(table, _)| table.n_problems);
    let answer_of = |sum: &Sum| {
        let mut answer = in_json(sum);
        answer["bad_lines"] = json!(bad_lines);
        if let Some(vectors) = &vectors {
            answer["vectors"] = vectors.in_json(sum.vectors.as_ref());
        }
        answer
    };
    let opened = librarian.open_or_create(&place);
    if matches!(opened, Err(Error::Cancelled)) {
        out.json(|| answer_of(&Sum { error: Some(Error::Cancelled), ..Sum::default() }));
    }
    let library = Mutex::new(opened?);
    if is_new && place.extension().is_none_or(|ending| ending != ENDING) {
        out.note(&format!("The new library is {}, without the usual ending .{ENDING}: name it so in other commands.", display(&place)));
    }
    let mut sum = take_in(librarian, &library, arguments, (table.as_ref(), vectors.as_ref()));
    // What is not made now is made when it is first needed.
    if sum.error.is_none()
        && let Err(error) = out.watched(librarian.session.progress(), || librarian.session.grow_looks(&library, None))
    {
        match error {
            Error::Cancelled => sum.error = Some(Error::Cancelled),
            error => out.note(&format!("The index of look-alikes was not made: {error}")),
        }
    }
    let library = library.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut answer = answer_of(&sum);
    librarian.add_head(&library, &mut answer);
    if is_new && sum.error.is_some() {
        librarian.take_away(library)?;
    } else {
        librarian.close(library, Ok(()))?;
    }
    for failed in &sum.all.failed {
        failures.line_of(&failed.path, failed.reason, &failed.detail)?;
    }
    for file in sum.all.left_out() {
        failures.line(&file.path, file.reason, &file.detail)?;
    }
    let conflicts = &sum.all.conflicts;
    for (i, conflict) in conflicts.iter().enumerate() {
        let detail = conflict_in_words(conflict);
        if i < TOLD {
            out.note(&format!("{}: {detail}", display(&conflict.path)));
        }
        failures.line(&conflict.path, "class", &detail)?;
    }
    if conflicts.len() > TOLD {
        out.note(&format!("{} more lie in the folder of another class than their image has", count(conflicts.len() - TOLD, "file")));
    }
    for text in &sum.all.texts_left_out {
        out.note(&format!("{}: {}", display(&text.path), text.detail));
        failures.line(&text.path, LEFT_OUT, &text.detail)?;
    }
    if let Some((read, (_, file))) = sum.table.as_ref().zip(table.as_ref()) {
        for (names, what) in [(&read.unmatched, NO_IMAGE), (&read.ambiguous, SEVERAL_IMAGES)] {
            for name in names {
                failures.line(file, "no_image", &format!("`{}` is the name of {what}", display(Path::new(name))))?;
            }
        }
    }
    for (path, detail) in sum.table.iter().flat_map(TableRead::left_out_in_words) {
        failures.line(Path::new(path), LEFT_OUT, &detail)?;
    }
    if let Some((table, file)) = &table {
        for Problem { line, detail } in &table.problems {
            failures.bad_line(file, *line, detail)?;
        }
        if bad_lines > 0 {
            out.complain(&format!("{}: {} could not be used, wholly or in part", display(file), count(bad_lines, "line")));
        }
    }
    if let Some(vectors) = &vectors {
        vectors.report(librarian, sum.vectors.as_ref(), &mut failures)?;
    }
    let done = failures.end()?;
    let is_cancelled = matches!(sum.error, Some(Error::Cancelled));
    // An import that could not begin prints only its error.
    if sum.error.is_none() || is_cancelled || sum.all.found > 0 {
        out.answer(|| answer, || in_words(&sum, &place, vectors.as_ref()));
    }
    let Some(error) = sum.error else { return Ok(done) };
    out.complain(&match is_cancelled {
        true => "stopped; what was done stays, and the same command goes on from there".into(),
        false => error.to_string(),
    });
    Err(AlreadyPrinted(error).into())
}

fn check(folder: &Path, unpack: bool) -> Result<(), Error> {
    std::fs::metadata(folder).map_err(Error::io("read", folder))?;
    match folder.is_dir() {
        true if what_is(folder) == Target::Library => {
            Err(Error::data(folder, "a folder of images", "a library", "name the folder that the images lie in"))
        }
        true => Ok(()),
        false if unpack => Ok(()),
        false => Err(Error::data(folder, "a folder of images", "a file", "name its folder; a NORB `-dat.mat` file needs --unpack DIR")),
    }
}

/// Imports the folders and the table; the first error ends it.
fn take_in(librarian: &Librarian<'_>, library: &Mutex<Library>, arguments: &args::Import, more: More<'_>) -> Sum {
    let start = Instant::now();
    let mut sum = Sum::default();
    sum.error = sum.take_in(librarian, library, arguments, more).err();
    sum.seconds = start.elapsed().as_secs_f64();
    sum
}

/// The folders to import, after the files among them were unpacked into one.
fn unpacked(librarian: &Librarian<'_>, arguments: &args::Import) -> Result<Vec<PathBuf>, Error> {
    let session = librarian.session;
    let Some(to) = &arguments.unpack else { return Ok(arguments.folders.clone()) };
    let files = arguments.folders.iter().filter(|path| path.is_file()).count();
    if files == 0 {
        librarian.out.note("There is nothing to unpack: none of these is a NORB `-dat.mat` file.");
    }
    let mut folders = Vec::new();
    for path in &arguments.folders {
        if !path.is_file() {
            folders.push(path.clone());
            continue;
        }
        // Two files may contain pictures of the same name, and may have the same name themselves.
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let place = match (files, to.join(&*name)) {
            (1, _) => to.clone(),
            (_, place) if folders.contains(&place) => to.join(format!("{name}-{}", folders.len() + 1)),
            (_, place) => place,
        };
        let n = librarian.out.watched(session.progress(), || session.unpack(path, &place))?;
        librarian.out.note(&format!("Unpacked {} into {}", count(n, "picture"), display(&place)));
        folders.push(place);
    }
    Ok(folders)
}

/// Tells of a table of captions in the folder, which is read only where it is asked for.
fn note_table(librarian: &Librarian<'_>, folder: &Path, options: &ImportOptions, report: &Imported) {
    if !report.others.iter().any(|file| may_be_table(file)) {
        return;
    }
    let (session, out) = (librarian.session, librarian.out);
    let plan = out.watched(session.progress(), || session.plan_import(None, folder, options));
    let Ok(plan) = plan else { return };
    if let Some(table) = plan.captions_table().filter(|table| table.matched > 0) {
        let (path, images) = (display(&table.path), count(table.matched, "image"));
        out.note(&format!("{path} has captions or labels of {images} and was not read; import with --captions to read it"));
    }
}

fn tell(out: &Output, table: &Table, read: &TableRead, file: &Path) {
    out.note_names(file, &read.unmatched, &read.ambiguous);
    let file = display(file);
    for problem in table.problems.iter().take(TOLD) {
        out.note(&format!("{file}, line {}: {}", problem.line, problem.detail));
    }
    for (name, detail) in read.left_out_in_words().take(TOLD) {
        out.note(&format!("{file}, `{}`: {detail}", display(Path::new(name))));
    }
    if read.left_out.len() > TOLD {
        out.note(&format!("{file}: captions of {} more were left out", count(read.left_out.len() - TOLD, "image")));
    }
    if read.kept > 0 {
        out.note(&format!("{file}: {} kept as you gave them", count(read.kept, "label")));
    }
}

impl Sum {
    fn take_in(
        &mut self,
        librarian: &Librarian<'_>,
        library: &Mutex<Library>,
        arguments: &args::Import,
        (table, vectors): More<'_>,
    ) -> Result<(), Error> {
        let (session, out) = (librarian.session, librarian.out);
        let folders = unpacked(librarian, arguments)?;
        for folder in &folders {
            let options = request(arguments).options(Some(hold(library).state()), folder)?;
            let report = out.watched(session.progress(), || {
                if arguments.again {
                    allow_forgotten(library, folder, &options, session.progress())?;
                }
                session.import(library, folder, &options)
            })?;
            if !report.layout.is_empty() {
                out.note(&format!("{}: {}", display(folder), report.layout));
            }
            let cancelled = report.cancelled;
            if table.is_none() && report.imported > 0 && !cancelled {
                note_table(librarian, folder, &options, &report);
            }
            self.add(report);
            if cancelled {
                return Err(Error::Cancelled);
            }
        }
        // What is not in one folder may be in a later one.
        let folders: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        self.all.missing = hold(library).state().missing_below(&folders);
        if let Some((table, file)) = table {
            let read = take_table(library, table, file)?;
            tell(out, table, &read, file);
            self.table = Some(read);
        }
        if let Some(vectors) = vectors {
            let read = vectors.take_in(librarian, library)?;
            let is_cancelled = read.cancelled;
            self.vectors = Some(read);
            if is_cancelled {
                return Err(Error::Cancelled);
            }
        }
        Ok(())
    }

    fn add(&mut self, report: Imported) {
        let all = &mut self.all;
        all.found += report.found;
        all.imported += report.imported;
        all.unchanged += report.unchanged;
        all.duplicate += report.duplicate;
        all.moved += report.moved;
        all.copies.extend(report.copies);
        all.conflicts.extend(report.conflicts);
        all.unsupported += report.unsupported;
        all.unsupported_files.extend(report.unsupported_files);
        all.masks.extend(report.masks);
        all.others.extend(report.others);
        all.failed.extend(report.failed);
        all.changed += report.changed;
        all.relabelled += report.relabelled;
        all.cut_off.extend(report.cut_off);
        all.forgotten += report.forgotten;
        all.texts_left_out.extend(report.texts_left_out);
        all.worker_deaths += report.worker_deaths;
    }
}

/// What is said of a file in the folder of another class than its image has.
fn conflict_in_words(conflict: &ClassConflict) -> String {
    let class = |name: &str| display(Path::new(name));
    let ClassConflict { class: other, first, kept, .. } = conflict;
    format!(
        "its folder says `{}`, but it has the bytes of {}, and that image keeps the class `{}`",
        class(other),
        display(first),
        class(kept)
    )
}

fn in_json(sum: &Sum) -> serde_json::Value {
    let Sum { all, table, seconds, error, .. } = sum;
    let texts: usize = all.texts_left_out.iter().filter_map(|text| text.captions).sum();
    let of_table = |count: fn(&TableRead) -> usize| table.as_ref().map_or(0, count);
    json!({"found": all.found, "imported": all.imported, "unchanged": all.unchanged, "duplicate": all.duplicate, "moved": all.moved,
        "unsupported": all.unsupported, "failed": all.failed.len(), "seconds": seconds, "worker_deaths": all.worker_deaths,
        "class_conflicts": all.conflicts.iter().map(|conflict| json!({"path": conflict.path.to_string_lossy(), "class": conflict.class,
            "first": conflict.first.to_string_lossy(), "kept": conflict.kept})).collect::<Vec<_>>(),
        "masks": all.masks.len(), "others": all.others.len(), "changed": all.changed, "relabelled": all.relabelled, "cut_off": all.cut_off.len(), "forgotten": all.forgotten, "missing": all.missing,
        "captions": of_table(|read| read.captions), "repeated": of_table(|read| read.repeated), "labels": of_table(|read| read.labels),
        "captions_left_out": texts + of_table(TableRead::n_left_out),
        "texts_left_out": all.texts_left_out.iter().filter(|text| text.captions.is_none()).count(),
        "unmatched": of_table(|read| read.unmatched.len() + read.ambiguous.len()),
        "cancelled": matches!(error, Some(Error::Cancelled)), "error": error.as_ref().map(Error::to_string)})
}

fn in_words(sum: &Sum, library: &Path, vectors: Option<&Brought<'_>>) -> String {
    let all = &sum.all;
    let mut words = format!("{}: {} imported", display(library), count(all.imported, "image"));
    for (n, what) in [
        (all.changed, "of them with new contents"),
        (all.cut_off.len(), "of them cut off"),
        (all.unchanged, "unchanged"),
        (all.forgotten, "of them forgotten before and left out (--again takes them in)"),
        (all.moved, "moved"),
        (all.duplicate - all.moved, "duplicate"),
        (all.relabelled, "of these images with another class by their folders than before"),
        (all.conflicts.len(), "of them in the folder of another class"),
        (all.unsupported, "that are no pictures of a known format"),
        (all.masks.len(), "left out as masks of others"),
        (all.failed.len(), "failed"),
        (all.missing, "missing"),
    ] {
        if n > 0 {
            words.push_str(&format!(", {n} {what}"));
        }
    }
    if let Some(read) = &sum.table {
        words.push_str(&format!("; {} and {} added", count(read.captions, "caption"), count(read.labels, "label")));
        if read.repeated > 0 {
            words.push_str(&format!(", {} there already", count(read.repeated, "caption")));
        }
    }
    if let Some((vectors, read)) = vectors.zip(sum.vectors.as_ref()) {
        words.push_str(&format!("; {}", vectors.in_words(read)));
    }
    words.push_str(&format!(" ({:.1} s)", sum.seconds));
    words
}
