//! `cache.db`: elements, thumbnails, checkpoints and results that can all be made again from images
//! and events.
//!
//! Every row is sealed: its value ends in a hash of the value and of the keys that it is looked up
//! by. A row that is not as it was written is as if it were not there.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, MAIN_DB, OptionalExtension, params};

use super::event::{ContentHash, EventId};
use super::files::with_ending;
use super::sqlite;
use crate::descriptor::Descriptor;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::raw_path::{from_bytes, to_bytes};

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS feature (hash BLOB, version TEXT, bytes BLOB NOT NULL, PRIMARY KEY (hash, version)) STRICT;
CREATE TABLE IF NOT EXISTS thumbnail (hash BLOB PRIMARY KEY, look BLOB NOT NULL, jpeg BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS checkpoint (model TEXT, event INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (model, event)) STRICT;
CREATE TABLE IF NOT EXISTS result (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS quarantine (hash BLOB PRIMARY KEY, found TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS skipped (path BLOB PRIMARY KEY, folder BLOB NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
";

/// The path of a database in memory.
const MEMORY: &str = ":memory:";

/// What the cache keeps for an image file.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub(super) hash: ContentHash,
    /// Elements and the like, each with its version.
    pub(super) rows: Vec<(String, Vec<u8>)>,
    pub(super) look: Descriptor,
    pub(super) jpeg: Vec<u8>,
}

impl Cut {
    /// The row of a version.
    pub(super) fn row(&self, version: &str) -> Option<&[u8]> {
        self.rows.iter().find(|(of, _)| of == version).map(|(_, bytes)| &bytes[..])
    }
}

/// What the cache has under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CacheRow {
    /// A row as it was written.
    Sound(Vec<u8>),
    /// None.
    Absent,
    /// One that is not as it was written. It is deleted when it is found.
    Damaged,
}

impl CacheRow {
    pub(super) fn sound(self) -> Option<Vec<u8>> {
        match self {
            Self::Sound(bytes) => Some(bytes),
            Self::Absent | Self::Damaged => None,
        }
    }
}

/// A connection to `cache.db`. A damaged file is renamed and a new one begun: everything in it can
/// be computed again.
pub struct Cache {
    db: Connection,
    path: PathBuf,
    /// Whether nothing is kept that is computed from now on.
    is_read_only: bool,
    /// Whether no other program writes to a file that is only read.
    is_alone: bool,
    /// Results by name that came while the file is only read: they hold until it is closed, so that
    /// no answer is made from older ones.
    unkept: RefCell<HashMap<String, String>>,
}

impl Cache {
    /// Opens or makes the file.
    ///
    /// # Errors
    /// [`Error::Io`] when it can be neither read nor made.
    pub fn open(path: &Path) -> Result<Self> {
        match Self::connect(path) {
            Ok(db) => Ok(Self { db, path: path.to_owned(), is_read_only: false, is_alone: false, unkept: RefCell::default() }),
            Err(error) if sqlite::is_damage(&error) => {
                Self::put_aside(path)?;
                let db = Self::connect(path).map_err(refused("open", path))?;
                Ok(Self { db, path: path.to_owned(), is_read_only: false, is_alone: false, unkept: RefCell::default() })
            }
            Err(error) => Err(refused("open", path)(error)),
        }
    }

    /// A cache in memory, used while the file is replaced.
    pub(super) fn passing() -> Result<Self> {
        let path = PathBuf::from(MEMORY);
        let db = Self::connect(&path).map_err(refused("open", &path))?;
        Ok(Self { db, path, is_read_only: false, is_alone: false, unkept: RefCell::default() })
    }

    /// The file as it is: nothing that is computed is kept in it. Where it cannot be read at all,
    /// everything is computed again. Where `is_alone`, so that no other program writes to it,
    /// SQLite leaves no files beside it.
    pub(super) fn open_read_only(path: &Path, is_alone: bool) -> Result<Self> {
        let is_unchanging = is_alone && sqlite::is_log_empty(path);
        let open = || -> rusqlite::Result<Connection> {
            let changing = || sqlite::connect_to_read(path).or_else(|_| sqlite::connect_to_unchanging(path));
            let db = if is_unchanging { sqlite::connect_to_unchanging(path) } else { changing() }?;
            let expected = sqlite::schema_of(&[TABLES])?;
            let is_whole = sqlite::foreign(&db, &expected)?.is_none() && sqlite::has_all(&db, &expected);
            if is_whole { Ok(db) } else { Err(rusqlite::Error::InvalidQuery) }
        };
        let found = open().map(|db| Self { db, path: path.to_owned(), is_read_only: true, is_alone, unkept: RefCell::default() });
        found.or_else(|_| Self::passing())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A second connection to a file that is open already.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read.
    pub fn beside(path: &Path) -> Result<Self> {
        let db = Self::connect(path).map_err(refused("open", path))?;
        Ok(Self { db, path: path.to_owned(), is_read_only: false, is_alone: false, unkept: RefCell::default() })
    }

    /// Another connection to the same file, which may only be read where this one may; none to a
    /// cache in memory.
    pub(super) fn again(&self) -> Option<Self> {
        if self.path == Path::new(MEMORY) {
            return None;
        }
        let found = if self.is_read_only { Self::open_read_only(&self.path, self.is_alone) } else { Self::beside(&self.path) };
        found.ok().filter(|cache| cache.path == self.path)
    }

    /// Whether what is put into it stays.
    pub(super) fn keeps(&self) -> bool {
        !self.is_read_only
    }

    /// Renames a damaged file; everything in it can be computed again.
    pub(super) fn put_aside(path: &Path) -> Result<()> {
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(with_ending(path, ending));
        }
        std::fs::rename(path, with_ending(path, ".damaged")).map_err(Error::io("rename", path))
    }

    fn connect(path: &Path) -> rusqlite::Result<Connection> {
        let mut db = sqlite::connect(path, true, &Progress::default())?;
        sqlite::settle(&mut db)?;
        if sqlite::foreign(&db, &sqlite::schema_of(&[TABLES])?)?.is_some() {
            return Err(rusqlite::Error::InvalidQuery);
        }
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "NORMAL")?;
        for (name, value) in [("mmap_size", 0), ("secure_delete", 1)] {
            db.pragma_update(None, name, value)?;
        }
        db.execute_batch(TABLES)?;
        Ok(db)
    }

    /// Stores what was computed from some files: rows and thumbnails.
    pub(super) fn put(&self, entries: &[Cut]) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let refused = refused("write", &self.path);
        let tx = self.db.unchecked_transaction().map_err(&refused)?;
        for Cut { hash, rows, look, jpeg } in entries {
            let hash = hash.0.to_be_bytes();
            for (version, bytes) in rows {
                tx.prepare_cached("INSERT OR REPLACE INTO feature VALUES (?1, ?2, ?3)")
                    .and_then(|mut insert| insert.execute(params![hash, version, sealed(&[&hash, version.as_bytes()], bytes)]))
                    .map_err(&refused)?;
            }
            tx.prepare_cached("INSERT OR REPLACE INTO thumbnail VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![hash, look.to_bytes(), sealed(&[&hash, &look.to_bytes()], jpeg)]))
                .map_err(&refused)?;
        }
        tx.commit().map_err(refused)
    }

    /// Stores thumbnails and their perceptual hashes alone.
    pub(super) fn put_thumbnails(&self, entries: &[(ContentHash, Descriptor, Vec<u8>)]) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let refused = refused("write", &self.path);
        let tx = self.db.unchecked_transaction().map_err(&refused)?;
        for (hash, look, jpeg) in entries {
            let (hash, look) = (hash.0.to_be_bytes(), look.to_bytes());
            tx.prepare_cached("INSERT OR REPLACE INTO thumbnail VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![hash, look, sealed(&[&hash, &look], jpeg)]))
                .map_err(&refused)?;
        }
        tx.commit().map_err(refused)
    }

    /// Stores other values computed from files, such as appearances, by version and the hash of the
    /// file's bytes.
    pub(super) fn put_features(&self, version: &str, entries: &[(ContentHash, Vec<u8>)]) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let refused = refused("write", &self.path);
        let tx = self.db.unchecked_transaction().map_err(&refused)?;
        for (hash, bytes) in entries {
            let hash = hash.0.to_be_bytes();
            tx.prepare_cached("INSERT OR REPLACE INTO feature VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![hash, version, sealed(&[&hash, version.as_bytes()], bytes)]))
                .map_err(&refused)?;
        }
        tx.commit().map_err(refused)
    }

    /// The value stored under a version for a file's bytes.
    pub(super) fn feature(&self, hash: ContentHash, version: &str) -> Result<CacheRow> {
        let hash = hash.0.to_be_bytes();
        let read = || {
            let mut query = self.db.prepare_cached("SELECT rowid, bytes FROM feature WHERE hash = ?1 AND version = ?2")?;
            query.query_row(params![hash, version], |row| Ok((row.get(0)?, bytes(row, 1)))).optional()
        };
        let Some((row, value)) = read().map_err(refused("read", &self.path))? else { return Ok(CacheRow::Absent) };
        match unsealed(&[&hash, version.as_bytes()], value) {
            Some(value) => Ok(CacheRow::Sound(value)),
            None => {
                self.drop_rows("feature", &[row]);
                Ok(CacheRow::Damaged)
            }
        }
    }

    /// Deletes rows that are not as they were written. Where that cannot be done, as in a file that
    /// is only read, they are found again.
    fn drop_rows(&self, table: &str, rows: &[i64]) {
        for row in rows {
            let _ = self.db.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [row]);
        }
    }

    /// The files of which there is a row of that version. O(rows), without reading them.
    pub(super) fn with_feature(&self, version: &str) -> Result<HashSet<ContentHash>> {
        let read = || -> rusqlite::Result<HashSet<ContentHash>> {
            let mut query = self.db.prepare("SELECT hash FROM feature WHERE version = ?1")?;
            query.query_map([version], |row| Ok(ContentHash(u128::from_be_bytes(row.get(0)?))))?.collect()
        };
        read().map_err(refused("read", &self.path))
    }

    /// The thumbnail kept for a file's bytes, as JPEG; `None` also where it is damaged.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Data`].
    pub fn thumbnail(&self, hash: ContentHash) -> Result<Option<Vec<u8>>> {
        let hash = hash.0.to_be_bytes();
        let read = || {
            let mut query = self.db.prepare_cached("SELECT look, jpeg FROM thumbnail WHERE hash = ?1")?;
            query.query_row([hash], |row| Ok((bytes(row, 0), bytes(row, 1)))).optional()
        };
        let found = read().map_err(refused("read", &self.path))?;
        Ok(found.and_then(|(look, jpeg)| unsealed(&[&hash, &look], jpeg)))
    }

    /// The perceptual hashes of all files, and whether some were damaged and deleted.
    pub(super) fn perceptual_hashes(&self) -> Result<(HashMap<ContentHash, Descriptor>, bool)> {
        let (mut found, mut damaged) = (HashMap::new(), Vec::new());
        self.each("SELECT rowid, hash, look, jpeg FROM thumbnail", |rowid, [hash, look, jpeg]| {
            let is_sound = unsealed(&[&hash, &look], jpeg).is_some();
            match (content_hash(&hash), look.first_chunk()) {
                (Some(hash), Some(look)) if is_sound => drop(found.insert(hash, Descriptor::from_bytes(look))),
                _ => damaged.push(rowid),
            }
        })?;
        self.drop_rows("thumbnail", &damaged);
        Ok((found, !damaged.is_empty()))
    }

    /// Hands each row of a query to `take`: its number in its table, and the bytes of its values.
    fn each<const N: usize>(&self, sql: &str, mut take: impl FnMut(i64, [Vec<u8>; N])) -> Result<()> {
        let mut read = || -> rusqlite::Result<()> {
            let mut query = self.db.prepare(sql)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                take(row.get(0)?, std::array::from_fn(|i| bytes(row, i + 1)));
            }
            Ok(())
        };
        read().map_err(refused("read", &self.path))
    }

    /// Stores a checkpoint of a model after an event, and deletes its older ones.
    pub(super) fn put_checkpoint(&self, model: &str, event: EventId, mut bytes: Vec<u8>) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        // It is large, so the seal comes behind it in place.
        let seal = seal(&[model.as_bytes(), &event.0.to_le_bytes()], &bytes);
        bytes.extend(seal);
        let write = |db: &Connection| {
            let tx = db.unchecked_transaction()?;
            tx.execute("DELETE FROM checkpoint WHERE model = ?1", [model])?;
            let n = bytes.len() as i64;
            tx.execute("INSERT INTO checkpoint VALUES (?1, ?2, zeroblob(?3))", params![model, event.0 as i64, n])?;
            tx.blob_open(MAIN_DB, "checkpoint", "bytes", tx.last_insert_rowid(), false)?.write_at(&bytes, 0)?;
            tx.commit()
        };
        write(&self.db).map_err(refused("write", &self.path))
    }

    /// The event after which the last checkpoint of a model was written, which may be damaged.
    pub(super) fn checkpoint_event(&self, model: &str) -> Result<Option<EventId>> {
        let sql = "SELECT event FROM checkpoint WHERE model = ?1 ORDER BY event DESC LIMIT 1";
        let read = self.db.query_row(sql, [model], |row| row.get::<_, i64>(0)).optional();
        Ok(read.map_err(refused("read", &self.path))?.map(|event| EventId(event as u64)))
    }

    /// Deletes all but the last `n` checkpoints whose names begin with `prefix`.
    pub(super) fn drop_checkpoints(&self, prefix: &str, n: usize) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let sql = "DELETE FROM checkpoint WHERE rowid IN (SELECT rowid FROM checkpoint WHERE substr(model, 1, length(?1)) = ?1
            ORDER BY event DESC, rowid DESC LIMIT -1 OFFSET ?2)";
        self.db.execute(sql, params![prefix, n as i64]).map(|_| ()).map_err(refused("write", &self.path))
    }

    /// The last event that a checkpoint was written after.
    pub(super) fn reached(&self) -> Result<Option<EventId>> {
        let models = || -> rusqlite::Result<Vec<String>> {
            self.db.prepare("SELECT DISTINCT model FROM checkpoint")?.query_map([], |row| row.get(0))?.collect()
        };
        let mut last = None;
        for model in models().map_err(refused("read", &self.path))? {
            last = last.max(self.checkpoint(&model)?.map(|(at, _)| at));
        }
        Ok(last)
    }

    /// The last checkpoint of a model; `None` also where it is damaged.
    pub(super) fn checkpoint(&self, model: &str) -> Result<Option<(EventId, Vec<u8>)>> {
        let read = || -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
            let sql = "SELECT event, rowid FROM checkpoint WHERE model = ?1 ORDER BY event DESC LIMIT 1";
            let row = self.db.query_row(sql, [model], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((event, row)) = row else { return Ok(None) };
            // Not as a value of a row: SQLite would hold it a second time, in memory that it would
            // not give back. A value that is no blob cannot be opened.
            let Ok(blob) = self.db.blob_open(MAIN_DB, "checkpoint", "bytes", row, true) else { return Ok(None) };
            let mut bytes = vec![0; blob.len()];
            blob.read_at_exact(&mut bytes, 0)?;
            Ok(Some((event, bytes)))
        };
        let found = read().map_err(refused("read", &self.path))?;
        Ok(found.and_then(|(event, bytes)| {
            let event = event as u64;
            Some((EventId(event), unsealed(&[model.as_bytes(), &event.to_le_bytes()], bytes)?))
        }))
    }

    /// Files that no decoder survived, each with how the decoder ended.
    pub(super) fn quarantine(&self) -> Result<HashMap<ContentHash, String>> {
        let (mut found, mut damaged) = (HashMap::new(), Vec::new());
        self.each("SELECT rowid, hash, found FROM quarantine", |rowid, [hash, words]| {
            match (content_hash(&hash), text(&[&hash], words)) {
                (Some(hash), Some(words)) => drop(found.insert(hash, words)),
                _ => damaged.push(rowid),
            }
        })?;
        self.drop_rows("quarantine", &damaged);
        Ok(found)
    }

    /// Keeps files from being decoded again.
    pub(super) fn put_quarantine(&self, files: &[(ContentHash, String)]) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let refused = refused("write", &self.path);
        files.iter().try_for_each(|(hash, found)| {
            let hash = hash.0.to_be_bytes();
            let written = self.db.execute("INSERT OR REPLACE INTO quarantine VALUES (?1, ?2)", params![hash, sealed_text(&[&hash], found)]);
            written.map(|_| ()).map_err(&refused)
        })
    }

    /// Lets files be decoded again that no decoder survived.
    pub(super) fn clear_quarantine(&self) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        self.db.execute("DELETE FROM quarantine", []).map(|_| ()).map_err(refused("write", &self.path))
    }

    /// Keeps the list of files below a folder that could not be taken in, in place of the one
    /// before: of each its path, the reason in one word, and the reason in words.
    pub(super) fn put_skipped<'a>(&self, folder: &Path, files: impl Iterator<Item = (&'a Path, &'a str, &'a str)>) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let write = || {
            let tx = self.db.unchecked_transaction()?;
            let known: Vec<Vec<u8>> =
                tx.prepare("SELECT path FROM skipped")?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            for path in known.into_iter().map(from_bytes).filter(|path| path.starts_with(folder)) {
                tx.execute("DELETE FROM skipped WHERE path = ?1", [to_bytes(&path)])?;
            }
            for (path, reason, detail) in files {
                let mut insert = tx.prepare_cached("INSERT OR REPLACE INTO skipped VALUES (?1, ?2, ?3, ?4)")?;
                let (path, folder) = (to_bytes(path), to_bytes(folder));
                let detail = sealed_text(&[&path, &folder, reason.as_bytes()], detail);
                insert.execute(params![path, folder, reason, detail])?;
            }
            tx.commit()
        };
        write().map_err(refused("write", &self.path))
    }

    /// Files that could not be taken in when their folders were last imported: path, reason, and
    /// the reason in words.
    pub(super) fn skipped(&self) -> Result<Vec<(PathBuf, String, String)>> {
        let (mut found, mut damaged) = (Vec::new(), Vec::new());
        self.each(
            "SELECT rowid, path, folder, reason, detail FROM skipped ORDER BY path",
            |rowid, [path, folder, reason, detail]| match (text(&[&path, &folder, &reason], detail), String::from_utf8(reason)) {
                (Some(detail), Ok(reason)) => found.push((from_bytes(path), reason, detail)),
                _ => damaged.push(rowid),
            },
        )?;
        self.drop_rows("skipped", &damaged);
        Ok(found)
    }

    /// Keeps a result under a name. It is kept twice, for some results are choices that nothing can
    /// compute again. In a file that is only read it holds until the file is closed.
    pub(super) fn put_result(&self, name: &str, text: &str) -> Result<()> {
        if self.is_read_only {
            self.unkept.borrow_mut().insert(name.to_owned(), text.to_owned());
            return Ok(());
        }
        let write = || {
            let tx = self.db.unchecked_transaction()?;
            for name in [name.to_owned(), second(name)] {
                let sealed = sealed_text(&[name.as_bytes()], text);
                tx.execute("INSERT OR REPLACE INTO result VALUES (?1, ?2)", [name, sealed])?;
            }
            tx.commit()
        };
        write().map_err(refused("write", &self.path))
    }

    /// The result of that name; `None` also where both copies are damaged.
    pub(super) fn result(&self, name: &str) -> Result<Option<String>> {
        if let Some(text) = self.unkept.borrow().get(name) {
            return Ok(Some(text.clone()));
        }
        for name in [name.to_owned(), second(name)] {
            let found = self.db.query_row("SELECT text FROM result WHERE name = ?1", [&name], |row| Ok(bytes(row, 0))).optional();
            if let Some(text) = found.map_err(refused("read", &self.path))?.and_then(|sealed| text(&[name.as_bytes()], sealed)) {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// All results that are whole, with their names.
    pub(super) fn results(&self) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut query = self.db.prepare("SELECT name FROM result ORDER BY name")?;
            query.query_map([], |row| Ok(String::from_utf8_lossy(&bytes(row, 0)).into_owned()))?.collect()
        };
        let names = read().map_err(refused("read", &self.path))?;
        let named = |name: String| Ok(self.result(&name)?.map(|text| (name, text)));
        let results = names.into_iter().filter(|name| !name.ends_with(SECOND)).map(named);
        results.filter_map(Result::transpose).collect()
    }

    /// Purges what was computed from files with these bytes or at these paths, and every checkpoint
    /// and result, which may depend on them.
    pub(super) fn purge(&mut self, hashes: &BTreeSet<ContentHash>, paths: &[PathBuf]) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let write = |db: &mut Connection| {
            let tx = db.transaction()?;
            for hash in hashes {
                let hash = hash.0.to_be_bytes();
                tx.execute("DELETE FROM feature WHERE hash = ?1", [hash])?;
                tx.execute("DELETE FROM thumbnail WHERE hash = ?1", [hash])?;
                tx.execute("DELETE FROM quarantine WHERE hash = ?1", [hash])?;
            }
            for path in paths {
                tx.execute("DELETE FROM skipped WHERE path = ?1", [to_bytes(path)])?;
            }
            tx.execute("DELETE FROM checkpoint", [])?;
            tx.execute("DELETE FROM result", [])?;
            tx.commit()?;
            sqlite::empty_log(db)
        };
        if write(&mut self.db).map_err(refused("write", &self.path))? { Ok(()) } else { Err(sqlite::is_read(&self.path)) }
    }
}

/// What the name of the second copy of a result ends with.
const SECOND: &str = " (second copy)";

/// The name of the second copy of a result.
fn second(name: &str) -> String {
    format!("{name}{SECOND}")
}

/// The bytes of a value in a row; none for a number or nothing, which only damage puts there.
fn bytes(row: &rusqlite::Row<'_>, column: usize) -> Vec<u8> {
    row.get_ref(column).ok().and_then(|value| value.as_bytes().ok()).unwrap_or_default().to_vec()
}

fn content_hash(bytes: &[u8]) -> Option<ContentHash> {
    Some(ContentHash(u128::from_be_bytes(bytes.try_into().ok()?)))
}

/// The hash of a value and of the keys that it is looked up by.
fn seal(keys: &[&[u8]], value: &[u8]) -> [u8; 8] {
    let mut state = xxhash_rust::xxh3::Xxh3::new();
    for part in keys.iter().chain([&value]) {
        state.update(&(part.len() as u64).to_le_bytes());
        state.update(part);
    }
    state.digest().to_le_bytes()
}

/// A value with its seal behind it.
fn sealed(keys: &[&[u8]], value: &[u8]) -> Vec<u8> {
    [value, &seal(keys, value)].concat()
}

/// The value that was sealed; none when it or its keys have changed since.
fn unsealed(keys: &[&[u8]], mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let n = unsealed_part(keys, &bytes)?.len();
    bytes.truncate(n);
    Some(bytes)
}

fn unsealed_part<'a>(keys: &[&[u8]], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (value, found) = bytes.split_last_chunk::<8>()?;
    (seal(keys, value) == *found).then_some(value)
}

/// A text with its seal behind it, in sixteen digits.
fn sealed_text(keys: &[&[u8]], text: &str) -> String {
    format!("{text}{:016x}", u64::from_le_bytes(seal(keys, text.as_bytes())))
}

/// The text that was sealed; none when it or its keys have changed since.
fn text(keys: &[&[u8]], sealed: Vec<u8>) -> Option<String> {
    let mut all = String::from_utf8(sealed).ok()?;
    let at = all.len().checked_sub(16).filter(|at| all.is_char_boundary(*at))?;
    let is_whole = all == sealed_text(keys, &all[..at]);
    all.truncate(at);
    is_whole.then_some(all)
}

fn refused(action: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Error + use<> {
    sqlite::refused(action, path, "a sound cache", "close the library and open it again: the cache is made anew")
}
