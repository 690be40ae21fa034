//! The explanation of a prediction: the query beside the training images that decided, with
//! matched elements drawn and numbered alike.

use std::f32::consts::TAU;

use egui::{Align2, Color32, CornerRadius, FontId, Pos2, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind, TextureId, Ui, Vec2};
use egui::{WidgetInfo, pos2, vec2};
use tessera_core::ids::ItemId;

use super::super::theme;
use super::{WHOLE, class_line, fitted, one_line};
use crate::session::desk::view::{ClassReasons, Recognition};

/// Images that are named as alike as a whole.
const ALIKE: usize = 4;

/// What the user did with the pictures.
#[derive(Default)]
pub struct PiecesResponse {
    /// The piece under the pointer.
    pub hovered: Option<usize>,
    /// The training image that was pressed, as a position in the list of tiles.
    pub pressed: Option<usize>,
}

/// Points below a training image for two lines about it.
const BELOW: f32 = 34.0;
/// The width that the table of contributions takes with wide columns and a name.
const FULL: f32 = 620.0;
/// How much of their colours numbers keep while the pointer is on another one.
const FADED: f32 = 0.45;
/// Points between the middles of two numbers at least.
const APART: f32 = 19.0;
/// The places that a number may be put at: on so many rings around its own, so far from each other,
/// at so many turns.
const RINGS: u8 = 24;
const RING: f32 = 6.0;
const TURNS: u8 = 16;

/// Shows the query and the training images that decided. `picture` gives the texture of the query
/// (`None`) or of a tile. `hovered` is the piece that was under the pointer in the last frame, and
/// `highest` the height in points that the pictures may take.
pub fn pieces_ui(
    ui: &mut Ui,
    recognition: &Recognition,
    highest: f32,
    hovered: Option<usize>,
    chosen: Option<usize>,
    picture: impl Fn(Option<usize>) -> Option<TextureId>,
) -> PiecesResponse {
    let mut done = PiecesResponse::default();
    let gap = theme::GAP;
    let columns = recognition.tiles.len().clamp(1, 3) as f32;
    let rows = if recognition.tiles.len() > 3 { 2.0 } else { 1.0 };
    let width = ui.available_width();
    // The query is as high as all rows of tiles together.
    let by_width = (width - columns * gap) / (columns / rows + 1.0);
    let height = by_width.clamp(160.0, highest.clamp(160.0, 460.0));
    let caption = 20.0;
    let side = (height - (rows - 1.0) * gap) / rows;
    let (area, _) = ui.allocate_exact_size(vec2(width, height + caption), Sense::hover());
    let query_frame = Rect::from_min_size(area.min, vec2(height, height));
    let query = picture_ui(ui, query_frame, recognition.size, picture(None), None);
    ui.painter().text(
        query_frame.left_bottom() + vec2(2.0, 6.0),
        Align2::LEFT_TOP,
        "This image",
        FontId::proportional(12.0),
        ui.visuals().text_color(),
    );

    let mut places = vec![query];
    for (i, tile) in recognition.tiles.iter().enumerate() {
        let (column, row) = ((i % 3) as f32, (i / 3) as f32);
        let min = pos2(query_frame.right() + gap * 1.5 + column * (side + gap), area.top() + row * (side + gap));
        let frame = Rect::from_min_size(min, vec2(side, side - if rows > 1.0 { BELOW } else { BELOW - caption }));
        places.push(picture_ui(ui, frame, tile.size, picture(Some(i)), Some(theme::tile(i))));
        let words = format!("{} · {} ({:+.2})", tile.label, tile.name, tile.lead);
        let file = tile.name.rsplit(['/', '\\']).next().unwrap_or(&tile.name);
        // The name has a line of its own, for it is long and cards are narrow.
        let (text, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
        let lead = one_line(ui, &format!("{:+.2}  ", tile.lead), frame.width(), text);
        let label = class_line(ui, &tile.label, frame.width() - lead.size().x, text);
        let below = frame.left_bottom() + vec2(2.0, 3.0);
        let after = below + vec2(lead.size().x, 0.0);
        ui.painter().galley(below, lead, text);
        ui.painter().galley(after, label, text);
        ui.painter().galley(below + vec2(0.0, 15.0), one_line(ui, file, frame.width(), weak), weak);
        let response = ui.interact(frame, ui.scope_id().with(("tile", i)), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Training image {}", tile.name)));
        if chosen == Some(i) || response.hovered() || response.has_focus() {
            ui.painter().rect_stroke(frame.expand(3.0), CornerRadius::same(4), theme::focus(ui), StrokeKind::Outside);
        }
        if response.on_hover_text(format!("{words}\nPress to correct its label")).clicked() {
            done.pressed = Some(i);
        }
    }

    let pointer = ui.ctx().pointer_hover_pos();
    let numbers = numbers(recognition, &places);
    let ends = |i: usize| numbers[i];
    for i in 0..recognition.pieces.len() {
        let (from, to) = ends(i);
        if pointer.is_some_and(|pointer| from.distance(pointer) < 9.0 || to.distance(pointer) < 9.0) {
            done.hovered = Some(i);
        }
    }
    // The one under the pointer is drawn last, over all others.
    let order = (0..recognition.pieces.len()).filter(|i| Some(*i) != hovered).chain(hovered.filter(|i| *i < recognition.pieces.len()));
    // A number that moved away points to its piece, below all numbers.
    for i in order.clone() {
        let (piece, (from, to)) = (&recognition.pieces[i], ends(i));
        let fade = if hovered.is_some() && hovered != Some(i) { FADED } else { 1.0 };
        for (at, shown) in [(places[0].at(piece.query), from), (places[piece.tile + 1].at(piece.position), to)] {
            if at != shown {
                for (width, colour) in [(3.5, Color32::WHITE), (1.5, theme::tile(piece.tile))] {
                    ui.painter().line_segment([at, shown], Stroke::new(width, colour.gamma_multiply(fade)));
                }
            }
        }
    }
    for i in order {
        let (from, to) = ends(i);
        let colour = theme::tile(recognition.pieces[i].tile);
        let is_hovered = hovered == Some(i);
        if is_hovered {
            ui.painter().line_segment([from, to], Stroke::new(2.5, colour));
        }
        for end in [from, to] {
            number(ui, end, i + 1, colour, is_hovered, hovered.is_some());
        }
    }
    done
}

/// Where the numbers of each piece are put, on the query and on its training image. Numbers that
/// would cover each other move apart within the frame of their picture.
fn numbers(recognition: &Recognition, places: &[Placed]) -> Vec<(Pos2, Pos2)> {
    let mut taken: Vec<Vec<Pos2>> = vec![Vec::new(); places.len()];
    let mut put = |place: usize, position: [f32; 2]| {
        let at = free_place(&taken[place], places[place].at(position), places[place].frame);
        taken[place].push(at);
        at
    };
    recognition.pieces.iter().map(|piece| (put(0, piece.query), put(piece.tile + 1, piece.position))).collect()
}

/// Where a number is put that is wanted at a place, among numbers that were put before: there, or
/// as near inside a rectangle as it covers none of them. Where there is no such place it is the one
/// farthest from all of them.
pub fn free_place(taken: &[Pos2], wanted: Pos2, inside: Rect) -> Pos2 {
    let room = |at: &Pos2| taken.iter().map(|other| other.distance(*at)).fold(f32::INFINITY, f32::min);
    let on_ring = |ring: u8| {
        let way = |turn: u8| Vec2::angled(f32::from(turn) / f32::from(TURNS) * TAU);
        (0..TURNS).map(move |turn| wanted + way(turn) * (RING * f32::from(ring)))
    };
    let around = (1..=RINGS).flat_map(on_ring).filter(|at| inside.contains(*at));
    let places = std::iter::once(wanted).chain(around);
    let free = places.clone().find(|at| room(at) >= APART);
    free.or_else(|| places.max_by(|a, b| room(a).total_cmp(&room(b)))).unwrap_or(wanted)
}

/// A picture in its frame: how its own pixels become points of the screen.
struct Placed {
    frame: Rect,
    rect: Rect,
    scale: f32,
}

impl Placed {
    fn at(&self, position: [f32; 2]) -> Pos2 {
        pos2(self.rect.left() + (position[0] + 0.5) * self.scale, self.rect.top() + (position[1] + 0.5) * self.scale)
    }
}

fn picture_ui(ui: &Ui, frame: Rect, size: (u32, u32), texture: Option<TextureId>, colour: Option<Color32>) -> Placed {
    ui.painter().rect_filled(frame, CornerRadius::same(4), theme::behind_pictures(ui));
    let rect = fitted(size, frame.shrink(3.0));
    match texture {
        Some(texture) => {
            ui.painter().image(texture, rect, WHOLE, Color32::WHITE);
        }
        None => {
            let font = FontId::proportional(11.5);
            ui.painter().text(frame.center(), Align2::CENTER_CENTER, "no picture at hand", font, ui.visuals().weak_text_color());
        }
    }
    if let Some(colour) = colour {
        ui.painter().rect_stroke(frame, CornerRadius::same(4), Stroke::new(2.5, colour), StrokeKind::Inside);
    }
    Placed { frame, rect, scale: rect.width() / size.0.max(1) as f32 }
}

fn number(ui: &Ui, at: Pos2, number: usize, colour: Color32, is_hovered: bool, others_fade: bool) {
    let radius = if is_hovered { 11.0 } else { 8.5 };
    let fade = if others_fade && !is_hovered { FADED } else { 1.0 };
    let painter = ui.painter();
    painter.circle(at, radius, colour.gamma_multiply(fade), Stroke::new(1.5, Color32::WHITE.gamma_multiply(fade)));
    let font = FontId::proportional(if is_hovered { 12.5 } else { 10.5 });
    painter.text(at, Align2::CENTER_CENTER, number, font, theme::text_on(colour).gamma_multiply(fade));
}

/// The table of everything that a score is the sum of, with the sum beneath. Returns the training
/// image that was pressed. Rows scroll in `room` points of height.
pub fn contributions_ui(ui: &mut Ui, reasons: &ClassReasons, id: &str, room: f32) -> Option<ItemId> {
    let mut pressed = None;
    let most = reasons.contributions.iter().map(|c| c.value.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let height = 18.0;
    let columns = match ui.available_width() {
        ..FULL => [60.0, 34.0, 92.0, 40.0, 54.0, 50.0, 40.0],
        _ => [64.0, 92.0, 120.0, 60.0, 64.0, 60.0, 56.0],
    };
    let heads = ["Adds", "", "Piece here", "Alike", "Distance", "Weight", "Pair"];
    let hovers = [
        "What the piece adds to the score (its value): the four numbers at the right together, times the weight of its kind",
        "",
        "A piece of this image (an element): its kind, and how many pixels from the left and from the top it lies",
        "How alike it and the piece of the training image are (their likeness): 1 is identical",
        "What is taken off because the two lie at different places of their images: 0 is the same place",
        "The learned weight of the piece of the training image; 0 where none was learned",
        "Bonus where a neighbour was matched in the same training image",
    ];
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for ((head, hover), width) in heads.into_iter().zip(hovers).zip(columns) {
            let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
            ui.painter().text(rect.left_center(), Align2::LEFT_CENTER, head, FontId::proportional(12.0), ui.visuals().strong_text_color());
            if !hover.is_empty() {
                response.on_hover_text(hover);
            }
        }
        let last = ui.add(egui::Label::new(egui::RichText::new("Training image").strong().size(12.0)).truncate());
        last.on_hover_text("The training image whose piece it was matched with, and where in it that lies, in pixels");
    });
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().id_salt(id).max_height(room).min_scrolled_height(room).auto_shrink([false, true]).show_rows(
        ui,
        height,
        reasons.contributions.len(),
        |ui, rows| {
            for i in rows {
                let row = &reasons.contributions[i];
                let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
                if response.hovered() {
                    ui.painter().rect_filled(rect, CornerRadius::same(2), ui.visuals().faint_bg_color);
                }
                let mut x = rect.left();
                let mut column = |width: f32| {
                    let left = x;
                    x += width;
                    left
                };
                let font = FontId::proportional(12.0);
                let text = |x: f32, words: String| {
                    ui.painter().text(pos2(x, rect.center().y), Align2::LEFT_CENTER, words, font.clone(), ui.visuals().text_color());
                };
                text(column(columns[0]), format!("{:+.4}", row.value));
                let left = column(columns[1]);
                let full = (row.value.abs() / most) as f32 * (columns[1] - 12.0);
                let bar = Rect::from_min_size(pos2(left, rect.center().y - 4.0), vec2(full, 8.0));
                let colour = if row.value < 0.0 { ui.visuals().error_fg_color } else { theme::accent(ui) };
                ui.painter().rect_filled(bar, CornerRadius::same(2), colour);
                let [qx, qy] = row.query.map(|value| value.round() as i32);
                text(column(columns[2]), format!("{} {qx},{qy}", row.kind.split(' ').next().unwrap_or_default()));
                text(column(columns[3]), format!("{:.2}", row.likeness));
                text(column(columns[4]), format!("{:.2}", row.nearness));
                text(column(columns[5]), format!("{:+.2}", row.weight));
                text(column(columns[6]), format!("{:.2}", row.bonus));
                let words = match &row.matched {
                    Some((_, name, [x, y])) => format!("{name} {},{}", x.round() as i32, y.round() as i32),
                    None => "none of this kind".into(),
                };
                let left = column(0.0);
                let galley = one_line(ui, &words, rect.right() - left, ui.visuals().text_color());
                ui.painter().galley(pos2(left, rect.center().y - galley.size().y / 2.0), galley, ui.visuals().text_color());
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{:+.4} {} {words}", row.value, row.kind)));
                if response.on_hover_text(format!("{} at {qx},{qy}: {words}", row.kind)).clicked() {
                    pressed = row.matched.as_ref().map(|(id, ..)| *id);
                }
            }
        },
    );
    let sum: f64 = reasons.contributions.iter().map(|c| c.value).sum();
    ui.add_space(4.0);
    let term = if reasons.term == 0.0 { String::new() } else { format!("     Term of the class: {:+.4}", reasons.term) };
    let whole = if reasons.whole == 0.0 { String::new() } else { format!("     Whole image: {:+.4}", reasons.whole) };
    let words = format!(
        "Sum of {} pieces: {sum:.4}{term}{whole}     Score of {}: {:.4}",
        reasons.contributions.len(),
        reasons.class,
        reasons.score
    );
    ui.label(egui::RichText::new(words).strong()).on_hover_text(
        "The pieces are the computation itself: their sum, the term of the class and the likeness of the whole image are the score. The term makes up for how many images the class has and how much is on them",
    );
    if !reasons.alike.is_empty() {
        ui.horizontal_wrapped(|ui| {
            ui.weak("Most alike as a whole:");
            for (image, name, value) in reasons.alike.iter().take(ALIKE) {
                let file = name.rsplit('/').next().unwrap_or(name);
                if ui.link(format!("{file} {value:+.2}")).on_hover_text(name).clicked() {
                    pressed = Some(*image);
                }
            }
        });
    }
    pressed
}
