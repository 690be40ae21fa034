//! The text field of a modal window.

use egui::{Key, TextEdit, Ui};

use crate::gui::modal::ModalDraft;

/// A text field that takes the focus when its window opens. Returns whether Enter was pressed in
/// it.
pub(super) fn field_ui(ui: &mut Ui, draft: &mut ModalDraft, name: &str, hint: &str) -> bool {
    let edit = TextEdit::singleline(&mut draft.text).hint_text(hint.to_owned()).desired_width(f32::INFINITY).char_limit(4000);
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, name));
    if std::mem::take(&mut draft.is_new) {
        response.request_focus();
    }
    response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}
