//! `journal.jsonl`: a second record of everything that happened to a library, as text, a line each,
//! from which its database can be rebuilt.
//!
//! A line is written after the database has it. Each carries its number and the xxh3-64 of both;
//! the last one of a library that was closed says so. When the file is read, a last line without an
//! end was being written when the program ended, and is dropped; any other line that is not as it
//! was written, or whose event is not what its link says, is reported and skipped, and gaps in the
//! numbers are reported.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chain::{Fault, Head};
use super::event::{Change, ContentHash, Event, EventId, EventKind, RootId};
use super::files::{read_ordinary, with_ending};
use super::link::{Digest, Link};
use super::state::{Place, Root};
use crate::envelope::{hash64, replace_on};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::plural::count;
use crate::raw_path::RawPath;
use crate::storage::{PathKind, Storage};
use crate::utc::utc;

pub use super::files::JOURNAL;

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
        /// Whether it is an act, an undo, a redo or neither.
        kind: LineKind,
        /// What happened, in words.
        words: String,
        /// What it changed.
        changes: Vec<Change>,
        /// What ties it to the event before; none in journals of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<Link>,
    },
    /// A root was added or changed.
    Root {
        /// Its number.
        id: RootId,
        /// Its path.
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
    /// Bytes that the user had forgotten: imports leave them out.
    Forgotten(ContentHash),
    /// Forgotten bytes that may be imported again.
    Again(ContentHash),
    /// The identifier of the next new image.
    Next(u32),
    /// The library's number, and when a snapshot was last restored in it, in milliseconds since
    /// 1970 (0: never).
    Library(i64, i64),
    /// Events after the last one that could be recovered, the first and the last of them: no file
    /// has them any more.
    Lost(EventId, EventId),
    /// The library was closed.
    End(Ending),
}

/// The end of the history when a library was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ending {
    /// The last event and the head after it.
    Linked {
        /// The event.
        last: EventId,
        /// The head.
        head: Digest,
    },
    /// The last event alone, as earlier versions wrote it.
    Bare(EventId),
}

/// What an event does to the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// The user did something new.
    Act,
    /// An act is undone.
    Undo(EventId),
    /// An act is redone.
    Redo(EventId),
    /// An event that undo does not reach.
    Final,
}

impl Line {
    pub(super) fn event(event: &Event) -> Self {
        let kind = match event.kind {
            EventKind::Act => LineKind::Act,
            EventKind::Undo(act) => LineKind::Undo(act),
            EventKind::Redo(act) => LineKind::Redo(act),
            EventKind::Final => LineKind::Final,
        };
        let Event { id, at, act, words, changes, link, .. } = event.clone();
        Self::Event { id, at, act, kind, words, changes, link }
    }

    pub(super) fn root(id: RootId, root: &Root) -> Self {
        Self::Root { id, path: RawPath(root.path.clone()), labels: root.reading.labels.clone(), exclude: root.reading.exclude.clone() }
    }

    pub(super) fn place(image: ItemId, place: &Place) -> Self {
        let Place { root, path, hash, bytes, modified, here } = place.clone();
        Self::Place { image, root, path: RawPath(path), hash, bytes, modified, here }
    }

    pub(super) fn lost(fault: Fault) -> Option<Self> {
        if let Fault::Lost(first, last) = fault { Some(Self::Lost(first, last)) } else { None }
    }

    /// The number of the event in a line, if it holds one.
    pub(super) fn event_id(&self) -> Option<EventId> {
        if let Self::Event { id, .. } = self { Some(*id) } else { None }
    }

    /// The link of the event in a line, if it holds one that has a link.
    pub(super) fn link(&self) -> Option<&Link> {
        if let Self::Event { link, .. } = self { link.as_ref() } else { None }
    }

    /// Whether a line holds this event, by the head after it, or by its content where the line has
    /// no link.
    pub(super) fn tells(&self, event: &Event) -> bool {
        match self.link() {
            Some(link) => event.link.as_ref().is_some_and(|own| own.head == link.head),
            None => *self == Self::event(&Event { link: None, ..event.clone() }),
        }
    }

    /// The event in a line, if it holds one.
    pub(super) fn into_event(self) -> Option<Event> {
        let Self::Event { id, at, act, kind, words, changes, link } = self else { return None };
        let kind = match kind {
            LineKind::Act => EventKind::Act,
            LineKind::Undo(act) => EventKind::Undo(act),
            LineKind::Redo(act) => EventKind::Redo(act),
            LineKind::Final => EventKind::Final,
        };
        Some(Event { id, at, act, kind, words, changes, link })
    }

    /// The line as text, with its seal, its number and its end.
    fn to_text(&self, n: u64) -> String {
        // Every value here can be written as JSON.
        let body = format!("\"n\":{n},\"line\":{}", serde_json::to_string(self).unwrap_or_default());
        format!("{HEAD}{:016x}{MIDDLE}{body}}}\n", hash64(body.as_bytes()))
    }
}

const HEAD: &str = "{\"xxh3\":\"";
const MIDDLE: &str = "\",";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbered {
    n: u64,
    line: Line,
}

/// Reads one line without its end: its number and what it says.
///
/// # Errors
/// In words, when it is not as it was written, or its event not what its link says.
pub fn read_line(text: &[u8]) -> Result<(u64, Line), String> {
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
    let whole = [b"{", body, b"}"].concat();
    let Numbered { n, line } = serde_json::from_slice(&whole).map_err(|error| error.to_string())?;
    let event = if matches!(line, Line::Event { .. }) { line.clone().into_event() } else { None };
    match event.filter(|event| !event.holds()) {
        Some(event) => Err(Fault::Altered(event.id).to_string()),
        None => Ok((n, line)),
    }
}

/// The text of the journal of the library in `folder`.
///
/// # Errors
/// Those of the system; [`io::ErrorKind::InvalidInput`] where it is no ordinary file.
pub fn text_of(folder: &Path) -> io::Result<Vec<u8>> {
    read_ordinary(&folder.join(JOURNAL))
}

/// What is wrong with a line of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedLine {
    /// In a sentence.
    pub words: String,
    /// The event it told of, as far as that can be read.
    pub event: Option<EventId>,
}

/// What a journal says, and what is wrong with it.
pub fn read(text: &[u8]) -> (Vec<Line>, Vec<DamagedLine>) {
    let (mut lines, mut problems) = (Vec::new(), Vec::<DamagedLine>::new());
    let mut next = 0;
    for (i, line) in whole_lines(text).enumerate() {
        let mut add = |words, event| problems.push(DamagedLine { words, event });
        match read_line(line) {
            Ok((n, line)) => {
                if n > next {
                    let verb = if n - next == 1 { "is" } else { "are" };
                    add(format!("{} of the journal {verb} missing before its line {}", count((n - next) as usize, "line"), i + 1), None);
                } else if n < next {
                    add(format!("line {} of the journal stands in the wrong place, or twice", i + 1), None);
                }
                next = n.saturating_add(1);
                lines.push(line);
            }
            Err(error) => {
                let told = told_of(line);
                let words = told.map_or_else(String::new, |(event, at)| format!("; it told of event {} of {}", event.0, utc(at)));
                add(format!("line {} of the journal was skipped: {error}{words}", i + 1), told.map(|(event, _)| event));
                next = next.saturating_add(1);
            }
        }
    }
    (lines, problems)
}

/// Which library a journal is of, and when a snapshot was last restored in it.
pub(super) fn told_identity(lines: &[Line]) -> Option<(i64, i64)> {
    lines.iter().find_map(|line| if let Line::Library(id, restored) = line { Some((*id, *restored)) } else { None })
}

/// The number of the event that a damaged line told of, and when that was, as far as they can be
/// read.
fn told_of(line: &[u8]) -> Option<(EventId, i64)> {
    let event = number_in(line, EVENT_START)?;
    Some((EventId(event as u64), number_in(line, "\"at\":")?))
}

/// How a line that tells an event begins, up to the event's number.
const EVENT_START: &str = "\"event\":{\"id\":";

/// The number behind a name in a line that may be damaged.
fn number_in(line: &[u8], name: &str) -> Option<i64> {
    let text = String::from_utf8_lossy(line);
    let (_, rest) = text.split_once(name)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The last event that a journal knows of in any of its lines, also in damaged ones and in a last
/// one without an end, whether or not it still tells that event; 0 when it knows of none. A damaged
/// line is believed no further than lines are missing.
pub(super) fn reached(text: &[u8]) -> EventId {
    // The lines that may have told of events after the last one that is known of.
    let (mut reached, mut next, mut missing) = (0_u64, 0_u64, 0_u64);
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let (n, told) = match read_line(line) {
            Ok((n, line)) => (n, last_in(&line)),
            Err(_) => {
                let n = number_in(line, "\"n\":").map_or(next, |n| next.max(n as u64));
                let event = number_in(line, EVENT_START).map(|event| (event as u64, 1));
                let told = event.or_else(|| Some((number_in(line, "\"end\":{\"last\":")? as u64, 0)));
                let furthest = |own| reached.saturating_add(missing).saturating_add(n - next).saturating_add(own);
                let told = told.map_or(0, |(last, own)| last.min(furthest(own)));
                missing = missing.saturating_add(1);
                (n, told)
            }
        };
        missing = missing.saturating_add(n.saturating_sub(next)).saturating_sub(told.saturating_sub(reached));
        reached = reached.max(told);
        next = n.saturating_add(1);
    }
    EventId(reached)
}

/// The last event that a line knows of.
fn last_in(line: &Line) -> u64 {
    match line {
        Line::Event { id, .. } | Line::Lost(_, id) | Line::End(Ending::Linked { last: id, .. } | Ending::Bare(id)) => id.0,
        _ => 0,
    }
}

/// The lines that have an end.
fn whole_lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The head at which the library was closed, if a journal ends with that.
pub(super) fn closed_at(text: &[u8]) -> Option<Head> {
    end(text).map(|(_, head)| head)
}

/// The number of the last line and the head at which the library was closed, if the journal ends in
/// that way.
fn end(text: &[u8]) -> Option<(u64, Head)> {
    match read_line(text.strip_suffix(b"\n").and_then(|_| whole_lines(text).next_back())?) {
        Ok((n, Line::End(Ending::Linked { last, head }))) => Some((n, Head { event: last, digest: head })),
        _ => None,
    }
}

/// The journal of an open library.
pub(super) struct Journal {
    path: PathBuf,
    storage: Arc<dyn Storage>,
    /// Whether something could not be written, so that the file lacks it.
    behind: Option<String>,
    is_synced: bool,
    /// The number of the next line.
    next: u64,
}

impl Journal {
    pub(super) fn new(folder: &Path, storage: Arc<dyn Storage>) -> Self {
        Self { path: folder.join(JOURNAL), storage, behind: Some("it was not read yet".into()), is_synced: true, next: 0 }
    }

    /// The file's text; `None` when there is no file.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] when it is no file.
    pub(super) fn text(&self) -> Result<Option<Vec<u8>>> {
        let is_there = match self.storage.entry(&self.path) {
            None => false,
            Some(PathKind::File(_)) => true,
            Some(_) => return Err(Error::data(&self.path, "a file", "something else", "move it out of the library's folder")),
        };
        is_there.then(|| self.storage.read(&self.path)).transpose().map_err(Error::io("read", &self.path))
    }

    /// Continues a journal whose text ends with the closing of the library at the head `last`.
    /// Returns whether it does.
    pub(super) fn go_on(&mut self, text: &[u8], last: Head) -> bool {
        let Some((n, _)) = end(text).filter(|(_, head)| *head == last) else { return false };
        (self.behind, self.next) = (None, n + 1);
        true
    }

    /// Renames a file that is not as it was written, or not of this history. Returns its new name.
    pub(super) fn keep_damaged(&self) -> Result<PathBuf> {
        let kept = (1..).map(|n| with_ending(&self.path, &format!(".damaged-{n}"))).find(|path| self.storage.entry(path).is_none());
        let kept = kept.unwrap_or_else(|| with_ending(&self.path, ".damaged"));
        self.storage.rename(&self.path, &kept).map_err(Error::io("rename", &self.path))?;
        Ok(kept)
    }

    /// Stops appending until the journal is rewritten.
    pub(super) fn outdate(&mut self) {
        self.behind = Some("it has to be written anew".into());
    }

    /// Notes that the library is closed.
    pub(super) fn close(&mut self, last: Head) {
        self.append([Line::End(Ending::Linked { last: last.event, head: last.digest })]);
        self.sync();
    }

    /// Adds lines about what is in the database already. A failure is kept, not returned: nothing
    /// is lost by it, and the file is written anew when the library is next opened.
    pub(super) fn append(&mut self, lines: impl IntoIterator<Item = Line>) {
        if self.behind.is_some() {
            return;
        }
        let text = self.number(lines);
        if text.is_empty() {
            return;
        }
        self.is_synced = false;
        if let Err(error) = self.storage.append(&self.path, text.as_bytes()) {
            self.behind = Some(error.to_string());
        }
    }

    fn number(&mut self, lines: impl IntoIterator<Item = Line>) -> String {
        let each = |line: Line| {
            self.next += 1;
            line.to_text(self.next - 1)
        };
        lines.into_iter().map(each).collect()
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

    /// Replaces the file by these lines, all or nothing.
    pub(super) fn rewrite(&mut self, lines: impl IntoIterator<Item = Line>) -> Result<()> {
        self.outdate();
        self.next = 0;
        let text = self.number(lines);
        replace_on(&*self.storage, &self.path, text.as_bytes())?;
        (self.behind, self.is_synced) = (None, true);
        Ok(())
    }
}
