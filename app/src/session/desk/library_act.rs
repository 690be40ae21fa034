//! Acts on the library, with what the desk is sent about each: the new state, a notice for the
//! user, and the library's remarks.

use std::sync::Mutex;

use tessera_core::Result;
use tessera_core::error::contained;
use tessera_core::library::Library;
use tessera_core::library::import::hold;

use super::Message;
use super::notices::{NewNotice, problem};
use super::view::{Notice, Tone};
use crate::job::mistake;

/// The outcome of an act.
pub(super) struct Acted<T> {
    /// Its result, unless it failed.
    pub(super) outcome: Option<T>,
    /// The messages to the desk.
    pub(super) told: Vec<Message>,
}

/// Performs an act on a library. `tell` makes a notice of its result. The state is sent even if the
/// act failed, so that what became durable before the error is shown.
pub(super) fn act<T>(
    library: &mut Library,
    act: impl FnOnce(&mut Library) -> Result<T>,
    tell: impl FnOnce(&T, &Library) -> Option<NewNotice>,
) -> Acted<T> {
    let outcome = contained(|| act(library)).map_err(|words| mistake(&words));
    let mut told = vec![Message::State(library.state().clone())];
    match outcome.and_then(|outcome| outcome.map_err(|error| error.to_string())) {
        Ok(outcome) => {
            told.extend(tell(&outcome, library).map(Message::NewNotice));
            told.extend(library.take_remarks().into_iter().map(|words| problem(words).into()));
            Acted { outcome: Some(outcome), told }
        }
        Err(words) => {
            told.push(problem(words).into());
            Acted { outcome: None, told }
        }
    }
}

/// A notice of a library's last act, which can be undone.
pub(super) fn last_act(library: &Library) -> Notice {
    let (words, undo) = library.state().history().last().map(|act| (act.words.clone(), act.id)).unzip();
    Notice { undo, ..Notice::new(words.unwrap_or_default(), Tone::Done) }
}

/// The state of a library that a job has changed, and a notice.
pub(super) fn state_and(library: &Mutex<Library>, notice: Notice) -> Vec<Message> {
    vec![Message::State(hold(library).state().clone()), notice.into()]
}
