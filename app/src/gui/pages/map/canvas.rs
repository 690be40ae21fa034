//! Where the points are painted: the view of them, thumbnails, pointer, lasso and keys.

use std::sync::Arc;

use egui::epaint::Vertex;
use egui::{
    Color32, ColorImage, CornerRadius, EventFilter, Key, Mesh, Modifiers, PointerButton, Pos2, Rect, Response, Sense, Shape, Stroke,
    StrokeKind, TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use tessera_core::ids::ItemId;

use super::points::Points;
use crate::gui::class_keys::label_keys;
use crate::gui::pages::browse::menu::image_menu_ui;
use crate::gui::pages::label::keys::is_free;
use crate::gui::panel::Panel;
use crate::gui::selection::Pick;
use crate::gui::theme;
use crate::gui::view::Viewer;
use crate::gui::widgets::{WHOLE, fitted};
use crate::gui::words::count;

/// The share of the shorter side that the whole map takes.
const FILLED: f32 = 0.88;
/// The farthest view, and the nearest one of few points; of many the one where a few are left.
const ZOOMS: [f32; 2] = [0.5, 6.0];
/// How much the wheel zooms.
const WHEEL: f32 = 0.004;
/// Selected points up to which each has a ring.
const RINGS: usize = 300;
/// A step of zooming by a key.
const STEP: f32 = 1.25;
/// The share of the view that an arrow key moves it by.
const MOVED: f32 = 0.15;
/// Points in view up to which thumbnails are drawn.
const NEAR: usize = 400;
/// The side of a thumbnail, and the least distance of two.
const THUMBNAIL: f32 = 52.0;
const APART: f32 = 7.0;
/// How far from a point the pointer may be.
const REACH: f32 = 9.0;
/// Radius of points, at least and at most.
const RADII: [f32; 2] = [1.4, 6.0];
/// Pixels of the picture of a disc that all points are painted with.
const DISC: usize = 24;
/// The side of the picture in a hint.
const HINT: f32 = 160.0;

/// The view of the points.
pub(super) struct Canvas {
    /// What is in the middle, in the unit square.
    middle: Pos2,
    /// 1 where the whole map is shown.
    zoom: f32,
    /// Whether dragging draws a lasso.
    is_lasso: bool,
    /// The corners of the lasso under way, in the unit square.
    lasso: Vec<Pos2>,
    /// The image whose menu is open.
    menu: Option<ItemId>,
    disc: Option<TextureHandle>,
    painted: Option<Painted>,
}

/// What was painted last, and of what.
struct Painted {
    of: (Rect, Pos2, f32, u64, bool),
    mesh: Arc<Mesh>,
    /// The points in view.
    visible: Vec<u32>,
}

/// How places become positions on the screen.
#[derive(Clone, Copy)]
struct Transform {
    rect: Rect,
    middle: Pos2,
    scale: f32,
}

impl Transform {
    fn on_screen(self, [x, y]: [f32; 2]) -> Pos2 {
        self.rect.center() + vec2(x - self.middle.x, y - self.middle.y) * self.scale
    }

    fn in_square(self, at: Pos2) -> Pos2 {
        self.middle + (at - self.rect.center()) / self.scale
    }
}

impl Default for Canvas {
    fn default() -> Self {
        Self { middle: pos2(0.5, 0.5), zoom: 1.0, is_lasso: false, lasso: Vec::new(), menu: None, disc: None, painted: None }
    }
}

impl Canvas {
    pub(super) fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, points: &Points) {
        let (rect, response) = ui.allocate_exact_size(ui.available_size().max(vec2(80.0, 80.0)), Sense::click_and_drag());
        let words = format!("Map of {}", count(points.len(), "image"));
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Image, true, &words));
        if response.has_focus() {
            // Arrow keys move the map, not the focus.
            let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        }
        self.keys(ui, panel, points);
        self.move_view(ui, &response, rect, points);
        let transform = self.transform(rect);
        self.draw_lasso(ui, panel, points, &response, transform);
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, CornerRadius::same(theme::ROUNDING), ui.visuals().extreme_bg_color);
        let (mesh, visible) = self.painted(ui, points, transform);
        painter.add(Shape::Mesh(mesh));
        let taken = if visible.len() <= NEAR { thumbnails_ui(ui, panel, points, transform, &visible) } else { Vec::new() };
        self.lasso_ui(ui, transform);
        if response.has_focus() {
            painter.rect_stroke(rect, CornerRadius::same(theme::ROUNDING), theme::focus(ui), StrokeKind::Inside);
        }
        let pointed = response
            .hover_pos()
            .filter(|_| self.lasso.is_empty() && !response.dragged())
            .and_then(|at| pointed(points, transform, &visible, &taken, at));
        self.point(ui, panel, points, &response, pointed, transform);
        if let Some(painted) = &mut self.painted {
            painted.visible = visible;
        }
    }

    fn transform(&self, rect: Rect) -> Transform {
        Transform { rect, middle: self.middle, scale: rect.width().min(rect.height()) * FILLED * self.zoom }
    }

    /// The buttons, from right to left.
    pub(super) fn tools_ui(&mut self, ui: &mut Ui, points: &Points) {
        if ui.button("All").on_hover_text("The whole map (F)").clicked() {
            (self.middle, self.zoom) = (pos2(0.5, 0.5), 1.0);
        }
        for (words, hover, factor) in [("−", "Farther (−, wheel)", 1.0 / STEP), ("+", "Nearer (+, wheel)", STEP)] {
            if ui.button(words).on_hover_text(hover).clicked() {
                self.zoom = zoomed(self.zoom * factor, points);
            }
        }
        let hover = "Drag around images to select them; Shift and drag does it too";
        if ui.selectable_label(self.is_lasso, "Lasso").on_hover_text(hover).clicked() {
            self.is_lasso = !self.is_lasso;
        }
    }

    fn keys(&mut self, ui: &Ui, panel: &mut Panel<'_>, points: &Points) {
        if !is_free(ui, panel) {
            return;
        }
        let pressed = |key: Key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key) > 0);
        // Plus may be written with Shift.
        let plus = |input: &mut egui::InputState| {
            [Key::Plus, Key::Equals]
                .into_iter()
                .any(|key| input.consume_key(Modifiers::NONE, key) || input.consume_key(Modifiers::SHIFT, key))
        };
        if ui.input_mut(plus) {
            self.zoom = zoomed(self.zoom * STEP, points);
        }
        if pressed(Key::Minus) {
            self.zoom = zoomed(self.zoom / STEP, points);
        }
        if pressed(Key::F) {
            (self.middle, self.zoom) = (pos2(0.5, 0.5), 1.0);
        }
        let arrows = [
            (Key::ArrowLeft, vec2(-1.0, 0.0)),
            (Key::ArrowRight, vec2(1.0, 0.0)),
            (Key::ArrowUp, vec2(0.0, -1.0)),
            (Key::ArrowDown, vec2(0.0, 1.0)),
        ];
        for (key, way) in arrows {
            if pressed(key) {
                self.middle += way * MOVED / self.zoom;
            }
        }
        if (points.has_selected() || !self.lasso.is_empty()) && pressed(Key::Escape) {
            self.lasso.clear();
            panel.view.selection.clear();
        }
        self.stay();
        label_keys(ui, panel);
    }

    /// Keeps some of the map in view.
    fn stay(&mut self) {
        self.middle = self.middle.clamp(Pos2::ZERO, pos2(1.0, 1.0));
    }

    /// Zooms by the wheel or two fingers around the pointer, and moves by dragging.
    fn move_view(&mut self, ui: &Ui, response: &Response, rect: Rect, points: &Points) {
        if let Some(at) = response.hover_pos() {
            let (wheel, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            let factor = (wheel * WHEEL).exp() * pinch;
            if factor != 1.0 {
                let before = self.transform(rect).in_square(at);
                self.zoom = zoomed(self.zoom * factor, points);
                self.middle += before - self.transform(rect).in_square(at);
            }
        }
        let is_moving = self.lasso.is_empty() && !self.draws(ui, response);
        if is_moving && (response.dragged_by(PointerButton::Primary) || response.dragged_by(PointerButton::Middle)) {
            self.middle -= response.drag_delta() / self.transform(rect).scale;
        }
        self.stay();
    }

    /// Whether a drag that begins now draws a lasso.
    fn draws(&self, ui: &Ui, response: &Response) -> bool {
        let is_shift = ui.input(|input| input.modifiers.shift);
        response.drag_started_by(PointerButton::Primary) && (self.is_lasso || is_shift)
    }

    /// Follows the pointer with the lasso; selects what is in it at the end, with Ctrl also what is
    /// selected already.
    fn draw_lasso(&mut self, ui: &Ui, panel: &mut Panel<'_>, points: &Points, response: &Response, transform: Transform) {
        if self.draws(ui, response) {
            self.lasso = ui.input(|input| input.pointer.press_origin()).map(|at| transform.in_square(at)).into_iter().collect();
        }
        if self.lasso.is_empty() {
            return;
        }
        if let Some(at) = response.interact_pointer_pos().map(|at| transform.in_square(at)) {
            let is_far = self.lasso.last().is_none_or(|last| (*last - at).length() * transform.scale > 2.0);
            if is_far {
                self.lasso.push(at);
            }
        }
        if response.drag_stopped() {
            let lasso = std::mem::take(&mut self.lasso);
            let is_in = |i: &usize| points.is_admitted(*i) && is_inside(&lasso, points.place(*i));
            let mut found: Vec<ItemId> = (0..points.len()).filter(is_in).map(|i| points.image(i)).collect();
            if ui.input(|input| input.modifiers.command) {
                found.extend(panel.view.selection.ids());
            }
            panel.view.selection.set(found);
        }
    }

    fn lasso_ui(&self, ui: &Ui, transform: Transform) {
        if self.lasso.is_empty() {
            return;
        }
        let mut line: Vec<Pos2> = self.lasso.iter().map(|at| transform.on_screen([at.x, at.y])).collect();
        line.extend(line.first().copied());
        ui.painter_at(transform.rect).add(Shape::line(line, Stroke::new(2.0, theme::accent(ui))));
    }

    /// The points as one mesh, and which are in view.
    fn painted(&mut self, ui: &Ui, points: &Points, transform: Transform) -> (Arc<Mesh>, Vec<u32>) {
        let of = (transform.rect, self.middle, self.zoom, points.version(), ui.visuals().dark_mode);
        if let Some(painted) = self.painted.as_mut().filter(|painted| painted.of == of) {
            return (Arc::clone(&painted.mesh), std::mem::take(&mut painted.visible));
        }
        let texture = self.disc.get_or_insert_with(|| ui.ctx().load_texture("disc", disc(), TextureOptions::LINEAR)).id();
        let radius = (0.3 * transform.scale / self.zoom.sqrt() / (points.len().max(1) as f32).sqrt()).clamp(RADII[0], RADII[1]);
        let seen = transform.rect.expand(radius);
        let mut visible = Vec::new();
        let mut ground = Vec::new();
        let mut selected = Vec::new();
        for i in 0..points.len() {
            if !points.is_there(i) || !seen.contains(transform.on_screen(points.place(i))) {
                continue;
            }
            if !points.is_admitted(i) {
                ground.push(i as u32);
            } else {
                visible.push(i as u32);
                if points.is_selected(i) {
                    selected.push(i as u32);
                }
            }
        }
        let mut mesh = Mesh::with_texture(texture);
        mesh.vertices.reserve(4 * (visible.len() + ground.len() + selected.len()));
        mesh.indices.reserve(6 * (visible.len() + ground.len() + selected.len()));
        let mut put =
            |i: u32, radius: f32, colour: Color32| add_disc(&mut mesh, transform.on_screen(points.place(i as usize)), radius, colour);
        let weak = ui.visuals().weak_text_color().gamma_multiply(0.25);
        ground.iter().for_each(|i| put(*i, radius, weak));
        let dim = if points.has_selected() { 0.3 } else { 0.85 };
        for i in visible.iter().filter(|i| !points.is_selected(**i as usize)) {
            put(*i, radius, points.colour(*i as usize).gamma_multiply(dim));
        }
        let ring = ui.visuals().strong_text_color();
        if selected.len() <= RINGS {
            selected.iter().for_each(|i| put(*i, radius + 2.0, ring));
        }
        selected.iter().for_each(|i| put(*i, radius + 0.6, points.colour(*i as usize)));
        let mesh = Arc::new(mesh);
        self.painted = Some(Painted { of, mesh: Arc::clone(&mesh), visible: Vec::new() });
        (mesh, visible)
    }

    /// Tells of the image at the pointer; a click selects it, a double click shows it large.
    fn point(
        &mut self,
        ui: &Ui,
        panel: &mut Panel<'_>,
        points: &Points,
        response: &Response,
        pointed: Option<usize>,
        transform: Transform,
    ) {
        if response.secondary_clicked() {
            self.menu = pointed.map(|i| points.image(i));
        }
        if let Some(id) = self.menu {
            response.context_menu(|ui| image_menu_ui(ui, panel, id));
        }
        let Some(i) = pointed else {
            if response.clicked_by(PointerButton::Primary) && !ui.input(|input| input.modifiers.any()) {
                panel.view.selection.clear();
            }
            return;
        };
        let id = points.image(i);
        ui.painter_at(transform.rect).circle_stroke(transform.on_screen(points.place(i)), REACH, theme::focus(ui));
        if response.clicked_by(PointerButton::Primary) {
            let pick = if ui.input(|input| input.modifiers.any()) { Pick::Toggle } else { Pick::Alone };
            panel.view.selection.pick(&[id], id, pick);
        }
        if response.double_clicked() {
            panel.view.selection.set([id]);
            panel.view.viewer = Some(Viewer::default());
        }
        if response.secondary_clicked() && !panel.view.selection.contains(id) {
            panel.view.selection.set([id]);
        }
        let picture = thumbnail(panel, id);
        let image = panel.state().and_then(|state| state.image(id));
        let (name, class) = image.map(|image| (image.name(), image.label().map(str::to_owned))).unwrap_or_default();
        response.clone().on_hover_ui_at_pointer(|ui| {
            if let Some((texture, size)) = picture {
                let (rect, _) = ui.allocate_exact_size(Vec2::splat(HINT), Sense::hover());
                ui.painter().image(texture, fitted(size, rect), WHOLE, Color32::WHITE);
            }
            ui.label(name);
            if let Some(class) = class {
                ui.strong(class);
            }
        });
    }
}

/// A zoom within bounds.
fn zoomed(zoom: f32, points: &Points) -> f32 {
    zoom.clamp(ZOOMS[0], ZOOMS[1].max((points.len() as f32).sqrt()))
}

/// The texture and the size of an image's thumbnail, once it is there.
fn thumbnail(panel: &mut Panel<'_>, id: ItemId) -> Option<(egui::TextureId, (u32, u32))> {
    let hash = panel.state()?.image(id)?.content?.hash.0;
    let texture = panel.textures.get(hash, id)?;
    let [width, height] = texture.size();
    Some((texture.id(), (width as u32, height as u32)))
}

/// Draws thumbnails, of which none covers another. Returns which points have one, and where.
fn thumbnails_ui(ui: &Ui, panel: &mut Panel<'_>, points: &Points, transform: Transform, visible: &[u32]) -> Vec<(u32, Rect)> {
    let painter = ui.painter_at(transform.rect);
    let mut drawn: Vec<(u32, Rect)> = Vec::new();
    let accent = theme::accent(ui);
    for i in visible {
        let at = transform.on_screen(points.place(*i as usize));
        let room = Rect::from_center_size(at, Vec2::splat(THUMBNAIL));
        if drawn.iter().any(|(_, other)| other.expand(APART).intersects(room)) {
            continue;
        }
        let Some((texture, size)) = thumbnail(panel, points.image(*i as usize)) else { continue };
        let rect = fitted(size, room);
        painter.image(texture, rect, WHOLE, Color32::WHITE);
        let colour = if points.is_selected(*i as usize) { accent } else { points.colour(*i as usize) };
        let width = if points.is_selected(*i as usize) { 4.0 } else { 2.5 };
        painter.rect_stroke(rect, CornerRadius::same(2), Stroke::new(width, colour), StrokeKind::Outside);
        drawn.push((*i, rect));
    }
    drawn
}

/// The point at the pointer: that of the thumbnail there, or the nearest within reach.
fn pointed(points: &Points, transform: Transform, visible: &[u32], drawn: &[(u32, Rect)], at: Pos2) -> Option<usize> {
    if let Some((i, _)) = drawn.iter().find(|(_, rect)| rect.contains(at)) {
        return Some(*i as usize);
    }
    let far = |i: u32| transform.on_screen(points.place(i as usize)).distance_sq(at);
    let nearest = visible.iter().copied().map(|i| (far(i), i)).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.filter(|(far, _)| *far <= REACH * REACH).map(|(_, i)| i as usize)
}

/// Whether a place is inside a closed line: whether a ray from it crosses the line an odd number of
/// times.
fn is_inside(line: &[Pos2], [x, y]: [f32; 2]) -> bool {
    let mut is_in = false;
    for (i, a) in line.iter().enumerate() {
        let b = line[(i + 1) % line.len()];
        if (a.y > y) != (b.y > y) && x < (b.x - a.x) * (y - a.y) / (b.y - a.y) + a.x {
            is_in = !is_in;
        }
    }
    is_in
}

fn add_disc(mesh: &mut Mesh, at: Pos2, radius: f32, color: Color32) {
    let first = mesh.vertices.len() as u32;
    // The picture has a margin of a pixel around the disc.
    let reach = radius * DISC as f32 / (DISC as f32 - 2.0);
    for (x, y) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
        mesh.vertices.push(Vertex { pos: at + (2.0 * vec2(x, y) - Vec2::splat(1.0)) * reach, uv: pos2(x, y), color });
    }
    mesh.indices.extend([first, first + 1, first + 2, first, first + 2, first + 3]);
}

/// A white disc with a smooth edge.
fn disc() -> ColorImage {
    let (middle, radius) = (DISC as f32 / 2.0, DISC as f32 / 2.0 - 1.0);
    let pixel = |i: usize| {
        let (x, y) = ((i % DISC) as f32 + 0.5 - middle, (i / DISC) as f32 + 0.5 - middle);
        let share = (radius + 0.5 - (x * x + y * y).sqrt()).clamp(0.0, 1.0);
        Color32::from_white_alpha((255.0 * share) as u8)
    };
    ColorImage::new([DISC, DISC], (0..DISC * DISC).map(pixel).collect())
}
