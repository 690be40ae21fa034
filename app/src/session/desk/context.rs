//! What all parts of a desk share: the session, the open library, the threads, the notices.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::state::State;
use tessera_core::library::{FirstImages, Library};
use tessera_core::{Error, Result};

use super::super::Session;
use super::jobs::Jobs;
use super::library_act;
use super::notices::{Notices, note, problem, stopped};
use super::view::Notice;
use super::worker::Worker;
use super::{Message, Wake};
use crate::command::Command;
use crate::job::JobKind;

/// The notice when a library is needed and none is open.
pub const NOTHING_OPEN: &str = "Open a folder or a library first";

/// A library that is open.
pub(super) struct OpenLibrary {
    pub(super) folder: PathBuf,
    /// The path that the user opened: a library or a folder of images.
    pub(super) source: PathBuf,
    pub(super) name: String,
    pub(super) shared: Arc<Mutex<Library>>,
    pub(super) state: State,
    /// Whether its models have learned everything.
    pub(super) is_ready: bool,
    /// Whether it shows a collection.
    pub(super) is_collection: bool,
}

/// The first images of a library that is being opened.
pub(super) struct First {
    pub(super) folder: PathBuf,
    pub(super) images: FirstImages,
}

/// Sends results of other threads to the desk.
#[derive(Clone)]
pub(super) struct Outbox {
    /// The number of openings and closings so far: messages about a library that is no longer open
    /// are dropped by it.
    pub(super) library: u64,
    pub(super) wake: Wake,
    send: Sender<(u64, Message)>,
}

impl Outbox {
    /// Sends a message about the library that was open when this was made.
    pub(super) fn send(&self, message: impl Into<Message>) {
        // The receiver is gone when the desk was dropped.
        let _ = self.send.send((self.library, message.into()));
        (self.wake)();
    }
}

/// An event of the open library, which every part receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// It was closed, and all jobs were stopped.
    Closed,
    /// The first images of one that is being opened are there.
    First,
    /// Another one is open.
    Opened,
    /// Its models have learned everything.
    Ready,
    /// Its state has changed.
    Changed,
    /// Its learned features were turned on (true) or off.
    Learned(bool),
    /// The network has looked at images that it had not looked at.
    Seen,
}

/// What is to be done once the current part has returned.
pub(super) enum Next {
    /// Deliver an event to every part.
    Hear(Event),
    /// Run a command, as if the user had requested it.
    Run(Command),
}

/// The context that the parts share.
pub(super) struct Context {
    pub(super) session: Session,
    /// For work that the user waits for: its thread pool is separate, so long jobs cannot fill it.
    pub(super) quick: Session,
    /// For work that the program does by itself, on threads that nothing else waits for.
    pub(super) own: Session,
    /// The first images of the library that is being opened.
    pub(super) first: Option<First>,
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
    /// When the system refuses to start a thread.
    pub(super) fn new(session: Session, wake: Wake) -> anyhow::Result<Self> {
        let (send, inbox) = mpsc::channel();
        let outbox = Outbox { library: 0, wake, send };
        let complain = outbox.clone();
        Ok(Self {
            quick: session.beside()?,
            own: session.beside()?,
            first: None,
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

    /// The state of the open library.
    pub(super) fn state(&self) -> Option<&State> {
        self.library.as_ref().map(|open| &open.state)
    }

    /// Whether a library is open whose models have learned everything.
    pub(super) fn is_ready(&self) -> bool {
        self.library.as_ref().is_some_and(|open| open.is_ready)
    }

    /// Whether a library is open whose models have not learned everything yet.
    pub(super) fn waits_for_models(&self) -> bool {
        self.library.as_ref().is_some_and(|open| !open.is_ready)
    }

    /// The last event of the open library.
    pub(super) fn last_event(&self) -> Option<EventId> {
        self.state().and_then(State::last_event)
    }

    /// The open library, for work on another thread. When none is open, a notice says so.
    pub(super) fn shared(&mut self) -> Option<Arc<Mutex<Library>>> {
        if self.library.is_none() {
            self.tell(note(NOTHING_OPEN));
        }
        self.library.as_ref().map(|open| Arc::clone(&open.shared))
    }

    /// Replaces the state on display by a newer one; an older one is ignored.
    pub(super) fn take_state(&mut self, state: State) {
        let Some(open) = &mut self.library else { return };
        // A job reports the state at its end; the user may have changed the library since.
        if state.last_event() < open.state.last_event() {
            return;
        }
        let is_new = open.state.last_event() != state.last_event();
        open.state = state;
        if is_new {
            self.announce(Event::Changed);
        }
    }

    /// Shows a notice to the user.
    pub(super) fn tell(&mut self, notice: Notice) {
        self.notices.tell(notice);
    }

    /// Queues an event for every part; delivered once the current part has returned.
    pub(super) fn announce(&mut self, event: Event) {
        self.next.push_back(Next::Hear(event));
    }

    /// Queues a command; run once the current part has returned.
    pub(super) fn ask(&mut self, command: Command) {
        self.next.push_back(Next::Run(command));
    }

    /// The next queued event or command.
    pub(super) fn next(&mut self) -> Option<Next> {
        self.next.pop_front()
    }

    /// The messages that have arrived from other threads since the last call, without those about a
    /// library that is no longer open.
    pub(super) fn news(&mut self) -> Vec<Message> {
        let of_now = self.outbox.library;
        let heard = |(of, message): (u64, Message)| if of == of_now { Some(message) } else { message.outliving() };
        let mut news: Vec<Message> = self.inbox.try_iter().filter_map(heard).collect();
        news.extend(self.jobs.ended());
        news
    }

    /// Queues a short task that does not need the library.
    pub(super) fn short<M: Into<Message>>(&self, task: impl FnOnce() -> M + Send + 'static) {
        let outbox = self.outbox.clone();
        self.worker.run(move || outbox.send(task()));
    }

    /// Drops something large on another thread: giving back what many images take takes a while.
    pub(super) fn drop_elsewhere(&self, large: impl Send + 'static) {
        self.worker.run(move || drop(large));
    }

    /// Queues a short task on the library.
    pub(super) fn with_library<M: Into<Message>>(&mut self, task: impl FnOnce(&Session, &mut Library) -> M + Send + 'static) {
        let Some(library) = self.shared() else { return };
        let session = self.session.clone();
        self.short(move || task(&session, &mut hold(&library)));
    }

    /// Queues an undoable act on the library. A notice tells of it, unless it changes nothing.
    pub(super) fn act(&mut self, act: impl FnOnce(&mut Library) -> Result<Option<EventId>> + Send + 'static) {
        self.with_library(|_, library| {
            library_act::act(library, act, |event, library| event.map(|_| library_act::last_act(library).into())).told
        });
    }

    /// Starts a job. When one of its kind is running and that kind is not replaced, a notice says
    /// so instead.
    pub(super) fn job<M: Into<Message>>(&mut self, kind: JobKind, work: impl FnOnce(&Session) -> Result<M> + Send + 'static) {
        let session = self.session.clone();
        self.job_by(&session, kind, work);
    }

    fn job_by<M: Into<Message>>(&mut self, session: &Session, kind: JobKind, work: impl FnOnce(&Session) -> Result<M> + Send + 'static) {
        let (session, wake) = (session.clone(), Arc::clone(&self.outbox.wake));
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

    /// Starts a job on the library. When it is cancelled, what it has done until then stays and is
    /// shown.
    pub(super) fn library_job<M: Into<Message>>(
        &mut self,
        kind: JobKind,
        work: impl FnOnce(&Session, &Mutex<Library>) -> Result<M> + Send + 'static,
    ) {
        let session = self.session.clone();
        self.library_job_by(&session, kind, work);
    }

    /// As [`Context::library_job`], on the threads of a session.
    pub(super) fn library_job_by<M: Into<Message>>(
        &mut self,
        session: &Session,
        kind: JobKind,
        work: impl FnOnce(&Session, &Mutex<Library>) -> Result<M> + Send + 'static,
    ) {
        let Some(library) = self.shared() else { return };
        self.job_by(session, kind, move |session| match work(session, &library) {
            Err(Error::Cancelled) => Ok(library_act::state_and(&library, stopped()).into()),
            outcome => outcome.map(Into::into),
        });
    }

    /// Waits until every short task is done; later ones are not run.
    pub(super) fn finish(&mut self) {
        self.worker.finish();
    }
}
