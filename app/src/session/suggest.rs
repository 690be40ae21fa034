//! Suggests classes for images of a library, and reviews its labels.

use std::sync::Mutex;

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::{LEARNED, LabelOrder, POOL, Review, Suggester, Suggestion};
use tessera_core::progress::Progress;

use super::Session;

impl Session {
    /// Suggests classes for some images; when none are named, for the first `n` of those without a
    /// class, in an order. Also returns the number of labels that the advisers have learned. Images
    /// without features are left out. An order that needs the advisers covers [`POOL`] images at
    /// most.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn suggest(&self, library: &Mutex<Library>, images: &[ItemId], n: usize, order: LabelOrder) -> Result<(Vec<Suggestion>, usize)> {
        let mut suggester = Suggester::of(&hold(library), self.seed, LEARNED)?;
        let state = hold(library).state().clone();
        let is_named = !images.is_empty();
        let mut images = images.to_vec();
        if !is_named {
            images.extend(state.images().filter(|image| image.label().is_none()).map(|image| image.id));
            order.arrange(&state, &mut images, self.seed);
            images.truncate(if order.is_asked() { POOL } else { n });
        }
        let fresh = suggester.fresh(&state);
        let wanted: Vec<ItemId> = fresh.images().chain(images.iter().copied()).collect();
        self.load_appearances_of(library, &wanted, || ())?;
        let mut moment = suggester.gather(library, fresh);
        self.on_threads(|| suggester.learn(&mut moment, self.progress()))?;
        if !is_named {
            if order.is_asked() {
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

    /// Reads from a library what a review of its labels needs; [`Review::judge`] then works without
    /// the library.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn begin_review(&self, library: &Mutex<Library>) -> Result<Review> {
        let state = hold(library).state().clone();
        let chosen = Review::chosen(&state, self.seed);
        self.load_appearances_of(library, &chosen, || ())?;
        Ok(Review::new(&hold(library), &chosen, self.seed))
    }
}
