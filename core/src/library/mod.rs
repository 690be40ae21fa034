//! A library: a folder that remembers images, labels, captions and everything that was done, and teaches its models.
//!
//! `library.db` is precious: roots, images, labels, captions and the log of events. `cache.db` can be made again from
//! it and from the image files: elements, thumbnails, checkpoints of models. Images stay where they are and are known by
//! the hash of their bytes, so that files may be moved and renamed.
//!
//! Whatever the user does is an [`event`]: it is on disk before the call returns, it reaches every model it concerns
//! ([`apply`]), and one [`Library::undo`] takes it back everywhere.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use tessera_core::data::toys::{ToyOptions, generate};
//! use tessera_core::library::event::UserLabel;
//! use tessera_core::library::import::{ImportOptions, hold, import};
//! use tessera_core::library::search::{LibraryQuery, search};
//! use tessera_core::library::{Library, Opening};
//! use tessera_core::picture::InProcess;
//! use tessera_core::progress::Progress;
//! use tessera_core::text::TextQuery;
//!
//! let (folder, progress) = (tempfile::tempdir()?, Progress::default());
//! let images = folder.path().join("images");
//! generate(&ToyOptions { instances: 1, views: 1, side: 32, ..ToyOptions::default() }, &images, &progress)?;
//!
//! let opening = Opening::new(Arc::new(InProcess::default()), &progress);
//! let library = Mutex::new(Library::open_or_create(&folder.path().join("toys.tessera"), &opening)?);
//! import(&library, &images, &ImportOptions::default(), &progress)?;
//! let mut library = hold(&library);
//! let boat = search(&library, &LibraryQuery::words(TextQuery::parse("boat"), 1))[0].image;
//! library.label(&[boat], &UserLabel::Class("vessel".into()))?;
//! assert_eq!(library.state().image(boat).and_then(|image| image.label()), Some("vessel"));
//! library.undo()?;
//! assert_eq!(library.state().image(boat).and_then(|image| image.label()), Some("boat"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod acts;
pub mod appearance;
pub mod apply;
pub mod cache;
pub mod check;
pub mod event;
pub mod export;
pub mod features;
pub mod forget;
pub mod health;
pub mod import;
pub mod journal;
pub mod models;
pub mod relocate;
pub mod repair;
mod schema;
mod seal;
pub mod search;
pub mod snapshot;
pub mod state;
mod store;
pub mod suggest;
mod tend;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::ckm::CkmOptions;
use crate::ckm::presets::Preset;
use crate::descriptor::Descriptor;
use crate::error::{Error, Result, contained};
use crate::ids::ItemId;
use crate::picture::Decoder;
use crate::progress::Progress;
use crate::storage::{Disk, Storage};
use appearance::Appearances;
use apply::{Model, ModelUpdate};
use cache::Cache;
use event::{Change, EventId, EventKind};
use features::FeatureStore;
use models::recall::CaptionMemory;
use models::recogniser::Recogniser;
use models::words::Words;
use repair::remove;
use state::State;
use store::Store;

/// The file that makes a folder a library.
pub const DATABASE: &str = "library.db";
/// The file of everything that can be made again.
pub const CACHE: &str = "cache.db";
/// The folder of saved models.
pub const MODELS: &str = "models";
const LOCK: &str = "lock";
const LATER: &str = "the change is saved, and learned when the library is next opened";
/// Events after which models are kept again.
const CHECKPOINT_EVERY: u64 = 500;

/// An open library. One process has it at a time.
pub struct Library {
    folder: PathBuf,
    store: Store,
    cache: Cache,
    state: State,
    recogniser: Recogniser,
    words: Words,
    recall: CaptionMemory,
    appearances: Appearances,
    decoder: Arc<dyn Decoder>,
    version: String,
    kept_at: Option<EventId>,
    /// Whether a model lacks something that happened: it is then neither taught nor kept until it has caught up.
    behind: bool,
    mended: Vec<String>,
    remarks: Vec<String>,
    storage: Arc<dyn Storage>,
    // Held as long as the library is open; the system frees it with the process, however that ends.
    _lock: Arc<File>,
}

/// What a library was opened with.
pub struct Opening<'a> {
    /// Who decodes.
    pub decoder: Arc<dyn Decoder>,
    /// How the recogniser is built; the preset for all kinds of elements unless given.
    pub options: CkmOptions,
    /// Where files beside the database are kept.
    pub storage: Arc<dyn Storage>,
    /// Counts and asks.
    pub progress: &'a Progress,
}

impl<'a> Opening<'a> {
    /// With the usual recogniser.
    pub fn new(decoder: Arc<dyn Decoder>, progress: &'a Progress) -> Self {
        Self { decoder, options: Preset::Mixed.options(), storage: Arc::new(Disk), progress }
    }
}

/// Whether there is a library at `path`.
pub fn is_library(path: &Path) -> bool {
    path.join(DATABASE).is_file()
}

impl Library {
    /// Opens the library in `folder`.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process has it, [`Error::Data`] when it is none or damaged, [`Error::Io`],
    /// [`Error::Cancelled`].
    ///
    /// # Complexity
    /// O(images) for the state and the elements of images with a class, and O(events since the last checkpoint).
    pub fn open(folder: &Path, opening: &Opening<'_>) -> Result<Self> {
        if let Err(error) = fs::metadata(folder.join(DATABASE))
            && error.kind() == std::io::ErrorKind::PermissionDenied
        {
            return Err(Error::io("read", folder)(error));
        }
        if !is_library(folder) && !has_lost_its_database(folder) {
            let found = if folder.is_dir() { "a folder without one" } else { "nothing of that name" };
            let advice = "name the folder of a library, or make one with `tessera import LIBRARY FOLDER`";
            return Err(Error::data(folder, format!("a library with a `{DATABASE}`"), found, advice));
        }
        Self::start(folder, opening, false)
    }

    /// Opens the library in `folder`, or makes one in a folder that is new or empty.
    ///
    /// # Errors
    /// As [`Library::open`]; [`Error::Data`] when the folder holds other things.
    pub fn open_or_create(folder: &Path, opening: &Opening<'_>) -> Result<Self> {
        if is_library(folder) || has_lost_its_database(folder) {
            return Self::open(folder, opening);
        }
        let is_ours = |name: &std::ffi::OsStr| name == LOCK || name == CACHE || name == journal::JOURNAL;
        if let Ok(entries) = fs::read_dir(folder)
            && let Some(other) = entries.flatten().find(|entry| !is_ours(&entry.file_name()))
            // Another program may have made it a moment ago.
            && !is_library(folder)
        {
            let found = format!("a folder with other things in it, such as `{}`", other.file_name().to_string_lossy());
            return Err(Error::data(folder, "a new name, an empty folder or a library", found, "choose another name for the library"));
        }
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        Self::start(folder, opening, true)
    }

    /// Opens the library in `folder` with a cache that is made anew from the images and the log. What `keep` gives says whether
    /// it stays; otherwise the one before is put back. No other program has the library meanwhile.
    ///
    /// # Errors
    /// As [`Library::open`], whatever `keep` gives, and [`Error::Io`] when files cannot be renamed; the cache from before is put
    /// back first.
    pub fn with_new_cache<T>(folder: &Path, opening: &Opening<'_>, keep: impl FnOnce(&mut Self) -> Result<Option<T>>) -> Result<Option<T>> {
        let lock = Arc::new(lock(folder)?);
        let places = of_database(folder, CACHE).map(|place| {
            let mut aside = place.clone().into_os_string();
            aside.push(".before");
            (place, PathBuf::from(aside))
        });
        let put_aside = |(place, aside): &(PathBuf, PathBuf)| {
            if place.exists() { fs::rename(place, aside).map_err(Error::io("rename", place)) } else { remove(aside) }
        };
        let put_back = |(place, aside): &(PathBuf, PathBuf)| {
            if aside.exists() { fs::rename(aside, place).map_err(Error::io("rename", aside)) } else { remove(place) }
        };
        if let Err(error) = places.iter().try_for_each(put_aside) {
            // Those that are aside now have no others in their place.
            let _ = places.iter().filter(|(place, _)| !place.exists()).try_for_each(put_back);
            return Err(error);
        }
        // What was opened is closed before its files are dealt with.
        let outcome = Self::start_locked(Arc::clone(&lock), folder, opening, false).and_then(|mut library| keep(&mut library));
        match outcome {
            Ok(Some(_)) => places.iter().try_for_each(|(_, aside)| remove(aside))?,
            _ => places.iter().try_for_each(put_back)?,
        }
        outcome
    }

    fn start(folder: &Path, opening: &Opening<'_>, create: bool) -> Result<Self> {
        let lock = lock(folder)?;
        if has_lost_its_database(folder) {
            let path = folder.join(DATABASE);
            return Err(Error::data(&path, "the database of a library", "only its journal and snapshots", store::REPAIR));
        }
        remove_left_overs(folder)?;
        Self::start_locked(Arc::new(lock), folder, opening, create)
    }

    fn start_locked(lock: Arc<File>, folder: &Path, opening: &Opening<'_>, create: bool) -> Result<Self> {
        let mut store = Store::open(&folder.join(DATABASE), create, Arc::clone(&opening.storage))?;
        let cache = Cache::open(&folder.join(CACHE))?;
        opening.progress.begin("Opening the library", 0);
        let mut state = store.load()?;
        let (mended, remarks) = store.tend_journal(&mut state)?;
        let mut library = Self {
            folder: folder.to_owned(),
            store,
            cache,
            state,
            recogniser: Recogniser::new(opening.options.clone())?,
            words: Words::default(),
            recall: CaptionMemory::new()?,
            appearances: Appearances::default(),
            decoder: Arc::clone(&opening.decoder),
            version: features::version(&opening.options),
            kept_at: None,
            behind: true,
            mended,
            remarks,
            storage: Arc::clone(&opening.storage),
            _lock: lock,
        };
        match library.catch_up(opening.progress) {
            // The log was read already: it is the cache that is damaged.
            Err(Error::Data { path, .. }) if path == library.cache.path() => {
                let path = path.clone();
                drop(std::mem::replace(&mut library.cache, Cache::passing()?));
                Cache::put_aside(&path)?;
                library.cache = Cache::open(&path)?;
                library.mended.push(format!("{CACHE} was damaged, and was made again from the images and the log"));
                library.catch_up(opening.progress)?;
            }
            outcome => outcome?,
        }
        library.drop_snapshots()?;
        Ok(library)
    }

    /// Brings the models up to date.
    fn catch_up(&mut self, progress: &Progress) -> Result<()> {
        self.behind = true;
        let Self { store, cache, state, recogniser, words, recall, decoder, version, .. } = self;
        let options = recogniser.ckm().options().clone();
        let features = FeatureStore { cache, decoder: &**decoder, options: &options, version };
        let mut kept_at = state.last_event();
        for model in [recogniser as &mut dyn Model, words, recall] {
            let checkpoint = cache.checkpoint(&model.name())?;
            kept_at = kept_at.min(checkpoint.as_ref().map(|(at, _)| *at));
            apply::catch_up(model, checkpoint, store, state, &features, progress)?;
        }
        self.kept_at = kept_at;
        self.behind = false;
        Ok(())
    }

    /// Reads everything anew after a mistake in the program has ended work on this library in the middle.
    fn recover(&mut self) {
        let outcome = contained(|| {
            self.state = self.store.load()?;
            self.catch_up(&Progress::default())
        });
        if let Some(words) = outcome.map_or_else(Some, |outcome| outcome.err().map(|error| error.to_string())) {
            self.behind = true;
            self.remarks.push(format!("{words}; {LATER}"));
        }
    }

    /// The folder of the library.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Everything it holds at this moment. Clones are cheap.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The recogniser as it stands.
    pub fn recogniser(&self) -> &Recogniser {
        &self.recogniser
    }

    /// The index of words as it stands.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The caption memory as it stands.
    pub fn recall(&self) -> &CaptionMemory {
        &self.recall
    }

    /// The thumbnail of an image as JPEG; none before its file could be read.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn thumbnail(&self, image: ItemId) -> Result<Option<Vec<u8>>> {
        match self.state.image(image).and_then(|image| image.content) {
            Some(content) => self.cache.thumbnail(content.hash),
            None => Ok(None),
        }
    }

    /// The looks of the images that take part, for finding near copies.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn looks(&self) -> Result<BTreeMap<ItemId, Descriptor>> {
        let looks = self.cache.looks()?;
        Ok(self.state.images().filter_map(|image| Some((image.id, *looks.get(&image.content?.hash)?))).collect())
    }

    /// Lets files that brought decoders down be tried again.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn retry_skipped(&self) -> Result<()> {
        self.cache.clear_quarantine()
    }

    /// Keeps a result that can be computed again, such as a report on the recogniser.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn keep_result(&self, name: &str, text: &str) -> Result<()> {
        self.cache.put_result(name, text)
    }

    /// A result that was kept.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn result(&self, name: &str) -> Result<Option<String>> {
        self.cache.result(name)
    }

    /// Writes what happened, on disk when this returns, and teaches the models. Nothing is written when nothing changed.
    fn commit(&mut self, act: Option<EventId>, kind: EventKind, words: &str, changes: Vec<Change>) -> Result<Option<EventId>> {
        if changes.is_empty() { Ok(None) } else { self.append_and_teach(act, kind, words, changes).map(Some) }
    }

    fn append_and_teach(&mut self, act: Option<EventId>, kind: EventKind, words: &str, changes: Vec<Change>) -> Result<EventId> {
        let event = self.store.append(now(), act, kind, words, changes)?;
        let images = apply::touched(&event);
        let before = self.state.part(&images);
        apply::step(&mut self.state, &event);
        self.teach(&before, &images);
        if self.kept_at.is_none_or(|at| event.id.0 >= at.0 + CHECKPOINT_EVERY)
            && let Err(error) = self.keep_models()
        {
            self.remarks.push(error.to_string());
        }
        Ok(event.id)
    }

    /// What went wrong beside acts that were done, since this was last asked.
    pub fn take_remarks(&mut self) -> Vec<String> {
        let mut all = self.take_mended();
        all.append(&mut self.remarks);
        all
    }

    /// What opening it has mended, in sentences; each is given once.
    pub fn take_mended(&mut self) -> Vec<String> {
        std::mem::take(&mut self.mended)
    }

    /// Teaches the models a step that concerns some images. What is durable has happened: models that cannot follow are
    /// taught anew from their last checkpoint, and if that fails too, when the library is next opened.
    fn teach(&mut self, before: &State, images: &[ItemId]) {
        if self.behind {
            return;
        }
        let words = match contained(|| self.follow(before, images)) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(words) => words,
        };
        // A lesson of a few images is never cut short, and so is this.
        if !matches!(contained(|| self.catch_up(&Progress::default())), Ok(Ok(()))) {
            self.remarks.push(format!("{words}; {LATER}"));
        }
    }

    fn follow(&mut self, before: &State, images: &[ItemId]) -> Result<()> {
        let Self { cache, state, recogniser, words, recall, decoder, version, .. } = self;
        let options = recogniser.ckm().options().clone();
        let features = FeatureStore { cache, decoder: &**decoder, options: &options, version };
        let progress = Progress::default();
        let lesson = ModelUpdate { before, after: state, images, features: &features, progress: &progress };
        for model in [recogniser as &mut dyn Model, words, recall] {
            model.learn(&lesson)?;
        }
        Ok(())
    }

    /// Keeps the models as they stand, so that the next opening is quick.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn keep_models(&mut self) -> Result<()> {
        let Some(at) = self.state.last_event().filter(|_| !self.behind) else { return Ok(()) };
        let checkpoints = self.models().map(|model| (model.name(), model.checkpoint(&self.state)));
        for (name, bytes) in checkpoints {
            self.cache.put_checkpoint(&name, at, &bytes)?;
        }
        self.kept_at = Some(at);
        Ok(())
    }

    /// Each model's name and everything it learned, as bytes.
    pub fn everything_learned(&self) -> Vec<(String, Vec<u8>)> {
        self.models().into_iter().map(|model| (model.name(), model.everything(&self.state))).collect()
    }

    fn models(&self) -> [&dyn Model; 3] {
        [&self.recogniser, &self.words, &self.recall]
    }

    /// Deletes the library if nothing was ever entered into it, and closes it otherwise. Whoever waited for it finds none.
    ///
    /// # Errors
    /// As [`Library::close`].
    pub fn close_or_take_away(self) -> Result<()> {
        if self.state.roots().next().is_some() || self.state.last_event().is_some() {
            return self.close();
        }
        let Self { folder, store, cache, _lock: lock, .. } = self;
        drop((store, cache));
        let databases = [DATABASE, CACHE].into_iter().flat_map(|name| of_database(&folder, name));
        for file in databases.chain([folder.join(journal::JOURNAL)]) {
            // What cannot be taken away is an empty library, which does no harm.
            let _ = fs::remove_file(file);
        }
        // Whoever has opened it and waits for it notices that it is not the library's any more.
        if cfg!(unix) {
            let _ = fs::remove_file(folder.join(LOCK));
        }
        let _ = fs::remove_dir(&folder);
        drop(lock);
        Ok(())
    }

    /// Keeps the models and brings everything on disk into order.
    ///
    /// # Errors
    /// [`Error::Io`]: the library is closed all the same, and nothing that was acknowledged is lost.
    pub fn close(mut self) -> Result<()> {
        let kept = if self.kept_at == self.state.last_event() { Ok(()) } else { self.keep_models() };
        let copied = self.take_snapshot_if_due();
        self.store.settle();
        kept.and(copied)
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// Whether there is all of a library but its database.
pub fn has_lost_its_database(folder: &Path) -> bool {
    let told = || fs::read(folder.join(journal::JOURNAL)).is_ok_and(|text| journal::tells_events(&text));
    // A new database is empty until its log is brought in.
    let is_filled = |name: &str| fs::metadata(folder.join(name)).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    let is_there = is_filled(DATABASE) || (is_library(folder) && is_filled("library.db-wal"));
    !is_there && (!snapshot::snapshots(folder).is_empty() || told())
}

/// Deletes what a program that was killed was about to put in place. Whoever does this has the lock.
fn remove_left_overs(folder: &Path) -> Result<()> {
    for folder in [folder, &folder.join(snapshot::SNAPSHOTS)] {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_ours = ["library.db", "cache.db", journal::JOURNAL].iter().any(|ours| name.starts_with(ours));
            let is_part = name.ends_with(".part") && (is_ours || folder.ends_with(snapshot::SNAPSHOTS));
            if (is_part || (is_ours && name.ends_with(".before"))) && path.is_file() {
                fs::remove_file(&path).map_err(Error::io("delete", &path))?;
            }
        }
    }
    let scratch = folder.join(repair::SCRATCH);
    match fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("delete", &scratch)(error)),
        _ => Ok(()),
    }
}

/// A database with the two files that SQLite keeps beside it.
fn of_database(folder: &Path, name: &str) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| folder.join(format!("{name}{ending}")))
}

/// Whether an open file is the one of that name still.
#[cfg(unix)]
fn is_in_place(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |meta: std::io::Result<fs::Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    number(file.metadata()).is_some_and(|ours| Some(ours) == number(fs::metadata(path)))
}

#[cfg(not(unix))]
fn is_in_place(_: &File, _: &Path) -> bool {
    true
}

/// Takes the lock of a library, which says for people who has it.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) if !is_in_place(&file, &path) => {
            Err(Error::Busy { path: folder.to_owned(), holder: "a program that was just taking it away".into() })
        }
        Ok(()) => {
            let words = format!("process {}\n", std::process::id());
            // For people; the lock is what counts.
            let _ = file.set_len(0).and_then(|()| file.write_all(words.as_bytes()));
            Ok(file)
        }
        Err(fs::TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            let holder = if holder.is_empty() { "another program".into() } else { holder };
            Err(Error::Busy { path: folder.to_owned(), holder })
        }
        Err(fs::TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
    }
}
