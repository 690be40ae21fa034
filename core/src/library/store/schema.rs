//! The tables of `library.db`, and how those of earlier versions become them.

use rusqlite::{Connection, Result};

use super::log::{BARE_EVENTS, altered, insert_link, read_event};
use super::seal;
use crate::error::Result as Outcome;
use crate::library::link::{Digest, Secret};
use crate::library::sqlite::{self, Schema};

/// The version of the tables.
pub(super) const SCHEMA: i64 = 8;
/// Tells a library from other SQLite files: the letters `TESS`.
pub(super) const APPLICATION: i64 = 0x5445_5353;

const TABLES: &str = "
CREATE TABLE root (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL, shown TEXT NOT NULL, labels TEXT NOT NULL, exclude TEXT NOT NULL,
    row_hash INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE image (
    id INTEGER PRIMARY KEY, hash BLOB UNIQUE, width INTEGER, height INTEGER, bytes INTEGER, changed INTEGER,
    folder_label TEXT, object TEXT, meta TEXT NOT NULL DEFAULT '{}',
    user_said TEXT NOT NULL DEFAULT 'nothing' CHECK (user_said IN ('nothing', 'class', 'no class')), user_label TEXT,
    removed INTEGER NOT NULL DEFAULT 0, row_hash INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE caption (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, position INTEGER NOT NULL, text TEXT NOT NULL,
    by_user INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, position)) STRICT, WITHOUT ROWID;
CREATE TABLE place (
    root INTEGER NOT NULL REFERENCES root, path BLOB NOT NULL, shown TEXT NOT NULL,
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, hash BLOB NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL,
    here INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (root, path)) STRICT, WITHOUT ROWID;
CREATE INDEX place_image ON place (image);
CREATE TABLE class (
    name TEXT PRIMARY KEY, position INTEGER NOT NULL, colour INTEGER, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE alias (word TEXT PRIMARY KEY, class TEXT NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE forgotten (hash BLOB PRIMARY KEY, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE tally (name TEXT PRIMARY KEY, n INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, act INTEGER NOT NULL, kind TEXT NOT NULL, target INTEGER NOT NULL,
    words TEXT NOT NULL, changes TEXT NOT NULL, written_by TEXT NOT NULL, row_hash INTEGER NOT NULL) STRICT;
";

/// What later versions have besides, in the order of [`seal::SINCE`].
const NEWER: [&str; 7] = [
    "
CREATE TABLE reward (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, query TEXT NOT NULL, value INTEGER NOT NULL,
    row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, query)) STRICT, WITHOUT ROWID;
",
    "
CREATE TABLE rejection (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, class TEXT NOT NULL,
    row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, class)) STRICT, WITHOUT ROWID;
",
    "
CREATE TABLE no_guess (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, word TEXT NOT NULL,
    row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, word)) STRICT, WITHOUT ROWID;
",
    "
CREATE TABLE link (
    event INTEGER PRIMARY KEY, previous BLOB NOT NULL, head BLOB NOT NULL, opening TEXT NOT NULL,
    row_hash INTEGER NOT NULL DEFAULT 0) STRICT;
",
    "
CREATE TABLE vector (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, name TEXT NOT NULL, steps BLOB NOT NULL,
    row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, name)) STRICT;
",
    "
CREATE TABLE not_copy (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, other INTEGER NOT NULL REFERENCES image ON DELETE CASCADE,
    row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, other)) STRICT, WITHOUT ROWID;
",
    "
CREATE TABLE bond (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, other INTEGER NOT NULL REFERENCES image ON DELETE CASCADE,
    together INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, other)) STRICT, WITHOUT ROWID;
",
];

/// The schema of a library of this version, word for word.
pub(super) fn expected(version: i64) -> Result<Schema> {
    let newer = seal::SINCE.iter().zip(NEWER).filter(|((_, since), _)| *since <= version).map(|(_, table)| table);
    sqlite::schema_of(&std::iter::once(TABLES).chain(newer).collect::<Vec<_>>())
}

/// Makes the tables, or brings those of an earlier version up to date in one transaction, with the
/// triggers of the connection that seal their rows. Returns what is wrong with an event of an
/// earlier version.
pub(super) fn prepare(db: &Connection, version: i64) -> Result<Outcome<(), String>> {
    if version == SCHEMA {
        return seal::install(db).map(Ok);
    }
    let tx = db.unchecked_transaction()?;
    let newer: Vec<(&str, &str)> =
        seal::SINCE.iter().zip(NEWER).filter(|((_, since), _)| *since > version).map(|((name, _), table)| (*name, table)).collect();
    if version == 0 {
        tx.execute_batch(TABLES)?;
        tx.pragma_update(None, "application_id", APPLICATION)?;
    }
    newer.iter().try_for_each(|(_, table)| tx.execute_batch(table))?;
    seal::install(&tx)?;
    for name in seal::counted().filter(|name| version == 0 || newer.iter().any(|(newer, _)| newer == name)) {
        tx.execute("INSERT INTO tally (name, n) VALUES (?1, 0)", [name])?;
    }
    if version == 0 {
        tx.execute("INSERT INTO fact (name, value) VALUES ('clean', 1)", [])?;
    } else if version < seal::LINKS
        && let Err(found) = link_all(&tx)?
    {
        return Ok(Err(found));
    }
    tx.pragma_update(None, "user_version", SCHEMA)?;
    tx.commit()?;
    Ok(Ok(()))
}

/// Links the events of an earlier version, which have no links: the only links that are made for
/// events of before. Numbers may be missing among them. Returns what is wrong with one.
fn link_all(db: &Connection) -> Result<Outcome<(), String>> {
    let mut previous = Digest::origin();
    let mut query = db.prepare(&format!("{BARE_EVENTS} ORDER BY id"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (id, Some(mut event)) = read_event(row)? else { return Ok(Err(altered(row.get(0)?))) };
        let secret = match Secret::draw() {
            Ok(secret) => secret,
            Err(error) => return Err(rusqlite::Error::ToSqlConversionFailure(error.into())),
        };
        event.tie(previous, secret);
        let Some(link) = event.link else { return Ok(Err(altered(id))) };
        insert_link(db, event.id, &link)?;
        previous = link.head;
    }
    Ok(Ok(()))
}
