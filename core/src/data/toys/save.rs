//! What writing toys gives: the report, and whole files.

use std::fs;
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
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|error| {
        let _ = fs::remove_file(path);
        Error::io("write", path)(error)
    })
}
