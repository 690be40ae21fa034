//! What the user is told: sentences to show now, and the log of all of them.

use super::view::{Notice, Tone};

/// Lines that the log keeps.
const LOG: usize = 500;

/// A message to the user.
pub(super) enum Told {
    /// To be shown, and kept in the log.
    Shown(Notice),
    /// Worth keeping in the log, not worth interrupting for.
    Logged(Notice),
}

impl Told {
    /// The same of an act that cannot be taken back any more.
    pub(super) fn without_undo(self) -> Self {
        match self {
            Self::Shown(notice) => Self::Shown(Notice { undo: None, ..notice }),
            Self::Logged(notice) => Self::Logged(Notice { undo: None, ..notice }),
        }
    }
}

impl From<Notice> for Told {
    fn from(notice: Notice) -> Self {
        Self::Shown(notice)
    }
}

/// What was told.
#[derive(Default)]
pub struct Notices {
    untaken: Vec<Notice>,
    log: Vec<Notice>,
}

impl Notices {
    /// Everything that happened, the oldest first.
    pub fn log(&self) -> &[Notice] {
        &self.log
    }

    /// Tells something, and logs it.
    pub(super) fn tell(&mut self, notice: Notice) {
        self.write(notice.clone());
        self.untaken.push(notice);
    }

    /// Takes in what comes from other threads.
    pub(super) fn take_in(&mut self, told: Told) {
        match told {
            Told::Shown(notice) => self.tell(notice),
            Told::Logged(notice) => self.write(notice),
        }
    }

    /// Logs what is not worth interrupting for.
    fn write(&mut self, notice: Notice) {
        if self.log.len() >= LOG {
            self.log.remove(0);
        }
        self.log.push(notice);
    }

    /// What was told since this was last asked.
    pub(super) fn take(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.untaken)
    }
}

/// Something went well.
pub(super) fn done(words: impl Into<String>) -> Notice {
    Notice { words: words.into(), tone: Tone::Done, undo: None }
}

/// Something is worth knowing.
pub(super) fn note(words: impl Into<String>) -> Notice {
    Notice { words: words.into(), tone: Tone::Note, undo: None }
}

/// Something went wrong.
pub(super) fn problem(words: impl ToString) -> Notice {
    Notice { words: words.to_string(), tone: Tone::Problem, undo: None }
}

/// So many of something, in words.
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
