//! Relocating: images that moved are found again, and keep everything that was said of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use globset::GlobBuilder;

use super::Library;
use super::event::{Change, EventId, EventKind, RootId, Swap};
use super::import::{FailedFile, ImportOptions, hold};
use super::state::State;
use crate::data::Labels;
use crate::error::{self, Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::raw_path::RawPath;

/// What relocating did.
#[derive(Debug, Default)]
pub struct Relocated {
    /// The event; none when no root was moved and files were found by their bytes alone.
    pub event: Option<EventId>,
    /// Files that are where they should be now.
    pub found: usize,
    /// Files that are not.
    pub missing: usize,
    /// Files at the new place that could not be taken in.
    pub failed: Vec<FailedFile>,
}

/// Tells a library that what lay at `old` lies at `new` now. Roots at or below `old` move as they are. Where `old` is a
/// folder inside a root, the files below `new` are imported as those of the root are, which knows them by their bytes, and
/// the places below `old` that are gone are dropped.
///
/// # Errors
/// [`Error::Option`] when the library has nothing at `old`; [`Error::Io`] when there is nothing at `new`;
/// [`Error::Cancelled`], and then what was found till then stays found.
pub fn relocate(library: &Mutex<Library>, old: &Path, new: &Path, progress: &Progress) -> Result<Relocated> {
    let new = fs::canonicalize(new).map_err(Error::io("read", new))?;
    let old = std::path::absolute(old).map_err(Error::io("read", old))?;
    if hold(library).state.roots().any(|(_, root)| root.path.starts_with(&old)) {
        return hold(library).move_roots(&old, &new);
    }
    let folder = if new.is_dir() { &new } else { new.parent().unwrap_or(&new) };
    let Some(options) = hold(library).state.options_of(&old, folder) else {
        return Err(Error::Option {
            name: "OLD",
            found: format!("{}, where this library has no images", error::display(&old)),
            expected: "a folder that images were imported from, or one inside it",
        });
    };
    let report = super::import::take_in(library, folder, &options, false, progress)?;
    if report.cancelled {
        return Err(Error::Cancelled);
    }
    let moved = hold(library).drop_gone(&old)?;
    Ok(Relocated { failed: report.failed, ..moved })
}

impl State {
    /// How files that lay at `old`, inside a root, are imported from the folder `new`: as the root was, or where `new` is a
    /// root itself, as that was. None when no file lay there.
    fn options_of(&self, old: &Path, new: &Path) -> Option<ImportOptions> {
        let mut places = self.records().iter().flat_map(|image| &image.places);
        let (place, full) = places.find_map(|place| Some((place, self.full_path(place))).filter(|(_, path)| path.starts_with(old)))?;
        let (root, inside) = match self.roots().find(|(_, root)| root.path == new) {
            Some((_, root)) => (root, None),
            None => {
                let folder = if full == old { old.parent()? } else { old };
                let root = self.roots.get(&place.root)?;
                (root, folder.strip_prefix(&root.path).ok())
            }
        };
        let labels = [Labels::Auto, Labels::ClassFolders, Labels::NorbNames, Labels::None];
        let labels = labels.into_iter().find(|labels| labels.name() == root.labels).unwrap_or_default();
        let exclude = root.exclude.iter().filter_map(|pattern| from_inside(pattern, inside.unwrap_or(Path::new("")))).collect();
        Some(ImportOptions { labels, exclude })
    }
}

/// A pattern of paths from a root as one of paths from a folder inside it; none when it reaches nothing there.
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
    // Without a `/` it would be a pattern of names in all folders.
    Some(if rest.contains('/') { rest.to_owned() } else { format!("{{{rest},/}}") })
}

impl Library {
    fn move_roots(&mut self, old: &Path, new: &Path) -> Result<Relocated> {
        let moved: Vec<(RootId, PathBuf, PathBuf)> = self
            .state
            .roots()
            .filter_map(|(id, root)| {
                let rest = root.path.strip_prefix(old).ok()?;
                let to = if rest.as_os_str().is_empty() { new.to_owned() } else { new.join(rest) };
                Some((id, root.path.clone(), to))
            })
            .collect();
        if let Some((other, root)) = self.state.roots().find(|(id, root)| moved.iter().any(|(from, _, to)| from != id && *to == root.path))
        {
            let found = format!("{}, which is a folder of this library already (#{})", error::display(&root.path), other.0);
            return Err(Error::Option { name: "NEW", found, expected: "the place that OLD was moved to" });
        }
        let lies_there = |place: &super::state::Place| moved.iter().any(|(id, _, to)| *id == place.root && to.join(&place.path).is_file());
        let mut places =
            self.state.records().iter().flat_map(|image| &image.places).filter(|place| moved.iter().any(|m| m.0 == place.root)).peekable();
        if places.peek().is_some() && !places.any(lies_there) {
            let found = format!("{}, which has none of the files of {}", error::display(new), error::display(old));
            return Err(Error::Option { name: "NEW", found, expected: "the place that OLD was moved to" });
        }
        let changes = moved.iter().map(|(id, from, to)| Change::Root(*id, Swap(RawPath(from.clone()), RawPath(to.clone())))).collect();
        let words = format!("Relocate {} to {}", error::display(old), error::display(new));
        let event = self.commit(None, EventKind::Act, &words, changes)?;
        let ids: Vec<RootId> = moved.iter().map(|(id, ..)| *id).collect();
        let (found, missing) = self.look_for_files(|root| ids.contains(&root))?;
        Ok(Relocated { event, found, missing, failed: Vec::new() })
    }

    /// Notes of every place in some roots whether its file is there. Returns how many are and how many are not.
    pub(super) fn look_for_files(&mut self, is_meant: impl Fn(RootId) -> bool) -> Result<(usize, usize)> {
        let mut counts = (0, 0);
        let mut changed = Vec::new();
        for image in self.state.records() {
            for place in image.places.iter().filter(|place| is_meant(place.root)) {
                let here = self.state.full_path(place).is_file();
                *(if here { &mut counts.0 } else { &mut counts.1 }) += 1;
                if here != place.here {
                    changed.push((image.id, super::state::Place { here, ..place.clone() }, Some(image.id)));
                }
            }
        }
        self.put_places(&changed)?;
        Ok(counts)
    }

    /// Drops places below a folder whose files are gone, of images that are found elsewhere.
    fn drop_gone(&mut self, folder: &Path) -> Result<Relocated> {
        let mut result = Relocated::default();
        let mut gone = Vec::new();
        for image in self.state.records() {
            for place in &image.places {
                let path = self.state.full_path(place);
                if path.starts_with(folder) && !path.exists() {
                    let found = image.places.iter().any(|other| other != place && self.state.full_path(other).is_file());
                    *(if found { &mut result.found } else { &mut result.missing }) += 1;
                    if found {
                        gone.push((image.id, place.root, place.path.clone()));
                    }
                }
            }
        }
        self.store.drop_places(&gone.iter().map(|(_, root, path)| (*root, path.clone())).collect::<Vec<_>>())?;
        let before = self.state.clone();
        let images: Vec<ItemId> = gone.iter().map(|(id, ..)| *id).collect();
        for (id, root, path) in gone {
            self.state.edit(id).places.retain(|place| place.root != root || place.path != path);
        }
        self.teach(&before, &images);
        Ok(result)
    }
}
