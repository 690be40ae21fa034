//! Suggest classes for images of a library.

use std::sync::Mutex;

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::{Review, Reviewed, Suggester, Suggestion};
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
        let mut suggester = Suggester::new(self.seed)?;
        let moment = suggester.follow(&hold(library), self.progress())?;
        let unlabelled = || moment.state().images().filter(|image| image.label().is_none()).map(|image| image.id).take(n).collect();
        let images: Vec<ItemId> = if images.is_empty() { unlabelled() } else { images.to_vec() };
        self.progress().begin("Asking advisers", images.len() as u64);
        let mut suggestions = Vec::new();
        for image in images {
            self.progress().step()?;
            let seen = suggester.see(&hold(library), &[image], &Progress::default())?;
            for seen in &seen {
                suggestions.extend(suggester.suggest(&moment, seen)?);
            }
        }
        Ok((suggestions, suggester.n_learned()))
    }

    /// Judges all labels of a library, until it is cancelled: see [`Review`].
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`] while it was found out what the images look like.
    pub fn review(&self, library: &Mutex<Library>) -> Result<Reviewed> {
        self.bring_appearances(library)?;
        let review = Review::new(&hold(library), self.seed);
        review.judge(self.progress())
    }
}
