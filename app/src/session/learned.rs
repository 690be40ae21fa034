//! Learned features of a library: what the network that comes with the program sees in its images,
//! turned on or off, and computed for images that came without.

use std::sync::Mutex;

use rayon::ThreadPoolBuilder;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::learned::compute;
use tessera_core::{Error, Result};

use super::Session;
use super::library_kinds;

/// What the network was trained on, in a sentence.
pub const TRAINED_ON: &str = "SqueezeNet 1.1, a small network that was trained on the 1.2 million photographs of 1,000 classes of ILSVRC 2012, looks at each image too.";

impl Session {
    /// Turns the learned features of a library on or off, for all answers at once.
    ///
    /// # Errors
    /// As [`Library::set_learned_features`].
    pub fn set_learned_features(&self, library: &Mutex<Library>, on: bool) -> Result<()> {
        self.pool.install(|| {
            let mut library = hold(library);
            library.set_learned_features(on, &self.progress)?;
            library_kinds::restore(&mut library);
            Ok(())
        })
    }

    /// Has the network look at all images of a library that it has not looked at, on all threads.
    /// Returns how many these were.
    ///
    /// # Errors
    /// As [`compute`].
    pub fn compute_learned_features(&self, library: &Mutex<Library>) -> Result<usize> {
        let looked = self.pool.install(|| compute(library, &self.progress))?;
        library_kinds::restore(&mut hold(library));
        Ok(looked)
    }

    /// As [`Session::compute_learned_features`], on one thread: others stay free for what the user
    /// asks for.
    ///
    /// # Errors
    /// As [`compute`]; [`Error::Io`] when the system refuses to start a thread.
    pub fn compute_learned_features_aside(&self, library: &Mutex<Library>) -> Result<usize> {
        let refused = |error| Error::io("start a thread for", hold(library).folder())(std::io::Error::other(error));
        let alone = ThreadPoolBuilder::new().num_threads(1).build().map_err(refused)?;
        let looked = alone.install(|| compute(library, &self.progress))?;
        library_kinds::restore(&mut hold(library));
        Ok(looked)
    }
}
