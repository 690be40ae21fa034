//! Detects the features of pictures.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tessera_core::Result;
use tessera_core::features::{Features, OrbOptions, detect};
use tessera_core::picture::decode::WHOLE;
use tessera_core::picture::grey;

use super::Session;

/// A picture, its features and how long they took.
pub struct DetectedFeatures {
    /// The file.
    pub path: PathBuf,
    /// Width and height in pixels, upright.
    pub size: (u32, u32),
    /// The keypoints and descriptors.
    pub features: Features,
    /// Milliseconds for the features alone, without decoding.
    pub ms: f64,
}

impl Session {
    /// The features of one picture.
    ///
    /// # Errors
    /// As [`tessera_core::picture::Decoder::decode`].
    pub fn features(&self, path: &Path, options: &OrbOptions) -> Result<DetectedFeatures> {
        let picture = grey(&self.decoder.decode(path, WHOLE, &self.progress)?.pixels);
        let start = Instant::now();
        let features = detect(&picture, options);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(DetectedFeatures { path: path.to_owned(), size: picture.dimensions(), features, ms })
    }
}
