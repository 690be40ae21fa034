//! Inspects a database that nobody has open and that may be damaged: whether it is sound, and what
//! can be recovered from it.

use std::path::Path;

use rusqlite::Connection;

use super::log::{BARE_EVENTS, EVENTS, LOST_FROM, after, altered, joints, lost_ends, read_event, tip};
use super::refused::{damaged, refused};
use super::schema::{APPLICATION, SCHEMA, expected};
use super::seal;
use super::{LIBRARY, RESTORED};
use crate::error::Result;
use crate::library::chain::{Fault, Head, Joint, faults};
use crate::library::event::{Event, EventId};
use crate::library::sqlite::{connect, connect_to_read, copy_to, foreign, has_table};
use crate::progress::Progress;

/// Whether a database is sound in every way that can be told from the file alone: its pages, its
/// rows, its events and the chain of them. A fault of the chain that a repair could not mend, and
/// has noted, is none. O(events).
///
/// # Errors
/// [`Error::Data`] with what is wrong, [`Error::Io`].
pub(in crate::library) fn verify(path: &Path, progress: &Progress) -> Result<()> {
    let refused_here = refused("read", path);
    let damaged = |found: &str| Err(damaged(path, found));
    let db = connect(path, false, progress).map_err(&refused_here)?;
    let look = || -> rusqlite::Result<Result<()>> {
        seal::teach(&db)?;
        let fact = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let version = fact("user_version")?;
        if fact("application_id")? != APPLICATION || !(1..=SCHEMA).contains(&version) {
            return Ok(damaged("another kind of database"));
        }
        if let Some(found) = foreign(&db, &expected(version)?)? {
            return Ok(damaged(&found));
        }
        let line: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if line != "ok" {
            return Ok(damaged(&line));
        }
        if let Some(found) = seal::broken(&db)?.first() {
            return Ok(damaged(found));
        }
        let has_links = version >= seal::LINKS;
        let mut query = db.prepare(&format!("{} ORDER BY id", if has_links { EVENTS } else { BARE_EVENTS }))?;
        let mut rows = query.query([])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            match read_event(row)? {
                (id, None) => return Ok(damaged(&altered(id))),
                (_, Some(event)) => events.push(event),
            }
        }
        if !has_links {
            return Ok(Ok(()));
        }
        let is_known = |fault: &Fault| {
            let sql = "SELECT count(*) > 0 FROM fact WHERE name = ?1";
            db.query_row(sql, [known_fault(fault.at())], |row| row.get::<_, bool>(0))
        };
        for fault in faults(&events, true) {
            if !is_known(&fault)? {
                return Ok(damaged(&fault.to_string()));
            }
        }
        Ok(Ok(()))
    };
    look().map_err(&refused_here)?
}

/// Whether a database is a library of a newer version.
pub(in crate::library) fn is_newer(path: &Path) -> bool {
    let version = || {
        let db = connect_to_read(path)?;
        db.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
    };
    version().is_ok_and(|version| version > SCHEMA)
}

/// Opens a database that may be damaged, to read one of its tables. None where the table is not
/// just as this program makes it: reading it might run something else.
fn table_of(path: &Path, table: &str, progress: &Progress) -> Option<Connection> {
    let db = connect(path, false, progress).ok()?;
    has_table(&db, "main", table, &expected(SCHEMA).ok()?).then_some(db)
}

/// A fact of a database that may be damaged.
pub(in crate::library) fn fact_of(path: &Path, name: &str, progress: &Progress) -> Option<i64> {
    let db = table_of(path, "fact", progress)?;
    db.query_row("SELECT value FROM fact WHERE name = ?1", [name], |row| row.get(0)).ok()
}

/// Which library a database that may be damaged is, and when a snapshot was last restored in it.
pub(in crate::library) fn identity_of(path: &Path, progress: &Progress) -> Option<(i64, i64)> {
    Some((fact_of(path, LIBRARY, progress)?, fact_of(path, RESTORED, progress).unwrap_or(0)))
}

/// The name of the fact that the fault of the chain that shows at an event could not be mended.
pub(in crate::library) fn known_fault(at: EventId) -> String {
    format!("known fault at {}", at.0)
}

/// The name of the fact that all events from this one on were lost, to that which is its value.
pub(in crate::library) fn lost_from(first: EventId) -> String {
    format!("{LOST_FROM}{}", first.0)
}

/// The number of the event after `last`, the last one of a database, and after those that were lost
/// behind it, as far as that is known.
pub(in crate::library) fn next_event_of(path: &Path, last: EventId, progress: &Progress) -> EventId {
    let lost = table_of(path, "fact", progress).and_then(|db| lost_ends(&db).ok());
    after(last, &lost.unwrap_or_default())
}

/// The last event of a database that may be damaged, and the head after it where events have links.
pub(in crate::library) fn tip_of(path: &Path, progress: &Progress) -> Option<Head> {
    table_of(path, "link", progress)?;
    tip(&table_of(path, "event", progress)?).ok()?.1
}

/// The last event that a database that may be damaged knows of, whether or not it still has it: at
/// most as far after `last` as it has rows of events or links after that.
pub(in crate::library) fn reached(path: &Path, last: EventId, progress: &Progress) -> EventId {
    let rows = |table: &str, key: &str| -> Option<u64> {
        let sql = format!("SELECT count(*), max({key}) FROM {table} WHERE {key} > ?1");
        let row = table_of(path, table, progress)?.query_row(&sql, [last.0 as i64], |row| Ok((row.get(0)?, row.get(1)?)));
        let (n, most): (i64, i64) = row.ok()?;
        Some((most as u64).min(last.0.saturating_add(n as u64)))
    };
    let told = [rows("event", "id"), rows("link", "event"), tip_of(path, progress).map(|tip| tip.event.0)];
    EventId(told.into_iter().flatten().max().unwrap_or(0))
}

/// The heads before and after each event of a sound database.
pub(in crate::library) fn joints_of(path: &Path, progress: &Progress) -> Result<Vec<Joint>> {
    let refused = refused("read", path);
    joints(&connect(path, false, progress).map_err(&refused)?).map_err(&refused)
}

/// Writes a whole copy of a database to a new file, also while another program works with it.
/// Returns whether it was done: not for a database of an earlier version.
///
/// # Errors
/// [`Error::Data`] when it is none or damaged, [`Error::Io`], [`Error::Cancelled`].
pub(in crate::library) fn copy(path: &Path, to: &Path, progress: &Progress) -> Result<bool> {
    let refused_here = refused("copy", path);
    let db = connect(path, false, progress).map_err(&refused_here)?;
    let work = || -> rusqlite::Result<Result<bool>> {
        let fact = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let version = fact("user_version")?;
        if fact("application_id")? != APPLICATION || !(1..=SCHEMA).contains(&version) {
            return Ok(Err(damaged(path, "another kind of database, or one of a newer Tessera")));
        }
        if let Some(found) = foreign(&db, &expected(version)?)? {
            return Ok(Err(damaged(path, &found)));
        }
        if version < SCHEMA {
            return Ok(Ok(false));
        }
        copy_to(&db, to)?;
        Ok(Ok(true))
    };
    work().map_err(&refused_here)?
}

/// The events of a damaged database that are as they were written, by their rows and by their
/// links.
pub(in crate::library) fn salvage(path: &Path, progress: &Progress) -> Vec<Event> {
    let mut found = Vec::new();
    let sql = if table_of(path, "link", progress).is_some() { EVENTS } else { BARE_EVENTS };
    let read = |found: &mut Vec<Event>, order: &str| -> rusqlite::Result<()> {
        let Some(db) = table_of(path, "event", progress) else { return Ok(()) };
        let mut query = db.prepare(&format!("{sql} ORDER BY id {order}"))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if let Ok((_, Some(event))) = read_event(row)
                && event.holds()
            {
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
