//! `journal.jsonl`: everything that happened to a library once more, as text, a line each, so that it can be made again.
//!
//! A line is written after the database has it. Each carries the xxh3-64 of what it says. When the file is read, a last line
//! without an end was being written when the program ended, and is dropped; any other line that is not as it was written is
//! told and skipped.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::event::{Change, ContentHash, Event, EventId, Kind, RootId};
use super::state::{Place, Root};
use crate::envelope::{hash64, replace_on};
use crate::error::Result;
use crate::ids::ItemId;
use crate::raw_path::RawPath;
use crate::storage::{Entry, Storage};

/// The journal's file.
pub const JOURNAL: &str = "journal.jsonl";

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// An event of the log.
    Event {
        /// Its place in the log.
        id: EventId,
        /// Milliseconds since 1970.
        at: i64,
        /// The first event of its act.
        act: EventId,
        /// What it takes back or does again, if that is what it does.
        kind: LineKind,
        /// What happened, in words.
        words: String,
        /// What it changed.
        changes: Vec<Change>,
    },
    /// A root was entered or changed.
    Root {
        /// Its number.
        id: RootId,
        /// Where it lies.
        path: RawPath,
        /// How labels are read.
        labels: String,
        /// What is left out.
        exclude: Vec<String>,
    },
    /// A file lies here.
    Place {
        /// The image with its bytes.
        image: ItemId,
        /// The root it lies below.
        root: RootId,
        /// Its path from there.
        path: RawPath,
        /// The hash of its bytes.
        hash: ContentHash,
        /// Its length.
        bytes: u64,
        /// When it was last changed, in nanoseconds since 1970.
        modified: i64,
        /// Whether it was there.
        here: bool,
    },
    /// No file lies here any more.
    Gone {
        /// The root.
        root: RootId,
        /// The path from there.
        path: RawPath,
    },
    /// Bytes that the user wanted forgotten.
    Forgotten(ContentHash),
    /// Bytes that may come back.
    Again(ContentHash),
    /// The identifier of the next new image.
    Next(u32),
}

/// What an event does to the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// The user did something new.
    Act,
    /// An act is taken back.
    Undo(EventId),
    /// An act is done again.
    Redo(EventId),
    /// Something that undo does not reach.
    Final,
}

impl Line {
    pub(super) fn event(event: &Event) -> Self {
        let kind = match event.kind {
            Kind::Act => LineKind::Act,
            Kind::Undo(act) => LineKind::Undo(act),
            Kind::Redo(act) => LineKind::Redo(act),
            Kind::Final => LineKind::Final,
        };
        let Event { id, at, act, words, changes, .. } = event.clone();
        Self::Event { id, at, act, kind, words, changes }
    }

    pub(super) fn root(id: RootId, root: &Root) -> Self {
        Self::Root { id, path: RawPath(root.path.clone()), labels: root.labels.clone(), exclude: root.exclude.clone() }
    }

    pub(super) fn place(image: ItemId, place: &Place) -> Self {
        let Place { root, path, hash, bytes, modified, here } = place.clone();
        Self::Place { image, root, path: RawPath(path), hash, bytes, modified, here }
    }

    /// The event that a line tells of, if it does.
    pub(super) fn into_event(self) -> Option<Event> {
        let Self::Event { id, at, act, kind, words, changes } = self else { return None };
        let kind = match kind {
            LineKind::Act => Kind::Act,
            LineKind::Undo(act) => Kind::Undo(act),
            LineKind::Redo(act) => Kind::Redo(act),
            LineKind::Final => Kind::Final,
        };
        Some(Event { id, at, act, kind, words, changes })
    }

    /// The line as text, with its seal and its end.
    fn to_text(&self) -> String {
        // Every value here can be written as JSON.
        let body = serde_json::to_string(self).unwrap_or_default();
        format!("{HEAD}{:016x}{MIDDLE}{body}}}\n", hash64(body.as_bytes()))
    }
}

const HEAD: &str = "{\"xxh3\":\"";
const MIDDLE: &str = "\",\"line\":";

/// Reads one line without its end.
///
/// # Errors
/// In words, when it is not as it was written.
pub fn read_line(text: &[u8]) -> Result<Line, String> {
    let parts = || -> Option<(u64, &[u8])> {
        let rest = text.strip_prefix(HEAD.as_bytes())?;
        let (seal, rest) = rest.split_at_checked(16)?;
        let body = rest.strip_prefix(MIDDLE.as_bytes())?.strip_suffix(b"}")?;
        Some((u64::from_str_radix(std::str::from_utf8(seal).ok()?, 16).ok()?, body))
    };
    let (seal, body) = parts().ok_or("it is no line of a journal")?;
    if hash64(body) != seal {
        return Err("it is not as it was written".into());
    }
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

/// What a journal says, and what is wrong with it, in sentences.
pub fn read(text: &[u8]) -> (Vec<Line>, Vec<String>) {
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    for (i, line) in text[..whole].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        match read_line(line) {
            Ok(line) => lines.push(line),
            Err(error) => problems.push(format!("line {} of the journal was skipped: {error}", i + 1)),
        }
    }
    (lines, problems)
}

/// The journal of an open library.
pub(super) struct Journal {
    path: PathBuf,
    storage: Arc<dyn Storage>,
    /// Whether something could not be written, so that the file lacks it.
    behind: Option<String>,
    is_synced: bool,
}

impl Journal {
    pub(super) fn new(folder: &Path, storage: Arc<dyn Storage>) -> Self {
        Self { path: folder.join(JOURNAL), storage, behind: None, is_synced: true }
    }

    pub(super) fn is_there(&self) -> bool {
        matches!(self.storage.entry(&self.path), Some(Entry::File(_)))
    }

    /// Adds lines about what is in the database already. A failure is kept, not told: nothing is lost by it, and the file is
    /// written anew when the library is next opened.
    pub(super) fn append(&mut self, lines: impl IntoIterator<Item = Line>) {
        let text: String = lines.into_iter().map(|line| line.to_text()).collect();
        if text.is_empty() || self.behind.is_some() {
            return;
        }
        self.is_synced = false;
        if let Err(error) = self.storage.append(&self.path, text.as_bytes()) {
            self.behind = Some(error.to_string());
        }
    }

    /// Why the file lacks something, if it does.
    pub(super) fn behind(&self) -> Option<&str> {
        self.behind.as_deref()
    }

    /// Brings what was added to the disk.
    pub(super) fn sync(&mut self) {
        if !self.is_synced && self.behind.is_none() {
            match self.storage.sync(&self.path) {
                Ok(()) => self.is_synced = true,
                Err(error) => self.behind = Some(error.to_string()),
            }
        }
    }

    /// Writes everything anew, all or nothing.
    pub(super) fn rewrite(&mut self, lines: impl IntoIterator<Item = Line>) -> Result<()> {
        let text: String = lines.into_iter().map(|line| line.to_text()).collect();
        replace_on(&*self.storage, &self.path, text.as_bytes())?;
        (self.behind, self.is_synced) = (None, true);
        Ok(())
    }
}
