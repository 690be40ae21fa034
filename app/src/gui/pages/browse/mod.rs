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
use crate::gui::widgets::{confined_ui, side_panel, side_panels};

/// The state of the page.
#[derive(Default)]
pub struct BrowseView {
    tree: tree::TreeView,
    captions: captions::CaptionDrafts,
    why: why::AskedReasons,
}

impl PageUi for BrowseView {
    fn sides_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let [left, right] = side_panels(ui, !panel.view.selection.is_empty());
        if left {
            side_panel(Side::left("tree"), ui, 210.0, 150.0).show(ui, |ui| confined_ui(ui, |ui| self.tree.ui(ui, panel)));
        }
        if right {
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
