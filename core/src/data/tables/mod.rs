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
//! Header names are taken in any case and with the usual synonyms, such as `file_name`, `class` or
//! `text`. Files are UTF-8; a line that is not is a bad one. Captions and labels are trimmed, and
//! empty ones are none. A bad line is reported as a problem and never stops the rest.
//!
//! Text is written as it is, except by [`write_safe`], for spreadsheet programs, which
//! would take `=...` for a formula: such text is guarded ([`guarded`]) and a column `csv_safe`
//! says so, by which [`read`] gives the text back as it was.

mod coco;
mod flickr8k;
mod formulas;
mod json_lines;
mod matcher;
mod rows;
mod separated;
mod sidecar;
mod table;

use std::fs;
use std::path::Path;

use crate::envelope;
use crate::error::{Error, Result};
use crate::progress::Progress;
use table::{Text, shielded, unknown};

pub use formulas::{MARK, guarded, unguarded};
pub use matcher::{Matcher, PathMatch};
pub use sidecar::{beside, sidecar};
pub(super) use table::read_at_most;
pub use table::{MAX_BYTES, MAX_PROBLEMS, MAX_SIDECAR, Problem, Table, TableFormat, TableRow, folder_of};

/// Reads a file of any format, recognised by its content and then by its name, or a folder of
/// sidecars.
///
/// A sidecar without an image beside it stands for the image of that name without the ending, but
/// only in a folder where no sidecar has its image; elsewhere it is a problem.
///
/// # Errors
/// [`Error::Data`] when the file is larger than [`MAX_BYTES`], is UTF-16, fits no format or has no
/// usable row; [`Error::Io`], [`Error::Cancelled`].
///
/// # Complexity
/// One pass; the file and its rows are in memory.
pub fn read(path: &Path, progress: &Progress) -> Result<Table> {
    progress.begin("Reading captions and labels", 0);
    if fs::metadata(path).map_err(Error::io("read", path))?.is_dir() {
        return sidecar::read_folder(path, progress);
    }
    let read = table::spoilt_text_of(path, MAX_BYTES)?;
    let outcome = read_text(path, &read, progress);
    // A file of which nothing can be used is in another encoding rather than of another kind.
    outcome.map_err(|error| if matches!(error, Error::Data { .. }) && !read.spoilt.is_empty() { read.wrong(path) } else { error })
}

fn read_text(path: &Path, read: &Text, progress: &Progress) -> Result<Table> {
    let text = &read.text;
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else {
        return Err(unknown(path, "an empty file"));
    };
    let mut draft = rows::Draft::of(path, progress, read);
    let format = if flickr8k::fits(first) {
        flickr8k::read(text, &mut draft)?;
        TableFormat::Flickr8k
    } else if let Some(shape) = separated::recognise(text) {
        separated::read(text, shape, &mut draft)?;
        shape.format
    } else if let Some(image) = sidecar::image_of(path).filter(|_| text.len() as u64 <= MAX_SIDECAR) {
        let row = draft.row(&image, 0);
        let mut lines = rows::Lines::new(text);
        for caption in sidecar::lines(text) {
            let line = lines.line(draft.start_of(caption));
            if !draft.is_spoilt(caption, line) {
                draft.caption(row, 0, caption, line);
            }
        }
        TableFormat::Sidecar
    } else if first.trim_start().starts_with('{') {
        read_json(path, text, &mut draft)?
    } else if text.lines().any(flickr8k::fits) {
        flickr8k::read(text, &mut draft)?;
        TableFormat::Flickr8k
    } else if json_lines::fits(text) {
        json_lines::read(text, &mut draft)?;
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
/// `to` is a file, which is replaced; for [`TableFormat::Sidecar`] it is a folder, in which a text
/// file of the image's relative name is made for each row, never over a different one. Sidecars
/// find the ending of their image again only where the image lies beside them.
///
/// What a format cannot hold: `flickr8k` and `sidecar` leave out labels and rows without captions,
/// and line breaks in their captions become blanks. Rows of one path are read back as one.
///
/// # Errors
/// [`Error::Data`] when a row has no path or one that the format cannot hold, when the file would
/// be larger than it may be, and for sidecars when a path leads out of the folder or to a different
/// file that is there already; [`Error::Io`].
pub fn write(format: TableFormat, rows: &[TableRow], to: &Path) -> Result<usize> {
    write_as(format, rows, to, false)
}

/// As [`write()`], but so that a spreadsheet program finds no formula in a CSV or TSV file
/// ([`guarded`]). The other formats, which no such program opens, are written as by [`write()`].
///
/// # Errors
/// As [`write()`].
pub fn write_safe(format: TableFormat, rows: &[TableRow], to: &Path) -> Result<usize> {
    write_as(format, rows, to, true)
}

fn write_as(format: TableFormat, rows: &[TableRow], to: &Path, guards: bool) -> Result<usize> {
    match text_in(format, rows, to, guards)? {
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
/// As [`write()`], without those of writing files.
pub fn count(format: TableFormat, rows: &[TableRow], to: &Path) -> Result<usize> {
    match text_in(format, rows, to, false)? {
        Some((_, n_rows)) => Ok(n_rows),
        None => sidecar::count(rows, to),
    }
}

/// Rows as the text of one file, and how many they are; `None` for sidecars.
fn text_in(format: TableFormat, rows: &[TableRow], to: &Path, guards: bool) -> Result<Option<(String, usize)>> {
    if let Some(at) = rows.iter().position(|row| row.path.trim().is_empty()) {
        return Err(Error::data(to, "a path in every row", format!("none in row {}", at + 1), "name the image, or leave the row out"));
    }
    let (text, n_rows) = match format {
        TableFormat::Sidecar => return Ok(None),
        TableFormat::Flickr8k => flickr8k::write(rows, to)?,
        TableFormat::Coco => (coco::write(rows), rows.len()),
        TableFormat::Csv => (separated::write(rows, b',', guards), rows.len()),
        TableFormat::Tsv => (separated::write(rows, b'\t', guards), rows.len()),
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
