//! The log: events as rows, each with the hash of its columns.

use rusqlite::{Row, Transaction, params};

use crate::envelope::hash64;
use crate::library::event::{Event, EventId, EventKind};

/// The columns of events as [`read_event`] reads them.
pub(super) const EVENTS: &str = "SELECT id, at, act, kind, target, words, changes, written_by, row_hash FROM event NOT INDEXED";

fn kind_name(kind: EventKind) -> (&'static str, i64) {
    match kind {
        EventKind::Act => ("act", 0),
        EventKind::Undo(act) => ("undo", act.0 as i64),
        EventKind::Redo(act) => ("redo", act.0 as i64),
        EventKind::Final => ("final", 0),
    }
}

fn kind_of(name: &str, target: i64) -> Option<EventKind> {
    let target = EventId(target as u64);
    match name {
        "act" => Some(EventKind::Act),
        "undo" => Some(EventKind::Undo(target)),
        "redo" => Some(EventKind::Redo(target)),
        "final" => Some(EventKind::Final),
        _ => None,
    }
}

const WRITTEN_BY: &str = concat!("tessera ", env!("CARGO_PKG_VERSION"));

/// The hash of an event's columns.
fn row_hash(numbers: [i64; 4], texts: [&str; 4]) -> i64 {
    let mut bytes = Vec::new();
    for number in numbers {
        bytes.extend(number.to_le_bytes());
    }
    for text in texts {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    hash64(&bytes) as i64
}

/// Inserts an event.
pub(super) fn insert(tx: &Transaction<'_>, event: &Event) -> rusqlite::Result<()> {
    let changes = serde_json::to_string(&event.changes).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let (id, act) = (event.id.0 as i64, event.act.0 as i64);
    let (kind, target) = kind_name(event.kind);
    let hash = row_hash([id, event.at, act, target], [kind, &event.words, &changes, WRITTEN_BY]);
    let sql =
        "INSERT INTO event (id, at, act, kind, target, words, changes, written_by, row_hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    tx.prepare_cached(sql)?.execute(params![id, event.at, act, kind, target, event.words, changes, WRITTEN_BY, hash])?;
    Ok(())
}

/// The event of a row and its identifier; no event when the row is not as it was written.
pub(super) fn read_event(row: &Row<'_>) -> rusqlite::Result<(i64, Option<Event>)> {
    let (id, at, act): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (kind, target): (String, i64) = (row.get(3)?, row.get(4)?);
    let (words, changes, written_by): (String, String, String) = (row.get(5)?, row.get(6)?, row.get(7)?);
    if row_hash([id, at, act, target], [&kind, &words, &changes, &written_by]) != row.get::<_, i64>(8)? {
        return Ok((id, None));
    }
    let event = kind_of(&kind, target).zip(serde_json::from_str(&changes).ok()).map(|(kind, changes)| Event {
        id: EventId(id as u64),
        at,
        act: EventId(act as u64),
        kind,
        words,
        changes,
    });
    Ok((id, event))
}

/// What is wrong with an event whose row is not as it was written.
pub(super) fn altered(id: i64) -> String {
    format!("event {id} with other bytes than were written")
}
