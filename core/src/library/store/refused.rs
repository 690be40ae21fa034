//! Errors of SQLite and of damaged databases, which name the file and the way out.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;

use crate::error::Error;

/// The way out where a database is damaged.
pub(in crate::library) const REPAIR: &str = "run `tessera check LIBRARY --repair`";

/// The error of a damaged library, with what was found.
pub(super) fn damaged(path: &Path, found: &str) -> Error {
    Error::data(path, "a sound library", found, REPAIR)
}

/// Turns an error of SQLite into one of this crate, for `map_err`.
pub(super) fn refused(action: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
            Error::data(&path, "a sound database", error.to_string(), REPAIR)
        }
        Some(rusqlite::ErrorCode::DiskFull) => Error::io(action, &path)(IoError::new(ErrorKind::StorageFull, error)),
        Some(rusqlite::ErrorCode::ReadOnly) => Error::io(action, &path)(IoError::new(ErrorKind::ReadOnlyFilesystem, error)),
        _ => Error::io(action, &path)(IoError::other(error)),
    }
}
