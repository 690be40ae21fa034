//! The inspector of the selected image: its picture, class, captions, facts and prediction.

use egui::{RichText, ScrollArea, Ui, vec2};
use tessera_core::error::display;
use tessera_core::library::event::UserLabel;
use tessera_core::library::state::Image;

use super::captions::{CaptionDrafts, captions_ui};
use super::why::{AskedReasons, why_ui};
use crate::command::{Command, ImageQuery};
use crate::gui::actions::Action;
use crate::gui::class_picker::{class_menu, class_picker_ui};
use crate::gui::listing::Scope;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::theme;
use crate::gui::view::Viewer;
use crate::gui::widgets::{WHOLE, chip_ui, fitted, heading, nothing_ui};
use crate::gui::words::{bytes, count};

/// Shows the selected image. Why a search found it is shown where that may be asked for.
pub(in crate::gui::pages) fn inspector_ui(
    ui: &mut Ui,
    panel: &mut Panel<'_>,
    drafts: &mut CaptionDrafts,
    asked: Option<&mut AskedReasons>,
) {
    let selected = panel.view.selection.len();
    let shown = panel.view.selection.one();
    let image = shown.and_then(|id| panel.state().and_then(|state| state.image(id).cloned()));
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let Some(image) = image else {
            nothing_ui(ui, "Nothing selected", "Select an image to see and to say what it is");
            return;
        };
        if selected > 1 {
            ui.label(RichText::new(count(selected, "image")).heading());
            ui.label(RichText::new("Labels go to all of them; the rest is about the one outlined last.").weak().small());
        }
        picture_ui(ui, panel, &image);
        ui.add(egui::Label::new(RichText::new(image.file_name()).strong()).truncate());
        if image.removed {
            ui.horizontal(|ui| {
                ui.colored_label(ui.visuals().warn_fg_color, "Removed");
                if ui.button("Restore").clicked() {
                    panel.act(Action::Restore);
                }
            });
            return;
        }
        if let Some(asked) = asked {
            why_ui(ui, panel, asked, image.id);
        }
        label_ui(ui, panel, &image);
        prediction_ui(ui, panel, &image);
        captions_ui(ui, panel, drafts, &image);
        facts_ui(ui, panel, &image);
    });
}

fn picture_ui(ui: &mut Ui, panel: &mut Panel<'_>, image: &Image) {
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, (width * 0.8).min(280.0)), egui::Sense::click());
    ui.painter().rect_filled(rect, egui::CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
    let texture = image.content.and_then(|content| panel.textures.get(content.hash.0, image.id)).map(|t| (t.id(), t.size()));
    if let Some((texture, [width, height])) = texture {
        ui.painter().image(texture, fitted((width as u32, height as u32), rect.shrink(4.0)), WHOLE, egui::Color32::WHITE);
    }
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "View image"));
    if response.on_hover_text("View (Enter)").clicked() {
        panel.view.viewer = Some(Viewer::default());
    }
}

fn label_ui(ui: &mut Ui, panel: &mut Panel<'_>, image: &Image) {
    heading(ui, "Class");
    ui.horizontal_wrapped(|ui| {
        match image.label() {
            Some(label) => {
                let colour = panel.colour(label);
                if chip_ui(ui, label, colour, "Show this class").clicked() {
                    panel.show(Scope::Class(label.to_owned()));
                }
            }
            None => {
                ui.label(RichText::new("none").weak());
            }
        }
        let said = match (&image.user, &image.folder.label) {
            (UserLabel::Unsaid, Some(_)) => "as its folder says".to_owned(),
            (UserLabel::Unsaid, None) => String::new(),
            (_, Some(folder)) if image.label() != Some(folder) => format!("by you; its folder says {folder}"),
            _ => "by you".to_owned(),
        };
        ui.label(RichText::new(said).weak().small());
    });
    ui.horizontal_wrapped(|ui| {
        class_menu("Label as…").ui(ui, |ui| {
            if let Some(class) = class_picker_ui(ui, panel, image.label()) {
                panel.ask(Command::Label(panel.view.selection.ids(), UserLabel::Class(class)));
                ui.close();
            }
            if ui.selectable_label(false, "No class   (Backspace)").clicked() {
                panel.ask(Command::Label(panel.view.selection.ids(), UserLabel::NoClass));
                ui.close();
            }
        });
        if ui.button("New class…").clicked() {
            panel.view.open(Modal::ClassName(None));
        }
        if image.user != UserLabel::Unsaid && ui.button("As folder").on_hover_text("Take your word back: the folder's holds").clicked() {
            panel.ask(Command::Label(panel.view.selection.ids(), UserLabel::Unsaid));
        }
    });
}

fn prediction_ui(ui: &mut Ui, panel: &mut Panel<'_>, image: &Image) {
    heading(ui, "Recogniser");
    let census = panel.view.shown.census();
    // A class that is gone is no answer any more.
    let is_there = |class: &str| panel.state().is_some_and(|state| state.class(class).is_some());
    match census.predictions.get(&image.id).filter(|prediction| is_there(&prediction.class)) {
        Some(prediction) => {
            let colour = if prediction.wrong { ui.visuals().error_fg_color } else { theme::good(ui) };
            let words = format!("{} ({:.0} % sure)", prediction.class, 100.0 * prediction.confidence);
            ui.colored_label(colour, words).on_hover_text("What it said when it was judged without this object");
        }
        None => {
            ui.label(RichText::new("not judged yet").weak());
        }
    }
    ui.horizontal(|ui| {
        if ui.button("Recognise and explain").on_hover_text("Key E").clicked() {
            panel.ask(Command::Recognise(ImageQuery::Item(image.id)));
        }
    });
}

fn facts_ui(ui: &mut Ui, panel: &mut Panel<'_>, image: &Image) {
    heading(ui, "File");
    let mut facts = Vec::new();
    if let Some(content) = image.content {
        facts.push(("Size", format!("{} × {}, {}", content.size.0, content.size.1, bytes(content.bytes))));
        if content.changed {
            facts.push(("Changed", "other contents than when first imported".into()));
        }
    }
    if let Some(group) = &image.folder.group {
        facts.push(("Object", group.clone()));
    }
    let meta = image.folder.meta.to_string();
    if !meta.is_empty() {
        facts.push(("Shot", meta));
    }
    facts.push(("Number", format!("#{}", image.id.0)));
    egui::Grid::new("facts").num_columns(2).spacing([10.0, 3.0]).show(ui, |ui| {
        for (name, value) in facts {
            ui.label(RichText::new(name).weak());
            ui.add(egui::Label::new(value).wrap());
            ui.end_row();
        }
    });
    let places: Vec<(String, bool)> = panel
        .state()
        .map(|state| image.places.iter().map(|place| (display(&state.full_path(place)), place.here)).collect())
        .unwrap_or_default();
    for (path, here) in places {
        let words = if here {
            RichText::new(&path).small()
        } else {
            RichText::new(format!("not there now: {path}")).small().color(ui.visuals().warn_fg_color)
        };
        ui.add(egui::Label::new(words).wrap());
    }
    ui.horizontal_wrapped(|ui| {
        for action in [Action::View, Action::Like, Action::Similar, Action::Reveal, Action::CopyPath, Action::Remove] {
            if ui.small_button(action.words().0).on_hover_text(action.words().1).clicked() {
                panel.act(action);
            }
        }
    });
}
