//! The first page: opens a folder, a library, a model or the sample.

use std::path::Path;

use egui::{Key, RichText, ScrollArea, TextEdit, Ui};
use tessera_core::error::display;
use tessera_core::library::fork::{Fork, Side};
use tessera_core::utc::utc;

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::dialogs::typed_path;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::requests::Request;
use crate::gui::widgets::{card_ui, line, main_button};
use crate::gui::words::count;

/// The state of the page.
#[derive(Default)]
pub struct StartView {
    /// The path being typed.
    path: String,
}

impl StartView {
    fn path_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, width: f32) {
        ui.horizontal(|ui| {
            ui.add_space(((width - 520.0) / 2.0).max(0.0));
            let edit = TextEdit::singleline(&mut self.path).hint_text("Or type a path and press Enter").desired_width(450.0);
            let response = ui.add(edit);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Path"));
            let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if (ui.button("Open").clicked() || entered) && !self.path.trim().is_empty() {
                panel.ask(Command::OpenPlanned(typed_path(&self.path)));
            }
        });
    }
}

impl PageUi for StartView {
    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let width = ui.available_width().min(760.0);
        ui.add_space((ui.available_height() * 0.08).min(70.0));
        ui.vertical_centered(|ui| {
            ui.set_max_width(width);
            ui.label(RichText::new("Tessera").size(40.0).strong());
            ui.label(RichText::new("Find and recognise images on this computer. Nothing leaves it.").size(16.0));
            ui.add_space(18.0);
            if panel.desk.jobs().is_busy() {
                ui.spinner();
                for job in panel.desk.jobs().list() {
                    ui.label(job.name);
                }
                return;
            }
            ui.horizontal(|ui| {
                ui.add_space(((width - 520.0) / 2.0).max(0.0));
                if main_button(ui, "Try the sample").on_hover_text(Action::Sample.words().1).clicked() {
                    panel.act(Action::Sample);
                }
                let words = format!("Open a folder or library…  {}", Action::Open.key_words(ui.ctx()));
                if ui.button(words).on_hover_text(Action::Open.words().1).clicked() {
                    panel.act(Action::Open);
                }
                if ui.button("Load a model…").on_hover_text(Action::LoadModel.words().1).clicked() {
                    panel.act(Action::LoadModel);
                }
            });
            if let Some(model) = panel.desk.recognising().loaded_model() {
                let words = format!("{model} is loaded: it answers here, and in what is opened next");
                ui.add_space(10.0);
                ui.label(RichText::new(words).strong());
                ui.horizontal(|ui| {
                    ui.add_space(((width - 300.0) / 2.0).max(0.0));
                    for action in [Action::RecogniseFile, Action::RecogniseFolder] {
                        let (words, hover) = action.words();
                        if ui.button(words).on_hover_text(hover).clicked() {
                            panel.act(action);
                        }
                    }
                });
            }
            ui.add_space(10.0);
            self.path_ui(ui, panel, width);
            ui.add_space(6.0);
            ui.label(RichText::new("Or drop a folder of images, a library, a collection, a backup, a model or an image onto this window").weak());
            ui.add_space(16.0);
            damaged_ui(ui, panel, width);
            recents_ui(ui, panel, width);
            ui.add_space(10.0);
            ui.scope(|ui| {
                ui.set_max_width(width);
                card_ui(ui, "What it can do, and what it cannot", |ui| {
                    for words in [
                        "It learns from your folders, labels, captions and corrections, in one pass over the images, and can forget.",
                        "It recognises what it has seen examples of, and shows the pieces of your own images that made the answer.",
                        "It finds images by your words in captions, classes and names, and by the things that its small network knows; other words find nothing.",
                        "Smooth, blurred or very dark images give it little to go by.",
                    ] {
                        ui.horizontal_top(|ui| {
                            ui.label("•");
                            ui.add(egui::Label::new(words).wrap());
                        });
                    }
                });
            });
        });
    }
}

/// The library that could not be opened because it is damaged.
fn damaged_ui(ui: &mut Ui, panel: &mut Panel<'_>, width: f32) {
    let Some(damaged) = panel.desk.opening().damaged() else { return };
    let asked = ui
        .scope(|ui| {
            ui.set_max_width(width);
            match &damaged.fork {
                Some(fork) => card_ui(ui, "This library has two histories", |ui| fork_ui(ui, &damaged.folder, fork)),
                None => card_ui(ui, "This library is damaged", |ui| {
                    ui.add(egui::Label::new(&damaged.words).wrap());
                    let hover = "From the newest snapshot and the journal; the damaged file is kept";
                    ui.button("Repair it").on_hover_text(hover).clicked().then(|| Command::Repair(damaged.folder.clone()))
                }),
            }
        })
        .inner;
    if let Some(command) = asked {
        panel.ask(command);
    }
    ui.add_space(10.0);
}

/// What each of two histories has alone. Returns the command to go on with one of them.
fn fork_ui(ui: &mut Ui, folder: &Path, fork: &Fork) -> Option<Command> {
    let shared = count(fork.shared, "event");
    let words = format!(
        "{}: its database and its journal have {shared} in common, and then each has others, as where files of two copies were mixed. \
         Choose the one to go on with. The other is saved beside it as a library of its own; nothing is lost.",
        display(folder)
    );
    ui.add(egui::Label::new(words).wrap());
    let mut asked = None;
    ui.columns_const(|columns: &mut [Ui; 2]| {
        for ((ui, side), title) in columns.iter_mut().zip([Side::Database, Side::Journal]).zip(["The database", "The journal"]) {
            let events = fork.events(side);
            ui.label(RichText::new(format!("{title}: {}", count(events.len(), "event"))).strong());
            ScrollArea::vertical().id_salt(title).max_height(160.0).auto_shrink([false, true]).show(ui, |ui| {
                for event in events {
                    line(ui, RichText::new(&event.words)).on_hover_text(format!("Event {}, {}", event.id.0, utc(event.at)));
                }
            });
            let button = ui.horizontal(|ui| ui.button("Go on with this one")).inner;
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Go on with {}", title.to_lowercase())));
            if button.clicked() {
                asked = Some(Command::KeepHistory(folder.to_owned(), side));
            }
        }
    });
    asked
}

fn recents_ui(ui: &mut Ui, panel: &mut Panel<'_>, width: f32) {
    if panel.settings.recents.is_empty() {
        return;
    }
    ui.scope(|ui| {
        ui.set_max_width(width);
        card_ui(ui, "Opened lately", |ui| {
            let mut dropped = None;
            ScrollArea::vertical().max_height(180.0).show(ui, |ui| {
                for (i, path) in panel.settings.recents.iter().enumerate() {
                    let is_there = panel.desk.files().is_there(path).unwrap_or(true);
                    ui.horizontal(|ui| {
                        if ui.small_button("×").on_hover_text("Take it off this list; nothing is deleted").clicked() {
                            dropped = Some(i);
                        }
                        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
                        let hover = if is_there { display(path) } else { format!("{}: not there now", display(path)) };
                        let button = egui::Button::new(name).frame(false).truncate();
                        if ui.add_enabled(is_there, button).on_hover_text(&hover).on_disabled_hover_text(&hover).clicked() {
                            panel.requests.push(Request::Command(Command::OpenPlanned(path.clone())));
                        }
                        let folder = path.parent().map(display).unwrap_or_default();
                        let words = if is_there { folder } else { format!("not there now: {folder}") };
                        line(ui, RichText::new(words).weak());
                    });
                }
            });
            if let Some(i) = dropped {
                panel.settings.recents.remove(i);
            }
        });
    });
}
