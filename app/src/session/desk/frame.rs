//! What the user interface tells a desk in each frame: what is visible, and which data it needs for
//! that. These are no commands of the user, and none of them waits.

use std::path::PathBuf;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::state::Act;
use tessera_core::library::suggest::LabelOrder;
use tessera_core::picture::MemoryBudget;

use super::opening::{NeedsModels, OpenedBackup};
use super::thumbnails::{Fetched, WantedThumbnail};
use super::view::Notice;
use super::{Desk, files};
use crate::command::Written;
use crate::settings::Settings;

impl Desk {
    /// What was not written, and where, because something is there that it would replace; once.
    pub fn take_occupied(&mut self) -> Option<(Written, PathBuf)> {
        self.parts.exporting.take_occupied()
    }

    /// The backup that was opened, to be asked where to restore it; once.
    pub fn take_backup(&mut self) -> Option<OpenedBackup> {
        self.parts.opening.take_backup()
    }

    /// The import that would be undone, to be asked whether that is meant; once.
    pub fn take_import_to_undo(&mut self) -> Option<Arc<Act>> {
        self.parts.upkeep.take_import_to_undo()
    }

    /// The notices to be shown that have come since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.ctx.notices.take()
    }

    /// Whether the page of recognition is to be shown because an image or a model was opened; true
    /// once.
    pub fn take_turn(&mut self) -> bool {
        self.parts.opening.take_turn()
    }

    /// Sets whether the recognition is visible: only then is it computed anew when the library
    /// changes.
    pub fn watch_recognition(&mut self, is_watched: bool) {
        let is_watched = self.parts.opening.watch(&mut self.ctx, NeedsModels::Recognition, is_watched);
        self.parts.recognising.watch(&mut self.ctx, is_watched);
    }

    /// Sets whether the labelling page is visible: only then do the advisers run.
    pub fn watch_labelling(&mut self, is_watched: bool) {
        self.parts.opening.watch(&mut self.ctx, NeedsModels::Labelling, is_watched);
        self.parts.labelling.watch(&self.ctx, is_watched);
    }

    /// Sets whether the page of similar images is visible: only then is the answer asked for anew
    /// when the library changes.
    pub fn watch_similar(&mut self, is_watched: bool) {
        let is_watched = self.parts.opening.watch(&mut self.ctx, NeedsModels::Similar, is_watched);
        self.parts.similar.watch(&mut self.ctx, is_watched);
    }

    /// Sets whether the map is visible: it is made when it first is.
    pub fn watch_map(&mut self, is_watched: bool) {
        let is_watched = self.parts.opening.watch(&mut self.ctx, NeedsModels::Map, is_watched);
        self.parts.map.watch(&mut self.ctx, is_watched);
    }

    /// Sets whether a page that shows clusters is visible: only then are they described anew when
    /// the library changes.
    pub fn watch_clusters(&mut self, is_watched: bool) {
        let is_watched = self.parts.opening.watch(&mut self.ctx, NeedsModels::Clusters, is_watched);
        self.parts.clusters.watch(&mut self.ctx, is_watched);
    }

    /// Sets whether the page of the library is visible: what is in memory is reckoned when it is
    /// turned to.
    pub fn watch_memory(&mut self, is_watched: bool) {
        self.parts.upkeep.watch(&mut self.ctx, is_watched);
    }

    /// Requests which of some paths exist; see [`Files::is_there`](super::Files::is_there).
    pub fn look_for(&self, paths: Vec<PathBuf>) {
        files::look_for(&self.ctx, paths);
    }

    /// Requests the pixels of an image, and then those of the one that is likely to be needed next.
    /// They arrive some polls later.
    pub fn want_picture(&mut self, image: ItemId, next: Option<ItemId>) {
        self.parts.pictures.want(&self.ctx, image, next);
    }

    /// Drops the decoded pictures.
    pub fn drop_pictures(&mut self) {
        self.parts.pictures.clear();
    }

    /// Sets which thumbnails are needed now, the most urgent last.
    pub fn want_thumbnails(&self, wanted: Vec<WantedThumbnail>) {
        self.parts.pictures.want_thumbnails(wanted);
    }

    /// The thumbnails that have come since the last call.
    pub fn take_thumbnails(&self) -> Vec<Fetched> {
        self.parts.pictures.take_thumbnails()
    }

    /// Sets how many hits a search returns at most, and how many leaves of the caption memory it
    /// visits.
    pub fn set_search(&mut self, hits: usize, leaves: usize) {
        self.parts.searching.set_effort(&mut self.ctx, hits, leaves);
    }

    /// Sets the default order in which images are labelled.
    pub fn set_label_order(&mut self, order: LabelOrder) {
        self.parts.labelling.set_order(order);
    }

    /// The memory budget for decoding pictures.
    pub fn picture_memory(&self) -> MemoryBudget {
        self.ctx.session.picture_memory()
    }

    /// Sets the memory budget for decoding pictures, in megabytes, for all of them together.
    pub fn limit_picture_memory(&mut self, megabytes: u64) {
        self.ctx.session.limit_picture_memory(megabytes);
    }

    /// Queues the writing of settings.
    pub fn save_settings(&self, settings: Settings, place: PathBuf) {
        files::save_settings(&self.ctx, settings, place);
    }
}
