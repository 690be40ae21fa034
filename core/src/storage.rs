//! The operations on files that must survive crashes, behind a trait, so that tests can make each
//! of them fail.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file, or a link to one, of so many bytes.
    File(u64),
    /// A folder, or a link to one.
    Folder,
    /// Something else, such as a link that leads nowhere.
    Other,
}

/// A place where files are kept: the file system, or a substitute in tests.
pub trait Storage: Send + Sync {
    /// What lies at a path; none when nothing does.
    fn entry(&self, path: &Path) -> Option<PathKind>;

    /// The names in a folder, in no order.
    ///
    /// # Errors
    /// The system's.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// The bytes of a file.
    ///
    /// # Errors
    /// The system's.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Creates a file with these bytes. The bytes are safely on the disk after [`Storage::sync`],
    /// the name after [`Storage::sync_folder`].
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::AlreadyExists`] when there is one.
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Appends bytes to a file, which is created when it is not there.
    ///
    /// # Errors
    /// The system's; some of the bytes may have been added.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Flushes the bytes of a file to the disk (fsync).
    ///
    /// # Errors
    /// The system's. Trying again does not help: which of the bytes are on the disk is then
    /// unknown.
    fn sync(&self, path: &Path) -> io::Result<()>;

    /// Renames a file, atomically replacing the one that has the new name.
    ///
    /// # Errors
    /// The system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The system's.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder and those above it.
    ///
    /// # Errors
    /// The system's.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Flushes the names in a folder to the disk (fsync). Does nothing on systems that cannot do
    /// this.
    ///
    /// # Errors
    /// The system's.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Storage for Disk {
    fn entry(&self, path: &Path) -> Option<PathKind> {
        match fs::metadata(path) {
            Ok(meta) if meta.is_file() => Some(PathKind::File(meta.len())),
            Ok(meta) if meta.is_dir() => Some(PathKind::Folder),
            Ok(_) => Some(PathKind::Other),
            Err(_) => path.symlink_metadata().is_ok().then_some(PathKind::Other),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        File::options().write(true).create_new(true).open(path)?.write_all(bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        File::options().append(true).create(true).open(path)?.write_all(bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        // Some systems sync only what was opened for writing.
        File::options().append(true).open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    #[cfg(unix)]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        match File::open(folder)?.sync_all() {
            // Some network drives refuse; the file is whole there anyway.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            outcome => outcome,
        }
    }

    #[cfg(not(unix))]
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
