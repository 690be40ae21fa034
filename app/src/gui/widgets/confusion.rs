//! The confusion matrix, whose cells can be pressed, and a table of precision and recall.

use std::sync::Arc;

use egui::{Align2, Color32, CornerRadius, Galley, Rect, Role, ScrollArea, Sense, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2};
use tessera_core::eval::report::{ClassScore, Report};

use super::super::theme;
use super::rows::rows_ui;
use super::{class_line, one_line};
use crate::session::confusions::Confusion;

/// The height of a row in lists, how many of them are seen at once, and the width of numbers.
const ROW: f32 = 20.0;
const LISTED: f32 = 9.0;
const NUMBER: f32 = 74.0;
/// The width of columns of shares, and that in a list that is narrower than so many points.
const SHARE: f32 = 62.0;
const CLOSE_SHARE: f32 = 52.0;
const NARROW_LIST: f32 = 290.0;
/// The width of the names of rows, and that of the names of columns at most, which are turned by an
/// angle.
const NAMES: f32 = 110.0;
const COLUMN: f32 = 170.0;
const TURNED: f32 = 0.9;

/// Shows the confusion matrix of some classes of a report, with their scores. Returns the cell that
/// was pressed: true class and given class.
pub fn confusion_ui(ui: &mut Ui, report: &Report, scores: &[ClassScore], classes: &[usize]) -> Option<(String, String)> {
    let n = classes.len();
    let side = if n <= 12 { 46.0 } else { 34.0 };
    let mut pressed = None;
    ScrollArea::both().id_salt("confusion").max_height(560.0).min_scrolled_height(560.0).auto_shrink([false, true]).show(ui, |ui| {
        let font = TextStyle::Small.resolve(ui.style());
        let text = ui.visuals().text_color();
        let columns: Vec<_> = classes.iter().map(|class| class_line(ui, &report.classes[*class], COLUMN, text)).collect();
        let longest = columns.iter().map(|name| name.size().x).fold(0.0, f32::max);
        let (names, head) = (NAMES, longest * TURNED.sin() + 16.0);
        let size = vec2(names + side * n as f32 + (longest * TURNED.cos() - side / 2.0).max(0.0) + 8.0, head + side * n as f32);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        for ((i, name), column) in classes.iter().map(|class| &report.classes[*class]).enumerate().zip(columns) {
            let row = class_line(ui, name, names - 10.0, text);
            let y = rect.top() + head + side * (i as f32 + 0.5);
            ui.painter().galley(pos2(rect.left() + names - 8.0 - row.size().x, y - row.size().y / 2.0), row, text);
            let x = rect.left() + names + side * (i as f32 + 0.5);
            let turned = egui::epaint::TextShape::new(pos2(x - 6.0, rect.top() + head - 8.0), column, text).with_angle(-TURNED);
            ui.painter().add(turned);
        }
        for ((y, &truth), (x, &given)) in
            classes.iter().enumerate().flat_map(|row| classes.iter().enumerate().map(move |column| (row, column)))
        {
            let (all, count) = (scores[truth].images, report.confusion[truth][given]);
            let min = pos2(rect.left() + names + side * x as f32, rect.top() + head + side * y as f32);
            let cell = Rect::from_min_size(min, vec2(side, side)).shrink(1.0);
            if !ui.is_rect_visible(cell) {
                continue;
            }
            let share = if all == 0 { 0.0 } else { count as f32 / all as f32 };
            let ground = if count == 0 { theme::track(ui) } else { theme::matrix_cell(ui, share, truth == given) };
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
    });
    pressed
}

/// Shows precision and recall of some classes. Returns the class that was pressed.
pub fn classes_ui(ui: &mut Ui, report: &Report, scores: &[ClassScore], classes: &[usize]) -> Option<String> {
    let mut pressed = None;
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{:.0} %", 100.0 * value));
    let heads = [
        ("Class", ""),
        ("Judged", "Images of the class that were judged"),
        ("Precision", "Of the images taken for the class, how many are of it"),
        ("Recall", "Of the images of the class, how many were taken for it"),
    ];
    let numbers = if ui.available_width() < NARROW_LIST { CLOSE_SHARE } else { SHARE };
    let room = ui.available_width() - ui.spacing().scroll.allocated_width() - 3.0 * numbers;
    let first = room.clamp(40.0, 260.0);
    let place = |rect: Rect, i: usize| rect.left() + if i == 0 { 0.0 } else { first + numbers * (i - 1) as f32 };
    let (rect, _) = ui.allocate_exact_size(vec2(first + 3.0 * numbers, ROW), Sense::hover());
    for (i, (words, hover)) in heads.into_iter().enumerate() {
        let font = TextStyle::Small.resolve(ui.style());
        ui.painter().text(pos2(place(rect, i), rect.center().y), Align2::LEFT_CENTER, words, font, ui.visuals().strong_text_color());
        let cell = Rect::from_min_size(pos2(place(rect, i), rect.top()), vec2(numbers, ROW));
        let label = ui.interact(cell, ui.scope_id().with(words), Sense::hover());
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
        if !hover.is_empty() {
            label.on_hover_text(hover);
        }
    }
    ScrollArea::vertical().id_salt("classes").max_height(400.0).min_scrolled_height(400.0).auto_shrink([false, true]).show(ui, |ui| {
        rows_ui(ui, ROW, classes.len(), |ui, i| {
            let (name, score) = (&report.classes[classes[i]], scores[classes[i]]);
            let (rect, response) = row_ui(ui, first + 3.0 * numbers, name);
            let text = ui.visuals().text_color();
            let cells = [name.clone(), score.images.to_string(), share(score.precision), share(score.recall)];
            for (i, words) in cells.into_iter().enumerate() {
                let galley = class_line(ui, &words, if i == 0 { first - 8.0 } else { numbers }, text);
                ui.painter().galley(pos2(place(rect, i), rect.center().y - galley.size().y / 2.0), galley, text);
            }
            if response.on_hover_text(format!("Show {name}")).clicked() {
                pressed = Some(name.clone());
            }
        });
    });
    pressed
}

/// Lists confusions, the worst first, with how many images each has. Returns the one that was
/// pressed: true class and given class.
pub fn confusions_ui(ui: &mut Ui, report: &Report, confusions: &[Confusion]) -> Option<(String, String)> {
    let mut pressed = None;
    let height = LISTED * (ROW + 3.0);
    ScrollArea::vertical().id_salt("worst").max_height(height).min_scrolled_height(height).auto_shrink([false, true]).show(ui, |ui| {
        rows_ui(ui, ROW, confusions.len(), |ui, i| {
            let Confusion { truth, given, images, of } = confusions[i];
            let (truth, given) = (&report.classes[truth], &report.classes[given]);
            let words = format!("{images} of {of} images of {truth} were taken for {given}");
            let (rect, response) = row_ui(ui, ui.available_width(), &words);
            let (text, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
            let number = one_line(ui, &format!("{images} of {of}"), NUMBER, weak);
            ui.painter().galley(pos2(rect.left(), rect.center().y - number.size().y / 2.0), number, weak);
            let mut left = rect.left() + NUMBER;
            for part in pair_line(ui, [truth, given], rect.right() - left, text) {
                let width = part.size().x;
                ui.painter().galley(pos2(left, rect.center().y - part.size().y / 2.0), part, text);
                left += width;
            }
            if response.on_hover_text(words + "; press to see them").clicked() {
                pressed = Some((truth.clone(), given.clone()));
            }
        });
    });
    pressed
}

/// Two classes with an arrow between them, side by side in so much room: where one takes less than
/// half of it, the other has the rest.
fn pair_line(ui: &Ui, classes: [&str; 2], width: f32, colour: Color32) -> [Arc<Galley>; 3] {
    let arrow = one_line(ui, " ➡ ", width, colour);
    let room = width - arrow.size().x;
    let [first, second] = classes.map(|class| one_line(ui, class, f32::INFINITY, colour).size().x);
    let most = |other: f32| (room - other).max(room / 2.0);
    [class_line(ui, classes[0], most(second), colour), arrow, class_line(ui, classes[1], most(first), colour)]
}

/// A row that can be pressed.
fn row_ui(ui: &mut Ui, width: f32, words: &str) -> (Rect, egui::Response) {
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, CornerRadius::same(3), ui.visuals().faint_bg_color);
    }
    (rect, response)
}
