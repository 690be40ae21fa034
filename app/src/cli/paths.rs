//! The images that a list of paths stands for.

use std::path::PathBuf;

use anyhow::Result;

use super::output::Failures;
use crate::session::Session;
use crate::session::recognise_folder::images_in;

/// The paths with each folder replaced by the images in it, in order.
pub(super) fn images(session: &Session, paths: &[PathBuf], failures: &mut Failures<'_>) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        match images_in(path, session.progress()) {
            Ok(data) => {
                all.extend(data.items.iter().map(|item| item.path().to_owned()));
                failures.skipped(&data.skipped)?;
            }
            Err(error) => failures.file(path, error)?,
        }
    }
    Ok(all)
}
