//! Trains a recogniser on a folder of images.

use std::path::Path;
use std::sync::Arc;

use tessera_core::Result;
use tessera_core::ckm::confidence::{self, Calibration};
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::{CkmOptions, Search};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::eval::Failed;
use tessera_core::eval::recognition::{self, Learned};
use tessera_core::random;

use super::Session;

/// Training images that are evaluated with their object left out, at most; more would take long and
/// add little.
pub const JUDGED: usize = 400;

/// A recogniser and statistics of its training.
pub struct Trained {
    /// The recogniser.
    pub recogniser: RecogniserModel,
    /// The images it was trained on, how their labels were read, and what was skipped.
    pub data: Dataset,
    /// Images that could not be used.
    pub failed: Vec<Failed>,
    /// Images without a single element.
    pub featureless: usize,
    /// Milliseconds of training an image: one pass, without decoding.
    pub train_ms_per_image: f64,
}

impl Session {
    /// Opens a folder of labelled images, trains on all of them, and evaluates some with their
    /// object left out, for an unbiased accuracy and to calibrate the confidence. The recogniser
    /// keeps `search`.
    ///
    /// # Errors
    /// As [`Dataset::open`] and [`recognition::learn`].
    pub fn train(&self, folder: &Path, open: &OpenOptions, options: &CkmOptions, search: Search) -> Result<Trained> {
        self.pool.install(|| {
            let data = Dataset::open(folder, open, &self.progress)?;
            let learned = recognition::learn(&data, |_| true, options, &*self.decoder, &self.progress)?;
            let train_ms_per_image = learned.ms_per_image();
            let Learned { mut ckm, failed, featureless, .. } = learned;
            ckm.set_search(search)?;
            let judged = confidence::held_out(&ckm, JUDGED, &mut random::seeded(self.seed), &self.progress)?;
            let metrics = Metrics {
                held_out_accuracy: (!judged.is_empty()).then(|| confidence::accuracy(&judged)),
                held_out: judged.len(),
                objects_unknown: ckm.examples().filter(|(_, example)| example.group.is_none()).count(),
            };
            let root = std::path::absolute(&data.root).unwrap_or_else(|_| data.root.clone());
            let calibration = Calibration::fit(&judged);
            let recogniser = RecogniserModel { ckm: Arc::new(ckm), calibration, metrics, root: root.to_string_lossy().into_owned() };
            Ok(Trained { recogniser, data, failed, featureless, train_ms_per_image })
        })
    }
}
