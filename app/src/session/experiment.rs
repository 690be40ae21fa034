//! Experiments with recognisers: separate training and test images, or leave-one-object-out.

use std::path::Path;
use std::sync::Arc;

use tessera_core::ckm::confidence;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::{Ckm, CkmOptions, Search};
use tessera_core::data::{Dataset, OpenOptions, Skipped};
use tessera_core::eval::recognition::{self, Learned, RecognitionScores};
use tessera_core::{Error, Result, random};

use super::Session;

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
    /// The predictions and scores.
    pub tested: RecognitionScores,
    /// The bytes the machine takes on disk.
    pub model_bytes: u64,
    /// Files and folders that were skipped.
    pub skipped: Vec<Skipped>,
}

impl Session {
    /// Trains and tests a recogniser.
    ///
    /// # Errors
    /// As [`Dataset::open`], [`recognition::learn`] and [`recognition::test`].
    pub fn experiment(&self, split: &TestSplit<'_>, open: &OpenOptions, options: &CkmOptions, search: Search) -> Result<Outcome> {
        self.pool.install(|| {
            let (learned, tested, skipped) = match *split {
                TestSplit::Folders { train, test } => {
                    let (train, test) = (Dataset::open(train, open, &self.progress)?, Dataset::open(test, open, &self.progress)?);
                    let learned = self.learn(&train, |_| true, options, search)?;
                    let tested = self.test(&learned.ckm, &test, |_| true)?;
                    (learned, tested, [train.skipped, test.skipped].concat())
                }
                TestSplit::Instances { data, test } => {
                    let data = Dataset::open(data, open, &self.progress)?;
                    let is_tested = |i: usize| data.items[i].meta.instance.is_some_and(|instance| test.contains(&instance));
                    if !(0..data.items.len()).any(is_tested) {
                        return Err(nothing_to_test("--test-instances", format!("{test:?}, which no name has")));
                    }
                    let learned = self.learn(&data, |i| !is_tested(i), options, search)?;
                    let tested = self.test(&learned.ckm, &data, is_tested)?;
                    (learned, tested, data.skipped)
                }
                TestSplit::LeaveObjectOut { data, without, limit } => {
                    let data = Dataset::open(data, open, &self.progress)?;
                    let is_looked_at = |i: usize| !data.items[i].meta.instance.is_some_and(|instance| without.contains(&instance));
                    let learned = self.learn(&data, is_looked_at, options, search)?;
                    let tested = self.leave_object_out(&learned.ckm, limit)?;
                    (learned, tested, data.skipped)
                }
            };
            let recogniser = RecogniserModel {
                ckm: Arc::new(learned.ckm),
                calibration: Default::default(),
                metrics: Metrics::default(),
                root: String::new(),
            };
            let model_bytes = recogniser.weight_bytes()?;
            let ckm = Arc::unwrap_or_clone(recogniser.ckm);
            Ok(Outcome { learned: Learned { ckm, ..learned }, tested, model_bytes, skipped })
        })
    }

    fn learn(&self, data: &Dataset, keep: impl Fn(usize) -> bool, options: &CkmOptions, search: Search) -> Result<Learned> {
        let mut learned = recognition::learn(data, keep, options, &*self.decoder, &self.progress)?;
        learned.ckm.set_search(search)?;
        Ok(learned)
    }

    fn test(&self, ckm: &Ckm, data: &Dataset, keep: impl Fn(usize) -> bool) -> Result<RecognitionScores> {
        recognition::test(ckm, data, keep, &*self.decoder, &self.progress)
    }

    fn leave_object_out(&self, ckm: &Ckm, limit: usize) -> Result<RecognitionScores> {
        if ckm.examples().all(|(_, example)| example.group.is_none()) {
            return Err(Error::Option {
                name: "data",
                found: "a folder whose images do not tell their objects".into(),
                expected: "one with names such as truck_07_3_12_4.jpg, or give --train and --test",
            });
        }
        let mut tested = RecognitionScores::new(ckm.classes().iter().map(|class| class.name.clone()).collect());
        let start = std::time::Instant::now();
        for judged in confidence::held_out(ckm, limit, &mut random::seeded(self.seed), &self.progress)? {
            tested.count(&ckm.classes()[judged.class.index()].name, &ckm.classes()[judged.predicted.index()].name);
        }
        tested.time = start.elapsed();
        if tested.n() == 0 {
            return Err(nothing_to_test("--data", "a folder in which no image is left to test".into()));
        }
        Ok(tested)
    }
}

fn nothing_to_test(name: &'static str, found: String) -> Error {
    Error::Option { name, found, expected: "chosen so that classes have two objects or more and some images are tested" }
}
