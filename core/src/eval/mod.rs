//! Experiments: train and test on whole data sets, with figures.
//!
//! [`recognition`] tries compositional kernel machines; [`few_shot`], [`multilabel`] and
//! [`captions`] memory trees; [`online`] learners that play rounds. The other modules are what
//! these are compared with.
//!
//! ```
//! use tessera_core::ckm::presets::Preset;
//! use tessera_core::data::toys::{ToyOptions, generate};
//! use tessera_core::data::{Dataset, OpenOptions};
//! use tessera_core::eval::recognition::{learn, test};
//! use tessera_core::picture::InProcess;
//! use tessera_core::progress::Progress;
//!
//! let (folder, decoder, progress) = (tempfile::tempdir()?, InProcess::default(), Progress::default());
//! generate(&ToyOptions { instances: 1, views: 2, side: 32, ..ToyOptions::default() }, folder.path(), &progress)?;
//! let toys = Dataset::open(folder.path(), &OpenOptions::default(), &progress)?;
//! let learned = learn(&toys, |_| true, &Preset::Colour.options(), &decoder, &progress)?;
//! let tested = test(&learned.ckm, &toys, |_| true, &decoder, &progress)?;
//! assert_eq!(tested.accuracy(), 1.0, "it has seen these very images");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod calibration;
pub mod candidates;
pub mod captions;
pub mod few_shot;
pub mod figures;
pub mod mixtures;
pub mod multilabel;
pub mod one_against_all;
pub mod online;
pub mod recognition;
pub mod report;

use std::path::PathBuf;

use crate::error::Error;

/// An image that could not be used, and why.
#[derive(Debug)]
pub struct Failed {
    /// The image.
    pub path: PathBuf,
    /// Why.
    pub error: Error,
}
