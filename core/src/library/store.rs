//! `library.db`: the log of events and the tables they lead to, in SQLite.
//!
//! The log is what counts; the tables hold the state it leads to, so that opening needs no replay and any SQLite tool
//! can read a library. Both change in one transaction, every row carries the xxh3-64 of its own columns ([`super::seal`]),
//! and what happened is told once more in the journal ([`super::journal`]).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, params};

use super::event::{
    Caption, Change, ClassLook, Content, ContentHash, Event, EventId, EventKind, Field, FolderWord, Reward, RootId, UserLabel,
};
use super::journal::{Journal, Line};
use super::schema::{self, APPLICATION, SCHEMA};
use super::seal;
use super::state::{Image, Place, Root, State};
use crate::data::Meta;
use crate::envelope::hash64;
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::raw_path::{RawPath, from_bytes, to_bytes};
use crate::storage::Storage;

/// The columns of events as [`read_event`] reads them.
const EVENTS: &str = "SELECT id, at, act, kind, target, words, changes, written_by, row_hash FROM event NOT INDEXED";
pub(super) const REPAIR: &str = "run `tessera check LIBRARY --repair`";

/// Facts: which library this is, when a snapshot was put back in it, when something was forgotten (both in milliseconds since 1970).
pub(super) const LIBRARY: &str = "library";
pub(super) const RESTORED: &str = "restored at";
pub(super) const FORGOT: &str = "forgot time";

/// A connection to `library.db`.
pub(super) struct Store {
    db: Connection,
    pub(super) path: PathBuf,
    pub(super) journal: Journal,
    /// The state in which the file was found: whether the program that had it before closed it.
    pub(super) was_clean: bool,
}

impl Store {
    /// Opens the file, which is made when `create` says so.
    pub(super) fn open(path: &Path, create: bool, storage: Arc<dyn Storage>) -> Result<Self> {
        if !create && !path.is_file() {
            return Err(Error::data(path, "a library", "nothing of that name", "import a folder into it first"));
        }
        let db = Connection::open(path).map_err(refused("open", path))?;
        let journal = Journal::new(path.parent().unwrap_or(path), storage);
        let mut store = Self { db, path: path.to_owned(), journal, was_clean: true };
        store.prepare(create).map_err(refused("open", path))??;
        store.begin()?;
        Ok(store)
    }

    fn prepare(&self, create: bool) -> rusqlite::Result<Result<()>> {
        let db = &self.db;
        db.busy_timeout(std::time::Duration::from_secs(5))?;
        let found: i64 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        // A program that ended while it made a library leaves a file without tables.
        let is_blank = || db.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get::<_, bool>(0));
        if found != APPLICATION && !(found == 0 && version == 0 && (create || is_blank()?)) {
            let advice = "name the folder of a library";
            return Ok(Err(Error::data(&self.path, "a library", "another kind of database", advice)));
        }
        if version > SCHEMA {
            let found = format!("version {version}");
            return Ok(Err(Error::data(&self.path, format!("a library of version {SCHEMA}"), found, "install a newer Tessera")));
        }
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        for (name, value) in [("fullfsync", 1), ("checkpoint_fullfsync", 1), ("foreign_keys", 1), ("cell_size_check", 1)] {
            db.pragma_update(None, name, value)?;
        }
        for (name, value) in [("mmap_size", 0), ("trusted_schema", 0), ("secure_delete", 1)] {
            db.pragma_update(None, name, value)?;
        }
        seal::teach(db)?;
        schema::prepare(db, version)?;
        Ok(Ok(()))
    }

    /// Looks whether the file is sound, more closely when it was not closed, and notes that it is open now.
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
        if self.fact(LIBRARY)?.is_none() {
            let words = format!("{:?} {} {}", std::time::SystemTime::now(), std::process::id(), self.path.display());
            self.set_fact(LIBRARY, (hash64(words.as_bytes()) >> 1) as i64)?;
        }
        // A full disk can be read as long as there is nothing to write.
        if self.was_clean { self.set_fact("clean", 0) } else { Ok(()) }
    }

    /// A number that is kept under a name.
    pub(super) fn fact(&self, name: &str) -> Result<Option<i64>> {
        let found = self.db.query_row("SELECT value FROM fact WHERE name = ?1", [name], |row| row.get(0)).optional();
        found.map_err(self.refused("read"))
    }

    pub(super) fn set_fact(&self, name: &str, value: i64) -> Result<()> {
        let sql = "INSERT INTO fact (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2";
        self.db.execute(sql, params![name, value]).map(|_| ()).map_err(self.refused("write"))
    }

    fn refused(&self, action: &'static str) -> impl Fn(rusqlite::Error) -> Error {
        refused(action, &self.path)
    }

    /// Reads the whole state.
    pub(super) fn load(&self) -> Result<State> {
        self.load_inner().map_err(self.refused("read"))?
    }

    /// The folders in use.
    pub(super) fn roots(&self) -> Result<BTreeMap<RootId, Root>> {
        self.roots_inner().map_err(self.refused("read"))
    }

    fn roots_inner(&self) -> rusqlite::Result<BTreeMap<RootId, Root>> {
        let mut roots = BTreeMap::new();
        let mut query = self.db.prepare("SELECT id, path, labels, exclude FROM root")?;
        for row in query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?)))? {
            let (id, path, labels, exclude) = row?;
            let exclude = exclude.lines().map(str::to_owned).collect();
            roots.insert(RootId(id), Root { path: from_bytes(path), labels, exclude });
        }
        Ok(roots)
    }

    fn load_inner(&self) -> rusqlite::Result<Result<State>> {
        let mut state = State::default();
        state.roots = Arc::new(self.roots_inner()?);
        let mut query = self.db.prepare("SELECT * FROM image ORDER BY id")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (id, image) = match image_of(row) {
                Ok(parts) => parts,
                Err(found) => return Ok(Err(self.damaged(&found))),
            };
            *state.edit(id) = image;
        }
        let mut query = self.db.prepare("SELECT image, text, by_user FROM caption ORDER BY image, position")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            state.edit(ItemId(row.get(0)?)).captions.push(Caption { text: row.get(1)?, by_user: row.get(2)? });
        }
        let mut query = self.db.prepare("SELECT image, query, value FROM reward")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            state.edit(ItemId(row.get(0)?)).rewards.insert(row.get(1)?, Reward(row.get(2)?));
        }
        let mut query = self.db.prepare("SELECT image, class FROM rejection")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            state.edit(ItemId(row.get(0)?)).rejected.insert(row.get(1)?);
        }
        let mut query = self.db.prepare("SELECT image, root, path, hash, bytes, modified, here FROM place NOT INDEXED")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let place = Place {
                root: RootId(row.get(1)?),
                path: from_bytes(row.get(2)?),
                hash: ContentHash(u128::from_be_bytes(row.get(3)?)),
                bytes: row.get::<_, i64>(4)? as u64,
                modified: row.get(5)?,
                here: row.get(6)?,
            };
            let places = &mut state.edit(ItemId(row.get(0)?)).places;
            places.insert(places.partition_point(|other| (other.root, &other.path) < (place.root, &place.path)), place);
        }
        let mut classes = BTreeMap::new();
        let mut query = self.db.prepare("SELECT name, position, colour FROM class")?;
        for row in query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<u32>>(2)?)))? {
            let (name, position, colour) = row?;
            classes.insert(name, ClassLook { position, colour: colour.map(|c| [(c >> 16) as u8, (c >> 8) as u8, c as u8]) });
        }
        state.classes = Arc::new(classes);
        let mut query = self.db.prepare("SELECT word, class FROM alias")?;
        let aliases: rusqlite::Result<_> = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect();
        state.aliases = Arc::new(aliases?);
        let mut query = self.db.prepare(&format!("{EVENTS} ORDER BY id"))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            match read_event(row)? {
                (_, Some(event)) => state.record(&event),
                (id, None) => return Ok(Err(self.damaged(&format!("event {id} with other bytes than were written")))),
            }
        }
        let next: Option<u32> = self.db.query_row("SELECT max(value) FROM fact WHERE name = 'next image'", [], |row| row.get(0))?;
        state.next_image = state.next_image.max(next.unwrap_or(1));
        Ok(Ok(state))
    }

    pub(super) fn damaged(&self, found: &str) -> Error {
        Error::data(&self.path, "a sound library", found, REPAIR)
    }

    /// Writes an event and the state it leads to, and gives the event its place. On disk when this returns.
    pub(super) fn append(&mut self, at: i64, act: Option<EventId>, kind: EventKind, words: &str, changes: Vec<Change>) -> Result<Event> {
        let refused = refused("write", &self.path);
        let tx = self.db.transaction().map_err(&refused)?;
        let last: i64 = tx.query_row("SELECT coalesce(max(id), 0) FROM event", [], |row| row.get(0)).map_err(&refused)?;
        let id = EventId(last as u64 + 1);
        let event = Event { id, at, act: act.unwrap_or(id), kind, words: words.to_owned(), changes };
        insert(&tx, &event).map_err(&refused)?;
        for change in &event.changes {
            project(&tx, change).map_err(&refused)?;
        }
        tx.commit().map_err(&refused)?;
        let mut lines = vec![Line::event(&event)];
        if event.changes.iter().any(|change| matches!(change, Change::Root(..))) {
            // What is committed has happened, whatever the journal lacks.
            match self.roots() {
                Ok(roots) => lines.extend(roots.iter().map(|(id, root)| Line::root(*id, root))),
                Err(_) => self.journal.outdate(),
            }
        }
        self.journal.append(lines);
        Ok(event)
    }

    /// Enters an event that was saved elsewhere, with the state it leads to.
    pub(super) fn enter(&mut self, event: &Event) -> Result<()> {
        self.write(|tx| {
            insert(tx, event)?;
            event.changes.iter().try_for_each(|change| project(tx, change))
        })
    }

    /// The events after `after`, their changes included, each checked against its hash.
    pub(super) fn events_after(&self, after: u64) -> Result<Vec<Event>> {
        self.events("id > ?1", after)
    }

    /// The events of an act.
    pub(super) fn events_of(&self, act: EventId) -> Result<Vec<Event>> {
        self.events("id >= ?1 AND act = ?1", act.0)
    }

    /// The event that last took an act back.
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
            events.push(event.ok_or_else(|| self.damaged(&format!("event {id} with other bytes than were written")))?);
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
        let refused = refused("write", &self.path);
        let tx = self.db.transaction().map_err(&refused)?;
        let value = work(&tx).map_err(&refused)?;
        tx.commit().map_err(&refused)?;
        Ok(value)
    }

    /// The root at this path, which is entered when it is new; its settings are brought up to date.
    pub(super) fn root(&mut self, root: &Root) -> Result<RootId> {
        let bytes = to_bytes(&root.path);
        let id = self.write(|tx| {
            let id: Option<u32> = tx.query_row("SELECT id FROM root WHERE path = ?1", [&bytes], |row| row.get(0)).optional()?;
            let (labels, exclude) = (&root.labels, root.exclude.join("\n"));
            if let Some(id) = id {
                tx.execute("UPDATE root SET labels = ?2, exclude = ?3 WHERE id = ?1", params![id, labels, exclude])?;
                return Ok(RootId(id));
            }
            let sql = "INSERT INTO root (path, shown, labels, exclude) VALUES (?1, ?2, ?3, ?4)";
            tx.execute(sql, params![bytes, root.path.to_string_lossy(), labels, exclude])?;
            Ok(RootId(tx.last_insert_rowid() as u32))
        })?;
        self.journal.append([Line::root(id, root)]);
        Ok(id)
    }

    /// Enters a root under a number.
    pub(super) fn put_root(&mut self, id: RootId, root: &Root) -> Result<()> {
        let sql = "INSERT INTO root (id, path, shown, labels, exclude) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET path = ?2, shown = ?3, labels = ?4, exclude = ?5";
        let (path, shown, exclude) = (to_bytes(&root.path), root.path.to_string_lossy(), root.exclude.join("\n"));
        self.write(|tx| tx.execute(sql, params![id.0, path, shown, root.labels, exclude]).map(|_| ()))
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

    /// Keeps bytes out from now on.
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

    /// Purges images and classes: their rows, and their part in every event, of which `left` tells what is left. Enters
    /// `event` and keeps the bytes of `hashes` out from now on. What was deleted is overwritten in the file.
    pub(super) fn purge(
        &mut self,
        (images, classes): (&BTreeSet<ItemId>, &BTreeSet<String>),
        left: &[(EventId, Option<Event>)],
        hashes: &BTreeSet<ContentHash>,
        event: &Event,
        next_image: u32,
    ) -> Result<()> {
        self.set_fact("next image", i64::from(next_image))?;
        self.set_fact("forgot at", event.id.0 as i64)?;
        self.set_fact(FORGOT, event.at)?;
        // Whatever happens from here on, what the journal says must go.
        self.journal.outdate();
        self.write(|tx| {
            for (id, rest) in left {
                tx.execute("DELETE FROM event WHERE id = ?1", [id.0 as i64])?;
                if let Some(rest) = rest {
                    insert(tx, rest)?;
                }
            }
            for image in images {
                tx.execute("DELETE FROM image WHERE id = ?1", [image.0])?;
            }
            for class in classes {
                tx.execute("DELETE FROM class WHERE name = ?1", [class])?;
            }
            for hash in hashes {
                tx.execute("INSERT OR IGNORE INTO forgotten (hash) VALUES (?1)", [hash_bytes(*hash)])?;
            }
            insert(tx, event)
        })?;
        let state = self.load()?;
        self.rewrite_journal(&state)?;
        let refused = self.refused("write");
        self.db.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").map_err(refused)
    }

    /// Lets the user import these bytes again.
    pub(super) fn unforget(&mut self, hash: ContentHash) -> Result<()> {
        self.write(|tx| tx.execute("DELETE FROM forgotten WHERE hash = ?1", [hash_bytes(hash)]).map(|_| ()))?;
        self.journal.append([Line::Again(hash)]);
        Ok(())
    }

    /// Brings everything into the one file, and notes that it was closed.
    pub(super) fn settle(&mut self) {
        // Best effort: without the notes the next opening looks more closely.
        if let Ok(last) = self.last_event() {
            self.journal.close(EventId(last));
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
        let bytes = to_bytes(path);
        self.db.execute("VACUUM INTO ?1", [ToSqlOutput::Borrowed(ValueRef::Text(&bytes))]).map(|_| ()).map_err(refused("write", path))
    }

    /// Whether a database is sound in every way that can be told from the file alone.
    ///
    /// # Errors
    /// [`Error::Data`] with what is wrong, [`Error::Io`].
    pub(super) fn verify(path: &Path) -> Result<()> {
        let refused_here = refused("read", path);
        let damaged = |found: &str| Err(Error::data(path, "a sound library", found, REPAIR));
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
                    return Ok(damaged(&format!("event {id} with other bytes than were written")));
                }
            }
            Ok(Ok(()))
        };
        look().map_err(&refused_here)?
    }

    /// The last event's number; 0 when there is none.
    pub(super) fn last_event(&self) -> Result<u64> {
        let last = self.db.query_row("SELECT coalesce(max(id), 0) FROM event", [], |row| row.get::<_, i64>(0));
        last.map(|id| id as u64).map_err(self.refused("read"))
    }

    /// A fact of a database that may be damaged.
    pub(super) fn fact_of(path: &Path, name: &str) -> Option<i64> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
        db.query_row("SELECT value FROM fact WHERE name = ?1", [name], |row| row.get(0)).ok()
    }

    /// The events of a damaged database that are as they were written.
    pub(super) fn salvage(path: &Path) -> Vec<Event> {
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
        // A page that cannot be read ends a scan: what lies behind it is reached from the other end.
        if read(&mut found, "ASC").is_err() {
            let _ = read(&mut found, "DESC");
        }
        found
    }

    /// Takes over the places of a damaged database that are as they were written, where nothing is known of them.
    pub(super) fn salvage_places(&mut self, path: &Path) {
        let columns = "root, path, shown, image, hash, bytes, modified, here";
        let sql = format!(
            "INSERT OR IGNORE INTO main.place ({columns}) SELECT {columns} FROM other.place AS o
             WHERE row_hash IS seal('place', o.root, o.path, o.shown, o.image, o.hash, o.bytes, o.modified, o.here)
             AND root IN (SELECT id FROM main.root) AND image IN (SELECT id FROM main.image)"
        );
        // What cannot be had is found again by looking through the folders.
        let bytes = to_bytes(path);
        let _ = self.db.execute("ATTACH ?1 AS other", [ToSqlOutput::Borrowed(ValueRef::Text(&bytes))]);
        let _ = self.db.execute(&sql, []);
        let _ = self.db.execute("DETACH other", []);
    }
}

/// Enters a place, or what is known of it now.
fn put_place(tx: &Transaction<'_>, image: ItemId, place: &Place) -> rusqlite::Result<()> {
    let sql = "INSERT INTO place (root, path, shown, image, hash, bytes, modified, here) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (root, path) DO UPDATE SET image = ?4, hash = ?5, bytes = ?6, modified = ?7, here = ?8";
    let shown = place.path.to_string_lossy();
    let (bytes, modified) = (place.bytes as i64, place.modified);
    tx.execute(sql, params![place.root.0, to_bytes(&place.path), shown, image.0, hash_bytes(place.hash), bytes, modified, place.here])?;
    Ok(())
}

/// Makes sure that an image has a row.
fn put_image(tx: &Transaction<'_>, image: ItemId) -> rusqlite::Result<()> {
    tx.execute("INSERT OR IGNORE INTO image (id) VALUES (?1)", [image.0])?;
    Ok(())
}

fn refused(action: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
            Error::data(&path, "a sound database", error.to_string(), REPAIR)
        }
        Some(rusqlite::ErrorCode::DiskFull) => Error::io(action, &path)(std::io::Error::new(std::io::ErrorKind::StorageFull, error)),
        Some(rusqlite::ErrorCode::ReadOnly) => Error::io(action, &path)(std::io::Error::new(std::io::ErrorKind::ReadOnlyFilesystem, error)),
        _ => Error::io(action, &path)(std::io::Error::other(error)),
    }
}

fn hash_bytes(hash: ContentHash) -> [u8; 16] {
    hash.0.to_be_bytes()
}

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

fn insert(tx: &Transaction<'_>, event: &Event) -> rusqlite::Result<()> {
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
fn read_event(row: &Row<'_>) -> rusqlite::Result<(i64, Option<Event>)> {
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

/// Brings the tables to the state after a change.
fn project(tx: &Transaction<'_>, change: &Change) -> rusqlite::Result<()> {
    match change {
        Change::Image(image, field) => {
            put_image(tx, *image)?;
            project_field(tx, image.0, field)?;
        }
        Change::Class(name, swap) => match swap.1 {
            Some(look) => {
                let colour = look.colour.map(|[r, g, b]| u32::from_be_bytes([0, r, g, b]));
                let sql = "INSERT INTO class (name, position, colour) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET position = ?2, colour = ?3";
                tx.execute(sql, params![name, look.position, colour])?;
            }
            None => {
                tx.execute("DELETE FROM class WHERE name = ?1", [name])?;
            }
        },
        Change::Alias(word, swap) => match &swap.1 {
            Some(class) => {
                tx.execute("INSERT INTO alias (word, class) VALUES (?1, ?2) ON CONFLICT (word) DO UPDATE SET class = ?2", [word, class])?;
            }
            None => {
                tx.execute("DELETE FROM alias WHERE word = ?1", [word])?;
            }
        },
        Change::Root(root, swap) => {
            let path = &swap.1.0;
            tx.execute("UPDATE root SET path = ?2, shown = ?3 WHERE id = ?1", params![root.0, to_bytes(path), path.to_string_lossy()])?;
        }
    }
    Ok(())
}

fn project_field(tx: &Transaction<'_>, image: u32, field: &Field) -> rusqlite::Result<()> {
    match field {
        Field::Content(swap) => {
            let sql = "UPDATE image SET hash = ?2, width = ?3, height = ?4, bytes = ?5, changed = ?6 WHERE id = ?1";
            let content = swap.1;
            tx.prepare_cached(sql)?.execute(params![
                image,
                content.map(|c| hash_bytes(c.hash)),
                content.map(|c| c.size.0),
                content.map(|c| c.size.1),
                content.map(|c| c.bytes as i64),
                content.map(|c| c.changed)
            ])?;
        }
        Field::Folder(swap) => {
            let FolderWord { label, group, meta } = &swap.1;
            let meta = serde_json::to_string(meta).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let sql = "UPDATE image SET folder_label = ?2, object = ?3, meta = ?4 WHERE id = ?1";
            tx.prepare_cached(sql)?.execute(params![image, label, group, meta])?;
        }
        Field::Label(swap) => {
            let (said, label) = match &swap.1 {
                UserLabel::Unsaid => ("nothing", None),
                UserLabel::Class(class) => ("class", Some(class)),
                UserLabel::NoClass => ("no class", None),
            };
            tx.prepare_cached("UPDATE image SET user_said = ?2, user_label = ?3 WHERE id = ?1")?.execute(params![image, said, label])?;
        }
        Field::Captions(swap) => {
            tx.prepare_cached("DELETE FROM caption WHERE image = ?1")?.execute([image])?;
            let mut insert = tx.prepare_cached("INSERT INTO caption (image, position, text, by_user) VALUES (?1, ?2, ?3, ?4)")?;
            for (position, caption) in swap.1.iter().enumerate() {
                insert.execute(params![image, position as i64, caption.text, caption.by_user])?;
            }
        }
        Field::Reward(query, swap) => match swap.1 {
            Some(reward) => {
                let sql =
                    "INSERT INTO reward (image, query, value) VALUES (?1, ?2, ?3) ON CONFLICT (image, query) DO UPDATE SET value = ?3";
                tx.prepare_cached(sql)?.execute(params![image, query, reward.0])?;
            }
            None => {
                tx.prepare_cached("DELETE FROM reward WHERE image = ?1 AND query = ?2")?.execute(params![image, query])?;
            }
        },
        Field::Rejection(class, swap) => {
            let sql = if swap.1 {
                "INSERT OR IGNORE INTO rejection (image, class) VALUES (?1, ?2)"
            } else {
                "DELETE FROM rejection WHERE image = ?1 AND class = ?2"
            };
            tx.prepare_cached(sql)?.execute(params![image, class])?;
        }
        Field::Removed(swap) => {
            tx.prepare_cached("UPDATE image SET removed = ?2 WHERE id = ?1")?.execute(params![image, swap.1])?;
        }
    }
    Ok(())
}

/// An image record without captions and places, or what is wrong with its row.
fn image_of(row: &Row<'_>) -> Result<(ItemId, Image), String> {
    let parse = || -> rusqlite::Result<_> {
        let id = ItemId(row.get("id")?);
        let hash: Option<[u8; 16]> = row.get("hash")?;
        let content = match hash {
            Some(hash) => Some(Content {
                hash: ContentHash(u128::from_be_bytes(hash)),
                size: (row.get("width")?, row.get("height")?),
                bytes: row.get::<_, i64>("bytes")? as u64,
                changed: row.get("changed")?,
            }),
            None => None,
        };
        let meta: String = row.get("meta")?;
        let said: String = row.get("user_said")?;
        let label: Option<String> = row.get("user_label")?;
        Ok((id, content, meta, said, label, row.get("folder_label")?, row.get("object")?, row.get("removed")?))
    };
    let (id, content, meta, said, label, folder_label, group, removed) = parse().map_err(|error| error.to_string())?;
    let meta: Meta = serde_json::from_str(&meta).map_err(|error| format!("image {}: {error}", id.0))?;
    let user = match (said.as_str(), label) {
        ("class", Some(class)) => UserLabel::Class(class),
        ("no class", _) => UserLabel::NoClass,
        _ => UserLabel::Unsaid,
    };
    let folder = FolderWord { label: folder_label, group, meta };
    Ok((id, Image { content, folder, user, removed, ..Image::new(id) }))
}
