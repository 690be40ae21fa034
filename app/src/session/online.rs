//! Experiments with online classification.

use std::path::Path;

use tessera_core::Result;
use tessera_core::data::libsvm::{self, ClassNames};
use tessera_core::eval::online::{self, Desks, Played, Setting, Source};

use super::Session;

impl Session {
    /// Plays an experiment with online classification on one thread.
    ///
    /// # Errors
    /// As [`online::play`].
    pub fn online(&self, setting: &Setting) -> Result<Played> {
        online::play(setting, &self.progress)
    }

    /// Labels the examples of a file in libsvm's format in so many orders, with advisers.
    ///
    /// # Errors
    /// As [`libsvm::read`] and [`online::desks`].
    pub fn desks(&self, path: &Path, dimension: usize, orders: usize) -> Result<Desks> {
        let examples = libsvm::read(path, &mut ClassNames::default(), &self.progress)?;
        online::desks(&online::dense(&examples, dimension, self.seed), orders, self.seed, &self.progress)
    }

    /// The examples of a file in libsvm's format as a stream of queries with at most `dimension` components.
    ///
    /// # Errors
    /// As [`libsvm::read`].
    pub fn examples(&self, path: &Path, dimension: usize) -> Result<(Source, ClassNames)> {
        let mut classes = ClassNames::default();
        let examples = libsvm::read(path, &mut classes, &self.progress)?;
        Ok((Source::Examples(online::dense(&examples, dimension, self.seed)), classes))
    }
}
