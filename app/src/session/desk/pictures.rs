//! The picture that is looked at, and the next one, decoded before it is asked for.

use std::sync::Arc;

use image::RgbImage;
use tessera_core::ids::ItemId;
use tessera_core::library::event::ContentHash;

use crate::job::Job;

/// An image as it was when it was last looked for.
pub(super) type Key = (ItemId, Option<ContentHash>);
type Outcome = Result<Arc<RgbImage>, String>;

/// At most two pictures, and the decoding of one.
#[derive(Default)]
pub(super) struct Pictures {
    wanted: Option<Key>,
    /// The one that is looked at; the one before it until it is there.
    shown: Option<(Key, Outcome)>,
    /// The next one; none where it cannot be had, which is seen when it is looked at.
    next: Option<(Key, Option<Arc<RgbImage>>)>,
    job: Option<(Key, Job<Arc<RgbImage>>)>,
}

impl Pictures {
    /// Sees to it that a picture is decoded, and after it the one that is likely to be wanted next. Another that was asked for is given up.
    pub(super) fn want(&mut self, image: Key, next: Option<Key>, decode: impl FnOnce(Key) -> Option<Job<Arc<RgbImage>>>) {
        self.wanted = Some(image);
        let is_shown = |shown: &Option<(Key, Outcome)>| shown.as_ref().is_some_and(|(key, _)| *key == image);
        if !is_shown(&self.shown)
            && let Some((_, Some(picture))) = self.next.take_if(|(key, _)| *key == image)
        {
            self.shown = Some((image, Ok(picture)));
        }
        let is_there = |key: &Key| self.next.as_ref().is_some_and(|(there, _)| there == key);
        let missing = if is_shown(&self.shown) { next.filter(|next| *next != image && !is_there(next)) } else { Some(image) };
        if self.job.as_ref().map(|(key, _)| *key) != missing {
            self.job = missing.and_then(|key| Some((key, decode(key)?)));
        }
    }

    /// Takes in what was decoded. Whether anything was.
    pub(super) fn poll(&mut self) -> bool {
        let Some(outcome) = self.job.as_ref().and_then(|(_, job)| job.poll()) else { return false };
        let Some((key, _)) = self.job.take() else { return false };
        if self.wanted == Some(key) {
            self.shown = Some((key, outcome));
        } else {
            self.next = Some((key, outcome.ok()));
        }
        true
    }

    /// The picture that is looked at, or why it cannot be had; another one while it is on its way.
    pub(super) fn shown(&self) -> Option<(ItemId, Result<&Arc<RgbImage>, &str>)> {
        self.shown.as_ref().map(|((id, _), picture)| (*id, picture.as_ref().map_err(String::as_str)))
    }
}
