//! The log: events as rows, each with the hash of its columns, and their links.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::envelope::hash64;
use crate::library::chain::{Fault, Head, Joint};
use crate::library::event::{Event, EventId, EventKind};
use crate::library::link::{Digest, Link};

/// The columns of events with their links as [`read_event`] reads them.
pub(super) const EVENTS: &str = "SELECT id, at, act, kind, target, words, changes, written_by, e.row_hash, previous, head, opening
    FROM event AS e NOT INDEXED LEFT JOIN link ON link.event = e.id";
/// The same in a file of an earlier version, whose events have no links.
pub(super) const BARE_EVENTS: &str =
    "SELECT id, at, act, kind, target, words, changes, written_by, row_hash, NULL, NULL, NULL FROM event NOT INDEXED";

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

/// Inserts an event and its link.
pub(super) fn insert(tx: &Connection, event: &Event) -> rusqlite::Result<()> {
    let changes = serde_json::to_string(&event.changes).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let (id, act) = (event.id.0 as i64, event.act.0 as i64);
    let (kind, target) = kind_name(event.kind);
    let hash = row_hash([id, event.at, act, target], [kind, &event.words, &changes, WRITTEN_BY]);
    let sql =
        "INSERT INTO event (id, at, act, kind, target, words, changes, written_by, row_hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    tx.prepare_cached(sql)?.execute(params![id, event.at, act, kind, target, event.words, changes, WRITTEN_BY, hash])?;
    event.link.as_ref().map_or(Ok(()), |link| insert_link(tx, event.id, link))
}

/// Inserts the link of an event.
pub(super) fn insert_link(tx: &Connection, event: EventId, link: &Link) -> rusqlite::Result<()> {
    let opening = serde_json::to_string(&link.opening).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let sql = "INSERT INTO link (event, previous, head, opening) VALUES (?1, ?2, ?3, ?4)";
    tx.prepare_cached(sql)?.execute(params![event.0 as i64, link.previous.0, link.head.0, opening])?;
    Ok(())
}

/// Deletes an event and its link.
pub(super) fn delete(tx: &Connection, event: EventId) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM event WHERE id = ?1", [event.0 as i64])?;
    tx.execute("DELETE FROM link WHERE event = ?1", [event.0 as i64]).map(|_| ())
}

/// The last event and the head after it; no head where its link is missing.
pub(super) fn tip(db: &Connection) -> rusqlite::Result<(EventId, Option<Head>)> {
    let sql = "SELECT id, head FROM event LEFT JOIN link ON event = id ORDER BY id DESC LIMIT 1";
    let found = db.query_row(sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<[u8; 32]>>(1)?))).optional()?;
    let Some((id, head)) = found else { return Ok((EventId(0), Some(Head { event: EventId(0), digest: Digest::origin() }))) };
    let event = EventId(id as u64);
    Ok((event, head.map(|head| Head { event, digest: Digest(head) })))
}

/// How the name of the fact begins that all events from one on were lost, to that which is its
/// value.
pub(super) const LOST_FROM: &str = "lost from ";

/// The events that were lost after the last one.
pub(super) fn lost_ends(db: &Connection) -> rusqlite::Result<Vec<Fault>> {
    let mut query = db.prepare("SELECT substr(name, ?2), value FROM fact WHERE name LIKE ?1")?;
    let end = |row: &Row<'_>| Ok((row.get::<_, String>(0)?.parse().ok(), row.get::<_, i64>(1)?));
    let found = query.query_map(params![format!("{LOST_FROM}%"), LOST_FROM.len() as i64 + 1], end)?;
    let found = found.collect::<rusqlite::Result<Vec<(Option<u64>, i64)>>>()?;
    Ok(found.into_iter().filter_map(|(first, last)| Some(Fault::Lost(EventId(first?), EventId(last as u64)))).collect())
}

/// The number of the event after the last one, and after those that were lost.
pub(super) fn after(last: EventId, lost: &[Fault]) -> EventId {
    lost.iter().map(|fault| fault.at()).fold(EventId(last.0 + 1), EventId::max)
}

/// The heads before and after each event, in order.
pub(super) fn joints(db: &Connection) -> rusqlite::Result<Vec<Joint>> {
    let mut query = db.prepare("SELECT event, previous, head FROM link ORDER BY event")?;
    let joint = |row: &Row<'_>| {
        let after = Head { event: EventId(row.get::<_, i64>(0)? as u64), digest: Digest(row.get(2)?) };
        Ok(Joint { previous: Digest(row.get(1)?), after })
    };
    query.query_map([], joint)?.collect()
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
        link: None,
    });
    let link = match (row.get::<_, Option<[u8; 32]>>(9)?, row.get::<_, Option<[u8; 32]>>(10)?, row.get::<_, Option<String>>(11)?) {
        (Some(previous), Some(head), Some(opening)) => {
            let Ok(opening) = serde_json::from_str(&opening) else { return Ok((id, None)) };
            Some(Link { previous: Digest(previous), head: Digest(head), opening })
        }
        _ => None,
    };
    Ok((id, event.map(|event| Event { link, ..event })))
}

/// What is wrong with an event whose row is not as it was written.
pub(super) fn altered(id: i64) -> String {
    format!("event {id} with other bytes than were written")
}
