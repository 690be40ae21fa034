//! Images that are removed together with their files: these go to the bin of the system and are
//! never deleted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::import::{hold, holds};
use tessera_core::library::state::{Image, State};
use tessera_core::plural::count;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::Session;
use crate::command::Clearance;

/// What an undo says of files that went to the bin.
pub const STAYS: &str = "the files stay in the bin of the system: put them back from there, and they are found where they were";

/// What was removed and moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binned {
    /// The event of the removal; `None` when there was nothing to remove.
    pub event: Option<EventId>,
    /// Images that were removed.
    pub removed: usize,
    /// Files that lie in the bin now.
    pub moved: Vec<PathBuf>,
    /// Files that stay where they are, and why.
    pub left: Vec<(PathBuf, String)>,
}

impl Binned {
    /// What became of the files, in words that follow those of the act.
    pub fn in_words(&self) -> String {
        let moved = format!(
            "{} moved to the bin of the system, from which they can be put back, though not by Undo",
            count(self.moved.len(), "file")
        );
        match self.left.first() {
            None => moved,
            Some((path, why)) => {
                // What went wrong may name the file already.
                let path = display(path);
                let why = why.strip_prefix(&format!("{path}: ")).unwrap_or(why);
                format!("{moved}; {} left where they are: {path}: {why}", count(self.left.len(), "file"))
            }
        }
    }
}

/// What takes files that nobody wants any more, and gives them back.
pub trait Bin: Send + Sync {
    /// Moves a file there.
    ///
    /// # Errors
    /// Why it could not be moved, in words; it is where it was then.
    fn take(&self, path: &Path) -> std::result::Result<(), String>;
}

/// The bin of the system.
pub struct SystemBin;

impl Bin for SystemBin {
    fn take(&self, path: &Path) -> std::result::Result<(), String> {
        trash::delete(path).map_err(|error| {
            let why = match &error {
                #[cfg(all(unix, not(target_os = "macos")))]
                trash::Error::FileSystem { path, source } => format!("{}: {source}", display(path)),
                trash::Error::Unknown { description } | trash::Error::Os { description, .. } => description.clone(),
                other => other.to_string(),
            };
            format!("this system has no bin that takes it ({why})")
        })
    }
}

impl Session {
    /// The same session with another bin.
    #[must_use]
    pub fn with_bin(self, bin: Arc<dyn Bin>) -> Self {
        Self { bin, ..self }
    }

    /// Removes images in one act, then moves their files to the bin of the system: the act is on
    /// disk before a file is touched. A file that holds other bytes than the image stays, as do
    /// images and files whose kept image has no file with its bytes.
    ///
    /// # Errors
    /// As [`Library::remove_with_files`]; [`tessera_core::Error::Cancelled`], after which the files
    /// that were not reached are where they were.
    pub fn remove_to_bin(&self, library: &Mutex<Library>, clearances: &[Clearance]) -> Result<Binned> {
        remove_to_bin(library, clearances, &*self.bin, &self.progress)
    }

    /// Moves files to the bin of the system, each one of several files of its image. The images
    /// stay: another file has the bytes of each. A file that does not hold its image, or that is
    /// the last to hold it, stays where it is, and so does what is left when it is cancelled.
    ///
    /// # Errors
    /// As [`Library::check_writable`] and [`Library::note_missing`].
    pub fn files_to_bin(&self, library: &Mutex<Library>, files: &[(ItemId, PathBuf)]) -> Result<Binned> {
        hold(library).check_writable()?;
        let mut binned = Binned::default();
        self.progress.begin("Moving files to the bin", files.len() as u64);
        for (image, file) in files {
            match self.progress.step().and_then(|()| self.file_to_bin(library, *image, file)) {
                Ok(()) => {
                    binned.moved.push(file.clone());
                    hold(library).note_missing(*image)?;
                }
                Err(Error::Cancelled) => binned.left.push((file.clone(), "it was stopped before".to_owned())),
                Err(error) => binned.left.push((file.clone(), error.to_string())),
            }
        }
        Ok(binned)
    }

    /// Moves one of several files of an image.
    ///
    /// # Errors
    /// [`tessera_core::Error::Data`] when the file does not hold the image, or no other file does,
    /// or the bin does not take it; it is where it was then.
    fn file_to_bin(&self, library: &Mutex<Library>, image: ItemId, file: &Path) -> Result<()> {
        let state = hold(library).state().clone();
        let refuse = |found: String| Error::data(file, "one of several files with the same bytes", found, "look for copies again");
        let holders: Vec<PathBuf> = state.image(image).into_iter().flat_map(|image| files(&state, image)).collect();
        if !holders.iter().any(|holder| holder == file) {
            return Err(refuse("a file that does not hold the image any more".into()));
        }
        // A link to the file is no other file, and equal lengths and times are no proof.
        let own = file.canonicalize().map_err(Error::io("read", file))?;
        let bytes = fs::read(&own).map_err(Error::io("read", file))?;
        let is_other =
            |holder: &PathBuf| holder.canonicalize().is_ok_and(|other| other != own && fs::read(other).is_ok_and(|read| read == bytes));
        if !holders.iter().any(is_other) {
            return Err(refuse("the only one that is left".into()));
        }
        self.bin.take(file).map_err(refuse)
    }
}

fn remove_to_bin(library: &Mutex<Library>, clearances: &[Clearance], bin: &dyn Bin, progress: &Progress) -> Result<Binned> {
    let mut binned = Binned::default();
    hold(library).check_writable()?;
    let state = hold(library).state().clone();
    let mut images = Vec::new();
    for Clearance { kept, removed } in clearances {
        let kept = kept.and_then(|kept| state.image(kept));
        match kept.filter(|kept| files(&state, kept).next().is_none()) {
            Some(kept) => {
                let path = state.path_of(kept).unwrap_or_default();
                let why = format!("it would be kept, but is not there with its bytes, so {} stay too", count(removed.len(), "other image"));
                binned.left.push((path, why));
            }
            None => images.extend(removed),
        }
    }
    binned.removed = images.len();
    if images.is_empty() {
        return Ok(binned);
    }
    binned.event = hold(library).remove_with_files(&images)?;
    progress.begin("Moving files to the bin", images.len() as u64);
    for image in images.iter().filter_map(|image| state.image(*image)) {
        progress.step()?;
        if hold(library).state().image(image.id).is_some_and(|image| image.is_live()) {
            binned.left.push((state.path_of(image).unwrap_or_default(), "the image was brought back meanwhile".to_owned()));
            continue;
        }
        for place in image.places.iter().filter(|place| place.here) {
            let path = state.full_path(place);
            match if holds(&path, place) { bin.take(&path) } else { Err("it does not hold the image any more".to_owned()) } {
                Ok(()) => binned.moved.push(path),
                Err(why) => binned.left.push((path, why)),
            }
        }
    }
    Ok(binned)
}

/// The files that hold an image.
fn files<'a>(state: &'a State, image: &'a Image) -> impl Iterator<Item = PathBuf> + 'a {
    let there = image.places.iter().filter(|place| place.here).map(|place| (state.full_path(place), place));
    there.filter(|(path, place)| holds(path, place)).map(|(path, _)| path)
}
