//! Exports of images: into a folder for each class, or under NORB-style names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tessera_core::data::names;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::ContentHash;
use tessera_core::library::features::hash_file;
use tessera_core::library::import::{hold, holds};
use tessera_core::library::state::{Image, State};
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::class_tree::parts;
use crate::command::ExportFormat;

/// The longest name of a file, in bytes.
const LONGEST: usize = 255;
/// The longest part of a class's name that is used in the name of a file or folder, in bytes: a
/// number and an extension must fit behind it.
const PLAIN: usize = 200;

/// What an export wrote, or would write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportSize {
    /// Rows or files.
    pub n: usize,
    /// Labelled images that were left out because their files are not there, or hold other bytes
    /// now.
    pub missing: usize,
    /// Class folders, by their paths with `/`, with the number of their images.
    pub folders: Vec<(String, usize)>,
    /// Bytes of all copied images.
    pub bytes: u64,
    /// Images in class folders whose names get a number because another image of their folder has
    /// the same name.
    pub renamed: usize,
}

impl ExportSize {
    /// Whether class folders lie in others, so that paths of folders are the classes.
    pub fn has_paths(&self) -> bool {
        self.folders.iter().any(|(folder, _)| folder.contains('/'))
    }
}

/// The preview of an export into class folders: what it would write, and whether it can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportPreview {
    /// What it would write.
    pub written: ExportSize,
    /// Why it cannot be written there, in words; `None` if it can.
    pub in_the_way: Option<String>,
}

/// An image that is copied.
pub(super) struct Copied {
    /// Its file.
    from: PathBuf,
    /// Where the copy goes, from the folder of the export.
    to: PathBuf,
    /// Its bytes.
    hash: ContentHash,
}

/// A labelled image, its label, its file and the bytes there.
type Labelled<'a> = (&'a Image, &'a str, PathBuf, ContentHash);

/// The folder, in that of the export, in which images lie until all of them are there: an export
/// that was cut off must not look complete.
const UNFINISHED: &str = "unfinished-export";

/// Previews an export of a library's labels into class folders below `to`; nothing is written.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn plan_class_folders(library: &Mutex<Library>, to: &Path, progress: &Progress) -> Result<ExportPreview> {
    let (_, written) = copies(library, ExportFormat::ClassFolders, progress)?;
    Ok(ExportPreview { written, in_the_way: check_empty(to).err().map(|error| error.to_string()) })
}

/// The copies that an export of a library's labelled images makes.
pub(super) fn copies(library: &Mutex<Library>, format: ExportFormat, progress: &Progress) -> Result<(Vec<Copied>, ExportSize)> {
    let state = hold(library).state().clone();
    let all = state.images().filter(|image| image.label().is_some()).count();
    arranged(&labelled(&state, Image::label, progress)?, all, format, parts)
}

/// The copies of images into folders of these names, none of which is a path.
pub(super) fn copies_into(
    library: &Mutex<Library>,
    folders: &HashMap<ItemId, String>,
    progress: &Progress,
) -> Result<(Vec<Copied>, ExportSize)> {
    let state = hold(library).state().clone();
    let labelled = labelled(&state, |image| folders.get(&image.id).map(String::as_str), progress)?;
    arranged(&labelled, folders.len(), ExportFormat::ClassFolders, |name| vec![name])
}

/// The copies of those that are there of `all` images; `parts` are the folders of a label, from the
/// outermost.
fn arranged(
    labelled: &[Labelled<'_>],
    all: usize,
    format: ExportFormat,
    parts: fn(&str) -> Vec<&str>,
) -> Result<(Vec<Copied>, ExportSize)> {
    let copies = if format == ExportFormat::NorbNames { in_norb_names(labelled)? } else { in_class_folders(labelled, parts) };
    let bytes = labelled.iter().filter_map(|(image, ..)| Some(image.place()?.bytes)).sum();
    let mut written = ExportSize { n: copies.len(), missing: all - copies.len(), bytes, ..ExportSize::default() };
    if format != ExportFormat::NorbNames {
        let mut folders: BTreeMap<String, usize> = BTreeMap::new();
        for Copied { from, to, .. } in &copies {
            let folder: Vec<_> = to.parent().into_iter().flat_map(Path::iter).map(OsStr::to_string_lossy).collect();
            *folders.entry(folder.join("/")).or_default() += 1;
            written.renamed += usize::from(from.file_name() != to.file_name());
        }
        written.folders = folders.into_iter().collect();
    }
    Ok((copies, written))
}

/// The labelled images of which a file is there that still has their bytes.
fn labelled<'a>(state: &'a State, label: impl Fn(&'a Image) -> Option<&'a str>, progress: &Progress) -> Result<Vec<Labelled<'a>>> {
    let known: Vec<_> = state.images().filter_map(|image| Some((&**image, label(image)?, image.content?.hash))).collect();
    progress.begin("Looking for files", known.len() as u64);
    let mut there = Vec::with_capacity(known.len());
    for (image, label, hash) in known {
        progress.step()?;
        let places = image.places.iter().filter(|place| place.here && place.hash == hash);
        let file = places.map(|place| (state.full_path(place), place)).find(|(path, place)| path.is_file() && holds(path, place));
        there.extend(file.map(|(path, _)| (image, label, path, hash)));
    }
    Ok(there)
}

/// Copies images into a folder, or links to them; no destination may exist. After an error or a
/// cancellation everything that was written is removed again.
pub(super) fn copy(copies: &[Copied], folder: &Path, links: bool, progress: &Progress) -> Result<()> {
    progress.begin(if links { "Linking" } else { "Copying" }, copies.len() as u64);
    let (mut made, draft) = (Made::default(), folder.join(UNFINISHED));
    let outcome = copies.iter().try_for_each(|image| {
        progress.step()?;
        let place = draft.join(&image.to);
        if let Some(folder) = place.parent() {
            made.folder(folder).map_err(Error::io("create", folder))?;
        }
        if links { made.link(&image.from, &place) } else { made.copy(image, &place) }
    });
    let outcome = outcome.and_then(|()| put_in_place(&draft, folder));
    if outcome.is_err() {
        made.take_away();
    }
    outcome
}

/// Moves what lies in a folder to the one it is in, where nothing may have its names. After an
/// error it lies where it was.
fn put_in_place(draft: &Path, folder: &Path) -> Result<()> {
    let mut moved = Vec::new();
    let outcome = fs::read_dir(draft).into_iter().flatten().flatten().try_for_each(|entry| {
        let place = folder.join(entry.file_name());
        if fs::symlink_metadata(&place).is_ok() {
            return Err(Error::io("create", &place)(ErrorKind::AlreadyExists.into()));
        }
        fs::rename(entry.path(), &place).map_err(Error::io("rename", &place))?;
        moved.push((entry.path(), place));
        Ok(())
    });
    if outcome.is_err() {
        moved.iter().for_each(|(from, place)| drop(fs::rename(place, from)));
        return outcome;
    }
    // An export without images has none.
    let _ = fs::remove_dir(draft);
    Ok(())
}

/// The files and folders that an export has created so far, without those that other programs
/// created meanwhile.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Made {
    /// Creates a folder and its missing parents.
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

    /// Copies an image's file; the destination must not exist.
    fn copy(&mut self, image: &Copied, to: &Path) -> Result<()> {
        let mut source = File::open(&image.from).map_err(Error::io("read", &image.from))?;
        let mut target = File::create_new(to).map_err(Error::io("create", to))?;
        self.files.push(to.to_owned());
        std::io::copy(&mut source, &mut target).map_err(Error::io("copy", &image.from))?;
        if hash_file(to)? != image.hash {
            let found = "a file that was changed while it was copied";
            return Err(Error::data(&image.from, "the image that has the label", found, "import its folder and export again"));
        }
        Ok(())
    }

    fn link(&mut self, from: &Path, to: &Path) -> Result<()> {
        link(from, to).map_err(Error::io("link", to))?;
        self.files.push(to.to_owned());
        Ok(())
    }

    /// Removes everything again, except folders that hold other files. What cannot be removed
    /// stays, and the next export reports it.
    fn take_away(self) {
        self.files.iter().for_each(|file| drop(fs::remove_file(file)));
        self.folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// Creates a symbolic link, which works across disks and shows its target.
#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(std::path::absolute(from)?, to)
}

/// Creates a symbolic link, or a hard link where that is not allowed.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    #[cfg(windows)]
    if std::os::windows::fs::symlink_file(std::path::absolute(from)?, to).is_ok() {
        return Ok(());
    }
    fs::hard_link(from, to)
}

/// Refuses a folder that is not empty, and anything that is not a folder.
pub(super) fn check_empty(to: &Path) -> Result<()> {
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

/// The copies of labelled images into a folder for each class, which lies in those of the classes
/// above it. Files and folders of the same name get numbers; names that differ only in case count
/// as the same, as some systems have it.
fn in_class_folders(labelled: &[Labelled<'_>], parts: fn(&str) -> Vec<&str>) -> Vec<Copied> {
    let mut folders: HashMap<&str, PathBuf> = HashMap::new();
    let mut names: HashMap<PathBuf, Names> = HashMap::new();
    // Folders take their names first: a file that is called as one beside it gets the number.
    for (_, label, ..) in labelled {
        if folders.contains_key(label) {
            continue;
        }
        let (mut folder, mut end) = (PathBuf::new(), 0);
        for part in parts(label) {
            end += part.len() + usize::from(end > 0);
            let inner = folders
                .entry(&label[..end])
                .or_insert_with(|| folder.join(names.entry(folder.clone()).or_default().take(OsStr::new(&plain(part)))));
            folder = inner.clone();
        }
    }
    let mut copies = Vec::with_capacity(labelled.len());
    for (_, label, from, hash) in labelled {
        let folder = &folders[label];
        let name = names.entry(folder.clone()).or_default().take(from.file_name().unwrap_or_default());
        copies.push(Copied { from: from.clone(), to: folder.join(name), hash: *hash });
    }
    copies
}

/// The names that are taken in a folder.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// The next number to be tried for a name.
    next: HashMap<String, usize>,
}

impl Names {
    /// Takes a name, with a number before its extension if it is taken already.
    fn take(&mut self, name: &OsStr) -> OsString {
        let mut one = name.to_owned();
        while !self.taken.insert(folded(&one)) {
            let number = self.next.entry(folded(name)).or_insert(1);
            *number += 1;
            one = numbered(name, *number);
        }
        one
    }
}

/// A name as case-insensitive systems see it.
fn folded(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

/// A file's name with a number before its extension, of at most [`LONGEST`] bytes.
fn numbered(name: &OsStr, number: usize) -> OsString {
    let path = Path::new(name);
    let ending = path.extension().filter(|ending| ending.len() < PLAIN);
    let stem = ending.and_then(|_| path.file_stem()).unwrap_or(name);
    let mut behind = OsString::from(format!("-{number}"));
    if let Some(ending) = ending {
        behind.push(".");
        behind.push(ending);
    }
    let room = LONGEST - behind.len();
    let mut one = if stem.len() > room { shortened(&stem.to_string_lossy(), room).into() } else { stem.to_owned() };
    one.push(behind);
    one
}

/// The beginning of a text, of at most so many bytes.
fn shortened(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The copies of labelled images into one folder, under names that hold class, instance, elevation,
/// azimuth, lighting and camera; what is not known is 0. When two would have the same name, each
/// also gets the number of its image.
fn in_norb_names(labelled: &[Labelled<'_>]) -> Result<Vec<Copied>> {
    let mut named = Vec::new();
    for (image, label, from, hash) in labelled {
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
        named.push((image.id, stem, from.clone(), *hash));
    }
    let unique: BTreeSet<String> = named.iter().map(|(_, stem, ..)| stem.to_lowercase()).collect();
    let is_one_each = unique.len() == named.len();
    let copy = |(id, stem, from, hash): (ItemId, String, PathBuf, ContentHash)| {
        let mut name = if is_one_each { OsString::from(stem) } else { format!("{:06}_{stem}", id.0).into() };
        if let Some(ending) = from.extension() {
            name.push(".");
            name.push(ending);
        }
        Copied { from, to: name.into(), hash }
    };
    Ok(named.into_iter().map(copy).collect())
}

/// A class's name as the name of a file or folder that is not hidden.
pub(super) fn plain(class: &str) -> String {
    let is_plain = |(i, c): (usize, char)| !c.is_control() && !"/\\:*?\"<>|".contains(c) && (i, c) != (0, '.');
    let name: String = class.char_indices().map(|(i, c)| if is_plain((i, c)) { c } else { '_' }).collect();
    let name = shortened(&name, PLAIN);
    // Some systems drop trailing dots and blanks, and reserve some names for devices.
    let (kept, dropped) = name.split_at(name.trim_end_matches(['.', ' ']).len());
    let name = format!("{kept}{}", "_".repeat(dropped.chars().count()));
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let is_port = |kind: &str| stem.strip_prefix(kind).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    let is_device = ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str()) || is_port("COM") || is_port("LPT");
    if name.is_empty() || is_device { format!("_{name}") } else { name }
}

/// Refuses to replace what is at a path unless that is wanted.
pub(super) fn check_replaced(to: &Path, found: &'static str, replaces: bool) -> Result<()> {
    if replaces { Ok(()) } else { Err(Error::Exists { path: to.to_owned(), found }) }
}
