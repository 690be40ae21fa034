//! Exports, and the preview of one into class folders.

use std::io;
use std::path::{Path, PathBuf};

use tessera_core::Error;
use tessera_core::error::display;

use super::super::copies::{ExportPreview, plan_class_folders};
use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::{count, done, note};
use super::part::Part;
use crate::command::Export;
use crate::job::JobKind;

/// The preview of an export into class folders.
#[derive(Default)]
pub struct Exporting {
    planned: Option<Planned>,
}

/// Where class folders are to be written, and what would be written once that is known.
struct Planned {
    to: PathBuf,
    plan: Option<ExportPreview>,
}

/// Where class folders are to be written, and what would be written.
pub(super) struct Message(PathBuf, ExportPreview);

impl Part for Exporting {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, Message(to, plan): Message) {
        if let Some(planned) = self.planned.as_mut().filter(|planned| planned.to == to) {
            planned.plan = Some(plan);
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed {
            self.planned = None;
        }
    }
}

impl Exporting {
    /// Where class folders are to be written, and what would be written once that is known.
    pub fn plan(&self) -> Option<(&Path, Option<&ExportPreview>)> {
        self.planned.as_ref().map(|planned| (planned.to.as_path(), planned.plan.as_ref()))
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
            Ok(plan) => Ok(DeskMessage::from(Message(to, plan))),
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

/// Exports something to a file or a folder.
pub(super) fn export(ctx: &mut Context, what: Export, to: PathBuf) {
    ctx.library_job(JobKind::Export, move |session, library| {
        let written = match session.export(library, what, &to, false) {
            Err(Error::Cancelled) => return Ok(note("Stopped; nothing was written")),
            outcome => outcome?,
        };
        let words = format!("Wrote {} to {}", count(written.n, what.noun()), display(&to));
        Ok(match written.missing {
            0 => done(words),
            n => note(format!("{words}; {} left out: their files are not there", count(n, "labelled image"))),
        })
    });
}
