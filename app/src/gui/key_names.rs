//! The names of the keys of classes: digits, alone and with Shift, in the order of the classes.

use egui::{Color32, FontId, Pos2, TextStyle, Ui};

/// Classes that have a key: the first ones in the list.
pub(super) const KEYED: usize = 20;

/// The key of the class at a place in the list.
pub(super) fn key_of(place: usize) -> Option<String> {
    match place {
        0..=8 => Some((place + 1).to_string()),
        9 => Some("0".into()),
        10..=18 => Some(format!("Shift+{}", place - 9)),
        19 => Some("Shift+0".into()),
        _ => None,
    }
}

/// Paints a key around a point, an arrow for Shift, in a smaller type where it would be wider than
/// `width`.
pub(super) fn paint_key(ui: &Ui, centre: Pos2, width: f32, key: &str, colour: Color32) {
    let laid_out = |font| ui.painter().layout_no_wrap(key.replace("Shift+", "⬆"), font, colour);
    let font = TextStyle::Small.resolve(ui.style());
    let mut words = laid_out(font.clone());
    if words.size().x > width {
        words = laid_out(FontId { size: font.size * width / words.size().x, ..font });
    }
    ui.painter().galley(centre - words.size() / 2.0, words, colour);
}
