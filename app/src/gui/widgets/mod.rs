//! Widgets: they know egui and plain data, but no library.

pub mod bars;
pub mod collage;
pub mod confusion;
pub mod curve;
pub mod grid;
pub mod pieces;
pub mod rows;

use std::ops::Range;

use egui::text::{CCursor, CCursorRange};
use egui::{Color32, CornerRadius, Frame, Id, Margin, Rect, Response, RichText, Role, Sense, TextEdit, TextStyle, Ui, Vec2, WidgetInfo};

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
    let mut job = egui::text::LayoutJob::simple_singleline(words.to_owned(), TextStyle::Small.resolve(ui.style()), theme::text_on(colour));
    // Where lines are broken it may begin a new one.
    let room = if ui.layout().main_wrap { ui.max_rect().width() } else { ui.available_width().max(60.0) };
    job.wrap = egui::text::TextWrapping::truncate_at_width(room.min(260.0) - 20.0);
    let galley = ui.painter().layout_job(job);
    let (rect, response) = ui.allocate_exact_size(galley.size() + Vec2::new(14.0, 6.0), Sense::click());
    if ui.is_rect_visible(rect) {
        ui.painter().rect_filled(rect, CornerRadius::same(9), colour);
        if response.has_focus() || response.hovered() {
            ui.painter().rect_stroke(rect, CornerRadius::same(9), theme::focus(ui), egui::StrokeKind::Outside);
        }
        ui.painter().galley(rect.center() - galley.size() / 2.0, std::sync::Arc::clone(&galley), theme::text_on(colour));
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    let response = if galley.elided { response.on_hover_text(words) } else { response };
    if hover.is_empty() { response } else { response.on_hover_text(hover) }
}

/// A small text on one line, cut short at a width.
pub fn one_line(ui: &Ui, text: &str, width: f32, colour: Color32) -> std::sync::Arc<egui::Galley> {
    line_of(ui, TextStyle::Small, text, width, colour)
}

/// A text of a style on one line, cut short at a width.
pub fn line_of(ui: &Ui, style: TextStyle, text: &str, width: f32, colour: Color32) -> std::sync::Arc<egui::Galley> {
    let font = style.resolve(ui.style());
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, colour);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width.max(8.0));
    ui.painter().layout_job(job)
}

/// A class's name on one line; of a path that does not fit as much of the end as does, for paths
/// that end alike are told apart by what is before it.
pub fn class_line(ui: &Ui, name: &str, width: f32, colour: Color32) -> std::sync::Arc<egui::Galley> {
    let whole = one_line(ui, name, width, colour);
    let Some((before, _)) = name.rsplit_once('/').filter(|_| whole.elided) else { return whole };
    let cut = |from: usize| one_line(ui, &format!("…{}", &name[from..]), width, colour);
    // Beginnings of the end, the longest first.
    let starts: Vec<usize> = before.char_indices().map(|(at, _)| at).chain([before.len()]).skip(1).collect();
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
