//! Upkeep of a library: its health, checks, snapshots, and a second try for files that could not be
//! imported.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::library::Library;
use tessera_core::library::health::{Health, InMemory, SkippedFile};
use tessera_core::library::import::{DUPLICATE, FailedFile, TableRead};
use tessera_core::library::state::Act;
use tessera_core::plural::count;

use super::super::file_report;
use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::{NewNotice, done, note, problem};
use super::part::Part;
use crate::command::Command;
use crate::job::JobKind;

/// The reason, in one word, for names in tables that are not those of one image.
const NO_IMAGE: &str = "no_image";

/// The health of the library, as last requested.
#[derive(Default)]
pub struct Upkeep {
    health: Option<Arc<Health>>,
    /// What is in memory of it, as reckoned when its page was turned to; and whether that page is
    /// visible, and it was asked for.
    memory: Option<InMemory>,
    is_watched: bool,
    is_asked: bool,
    /// What the last import of each folder found, in words.
    imports: HashMap<PathBuf, String>,
    /// Names in tables that are those of no image, or of several, by table.
    names: BTreeMap<PathBuf, Vec<SkippedFile>>,
    /// Files that were left out of imports since the library was opened, by folder.
    left_out: BTreeMap<PathBuf, Vec<SkippedFile>>,
    /// What was not taken in, by reason and then by path.
    not_taken_in: Vec<SkippedFile>,
    /// The import that would be undone, until it is asked whether that is meant.
    import_to_undo: Option<Arc<Act>>,
}

/// News of the library's upkeep.
pub(super) enum Message {
    /// The health of the library.
    Health(Box<Health>),
    /// What is in memory of the library.
    Memory(InMemory),
    /// What an import of a folder found, in words, and which files it left out.
    Imported(PathBuf, String, Vec<SkippedFile>),
    /// Names in a table that are those of no image, or of several.
    Names(PathBuf, Vec<SkippedFile>),
    /// Images were forgotten: no list may name them any more.
    Forgotten,
    /// The last act took in several images: it is undone only after a question.
    AskBeforeUndo(Arc<Act>),
}

impl Part for Upkeep {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Message) {
        match message {
            Message::Health(health) => {
                let is_same = |before: &Arc<Health>| before.skipped == health.skipped && before.copies == health.copies;
                let is_same = self.health.as_ref().is_some_and(is_same);
                self.health = Some(health.into());
                if !is_same {
                    self.sort();
                }
            }
            Message::Memory(memory) => self.memory = Some(memory),
            Message::AskBeforeUndo(act) => self.import_to_undo = Some(act),
            Message::Forgotten => {
                (self.left_out, self.names) = (BTreeMap::new(), BTreeMap::new());
                self.sort();
            }
            Message::Names(table, names) => {
                self.names.insert(table, names);
                self.sort();
            }
            Message::Imported(folder, words, left_out) => {
                self.imports.insert(folder.clone(), words);
                self.left_out.insert(folder, left_out);
                self.sort();
            }
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed {
            *self = Self { is_watched: self.is_watched, ..Self::default() };
        }
    }
}

impl Upkeep {
    /// Sets whether the page that tells it is visible: what is in memory is reckoned when it is
    /// turned to, for that goes over all images.
    pub(super) fn watch(&mut self, ctx: &mut Context, is_watched: bool) {
        let is_new = is_watched && !std::mem::replace(&mut self.is_watched, is_watched);
        if is_watched && (is_new || !self.is_asked) && ctx.is_ready() {
            self.is_asked = true;
            ctx.with_library(|_, library| Message::Memory(library.in_memory()));
        }
        self.is_watched = is_watched;
    }

    /// The import that would be undone; once.
    pub(super) fn take_import_to_undo(&mut self) -> Option<Arc<Act>> {
        self.import_to_undo.take()
    }

    /// What was in memory of the library when its page was turned to.
    pub fn memory(&self) -> Option<&InMemory> {
        self.memory.as_ref()
    }

    /// The health of the library when [`Command::LookAtHealth`] was last run.
    pub fn health(&self) -> Option<&Arc<Health>> {
        self.health.as_ref()
    }

    /// What was not taken in: files that failed when they were last imported, copies; and since the
    /// library was opened other files that were left out, and names in tables that are those of no
    /// image or of several. By reason, and then by path.
    pub fn not_taken_in(&self) -> &[SkippedFile] {
        &self.not_taken_in
    }

    /// The same as parts, each with its reason.
    pub fn by_reason(&self) -> impl Iterator<Item = (&str, &[SkippedFile])> {
        let mut rest = self.not_taken_in.as_slice();
        std::iter::from_fn(move || {
            let reason = rest.first()?.reason.as_str();
            let part;
            (part, rest) = rest.split_at(rest.partition_point(|file| file.reason.as_str() <= reason));
            Some((reason, part))
        })
    }

    fn sort(&mut self) {
        let failed = self.health.iter().flat_map(|health| health.skipped.iter().chain(&health.copies));
        let others = self.left_out.values().chain(self.names.values()).flatten();
        self.not_taken_in = failed.chain(others).cloned().collect();
        self.not_taken_in.sort_by(|a, b| (&a.reason, &a.path, &a.detail).cmp(&(&b.reason, &b.path, &b.detail)));
        self.not_taken_in.dedup();
    }

    /// Writes the list of what was not taken in to a file, as JSON lines.
    pub(super) fn save_report(&self, ctx: &mut Context, to: PathBuf) {
        let lines = self.not_taken_in.clone();
        ctx.short(move || {
            let written = file_report::create(&to).and_then(|mut file| {
                lines
                    .iter()
                    .try_for_each(|line| file_report::line(&mut file, &line.path, &line.reason, &line.detail))
                    .map_err(Error::io("write", &to))
            });
            match written {
                Ok(()) => DeskMessage::from(done(format!("Wrote {} to {}", count(lines.len(), "line"), display(&to)))),
                Err(error) => problem(error).into(),
            }
        });
    }

    /// What the last import of a folder found since the library was opened, in words.
    pub fn imported(&self, folder: &Path) -> Option<&str> {
        self.imports.get(folder).map(String::as_str)
    }
}

/// Notes what an import of a folder found, and which files it left out; copies are known of the
/// library itself.
pub(super) fn imported(folder: PathBuf, words: String, left_out: Vec<FailedFile>) -> DeskMessage {
    let left_out = left_out.into_iter().filter(|file| file.reason != DUPLICATE);
    let left_out = left_out.map(|FailedFile { path, reason, detail }| SkippedFile { path, reason: reason.into(), detail });
    Message::Imported(folder, words, left_out.collect()).into()
}

/// Notes the names in a table that are those of no image of the library, or of several.
pub(super) fn names_without(table: &Path, read: &TableRead) -> DeskMessage {
    let line = |name: &String, what: &str| SkippedFile {
        path: table.to_owned(),
        reason: NO_IMAGE.to_owned(),
        detail: format!("`{}` is the name of {what}", display(Path::new(name))),
    };
    let none = read.unmatched.iter().map(|name| line(name, "no image of the library"));
    let several = read.ambiguous.iter().map(|name| line(name, "several images of the library"));
    Message::Names(table.to_owned(), none.chain(several).collect()).into()
}

/// Reads the health of the library.
pub(super) fn look_at_health(ctx: &mut Context) {
    ctx.with_library(|_, library| health(library));
}

pub(super) fn health(library: &Library) -> DeskMessage {
    library.health().map_or_else(|error| problem(error).into(), |health| Message::Health(Box::new(health)).into())
}

/// Checks the library.
pub(super) fn check(ctx: &mut Context) {
    ctx.with_library(|_, library| match library.check() {
        Ok(problems) if problems.is_empty() => vec![health(library), done("Checked: everything is as it should be").into()],
        Ok(problems) => problems.into_iter().map(|words| problem(words).into()).collect(),
        Err(error) => vec![problem(error).into()],
    });
}

/// Makes a backup of the library in a folder. It can be worked with meanwhile.
pub(super) fn back_up(ctx: &mut Context, to: PathBuf) {
    let Some(folder) = ctx.library.as_ref().map(|open| open.folder.clone()) else { return };
    ctx.job(JobKind::BackUp, move |session| {
        let report = session.back_up(&folder, &to)?;
        let to = display(&to);
        let words = format!("Backed up to {to}: labels, captions and what was learned; image files stay where they are");
        let (events, head) = (count(report.events, "event"), &report.head);
        let head = note(format!("The backup in {to} holds {events}; the fingerprint of its history (its head) is {head}"));
        Ok(vec![DeskMessage::from(done(words)), DeskMessage::NewNotice(NewNotice::Logged(head))])
    });
}

/// Takes a snapshot of the library's database.
pub(super) fn take_snapshot(ctx: &mut Context) {
    ctx.with_library(|_, library| match library.take_snapshot() {
        Ok(_) => vec![health(library), done("Made a snapshot of labels, captions and history").into()],
        Err(error) => vec![problem(error).into()],
    });
}

/// Allows files that brought decoders down to be tried again, and imports all folders again.
pub(super) fn retry_skipped(ctx: &mut Context) {
    ctx.with_library(|_, library| library.retry_skipped().map_or_else(|error| problem(error).into(), |()| DeskMessage::from(())));
    ctx.ask(Command::Rescan);
}
