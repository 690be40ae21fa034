//! Files of captions and labels, read and written.
//!
//! | name | what a file looks like |
//! |---|---|
//! | `flickr8k` | `image.jpg#0`, a tab, a caption: one line a caption, numbered within each image |
//! | `coco` | one JSON object with `images`, and `annotations` with captions or with numbers of `categories` |
//! | `csv` | a header such as `path,label,caption`, one record a caption; semicolons are read too |
//! | `tsv` | the same with tabs; without a header, an image's name, a tab and a caption |
//! | `jsonl` | one JSON object a line with the names of a header; captions may be a list |
//! | `sidecar` | `photo.txt` beside `photo.jpg`, one line a caption; a folder of them makes a table |
//!
//! Header names are taken in any case and with the usual synonyms, such as `file_name`, `class` or `text`. Files are UTF-8.
//! Captions and labels are trimmed, and empty ones are none. A bad line is told and never stops the rest.
//!
//! Text is written as it is, never escaped against programs that take `=...` for a formula: a spreadsheet that opens a table
//! of strangers' captions should be told to import its columns as text.

mod coco;
mod flickr8k;
mod json_lines;
mod matcher;
mod rows;
mod separated;
mod sidecar;

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use crate::envelope;
use crate::error::{Error, Result};
use crate::progress::Progress;

pub use matcher::{Matcher, PathMatch};
pub use sidecar::sidecar;

/// Most bytes of a file that is read or written.
pub const MAX_BYTES: u64 = 1 << 30;
/// Most bytes of one sidecar.
pub const MAX_SIDECAR: u64 = 64 << 10;
/// Problems kept word for word; further ones are only counted.
pub const MAX_PROBLEMS: usize = 1000;

const SHORTEN: &str = "cut it into several files";

/// A way to write captions and labels down.
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

/// What is said about one image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRow {
    /// The image as the file names it; see [`Matcher`] for what it may mean.
    pub path: String,
    /// Its label.
    pub label: Option<String>,
    /// Its captions in the order of the file, or of their numbers where it numbers them.
    pub captions: Vec<String>,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// How the file is written.
    pub format: TableFormat,
    /// One row for each path, in the order of first appearance; at least one.
    pub rows: Vec<TableRow>,
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

/// Reads a file of any format, recognised by its content and then by its name, or a folder of sidecars.
///
/// A sidecar without an image beside it stands for the image of that name without the ending, but only in a folder where no
/// sidecar has its image; elsewhere it is a problem.
///
/// # Errors
/// [`Error::Data`] when the file is larger than [`MAX_BYTES`], is not UTF-8, fits no format or has no usable row;
/// [`Error::Io`], [`Error::Cancelled`].
///
/// # Complexity
/// One pass; the file and its rows are in memory.
pub fn read(path: &Path, progress: &Progress) -> Result<Table> {
    progress.begin("Reading captions and labels", 0);
    if fs::metadata(path).map_err(Error::io("read", path))?.is_dir() {
        return sidecar::read_folder(path, progress);
    }
    let text = text_of(path, MAX_BYTES)?;
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else {
        return Err(unknown(path, "an empty file"));
    };
    let mut draft = rows::Draft::new(path, progress);
    let format = if flickr8k::fits(first) {
        flickr8k::read(&text, &mut draft)?;
        TableFormat::Flickr8k
    } else if let Some(shape) = separated::recognise(&text) {
        separated::read(&text, shape, &mut draft)?;
        shape.format
    } else if let Some(image) = sidecar::image_of(path).filter(|_| text.len() as u64 <= MAX_SIDECAR) {
        let row = draft.row(&image, 0);
        sidecar::lines(&text).for_each(|caption| draft.caption(row, 0, caption));
        TableFormat::Sidecar
    } else if first.trim_start().starts_with('{') {
        read_json(path, &text, &mut draft)?
    } else if text.lines().any(flickr8k::fits) {
        flickr8k::read(&text, &mut draft)?;
        TableFormat::Flickr8k
    } else if json_lines::fits(&text) {
        json_lines::read(&text, &mut draft)?;
        TableFormat::JsonLines
    } else {
        return Err(unknown(path, format!("a first line of `{}`", rows::shown(first))));
    };
    draft.finish(format)
}

fn read_json(path: &Path, text: &str, draft: &mut rows::Draft) -> Result<TableFormat> {
    let is_lines = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl") || ending.eq_ignore_ascii_case("ndjson"));
    let why = match coco::parse(text) {
        Ok(Some(coco)) => return coco::read(text, &coco, draft).map(|()| TableFormat::Coco),
        Ok(None) => "JSON without `images`, or lines without a path".into(),
        Err(error) => format!("JSON that breaks off or is none: {error}"),
    };
    if is_lines || json_lines::fits(text) {
        return json_lines::read(text, draft).map(|()| TableFormat::JsonLines);
    }
    Err(unknown(path, why))
}

/// Writes rows so that [`read`] gives them back, trimmed, and returns how many were written.
///
/// `to` is a file, which is replaced; for [`TableFormat::Sidecar`] it is a folder, in which a text file of the image's relative
/// name is made for each row, never over a different one. Sidecars find the ending of their image again only where the image
/// lies beside them.
///
/// What a format cannot hold: `flickr8k` and `sidecar` leave out labels and rows without captions, and line breaks in their
/// captions become blanks. Rows of one path are read back as one.
///
/// # Errors
/// [`Error::Data`] when a row has no path or one that the format cannot hold, when the file would be larger than it may be,
/// and for sidecars when a path leads out of the folder or to a different file that is there already; [`Error::Io`].
pub fn write(format: TableFormat, rows: &[TableRow], to: &Path) -> Result<usize> {
    match text_in(format, rows, to)? {
        Some((text, n_rows)) => {
            envelope::replace(to, text.as_bytes())?;
            Ok(n_rows)
        }
        None => sidecar::write(rows, to),
    }
}

/// How many rows [`write()`] would write, without writing anything.
///
/// # Errors
/// As [`write()`], but for what the system says when it writes.
pub fn count(format: TableFormat, rows: &[TableRow], to: &Path) -> Result<usize> {
    match text_in(format, rows, to)? {
        Some((_, n_rows)) => Ok(n_rows),
        None => sidecar::count(rows, to),
    }
}

/// Rows as the text of one file, and how many they are; `None` for sidecars.
fn text_in(format: TableFormat, rows: &[TableRow], to: &Path) -> Result<Option<(String, usize)>> {
    if let Some(at) = rows.iter().position(|row| row.path.trim().is_empty()) {
        return Err(Error::data(to, "a path in every row", format!("none in row {}", at + 1), "name the image, or leave the row out"));
    }
    let (text, n_rows) = match format {
        TableFormat::Sidecar => return Ok(None),
        TableFormat::Flickr8k => flickr8k::write(rows, to)?,
        TableFormat::Coco => (coco::write(rows), rows.len()),
        TableFormat::Csv => (separated::write(rows, b','), rows.len()),
        TableFormat::Tsv => (separated::write(rows, b'\t'), rows.len()),
        TableFormat::JsonLines => (json_lines::write(rows), rows.len()),
    };
    let text = shielded(text);
    if text.len() as u64 > MAX_BYTES {
        return Err(Error::data(
            to,
            format!("at most {MAX_BYTES} bytes to write"),
            format!("{}", text.len()),
            "write fewer rows at a time",
        ));
    }
    Ok(Some((text, n_rows)))
}

/// A text that begins with a byte order mark of its own gets another, because reading takes one away.
fn shielded(text: String) -> String {
    if text.starts_with(MARK) { format!("{MARK}{text}") } else { text }
}

/// The byte order mark.
const MARK: char = '\u{FEFF}';

/// The text of a file of at most `limit` bytes, without its byte order mark.
fn text_of(path: &Path, limit: u64) -> Result<String> {
    // Opening a pipe or a device could wait for ever, so the kind is asked first.
    let meta = fs::metadata(path).map_err(Error::io("read", path))?;
    if !meta.is_file() {
        return Err(unknown(path, "something that is not a file"));
    }
    let too_large = |found: u64| Error::data(path, format!("at most {limit} bytes of text"), format!("{found} bytes or more"), SHORTEN);
    if meta.len() > limit {
        return Err(too_large(meta.len()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::io("open", path))?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    let wrong = |found: String| Error::data(path, "text in UTF-8", found, "open it in a text editor and save it as UTF-8");
    let is_utf16 = |[a, b]: &[u8; 2]| matches!((a, b), (0xFF, 0xFE) | (0xFE, 0xFF)) || (*a == 0) != (*b == 0);
    if bytes.first_chunk().is_some_and(is_utf16) {
        return Err(wrong("UTF-16, or no text".into()));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        wrong(format!("another encoding, or no text, on line {line}"))
    })?;
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    Ok(text)
}

fn unknown(path: &Path, found: impl Into<String>) -> Error {
    let expected = "captions or labels as flickr8k, coco, csv, tsv, jsonl or sidecar";
    Error::data(path, expected, found, "name another file, or give it a first line such as `path,label,caption`")
}
