//! The search box, with a list of completions below it.

use egui::{Align2, Area, Frame, Id, Key, Modifiers, Order, RichText, TextEdit, Ui};

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::page::Page;
use crate::gui::panel::Panel;
use crate::gui::requests::Request;
use crate::gui::widgets::select_text;
use crate::gui::words::count;
use crate::session::completion::{Completion, CompletionSource};

/// The least width of the list, and the longest text that it shows as a whole.
const LEAST_WIDTH: f32 = 340.0;
const LONGEST: usize = 28;

/// Paints the box, and runs what is typed and chosen.
pub(super) fn search_box_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let id = Id::unique("search");
    let hint = format!("Search captions, classes, names ({})", Action::Find.key_words(ui.ctx()));
    let width = ui.available_width().min(360.0);
    if std::mem::take(&mut panel.view.search.wants_focus) {
        // The focus is set before the field is added, so that it receives the text typed in this
        // frame. The text in it is selected, so that typing replaces it.
        ui.memory_mut(|memory| memory.request_focus(id));
        let end = panel.view.search.text.chars().count();
        select_text(ui, id, 0..end);
    }
    let offers = offered(panel);
    let has_focus = ui.memory(|memory| memory.has_focus(id));
    let is_entered = has_focus && panel.view.search.completions.chosen.is_none() && ui.input(|input| input.key_pressed(Key::Enter));
    if is_entered && panel.desk.searching().hits().is_some_and(|hits| !hits.is_best_first && hits.query == panel.view.search.text) {
        panel.ask(Command::SortHits);
    }
    let accepted = keys(ui, panel, id, &offers);
    if let Some(completion) = &accepted {
        accept(ui, panel, id, completion);
    }
    // Completions that come after Enter stay away, also when the last letter comes with it.
    panel.view.search.completions.is_closed |= is_entered;
    let is_open = panel.view.search.completions.is_open && !offers.is_empty();
    let edit = TextEdit::singleline(&mut panel.view.search.text).id(id).hint_text(hint).desired_width(width).char_limit(500);
    // Enter keeps the focus: what is typed next belongs to the box, not to the selected images.
    let edit = edit.return_key(None);
    let response = ui.add(edit.lock_focus(is_open));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Search"));
    if response.changed() {
        (panel.view.search.completions.chosen, panel.view.search.completions.is_closed) = (None, is_entered);
        panel.requests.push(Request::TurnTo(Page::Browse));
        panel.ask(Command::Search(panel.view.search.text.clone()));
    }
    if response.has_focus() && ui.input(|input| input.key_pressed(Key::Escape))
        || response.lost_focus() && ui.input(|i| i.key_pressed(Key::Escape))
    {
        if !panel.view.search.text.is_empty() {
            panel.ask(Command::Search(String::new()));
        }
        ui.memory_mut(|memory| memory.surrender_focus(id));
    }
    let list = &panel.view.search.completions;
    let is_open = !list.is_closed && !offers.is_empty() && (response.has_focus() || list.is_hovered);
    panel.view.search.completions.is_open = is_open;
    if is_open {
        let chosen = list_ui(ui, panel, &response, &offers);
        if let Some(completion) = chosen {
            accept(ui, panel, id, completion);
        }
    } else {
        panel.view.search.completions.is_hovered = false;
    }
}

/// The completions of what is typed; those of the text before while the answer is on its way, as
/// far as they still fit.
fn offered(panel: &Panel<'_>) -> Vec<Completion> {
    let text = panel.view.search.text.to_lowercase();
    let hits = panel.desk.searching().hits().filter(|_| !text.trim().is_empty());
    let fits = |one: &&Completion| one.text.to_lowercase().starts_with(&text) && one.text.to_lowercase() != text;
    hits.map_or_else(Vec::new, |hits| match hits.query == panel.view.search.text {
        true => hits.completions.clone(),
        false => hits.completions.iter().filter(fits).cloned().collect(),
    })
}

/// Keys that move in the list, close it, or accept a completion, which is returned.
fn keys(ui: &Ui, panel: &mut Panel<'_>, id: Id, offers: &[Completion]) -> Option<Completion> {
    let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if !panel.view.search.completions.is_open || offers.is_empty() {
        if ui.memory(|memory| memory.has_focus(id)) && pressed(Key::ArrowDown) {
            go_to_answer(ui, panel);
        }
        return None;
    }
    let list = &mut panel.view.search.completions;
    if pressed(Key::Escape) {
        list.is_closed = true;
        // Escape has taken the focus already; it was meant for the list.
        ui.memory_mut(|memory| memory.request_focus(id));
        return None;
    }
    if !ui.memory(|memory| memory.has_focus(id)) {
        return None;
    }
    let last = offers.len() - 1;
    if pressed(Key::ArrowDown) {
        list.chosen = Some(list.chosen.map_or(0, |chosen| if chosen >= last { 0 } else { chosen + 1 }));
    }
    if pressed(Key::ArrowUp) {
        list.chosen = Some(list.chosen.map_or(last, |chosen| if chosen == 0 { last } else { chosen - 1 }));
    }
    let is_entered = list.chosen.is_some() && pressed(Key::Enter);
    if list.chosen.is_none() && pressed(Key::Enter) {
        list.is_closed = true;
        return None;
    }
    let is_taken = pressed(Key::Tab);
    (is_entered || is_taken).then(|| offers[list.chosen.unwrap_or(0).min(last)].clone())
}

/// Leaves the box for the first image that was found.
fn go_to_answer(ui: &Ui, panel: &mut Panel<'_>) {
    let first = panel.desk.searching().hits().and_then(|hits| hits.images.first().copied());
    if let Some(first) = first.filter(|_| panel.view.page == Page::Browse) {
        ui.memory_mut(|memory| memory.stop_text_input());
        panel.view.selection.set([first]);
    }
}

/// Puts a completion in place of what is typed, and searches for it.
fn accept(ui: &Ui, panel: &mut Panel<'_>, id: Id, completion: &Completion) {
    panel.view.search.text.clone_from(&completion.text);
    let list = &mut panel.view.search.completions;
    (list.chosen, list.is_closed, list.is_hovered) = (None, true, false);
    ui.memory_mut(|memory| memory.request_focus(id));
    let end = completion.text.chars().count();
    select_text(ui, id, end..end);
    panel.requests.push(Request::TurnTo(Page::Browse));
    panel.ask(Command::Search(completion.text.clone()));
}

/// The list itself. Returns the completion that was clicked.
fn list_ui<'a>(ui: &Ui, panel: &mut Panel<'_>, field: &egui::Response, offers: &'a [Completion]) -> Option<&'a Completion> {
    let mut clicked = None;
    let chosen = panel.view.search.completions.chosen;
    let area = Area::new(Id::unique("search completions")).order(Order::Foreground).pivot(Align2::RIGHT_TOP);
    let area = area.fixed_pos(field.rect.right_bottom()).show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).show(ui, |ui| {
            ui.set_width(field.rect.width().max(LEAST_WIDTH));
            for (place, one) in offers.iter().enumerate() {
                let of = match one.source {
                    CompletionSource::Class => format!("class, {}", count(one.count, "image")),
                    CompletionSource::Caption => count(one.count, "text"),
                    CompletionSource::Name => format!("name, {}", count(one.count, "text")),
                    CompletionSource::Meant => format!("did you mean, {}", count(one.count, "text")),
                };
                // Of a long text the end tells it apart.
                let words = if one.text.chars().count() > LONGEST { format!("… {}", one.word) } else { one.text.clone() };
                let button = egui::Button::selectable(chosen == Some(place), words).truncate();
                let response = ui.add(button.right_text(RichText::new(of).weak().small()).min_size(egui::vec2(ui.available_width(), 0.0)));
                response.widget_info(|| {
                    egui::WidgetInfo::selected(egui::Role::Button, true, chosen == Some(place), format!("Complete: {}", one.text))
                });
                if response.clicked() {
                    clicked = Some(one);
                }
            }
            ui.label(RichText::new("Down and Up choose, Tab and Enter take, Esc closes").weak().small());
        });
    });
    panel.view.search.completions.is_hovered = area.response.contains_pointer();
    clicked
}
