//! Suggest classes for images of a library, and review the labels that are there.

use std::sync::Mutex;

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::{LEARNED, LabelOrder, POOL, Review, Suggester, Suggestion};
use tessera_core::progress::Progress;

use super::Session;

impl Session {
    /// What is suggested for some images, or for the first `n` in an order of those without a class
    /// where none are named; and the labels that this was learned from. Images of which nothing is
    /// known are left out. An order for which advisers are asked is one of [`POOL`] images at most.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn suggest(&self, library: &Mutex<Library>, images: &[ItemId], n: usize, order: LabelOrder) -> Result<(Vec<Suggestion>, usize)> {
        self.load_appearances(library)?;
        let mut suggester = Suggester::new(self.seed, LEARNED)?;
        let moment = suggester.news(&hold(library));
        self.on_threads(|| suggester.learn(&moment, self.progress()))?;
        let mut images = images.to_vec();
        if images.is_empty() {
            let state = moment.state();
            images.extend(state.images().filter(|image| image.label().is_none()).map(|image| image.id));
            order.arrange(state, &mut images, self.seed);
            if order.is_asked() {
                images.truncate(POOL);
                let seen = suggester.glance(&hold(library), &images);
                images = suggester.order(&moment, &seen, order, self.progress())?.into_iter().map(|(id, _)| id).collect();
            }
            images.truncate(n);
        }
        self.progress().begin("Asking advisers", images.len() as u64);
        let mut suggestions = Vec::new();
        for image in images {
            self.progress().step()?;
            let seen = suggester.see(&hold(library), &[image], &Progress::default())?;
            for seen in &seen {
                suggestions.extend(self.on_threads(|| suggester.suggest(&moment, seen))?);
            }
        }
        Ok((suggestions, suggester.n_learned()))
    }

    /// Takes from a library what a review of its labels looks at; [`Review::judge`] does not need
    /// the library.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn begin_review(&self, library: &Mutex<Library>) -> Result<Review> {
        self.load_appearances(library)?;
        Ok(Review::new(&hold(library), self.seed))
    }
}
