//! Seals on the rows of `library.db`: the hash of each row stands in the row, and the number of
//! rows of each table in `tally`.
//!
//! Triggers of the connection keep both true, so that no statement can forget to. SQLite itself
//! notices damage to its own structures only; a changed value or a row that is gone would pass for
//! what was written.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

use super::LIBRARY;
use crate::envelope::hash64;
use crate::plural::count;

/// Every table, what is sealed of it, and what tells its rows apart. The rows of the log carry
/// seals of their own.
const TABLES: [(&str, &[&str], &[&str]); 15] = [
    ("root", &["id", "path", "shown", "labels", "exclude"], &["id"]),
    (
        "image",
        &["id", "hash", "width", "height", "bytes", "changed", "folder_label", "object", "meta", "user_said", "user_label", "removed"],
        &["id"],
    ),
    ("caption", &["image", "position", "text", "by_user"], &["image", "position"]),
    ("place", &["root", "path", "shown", "image", "hash", "bytes", "modified", "here"], &["root", "path"]),
    ("class", &["name", "position", "colour"], &["name"]),
    ("alias", &["word", "class"], &["word"]),
    ("forgotten", &["hash"], &["hash"]),
    ("reward", &["image", "query", "value"], &["image", "query"]),
    ("rejection", &["image", "class"], &["image", "class"]),
    ("no_guess", &["image", "word"], &["image", "word"]),
    ("vector", &["image", "name", "steps"], &["image", "name"]),
    ("not_copy", &["image", "other"], &["image", "other"]),
    ("bond", &["image", "other", "together"], &["image", "other"]),
    ("event", &[], &["id"]),
    ("link", &["event", "previous", "head", "opening"], &["event"]),
];
const TALLY: (&str, &[&str], &[&str]) = ("tally", &["name", "n"], &["name"]);
const FACT: (&str, &[&str], &[&str]) = ("fact", &["name", "value"], &["name"]);

/// The version of the tables in which one came, where that is not the first.
pub(super) const SINCE: [(&str, i64); 7] =
    [("reward", 2), ("rejection", 3), ("no_guess", 4), ("link", LINKS), ("vector", 6), ("not_copy", 6), ("bond", 7)];
/// The version from which on events have links.
pub(super) const LINKS: i64 = 5;

/// The tables whose rows are counted.
pub(super) fn counted() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().map(|(table, ..)| table)
}

/// Gives a connection the function `seal`.
pub(super) fn teach(db: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    db.create_scalar_function("seal", -1, flags, seal)
}

/// Gives a connection the triggers that keep the seals.
pub(super) fn install(db: &Connection) -> Result<()> {
    let mut sql = String::new();
    for (table, columns, key) in TABLES.iter().copied().chain([TALLY, FACT]) {
        let matches = key.iter().map(|k| format!("{k} = NEW.{k}")).collect::<Vec<_>>().join(" AND ");
        let values = columns.iter().map(|c| format!("NEW.{c}")).collect::<Vec<_>>().join(", ");
        let sealing = format!("UPDATE {table} SET row_hash = seal('{table}', {values}) WHERE {matches};");
        let sealing = if columns.is_empty() { "" } else { sealing.as_str() };
        let counting = |step: &str| {
            let counts = TABLES.iter().any(|(name, ..)| *name == table);
            if counts { format!("UPDATE tally SET n = n {step} 1 WHERE name = '{table}';") } else { String::new() }
        };
        let (more, fewer) = (counting("+"), counting("-"));
        sql.push_str(&format!("CREATE TEMP TRIGGER {table}_in AFTER INSERT ON main.{table} BEGIN {sealing} {more} END;\n"));
        if !columns.is_empty() {
            let of = columns.join(", ");
            sql.push_str(&format!("CREATE TEMP TRIGGER {table}_on AFTER UPDATE OF {of} ON main.{table} BEGIN {sealing} END;\n"));
        }
        if !fewer.is_empty() {
            sql.push_str(&format!("CREATE TEMP TRIGGER {table}_out AFTER DELETE ON main.{table} BEGIN {fewer} END;\n"));
        }
    }
    db.execute_batch(&sql)
}

/// The condition that a row of a table is as it was written.
pub(super) fn holds(table: &str) -> String {
    let columns = TABLES.iter().find(|(name, ..)| *name == table).map_or_else(String::new, |(_, columns, _)| columns.join(", "));
    format!("row_hash IS seal('{table}', {columns})")
}

/// What does not bear its seal, in sentences. O(rows).
pub(super) fn broken(db: &Connection) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let is_meant = |table: &str| SINCE.iter().all(|(newer, since)| table != *newer || version >= *since);
    for (table, columns, _) in TABLES.iter().copied().chain([TALLY, FACT]) {
        if !columns.is_empty() && is_meant(table) {
            let sql = format!("SELECT count(*) FROM {table} NOT INDEXED WHERE row_hash IS NOT seal('{table}', {})", columns.join(", "));
            let n: i64 = db.query_row(&sql, [], |row| row.get(0))?;
            if n > 0 {
                let rows = count(n as usize, "row");
                let written = if n == 1 { "is not as it was written" } else { "are not as they were written" };
                found.push(format!("{rows} of the table `{table}` {written}"));
            }
        }
    }
    for (table, ..) in TABLES.into_iter().filter(|(table, ..)| is_meant(table)) {
        // A damaged page can show one row in the place of another: as many rows, each as it was
        // written, but not all different.
        let sql = format!("SELECT count(DISTINCT row_hash) FROM {table} NOT INDEXED");
        let n: i64 = db.query_row(&sql, [], |row| row.get(0))?;
        let told: Option<i64> = db.query_row("SELECT max(n) FROM tally WHERE name = ?1", [table], |row| row.get(0))?;
        if told != Some(n) {
            let told = told.map_or_else(|| "an unknown number".to_owned(), |n| n.to_string());
            found.push(format!("the table `{table}` has {n} different rows of {told}"));
        }
    }
    // Facts are not counted, but a library with a history always has a number of its own.
    let sql = "SELECT EXISTS (SELECT 1 FROM event) AND NOT EXISTS (SELECT 1 FROM fact WHERE name = ?1)";
    if db.query_row(sql, [LIBRARY], |row| row.get(0))? {
        found.push("the table `fact` lacks the number of the library".to_owned());
    }
    Ok(found)
}

fn seal(context: &Context<'_>) -> Result<i64> {
    let mut bytes = Vec::new();
    for i in 0..context.len() {
        let (kind, value): (u8, &[u8]) = match context.get_raw(i) {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(value) => (1, &value.to_le_bytes()),
            ValueRef::Real(value) => (2, &value.to_le_bytes()),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        bytes.push(kind);
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value);
    }
    Ok(hash64(&bytes) as i64)
}
