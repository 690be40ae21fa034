//! The scores of all classes as bars, and the confidence of the answer.

use egui::{Align2, Color32, CornerRadius, Rect, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::super::theme;
use super::one_line;

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
}

/// Shows scores, the best first, on one scale from the lowest to the highest.
pub fn bars_ui(ui: &mut Ui, bars: &[Bar<'_>]) {
    let (Some(most), Some(least)) =
        (bars.iter().map(|b| b.score).max_by(f64::total_cmp), bars.iter().map(|b| b.score).min_by(f64::total_cmp))
    else {
        return;
    };
    // The lowest bar keeps a stump, so that it is visible.
    let share = |score: f64| if most > least { 0.06 + 0.94 * ((score - least) / (most - least)) } else { 1.0 };
    for (i, bar) in bars.iter().enumerate() {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 20.0), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{} {:.3}", bar.name, bar.score)));
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let name_width = (rect.width() * 0.32).min(150.0);
        let value_width = if bar.before.is_some() { 116.0 } else { 62.0 };
        let painter = ui.painter();
        let text = if i == 0 { ui.visuals().strong_text_color() } else { ui.visuals().text_color() };
        let name = one_line(ui, bar.name, name_width - 6.0, text);
        painter.galley(pos2(rect.left(), rect.center().y - name.size().y / 2.0), name, text);
        let room =
            Rect::from_min_max(pos2(rect.left() + name_width, rect.top() + 4.0), pos2(rect.right() - value_width, rect.bottom() - 4.0));
        painter.rect_filled(room, CornerRadius::same(3), ui.visuals().faint_bg_color);
        let full = Rect::from_min_size(room.min, vec2(room.width() * share(bar.score) as f32, room.height()));
        painter.rect_filled(full, CornerRadius::same(3), if i == 0 { bar.colour } else { bar.colour.gamma_multiply(0.55) });
        if let Some(before) = bar.before {
            let x = room.left() + room.width() * (share(before) as f32).clamp(0.0, 1.0);
            painter.vline(x, room.y_range(), egui::Stroke::new(2.0, ui.visuals().strong_text_color()));
        }
        let font = TextStyle::Small.resolve(ui.style());
        let words = match bar.before {
            Some(before) => format!("{:.2} ({:+.2})", bar.score, bar.score - before),
            None => format!("{:.2}", bar.score),
        };
        painter.text(pos2(rect.right(), rect.center().y), Align2::RIGHT_CENTER, words, font, text);
        response.on_hover_text(match bar.before {
            Some(before) => format!("{}: {:.4}, before {before:.4}", bar.name, bar.score),
            None => format!("{}: {:.4}", bar.name, bar.score),
        });
    }
}

/// Shows a confidence in 0..=1 and the bar below which an image counts as unknown, which can be
/// dragged. Returns where it was dragged to.
pub fn confidence_ui(ui: &mut Ui, confidence: f64, bar: f64) -> Option<f64> {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 26.0), Sense::click_and_drag());
    let room = Rect::from_min_max(pos2(rect.left(), rect.top() + 8.0), pos2(rect.right(), rect.bottom() - 8.0));
    let at = |p: f64| room.left() + room.width() * p.clamp(0.0, 1.0) as f32;
    let painter = ui.painter();
    painter.rect_filled(room, CornerRadius::same(4), ui.visuals().faint_bg_color);
    let colour = if confidence < bar { ui.visuals().warn_fg_color } else { theme::accent(ui) };
    painter.rect_filled(Rect::from_min_max(room.min, pos2(at(confidence), room.bottom())), CornerRadius::same(4), colour);
    let mark = if response.has_focus() || response.hovered() { theme::accent(ui) } else { ui.visuals().strong_text_color() };
    painter.vline(at(bar), rect.y_range(), egui::Stroke::new(2.5, mark));
    painter.circle_filled(pos2(at(bar), rect.top() + 3.0), 4.0, mark);
    response.widget_info(|| WidgetInfo::slider(true, bar, "Unknown below"));
    let mut moved =
        response.dragged().then(|| response.interact_pointer_pos()).flatten().map(|pos| f64::from((pos.x - room.left()) / room.width()));
    if response.has_focus() {
        ui.input_mut(|input| {
            for (key, by) in [(egui::Key::ArrowLeft, -0.05), (egui::Key::ArrowRight, 0.05)] {
                if input.consume_key(egui::Modifiers::NONE, key) {
                    moved = Some(bar + by);
                }
            }
        });
    }
    response.on_hover_text("Drag the mark: an answer that is less sure than this counts as unknown");
    moved.map(|value| (value.clamp(0.0, 1.0) * 100.0).round() / 100.0)
}
