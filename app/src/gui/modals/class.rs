//! A class: its name and its colour.

use egui::{RichText, ScrollArea, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;

use super::field::field_ui;
use super::room;
use crate::command::Command;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::widgets::{chip_ui, main_button};
use crate::gui::words::{count, grouped};
use crate::session::class_tree::{NameFilter, place_of_class};

/// The height of the classes that are offered, at most.
const OFFERED: f32 = 96.0;
/// Classes that are offered, at most: typing takes others out.
const MOST: usize = 60;

/// The name of a new class, or another name of one. Returns whether the window is to be closed.
pub(super) fn class_name_ui(ui: &mut Ui, panel: &mut Panel<'_>, old: Option<&str>) -> bool {
    let mut close = false;
    ui.heading(match (old, panel.view.selection.ids().len()) {
        (Some(old), _) => format!("Rename {old}"),
        (None, 0) => "New class".to_owned(),
        (None, images) => format!("Name {}", count(images, "image")),
    });
    let entered = field_ui(ui, &mut panel.view.draft, "Class name", "For example: heron");
    let typed = panel.view.draft.text.trim();
    // A class that is to be renamed may be joined with one that is there.
    let is_offered = match old {
        Some(old) => !typed.is_empty() && typed != old,
        None => !panel.view.selection.is_empty(),
    };
    if is_offered {
        offered_ui(ui, panel, old);
    }
    let mut name = panel.view.draft.text.trim().to_owned();
    let selected = panel.view.selection.ids();
    let classes = panel.classes();
    if let Some(place) = place_of_class(&classes, &name).filter(|_| old.is_none() && !selected.is_empty()) {
        name.clone_from(&classes[place]);
    }
    let exists = panel.state().is_some_and(|state| state.class(&name).is_some());
    let words = match (old, exists) {
        (Some(old), true) if old != name => format!("{name} exists: all images of {old} will be joined with it."),
        (None, true) if selected.is_empty() => "There is a class of that name.".into(),
        (None, true) => format!("{} will be labelled as {name}.", count(selected.len(), "selected image")),
        (None, false) if !selected.is_empty() && !name.is_empty() => {
            format!("{} will be labelled with this new class.", count(selected.len(), "selected image"))
        }
        _ => String::new(),
    };
    ui.label(RichText::new(words).weak());
    if old.is_none() && !name.is_empty() {
        let others = labelled_otherwise(panel, &selected, &name);
        if others > 0 {
            let has = if others == 1 { "has another class now, which changes" } else { "have other classes now, which change" };
            ui.colored_label(ui.visuals().warn_fg_color, format!("{} of them {has}.", grouped(others)));
        }
    }
    let ready = !name.is_empty()
        && match old {
            Some(old) => old != name,
            None => !exists || !selected.is_empty(),
        };
    let verb = match (old, exists) {
        (Some(old), true) if old != name => "Merge",
        (Some(_), _) => "Rename",
        (None, true) if !selected.is_empty() => "Label them",
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

/// The classes but `old` whose names have what is typed; a press takes one over into the field.
fn offered_ui(ui: &mut Ui, panel: &mut Panel<'_>, old: Option<&str>) {
    let filter = NameFilter::new(&panel.view.draft.text);
    let classes = panel.classes();
    let mut taken = None;
    ScrollArea::vertical().id_salt("offered").max_height(room(ui, OFFERED)).auto_shrink([false, true]).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            for class in classes.iter().filter(|class| filter.fits(class) && Some(class.as_str()) != old).take(MOST) {
                if chip_ui(ui, class, panel.colour(class), "Press to take this class").clicked() {
                    taken = Some(class.clone());
                }
            }
        });
    });
    if let Some(class) = taken {
        // The field takes the focus again, so that Enter does it.
        (panel.view.draft.text, panel.view.draft.is_new) = (class, true);
    }
}

/// How many of some images have another class.
fn labelled_otherwise(panel: &Panel<'_>, images: &[ItemId], name: &str) -> usize {
    images.iter().filter(|id| panel.label_of(**id).is_some_and(|class| class != name)).count()
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
