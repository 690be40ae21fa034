//! One image by itself: zoom, pan, next and previous.

use egui::{Key, Modifiers, Popup, Rect, RichText, Sense, Ui, Vec2, pos2, vec2};

use super::actions::Action;
use super::class_keys::label_keys;
use super::page::Page;
use super::panel::Panel;
use super::selection::Pick;
use super::theme;
use super::view::Pictured;
use super::widgets::{WHOLE, chip_ui, fitted};
use super::without::without_ui;
use crate::command::{Command, Crop, ImageQuery};
use crate::session::reference::LEAST;

pub(super) fn viewer_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    label_keys(ui, panel);
    let clusters = panel.desk.clusters().answer().filter(|_| panel.view.page == Page::Clusters);
    let place = clusters.zip(panel.view.selection.one()).and_then(|(answer, id)| Some((answer, answer.place_of(id)?)));
    let list: Vec<_> = match (panel.view.page, panel.desk.similar().answer(), panel.desk.searching().hits()) {
        (Page::Clusters, ..) => place.map_or_else(Vec::new, |(answer, place)| answer.images(place).to_vec()),
        (Page::Similar, Some(answer), _) => answer.alikes.iter().map(|alike| alike.image).collect(),
        (_, _, Some(hits)) => hits.images.to_vec(),
        _ => panel.view.shown.list().to_vec(),
    };
    keys(ui, panel, &list);
    let Some(id) = panel.view.selection.one() else {
        panel.view.viewer = None;
        return;
    };
    let Some(image) = panel.state().and_then(|state| state.image(id).cloned()) else { return };
    let place = list.iter().position(|other| *other == id);
    let next = place.and_then(|place| list.get(place + 1)).copied();
    panel.view.pictured = Some(Pictured { image: id, next });
    ui.horizontal(|ui| {
        if ui.button("⬅ Back").on_hover_text("Esc").clicked() {
            panel.view.viewer = None;
        }
        for (words, by) in [("‹", -1), ("›", 1)] {
            if ui.button(words).on_hover_text(if by < 0 { "Previous (Left)" } else { "Next (Right)" }).clicked() {
                panel.view.selection.step(&list, by, Pick::Alone);
            }
        }
        if let Some(place) = place {
            ui.label(RichText::new(format!("{} of {}", place + 1, list.len())).weak());
        }
        if let Some(label) = image.label() {
            let colour = panel.colour(label);
            chip_ui(ui, label, colour, "The keys of classes label it");
        }
        ui.add(egui::Label::new(RichText::new(image.file_name()).strong()).truncate());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let actions = [Action::Recognise, Action::CopyPath, Action::Reveal, Action::Similar, Action::Like];
            let mut buttons = |ui: &mut Ui| {
                for action in actions {
                    if ui.button(action.words().0).on_hover_text(action.words().1).clicked() {
                        panel.act(action);
                    }
                }
            };
            if ui.available_width() < ROOM {
                ui.menu_button("More", buttons);
            } else {
                buttons(ui);
            }
            if let Some(viewer) = &mut panel.view.viewer {
                let hover = "Drag a rectangle over a part of the picture to find images that look like it (Shift+drag)";
                ui.toggle_value(&mut viewer.marks, "Mark a part").on_hover_text(hover);
            }
            for (words, zoom, hover) in [("100 %", Some(1.0), "One pixel for each of the picture's (double click)"), ("Fit", None, "Key F")]
            {
                if ui.button(words).on_hover_text(hover).clicked()
                    && let Some(viewer) = &mut panel.view.viewer
                {
                    (viewer.zoom, viewer.offset) = (zoom, Vec2::ZERO);
                }
            }
        });
    });
    if image.label().is_some() && image.is_live() {
        without_ui(ui, panel, id);
    }
    let caption = image.captions.first().map(|caption| caption.text.clone());
    let (rect, response) =
        ui.allocate_exact_size(ui.available_size() - vec2(0.0, if caption.is_some() { 26.0 } else { 0.0 }), Sense::click_and_drag());
    ui.painter().rect_filled(rect, egui::CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("Picture of {}", image.file_name())));
    let size = image.content.map_or((1, 1), |content| content.size);
    let fit = fitted(size, rect.shrink(4.0)).width() / size.0.max(1) as f32;
    let fit = fit.min(8.0);
    let Some(viewer) = &mut panel.view.viewer else { return };
    viewer.fit = fit;
    let before = viewer.zoom.unwrap_or(fit);
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    let factor = if response.hovered() { pinch * (scroll * 0.004).exp() } else { 1.0 };
    if (factor - 1.0).abs() > 1e-4 {
        let zoom = within(before * factor, fit);
        // The point under the pointer stays where it is.
        if let Some(pointer) = response.hover_pos() {
            let from_middle = pointer - rect.center() - viewer.offset;
            viewer.offset += from_middle * (1.0 - zoom / before);
        }
        viewer.zoom = Some(zoom);
    }
    let marks = viewer.mark.is_some() || viewer.marks || ui.input(|input| input.modifiers.shift);
    if response.dragged() && !marks {
        viewer.offset += response.drag_delta();
    }
    if response.double_clicked() {
        viewer.zoom = if viewer.zoom.is_none() { Some(1.0) } else { None };
        viewer.offset = Vec2::ZERO;
    }
    let zoom = viewer.zoom.unwrap_or(fit);
    let shown = vec2(size.0 as f32, size.1 as f32) * zoom;
    let room = ((shown - rect.size()) / 2.0).max(Vec2::ZERO);
    viewer.offset = viewer.offset.clamp(-room, room);
    let target = Rect::from_center_size(rect.center() + viewer.offset, shown);
    let in_picture = |at: egui::Pos2| ((at - target.min) / zoom).clamp(Vec2::ZERO, vec2(size.0 as f32, size.1 as f32)).to_pos2();
    let [seen_from, seen_to] = [rect.min, rect.max].map(in_picture);
    viewer.visible = part(seen_from, seen_to).filter(|part| (part.0[2], part.0[3]) != size);
    if marks && response.drag_started() {
        viewer.mark = ui.input(|input| input.pointer.press_origin()).map(|at| [in_picture(at), in_picture(at)]);
    }
    if let (Some(mark), Some(at)) = (&mut viewer.mark, response.interact_pointer_pos()) {
        mark[1] = in_picture(at);
    }
    let marked = if response.drag_stopped() { viewer.mark.take() } else { None };
    let mark = viewer.mark;
    let painter = ui.painter_at(rect);
    let texture = panel.pictures.viewed(id, zoom).map(egui::TextureHandle::id);
    let texture = texture.or_else(|| image.content.and_then(|content| panel.textures.get(content.hash.0, id)).map(egui::TextureHandle::id));
    match texture {
        Some(texture) => {
            painter.image(texture, target, WHOLE, egui::Color32::WHITE);
        }
        None => {
            let words = match panel.desk.pictures().shown() {
                Some((failed, Err(words))) if failed == id => words,
                _ if image.is_here() => "one moment",
                _ => "its file is not there now",
            };
            painter.text(
                rect.center(),
                egui::Align2::CENTER_CENTER,
                words,
                egui::FontId::proportional(15.0),
                ui.visuals().weak_text_color(),
            );
        }
    }
    if let Some([from, to]) = mark {
        let on_screen = |at: egui::Pos2| target.min + at.to_vec2() * zoom;
        let part = Rect::from_two_pos(on_screen(from), on_screen(to));
        paint_mark(ui, &painter, part);
    }
    if let Some(crop) = marked.and_then(|[from, to]| part(from, to)) {
        panel.ask(Command::SearchByImage(Some((ImageQuery::Item(id), Some(crop)))));
    }
    let words = format!("{:.0} %   {} × {}", 100.0 * zoom, size.0, size.1);
    let at = pos2(rect.right() - 10.0, rect.bottom() - 8.0);
    painter.text(at, egui::Align2::RIGHT_BOTTOM, words, egui::FontId::proportional(12.0), ui.visuals().text_color());
    if let Some(caption) = caption {
        ui.add(egui::Label::new(caption).truncate());
    }
}

/// The width that all buttons at the right need.
const ROOM: f32 = 880.0;

/// Paints the frame of a marked part.
pub(super) fn paint_mark(ui: &Ui, painter: &egui::Painter, part: Rect) {
    painter.rect_filled(part, egui::CornerRadius::ZERO, theme::accent(ui).gamma_multiply(0.25));
    painter.rect_stroke(part, egui::CornerRadius::ZERO, theme::focus(ui), egui::StrokeKind::Inside);
}

/// The whole pixels between two corners; `None` when they are too few to be compared.
pub(super) fn part(from: egui::Pos2, to: egui::Pos2) -> Option<Crop> {
    let (low, high) = (from.min(to).floor(), from.max(to).floor());
    let (width, height) = ((high.x - low.x) as u32, (high.y - low.y) as u32);
    (width.min(height) >= LEAST).then_some(Crop([low.x as u32, low.y as u32, width, height]))
}

/// Limits a zoom: from half of what fits the window up to a close-up.
fn within(zoom: f32, fit: f32) -> f32 {
    zoom.clamp(fit.min(1.0) * 0.5, 32.0)
}

fn keys(ui: &Ui, panel: &mut Panel<'_>, list: &[tessera_core::ids::ItemId]) {
    if panel.view.modal.is_some() || Popup::is_any_open(ui.ctx()) || panel.view.is_writing(ui.ctx()) {
        return;
    }
    let Some(viewer) = &mut panel.view.viewer else { return };
    let mut step = 0;
    let mut leave = false;
    ui.input_mut(|input| {
        let mut pressed = |key| input.consume_key(Modifiers::NONE, key);
        step = isize::from(pressed(Key::ArrowRight) || pressed(Key::PageDown) || pressed(Key::Space))
            - isize::from(pressed(Key::ArrowLeft) || pressed(Key::PageUp));
        if pressed(Key::Home) {
            step = -(list.len() as isize);
        }
        if pressed(Key::End) {
            step = list.len() as isize;
        }
        leave = pressed(Key::Escape);
        if pressed(Key::F) {
            (viewer.zoom, viewer.offset) = (None, Vec2::ZERO);
        }
        if pressed(Key::Plus) || pressed(Key::Equals) {
            viewer.zoom = Some(within(viewer.zoom.unwrap_or(viewer.fit) * 1.25, viewer.fit));
        }
        if pressed(Key::Minus) {
            viewer.zoom = Some(within(viewer.zoom.unwrap_or(viewer.fit) / 1.25, viewer.fit));
        }
    });
    if step != 0 {
        panel.view.selection.step(list, step, Pick::Alone);
    }
    if leave {
        panel.view.viewer = None;
    }
}
