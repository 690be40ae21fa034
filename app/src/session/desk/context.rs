//! What every part of a desk works with: the session, the open library, the threads, and what is
//! told.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::state::State;
use tessera_core::{Error, Result};

use super::super::Session;
use super::jobs::Jobs;
use super::notices::{Notices, note, problem};
use super::told;
use super::view::Notice;
use super::worker::Worker;
use super::{Message, Wake};
use crate::command::Command;
use crate::job::JobKind;

/// What is said where a library is needed and none is open.
const NOTHING_OPEN: &str = "Open a folder or a library first";

/// A library that is open.
pub(super) struct OpenLibrary {
    pub(super) folder: PathBuf,
    /// What the user named.
    pub(super) source: PathBuf,
    pub(super) name: String,
    pub(super) shared: Arc<Mutex<Library>>,
    pub(super) state: State,
}

/// Sends what was done on other threads to the desk.
#[derive(Clone)]
pub(super) struct Outbox {
    /// Counts openings and closings: what is said of another library than the one that is open is
    /// not taken in.
    pub(super) library: u64,
    pub(super) wake: Wake,
    send: Sender<(u64, Message)>,
}

impl Outbox {
    /// Sends a message about the library that was open when this was made.
    pub(super) fn send(&self, message: impl Into<Message>) {
        // Nobody listens when the desk is gone.
        let _ = self.send.send((self.library, message.into()));
        (self.wake)();
    }
}

/// What happened to the library, as every part hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// It was closed, and all jobs were stopped.
    Closed,
    /// Another one is open.
    Opened,
    /// It holds something else than before.
    Changed,
}

/// What follows once the part at work has returned.
pub(super) enum Next {
    /// Every part hears of it.
    Hear(Event),
    /// It is run, as if the user had asked for it.
    Run(Command),
}

/// What the parts share.
pub(super) struct Context {
    pub(super) session: Session,
    /// For work that a user waits for: it has threads of its own, which long work does not fill.
    pub(super) quick: Session,
    pub(super) library: Option<OpenLibrary>,
    pub(super) jobs: Jobs,
    pub(super) notices: Notices,
    pub(super) outbox: Outbox,
    inbox: Receiver<(u64, Message)>,
    worker: Worker,
    next: VecDeque<Next>,
}

impl Context {
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn new(session: Session, wake: Wake) -> anyhow::Result<Self> {
        let (send, inbox) = mpsc::channel();
        let outbox = Outbox { library: 0, wake, send };
        let complain = outbox.clone();
        Ok(Self {
            quick: session.beside()?,
            session,
            library: None,
            jobs: Jobs::default(),
            notices: Notices::default(),
            worker: Worker::new("library", move |words| complain.send(problem(words)))?,
            outbox,
            inbox,
            next: VecDeque::new(),
        })
    }

    /// What the open library holds.
    pub(super) fn state(&self) -> Option<&State> {
        self.library.as_ref().map(|open| &open.state)
    }

    /// The last event of the open library.
    pub(super) fn last_event(&self) -> Option<EventId> {
        self.state().and_then(State::last_event)
    }

    /// The open library, for work on another thread. The user is told where there is none.
    pub(super) fn shared(&mut self) -> Option<Arc<Mutex<Library>>> {
        if self.library.is_none() {
            self.tell(note(NOTHING_OPEN));
        }
        self.library.as_ref().map(|open| Arc::clone(&open.shared))
    }

    /// Takes over what the library holds now.
    pub(super) fn take_state(&mut self, state: State) {
        let Some(open) = &mut self.library else { return };
        // A job tells of the moment at which it ended; the user may have been quicker.
        if state.last_event() < open.state.last_event() {
            return;
        }
        let is_new = open.state.last_event() != state.last_event();
        open.state = state;
        if is_new {
            self.announce(Event::Changed);
        }
    }

    /// Tells the user something.
    pub(super) fn tell(&mut self, notice: Notice) {
        self.notices.tell(notice);
    }

    /// Tells every part of an event once the part at work has returned.
    pub(super) fn announce(&mut self, event: Event) {
        self.next.push_back(Next::Hear(event));
    }

    /// Runs a command once the part at work has returned.
    pub(super) fn ask(&mut self, command: Command) {
        self.next.push_back(Next::Run(command));
    }

    /// The next of what is to follow.
    pub(super) fn next(&mut self) -> Option<Next> {
        self.next.pop_front()
    }

    /// What came back from threads since this was last asked, as far as it still counts.
    pub(super) fn news(&mut self) -> Vec<Message> {
        let of_now = self.outbox.library;
        let heard = |(of, message): (u64, Message)| if of == of_now { Some(message) } else { message.outliving() };
        let mut news: Vec<Message> = self.inbox.try_iter().filter_map(heard).collect();
        news.extend(self.jobs.ended());
        news
    }

    /// Does a short task in its turn, without the library.
    pub(super) fn short<M: Into<Message>>(&self, task: impl FnOnce() -> M + Send + 'static) {
        let outbox = self.outbox.clone();
        self.worker.run(move || outbox.send(task()));
    }

    /// Does something short with the library in its turn.
    pub(super) fn with_library<M: Into<Message>>(&mut self, task: impl FnOnce(&Session, &mut Library) -> M + Send + 'static) {
        let Some(library) = self.shared() else { return };
        let session = self.session.clone();
        self.short(move || task(&session, &mut hold(&library)));
    }

    /// An act that can be taken back: the user is told of it, unless it changes nothing.
    pub(super) fn act(&mut self, act: impl FnOnce(&mut Library) -> Result<Option<EventId>> + Send + 'static) {
        self.with_library(|_, library| told::act(library, act, |event, library| event.map(|_| told::last_act(library).into())).told);
    }

    /// Starts a job. Where one of its kind goes on that is not replaced, the user is told so
    /// instead.
    pub(super) fn job<M: Into<Message>>(&mut self, kind: JobKind, work: impl FnOnce(&Session) -> Result<M> + Send + 'static) {
        let (session, wake) = (self.session.clone(), Arc::clone(&self.outbox.wake));
        let words = kind.words();
        let is_started = self.jobs.start(
            kind,
            session.progress().another(),
            move || wake(),
            move |progress| work(&session.with_progress(progress)).map(Into::into).map_err(|error| error.to_string()),
        );
        if is_started {
            (self.outbox.wake)();
        } else {
            self.tell(note(format!("{words}: already under way")));
        }
    }

    /// Starts a job on the library. Where it is cancelled, what it has done till then is taken in.
    pub(super) fn library_job<M: Into<Message>>(
        &mut self,
        kind: JobKind,
        work: impl FnOnce(&Session, &Mutex<Library>) -> Result<M> + Send + 'static,
    ) {
        let Some(library) = self.shared() else { return };
        self.job(kind, move |session| match work(session, &library) {
            Err(Error::Cancelled) => Ok(told::state_and(&library, note("Stopped; what was done stays")).into()),
            outcome => outcome.map(Into::into),
        });
    }

    /// Waits until every short task is done. There will be no more.
    pub(super) fn finish(&mut self) {
        self.worker.finish();
    }
}
