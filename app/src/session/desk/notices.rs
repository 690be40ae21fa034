//! Notices to the user: those to be shown now, and the log of all.

use super::view::{Notice, Tone};
pub(super) use tessera_core::plural::count;

/// Notices that the log keeps at most.
const LOG: usize = 500;

/// A message to the user.
pub(super) enum NewNotice {
    /// To be shown, and kept in the log.
    Shown(Notice),
    /// To be kept in the log only.
    Logged(Notice),
}

impl NewNotice {
    /// The same notice without its offers: its library is closed.
    pub(super) fn without_offers(self) -> Self {
        match self {
            Self::Shown(notice) => Self::Shown(Notice { undo: None, go_on: None, ..notice }),
            Self::Logged(notice) => Self::Logged(Notice { undo: None, go_on: None, ..notice }),
        }
    }
}

impl From<Notice> for NewNotice {
    fn from(notice: Notice) -> Self {
        Self::Shown(notice)
    }
}

/// The notices that are still to be shown, and the log.
#[derive(Default)]
pub struct Notices {
    untaken: Vec<Notice>,
    log: Vec<Notice>,
}

impl Notices {
    /// All notices, the oldest first.
    pub fn log(&self) -> &[Notice] {
        &self.log
    }

    /// Shows a notice and logs it.
    pub(super) fn tell(&mut self, notice: Notice) {
        self.write(notice.clone());
        self.untaken.push(notice);
    }

    /// Takes in a notice from another thread.
    pub(super) fn take_in(&mut self, told: NewNotice) {
        match told {
            NewNotice::Shown(notice) => self.tell(notice),
            NewNotice::Logged(notice) => self.write(notice),
        }
    }

    /// Adds a notice to the log, from which the oldest is dropped when it is full.
    fn write(&mut self, notice: Notice) {
        if self.log.len() >= LOG {
            self.log.remove(0);
        }
        self.log.push(notice);
    }

    /// The notices to be shown that have come since the last call.
    pub(super) fn take(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.untaken)
    }
}

/// A notice that something succeeded.
pub(super) fn done(words: impl Into<String>) -> Notice {
    Notice::new(words, Tone::Done)
}

/// A notice that informs.
pub(super) fn note(words: impl Into<String>) -> Notice {
    Notice::new(words, Tone::Note)
}

/// A notice that something was stopped.
pub(super) fn stopped() -> Notice {
    note("Stopped; what was done stays")
}

/// A notice that something failed.
pub(super) fn problem(words: impl ToString) -> Notice {
    Notice::new(words.to_string(), Tone::Problem)
}
