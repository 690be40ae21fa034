//! Every colour and size of the window.

use egui::{Color32, CornerRadius, FontFamily, FontId, Stroke, TextStyle, Theme, ThemePreference, Visuals};

use crate::settings;

/// Points between widgets that belong together.
pub const GAP: f32 = 8.0;
/// Rounding of cards, cells and chips.
pub const ROUNDING: u8 = 6;

const ACCENT: Color32 = Color32::from_rgb(38, 110, 190);
const ACCENT_DARK: Color32 = Color32::from_rgb(92, 160, 235);

/// Sets fonts, colours and sizes.
pub fn apply(ctx: &egui::Context, theme: settings::Theme, scale: f32) {
    ctx.set_theme(match theme {
        settings::Theme::System => ThemePreference::System,
        settings::Theme::Light => ThemePreference::Light,
        settings::Theme::Dark => ThemePreference::Dark,
    });
    ctx.set_visuals_of(Theme::Light, visuals(false));
    ctx.set_visuals_of(Theme::Dark, visuals(true));
    ctx.all_styles_mut(|style| {
        style.text_styles = [(TextStyle::Small, 11.5), (TextStyle::Body, 14.0), (TextStyle::Button, 14.0), (TextStyle::Heading, 20.0)]
            .into_iter()
            .map(|(name, size)| (name, FontId::new(size, FontFamily::Proportional)))
            .chain([(TextStyle::Monospace, FontId::new(13.0, FontFamily::Monospace))])
            .collect();
        style.spacing.item_spacing = egui::vec2(GAP, 6.0);
        style.spacing.button_padding = egui::vec2(10.0, 4.0);
        style.spacing.interact_size.y = 26.0;
        style.spacing.scroll.floating = false;
        style.spacing.scroll.bar_width = 9.0;
        style.spacing.scroll.foreground_color = false;
        style.visuals.slider_trailing_fill = true;
    });
    ctx.set_zoom_factor(scale);
}

fn visuals(dark: bool) -> Visuals {
    let mut v = if dark { Visuals::dark() } else { Visuals::light() };
    let accent = if dark { ACCENT_DARK } else { ACCENT };
    let grey = Color32::from_gray;
    let (panel, field, faint, line, text) =
        if dark { (grey(30), grey(20), grey(50), grey(64), grey(222)) } else { (grey(246), grey(255), grey(237), grey(212), grey(34)) };
    v.panel_fill = panel;
    v.window_fill = if dark { grey(36) } else { grey(252) };
    v.extreme_bg_color = field;
    v.faint_bg_color = faint;
    v.window_stroke = Stroke::new(1.0, line);
    v.hyperlink_color = accent;
    v.selection.bg_fill = if dark { Color32::from_rgb(36, 74, 118) } else { Color32::from_rgb(198, 221, 246) };
    // Text on the ground of what is selected: a contrast of 5 to 1.
    v.selection.stroke = Stroke::new(1.5, if dark { Color32::from_rgb(150, 198, 250) } else { Color32::from_rgb(18, 80, 148) });
    v.weak_text_color = Some(if dark { grey(150) } else { grey(102) });
    v.warn_fg_color = if dark { Color32::from_rgb(240, 180, 80) } else { Color32::from_rgb(160, 96, 0) };
    v.error_fg_color = if dark { Color32::from_rgb(255, 120, 110) } else { Color32::from_rgb(186, 36, 30) };
    let radius = CornerRadius::same(ROUNDING);
    (v.window_corner_radius, v.menu_corner_radius) = (CornerRadius::same(10), CornerRadius::same(8));
    let w = &mut v.widgets;
    for state in [&mut w.noninteractive, &mut w.inactive, &mut w.hovered, &mut w.active, &mut w.open] {
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
    w.noninteractive.fg_stroke = Stroke::new(1.0, text);
    w.noninteractive.bg_stroke = Stroke::new(1.0, line);
    let (rest, over, press) = if dark { (grey(52), grey(66), grey(78)) } else { (grey(228), grey(216), grey(204)) };
    for (state, fill) in [(&mut w.inactive, rest), (&mut w.hovered, over), (&mut w.active, press), (&mut w.open, over)] {
        (state.weak_bg_fill, state.bg_fill) = (fill, fill);
        state.fg_stroke = Stroke::new(1.0, text);
    }
    // The colour of strong text, too.
    w.active.fg_stroke.color = if dark { Color32::WHITE } else { Color32::BLACK };
    w.hovered.bg_stroke = Stroke::new(1.0, accent);
    w.active.bg_stroke = Stroke::new(1.5, accent);
    w.inactive.bg_stroke = Stroke::new(1.0, line);
    v
}

/// The accent colour: of what is selected, and of the main button.
pub fn accent(ui: &egui::Ui) -> Color32 {
    if ui.visuals().dark_mode { ACCENT_DARK } else { ACCENT }
}

/// The text colour on the accent colour.
pub fn on_accent(ui: &egui::Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_gray(16) } else { Color32::WHITE }
}

/// The neutral ground behind pictures.
pub fn behind_pictures(ui: &egui::Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_gray(44) } else { Color32::from_gray(224) }
}

/// The ground of a bar that is not full, and of an empty cell of a matrix.
pub fn track(ui: &egui::Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_gray(56) } else { Color32::from_gray(238) }
}

/// The ground of a card on a panel.
pub fn card(ui: &egui::Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_gray(37) } else { Color32::WHITE }
}

/// Buttons without a frame until the pointer is on them, as menus are.
pub fn flat(ui: &mut egui::Ui) {
    let inactive = &mut ui.visuals_mut().widgets.inactive;
    (inactive.weak_bg_fill, inactive.bg_stroke) = (Color32::TRANSPARENT, Stroke::NONE);
}

/// The colour of success.
pub fn good(ui: &egui::Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_rgb(110, 200, 130) } else { Color32::from_rgb(24, 120, 60) }
}

/// The background of a matrix cell that holds `share` of its row: good on the diagonal, bad
/// elsewhere.
pub fn matrix_cell(ui: &egui::Ui, share: f32, right: bool) -> Color32 {
    let base = card(ui);
    let full = if right { accent(ui) } else { ui.visuals().error_fg_color };
    base.lerp_to_gamma(full, 0.12 + 0.7 * share.clamp(0.0, 1.0))
}

/// A text colour that is readable on a background of any colour.
pub fn text_on(ground: Color32) -> Color32 {
    let [r, g, b, _] = ground.to_array().map(f32::from);
    if 0.299 * r + 0.587 * g + 0.114 * b > 140.0 { Color32::from_gray(20) } else { Color32::from_gray(250) }
}

/// The colour of the class at a position, unless the user chose one. Stable, and never runs out:
/// beyond the first few, hues follow the golden angle and lightness goes round in three steps.
pub fn class(position: u32, chosen: Option<[u8; 3]>) -> Color32 {
    rgb(crate::session::colours::class(position, chosen))
}

/// A colour of red, green and blue.
pub fn rgb([r, g, b]: [u8; 3]) -> Color32 {
    Color32::from_rgb(r, g, b)
}

/// The colours that join pieces of the query with training images: the same as in drawn
/// explanations.
pub fn tile(number: usize) -> Color32 {
    let [r, g, b] = crate::session::draw::COLOURS[number % crate::session::draw::COLOURS.len()].0;
    Color32::from_rgb(r, g, b)
}

/// The outline of the widget that has the focus.
pub fn focus(ui: &egui::Ui) -> Stroke {
    Stroke::new(2.0, accent(ui))
}

/// A badge in the corner of a thumbnail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Badge {
    /// Predicted wrongly.
    Wrong,
    /// Its file is not there.
    Missing,
    /// Its file has changed.
    Changed,
    /// It has a caption.
    Caption,
}

/// The colour of a badge.
pub fn badge(badge: Badge) -> Color32 {
    match badge {
        Badge::Wrong => Color32::from_rgb(196, 62, 48),
        Badge::Missing => Color32::from_rgb(224, 150, 30),
        Badge::Changed => Color32::from_rgb(150, 110, 200),
        Badge::Caption => Color32::from_rgb(96, 110, 124),
    }
}
