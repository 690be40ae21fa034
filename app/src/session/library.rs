//! Opens libraries, and tells what lies at a path.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tessera_core::collection::folder::CollectionFolder;
use tessera_core::envelope::{self, hash_hex};
use tessera_core::ids::ItemId;
use tessera_core::library::backup::{BackupReport, back_up, is_backup};
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::{self, Library, LibraryOptions};
use tessera_core::{Error, Result};

use super::{Session, library_kinds, search_choice};

/// The extension of a library's folder.
pub const ENDING: &str = "tessera";
/// The extension of a model in one file.
pub const MODEL_ENDING: &str = "tessera-model";

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A library.
    Library,
    /// A collection.
    Collection,
    /// The backup of a library.
    Backup,
    /// A model, as a folder or as one file.
    Model,
    /// Another folder.
    Folder,
    /// A file.
    File,
    /// Nothing.
    Nothing,
}

impl Target {
    /// Whether images are kept there that can be asked for: a library, or a collection, which is
    /// opened as one.
    pub fn has_images(self) -> bool {
        matches!(self, Self::Library | Self::Collection)
    }
}

/// What lies at `path`. A library is recognised by its `library.db`, a collection, a
/// backup and a model by their manifests.
pub fn what_is(path: &Path) -> Target {
    if library::is_library(path) || library::has_lost_its_database(path) {
        Target::Library
    } else if CollectionFolder::is_one(path) {
        Target::Collection
    } else if is_backup(path) {
        Target::Backup
    } else if envelope::is_model(path) || (path.is_file() && path.extension().is_some_and(|ending| ending == MODEL_ENDING)) {
        Target::Model
    } else if path.is_dir() {
        Target::Folder
    } else if path.exists() {
        Target::File
    } else {
        Target::Nothing
    }
}

/// The path of the library that a user names: that path, or the one with the ending `.tessera`
/// where only there is a library. Whatever else lies at the path, except for nothing at all, is
/// meant by commands that take a folder, too: those ask [`what_is`] first.
pub fn named(path: &Path) -> PathBuf {
    if what_is(path) == Target::Nothing { with_ending(path).unwrap_or_else(|| path.to_owned()) } else { path.to_owned() }
}

/// The library beside `path` whose name is that of `path` and the ending `.tessera`.
pub fn with_ending(path: &Path) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(".");
    name.push(ENDING);
    Some(path.with_file_name(name)).filter(|path| what_is(path) == Target::Library)
}

/// Whether a folder, or its nearest existing parent, lies on a network drive.
#[cfg(target_os = "linux")]
fn is_on_network(folder: &Path) -> bool {
    /// NFS, SMB, CIFS, SMB2, AFS, Ceph, Coda (Linux, `include/uapi/linux/magic.h`).
    const KINDS: [u64; 7] = [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x5346_414f, 0x00c3_6400, 0x7375_7245];
    let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let kind = full.ancestors().find_map(|path| rustix::fs::statfs(path).ok()).map(|found| found.f_type as u64);
    kind.is_some_and(|kind| KINDS.contains(&(kind & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
fn is_on_network(_: &Path) -> bool {
    false
}

/// On a network drive neither the library's lock nor SQLite's locks are reliable.
pub(in crate::session) fn refuse_network(folder: &Path) -> Result<()> {
    if !is_on_network(folder) {
        return Ok(());
    }
    let advice = "put the library on a drive of this computer; the images may stay where they are";
    Err(Error::data(folder, "a place on this computer", "a network drive, whose locks cannot be relied on", advice))
}

impl Session {
    /// Opens a library. Its recogniser compares, and weighs, as it did when it was closed.
    ///
    /// # Errors
    /// As [`Library::open`], and [`Error::Data`] on a network drive.
    pub fn open_library(&self, folder: &Path) -> Result<Library> {
        refuse_network(folder)?;
        let (options, why) = self.opening_of(folder)?;
        self.open_settled(|| match why {
            Some(why) => Library::open_read_only_because(folder, &options, why),
            None => Library::open(folder, &options),
        })
    }

    /// Makes a backup of a library, or brings it up to date.
    ///
    /// # Errors
    /// As [`back_up`].
    pub fn back_up(&self, folder: &Path, to: &Path) -> Result<BackupReport> {
        back_up(folder, to, self.is_read_only, self.progress())
    }

    /// Opens a library as [`Session::open_library`] does, or creates one where `creates`, with
    /// models that have learned nothing yet: [`Session::catch_up`] teaches them while it is in use.
    ///
    /// # Errors
    /// As [`Session::open_library`] and [`Session::open_or_create_library`].
    pub fn open_library_first(&self, folder: &Path, creates: bool) -> Result<Library> {
        if self.is_read_only || CollectionFolder::is_one(folder) {
            return self.open_library(folder);
        }
        refuse_network(folder)?;
        let options = LibraryOptions { later: true, ..self.opening() };
        let open = || if creates { Library::open_or_create(folder, &options) } else { Library::open(folder, &options) };
        let library = self.pool.install(open)?;
        match library.read_only().filter(|_| creates) {
            // Who may make a library wants to write to it.
            Some(why) => Err(why.error(folder)),
            None => Ok(library),
        }
    }

    /// Teaches the models of a library that was opened by [`Session::open_library_first`]; it can
    /// be used meanwhile. Afterwards the recogniser compares, and weighs, as it did when the
    /// library was closed.
    ///
    /// # Errors
    /// As [`Library::end_catching_up`]; the models have learned nothing then.
    pub fn catch_up(&self, library: &Mutex<Library>) -> Result<()> {
        let begun = hold(library).begin_to_catch_up()?;
        let caught = begun.map(|begun| self.pool.install(|| begun.learn(&self.progress)));
        let mut held = hold(library);
        let library = &mut *held;
        self.pool.install(|| {
            if let Some(caught) = caught {
                library.end_catching_up(caught, &self.progress)?;
            }
            self.settle(library)
        })
    }

    /// Opens a library to check it, without a change to it.
    ///
    /// # Errors
    /// As [`Library::open_to_check`], and [`Error::Data`] on a network drive.
    pub fn open_library_to_check(&self, folder: &Path) -> Result<Library> {
        refuse_network(folder)?;
        let (options, _) = self.opening_of(folder)?;
        self.open_settled(|| Library::open_to_check(folder, &options, !self.is_read_only))
    }

    /// Opens a library, or creates one in a new or empty folder.
    ///
    /// # Errors
    /// As [`Library::open_or_create`].
    pub fn open_or_create_library(&self, folder: &Path) -> Result<Library> {
        self.check_writable(folder)?;
        refuse_network(folder)?;
        let options = self.opening();
        let library = self.open_settled(|| Library::open_or_create(folder, &options))?;
        // Who may make a library wants to write to it.
        library.read_only().map_or(Ok(library), |why| Err(why.error(folder)))
    }

    /// Forgets images of a library for good. What its recogniser compares stays as it was chosen;
    /// learned weights, which hold something of every image, are gone.
    ///
    /// # Errors
    /// As [`Library::forget`].
    pub fn forget(&self, library: &mut Library, images: &[ItemId]) -> Result<EventId> {
        let (search, kinds) = (search_choice::search_choice(library), library_kinds::kind_use(library).setting);
        let event = library.forget(images, &self.progress)?;
        search_choice::keep(library, search)?;
        library_kinds::keep_setting(library, kinds)?;
        Ok(event)
    }

    /// Opens a library on this session's threads; its recogniser answers as it did when it was
    /// closed.
    fn open_settled(&self, open: impl FnOnce() -> Result<Library> + Send) -> Result<Library> {
        self.pool.install(|| {
            let mut library = open()?;
            self.settle(&mut library)?;
            Ok(library)
        })
    }

    /// Lets the recogniser of a library answer as it did when it was closed.
    fn settle(&self, library: &mut Library) -> Result<()> {
        library_kinds::restore(library);
        search_choice::restore(library, &self.progress)
    }

    /// Opens a library with a newly computed cache, which is kept if `keep` returns something.
    ///
    /// # Errors
    /// As [`Library::with_new_cache`].
    pub fn with_new_cache<T: Send>(&self, folder: &Path, keep: impl FnOnce(&mut Library) -> Result<Option<T>> + Send) -> Result<Option<T>> {
        refuse_network(folder)?;
        self.pool.install(|| Library::with_new_cache(folder, &self.opening(), keep))
    }

    /// The path of the library of a plain folder of images: in the user's data folder, under a name
    /// derived from the folder's path.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder does not exist.
    pub fn library_of(&self, folder: &Path) -> Result<PathBuf> {
        let full = fs::canonicalize(folder).map_err(Error::io("read", folder))?;
        let name = full.file_name().unwrap_or_default().to_string_lossy().chars().take(60).collect::<String>();
        let hash = hash_hex(full.as_os_str().as_encoded_bytes());
        let data = self.data_folder().unwrap_or_else(std::env::temp_dir);
        Ok(data.join("tessera").join("libraries").join(format!("{name}-{}.{ENDING}", &hash[..8])))
    }
}
