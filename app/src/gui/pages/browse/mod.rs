//! The page of all images or of the hits of a search, with the tree at the left and the inspector
//! of the selected image at the right.

pub(super) mod captions;
mod hits;
mod images;
pub(super) mod inspector;
pub(super) mod menu;
mod tree;
mod why;

use egui::{Panel as Side, Ui};

use crate::gui::panel::{PageUi, Panel};
use crate::gui::widgets::{confined_ui, is_narrow, side_panel};

/// The state of the page.
#[derive(Default)]
pub struct BrowseView {
    tree: tree::TreeView,
    captions: captions::CaptionDrafts,
    why: why::AskedReasons,
}

impl PageUi for BrowseView {
    fn sides_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        // At the same side, so that no image moves when it is selected.
        let shows_selected = is_narrow(ui) && !panel.view.selection.is_empty();
        side_panel(Side::left("tree"), ui, 210.0, 150.0).show(ui, |ui| {
            confined_ui(ui, |ui| match shows_selected {
                true => inspector::inspector_ui(ui, panel, &mut self.captions, Some(&mut self.why)),
                false => self.tree.ui(ui, panel),
            });
        });
        if !is_narrow(ui) {
            side_panel(Side::right("inspector"), ui, 300.0, 210.0).show(ui, |ui| {
                confined_ui(ui, |ui| inspector::inspector_ui(ui, panel, &mut self.captions, Some(&mut self.why)));
            });
        }
    }

    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        match panel.desk.searching().hits() {
            Some(_) => hits::hits_ui(ui, panel),
            None => images::images_ui(ui, panel),
        }
    }
}
