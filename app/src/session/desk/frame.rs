//! What whoever shows a desk tells it frame after frame: what is looked at, and what is wanted for
//! that. Nothing of it is an act of the user, and none of it waits.

use std::path::PathBuf;

use tessera_core::ids::ItemId;
use tessera_core::library::suggest::LabelOrder;
use tessera_core::picture::MemoryBudget;

use super::thumbnails::{Fetched, WantedThumbnail};
use super::view::Notice;
use super::{Desk, files};
use crate::settings::Settings;

impl Desk {
    /// What happened since this was last asked.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.ctx.notices.take()
    }

    /// Whether an answer is to be shown that was asked for by opening an image or a model; once.
    pub fn take_turn(&mut self) -> bool {
        self.parts.opening.take_turn()
    }

    /// Says whether the answer of the recogniser is looked at: only then is it kept up with the
    /// library.
    pub fn watch_recognition(&mut self, is_watched: bool) {
        self.parts.recognising.watch(&mut self.ctx, is_watched);
    }

    /// Says whether the labelling desk is looked at: only then do advisers think.
    pub fn watch_labelling(&mut self, is_watched: bool) {
        self.parts.labelling.watch(&self.ctx, is_watched);
    }

    /// Asks which of some paths are there.
    pub fn look_for(&self, paths: Vec<PathBuf>) {
        files::look_for(&self.ctx, paths);
    }

    /// Asks for the pixels of an image; they are there some polls later. Then those of the image
    /// that is likely to be asked for next.
    pub fn want_picture(&mut self, image: ItemId, next: Option<ItemId>) {
        self.parts.pictures.want(&self.ctx, image, next);
    }

    /// Lets go of pictures.
    pub fn drop_pictures(&mut self) {
        self.parts.pictures.clear();
    }

    /// Says which thumbnails are wanted now, the most wanted last.
    pub fn want_thumbnails(&self, wanted: Vec<WantedThumbnail>) {
        self.parts.pictures.want_thumbnails(wanted);
    }

    /// The thumbnails that came since this was last asked.
    pub fn take_thumbnails(&self) -> Vec<Fetched> {
        self.parts.pictures.take_thumbnails()
    }

    /// Says how many hits a search gives at most, and how many leaves of the memory it looks at.
    pub fn set_search(&mut self, hits: usize, leaves: usize) {
        self.parts.searching.set_effort(&mut self.ctx, hits, leaves);
    }

    /// Sets the order in which images are labelled where none is asked for.
    pub fn set_label_order(&mut self, order: LabelOrder) {
        self.parts.labelling.set_order(order);
    }

    /// The memory for pictures that are being decoded.
    pub fn picture_memory(&self) -> MemoryBudget {
        self.ctx.session.picture_memory()
    }

    /// Sets how much memory, in megabytes, they may need from now on, all together.
    pub fn limit_picture_memory(&mut self, megabytes: u64) {
        self.ctx.session.limit_picture_memory(megabytes);
    }

    /// Writes settings in their turn.
    pub fn save_settings(&self, settings: Settings, place: PathBuf) {
        files::save_settings(&self.ctx, settings, place);
    }
}
