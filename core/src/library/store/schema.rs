//! The tables of `library.db`, and how those of earlier versions become them.

use rusqlite::{Connection, Result};

use super::seal;
use crate::library::sqlite::{self, Schema};

/// The version of the tables.
pub(super) const SCHEMA: i64 = 4;
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
const NEWER: [&str; 3] = [
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
];

/// The schema of a library of this version, word for word.
pub(super) fn expected(version: i64) -> Result<Schema> {
    let newer = seal::SINCE.iter().zip(NEWER).filter(|((_, since), _)| *since <= version).map(|(_, table)| table);
    sqlite::schema_of(&std::iter::once(TABLES).chain(newer).collect::<Vec<_>>())
}

/// Makes the tables, or brings those of an earlier version up to date, with the triggers that seal
/// their rows.
pub(super) fn prepare(db: &Connection, version: i64) -> Result<()> {
    if version == 0 {
        let tx = db.unchecked_transaction()?;
        tx.execute_batch(TABLES)?;
        NEWER.iter().try_for_each(|table| tx.execute_batch(table))?;
        seal::create(&tx)?;
        tx.pragma_update(None, "application_id", APPLICATION)?;
        tx.pragma_update(None, "user_version", SCHEMA)?;
        tx.commit()?;
        seal::install(db)?;
        // Those rows were made before the triggers, so they are sealed now.
        db.execute("UPDATE tally SET n = n", [])?;
        db.execute("INSERT INTO fact (name, value) VALUES ('clean', 1)", [])?;
        return Ok(());
    }
    let newer = seal::SINCE.iter().zip(NEWER).filter(|((_, since), _)| *since > version);
    let newer: Vec<(&str, &str)> = newer.map(|((name, _), table)| (*name, table)).collect();
    if !newer.is_empty() {
        let tx = db.unchecked_transaction()?;
        for (name, table) in &newer {
            tx.execute_batch(table)?;
            tx.execute("INSERT INTO tally (name, n) VALUES (?1, 0)", [name])?;
        }
        tx.pragma_update(None, "user_version", SCHEMA)?;
        tx.commit()?;
    }
    seal::install(db)?;
    for (name, _) in newer {
        db.execute("UPDATE tally SET n = n WHERE name = ?1", [name])?;
    }
    Ok(())
}
