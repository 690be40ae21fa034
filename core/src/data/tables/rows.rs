//! A table under construction while a file is read, and what all formats share: column names and
//! the numbers of lines.

use std::collections::HashMap;
use std::path::Path;

use super::table::{MAX_PROBLEMS, Problem, SHORTEN, Table, TableFormat, TableRow, Text, folder_of, unknown};
use crate::error::{self, Error, Result};
use crate::progress::Progress;

/// Most images and captions of one file, so that a hostile one cannot fill the memory.
const MAX_ENTRIES: usize = 20_000_000;
/// Characters of a file's text that an error repeats.
const SHOWN: usize = 60;

/// A table under construction.
pub(super) struct Draft<'a> {
    path: &'a Path,
    progress: &'a Progress,
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
    problems: Vec<Problem>,
    n_problems: usize,
    n_captions: usize,
    /// The text that is read, and its places that are not UTF-8.
    text: &'a str,
    spoilt: &'a [(usize, u8)],
}

#[derive(Default)]
struct Entry {
    path: String,
    label: Option<String>,
    /// Each with its number and its line.
    captions: Vec<(u64, usize, String)>,
    is_disputed: bool,
}

impl<'a> Draft<'a> {
    pub(super) fn new(path: &'a Path, progress: &'a Progress) -> Self {
        Self {
            path,
            progress,
            entries: vec![],
            places: HashMap::new(),
            problems: vec![],
            n_problems: 0,
            n_captions: 0,
            text: "",
            spoilt: &[],
        }
    }

    /// One of a text that may not be UTF-8 everywhere.
    pub(super) fn of(path: &'a Path, progress: &'a Progress, read: &'a Text) -> Self {
        Self { text: &read.text, spoilt: &read.spoilt, ..Self::new(path, progress) }
    }

    /// Where a part of the text begins. A slice's address gives its position.
    pub(super) fn start_of(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    /// Whether a part of the text is not UTF-8, which is a problem of this line. O(log places).
    pub(super) fn is_spoilt(&mut self, part: &str, line: usize) -> bool {
        let start = self.start_of(part);
        let first = self.spoilt.get(self.spoilt.partition_point(|(at, _)| *at < start)).filter(|(at, _)| *at < start + part.len());
        let Some((_, byte)) = first else { return false };
        self.problem(line, format!("expected text in UTF-8, found the byte {byte:02X} in `{}`; save the file as UTF-8", shown(part)));
        true
    }

    /// Counts one record, and returns whether there is room for more.
    pub(super) fn step(&self) -> Result<()> {
        self.progress.step()?;
        if self.entries.len() + self.n_captions > MAX_ENTRIES {
            return Err(Error::data(self.path, format!("at most {MAX_ENTRIES} images and captions"), "more", SHORTEN));
        }
        Ok(())
    }

    pub(super) fn problem(&mut self, line: usize, detail: impl Into<String>) {
        self.n_problems += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { line, detail: detail.into() });
        }
    }

    /// The row of a path, made when it is new; `None`, and a problem, when the path is blank.
    pub(super) fn row(&mut self, path: &str, line: usize) -> Option<usize> {
        if path.trim().is_empty() {
            self.problem(line, "no image is named");
            return None;
        }
        if let Some(row) = self.places.get(path) {
            return Some(*row);
        }
        self.places.insert(path.into(), self.entries.len());
        self.entries.push(Entry { path: path.into(), ..Entry::default() });
        Some(self.entries.len() - 1)
    }

    /// Adds a caption, unless it is blank.
    pub(super) fn caption(&mut self, row: Option<usize>, number: u64, text: &str, line: usize) {
        if let (Some(row), false) = (row, text.trim().is_empty()) {
            self.n_captions += 1;
            self.entries[row].captions.push((number, line, text.trim().into()));
        }
    }

    /// Sets the label, unless it is blank. Of several labels the first holds, and the row is
    /// reported once.
    pub(super) fn label(&mut self, row: Option<usize>, text: &str, line: usize) {
        let (Some(row), false) = (row, text.trim().is_empty()) else { return };
        let entry = &mut self.entries[row];
        match &entry.label {
            None => entry.label = Some(text.trim().into()),
            Some(first) if first != text.trim() && !entry.is_disputed => {
                let detail = format!("`{}` is `{}` already, not `{}` too", shown(&entry.path), shown(first), shown(text.trim()));
                entry.is_disputed = true;
                self.problem(line, detail);
            }
            Some(_) => {}
        }
    }

    pub(super) fn finish(self, format: TableFormat) -> Result<Table> {
        let row = |mut entry: Entry| {
            entry.captions.sort_by_key(|(number, ..)| *number);
            let (lines, captions) = entry.captions.into_iter().map(|(_, line, text)| (line, text)).unzip();
            (TableRow { path: entry.path, label: entry.label, captions }, lines)
        };
        let (rows, caption_lines): (Vec<TableRow>, Vec<Vec<usize>>) = self.entries.into_iter().map(row).unzip();
        if rows.is_empty() {
            let found = match self.problems.first() {
                Some(Problem { line: 0, detail }) => format!("none ({detail})"),
                Some(Problem { line, detail }) => format!("none (line {line}: {detail})"),
                None => "none".into(),
            };
            return Err(unknown(self.path, found));
        }
        let folder = folder_of(self.path);
        Ok(Table { format, folder, rows, caption_lines, problems: self.problems, n_problems: self.n_problems })
    }
}

/// A piece of a file's text for people: short, and without control characters.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", error::display(Path::new(&text[..end]))),
        None => error::display(Path::new(text)),
    }
}

/// The captions of a row as they are written.
pub(super) fn captions(row: &TableRow) -> impl Iterator<Item = &str> {
    row.captions.iter().map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// The label of a row as it is written.
pub(super) fn label(row: &TableRow) -> Option<&str> {
    row.label.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

/// Line breaks as blanks, for formats in which a line is a caption.
pub(super) fn on_one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\r', '\n'], " ")
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Path,
    Label,
    Caption,
}

/// What the column of this name holds, and how far down the list of synonyms the name stands.
pub(super) fn role(name: &str) -> Option<(Role, usize)> {
    const NAMES: [(Role, &[&str]); 3] = [
        (Role::Path, &["path", "filepath", "filename", "file", "imagepath", "imagefile", "imagefilename", "imagename", "image", "img"]),
        (Role::Label, &["label", "class", "category", "labels", "classname", "categoryname"]),
        (Role::Caption, &["caption", "captions", "text", "comment", "description", "comments", "descriptions", "sentence", "sentences"]),
    ];
    let plain: String = name.chars().filter(|c| !c.is_whitespace() && !['_', '-'].contains(c)).flat_map(char::to_lowercase).collect();
    NAMES.iter().find_map(|(role, names)| names.iter().position(|name| *name == plain).map(|rank| (*role, rank)))
}

/// Finds the line numbers of positions in a text; fast when positions come in order.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of byte `at`, counted from 1. Lines end in `\n`, `\r\n` or `\r`.
    pub(super) fn line(&mut self, at: usize) -> usize {
        if at < self.at {
            (self.at, self.line) = (0, 1);
        }
        let is_end = |i: usize| self.text[i] == b'\n' || (self.text[i] == b'\r' && self.text.get(i + 1) != Some(&b'\n'));
        self.line += (self.at..at).filter(|i| is_end(*i)).count();
        self.at = at;
        self.line
    }
}
