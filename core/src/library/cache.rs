//! `cache.db`: elements, thumbnails, checkpoints and results that can all be made again from images
//! and events.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::event::{ContentHash, EventId};
use super::files::with_ending;
use super::sqlite;
use crate::descriptor::Descriptor;
use crate::envelope::hash64;
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

/// A connection to `cache.db`. A damaged file is renamed and a new one begun: everything in it can
/// be computed again.
pub struct Cache {
    db: Connection,
    path: PathBuf,
    /// Whether nothing is kept that is computed from now on.
    is_read_only: bool,
}

impl Cache {
    /// Opens or makes the file.
    ///
    /// # Errors
    /// [`Error::Io`] when it can be neither read nor made.
    pub fn open(path: &Path) -> Result<Self> {
        match Self::connect(path) {
            Ok(db) => Ok(Self { db, path: path.to_owned(), is_read_only: false }),
            Err(error) if sqlite::is_damage(&error) => {
                Self::put_aside(path)?;
                let db = Self::connect(path).map_err(refused("open", path))?;
                Ok(Self { db, path: path.to_owned(), is_read_only: false })
            }
            Err(error) => Err(refused("open", path)(error)),
        }
    }

    /// A cache in memory, used while the file is replaced.
    pub(super) fn passing() -> Result<Self> {
        let path = PathBuf::from(":memory:");
        let db = Self::connect(&path).map_err(refused("open", &path))?;
        Ok(Self { db, path, is_read_only: false })
    }

    /// The file as it is: nothing that is computed is kept in it. Where it cannot be read at all,
    /// everything is computed again.
    pub(super) fn open_read_only(path: &Path) -> Result<Self> {
        let open = || -> rusqlite::Result<Connection> {
            let db = sqlite::connect_to_read(path).or_else(|_| sqlite::connect_to_unchanging(path))?;
            let expected = sqlite::schema_of(&[TABLES])?;
            let is_whole = sqlite::foreign(&db, &expected)?.is_none() && sqlite::has_all(&db, &expected);
            if is_whole { Ok(db) } else { Err(rusqlite::Error::InvalidQuery) }
        };
        let found = open().map(|db| Self { db, path: path.to_owned(), is_read_only: true });
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
        Ok(Self { db, path: path.to_owned(), is_read_only: false })
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
                    .and_then(|mut insert| insert.execute(params![hash, version, sealed(bytes)]))
                    .map_err(&refused)?;
            }
            tx.prepare_cached("INSERT OR REPLACE INTO thumbnail VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![hash, look.to_bytes(), jpeg]))
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
            tx.prepare_cached("INSERT OR REPLACE INTO thumbnail VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![hash.0.to_be_bytes(), look.to_bytes(), jpeg]))
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
            tx.prepare_cached("INSERT OR REPLACE INTO feature VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![hash.0.to_be_bytes(), version, sealed(bytes)]))
                .map_err(&refused)?;
        }
        tx.commit().map_err(refused)
    }

    /// The value stored under a version for a file's bytes; `None` also where it is damaged.
    pub(super) fn feature(&self, hash: ContentHash, version: &str) -> Result<Option<Vec<u8>>> {
        let read = || {
            let mut query = self.db.prepare_cached("SELECT bytes FROM feature WHERE hash = ?1 AND version = ?2")?;
            query.query_row(params![hash.0.to_be_bytes(), version], |row| row.get(0)).optional()
        };
        Ok(read().map_err(refused("read", &self.path))?.and_then(unsealed))
    }

    /// The files of which there is a row of that version. O(rows), without reading them.
    pub(super) fn with_feature(&self, version: &str) -> Result<HashSet<ContentHash>> {
        let read = || -> rusqlite::Result<HashSet<ContentHash>> {
            let mut query = self.db.prepare("SELECT hash FROM feature WHERE version = ?1")?;
            query.query_map([version], |row| Ok(ContentHash(u128::from_be_bytes(row.get(0)?))))?.collect()
        };
        read().map_err(refused("read", &self.path))
    }

    /// The thumbnail kept for a file's bytes, as JPEG.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Data`].
    pub fn thumbnail(&self, hash: ContentHash) -> Result<Option<Vec<u8>>> {
        let read = || {
            let mut query = self.db.prepare_cached("SELECT jpeg FROM thumbnail WHERE hash = ?1")?;
            query.query_row([hash.0.to_be_bytes()], |row| row.get(0)).optional()
        };
        read().map_err(refused("read", &self.path))
    }

    /// The perceptual hashes of all files.
    pub(super) fn perceptual_hashes(&self) -> Result<HashMap<ContentHash, Descriptor>> {
        let read = || -> rusqlite::Result<HashMap<ContentHash, Descriptor>> {
            let mut query = self.db.prepare("SELECT hash, look FROM thumbnail")?;
            let look = |row: &rusqlite::Row<'_>| {
                Ok((ContentHash(u128::from_be_bytes(row.get(0)?)), Descriptor::from_bytes(&row.get::<_, [u8; 32]>(1)?)))
            };
            query.query_map([], look)?.collect()
        };
        read().map_err(refused("read", &self.path))
    }

    /// Stores a checkpoint of a model after an event, and deletes its older ones.
    pub(super) fn put_checkpoint(&mut self, model: &str, event: EventId, bytes: &[u8]) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let write = |db: &mut Connection| {
            let tx = db.transaction()?;
            tx.execute("DELETE FROM checkpoint WHERE model = ?1", [model])?;
            tx.execute("INSERT INTO checkpoint VALUES (?1, ?2, ?3)", params![model, event.0 as i64, sealed(bytes)])?;
            tx.commit()
        };
        write(&mut self.db).map_err(refused("write", &self.path))
    }

    /// The last checkpoint of a model.
    pub(super) fn checkpoint(&self, model: &str) -> Result<Option<(EventId, Vec<u8>)>> {
        let sql = "SELECT event, bytes FROM checkpoint WHERE model = ?1 ORDER BY event DESC LIMIT 1";
        let read = self.db.query_row(sql, [model], |row| Ok((EventId(row.get::<_, i64>(0)? as u64), row.get(1)?))).optional();
        let found: Option<(EventId, Vec<u8>)> = read.map_err(refused("read", &self.path))?;
        Ok(found.and_then(|(event, bytes)| Some((event, unsealed(bytes)?))))
    }

    /// Files that no decoder survived, each with how the decoder ended.
    pub(super) fn quarantine(&self) -> Result<HashMap<ContentHash, String>> {
        let read = || -> rusqlite::Result<HashMap<ContentHash, String>> {
            let mut query = self.db.prepare("SELECT hash, found FROM quarantine")?;
            query.query_map([], |row| Ok((ContentHash(u128::from_be_bytes(row.get(0)?)), row.get(1)?)))?.collect()
        };
        read().map_err(refused("read", &self.path))
    }

    /// Keeps files from being decoded again.
    pub(super) fn put_quarantine(&self, files: &[(ContentHash, String)]) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let refused = refused("write", &self.path);
        files.iter().try_for_each(|(hash, found)| {
            let written = self.db.execute("INSERT OR REPLACE INTO quarantine VALUES (?1, ?2)", params![hash.0.to_be_bytes(), found]);
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
                insert.execute(params![to_bytes(path), to_bytes(folder), reason, detail])?;
            }
            tx.commit()
        };
        write().map_err(refused("write", &self.path))
    }

    /// Files that could not be taken in when their folders were last imported: path, reason, and
    /// the reason in words.
    pub(super) fn skipped(&self) -> Result<Vec<(PathBuf, String, String)>> {
        let read = || -> rusqlite::Result<Vec<_>> {
            let mut query = self.db.prepare("SELECT path, reason, detail FROM skipped ORDER BY path")?;
            query.query_map([], |row| Ok((from_bytes(row.get(0)?), row.get(1)?, row.get(2)?)))?.collect()
        };
        read().map_err(refused("read", &self.path))
    }

    /// Keeps a result under a name.
    pub(super) fn put_result(&self, name: &str, text: &str) -> Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let written = self.db.execute("INSERT OR REPLACE INTO result VALUES (?1, ?2)", [name, text]);
        written.map(|_| ()).map_err(refused("write", &self.path))
    }

    /// The result of that name.
    pub(super) fn result(&self, name: &str) -> Result<Option<String>> {
        let found = self.db.query_row("SELECT text FROM result WHERE name = ?1", [name], |row| row.get(0)).optional();
        found.map_err(refused("read", &self.path))
    }

    /// All results with their names.
    pub(super) fn results(&self) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<_>> {
            let mut query = self.db.prepare("SELECT name, text FROM result ORDER BY name")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(refused("read", &self.path))
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

/// Bytes followed by their xxh3-64.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    [bytes, &hash64(bytes).to_le_bytes()].concat()
}

/// The bytes that were sealed; none when they have changed since.
fn unsealed(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let (body, seal) = bytes.split_last_chunk::<8>()?;
    let is_whole = hash64(body).to_le_bytes() == *seal;
    bytes.truncate(bytes.len() - 8);
    is_whole.then_some(bytes)
}

fn refused(action: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Error + use<> {
    sqlite::refused(action, path, "a sound cache", "close the library and open it again: the cache is made anew")
}
