//! Connections to SQLite files that may come from anyone, and what the errors of SQLite mean.
//!
//! A file that was received can hold more than tables: triggers, views and expressions run when it
//! is read or written. So nothing of a file's own runs, and its schema must be the expected one,
//! word for word, before anything else is read.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::ffi::{Error as FailureOf, SQLITE_CANTOPEN};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Result};

use super::files::{check_ordinary_file, with_ending};
use crate::error::Error;
use crate::progress::Progress;
use crate::raw_path::to_bytes;

/// Instructions of SQLite's machine between two looks at whether the work was cancelled.
const INSTRUCTIONS: i32 = 10_000;

/// Bytes of the longest statement: none in a schema of ours has a tenth of that.
const STATEMENT: i32 = 100_000;

/// Opens a file, or makes it when `create` is true. Links are not followed, nothing that the file
/// brings along runs, and statements end when `progress` is cancelled, until [`settle`] is called.
pub(super) fn connect(path: &Path, create: bool, progress: &Progress) -> Result<Connection> {
    let create = if create { OpenFlags::SQLITE_OPEN_CREATE } else { OpenFlags::empty() };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    check_files(path)?;
    let mut db = Connection::open_with_flags(real(path), flags | create)?;
    protect(&db)?;
    db.busy_timeout(Duration::from_secs(5))?;
    let progress = progress.clone();
    db.progress_handler(INSTRUCTIONS, Some(move || progress.is_cancelled()))?;
    Ok(db)
}

/// Opens a file to read it alone, which other programs may write to. Fails where no file beside it
/// can be made, as on a read-only medium.
pub(super) fn connect_to_read(path: &Path) -> Result<Connection> {
    connect_with(path, "")
}

/// Opens a file to read it alone that nobody writes to, without what is in its write-ahead log.
pub(super) fn connect_to_unchanging(path: &Path) -> Result<Connection> {
    connect_with(path, "?immutable=1")
}

/// Whether everything in a database is in the file itself, and nothing in its write-ahead log.
pub(super) fn is_log_empty(path: &Path) -> bool {
    fs::metadata(with_ending(path, "-wal")).map_or(true, |meta| meta.len() == 0)
}

fn connect_with(path: &Path, options: &str) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let name: String = to_bytes(&real(path)).iter().map(|byte| format!("%{byte:02x}")).collect();
    check_files(path)?;
    let db = Connection::open_with_flags(format!("file:{name}{options}"), flags | OpenFlags::SQLITE_OPEN_URI)?;
    protect(&db)?;
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

/// Refuses a database where it, or what SQLite keeps beside it, is no ordinary file: opening a pipe
/// would wait for ever, and a file with another name elsewhere would be written to there.
fn check_files(path: &Path) -> Result<()> {
    let files = ["", "-wal", "-shm", "-journal"].map(|ending| with_ending(path, ending));
    let refused = |error: Error| rusqlite::Error::SqliteFailure(FailureOf::new(SQLITE_CANTOPEN), Some(error.to_string()));
    files.iter().try_for_each(|file| check_ordinary_file(file)).map_err(refused)
}

/// Keeps what a file brings along from running.
fn protect(db: &Connection) -> Result<()> {
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        // Triggers of the connection, which seal rows, run all the same.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        db.set_db_config(option, value)?;
    }
    db.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, STATEMENT)?;
    db.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 100)?;
    Ok(())
}

/// Lets statements run to their end again: what was acknowledged must not be lost because other
/// work was cancelled.
pub(super) fn settle(db: &mut Connection) -> Result<()> {
    db.progress_handler(0, None::<fn() -> bool>)
}

/// Merges the write-ahead log into the file and empties it, so that nothing deleted is left in
/// either. Returns whether that was done: not while another program reads the file.
pub(super) fn empty_log(db: &Connection) -> Result<bool> {
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).map(|is_busy| is_busy == 0)
}

/// The error of a file that another program reads while something in it must go.
pub(super) fn is_read(path: &Path) -> Error {
    Error::Busy { path: path.to_owned(), holder: "another program, which reads it: what is forgotten would stay in it".into() }
}

/// A path in a folder without links: SQLite refuses a path with a link anywhere in it, and only the
/// file itself must not be one.
pub(super) fn real(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| cfg!(unix) && !folder.as_os_str().is_empty());
    match (folder.and_then(|folder| fs::canonicalize(folder).ok()), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Writes a whole copy of a database to a new file, also while others work with it.
pub(super) fn copy_to(db: &Connection, path: &Path) -> Result<()> {
    let bytes = to_bytes(&real(path));
    db.execute("VACUUM INTO ?1", [ToSqlOutput::Borrowed(ValueRef::Text(&bytes))]).map(|_| ())
}

/// The objects of a schema by name, each with its kind and the statement that made it.
pub(super) type Schema = BTreeMap<String, (String, Option<String>)>;

/// The schema that these statements make.
pub(super) fn schema_of(statements: &[&str]) -> Result<Schema> {
    let db = Connection::open_in_memory()?;
    statements.iter().try_for_each(|statement| db.execute_batch(statement))?;
    let mut query = db.prepare("SELECT name, type, sql FROM sqlite_schema")?;
    query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.collect()
}

/// What in a file's schema is not in `expected` in just these words, if anything is.
pub(super) fn foreign(db: &Connection, expected: &Schema) -> Result<Option<String>> {
    let mut query = db.prepare("SELECT name, type, sql FROM sqlite_schema")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (name, kind, sql): (String, String, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        match expected.get(&name) {
            Some(known) if *known == (kind.clone(), sql) => {}
            Some(_) => return Ok(Some(format!("the {kind} `{name}` made in other words"))),
            None => return Ok(Some(format!("a {kind} `{name}`, which Tessera does not make"))),
        }
    }
    Ok(None)
}

/// Whether everything in `expected` is in a file in just these words, whatever else may be.
pub(super) fn has_all(db: &Connection, expected: &Schema) -> bool {
    expected.keys().all(|name| has_table(db, "main", name, expected))
}

/// Whether an attached database, or `main`, has this table just as expected.
pub(super) fn has_table(db: &Connection, database: &str, name: &str, expected: &Schema) -> bool {
    let sql = format!("SELECT type, sql FROM {database}.sqlite_schema WHERE name = ?1");
    let found = db.query_row(&sql, [name], |row| Ok((row.get(0)?, row.get(1)?)));
    found.ok().is_some_and(|found: (String, Option<String>)| expected.get(name) == Some(&found))
}

/// Whether an error is about the disk, the rights or other programs, not about what the file says.
fn is_of_system(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::PermissionDenied
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport
    )
}

/// Turns an error of SQLite into one of this crate. Whatever the file can say wrongly, such as text
/// that is not UTF-8, a missing table or a value out of range, is an [`Error::Data`] with what was
/// `expected` and the way out.
pub(super) fn refused(
    action: &'static str,
    path: &Path,
    expected: &'static str,
    advice: &'static str,
) -> impl Fn(rusqlite::Error) -> Error + use<> {
    let path = path.to_owned();
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::io(action, &path)(IoError::new(ErrorKind::StorageFull, error)),
        Some(ErrorCode::ReadOnly) => Error::io(action, &path)(IoError::new(ErrorKind::ReadOnlyFilesystem, error)),
        Some(ErrorCode::OperationInterrupted) => Error::Cancelled,
        Some(code) if is_of_system(code) => Error::io(action, &path)(IoError::other(error)),
        _ => Error::data(&path, expected, error.to_string(), advice),
    }
}

/// Whether an error says that the file is damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    !matches!(error.sqlite_error_code(), Some(code) if is_of_system(code)
        || matches!(code, ErrorCode::DiskFull | ErrorCode::ReadOnly | ErrorCode::OperationInterrupted))
}
