//! The last review of labels, as it is kept in the cache.

use super::review::Reviewed;
use crate::error::Result;
use crate::library::Library;
use crate::library::event::EventId;

/// The name of the checkpoint.
const REVIEW: &str = "review 1";

impl Library {
    /// The review that was kept last, if one was. Labels may have changed since
    /// ([`Reviewed::is_of`]).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn kept_review(&self) -> Result<Option<Reviewed>> {
        let Some((_, bytes)) = self.cache.checkpoint(REVIEW)? else { return Ok(None) };
        let read: Option<Reviewed> = std::str::from_utf8(&bytes).ok().and_then(|text| ron::from_str(text).ok());
        // A library may come from anyone.
        let is_chance = |(_, chance): &(String, f64)| (0.0..=1.0).contains(chance);
        let is_sound = |kept: &Reviewed| {
            let counts = [kept.judged, kept.passed, kept.left, kept.objects_unknown];
            counts.iter().all(|n| u32::try_from(*n).is_ok())
                && kept.doubts.iter().all(|doubt| doubt.instead.iter().chain([&doubt.label]).all(is_chance))
        };
        Ok(read.filter(is_sound))
    }

    /// Keeps a review in the place of that kept before. Does nothing in a library that is only
    /// read, for a review that judged nothing, and for one of an image that was forgotten since.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn keep_review(&self, reviewed: &Reviewed) -> Result<()> {
        let mut images = reviewed.doubts.iter().flat_map(|doubt| doubt.alike.iter().map(|(id, _)| *id).chain([doubt.image]));
        let is_forgotten = |id| self.state.image(id).is_none_or(|image| image.content.is_none());
        if reviewed.judged == 0 || images.any(is_forgotten) {
            return Ok(());
        }
        let bytes = ron::to_string(reviewed).unwrap_or_default().into_bytes();
        self.cache.put_checkpoint(REVIEW, self.state.last_event().unwrap_or(EventId(0)), bytes)
    }
}
