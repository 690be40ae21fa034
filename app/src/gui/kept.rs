//! The settings: read once, applied and written whenever they have changed.

use std::path::PathBuf;

use egui::Context;

use super::theme;
use crate::session::desk::Desk;
use crate::session::desk::view::{Notice, Tone};
use crate::settings::Settings;

/// The settings, which panels may change in place.
pub(super) struct KeptSettings {
    pub(super) settings: Settings,
    /// As they were written last.
    saved: Settings,
    place: Option<PathBuf>,
}

impl KeptSettings {
    /// Reads the settings from a file. Each problem with it becomes a notice.
    pub(super) fn load(place: Option<PathBuf>) -> (Self, Vec<Notice>) {
        let (settings, problems) = place.as_deref().map_or_else(Default::default, Settings::load);
        let problems = problems.into_iter().map(|words| Notice::new(words, Tone::Problem));
        (Self { saved: settings.clone(), settings, place }, problems.collect())
    }

    /// Applies the settings to the window and the desk.
    pub(super) fn apply(&self, ctx: &Context, desk: &mut Desk) {
        let settings = &self.settings;
        theme::apply(ctx, settings.theme, settings.scale);
        desk.set_search(settings.hits, settings.search_leaves);
        desk.limit_picture_memory(settings.picture_megabytes);
    }

    /// If the settings have changed, applies them and has them written by another thread.
    pub(super) fn keep(&mut self, ctx: &Context, desk: &mut Desk) {
        // While a slider is dragged, its value changes in every frame.
        if self.settings == self.saved || ctx.egui_is_using_pointer() {
            return;
        }
        self.apply(ctx, desk);
        self.saved = self.settings.clone();
        if let Some(place) = &self.place {
            desk.save_settings(self.settings.clone(), place.clone());
        }
    }
}
