//! The confusion matrix, whose cells can be pressed, and a table of precision and recall.

use egui::{Align2, CornerRadius, Rect, Role, ScrollArea, Sense, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2};
use tessera_core::eval::report::Report;

use super::super::theme;
use super::one_line;
use crate::gui::words::shortened;

/// Characters of a class's name in the table.
const LONGEST: usize = 24;

/// Shows the confusion matrix of a report. Returns the cell that was pressed: true class and given
/// class.
pub fn confusion_ui(ui: &mut Ui, report: &Report) -> Option<(String, String)> {
    let n = report.classes.len();
    let side = if n <= 12 { 46.0 } else { 34.0 };
    let (names, head) = (110.0, 74.0);
    let mut pressed = None;
    ScrollArea::both().id_salt("confusion").max_height(560.0).auto_shrink([false, true]).show(ui, |ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(names + side * n as f32 + 40.0, head + side * n as f32), Sense::hover());
        let font = TextStyle::Small.resolve(ui.style());
        let text = ui.visuals().text_color();
        for (i, name) in report.classes.iter().enumerate() {
            let row = one_line(ui, name, names - 10.0, text);
            let y = rect.top() + head + side * (i as f32 + 0.5);
            ui.painter().galley(pos2(rect.left() + names - 8.0 - row.size().x, y - row.size().y / 2.0), row, text);
            let column = one_line(ui, name, head * 1.3, text);
            let x = rect.left() + names + side * (i as f32 + 0.5);
            let turned = egui::epaint::TextShape::new(pos2(x - 6.0, rect.top() + head - 8.0), column, text).with_angle(-0.9);
            ui.painter().add(turned);
        }
        for (truth, row) in report.confusion.iter().enumerate() {
            let all: u32 = row.iter().sum();
            for (given, &count) in row.iter().enumerate() {
                let min = pos2(rect.left() + names + side * given as f32, rect.top() + head + side * truth as f32);
                let cell = Rect::from_min_size(min, vec2(side, side)).shrink(1.0);
                if !ui.is_rect_visible(cell) {
                    continue;
                }
                let share = if all == 0 { 0.0 } else { count as f32 / all as f32 };
                let ground =
                    if count == 0 { theme::behind_pictures(ui).gamma_multiply(0.5) } else { theme::matrix_cell(ui, share, truth == given) };
                ui.painter().rect_filled(cell, CornerRadius::same(3), ground);
                if count == 0 {
                    continue;
                }
                ui.painter().text(cell.center(), Align2::CENTER_CENTER, count, font.clone(), theme::text_on(ground));
                let (true_name, given_name) = (&report.classes[truth], &report.classes[given]);
                let words = if truth == given {
                    format!("{count} of {all} images of {true_name} were recognised")
                } else {
                    format!("{count} of {all} images of {true_name} were taken for {given_name}")
                };
                let response = ui.interact(cell, ui.scope_id().with((truth, given)), Sense::click());
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
                if response.hovered() || response.has_focus() {
                    ui.painter().rect_stroke(cell, CornerRadius::same(3), theme::focus(ui), StrokeKind::Inside);
                }
                if response.on_hover_text(words + "; press to see them").clicked() {
                    pressed = Some((true_name.clone(), given_name.clone()));
                }
            }
        }
    });
    pressed
}

/// Shows precision and recall of each class. Returns the class that was pressed.
pub fn classes_ui(ui: &mut Ui, report: &Report) -> Option<String> {
    let mut pressed = None;
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{:.0} %", 100.0 * value));
    ScrollArea::vertical().id_salt("classes").max_height(400.0).auto_shrink([false, true]).show(ui, |ui| {
        egui::Grid::new("class scores").num_columns(4).striped(true).spacing([18.0, 4.0]).show(ui, |ui| {
            for (words, hover) in [
                ("Class", ""),
                ("Judged", "Images of the class that were judged"),
                ("Precision", "Of the images taken for the class, how many are of it"),
                ("Recall", "Of the images of the class, how many were taken for it"),
            ] {
                let label = ui.strong(words);
                if !hover.is_empty() {
                    label.on_hover_text(hover);
                }
            }
            ui.end_row();
            for (name, score) in report.classes.iter().zip(report.class_scores()) {
                if ui
                    .add(egui::Button::new(shortened(name, LONGEST)).frame(false).wrap_mode(egui::TextWrapMode::Extend))
                    .on_hover_text("Show this class")
                    .clicked()
                {
                    pressed = Some(name.clone());
                }
                ui.label(score.images.to_string());
                ui.label(share(score.precision));
                ui.label(share(score.recall));
                ui.end_row();
            }
        });
    });
    pressed
}
