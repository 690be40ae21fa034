//! Experiments with recognisers: separate training and test images, or leave-one-object-out.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::weights::LearnReport;
use tessera_core::ckm::{Ckm, CkmOptions};
use tessera_core::data::{Dataset, OpenOptions, Skipped};
use tessera_core::eval::recognition::{self, Learned, RecognitionScores};
use tessera_core::ids::ItemId;
use tessera_core::{Error, Result, random};

use super::Session;
use super::train::{JUDGED, Terms, TrainOptions, judged};

/// How images are split into training and test images.
pub enum TestSplit<'a> {
    /// Two folders.
    Folders {
        /// Training images.
        train: &'a Path,
        /// Test images.
        test: &'a Path,
    },
    /// One folder: the objects of these instance numbers are tested, the others trained on.
    Instances {
        /// The folder.
        data: &'a Path,
        /// Instance numbers.
        test: &'a [u32],
    },
    /// One folder, without the objects of these instance numbers: each image is tested by the
    /// machine without its object (or, where that is not known, without itself).
    LeaveObjectOut {
        /// The folder.
        data: &'a Path,
        /// Instance numbers that are left out altogether.
        without: &'a [u32],
        /// Images tested at most.
        limit: usize,
    },
}

/// The outcome of an experiment.
pub struct Outcome {
    /// The machine and statistics of its training.
    pub learned: Learned,
    /// How weights were learned, and the milliseconds it took an image.
    pub weights: Option<(LearnReport, f64)>,
    /// The curve of confidence that training images gave, whose objects were left out.
    pub calibration: Calibration,
    /// The predictions and scores.
    pub tested: RecognitionScores,
    /// The bytes the machine takes on disk.
    pub model_bytes: u64,
    /// Files and folders that were skipped.
    pub skipped: Vec<Skipped>,
}

impl Session {
    /// Trains a recogniser, and its weights if the options say so, and tests it.
    ///
    /// # Errors
    /// As [`Dataset::open`], [`recognition::learn`], [`recognition::test`] and
    /// [`tessera_core::ckm::weights::learn`].
    pub fn experiment(&self, split: &TestSplit<'_>, open: &OpenOptions, options: &TrainOptions) -> Result<Outcome> {
        self.pool.install(|| {
            // Learning weights judges images of its own, to which terms are fitted.
            let terms = if options.weights.is_some() { Terms::None } else { options.terms };
            let mut weights = None;
            let mut weigh = |learned: &mut Learned, calibration: &mut Calibration| -> Result<()> {
                let Some(learning) = &options.weights else { return Ok(()) };
                let (report, ms) = self.learn_weights(&mut learned.ckm, learning)?;
                *calibration = Calibration::fit(judged(&report.judgement, options.terms));
                if options.terms == Terms::Fitted {
                    learned.ckm.set_terms(report.judgement.terms.clone());
                }
                weights = Some((report, ms));
                Ok(())
            };
            let (learned, calibration, tested, skipped) = match *split {
                TestSplit::Folders { train, test } => {
                    let (train, test) = (Dataset::open(train, open, &self.progress)?, Dataset::open(test, open, &self.progress)?);
                    let (mut learned, mut calibration) = self.learn(&train, |_| true, options, terms)?;
                    weigh(&mut learned, &mut calibration)?;
                    let tested = self.test(&learned.ckm, &test, |_| true)?;
                    (learned, calibration, tested, [train.skipped, test.skipped].concat())
                }
                TestSplit::Instances { data, test } => {
                    let data = Dataset::open(data, open, &self.progress)?;
                    let is_tested = |i: usize| data.items[i].meta.instance.is_some_and(|instance| test.contains(&instance));
                    if !(0..data.items.len()).any(is_tested) {
                        return Err(nothing_to_test("--test-instances", format!("{test:?}, which no name has")));
                    }
                    let (mut learned, mut calibration) = self.learn(&data, |i| !is_tested(i), options, terms)?;
                    weigh(&mut learned, &mut calibration)?;
                    let tested = self.test(&learned.ckm, &data, is_tested)?;
                    (learned, calibration, tested, data.skipped)
                }
                TestSplit::LeaveObjectOut { data, without, limit } => {
                    let data = Dataset::open(data, open, &self.progress)?;
                    let is_looked_at = |i: usize| !data.items[i].meta.instance.is_some_and(|instance| without.contains(&instance));
                    let (mut learned, mut calibration) = self.learn(&data, is_looked_at, options, Terms::None)?;
                    weigh(&mut learned, &mut calibration)?;
                    let tested = match &weights {
                        Some((report, _)) => tested(&learned.ckm, judged(&report.judgement, options.terms))?,
                        None => self.leave_object_out(&learned.ckm, limit, terms)?,
                    };
                    (learned, calibration, tested, data.skipped)
                }
            };
            let recogniser = RecogniserModel { ckm: Arc::new(learned.ckm), calibration, metrics: Metrics::default(), root: String::new() };
            let model_bytes = recogniser.weight_bytes()?;
            let ckm = Arc::unwrap_or_clone(recogniser.ckm);
            Ok(Outcome { learned: Learned { ckm, ..learned }, weights, calibration, tested, model_bytes, skipped })
        })
    }

    fn learn(&self, data: &Dataset, keep: impl Fn(usize) -> bool, options: &TrainOptions, terms: Terms) -> Result<(Learned, Calibration)> {
        let learn = |options: &CkmOptions| recognition::learn(data, &keep, options, &*self.decoder, &self.progress);
        let mut learned = learn(&options.ckm)?;
        learned.ckm.set_search_watched(options.search.unwrap_or_default(), &self.progress)?;
        let mut calibration = Calibration::default();
        if terms == Terms::Fitted {
            self.fit_kernels(&mut learned.ckm, options, |options| Ok(learn(options)?.ckm))?;
            let judgement = judge(&learned.ckm, JUDGED, &mut random::seeded(self.seed), Vec::new(), &self.progress)?;
            calibration = Calibration::fit(&judgement.held_out);
            learned.ckm.set_terms(judgement.terms);
        }
        Ok((learned, calibration))
    }

    fn test(&self, ckm: &Ckm, data: &Dataset, keep: impl Fn(usize) -> bool) -> Result<RecognitionScores> {
        recognition::test(ckm, data, keep, &*self.decoder, &self.progress)
    }

    fn leave_object_out(&self, ckm: &Ckm, limit: usize, terms: Terms) -> Result<RecognitionScores> {
        let start = std::time::Instant::now();
        let judgement = judge(ckm, limit, &mut random::seeded(self.seed), Vec::new(), &self.progress)?;
        let mut tested = tested(ckm, judged(&judgement, terms))?;
        tested.time = start.elapsed();
        Ok(tested)
    }
}

/// What images came to that were judged without their objects. With learned weights they are those
/// of folds: leaving an object out of the whole machine would leave weights in that were learned
/// from it.
fn tested(ckm: &Ckm, judged: &[HeldOut]) -> Result<RecognitionScores> {
    let mut tested = RecognitionScores::new(ckm.classes().iter().map(|class| class.name.clone()).collect());
    let groups: BTreeMap<ItemId, Option<&str>> = ckm.examples().map(|(_, example)| (example.id, example.group.as_deref())).collect();
    for image in judged {
        let group = groups.get(&image.id).copied().flatten();
        tested.count(&ckm.classes()[image.class.index()].name, group, &ckm.classes()[image.predicted.index()].name, image.scores.margin());
    }
    if tested.n() == 0 { Err(nothing_to_test("--data", "a folder in which no image is left to test".into())) } else { Ok(tested) }
}

fn nothing_to_test(name: &'static str, found: String) -> Error {
    Error::Option { name, found, expected: "chosen so that classes have two objects or more and some images are tested" }
}
