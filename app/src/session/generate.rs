//! Generates data.

use std::path::Path;

use tessera_core::Result;
use tessera_core::data::toys::{self, ToyOptions, ToyReport};

use super::Session;

impl Session {
    /// Renders toys into a new folder.
    ///
    /// # Errors
    /// As [`toys::generate`].
    pub fn generate_toys(&self, options: &ToyOptions, to: &Path) -> Result<ToyReport> {
        self.pool.install(|| toys::generate(options, to, &self.progress))
    }
}
