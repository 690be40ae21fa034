//! A text field for the name of a class, with completions; any letter that is not a shortcut starts
//! typing in it.

use egui::text::{CCursor, CCursorRange};
use egui::{Event, Id, Key, Modifiers, Role, TextEdit, Ui, WidgetInfo};

use super::keys::pressed;
use crate::gui::panel::Panel;
use crate::gui::widgets::class_words;
use crate::session::class_tree::NameFilter;

/// The width of what stands before the class that Enter takes, and of the margins of its button.
const ENTER: f32 = 64.0;
/// Classes offered while one is written.
const OFFERED: usize = 5;

/// The text field and its state.
#[derive(Default)]
pub struct ClassField {
    /// The text typed so far.
    pub text: String,
    /// The chosen completion: a place among those offered.
    pub completion: usize,
    /// Whether the field takes the focus in the next frame.
    pub(super) wants_focus: bool,
    /// Whether Enter came in the same frame as the letters that begin the text.
    enters: bool,
    /// Whether any widget had the focus in the last frame in which the page read keys.
    pub(super) had_focus: bool,
}

/// Text that was typed while no field had the focus, unless it begins with a letter of `taken`,
/// which is a shortcut. Fast typing gives several letters in a frame; their events are consumed.
fn typed(ui: &Ui, taken: &[&str]) -> Option<String> {
    ui.input_mut(|input| {
        let texts = input.events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let all: Vec<&str> = texts.collect();
        // Caps Lock does not change which key was pressed; Shift does.
        let is_taken = |first: &str| !input.modifiers.shift && taken.contains(&first.to_lowercase().as_str());
        let first = all.first().filter(|first| !is_taken(first))?;
        // `?` is the shortcut for the list of keys.
        if first.starts_with(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == '?') {
            return None;
        }
        let text = all.concat();
        input.events.retain(|event| !matches!(event, Event::Text(_)));
        Some(text.strip_prefix('/').map(str::to_owned).unwrap_or(text))
    })
}

/// Whether Enter comes after the last letter of this frame.
fn ends_with_enter(ui: &Ui) -> bool {
    ui.input(|input| {
        let is_enter = |event: &Event| matches!(event, Event::Key { key: Key::Enter, pressed: true, .. });
        let last = |is: &dyn Fn(&Event) -> bool| input.events.iter().rposition(is);
        last(&is_enter) > last(&|event| matches!(event, Event::Text(_)))
    })
}

impl ClassField {
    /// Whether typing begins: with a letter that is not `taken`, with `/`, or with Tab where no
    /// widget has the focus.
    pub(in crate::gui::pages) fn begin(&mut self, ui: &Ui, taken: &[&str]) -> bool {
        let focused = ui.ctx().memory(|memory| memory.focused());
        // Tab has moved the focus already; if no widget had it before, Tab means this field.
        let had_focus = std::mem::replace(&mut self.had_focus, focused.is_some());
        let tab = !had_focus && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Tab));
        if let Some(focused) = focused.filter(|_| tab) {
            ui.memory_mut(|memory| memory.surrender_focus(focused));
        }
        let enters = ends_with_enter(ui);
        let Some(text) = (if tab { Some(String::new()) } else { typed(ui, taken) }) else { return false };
        (self.text, self.completion, self.wants_focus) = (text, 0, true);
        self.enters = enters && !tab && pressed(ui, Key::Enter);
        true
    }

    /// The class that is typed: an existing one of that name in any case, or else a new one; `None`
    /// if the field is empty.
    pub(super) fn class(&self, panel: &Panel<'_>) -> Option<String> {
        let name = self.text.trim();
        let state = panel.state()?;
        let there = state.class(name).map(|_| name).or_else(|| state.class_like(name));
        (!name.is_empty()).then(|| there.unwrap_or(name).to_owned())
    }
}

/// The field with completions. Returns the class that was entered, and the key presses that it
/// took. Enter enters it; with `leaving`, moving the focus away does so too.
pub(in crate::gui::pages) fn class_ui(ui: &mut Ui, panel: &Panel<'_>, field: &mut ClassField, leaving: bool) -> Option<(String, usize)> {
    let id = Id::unique("class typed");
    let (wants_focus, enters) = (std::mem::take(&mut field.wants_focus), std::mem::take(&mut field.enters));
    let mut begun = field.text.trim().to_owned();
    let of_begun = |begun: &str| if begun.is_empty() { Vec::new() } else { offered(&panel.classes(), begun) };
    let mut offers = of_begun(&begun);
    let is_writing = ui.memory(|memory| memory.has_focus(id));
    if is_writing {
        let moves = [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::Tab, 1)];
        for (key, by) in moves {
            if !offers.is_empty() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                field.completion = (field.completion as isize + by).rem_euclid(offers.len() as isize) as usize;
            }
        }
    }
    if wants_focus {
        // The focus is set before the field is added, so that it receives the text typed in this
        // frame.
        ui.memory_mut(|memory| memory.request_focus(id));
        // The caret goes to the end: the field may remember its place in an earlier text.
        let mut state = TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
        let end = CCursor::new(field.text.chars().count());
        state.cursor.set_char_range(Some(CCursorRange::one(end)));
        state.store(ui.ctx(), id);
    }
    let edit = TextEdit::singleline(&mut field.text).id(id).hint_text("Another class…").char_limit(200);
    let response = ui.add(edit.desired_width(f32::INFINITY));
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Class"));
    if response.changed() {
        // Enter may come in the same frame as the last letter, and means what is written then.
        field.completion = 0;
        begun = field.text.trim().to_owned();
        offers = of_begun(&begun);
    }
    let mut chosen = None;
    if is_writing {
        for (place, (class, is_new)) in offers.iter().enumerate() {
            let is_meant = place == field.completion;
            let room = ui.available_width() - ENTER;
            let words = if *is_new { format!("new class “{class}”") } else { class_words(ui, class, room) };
            let words = if is_meant { format!("Enter: {words}") } else { words };
            let offer = egui::Button::selectable(is_meant, words).truncate();
            if ui.add(offer).on_hover_text("Up, Down and Tab choose").clicked() {
                chosen = Some(class.clone());
            }
        }
    }
    // In a slow frame the focus may come and go.
    let came_and_went =
        wants_focus && !response.has_focus() && ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Escape));
    if response.lost_focus() || came_and_went || enters {
        // These keys ended the typing and are consumed, so that they have no other effect; so are
        // letters of this frame, which would begin another class.
        let (enter, escape) = (pressed(ui, Key::Enter) || enters, pressed(ui, Key::Escape));
        ui.input_mut(|input| input.events.retain(|event| !matches!(event, Event::Text(_))));
        if enter || leaving && !escape {
            // Without Enter the text counts as typed, not as completed.
            let is_left = !enter && field.completion == 0;
            let as_written = if is_left { field.class(panel) } else { None };
            let offer = || offers.get(field.completion).map(|(class, _)| class.clone());
            chosen = chosen.or(as_written).or_else(offer);
        }
        if escape {
            field.text.clear();
        }
    }
    let is_saving = panel.desk.labelling().shown().is_some_and(|labelling| labelling.is_saving);
    if chosen.is_some() && is_saving {
        // The text stays and can be entered again once the label before is saved.
        field.wants_focus = true;
        return None;
    }
    chosen.map(|class| {
        field.text.clear();
        ui.memory_mut(|memory| memory.surrender_focus(id));
        (class, begun.chars().count() + 1)
    })
}

/// Completions of the text, and whether each is a new class: the class of that name, those that
/// begin with the text or have parts that begin with its words, a new one, and those that contain
/// its words.
fn offered(classes: &[String], begun: &str) -> Vec<(String, bool)> {
    let small = begun.to_lowercase();
    let exact = |class: &&String| class.to_lowercase() == small;
    let filter = NameFilter::new(begun);
    let is_begun = |class: &str| class.starts_with(&small) || filter.begins_parts(class);
    let begins = |class: &&String| is_begun(&class.to_lowercase()) && !exact(class);
    let contains = |class: &&String| filter.fits(class) && !is_begun(&class.to_lowercase());
    let there = |class: &String| (class.clone(), false);
    let mut offers: Vec<(String, bool)> =
        classes.iter().filter(exact).chain(classes.iter().filter(begins)).take(OFFERED).map(there).collect();
    if !classes.iter().any(|class| exact(&class)) {
        offers.push((begun.to_owned(), true));
    }
    offers.extend(classes.iter().filter(contains).take(OFFERED).map(there));
    offers
}
