//! Folders of scenes: `train` and `test` with a folder for each class, and a table of what each
//! picture shows.

use std::fs;
use std::io;
use std::path::Path;

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};
use rayon::prelude::*;

use super::gallery::Half;
use crate::data::toys::save::{self, save};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// JPEG quality of scenes.
const QUALITY: u8 = 95;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SceneReport {
    /// Pictures.
    pub images: u64,
    /// Bytes of the pictures.
    pub bytes: u64,
}

/// One picture.
pub(super) struct Scene {
    pub(super) picture: RgbImage,
    pub(super) class: String,
    /// The file's name without ending.
    pub(super) name: String,
    /// What it shows, for the table.
    pub(super) shows: String,
}

/// Makes sure that `to` is an empty folder. Whoever has a gallery made for it asks before that long
/// work; the generators ask too.
///
/// # Errors
/// [`Error::Data`] when something is in it or it is a file, [`Error::Io`].
pub fn claim(to: &Path) -> Result<()> {
    save::claim(to)
}

/// Writes `train` and `test` pictures into the new or empty folder `to`, in parallel, and
/// `scenes.tsv`: path, tab, what the picture shows. `paint` makes picture `number` of a half.
///
/// # Errors
/// [`Error::Data`] when the folder is not empty, [`Error::Io`], [`Error::Cancelled`].
pub(super) fn write(to: &Path, counts: [u32; 2], progress: &Progress, paint: impl Fn(Half, u32) -> Scene + Sync) -> Result<SceneReport> {
    claim(to)?;
    progress.begin("Painting scenes", counts.iter().map(|&count| u64::from(count)).sum());
    let halves = [("train", Half::Train, counts[0]), ("test", Half::Test, counts[1])];
    let all: Vec<(&str, Half, u32)> = halves.into_iter().flat_map(|(part, half, count)| (0..count).map(move |n| (part, half, n))).collect();
    let one = |&(part, half, number): &(&str, Half, u32)| -> Result<(String, u64)> {
        progress.step()?;
        let Scene { picture, class, name, shows } = paint(half, number);
        let folder = to.join(part).join(&class);
        fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        let path = folder.join(format!("{name}.jpg"));
        let mut bytes = Vec::new();
        JpegEncoder::new_with_quality(&mut bytes, QUALITY)
            .encode(picture.as_raw(), picture.width(), picture.height(), ExtendedColorType::Rgb8)
            .map_err(|error| Error::io("encode", &path)(io::Error::other(error)))?;
        save(&path, &bytes)?;
        Ok((format!("{part}/{class}/{name}.jpg\t{shows}\n"), bytes.len() as u64))
    };
    let written: Vec<(String, u64)> = all.par_iter().map(one).collect::<Result<_>>()?;
    save(&to.join("scenes.tsv"), written.iter().map(|(line, _)| line.as_str()).collect::<String>().as_bytes())?;
    Ok(SceneReport { images: written.len() as u64, bytes: written.iter().map(|(_, bytes)| bytes).sum() })
}
