//! Errors of damaged libraries, which name the file and the way out.

use std::path::Path;

use crate::error::Error;
use crate::library::sqlite;

/// The way out where a database is damaged.
pub(in crate::library) const REPAIR: &str = "run `tessera check LIBRARY --repair`";

/// The error of a damaged library, with what was found.
pub(super) fn damaged(path: &Path, found: &str) -> Error {
    Error::data(path, "a sound library", found, REPAIR)
}

/// Turns an error of SQLite into one of this crate, for `map_err`.
pub(super) fn refused(action: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Error + use<> {
    sqlite::refused(action, path, "a sound database", REPAIR)
}
