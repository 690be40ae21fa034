//! What is told of an act: the state that it led to, words for the user, and what the library
//! remarks.

use std::sync::Mutex;

use tessera_core::Result;
use tessera_core::error::contained;
use tessera_core::library::Library;
use tessera_core::library::import::hold;

use super::Message;
use super::notices::{Told, problem};
use super::view::{Notice, Tone};
use crate::job::mistake;

/// What came of an act.
pub(super) struct Acted<T> {
    /// What it gave, unless it failed.
    pub(super) outcome: Option<T>,
    /// What there is to tell.
    pub(super) told: Vec<Message>,
}

/// Does something to a library. `tell` finds words for what came of it. The state is told also
/// where the act failed: what became durable before the error is shown.
pub(super) fn act<T>(
    library: &mut Library,
    act: impl FnOnce(&mut Library) -> Result<T>,
    tell: impl FnOnce(&T, &Library) -> Option<Told>,
) -> Acted<T> {
    let outcome = contained(|| act(library)).map_err(|words| mistake(&words));
    let mut told = vec![Message::State(library.state().clone())];
    match outcome.and_then(|outcome| outcome.map_err(|error| error.to_string())) {
        Ok(outcome) => {
            told.extend(tell(&outcome, library).map(Message::Told));
            told.extend(library.take_remarks().into_iter().map(|words| problem(words).into()));
            Acted { outcome: Some(outcome), told }
        }
        Err(words) => {
            told.push(problem(words).into());
            Acted { outcome: None, told }
        }
    }
}

/// The last act of a library, which can be taken back.
pub(super) fn last_act(library: &Library) -> Notice {
    let (words, undo) = library.state().history().last().map(|act| (act.words.clone(), act.id)).unzip();
    Notice { words: words.unwrap_or_default(), tone: Tone::Done, undo }
}

/// The state of a library that long work has changed, and words for that.
pub(super) fn state_and(library: &Mutex<Library>, notice: Notice) -> Vec<Message> {
    vec![Message::State(hold(library).state().clone()), notice.into()]
}
