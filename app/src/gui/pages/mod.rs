//! All pages, one file or folder each, with their state and painting.

mod browse;
mod cluster_errors;
mod clusters;
mod copies;
pub(in crate::gui) mod first;
pub mod label;
mod library;
mod looks;
mod map;
mod mislead;
mod models;
mod recognise;
mod recognised_folder;
mod similar;
mod start;
mod train;
mod truth;
mod unknown;

use super::page::Page;
use super::panel::PageUi;

/// The state of each page.
#[derive(Default)]
pub struct Pages {
    /// The first page, shown while no library is open.
    pub start: start::StartView,
    /// All images.
    pub browse: browse::BrowseView,
    /// One image after another, to be labelled.
    pub label: label::LabelView,
    /// One image, its class and the reasons.
    pub recognise: recognise::RecogniseView,
    /// How good the recogniser is.
    pub train: train::TrainView,
    /// Saved models.
    pub models: models::ModelsView,
    /// The library itself.
    pub library: library::LibraryView,
    /// Near copies.
    pub copies: copies::CopiesView,
    /// Images like one.
    pub similar: similar::SimilarView,
    /// All images as points.
    pub map: map::MapView,
    /// Groups of images that look alike.
    pub clusters: clusters::ClustersView,
}

impl Pages {
    /// A page as an object.
    pub fn of(&mut self, page: Page) -> &mut dyn PageUi {
        match page {
            Page::Browse => &mut self.browse,
            Page::Label => &mut self.label,
            Page::Recognise => &mut self.recognise,
            Page::Train => &mut self.train,
            Page::Models => &mut self.models,
            Page::Library => &mut self.library,
            Page::Copies => &mut self.copies,
            Page::Similar => &mut self.similar,
            Page::Map => &mut self.map,
            Page::Clusters => &mut self.clusters,
        }
    }

    /// Resets what belongs to a library: another one was opened, or it was closed.
    pub fn begin_library(&mut self) {
        self.browse = Default::default();
        self.label = Default::default();
        self.copies = Default::default();
        self.similar = Default::default();
        self.map = Default::default();
        self.clusters = Default::default();
    }
}
