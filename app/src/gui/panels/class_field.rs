//! Keys of the labelling desk that give a class: digits, single keys, and a field in which a class is written and completed.

use egui::text::{CCursor, CCursorRange};
use egui::{Event, Id, Key, Modifiers, Role, TextEdit, Ui, WidgetInfo};

use super::super::view::Panel;

/// Classes offered while one is written.
const OFFERED: usize = 5;

/// Whether keys are the page's.
pub(super) fn is_free(ui: &Ui, panel: &Panel<'_>) -> bool {
    panel.view.modal.is_none() && !ui.ctx().text_edit_focused()
}

/// Whether a key was pressed. It is taken away; held down, it counts once, for the next image was not looked at.
pub(super) fn pressed(ui: &Ui, wanted: Key) -> bool {
    ui.input_mut(|input| {
        let mut is_pressed = false;
        input.events.retain(|event| match event {
            Event::Key { key, pressed: true, repeat, modifiers, .. } if *key == wanted && modifiers.is_none() => {
                is_pressed |= !repeat;
                false
            }
            _ => true,
        });
        is_pressed
    })
}

/// A digit that was pressed, from 0 for the key 1.
pub(super) fn digit(ui: &Ui) -> Option<usize> {
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];
    digits.iter().position(|key| pressed(ui, *key))
}

/// Text that was typed without a field, unless it begins with a letter of `taken`, which means something else. Who types fast gives several
/// letters at once; no field sees them again.
fn typed(ui: &Ui, taken: &[&str]) -> Option<String> {
    ui.input_mut(|input| {
        let texts = input.events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let all: Vec<&str> = texts.collect();
        // Caps Lock makes no other key of it, as Shift does.
        let is_taken = |first: &str| !input.modifiers.shift && taken.contains(&first.to_lowercase().as_str());
        let first = all.first().filter(|first| !is_taken(first))?;
        // `?` shows all keys.
        if first.starts_with(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == '?') {
            return None;
        }
        let text = all.concat();
        input.events.retain(|event| !matches!(event, Event::Text(_)));
        Some(text.strip_prefix('/').map(str::to_owned).unwrap_or(text))
    })
}

/// Whether the name of a class is begun: with a letter that is not `taken`, or with `/`, or with Tab where nothing has the keyboard.
pub(super) fn begin_typing(ui: &Ui, panel: &mut Panel<'_>, taken: &[&str], tab: bool) -> bool {
    let focused = ui.ctx().memory(|memory| memory.focused());
    // Tab has moved the keyboard already; where it had been nowhere, it means the field.
    let had_focus = std::mem::replace(&mut panel.view.label.had_focus, focused.is_some());
    let tab = tab && !had_focus && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Tab));
    if let Some(focused) = focused.filter(|_| tab) {
        ui.memory_mut(|memory| memory.surrender_focus(focused));
    }
    let text = if tab { Some(String::new()) } else { typed(ui, taken) };
    let begins = text.is_some();
    if let Some(text) = text {
        let label = &mut panel.view.label;
        (label.typed, label.completion, label.wants_focus) = (text, 0, true);
    }
    begins
}

/// A field for a class, with those that are there. Returns the class once it is written, and the keys that it took: with Enter, or where
/// `leaving` it is enough also by going elsewhere.
pub(super) fn class_ui(ui: &mut Ui, panel: &mut Panel<'_>, leaving: bool) -> Option<(String, usize)> {
    let id = Id::unique("class typed");
    let wants_focus = std::mem::take(&mut panel.view.label.wants_focus);
    let begun = panel.view.label.typed.trim().to_owned();
    let mut offers = Vec::new();
    if !begun.is_empty() {
        let classes = panel.state().map(|state| state.classes().into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>());
        offers = offered(&classes.unwrap_or_default(), &begun);
    }
    let is_writing = ui.memory(|memory| memory.has_focus(id));
    if is_writing {
        let moves = [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::Tab, 1)];
        for (key, by) in moves {
            if !offers.is_empty() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                let label = &mut panel.view.label;
                label.completion = (label.completion as isize + by).rem_euclid(offers.len() as isize) as usize;
            }
        }
    }
    if wants_focus {
        // Before the field is there, so that it hears what is typed next.
        ui.memory_mut(|memory| memory.request_focus(id));
        // What is typed next comes behind what was, wherever the caret stood in another class.
        let mut state = TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
        let end = CCursor::new(panel.view.label.typed.chars().count());
        state.cursor.set_char_range(Some(CCursorRange::one(end)));
        state.store(ui.ctx(), id);
    }
    let edit = TextEdit::singleline(&mut panel.view.label.typed).id(id).hint_text("Another class…").char_limit(200);
    let response = ui.add(edit.desired_width(f32::INFINITY));
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Class"));
    if response.changed() {
        panel.view.label.completion = 0;
    }
    let mut chosen = None;
    if is_writing {
        for (place, (class, is_new)) in offers.iter().enumerate() {
            let is_meant = place == panel.view.label.completion;
            let words = if *is_new { format!("new class “{class}”") } else { class.clone() };
            let words = if is_meant { format!("Enter: {words}") } else { words };
            let offer = egui::Button::selectable(is_meant, words).truncate();
            if ui.add(offer).on_hover_text("Up, Down and Tab choose").clicked() {
                chosen = Some(class.clone());
            }
        }
    }
    if response.lost_focus() {
        // These keys ended the writing, and mean nothing else.
        let (enter, escape) = (pressed(ui, Key::Enter), pressed(ui, Key::Escape));
        if enter || leaving && !escape {
            // Who only goes elsewhere means what is written.
            let is_left = !enter && panel.view.label.completion == 0;
            let as_written = if is_left { written(panel) } else { None };
            let offer = || offers.get(panel.view.label.completion).map(|(class, _)| class.clone());
            chosen = chosen.or(as_written).or_else(offer);
        }
        if escape {
            panel.view.label.typed.clear();
        }
    }
    let is_saving = panel.desk.labelling().shown().is_some_and(|labelling| labelling.is_saving);
    if chosen.is_some() && is_saving {
        // What is written is not lost: it can be entered in a moment.
        panel.view.label.wants_focus = true;
        return None;
    }
    chosen.map(|class| {
        panel.view.label.typed.clear();
        ui.memory_mut(|memory| memory.surrender_focus(id));
        (class, begun.chars().count() + 1)
    })
}

/// The class that is written: the one of that name in any capitals, or else a new one; none where nothing is.
pub(super) fn written(panel: &Panel<'_>) -> Option<String> {
    let name = panel.view.label.typed.trim();
    let state = panel.state()?;
    let there = state.class(name).map(|_| name).or_else(|| state.class_like(name));
    (!name.is_empty()).then(|| there.unwrap_or(name).to_owned())
}

/// What may become of what is written: the class of that name, others that begin with it, a new one, and others that contain it. Whether it
/// is new.
fn offered(classes: &[String], begun: &str) -> Vec<(String, bool)> {
    let small = begun.to_lowercase();
    let exact = |class: &&String| class.to_lowercase() == small;
    let begins = |class: &&String| class.to_lowercase().starts_with(&small) && !exact(class);
    let contains = |class: &&String| class.to_lowercase().contains(&small) && !class.to_lowercase().starts_with(&small);
    let there = |class: &String| (class.clone(), false);
    let mut offers: Vec<(String, bool)> =
        classes.iter().filter(exact).chain(classes.iter().filter(begins)).take(OFFERED).map(there).collect();
    if !classes.iter().any(|class| exact(&class)) {
        offers.push((begun.to_owned(), true));
    }
    offers.extend(classes.iter().filter(contains).take(OFFERED).map(there));
    offers
}
