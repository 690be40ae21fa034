//! The training images that mislead the recogniser, listed on the page of training.

use egui::{RichText, ScrollArea, Ui, vec2};
use tessera_core::ckm::harm::Harm;

use crate::command::Command;
use crate::gui::listing::Scope;
use crate::gui::panel::Panel;
use crate::gui::widgets::{WHOLE, chip_ui, fitted, main_button};
use crate::gui::without::in_words;
use crate::gui::words::count;
use crate::job::JobKind;

/// Images listed at most, but for those whose harm is clear.
const LISTED: usize = 30;
/// The side of a thumbnail.
const SIDE: f32 = 40.0;

/// Returns the images to be shown.
pub(super) fn harm_ui(ui: &mut Ui, panel: &mut Panel<'_>) -> Option<Scope> {
    let running = panel.desk.jobs().of(&JobKind::Harm);
    let found = panel.desk.recognising().harm().map(|(harm, is_stale)| (std::sync::Arc::clone(harm), is_stale));
    let words =
        "Training images without which more of the judged images would be right, each class counting the same. Look at their labels first.";
    ui.label(RichText::new(words).small().weak());
    ui.horizontal_wrapped(|ui| match &running {
        Some(job) => {
            ui.spinner();
            ui.label(format!("leaving out images for {} of {}", job.snapshot.done, job.snapshot.total));
            if ui.button("Stop").clicked() {
                panel.ask(Command::Cancel(job.id));
            }
        }
        None => {
            let words = if found.is_some() { "Find them again" } else { "Find images that mislead" };
            if main_button(ui, words).on_hover_text("Scores the judged images anew without each training image").clicked() {
                panel.ask(Command::FindHarm);
            }
        }
    });
    let (harm, is_stale) = found?;
    if is_stale {
        ui.colored_label(ui.visuals().warn_fg_color, "The library has changed since these were found.");
    }
    let is_there = |harm: &&Harm| panel.label_of(harm.image).is_some();
    let harmful: Vec<Harm> = harm.images.iter().filter(|harm| harm.is_harmful()).filter(is_there).copied().collect();
    if harmful.is_empty() {
        ui.label(format!("None: without no single image more of {} would be right.", count(harm.judged, "judged image")));
        return None;
    }
    let clear = harmful.iter().filter(|harm| harm.is_clear()).count();
    ui.label(format!("{clear} clearly, by two standard errors or more; {} more perhaps.", harmful.len() - clear));
    let harmful = &harmful[..harmful.len().min(clear.max(LISTED))];
    let mut show = None;
    let all = harmful.iter().map(|harm| harm.image).collect();
    if ui.button(format!("Show all {} in Browse", harmful.len())).clicked() {
        show = Some(Scope::These("misleading".into(), all));
    }
    ScrollArea::vertical().id_salt("harm").max_height(360.0).auto_shrink([false, true]).show(ui, |ui| {
        for of in harmful {
            if row_ui(ui, panel, of, harm.judged) {
                show = Some(Scope::These("misleading".into(), vec![of.image]));
            }
        }
    });
    show
}

/// A training image and its harm. Returns whether it was pressed.
fn row_ui(ui: &mut Ui, panel: &mut Panel<'_>, of: &Harm, judged: usize) -> bool {
    let Some(image) = panel.state().and_then(|state| state.image(of.image).cloned()) else { return false };
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(SIDE, SIDE), egui::Sense::hover());
        let texture = image.content.and_then(|content| panel.textures.get(content.hash.0, image.id)).map(|t| (t.id(), t.size()));
        if let Some((texture, [width, height])) = texture {
            ui.painter().image(texture, fitted((width as u32, height as u32), rect), WHOLE, egui::Color32::WHITE);
        }
        ui.vertical(|ui| {
            // A class that is long has a line of its own.
            let pressed = ui.horizontal_wrapped(|ui| {
                if let Some(label) = image.label() {
                    let colour = panel.colour(label);
                    chip_ui(ui, label, colour, "");
                }
                ui.link(image.file_name())
            });
            ui.add(egui::Label::new(RichText::new(in_words(of, judged)).small().weak()).wrap());
            pressed.inner.on_hover_text("Show it in Browse").clicked()
        })
        .inner
    })
    .inner
}
