//! Trains a recogniser on a folder of images.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tessera_core::Result;
use tessera_core::ckm::confidence::{self, Calibration};
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::weights::{self, LearnOptions, LearnReport};
use tessera_core::ckm::{Ckm, CkmOptions};
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
    /// How weights were learned, and the milliseconds it took an image.
    pub weights: Option<(LearnReport, f64)>,
}

impl Session {
    /// Opens a folder of labelled images, trains on all of them, and evaluates some with their
    /// object left out, for an unbiased accuracy and to calibrate the confidence. With
    /// `learn_options` weights are learned too, and judged on the objects of folds that took no
    /// part in learning.
    ///
    /// # Errors
    /// As [`Dataset::open`], [`recognition::learn`] and [`weights::learn`].
    pub fn train(&self, folder: &Path, open: &OpenOptions, options: &CkmOptions, learn_options: Option<&LearnOptions>) -> Result<Trained> {
        self.pool.install(|| {
            let data = Dataset::open(folder, open, &self.progress)?;
            let learned = recognition::learn(&data, |_| true, options, &*self.decoder, &self.progress)?;
            let train_ms_per_image = learned.ms_per_image();
            let Learned { ckm, failed, featureless, .. } = learned;
            let root = std::path::absolute(&data.root).unwrap_or_else(|_| data.root.clone());
            let objects_unknown = ckm.examples().filter(|(_, example)| example.group.is_none()).count();
            let metrics = Metrics { objects_unknown, ..Metrics::default() };
            let (calibration, root) = (Calibration::default(), root.to_string_lossy().into_owned());
            let mut recogniser = RecogniserModel { ckm: Arc::new(ckm), calibration, metrics, root };
            let weights = match learn_options {
                Some(options) => Some(self.learn_weights_of(&mut recogniser, options)?),
                None => {
                    let judged = confidence::held_out(&recogniser.ckm, JUDGED, &mut random::seeded(self.seed), &self.progress)?;
                    recogniser.calibration = Calibration::fit(&judged);
                    recogniser.metrics.held_out_accuracy = (!judged.is_empty()).then(|| confidence::accuracy(&judged));
                    recogniser.metrics.held_out = judged.len();
                    None
                }
            };
            Ok(Trained { recogniser, data, failed, featureless, train_ms_per_image, weights })
        })
    }

    /// Learns the weights of a recogniser, with its accuracy and the curve of its confidence from
    /// the objects of folds. Returns what learning came to, and the milliseconds it took an image.
    ///
    /// # Errors
    /// As [`weights::learn`].
    pub fn learn_weights_of(&self, recogniser: &mut RecogniserModel, options: &LearnOptions) -> Result<(LearnReport, f64)> {
        let (report, ms) = self.learn_weights(Arc::make_mut(&mut recogniser.ckm), options)?;
        let judged: Vec<(f64, bool)> = report.judged.iter().map(|image| (image.margin, image.is_right())).collect();
        recogniser.calibration = Calibration::fit_margins(&judged);
        recogniser.metrics.held_out_accuracy = report.held_out.get(report.epochs).copied();
        recogniser.metrics.held_out = judged.len();
        Ok((report, ms))
    }

    /// Learns the weights of a machine. Returns what learning came to, and the milliseconds it took
    /// an image.
    ///
    /// # Errors
    /// As [`weights::learn`].
    pub(super) fn learn_weights(&self, ckm: &mut Ckm, options: &LearnOptions) -> Result<(LearnReport, f64)> {
        self.pool.install(|| {
            let start = Instant::now();
            let report = weights::learn(ckm, options, self.seed, &self.progress)?;
            Ok((report, start.elapsed().as_secs_f64() * 1e3 / ckm.examples().count().max(1) as f64))
        })
    }
}
