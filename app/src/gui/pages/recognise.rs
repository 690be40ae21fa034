//! The page of recognition: one image, its class with the confidence, and the pieces of training
//! images that made the score.

use egui::{Rect, RichText, ScrollArea, Ui, vec2};
use tessera_core::ckm::unknown::{NoveltyBar, UnknownBar, WhyUnknown};
use tessera_core::error::{display, display_name};
use tessera_core::library::event::UserLabel;

use super::recognised_folder::{FolderTable, folder_ui};
use super::truth::{Truth, image_of};
use super::unknown;
use crate::command::{Command, ImageQuery};
use crate::gui::actions::Action;
use crate::gui::class_picker::{class_menu, class_picker_ui};
use crate::gui::dialogs::Purpose;
use crate::gui::modal::Modal;
use crate::gui::page::Page;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::requests::Request;
use crate::gui::theme;
use crate::gui::widgets::bars::confidence_ui;
use crate::gui::widgets::collage::collage_ui;
use crate::gui::widgets::pieces::{contributions_ui, pieces_ui};
use crate::gui::widgets::{NARROW, WHOLE, card_ui, chip_ui, class_heading_ui, fitted, line, main_button, nothing_ui};
use crate::gui::without::without_ui;
use crate::gui::words::{self, count};
use crate::job::JobKind;
use crate::session::desk::view::{FirstLook, JobView, LeftOut, Recognition, Tile};
use crate::session::reports::listed;

/// The share of the page's height that the pictures may take.
const PICTURES: f32 = 0.44;
/// The height of what stands above and below the rows of the table in its card, in points.
const AROUND_ROWS: f32 = 70.0;
/// The least share of the page's height that they take.
const LEAST_ROWS: f32 = 0.45;

/// Why a label does not change the answer.
const NOT_ITSELF: &str = "What an image is labelled does not change how it is recognised itself: it is never compared with itself";

/// Classes after the best that are told of a first guess.
const RUNNERS_UP: usize = 3;

/// The state of the page.
#[derive(Default)]
pub struct RecogniseView {
    /// What the user says that the image is.
    pub truth: Truth,
    /// The piece under the pointer.
    piece: Option<usize>,
    /// The name of the training image whose label is being corrected.
    tile: Option<String>,
    /// Whether the runner-up's contributions are shown.
    shows_runner_up: bool,
    /// Whether the best virtual instance is shown, in place of the matches.
    shows_collage: bool,
    /// The piece of the collage under the pointer.
    collage_piece: Option<usize>,
    /// The table of a recognised folder.
    pub folder: FolderTable,
}

impl RecogniseView {
    /// Resets the page for another image.
    pub fn begin(&mut self) {
        let mut folder = std::mem::take(&mut self.folder);
        folder.is_open = false;
        *self = Self { shows_collage: self.shows_collage, folder, ..Self::default() };
    }

    /// The best virtual instance. It is painted when it is first looked at.
    fn collage_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, recognition: &Recognition, highest: f32) {
        let Some(collage) = panel.desk.recognising().collage().cloned() else {
            if !panel.desk.jobs().is_running(&JobKind::DrawCollage) && !panel.desk.jobs().is_running(&JobKind::Recognise) {
                panel.ask(Command::DrawCollage);
            }
            // As much room as it will take, so that nothing jumps.
            let room = ui.available_width().min(2.0 * highest) * egui::vec2(1.0, 0.5);
            ui.allocate_ui_with_layout(room, egui::Layout::left_to_right(egui::Align::Min), |ui| {
                ui.set_min_size(room);
                ui.spinner();
                ui.label("Painting the pieces");
            });
            return;
        };
        let textures = [panel.pictures.piece(None), panel.pictures.collage()];
        self.collage_piece = collage_ui(ui, recognition.size, textures, &collage, highest, self.collage_piece);
        let words = match self.collage_piece.and_then(|i| collage.pieces.get(i)) {
            Some(piece) => RichText::new(format!("{:+.3} by a piece of {}", piece.value, piece.name)),
            None if collage.missing > 0 => {
                RichText::new(format!("Pieces of {} are not painted: their files are not there.", count(collage.missing, "training image")))
                    .weak()
            }
            None => RichText::new("Point at a piece to see where it comes from. Where nothing was matched the collage is blank.").weak(),
        };
        line(ui, words);
    }

    /// The answer, what the user says of it, and the scores of all classes.
    fn answer_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, recognition: &Recognition, height: f32) {
        let top = ui.cursor().top();
        answer_ui(ui, panel, recognition, &self.truth);
        ui.add_space(6.0);
        self.truth.ui(ui, panel, recognition);
        ui.add_space(6.0);
        self.truth.bars_ui(ui, panel, recognition, top + height);
    }

    /// Pictures and table share the height of the page, so that both are seen at once.
    fn reasons_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, recognition: &Recognition, height: f32) {
        let top = ui.cursor().top();
        let (Some(best), second) = (&recognition.best, &recognition.second) else { return };
        let heading = match second {
            Some(second) => format!("Why {} and not {}", best.class, second.class),
            None => format!("Why {}", best.class),
        };
        card_ui(ui, &heading, |ui| {
            ui.set_min_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.selectable_value(&mut self.shows_collage, false, "Matches").on_hover_text(
                    "Numbered pieces of this image were matched with pieces of training images; those that gave the largest lead are shown",
                );
                ui.selectable_value(&mut self.shows_collage, true, "Collage")
                    .on_hover_text("The best virtual instance: pieces of training images, put together like this image");
            });
            if self.shows_collage {
                self.collage_ui(ui, panel, recognition, PICTURES * height);
                return;
            }
            let pictures = &*panel.pictures;
            let tile = self.tile.as_ref().and_then(|name| recognition.tiles.iter().position(|tile| tile.name == *name));
            let done = pieces_ui(ui, recognition, PICTURES * height, self.piece, tile, |tile| pictures.piece(tile));
            self.piece = done.hovered;
            if let Some(pressed) = done.pressed {
                self.tile = recognition.tiles.get(pressed).map(|tile| tile.name.clone());
            }
            if let Some(tile) = tile.and_then(|tile| recognition.tiles.get(tile)).cloned()
                && correct_ui(ui, panel, &tile)
            {
                self.tile = None;
            }
            if let Some(piece) = self.piece.and_then(|i| recognition.pieces.get(i).map(|piece| (i, piece))) {
                let (i, piece) = piece;
                ui.label(format!("Piece {}: {:+.3} for {}, from {}", i + 1, piece.lead, best.class, recognition.tiles[piece.tile].name));
            } else {
                let correct =
                    if panel.desk.recognising().loaded_model().is_none() { "; press a training image to correct its label" } else { "" };
                ui.label(RichText::new(format!("Point at a number to follow it{correct}.")).small().weak());
            }
        });
        ui.add_space(6.0);
        card_ui(ui, "Everything the score is the sum of", |ui| {
            if let Some(second) = second {
                ui.horizontal(|ui| {
                    ui.selectable_value(&mut self.shows_runner_up, false, &best.class);
                    ui.selectable_value(&mut self.shows_runner_up, true, format!("{} (runner-up)", second.class));
                });
            }
            let shown = match second {
                Some(second) if self.shows_runner_up => second,
                _ => best,
            };
            let room = (top + height - ui.cursor().top() - AROUND_ROWS).max(LEAST_ROWS * height);
            if let Some(id) = contributions_ui(ui, shown, if self.shows_runner_up { "second" } else { "best" }, room)
                && panel.state().is_some_and(|state| state.image(id).is_some())
                && panel.desk.recognising().loaded_model().is_none()
            {
                panel.view.look_at(id);
            }
        });
    }
}

impl PageUi for RecogniseView {
    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        self.folder.open_new(panel);
        head_ui(ui, panel, &mut self.folder);
        if self.folder.is_open {
            folder_ui(ui, panel, &mut self.folder);
            return;
        }
        let Some(recognition) = panel.desk.recognising().recognition().cloned() else {
            empty_ui(ui, panel);
            return;
        };
        self.truth.keys(ui, panel, &recognition);
        let height = ui.available_height();
        ScrollArea::vertical().id_salt("recognise").auto_shrink([false, false]).show(ui, |ui| {
            columns_ui(ui, |ui, column| match column {
                Column::Answer => self.answer_ui(ui, panel, &recognition, height),
                Column::Picture => self.reasons_ui(ui, panel, &recognition, height),
            });
        });
    }
}

fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>, folder: &mut FolderTable) {
    ui.horizontal_wrapped(|ui| {
        if panel.state().is_none() && ui.button("First page").on_hover_text("Where folders and libraries are opened").clicked() {
            panel.requests.push(Request::TurnTo(Page::Browse));
        }
        if ui.button("Choose an image…").clicked() {
            panel.act(Action::RecogniseFile);
        }
        if ui.button("A folder…").on_hover_text(Action::RecogniseFolder.words().1).clicked() {
            panel.act(Action::RecogniseFolder);
        }
        if let Some(answers) = panel.desk.recognised_folder().answers().filter(|_| !folder.is_open)
            && ui.button(format!("Back to {}", display_name(&answers.folder))).on_hover_text("The table of its images").clicked()
        {
            folder.is_open = true;
        }
        if ui.max_rect().width() >= NARROW {
            ui.label(RichText::new("or drop an image here, or paste one (Ctrl+V)").weak());
        }
        if let Some(model) = panel.desk.recognising().loaded_model() {
            let words = format!("answers come from {model}  ×");
            let colour = ui.visuals().selection.bg_fill;
            let hover =
                if panel.state().is_some() { "Press to recognise with this library again" } else { "Press to let go of this model" };
            if chip_ui(ui, &words, colour, hover).clicked() {
                panel.ask(Command::UseLibrary);
            }
        }
        if folder.is_open {
            return;
        }
        if let Some(recognition) = panel.desk.recognising().recognition().cloned().filter(|_| panel.state().is_some())
            && ui.button("Find alike").on_hover_text("Images of the library that look like it").clicked()
        {
            let query = match (image_of(panel, &recognition), &recognition.path) {
                (Some(id), _) => ImageQuery::Item(id),
                (None, Some(path)) => ImageQuery::File(path.clone()),
                (None, None) => ImageQuery::Pixels(std::sync::Arc::clone(&recognition.picture)),
            };
            panel.ask(Command::SearchByImage(Some((query, None))));
        }
        if panel.desk.recognising().recognition().is_some() && ui.button("Save explanation as PNG…").clicked() {
            panel.view.open(Modal::Path(Purpose::ExportPicture));
        }
    });
    let tray: Vec<_> = panel.desk.opening().tray().to_vec();
    if !tray.is_empty() {
        ScrollArea::horizontal().id_salt("tray").show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.label(RichText::new("Try these").strong()).on_hover_text("Toys that it has never seen");
                let current = panel.desk.recognising().recognition().and_then(|recognition| recognition.path.clone());
                let pictures = panel.pictures.tray().to_vec();
                for (tried, texture) in tray.into_iter().zip(&pictures) {
                    let (rect, response) = ui.allocate_exact_size(egui::vec2(52.0, 52.0), egui::Sense::click());
                    ui.painter().image(texture.id(), rect.shrink(2.0), WHOLE, egui::Color32::WHITE);
                    let is_here = current.as_ref() == Some(&tried.path);
                    if is_here || response.hovered() || response.has_focus() {
                        let stroke = theme::focus(ui);
                        ui.painter().rect_stroke(rect, egui::CornerRadius::same(3), stroke, egui::StrokeKind::Inside);
                    }
                    let name = tried.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_here, format!("Try {name}")));
                    if response.on_hover_text(name).clicked() {
                        panel.ask(Command::Recognise(ImageQuery::File(tried.path)));
                    }
                }
            });
        });
    }
    ui.separator();
}

fn empty_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let jobs = panel.desk.jobs();
    if let Some(job) = jobs.of(&JobKind::CompareWholes).or_else(|| jobs.of(&JobKind::Recognise)) {
        match panel.desk.recognising().first_look().cloned() {
            Some(first) => first_look_ui(ui, panel, &first, &job),
            None => nothing_ui(ui, "Looking at it", ""),
        }
        return;
    }
    nothing_ui(ui, "No image yet", "Choose, drop or paste an image, or press E on a selected one in Browse");
    ui.vertical_centered(|ui| {
        if let Some(tried) = panel.desk.opening().tray().first().cloned()
            && main_button(ui, "Recognise a toy it has never seen").clicked()
        {
            panel.ask(Command::Recognise(ImageQuery::File(tried.path)));
        }
    });
}

/// A column of the page.
enum Column {
    /// The answer, and what is said of it.
    Answer,
    /// The picture, and why.
    Picture,
}

/// Both columns beside each other, or in a narrow page one under the other.
fn columns_ui(ui: &mut Ui, mut contents: impl FnMut(&mut Ui, Column)) {
    if ui.available_width() < NARROW {
        contents(ui, Column::Answer);
        ui.add_space(6.0);
        return contents(ui, Column::Picture);
    }
    let left = (ui.available_width() * 0.3).clamp(240.0, 380.0);
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| {
            ui.set_width(left);
            contents(ui, Column::Answer);
        });
        ui.vertical(|ui| {
            ui.set_width(ui.available_width());
            contents(ui, Column::Picture);
        });
    });
}

/// The image, how far its recognition is, and a first guess, until the recognition is there.
fn first_look_ui(ui: &mut Ui, panel: &Panel<'_>, first: &FirstLook, job: &JobView) {
    let answer = |ui: &mut Ui| {
        card_ui(ui, "", |ui| {
            ui.set_width(ui.available_width());
            match first.guess.first() {
                Some(class) => {
                    ui.label(RichText::new("First guess").weak());
                    class_heading_ui(ui, class, 26.0);
                    let runners_up = &first.guess[1..first.guess.len().min(1 + RUNNERS_UP)];
                    if !runners_up.is_empty() {
                        ui.label(RichText::new(format!("then {}", runners_up.join(", "))).weak());
                    }
                    ui.label("By the pieces most like it. Whole images are compared next; then it is said how sure this is, and why.");
                }
                None => drop(ui.label(RichText::new("Looking at it").size(18.0))),
            }
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| {
                ui.spinner();
                ui.label(RichText::new(words::job(job)).weak());
            });
        });
    };
    let picture = |ui: &mut Ui| {
        line(ui, RichText::new(&first.name).weak());
        let Some(texture) = panel.pictures.first_look() else { return };
        let room = ui.available_rect_before_wrap();
        let size = (first.picture.width(), first.picture.height());
        let frame = Rect::from_min_size(room.min, vec2(room.width(), (PICTURES * room.height()).max(160.0)));
        ui.painter().image(texture.id(), fitted(size, frame), WHOLE, egui::Color32::WHITE);
        let response = ui.allocate_rect(frame, egui::Sense::hover());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("Picture of {}", first.name)));
    };
    columns_ui(ui, |ui, column| match column {
        Column::Answer => answer(ui),
        Column::Picture => picture(ui),
    });
}

/// The class that the user gave the image, with a way back. Returns whether there is one.
fn said_ui(ui: &mut Ui, panel: &mut Panel<'_>, recognition: &Recognition, truth: &Truth) -> bool {
    let image = image_of(panel, recognition).and_then(|id| panel.desk.state()?.image(id));
    let Some(class) = image.filter(|image| matches!(image.user, UserLabel::Class(_))).and_then(|image| image.label()) else {
        return false;
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(format!("You labelled it: {class}")).strong().size(18.0));
        if let Some(act) = truth.last_act(panel)
            && ui.small_button("Undo").on_hover_text(&act.words).clicked()
        {
            panel.act(Action::Undo);
        }
    });
    ui.label(RichText::new("The recogniser's answer:").weak()).on_hover_text(NOT_ITSELF);
    true
}

fn answer_ui(ui: &mut Ui, panel: &mut Panel<'_>, recognition: &Recognition, truth: &Truth) {
    let unknown = recognition.unknown(panel.settings.answered);
    card_ui(ui, "", |ui| {
        let (best, _) = &recognition.scores[0];
        let is_said = said_ui(ui, panel, recognition, truth);
        class_heading_ui(ui, if unknown.is_some() { "Unknown" } else { best }, 26.0);
        if let Some(why) = unknown {
            line(ui, RichText::new(format!("nearest class: {best}")));
            let why = match why {
                WhyUnknown::Novel(NoveltyBar { novelty, taken }) => format!(
                    "It is unlike all training images: they explain {:.0} % of it, where less than {:.0} % counts as unknown. Of images of its classes {:.0} % do.",
                    100.0 * (1.0 - recognition.standing.novelty.unwrap_or(1.0)),
                    100.0 * (1.0 - novelty),
                    100.0 * taken
                ),
                WhyUnknown::LeadsLittle(UnknownBar { lead, taken, .. }) => format!(
                    "{best} is {:.1} above the mean of the other classes, where less than {lead:.1} counts as unknown. Of images of its classes {:.0} % do.",
                    recognition.standing.lead.unwrap_or(0.0),
                    100.0 * taken
                ),
            };
            ui.colored_label(ui.visuals().warn_fg_color, "It may be of none of its classes.").on_hover_text(&why);
            ui.label(RichText::new(why).small().weak());
        }
        if let Some(truth) = image_of(panel, recognition).and_then(|id| panel.label_of(id)).filter(|truth| !is_said && truth != best) {
            let words = format!("It is labelled {truth}; this is what is recognised.");
            ui.colored_label(ui.visuals().warn_fg_color, words).on_hover_text(NOT_ITSELF);
        }
        let name = recognition.path.as_deref().and_then(std::path::Path::file_name).map(|name| display(std::path::Path::new(name)));
        let name = name.unwrap_or_else(|| recognition.name.clone());
        line(ui, RichText::new(&name).weak()).on_hover_text(&recognition.name);
        let image = image_of(panel, recognition).and_then(|id| panel.state()?.image(id).cloned());
        // A file from elsewhere may have the bytes of an image of the library.
        let of_library = image.map(|image| image.file_name()).filter(|of_library| *of_library != name);
        let training = match of_library {
            Some(of_library) => format!("The same picture is a training image, {of_library}"),
            None => "It is a training image".to_owned(),
        };
        let without = match &recognition.left_out {
            LeftOut::Nothing => String::new(),
            LeftOut::Image => format!("{training}: it was left out for this answer."),
            LeftOut::Object(group) => format!("{training}: all views of {group} were left out for this answer."),
        };
        if !without.is_empty() {
            ui.label(RichText::new(without).small().weak());
        }
        ui.add_space(4.0);
        if recognition.calibrated {
            let sure = format!("{:.0} % sure", 100.0 * recognition.confidence);
            // The confidence is that of an answer among the classes that it knows.
            ui.label(if unknown.is_some() { format!("If it is of one of its classes, {best}: {sure}") } else { sure })
                .on_hover_text("How often an answer with such a lead was right on objects that it had not seen");
            confidence_ui(ui, recognition.confidence, unknown.is_some());
            if recognition.metrics.unknown_curve.is_empty() && recognition.metrics.novelty.is_none() {
                let words = RichText::new("It cannot tell yet what is of none of its classes.").small();
                ui.label(words.color(ui.visuals().warn_fg_color)).on_hover_text(unknown::FEW);
            } else if recognition.by == "this library" {
                let link = ui.link(RichText::new("When is an image unknown?").small());
                if link.on_hover_text("What is answered and what is right, on the page Train").clicked() {
                    panel.view.seeks_unknown = true;
                    panel.requests.push(Request::TurnTo(Page::Train));
                }
            }
            if let [best, others @ ..] = &recognition.not_told_apart[..] {
                let words = format!("{best} cannot be told apart yet from {}.", listed(others));
                ui.colored_label(ui.visuals().warn_fg_color, words).on_hover_text("More labelled images of them may help");
            }
        } else {
            ui.label(RichText::new("How sure this is cannot be said before the recogniser was judged.").small().weak());
            if panel.state().is_some() && ui.button("Judge it now").clicked() {
                panel.ask(Command::Evaluate);
            }
        }
    });
}

/// Corrects the label of a training image. Returns whether that was closed.
fn correct_ui(ui: &mut Ui, panel: &mut Panel<'_>, tile: &Tile) -> bool {
    let Tile { name, item, label, .. } = tile;
    let mut is_closed = false;
    ui.horizontal_wrapped(|ui| {
        is_closed = ui.small_button("×").on_hover_text("Close this row").clicked();
        let Some(id) = item.filter(|_| panel.desk.recognising().loaded_model().is_none()) else {
            ui.label(RichText::new(format!("{name} belongs to a model from elsewhere: its label cannot be changed here")).weak());
            return;
        };
        ui.label(RichText::new(name).strong());
        ui.label("is labelled");
        let colour = panel.colour(label);
        chip_ui(ui, label, colour, "");
        class_menu("Correct to…").ui(ui, |ui| {
            if let Some(class) = class_picker_ui(ui, panel, Some(label)) {
                panel.ask(Command::Label(vec![id], UserLabel::Class(class)));
                ui.close();
            }
        });
        if ui.button("Remove").on_hover_text("Hide it and its influence; can be undone").clicked() {
            panel.ask(Command::Remove(vec![id]));
        }
        if ui.button("View").clicked() {
            panel.view.look_at(id);
        }
    });
    if let Some(id) = item {
        without_ui(ui, panel, *id);
    }
    is_closed
}
