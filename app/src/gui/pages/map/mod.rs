//! The map: all images as points, near each other where they are alike. How it is laid out and
//! coloured stands at the left, the points in the middle, the selected image at the right.

mod canvas;
mod points;

use std::sync::Arc;

use egui::{Panel as Side, ProgressBar, RichText, ScrollArea, Ui};
use tessera_core::library::looks::Look;

use super::browse::captions::CaptionDrafts;
use super::browse::inspector::inspector_ui;
use super::looks::{LEARNED_OFF, LookChoice, look_choices, no_clusters};
use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::theme;
use crate::gui::widgets::{confined_ui, heading, is_narrow, line, main_button, nothing_ui, side_panel};
use crate::gui::words::{count, grouped};
use crate::job::JobKind;
use crate::session::map::MapColour;
use canvas::Canvas;
use points::Points;

/// The least width in which the count of images and the tools stand side by side.
const WIDE: f32 = 480.0;

/// The height of the bar of a layout under way.
const STATE: f32 = 6.0;

/// The state of the page.
#[derive(Default)]
pub struct MapView {
    captions: CaptionDrafts,
    colour: MapColour,
    /// Whether images are shown by their components, not by the layout of neighbours.
    is_by_components: bool,
    points: Points,
    canvas: Canvas,
}

impl PageUi for MapView {
    fn sides_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        if !has_images(panel) {
            return;
        }
        let has_details = panel.desk.map().shown().is_some();
        // At the same side, so that the map does not move when an image is selected.
        let shows_selected = has_details && is_narrow(ui) && !panel.view.selection.is_empty();
        side_panel(Side::left("map choices"), ui, 275.0, 180.0).show(ui, |ui| {
            confined_ui(ui, |ui| match shows_selected {
                true => inspector_ui(ui, panel, &mut self.captions, None),
                false => {
                    ScrollArea::vertical().id_salt("map choices").auto_shrink([false, false]).show(ui, |ui| self.choices_ui(ui, panel));
                }
            });
        });
        if has_details && !is_narrow(ui) {
            side_panel(Side::right("map details"), ui, 270.0, 200.0).show(ui, |ui| {
                confined_ui(ui, |ui| inspector_ui(ui, panel, &mut self.captions, None));
            });
        }
    }

    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let Some(map) = panel.desk.map().shown().cloned() else {
            empty_ui(ui, panel);
            return;
        };
        self.points.follow(panel, &map, self.colour, self.is_by_components);
        let mut tools = |ui: &mut Ui| {
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| self.canvas.tools_ui(ui, &self.points));
        };
        if ui.available_width() >= WIDE {
            ui.horizontal(|ui| {
                head_ui(ui, panel, &self.points);
                tools(ui);
            });
        } else {
            ui.horizontal_wrapped(|ui| {
                ui.set_min_height(ui.spacing().interact_size.y);
                head_ui(ui, panel, &self.points);
            });
            ui.horizontal(tools);
        }
        self.canvas.ui(ui, panel, &self.points);
    }
}

impl MapView {
    /// How the map is laid out and coloured, and what the colours mean.
    fn choices_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        heading(ui, "Layout");
        ui.horizontal_wrapped(|ui| {
            let hover = "Images that are alike lie next to each other; distances between groups say little (t-SNE)";
            if ui.selectable_label(!self.is_by_components, "Neighbours").on_hover_text(hover).clicked() {
                self.is_by_components = false;
            }
            let hover = "The two directions in which the images differ most; distances mean the same everywhere (principal components)";
            if ui.selectable_label(self.is_by_components, "Components").on_hover_text(hover).clicked() {
                self.is_by_components = true;
            }
        });
        // What is below keeps its place, whatever is said of the layout.
        let height = STATE + ui.spacing().item_spacing.y + ui.spacing().interact_size.y;
        ui.scope(|ui| {
            ui.set_min_height(height);
            self.state_ui(ui, panel);
        });
        heading(ui, "Near by");
        looks_ui(ui, panel, self.points.sets());
        heading(ui, "Colour");
        ui.horizontal_wrapped(|ui| {
            for colour in MapColour::ALL {
                let (name, hover) = colour.words();
                if ui.selectable_label(self.colour == colour, name).on_hover_text(hover).clicked() {
                    self.colour = colour;
                }
            }
        });
        self.legend_ui(ui, panel);
    }

    /// How far the layout is, and what it is worth.
    fn state_ui(&self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let (desk, map) = (panel.desk, panel.desk.map());
        let job = desk.jobs().of(&JobKind::LayOutMap);
        if let Some(job) = job {
            let (share, words) = match map.shown().filter(|shown| shown.rounds > 0) {
                Some(shown) => (shown.rounds as f32 / map.rounds() as f32, format!("Round {} of {}", shown.rounds, map.rounds())),
                None if job.snapshot.total > 0 => (job.snapshot.done as f32 / job.snapshot.total as f32, job.snapshot.stage.to_owned()),
                None => (0.0, "Reading what images look like".to_owned()),
            };
            ui.add(ProgressBar::new(share).desired_height(STATE));
            ui.horizontal(|ui| {
                let hover = "Stops improving the layout; it can be gone on with";
                if ui.add_enabled(!job.stopping, egui::Button::new("Stop")).on_hover_text(hover).clicked() {
                    panel.ask(Command::Cancel(job.id));
                }
                line(ui, RichText::new(words).weak());
            });
        } else if map.is_unfinished() {
            let words = map.shown().map(|shown| format!("Stopped after round {} of {}", shown.rounds, map.rounds())).unwrap_or_default();
            ui.horizontal(|ui| {
                if ui.button("Go on").on_hover_text("Goes on improving the layout").clicked() {
                    panel.ask(Command::GoOnWithMap);
                }
                line(ui, RichText::new(words).weak());
            });
        } else if let Some(trust) = map.shown().and_then(|shown| shown.trust).filter(|_| !self.is_by_components) {
            let hover = "Whether points next to each other are images that look alike, trustworthiness (Venna and Kaski 2001): \
                         1 where the ten points next to each are its ten most alike images, about 0.5 by chance";
            ui.label(RichText::new(format!("True neighbours: {trust:.3} of 1")).weak()).on_hover_text(hover);
        }
        if let Some(words) = map.failure() {
            ui.colored_label(ui.visuals().error_fg_color, words);
        }
    }

    /// The colours and what they mean. An entry selects its images.
    fn legend_ui(&self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let legend = self.points.legend();
        if legend.is_empty() {
            return;
        }
        ui.add_space(4.0);
        let is_unjudged = matches!(self.colour, MapColour::Score | MapColour::Error) && panel.desk.recognising().report().is_none();
        if is_unjudged {
            ui.label(RichText::new("The recogniser was not judged yet; the page Train judges it.").small().weak());
        }
        if self.colour == MapColour::Cluster && panel.desk.clusters().answer().is_none() {
            ui.label(RichText::new(no_clusters(panel)).small().weak());
        }
        for entry in legend {
            let colour = theme::rgb(entry.colour);
            let words = entry.images.map_or_else(|| entry.name.clone(), |images| format!("{}  {}", entry.name, grouped(images)));
            ui.horizontal(|ui| {
                let (spot, _) = ui.allocate_exact_size(egui::vec2(12.0, 12.0), egui::Sense::hover());
                ui.painter().circle_filled(spot.center(), 5.5, colour);
                if entry.images.is_some() {
                    let button = ui.add(egui::Button::new(words).frame(false).truncate());
                    if button.on_hover_text("Selects these images").clicked() {
                        panel.view.selection.set(self.points.of_colour(entry.colour));
                    }
                } else {
                    line(ui, words);
                }
            });
        }
    }
}

fn has_images(panel: &Panel<'_>) -> bool {
    panel.state().is_some_and(|state| state.images().next().is_some())
}

/// The line above the points.
fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>, points: &Points) {
    let (here, missing) = (points.all(), points.missing());
    let selected = panel.view.selection.len();
    let all = count(here, "image");
    let words = if selected > 0 { format!("{} of {all}", grouped(selected)) } else { all };
    ui.label(RichText::new(words).strong());
    if selected > 0 {
        if ui.button("Label these").on_hover_text(Action::LabelThese.words().1).clicked() {
            panel.act(Action::LabelThese);
        }
        if ui.button("Select none").clicked() {
            panel.view.selection.clear();
        }
    }
    if missing > 0 && !panel.desk.jobs().is_running(&JobKind::LayOutMap) {
        let hover = format!("{} not on the map: they came after it was made, or have no such vector", count(missing, "image"));
        if ui.button("Lay out anew").on_hover_text(hover).clicked() {
            panel.ask(Command::LayOutMap(panel.desk.map().by().cloned()));
        }
    }
}

/// The choice of the vectors.
fn looks_ui(ui: &mut Ui, panel: &mut Panel<'_>, sets: &[(Arc<str>, usize)]) {
    let chosen = panel.desk.map().by().cloned();
    let now = panel.desk.map().shown().map(|shown| shown.by.words().to_owned());
    let all = look_choices(panel, sets);
    ui.horizontal_wrapped(|ui| {
        for LookChoice { look, name, hover, is_there } in all {
            let button = ui.add_enabled(is_there, egui::Button::selectable(look == chosen, name));
            let button = match &now {
                Some(now) if look.is_none() && chosen.is_none() => button.on_hover_text(format!("{hover}. Now: {now}")),
                _ => button.on_hover_text(hover),
            };
            let button = button.on_disabled_hover_text(LEARNED_OFF);
            if button.clicked() && look != chosen {
                panel.ask(Command::LayOutMap(look));
            }
        }
    });
}

fn empty_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    if !has_images(panel) {
        nothing_ui(ui, "No images yet", "Import a folder of images; the map then shows which are alike");
        ui.vertical_centered(|ui| {
            if main_button(ui, "Add folder…").clicked() {
                panel.act(Action::AddFolder);
            }
        });
    } else if panel.desk.jobs().is_running(&JobKind::LayOutMap) {
        nothing_ui(ui, "Making the map", "Every image is looked at once");
    } else if let Some(words) = panel.desk.map().failure() {
        nothing_ui(ui, "There is no map", words);
    } else if panel.desk.map().is_hidden() {
        nothing_ui(
            ui,
            "The map is not shown",
            "It is by what the network sees, and learned features are off; the page Train turns them on again",
        );
        ui.vertical_centered(|ui| {
            if main_button(ui, "Make it by edges and colours").clicked() {
                panel.ask(Command::LayOutMap(Some(Look::Appearance)));
            }
        });
    } else if panel.desk.jobs().is_importing() {
        nothing_ui(ui, "Images are being imported", "The map is made when they are there");
    } else {
        nothing_ui(ui, "The map was not made", "It shows which images are alike");
        ui.vertical_centered(|ui| {
            if main_button(ui, "Make the map").clicked() {
                panel.ask(Command::LayOutMap(panel.desk.map().by().cloned()));
            }
        });
    }
}
