//! The grid of images, with its filters, sort order and thumbnail size.

use egui::{RichText, Slider, Ui};

use super::menu::image_menu_ui;
use crate::command::{Command, ImageQuery};
use crate::gui::actions::Action;
use crate::gui::cell::cell;
use crate::gui::class_keys::label_keys;
use crate::gui::listing::Sort;
use crate::gui::panel::Panel;
use crate::gui::view::Viewer;
use crate::gui::widgets::grid::{GridResponse, SIDES, grid_ui};
use crate::gui::widgets::{chip_ui, main_button, nothing_ui};
use crate::gui::words::{count, grouped};

/// The least width in which count, order and size of thumbnails stand side by side.
const WIDE: f32 = 540.0;

pub(super) fn images_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    head_ui(ui, panel);
    sample_ui(ui, panel);
    ui.add_space(2.0);
    label_keys(ui, panel);
    let list = panel.view.shown.list();
    if list.is_empty() {
        empty_ui(ui, panel);
        return;
    }
    let side = panel.settings.thumbnail_side;
    let mut selection = std::mem::take(&mut panel.view.selection);
    let done = grid_ui(ui, "grid", &list, &mut selection, side, |id| cell(panel, id));
    panel.view.selection = selection;
    take(panel, done);
}

/// Performs what the user did in a grid.
fn take(panel: &mut Panel<'_>, done: GridResponse) {
    if let Some(side) = done.side {
        panel.settings.thumbnail_side = side;
    }
    if done.opened {
        panel.view.viewer = Some(Viewer::default());
    }
    if let Some((id, response)) = done.menu {
        response.context_menu(|ui| image_menu_ui(ui, panel, id));
    }
}

/// The line above the grid: chips of the filters, count, sort order, thumbnail size.
fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    // Where both do not fit, order and size have a line of their own.
    let is_wide = ui.available_width() >= WIDE;
    let line = |ui: &mut Ui, panel: &mut Panel<'_>| {
        filters_ui(ui, panel);
        let (shown, selected) = (panel.view.shown.list().len(), panel.view.selection.len());
        let words = if selected > 0 { format!("{} of {} selected", grouped(selected), grouped(shown)) } else { count(shown, "image") };
        ui.label(RichText::new(words).weak());
        if is_wide {
            order_ui(ui, panel);
        }
    };
    ui.horizontal_wrapped(|ui| line(ui, panel));
    if !is_wide {
        ui.horizontal(|ui| order_ui(ui, panel));
    }
}

/// The sort order and the size of thumbnails, at the right.
fn order_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        ui.spacing_mut().slider_width = 90.0;
        let slider = Slider::new(&mut panel.settings.thumbnail_side, SIDES).show_value(false);
        ui.add(slider)
            .on_hover_text("Size of thumbnails (Ctrl+wheel)")
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Thumbnail size"));
        egui::ComboBox::from_id_salt("sort").selected_text(panel.view.shown.sort.words()).width(130.0).show_ui(ui, |ui| {
            for sort in Sort::ALL {
                ui.selectable_value(&mut panel.view.shown.sort, sort, sort.words());
            }
        });
        ui.label(RichText::new("Order").weak());
    });
}

/// Chips of the filters; pressing one takes it off.
pub(super) fn filters_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let mut dropped = None;
    for (i, scope) in panel.view.shown.scopes.iter().enumerate() {
        let colour = ui.visuals().selection.bg_fill;
        if chip_ui(ui, &format!("{}  ×", scope.words(panel.state())), colour, "Press to take this filter off").clicked() {
            dropped = Some(i);
        }
    }
    if let Some(i) = dropped {
        panel.view.shown.scopes.remove(i);
    }
}

/// What to do first with the sample.
fn sample_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let Some(tried) = panel.desk.opening().tray().first().cloned().filter(|_| panel.desk.recognising().recognition().is_none()) else {
        return;
    };
    if panel.view.shown.census().classes.len() < 2 {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        if main_button(ui, "Recognise a toy it has never seen").clicked() {
            panel.ask(Command::Recognise(ImageQuery::File(tried.path)));
        }
        ui.label(RichText::new("These toys are learned already. Some are labelled wrongly, on purpose.").weak());
    });
}

fn empty_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let census = panel.view.shown.census();
    let is_filtered = !panel.view.shown.scopes.is_empty() && census.images + census.removed > 0;
    let importing = panel.desk.jobs().is_importing();
    match (is_filtered, importing) {
        (true, _) => {
            nothing_ui(ui, "No image is like this", "Take filters off to see others");
            ui.vertical_centered(|ui| {
                if ui.button("Show all images").clicked() {
                    panel.view.shown.scopes.clear();
                }
            });
        }
        (false, true) => nothing_ui(ui, "Images are on their way", "They appear here while they are imported"),
        (false, false) => {
            let words = match census.removed {
                0 => "Import a folder: it may hold a folder for each class, or NORB-style names",
                _ => "Removed, at the left, has what was taken out; import a folder to have others",
            };
            nothing_ui(ui, if census.removed == 0 { "No images yet" } else { "No images any more" }, words);
            ui.vertical_centered(|ui| {
                if main_button(ui, "Add folder…").clicked() {
                    panel.act(Action::AddFolder);
                }
            });
        }
    }
}
