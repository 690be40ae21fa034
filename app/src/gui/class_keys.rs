//! The keys of classes, which mean the same class wherever one is given, and Backspace, which takes
//! a label off.

use egui::{Event, Key, Modifiers, Ui};
use tessera_core::library::event::UserLabel;

use super::modal::Modal;
use super::panel::Panel;
use super::selection::AT_ONCE;
use crate::command::Command;

/// The class whose key was pressed. The events are consumed; repeats of a held key do not count.
pub(super) fn pressed_class(ui: &Ui, panel: &Panel<'_>) -> Option<String> {
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9, Key::Num0];
    // With Shift a digit key gives another character on most keyboards, so the physical key is
    // read.
    let place = |key: &Key| digits.iter().position(|digit| digit == key);
    let at = |event: &Event| match event {
        Event::Key { key, physical_key, pressed: true, repeat, modifiers, .. } if !modifiers.command && !modifiers.alt => {
            let at = place(key).or_else(|| physical_key.as_ref().and_then(place))?;
            Some((if modifiers.shift { at + 10 } else { at }, *repeat))
        }
        _ => None,
    };
    let pressed = ui.input_mut(|input| {
        let found: Vec<(usize, bool)> = input.events.iter().filter_map(at).collect();
        if !found.is_empty() {
            // The character of the key begins no text.
            input.events.retain(|event| at(event).is_none() && !matches!(event, Event::Text(_)));
        }
        found.into_iter().find(|(_, repeat)| !repeat)
    });
    panel.classes().get(pressed?.0).cloned()
}

/// Labels the selected images by the keys of classes; asks first where they are many.
pub(super) fn label_keys(ui: &Ui, panel: &mut Panel<'_>) {
    if panel.view.selection.is_empty() || panel.view.modal.is_some() || panel.view.is_writing(ui.ctx()) {
        return;
    }
    let takes_off = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Backspace));
    let Some(label) = pressed_class(ui, panel).map(UserLabel::Class).or(takes_off.then_some(UserLabel::NoClass)) else { return };
    let images = panel.view.selection.ids();
    if images.len() > AT_ONCE {
        panel.view.open(Modal::LabelMany(images, label));
    } else {
        panel.ask(Command::Label(images, label));
    }
}
