//! What a table of captions and labels is: rows, formats, and the text that holds them.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result};

/// Most bytes of a file that is read or written.
pub const MAX_BYTES: u64 = 1 << 30;
/// Most bytes of one sidecar.
pub const MAX_SIDECAR: u64 = 64 << 10;
/// Problems kept word for word; further ones are only counted.
pub const MAX_PROBLEMS: usize = 1000;

pub(super) const SHORTEN: &str = "cut it into several files";

/// A file format of captions and labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// The form of `Flickr8k.token.txt`.
    Flickr8k,
    /// The form of COCO's captions and instances.
    Coco,
    /// Values separated by commas.
    Csv,
    /// Values separated by tabs.
    Tsv,
    /// One JSON object a line.
    JsonLines,
    /// A text file beside each image.
    Sidecar,
}

/// The label and captions of one image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRow {
    /// The image as the file names it; see [`Matcher`](super::Matcher) for what it may mean.
    pub path: String,
    /// Its label.
    pub label: Option<String>,
    /// Its captions in the order of the file, or of their numbers where it numbers them.
    pub captions: Vec<String>,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// How the file is written.
    pub format: TableFormat,
    /// The folder that the file lies in, or that was read: paths may be relative to it.
    pub folder: PathBuf,
    /// One row for each path, in the order of first appearance; at least one.
    pub rows: Vec<TableRow>,
    /// For each row the line that each of its captions begins on, counted from 1; 0 where that is
    /// not known.
    pub caption_lines: Vec<Vec<usize>>,
    /// What could not be used, the first [`MAX_PROBLEMS`] of them.
    pub problems: Vec<Problem>,
    /// How many problems there were in all.
    pub n_problems: usize,
}

/// A line that was passed over, wholly or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line it begins on, counted from 1; 0 when it is not about a line.
    pub line: usize,
    /// What is wrong there.
    pub detail: String,
}

/// The canonical path of the folder that a table lies in, or is if it is one of sidecars.
pub fn folder_of(path: &Path) -> PathBuf {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = if full.is_dir() { &full } else { full.parent().unwrap_or(&full) };
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

impl TableFormat {
    /// Every format.
    pub const ALL: [Self; 6] = [Self::Flickr8k, Self::Coco, Self::Csv, Self::Tsv, Self::JsonLines, Self::Sidecar];

    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flickr8k => "flickr8k",
            Self::Coco => "coco",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::JsonLines => "jsonl",
            Self::Sidecar => "sidecar",
        }
    }
}

impl fmt::Display for TableFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TableFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| Error::Option {
            name: "format",
            found: name.into(),
            expected: "one of flickr8k, coco, csv, tsv, jsonl, sidecar",
        })
    }
}

/// A text that begins with a byte order mark of its own gets another, because reading takes one
/// away.
pub(super) fn shielded(text: String) -> String {
    if text.starts_with(MARK) { format!("{MARK}{text}") } else { text }
}

/// The byte order mark.
const MARK: char = '\u{FEFF}';

/// Most places of a text that may not be UTF-8; one with more is in another encoding as a whole.
const MOST_SPOILT: usize = 100_000;

/// The text of a file, with a replacement character at each place that is not UTF-8.
pub(super) struct Text {
    pub(super) text: String,
    /// Where these characters are, and the first byte that was there.
    pub(super) spoilt: Vec<(usize, u8)>,
}

/// The text of a file of at most `limit` bytes, without its byte order mark.
pub(super) fn text_of(path: &Path, limit: u64) -> Result<String> {
    let bytes = bytes_of(path, limit)?;
    String::from_utf8(bytes).map_err(|error| wrong(path, &error.as_bytes()[..error.utf8_error().valid_up_to()]))
}

/// As [`text_of`], but places that are not UTF-8 are told.
pub(super) fn spoilt_text_of(path: &Path, limit: u64) -> Result<Text> {
    let bytes = match String::from_utf8(bytes_of(path, limit)?) {
        Ok(text) => return Ok(Text { text, spoilt: Vec::new() }),
        Err(error) => error.into_bytes(),
    };
    let (mut text, mut spoilt) = (String::new(), Vec::new());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if let Some(byte) = chunk.invalid().first() {
            if spoilt.len() == MOST_SPOILT {
                return Err(Text { text, spoilt }.wrong(path));
            }
            spoilt.push((text.len(), *byte));
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(Text { text, spoilt })
}

impl Text {
    /// The error of a file that is not UTF-8.
    pub(super) fn wrong(&self, path: &Path) -> Error {
        wrong(path, &self.text.as_bytes()[..self.spoilt.first().map_or(0, |(at, _)| *at)])
    }
}

/// The error of a file that is not UTF-8 behind these bytes.
fn wrong(path: &Path, before: &[u8]) -> Error {
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    Error::data(path, "text in UTF-8", format!("another encoding, or no text, on line {line}"), SAVE_AS_UTF_8)
}

const SAVE_AS_UTF_8: &str = "open it in a text editor and save it as UTF-8";

/// The bytes of a file of at most `limit` bytes. `refuse` makes the error of a larger one, from its
/// size, and of what is no ordinary file.
pub(in crate::data) fn read_at_most(path: &Path, limit: u64, refuse: impl Fn(Option<u64>) -> Error) -> Result<Vec<u8>> {
    // Opening a pipe or a device could wait for ever, so the kind of file is checked first.
    let meta = fs::metadata(path).map_err(Error::io("read", path))?;
    if !meta.is_file() {
        return Err(refuse(None));
    }
    if meta.len() > limit {
        return Err(refuse(Some(meta.len())));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::io("open", path))?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > limit { Err(refuse(Some(bytes.len() as u64))) } else { Ok(bytes) }
}

/// The bytes of a text file of at most `limit` bytes, without the byte order mark.
fn bytes_of(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let refuse = |found: Option<u64>| match found {
        Some(found) => Error::data(path, format!("at most {limit} bytes of text"), format!("{found} bytes or more"), SHORTEN),
        None => unknown(path, "something that is not a file"),
    };
    let mut bytes = read_at_most(path, limit, refuse)?;
    let is_utf16 = |[a, b]: &[u8; 2]| matches!((a, b), (0xFF, 0xFE) | (0xFE, 0xFF)) || (*a == 0) != (*b == 0);
    if bytes.first_chunk().is_some_and(is_utf16) {
        return Err(Error::data(path, "text in UTF-8", "UTF-16, or no text", SAVE_AS_UTF_8));
    }
    let mark = MARK.to_string();
    if bytes.starts_with(mark.as_bytes()) {
        bytes.drain(..mark.len());
    }
    Ok(bytes)
}

pub(super) fn unknown(path: &Path, found: impl Into<String>) -> Error {
    let expected = "captions or labels as flickr8k, coco, csv, tsv, jsonl or sidecar";
    Error::data(path, expected, found, "name another file, or give it a first line such as `path,label,caption`")
}
