//! A text file beside each image, one line a caption.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::rows::{self, Draft, shown};
use super::table::{MAX_SIDECAR, Table, TableFormat, TableRow, shielded, text_of};
use crate::envelope;
use crate::error::{Error, Result, display};
use crate::picture::decode;
use crate::progress::Progress;

/// Folders inside folders that are followed.
const DEPTH: usize = 64;

const RENAME: &str = "rename the image, or choose another format";
const NO_LINK: &str = "put a copy of the text there";

/// Where the captions of an image lie: `photo.txt` for `photo.jpg`. `None` for a path without a
/// name.
pub fn beside(image: &Path) -> Option<PathBuf> {
    let name = image.file_name()?;
    Some(match split(&name.to_string_lossy()) {
        (_, Some(_)) => image.with_extension("txt"),
        (_, None) => {
            let mut name = name.to_owned();
            name.push(".txt");
            image.with_file_name(name)
        }
    })
}

/// The captions beside an image. `None` when there is no such file.
///
/// # Errors
/// [`Error::Data`] when it is a link or anything else but a file, which is neither followed nor
/// opened; when it is larger than [`MAX_SIDECAR`] or is not UTF-8; [`Error::Io`].
pub fn sidecar(image: &Path) -> Result<Option<Vec<String>>> {
    let Some(beside) = beside(image) else { return Ok(None) };
    match odd_kind(&beside)? {
        Some(Odd::Absent) => return Ok(None),
        Some(Odd::Kind(found)) => return Err(Error::data(&beside, "an ordinary file", found, NO_LINK)),
        None => {}
    }
    let text = text_of(&beside, MAX_SIDECAR)?;
    Ok(Some(lines(&text).map(String::from).collect()))
}

/// What is at a path in place of an ordinary file.
enum Odd {
    Absent,
    Kind(&'static str),
}

/// What is at `path`, if that is no ordinary file. Links are not followed: a folder of a stranger's
/// must not make captions of what lies elsewhere.
fn odd_kind(path: &Path) -> Result<Option<Odd>> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(None),
        Ok(meta) if meta.is_symlink() => Ok(Some(Odd::Kind("a link"))),
        Ok(_) => Ok(Some(Odd::Kind("something that is not a file"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(Odd::Absent)),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// The captions in the text of a sidecar.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty())
}

/// A name or path without its image ending, and that ending.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('.') {
        Some((stem, ending))
            if !stem.is_empty() && !stem.ends_with('/') && decode::EXTENSIONS.contains(&ending.to_lowercase().as_str()) =>
        {
            (stem, Some(ending))
        }
        _ => (name, None),
    }
}

/// The name of the image that lies beside the text file `path`.
pub(super) fn image_of(path: &Path) -> Option<String> {
    if path.extension()? != "txt" {
        return None;
    }
    let endings = decode::EXTENSIONS.into_iter().flat_map(|ending| [ending.to_owned(), ending.to_uppercase()]);
    let image = endings.map(|ending| path.with_extension(ending)).find(|image| image.is_file())?;
    Some(image.file_name()?.to_string_lossy().into_owned())
}

/// What lies in a folder under one name: whether there is a text file, and the images.
#[derive(Default)]
struct Group {
    has_text: bool,
    images: Vec<String>,
}

/// Every sidecar in a folder and the folders in it; hidden ones and links to folders are passed
/// over.
pub(super) fn read_folder(root: &Path, progress: &Progress) -> Result<Table> {
    fs::read_dir(root).map_err(Error::io("read", root))?;
    let mut draft = Draft::new(root, progress);
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let is_shown = |entry: &DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
    for entry in WalkDir::new(root).max_depth(DEPTH).sort_by_file_name().into_iter().filter_entry(is_shown) {
        draft.step()?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                draft.problem(0, error.to_string());
                continue;
            }
        };
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        if entry.file_type().is_symlink() && path.extension().is_some_and(|ending| ending == "txt") {
            draft.problem(0, format!("`{}` is a link, which is not followed", display(path)));
            continue;
        }
        if !entry.path().is_file() {
            continue;
        }
        let Some(name) = path.to_str().map(|name| name.replace(std::path::MAIN_SEPARATOR, "/")) else {
            draft.problem(0, format!("`{}` is not named in UTF-8", display(path)));
            continue;
        };
        if let Some(stem) = name.strip_suffix(".txt") {
            groups.entry(stem.into()).or_default().has_text = true;
        } else if let (stem, Some(_)) = split(&name) {
            groups.entry(stem.into()).or_default().images.push(name);
        }
    }
    groups.retain(|_, group| group.has_text);
    let any_image = groups.values().any(|group| !group.images.is_empty());
    for (stem, group) in &groups {
        draft.step()?;
        let name = format!("{stem}.txt");
        if any_image && group.images.is_empty() {
            draft.problem(0, format!("`{}` has no image beside it", shown(&name)));
            continue;
        }
        let text = match text_of(&root.join(&name), MAX_SIDECAR) {
            Ok(text) => text,
            Err(error) => {
                draft.problem(0, error.to_string());
                continue;
            }
        };
        let images = if group.images.is_empty() { std::slice::from_ref(stem) } else { &group.images };
        for image in images {
            let row = draft.row(image, 0);
            lines(&text).for_each(|caption| draft.caption(row, 0, caption, 0));
        }
    }
    draft.finish(TableFormat::Sidecar)
}

/// Where the sidecar of a row belongs, as a path inside the folder.
fn place(row: &TableRow, to: &Path) -> Result<PathBuf> {
    let path = row.path.replace('\\', "/");
    let refuse = |expected: &str| Err(Error::data(to, expected, format!("`{}`", shown(&row.path)), RENAME));
    let has_drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if has_drive || path.starts_with('/') || Path::new(&path).is_absolute() {
        return refuse("paths that are relative to the folder");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return refuse("paths that stay inside the folder");
    }
    if parts.is_empty() || path.ends_with('/') || parts.iter().any(|part| part.starts_with('.') || part.contains(['\0', '\r', '\n'])) {
        return refuse("paths of files that are not hidden, without line breaks");
    }
    Ok(PathBuf::from(format!("{}.txt", split(&parts.join("/")).0)))
}

/// Whether the file must be written: not when it is there with the same text.
fn is_new(path: &Path, text: &str) -> Result<bool> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(true) };
    if meta.is_file() && meta.len() == text.len() as u64 && fs::read(path).map_err(Error::io("read", path))? == text.as_bytes() {
        return Ok(false);
    }
    Err(Error::data(path, "no file, or one with the same captions", "another one", "move it away, or choose another folder"))
}

/// Checks for links between the folder and a place inside it, which could lead out of it.
fn check_links(to: &Path, place: &Path) -> Result<()> {
    let mut folder = to.to_owned();
    for part in place.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        if folder.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            return Err(Error::data(&folder, "a folder", "a file or a link", "choose another folder"));
        }
    }
    Ok(())
}

/// The files that rows become, by their places in the folder, and how many rows those are. All of
/// them may be written.
fn plan(rows: &[TableRow], to: &Path) -> Result<(BTreeMap<PathBuf, String>, usize)> {
    let (mut files, mut n_rows) = (BTreeMap::new(), 0);
    for row in rows {
        let place = place(row, to)?;
        let text: String = rows::captions(row).map(|caption| rows::on_one_line(caption) + "\n").collect();
        if text.is_empty() {
            continue;
        }
        let text = shielded(text);
        if text.len() as u64 > MAX_SIDECAR {
            let found = format!("{} of `{}`", text.len(), shown(&row.path));
            return Err(Error::data(to, format!("captions of at most {MAX_SIDECAR} bytes"), found, "choose another format"));
        }
        n_rows += 1;
        check_links(to, &place)?;
        is_new(&to.join(&place), &text)?;
        match files.get(&place) {
            Some(other) if *other != text => {
                let found = format!("others for `{}`", shown(&row.path));
                return Err(Error::data(&to.join(&place), "the same captions for all images of this name", found, RENAME));
            }
            _ => drop(files.insert(place, text)),
        }
    }
    Ok((files, n_rows))
}

/// How many rows would be written, if they may be.
pub(super) fn count(rows: &[TableRow], to: &Path) -> Result<usize> {
    Ok(plan(rows, to)?.1)
}

/// Everything is checked before the first file is written.
pub(super) fn write(rows: &[TableRow], to: &Path) -> Result<usize> {
    let (files, n_rows) = plan(rows, to)?;
    fs::create_dir_all(to).map_err(Error::io("create", to))?;
    for (place, text) in &files {
        let path = to.join(place);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        }
        // Checked again, because on some systems two names are one file.
        if is_new(&path, text)? {
            envelope::replace(&path, text.as_bytes())?;
        }
    }
    Ok(n_rows)
}
