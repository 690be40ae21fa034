//! Libraries that are only read: why, and the copy of the database that stands in for the file.
//!
//! SQLite cannot read a database with a write-ahead log where it can make no files beside it. So
//! the database and the journal are copied to a temporary folder, and everything that opening does
//! with them, such as taking events over from the journal, is done there.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::features::Stamp;
use super::files::{DATABASE, JOURNAL, copy as copy_file, of_database};
use super::sqlite;
use crate::error::{Error, Result};

/// Why nothing is written to a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOnly {
    /// The user wants it so.
    Asked,
    /// The medium can only be read.
    Medium,
    /// This user may not write to it.
    Rights,
    /// There is no space left.
    NoSpace,
    /// It is of a newer version of the program.
    Newer,
    /// It shows a collection, which is changed where its shards are.
    Collection,
}

impl ReadOnly {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Asked => "the library is open read-only, as it was asked for",
            Self::Medium => "the library is open read-only, for it lies on a read-only medium",
            Self::Rights => "the library is open read-only, for this user may not write to it",
            Self::NoSpace => "the library is open read-only, for there is no space left where it lies",
            Self::Newer => "the library is open read-only, for a newer Tessera wrote it",
            Self::Collection => "the library is open read-only, for it shows a collection",
        }
    }

    /// The error of writing to the library in `folder`.
    pub fn error(self, folder: &Path) -> Error {
        Error::ReadOnly { path: folder.to_owned(), why: self.words(), advice: self.way_out() }
    }

    /// What to do where it must be written to.
    fn way_out(self) -> &'static str {
        match self {
            Self::Asked => "leave out --read-only",
            Self::Medium => "copy the library to a place that can be written to, and work there",
            Self::Rights => "ask for access, or copy the library to a place of your own and work there",
            Self::NoSpace => "make room there",
            Self::Newer => "work with it in that newer Tessera",
            Self::Collection => "change the collection by `tessera shard`, or import the images into a library",
        }
    }

    /// The error of writing a file into the library in `folder` that may be anywhere.
    pub fn error_of_place(self, place: &Path) -> Error {
        let advice = match self {
            Self::Asked => "give `--to FILE` with a place outside of the library, or leave out --read-only",
            _ => "give `--to FILE` with a place outside of the library",
        };
        Error::ReadOnly { path: place.to_owned(), why: self.words(), advice }
    }

    /// Why the library in `folder` could not be opened to be written to, if it is for one of these
    /// reasons.
    pub(super) fn of(error: &Error, folder: &Path) -> Option<Self> {
        let Error::Io { cause, .. } = error else { return None };
        Self::of_kind(cause.kind()).or_else(|| {
            // SQLite does not always say why a file beside the database could not be made.
            let tried = tempfile::tempfile_in(folder).and_then(|mut file| file.write_all(&[0; 1 << 16]));
            Self::of_kind(tried.err()?.kind())
        })
    }

    /// Why nothing can be written to the folder, as far as the system says without a try.
    pub(super) fn of_folder(folder: &Path) -> Option<Self> {
        #[cfg(unix)]
        let refused = rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).err().map(io::Error::from);
        #[cfg(not(unix))]
        let refused: Option<io::Error> = None;
        refused.and_then(|error| Self::of_kind(error.kind()))
    }

    fn of_kind(kind: ErrorKind) -> Option<Self> {
        match kind {
            ErrorKind::ReadOnlyFilesystem => Some(Self::Medium),
            ErrorKind::PermissionDenied => Some(Self::Rights),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(Self::NoSpace),
            _ => None,
        }
    }
}

/// A copy of a library's database and journal, deleted when this is dropped.
pub(super) struct ReadCopy(TempDir);

impl ReadCopy {
    /// Copies those of the library in `folder`.
    pub(super) fn of(folder: &Path) -> Result<Self> {
        let place = tempfile::tempdir().or_else(|error| tempfile::tempdir_in("/dev/shm").map_err(|_| error));
        let copy = Self(place.map_err(Error::io("create a temporary folder for", folder))?);
        let [database, wal, _] = of_database(folder, DATABASE);
        if copy.by_sqlite(&database).is_err() {
            for (from, to) in [&database, &wal].into_iter().zip(of_database(copy.0.path(), DATABASE)).filter(|(from, _)| from.is_file()) {
                copy_file(from, &to).map_err(Error::io("copy", from))?;
            }
        }
        let journal = folder.join(JOURNAL);
        if journal.is_file() {
            copy_file(&journal, &copy.0.path().join(JOURNAL)).map_err(Error::io("copy", &journal))?;
        }
        Ok(copy)
    }

    /// Copies a database that other programs may be writing to. Where nobody does, SQLite is told
    /// so, and leaves no files beside it.
    fn by_sqlite(&self, database: &Path) -> rusqlite::Result<()> {
        let copy = |db: Connection| {
            sqlite::copy_to(&db, &self.database()).inspect_err(|_| {
                let _ = fs::remove_file(self.database());
            })
        };
        let before = Stamp::of(database).ok().filter(|_| sqlite::is_log_empty(database));
        if let Some(before) = before
            && sqlite::connect_to_unchanging(database).and_then(copy).is_ok()
        {
            if sqlite::is_log_empty(database) && Stamp::of(database).is_ok_and(|after| after == before) {
                return Ok(());
            }
            let _ = fs::remove_file(self.database());
        }
        sqlite::connect_to_read(database).and_then(copy)
    }

    /// An error about the copy as one about the library in `folder`, which the user knows.
    pub(super) fn as_of(&self, folder: &Path, error: Error) -> Error {
        let theirs = |path: &Path| path.strip_prefix(self.0.path()).map_or_else(|_| path.to_owned(), |name| folder.join(name));
        match error {
            Error::Data { path, expected, found, advice } => Error::Data { path: theirs(&path), expected, found, advice },
            Error::Io { action, path, cause } => Error::Io { action, path: theirs(&path), cause },
            other => other,
        }
    }

    /// The copy of the database.
    pub(super) fn database(&self) -> PathBuf {
        self.0.path().join(DATABASE)
    }
}
