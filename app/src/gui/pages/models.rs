//! The page of models: saving, loading, packing and deleting them.

use egui::{RichText, ScrollArea, Ui};
use tessera_core::error::display;

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::theme;
use crate::gui::widgets::{card_ui, line, main_button};
use crate::gui::words::{bytes, count};

/// The page has no state of its own.
#[derive(Default)]
pub struct ModelsView;

impl PageUi for ModelsView {
    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(900.0);
            card_ui(ui, "This library's recogniser", |ui| {
                ui.set_min_width(ui.available_width());
                let labelled: usize = panel.view.shown.census().classes.values().sum();
                ui.label(format!(
                    "{} of {} classes, always up to date.",
                    count(labelled, "image"),
                    panel.view.shown.census().classes.len()
                ));
                if panel.desk.recognising().loaded_model().is_none() {
                    ui.colored_label(theme::good(ui), "Answers come from it.");
                } else if ui.button("Recognise with it again").clicked() {
                    panel.ask(Command::UseLibrary);
                }
                ui.horizontal_wrapped(|ui| {
                    if main_button(ui, "Save in this library").on_hover_text("Under today's state, to compare with later").clicked() {
                        let place = save_place(panel);
                        if let Some(place) = place {
                            panel.ask(Command::SaveModel(place));
                        }
                    }
                    if ui
                        .button("Save elsewhere…")
                        .on_hover_text("As a folder, or as one file when the name ends in .tessera-model")
                        .clicked()
                    {
                        panel.act(Action::SaveModel);
                    }
                    if ui.button("Load a model…").on_hover_text(Action::LoadModel.words().1).clicked() {
                        panel.act(Action::LoadModel);
                    }
                });
                ui.label(
                    RichText::new("A model holds pieces of the training images and their names, not the images themselves.").small().weak(),
                );
            });
            ui.add_space(8.0);
            let models = panel.desk.recognising().models().to_vec();
            card_ui(ui, "Saved with this library", |ui| {
                ui.set_min_width(ui.available_width());
                if models.is_empty() {
                    ui.label(RichText::new("None yet.").weak());
                }
                for model in models {
                    ui.horizontal(|ui| {
                        ui.label(RichText::new(&model.name).strong());
                        ui.label(RichText::new(bytes(model.bytes)).weak());
                        if ui.button("Load").on_hover_text("Recognise with it").clicked() {
                            panel.ask(Command::LoadModel(model.path.clone()));
                        }
                        if ui.button("Show folder").clicked() {
                            panel.ask(Command::Reveal(model.path.clone()));
                        }
                        if ui.button("Delete").on_hover_text("Deletes the saved copy; the library goes on").clicked() {
                            panel.ask(Command::DeleteModel(model.path.clone()));
                        }
                        line(ui, RichText::new(display(&model.path)).small().weak());
                    });
                }
            });
        });
    }
}

/// A path with a free name in the library's folder of models.
fn save_place(panel: &Panel<'_>) -> Option<std::path::PathBuf> {
    let folder = panel.desk.folder()?.join(tessera_core::library::MODELS);
    let is_taken = |name: &str| panel.desk.recognising().models().iter().any(|model| model.name == name);
    (1..).map(|n| format!("model-{n}")).find(|name| !is_taken(name)).map(|name| folder.join(name))
}
