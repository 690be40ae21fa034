//! Relocating: images that moved are found again, and keep everything that was said of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::Library;
use super::event::{Change, EventId, Kind, RootId, Swap};
use super::import::hold;
use crate::error::{self, Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::raw_path::RawPath;
use std::sync::Mutex;

/// What relocating did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Relocated {
    /// The event; none when no root was moved and files were found by their bytes alone.
    pub event: Option<EventId>,
    /// Files that are where they should be now.
    pub found: usize,
    /// Files that are not.
    pub missing: usize,
}

/// Tells a library that what lay at `old` lies at `new` now. Roots at or below `old` move as they are. Where `old` is a
/// folder inside a root, the files below `new` are imported, which knows them by their bytes, and the places below `old`
/// that are gone are dropped.
///
/// # Errors
/// [`Error::Option`] when the library has nothing at `old`; [`Error::Io`] when there is nothing at `new`.
pub fn relocate(library: &Mutex<Library>, old: &Path, new: &Path, progress: &Progress) -> Result<Relocated> {
    let new = fs::canonicalize(new).map_err(Error::io("read", new))?;
    let old = std::path::absolute(old).map_err(Error::io("read", old))?;
    if hold(library).state.roots().any(|(_, root)| root.path.starts_with(&old)) {
        return hold(library).move_roots(&old, &new);
    }
    let below = |path: &Path| path.starts_with(&old);
    let known = {
        let library = hold(library);
        let state = &library.state;
        state.records().iter().flat_map(|image| &image.places).any(|place| below(&state.full_path(place)))
    };
    if !known {
        return Err(Error::Option {
            name: "OLD",
            found: format!("{}, where this library has no images", error::display(&old)),
            expected: "a folder that images were imported from, or one inside it",
        });
    }
    let options = super::import::ImportOptions::default();
    let folder = if new.is_dir() { &new } else { new.parent().unwrap_or(&new) };
    super::import::take_in(library, folder, &options, false, progress)?;
    hold(library).drop_gone(&old)
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
        let changes = moved.iter().map(|(id, from, to)| Change::Root(*id, Swap(RawPath(from.clone()), RawPath(to.clone())))).collect();
        let words = format!("Relocate {} to {}", error::display(old), error::display(new));
        let event = self.commit(None, Kind::Act, &words, changes)?;
        let ids: Vec<RootId> = moved.iter().map(|(id, ..)| *id).collect();
        let (found, missing) = self.look_for_files(|root| ids.contains(&root))?;
        Ok(Relocated { event, found, missing })
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
