//! Keys of the labelling page: a press counts once, and repeats of a held key do not count.

use egui::{Event, Key, Modifiers, Ui};

use crate::gui::panel::Panel;

/// Seconds within which a letter belongs to the burst of the key before it.
const BURST: f64 = 0.5;

/// Whether keys belong to the page: no modal window or menu is open, and no text field has the
/// focus.
pub(in crate::gui::pages) fn is_free(ui: &Ui, panel: &Panel<'_>) -> bool {
    panel.view.modal.is_none() && !egui::Popup::is_any_open(ui.ctx()) && !panel.view.is_writing(ui.ctx())
}

/// Whether a key was pressed; its events are consumed. Repeats do not count: the next image has
/// not been looked at.
pub(in crate::gui::pages) fn pressed(ui: &Ui, wanted: Key) -> bool {
    pressed_with(ui, Modifiers::NONE, wanted)
}

/// As [`pressed`], with modifiers held.
pub(super) fn pressed_with(ui: &Ui, held: Modifiers, wanted: Key) -> bool {
    ui.input_mut(|input| {
        let mut is_pressed = false;
        input.events.retain(|event| match event {
            Event::Key { key, pressed: true, repeat, modifiers, .. } if *key == wanted && *modifiers == held => {
                is_pressed |= !repeat;
                false
            }
            _ => true,
        });
        is_pressed
    })
}

/// Letters typed right after X: the user probably wanted to type a class that begins with X.
#[derive(Default)]
pub(super) struct Burst {
    /// The time of X or of the last of these letters, in seconds of the window's clock.
    last: f64,
    /// Whether letters followed.
    has_letters: bool,
}

impl Burst {
    /// Notes that X was pressed and performed.
    pub(super) fn begin(&mut self, ui: &Ui) {
        *self = Self { last: ui.input(|input| input.time), has_letters: false };
    }

    /// Whether the burst of letters goes on. Then neither they nor the Enter after them apply to
    /// the next image. A notice explains this once for each burst.
    pub(super) fn goes_on(&mut self, ui: &Ui, panel: &mut Panel<'_>) -> bool {
        let now = ui.input(|input| input.time);
        if now - self.last > BURST {
            self.has_letters = false;
            return false;
        }
        let is_other = |c: char| c.is_alphabetic() && !"xX".contains(c);
        if ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Text(text) if text.contains(is_other)))) {
            self.last = now;
            if !std::mem::replace(&mut self.has_letters, true) {
                panel.view.toasts.note("X rejects at once, and Backspace takes that back; Tab or / begins a class that begins so");
            }
        }
        self.has_letters
    }
}
