//! Experiments: train and test on folders of images, with figures.

pub mod captions;
mod dense;
pub mod few_shot;
pub mod figures;
pub mod kd_tree;
pub mod multilabel;
pub mod one_against_all;
pub mod online;
pub mod pca;
pub mod recognition;
pub mod report;
pub mod scan;

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
