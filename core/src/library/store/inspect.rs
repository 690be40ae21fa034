//! Inspects a database that nobody has open and that may be damaged: whether it is sound, and what
//! can be recovered from it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::log::{EVENTS, altered, read_event};
use super::refused::{damaged, refused};
use super::schema::{APPLICATION, SCHEMA};
use super::seal;
use crate::error::Result;
use crate::library::event::Event;

/// Whether a database is sound in every way that can be told from the file alone.
///
/// # Errors
/// [`Error::Data`] with what is wrong, [`Error::Io`].
pub(in crate::library) fn verify(path: &Path) -> Result<()> {
    let refused_here = refused("read", path);
    let damaged = |found: &str| Err(damaged(path, found));
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(&refused_here)?;
    let look = || -> rusqlite::Result<Result<()>> {
        seal::teach(&db)?;
        let fact = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        if fact("application_id")? != APPLICATION || !(1..=SCHEMA).contains(&fact("user_version")?) {
            return Ok(damaged("another kind of database"));
        }
        let line: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if line != "ok" {
            return Ok(damaged(&line));
        }
        if let Some(found) = seal::broken(&db)?.first() {
            return Ok(damaged(found));
        }
        let mut query = db.prepare(EVENTS)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if let (id, None) = read_event(row)? {
                return Ok(damaged(&altered(id)));
            }
        }
        Ok(Ok(()))
    };
    look().map_err(&refused_here)?
}

/// A fact of a database that may be damaged.
pub(in crate::library) fn fact_of(path: &Path, name: &str) -> Option<i64> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
    db.query_row("SELECT value FROM fact WHERE name = ?1", [name], |row| row.get(0)).ok()
}

/// The events of a damaged database that are as they were written.
pub(in crate::library) fn salvage(path: &Path) -> Vec<Event> {
    let mut found = Vec::new();
    let read = |found: &mut Vec<Event>, order: &str| -> rusqlite::Result<()> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let mut query = db.prepare(&format!("{EVENTS} ORDER BY id {order}"))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if let Ok((_, Some(event))) = read_event(row) {
                found.push(event);
            }
        }
        Ok(())
    };
    // A scan ends at the first unreadable page; the rows behind it are read from the other end.
    if read(&mut found, "ASC").is_err() {
        let _ = read(&mut found, "DESC");
    }
    found
}
