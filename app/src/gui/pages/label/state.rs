//! The state of the labelling page.

use egui::Ui;
use tessera_core::ids::ItemId;

use super::class_field::ClassField;
use super::keys::Burst;
use super::many::Batch;
use super::reading::Reading;

/// The state of the labelling page.
#[derive(Default)]
pub struct LabelView {
    /// Whether the review of labels is shown, not the suggestions.
    pub reviews: bool,
    /// The text field for a class.
    pub field: ClassField,
    /// The batch of images to be labelled at once, while there is one.
    pub batch: Option<Batch>,
    /// Whether a batch is to be opened once there are suggestions.
    pub wants_batch: bool,
    /// What is shown, and since when.
    pub(super) reading: Reading,
    /// The suggestion that Enter accepts, by its place, and the keys that went there.
    pub(super) chosen: usize,
    pub(super) moves: usize,
    /// Letters typed right after A or X.
    pub(super) burst: Burst,
    /// The place of the doubt on the screen.
    pub(super) doubt: usize,
    /// The image of that doubt, as painted last.
    pub(super) reviewed: Option<ItemId>,
}

impl LabelView {
    /// Turns to the review of labels, from the first doubt on.
    pub fn begin_review(&mut self) {
        (self.reviews, self.doubt) = (true, 0);
    }

    /// Notes that an image is shown with classes suggested for it. Returns whether both were shown
    /// long enough to be read.
    pub(super) fn is_read(&mut self, ui: &Ui, image: ItemId, ranking: &[(String, f64)]) -> bool {
        let is_another = self.reading.show(ui, image, ranking);
        if self.reading.has_just_begun(ui) {
            // The first of other suggestions is meant.
            (self.chosen, self.moves) = (0, 0);
        }
        if is_another && !ui.ctx().text_edit_focused() && !self.field.wants_focus {
            // The unfinished text was meant for another image.
            self.field.text.clear();
        }
        let is_read = self.reading.is_done(ui, image);
        if !is_read {
            self.reading.wait(ui);
        }
        is_read
    }
}
