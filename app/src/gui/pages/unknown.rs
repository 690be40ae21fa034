//! When an image counts as unknown: what is answered and what of it is right, as a curve on which
//! the bar is moved.

use egui::{Align2, CornerRadius, CursorIcon, Key, Modifiers, Pos2, Rect, RichText, Sense, Shape, Stroke, TextStyle, Ui, WidgetInfo};
use egui::{pos2, vec2};
use tessera_core::ckm::unknown::{NoveltyBar, UnknownBar, UnknownCurve, UnknownPoint};
use tessera_core::eval::report::Report;

use crate::gui::panel::Panel;
use crate::gui::theme;

/// What it takes to tell that an image is of none of the classes.
pub(super) const FEW: &str = "It takes three classes and 40 judged images to tell what images of other classes look like.";
/// The height of the curve, and the room for words above it, at its left and below.
const HEIGHT: f32 = 190.0;
const ABOVE: f32 = 24.0;
const LEFT: f32 = 36.0;
const BELOW: f32 = 32.0;
/// How far an arrow key moves the bar.
const STEP: f64 = 0.01;

/// Shows what bars do, and moves the one that is used.
pub(super) fn unknown_ui(ui: &mut Ui, panel: &mut Panel<'_>, report: &Report) {
    let weak = |words: &str| RichText::new(words).small().weak();
    let curve = &report.unknown_curve;
    if let Some(NoveltyBar { taken, .. }) = report.novelty {
        let words = "An image that is unlike all training images counts as unknown: it is less like them than nearly any of them is like the others";
        ui.label(weak(&format!("{words}. So are {:.0} % of the images of known classes.", 100.0 * taken)));
    }
    if curve.is_empty() {
        // An older version kept no curve.
        let old = "The images were judged when no bar could be chosen: judge the recogniser again to see what bars do.";
        let is_old = report.classes.len() >= 3 && report.judged.len() >= UnknownCurve::FEWEST;
        ui.label(weak(if is_old { old } else { FEW }));
        reset_ui(ui, panel);
        return;
    }
    let also = if report.novelty.is_some() { "So does an image" } else { "An image counts as unknown" };
    ui.label(weak(&format!(
        "{also} whose best class is little above the mean of the others. Each judged image was also tried with its own class struck out, as one \
         of a class that the recogniser does not know. Drag the white line, or press Left and Right on it, to answer more or fewer."
    )));
    let chosen = panel.settings.answered;
    let bar = chosen.map_or(report.unknown, |share| curve.answering(share));
    // Where no bar is chosen, what is unlike all is unknown without one of leads, too.
    let novel = report.novelty.filter(|_| bar.is_none() && chosen.is_none());
    let answered = 1.0 - bar.map_or(novel.map_or(0.0, |bar| bar.taken), |bar| bar.taken);
    if let Some(moved) = curve_ui(ui, curve, answered, chosen) {
        panel.settings.answered = Some(moved);
    }
    ui.label(words(curve, bar, novel));
    if report.unknown.is_none() && chosen.is_none() {
        let why = "No image counts as unknown for its lead: those of struck classes lead about as far as those of known ones. A bar can be set all the same.";
        ui.colored_label(ui.visuals().warn_fg_color, why);
    }
    reset_ui(ui, panel);
}

/// Takes the chosen bar back.
fn reset_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let hover = "The bar that answers 95 % of the images of known classes, where that finds others";
    if panel.settings.answered.is_some() {
        ui.horizontal_wrapped(|ui| {
            if ui.button("As it was found").on_hover_text(hover).clicked() {
                panel.settings.answered = None;
            }
            ui.label(RichText::new("The share that you chose holds for all libraries.").small().weak());
        });
    }
}

/// What a bar does, in words.
fn words(curve: &UnknownCurve, bar: Option<UnknownBar>, novel: Option<NoveltyBar>) -> String {
    let share = |share: f64| format!("{:.0} %", 100.0 * share);
    let at = bar.and_then(|bar| curve.points.iter().find(|point| point.bar.lead == bar.lead));
    match (at, curve.points.first()) {
        (Some(point), _) => format!(
            "{} of the images of known classes are answered, {} of the answers are right; {} of those whose class was struck out are noticed.",
            share(point.answered()),
            share(point.right),
            share(point.bar.found)
        ),
        (None, Some(_)) if novel.is_some() => "All images are answered but those that are unlike all training images.".to_owned(),
        (None, Some(all)) => format!("All images are answered; {} of the answers are right where the class is known.", share(all.right)),
        (None, None) => String::new(),
    }
}

/// Shows the curve with the bar that answers a share, which may have been `chosen`. Returns the
/// share that is to be answered where the bar was moved.
fn curve_ui(ui: &mut Ui, curve: &UnknownCurve, answered: f64, chosen: Option<f64>) -> Option<f64> {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click_and_drag());
    let room = Rect::from_min_max(rect.min + vec2(LEFT, ABOVE), rect.max - vec2(10.0, BELOW));
    let width = 1.0 - UnknownCurve::LEAST;
    // From all that is answered at the left to half of it at the right.
    let x = |answered: f64| room.left() + room.width() * ((1.0 - answered) / width).clamp(0.0, 1.0) as f32;
    let y = |share: f64| room.bottom() - room.height() * share as f32;
    let (painter, font) = (ui.painter(), TextStyle::Small.resolve(ui.style()));
    let (line, weak) = (ui.visuals().window_stroke, ui.visuals().weak_text_color());
    painter.rect_filled(room, CornerRadius::ZERO, theme::card(ui));
    for step in 0..=4u8 {
        let share = f64::from(step) / 4.0;
        painter.hline(room.x_range(), y(share), line);
        painter.text(pos2(room.left() - 5.0, y(share)), Align2::RIGHT_CENTER, format!("{:.0} %", 100.0 * share), font.clone(), weak);
    }
    for step in 0..=5u8 {
        let answered = 1.0 - f64::from(step) / 10.0;
        painter.vline(x(answered), room.y_range(), line);
        painter.text(pos2(x(answered), room.bottom() + 3.0), Align2::CENTER_TOP, format!("{:.0} %", 100.0 * answered), font.clone(), weak);
    }
    painter.text(
        pos2(room.center().x, rect.bottom()),
        Align2::CENTER_BOTTOM,
        "answered, of the images of known classes",
        font.clone(),
        weak,
    );
    let lines = [("right, of the answers", theme::good(ui)), ("noticed, of images whose class was struck out", theme::accent(ui))];
    let mut at = rect.left_top();
    for (i, (name, colour)) in lines.into_iter().enumerate() {
        let of = |point: &UnknownPoint| [point.right, point.bar.found][i];
        let places: Vec<Pos2> = curve.points.iter().map(|point| pos2(x(point.answered()), y(of(point)))).collect();
        painter.add(Shape::line(places, Stroke::new(1.8, colour)));
        at.x = painter.text(at, Align2::LEFT_TOP, name, font.clone(), colour).right() + 16.0;
    }
    let is_touched = response.has_focus() || response.hovered() || response.dragged();
    let mark = if is_touched { theme::accent(ui) } else { ui.visuals().strong_text_color() };
    painter.vline(x(answered), room.y_range(), Stroke::new(2.5, mark));
    painter.circle_filled(pos2(x(answered), room.top()), 5.0, mark);
    response.widget_info(|| WidgetInfo::slider(true, answered, "Share of the images of known classes that is answered"));
    let response = response.on_hover_cursor(CursorIcon::ResizeHorizontal);
    let at = |pos: Pos2| 1.0 - width * f64::from((pos.x - room.left()) / room.width());
    let mut moved = (response.dragged() || response.clicked()).then(|| response.interact_pointer_pos()).flatten().map(at);
    if response.has_focus() {
        ui.memory_mut(|memory| {
            memory.set_focus_lock_filter(response.id, egui::EventFilter { horizontal_arrows: true, ..Default::default() })
        });
        for (key, by) in [(Key::ArrowLeft, STEP), (Key::ArrowRight, -STEP)] {
            if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                moved = Some(chosen.unwrap_or(answered) + by);
            }
        }
    }
    moved.map(|share| (100.0 * share.clamp(UnknownCurve::LEAST, 1.0)).round() / 100.0)
}
