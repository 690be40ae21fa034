//! Exports, and the preview of one into class folders.

use std::io;
use std::path::{Path, PathBuf};

use tessera_core::Error;
use tessera_core::error::display;

use super::super::copies::{ExportPreview, plan_class_folders};
use super::super::export::ExportOptions;
use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::{count, done, note};
use super::part::Part;
use crate::command::{Export, Written};
use crate::job::JobKind;

/// The preview of an export into class folders.
#[derive(Default)]
pub struct Exporting {
    planned: Option<Planned>,
    /// What was not written, and where, because something is there that it would replace.
    occupied: Option<(Written, PathBuf)>,
}

/// Where class folders are to be written, and what would be written once that is known.
struct Planned {
    to: PathBuf,
    plan: Option<ExportPreview>,
}

/// News of exports.
pub(super) enum Message {
    /// Where class folders are to be written, and what would be written.
    Planned(PathBuf, ExportPreview),
    /// What was not written, and where, because something is there that it would replace.
    Occupied(Written, PathBuf),
}

impl Part for Exporting {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Message) {
        match message {
            Message::Planned(to, plan) => {
                if let Some(planned) = self.planned.as_mut().filter(|planned| planned.to == to) {
                    planned.plan = Some(plan);
                }
            }
            Message::Occupied(what, to) => self.occupied = Some((what, to)),
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed {
            *self = Self::default();
        }
    }
}

impl Exporting {
    /// Where class folders are to be written, and what would be written once that is known.
    pub fn plan(&self) -> Option<(&Path, Option<&ExportPreview>)> {
        self.planned.as_ref().map(|planned| (planned.to.as_path(), planned.plan.as_ref()))
    }

    /// What was not written, and where, because something is there that it would replace; once.
    pub(super) fn take_occupied(&mut self) -> Option<(Written, PathBuf)> {
        self.occupied.take()
    }

    /// Starts the preview of an export into class folders below `to`, in place of an earlier one;
    /// `None` drops the preview.
    pub(super) fn plan_class_folders(&mut self, ctx: &mut Context, to: Option<PathBuf>) {
        let Some(to) = to else {
            ctx.jobs.stop(&JobKind::CountClassFolders);
            self.planned = None;
            return;
        };
        let Some(library) = ctx.shared() else { return };
        self.planned = Some(Planned { to: to.clone(), plan: None });
        ctx.job(JobKind::CountClassFolders, move |session| match plan_class_folders(&library, &to, session.progress()) {
            Ok(plan) => Ok(DeskMessage::from(Message::Planned(to, plan))),
            Err(Error::Cancelled) => Ok(note("Stopped; nothing was written").into()),
            Err(error) => Err(error),
        });
    }

    /// Drops a preview whose job has ended without a result.
    pub(super) fn forget_uncounted(&mut self, ctx: &Context) {
        if !ctx.jobs.is_running(&JobKind::CountClassFolders) {
            self.planned.take_if(|planned| planned.plan.is_none());
        }
    }
}

/// The message of an error that something is at the place where `what` is to be written.
pub(super) fn occupied(error: Error, what: Written) -> Result<DeskMessage, Error> {
    match error {
        Error::Exists { path, .. } => Ok(Message::Occupied(what, path).into()),
        other => Err(other),
    }
}

/// Exports something to a file or a folder; `replaces` is whether in place of an older export.
pub(super) fn export(ctx: &mut Context, what: Export, to: PathBuf, replaces: bool) {
    ctx.library_job(JobKind::Export, move |session, library| {
        let options = ExportOptions { replaces, ..ExportOptions::default() };
        let written = match session.export(library, what, &to, options) {
            Ok(written) => written,
            Err(Error::Cancelled) => return Ok(note("Stopped; nothing was written").into()),
            Err(error) => return occupied(error, Written::Export(what)),
        };
        let classes = match written.folders.len() {
            0 => String::new(),
            n => format!(" of {}", count(n, "class")),
        };
        let whole = if matches!(what, Export::Labels(format) if format.is_images()) { " of the whole library" } else { "" };
        let hint = if written.has_paths() { "; to import it, choose Paths of folders" } else { "" };
        let words = format!("Wrote {}{classes}{whole} to {}{hint}", count(written.n, what.noun()), display(&to));
        let told = match written.missing {
            0 => done(words),
            n => note(format!("{words}; {} left out: their files are not there, or hold other pictures now", count(n, "labelled image"))),
        };
        Ok(told.into())
    });
}
