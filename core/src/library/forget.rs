//! Forgetting: an image's words, features and thumbnails are purged, and every model is taught anew without them.

use std::collections::BTreeSet;

use super::Library;
use super::event::{ContentHash, EventId, Kind};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;

impl Library {
    /// Forgets images: their rows, their part in every event, their features and thumbnails are purged from the files of
    /// the library, and the models learn everything else from the first event on. Afterwards each model is equal, byte
    /// for byte, to one that never saw them. The image files themselves stay where they are; a fingerprint keeps later
    /// imports from taking them in again. Cannot be taken back.
    ///
    /// # Errors
    /// [`Error::Option`] for an image that is not there; [`Error::Io`]. [`Error::Cancelled`] leaves models that are taught
    /// when the library is next opened; the purge itself is done by then.
    ///
    /// # Complexity
    /// O(events): the log is rewritten and replayed.
    pub fn forget(&mut self, images: &[ItemId], progress: &Progress) -> Result<EventId> {
        let gone: BTreeSet<ItemId> = images.iter().copied().collect();
        let mut hashes = Vec::new();
        for &id in &gone {
            let Some(image) = self.state.image(id) else {
                let found = format!("#{}, which is not there", id.0);
                return Err(Error::Option { name: "image", found, expected: "an image of this library" });
            };
            hashes.extend(image.content.map(|content| content.hash));
            hashes.extend(image.places.iter().map(|place| place.hash));
        }
        hashes.sort_unstable();
        hashes.dedup();
        self.forget_saved_models()?;
        self.store.purge(&gone, &hashes, true)?;
        self.cache.purge(&hashes)?;
        let words = if gone.len() == 1 { "Forget an image".to_owned() } else { format!("Forget {} images", gone.len()) };
        let event = self.store.append(super::now(), None, Kind::Final, &words, Vec::new())?;
        self.state = self.store.load()?;
        self.kept_at = None;
        self.catch_up(progress)?;
        self.keep_models()?;
        Ok(event.id)
    }

    /// Lets later imports take in again what was forgotten, whatever it was.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn allow_forgotten(&mut self, hash: ContentHash) -> Result<()> {
        self.store.unforget(hash)
    }

    /// Saved models hold pieces of images.
    fn forget_saved_models(&self) -> Result<()> {
        let folder = self.folder.join(super::MODELS);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("delete", &folder)(error)),
            _ => Ok(()),
        }
    }
}
