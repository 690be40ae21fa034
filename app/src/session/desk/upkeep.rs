//! Upkeep of a library: its health, checks, snapshots, and a second try for files that could not be
//! imported.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use tessera_core::error::display;
use tessera_core::library::health::Health;
use tessera_core::library::{Library, backup};
use tessera_core::plural::count;

use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::{done, problem};
use super::part::Part;
use crate::command::Command;
use crate::job::JobKind;

/// The health of the library, as last requested.
#[derive(Default)]
pub struct Upkeep {
    health: Option<Health>,
    /// What the last import of each folder found, in words.
    imports: HashMap<PathBuf, String>,
}

/// News of the library's upkeep.
pub(super) enum Message {
    /// The health of the library.
    Health(Box<Health>),
    /// What an import of a folder found, in words.
    Imported(PathBuf, String),
}

impl Part for Upkeep {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Message) {
        match message {
            Message::Health(health) => self.health = Some(*health),
            Message::Imported(folder, words) => drop(self.imports.insert(folder, words)),
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed {
            *self = Self::default();
        }
    }
}

impl Upkeep {
    /// The health of the library when [`Command::LookAtHealth`] was last run.
    pub fn health(&self) -> Option<&Health> {
        self.health.as_ref()
    }

    /// What the last import of a folder found since the library was opened, in words.
    pub fn imported(&self, folder: &Path) -> Option<&str> {
        self.imports.get(folder).map(String::as_str)
    }
}

/// Notes what an import of a folder found.
pub(super) fn imported(folder: PathBuf, words: String) -> DeskMessage {
    Message::Imported(folder, words).into()
}

/// Reads the health of the library.
pub(super) fn look_at_health(ctx: &mut Context) {
    ctx.with_library(|_, library| health(library));
}

fn health(library: &Library) -> DeskMessage {
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
        let report = backup::back_up(&folder, &to, session.progress())?;
        let head: String = report.head.to_string().chars().take(24).collect();
        let words = format!("Backed up {} to {}; the head is {head}…", count(report.events, "event"), display(&to));
        Ok(DeskMessage::from(done(words)))
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
