//! The built-in sample: a small world of toys that comes with the program.

use std::fs;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use tessera_core::envelope::replace;
use tessera_core::{Error, Result};

use super::Session;

static SAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../assets/sample");

/// The paths of the sample.
pub struct Sample {
    /// Images to train on, in class folders.
    pub train: PathBuf,
    /// Images of objects that are not among them.
    pub try_these: PathBuf,
    /// A table of captions of both.
    pub captions: PathBuf,
}

impl Session {
    /// Writes the sample into the user's data folder, or into the system's temporary folder if that
    /// is not possible. Files that are there already are kept; those that differ are rewritten.
    ///
    /// # Errors
    /// [`Error::Io`] when neither can be written.
    pub fn sample(&self) -> Result<Sample> {
        let name = Path::new("tessera").join(concat!("sample-", env!("CARGO_PKG_VERSION")));
        let mut last = Ok(());
        for folder in self.data_folder().into_iter().chain([std::env::temp_dir()]).map(|folder| folder.join(&name)) {
            last = unpack(&SAMPLE, &folder);
            if last.is_ok() {
                return Ok(Sample {
                    train: folder.join("train"),
                    try_these: folder.join("try-these"),
                    captions: folder.join("captions.tsv"),
                });
            }
        }
        last.map(|()| unreachable!("the list of folders is not empty"))
    }
}

fn unpack(dir: &Dir<'_>, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(Error::io("create", to))?;
    for file in dir.files() {
        let path = to.join(file.path().file_name().unwrap_or_default());
        if !fs::read(&path).is_ok_and(|bytes| bytes == file.contents()) {
            replace(&path, file.contents())?;
        }
    }
    for inner in dir.dirs() {
        unpack(inner, &to.join(inner.path().file_name().unwrap_or_default()))?;
    }
    Ok(())
}
