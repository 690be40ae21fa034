//! How the labelling page stands.

use egui::Ui;
use tessera_core::ids::ItemId;

use super::class_field::ClassField;
use super::keys::Burst;
use super::many::Batch;
use super::reading::Reading;

/// How the labelling page stands.
#[derive(Default)]
pub struct LabelView {
    /// Whether labels are reviewed, not given.
    pub reviews: bool,
    /// The class being written.
    pub field: ClassField,
    /// Many images labelled at once.
    pub batch: Option<Batch>,
    /// Whether that is asked for, once there are suggestions.
    pub wants_batch: bool,
    /// What is shown, and since when.
    pub(super) reading: Reading,
    /// Letters behind A or X.
    pub(super) burst: Burst,
    /// The place of the doubted label that is looked at.
    pub(super) doubt: usize,
    /// Its image, as painted last.
    pub(super) reviewed: Option<ItemId>,
}

impl LabelView {
    /// Turns to the review of labels, from the first doubt on.
    pub fn begin_review(&mut self) {
        (self.reviews, self.doubt) = (true, 0);
    }

    /// Notes that an image is shown with classes suggested for it. Returns whether both were there
    /// long enough to be read.
    pub(super) fn is_read(&mut self, ui: &Ui, image: ItemId, ranking: &[(String, f64)]) -> bool {
        let is_another = self.reading.show(ui, image, ranking);
        if is_another && !ui.ctx().text_edit_focused() && !self.field.wants_focus {
            // What was begun and left was meant for another image.
            self.field.text.clear();
        }
        let is_read = self.reading.is_done(ui, image);
        if !is_read {
            self.reading.wait(ui);
        }
        is_read
    }
}
