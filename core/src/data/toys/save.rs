//! What writing toys gives: an empty folder to begin with, the report, and whole files.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// What [`super::generate`] wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToyReport {
    /// Pictures, the planted ones too.
    pub images: u64,
    /// Bytes of the pictures.
    pub bytes: u64,
    /// The planted faults, as in `planted.tsv`.
    pub planted: Vec<Planted>,
}

/// A fault that was planted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The file, from the folder that was written, with forward slashes.
    pub path: String,
    /// "wrong-label", "near-duplicate" or "corrupt".
    pub kind: &'static str,
    /// What is wrong with it.
    pub detail: String,
}

/// Writes a file, whole or not at all.
pub(in crate::data) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|error| {
        let _ = fs::remove_file(path);
        Error::io("write", path)(error)
    })
}

/// Makes sure that `to` is an empty folder.
pub(in crate::data) fn claim(to: &Path) -> Result<()> {
    match fs::read_dir(to) {
        Ok(entries) => match entries.count() {
            0 => Ok(()),
            n => Err(Error::data(to, "a new or empty folder", format!("{n} files or folders in it"), "choose another folder")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(to).map_err(Error::io("create", to)),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(Error::data(to, "a new or empty folder", "a file", "choose another folder"))
        }
        Err(error) => Err(Error::io("read", to)(error)),
    }
}
