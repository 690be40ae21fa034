//! Suggest classes for images of a library.

use std::sync::Mutex;

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::{Suggester, Suggestion};
use tessera_core::progress::Progress;

use super::Session;

impl Session {
    /// What is suggested for some images, or for the first `n` without a class where none are named; and the labels that this was learned
    /// from. Images of which nothing is known are left out.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn suggest(&self, library: &Mutex<Library>, images: &[ItemId], n: usize) -> Result<(Vec<Suggestion>, usize)> {
        self.bring_appearances(library)?;
        let library = hold(library);
        let mut suggester = Suggester::new(&library, self.seed, self.progress())?;
        let unlabelled = || library.state().images().filter(|image| image.label().is_none()).map(|image| image.id).take(n).collect();
        let images: Vec<ItemId> = if images.is_empty() { unlabelled() } else { images.to_vec() };
        self.progress().begin("Asking advisers", images.len() as u64);
        let mut suggestions = Vec::new();
        for image in images {
            self.progress().step()?;
            suggestions.extend(suggester.suggest(&library, image, &Progress::default())?);
        }
        Ok((suggestions, suggester.n_learned()))
    }
}
