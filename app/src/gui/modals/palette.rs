//! The command palette: all actions, found by any letters of their names, or by other words.

use egui::{Key, RichText, ScrollArea, Ui};

use super::field::field_ui;
use super::room;
use crate::gui::actions::Action;
use crate::gui::panel::Panel;

/// Returns whether the window is to be closed.
pub(super) fn palette_ui(ui: &mut Ui, panel: &mut Panel<'_>) -> bool {
    let draft = &mut panel.view.draft;
    let before = draft.text.clone();
    let entered = field_ui(ui, draft, "Command", "What do you want to do?");
    if draft.text != before {
        draft.chosen = 0;
    }
    let mut found: Vec<(usize, Action)> = Action::all()
        .chain(Action::EXPORTS)
        .filter(|action| *action != Action::Palette)
        .filter_map(|action| Some((cost(&draft.text, action)?, action)))
        .collect();
    found.sort_by_key(|(cost, _)| *cost);
    ui.input_mut(|input| {
        if input.consume_key(egui::Modifiers::NONE, Key::ArrowDown) {
            draft.chosen += 1;
        }
        if input.consume_key(egui::Modifiers::NONE, Key::ArrowUp) {
            draft.chosen = draft.chosen.saturating_sub(1);
        }
    });
    draft.chosen = draft.chosen.min(found.len().saturating_sub(1));
    let mut taken = None;
    ScrollArea::vertical().id_salt("palette").max_height(room(ui, 360.0)).auto_shrink([false, false]).show(ui, |ui| {
        for (i, (_, action)) in found.iter().enumerate() {
            let button = egui::Button::selectable(i == draft.chosen, action.words().0).shortcut_text(action.key_words(ui.ctx()));
            let response = ui.add_sized([ui.available_width(), 24.0], button);
            if i == draft.chosen && draft.text != before {
                response.scroll_to_me(None);
            }
            if response.on_hover_text(action.words().1).clicked() {
                taken = Some(*action);
            }
        }
        if found.is_empty() {
            ui.label(RichText::new("No command has these letters").weak());
        }
    });
    if entered {
        taken = found.get(draft.chosen).map(|(_, action)| *action);
    }
    if let Some(action) = taken {
        panel.act(action);
    }
    taken.is_some()
}

/// How badly the typed text matches an action, lower is better: a part of its name first, then the
/// beginning of another word for it, then a part of its sentence, then letters of its name in
/// order; `None` if it does not match.
fn cost(typed: &str, action: Action) -> Option<usize> {
    let (name, sentence) = action.words();
    let typed = typed.trim().to_lowercase();
    if let Some(at) = name.to_lowercase().find(&typed) {
        return Some(at);
    }
    if action.other_words().iter().any(|word| word.starts_with(&typed)) {
        return Some(500);
    }
    match sentence.to_lowercase().find(&typed) {
        Some(at) => Some(1_000 + at),
        None => fuzzy(&typed, name).map(|far| 10_000 + far),
    }
}

/// Characters between the letters where they occur in a text in order; `None` if they do not all
/// occur.
fn fuzzy(letters: &str, text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    let mut rest = text.as_str();
    let mut cost = 0;
    for letter in letters.to_lowercase().chars().filter(|c| !c.is_whitespace()) {
        let at = rest.find(letter)?;
        cost += at;
        rest = &rest[at + letter.len_utf8()..];
    }
    Some(cost)
}
