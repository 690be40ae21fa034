//! The lock of a library: one process has it at a time, and the system frees it however that
//! process ends.
//!
//! On Unix the folder itself is locked, which nobody can replace while the library is there, and
//! the file `lock` as well, which is what earlier versions of the program look at. Neither is ever
//! written to.

use std::fs::{self, File};
use std::path::Path;

use super::files::{LOCK, check_ordinary};
use crate::error::{Error, Result};

/// The lock of a library, which is freed when this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    folder: Option<File>,
    file: Option<File>,
    /// The process that took it.
    process: u32,
}

impl Drop for Lock {
    /// A process that is just being started has open files of ours until it runs its own program,
    /// so to close them would leave the lock to it for a moment. What a fork of this process drops
    /// frees nothing.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // Closing frees it as well, in the end.
            [&self.folder, &self.file].into_iter().flatten().for_each(|file| drop(file.unlock()));
        }
    }
}

/// Takes the lock of the library in `folder`, after a look at whether all in it are ordinary files
/// and folders.
///
/// # Errors
/// [`Error::Busy`] when another process has it; [`Error::Data`] when something in the folder is a
/// link or the like; [`Error::Io`].
pub(super) fn take(folder: &Path) -> Result<Lock> {
    let mut lock = take_to_read(folder)?;
    let path = folder.join(LOCK);
    let file = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(Error::io("open", &path))?;
    try_lock(&file, &path, folder)?;
    lock.file = Some(file);
    Ok(lock)
}

/// As [`take`], but makes no file, also not where `lock` is missing. Where a folder cannot be
/// locked, other programs are not kept out.
///
/// # Errors
/// As [`take`].
pub(super) fn take_to_read(folder: &Path) -> Result<Lock> {
    let mut lock = Lock { folder: None, file: None, process: std::process::id() };
    if cfg!(unix) {
        let handle = File::open(folder).map_err(Error::io("open", folder))?;
        try_lock(&handle, folder, folder)?;
        lock.folder = Some(handle);
    }
    check_ordinary(folder)?;
    Ok(lock)
}

/// Locks an open file or folder at `path`, which must still be there when it is locked.
fn try_lock(file: &File, path: &Path, library: &Path) -> Result<()> {
    let busy = |holder: &str| Error::Busy { path: library.to_owned(), holder: holder.into() };
    match file.try_lock() {
        Ok(()) if is_in_place(file, path) => Ok(()),
        Ok(()) => Err(busy("a program that was just taking it away")),
        Err(fs::TryLockError::WouldBlock) => {
            Err(busy(&holder(file).map_or("another program".into(), |process| format!("process {process}"))))
        }
        Err(fs::TryLockError::Error(error)) => Err(Error::io("lock", path)(error)),
    }
}

/// The number of the process that has an open file locked, as Linux lists it.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<u32> {
    use std::os::linux::fs::MetadataExt as _;
    let ours = format!(":{}", file.metadata().ok()?.st_ino());
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // Each line: number, kind, mode, access, process, device and file, first and last byte.
    let mut holders = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_it = words.get(1) == Some(&"FLOCK") && words.get(5)?.ends_with(&ours);
        words.get(4).filter(|_| is_it)?.parse().ok()
    });
    holders.next()
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<u32> {
    None
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_in_place(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |meta: std::io::Result<fs::Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    number(file.metadata()).is_some_and(|ours| Some(ours) == number(fs::metadata(path)))
}

#[cfg(not(unix))]
fn is_in_place(_: &File, _: &Path) -> bool {
    true
}
