//! Values separated by commas, semicolons or tabs, under a header.

use csv::{QuoteStyle, ReaderBuilder, StringRecord, WriterBuilder};

use super::formulas::{self, MARK};
use super::rows::{self, Draft, Lines, Role, role, shown};
use super::table::{TableFormat, TableRow};
use crate::error::Result;
use crate::picture::decode;

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) format: TableFormat,
    delimiter: u8,
    has_header: bool,
    n_columns: usize,
    path: usize,
    label: Option<usize>,
    caption: Option<usize>,
    /// Whether formulas in it were guarded ([`formulas::guarded`]).
    is_guarded: bool,
}

/// The layout by the first record, if that is a header.
pub(super) fn recognise(text: &str) -> Option<Shape> {
    let kinds = [(TableFormat::Csv, b','), (TableFormat::Tsv, b'\t'), (TableFormat::Csv, b';')];
    kinds.into_iter().find_map(|(format, delimiter)| {
        let mut record = StringRecord::new();
        reader(text, delimiter).read_record(&mut record).ok()?;
        let column = |wanted: Role| {
            let ranked =
                record.iter().enumerate().filter_map(|(i, name)| role(name).filter(|(role, _)| *role == wanted).map(|(_, rank)| (rank, i)));
            ranked.min().map(|(_, i)| i)
        };
        let (label, caption) = (column(Role::Label), column(Role::Caption));
        let is_guarded = record.iter().any(|name| name == MARK);
        let n_columns = record.len();
        let shape = |has_header, path, caption| Shape { format, delimiter, has_header, n_columns, path, label, caption, is_guarded };
        match column(Role::Path) {
            Some(path) if label.is_some() || caption.is_some() => Some(shape(true, path, caption)),
            None if format == TableFormat::Tsv && record.len() == 2 && is_picture(&record[0]) => Some(shape(false, 0, Some(1))),
            _ => None,
        }
    })
}

fn is_picture(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| decode::EXTENSIONS.contains(&ending.to_lowercase().as_str()))
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes())
}

pub(super) fn read(text: &str, shape: Shape, draft: &mut Draft) -> Result<()> {
    let mut lines = Lines::new(text);
    let (mut at, mut is_header) = (0, shape.has_header);
    let mut record = StringRecord::new();
    'again: while at < text.len() {
        let begin = at;
        let mut reader = reader(&text[begin..], shape.delimiter);
        // Text in UTF-8 and any number of fields leave nothing that could fail.
        while reader.read_record(&mut record).unwrap_or(false) {
            draft.step()?;
            let end = begin + reader.position().byte() as usize;
            let raw = text.get(at..end).unwrap_or_default().trim_start_matches(['\r', '\n']);
            let start = end - raw.len();
            at = end;
            let line = lines.line(start);
            if is_torn(raw.as_bytes(), shape.delimiter) {
                // The quote may have swallowed good lines: only the line it stands on is given up.
                at = start + raw.find(['\r', '\n']).unwrap_or(raw.len());
                let first = &text[start..at];
                if draft.is_spoilt(first, line) {
                } else if shape.format == TableFormat::Tsv {
                    take(&first.split('\t').collect::<Vec<_>>(), shape, line, draft);
                } else {
                    draft.problem(line, format!("a quotation mark without its partner in `{}`", shown(first)));
                }
                is_header = false;
                continue 'again;
            }
            let was_header = std::mem::take(&mut is_header);
            if !draft.is_spoilt(raw.trim_end_matches(['\r', '\n']), line) && !was_header {
                take(&record.iter().collect::<Vec<_>>(), shape, line, draft);
            }
        }
        break;
    }
    Ok(())
}

/// A writer of values, all of them in quotation marks where formulas are guarded against.
fn writer(delimiter: u8, guards: bool) -> csv::Writer<Vec<u8>> {
    let style = if guards { QuoteStyle::Always } else { QuoteStyle::Necessary };
    WriterBuilder::new().delimiter(delimiter).quote_style(style).from_writer(Vec::new())
}

fn take(fields: &[&str], shape: Shape, line: usize, draft: &mut Draft) {
    if fields.len() != shape.n_columns {
        let hint = if fields.len() > shape.n_columns { "; text with separators in it must stand in quotation marks" } else { "" };
        return draft.problem(line, format!("expected {} fields, found {}{hint}", shape.n_columns, fields.len()));
    }
    let field = |i: usize| if shape.is_guarded { formulas::unguarded(fields[i]) } else { fields[i].to_owned() };
    let row = draft.row(&field(shape.path), line);
    draft.label(row, &shape.label.map_or_else(String::new, field), line);
    draft.caption(row, 0, &shape.caption.map_or_else(String::new, field), line);
}

/// Whether a quoted field of this record does not end, or goes on after its end.
fn is_torn(raw: &[u8], delimiter: u8) -> bool {
    let mut i = 0;
    loop {
        if raw.get(i) == Some(&b'"') {
            i += 1;
            loop {
                match (raw.get(i), raw.get(i + 1)) {
                    (None, _) => return true,
                    (Some(b'"'), Some(b'"')) => i += 2,
                    (Some(b'"'), _) => break,
                    _ => i += 1,
                }
            }
            i += 1;
        } else {
            while raw.get(i).is_some_and(|byte| *byte != delimiter && !b"\r\n".contains(byte)) {
                i += 1;
            }
        }
        match raw.get(i) {
            None | Some(b'\r' | b'\n') => return false,
            Some(byte) if *byte == delimiter => i += 1,
            Some(_) => return true,
        }
    }
}

/// A header with the columns in use, and one record for each caption; with `guards` so that
/// spreadsheet programs find no formula in it.
pub(super) fn write(rows: &[TableRow], delimiter: u8, guards: bool) -> String {
    let has_labels = rows.iter().any(|row| rows::label(row).is_some());
    let has_captions = !has_labels || rows.iter().any(|row| rows::captions(row).next().is_some());
    let mut out = writer(delimiter, guards);
    let mut record = |path: &str, label: &str, caption: &str, mark: &str| {
        let fields = [(true, path), (has_labels, label), (has_captions, caption), (guards, mark)];
        let fields = fields.iter().filter(|(is_used, _)| *is_used);
        let fields = fields.map(|(_, field)| if guards { formulas::guarded(field) } else { (*field).to_owned() });
        // Writing to memory does not fail.
        let _ = out.write_record(fields);
    };
    record("path", "label", "caption", MARK);
    for row in rows {
        let label = rows::label(row).unwrap_or_default();
        let mut captions = rows::captions(row).peekable();
        if captions.peek().is_none() {
            record(&row.path, label, "", "");
        }
        captions.for_each(|caption| record(&row.path, label, caption, ""));
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}
