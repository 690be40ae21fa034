//! Rows of one height inside an area that scrolls: only those on the screen are painted, however
//! many there are.

use egui::{Sense, Ui, vec2};

/// Rows before and behind those on the screen that are painted too, so that the keyboard reaches
/// them.
const AROUND: usize = 2;

/// Paints the rows on the screen of so many, each by its number. `height` is that of a row without
/// the space between rows.
pub fn rows_ui(ui: &mut Ui, height: f32, n: usize, mut row: impl FnMut(&mut Ui, usize)) {
    let step = height + ui.spacing().item_spacing.y;
    let (top, clip) = (ui.cursor().top(), ui.clip_rect());
    let place = |y: f32| (((y - top) / step).max(0.0) as usize).min(n);
    let (first, last) = (place(clip.top()).saturating_sub(AROUND), (place(clip.bottom()) + 1 + AROUND).min(n));
    let space = |ui: &mut Ui, rows: usize| {
        if rows > 0 {
            ui.allocate_exact_size(vec2(1.0, rows as f32 * step - ui.spacing().item_spacing.y), Sense::hover());
        }
    };
    space(ui, first);
    (first..last).for_each(|i| row(ui, i));
    space(ui, n - last);
}
