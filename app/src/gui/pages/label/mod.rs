//! The labelling page: images without a class one after another or many at once, or the review of
//! labels that are there.

pub(super) mod class_field;
pub(super) mod keys;
mod many;
mod parts;
mod reading;
mod review;
mod state;
mod suggest;

use egui::{Panel as Side, Ui};

use crate::gui::panel::{PageUi, Panel};
use crate::gui::widgets::side_panel;
pub use state::LabelView;

impl PageUi for LabelView {
    fn sides_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let side = side_panel(Side::right("label"), ui, 320.0, 260.0);
        side.show(ui, |ui| match self.reviews {
            true => review::side_ui(ui, panel, self),
            false => suggest::side_ui(ui, panel, self),
        });
    }

    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        match self.reviews {
            true => review::review_ui(ui, panel, self),
            false => suggest::suggest_ui(ui, panel, self),
        }
    }
}
