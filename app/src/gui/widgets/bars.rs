//! The scores of all classes as bars, and the confidence of the answer.

use egui::{Align2, Color32, CornerRadius, Rect, Response, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::super::theme;
use super::class_line;
use super::rows::rows_ui;
use crate::gui::key_names::paint_key;

/// The height of a bar's row.
const ROW: f32 = 20.0;

/// One class and its score.
pub struct Bar<'a> {
    /// The class.
    pub name: &'a str,
    /// Its score.
    pub score: f64,
    /// Its score before the last change, where there was one.
    pub before: Option<f64>,
    /// Its colour.
    pub colour: Color32,
    /// The key that gives it.
    pub key: Option<String>,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// The scores that bars run from and to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarScale {
    /// The mean of all scores: what a class picked by chance has.
    pub mean: f64,
    /// The highest score.
    pub best: f64,
}

impl BarScale {
    /// The scale of some scores. O(scores).
    pub fn of(scores: impl ExactSizeIterator<Item = f64>) -> Self {
        let n = scores.len().max(1) as f64;
        let (sum, best) = scores.fold((0.0, f64::MIN), |(sum, best): (f64, f64), score| (sum + score, best.max(score)));
        Self { mean: sum / n, best }
    }

    /// How much of its room the bar of a score takes, in 0..=1.
    pub fn share(self, score: f64) -> f64 {
        if self.best > self.mean { ((score - self.mean) / (self.best - self.mean)).clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// Shows so many scores, only those on the screen being asked for. Returns the place of the one
/// that was pressed.
pub fn bars_ui<'a>(ui: &mut Ui, scale: BarScale, n: usize, hover: &str, bar: impl Fn(usize) -> Bar<'a>) -> Option<usize> {
    let mut pressed = None;
    rows_ui(ui, ROW, n, |ui, i| {
        if bar_ui(ui, scale, &bar(i), hover).clicked() {
            pressed = Some(i);
        }
    });
    pressed
}

fn bar_ui(ui: &mut Ui, scale: BarScale, bar: &Bar<'_>, hover: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, bar.is_chosen, format!("{} {:.3}", bar.name, bar.score)));
    let is_best = bar.score >= scale.best;
    let name_width = (rect.width() * 0.36).min(190.0);
    let value_width = if bar.before.is_some() { 106.0 } else { 52.0 };
    let painter = ui.painter();
    if bar.is_chosen || response.hovered() || response.has_focus() {
        let ground = if bar.is_chosen { ui.visuals().selection.bg_fill } else { ui.visuals().faint_bg_color };
        painter.rect_filled(rect, CornerRadius::same(3), ground);
    }
    let text = if is_best { ui.visuals().strong_text_color() } else { ui.visuals().text_color() };
    let mut left = rect.left() + 2.0;
    if let Some(key) = &bar.key {
        paint_key(ui, pos2(left + 8.0, rect.center().y), 14.0, key, ui.visuals().weak_text_color());
    }
    left += 18.0;
    let name = class_line(ui, bar.name, name_width - 24.0, text);
    painter.galley(pos2(left, rect.center().y - name.size().y / 2.0), name, text);
    let room = Rect::from_min_max(pos2(rect.left() + name_width, rect.top() + 4.0), pos2(rect.right() - value_width, rect.bottom() - 4.0));
    painter.rect_filled(room, CornerRadius::same(3), theme::track(ui));
    let full = Rect::from_min_size(room.min, vec2(room.width() * scale.share(bar.score) as f32, room.height()));
    painter.rect_filled(full, CornerRadius::same(3), if is_best { bar.colour } else { bar.colour.gamma_multiply(0.55) });
    if let Some(before) = bar.before {
        let x = room.left() + room.width() * scale.share(before) as f32;
        painter.vline(x, room.y_range(), egui::Stroke::new(2.0, ui.visuals().strong_text_color()));
    }
    let font = TextStyle::Small.resolve(ui.style());
    let words = match bar.before {
        Some(before) => format!("{:.2} ({:+.2})", bar.score, bar.score - before),
        None => format!("{:.2}", bar.score),
    };
    painter.text(pos2(rect.right() - 2.0, rect.center().y), Align2::RIGHT_CENTER, words, font, text);
    response.on_hover_text(match bar.before {
        Some(before) => format!("{}: {:.4}, before {before:.4}. {hover}", bar.name, bar.score),
        None => format!("{}: {:.4}. {hover}", bar.name, bar.score),
    })
}

/// Shows a confidence in 0..=1, that of an unknown image in the colour of warnings.
pub fn confidence_ui(ui: &mut Ui, confidence: f64, is_unknown: bool) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 10.0), Sense::hover());
    let colour = if is_unknown { ui.visuals().warn_fg_color } else { theme::accent(ui) };
    let filled = Rect::from_min_max(rect.min, pos2(rect.left() + rect.width() * confidence.clamp(0.0, 1.0) as f32, rect.bottom()));
    ui.painter().rect_filled(rect, CornerRadius::same(4), ui.visuals().faint_bg_color);
    ui.painter().rect_filled(filled, CornerRadius::same(4), colour);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::ProgressIndicator, true, format!("{:.0} % sure", 100.0 * confidence)));
}
