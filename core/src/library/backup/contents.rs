//! The folder of a backup: a list of files, and the files under the names of their hashes.
//!
//! The list is the commit point: it is put in place when all files that it names are there, so what
//! a killed program leaves is the backup of before, whole. No file that a list names is ever
//! written to.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::envelope::{hash64, replace_on};
use crate::error::{Error, Result};
use crate::library::chain::Head;
use crate::library::event::EventId;
use crate::library::files::{DATABASE, MODELS, remove};
use crate::library::link::Digest;
use crate::progress::Progress;
use crate::raw_path::RawPath;
use crate::storage::{Disk, Storage};

/// The list of a backup: the file that makes a folder one.
pub const BACKUP: &str = "backup.json";
/// The file in a folder in which no backup was finished yet, or one is being made.
const UNFINISHED: &str = "unfinished-backup";
/// The folder of the files.
const FILES: &str = "files";
/// What was chosen for a library's recogniser, and reports on it.
pub(super) const RESULTS: &str = "results.json";

/// How a list begins.
const LIST_START: &[u8; 11] = b"{\"version\":";
/// The longest list in bytes.
const LONGEST: u64 = 64 << 20;
const VERSION: u32 = 1;
const PIECE: usize = 1 << 20;
const ADVICE: &str = "make the backup again, or take another one";

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BackupList {
    version: u32,
    /// The library's number.
    pub(super) library: i64,
    last: EventId,
    head: Digest,
    /// How many events it has.
    pub(super) events: usize,
    /// When it was made, in milliseconds since 1970.
    pub(super) at: i64,
    /// Its files.
    pub(super) files: Vec<KeptFile>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptFile {
    /// Its path in the library's folder.
    pub(super) path: RawPath,
    /// Its length in bytes.
    pub(super) bytes: u64,
    /// xxh3-128 of its bytes, which is its name in the backup.
    pub(super) hash: String,
}

impl BackupList {
    pub(super) fn new(library: i64, head: Head, events: usize, at: i64, files: Vec<KeptFile>) -> Self {
        Self { version: VERSION, library, last: head.event, head: head.digest, events, at, files }
    }

    /// The end of the history in it.
    pub(super) fn head(&self) -> Head {
        Head { event: self.last, digest: self.head }
    }

    /// The bytes of all its files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Whether a path is one that files of a backup can have in a library's folder.
fn is_fitting(path: &Path) -> bool {
    let parts: Vec<Component<'_>> = path.components().collect();
    let is_plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let is_model = parts.len() == 3 && parts[0].as_os_str() == MODELS;
    is_plain && (is_model || path == Path::new(DATABASE) || path == Path::new(RESULTS))
}

/// The folder of a backup.
pub(super) struct BackupFolder {
    folder: PathBuf,
}

impl BackupFolder {
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Prepares the folder for a new backup. The handle holds it against other programs.
    ///
    /// # Errors
    /// [`Error::Data`] when there is something else in it, [`Error::Busy`], [`Error::Io`].
    pub(super) fn prepare(&self) -> Result<File> {
        let (list, marker, files) = (self.folder.join(BACKUP), self.folder.join(UNFINISHED), self.folder.join(FILES));
        let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
        fs::create_dir_all(&self.folder).map_err(Error::io("create", &self.folder))?;
        let mut entries = fs::read_dir(&self.folder).map_err(Error::io("list", &self.folder))?;
        if !is_there(&list)
            && !is_there(&marker)
            && let Some(other) = entries.find_map(std::result::Result::ok)
        {
            let found = format!("a folder with other things in it, such as `{}`", other.file_name().to_string_lossy());
            return Err(Error::data(&self.folder, "a new name, an empty folder or a backup", found, "choose another folder"));
        }
        for (path, is_folder) in [(&list, false), (&marker, false), (&files, true)] {
            if let Ok(meta) = fs::symlink_metadata(path)
                && !(if is_folder { meta.is_dir() } else { meta.is_file() })
            {
                return Err(Error::data(path, "an ordinary file or folder of a backup", "something else", "choose another folder"));
            }
        }
        let handle = File::options().append(true).create(true).open(&marker).map_err(Error::io("create", &marker))?;
        if matches!(handle.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Err(Error::Busy { path: self.folder.clone(), holder: "another program, which makes this backup".into() });
        }
        fs::create_dir_all(&files).map_err(Error::io("create", &files))?;
        Ok(handle)
    }

    /// Whether the folder looks like that of a finished backup, without a check of its list.
    pub(super) fn is_one(&self) -> bool {
        let mut begins = [0; LIST_START.len()];
        let list = self.folder.join(BACKUP);
        let is_list = fs::symlink_metadata(&list).is_ok_and(|meta| meta.is_file())
            && File::open(&list).and_then(|mut file| file.read_exact(&mut begins)).is_ok()
            && begins == *LIST_START;
        is_list && self.folder.join(FILES).is_dir()
    }

    /// A name for a file that is being made.
    pub(super) fn draft(&self) -> PathBuf {
        self.folder.join(FILES).join("draft.part")
    }

    fn place(&self, hash: &str) -> PathBuf {
        self.folder.join(FILES).join(hash)
    }

    /// The list of what is in the folder; none where no backup was finished.
    ///
    /// # Errors
    /// [`Error::Data`] when it is not as it was written, [`Error::Io`].
    pub(super) fn list(&self) -> Result<Option<BackupList>> {
        let path = self.folder.join(BACKUP);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path)(error)),
            Ok(meta) if !meta.is_file() || meta.len() > LONGEST => {
                return Err(Error::data(&path, "the list of a backup", "something else", ADVICE));
            }
            Ok(_) => {}
        }
        let text = fs::read_to_string(&path).map_err(Error::text(&path))?;
        let damaged = |found: &str| Error::data(&path, "the list of a backup as it was written", found, ADVICE);
        let (body, seal) = text.trim_end().rsplit_once('\n').ok_or_else(|| damaged("one that is cut off"))?;
        if format!("{:016x}", hash64(body.as_bytes())) != seal {
            return Err(damaged("another one"));
        }
        let list: BackupList = serde_json::from_str(body).map_err(|error| damaged(&error.to_string()))?;
        if list.version > VERSION {
            return Err(Error::data(&path, format!("a backup of version {VERSION}"), "a newer one", "install a newer Tessera"));
        }
        let is_name = |hash: &str| hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        match list.files.iter().find(|file| !is_fitting(&file.path.0) || !is_name(&file.hash)) {
            Some(file) => Err(damaged(&format!("a file of another kind, {}", file.path.0.display()))),
            None => Ok(Some(list)),
        }
    }

    /// Takes in a file unless it is there already. Returns its entry and whether it was copied.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Cancelled`]; [`Error::Data`] when it was replaced meanwhile, or the
    /// copy cannot be read back.
    pub(super) fn take_in(&self, from: &Path, path: PathBuf, progress: &Progress) -> Result<(KeptFile, bool)> {
        let (hash, bytes) = hash_of(from, progress)?;
        let place = self.place(&hash);
        let entry = KeptFile { path: RawPath(path), bytes, hash };
        if self.holds(&entry, progress)? {
            return Ok((entry, false));
        }
        let part = self.place(&format!("{}.part", entry.hash));
        copy_synced(from, &part, progress)?;
        if hash_of(&part, progress)?.0 != entry.hash {
            let advice = "run the backup again; check the disk if it goes on";
            return Err(Error::data(from, "a file that stays as it is, and a copy of it", "other bytes in the copy", advice));
        }
        Disk.rename(&part, &place).map_err(Error::io("write", &place))?;
        Ok((entry, true))
    }

    /// Whether a file of a list is there with the bytes that it should have.
    pub(super) fn holds(&self, file: &KeptFile, progress: &Progress) -> Result<bool> {
        let place = self.place(&file.hash);
        let is_whole = fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_file() && meta.len() == file.bytes);
        Ok(is_whole && hash_of(&place, progress)?.0 == file.hash)
    }

    /// Checks that every file of a list is there.
    ///
    /// # Errors
    /// [`Error::Data`] with the first that is not; [`Error::Io`]; [`Error::Cancelled`].
    pub(super) fn check(&self, list: &BackupList, progress: &Progress) -> Result<()> {
        progress.begin("Checking the backup", list.bytes() / PIECE as u64);
        for file in &list.files {
            if !self.holds(file, progress)? {
                let found = format!("none, or other bytes, for {}", file.path.0.display());
                return Err(Error::data(&self.place(&file.hash), "a file of the backup", found, ADVICE));
            }
        }
        Ok(())
    }

    /// Copies a file of a list to a place.
    pub(super) fn hand_out(&self, file: &KeptFile, to: &Path, progress: &Progress) -> Result<()> {
        copy_synced(&self.place(&file.hash), to, progress)
    }

    /// The bytes of a file of a list.
    pub(super) fn read(&self, file: &KeptFile) -> Result<Vec<u8>> {
        let place = self.place(&file.hash);
        fs::read(&place).map_err(Error::io("read", &place))
    }

    /// Puts a list in place, deletes the files that it does not name, and ends the work.
    pub(super) fn finish(&self, list: &BackupList) -> Result<()> {
        let folder = self.folder.join(FILES);
        Disk.sync_folder(&folder).map_err(Error::io("write", &folder))?;
        let body = serde_json::to_string(list).unwrap_or_default();
        let text = format!("{body}\n{:016x}\n", hash64(body.as_bytes()));
        replace_on(&Disk, &self.folder.join(BACKUP), text.as_bytes())?;
        let named: BTreeSet<&str> = list.files.iter().map(|file| file.hash.as_str()).collect();
        for entry in fs::read_dir(&folder).map_err(Error::io("list", &folder))?.flatten() {
            if !entry.file_name().to_str().is_some_and(|name| named.contains(name)) {
                remove(&entry.path())?;
            }
        }
        remove(&self.folder.join(UNFINISHED))
    }
}

/// xxh3-128 of a file's bytes, and their number.
fn hash_of(path: &Path, progress: &Progress) -> Result<(String, u64)> {
    let mut hash = Xxh3::new();
    let bytes = pieces(path, progress, |piece| {
        hash.update(piece);
        Ok(())
    })?;
    Ok((format!("{:032x}", hash.digest128()), bytes))
}

/// Copies a file, whose bytes are on the disk when this returns.
fn copy_synced(from: &Path, to: &Path, progress: &Progress) -> Result<()> {
    let mut file = File::create(to).map_err(Error::io("create", to))?;
    pieces(from, progress, |piece| file.write_all(piece).map_err(Error::io("write", to)))?;
    file.sync_all().map_err(Error::io("write", to))
}

/// Hands out the bytes of a file in pieces. Returns their number.
fn pieces(path: &Path, progress: &Progress, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
    let mut file = BufReader::new(File::open(path).map_err(Error::io("open", path))?);
    let (mut piece, mut bytes) = (vec![0; PIECE], 0);
    loop {
        let n = file.read(&mut piece).map_err(Error::io("read", path))?;
        if n == 0 {
            return Ok(bytes);
        }
        each(&piece[..n])?;
        bytes += n as u64;
        progress.step()?;
    }
}
