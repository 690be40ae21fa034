//! The grid of images with what is shown, in which order, and what can be done with a selection.

use egui::{RichText, Slider, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;

use super::super::actions::Action;
use super::super::listing::Sort;
use super::super::theme;
use super::super::view::{Modal, Panel, Viewer};
use super::super::widgets::grid::{Cell, Done, SIDES, grid_ui};
use super::super::widgets::{chip_ui, main_button, nothing_ui};
use super::tree::{key_of, label_keys};
use crate::command::{Command, ImageQuery};

pub(super) fn browse_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    head_ui(ui, panel);
    sample_ui(ui, panel);
    ui.add_space(2.0);
    label_keys(ui, panel);
    let list = panel.view.list();
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

/// Does what was asked of a grid.
pub(super) fn take(panel: &mut Panel<'_>, done: Done) {
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

/// The line above the grid: chips of what is shown, count, order, size.
fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.horizontal_wrapped(|ui| {
        filters_ui(ui, panel);
        let (shown, selected) = (panel.view.list().len(), panel.view.selection.len());
        let words = if selected > 0 { format!("{selected} of {shown} selected") } else { count(shown, "image") };
        ui.label(RichText::new(words).weak());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.spacing_mut().slider_width = 90.0;
            let slider = Slider::new(&mut panel.settings.thumbnail_side, SIDES).show_value(false);
            ui.add(slider)
                .on_hover_text("Size of thumbnails (Ctrl+wheel)")
                .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Thumbnail size"));
            egui::ComboBox::from_id_salt("sort").selected_text(panel.view.sort.words()).width(130.0).show_ui(ui, |ui| {
                for sort in Sort::ALL {
                    ui.selectable_value(&mut panel.view.sort, sort, sort.words());
                }
            });
            ui.label(RichText::new("Order").weak());
        });
    });
}

/// Chips of what is shown, to be taken off.
pub(super) fn filters_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let mut dropped = None;
    for (i, scope) in panel.view.scopes.iter().enumerate() {
        let colour = ui.visuals().selection.bg_fill;
        if chip_ui(ui, &format!("{}  ×", scope.words()), colour, "Press to take this filter off").clicked() {
            dropped = Some(i);
        }
    }
    if let Some(i) = dropped {
        panel.view.scopes.remove(i);
    }
}

/// What to do first with the sample.
fn sample_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let Some(tried) = panel.desk.opening().tray().first().cloned().filter(|_| panel.desk.recognising().recognition().is_none()) else {
        return;
    };
    if panel.view.census.classes.len() < 2 {
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
    let is_filtered = !panel.view.scopes.is_empty();
    let importing = panel.desk.jobs().is_busy();
    match (is_filtered, importing) {
        (true, _) => {
            nothing_ui(ui, "No image is like this", "Take filters off to see others");
            ui.vertical_centered(|ui| {
                if ui.button("Show all images").clicked() {
                    panel.view.scopes.clear();
                }
            });
        }
        (false, true) => nothing_ui(ui, "Images are on their way", "They appear here while they are imported"),
        (false, false) => {
            nothing_ui(ui, "No images yet", "Import a folder: it may hold a folder for each class, or NORB-style names");
            ui.vertical_centered(|ui| {
                if main_button(ui, "Add folder…").clicked() {
                    panel.act(Action::AddFolder);
                }
            });
        }
    }
}

/// What the grid shows of an image.
pub(super) fn cell(panel: &mut Panel<'_>, id: ItemId) -> Option<Cell> {
    let image = std::sync::Arc::clone(panel.state()?.image(id)?);
    let hash = image.content.map(|content| content.hash.0);
    let texture = hash.and_then(|hash| panel.textures.get(hash, id)).map(|texture| {
        let [width, height] = texture.size();
        (texture.id(), (width as u32, height as u32))
    });
    let broken = texture.is_none() && hash.is_none_or(|hash| panel.textures.is_broken(hash));
    let label = image.label().map(|label| (label.to_owned(), panel.colour(label)));
    let mut badges = Vec::new();
    let census = std::sync::Arc::clone(&panel.view.census);
    if let Some(prediction) = census.predictions.get(&id).filter(|prediction| prediction.wrong) {
        let sentence = format!("Taken for {} ({:.0} %)", prediction.class, 100.0 * prediction.confidence);
        badges.push(("≠", theme::badge(theme::Badge::Wrong), sentence));
    }
    if !image.is_here() {
        badges.push(("!", theme::badge(theme::Badge::Missing), "Its file is not there now".to_owned()));
    }
    if image.content.is_some_and(|content| content.changed) {
        badges.push(("~", theme::badge(theme::Badge::Changed), "Its file has other contents than at first".to_owned()));
    }
    if let [first, rest @ ..] = image.captions.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        badges.push(("“", theme::badge(theme::Badge::Caption), format!("{}{more}", first.text)));
    }
    Some(Cell { thumbnail: texture, broken, name: image.file_name(), label, badges })
}

/// What can be done with the selected images.
pub(super) fn image_menu_ui(ui: &mut Ui, panel: &mut Panel<'_>, id: ItemId) {
    let selected = panel.view.selection.ids();
    let classes: Vec<String> =
        panel.state().map(|s| s.classes().into_iter().map(|(name, _)| name.to_owned()).collect()).unwrap_or_default();
    ui.menu_button(format!("Label {}", count(selected.len(), "image")), |ui| {
        egui::ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
            for (i, class) in classes.iter().enumerate() {
                let button = egui::Button::new(class).shortcut_text(key_of(i).unwrap_or_default());
                if ui.add(button).clicked() {
                    panel.ask(Command::Label(selected.clone(), UserLabel::Class(class.clone())));
                    ui.close();
                }
            }
        });
        if ui.button("New class…").clicked() {
            panel.view.open(Modal::ClassName(None));
            ui.close();
        }
        ui.separator();
        if ui.add(egui::Button::new("No class").shortcut_text("Backspace")).clicked() {
            panel.ask(Command::Label(selected.clone(), UserLabel::NoClass));
            ui.close();
        }
        if ui.button("What its folder says").clicked() {
            panel.ask(Command::Label(selected.clone(), UserLabel::Unsaid));
            ui.close();
        }
    });
    let one_by_one = egui::Button::new(Action::LabelThese.words().0).shortcut_text(Action::LabelThese.key_words(ui.ctx()));
    if ui.add(one_by_one).on_hover_text(Action::LabelThese.words().1).clicked() {
        panel.act(Action::LabelThese);
        ui.close();
    }
    if ui.button("Recognise").clicked() {
        panel.ask(Command::Recognise(ImageQuery::Item(id)));
        ui.close();
    }
    ui.separator();
    let removed = panel.state().and_then(|state| state.image(id)).is_some_and(|image| image.removed);
    let take_away = if removed { Action::Restore } else { Action::Remove };
    for action in [Action::View, Action::Like, Action::Reveal, Action::CopyPath, take_away, Action::Forget] {
        let button = egui::Button::new(action.words().0).shortcut_text(action.key_words(ui.ctx()));
        if ui.add(button).on_hover_text(action.words().1).clicked() {
            panel.act(action);
            ui.close();
        }
    }
}

/// `1 image`, `2 images`.
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
