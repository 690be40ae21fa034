//! The picture that is looked at, and the next one, decoded before it is asked for.

use std::sync::Arc;

use image::RgbImage;
use tessera_core::ids::ItemId;

use crate::job::Job;

type Decoded = (ItemId, Result<Arc<RgbImage>, String>);

/// At most two pictures, and the decoding of one.
#[derive(Default)]
pub(super) struct Pictures {
    wanted: Option<ItemId>,
    /// The one that is looked at; the one before it until it is there.
    shown: Option<Decoded>,
    next: Option<Decoded>,
    job: Option<(ItemId, Job<Arc<RgbImage>>)>,
}

fn is_of(decoded: Option<&Decoded>, image: ItemId) -> bool {
    decoded.is_some_and(|(id, _)| *id == image)
}

impl Pictures {
    /// Sees to it that a picture is decoded, and after it the one that is likely to be wanted next. Another that was asked for is given up.
    pub(super) fn want(&mut self, image: ItemId, next: Option<ItemId>, decode: impl FnOnce(ItemId) -> Option<Job<Arc<RgbImage>>>) {
        self.wanted = Some(image);
        if !is_of(self.shown.as_ref(), image) && is_of(self.next.as_ref(), image) {
            self.shown = self.next.take();
        }
        let missing = if is_of(self.shown.as_ref(), image) {
            next.filter(|next| *next != image && !is_of(self.next.as_ref(), *next))
        } else {
            Some(image)
        };
        if self.job.as_ref().map(|(id, _)| *id) != missing {
            self.job = missing.and_then(|id| Some((id, decode(id)?)));
        }
    }

    /// Takes in what was decoded. Whether anything was.
    pub(super) fn poll(&mut self) -> bool {
        let Some(outcome) = self.job.as_ref().and_then(|(_, job)| job.poll()) else { return false };
        let Some((id, _)) = self.job.take() else { return false };
        let place = if self.wanted == Some(id) { &mut self.shown } else { &mut self.next };
        *place = Some((id, outcome));
        true
    }

    /// The picture that is looked at, or why it cannot be had; another one while it is on its way.
    pub(super) fn shown(&self) -> Option<(ItemId, Result<&Arc<RgbImage>, &str>)> {
        self.shown.as_ref().map(|(id, picture)| (*id, picture.as_ref().map_err(String::as_str)))
    }
}
