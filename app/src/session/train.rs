//! Trains a recogniser on a folder of images.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tessera_core::Result;
use tessera_core::ckm::accuracy::Accuracy;
use tessera_core::ckm::class_terms::ClassTerms;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::fit::{self, KernelFit};
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::judge::{Judgement, judge};
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::scales::other_scales;
use tessera_core::ckm::unknown::UnknownBars;
use tessera_core::ckm::weights::{self, LearnOptions, LearnReport};
use tessera_core::ckm::{Ckm, CkmOptions, Search};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::eval::Failed;
use tessera_core::eval::recognition::{self, Learned};
use tessera_core::random;

use super::Session;
use crate::command::KindChoice;

/// Training images that are evaluated with their object left out, at most; more would take long and
/// add little.
pub const JUDGED: usize = 400;

/// Whether classes get terms that make up for their size and clutter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terms {
    /// Terms fitted to left-out training images.
    Fitted,
    /// No terms.
    None,
}

/// How a recogniser is trained.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// The options of the machine.
    pub ckm: CkmOptions,
    /// Which training images it compares; `None` leaves it to their number. Experiments then
    /// compare all.
    pub search: Option<Search>,
    /// Whether classes get terms.
    pub terms: Terms,
    /// How weights are learned; `None` leaves them uniform.
    pub weights: Option<LearnOptions>,
    /// How much kinds of elements and their places count.
    pub kinds: KindChoice,
    /// Whether, with fitted kinds, the scales at which elements are cut are chosen too.
    pub scales: bool,
}

impl TrainOptions {
    /// Classes get terms, weights are uniform, kinds are fitted.
    pub fn of(ckm: CkmOptions) -> Self {
        Self { ckm, search: None, terms: Terms::Fitted, weights: None, kinds: KindChoice::Fitted, scales: false }
    }
}

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
    /// What networks took of that.
    pub network_ms_per_image: f64,
    /// How weights were learned, and the milliseconds it took an image.
    pub weights: Option<(LearnReport, f64)>,
    /// How kinds were fitted, if they were.
    pub kinds: Option<KernelFit>,
    /// The accuracy on left-out images; `None` when none could be judged.
    pub accuracy: Option<Accuracy>,
}

impl Session {
    /// Opens a folder of labelled images, trains on all of them, and evaluates some with their
    /// object left out, for an unbiased accuracy and to calibrate the confidence. Learned weights
    /// are judged on the objects of folds that took no part in learning. Fitted kinds were chosen
    /// on some of the images that judge them: a few numbers, by which the accuracy reads little too
    /// high.
    ///
    /// # Errors
    /// As [`Dataset::open`], [`recognition::learn`], [`fit::fit_scales`] and [`weights::learn`].
    pub fn train(&self, folder: &Path, open: &OpenOptions, options: &TrainOptions) -> Result<Trained> {
        self.pool.install(|| {
            let data = Dataset::open(folder, open, &self.progress)?;
            let learn = |options: &CkmOptions| recognition::learn(&data, |_| true, options, &*self.decoder, &self.progress);
            let learned = learn(&options.ckm)?;
            let (train_ms_per_image, network_ms_per_image) = (learned.ms_per_image(), learned.network_ms_per_image());
            let Learned { mut ckm, failed, featureless, .. } = learned;
            let search = options.search.unwrap_or_else(|| Search::for_images(ckm.examples().count()));
            ckm.set_search_watched(search, &self.progress)?;
            let kinds = self.fit_kernels(&mut ckm, options, |options| Ok(learn(options)?.ckm))?;
            let root = std::path::absolute(&data.root).unwrap_or_else(|_| data.root.clone());
            let objects_unknown = ckm.examples().filter(|(_, example)| example.group.is_none()).count();
            let metrics = Metrics { objects_unknown, ..Metrics::default() };
            let (calibration, root) = (Calibration::default(), root.to_string_lossy().into_owned());
            let mut recogniser = RecogniserModel { ckm: Arc::new(ckm), calibration, metrics, root };
            let (weights, accuracy) = match &options.weights {
                Some(learning) => {
                    let (report, ms) = self.learn_weights(Arc::make_mut(&mut recogniser.ckm), learning)?;
                    let accuracy = take_in(&mut recogniser, &report.judgement, options.terms);
                    (Some((report, ms)), accuracy)
                }
                None => {
                    let judgement = judge(&recogniser.ckm, JUDGED, &mut random::seeded(self.seed), Vec::new(), &self.progress)?;
                    (None, take_in(&mut recogniser, &judgement, options.terms))
                }
            };
            Ok(Trained { recogniser, data, failed, featureless, train_ms_per_image, network_ms_per_image, weights, kinds, accuracy })
        })
    }

    /// Fits how much the kinds of a machine count, and at which scales their elements are cut, if
    /// that is wanted; `learn` trains a machine of other options on the same images. Where these
    /// cannot all be read again, scales stay. Returns what it came to.
    ///
    /// # Errors
    /// As [`fit::fit_scales`].
    pub(super) fn fit_kernels(
        &self,
        ckm: &mut Ckm,
        options: &TrainOptions,
        learn: impl Fn(&CkmOptions) -> Result<Ckm>,
    ) -> Result<Option<KernelFit>> {
        let Some(with_places) = options.kinds.fit() else { return Ok(None) };
        let mut found = if options.scales {
            let scales = other_scales(ckm.options());
            fit::fit_scales(ckm, fit::JUDGED, &scales, &learn, self.seed, &self.progress)?
        } else {
            fit::fit(ckm, fit::JUDGED, with_places, self.seed, &self.progress)?
        };
        if !found.scales.is_empty() {
            let mut machine = learn(&found.options(ckm.options()))?;
            if fit::has_images_of(&machine, ckm) {
                machine.set_search_watched(ckm.search(), &self.progress)?;
                *ckm = machine;
            } else {
                // The kernels are those of the scales.
                found.scales.clear();
                (found.kernels, found.loss[1], found.is_without_scales) = (found.before.clone(), found.loss[0], true);
            }
        } else if found.is_other() {
            *ckm = ckm.with_kernels(&found.kernels)?;
        }
        Ok(Some(found))
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

/// Gives a recogniser the accuracy, the curve of its confidence and, if wanted, the class terms
/// that a judgement found. Returns the accuracy.
fn take_in(recogniser: &mut RecogniserModel, judgement: &Judgement, terms: Terms) -> Option<Accuracy> {
    let judged = judged(judgement, terms);
    let accuracy = Accuracy::of(&recogniser.ckm, judged);
    recogniser.calibration = Calibration::fit(judged);
    let measured = Metrics::new(accuracy.as_ref(), judged.len(), recogniser.metrics.objects_unknown);
    let terms = if terms == Terms::Fitted { judgement.terms.clone() } else { ClassTerms::default() };
    let measured = measured.with_unknown(UnknownBars::fit(judged, &terms));
    recogniser.metrics = Metrics { not_told_apart: judgement.not_told_apart.clone(), ..measured };
    Arc::make_mut(&mut recogniser.ckm).set_terms(terms);
    accuracy
}

/// The judged images, with class terms if these are wanted.
pub(super) fn judged(judgement: &Judgement, terms: Terms) -> &[HeldOut] {
    match terms {
        Terms::Fitted => &judgement.held_out,
        Terms::None => &judgement.raw,
    }
}
