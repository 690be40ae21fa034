//! The files in a library's folder: their names, removing what a killed program left behind, and
//! replacing one by another.

use std::fs;
#[cfg(target_os = "linux")]
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::storage::{Disk, Storage};
use crate::utc::now;

/// The file that makes a folder a library.
pub const DATABASE: &str = "library.db";
/// The file of everything that can be computed again.
pub const CACHE: &str = "cache.db";
/// The journal's file.
pub const JOURNAL: &str = "journal.jsonl";
/// The file that is locked.
pub(super) const LOCK: &str = "lock";
/// The folder of saved models.
pub const MODELS: &str = "models";
/// The folder of snapshots.
pub const SNAPSHOTS: &str = "snapshots";
/// The folder in which a database is made before it takes the place of the library's.
const SCRATCH: &str = "repair";

/// Whether there is a library at `path`.
pub fn is_library(path: &Path) -> bool {
    path.join(DATABASE).is_file()
}

/// A database and the two files that SQLite keeps beside it.
pub(super) fn of_database(folder: &Path, name: &str) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| folder.join(format!("{name}{ending}")))
}

/// A path with something added to the end of its name.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Looks at whether everything in a library's folder that the program opens is an ordinary file or
/// folder: a link, a device or a file with a second name elsewhere would let a folder from a
/// stranger reach other files. O(files).
///
/// # Errors
/// [`Error::Data`] with the first that is something else; [`Error::Io`].
pub(super) fn check_ordinary(folder: &Path) -> Result<()> {
    let is_ours = |name: &str| {
        [DATABASE, CACHE, JOURNAL, LOCK].iter().any(|ours| name.starts_with(ours)) || [SNAPSHOTS, MODELS, SCRATCH].contains(&name)
    };
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let entry = entry.map_err(Error::io("list", folder))?;
        if is_ours(&entry.file_name().to_string_lossy()) {
            check_entry(&entry.path(), 0)?;
        }
    }
    Ok(())
}

/// How deep folders in a library lie at most: `models`, a model, its files.
const DEPTH: usize = 4;

/// The same for one file, or nothing, at a path.
pub(super) fn check_ordinary_file(path: &Path) -> Result<()> {
    check_entry(path, DEPTH)
}

fn check_entry(path: &Path, depth: usize) -> Result<()> {
    let meta = match fs::symlink_metadata(path) {
        // Another program may have taken away what it had just made.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(Error::io("read", path))?,
    };
    let refused = |found: &str| {
        let advice = "move it out of the library's folder, or copy what it leads to in its place";
        Err(Error::data(path, "an ordinary file or folder of a library", found, advice))
    };
    if meta.is_symlink() {
        refused("a link")
    } else if meta.is_file() {
        if names(&meta) > 1 { refused("a file that has another name elsewhere (a hard link)") } else { Ok(()) }
    } else if !meta.is_dir() {
        refused("neither a file nor a folder")
    } else if depth == DEPTH {
        refused("folders in folders")
    } else {
        let entries = fs::read_dir(path).map_err(Error::io("list", path))?;
        entries.flatten().try_for_each(|entry| check_entry(&entry.path(), depth + 1))
    }
}

/// How many names a file has.
#[cfg(unix)]
fn names(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
fn names(_: &fs::Metadata) -> u64 {
    1
}

/// A name for a second library beside one, that nothing has yet.
pub(super) fn beside(folder: &Path) -> PathBuf {
    let stem = folder.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = folder.extension().map_or_else(String::new, |ending| format!(".{}", ending.to_string_lossy()));
    let named = |n: u32| folder.with_file_name(format!("{stem}-{n}{ending}"));
    (2..).map(named).find(|path| fs::symlink_metadata(path).is_err()).unwrap_or_else(|| named(0))
}

/// Reads a file that may come from a stranger: a pipe would be waited for, and a link leads
/// elsewhere.
///
/// # Errors
/// Those of the system; [`io::ErrorKind::InvalidInput`] where there is something else.
pub(super) fn read_ordinary(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file"));
    }
    fs::read(path)
}

/// Copies a file, and its rights. Holes in it stay holes: a file from a stranger can claim to be
/// longer than any disk.
///
/// # Errors
/// Those of the system.
#[cfg(target_os = "linux")]
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::SeekFrom;
    use std::io::{Read as _, Seek as _};
    let (mut source, mut copy) = (File::open(from)?, File::create(to)?);
    let meta = source.metadata()?;
    copy.set_len(meta.len())?;
    let mut at = 0;
    while at < meta.len() {
        let start = match rustix::fs::seek(&source, SeekFrom::Data(at)) {
            // From here on there is nothing but a hole.
            Err(rustix::io::Errno::NXIO) => break,
            start => start?,
        };
        let end = rustix::fs::seek(&source, SeekFrom::Hole(start))?;
        source.seek(io::SeekFrom::Start(start))?;
        copy.seek(io::SeekFrom::Start(start))?;
        io::copy(&mut (&source).take(end - start), &mut copy)?;
        at = end;
    }
    copy.set_permissions(meta.permissions())
}

/// Copies a file, and its rights.
///
/// # Errors
/// Those of the system.
#[cfg(not(target_os = "linux"))]
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(drop)
}

/// Deletes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("delete", path)(error)),
        _ => Ok(()),
    }
}

/// Deletes a folder and everything in it, if it is there.
pub(super) fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("delete", folder)(error)),
        _ => Ok(()),
    }
}

/// Deletes what a killed program was about to put in place. The caller holds the lock.
pub(super) fn remove_left_overs(folder: &Path) -> Result<()> {
    for folder in [folder, &folder.join(SNAPSHOTS)] {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_ours = [DATABASE, CACHE, JOURNAL].iter().any(|ours| name.starts_with(ours));
            let is_part = name.ends_with(".part") && (is_ours || folder.ends_with(SNAPSHOTS));
            if (is_part || (is_ours && name.ends_with(".before"))) && path.is_file() {
                fs::remove_file(&path).map_err(Error::io("delete", &path))?;
            }
        }
    }
    remove_folder(&folder.join(SCRATCH))
}

/// Syncs a written file to the disk and renames it over the file it replaces. Both lie on one disk.
///
/// # Errors
/// Those of the system; either the old file or the new one is there, whole.
pub(super) fn put_in_place(storage: &dyn Storage, draft: &Path, place: &Path) -> io::Result<()> {
    storage.sync(draft)?;
    storage.rename(draft, place)?;
    storage.sync_folder(place.parent().unwrap_or(place))
}

/// A folder inside a library's in which a new database is made, with a journal of its own.
pub(super) struct Scratch<'a> {
    library: &'a Path,
    folder: PathBuf,
}

impl<'a> Scratch<'a> {
    /// An empty one.
    pub(super) fn new(library: &'a Path) -> Result<Self> {
        let folder = library.join(SCRATCH);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        Ok(Self { library, folder })
    }

    /// Where the new database is made.
    pub(super) fn database(&self) -> PathBuf {
        self.folder.join(DATABASE)
    }

    /// Replaces the library's database by the new one, which must be closed.
    ///
    /// # Errors
    /// [`Error::Io`], also where SQLite could not merge the new one's write-ahead log into it: the
    /// old database stays.
    pub(super) fn put_in_place(self) -> Result<()> {
        let [draft, log, _] = of_database(&self.folder, DATABASE);
        if fs::metadata(&log).is_ok_and(|meta| meta.len() > 0) {
            let cause = io::Error::other("not all of it could be written");
            return Err(Error::io("write", &draft)(cause));
        }
        for folder in [self.library, &self.folder] {
            let [_, wal, shm] = of_database(folder, DATABASE);
            remove(&wal)?;
            remove(&shm)?;
        }
        put_in_place(&Disk, &draft, &self.library.join(DATABASE)).map_err(Error::io("replace", self.library.join(DATABASE)))?;
        let _ = fs::remove_dir_all(&self.folder);
        Ok(())
    }
}

/// Copies a library's database aside, with what SQLite keeps beside it. None when there was no
/// file.
pub(super) fn keep_damaged(folder: &Path) -> Result<Option<PathBuf>> {
    let [path, wal, _] = of_database(folder, DATABASE);
    let kept = with_ending(&path, &format!(".damaged-{}", now()));
    if !path.is_file() {
        // A folder, or a link to nothing, would be in the way of a new database.
        if fs::symlink_metadata(&path).is_ok() {
            fs::rename(&path, &kept).map_err(Error::io("rename", &path))?;
        }
        return Ok(None);
    }
    copy(&path, &kept).map_err(Error::io("copy", &path))?;
    if wal.is_file() {
        copy(&wal, &with_ending(&kept, "-wal")).map_err(Error::io("copy", &wal))?;
    }
    Ok(Some(kept))
}

/// Runs `work` while some files are renamed. When it returns a value, the files it made in their
/// place stay and the renamed ones are deleted; otherwise these are put back.
///
/// # Errors
/// Those of `work`; [`Error::Io`] when a file cannot be renamed: those already renamed are put back
/// first.
pub(super) fn while_aside<T>(files: &[PathBuf], work: impl FnOnce() -> Result<Option<T>>) -> Result<Option<T>> {
    let places: Vec<(&Path, PathBuf)> = files.iter().map(|place| (place.as_path(), with_ending(place, ".before"))).collect();
    let put_aside = |(place, aside): &(&Path, PathBuf)| {
        if place.exists() { fs::rename(place, aside).map_err(Error::io("rename", *place)) } else { remove(aside) }
    };
    let put_back = |(place, aside): &(&Path, PathBuf)| {
        if aside.exists() { fs::rename(aside, place).map_err(Error::io("rename", aside)) } else { remove(place) }
    };
    if let Err(error) = places.iter().try_for_each(put_aside) {
        // Only files that were renamed have nothing in their place.
        let _ = places.iter().filter(|(place, _)| !place.exists()).try_for_each(put_back);
        return Err(error);
    }
    let outcome = work();
    match outcome {
        Ok(Some(_)) => places.iter().try_for_each(|(_, aside)| remove(aside))?,
        _ => places.iter().try_for_each(put_back)?,
    }
    outcome
}
