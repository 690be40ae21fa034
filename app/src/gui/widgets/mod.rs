//! Widgets: they know egui and plain data, but no library.

pub mod bars;
pub mod collage;
pub mod confusion;
pub mod curve;
pub mod grid;
pub mod pieces;
pub mod rows;

use std::ops::Range;
use std::sync::Arc;

use egui::text::{CCursor, CCursorRange, LayoutJob, TextWrapping};
use egui::{
    Color32, CornerRadius, FontId, Frame, Galley, Id, Margin, Rect, Response, RichText, Role, Sense, TextEdit, TextStyle, Ui, Vec2,
    WidgetInfo,
};

use super::theme;

/// The width of usual windows, and the share of a window that one panel at its side may take.
const USUAL: f32 = 1280.0;
const MOST: f32 = 0.32;
/// The least width of a card, where there is room.
const CARD: f32 = 300.0;

/// A card: a framed part of a page with a heading.
pub fn card_ui<R>(ui: &mut Ui, heading: &str, contents: impl FnOnce(&mut Ui) -> R) -> R {
    Frame::new()
        .fill(theme::card(ui))
        .stroke(ui.visuals().window_stroke)
        .corner_radius(CornerRadius::same(theme::ROUNDING))
        .inner_margin(Margin::same(12))
        .show(ui, |ui| {
            ui.set_min_width(ui.available_width().min(CARD));
            if !heading.is_empty() {
                ui.label(RichText::new(heading).strong().size(15.0));
                ui.add_space(4.0);
            }
            contents(ui)
        })
        .inner
}

/// The button that should be pressed next.
pub fn main_button(ui: &mut Ui, words: &str) -> Response {
    let text = RichText::new(words).color(theme::on_accent(ui));
    ui.add(egui::Button::new(text).fill(theme::accent(ui)))
}

/// A text on one line, cut short where it does not fit; the whole on hover.
pub fn line(ui: &mut Ui, text: impl Into<RichText>) -> Response {
    ui.add(egui::Label::new(text.into()).truncate())
}

/// Selects these characters in a text field, or puts the caret there where the range is empty.
pub fn select_text(ui: &Ui, field: Id, range: Range<usize>) {
    let mut state = TextEdit::load_state(ui.ctx(), field).unwrap_or_default();
    state.cursor.set_char_range(Some(CCursorRange::two(CCursor::new(range.start), CCursor::new(range.end))));
    state.store(ui.ctx(), field);
}

/// A heading among the facts of an image.
pub fn heading(ui: &mut Ui, words: &str) {
    ui.add_space(8.0);
    ui.label(RichText::new(words).strong().color(theme::accent(ui)));
}

/// The frame of a page and of what stands at its sides.
pub fn page_frame(ui: &Ui) -> Frame {
    Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::symmetric(12, 10))
}

/// The width below which a window or a page has no room for things side by side.
pub const NARROW: f32 = 640.0;

/// The height of a list that drops down, at most.
pub const DROP_DOWN: f32 = 400.0;

/// A panel at a side that is so wide in usual windows, and narrower in narrow ones.
pub fn side_panel(side: egui::Panel, ui: &Ui, usual: f32, least: f32) -> egui::Panel {
    let window = ui.ctx().content_rect().width();
    let most = (MOST * window).max(least);
    let usual = (usual * window / USUAL).clamp(least, usual.max(least));
    side.frame(page_frame(ui)).default_size(usual).size_range(least..=most)
}

/// Whether a window, as narrow as large text makes it, has no room for panels at both sides.
pub fn is_narrow(ui: &Ui) -> bool {
    ui.ctx().content_rect().width() < NARROW
}

/// A chip: a coloured spot and words, that can be pressed.
pub fn chip_ui(ui: &mut Ui, words: &str, colour: Color32, hover: &str) -> Response {
    // Where lines are broken it may begin a new one.
    let room = if ui.layout().main_wrap { ui.max_rect().width() } else { ui.available_width().max(60.0) };
    let galley = class_line(ui, words, room.min(260.0) - 20.0, theme::text_on(colour));
    let (rect, response) = ui.allocate_exact_size(galley.size() + Vec2::new(14.0, 6.0), Sense::click());
    if ui.is_rect_visible(rect) {
        ui.painter().rect_filled(rect, CornerRadius::same(9), colour);
        if response.has_focus() || response.hovered() {
            ui.painter().rect_stroke(rect, CornerRadius::same(9), theme::focus(ui), egui::StrokeKind::Outside);
        }
        ui.painter().galley(rect.center() - galley.size() / 2.0, Arc::clone(&galley), theme::text_on(colour));
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    let response = if is_cut(&galley, words) { response.on_hover_text(words) } else { response };
    if hover.is_empty() { response } else { response.on_hover_text(hover) }
}

/// A class as a heading of this size, its whole name on hover.
pub fn class_heading_ui(ui: &mut Ui, class: &str, size: f32) {
    let font = FontId { size, ..TextStyle::Body.resolve(ui.style()) };
    let colour = ui.visuals().strong_text_color();
    let galley = end_of_path(class, |words| cut_line(ui, font.clone(), words, ui.available_width(), colour));
    let response = ui.add(egui::Label::new(Arc::clone(&galley)).show_tooltip_when_elided(false));
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, class));
    if is_cut(&galley, class) {
        response.on_hover_text(class);
    }
}

/// Whether a line shows only a part of these words.
fn is_cut(line: &Galley, words: &str) -> bool {
    line.elided || line.job.text != words
}

/// A small text on one line, cut short at a width.
pub fn one_line(ui: &Ui, text: &str, width: f32, colour: Color32) -> Arc<Galley> {
    line_of(ui, TextStyle::Small, text, width, colour)
}

/// A text of a style on one line, cut short at a width.
pub fn line_of(ui: &Ui, style: TextStyle, text: &str, width: f32, colour: Color32) -> Arc<Galley> {
    cut_line(ui, style.resolve(ui.style()), text, width, colour)
}

fn cut_line(ui: &Ui, font: FontId, text: &str, width: f32, colour: Color32) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font, colour);
    job.wrap = TextWrapping::truncate_at_width(width.max(8.0));
    ui.painter().layout_job(job)
}

/// A class's name on one line; of a path that does not fit as much of the end as does.
pub fn class_line(ui: &Ui, name: &str, width: f32, colour: Color32) -> Arc<Galley> {
    end_of_path(name, |words| one_line(ui, words, width, colour))
}

/// The words of [`class_line`], for widgets that lay them out themselves.
pub fn class_words(ui: &Ui, name: &str, width: f32) -> String {
    let line = end_of_path(name, |words| line_of(ui, TextStyle::Body, words, width, Color32::PLACEHOLDER));
    line.job.text.clone()
}

/// A name as it is laid out; of a path that does not fit as much of the end as does, for what is
/// before it tells paths apart that end alike.
fn end_of_path(name: &str, layout: impl Fn(&str) -> Arc<Galley>) -> Arc<Galley> {
    let whole = layout(name);
    if !whole.elided || !name.contains('/') {
        return whole;
    }
    let cut = |from: usize| layout(&format!("…{}", &name[from..]));
    // Beginnings of the end, the longest first.
    let starts: Vec<usize> = name.char_indices().map(|(at, _)| at).skip(1).collect();
    let fits = starts.partition_point(|from| cut(*from).elided);
    cut(starts[fits.min(starts.len() - 1)])
}

/// An empty state: what this place is for, and what to do.
pub fn nothing_ui(ui: &mut Ui, heading: &str, words: &str) {
    ui.add_space((ui.available_height() * 0.3).min(160.0));
    ui.vertical_centered(|ui| {
        ui.label(RichText::new(heading).size(18.0));
        ui.add_space(4.0);
        ui.label(RichText::new(words).weak());
    });
}

/// Paints contents in all the room there is. They take no more, however large they are, so the
/// panel around them stays as wide as it is.
pub fn confined_ui(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    let room = ui.available_rect_before_wrap();
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(room));
    inner.shrink_clip_rect(room);
    contents(&mut inner);
    ui.advance_cursor_after_rect(room);
}

/// The largest rectangle of a given aspect ratio inside another, centred.
pub fn fitted(size: (u32, u32), inside: Rect) -> Rect {
    let size = Vec2::new(size.0.max(1) as f32, size.1.max(1) as f32);
    let scale = (inside.width() / size.x).min(inside.height() / size.y);
    Rect::from_center_size(inside.center(), size * scale)
}

/// All of a texture.
pub const WHOLE: Rect = Rect { min: egui::pos2(0.0, 0.0), max: egui::pos2(1.0, 1.0) };
