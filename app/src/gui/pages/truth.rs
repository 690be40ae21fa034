//! What the user says that a recognised image is: by its bar, by its key or in writing. An image of
//! the library is labelled; one from elsewhere is taken in with its label.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;

use egui::{RichText, ScrollArea, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;
use tessera_core::library::state::{Act, State};

use super::label::class_field::{ClassField, class_ui};
use super::label::keys::is_free;
use crate::command::Command;
use crate::gui::class_keys::pressed_class;
use crate::gui::dialogs::Purpose;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::widgets::bars::{Bar, BarScale, bars_ui};
use crate::gui::widgets::{card_ui, main_button};
use crate::gui::words::count;
use crate::job::JobKind;
use crate::session::class_tree::NameFilter;
use crate::session::desk::view::Recognition;

/// A name for a PNG file that no image of the library has, which begins so.
fn new_name(panel: &Panel<'_>, stem: &str) -> String {
    let places = panel.state().into_iter().flat_map(|state| state.records()).flat_map(|image| &image.places);
    let taken: HashSet<&OsStr> = places.filter_map(|place| place.path.file_name()).collect();
    let others = (2..).map(|n| format!("{stem} {n}.png"));
    let mut names = std::iter::once(format!("{stem}.png")).chain(others);
    names.find(|name| !taken.contains(OsStr::new(name))).unwrap_or_default()
}

/// The image of the library that was recognised, while it is there: one that was taken in may have
/// been taken out again.
pub(super) fn image_of(panel: &Panel<'_>, recognition: &Recognition) -> Option<ItemId> {
    recognition.item.filter(|id| panel.state().and_then(|state| state.image(*id)).is_some_and(|image| image.is_live()))
}

/// The least height of the list of bars, and that of what stands below them, in points.
const LEAST: f32 = 160.0;
const BELOW: f32 = 60.0;

/// What the user says that the recognised image is.
#[derive(Default)]
pub struct Truth {
    /// The field in which a class is written.
    pub field: ClassField,
    /// The class that an image from elsewhere is being taken in with, or would be but for its file.
    pub chosen: Option<String>,
    /// The library before the user last said what it is.
    before: Option<State>,
}

impl Truth {
    /// Keys that give the image a class, or begin to write one.
    pub(super) fn keys(&mut self, ui: &Ui, panel: &mut Panel<'_>, recognition: &Recognition) {
        if panel.state().is_none() || !is_free(ui, panel) {
            return;
        }
        if let Some(class) = pressed_class(ui, panel) {
            self.choose(panel, recognition, class);
        } else {
            self.field.begin(ui, &[]);
        }
    }

    /// Labels an image of the library, and takes one from elsewhere in with its label.
    fn choose(&mut self, panel: &mut Panel<'_>, recognition: &Recognition, class: String) {
        self.before = panel.state().cloned();
        match image_of(panel, recognition) {
            Some(id) => panel.ask(Command::Label(vec![id], UserLabel::Class(class))),
            None if panel.desk.jobs().is_running(&JobKind::TakeIn) => {}
            None => {
                self.chosen = Some(class.clone());
                self.add(panel, recognition, class);
            }
        }
    }

    /// What the user said of it, while that is the last act and changed what they say it is.
    pub(super) fn last_act<'a>(&self, panel: &Panel<'a>) -> Option<&'a Act> {
        let (before, now) = (self.before.as_ref()?, panel.desk.state()?);
        let id = panel.desk.recognising().recognition()?.item?;
        let said = |state: &State| state.image(id).map(|image| image.user.clone());
        if said(before) == said(now) {
            return None;
        }
        let is_since = |act: &&std::sync::Arc<Act>| Some(act.id) > before.last_event();
        let mut since = now.history().iter().rev().take_while(is_since);
        since.next().filter(|_| since.next().is_none()).map(|act| &**act)
    }

    /// The label that the image has, and the ways to give it another.
    pub(super) fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, recognition: &Recognition) {
        if panel.state().is_none() {
            return;
        }
        let best = recognition.scores[0].0.clone();
        card_ui(ui, "What is it?", |ui| {
            let how = "Press its bar or its key, or type its class and press Enter.";
            if let Some(id) = image_of(panel, recognition) {
                let truth = panel.label_of(id).map(str::to_owned);
                ui.horizontal_wrapped(|ui| {
                    match &truth {
                        Some(truth) if *truth == best => ui.label(format!("Its label: {truth}, as recognised")),
                        Some(truth) => ui.label(format!("Its label: {truth}")),
                        None => ui.label("It has no label."),
                    };
                    if truth.as_ref() != Some(&best) && ui.button(format!("Label it {best}")).clicked() {
                        self.choose(panel, recognition, best);
                    }
                });
                ui.label(RichText::new(how).small().weak());
            } else {
                let is_running = panel.desk.jobs().is_running(&JobKind::TakeIn);
                let class = self.chosen.clone().filter(|_| is_running || recognition.item.is_none()).unwrap_or(best);
                let is_unknown = recognition.unknown(panel.settings.answered).is_some();
                let (more, hover) = match recognition.path {
                    Some(_) => ("", "The file stays where it is, and nothing else of its folder is taken in"),
                    None => ("…", "Choose where the picture is saved; it is taken in from there"),
                };
                ui.add_enabled_ui(!is_running, |ui| {
                    let words = format!("Add to the library as {class}{more}");
                    // What may be of none of the classes is hardly of the nearest.
                    let add = if is_unknown { ui.button(words) } else { main_button(ui, &words) };
                    if add.on_hover_text(hover).clicked() {
                        self.choose(panel, recognition, class);
                    }
                });
                ui.label(RichText::new(format!("{how} Each adds it with that class; one undo takes it out again.")).small().weak());
            }
            if let Some((class, _)) = class_ui(ui, panel, &mut self.field, false) {
                self.choose(panel, recognition, class);
            }
        });
    }

    /// Takes an image from elsewhere in; a pasted picture has to be saved first.
    fn add(&mut self, panel: &mut Panel<'_>, recognition: &Recognition, class: String) {
        match &recognition.path {
            Some(path) => panel.ask(Command::TakeIn(path.clone(), class)),
            None => {
                let folder = panel.state().and_then(|state| state.roots().next()).map(|(_, root)| root.path.clone());
                let folder = folder.or_else(dirs::picture_dir).or_else(dirs::home_dir).unwrap_or_else(|| PathBuf::from("."));
                let name = new_name(panel, &format!("pasted {}", class.replace(['/', '\\'], " ")));
                panel.view.open(Modal::Path(Purpose::KeepPicture));
                panel.view.draft.text = folder.join(name).to_string_lossy().into_owned();
            }
        }
    }

    /// The scores of all classes, or of those that fit what is written, in the room down to
    /// `bottom`.
    pub(super) fn bars_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, recognition: &Recognition, bottom: f32) {
        let filter = NameFilter::new(&self.field.text);
        let listed: Vec<&(String, f64)> = recognition.scores.iter().filter(|(name, _)| filter.fits(name)).collect();
        let scale = BarScale::of(recognition.scores.iter().map(|(_, score)| *score));
        let has_library = panel.state().is_some();
        let own = image_of(panel, recognition);
        let chosen = self.chosen.as_deref().filter(|_| recognition.item.is_none());
        let truth = own.and_then(|id| panel.label_of(id)).or(chosen).map(str::to_owned);
        let mut pressed = None;
        card_ui(ui, "All classes", |ui| {
            if recognition.scores.len() > 1 {
                let all = count(recognition.scores.len(), "class");
                let words = format!("Bars run from {:.2}, the mean of all {all}, to {:.2}, the best.", scale.mean, scale.best);
                ui.label(RichText::new(words).small().weak()).on_hover_text(
                    "The mean is what a class picked by chance would score: a bar shows how far its class stands out, and without one it scores less",
                );
            }
            let hover = match own {
                _ if !has_library => "",
                Some(_) => "Press if this is what it is",
                None => "Press if this is what it is: it is added to the library as that",
            };
            let room = (bottom - ui.cursor().top() - BELOW).max(LEAST);
            ScrollArea::vertical().id_salt("bars").max_height(room).min_scrolled_height(room).show(ui, |ui| {
                pressed = bars_ui(ui, scale, listed.len(), hover, |i| {
                    let (name, score) = listed[i];
                    let before = recognition.before.as_ref().and_then(|list| list.iter().find(|(other, _)| other == name));
                    let (colour, key) = (panel.colour(name), panel.key_of(name).filter(|_| has_library));
                    let is_chosen = truth.as_ref() == Some(name);
                    Bar { name, score: *score, before: before.map(|(_, score)| *score), colour, key, is_chosen }
                });
            });
            if recognition.before.is_some() {
                ui.label(RichText::new("The marks show the scores before the last change.").small().weak());
            }
        });
        if let Some(class) = pressed.filter(|_| has_library).map(|place| listed[place].0.clone()) {
            self.choose(panel, recognition, class);
        }
    }
}
