//! Experiments with memory trees.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tessera_core::cmt::{CmtOptions, TreeShape};
use tessera_core::data::libsvm::{self, ClassNames};
use tessera_core::data::tables;
use tessera_core::eval::captions::{self, MemoryUnit, Photo, Recalls, Retrieval, RetrievalSetting};
use tessera_core::eval::few_shot::{self, FewShotMemory, FewShotScores, FewShotTraining};
use tessera_core::eval::figures::{self, Curve};
use tessera_core::eval::{Failed, multilabel};
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::{Session, plot};

/// The outcome of training a memory tree on one file and testing it on another.
pub struct FewShot {
    /// The memory tree and statistics of its training.
    pub trained: FewShotMemory,
    /// Its scores.
    pub tested: FewShotScores,
    /// The scores of the exact nearest neighbour by cosine.
    pub nearest: FewShotScores,
    /// Log2 of the ratio of its accuracy to that of always answering the most frequent class.
    pub entropy_reduction: f64,
    /// The share of memories that are not the answer to their own vector.
    pub self_consistency_error: f64,
    /// The shape of each tree.
    pub shapes: Vec<TreeShape>,
    /// Classes in the training examples.
    pub classes: usize,
    /// Mean number of postings that an inverted index reads for an answer.
    pub postings: f64,
}

/// The outcome of multi-label classification.
pub struct MultiLabelScores {
    /// Training examples.
    pub trained: usize,
    /// Labels in all.
    pub labels: usize,
    /// One-against-some, on the labels that a memory tree finds, and its training time per example
    /// and pass.
    pub some: (multilabel::LabellingScores, Duration),
    /// One-against-all, in the fastest implementation here, and its training time per example and
    /// pass.
    pub all: (multilabel::LabellingScores, Duration),
    /// One-against-all, with the code that `some` runs on few labels.
    pub all_alike: multilabel::LabellingScores,
    /// The loss of predicting nothing.
    pub trivial_hamming: f64,
    /// Mean number of labels that one-against-some evaluates.
    pub asked: f64,
    /// The shape of each tree.
    pub shapes: Vec<TreeShape>,
}

/// The outcome of retrieving photos by captions.
pub struct Captions {
    /// Scores of retrieving the photo most similar to the right one.
    pub retrieval: Retrieval,
    /// Scores of retrieving the right photo itself.
    pub recalls: Recalls,
    /// Photos in the memory, and photos queried.
    pub photos: [usize; 2],
    /// Photos that could not be used.
    pub failed: Vec<Failed>,
}

/// The files of the experiment with captions.
pub struct CaptionFiles<'a> {
    /// The folder of the photos.
    pub images: &'a Path,
    /// The table of captions.
    pub captions: &'a Path,
    /// The names of the photos to remember, one a line.
    pub train: &'a Path,
    /// The names of the photos to ask for.
    pub test: &'a Path,
}

impl Session {
    /// Stores photos in a memory and queries it by the captions of others. Photos are decoded on
    /// all threads; everything else runs on one.
    ///
    /// # Errors
    /// As [`tables::read`] and [`captions::retrieve`]; [`Error::Data`] when a list has no photo
    /// that can be used.
    pub fn captions(&self, files: &CaptionFiles<'_>, setting: &RetrievalSetting) -> Result<Captions> {
        let table = tables::read(files.captions, &self.progress)?;
        let mut failed = Vec::new();
        let mut photos = |list: &Path| -> Result<Vec<Photo>> {
            let text = fs::read_to_string(list).map_err(Error::text(list))?;
            let names: Vec<String> = text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect();
            let work = || captions::photos(files.images, &table, &names, &*self.decoder, &self.progress);
            let (photos, more) = self.pool.install(work)?;
            failed.extend(more);
            if photos.is_empty() {
                let advice = "write the file name of a photo on each line, as it is in the captions";
                return Err(Error::data(list, "names of photos that can be used", "none", advice));
            }
            Ok(photos)
        };
        let (train, test) = (photos(files.train)?, photos(files.test)?);
        let retrieval = captions::retrieve(&train, &test, setting, &self.progress)?;
        let recalls = captions::recall(&train, &test, MemoryUnit::Photos, setting, &self.progress)?;
        Ok(Captions { retrieval, recalls, photos: [train.len(), test.len()], failed })
    }
}

/// Trains a memory tree on the examples of a file in libsvm's format and tests it on those of
/// another, visiting `leaves` leaves of each tree. Runs on one thread.
///
/// # Errors
/// As [`libsvm::read`] and [`few_shot::train`].
pub fn few_shot(train: &Path, test: &Path, training: &FewShotTraining, leaves: usize, progress: &Progress) -> Result<FewShot> {
    let mut classes = ClassNames::default();
    let known = libsvm::read(train, &mut classes, progress)?;
    let asked = libsvm::read(test, &mut classes, progress)?;
    let trained = few_shot::train(&known, training, progress)?;
    let tested = few_shot::test(&trained.memory, &asked, leaves, progress)?;
    let nearest = few_shot::nearest(&known, &asked, progress)?;
    Ok(FewShot {
        entropy_reduction: few_shot::entropy_reduction(tested.error, &known, &asked),
        self_consistency_error: few_shot::self_consistency_error(&trained.memory),
        shapes: trained.memory.shapes(),
        classes: classes.names().len(),
        postings: few_shot::postings(&known, &asked),
        trained,
        tested,
        nearest,
    })
}

/// Trains one-against-some and one-against-all on the examples of a file and tests them on those of
/// another, visiting `leaves` leaves of each tree. Runs on one thread.
///
/// # Errors
/// As [`tessera_core::data::multilabel::read`], [`multilabel::train_some`] and
/// [`multilabel::train_all`].
pub fn multilabel(
    train: &Path,
    test: &Path,
    training: &multilabel::MultiLabelTraining,
    leaves: usize,
    progress: &Progress,
) -> Result<MultiLabelScores> {
    let known = tessera_core::data::multilabel::read(train, progress)?;
    let asked = tessera_core::data::multilabel::read(test, progress)?;
    if known.n_labels != asked.n_labels {
        let expected = format!("{} labels, as in the file to train on", known.n_labels);
        return Err(Error::data(test, expected, asked.n_labels.to_string(), "take both files from one data set"));
    }
    let (all, all_time) = multilabel::train_all(&known, training, progress)?;
    let (some, some_time) = multilabel::train_some(&known.examples, training, progress)?;
    let labeller = some.labeller_voted(training.votes)?;
    let candidates: u64 = asked.examples.iter().map(|(x, _)| u64::from(labeller.n_scored(x, leaves))).sum();
    let ways: [multilabel::LabelRule<'_>; 4] =
        [&|x| labeller.predict(x, leaves), &|x| all.predict(x), &|x| labeller.predict_all(x), &|_| Vec::new()];
    let [of_some, of_all, all_alike, none] = multilabel::test(&asked.examples, progress, ways)?;
    Ok(MultiLabelScores {
        trained: known.examples.len(),
        labels: known.n_labels,
        some: (of_some, some_time),
        all: (of_all, all_time),
        all_alike,
        trivial_hamming: none.hamming,
        asked: candidates as f64 / asked.examples.len().max(1) as f64,
        shapes: some.memories().shapes(),
    })
}

/// Computes the curves of few-shot classification, means of `runs` runs, and writes each as a
/// table, and the plots of them, into a folder.
///
/// # Errors
/// As [`libsvm::read`] and [`figures::few_shot`]; [`Error::Io`].
pub fn memory_figures(
    train: &Path,
    test: &Path,
    to: &Path,
    options: &CmtOptions,
    runs: u32,
    progress: &Progress,
) -> Result<(Vec<Curve>, Vec<PathBuf>)> {
    let mut classes = ClassNames::default();
    let known = libsvm::read(train, &mut classes, progress)?;
    let asked = libsvm::read(test, &mut classes, progress)?;
    let curves = figures::few_shot(&known, &asked, options, runs, progress)?;
    let written = plot::few_shot(&curves, to)?;
    Ok((curves, written))
}

/// Computes how a memory grows and writes the table and the plots of it into a folder.
///
/// # Errors
/// As [`figures::growth`]; [`Error::Io`].
pub fn memory_growth(memories: u32, to: &Path, options: &CmtOptions, progress: &Progress) -> Result<(Curve, Vec<PathBuf>)> {
    let curve = figures::growth(memories, options, progress)?;
    let written = plot::growth(&curve, to)?;
    Ok((curve, written))
}
