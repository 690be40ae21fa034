//! The page of models: saving, loading, packing and deleting them; networks of the user's own.

use egui::{Button, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};
use tessera_core::error::display;

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::dialogs::Purpose;
use crate::gui::modal::Modal;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::theme;
use crate::gui::widgets::{card_ui, line, main_button};
use crate::gui::words::{self, bytes, count};
use crate::job::JobKind;
use crate::session::desk::networks_in_words as in_words;

/// Characters of a network's name, at most.
const LONGEST: usize = 32;

/// The state of the page.
#[derive(Default)]
pub struct ModelsView {
    /// The name under which the next network is added; the file's where it is empty.
    name: String,
}

impl ModelsView {
    /// Takes the name under which the next network is to be added out of its field, if one was
    /// typed.
    pub(in crate::gui) fn take_network_name(&mut self) -> Option<String> {
        let name = std::mem::take(&mut self.name);
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    }
}

impl PageUi for ModelsView {
    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(ui.available_width().min(900.0));
            card_ui(ui, "This library's recogniser", |ui| {
                ui.set_min_width(ui.available_width());
                let labelled: usize = panel.view.shown.census().classes.values().sum();
                ui.label(format!(
                    "{} of {}, always up to date.",
                    count(labelled, "image"),
                    count(panel.view.shown.census().classes.len(), "class")
                ));
                match panel.desk.recognising().loaded_model().map(str::to_owned) {
                    None if labelled == 0 => {
                        ui.label(RichText::new("It answers once images have classes.").weak());
                    }
                    None => {
                        ui.colored_label(theme::good(ui), "Answers come from it.");
                    }
                    Some(name) => {
                        ui.horizontal_wrapped(|ui| {
                            ui.colored_label(theme::good(ui), format!("Answers come from the loaded model {name}."));
                            if ui.button("Use this library's again").clicked() {
                                panel.ask(Command::UseLibrary);
                            }
                        });
                    }
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
                    RichText::new(
                        "A model holds pieces of the training images, not the images themselves. Saved as a folder it also has their \
                         names; one file, which is for others, has not.",
                    )
                    .small()
                    .weak(),
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
            ui.add_space(8.0);
            card_ui(ui, "Networks of your own", |ui| {
                ui.set_min_width(ui.available_width());
                networks_ui(ui, panel, &mut self.name);
            });
        });
    }
}

/// The networks that the user brought, with buttons to add and remove them, and to have one look at
/// the library's images. `name` is that of the next.
fn networks_ui(ui: &mut Ui, panel: &mut Panel<'_>, name_of_next: &mut String) {
    let networks = panel.desk.networks().list().map(<[_]>::to_vec);
    if networks.as_ref().is_some_and(Vec::is_empty) {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("None yet. A model of one is made by").weak());
            ui.label(RichText::new("tessera train FOLDER --elements NAME").code());
            ui.label(RichText::new("and loaded here.").weak());
        });
    }
    let chosen = panel.desk.recognising().words_network().cloned();
    if let Some(missing) = chosen.as_ref().filter(|pair| pair.name.is_none()) {
        let words =
            format!("The library finds images by words with a pair of encoders that is not here: hash {}. Add it again.", missing.hash);
        ui.colored_label(ui.visuals().warn_fg_color, words);
    }
    let looking = panel.desk.jobs().of(&JobKind::BringVectors);
    for (name, network) in networks.into_iter().flatten() {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(&name).strong());
            ui.label(RichText::new(bytes(network.bytes)).weak());
            ui.label(RichText::new(in_words(&network)).weak());
            let button =
                ui.button("Remove").on_hover_text("Deletes the program's copy; models made of it answer again once it is added again");
            if button.clicked() {
                panel.ask(Command::RemoveNetwork(name.clone()));
            }
            if panel.desk.folder().is_some() {
                let hover = "Similar, Search, Clusters and Map can compare by its vectors then; a second time only new or changed images are \
                             looked at, and undo takes it back";
                let button = ui.add_enabled(looking.is_none(), Button::new("Look at all images with it")).on_hover_text(hover);
                let spoken = format!("Look at all images with {name}");
                button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &spoken));
                if button.clicked() {
                    panel.ask(Command::BringVectorsBy(name.clone()));
                }
            }
            if network.text.is_some() && panel.desk.folder().is_some() {
                let mut is_chosen = chosen.as_ref().is_some_and(|pair| pair.name.as_deref() == Some(&name));
                let hover = "Words find images of this library by what they look like, too; learned features must be on";
                if ui.checkbox(&mut is_chosen, "Find images by words").on_hover_text(hover).changed() {
                    panel.ask(Command::UseWordsNetwork(is_chosen.then(|| name.clone())));
                }
            }
            line(ui, RichText::new(format!("hash {}", network.image.identity())).small().weak());
        });
    }
    if let Some(job) = looking {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label(words::job(&job)).on_hover_text("What was looked at is kept: it looks at each image only once");
            let stop = if job.stopping { "Stopping…" } else { "Stop" };
            if ui.add_enabled(!job.stopping, Button::new(stop)).clicked() {
                panel.ask(Command::Cancel(job.id));
            }
        });
    }
    if panel.desk.jobs().is_running(&JobKind::AddNetwork) {
        ui.label("Trying the network…");
        return;
    }
    ui.horizontal(|ui| {
        if ui.button("Add a network…").on_hover_text(Purpose::AddNetwork.words().1).clicked() {
            panel.view.open(Modal::Path(Purpose::AddNetwork));
        }
        ui.label("named");
        let field = TextEdit::singleline(name_of_next).hint_text("as its file").desired_width(160.0).char_limit(LONGEST);
        let hover = "Lowercase letters, digits, - and _; it is called so in `--elements` and `tessera vectors LIBRARY --by`, too";
        ui.add(field).on_hover_text(hover).widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Name of the network"));
    });
}

/// A path with a free name in the library's folder of models.
fn save_place(panel: &Panel<'_>) -> Option<std::path::PathBuf> {
    let folder = panel.desk.folder()?.join(tessera_core::library::MODELS);
    let is_taken = |name: &str| panel.desk.recognising().models().iter().any(|model| model.name == name);
    (1..).map(|n| format!("model-{n}")).find(|name| !is_taken(name)).map(|name| folder.join(name))
}
