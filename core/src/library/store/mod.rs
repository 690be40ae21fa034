//! `library.db`: the log of events and the tables they lead to, in SQLite.
//!
//! The log is the source of truth; the tables hold the state it leads to, so that opening needs no
//! replay and any SQLite tool can read a library. Both change in one transaction, every row carries
//! the xxh3-64 of its own columns (`seal`), and everything is also written to the journal
//! (`journal.jsonl`).

pub(super) mod first;
pub(super) mod inspect;
mod load;
mod log;
mod refused;
mod schema;
mod seal;
mod tables;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::chain::{Fault, Head, Joint};
use super::event::{Change, ContentHash, Event, EventId, EventKind, RootId};
use super::forget::Purge;
use super::journal::{Journal, Line};
use super::link::Secret;
use super::read_only::ReadOnly;
use super::sqlite;
use super::state::{Place, Root, State};
use crate::data::Labels;
use crate::envelope::hash64;
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::raw_path::{RawPath, to_bytes};
use crate::storage::{Disk, Storage};
use log::{EVENTS, after, altered, delete, insert, joints, lost_ends, read_event, tip};
use refused::{damaged, refused};
use schema::{APPLICATION, SCHEMA};
use tables::{hash_bytes, project, put_image, put_place};

pub(super) use refused::REPAIR;

/// Names of facts: the library's own number, when a snapshot was restored in it, when something was
/// forgotten (both in milliseconds since 1970).
pub(super) const LIBRARY: &str = "library";
pub(super) const RESTORED: &str = "restored at";
pub(super) const FORGOT: &str = "forgot time";
/// The event of that.
pub(super) const FORGOT_AT: &str = "forgot at";

/// A connection to `library.db`.
pub(super) struct Store {
    db: Connection,
    pub(super) path: PathBuf,
    pub(super) journal: Journal,
    /// The state in which the file was found: whether the program that had it before closed it.
    pub(super) was_clean: bool,
    /// Why nothing more is written, and the library that this is a copy of.
    frozen: Option<(ReadOnly, PathBuf)>,
}

impl Store {
    /// Opens the file, or makes it when `create` is true. Cancelling `progress` ends whatever is
    /// done with it, until [`Store::settle_in`].
    pub(super) fn open(path: &Path, create: bool, storage: Arc<dyn Storage>, progress: &Progress) -> Result<Self> {
        if !create && !path.is_file() {
            return Err(Error::data(path, "a library", "nothing of that name", "import a folder into it first"));
        }
        let db = sqlite::connect(path, create, progress).map_err(refused("open", path))?;
        let journal = Journal::new(path.parent().unwrap_or(path), storage);
        let mut store = Self { db, path: path.to_owned(), journal, was_clean: true, frozen: None };
        store.prepare(create, false).map_err(refused("open", path))??;
        store.begin()?;
        Ok(store)
    }

    /// Opens a copy of the file, which may be of a newer version if all tables of this one are
    /// there.
    pub(super) fn open_copy(path: &Path, progress: &Progress) -> Result<Self> {
        let db = sqlite::connect(path, false, progress).map_err(refused("open", path))?;
        let journal = Journal::new(path.parent().unwrap_or(path), Arc::new(Disk));
        let mut store = Self { db, path: path.to_owned(), journal, was_clean: true, frozen: None };
        store.prepare(false, true).map_err(refused("open", path))??;
        store.begin()?;
        Ok(store)
    }

    /// Refuses to write from here on: this is a copy of the library in `folder`, which is only
    /// read.
    pub(super) fn freeze(&mut self, why: ReadOnly, folder: &Path) {
        self.frozen = Some((why, folder.to_owned()));
    }

    /// Whether nothing is written.
    pub(super) fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Refuses to write where nothing is written.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.frozen.as_ref().map_or(Ok(()), |(why, folder)| Err(why.error(folder)))
    }

    /// Lets work on the open file end only by itself: what is acknowledged from here on must not be
    /// lost because other work is cancelled.
    pub(super) fn settle_in(&mut self) -> Result<()> {
        sqlite::settle(&mut self.db).map_err(self.refused("open"))
    }

    fn prepare(&self, create: bool, is_copy: bool) -> rusqlite::Result<Result<()>> {
        let db = &self.db;
        let found: i64 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        // A program that was killed while it made a library leaves a file without tables.
        let is_blank = || db.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get::<_, bool>(0));
        if found != APPLICATION && !(found == 0 && version == 0 && (create || is_blank()?)) {
            let advice = "name the folder of a library";
            return Ok(Err(Error::data(&self.path, "a library", "another kind of database", advice)));
        }
        let is_newer = version > SCHEMA;
        if is_newer && !(is_copy && sqlite::has_all(db, &schema::expected(SCHEMA)?)) {
            let found = format!("version {version}");
            return Ok(Err(Error::data(&self.path, format!("a library of version {SCHEMA}"), found, "install a newer Tessera")));
        }
        // Nothing that another program put into the file may run or be read.
        if version > 0
            && !is_newer
            && let Some(found) = sqlite::foreign(db, &schema::expected(version)?)?
        {
            return Ok(Err(self.damaged(&found)));
        }
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        for (name, value) in [("fullfsync", 1), ("checkpoint_fullfsync", 1), ("foreign_keys", 1), ("cell_size_check", 1)] {
            db.pragma_update(None, name, value)?;
        }
        for (name, value) in [("mmap_size", 0), ("secure_delete", 1)] {
            db.pragma_update(None, name, value)?;
        }
        seal::teach(db)?;
        Ok(schema::prepare(db, version.min(SCHEMA))?.map_err(|found| self.damaged(&found)))
    }

    /// Checks whether the file is sound, more closely when it was not closed, and notes that it is
    /// open now.
    fn begin(&mut self) -> Result<()> {
        self.was_clean = self.fact("clean")? == Some(1);
        let refused = self.refused("read");
        if !self.was_clean {
            let lines: rusqlite::Result<Vec<String>> =
                self.db.prepare("PRAGMA quick_check").and_then(|mut query| query.query_map([], |row| row.get(0))?.collect());
            if let Some(line) = lines.map_err(&refused)?.into_iter().find(|line| line != "ok") {
                return Err(self.damaged(&line));
            }
        }
        if let Some(found) = seal::broken(&self.db).map_err(&refused)?.first() {
            return Err(self.damaged(found));
        }
        self.check_tip()?;
        if self.fact(LIBRARY)?.is_none() {
            self.renumber()?;
        }
        // Nothing is written without need, so that a library on a full disk can be opened.
        if self.was_clean { self.set_fact("clean", 0) } else { Ok(()) }
    }

    /// Checks that the last event is what its link says. O(changes of that event).
    fn check_tip(&self) -> Result<()> {
        let last = self.head()?;
        match self.events("id = ?1", last.event.0)?.first() {
            Some(event) if !event.holds() => Err(self.damaged(&Fault::Altered(event.id).to_string())),
            _ => Ok(()),
        }
    }

    /// The last event and the head after it.
    pub(super) fn head(&self) -> Result<Head> {
        let (event, head) = tip(&self.db).map_err(self.refused("read"))?;
        head.ok_or_else(|| self.damaged(&Fault::Unlinked(event).to_string()))
    }

    /// The heads before and after each event. O(events).
    pub(super) fn joints(&self) -> Result<Vec<Joint>> {
        joints(&self.db).map_err(self.refused("read"))
    }

    /// Gives the library a number of its own.
    pub(super) fn renumber(&self) -> Result<()> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let words = format!("{} {} {}", since.as_nanos(), std::process::id(), self.path.display());
        self.set_fact(LIBRARY, (hash64(words.as_bytes()) >> 1) as i64)
    }

    /// A number that is kept under a name.
    pub(super) fn fact(&self, name: &str) -> Result<Option<i64>> {
        let found = self.db.query_row("SELECT value FROM fact WHERE name = ?1", [name], |row| row.get(0)).optional();
        found.map_err(self.refused("read"))
    }

    pub(super) fn set_fact(&self, name: &str, value: i64) -> Result<()> {
        self.check_writable()?;
        let sql = "INSERT INTO fact (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2";
        self.db.execute(sql, params![name, value]).map(|_| ()).map_err(self.refused("write"))
    }

    fn refused(&self, action: &'static str) -> impl Fn(rusqlite::Error) -> Error {
        refused(action, &self.path)
    }

    /// Reads the whole state.
    pub(super) fn load(&self) -> Result<State> {
        load::load(&self.db).map_err(self.refused("read"))?.map_err(|found| self.damaged(&found))
    }

    /// The folders in use.
    pub(super) fn roots(&self) -> Result<BTreeMap<RootId, Root>> {
        load::roots(&self.db).map_err(self.refused("read"))
    }

    pub(super) fn damaged(&self, found: &str) -> Error {
        damaged(&self.path, found)
    }

    /// Writes an event and the state it leads to, and gives the event its number. On disk when this
    /// returns.
    pub(super) fn append(&mut self, at: i64, act: Option<EventId>, kind: EventKind, words: &str, changes: Vec<Change>) -> Result<Event> {
        self.check_writable()?;
        let refused = refused("write", &self.path);
        let tx = self.db.transaction().map_err(&refused)?;
        let (last, previous) = tip(&tx).map_err(&refused)?;
        let lost = lost_ends(&tx).map_err(&refused)?;
        let previous = previous.ok_or_else(|| damaged(&self.path, &Fault::Unlinked(last).to_string()))?;
        let id = after(last, &lost);
        let mut event = Event { id, at, act: act.unwrap_or(id), kind, words: words.to_owned(), changes, link: None };
        event.tie(previous.digest, Secret::draw()?);
        insert(&tx, &event).map_err(&refused)?;
        for change in &event.changes {
            project(&tx, change).map_err(&refused)?;
        }
        tx.commit().map_err(&refused)?;
        let mut lines = vec![Line::event(&event)];
        if event.changes.iter().any(|change| matches!(change, Change::Root(..) | Change::Reading(..))) {
            // The event is committed; an error here leaves only the journal behind.
            match self.roots() {
                Ok(roots) => lines.extend(roots.iter().map(|(id, root)| Line::root(*id, root))),
                Err(_) => self.journal.outdate(),
            }
        }
        self.journal.append(lines);
        Ok(event)
    }

    /// Adds an event that was saved elsewhere, and updates the tables to the state it leads to. One
    /// without a link is tied to the last event.
    pub(super) fn enter(&mut self, event: &mut Event) -> Result<()> {
        if event.link.is_none() {
            event.tie(self.head()?.digest, Secret::draw()?);
        }
        self.write(|tx| {
            insert(tx, event)?;
            event.changes.iter().try_for_each(|change| project(tx, change))
        })
    }

    /// Updates the tables alone.
    pub(super) fn project<'a>(&mut self, mut changes: impl Iterator<Item = &'a Change>) -> Result<()> {
        self.write(|tx| changes.try_for_each(|change| project(tx, change)))
    }

    /// The events after `after`, their changes included, each checked against its hash.
    pub(super) fn events_after(&self, after: u64) -> Result<Vec<Event>> {
        self.events("id > ?1", after)
    }

    /// The events of an act.
    pub(super) fn events_of(&self, act: EventId) -> Result<Vec<Event>> {
        self.events("id >= ?1 AND act = ?1", act.0)
    }

    /// The event that last undid an act.
    pub(super) fn last_undo_of(&self, act: EventId) -> Result<Option<Event>> {
        Ok(self.events("kind = 'undo' AND target = ?1", act.0)?.pop())
    }

    fn events(&self, filter: &str, value: u64) -> Result<Vec<Event>> {
        let refused = self.refused("read");
        let sql = format!("{EVENTS} WHERE {filter} ORDER BY id");
        let mut query = self.db.prepare(&sql).map_err(&refused)?;
        let mut rows = query.query([value as i64]).map_err(&refused)?;
        let mut events = Vec::new();
        while let Some(row) = rows.next().map_err(&refused)? {
            let (id, event) = read_event(row).map_err(&refused)?;
            events.push(event.ok_or_else(|| self.damaged(&altered(id)))?);
        }
        Ok(events)
    }

    /// The events whose rows are not as they were written.
    pub(super) fn broken_events(&self) -> Result<Vec<i64>> {
        let refused = self.refused("read");
        let mut query = self.db.prepare(&format!("{EVENTS} ORDER BY id")).map_err(&refused)?;
        let mut rows = query.query([]).map_err(&refused)?;
        let mut broken = Vec::new();
        while let Some(row) = rows.next().map_err(&refused)? {
            match read_event(row) {
                Ok((_, Some(_))) => {}
                Ok((id, None)) => broken.push(id),
                Err(_) => broken.push(row.get(0).unwrap_or(-1)),
            }
        }
        Ok(broken)
    }

    /// What SQLite itself finds wrong with the file.
    pub(super) fn integrity(&self) -> Result<Vec<String>> {
        let refused = self.refused("check");
        let mut query = self.db.prepare("PRAGMA integrity_check").map_err(&refused)?;
        let lines: rusqlite::Result<Vec<String>> = query.query_map([], |row| row.get(0)).map_err(&refused)?.collect();
        Ok(lines.map_err(&refused)?.into_iter().filter(|line| line != "ok").collect())
    }

    /// Does `work` in one transaction.
    pub(super) fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        self.check_writable()?;
        let refused = refused("write", &self.path);
        let tx = self.db.transaction().map_err(&refused)?;
        let value = work(&tx).map_err(&refused)?;
        tx.commit().map_err(&refused)?;
        Ok(value)
    }

    /// Enters a root at a path that has none.
    pub(super) fn root(&mut self, root: &Root) -> Result<RootId> {
        let id = self.write(|tx| {
            let sql = "INSERT INTO root (path, shown, labels, exclude) VALUES (?1, ?2, ?3, ?4)";
            tx.execute(
                sql,
                params![to_bytes(&root.path), root.path.to_string_lossy(), root.reading.labels, root.reading.exclude.join("\n")],
            )?;
            Ok(RootId(tx.last_insert_rowid() as u32))
        })?;
        self.journal.append([Line::root(id, root)]);
        Ok(id)
    }

    /// Enters a root under a number.
    pub(super) fn put_root(&mut self, id: RootId, root: &Root) -> Result<()> {
        let sql = "INSERT INTO root (id, path, shown, labels, exclude) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET path = ?2, shown = ?3, labels = ?4, exclude = ?5";
        let (path, shown, exclude) = (to_bytes(&root.path), root.path.to_string_lossy(), root.reading.exclude.join("\n"));
        self.write(|tx| tx.execute(sql, params![id.0, path, shown, root.reading.labels, exclude]).map(|_| ()))
    }

    /// Enters places, or what is known of them now.
    pub(super) fn put_places(&mut self, places: &[(ItemId, &Place)]) -> Result<()> {
        self.write(|tx| {
            places.iter().try_for_each(|(image, place)| {
                put_image(tx, *image)?;
                put_place(tx, *image, place)
            })
        })?;
        self.journal.append(places.iter().map(|(image, place)| Line::place(*image, place)));
        Ok(())
    }

    /// Takes out places.
    pub(super) fn drop_places(&mut self, places: &[(RootId, PathBuf)]) -> Result<()> {
        self.write(|tx| {
            places.iter().try_for_each(|(root, path)| {
                tx.execute("DELETE FROM place WHERE root = ?1 AND path = ?2", params![root.0, to_bytes(path)]).map(|_| ())
            })
        })?;
        self.journal.append(places.iter().map(|(root, path)| Line::Gone { root: *root, path: RawPath(path.clone()) }));
        Ok(())
    }

    /// Notes that these bytes were forgotten, so that no import takes them in.
    pub(super) fn put_forgotten(&mut self, hash: ContentHash) -> Result<()> {
        self.write(|tx| tx.execute("INSERT OR IGNORE INTO forgotten (hash) VALUES (?1)", [hash_bytes(hash)]).map(|_| ()))
    }

    /// The hashes of the bytes that the user wanted forgotten.
    pub(super) fn forgotten(&self) -> Result<HashSet<ContentHash>> {
        let read = || -> rusqlite::Result<HashSet<ContentHash>> {
            let mut query = self.db.prepare("SELECT hash FROM forgotten")?;
            query.query_map([], |row| Ok(ContentHash(u128::from_be_bytes(row.get(0)?))))?.collect()
        };
        read().map_err(self.refused("read"))
    }

    /// Purges images and classes: their rows, and their part in every event. Keeps their bytes out
    /// from now on. The journal is out of date then, and [`Store::compact`] overwrites in the file
    /// what was deleted.
    pub(super) fn purge(&mut self, purge: &Purge, next_image: u32) -> Result<()> {
        let mut event = purge.event.clone();
        event.tie(self.head()?.digest, Secret::draw()?);
        self.set_fact("next image", i64::from(next_image))?;
        self.set_fact(FORGOT_AT, purge.event.id.0 as i64)?;
        self.set_fact(FORGOT, purge.time)?;
        // From here on the journal must be written anew, whatever else happens.
        self.journal.outdate();
        self.write(|tx| {
            for rest in &purge.left {
                delete(tx, rest.id)?;
                insert(tx, rest)?;
            }
            for image in &purge.images {
                tx.execute("DELETE FROM image WHERE id = ?1", [image.0])?;
            }
            for root in &purge.roots {
                tx.execute("DELETE FROM root WHERE id = ?1", [root.0])?;
            }
            for root in &purge.unnamed {
                tx.execute("UPDATE root SET labels = ?2 WHERE id = ?1", params![root.0, Labels::None.name()])?;
            }
            for class in &purge.classes {
                tx.execute("DELETE FROM class WHERE name = ?1", [class])?;
                tx.execute("DELETE FROM alias WHERE word = ?1 OR class = ?1", [class])?;
            }
            for hash in &purge.hashes {
                tx.execute("INSERT OR IGNORE INTO forgotten (hash) VALUES (?1)", [hash_bytes(*hash)])?;
            }
            insert(tx, &event)
        })
    }

    /// Overwrites what was deleted, in the file and in what SQLite keeps beside it.
    pub(super) fn compact(&self) -> Result<()> {
        self.db.execute_batch("VACUUM").map_err(self.refused("write"))?;
        if sqlite::empty_log(&self.db).map_err(self.refused("write"))? { Ok(()) } else { Err(sqlite::is_read(&self.path)) }
    }

    /// Lets the user import these bytes again.
    pub(super) fn unforget(&mut self, hash: ContentHash) -> Result<()> {
        self.write(|tx| tx.execute("DELETE FROM forgotten WHERE hash = ?1", [hash_bytes(hash)]).map(|_| ()))?;
        self.journal.append([Line::Again(hash)]);
        Ok(())
    }

    /// Merges the write-ahead log into the file, and notes that it was closed.
    pub(super) fn settle(&mut self) {
        // Errors are ignored: without these notes the next opening checks more closely.
        if let Ok(last) = self.head() {
            self.journal.close(last);
        }
        if self.journal.behind().is_none() {
            let _ = self.set_fact("clean", 1);
        }
        let _ = self.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// Writes a whole copy of the database to a new file.
    pub(super) fn copy_to(&self, path: &Path) -> Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::io("delete", path)(error)),
            _ => {}
        }
        sqlite::copy_to(&self.db, path).map_err(refused("write", path))
    }

    /// Whether there is an event of this number.
    pub(super) fn has(&self, event: EventId) -> Result<bool> {
        let sql = "SELECT count(*) > 0 FROM event WHERE id = ?1";
        self.db.query_row(sql, [event.0 as i64], |row| row.get(0)).map_err(self.refused("read"))
    }

    /// The last event.
    pub(super) fn last(&self) -> Result<Option<Event>> {
        Ok(self.events("id = ?1", self.head()?.event.0)?.pop())
    }

    /// The number of the next event: identifiers of events are never used twice, also where the
    /// last ones are lost or were purged.
    pub(super) fn next_event(&self) -> Result<EventId> {
        Ok(after(self.head()?.event, &self.lost_ends()?))
    }

    /// The events that were after the last one that a repair could recover, as far as other files
    /// told of them.
    pub(super) fn lost_ends(&self) -> Result<Vec<Fault>> {
        lost_ends(&self.db).map_err(self.refused("read"))
    }

    /// Takes over the places of a damaged database that are as they were written, where nothing is
    /// known of them.
    pub(super) fn salvage_places(&mut self, path: &Path) {
        let columns = "root, path, shown, image, hash, bytes, modified, here";
        let sql = format!(
            "INSERT OR IGNORE INTO main.place ({columns}) SELECT {columns} FROM other.place AS o
             WHERE row_hash IS seal('place', o.root, o.path, o.shown, o.image, o.hash, o.bytes, o.modified, o.here)
             AND root IN (SELECT id FROM main.root) AND image IN (SELECT id FROM main.image)"
        );
        // Places that are lost are found again by the next import.
        let bytes = to_bytes(&sqlite::real(path));
        let _ = self.db.execute("ATTACH ?1 AS other", [ToSqlOutput::Borrowed(ValueRef::Text(&bytes))]);
        if schema::expected(SCHEMA).is_ok_and(|expected| sqlite::has_table(&self.db, "other", "place", &expected)) {
            let _ = self.db.execute(&sql, []);
        }
        let _ = self.db.execute("DETACH other", []);
    }
}
