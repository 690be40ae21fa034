//! A map as a file: vectors (SVG), pixels (PNG) or a table (CSV).

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use ab_glyph::FontRef;
use epaint_default_fonts::UBUNTU_LIGHT;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};
use imageproc::drawing::{draw_filled_rect_mut, draw_text_mut, text_size};
use imageproc::rect::Rect;
use tessera_core::envelope::replace;
use tessera_core::ids::ItemId;
use tessera_core::layout::PlanePoint;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::state::State;
use tessera_core::picture::thumbnail;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::export::png;
use super::map::{Colouring, MapFile, in_square};

/// Pixels of a map between its border and its outermost points, as a share of its side.
const BORDER: f32 = 0.03;
/// Entries of a legend that are drawn.
const ENTRIES: usize = 40;
/// Pixels beside a drawn map for its legend, and between two of its entries.
const LEGEND: u32 = 220;
const LINE: u32 = 20;
/// The side of a thumbnail, as a share of the map's.
const THUMBNAIL: f32 = 0.03;
/// The height of letters in a picture.
const LETTERS: f32 = 16.0;
/// Ground and letters of drawn maps.
const GROUND: [u8; 3] = [255, 255, 255];
const INK: [u8; 3] = [0, 0, 0];

/// A map that is to be written.
pub struct DrawnMap<'a> {
    /// The images.
    pub images: &'a [ItemId],
    /// Where they are; any unit.
    pub places: &'a [PlanePoint],
    /// Their colours.
    pub colouring: &'a Colouring,
    /// Pixels of its side.
    pub side: u32,
    /// Whether thumbnails are drawn where there is room for them.
    pub thumbnails: bool,
}

/// Refuses a file that a map must not be written to: a folder, one in a folder that is not there,
/// or an image of the library.
///
/// # Errors
/// [`Error::Data`].
pub fn check_place(library: &Library, to: &Path) -> Result<MapFile> {
    let kind = MapFile::of(to)?;
    let advice = "choose another name";
    if to.is_dir() {
        return Err(Error::data(to, "the name of a file", "a folder", advice));
    }
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Error::data(to, "a name in a folder that is there", "none of its folder's name", "make the folder first"));
    }
    let full = folder.canonicalize().ok().zip(to.file_name()).map(|(folder, name)| folder.join(name));
    if full.is_some_and(|full| library.by_path().contains_key(&full)) {
        return Err(Error::data(to, "a new name", "an image of the library", advice));
    }
    Ok(kind)
}

impl DrawnMap<'_> {
    /// Writes the map.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Cancelled`].
    pub fn write(&self, library: &Mutex<Library>, kind: MapFile, to: &Path, progress: &Progress) -> Result<()> {
        let state = hold(library).state().clone();
        let bytes = match kind {
            MapFile::Svg => self.svg(&state).into_bytes(),
            MapFile::Csv => self.table(&state, to)?,
            MapFile::Png => {
                let picture = self.picture(library, progress)?;
                png(&picture).map_err(|error| Error::io("write", to)(std::io::Error::other(error)))?
            }
        };
        replace(to, &bytes)
    }

    /// The points in pixels, and the radius that suits so many.
    fn points(&self) -> (Vec<PlanePoint>, f32) {
        let side = self.side as f32;
        let room = side * (1.0 - 2.0 * BORDER);
        let points = in_square(self.places).into_iter().map(|place| place.map(|value| side * BORDER + room * value)).collect();
        let radius = (0.35 * room / (self.places.len().max(1) as f32).sqrt()).clamp(0.0012 * side, 0.006 * side);
        (points, radius)
    }

    fn svg(&self, state: &State) -> String {
        let (points, radius) = self.points();
        let (side, mut text) = (self.side, String::new());
        let width = side + LEGEND;
        let _ = writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{side}\" viewBox=\"0 0 {width} {side}\" font-family=\"sans-serif\" font-size=\"13\">"
        );
        let _ = writeln!(text, "<rect width=\"{width}\" height=\"{side}\" fill=\"{}\"/>\n<g fill-opacity=\"0.8\">", hex(GROUND));
        let is_named = points.len() <= 20_000;
        for ((id, [x, y]), colour) in self.images.iter().zip(&points).zip(&self.colouring.colours) {
            let circle = format!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{}\"", hex(*colour));
            let name = state.image(*id).filter(|_| is_named).map(|image| escaped(&image.name()));
            let _ = match name {
                Some(name) => writeln!(text, "{circle}><title>#{} {name}</title></circle>", id.0),
                None => writeln!(text, "{circle}/>"),
            };
        }
        text.push_str("</g>\n");
        let entries = &self.colouring.legend;
        for (i, entry) in (0u32..).zip(entries.iter().take(ENTRIES)) {
            let (x, y) = (side + 8, 24 + i * LINE);
            let images = entry.images.map(|images| format!(" ({images})")).unwrap_or_default();
            let name = escaped(&format!("{}{images}", entry.name));
            let _ = writeln!(
                text,
                "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{name}</text>",
                y - 11,
                hex(entry.colour),
                x + 18,
                y
            );
        }
        if let Some(more) = entries.len().checked_sub(ENTRIES).filter(|more| *more > 0) {
            let _ = writeln!(text, "<text x=\"{}\" y=\"{}\">and {more} more</text>", side + 26, 24 + ENTRIES as u32 * LINE);
        }
        text.push_str("</svg>\n");
        text
    }

    fn table(&self, state: &State, to: &Path) -> Result<Vec<u8>> {
        let failed = |error: csv::Error| Error::io("write", to)(std::io::Error::other(error));
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["id", "path", "x", "y", "class"]).map_err(failed)?;
        for (id, [x, y]) in self.images.iter().zip(in_square(self.places)) {
            let image = state.image(*id);
            let path = image.and_then(|image| state.path_of(image)).unwrap_or_default();
            let class = image.and_then(|image| image.label()).unwrap_or_default();
            table
                .write_record([&id.0.to_string(), &*path.to_string_lossy(), &format!("{x:.6}"), &format!("{y:.6}"), class])
                .map_err(failed)?;
        }
        table.into_inner().map_err(|error| Error::io("write", to)(std::io::Error::other(error.to_string())))
    }

    fn draw_legend(&self, picture: &mut RgbImage) {
        let Ok(font) = FontRef::try_from_slice(UBUNTU_LIGHT) else { return };
        let entries = &self.colouring.legend;
        let lines = (self.side.saturating_sub(24) / LINE) as usize;
        let shown = if entries.len() > lines.min(ENTRIES) { lines.min(ENTRIES).saturating_sub(1) } else { entries.len() };
        let (x, room) = ((self.side + 8) as i32, LEGEND - 34);
        for (i, entry) in (0i32..).zip(entries.iter().take(shown)) {
            let y = 12 + i * LINE as i32;
            draw_filled_rect_mut(picture, Rect::at(x, y + 1).of_size(12, 12), Rgb(entry.colour));
            let images = entry.images.map(|images| format!(" ({images})")).unwrap_or_default();
            let name = fitting(&entry.name, &font, room.saturating_sub(text_size(LETTERS, &font, &images).0));
            draw_text_mut(picture, Rgb(INK), x + 18, y - 1, LETTERS, &font, &format!("{name}{images}"));
        }
        if shown < entries.len() {
            let more = format!("and {} more", entries.len() - shown);
            draw_text_mut(picture, Rgb(INK), x + 18, 11 + shown as i32 * LINE as i32, LETTERS, &font, &more);
        }
    }

    fn picture(&self, library: &Mutex<Library>, progress: &Progress) -> Result<RgbImage> {
        let (points, radius) = self.points();
        let mut picture = RgbImage::from_pixel(self.side + LEGEND, self.side, Rgb(GROUND));
        self.draw_legend(&mut picture);
        for (place, colour) in points.iter().zip(&self.colouring.colours) {
            disc(&mut picture, *place, radius, *colour);
        }
        if !self.thumbnails {
            return Ok(picture);
        }
        let side = ((THUMBNAIL * self.side as f32) as u32).max(8);
        progress.begin("Drawing thumbnails", points.len() as u64);
        let mut taken: HashSet<(u32, u32)> = HashSet::new();
        for ((id, [x, y]), colour) in self.images.iter().zip(&points).zip(&self.colouring.colours) {
            progress.step()?;
            // One for each cell of a grid, so that none covers another.
            let cell = (*x as u32 / (side + 4), *y as u32 / (side + 4));
            if taken.contains(&cell) {
                continue;
            }
            let Some(small) = hold(library).thumbnail(*id)?.and_then(|jpeg| thumbnail::decode(&jpeg)) else { continue };
            taken.insert(cell);
            let longer = small.width().max(small.height()).max(1);
            let scaled = |length: u32| (length * side / longer).max(1);
            let small = imageops::resize(&small, scaled(small.width()), scaled(small.height()), FilterType::Triangle);
            let (left, top) = (cell.0 * (side + 4) + 2, cell.1 * (side + 4) + 2);
            let frame = RgbImage::from_pixel(small.width() + 4, small.height() + 4, Rgb(*colour));
            imageops::replace(&mut picture, &frame, i64::from(left) - 2, i64::from(top) - 2);
            imageops::replace(&mut picture, &small, i64::from(left), i64::from(top));
        }
        Ok(picture)
    }
}

/// A text as it fits into so many pixels; what is cut off is three dots.
fn fitting(text: &str, font: &FontRef<'_>, width: u32) -> String {
    let fits = |text: &str| text_size(LETTERS, font, text).0 <= width;
    if fits(text) {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().take(width as usize).collect();
    while kept.pop().is_some() {
        let cut: String = kept.iter().chain(&['…']).collect();
        if fits(&cut) {
            return cut;
        }
    }
    String::new()
}

/// Draws a disc with a smooth edge.
fn disc(picture: &mut RgbImage, [x, y]: PlanePoint, radius: f32, colour: [u8; 3]) {
    let reach = radius + 1.0;
    let range = |at: f32, end: u32| (at - reach).floor().max(0.0) as u32..((at + reach).ceil().max(0.0) as u32 + 1).min(end);
    for row in range(y, picture.height()) {
        for column in range(x, picture.width()) {
            let (dx, dy) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
            let share = 0.8 * (radius + 0.5 - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
            let pixel = &mut picture.get_pixel_mut(column, row).0;
            for (to, from) in pixel.iter_mut().zip(colour) {
                *to = (f32::from(*to) * (1.0 - share) + f32::from(from) * share).round() as u8;
            }
        }
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text as it may stand in XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no other control characters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
