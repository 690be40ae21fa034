//! Opening a library, making one, and closing it.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use super::appearance::Appearances;
use super::cache::Cache;
use super::features::Extraction;
use super::files::{CACHE, DATABASE, JOURNAL, LOCK, check_ordinary, is_library, of_database, remove_left_overs, while_aside};
use super::journal_sync::Tended;
use super::lock::{self, Lock};
use super::looks::LookIndexes;
use super::models::Models;
use super::pair::Pair;
use super::read_only::{ReadCopy, ReadOnly};
use super::repair::has_lost_its_database;
use super::store::first::{FirstImages, first};
use super::store::inspect::is_newer;
use super::store::{REPAIR, Store};
use super::told_vectors::Wholes;
use super::{Library, LibraryOptions};
use crate::envelope::is_model;
use crate::error::{Error, Result};

/// The first `n` images of the library in `folder`, to be shown while it is opened, which reads and
/// checks all of it first. `None` where they cannot be read, whatever the reason: opening tells it.
/// Where it `leaves_alone` the library no file is made beside it, and there are none while another
/// program writes to it. O(`n`), and counting the images.
pub fn first_images(folder: &Path, n: usize, leaves_alone: bool) -> Option<FirstImages> {
    first(&folder.join(DATABASE), n, leaves_alone)
}

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
        check_is_library(folder)?;
        Self::start(folder, opening, false).or_else(|error| {
            let newer = || matches!(error, Error::Data { .. }).then(|| is_newer(&folder.join(DATABASE))).unwrap_or_default();
            let Some(why) = ReadOnly::of(&error, folder).or_else(|| newer().then_some(ReadOnly::Newer)) else { return Err(error) };
            Self::start_read_only(folder, opening, why, false).map_err(|_| error)
        })
    }

    /// Opens the library in `folder` to check it: no file of it is written to, as by
    /// [`Library::open_read_only`], but other programs are kept out meanwhile. Unless `waits`, it
    /// is opened though another program has it.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn open_to_check(folder: &Path, opening: &LibraryOptions<'_>, waits: bool) -> Result<Self> {
        check_is_library(folder)?;
        let lock = match lock::take_to_read(folder) {
            Err(Error::Busy { .. }) if !waits => None,
            lock => Some(lock?),
        };
        check_has_database(folder)?;
        let why = ReadOnly::of_folder(folder).unwrap_or(ReadOnly::Asked);
        let mut library = Self::start_read_only(folder, opening, why, lock.is_some() && waits)?;
        if lock.is_none() {
            // Files that another program writes to were copied one after the other.
            library.found.clear();
        }
        library._lock = lock.filter(|_| waits).map(Arc::new);
        Ok(library)
    }

    /// Opens the library in `folder` to read it alone: no file of it is written to, and it is not
    /// locked. What is computed is not kept, and each act is refused.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn open_read_only(folder: &Path, opening: &LibraryOptions<'_>) -> Result<Self> {
        Self::open_read_only_because(folder, opening, ReadOnly::Asked)
    }

    /// As [`Library::open_read_only`], for this reason.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn open_read_only_because(folder: &Path, opening: &LibraryOptions<'_>, why: ReadOnly) -> Result<Self> {
        check_is_library(folder)?;
        check_has_database(folder)?;
        Self::start_read_only(folder, opening, why, false)
    }

    /// Opens the library in `folder`, or makes one in a folder that is new or empty.
    ///
    /// # Errors
    /// As [`Library::open`]; [`Error::Data`] when the folder holds other files.
    pub fn open_or_create(folder: &Path, opening: &LibraryOptions<'_>) -> Result<Self> {
        if is_library(folder) || has_lost_its_database(folder) {
            return Self::open(folder, opening);
        }
        let is_ours = |name: &std::ffi::OsStr| name == LOCK || name == CACHE || name == JOURNAL;
        if let Ok(entries) = fs::read_dir(folder)
            && let Some(other) = entries.flatten().find(|entry| !is_ours(&entry.file_name()))
            // Another program may have made it a moment ago.
            && !is_library(folder)
        {
            let found = format!("a folder with other things in it, such as `{}`", other.file_name().to_string_lossy());
            return Err(Error::data(folder, "a new name, an empty folder or a library", found, "choose another name for the library"));
        }
        let made: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        // A folder whose name is not on the disk is lost with all that is acknowledged in it.
        for folder in made {
            let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            opening.storage.sync_folder(parent).map_err(Error::io("write", parent))?;
        }
        Self::start(folder, opening, true)
    }

    /// Opens the library in `folder` with a new cache, made from the images and the log. The new
    /// cache stays when `keep` returns a value; otherwise the old one is put back. The library
    /// stays locked meanwhile.
    ///
    /// # Errors
    /// As [`Library::open`], any error of `keep`, and [`Error::Io`] when files cannot be renamed;
    /// the old cache is put back first.
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
        check_has_database(folder)?;
        remove_left_overs(folder)?;
        Self::start_locked(Arc::new(lock), folder, opening, create)
    }

    fn start_locked(lock: Arc<Lock>, folder: &Path, opening: &LibraryOptions<'_>, create: bool) -> Result<Self> {
        let store = Store::open(&folder.join(DATABASE), create, Arc::clone(&opening.storage), opening.progress)?;
        let cache = Cache::open(&folder.join(CACHE))?;
        let mut library = Self::start_with(folder, opening, store, cache, None)?;
        library._lock = Some(lock);
        library.snapshots().drop_outdated(&library.store)?;
        library.store.settle_in()?;
        Ok(library)
    }

    /// Opens a copy of the database; `is_alone` is whether no other program has the library.
    fn start_read_only(folder: &Path, opening: &LibraryOptions<'_>, why: ReadOnly, is_alone: bool) -> Result<Self> {
        check_ordinary(folder)?;
        let (copy, place) = (ReadCopy::of(folder)?, folder.join(CACHE));
        let why = if why == ReadOnly::Asked && is_newer(&copy.database()) { ReadOnly::Newer } else { why };
        let cache = Cache::open_read_only(&place, is_alone)?;
        let is_damaged = place.is_file() && cache.path() != place;
        let start = || {
            let mut store = Store::open_copy(&copy.database(), opening.progress)?;
            store.path = folder.join(DATABASE);
            Self::start_with(folder, opening, store, cache, Some(why))
        };
        let mut library = start().map_err(|error| copy.as_of(folder, error))?;
        library._copy = Some(copy);
        library.found.extend(is_damaged.then(|| DAMAGED_CACHE.to_owned()));
        // What was done to the copy is not done to the library.
        library.mended.clear();
        library.store.freeze(why, folder);
        library.store.settle_in()?;
        if why != ReadOnly::Asked {
            library.remarks.push(why.words().into());
        }
        Ok(library)
    }

    fn start_with(
        folder: &Path,
        opening: &LibraryOptions<'_>,
        mut store: Store,
        cache: Cache,
        read_only: Option<ReadOnly>,
    ) -> Result<Self> {
        opening.progress.begin("Opening the library", 0);
        let mut state = store.load()?;
        let Tended { mended, remarks, lost, found } = store.tend_journal(&mut state)?;
        let mut library = Self {
            folder: folder.to_owned(),
            store,
            cache,
            state,
            models: Models::new(&opening.options)?,
            appearances: Appearances::default(),
            glimpses: HashMap::new(),
            seen_classes: HashMap::new(),
            sees_enough: Cell::default(),
            wholes: Wholes::default(),
            sums_kept: None,
            looks: LookIndexes::default(),
            pair: Pair::default(),
            decoder: Arc::clone(&opening.decoder),
            options: opening.options.clone(),
            plain: opening.options.clone(),
            learned: opening.learned.clone(),
            extraction: Extraction::new(&opening.options, None, None),
            in_memory: opening.elements_in_memory,
            mended,
            found,
            remarks: [remarks, lost.clone()].concat(),
            lost,
            importing: None,
            storage: Arc::clone(&opening.storage),
            read_only,
            _lock: None,
            _copy: None,
        };
        let is_later = opening.later && library.read_only.is_none();
        let teach = |library: &mut Self| if is_later { Ok(()) } else { library.catch_up(opening.progress) };
        match library.choose_recogniser().and_then(|()| teach(&mut library)) {
            Err(Error::Data { path, .. }) if path == library.cache.path() => {
                library.renew_cache()?;
                teach(&mut library)?;
            }
            outcome => outcome?,
        }
        Ok(library)
    }

    /// Begins a new cache in the place of one that is damaged, and the recogniser with it.
    pub(super) fn renew_cache(&mut self) -> Result<()> {
        let path = self.cache.path().to_owned();
        drop(std::mem::replace(&mut self.cache, Cache::passing()?));
        if self.read_only.is_none() {
            Cache::put_aside(&path)?;
            self.cache = Cache::open(&path)?;
        }
        self.found.push(DAMAGED_CACHE.into());
        self.mended.push(format!("{CACHE} was damaged, and was made again from the images and the log"));
        self.choose_recogniser()
    }

    /// Closes the library: writes checkpoints of the models and, when it is due, a snapshot.
    ///
    /// # Errors
    /// [`Error::Io`]: the library is closed all the same, and nothing that was acknowledged is
    /// lost.
    pub fn close(mut self) -> Result<()> {
        if self.read_only.is_some() {
            return Ok(());
        }
        let kept = if self.models.are_kept(&self.state) && !self.looks.are_changed() { Ok(()) } else { self.save_checkpoints() };
        let kept = kept.and(self.keep_sums());
        let copied = self.snapshots().take_if_due(&self.store, self.state.last_event());
        self.store.settle();
        kept.and(copied)
    }

    /// Deletes the library if nothing was ever entered into it, and closes it otherwise. A program
    /// that waited for its lock finds no library.
    ///
    /// # Errors
    /// As [`Library::close`].
    pub fn close_or_delete_empty(self) -> Result<()> {
        if self.state.roots().next().is_some() || self.state.last_event().is_some() {
            return self.close();
        }
        let Self { folder, store, cache, _lock: lock, .. } = self;
        drop((store, cache));
        let databases = [DATABASE, CACHE].into_iter().flat_map(|name| of_database(&folder, name));
        for file in databases.chain([folder.join(JOURNAL)]) {
            // A file that cannot be deleted is part of an empty library, which does no harm.
            let _ = fs::remove_file(file);
        }
        // A program that has opened the lock and waits for it notices that it is not the library's
        // any more.
        if cfg!(unix) {
            let _ = fs::remove_file(folder.join(LOCK));
        }
        let _ = fs::remove_dir(&folder);
        drop(lock);
        Ok(())
    }
}

/// What is said of a cache that cannot be read.
const DAMAGED_CACHE: &str = "cache.db is damaged; what is in it can be computed again from the images and the log";

/// Refuses what is no library, in words that say what it is.
fn check_is_library(folder: &Path) -> Result<()> {
    if is_library(folder) || has_lost_its_database(folder) {
        return Ok(());
    }
    let found = match folder.metadata() {
        Ok(_) if is_model(folder) => "a model",
        Ok(meta) if meta.is_dir() => "a folder without one",
        Ok(_) => "a file",
        Err(_) => "nothing of that name",
    };
    let advice = "name the folder of a library, or make one with `tessera import LIBRARY FOLDER`";
    Err(Error::data(folder, format!("a library with a `{DATABASE}`"), found, advice))
}

/// Refuses a library of which only the journal and snapshots are left.
pub(super) fn check_has_database(folder: &Path) -> Result<()> {
    if !has_lost_its_database(folder) {
        return Ok(());
    }
    Err(Error::data(&folder.join(DATABASE), "the database of a library", "only its journal and snapshots", REPAIR))
}
