//! The lock of a library: one process has it at a time, and the system frees it however that
//! process ends.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::{Error, Result};

/// The file that is locked. Its text says which process has the library.
pub(super) const LOCK: &str = "lock";

/// Takes the lock of the library in `folder`; dropping the file frees it.
///
/// # Errors
/// [`Error::Busy`] when another process has it; [`Error::Io`].
pub(super) fn take(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) if !is_in_place(&file, &path) => {
            Err(Error::Busy { path: folder.to_owned(), holder: "a program that was just taking it away".into() })
        }
        Ok(()) => {
            let words = format!("process {}\n", std::process::id());
            // The text is for people: what keeps others out is the lock.
            let _ = file.set_len(0).and_then(|()| file.write_all(words.as_bytes()));
            Ok(file)
        }
        Err(fs::TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            let holder = if holder.is_empty() { "another program".into() } else { holder };
            Err(Error::Busy { path: folder.to_owned(), holder })
        }
        Err(fs::TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
    }
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
