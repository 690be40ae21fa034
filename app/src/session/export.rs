//! Exports labels, captions, predictions, events and images of a library.

use std::fs::{self, File};
use std::io::{Cursor, ErrorKind, Read};
use std::path::Path;
use std::sync::Mutex;

use csv::QuoteStyle;
use image::{ImageFormat, ImageResult, RgbImage};
use serde_json::json;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::data::tables::{self, TableRow};
use tessera_core::envelope::replace;
use tessera_core::library::Library;
use tessera_core::library::event::EventKind;
use tessera_core::library::import::hold;
use tessera_core::{Error, Result, random};

use super::Session;
pub use super::copies::ExportSize;
use super::copies::{check_empty, check_replaced, copies, copy};
use super::models::{live_recogniser, uniform_recogniser};
use crate::command::{Export, ExportFormat};

/// How something is exported.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportOptions {
    /// Only count what would be written, and fail where the export would fail.
    pub dry_run: bool,
    /// Replace an older export of the same kind.
    pub replaces: bool,
    /// Write CSV and TSV so that spreadsheet programs find no formula in them.
    pub csv_safe: bool,
}

impl Session {
    /// Exports something of a library to `to`. Images whose files are missing are left out. An
    /// export that cannot be completed leaves nothing behind, except captions written beside their
    /// images.
    ///
    /// # Errors
    /// [`Error::Option`] when the format cannot hold it, [`Error::Data`] when other things are in
    /// the way, [`Error::Exists`] when an older export is and is not to be replaced, [`Error::Io`],
    /// [`Error::Cancelled`].
    pub fn export(&self, library: &Mutex<Library>, what: Export, to: &Path, options: ExportOptions) -> Result<ExportSize> {
        let format = match what {
            Export::Labels(format) | Export::Captions(format) | Export::Predictions(format) => Some(format),
            Export::Events => None,
        };
        if options.csv_safe && !matches!(format, Some(ExportFormat::Csv | ExportFormat::Tsv)) {
            let found = format.map_or("jsonl", ExportFormat::name).to_owned();
            return Err(Error::Option { name: "format", found, expected: "csv or tsv where --csv-safe is given" });
        }
        let n = match what {
            Export::Labels(format) if format.is_images() => {
                let (copies, written) = copies(library, format, &self.progress)?;
                check_empty(to)?;
                if !options.dry_run {
                    copy(&copies, to, format == ExportFormat::ClassLinks, &self.progress)?;
                }
                return Ok(written);
            }
            Export::Labels(format) => {
                let format = table_format(format, true)?;
                let rows = hold(library).rows(true, false);
                write_rows(format, &rows, to, options)
            }
            Export::Captions(format) => {
                let format = table_format(format, false)?;
                let rows = hold(library).rows(false, true);
                write_rows(format, &rows, to, options)
            }
            Export::Predictions(format) => self.export_predictions(library, format, to, options),
            Export::Events => export_events(library, to, options),
        };
        Ok(ExportSize { n: n?, ..ExportSize::default() })
    }

    /// Exports the prediction for every labelled image with its object left out, and for every
    /// other image.
    fn export_predictions(&self, library: &Mutex<Library>, format: ExportFormat, to: &Path, options: ExportOptions) -> Result<usize> {
        let begins = match format {
            ExportFormat::Csv => "path,label,predicted,confidence",
            ExportFormat::Tsv => "path\tlabel\tpredicted\tconfidence",
            ExportFormat::JsonLines => "{\"path\":\"",
            _ => return Err(wrong_format(format, "csv, tsv or jsonl")),
        };
        // Images that weights were learned from are judged by uniform ones.
        let (state, model, uniform, elements) = {
            let library = hold(library);
            let model = live_recogniser(&library);
            let uniform = uniform_recogniser(&library);
            let unlabelled: Vec<_> = library.state().images().filter(|image| image.label().is_none()).map(|image| image.id).collect();
            (library.state().clone(), model, uniform, library.elements_of(&unlabelled)?)
        };
        // Fields may stand in quotation marks.
        check_new(to, options, |line| line.starts_with(begins) || line.replace('"', "").starts_with(begins))?;
        let judge = || judge(&uniform.ckm, usize::MAX, &mut random::seeded(self.seed), Vec::new(), &self.progress);
        let judged = self.pool.install(judge)?.held_out;
        let fitted = Calibration::fit(&judged);
        let curve = |of: &RecogniserModel| if of.calibration.n > 0 { of.calibration } else { fitted };
        let (calibration, uniform_calibration) = (curve(&model), curve(&uniform));
        let name = |class: tessera_core::ids::ClassId| model.ckm.classes()[class.index()].name.clone();
        let mut rows = Vec::new();
        for held in &judged {
            rows.push((held.id, Some(name(held.class)), name(held.predicted), uniform_calibration.confidence(&held.scores)));
        }
        for (id, elements) in &elements {
            let scores = self.pool.install(|| model.ckm.scores(elements, tessera_core::ckm::Without::Nothing));
            if let Some((class, _)) = scores.ranking().first() {
                rows.push((*id, None, name(*class), calibration.confidence(&scores)));
            }
        }
        if options.dry_run {
            // The images that have a prediction are known only once all are computed.
            return Ok(rows.len());
        }
        rows.sort_by_key(|row| row.0);
        let path = |id| state.image(id).and_then(|image| state.path_of(image)).unwrap_or_default().to_string_lossy().into_owned();
        let text = match format {
            ExportFormat::JsonLines => {
                let line = |(id, label, predicted, confidence): &(_, Option<String>, String, f64)| {
                    json!({"path": path(*id), "label": label, "predicted": predicted, "confidence": confidence}).to_string() + "\n"
                };
                rows.iter().map(line).collect::<String>().into_bytes()
            }
            _ => {
                let delimiter = if format == ExportFormat::Tsv { b'\t' } else { b',' };
                let style = if options.csv_safe { QuoteStyle::Always } else { QuoteStyle::Necessary };
                let mut csv = csv::WriterBuilder::new().delimiter(delimiter).quote_style(style).from_writer(Vec::new());
                let mut record = |fields: [&str; 5]| {
                    // The last column says that formulas are guarded.
                    let fields = &fields[..if options.csv_safe { 5 } else { 4 }];
                    let fields = fields.iter().map(|field| if options.csv_safe { tables::guarded(field) } else { (*field).to_owned() });
                    csv.write_record(fields).map_err(|error| Error::io("write", to)(std::io::Error::other(error)))
                };
                record(["path", "label", "predicted", "confidence", tables::MARK])?;
                for (id, label, predicted, confidence) in &rows {
                    record([&path(*id), label.as_deref().unwrap_or_default(), predicted, &format!("{confidence:.4}"), ""])?;
                }
                csv.into_inner().map_err(|error| Error::io("write", to)(std::io::Error::other(error.to_string())))?
            }
        };
        replace(to, &text)?;
        Ok(rows.len())
    }
}

fn export_events(library: &Mutex<Library>, to: &Path, options: ExportOptions) -> Result<usize> {
    let events = hold(library).events()?;
    check_new(to, options, |line| line.starts_with("{\"event\":"))?;
    if options.dry_run {
        return Ok(events.len());
    }
    let mut text = String::new();
    for event in &events {
        let (kind, target) = match event.kind {
            EventKind::Act => ("act", None),
            EventKind::Undo(act) => ("undo", Some(act)),
            EventKind::Redo(act) => ("redo", Some(act)),
            EventKind::Final => ("final", None),
        };
        let line = json!({"event": event.id, "at_ms": event.at, "act": event.act, "kind": kind, "target": target,
            "words": event.words, "changes": event.changes});
        text.push_str(&line.to_string());
        text.push('\n');
    }
    replace(to, text.as_bytes())?;
    Ok(events.len())
}

/// Writes a picture as a PNG file; `replaces` is whether in place of a file that is there.
///
/// # Errors
/// [`Error::Exists`], [`Error::Io`].
pub fn save_png(picture: &RgbImage, to: &Path, replaces: bool) -> Result<()> {
    if to.exists() {
        check_replaced(to, "a file", replaces)?;
    }
    replace(to, &png(picture).map_err(|error| Error::io("write", to)(std::io::Error::other(error)))?)
}

/// A picture as the bytes of a PNG file.
pub(super) fn png(picture: &RgbImage) -> ImageResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

fn write_rows(format: tables::TableFormat, rows: &[TableRow], to: &Path, options: ExportOptions) -> Result<usize> {
    if format != tables::TableFormat::Sidecar {
        check_new(to, options, |line| begins(format, line))?;
    }
    let common = common_folder(rows);
    let beside = tables::folder_of(to);
    let rows = match common {
        Some(common) if format == tables::TableFormat::Sidecar => &below(common, rows),
        // Such a table can be moved with its images.
        Some(common) if common.starts_with(&beside) => &below(&beside, rows),
        _ => rows,
    };
    match options {
        ExportOptions { dry_run: true, .. } => tables::count(format, rows, to),
        ExportOptions { csv_safe: true, .. } => tables::write_safe(format, rows, to),
        _ => tables::write(format, rows, to),
    }
}

/// The folder that all images of some rows lie below.
fn common_folder(rows: &[TableRow]) -> Option<&Path> {
    let parents = rows.iter().filter_map(|row| Path::new(&row.path).parent());
    parents.reduce(|common, parent| common.ancestors().find(|folder| parent.starts_with(folder)).unwrap_or(common))
}

/// The rows with paths relative to a folder that all of them lie below.
fn below(folder: &Path, rows: &[TableRow]) -> Vec<TableRow> {
    let below = |row: &TableRow| {
        let path = Path::new(&row.path).strip_prefix(folder).map_or_else(|_| row.path.clone(), |path| path.to_string_lossy().into_owned());
        TableRow { path, ..row.clone() }
    };
    rows.iter().map(below).collect()
}

fn table_format(format: ExportFormat, labels: bool) -> Result<tables::TableFormat> {
    Ok(match format {
        ExportFormat::Csv => tables::TableFormat::Csv,
        ExportFormat::Tsv => tables::TableFormat::Tsv,
        ExportFormat::JsonLines => tables::TableFormat::JsonLines,
        ExportFormat::Coco => tables::TableFormat::Coco,
        ExportFormat::Flickr8k if !labels => tables::TableFormat::Flickr8k,
        ExportFormat::Sidecar if !labels => tables::TableFormat::Sidecar,
        _ => {
            return Err(wrong_format(
                format,
                if labels { "csv, tsv, jsonl, coco, class-folders or norb-names" } else { "csv, tsv, jsonl, coco, flickr8k or sidecar" },
            ));
        }
    })
}

impl ExportFormat {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::JsonLines => "jsonl",
            Self::Coco => "coco",
            Self::Flickr8k => "flickr8k",
            Self::Sidecar => "sidecar",
            Self::ClassFolders | Self::ClassLinks => "class-folders",
            Self::NorbNames => "norb-names",
        }
    }
}

fn wrong_format(format: ExportFormat, expected: &'static str) -> Error {
    Error::Option { name: "format", found: format.name().into(), expected }
}

/// Bytes at the beginning of a file that suffice to tell its format.
const HEAD: u64 = 4096;

/// Refuses to overwrite anything but an earlier export of the same kind, which `is_ours` recognises
/// by a file's first line; that too unless the options say so.
pub(super) fn check_new(to: &Path, options: ExportOptions, is_ours: impl Fn(&str) -> bool) -> Result<()> {
    let found = match fs::metadata(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", to)(error)),
        Ok(meta) if meta.is_dir() => "a folder",
        // Opening a pipe or a device could block for ever.
        Ok(meta) if !meta.is_file() => "something that is not a file",
        Ok(_) => {
            let mut head = Vec::new();
            let file = File::open(to).map_err(Error::io("read", to))?;
            file.take(HEAD).read_to_end(&mut head).map_err(Error::io("read", to))?;
            let head = String::from_utf8_lossy(&head);
            if head.is_empty() {
                return Ok(());
            }
            if is_ours(head.lines().next().unwrap_or_default()) {
                return check_replaced(to, "an older export of the same kind", options.replaces);
            }
            "another file"
        }
    };
    Err(Error::data(to, "no file, or an older export of the same kind to replace", found, "choose another name"))
}

/// Whether a line can be the first of a table of this format that an export has written.
fn begins(format: tables::TableFormat, line: &str) -> bool {
    let is_header = |delimiter: char| {
        // Names may stand in quotation marks.
        let mut names = line.split(delimiter).map(|name| name.trim_matches('"'));
        names.next() == Some("path") && names.all(|name| ["label", "caption", tables::MARK].contains(&name))
    };
    match format {
        tables::TableFormat::Csv => is_header(','),
        tables::TableFormat::Tsv => is_header('\t'),
        tables::TableFormat::JsonLines => line.starts_with("{\"path\":\""),
        tables::TableFormat::Coco => line == "{\"images\": [",
        tables::TableFormat::Flickr8k => line.split_once('\t').is_some_and(|(image, _)| image.contains('#')),
        tables::TableFormat::Sidecar => false,
    }
}
