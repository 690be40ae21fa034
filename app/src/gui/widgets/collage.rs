//! The recognised image beside its best virtual instance, a collage of pieces of training images.

use egui::{Align2, Color32, CornerRadius, FontId, Pos2, Rect, Sense, Stroke, StrokeKind, TextureId, Ui, WidgetInfo, pos2, vec2};

use super::super::theme;
use super::{WHOLE, fitted};
use crate::session::collage::Collage;

/// Shows a query of some size in pixels and its collage, at most `highest` points high. Returns the
/// piece under the pointer. `hovered` is the one of the last frame.
pub fn collage_ui(
    ui: &mut Ui,
    size: (u32, u32),
    textures: [Option<TextureId>; 2],
    collage: &Collage,
    highest: f32,
    hovered: Option<usize>,
) -> Option<usize> {
    let (gap, caption) = (theme::GAP * 1.5, 22.0);
    let side = ((ui.available_width() - gap) / 2.0).clamp(120.0, highest.clamp(160.0, 460.0));
    let (area, response) = ui.allocate_exact_size(vec2(2.0 * side + gap, side + caption), Sense::hover());
    let words = "This image, and the best virtual instance painted with pieces of training images";
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Image, true, words));
    let mut found = None;
    let captions = ["This image", "Pieces of training images"];
    for ((texture, words), x) in textures.into_iter().zip(captions).zip([area.left(), area.left() + side + gap]) {
        let frame = Rect::from_min_size(pos2(x, area.top()), vec2(side, side));
        ui.painter().rect_filled(frame, CornerRadius::same(4), theme::behind_pictures(ui));
        let rect = fitted(size, frame.shrink(3.0));
        if let Some(texture) = texture {
            ui.painter().image(texture, rect, WHOLE, Color32::WHITE);
        }
        let font = FontId::proportional(12.0);
        ui.painter().text(frame.left_bottom() + vec2(2.0, 6.0), Align2::LEFT_TOP, words, font, ui.visuals().text_color());
        let scale = rect.width() / size.0.max(1) as f32;
        if let Some(pointer) = ui.ctx().pointer_hover_pos().filter(|pointer| rect.contains(*pointer)) {
            let at = (pointer - rect.min) / scale;
            found = collage.piece_at([at.x, at.y]);
        }
        if let Some(piece) = hovered.and_then(|i| collage.pieces.get(i)) {
            let middle: Pos2 = rect.min + vec2(piece.middle[0], piece.middle[1]) * scale;
            let square = Rect::from_center_size(middle, vec2(2.0, 2.0) * piece.half * scale).intersect(rect);
            ui.painter().rect_stroke(square, CornerRadius::ZERO, Stroke::new(3.0, Color32::BLACK), StrokeKind::Middle);
            ui.painter().rect_stroke(square, CornerRadius::ZERO, Stroke::new(1.5, Color32::WHITE), StrokeKind::Middle);
        }
    }
    found
}
