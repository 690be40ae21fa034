//! A virtual grid of thumbnails: only the visible ones are painted.

use egui::{Align2, Color32, CornerRadius, Key, Modifiers, Rect, Response, ScrollArea, Sense, StrokeKind, TextStyle, TextureId, Ui};
use egui::{Role, Vec2, WidgetInfo, pos2, vec2};
use tessera_core::ids::ItemId;

use super::super::selection::{Pick, Selection};
use super::super::theme;
use super::{WHOLE, class_line, fitted, one_line};

/// One cell.
pub struct Cell {
    /// Its thumbnail and the thumbnail's width and height; none while it is fetched.
    pub thumbnail: Option<(TextureId, (u32, u32))>,
    /// Whether it is known that there is no thumbnail.
    pub broken: bool,
    /// The file's name.
    pub name: String,
    /// What is said of it below its name, and what that means in a sentence.
    pub note: Option<(String, String)>,
    /// Its class and the class's colour.
    pub label: Option<(String, Color32)>,
    /// Signs in the corner, each with a sentence.
    pub badges: Vec<(&'static str, Color32, String)>,
}

/// What the user did in a grid.
#[derive(Default)]
pub struct GridResponse {
    /// An image was opened.
    pub opened: bool,
    /// A new side of the cells, in points.
    pub side: Option<f32>,
    /// The cell whose context menu is open, and its response.
    pub menu: Option<(ItemId, Response)>,
}

/// The smallest and largest side of a thumbnail.
pub const SIDES: std::ops::RangeInclusive<f32> = 64.0..=256.0;
const CAPTION: f32 = 20.0;
/// The height of a note below the name.
const NOTE: f32 = 16.0;
const PADDING: f32 = 6.0;

/// Shows images in a grid. `cell` is called for visible ones only. `id` identifies the scroll
/// position.
pub fn grid_ui(
    ui: &mut Ui,
    id: &str,
    list: &[ItemId],
    selection: &mut Selection,
    side: f32,
    cell: impl FnMut(ItemId) -> Option<Cell>,
) -> GridResponse {
    cells_ui(ui, id, list, selection, side, CAPTION, cell)
}

/// As [`grid_ui`], with room for a note below each name.
pub fn noted_grid_ui(
    ui: &mut Ui,
    id: &str,
    list: &[ItemId],
    selection: &mut Selection,
    side: f32,
    cell: impl FnMut(ItemId) -> Option<Cell>,
) -> GridResponse {
    cells_ui(ui, id, list, selection, side, CAPTION + NOTE, cell)
}

fn cells_ui(
    ui: &mut Ui,
    id: &str,
    list: &[ItemId],
    selection: &mut Selection,
    side: f32,
    caption: f32,
    mut cell: impl FnMut(ItemId) -> Option<Cell>,
) -> GridResponse {
    let mut done = GridResponse::default();
    wheel(ui, side, &mut done);
    let size = vec2(side + 2.0 * PADDING, side + 2.0 * PADDING + caption);
    tiles_ui(ui, id, list, selection, size, |ui, item, size, selection| match cell(item) {
        Some(cell) => cell_ui(ui, item, &cell, size, list, selection, &mut done),
        None => {
            ui.allocate_exact_size(size, Sense::hover());
        }
    });
    done
}

/// Lays tiles of at least some size out in rows that fill the width; keys move among them. `tile`
/// is called for visible ones only, with their actual size. `id` identifies the scroll position.
pub fn tiles_ui(
    ui: &mut Ui,
    id: &str,
    list: &[ItemId],
    selection: &mut Selection,
    size: Vec2,
    mut tile: impl FnMut(&mut Ui, ItemId, Vec2, &mut Selection),
) {
    let gap = 6.0;
    let width = ui.available_width() - ui.spacing().scroll.bar_width - 4.0;
    let columns = (((width + gap) / (size.x + gap)).floor() as usize).max(1);
    // What is left of the width is shared out, so that the grid reaches from side to side.
    let size = vec2(((width + gap) / columns as f32 - gap).floor().max(size.x.min(width)), size.y);
    let rows = list.len().div_ceil(columns);
    let sought = selection.take_sought(list);
    let scrolled_to = keys(ui, list, selection, columns).or(sought);
    let mut area = ScrollArea::vertical().id_salt(id).auto_shrink([false, false]);
    if let Some(index) = scrolled_to {
        let row = (index / columns) as f32 * (size.y + gap);
        let view = ui.ctx().data(|data| data.get_temp::<(f32, f32)>(ui.scope_id().with((id, "view")))).unwrap_or((0.0, 600.0));
        if row < view.0 {
            area = area.vertical_scroll_offset(row);
        } else if row + size.y > view.0 + view.1 {
            area = area.vertical_scroll_offset(row + size.y - view.1);
        }
    }
    ui.spacing_mut().item_spacing = Vec2::splat(gap);
    let output = area.show_rows(ui, size.y, rows, |ui, visible| {
        for row in visible {
            ui.horizontal(|ui| {
                for &item in list.iter().skip(row * columns).take(columns) {
                    tile(ui, item, size, selection);
                }
            });
        }
    });
    let view = (output.state.clamped_offset().y, output.inner_rect.height());
    ui.ctx().data_mut(|data| data.insert_temp(ui.scope_id().with((id, "view")), view));
}

fn cell_ui(ui: &mut Ui, item: ItemId, cell: &Cell, size: Vec2, list: &[ItemId], selection: &mut Selection, done: &mut GridResponse) {
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    pick_clicked(ui, &response, list, item, selection);
    let is_selected = selection.contains(item);
    if ui.is_rect_visible(rect) {
        paint(ui, rect, cell, is_selected, response.hovered(), selection.cursor() == Some(item));
    }
    let label = cell.label.as_ref().map(|(label, _)| label);
    let note = cell.note.as_ref().map(|(note, _)| note);
    let words = [Some(&cell.name), label, note].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ");
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &words));
    if response.double_clicked() {
        done.opened = true;
    }
    let mut hover = words;
    if let Some((_, sentence)) = &cell.note {
        hover.push('\n');
        hover.push_str(sentence);
    }
    for (_, _, sentence) in &cell.badges {
        hover.push('\n');
        hover.push_str(sentence);
    }
    if response.context_menu_opened() || response.secondary_clicked() {
        done.menu = Some((item, response));
    } else {
        response.on_hover_text(hover);
    }
}

/// Picks an image whose tile was clicked. Called before the tile is painted, so that the frame of
/// the click shows it selected.
pub fn pick_clicked(ui: &Ui, response: &Response, list: &[ItemId], item: ItemId, selection: &mut Selection) {
    if response.clicked() {
        selection.pick(list, item, Pick::of(ui.input(|input| input.modifiers)));
        ui.memory_mut(|memory| memory.stop_text_input());
    } else if response.secondary_clicked() && !selection.contains(item) {
        selection.pick(list, item, Pick::Alone);
    } else {
        return;
    }
    // The tile that was selected before may be painted already.
    ui.request_repaint();
}

fn paint(ui: &Ui, rect: Rect, cell: &Cell, is_selected: bool, is_hovered: bool, is_cursor: bool) {
    let painter = ui.painter_at(rect);
    let rounding = CornerRadius::same(theme::ROUNDING);
    let ground = if is_selected {
        ui.visuals().selection.bg_fill
    } else if is_hovered {
        ui.visuals().faint_bg_color
    } else {
        Color32::TRANSPARENT
    };
    painter.rect_filled(rect, rounding, ground);
    let caption = if cell.note.is_some() { CAPTION + NOTE } else { CAPTION };
    let picture = Rect::from_min_max(rect.min + Vec2::splat(PADDING), pos2(rect.max.x - PADDING, rect.max.y - PADDING - caption));
    let shown = cell.thumbnail.as_ref().map_or(picture, |(_, size)| fitted(*size, picture));
    match &cell.thumbnail {
        Some((texture, _)) => {
            painter.image(*texture, shown, WHOLE, Color32::WHITE);
        }
        None => {
            painter.rect_filled(picture, rounding, theme::behind_pictures(ui));
            if cell.broken {
                let text = "cannot be shown";
                painter.text(
                    picture.center(),
                    Align2::CENTER_CENTER,
                    text,
                    TextStyle::Small.resolve(ui.style()),
                    ui.visuals().weak_text_color(),
                );
            }
        }
    }
    let font = TextStyle::Small.resolve(ui.style());
    let mut x = shown.right() - 2.0;
    for (sign, colour, _) in &cell.badges {
        let centre = pos2(x - 8.0, shown.top() + 10.0);
        painter.circle_filled(centre, 8.5, *colour);
        painter.text(centre, Align2::CENTER_CENTER, sign, font.clone(), theme::text_on(*colour));
        x -= 20.0;
    }
    if let Some((label, colour)) = &cell.label {
        let galley = class_line(ui, label, picture.right() - shown.left() - 16.0, theme::text_on(*colour));
        let spot = Rect::from_min_size(pos2(shown.left() + 3.0, shown.bottom() - galley.size().y - 7.0), galley.size() + vec2(10.0, 4.0));
        painter.rect_filled(spot, CornerRadius::same(8), *colour);
        painter.galley(spot.min + vec2(5.0, 2.0), galley, theme::text_on(*colour));
    }
    let name = one_line(ui, &cell.name, picture.width(), ui.visuals().text_color());
    let at = pos2(picture.center().x - name.size().x / 2.0, picture.bottom() + 4.0);
    painter.galley(at, name, ui.visuals().text_color());
    if let Some((note, _)) = &cell.note {
        let note = one_line(ui, note, picture.width(), ui.visuals().weak_text_color());
        let at = pos2(picture.center().x - note.size().x / 2.0, picture.bottom() + 4.0 + NOTE);
        painter.galley(at, note, ui.visuals().weak_text_color());
    }
    if is_selected || is_cursor {
        let stroke = if is_cursor { theme::focus(ui) } else { ui.visuals().selection.stroke };
        painter.rect_stroke(rect, rounding, stroke, StrokeKind::Inside);
    }
}

/// What the keys do: move, select. Returns the place that should be visible.
fn keys(ui: &Ui, list: &[ItemId], selection: &mut Selection, columns: usize) -> Option<usize> {
    if ui.ctx().egui_wants_keyboard_input() || ui.ctx().memory(|memory| memory.top_modal_layer().is_some()) {
        return None;
    }
    let columns = columns as isize;
    let all = list.len() as isize;
    let moves = [
        (Key::ArrowLeft, -1),
        (Key::ArrowRight, 1),
        (Key::ArrowUp, -columns),
        (Key::ArrowDown, columns),
        (Key::PageUp, -4 * columns),
        (Key::PageDown, 4 * columns),
        (Key::Home, -all),
        (Key::End, all),
    ];
    let mut moved = None;
    ui.input_mut(|input| {
        for (key, by) in moves {
            for (modifiers, pick) in [(Modifiers::SHIFT, Pick::Range), (Modifiers::NONE, Pick::Alone)] {
                if input.consume_key(modifiers, key) {
                    moved = selection.step(list, by, pick);
                }
            }
        }
    });
    moved
}

fn wheel(ui: &Ui, side: f32, done: &mut GridResponse) {
    if ui.rect_contains_pointer(ui.available_rect_before_wrap()) {
        let zoom = ui.input(|input| input.zoom_delta());
        if (zoom - 1.0).abs() > 0.01 {
            done.side = Some((side * zoom).clamp(*SIDES.start(), *SIDES.end()));
        }
    }
}
