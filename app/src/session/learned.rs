//! Learned features of a library: what the network that comes with the program sees in its images,
//! turned on or off, and computed for images that came without.

use std::sync::Mutex;

use rayon::ThreadPoolBuilder;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::learned;
use tessera_core::library::pair;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::Session;
use super::library_kinds;

/// What the network was trained on, in a sentence.
pub const TRAINED_ON: &str =
    "A small neural network looks at each image too: SqueezeNet 1.1, trained on 1.2 million photographs of 1,000 classes (ILSVRC 2012).";

/// Looks at images with the network that comes with the program, and with the pair of encoders of
/// the library. Returns how many the former looked at.
fn compute(library: &Mutex<Library>, progress: &Progress) -> Result<usize> {
    let looked = learned::compute(library, progress)?;
    pair::compute(library, progress)?;
    Ok(looked)
}

impl Session {
    /// Chooses the pair of encoders by whose vectors words find images of a library, by the name it
    /// was added with; `None` for none. Images are looked at by
    /// [`Session::compute_learned_features`].
    ///
    /// # Errors
    /// [`Error::Data`] when there is no such pair; as [`Library::set_words_network`].
    pub fn set_words_network(&self, library: &Mutex<Library>, name: Option<&str>) -> Result<()> {
        let networks = self.networks();
        let hash = match name {
            None => None,
            Some(name) => {
                let network = networks.find(name)?;
                if network.text.is_none() {
                    let expected = format!("a pair of encoders, of images and of text, called `{name}`");
                    return Err(Error::data(networks.path(), expected, "an image encoder alone", "add one of those"));
                }
                Some(network.image.identity())
            }
        };
        hold(library).set_words_network(hash.as_deref())
    }

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

    /// Has the network, and the pair of encoders if one was chosen, look at all images of a library
    /// that they have not looked at, on all threads. Returns how many the network looked at.
    ///
    /// # Errors
    /// As [`learned::compute`] and [`pair::compute`].
    pub fn compute_learned_features(&self, library: &Mutex<Library>) -> Result<usize> {
        let looked = self.pool.install(|| compute(library, &self.progress))?;
        library_kinds::restore(&mut hold(library));
        Ok(looked)
    }

    /// As [`Session::compute_learned_features`], on one thread: others stay free for what the user
    /// asks for.
    ///
    /// # Errors
    /// As [`Session::compute_learned_features`]; [`Error::Io`] when the system refuses to start a
    /// thread.
    pub fn compute_learned_features_aside(&self, library: &Mutex<Library>) -> Result<usize> {
        let refused = |error| Error::io("start a thread for", hold(library).folder())(std::io::Error::other(error));
        let alone = ThreadPoolBuilder::new().num_threads(1).build().map_err(refused)?;
        let looked = alone.install(|| compute(library, &self.progress))?;
        library_kinds::restore(&mut hold(library));
        Ok(looked)
    }
}
