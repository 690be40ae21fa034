//! The captions of the selected image: written, changed, deleted.

use egui::{Key, TextEdit, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::event::Caption;
use tessera_core::library::state::Image;

use crate::command::Command;
use crate::gui::panel::Panel;
use crate::gui::widgets::heading;

/// The captions being written.
#[derive(Default)]
pub(in crate::gui::pages) struct CaptionDrafts {
    /// The image that they are for.
    image: Option<ItemId>,
    /// The caption under edit and its text.
    editing: Option<(usize, String)>,
    /// The text of a new caption.
    fresh: String,
}

pub(super) fn captions_ui(ui: &mut Ui, panel: &mut Panel<'_>, drafts: &mut CaptionDrafts, image: &Image) {
    heading(ui, "Captions");
    if drafts.image != Some(image.id) {
        let begun = std::mem::replace(drafts, CaptionDrafts { image: Some(image.id), ..CaptionDrafts::default() });
        keep(panel, begun);
    }
    let mut changed: Option<Vec<Caption>> = None;
    for (i, caption) in image.captions.iter().enumerate() {
        ui.horizontal_top(|ui| {
            if ui.small_button("×").on_hover_text("Delete this caption").clicked() {
                let mut captions = image.captions.clone();
                captions.remove(i);
                changed = Some(captions);
            }
            match &mut drafts.editing {
                Some((at, text)) if *at == i => {
                    let response = ui.add(TextEdit::multiline(text).desired_rows(2).desired_width(f32::INFINITY).return_key(None));
                    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Caption"));
                    if !response.has_focus() && !response.lost_focus() {
                        response.request_focus();
                    }
                    let (enter, escape) = ui.input(|input| (input.key_pressed(Key::Enter), input.key_pressed(Key::Escape)));
                    if escape {
                        drafts.editing = None;
                    } else if enter || response.lost_focus() {
                        let mut captions = image.captions.clone();
                        captions[i] = Caption { text: text.clone(), by_user: true };
                        changed = Some(captions);
                        drafts.editing = None;
                    }
                }
                _ => {
                    let hover = if caption.by_user { "Yours; press to edit" } else { "Read from a file; press to edit" };
                    let label = egui::Label::new(&caption.text).wrap().sense(egui::Sense::click());
                    if ui.add(label).on_hover_text(hover).clicked() {
                        drafts.editing = Some((i, caption.text.clone()));
                    }
                }
            }
        });
    }
    let hint = if image.captions.is_empty() { "Write a caption, so that words can find it" } else { "Another caption" };
    let edit = TextEdit::singleline(&mut drafts.fresh).hint_text(hint).desired_width(f32::INFINITY).char_limit(10_000);
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "New caption"));
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
        drafts.fresh.clear();
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) && !drafts.fresh.trim().is_empty() {
        let mut captions = image.captions.clone();
        captions.push(Caption { text: std::mem::take(&mut drafts.fresh), by_user: true });
        changed = Some(captions);
        response.request_focus();
    }
    if let Some(captions) = changed {
        panel.ask(Command::Caption(image.id, captions));
    }
}

/// Saves the unfinished captions of another image.
fn keep(panel: &mut Panel<'_>, drafts: CaptionDrafts) {
    let Some(image) = drafts.image.and_then(|id| panel.state()?.image(id).cloned()) else { return };
    let mut captions = image.captions.clone();
    if let Some((at, text)) = drafts.editing
        && let Some(caption) = captions.get_mut(at).filter(|caption| caption.text != text)
    {
        *caption = Caption { text, by_user: true };
    }
    if !drafts.fresh.trim().is_empty() {
        captions.push(Caption { text: drafts.fresh, by_user: true });
    }
    if captions != image.captions {
        panel.ask(Command::Caption(image.id, captions));
    }
}
