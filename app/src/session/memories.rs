//! Experiments with memory trees.

use std::path::Path;

use tessera_core::Result;
use tessera_core::cmt::Shape;
use tessera_core::data::libsvm::{self, ClassNames};
use tessera_core::eval::few_shot::{self, Tested, Trained, Training};

use super::Session;

/// What came of training a memory on a file and testing it on another.
pub struct FewShot {
    /// The memory and how it was trained.
    pub trained: Trained,
    /// How it did.
    pub tested: Tested,
    /// How the exact nearest neighbour by cosine did.
    pub nearest: Tested,
    /// Log2 of the accuracy over that of always answering the most frequent class.
    pub entropy_reduction: f64,
    /// Memories that are not the answer to their own vector, as a share.
    pub self_consistency_error: f64,
    /// The shape of each tree.
    pub shapes: Vec<Shape>,
    /// Classes met.
    pub classes: usize,
}

impl Session {
    /// Trains a memory on the examples of a file in libsvm's format, and tests it on those of another, looking at `leaves`
    /// leaves for each tree. On one thread.
    ///
    /// # Errors
    /// As [`libsvm::read`] and [`few_shot::train`].
    pub fn few_shot(&self, train: &Path, test: &Path, training: &Training, leaves: usize) -> Result<FewShot> {
        let mut classes = ClassNames::default();
        let known = libsvm::read(train, &mut classes, &self.progress)?;
        let asked = libsvm::read(test, &mut classes, &self.progress)?;
        let trained = few_shot::train(&known, training, &self.progress)?;
        let tested = few_shot::test(&trained.memory, &asked, leaves, &self.progress)?;
        let nearest = few_shot::nearest(&known, &asked, &self.progress)?;
        Ok(FewShot {
            entropy_reduction: few_shot::entropy_reduction(tested.error, &known, &asked),
            self_consistency_error: few_shot::self_consistency_error(&trained.memory),
            shapes: trained.memory.shapes(),
            classes: classes.names().len(),
            trained,
            tested,
            nearest,
        })
    }
}
