//! Images that are removed together with their files: these go to the bin of the system, are never
//! deleted, and come back from there with an undo.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::import::{hold, holds};
use tessera_core::library::state::{Image, Place, State};
use tessera_core::plural::count;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};
#[cfg(not(target_os = "macos"))]
use trash::TrashItem;

use super::Session;
use crate::command::Clearance;

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
        with_left(format!("{} moved to the bin of the system", count(self.moved.len(), "file")), &self.left, "left where they are")
    }
}

/// What came back from the bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    /// Files that are where they were again.
    pub files: Vec<PathBuf>,
    /// Files that are not, and why.
    pub left: Vec<(PathBuf, String)>,
}

impl PutBack {
    /// What became of the files, in words that follow those of the act.
    pub fn in_words(&self) -> String {
        with_left(format!("{} put back from the bin", count(self.files.len(), "file")), &self.left, "not put back")
    }
}

/// Words on files, and on the first of those of which they do not hold.
fn with_left(words: String, left: &[(PathBuf, String)], what: &str) -> String {
    let Some((path, why)) = left.first() else { return words };
    // What went wrong may name the file already.
    let path = display(path);
    let why = why.strip_prefix(&format!("{path}: ")).unwrap_or(why);
    format!("{words}; {} {what}: {path}: {why}", count(left.len(), "file"))
}

/// What takes files that nobody wants any more, and gives them back.
pub trait Bin: Send + Sync {
    /// Moves a file there.
    ///
    /// # Errors
    /// Why it could not be moved, in words; it is where it was then.
    fn take(&self, path: &Path) -> std::result::Result<(), String>;

    /// Puts files back where they were taken from; of several from one place the last that was.
    /// Nothing that lies there is overwritten. Returns those that it did not put back, and why.
    fn put_back(&self, files: &[PathBuf], progress: &Progress) -> Vec<(PathBuf, String)>;
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

    #[cfg(not(target_os = "macos"))]
    fn put_back(&self, files: &[PathBuf], progress: &Progress) -> Vec<(PathBuf, String)> {
        let mut there = match trash::os_limited::list() {
            Ok(there) => there,
            Err(error) => return files.iter().map(|file| (file.clone(), format!("the bin cannot be read ({error})"))).collect(),
        };
        there.sort_by_key(|item| item.time_deleted);
        let mut newest: HashMap<PathBuf, TrashItem> = there.into_iter().map(|item| (item.original_path(), item)).collect();
        let mut one = |file: &PathBuf| {
            progress.step().map_err(|_| "it was stopped before".to_owned())?;
            let item = newest.remove(&in_bin(file)).ok_or("it is not in the bin any more")?;
            trash::os_limited::restore_all([item]).map_err(|error| error.to_string())
        };
        files.iter().filter_map(|file| one(file).err().map(|why| (file.clone(), why))).collect()
    }

    #[cfg(target_os = "macos")]
    fn put_back(&self, files: &[PathBuf], _: &Progress) -> Vec<(PathBuf, String)> {
        const WHY: &str = "programs cannot take files from the bin of this system; put it back by *Put Back* there";
        files.iter().map(|file| (file.clone(), WHY.to_owned())).collect()
    }
}

/// The place that the bin has of a file: that of its folder, whatever links lead there.
#[cfg(not(target_os = "macos"))]
fn in_bin(file: &Path) -> PathBuf {
    let place = || Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?));
    place().unwrap_or_else(|| file.to_owned())
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
    /// As [`Library::check_writable`] and [`Library::note_files`].
    pub fn files_to_bin(&self, library: &Mutex<Library>, files: &[(ItemId, PathBuf)]) -> Result<Binned> {
        hold(library).check_writable()?;
        let mut binned = Binned::default();
        self.progress.begin("Moving files to the bin", files.len() as u64);
        for (image, file) in files {
            match self.progress.step().and_then(|()| self.file_to_bin(library, *image, file)) {
                Ok(()) => {
                    binned.moved.push(file.clone());
                    hold(library).note_files(*image)?;
                }
                Err(Error::Cancelled) => binned.left.push((file.clone(), "it was stopped before".to_owned())),
                Err(error) => binned.left.push((file.clone(), error.to_string())),
            }
        }
        Ok(binned)
    }

    /// Puts files of images back from the bin, to where they were.
    ///
    /// # Errors
    /// As [`Library::note_files`].
    pub fn put_back(&self, library: &Mutex<Library>, files: &[(ItemId, PathBuf)]) -> Result<PutBack> {
        let paths: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
        self.progress.begin("Putting files back", files.len() as u64);
        let left = self.bin.put_back(&paths, &self.progress);
        let mut put_back = PutBack { files: Vec::new(), left };
        let not: HashSet<PathBuf> = put_back.left.iter().map(|(path, _)| path.clone()).collect();
        for (image, path) in files.iter().filter(|(_, path)| !not.contains(path)) {
            hold(library).note_files(*image)?;
            let state = hold(library).state().clone();
            let is_place = |place: &&Place| state.full_path(place) == *path;
            if state.image(*image).and_then(|image| image.places.iter().find(is_place)).is_some_and(|place| holds(path, place)) {
                put_back.files.push(path.clone());
            } else {
                put_back.left.push((path.clone(), "what came back from the bin holds other bytes than the image".to_owned()));
            }
        }
        Ok(put_back)
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

/// The files that an undo is to put back: those of the images that it brought back which are not
/// there. Of files that were not there before either none is asked for, as long as another is.
pub fn taken(before: &State, after: &State) -> Vec<(ItemId, PathBuf)> {
    let came_back = after.images().filter(|image| before.image(image.id).is_some_and(|before| !before.is_live()));
    let files_of = |image: &Arc<Image>| {
        let is_one_there = image.places.iter().any(|place| after.full_path(place).exists());
        let may_be_in_bin = image.places.iter().filter(|place| place.here || !is_one_there).map(|place| after.full_path(place));
        may_be_in_bin.filter(|file| !file.exists()).map(|file| (image.id, file)).collect::<Vec<_>>()
    };
    came_back.flat_map(files_of).collect()
}

/// The files that hold an image.
fn files<'a>(state: &'a State, image: &'a Image) -> impl Iterator<Item = PathBuf> + 'a {
    let there = image.places.iter().filter(|place| place.here).map(|place| (state.full_path(place), place));
    there.filter(|(path, place)| holds(path, place)).map(|(path, _)| path)
}
