//! The images of a folder, recognised one after another by the library or by a model that was
//! loaded.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use tessera_core::Error;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::error::display;
use tessera_core::ids::ItemId;

use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::exporting::occupied;
use super::notices::{count, done, note, problem};
use super::part::Part;
use crate::command::Written;
use crate::job::JobKind;
use crate::session::recognise_folder::{FileAnswer, FileOutcome, save_answers};

/// The folder that was recognised last.
#[derive(Default)]
pub struct RecognisedFolder {
    answers: Option<FolderAnswers>,
    /// The number of folders so far.
    number: u64,
    /// The share that was to be answered when the table was last saved: see
    /// [`FolderAnswers::is_unknown`].
    answered: Option<f64>,
}

/// The answers about the images of a folder so far.
#[derive(Clone)]
pub struct FolderAnswers {
    /// The number of this run.
    pub number: u64,
    /// The folder.
    pub folder: PathBuf,
    /// Who answers, in words.
    pub by: String,
    /// Each image with its answer, and files without one.
    pub outcomes: Vec<FileOutcome>,
    /// Whether a confidence is that of the recogniser's held-out images.
    pub is_calibrated: bool,
    metrics: Metrics,
    /// Whether all files of the folder were looked at.
    pub is_whole: bool,
    /// Whether the library that is open answers.
    is_of_library: bool,
}

/// Who recognises images.
pub(super) struct FolderAnswerer {
    pub(super) model: RecogniserModel,
    pub(super) name: String,
    /// The images of the library that answers, by their paths; `None` for a model.
    pub(super) learned: Option<HashMap<PathBuf, ItemId>>,
}

/// Results of the job.
pub(super) enum Message {
    /// The run of this number has begun.
    Began(u64, Box<FolderAnswers>),
    /// An image was looked at in the run of this number.
    Looked(u64, FileOutcome),
    /// The run of this number has looked at all files.
    Ended(u64),
}

impl FolderAnswers {
    /// Whether an answer counts as unknown: see [`Metrics::unknown_by`].
    pub fn is_unknown(&self, answer: &FileAnswer, answered: Option<f64>) -> bool {
        self.metrics.unknown_by(answered, answer.standing).is_some()
    }
}

impl Part for RecognisedFolder {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Message) {
        match message {
            Message::Began(number, answers) if number == self.number => self.answers = Some(*answers),
            Message::Looked(number, outcome) if number == self.number => {
                if let Some(answers) = &mut self.answers {
                    answers.outcomes.push(outcome);
                }
            }
            Message::Ended(number) if number == self.number => {
                if let Some(answers) = &mut self.answers {
                    answers.is_whole = true;
                }
            }
            Message::Began(..) | Message::Looked(..) | Message::Ended(_) => {}
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed && self.answers.as_ref().is_none_or(|answers| answers.is_of_library) {
            self.answers = None;
            self.number += 1;
        }
    }
}

impl RecognisedFolder {
    /// The answers about the images of the folder that was recognised last.
    pub fn answers(&self) -> Option<&FolderAnswers> {
        self.answers.as_ref()
    }

    /// Recognises the images of a folder, in place of those before.
    pub(super) fn recognise(&mut self, ctx: &mut Context, folder: PathBuf, answerer: impl FnOnce() -> FolderAnswerer + Send + 'static) {
        self.number += 1;
        let (number, outbox) = (self.number, ctx.outbox.clone());
        ctx.job(JobKind::RecogniseFolder, move |session| {
            let FolderAnswerer { model, name, learned } = answerer();
            let begun = FolderAnswers {
                number,
                folder: folder.clone(),
                by: name,
                outcomes: Vec::new(),
                is_calibrated: model.calibration.n > 0,
                metrics: model.metrics.clone(),
                is_whole: false,
                is_of_library: learned.is_some(),
            };
            // A folder of which nothing can be looked at takes the place of no other.
            let begun = Cell::new(Some(Box::new(begun)));
            let told = |outcome| {
                if let Some(begun) = begun.take() {
                    outbox.send(DeskMessage::from(Message::Began(number, begun)));
                }
                outbox.send(DeskMessage::from(Message::Looked(number, outcome)));
            };
            match session.recognise_folder(&model, &learned.unwrap_or_default(), &folder, &told) {
                Ok(()) => Ok(DeskMessage::from(Message::Ended(number))),
                Err(Error::Cancelled) => Ok(note("Stopped; the answers so far stay").into()),
                Err(error) => Err(error),
            }
        });
    }

    /// Drops the answers, and stops where they are still being found.
    pub(super) fn close(&mut self, ctx: &mut Context) {
        ctx.jobs.stop(&JobKind::RecogniseFolder);
        self.number += 1;
        self.answers = None;
    }

    /// Writes the answers as a table; `answered` is as in [`FolderAnswers::is_unknown`].
    pub(super) fn save(&mut self, ctx: &mut Context, to: PathBuf, answered: Option<f64>) {
        self.answered = answered;
        self.write(ctx, to, false);
    }

    /// Does so in place of an older table.
    pub(super) fn replace(&self, ctx: &mut Context, to: PathBuf) {
        self.write(ctx, to, true);
    }

    fn write(&self, ctx: &mut Context, to: PathBuf, replaces: bool) {
        let Some(answers) = self.answers.clone() else { return ctx.tell(note("Recognise a folder first")) };
        let answered = self.answered;
        ctx.short(move || {
            let is_unknown = |answer: &FileAnswer| answers.is_unknown(answer, answered);
            match save_answers(&answers.outcomes, is_unknown, &to, replaces) {
                Ok(()) => done(format!("Wrote {} to {}", count(answers.outcomes.len(), "answer"), display(&to))).into(),
                Err(error) => occupied(error, Written::Answers).unwrap_or_else(|error| problem(error).into()),
            }
        });
    }
}
