//! The context menu of an image, for all selected ones.

use egui::containers::menu::{MenuConfig, SubMenuButton};
use egui::{PopupCloseBehavior, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;

use crate::command::{Command, ImageQuery};
use crate::gui::actions::Action;
use crate::gui::class_picker::class_picker_ui;
use crate::gui::panel::Panel;
use crate::gui::words::count;

/// The commands on the selected images.
pub(in crate::gui::pages) fn image_menu_ui(ui: &mut Ui, panel: &mut Panel<'_>, id: ItemId) {
    let selected = panel.view.selection.ids();
    let submenu = SubMenuButton::new(format!("Label {}", count(selected.len(), "image")));
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    submenu.config(config).ui(ui, |ui| {
        if let Some(class) = class_picker_ui(ui, panel, None) {
            panel.ask(Command::Label(selected.clone(), UserLabel::Class(class)));
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
    for action in [Action::View, Action::Like, Action::Similar, Action::Reveal, Action::CopyPath, take_away, Action::Forget] {
        let button = egui::Button::new(action.words().0).shortcut_text(action.key_words(ui.ctx()));
        if ui.add(button).on_hover_text(action.words().1).clicked() {
            panel.act(action);
            ui.close();
        }
    }
}
