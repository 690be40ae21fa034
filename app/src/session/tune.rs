//! Chooses a recogniser's options on a folder of images.

use std::path::Path;

use tessera_core::Result;
use tessera_core::ckm::CkmOptions;
use tessera_core::ckm::tune::{Tuning, tune};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::eval::{Failed, recognition};

use super::Session;

/// The outcome of tuning on a folder.
pub struct Tuned {
    /// What was tried, and the best.
    pub tuning: Tuning,
    /// The images, how their labels were read, and what was skipped.
    pub data: Dataset,
    /// Images that could not be used.
    pub failed: Vec<Failed>,
}

impl Session {
    /// Races options of a recogniser around `base` on held-out objects of a folder's images. When
    /// cancelled, it answers with the best so far, once there is one.
    ///
    /// # Errors
    /// As [`Dataset::open`], [`recognition::learn`] and [`tune`].
    pub fn tune(&self, folder: &Path, open: &OpenOptions, base: &CkmOptions, steps: u64) -> Result<Tuned> {
        self.pool.install(|| {
            let data = Dataset::open(folder, open, &self.progress)?;
            let mut failed = None;
            let learn = |options: &CkmOptions| {
                let learned = recognition::learn(&data, |_| true, options, &*self.decoder, &self.progress)?;
                failed.get_or_insert(learned.failed);
                Ok(learned.ckm)
            };
            let tuning = tune(base, steps, self.seed, learn, &self.progress)?;
            Ok(Tuned { tuning, data, failed: failed.unwrap_or_default() })
        })
    }
}
