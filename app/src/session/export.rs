//! Give things out of a library: labels, captions, predictions, events, images in class folders.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use image::{ImageFormat, ImageResult, RgbImage};
use serde_json::json;
use tessera_core::ckm::confidence::{self, Calibration};
use tessera_core::data::names;
use tessera_core::data::tables::{self, Row};
use tessera_core::envelope::replace;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::Kind;
use tessera_core::library::import::hold;
use tessera_core::library::state::{Image, State};
use tessera_core::{Error, Result, random};

use super::Session;
use crate::command::{Export, Format};

/// What an export wrote, or would write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows or files.
    pub n: usize,
    /// Labelled images that were left out, for their files are not there.
    pub missing: usize,
    /// Class folders with their images.
    pub folders: Vec<(String, usize)>,
    /// Bytes of all copied images.
    pub bytes: u64,
    /// Images in class folders that get a number, for another of their folder has their name.
    pub renamed: usize,
}

/// What an export into class folders would write, and whether it can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it would write.
    pub written: Written,
    /// Why it cannot be written there, if it cannot.
    pub in_the_way: Option<String>,
}

/// Where each image is copied from and to.
type Copies = Vec<(PathBuf, PathBuf)>;

impl Session {
    /// What an export of a library's labels into class folders below `to` would write; nothing is.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn plan_class_folders(&self, library: &Mutex<Library>, to: &Path) -> Result<Plan> {
        let (_, written) = self.copies(library, Format::ClassFolders, to)?;
        Ok(Plan { written, in_the_way: check_empty(to).err().map(|error| error.to_string()) })
    }

    /// What a library's labelled images are copied to.
    fn copies(&self, library: &Mutex<Library>, format: Format, to: &Path) -> Result<(Copies, Written)> {
        let state = hold(library).state().clone();
        let labelled = self.labelled(&state)?;
        let copies = if format == Format::NorbNames { in_norb_names(&labelled, to)? } else { in_class_folders(&labelled, to) };
        let missing = state.images().filter(|image| image.label().is_some()).count() - copies.len();
        let bytes = labelled.iter().filter_map(|(image, ..)| Some(image.place()?.bytes)).sum();
        let mut written = Written { n: copies.len(), missing, bytes, ..Written::default() };
        if format != Format::NorbNames {
            let mut folders: BTreeMap<String, usize> = BTreeMap::new();
            for (from, path) in &copies {
                let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
                *folders.entry(folder.to_string_lossy().into_owned()).or_default() += 1;
                written.renamed += usize::from(from.file_name() != path.file_name());
            }
            written.folders = folders.into_iter().collect();
        }
        Ok((copies, written))
    }

    /// The labelled images whose files are there now, with their labels and files.
    fn labelled<'a>(&self, state: &'a State) -> Result<Vec<(&'a Image, &'a str, PathBuf)>> {
        let known = state.images().filter(|image| image.is_here());
        let known: Vec<_> = known.filter_map(|image| Some((&**image, image.label()?, state.path_of(image)?))).collect();
        self.progress.begin("Looking for files", known.len() as u64);
        let mut there = Vec::with_capacity(known.len());
        for one in known {
            self.progress.step()?;
            if one.2.is_file() {
                there.push(one);
            }
        }
        Ok(there)
    }

    /// Writes something out of a library to `to`; with `dry_run` it only counts, and refuses what it would refuse otherwise. Images
    /// whose files are not there are left out; but for captions beside their images, what cannot be written to its end is not written at all.
    ///
    /// # Errors
    /// [`Error::Option`] when the format cannot hold it, [`Error::Data`] when other things are in the way, [`Error::Io`],
    /// [`Error::Cancelled`].
    pub fn export(&self, library: &Mutex<Library>, what: Export, to: &Path, dry_run: bool) -> Result<Written> {
        let n = match what {
            Export::Labels(format) if format.is_images() => {
                let (copies, written) = self.copies(library, format, to)?;
                check_empty(to)?;
                if !dry_run {
                    self.copy(&copies, format == Format::ClassLinks)?;
                }
                return Ok(written);
            }
            Export::Labels(format) => {
                let format = table_format(format, true)?;
                write_rows(format, &hold(library).rows(true, false), to, dry_run)
            }
            Export::Captions(format) => {
                let format = table_format(format, false)?;
                write_rows(format, &hold(library).rows(false, true), to, dry_run)
            }
            Export::Predictions(format) => self.export_predictions(library, format, to, dry_run),
            Export::Events => self.export_events(library, to, dry_run),
        };
        Ok(Written { n: n?, ..Written::default() })
    }

    /// Copies images, or links to them, to where nothing is. What was begun and cannot be ended is taken away again.
    fn copy(&self, copies: &[(PathBuf, PathBuf)], links: bool) -> Result<()> {
        self.progress.begin(if links { "Linking" } else { "Copying" }, copies.len() as u64);
        let mut made = Made::default();
        let outcome = copies.iter().try_for_each(|(from, path)| {
            self.progress.step()?;
            if let Some(folder) = path.parent() {
                made.folder(folder).map_err(Error::io("create", folder))?;
            }
            if links { made.link(from, path) } else { made.copy(from, path) }
        });
        if outcome.is_err() {
            made.take_away();
        }
        outcome
    }

    /// What the recogniser says of every labelled image without its object, and of every other image.
    fn export_predictions(&self, library: &Mutex<Library>, format: Format, to: &Path, dry_run: bool) -> Result<usize> {
        let begins = match format {
            Format::Csv => "path,label,predicted,confidence",
            Format::Tsv => "path\tlabel\tpredicted\tconfidence",
            Format::JsonLines => "{\"path\":\"",
            _ => return Err(wrong_format(format, "csv, tsv or jsonl")),
        };
        let (state, model, elements) = {
            let library = hold(library);
            let model = self.live_recogniser(&library);
            let unlabelled: Vec<_> = library.state().images().filter(|image| image.label().is_none()).map(|image| image.id).collect();
            (library.state().clone(), model, library.elements_of(&unlabelled)?)
        };
        check_new(to, |line| line.starts_with(begins))?;
        if dry_run {
            return Ok(model.ckm.examples().count() + elements.len());
        }
        let judged = self.pool.install(|| confidence::held_out(&model.ckm, usize::MAX, &mut random::seeded(self.seed), &self.progress))?;
        let calibration = if model.calibration.n > 0 { model.calibration } else { Calibration::fit(&judged) };
        let name = |class: tessera_core::ids::ClassId| model.ckm.classes()[class.index()].name.clone();
        let mut rows = Vec::new();
        for held in &judged {
            rows.push((held.id, Some(name(held.class)), name(held.predicted), calibration.confidence(&held.scores)));
        }
        for (id, elements) in &elements {
            let scores = self.pool.install(|| model.ckm.scores(elements, tessera_core::ckm::Without::Nothing));
            if let Some((class, _)) = scores.ranking().first() {
                rows.push((*id, None, name(*class), calibration.confidence(&scores)));
            }
        }
        rows.sort_by_key(|row| row.0);
        let path = |id| state.image(id).and_then(|image| state.path_of(image)).unwrap_or_default().to_string_lossy().into_owned();
        let text = match format {
            Format::JsonLines => {
                let line = |(id, label, predicted, confidence): &(_, Option<String>, String, f64)| {
                    json!({"path": path(*id), "label": label, "predicted": predicted, "confidence": confidence}).to_string() + "\n"
                };
                rows.iter().map(line).collect::<String>().into_bytes()
            }
            _ => {
                let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
                let mut csv = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
                let refused = |error: csv::Error| Error::io("write", to)(std::io::Error::other(error));
                csv.write_record(["path", "label", "predicted", "confidence"]).map_err(refused)?;
                for (id, label, predicted, confidence) in &rows {
                    let label = label.clone().unwrap_or_default();
                    csv.write_record([&path(*id), &label, predicted, &format!("{confidence:.4}")]).map_err(refused)?;
                }
                csv.into_inner().map_err(|error| Error::io("write", to)(std::io::Error::other(error.to_string())))?
            }
        };
        replace(to, &text)?;
        Ok(rows.len())
    }

    fn export_events(&self, library: &Mutex<Library>, to: &Path, dry_run: bool) -> Result<usize> {
        let events = hold(library).events()?;
        check_new(to, |line| line.starts_with("{\"event\":"))?;
        if dry_run {
            return Ok(events.len());
        }
        let mut text = String::new();
        for event in &events {
            let (kind, target) = match event.kind {
                Kind::Act => ("act", None),
                Kind::Undo(act) => ("undo", Some(act)),
                Kind::Redo(act) => ("redo", Some(act)),
                Kind::Final => ("final", None),
            };
            let line = json!({"event": event.id, "at_ms": event.at, "act": event.act, "kind": kind, "target": target,
                "words": event.words, "changes": event.changes});
            text.push_str(&line.to_string());
            text.push('\n');
        }
        replace(to, text.as_bytes())?;
        Ok(events.len())
    }
}

/// What an export has made so far. What others put there meanwhile is not in it.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Made {
    /// Makes a folder and those above it, as far as they are not there.
    fn folder(&mut self, path: &Path) -> std::io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.folder(parent)?;
        }
        fs::create_dir(path)?;
        self.folders.push(path.to_owned());
        Ok(())
    }

    /// Copies a file to where none is.
    fn copy(&mut self, from: &Path, to: &Path) -> Result<()> {
        let mut source = File::open(from).map_err(Error::io("read", from))?;
        let mut target = File::create_new(to).map_err(Error::io("create", to))?;
        self.files.push(to.to_owned());
        std::io::copy(&mut source, &mut target).map_err(Error::io("copy", from))?;
        Ok(())
    }

    fn link(&mut self, from: &Path, to: &Path) -> Result<()> {
        link(from, to).map_err(Error::io("link", to))?;
        self.files.push(to.to_owned());
        Ok(())
    }

    /// Takes it all away again, but for folders in which others have put something. What cannot be taken away stays: the next export says that
    /// it is there.
    fn take_away(self) {
        self.files.iter().for_each(|file| drop(fs::remove_file(file)));
        self.folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// Makes a symbolic link, which works across disks and shows where it leads.
#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(std::path::absolute(from)?, to)
}

/// Makes a symbolic link, or where that is not allowed a second name of the same file.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    #[cfg(windows)]
    if std::os::windows::fs::symlink_file(std::path::absolute(from)?, to).is_ok() {
        return Ok(());
    }
    fs::hard_link(from, to)
}

/// Refuses a folder with things in it, and what is no folder.
fn check_empty(to: &Path) -> Result<()> {
    let found = match fs::read_dir(to) {
        Ok(mut entries) => match entries.next() {
            None => return Ok(()),
            Some(_) => "a folder with things in it",
        },
        Err(_) if !to.exists() => return Ok(()),
        Err(_) => "something else",
    };
    Err(Error::data(to, "a new or empty folder", found, "choose another name for the images"))
}

/// Where each labelled image is copied from and to, in a folder for its class. Files and classes of one name get numbers; names that differ in
/// capitals alone are one name to some systems.
fn in_class_folders(labelled: &[(&Image, &str, PathBuf)], to: &Path) -> Copies {
    let mut folders: HashMap<&str, PathBuf> = HashMap::new();
    let mut classes = Names::default();
    let mut files: HashMap<&str, Names> = HashMap::new();
    let mut copies = Vec::with_capacity(labelled.len());
    for (_, label, from) in labelled {
        let folder = folders.entry(label).or_insert_with(|| to.join(classes.take(OsStr::new(&plain(label)))));
        let name = files.entry(label).or_default().take(from.file_name().unwrap_or_default());
        copies.push((from.clone(), folder.join(name)));
    }
    copies
}

/// Names that are taken in a folder.
#[derive(Default)]
struct Names {
    taken: HashSet<OsString>,
    /// The number to be tried next for a name.
    next: HashMap<OsString, usize>,
}

impl Names {
    /// That name, or with a number before its ending if it is taken.
    fn take(&mut self, name: &OsStr) -> OsString {
        let mut one = name.to_owned();
        while !self.taken.insert(one.to_ascii_lowercase()) {
            let number = self.next.entry(name.to_ascii_lowercase()).or_insert(1);
            *number += 1;
            let (stem, ending) = (Path::new(name).file_stem().unwrap_or_default(), Path::new(name).extension());
            one = stem.to_owned();
            one.push(format!("-{number}"));
            if let Some(ending) = ending {
                one.push(".");
                one.push(ending);
            }
        }
        one
    }
}

/// The same in one folder, under names that tell class, instance, elevation, azimuth, lighting and camera; what is not known
/// is 0. Where two would have one name, each also gets the number of its image.
fn in_norb_names(labelled: &[(&Image, &str, PathBuf)], to: &Path) -> Result<Copies> {
    let mut named = Vec::new();
    for (image, label, from) in labelled {
        let meta = &image.folder.meta;
        let [instance, elevation, azimuth, lighting] =
            [meta.instance, meta.elevation, meta.azimuth, meta.lighting].map(Option::unwrap_or_default);
        let camera = meta.camera.unwrap_or_default().short();
        let stem = format!("{}_{instance:02}_{elevation}_{azimuth}_{lighting}_{camera}", plain(label));
        let read = names::PATTERNS.iter().find_map(|pattern| pattern.parse(&stem));
        if read.is_none_or(|name| name.category != label.to_lowercase()) {
            let found = format!("`{}`, of class `{}`", display(stem.as_ref()), display(label.as_ref()));
            return Err(Error::data(from, "a name that can be read again", found, "rename the class, or export class-folders"));
        }
        named.push((image.id, stem, from.clone()));
    }
    let unique: BTreeSet<String> = named.iter().map(|(_, stem, _)| stem.to_lowercase()).collect();
    let is_one_each = unique.len() == named.len();
    let copy = |(id, stem, from): (ItemId, String, PathBuf)| {
        let mut name = if is_one_each { OsString::from(stem) } else { format!("{:06}_{stem}", id.0).into() };
        if let Some(ending) = from.extension() {
            name.push(".");
            name.push(ending);
        }
        (from, to.join(name))
    };
    Ok(named.into_iter().map(copy).collect())
}

/// Writes a picture as a PNG file.
///
/// # Errors
/// [`Error::Io`].
pub fn save_png(picture: &RgbImage, to: &Path) -> Result<()> {
    replace(to, &png(picture).map_err(|error| Error::io("write", to)(std::io::Error::other(error)))?)
}

/// A picture as the bytes of a PNG file.
pub(super) fn png(picture: &RgbImage) -> ImageResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

fn write_rows(format: tables::Format, rows: &[Row], to: &Path, dry_run: bool) -> Result<usize> {
    if format != tables::Format::Sidecar {
        check_new(to, |line| begins(format, line))?;
    }
    let relative;
    let rows = if format == tables::Format::Sidecar {
        relative = below_common_folder(rows);
        &relative
    } else {
        rows
    };
    if dry_run { tables::count(format, rows, to) } else { tables::write(format, rows, to) }
}

/// The rows with their paths from the folder that all of them share.
fn below_common_folder(rows: &[Row]) -> Vec<Row> {
    let mut parents = rows.iter().filter_map(|row| Path::new(&row.path).parent());
    let Some(first) = parents.next() else { return Vec::new() };
    let common = parents.fold(first, |common, parent| common.ancestors().find(|folder| parent.starts_with(folder)).unwrap_or(common));
    let below = |row: &Row| {
        let path = Path::new(&row.path).strip_prefix(common).map_or_else(|_| row.path.clone(), |path| path.to_string_lossy().into_owned());
        Row { path, ..row.clone() }
    };
    rows.iter().map(below).collect()
}

fn table_format(format: Format, labels: bool) -> Result<tables::Format> {
    Ok(match format {
        Format::Csv => tables::Format::Csv,
        Format::Tsv => tables::Format::Tsv,
        Format::JsonLines => tables::Format::JsonLines,
        Format::Coco => tables::Format::Coco,
        Format::Flickr8k if !labels => tables::Format::Flickr8k,
        Format::Sidecar if !labels => tables::Format::Sidecar,
        _ => {
            return Err(wrong_format(
                format,
                if labels { "csv, tsv, jsonl, coco, class-folders or norb-names" } else { "csv, tsv, jsonl, coco, flickr8k or sidecar" },
            ));
        }
    })
}

impl Format {
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

fn wrong_format(format: Format, expected: &'static str) -> Error {
    Error::Option { name: "format", found: format.name().into(), expected }
}

/// As much of a file as tells what it is.
const HEAD: u64 = 4096;

/// Refuses to write over what is not an earlier export of the same kind; `is_ours` tells by a file's first line.
fn check_new(to: &Path, is_ours: impl Fn(&str) -> bool) -> Result<()> {
    let found = match fs::metadata(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", to)(error)),
        Ok(meta) if meta.is_dir() => "a folder",
        // Opening a pipe or a device could wait for ever.
        Ok(meta) if !meta.is_file() => "something that is not a file",
        Ok(_) => {
            let mut head = Vec::new();
            let file = File::open(to).map_err(Error::io("read", to))?;
            file.take(HEAD).read_to_end(&mut head).map_err(Error::io("read", to))?;
            let head = String::from_utf8_lossy(&head);
            if head.is_empty() || is_ours(head.lines().next().unwrap_or_default()) {
                return Ok(());
            }
            "another file"
        }
    };
    Err(Error::data(to, "no file, or an older export of the same kind to replace", found, "choose another name"))
}

/// Whether a table of this format, written by an export, may begin with a line.
fn begins(format: tables::Format, line: &str) -> bool {
    let is_header = |delimiter: char| {
        let mut names = line.split(delimiter);
        names.next() == Some("path") && names.all(|name| name == "label" || name == "caption")
    };
    match format {
        tables::Format::Csv => is_header(','),
        tables::Format::Tsv => is_header('\t'),
        tables::Format::JsonLines => line.starts_with("{\"path\":\""),
        tables::Format::Coco => line == "{\"images\": [",
        tables::Format::Flickr8k => line.split_once('\t').is_some_and(|(image, _)| image.contains('#')),
        tables::Format::Sidecar => false,
    }
}

/// A class's name as the name of a file or folder that is not hidden.
pub(super) fn plain(class: &str) -> String {
    let is_plain = |(i, c): (usize, char)| !c.is_control() && !"/\\:*?\"<>|".contains(c) && (i, c) != (0, '.');
    let name: String = class.char_indices().map(|(i, c)| if is_plain((i, c)) { c } else { '_' }).collect();
    // Some systems drop dots and blanks at the end, and have devices of some names.
    let (kept, dropped) = name.split_at(name.trim_end_matches(['.', ' ']).len());
    let name = format!("{kept}{}", "_".repeat(dropped.chars().count()));
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let is_port = |kind: &str| stem.strip_prefix(kind).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    let is_device = ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str()) || is_port("COM") || is_port("LPT");
    if name.is_empty() || is_device { format!("_{name}") } else { name }
}
