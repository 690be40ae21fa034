//! Images that are removed together with their files: these go to the bin of the system, are never
//! deleted, and come back from there with an undo.

#[cfg(not(target_os = "macos"))]
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::event::EventId;
use tessera_core::library::import::{hold, holds};
#[cfg(not(target_os = "macos"))]
use tessera_core::library::spellings;
use tessera_core::library::state::{Image, State};
use tessera_core::plural::count;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};
#[cfg(not(target_os = "macos"))]
use trash::{TrashItem, TrashItemSize};

use super::Session;

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
    /// Of these, with their images: files that were not reached before it was stopped.
    pub stopped: Vec<(ItemId, PathBuf)>,
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

    /// Puts files of these lengths back where they were taken from; of several from one place the
    /// last that was. Nothing that lies there is overwritten. Tells of each what became of it.
    fn put_back(&self, files: &[(PathBuf, u64)], progress: &Progress) -> Vec<Returned>;
}

/// What became of a file that a bin was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returned {
    /// It is where it was.
    Back,
    /// The bin has no file of this length from there.
    NotThere,
    /// It was not reached before it was stopped.
    Stopped,
    /// Why it was not put back, in words.
    Refused(String),
}

/// The bin of the system.
pub struct SystemBin;

impl Bin for SystemBin {
    fn take(&self, path: &Path) -> std::result::Result<(), String> {
        trash::delete(path).map_err(|error| format!("this system has no bin that takes it ({})", words(&error)))
    }

    #[cfg(not(target_os = "macos"))]
    fn put_back(&self, files: &[(PathBuf, u64)], progress: &Progress) -> Vec<Returned> {
        let mut there = match trash::os_limited::list() {
            Ok(there) => there,
            Err(error) => return vec![Returned::Refused(format!("the bin cannot be read ({})", words(&error))); files.len()],
        };
        there.sort_by_key(|item| item.time_deleted);
        let mut by_place: HashMap<PathBuf, Vec<TrashItem>> = HashMap::new();
        for item in there {
            by_place.entry(plain(item.original_path())).or_default().push(item);
        }
        let mut one = |(file, length): &(PathBuf, u64)| {
            if progress.step().is_err() {
                return Returned::Stopped;
            }
            let is_it = |item: &TrashItem| trash::os_limited::metadata(item).is_ok_and(|meta| meta.size == TrashItemSize::Bytes(*length));
            let items = spellings(file).map(plain).find(|place| by_place.contains_key(place)).and_then(|place| by_place.get_mut(&place));
            let found = items.and_then(|items| items.iter().rposition(is_it).map(|at| items.remove(at)));
            found.map_or(Returned::NotThere, |item| give_back(item, file))
        };
        files.iter().map(&mut one).collect()
    }

    #[cfg(target_os = "macos")]
    fn put_back(&self, files: &[(PathBuf, u64)], _: &Progress) -> Vec<Returned> {
        const WHY: &str = "programs cannot take files from the bin of this system; put it back by *Put Back* there";
        vec![Returned::Refused(WHY.to_owned()); files.len()]
    }
}

/// What went wrong with the bin of the system.
fn words(error: &trash::Error) -> String {
    match error {
        #[cfg(all(unix, not(target_os = "macos")))]
        trash::Error::FileSystem { path, source } => format!("{}: {source}", display(path)),
        trash::Error::Unknown { description } | trash::Error::Os { description, .. } => description.clone(),
        other => other.to_string(),
    }
}

#[cfg(not(target_os = "macos"))]
fn give_back(item: TrashItem, to: &Path) -> Returned {
    let is_free = to.symlink_metadata().is_err();
    match trash::os_limited::restore_all([item]) {
        Ok(()) => Returned::Back,
        Err(trash::Error::RestoreCollision { .. }) => Returned::Refused("another file lies there".to_owned()),
        Err(error) => {
            // An attempt that failed may have left an empty file in its place.
            if is_free && fs::metadata(to).is_ok_and(|meta| meta.len() == 0) {
                let _ = fs::remove_file(to);
            }
            Returned::Refused(format!("the bin does not give it back ({})", words(&error)))
        }
    }
}

/// A path without the sign of long paths that Windows puts before canonical ones.
#[cfg(not(target_os = "macos"))]
fn plain(path: PathBuf) -> PathBuf {
    if !cfg!(windows) {
        return path;
    }
    path.to_str().and_then(|text| text.strip_prefix(r"\\?\")).map(PathBuf::from).unwrap_or(path)
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
    /// As [`Library::clear`]; [`tessera_core::Error::Cancelled`], after which the files
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
                Err(Error::Cancelled) => binned.left.push((file.clone(), STOPPED.to_owned())),
                Err(error) => binned.left.push((file.clone(), error.to_string())),
            }
        }
        Ok(binned)
    }

    /// Puts files of images back from the bin, to where they were. Those that never went there are
    /// left alone.
    ///
    /// # Errors
    /// As [`Library::note_files`].
    pub fn put_back(&self, library: &Mutex<Library>, files: &[(ItemId, PathBuf)]) -> Result<PutBack> {
        let state = hold(library).state().clone();
        let place_of = |image: ItemId, path: &PathBuf| state.image(image)?.places.iter().find(|place| state.full_path(place) == *path);
        let wanted = files.iter().filter_map(|(image, path)| Some((*image, path, place_of(*image, path)?)));
        let wanted: Vec<_> = wanted.filter(|(_, path, place)| !holds(path, place)).collect();
        self.progress.begin("Putting files back", wanted.len() as u64);
        let asked: Vec<(PathBuf, u64)> = wanted.iter().map(|(_, path, place)| ((*path).clone(), place.bytes)).collect();
        let mut put_back = PutBack::default();
        for ((image, path, place), returned) in wanted.into_iter().zip(self.bin.put_back(&asked, &self.progress)) {
            let why = match returned {
                Returned::Back if holds(path, place) => {
                    hold(library).note_files(image)?;
                    put_back.files.push(path.clone());
                    continue;
                }
                Returned::NotThere if path.exists() => continue,
                Returned::Back => "what came back from the bin holds other bytes than the image".to_owned(),
                Returned::NotThere => "it is not in the bin any more".to_owned(),
                Returned::Stopped => {
                    put_back.stopped.push((image, path.clone()));
                    STOPPED.to_owned()
                }
                Returned::Refused(why) => why,
            };
            put_back.left.push((path.clone(), why));
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

/// Why a file is where it was that was not reached.
const STOPPED: &str = "it was stopped before";

/// Why a file stays whose image an undo has brought back.
const BACK: &str = "the image was brought back meanwhile";

fn remove_to_bin(library: &Mutex<Library>, clearances: &[Clearance], bin: &dyn Bin, progress: &Progress) -> Result<Binned> {
    let is_back = |image: &Image| hold(library).state().image(image.id).is_some_and(|image| image.is_live());
    let mut binned = Binned::default();
    hold(library).check_writable()?;
    let state = hold(library).state().clone();
    let mut cleared = Vec::new();
    for clearance in clearances {
        let Clearance { kept, removed } = clearance;
        let kept = kept.and_then(|kept| state.image(kept));
        match kept.filter(|kept| files(&state, kept).next().is_none()) {
            Some(kept) => {
                let path = state.path_of(kept).unwrap_or_default();
                let why = format!("it would be kept, but is not there with its bytes, so {} stay too", count(removed.len(), "other image"));
                binned.left.push((path, why));
            }
            None => cleared.push(clearance.clone()),
        }
    }
    let images = Clearance::going(&cleared);
    binned.removed = images.len();
    if images.is_empty() {
        return Ok(binned);
    }
    binned.event = hold(library).clear(&cleared, true)?;
    progress.begin("Moving files to the bin", images.len() as u64);
    for image in images.iter().filter_map(|image| state.image(*image)) {
        progress.step()?;
        if is_back(image) {
            binned.left.push((state.path_of(image).unwrap_or_default(), BACK.to_owned()));
            continue;
        }
        for place in image.files() {
            let path = state.full_path(place);
            match if holds(&path, place) { bin.take(&path) } else { Err("it does not hold the image any more".to_owned()) } {
                // An undo that came meanwhile has not found it in the bin.
                Ok(()) if is_back(image) => {
                    let returned = bin.put_back(&[(path.clone(), place.bytes)], progress);
                    let why = if returned == [Returned::Back] { BACK } else { "the image was brought back, its file is in the bin" };
                    binned.left.push((path, why.to_owned()));
                }
                Ok(()) => binned.moved.push(path),
                Err(why) => binned.left.push((path, why)),
            }
        }
    }
    Ok(binned)
}

/// The files of images that an undo has brought back, which may be in the bin: those that were
/// there when the images were removed, or all of an image of which none is known to be there.
pub fn taken(before: &State, after: &State) -> Vec<(ItemId, PathBuf)> {
    let came_back = after.images().filter(|image| before.image(image.id).is_some_and(|before| !before.is_live()));
    let files_of = |image: &Arc<Image>| {
        let is_here = image.is_here();
        let places = image.places.iter().filter(|place| place.here || !is_here);
        places.map(|place| (image.id, after.full_path(place))).collect::<Vec<_>>()
    };
    came_back.flat_map(files_of).collect()
}

/// The files that hold an image.
fn files<'a>(state: &'a State, image: &'a Image) -> impl Iterator<Item = PathBuf> + 'a {
    let there = image.files().map(|place| (state.full_path(place), place));
    there.filter(|(path, place)| holds(path, place)).map(|(path, _)| path)
}
