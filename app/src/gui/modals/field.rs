//! The text field of a modal window.

use egui::{Id, Key, TextEdit, Ui};

use crate::gui::modal::ModalDraft;
use crate::gui::widgets::select_text;

/// A text field that takes the focus when its window opens, with its text selected, so that typing
/// replaces it. Returns whether Enter was pressed in it.
pub(super) fn field_ui(ui: &mut Ui, draft: &mut ModalDraft, name: &str, hint: &str) -> bool {
    let id = Id::unique("modal field");
    let edit = TextEdit::singleline(&mut draft.text).id(id).hint_text(hint.to_owned()).desired_width(f32::INFINITY).char_limit(4000);
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, name));
    if std::mem::take(&mut draft.is_new) {
        let selected = draft.selected.take().unwrap_or_else(|| 0..draft.text.chars().count());
        // Not before the field is added: one that cannot be used yet, as in a window's first pass,
        // gives the focus up.
        response.request_focus();
        select_text(ui, id, selected);
    }
    response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}
