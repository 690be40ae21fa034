//! A list of all classes to choose one from, with a field that filters it and names new ones.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Align2, CornerRadius, Key, PopupCloseBehavior, Rect, Role, ScrollArea, Sense, TextEdit, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::key_names::short_key;
use super::panel::Panel;
use super::theme;
use super::widgets::class_line;
use super::widgets::rows::rows_ui;
use crate::session::class_tree::NameFilter;

/// The height of an entry.
const ROW: f32 = 22.0;
/// The height of the list, and its least width.
const HEIGHT: f32 = 300.0;
const WIDTH: f32 = 220.0;

/// What is typed, kept while the list is on the screen.
#[derive(Clone, Default)]
struct Typed {
    text: String,
    /// The frame in which it was shown last.
    frame: u64,
}

/// A button whose menu is for a list of classes: it stays open while one types.
pub(super) fn class_menu(words: &str) -> MenuButton<'_> {
    MenuButton::new(words).config(MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside))
}

/// Shows all classes but those that the typed text takes out. Returns the one that was pressed, or
/// the first one or a new one when Enter was. `now` is the class that is marked.
pub(super) fn class_picker_ui(ui: &mut Ui, panel: &Panel<'_>, now: Option<&str>) -> Option<String> {
    let id = ui.scope_id().with("class picker");
    let frame = ui.ctx().cumulative_frame_nr();
    let kept: Option<Typed> = ui.data(|data| data.get_temp(id));
    let is_new = kept.as_ref().is_none_or(|kept| kept.frame + 1 < frame);
    let mut text = kept.filter(|_| !is_new).map(|kept| kept.text).unwrap_or_default();
    ui.set_min_width(WIDTH);
    let edit = TextEdit::singleline(&mut text).hint_text("Filter, or a new class").desired_width(f32::INFINITY).char_limit(200);
    let field = ui.add(edit);
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter classes"));
    if is_new {
        field.request_focus();
    }
    let filter = NameFilter::new(&text);
    let classes = panel.classes();
    let listed: Vec<&String> = classes.iter().filter(|class| filter.fits(class)).collect();
    let name = text.trim();
    let small = name.to_lowercase();
    let exact = listed.iter().position(|class| class.to_lowercase() == small);
    let new = Some(name).filter(|name| !name.is_empty() && exact.is_none());
    let mut chosen = None;
    ScrollArea::vertical().id_salt("picker").max_height(HEIGHT).auto_shrink([false, true]).show(ui, |ui| {
        rows_ui(ui, ROW, listed.len(), |ui, i| {
            if row_ui(ui, panel, listed[i], now == Some(listed[i].as_str())) {
                chosen = Some(listed[i].clone());
            }
        });
    });
    if let Some(new) = new
        && ui.button(format!("New class “{new}”")).clicked()
    {
        chosen = Some(new.to_owned());
    }
    if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) && !name.is_empty() {
        let first = exact.or((listed.len() == 1).then_some(0)).map(|place| listed[place].clone());
        chosen = chosen.or(first);
        if chosen.is_none() {
            // Of several that fit, none is meant yet.
            field.request_focus();
        }
    }
    ui.data_mut(|data| data.insert_temp(id, Typed { text, frame }));
    chosen
}

/// A class with its colour and its key. Returns whether it was pressed.
fn row_ui(ui: &mut Ui, panel: &Panel<'_>, class: &str, is_now: bool) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let key = panel.key_of(class);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_now, class));
    if is_now || response.hovered() || response.has_focus() {
        let ground = if is_now { ui.visuals().selection.bg_fill } else { ui.visuals().faint_bg_color };
        ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), ground);
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
        let font = TextStyle::Small.resolve(ui.style());
        ui.painter().text(spot.center(), Align2::CENTER_CENTER, short_key(key), font, theme::text_on(colour));
    }
}
