//! Widgets that suggestions, batches and the review share: the picture, small images, classes to
//! choose from, and the votes of the advisers.

use egui::{Align2, CornerRadius, Rect, RichText, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};
use tessera_core::ids::ItemId;
use tessera_core::library::suggest::Vote;

use crate::gui::actions::Action;
use crate::gui::class_picker::key_spot;
use crate::gui::panel::Panel;
use crate::gui::theme;
use crate::gui::view::Pictured;
use crate::gui::widgets::{WHOLE, chip_ui, class_line, fitted, line, one_line};

/// The side of an image in the strip of the next ones, in points.
const SIDE: f32 = 84.0;
/// Suggested classes that are listed.
pub(super) const CHOICES: usize = 9;

/// Switches between suggestions and the review of labels.
pub(super) fn mode_ui(ui: &mut Ui, reviews: &mut bool) {
    ui.selectable_value(reviews, false, "Suggest").on_hover_text("Label images that have no class");
    let hover = format!("Look at labels that may be wrong ({})", Action::Review.key_words(ui.ctx()));
    ui.selectable_value(reviews, true, "Review").on_hover_text(hover);
}

/// Paints an image as large as there is room, with the next ones below it. Returns the one of these
/// that was pressed.
pub(super) fn picture_ui(ui: &mut Ui, panel: &mut Panel<'_>, id: ItemId, next: &[(ItemId, Option<String>)]) -> Option<ItemId> {
    let image = panel.state().and_then(|state| state.image(id).cloned())?;
    panel.view.pictured = Some(Pictured { image: id, next: next.first().map(|(id, _)| *id) });
    let below = if next.is_empty() { 26.0 } else { SIDE + 56.0 };
    let (rect, response) = ui.allocate_exact_size((ui.available_size() - vec2(0.0, below)).max(vec2(60.0, 60.0)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("Picture of {}", image.file_name())));
    ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
    let size = image.content.map_or((1, 1), |content| content.size);
    // Small pictures are enlarged at most sixfold.
    let whole = fitted(size, rect.shrink(6.0));
    let scale = (whole.width() / size.0.max(1) as f32).min(6.0);
    let target = Rect::from_center_size(rect.center(), vec2(size.0 as f32, size.1 as f32) * scale);
    let texture = panel.pictures.viewed(id, scale).map(egui::TextureHandle::id);
    let texture = texture.or_else(|| image.content.and_then(|content| panel.textures.get(content.hash.0, id)).map(egui::TextureHandle::id));
    match texture {
        Some(texture) => drop(ui.painter().image(texture, target, WHOLE, egui::Color32::WHITE)),
        None => {
            let failed = matches!(panel.desk.pictures().shown(), Some((of, Err(_))) if of == id);
            let words = if failed { "This image cannot be shown; it can be labelled all the same" } else { "" };
            let (font, colour) = (TextStyle::Body.resolve(ui.style()), ui.visuals().weak_text_color());
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, words, font, colour);
        }
    }
    if response.double_clicked() {
        panel.view.look_at(id);
    }
    ui.horizontal(|ui| {
        line(ui, RichText::new(image.file_name()).strong()).on_hover_text(image.name());
        if let Some(caption) = image.captions.first() {
            line(ui, RichText::new(format!("“{}”", caption.text)).weak());
        }
    });
    let mut chosen = None;
    ui.horizontal(|ui| {
        for (id, class) in next {
            if ui.available_width() < SIDE {
                break;
            }
            if small_ui(ui, panel, *id, class.as_deref(), SIDE).on_hover_text("Take this one up next").clicked() {
                chosen = Some(*id);
            }
        }
    });
    chosen
}

/// A small image with a class below it.
pub(super) fn small_ui(ui: &mut Ui, panel: &mut Panel<'_>, id: ItemId, class: Option<&str>, side: f32) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(side, side + 20.0), Sense::click());
    let name = panel.state().and_then(|state| state.image(id)).map(|image| image.file_name()).unwrap_or_default();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{name}, {}", class.unwrap_or("no class"))));
    let picture = Rect::from_min_size(rect.min, vec2(side, side));
    let hash = panel.state().and_then(|state| state.image(id)).and_then(|image| image.content).map(|content| content.hash.0);
    let texture = hash.and_then(|hash| panel.textures.get(hash, id)).map(|texture| (texture.id(), texture.size()));
    let rounding = CornerRadius::same(4);
    ui.painter().rect_filled(picture, rounding, theme::behind_pictures(ui));
    if let Some((texture, [width, height])) = texture {
        ui.painter().image(texture, fitted((width as u32, height as u32), picture.shrink(2.0)), WHOLE, egui::Color32::WHITE);
    }
    if response.hovered() || response.has_focus() {
        ui.painter().rect_stroke(picture, rounding, theme::focus(ui), egui::StrokeKind::Inside);
    }
    if let Some(class) = class {
        let spot = pos2(rect.left() + 4.0, picture.bottom() + 10.0);
        ui.painter().circle_filled(spot, 4.0, panel.colour(class));
        let text = class_line(ui, class, side - 12.0, ui.visuals().text_color());
        ui.painter().galley(pos2(rect.left() + 11.0, picture.bottom() + 3.0), text, ui.visuals().text_color());
    }
    response
}

/// A suggested class with its key and its probability, where that says something; one is marked,
/// which Enter gives.
pub(super) fn choice_ui(ui: &mut Ui, panel: &Panel<'_>, class: &str, chance: Option<f64>, is_chosen: bool) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::click());
    let key = panel.key_of(class);
    let spoken = key.as_ref().map_or_else(String::new, |key| format!("{key}: "));
    let percent = chance.map(|chance| format!("{:.0} %", 100.0 * chance));
    let words = [Some(format!("{spoken}{class}")), percent.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ");
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, words.clone()));
    let painter = ui.painter();
    let rounding = CornerRadius::same(4);
    let ground = if response.hovered() || response.has_focus() { ui.visuals().selection.bg_fill } else { ui.visuals().faint_bg_color };
    painter.rect_filled(rect, rounding, ground);
    let share = chance.unwrap_or(0.0).clamp(0.0, 1.0) as f32;
    let full = Rect::from_min_size(pos2(rect.left(), rect.bottom() - 4.0), vec2(rect.width() * share, 4.0));
    painter.rect_filled(full, CornerRadius::same(2), panel.colour(class));
    let (font, text) = (TextStyle::Small.resolve(ui.style()), ui.visuals().text_color());
    let middle = rect.center().y - 1.0;
    if is_chosen {
        painter.rect_stroke(rect, rounding, theme::focus(ui), egui::StrokeKind::Inside);
    }
    key_spot(ui, pos2(rect.left() + 14.0, middle), panel.colour(class), key.as_deref());
    let name = class_line(ui, class, rect.width() - 82.0, text);
    painter.galley(pos2(rect.left() + 30.0, middle - name.size().y / 2.0), name, text);
    painter.text(pos2(rect.right() - 8.0, middle), Align2::RIGHT_CENTER, percent.unwrap_or_default(), font, text);
    response
}

/// The name of an adviser, and how it works.
fn adviser_words(name: &str) -> (&'static str, &'static str) {
    match name {
        "contextual" => ("Contextual search", "Online multiclass learning by contextual search, on the image as a whole"),
        "pa" => ("Linear rule", "Passive-aggressive: changes as little as each label needs"),
        "nearest" => ("Nearest image", "The labelled image that looks most like it"),
        "captions" => ("Captions", "A contextual memory tree of captions"),
        "recogniser" => ("Recogniser", "The compositional kernel machine, on pieces of the image"),
        "whole-images" => ("Whole images", "Ridge regression on what is spread over the whole image"),
        _ => ("Adviser", ""),
    }
}

/// The vote of each adviser, and its weight in the mixture.
pub(super) fn advisers_ui(ui: &mut Ui, panel: &Panel<'_>, advisers: &[Vote]) {
    for Vote { adviser, class, trust } in advisers {
        let (words, hover) = adviser_words(adviser);
        ui.horizontal(|ui| {
            let (rect, response) = ui.allocate_exact_size(vec2((ui.available_width() * 0.55).min(150.0), 22.0), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{words} is trusted {:.0} %", 100.0 * trust)));
            let text = one_line(ui, words, rect.width(), ui.visuals().text_color());
            ui.painter().galley(rect.left_top(), text, ui.visuals().text_color());
            let bar = Rect::from_min_max(pos2(rect.left(), rect.bottom() - 5.0), rect.right_bottom());
            ui.painter().rect_filled(bar, CornerRadius::same(2), ui.visuals().faint_bg_color);
            // A sleeping adviser has no say here, whatever its weight.
            if class.is_some() {
                let full = Rect::from_min_size(bar.min, vec2(bar.width() * trust.clamp(0.0, 1.0) as f32, bar.height()));
                ui.painter().rect_filled(full, CornerRadius::same(2), theme::accent(ui));
            }
            response.on_hover_text(format!("{hover}. Trusted {:.0} % now, by how often it was right", 100.0 * trust));
            match class {
                Some(class) => {
                    let colour = panel.colour(class);
                    chip_ui(ui, class, colour, "");
                }
                None => drop(ui.label(RichText::new("no opinion").small().weak())),
            }
        });
    }
    ui.label(RichText::new("The bars show how much each is trusted now.").small().weak());
}
