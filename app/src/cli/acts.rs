//! `tessera undo`, `redo`, `remove`, `restore`, `forget` and `relocate`.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Result;
use serde_json::{Map, Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::event::EventId;
use tessera_core::library::{Library, hold};

use super::librarian::{Librarian, count, find_all};
use super::library_args::{Forget, Images, OfLibrary, Relocate, Remove};
use super::output::{Failures, Output};
use super::{AlreadyPrinted, Done, Usage};
use crate::session::bin::{PutBack, taken};

/// Prints the event of the last act, or that nothing changed.
pub(super) fn tell(librarian: &Librarian<'_>, library: &Library, event: Option<EventId>) {
    tell_with(librarian, library, event, "", Map::new());
}

/// As [`tell`], with something to add in words and in JSON.
pub(super) fn tell_with(librarian: &Librarian<'_>, library: &Library, event: Option<EventId>, aside: &str, more: Map<String, Value>) {
    let words = match event {
        Some(_) => library.state().history().last().map(|act| act.words.clone()).unwrap_or_default(),
        None => "Nothing to change: it is so already".into(),
    };
    answer(librarian, library, event, &format!("{words}{aside}"), more);
}

fn answer(librarian: &Librarian<'_>, library: &Library, event: Option<EventId>, words: &str, more: Map<String, Value>) {
    let in_json = || {
        let mut answer = json!({"event": event.map(|event| event.0), "ok": true, "words": words});
        more.into_iter().for_each(|(key, value)| answer[key] = value);
        librarian.add_head(library, &mut answer);
        answer
    };
    librarian.out.answer(in_json, || words.to_owned());
}

/// The direction in the history.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HistoryStep {
    Undo,
    Redo,
}

pub(super) fn step(librarian: &Librarian<'_>, arguments: &OfLibrary, which: HistoryStep) -> Result<Done> {
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |shared| {
        let mut library = hold(shared);
        // Whoever undoes right after forgetting may mean that.
        let beyond = if which == HistoryStep::Undo { library.beyond_undo()? } else { None };
        let before = library.state().clone();
        let (step, done, nothing) = match which {
            HistoryStep::Undo => (library.undo()?, "Undone", "nothing to undo"),
            HistoryStep::Redo => (library.redo()?, "Done again", "nothing to do again"),
        };
        let aside = beyond.as_ref().map_or_else(String::new, |words| format!("; what came after it, {words}, cannot be taken back"));
        let mut more: Map<String, Value> = beyond.map(|words| ("not_undone".to_owned(), json!(words))).into_iter().collect();
        let Some((act, event)) = step else {
            let advice = "`tessera export LIBRARY events --to FILE` lists what was done";
            let error = Error::data(&arguments.library, "an act", format!("{nothing}{}", aside.replace(" after it", " last")), advice);
            librarian.out.complain(&error.to_string());
            librarian.out.json(|| json!({"event": null, "ok": false, "error": error.to_string()}));
            return Err(AlreadyPrinted(error).into());
        };
        let mut ended = Done::Whole;
        let files = match which {
            HistoryStep::Undo if act.is_with_files() => {
                let files = taken(&before, library.state());
                drop(library);
                let (session, out) = (librarian.session, librarian.out);
                // The act is undone, whatever becomes of the files.
                let put_back = out.watched(session.progress(), || session.put_back(shared, &files)).unwrap_or_else(|error| {
                    out.complain(&error.to_string());
                    ended = Done::Partly;
                    PutBack::default()
                });
                library = hold(shared);
                if let Done::Partly = complain_of(out, &put_back.left) {
                    ended = Done::Partly;
                }
                if !put_back.stopped.is_empty() {
                    out.note("`tessera redo` and `tessera undo`, in this order, put back what is still in the bin");
                }
                more.insert("put_back".to_owned(), json!(put_back.files.iter().map(|file| in_json(file)).collect::<Vec<_>>()));
                more.insert("left".to_owned(), left_in_json(&put_back.left));
                format!("; {} put back from the bin", count(put_back.files.len(), "file"))
            }
            HistoryStep::Redo if act.is_with_files() => "; no file is moved again".to_owned(),
            _ => String::new(),
        };
        answer(librarian, &library, Some(event), &format!("{done}: {}{files}{aside}", act.words), more);
        Ok(ended)
    })
}

/// Tells of each file that stays where it is, and why. How the command ends then.
fn complain_of(out: &Output, left: &[(PathBuf, String)]) -> Done {
    for (path, why) in left {
        out.complain(&format!("{}: {why}", display(path)));
    }
    if left.is_empty() { Done::Whole } else { Done::Partly }
}

fn left_in_json(left: &[(PathBuf, String)]) -> Value {
    left.iter().map(|(file, why)| json!({"path": in_json(file), "reason": why})).collect()
}

fn in_json(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn restore(librarian: &Librarian<'_>, arguments: &Images) -> Result<Done> {
    set_removed(librarian, arguments, false)
}

pub(super) fn remove(librarian: &Librarian<'_>, arguments: &Remove) -> Result<Done> {
    if !arguments.to_bin {
        return set_removed(librarian, &arguments.images, true);
    }
    let library = librarian.open(&arguments.images.library)?;
    librarian.with_shared(library, |library| {
        let removed = find_all(&hold(library), &arguments.images.images)?;
        clear(librarian, library, &[Clearance { kept: None, removed }])
    })
}

fn set_removed(librarian: &Librarian<'_>, arguments: &Images, removed: bool) -> Result<Done> {
    librarian.with(&arguments.library, |library| {
        let images = find_all(library, &arguments.images)?;
        let event = library.set_removed(&images, removed)?;
        tell(librarian, library, event);
        Ok(Done::Whole)
    })
}

/// Removes images with their files, and tells what became of these.
pub(super) fn clear(librarian: &Librarian<'_>, library: &Mutex<Library>, clearances: &[Clearance]) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let binned = out.watched(session.progress(), || session.remove_to_bin(library, clearances))?;
    let ended = complain_of(out, &binned.left);
    let moved: Vec<String> = binned.moved.iter().map(|file| in_json(file)).collect();
    let more = [("binned", json!(moved)), ("left", left_in_json(&binned.left))];
    let moved = count(binned.moved.len(), "file");
    let aside = match binned.event {
        Some(_) => format!("\n{moved} moved there; `tessera undo` puts back what went there"),
        // The images were removed before, by an act of which no undo asks the bin.
        None if !binned.moved.is_empty() => format!("\n{moved} moved there; what the bin holds can be put back from it"),
        None => String::new(),
    };
    let more = more.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    tell_with(librarian, &hold(library), binned.event, &aside, more);
    Ok(ended)
}

pub(super) fn forget(librarian: &Librarian<'_>, arguments: &Forget) -> Result<Done> {
    librarian.with(&arguments.images.library, |library| {
        let mut images = find_all(library, &arguments.images.images)?;
        images.sort_unstable();
        images.dedup();
        let which = count(images.len(), "image");
        // A program that uses JSON is taken at its word; a line of a script may be there by
        // mistake.
        let is_asked = !arguments.yes && !librarian.out.is_json();
        if is_asked && !io::stdin().is_terminal() {
            let words = "expected --yes, for there is no terminal to ask on, found none; give --yes to forget them for good";
            return Err(Usage(format!("forget {which}: {words}")).into());
        }
        if !arguments.yes && io::stdin().is_terminal() && !is_wanted(&which)? {
            return Err(Error::Cancelled.into());
        }
        let progress = librarian.session.progress();
        let event = librarian.out.watched(progress, || librarian.session.forget(library, &images))?;
        answer(librarian, library, Some(event), &format!("Forgot {which}; this cannot be taken back"), Map::new());
        librarian.out.note("Saved models of this library were deleted with it. Models and exports saved elsewhere are as they were.");
        Ok(Done::Whole)
    })
}

/// Asks for confirmation on the terminal.
fn is_wanted(which: &str) -> Result<bool> {
    let asked = write!(io::stderr().lock(), "Forget {which} and everything said of them? This cannot be taken back. [y/N] ");
    asked.map_err(Error::io("ask on", "the terminal"))?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Error::io("read from", "the terminal"))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

pub(super) fn relocate(librarian: &Librarian<'_>, arguments: &Relocate) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    let library = librarian.open(&arguments.library)?;
    let mut answer = json!({"event": null, "ok": true});
    let moved = librarian.with_shared(library, |library| {
        let moved = out.watched(session.progress(), || session.relocate(library, &arguments.old, &arguments.new))?;
        librarian.add_head(&hold(library), &mut answer);
        Ok(moved)
    })?;
    for failed in &moved.failed {
        failures.line_of(&failed.path, failed.reason, &failed.detail)?;
    }
    let words = format!("Relocated to {}: {} found, {} missing", display(&arguments.new), moved.found, moved.missing);
    answer["event"] = json!(moved.event.map(|event| event.0));
    let found = [("found", json!(moved.found)), ("missing", json!(moved.missing)), ("failed", json!(moved.failed.len()))];
    found.into_iter().chain([("words", json!(words))]).for_each(|(key, value)| answer[key] = value);
    out.answer(|| answer, || words.clone());
    failures.end()
}
