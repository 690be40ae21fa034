//! Whether the suggestions for an image were on the screen long enough to be read; keys pressed
//! sooner were meant for something else.

use std::time::Duration;

use egui::Ui;
use tessera_core::ids::ItemId;

use super::parts::CHOICES;

/// Seconds for which an image must be shown before keys apply to it.
const SEEN: f64 = 0.12;
/// Seconds for which a suggestion must be shown that has changed while the image was on the screen.
const CHANGED: f64 = 0.35;
/// Seconds for which the window says that a suggestion has changed.
const TOLD: f64 = 4.0 * CHANGED;

/// What is shown, and since when.
#[derive(Default)]
pub(super) struct Reading {
    shown: Option<Shown>,
    /// Whether the classes changed while the image was on the screen.
    has_changed: bool,
}

/// An image with the classes suggested for it.
struct Shown {
    image: ItemId,
    classes: Vec<String>,
    /// The time of the last change of either, in seconds of the window's clock.
    since: f64,
    /// Since when the image is shown.
    image_since: f64,
}

fn now(ui: &Ui) -> f64 {
    ui.input(|input| input.time)
}

impl Reading {
    /// Notes what is shown. Returns whether the image has changed.
    pub(super) fn show(&mut self, ui: &Ui, image: ItemId, ranking: &[(String, f64)]) -> bool {
        let classes: Vec<String> = ranking.iter().take(CHOICES).map(|(class, _)| class.clone()).collect();
        let old = self.shown.as_ref();
        if old.is_some_and(|old| old.image == image && old.classes == classes) {
            return false;
        }
        let is_another = old.is_some_and(|old| old.image != image);
        // The first suggestion replaces nothing that a key could have been meant for.
        self.has_changed = old.is_some_and(|old| old.image == image && !old.classes.is_empty());
        let image_since = old.filter(|old| old.image == image).map_or(now(ui), |old| old.image_since);
        self.shown = Some(Shown { image, classes, since: now(ui), image_since });
        is_another
    }

    /// Notes that nothing is shown that keys could apply to.
    pub(super) fn clear(&mut self) {
        self.shown = None;
    }

    /// Seconds for which it must be shown.
    fn enough(&self) -> f64 {
        if self.has_changed { CHANGED } else { SEEN }
    }

    /// Whether this image was shown long enough.
    pub(super) fn is_done(&self, ui: &Ui, image: ItemId) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.image == image && now(ui) - shown.since >= self.enough())
    }

    /// Whether this image was shown long enough, whatever is suggested for it.
    pub(super) fn is_seen(&self, ui: &Ui, image: ItemId) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.image == image && now(ui) - shown.image_since >= SEEN)
    }

    /// Whether image or classes changed in this frame.
    pub(super) fn has_just_begun(&self, ui: &Ui) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.since == now(ui))
    }

    /// Requests a repaint for the time when it will have been shown long enough.
    pub(super) fn wait(&self, ui: &Ui) {
        ui.ctx().request_repaint_after(Duration::from_secs_f64(self.enough()));
    }

    /// Whether something is shown, and its last change is long enough ago.
    pub(super) fn is_settled(&self, ui: &Ui) -> bool {
        self.shown.as_ref().is_some_and(|shown| !self.has_changed || now(ui) - shown.since >= CHANGED)
    }

    /// Whether the classes changed a moment ago.
    pub(super) fn has_just_changed(&self, ui: &Ui) -> bool {
        self.has_changed && self.shown.as_ref().is_some_and(|shown| now(ui) - shown.since < TOLD)
    }
}
