//! Curves as tables (CSV) and as plots (SVG).

use std::fs;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged, ValueFormatter};
use plotters::prelude::*;
use tessera_core::eval::figures::Curve;
use tessera_core::{Error, Result};

/// Pixels of a plot.
const SIZE: (u32, u32) = (720, 420);
/// Pixels beside a plot for the names of its lines.
const LEGEND: u32 = 180;
/// Colours of lines, in order; colour-blind people can tell them apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 6] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167), RGBColor(230, 159, 0), RGBColor(0, 0, 0)];

/// The result of drawing.
type Drawn<'a> = std::result::Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

/// A line of a plot; a single point is drawn as a cross.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    /// What is drawn above and below each point; as many as points, or none.
    deviations: Vec<f64>,
}

/// What a plot shows.
struct Plot<'a> {
    name: &'a str,
    title: &'a str,
    x: &'a str,
    y: &'a str,
    lines: Vec<Line>,
    /// Whether the x axis is logarithmic.
    wide: bool,
    /// Whether the y axis is logarithmic.
    tall: bool,
    /// Where the y axis begins.
    bottom: f64,
}

/// Writes the tables and plots of few-shot classification into a folder. The files, in order.
pub(super) fn few_shot(curves: &[Curve], to: &Path) -> Result<Vec<PathBuf>> {
    let mut written = tables(curves, to)?;
    for curve in curves {
        let test = |x: &str| line(curve, "test", x, "error", 1.0);
        let own = |x: &str| line(curve, "memories by their own vector", x, "self_consistency_error", 1.0);
        let times = |x: &str| vec![line(curve, "test", x, "test_ms", 1e3)];
        let plots = match curve.name {
            "reroutes" => {
                let lines = vec![own("reroutes"), test("reroutes")];
                vec![Plot { lines, ..Plot::new(curve.name, "Memories put in again", "memories put in again at each step (d)", "error") }]
            }
            "passes" => {
                let x = "passes with rewards";
                let one = line(curve, "training, one example a class", "passes", "one_shot_train_error", 1.0);
                let error = Plot { lines: vec![test("passes")], ..Plot::new("passes_test", "Passes with rewards: test", x, "error") };
                let lines = vec![own("passes"), one];
                vec![error, Plot { lines, ..Plot::new(curve.name, "Passes with rewards: what is known", x, "error") }]
            }
            "leaves_c" => {
                let x = "most memories in a leaf, in log2 of all (c)";
                let error = Plot { lines: vec![test("c")], wide: true, ..Plot::new(curve.name, "Size of leaves: error", x, "error") };
                let time = Plot::new("leaves_c_time", "Size of leaves: time", x, "µs a query");
                vec![Plot { lines: times("c"), wide: true, ..time }, error]
            }
            "shots" => {
                let x = "examples of a class";
                let time = Plot { lines: times("shots"), ..Plot::new("shots_time", "Examples of a class: time", x, "µs a query") };
                vec![time, Plot { lines: vec![test("shots")], ..Plot::new(curve.name, "Examples of a class: error", x, "error") }]
            }
            "budget" => {
                let bottom = (curve.column("error").into_iter().fold(1.0, f64::min) * 10.0).floor() / 10.0;
                let plot = Plot::new(curve.name, "Error against work", "features of vectors, or postings, read a query", "error");
                vec![Plot { lines: budget(curve, curves), wide: true, bottom, ..plot }]
            }
            _ => Vec::new(),
        };
        for plot in plots {
            written.push(plot.write(to)?);
        }
    }
    Ok(written)
}

/// Writes the table and plots of how a memory grows into a folder. The files, in order.
pub(super) fn growth(curve: &Curve, to: &Path) -> Result<Vec<PathBuf>> {
    let mut written = tables(std::slice::from_ref(curve), to)?;
    let over = |name: &str, column: &str, times: f64| line(curve, name, "memories", column, times);
    let work = vec![over("memories scored", "query_memories", 1.0), over("depth, routers asked", "query_routers", 1.0)];
    let time = vec![over("insertion", "insert_ms", 1e3), over("query", "query_ms", 1e3)];
    let room = vec![over("room", "bytes_per_memory", 1.0)];
    for (name, title, y, lines) in [
        ("growth_work", "Growth: work", "operations a query", work),
        ("growth_time", "Growth: time", "µs", time),
        ("growth_room", "Growth: room", "bytes a memory", room),
    ] {
        written.push(Plot { lines, wide: true, ..Plot::new(name, title, "memories (logarithmic)", y) }.write(to)?);
    }
    Ok(written)
}

/// Writes the tables and plots of long streams into a folder. The files, in order.
pub(super) fn online(curves: &[Curve], to: &Path) -> Result<Vec<PathBuf>> {
    let mut written = tables(curves, to)?;
    for curve in curves {
        let over = |name: &str, column: &str| line(curve, name, "rounds", column, 1.0);
        let inverse = |name: &str, column: &str| {
            let points = curve.column("margin").into_iter().map(f64::recip).zip(curve.column(column)).collect();
            Line { name: name.to_owned(), points, deviations: Vec::new() }
        };
        // With two classes these two are one rule.
        let are_one = curve.column("perceptron") == curve.column("crammer_singer");
        let losses = || {
            let both = if are_one { "Perceptron and Crammer-Singer" } else { "Perceptron" };
            let other = (!are_one).then(|| over("Crammer-Singer", "crammer_singer"));
            let lines = [over("contextual search", "ellipsoid"), over(both, "perceptron"), over("passive-aggressive", "pa")];
            lines.into_iter().chain(other).collect()
        };
        let loss = |title| Plot { lines: losses(), wide: true, tall: true, ..Plot::new(curve.name, title, "rounds", "loss so far") };
        let plot = match curve.name {
            "online_killer" => loss("The Perceptron's worst case"),
            "online_sphere" => loss("Random queries"),
            "online_adversary" => loss("Answers against the learner"),
            "online_margin" => {
                let lines = vec![
                    inverse("mistakes, d = 8", "mistakes_8"),
                    inverse("mistakes, d = 4", "mistakes_4"),
                    inverse("d log2(d / margin), d = 8", "d_log_8"),
                    inverse("d log2(d / margin), d = 4", "d_log_4"),
                ];
                Plot { lines, wide: true, ..Plot::new(curve.name, "Margins that nobody is told", "1 / margin", "mistakes") }
            }
            "online_known_margin" => {
                let lines =
                    vec![inverse("contextual search", "mistakes"), inverse("Perceptron", "perceptron"), inverse("proven bound", "bound")];
                let plot = Plot::new(curve.name, "Margins that are told", "1 / margin", "mistakes");
                Plot { lines, wide: true, tall: true, ..plot }
            }
            _ => continue,
        };
        written.push(plot.write(to)?);
    }
    Ok(written)
}

/// The line of a column over another, `times` as large, with deviations if the curve has them.
fn line(curve: &Curve, name: &str, x: &str, y: &str, times: f64) -> Line {
    let scaled = |column: &str| curve.column(column).into_iter().map(move |value| value * times);
    let points = curve.column(x).into_iter().zip(scaled(y)).collect();
    Line { name: name.to_owned(), points, deviations: scaled(&format!("{y}_deviation")).collect() }
}

/// A line for each number of trees, and the inverted index that answers exactly.
fn budget(curve: &Curve, curves: &[Curve]) -> Vec<Line> {
    let (trees, work, error) = (curve.column("trees"), curve.column("features_read"), curve.column("error"));
    let mut numbers = trees.clone();
    numbers.dedup();
    let of = |number: f64| -> Line {
        let points = trees.iter().zip(work.iter().zip(&error)).filter(|(trees, _)| **trees == number);
        let name = format!("{number} trees").replace("1 trees", "1 tree");
        Line { name, points: points.map(|(_, (x, y))| (*x, *y)).collect(), deviations: Vec::new() }
    };
    let mut lines: Vec<Line> = numbers.into_iter().map(of).collect();
    if let Some(exact) = curves.iter().find(|curve| curve.name == "yardsticks") {
        lines.push(line(exact, "inverted index", "index_postings", "error", 1.0));
    }
    lines
}

fn tables(curves: &[Curve], to: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(to).map_err(Error::io("make", to))?;
    let mut written = Vec::new();
    for curve in curves {
        let path = to.join(format!("{}.csv", curve.name));
        let mut text = curve.columns.join(",") + "\n";
        for row in &curve.rows {
            text += &row.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        fs::write(&path, text).map_err(Error::io("write", &path))?;
        written.push(path);
    }
    Ok(written)
}

/// An x axis whose ticks are given.
struct Axis {
    low: f64,
    high: f64,
    wide: bool,
    ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let place = |value: f64| if self.wide { value.ln() } else { value };
        let share = (place(*value) - place(self.low)) / (place(self.high) - place(self.low));
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl<'a> Plot<'a> {
    fn new(name: &'a str, title: &'a str, x: &'a str, y: &'a str) -> Self {
        Self { name, title, x, y, lines: Vec::new(), wide: false, tall: false, bottom: 0.0 }
    }

    fn write(&self, to: &Path) -> Result<PathBuf> {
        let path = to.join(format!("{}.svg", self.name));
        let text = self.draw().map_err(|error| Error::value("plot", "numbers that can be drawn", error.to_string()))?;
        fs::write(&path, text).map_err(Error::io("write", &path))?;
        Ok(path)
    }

    /// Whether a point can be drawn.
    fn shows(&self, (x, y): (f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && (!self.wide || x > 0.0) && (!self.tall || y > 0.0)
    }

    /// Where the x axis has labels: at the points if they are few, else at powers of ten, or also
    /// at their halves and fifths.
    fn ticks(&self, low: f64, high: f64) -> Vec<f64> {
        let mut xs: Vec<f64> =
            self.lines.iter().flat_map(|line| &line.points).filter(|point| self.shows(**point)).map(|point| point.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        if xs.len() <= 8 || !self.wide {
            return xs;
        }
        let steps: &[f64] = if high / low < 500.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = (low.log10().floor() as i32..=high.log10().ceil() as i32).map(|power| 10f64.powi(power));
        powers.flat_map(|power| steps.iter().map(move |step| step * power)).filter(|x| (low..=high).contains(x)).collect()
    }

    fn draw(&self) -> std::result::Result<String, Box<dyn std::error::Error>> {
        let points = || self.lines.iter().flat_map(|line| &line.points).copied().filter(|point| self.shows(*point));
        let low = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let high = points().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
        let top = points().map(|point| point.1).fold(0.0, f64::max) * 1.08;
        let first = if self.wide { 0.5 } else { 0.0 };
        let (low, high) = if low < high { (low, high) } else { (first, if high > 0.0 { high * 2.0 } else { 1.0 }) };
        let top = if top > self.bottom { top } else { self.bottom + 1.0 };
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area);
        chart.margin(12).margin_right(if self.lines.len() > 1 { LEGEND } else { 28 }).x_label_area_size(48).y_label_area_size(64);
        chart.caption(self.title, ("sans-serif", 17));
        let ticks = self.ticks(low, high);
        let axis = Axis { low, high, wide: self.wide, ticks };
        if self.tall {
            let power = |y: f64, round: fn(f64) -> f64| 10f64.powi(round(y.log10()) as i32);
            let lowest = points().map(|point| point.1).fold(f64::INFINITY, f64::min).min(top);
            let (low, high) = (power(lowest, f64::floor), power(top.max(lowest), f64::ceil));
            let high = if low < high { high } else { low * 10.0 };
            let powers = low.log10().round() as i32..=high.log10().round() as i32;
            let upright = Axis { low, high, wide: true, ticks: powers.map(|power| 10f64.powi(power)).collect() };
            self.fill(&mut chart.build_cartesian_2d(axis, upright)?)?;
        } else {
            self.fill(&mut chart.build_cartesian_2d(axis, self.bottom..top)?)?;
        }
        if self.lines.len() > 1 {
            self.legend(&area)?;
        }
        area.present()?;
        drop(area);
        Ok(text)
    }

    fn fill<'b, Y>(&self, chart: &mut ChartContext<'_, SVGBackend<'b>, Cartesian2d<Axis, Y>>) -> Drawn<'b>
    where
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(self.x).y_desc(self.y).axis_desc_style(("sans-serif", 14)).label_style(("sans-serif", 12));
        mesh.light_line_style(TRANSPARENT).x_label_formatter(&short).y_label_formatter(&short).draw()?;
        for (number, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let points: Vec<(f64, f64)> = line.points.iter().copied().filter(|point| self.shows(*point)).collect();
            match points[..] {
                [only] => drop(chart.draw_series([Cross::new(only, 6, colour.stroke_width(3))])?),
                _ => drop(chart.draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?),
            }
            let bars = line.points.iter().zip(&line.deviations).filter(|(point, _)| self.shows(**point));
            let bar = |((x, y), deviation): (&(f64, f64), &f64)| {
                PathElement::new(vec![(*x, y - deviation), (*x, y + deviation)], colour.stroke_width(2))
            };
            chart.draw_series(bars.map(bar))?;
        }
        Ok(())
    }

    /// The names of the lines, beside the plot.
    fn legend<'b>(&self, area: &DrawingArea<SVGBackend<'b>, Shift>) -> Drawn<'b> {
        let left = SIZE.0 as i32 - LEGEND as i32 + 10;
        for (number, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let y = 52 + 36 * number as i32;
            area.draw(&PathElement::new(vec![(left, y), (left + 22, y)], colour.stroke_width(3)))?;
            // Two lines if one is too narrow.
            let half = line.name.char_indices().filter(|(at, char)| *char == ' ' && *at <= 18).map(|(at, _)| at).next_back();
            let (first, second) = line.name.split_at(half.filter(|_| line.name.len() > 18).unwrap_or(line.name.len()));
            for (text, y) in [(first, y - 7), (second.trim(), y + 8)] {
                area.draw(&Text::new(text.to_owned(), (left + 28, y), ("sans-serif", 13)))?;
            }
        }
        Ok(())
    }
}

fn short(value: &f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{}M", (value / 1e5).round() / 10.0),
        size if size >= 1e4 => format!("{}k", (value / 1e2).round() / 10.0),
        size if size >= 0.1 => format!("{}", (value * 100.0).round() / 100.0),
        size if size >= 1e-4 || size == 0.0 => format!("{}", (value * 1e4).round() / 1e4),
        _ => format!("{value:.0e}"),
    }
}
