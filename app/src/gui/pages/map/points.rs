//! The points of the map: where they are, their colours, which are shown and which selected. Each
//! is computed anew only when what it follows from has changed.

use std::sync::Arc;

use egui::Color32;
use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::layout::PlanePoint;
use tessera_core::library::state::State;

use crate::gui::panel::Panel;
use crate::gui::selection::Selection;
use crate::gui::theme;
use crate::session::desk::clusters::ClusterAnswer;
use crate::session::desk::map::ShownMap;
use crate::session::map::{Colouring, LegendEntry, MapColour};

/// The points of the map.
#[derive(Default)]
pub(super) struct Points {
    images: Arc<Vec<ItemId>>,
    places: Arc<Vec<PlanePoint>>,
    colouring: Colouring,
    /// Whether each image takes part still.
    is_there: Vec<bool>,
    /// Whether it also passes the filter of Browse.
    is_admitted: Vec<bool>,
    is_selected: Vec<bool>,
    /// Images of the library, and those of them that are not on the map.
    all: usize,
    missing: usize,
    /// The sets of vectors that were brought.
    sets: Vec<(Arc<str>, usize)>,
    /// What the above was computed from.
    from: Option<From>,
    selection: Selection,
    version: u64,
}

struct From {
    state: State,
    report: Option<Arc<Report>>,
    clusters: Option<Arc<ClusterAnswer>>,
    list: Arc<Vec<ItemId>>,
    colour: MapColour,
}

impl Points {
    /// Takes in what has changed.
    pub(super) fn follow(&mut self, panel: &Panel<'_>, map: &ShownMap, colour: MapColour, is_by_components: bool) {
        let Some(state) = panel.state() else { return };
        let places = if is_by_components { &map.components } else { &map.places };
        let is_other = !Arc::ptr_eq(&self.images, &map.images);
        if is_other || !Arc::ptr_eq(&self.places, places) {
            (self.images, self.places) = (Arc::clone(&map.images), Arc::clone(places));
            self.version += 1;
        }
        let report = panel.desk.recognising().report().map(|(report, _)| report);
        let clusters = panel.desk.clusters().answer().filter(|_| colour == MapColour::Cluster);
        let list = panel.view.shown.list();
        let is_same = self.from.as_ref().is_some_and(|from| {
            let is_same_clusters = from.clusters.as_ref().map(Arc::as_ptr) == clusters.map(Arc::as_ptr);
            let is_same_report = from.report.as_ref().map(Arc::as_ptr) == report.map(Arc::as_ptr);
            !is_other
                && from.colour == colour
                && is_same_report
                && is_same_clusters
                && Arc::ptr_eq(&from.list, &list)
                && from.state.is_same(state)
        });
        if !is_same {
            let found = clusters.map_or(&[][..], |answer| &answer.clusters);
            self.colouring = Colouring::new(state, report.map(AsRef::as_ref), found, &self.images, colour);
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            self.is_there = self.images.iter().map(|id| state.image(*id).is_some_and(|image| image.is_live())).collect();
            let is_admitted = |(id, is_there): (&ItemId, &bool)| *is_there && sorted.binary_search(id).is_ok();
            self.is_admitted = self.images.iter().zip(&self.is_there).map(is_admitted).collect();
            self.all = state.images().count();
            self.missing = state.images().filter(|image| self.images.binary_search(&image.id).is_err()).count();
            self.sets = state.vector_sets().into_iter().map(|(set, images)| (set.into(), images)).collect();
            self.from = Some(From { state: state.clone(), report: report.cloned(), clusters: clusters.cloned(), list, colour });
            self.version += 1;
        }
        if is_other || self.selection != panel.view.selection {
            self.selection = panel.view.selection.clone();
            let mut selected = self.selection.ids().into_iter().peekable();
            self.is_selected.clear();
            for id in self.images.iter() {
                while selected.next_if(|other| other < id).is_some() {}
                self.is_selected.push(selected.peek() == Some(id));
            }
            self.version += 1;
        }
    }

    /// Images of the library.
    pub(super) fn all(&self) -> usize {
        self.all
    }

    /// Images of the library that are not on the map.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// The sets of vectors that were brought, each with the images that have one.
    pub(super) fn sets(&self) -> &[(Arc<str>, usize)] {
        &self.sets
    }

    /// Changes whenever anything here has.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn len(&self) -> usize {
        self.images.len()
    }

    pub(super) fn image(&self, i: usize) -> ItemId {
        self.images[i]
    }

    pub(super) fn place(&self, i: usize) -> PlanePoint {
        self.places[i]
    }

    pub(super) fn is_there(&self, i: usize) -> bool {
        self.is_there[i]
    }

    pub(super) fn is_admitted(&self, i: usize) -> bool {
        self.is_admitted[i]
    }

    pub(super) fn is_selected(&self, i: usize) -> bool {
        self.is_selected[i]
    }

    pub(super) fn has_selected(&self) -> bool {
        !self.selection.is_empty()
    }

    pub(super) fn colour(&self, i: usize) -> Color32 {
        theme::rgb(self.colouring.colours[i])
    }

    pub(super) fn legend(&self) -> &[LegendEntry] {
        &self.colouring.legend
    }

    /// The images of a colour that are shown.
    pub(super) fn of_colour(&self, colour: [u8; 3]) -> Vec<ItemId> {
        (0..self.len()).filter(|i| self.is_admitted[*i] && self.colouring.colours[*i] == colour).map(|i| self.images[i]).collect()
    }
}
