//! A list of all classes to choose one from, with a field that filters it and names new ones.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Align2, CornerRadius, Key, Modifiers, PopupCloseBehavior, Rect, Role, ScrollArea, Sense, StrokeKind, TextEdit, Ui};
use egui::{WidgetInfo, pos2, vec2};

use super::key_names::paint_key;
use super::panel::Panel;
use super::theme;
use super::widgets::class_line;
use super::widgets::rows::rows_ui;
use crate::session::class_tree::{NameFilter, place_of_class};

/// The height of an entry.
const ROW: f32 = 22.0;
/// The height of the list, and its least width.
const HEIGHT: f32 = 300.0;
const WIDTH: f32 = 220.0;

/// What is typed, kept while the list is on the screen.
#[derive(Clone, Default)]
struct Typed {
    text: String,
    /// The class that arrows moved to: a place among those listed.
    moved: Option<usize>,
    /// The frame in which it was shown last.
    frame: u64,
}

/// A button whose menu is for a list of classes: it stays open while one types.
pub(super) fn class_menu(words: &str) -> MenuButton<'_> {
    MenuButton::new(words).config(MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside))
}

/// Shows all classes but those that the typed text takes out. Returns the one that was pressed; or,
/// when Enter was, the one that arrows moved to, the one of the typed name, the first that begins
/// so or has parts that do, or else a new one of that name. `now` is the class that is marked.
pub(super) fn class_picker_ui(ui: &mut Ui, panel: &Panel<'_>, now: Option<&str>) -> Option<String> {
    let id = ui.scope_id().with("class picker");
    let frame = ui.ctx().cumulative_frame_nr();
    let kept: Option<Typed> = ui.data(|data| data.get_temp(id));
    let is_new = kept.as_ref().is_none_or(|kept| kept.frame + 1 < frame);
    let Typed { mut text, mut moved, .. } = kept.filter(|_| !is_new).unwrap_or_default();
    ui.set_min_width(WIDTH);
    let field_id = id.with("field");
    let is_writing = ui.memory(|memory| memory.has_focus(field_id));
    // Before the field is added, which would move its caret by them.
    let arrow = |key: Key| is_writing && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (down, up) = (arrow(Key::ArrowDown), arrow(Key::ArrowUp));
    let edit = TextEdit::singleline(&mut text)
        .id(field_id)
        .hint_text("Filter, or a new class")
        .align(Align2::LEFT_CENTER)
        .desired_width(f32::INFINITY)
        .char_limit(200);
    let field = ui.add(edit);
    if field.changed() {
        moved = None;
    }
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter classes"));
    if is_new {
        field.request_focus();
    }
    let filter = NameFilter::new(&text);
    let classes = panel.classes();
    let listed: Vec<&String> = classes.iter().filter(|class| filter.fits(class)).collect();
    let name = text.trim();
    let exact = place_of_class(&listed, name);
    let small = name.to_lowercase();
    let begins = |class: &&String| {
        let class = class.to_lowercase();
        !small.is_empty() && (class.starts_with(&small) || filter.begins_parts(&class))
    };
    let typed = exact.or_else(|| listed.iter().position(begins));
    let new = Some(name).filter(|name| !name.is_empty() && exact.is_none());
    if !listed.is_empty() && (down || up) {
        let last = listed.len() - 1;
        moved = Some(match moved.map(|place| place.min(last)) {
            None if down => 0,
            None => last,
            Some(place) if down => (place + 1) % listed.len(),
            Some(place) => place.checked_sub(1).unwrap_or(last),
        });
    }
    let mut chosen = None;
    let mut area = ScrollArea::vertical().id_salt("picker").max_height(HEIGHT).auto_shrink([false, true]);
    if let Some(place) = moved.filter(|_| down || up) {
        let top = place as f32 * (ROW + ui.spacing().item_spacing.y);
        area = area.vertical_scroll_offset((top - (HEIGHT - ROW) / 2.0).max(0.0));
    }
    area.show(ui, |ui| {
        rows_ui(ui, ROW, listed.len(), |ui, i| {
            if row_ui(ui, panel, listed[i], now == Some(listed[i].as_str()), moved.or(typed) == Some(i)) {
                chosen = Some(listed[i].clone());
            }
        });
    });
    if let Some(new) = new
        && ui.button(format!("New class “{new}”")).clicked()
    {
        chosen = Some(new.to_owned());
    }
    if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
        let meant = moved.or(typed).and_then(|place| listed.get(place)).map(|class| (*class).clone());
        chosen = chosen.or(meant).or_else(|| new.map(str::to_owned));
        if chosen.is_none() {
            field.request_focus();
        }
    }
    ui.data_mut(|data| data.insert_temp(id, Typed { text, moved, frame }));
    chosen
}

/// A class with its colour and its key. Returns whether it was pressed. `is_moved_to` is whether
/// Enter takes it.
fn row_ui(ui: &mut Ui, panel: &Panel<'_>, class: &str, is_now: bool, is_moved_to: bool) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let key = panel.key_of(class);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_now, class));
    if is_now || is_moved_to || response.hovered() || response.has_focus() {
        let ground = if is_now { ui.visuals().selection.bg_fill } else { ui.visuals().faint_bg_color };
        ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), ground);
    }
    if is_moved_to {
        let stroke = ui.visuals().selection.stroke;
        ui.painter().rect_stroke(rect, CornerRadius::same(theme::ROUNDING), stroke, StrokeKind::Inside);
    }
    let left = rect.left() + 6.0;
    let colour = panel.colour(class);
    key_spot(ui, pos2(left + 8.0, rect.center().y), colour, key.as_deref());
    let text = ui.visuals().text_color();
    let galley = class_line(ui, class, rect.right() - left - 30.0, text);
    ui.painter().galley(pos2(left + 24.0, rect.center().y - galley.size().y / 2.0), galley, text);
    let hover = key.map_or_else(|| class.to_owned(), |key| format!("{class}; key {key}"));
    response.on_hover_text(hover).clicked()
}

/// A spot of a class's colour with its key in it.
pub(super) fn key_spot(ui: &Ui, centre: egui::Pos2, colour: egui::Color32, key: Option<&str>) {
    let spot = Rect::from_center_size(centre, vec2(18.0, 16.0));
    ui.painter().rect_filled(spot, CornerRadius::same(4), colour);
    if let Some(key) = key {
        paint_key(ui, spot.center(), spot.width() - 4.0, key, theme::text_on(colour));
    }
}
