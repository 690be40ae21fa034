//! A class: its name and its colour.

use egui::{RichText, Ui};
use tessera_core::library::event::UserLabel;

use super::field::field_ui;
use crate::command::Command;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::widgets::main_button;
use crate::gui::words::count;

/// The name of a new class, or another name of one. Returns whether the window is to be closed.
pub(super) fn class_name_ui(ui: &mut Ui, panel: &mut Panel<'_>, old: Option<&str>) -> bool {
    let mut close = false;
    ui.heading(old.map_or_else(|| "New class".to_owned(), |old| format!("Rename {old}")));
    let entered = field_ui(ui, &mut panel.view.draft, "Class name", "For example: heron");
    let name = panel.view.draft.text.trim().to_owned();
    let exists = panel.state().is_some_and(|state| state.class(&name).is_some());
    let selected = panel.view.selection.ids();
    let words = match (old, exists) {
        (Some(old), true) if old != name => format!("{name} exists: all images of {old} will be joined with it."),
        (None, true) => "There is a class of that name.".into(),
        (None, false) if !selected.is_empty() => format!("{} will be labelled with it.", count(selected.len(), "selected image")),
        _ => String::new(),
    };
    ui.label(RichText::new(words).weak());
    let ready = !name.is_empty()
        && match old {
            Some(old) => old != name,
            None => !exists || !selected.is_empty(),
        };
    let verb = match (old, exists) {
        (Some(_), true) => "Merge",
        (Some(_), false) => "Rename",
        (None, _) => "Create",
    };
    let pressed = ui
        .horizontal(|ui| {
            let pressed = ui.add_enabled_ui(ready, |ui| main_button(ui, verb)).inner.clicked();
            close |= ui.button("Cancel").clicked();
            pressed
        })
        .inner;
    if ready && (pressed || entered) {
        panel.ask(match old {
            Some(old) => Command::RenameClass(old.to_owned(), name),
            None if selected.is_empty() => Command::NewClass(name),
            None => Command::Label(selected, UserLabel::Class(name)),
        });
        close = true;
    }
    close
}

/// The colour of a class. Returns whether the window is to be closed.
pub(super) fn colour_ui(ui: &mut Ui, panel: &mut Panel<'_>, class: &str, colour: [u8; 3]) -> bool {
    let mut close = false;
    ui.heading(format!("Colour of {class}"));
    let mut chosen = colour;
    ui.horizontal(|ui| {
        ui.color_edit_button_srgb(&mut chosen);
        ui.label(RichText::new("Press the square").weak());
    });
    if chosen != colour {
        panel.view.modal = Some(Modal::Colour(class.to_owned(), chosen));
    }
    ui.horizontal(|ui| {
        let uses = main_button(ui, "Use it").clicked();
        let resets = ui.button("Usual colour").clicked();
        if uses || resets {
            panel.ask(Command::RecolourClass(class.to_owned(), uses.then_some(chosen)));
        }
        close = ui.button("Cancel").clicked() || uses || resets;
    });
    close
}
