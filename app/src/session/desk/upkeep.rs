//! Looking after a library: its health, checks, snapshots, a second try for files that could not be
//! taken in.

use std::io;

use tessera_core::library::Library;
use tessera_core::library::health::Health;

use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::{done, problem};
use super::part::Part;
use crate::command::Command;

/// What is known of how the library is.
#[derive(Default)]
pub struct Upkeep {
    health: Option<Health>,
}

/// How the library is.
pub(super) struct Message(Box<Health>);

impl Part for Upkeep {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, Message(health): Message) {
        self.health = Some(*health);
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed {
            self.health = None;
        }
    }
}

impl Upkeep {
    /// How the library is, as last asked for with
    /// [`Desk::look_at_health`](super::Desk::look_at_health).
    pub fn health(&self) -> Option<&Health> {
        self.health.as_ref()
    }
}

/// Finds out how the library is.
pub(super) fn look_at_health(ctx: &mut Context) {
    ctx.with_library(|_, library| health(library));
}

fn health(library: &Library) -> DeskMessage {
    library.health().map_or_else(|error| problem(error).into(), |health| Message(Box::new(health)).into())
}

/// Checks the library.
pub(super) fn check(ctx: &mut Context) {
    ctx.with_library(|_, library| match library.check() {
        Ok(problems) if problems.is_empty() => vec![health(library), done("Checked: everything is as it should be").into()],
        Ok(problems) => problems.into_iter().map(|words| problem(words).into()).collect(),
        Err(error) => vec![problem(error).into()],
    });
}

/// Copies the library's database.
pub(super) fn take_snapshot(ctx: &mut Context) {
    ctx.with_library(|_, library| match library.take_snapshot() {
        Ok(_) => vec![health(library), done("Made a snapshot of labels, captions and history").into()],
        Err(error) => vec![problem(error).into()],
    });
}

/// Looks again at files that could not be taken in.
pub(super) fn retry_skipped(ctx: &mut Context) {
    ctx.with_library(|_, library| library.retry_skipped().map_or_else(|error| problem(error).into(), |()| DeskMessage::from(())));
    ctx.ask(Command::Rescan);
}
