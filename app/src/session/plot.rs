//! Curves as tables (CSV) and as plots (SVG).

use std::fs;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use tessera_core::eval::figures::Curve;
use tessera_core::{Error, Result};

/// Pixels of a plot.
const SIZE: (u32, u32) = (640, 420);
/// Colours of lines, in order; apart for people who do not tell red from green (Okabe and Ito 2008).
const COLOURS: [RGBColor; 5] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167), RGBColor(230, 159, 0)];

/// A line of a plot: its name and its points; a single point is drawn as a cross.
type Line = (String, Vec<(f64, f64)>);

/// Writes the tables and plots of few-shot classification into a folder. The files, in order.
pub(super) fn few_shot(curves: &[Curve], to: &Path) -> Result<Vec<PathBuf>> {
    let mut written = tables(curves, to)?;
    for curve in curves {
        let errors = |x: &str| vec![line(curve, "self-consistency", x, "self_consistency_error"), line(curve, "test", x, "error")];
        let drawn = match curve.name {
            "reroutes" => plot(to, curve.name, "memories put in again (d)", "error", &errors("reroutes"), false)?,
            "passes" => plot(to, curve.name, "passes with rewards", "error", &errors("passes"), false)?,
            "leaves_c" => {
                written.push(plot(to, "leaves_c_time", "c", "ms a query", &[line(curve, "test", "c", "test_ms")], true)?);
                plot(to, curve.name, "c", "error", &[line(curve, "test", "c", "error")], true)?
            }
            "shots" => {
                written.push(plot(
                    to,
                    "shots_time",
                    "examples of a class",
                    "ms a query",
                    &[line(curve, "test", "shots", "test_ms")],
                    false,
                )?);
                plot(to, curve.name, "examples of a class", "error", &[line(curve, "test", "shots", "error")], false)?
            }
            "budget" => plot(to, curve.name, "features or postings read", "error", &budget(curve, curves), true)?,
            _ => continue,
        };
        written.push(drawn);
    }
    Ok(written)
}

/// Writes the table and plots of how a memory grows into a folder. The files, in order.
pub(super) fn growth(curve: &Curve, to: &Path) -> Result<Vec<PathBuf>> {
    let mut written = tables(std::slice::from_ref(curve), to)?;
    let over = |name: &str, column: &str| line(curve, name, "memories", column);
    let work = [over("routers asked", "query_routers"), over("memories scored", "query_memories"), over("depth", "depth")];
    let time = [over("insertion", "insert_ms"), over("query", "query_ms")];
    written.push(plot(to, "growth_work", "memories", "operations a query", &work, true)?);
    written.push(plot(to, "growth_time", "memories", "ms", &time, true)?);
    written.push(plot(to, "growth_room", "memories", "bytes a memory", &[over("room", "bytes_per_memory")], true)?);
    Ok(written)
}

fn line(curve: &Curve, name: &str, x: &str, y: &str) -> Line {
    (name.to_owned(), curve.column(x).into_iter().zip(curve.column(y)).collect())
}

/// A line for each number of trees, and the inverted index that answers exactly.
fn budget(curve: &Curve, curves: &[Curve]) -> Vec<Line> {
    let (trees, work, error) = (curve.column("trees"), curve.column("features_read"), curve.column("error"));
    let mut numbers = trees.clone();
    numbers.dedup();
    let of = |number: f64| -> Line {
        let points = trees.iter().zip(work.iter().zip(&error)).filter(|(trees, _)| **trees == number);
        (format!("{number} trees").replace("1 trees", "1 tree"), points.map(|(_, (x, y))| (*x, *y)).collect())
    };
    let mut lines: Vec<Line> = numbers.into_iter().map(of).collect();
    if let Some(exact) = curves.iter().find(|curve| curve.name == "yardsticks") {
        lines.push(line(exact, "inverted index (exact)", "index_postings", "error"));
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

/// Draws lines, with a logarithmic x axis where `wide`.
fn plot(to: &Path, name: &str, x: &str, y: &str, lines: &[Line], wide: bool) -> Result<PathBuf> {
    let path = to.join(format!("{name}.svg"));
    let text = draw(x, y, lines, wide).map_err(|error| Error::value("plot", "numbers that can be drawn", error.to_string()))?;
    fs::write(&path, text).map_err(Error::io("write", &path))?;
    Ok(path)
}

fn draw(x: &str, y: &str, lines: &[Line], wide: bool) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let points = || lines.iter().flat_map(|(_, points)| points).filter(|(x, y)| x.is_finite() && y.is_finite() && (!wide || *x > 0.0));
    let low = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    let top = points().map(|point| point.1).fold(0.0, f64::max) * 1.08;
    let (low, high) = if low < high { (low, high) } else { (if wide { 0.5 } else { 0.0 }, if high > 0.0 { high * 2.0 } else { 1.0 }) };
    let top = if top > 0.0 { top } else { 1.0 };
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area);
    chart.margin(12).x_label_area_size(44).y_label_area_size(64);
    if wide {
        let mut chart = chart.build_cartesian_2d((low..high).log_scale(), 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc(x)
            .y_desc(y)
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .draw()?;
        series(&mut chart, lines, wide)?;
    } else {
        let mut chart = chart.build_cartesian_2d(low..high, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc(x)
            .y_desc(y)
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .draw()?;
        series(&mut chart, lines, wide)?;
    }
    area.present()?;
    drop(area);
    Ok(text)
}

fn short(value: &f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size >= 1e6 => format!("{}M", (value / 1e5).round() / 10.0),
        size if size >= 1e3 => format!("{}k", (value / 1e2).round() / 10.0),
        size if size >= 0.1 => format!("{}", (value * 100.0).round() / 100.0),
        _ => format!("{value:.1e}"),
    }
}

fn series<C: CoordTranslate<From = (f64, f64)>>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, C>,
    lines: &[Line],
    wide: bool,
) -> std::result::Result<(), DrawingAreaErrorKind<std::io::Error>> {
    for (number, (name, points)) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let points: Vec<(f64, f64)> =
            points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite() && (!wide || *x > 0.0)).collect();
        match points[..] {
            [only] => drop(chart.draw_series([Cross::new(only, 6, colour.stroke_width(3))])?),
            _ => drop(chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3))?),
        }
        let anchor = Pos::new(HPos::Right, VPos::Top);
        let style = TextStyle::from(("sans-serif", 14)).color(&colour).pos(anchor);
        let area = chart.plotting_area();
        let (width, _) = area.dim_in_pixel();
        area.strip_coord_spec().draw(&Text::new(name.clone(), (width as i32 - 8, 6 + 18 * number as i32), style))?;
    }
    Ok(())
}
