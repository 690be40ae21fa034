//! A library: a folder that remembers images, labels, captions and everything that was done, and
//! teaches its models.
//!
//! `library.db` is precious: roots, images, labels, captions and the log of events. `cache.db` can
//! be made again from it and from the image files: elements, thumbnails, checkpoints of models.
//! Images stay where they are and are known by the hash of their bytes, so that files may be moved
//! and renamed.
//!
//! Whatever the user does is an [`event`]: it is on disk before the call returns, it reaches every
//! model ([`models::Models`]), and one [`Library::undo`] takes it back everywhere.
//!
//! [`Library`] itself opens and closes, holds the lock, commits events, and keeps store, state and
//! models in step. What there is to do with it stands in a file each: what acts come to
//! ([`draft::Acts`]), [`import`], [`relocate`], and so on. Those work on the parts they are given,
//! which the file `doors` hands them.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use tessera_core::data::toys::{ToyOptions, generate};
//! use tessera_core::library::event::UserLabel;
//! use tessera_core::library::import::{ImportOptions, hold, import};
//! use tessera_core::library::search::{LibraryQuery, search};
//! use tessera_core::library::{Library, LibraryOptions};
//! use tessera_core::picture::InProcess;
//! use tessera_core::progress::Progress;
//! use tessera_core::text::TextQuery;
//!
//! let (folder, progress) = (tempfile::tempdir()?, Progress::default());
//! let images = folder.path().join("images");
//! generate(&ToyOptions { instances: 1, views: 1, side: 32, ..ToyOptions::default() }, &images, &progress)?;
//!
//! let opening = LibraryOptions::new(Arc::new(InProcess::default()), &progress);
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
mod apply;
pub mod cache;
mod check;
mod classes;
mod doors;
pub mod draft;
pub mod event;
mod export;
pub mod features;
mod files;
mod forget;
pub mod health;
mod history;
pub mod import;
pub mod journal;
mod lock;
pub mod models;
pub mod relocate;
pub mod repair;
pub mod search;
pub mod snapshot;
pub mod state;
mod store;
pub mod suggest;
mod tend;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::ckm::CkmOptions;
use crate::ckm::presets::Preset;
use crate::error::{Error, Result, contained};
use crate::ids::ItemId;
use crate::picture::Decoder;
use crate::progress::Progress;
use crate::storage::{Disk, Storage};
use appearance::Appearances;
use cache::Cache;
use draft::{Acts, Draft};
use event::{EventId, EventKind, RootId};
use features::FeatureStore;
use files::{now, of_database, remove_left_overs, while_aside};
use forget::Purge;
use models::{ModelUpdate, Models};
use snapshot::Snapshots;
use state::{Place, Root, State};
use store::Store;

pub use files::{CACHE, DATABASE, MODELS, is_library};
pub use repair::has_lost_its_database;

const LATER: &str = "the change is saved, and learned when the library is next opened";

/// An open library. One process has it at a time.
pub struct Library {
    folder: PathBuf,
    store: Store,
    cache: Cache,
    state: State,
    models: Models,
    appearances: Appearances,
    decoder: Arc<dyn Decoder>,
    /// How the recogniser is built, and the name under which what it sees of images is kept.
    options: CkmOptions,
    version: String,
    mended: Vec<String>,
    remarks: Vec<String>,
    storage: Arc<dyn Storage>,
    // Held as long as the library is open; the system frees it with the process, however that ends.
    _lock: Arc<File>,
}

/// What a library was opened with.
pub struct LibraryOptions<'a> {
    /// Who decodes.
    pub decoder: Arc<dyn Decoder>,
    /// How the recogniser is built; the preset for all kinds of elements unless given.
    pub options: CkmOptions,
    /// Where files beside the database are kept.
    pub storage: Arc<dyn Storage>,
    /// Reports progress and carries cancellation.
    pub progress: &'a Progress,
}

impl<'a> LibraryOptions<'a> {
    /// With the usual recogniser.
    pub fn new(decoder: Arc<dyn Decoder>, progress: &'a Progress) -> Self {
        Self { decoder, options: Preset::Mixed.options(), storage: Arc::new(Disk), progress }
    }
}

/// The library, for a moment. After a panic of a thread that had it, everything is read from its
/// files again.
pub fn hold(library: &Mutex<Library>) -> MutexGuard<'_, Library> {
    library.lock().unwrap_or_else(|poisoned| {
        let mut held = poisoned.into_inner();
        held.recover();
        library.clear_poison();
        held
    })
}

/// Opening and closing.
impl Library {
    /// Opens the library in `folder`.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process has it, [`Error::Data`] when it is none or damaged,
    /// [`Error::Io`], [`Error::Cancelled`].
    ///
    /// # Complexity
    /// O(images) for the state and the elements of images with a class, and O(events since the last
    /// checkpoint).
    pub fn open(folder: &Path, opening: &LibraryOptions<'_>) -> Result<Self> {
        if let Err(error) = fs::metadata(folder.join(DATABASE))
            && error.kind() == ErrorKind::PermissionDenied
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
    pub fn open_or_create(folder: &Path, opening: &LibraryOptions<'_>) -> Result<Self> {
        if is_library(folder) || has_lost_its_database(folder) {
            return Self::open(folder, opening);
        }
        let is_ours = |name: &std::ffi::OsStr| name == lock::LOCK || name == CACHE || name == journal::JOURNAL;
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

    /// Opens the library in `folder` with a cache that is made anew from the images and the log.
    /// What `keep` gives says whether it stays; otherwise the one before is put back. No other
    /// program has the library meanwhile.
    ///
    /// # Errors
    /// As [`Library::open`], whatever `keep` gives, and [`Error::Io`] when files cannot be renamed;
    /// the cache from before is put back first.
    pub fn with_new_cache<T>(
        folder: &Path,
        opening: &LibraryOptions<'_>,
        keep: impl FnOnce(&mut Self) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let lock = Arc::new(lock::take(folder)?);
        // The library is closed again before its files are renamed or deleted.
        while_aside(&of_database(folder, CACHE), || {
            Self::start_locked(Arc::clone(&lock), folder, opening, false).and_then(|mut library| keep(&mut library))
        })
    }

    fn start(folder: &Path, opening: &LibraryOptions<'_>, create: bool) -> Result<Self> {
        let lock = lock::take(folder)?;
        if has_lost_its_database(folder) {
            let path = folder.join(DATABASE);
            return Err(Error::data(&path, "the database of a library", "only its journal and snapshots", store::REPAIR));
        }
        remove_left_overs(folder)?;
        Self::start_locked(Arc::new(lock), folder, opening, create)
    }

    fn start_locked(lock: Arc<File>, folder: &Path, opening: &LibraryOptions<'_>, create: bool) -> Result<Self> {
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
            models: Models::new(&opening.options)?,
            appearances: Appearances::default(),
            decoder: Arc::clone(&opening.decoder),
            options: opening.options.clone(),
            version: features::version(&opening.options),
            mended,
            remarks,
            storage: Arc::clone(&opening.storage),
            _lock: lock,
        };
        match library.catch_up(opening.progress) {
            // The log was read without an error, so it is the cache that is damaged.
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
        library.snapshots().drop_outdated(&library.store)?;
        Ok(library)
    }

    /// Keeps the models and brings everything on disk into order.
    ///
    /// # Errors
    /// [`Error::Io`]: the library is closed all the same, and nothing that was acknowledged is
    /// lost.
    pub fn close(mut self) -> Result<()> {
        let kept = if self.models.are_kept(&self.state) { Ok(()) } else { self.keep_models() };
        let copied = self.snapshots().take_if_due(&self.store, self.state.last_event());
        self.store.settle();
        kept.and(copied)
    }

    /// Deletes the library if nothing was ever entered into it, and closes it otherwise. Whoever
    /// waited for it finds none.
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
            // A file that cannot be deleted is part of an empty library, which does no harm.
            let _ = fs::remove_file(file);
        }
        // A program that has opened the lock and waits for it notices that it is not the library's
        // any more.
        if cfg!(unix) {
            let _ = fs::remove_file(folder.join(lock::LOCK));
        }
        let _ = fs::remove_dir(&folder);
        drop(lock);
        Ok(())
    }

    /// Reads everything anew after a mistake in the program has ended work on this library in the
    /// middle.
    fn recover(&mut self) {
        let outcome = contained(|| {
            self.models.outdate();
            self.state = self.store.load()?;
            self.catch_up(&Progress::default())
        });
        if let Some(words) = outcome.map_or_else(Some, |outcome| outcome.err().map(|error| error.to_string())) {
            self.remarks.push(format!("{words}; {LATER}"));
        }
    }
}

/// Its parts, for those who work on them.
impl Library {
    /// The folder of the library.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Everything it holds at this moment. Clones are cheap.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The models that follow it, as they stand.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Where the elements of its images come from.
    pub fn features(&self) -> FeatureStore<'_> {
        FeatureStore { cache: &self.cache, decoder: &*self.decoder, options: &self.options, version: &self.version }
    }

    /// What acts come to now, without doing them.
    pub fn acts(&self) -> Acts<'_> {
        Acts { library: &self.folder, state: &self.state }
    }

    fn decoder(&self) -> &Arc<dyn Decoder> {
        &self.decoder
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn cache(&self) -> &Cache {
        &self.cache
    }

    fn snapshots(&self) -> Snapshots<'_> {
        Snapshots { library: &self.folder, storage: &*self.storage }
    }
}

/// What changes it: store, state and models in step.
impl Library {
    /// Writes what happened, on disk when this returns, and teaches the models. Nothing is written
    /// when nothing changed.
    fn commit(&mut self, act: Option<EventId>, kind: EventKind, draft: Draft) -> Result<Option<EventId>> {
        if draft.changes.is_empty() { Ok(None) } else { self.append(act, kind, draft).map(Some) }
    }

    fn append(&mut self, act: Option<EventId>, kind: EventKind, draft: Draft) -> Result<EventId> {
        let event = self.store.append(now(), act, kind, &draft.words, draft.changes)?;
        let images = event.images();
        let before = self.state.part(&images);
        self.state.step(&event);
        self.teach(&before, &images);
        if self.models.are_due(event.id)
            && let Err(error) = self.keep_models()
        {
            self.remarks.push(error.to_string());
        }
        Ok(event.id)
    }

    /// The root at this path, which is entered when it is new.
    fn enter_root(&mut self, root: Root) -> Result<RootId> {
        let id = self.store.root(&root)?;
        Arc::make_mut(&mut self.state.roots).insert(id, root);
        Ok(id)
    }

    /// Enters places with images; each comes with whichever image had it before.
    fn put_places(&mut self, places: &[(ItemId, Place, Option<ItemId>)]) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        self.store.put_places(&places.iter().map(|(image, place, _)| (*image, place)).collect::<Vec<_>>())?;
        let before = self.state.clone();
        for (id, place, former) in places {
            self.state.move_place(*id, place.clone(), *former);
        }
        // Models use the names of files, so they have to learn this too.
        let images: BTreeSet<ItemId> = places.iter().flat_map(|(id, _, former)| [Some(*id), *former]).flatten().collect();
        self.teach(&before, &images.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    /// Takes places from their images.
    fn drop_places(&mut self, places: &[(ItemId, RootId, PathBuf)]) -> Result<()> {
        self.store.drop_places(&places.iter().map(|(_, root, path)| (*root, path.clone())).collect::<Vec<_>>())?;
        let before = self.state.clone();
        for (id, root, path) in places {
            self.state.edit(*id).places.retain(|place| place.root != *root || place.path != *path);
        }
        self.teach(&before, &places.iter().map(|(id, ..)| *id).collect::<Vec<_>>());
        Ok(())
    }

    /// Forgets images: their rows, their part in every event, their features and thumbnails are
    /// purged from the files of the library, and the models learn everything else from the first
    /// event on. Afterwards each model is equal, byte for byte, to one that never saw them. The
    /// image files themselves stay where they are; a fingerprint keeps later imports from taking
    /// them in again. Cannot be taken back.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an image that is not there; [`Error::Io`]; [`Error::Cancelled`]
    /// before anything was purged.
    ///
    /// # Complexity
    /// O(events): the log is rewritten and replayed.
    pub fn forget(&mut self, images: &[ItemId], progress: &Progress) -> Result<EventId> {
        self.acts().known(images)?;
        // With a damaged index, rows that must go might not be found.
        if let Some(found) = self.store.integrity()?.first() {
            return Err(self.store.damaged(found));
        }
        let log = self.store.events_after(0)?;
        progress.step()?;
        let purge = Purge::of(images.iter().copied().collect(), &self.state, log);
        forget::delete_copies(&self.folder)?;
        self.snapshots().drop_all()?;
        // The cache goes first, because it can be made again if this ends in the middle.
        self.cache.purge(&purge.hashes, &purge.paths)?;
        let purged = self.store.forget(&purge, self.state.next_image);
        // An error may come after the database was changed, so the state is read again in any case.
        self.state = self.store.load()?;
        self.appearances = Appearances::default();
        self.models.outdate();
        purged?;
        // Relearning cannot be cancelled: models that saw half of the rest would be wrong.
        self.catch_up(&Progress::default())?;
        self.keep_models()?;
        Ok(purge.event.id)
    }

    /// Keeps the models as they stand, so that the next opening is quick.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn keep_models(&mut self) -> Result<()> {
        self.models.keep(&self.state, &mut self.cache)
    }

    /// Brings the models up to date.
    fn catch_up(&mut self, progress: &Progress) -> Result<()> {
        let Self { store, cache, state, models, decoder, options, version, .. } = self;
        let features = FeatureStore { cache, decoder: &**decoder, options, version };
        models.catch_up(store, state, &features, progress)
    }

    /// Teaches the models a step that concerns some images. What is durable has happened: models
    /// that cannot follow are taught anew from their last checkpoint, and if that fails too, when
    /// the library is next opened.
    fn teach(&mut self, before: &State, images: &[ItemId]) {
        if self.models.are_behind() {
            return;
        }
        // An update of a few images is never cancelled, and neither is catching up after it.
        let progress = Progress::default();
        let Self { cache, state, models, decoder, options, version, .. } = self;
        let features = FeatureStore { cache, decoder: &**decoder, options, version };
        let update = ModelUpdate { before, after: state, images, features: &features, progress: &progress };
        let words = match contained(|| models.learn(&update)) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(words) => words,
        };
        if !matches!(contained(|| self.catch_up(&progress)), Ok(Ok(()))) {
            self.remarks.push(format!("{words}; {LATER}"));
        }
    }
}
