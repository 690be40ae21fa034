//! Relocating: images whose files moved are found again, and keep their labels, captions and
//! rewards.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use globset::GlobBuilder;
use walkdir::WalkDir;

use super::Library;
use super::draft::{Acts, Draft};
use super::event::{Change, ContentHash, EventId, EventKind, RootId, Swap};
use super::features::hash_while;
use super::hold;
use super::import::{FailedFile, ImportOptions, enter_known, learn_found, take_in};
use super::state::{Place, Root, State};
use crate::error::{self, Error, Result};
use crate::progress::Progress;
use crate::raw_path::RawPath;

/// The result of relocating.
#[derive(Debug, Default)]
pub struct Relocated {
    /// The event; none when no root was moved and files were found by their bytes alone.
    pub event: Option<EventId>,
    /// Files that were found at the new place.
    pub found: usize,
    /// Files that were not found.
    pub missing: usize,
    /// Files at the new place that could not be taken in.
    pub failed: Vec<FailedFile>,
}

/// Updates a library after a file or folder was moved from `old` to `new`. Roots at or below `old`
/// get new paths. Where `old` lies inside a root, the files below `new` are imported as those of
/// the root are, which recognises them by their bytes, and the places below `old` whose files are
/// gone are dropped. The recogniser learns images that it could not while their files were away.
///
/// # Errors
/// [`Error::NotFound`] when the library has nothing at `old`; [`Error::Unfit`] when what was there
/// is not at `new`; [`Error::Io`] when there is nothing at `new`; [`Error::Cancelled`], and then
/// what was found until then stays found.
pub fn relocate(library: &Mutex<Library>, old: &Path, new: &Path, progress: &Progress) -> Result<Relocated> {
    let new = fs::canonicalize(new).map_err(Error::io("read", new))?;
    let old = std::path::absolute(old).map_err(Error::io("read", old))?;
    if hold(library).state().roots().any(|(_, root)| root.path.starts_with(&old)) {
        let mut moved = move_roots(&mut hold(library), &old, &new)?;
        // Files below it may be known as those of a folder around it.
        let options = hold(library).state().options_of(&old, &new);
        if let Some(options) = options {
            let report = take_in(library, &new, &options, false, progress)?;
            if report.cancelled {
                return Err(Error::Cancelled);
            }
            let found = drop_gone(&mut hold(library), &old)?;
            moved = Relocated { found: moved.found + found.found, missing: moved.missing + found.missing, failed: report.failed, ..moved };
        }
        learn_found(library, progress)?;
        return Ok(moved);
    }
    // A file that was taken in alone stays alone.
    let alone = hold(library).state().file_alone(&old).filter(|_| new.is_file());
    if let Some(hash) = alone {
        let mut library = hold(library);
        if !enter_known(&mut library, &new, hash)? {
            let found = format!("{}, which has other bytes than {} had", error::display(&new), error::display(&old));
            return Err(not_there(&library.acts(), found));
        }
        return drop_gone(&mut library, &old);
    }
    let state = hold(library).state().clone();
    let files = state.files_below(&old);
    if new.is_dir() && !files.is_empty() && !any_lies_below(&files, &new) && !any_bytes_are_below(&files, &new, progress)? {
        return Err(has_none(&hold(library).acts(), &old, &new));
    }
    let folder = if new.is_dir() { &new } else { new.parent().unwrap_or(&new) };
    let Some(options) = state.options_of(&old, folder) else {
        let found = format!("{}, where this library has no images", error::display(&old));
        let expected = "a folder that images were imported from, or one inside it";
        return Err(Error::not_found(hold(library).folder(), "OLD", found, expected));
    };
    let report = take_in(library, folder, &options, false, progress)?;
    if report.cancelled {
        return Err(Error::Cancelled);
    }
    let moved = drop_gone(&mut hold(library), &old)?;
    Ok(Relocated { failed: report.failed, ..moved })
}

impl State {
    /// The files that lay below a folder, with their paths from there.
    fn files_below(&self, folder: &Path) -> Vec<(PathBuf, &Place)> {
        let lies_below = self.lies_below(folder);
        let places = self.records().iter().flat_map(|image| &image.places).filter(|place| lies_below(place));
        places.filter_map(|place| Some((self.full_path(place).strip_prefix(folder).ok()?.to_owned(), place))).collect()
    }

    /// The bytes that a file had which was taken in alone, if `path` is one.
    fn file_alone(&self, path: &Path) -> Option<ContentHash> {
        let is_it = |place: &&Place| self.full_path(place) == path && self.roots.get(&place.root).is_some_and(Root::is_of_files);
        self.records().iter().flat_map(|image| &image.places).find(is_it).map(|place| place.hash)
    }

    /// The options for importing from the folder `new` files that lay at `old`, inside a root:
    /// those of the root, or where `new` is a root itself, of that one. None when the library knows
    /// no file at `old`.
    fn options_of(&self, old: &Path, new: &Path) -> Option<ImportOptions> {
        let mut places = self.records().iter().flat_map(|image| &image.places);
        let (place, full) = places.find_map(|place| Some((place, self.full_path(place))).filter(|(_, path)| path.starts_with(old)))?;
        let (root, inside) = match self.roots().find(|(_, root)| root.path == new && !root.is_of_files()) {
            Some((_, root)) => (root, None),
            None => {
                let folder = if full == old { old.parent()? } else { old };
                let root = self.roots.get(&place.root)?;
                (root, folder.strip_prefix(&root.path).ok())
            }
        };
        let exclude = root.reading.exclude.iter().filter_map(|pattern| from_inside(pattern, inside.unwrap_or(Path::new("")))).collect();
        Some(ImportOptions { exclude, ..ImportOptions::of(root) })
    }
}

/// Whether any of some files is below another folder where it was below the first.
fn any_lies_below(files: &[(PathBuf, &Place)], folder: &Path) -> bool {
    files.iter().any(|(path, _)| folder.join(path).is_file())
}

/// Whether a folder has a file with the bytes of one of these, whatever its name.
fn any_bytes_are_below(files: &[(PathBuf, &Place)], folder: &Path, progress: &Progress) -> Result<bool> {
    let lengths: HashSet<u64> = files.iter().map(|(_, place)| place.bytes).collect();
    let hashes: HashSet<ContentHash> = files.iter().map(|(_, place)| place.hash).collect();
    progress.begin("Looking for the files", 0);
    for entry in WalkDir::new(folder).follow_links(true).into_iter().flatten() {
        progress.step()?;
        let has_length = entry.metadata().is_ok_and(|meta| meta.is_file() && lengths.contains(&meta.len()));
        if has_length && hash_while(entry.path(), progress).is_ok_and(|hash| hashes.contains(&hash)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The error for a folder that has none of the files that are looked for.
fn has_none(acts: &Acts<'_>, old: &Path, new: &Path) -> Error {
    let found = format!("{}, which has none of the files of {}", error::display(new), error::display(old));
    not_there(acts, found)
}

/// The error for a place that the files cannot have moved to.
fn not_there(acts: &Acts<'_>, found: String) -> Error {
    acts.unfit("NEW", found, "the place that OLD was moved to")
}

/// Turns a pattern of paths from a root into one of paths from a folder inside it; none when it
/// cannot match there.
fn from_inside(pattern: &str, folder: &Path) -> Option<String> {
    if !pattern.trim_end_matches('/').contains('/') {
        return Some(pattern.to_owned());
    }
    let mut rest = pattern;
    for part in folder {
        let (first, behind) = rest.split_once('/')?;
        if first == "**" {
            break;
        }
        let is_it = GlobBuilder::new(first).literal_separator(true).build().is_ok_and(|glob| glob.compile_matcher().is_match(part));
        if !is_it {
            return None;
        }
        rest = behind;
    }
    // A pattern without `/` would match names in all folders.
    Some(if rest.contains('/') { rest.to_owned() } else { format!("{{{rest},/}}") })
}

/// Moves the roots at or below `old` to where they are below `new`.
fn move_roots(library: &mut Library, old: &Path, new: &Path) -> Result<Relocated> {
    let state = library.state();
    let to_new =
        |path: &Path| path.strip_prefix(old).ok().map(|rest| if rest.as_os_str().is_empty() { new.to_owned() } else { new.join(rest) });
    let moved: Vec<(RootId, PathBuf, PathBuf)> =
        state.roots().filter_map(|(id, root)| Some((id, root.path.clone(), to_new(&root.path)?))).collect();
    let acts = Acts { library: library.folder(), state };
    if let Some((other, root)) = state.roots().find(|(id, root)| moved.iter().any(|(from, _, to)| from != id && *to == root.path)) {
        let found = format!("{}, which is a folder of this library already (#{})", error::display(&root.path), other.0);
        return Err(not_there(&acts, found));
    }
    let files = state.files_below(old);
    if !files.is_empty() && !any_lies_below(&files, new) {
        return Err(has_none(&acts, old, new));
    }
    let changes = moved.iter().map(|(id, from, to)| Change::Root(*id, Swap(RawPath(from.clone()), RawPath(to.clone())))).collect();
    let words = format!("Relocated {} to {}", error::display(old), error::display(new));
    let event = library.commit(None, EventKind::Act, Draft::new(words, changes))?;
    let ids: Vec<RootId> = moved.iter().map(|(id, ..)| *id).collect();
    let (found, missing) = look_for_files(library, &ids)?;
    Ok(Relocated { event, found, missing, failed: Vec::new() })
}

/// Updates for every place in some roots whether its file is there. Returns the numbers of those
/// that are and that are not.
fn look_for_files(library: &mut Library, roots: &[RootId]) -> Result<(usize, usize)> {
    let state = library.state();
    let mut counts = (0, 0);
    let mut changed = Vec::new();
    for image in state.records() {
        for place in image.places.iter().filter(|place| roots.contains(&place.root)) {
            let here = state.full_path(place).is_file();
            *(if here { &mut counts.0 } else { &mut counts.1 }) += 1;
            if here != place.here {
                changed.push((image.id, Place { here, ..place.clone() }, Some(image.id)));
            }
        }
    }
    library.put_places(&changed)?;
    Ok(counts)
}

/// Drops places below a folder whose files are gone, of images that are found elsewhere.
fn drop_gone(library: &mut Library, folder: &Path) -> Result<Relocated> {
    let state = library.state();
    let mut result = Relocated::default();
    let mut gone = Vec::new();
    for image in state.records() {
        for place in &image.places {
            let path = state.full_path(place);
            if path.starts_with(folder) && !path.exists() {
                let found = image.places.iter().any(|other| other != place && state.full_path(other).is_file());
                *(if found { &mut result.found } else { &mut result.missing }) += 1;
                if found {
                    gone.push((image.id, place.root, place.path.clone()));
                }
            }
        }
    }
    library.drop_places(&gone)?;
    Ok(result)
}
