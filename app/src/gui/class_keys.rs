//! The keys that label the selected images: digits, alone and with Shift, and Backspace.

use egui::{Key, Modifiers, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;

use super::panel::Panel;
use crate::command::Command;

/// The key that labels images with the class at a place in the list.
pub(super) fn key_of(place: usize) -> Option<String> {
    match place {
        0..=8 => Some((place + 1).to_string()),
        9 => Some("0".into()),
        10..=18 => Some(format!("Shift+{}", place - 9)),
        19 => Some("Shift+0".into()),
        _ => None,
    }
}

/// Labels the selected images by the keys 1 to 9, 0, and those with Shift.
pub(super) fn label_keys(ui: &Ui, panel: &mut Panel<'_>) {
    let selected: Vec<ItemId> = panel.view.selection.ids();
    if selected.is_empty() || panel.view.modal.is_some() || ui.ctx().text_edit_focused() {
        return;
    }
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9, Key::Num0];
    // With Shift a digit key gives another character on most keyboards, so the physical key is
    // read.
    let pressed = ui.input(|input| {
        input.events.iter().find_map(|event| match event {
            egui::Event::Key { key, physical_key, pressed: true, modifiers, .. } if !modifiers.command && !modifiers.alt => {
                let place = |key: &Key| digits.iter().position(|digit| digit == key);
                let at = place(key).or_else(|| physical_key.as_ref().and_then(place))?;
                Some(if modifiers.shift { at + 10 } else { at })
            }
            _ => None,
        })
    });
    let class = pressed.and_then(|i| panel.state()?.classes().get(i).map(|(name, _)| (*name).to_owned()));
    if let Some(class) = class {
        panel.ask(Command::Label(selected.clone(), UserLabel::Class(class)));
    }
    if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Backspace)) {
        panel.ask(Command::Label(selected, UserLabel::NoClass));
    }
}
