//! The list of clusters: only the visible ones are laid out.

use egui::{Rect, ScrollArea, Ui, UiBuilder, pos2, vec2};

use super::{Chosen, ClustersView, number_at, place_of_number};
use crate::gui::panel::Panel;
use crate::session::desk::clusters::ClusterAnswer;

/// Points between cards, and between images.
pub(super) const GAP: f32 = 8.0;
/// Points between the edge of a card and what is in it.
pub(super) const PADDING: f32 = 8.0;
/// The height of the line with the name of a cluster, and of that with its classes and words.
pub(super) const NAME: f32 = 28.0;
pub(super) const WORDS: f32 = 24.0;
/// The side of an image, as a share of that of thumbnails elsewhere.
const SIDE: f32 = 0.75;

/// How the images of a cluster are laid out.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Images in a row, and the side of each.
    pub(super) columns: usize,
    pub(super) side: f32,
}

impl Layout {
    /// Images of about this side that fill a width.
    fn new(width: f32, side: f32) -> Self {
        let columns = (((width + GAP) / (side + GAP)).floor() as usize).max(2);
        Self { columns, side: (width + GAP) / columns as f32 - GAP }
    }

    /// The height of so many rows.
    pub(super) fn height(self, rows: usize) -> f32 {
        rows as f32 * (self.side + GAP) - GAP
    }
}

impl ClustersView {
    pub(super) fn list_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, answer: &ClusterAnswer, chosen: &Chosen) {
        let width = ui.available_width() - ui.spacing().scroll.bar_width - 6.0;
        let layout = Layout::new(width - 2.0 * PADDING, panel.settings.thumbnail_side * SIDE);
        let mut tops = Vec::with_capacity(answer.len() + 1);
        let mut y = 0.0;
        for place in 0..answer.len() {
            tops.push(y);
            y += self.height(answer, place, layout) + GAP;
        }
        tops.push(y);
        let mut area = ScrollArea::vertical().id_salt("clusters").auto_shrink([false, false]);
        let current = self.current.and_then(|number| place_of_number(answer, number));
        if let Some(place) = current.filter(|_| std::mem::take(&mut self.is_hidden)) {
            let (top, bottom) = (tops[place], tops[place + 1] - GAP);
            if top < self.seen.0 || bottom - top > self.seen.1 {
                area = area.vertical_scroll_offset(top);
            } else if bottom > self.seen.0 + self.seen.1 {
                area = area.vertical_scroll_offset(bottom - self.seen.1);
            }
        }
        let output = area.show_viewport(ui, |ui, view| {
            ui.set_height((y - GAP).max(0.0));
            let origin = ui.min_rect().min;
            let first = tops.partition_point(|top| *top <= view.top()).saturating_sub(1);
            for place in (first..answer.len()).take_while(|place| tops[*place] < view.bottom()) {
                let min = pos2(origin.x, origin.y + tops[place]);
                let rect = Rect::from_min_size(min, vec2(width, tops[place + 1] - tops[place] - GAP));
                let builder = UiBuilder::new().id_salt(("cluster", number_at(answer, place))).max_rect(rect);
                ui.scope_builder(builder, |ui| self.card_ui(ui, panel, answer, chosen, place, layout));
            }
        });
        self.seen = (output.state.clamped_offset().y, output.inner_rect.height());
    }

    fn height(&self, answer: &ClusterAnswer, place: usize, layout: Layout) -> f32 {
        let words = if says(answer, place) { WORDS } else { 0.0 };
        2.0 * PADDING + NAME + words + layout.height(self.rows(answer, place, layout))
    }

    /// The rows of images that are shown of a cluster.
    pub(super) fn rows(&self, answer: &ClusterAnswer, place: usize, layout: Layout) -> usize {
        let is_unfolded = place == answer.clusters.len() || self.unfolded.contains(&number_at(answer, place));
        if is_unfolded { answer.images(place).len().div_ceil(layout.columns).max(1) } else { 1 }
    }
}

/// Whether there are classes or words to tell of a cluster.
pub(super) fn says(answer: &ClusterAnswer, place: usize) -> bool {
    answer.clusters.get(place).is_some_and(|cluster| !cluster.classes.is_empty() || !cluster.words.is_empty())
}
