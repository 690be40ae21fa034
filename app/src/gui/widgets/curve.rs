//! The recall of an index over the images that it compares, as a curve; those of several kinds of
//! indexes in one chart.

use egui::{Align2, Color32, CornerRadius, Pos2, Rect, RichText, Role, Sense, Shape, Stroke, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::super::theme;
use super::super::words::grouped;
use crate::session::desk::similar::{RecallCurve, RecallPoint};

/// The height of the whole, and the room for words at the left and below.
const HEIGHT: f32 = 160.0;
const LEFT: f32 = 36.0;
const BELOW: f32 = 32.0;
const ABOVE: f32 = 22.0;
/// Room at the right edge that a number needs at either side of its line.
const EDGE: f32 = 22.0;
/// The recall from which on several curves are shown.
const HALF: f64 = 0.5;
/// Points around the pointer in which a measured way is named.
const NEAR: f32 = 24.0;
/// Recalls that may be the lowest on the axis, with the distances between its lines.
const LOWEST: [(f64, f64); 6] = [(0.95, 0.01), (0.9, 0.02), (0.8, 0.05), (0.7, 0.1), (0.5, 0.1), (0.0, 0.25)];

/// A line of a chart.
struct Line<'a> {
    /// What it is of, where there are several.
    name: &'a str,
    colour: Color32,
    curve: &'a RecallCurve,
    /// The places of the points on it.
    shown: Vec<usize>,
}

impl<'a> Line<'a> {
    fn new(name: &'a str, colour: Color32, curve: &'a RecallCurve, lowest: f64) -> Self {
        let mut shown = best_of(&curve.points, curve.chosen);
        shown.retain(|at| curve.points[*at].recall >= lowest);
        Self { name, colour, curve, shown }
    }

    /// These and the place of the way that answers.
    fn known(&self) -> impl Iterator<Item = usize> + Clone {
        self.shown.iter().chain(&self.curve.chosen).copied()
    }
}

/// Shows a curve, with the way that answers marked.
pub fn curve_ui(ui: &mut Ui, curve: &RecallCurve) {
    let words = format!("Recall of the index over images compared, {} points", curve.points.len());
    let line = Line::new("", theme::accent(ui), curve, 0.0);
    chart_ui(ui, &words, &[line]);
}

/// Shows several curves from a recall of one half on, each with its name and colour below.
pub fn curves_ui(ui: &mut Ui, curves: &[(&str, Color32, &RecallCurve)]) {
    let lines: Vec<Line<'_>> = curves.iter().map(|(name, colour, curve)| Line::new(name, *colour, curve, HALF)).collect();
    chart_ui(ui, &format!("Recall over images compared, of {} kinds of indexes", lines.len()), &lines);
    for line in &lines {
        ui.horizontal(|ui| {
            let (spot, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
            ui.painter().circle_filled(spot.center(), 4.5, line.colour);
            super::line(ui, RichText::new(line.name).small());
        });
    }
}

fn chart_ui(ui: &mut Ui, words: &str, lines: &[Line<'_>]) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, words));
    let inner = Rect::from_min_max(rect.min + vec2(LEFT, ABOVE), rect.max - vec2(8.0, BELOW));
    let Some(axes) = Axes::of(lines.iter().flat_map(|line| line.known().map(|at| line.curve.points[at])), inner) else { return };
    axes.paint(ui, rect);
    for Line { colour, curve, shown, .. } in lines {
        let places: Vec<Pos2> = shown.iter().map(|at| axes.place(&curve.points[*at])).collect();
        for place in &places {
            ui.painter().circle_filled(*place, 2.0, *colour);
        }
        ui.painter().add(Shape::line(places, Stroke::new(1.5, *colour)));
        if let Some(point) = curve.chosen.and_then(|at| curve.points.get(at)) {
            let place = axes.place(point);
            let stroke = Stroke::new(1.0, ui.visuals().weak_text_color());
            ui.painter().extend(Shape::dashed_line(&[pos2(inner.left(), place.y), place, pos2(place.x, inner.bottom())], stroke, 3.0, 3.0));
            ui.painter().circle(place, 5.0, *colour, Stroke::new(2.0, theme::card(ui)));
        }
    }
    let Some(pointer) = response.hover_pos() else { return };
    let distance = |line: &Line<'_>, at: usize| axes.place(&line.curve.points[at]).distance(pointer);
    let known = lines.iter().flat_map(|line| line.known().map(move |at| (line, at)));
    let near = known.min_by(|(a, i), (b, j)| distance(a, *i).total_cmp(&distance(b, *j)));
    if let Some((line, at)) = near.filter(|(line, at)| distance(line, *at) < NEAR) {
        let RecallPoint { compared, recall, spread } = line.curve.points[at];
        ui.painter().circle_stroke(axes.place(&line.curve.points[at]), 5.0, theme::focus(ui));
        let chosen = if line.curve.chosen == Some(at) { "\nThis is what answers" } else { "" };
        let of = if line.name.is_empty() { String::new() } else { format!("{}\n", line.name) };
        let compared = grouped(compared.round() as usize);
        response.on_hover_text(format!("{of}Recall {recall:.3} ± {spread:.3} with {compared} images compared, in the mean{chosen}"));
    }
}

/// The places of the points that none other beats: fewer images compared, or more recall. Where as
/// many are compared as by the way that answers, that one stands for them.
fn best_of(points: &[RecallPoint], chosen: Option<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| points[*a].compared.total_cmp(&points[*b].compared).then(points[*b].recall.total_cmp(&points[*a].recall)));
    let mut most = f64::NEG_INFINITY;
    order.retain(|at| {
        let is_better = points[*at].recall > most;
        most = most.max(points[*at].recall);
        is_better
    });
    let is_level = |at: &usize| chosen.is_some_and(|chosen| (points[chosen].compared - points[*at].compared).abs() < 0.5);
    order.into_iter().map(|at| chosen.filter(|_| is_level(&at)).unwrap_or(at)).collect()
}

/// Images compared go to the right by their logarithm, recall goes up.
struct Axes {
    inner: Rect,
    compared: [f64; 2],
    lowest: f64,
    step: f64,
}

impl Axes {
    /// Axes on which all points lie; `None` without any.
    fn of(points: impl Iterator<Item = RecallPoint> + Clone, inner: Rect) -> Option<Self> {
        let compared = points.clone().map(|point| point.compared.max(1.0));
        let (least, most) = (compared.clone().min_by(f64::total_cmp)?, compared.max_by(f64::total_cmp)?);
        let recall = points.map(|point| point.recall).min_by(f64::total_cmp)?;
        let (lowest, step) = LOWEST.into_iter().find(|(lowest, _)| *lowest <= recall).unwrap_or(LOWEST[LOWEST.len() - 1]);
        Some(Self { inner, compared: [least / 1.1, most.max(least * 1.5) * 1.1], lowest, step })
    }

    fn x(&self, compared: f64) -> f32 {
        let [least, most] = self.compared;
        let share = (compared.max(1.0) / least).ln() / (most / least).ln();
        self.inner.left() + self.inner.width() * share as f32
    }

    fn y(&self, recall: f64) -> f32 {
        self.inner.bottom() - self.inner.height() * ((recall - self.lowest) / (1.0 - self.lowest)) as f32
    }

    fn place(&self, point: &RecallPoint) -> Pos2 {
        pos2(self.x(point.compared), self.y(point.recall))
    }

    /// Round numbers of images between both ends, few enough that their words do not touch.
    fn ticks(&self) -> Vec<f64> {
        let [least, most] = self.compared;
        let powers = (0..9).map(|power| 10f64.powi(power));
        let all: Vec<f64> = powers.flat_map(|ten| [1.0, 2.0, 3.0, 5.0].map(|n| n * ten)).filter(|n| (least..=most).contains(n)).collect();
        let mut shown: Vec<f64> = Vec::new();
        for n in all {
            if shown.last().is_none_or(|last| self.x(n) - self.x(*last) > 44.0) {
                shown.push(n);
            }
        }
        shown
    }

    fn paint(&self, ui: &Ui, rect: Rect) {
        let (painter, font) = (ui.painter(), TextStyle::Small.resolve(ui.style()));
        let (line, weak): (Stroke, Color32) = (ui.visuals().window_stroke, ui.visuals().weak_text_color());
        painter.rect_filled(self.inner, CornerRadius::ZERO, theme::card(ui));
        let steps = ((1.0 - self.lowest) / self.step).round() as usize;
        for recall in (0..=steps).map(|i| self.lowest + self.step * i as f64) {
            painter.hline(self.inner.x_range(), self.y(recall), line);
            let at = pos2(self.inner.left() - 5.0, self.y(recall));
            painter.text(at, Align2::RIGHT_CENTER, format!("{recall:.2}"), font.clone(), weak);
        }
        for n in self.ticks() {
            painter.vline(self.x(n), self.inner.y_range(), line);
            // Words of the last line would be cut off at the edge.
            let (x, align) =
                if self.x(n) > rect.right() - EDGE { (rect.right(), Align2::RIGHT_TOP) } else { (self.x(n), Align2::CENTER_TOP) };
            painter.text(pos2(x, self.inner.bottom() + 3.0), align, grouped(n as usize), font.clone(), weak);
        }
        painter.text(rect.left_top(), Align2::LEFT_TOP, "recall", font.clone(), weak);
        let below = pos2(self.inner.center().x, rect.bottom());
        painter.text(below, Align2::CENTER_BOTTOM, "images compared", font, weak);
    }
}
