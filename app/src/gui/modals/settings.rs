//! The settings; most changes take effect at once.

use egui::{RichText, Slider, Ui};
use tessera_core::error::display;

use crate::gui::panel::Panel;
use crate::settings::{Settings, Theme};

pub(super) fn settings_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.heading("Settings");
    egui::Grid::new("settings").num_columns(2).spacing([20.0, 10.0]).show(ui, |ui| {
        ui.label("Appearance");
        ui.horizontal(|ui| {
            for (theme, words) in [(Theme::System, "As the system"), (Theme::Light, "Light"), (Theme::Dark, "Dark")] {
                ui.selectable_value(&mut panel.settings.theme, theme, words);
            }
        });
        ui.end_row();
        let s = &mut *panel.settings;
        let name = ui.label("Size of everything").id;
        ui.add(Slider::new(&mut s.scale, 0.5..=3.0).step_by(0.05)).labelled_by(name);
        ui.end_row();
        let name = ui
            .label("Hits of a search")
            .on_hover_text("Images that are found by similarity, at most. Of a search by words all that answer are listed; so many come at once, the others as they are scrolled to.")
            .id;
        ui.add(Slider::new(&mut s.hits, 1..=1000).logarithmic(true)).labelled_by(name);
        ui.end_row();
        let name = ui
            .label("Thoroughness of a search")
            .on_hover_text("Leaves of the caption memory that are looked at, beside the lists of all images that have a word")
            .id;
        ui.add(Slider::new(&mut s.search_leaves, 1..=4096).logarithmic(true)).labelled_by(name);
        ui.end_row();
        let name = ui.label("Threads (0: all)").on_hover_text("From the next start on").id;
        ui.add(Slider::new(&mut s.threads, 0..=256).clamping(egui::SliderClamping::Edits)).labelled_by(name);
        ui.end_row();
        let name =
            ui.label("Memory for decoding, MB").on_hover_text("What all pictures being decoded may need; one alone is always let in").id;
        ui.add(Slider::new(&mut s.picture_megabytes, 64..=16_384).logarithmic(true).clamping(egui::SliderClamping::Edits))
            .labelled_by(name);
        ui.end_row();
        let name = ui.label("Memory for thumbnails, MB").on_hover_text("From the next start on").id;
        ui.add(Slider::new(&mut s.thumbnail_megabytes, 16..=1024).logarithmic(true).clamping(egui::SliderClamping::Edits))
            .labelled_by(name);
        ui.end_row();
    });
    if ui.button("Usual settings").on_hover_text("What was opened lately is kept").clicked() {
        // The order of labelling is chosen on its page, and the folders are a memory.
        let recents = std::mem::take(&mut panel.settings.recents);
        let label_order = panel.settings.label_order;
        *panel.settings = Settings { recents, label_order, ..Default::default() };
    }
    if let Some(place) = Settings::place() {
        ui.label(RichText::new(format!("Kept in {}", display(&place))).small().weak());
    }
}
