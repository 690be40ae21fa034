//! Experiments: train and test on folders of images, with figures.

pub mod captions;
pub mod few_shot;
pub mod figures;
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
