//! The table of a recognised folder, on the page of recognition: each image with its class.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use egui::{
    Align2, CornerRadius, Rect, RichText, Role, ScrollArea, Sense, TextStyle, TextureHandle, TextureOptions, Ui, WidgetInfo, pos2, vec2,
};
use tessera_core::error::{display, display_name};
use tessera_core::picture::thumbnail;

use crate::command::{Command, ImageQuery};
use crate::gui::dialogs::Purpose;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::textures::colour_image;
use crate::gui::theme;
use crate::gui::widgets::rows::rows_ui;
use crate::gui::widgets::{DROP_DOWN, WHOLE, fitted, line_of, nothing_ui};
use crate::gui::words::{count, grouped};
use crate::job::JobKind;
use crate::session::desk::recognised_folder::FolderAnswers;
use crate::session::recognise_folder::FileOutcome;

/// The height of a row, in points.
const ROW: f32 = 44.0;
/// Small pictures that are kept at most.
const KEPT: usize = 400;

/// The state of the table.
#[derive(Default)]
pub struct FolderTable {
    /// Whether it is shown, and not one of its images.
    pub is_open: bool,
    order: Order,
    /// The kind of answers that are listed; `None` lists all.
    only: Option<Kind>,
    listed: Listed,
    pictures: HashMap<usize, TextureHandle>,
    /// The number of the run that all of this is of.
    number: u64,
}

/// What is listed, which holds as long as there are as many answers and the same was chosen.
#[derive(Default)]
struct Listed {
    of: Option<(usize, Option<f64>, Order, Option<Kind>)>,
    /// The kind of each answer, and how many there are of each.
    kinds: Vec<Kind>,
    counts: BTreeMap<Kind, usize>,
    /// The answers that are shown, in order.
    shown: Vec<usize>,
}

impl Listed {
    fn of(answers: &FolderAnswers, answered: Option<f64>, order: Order, only: Option<Kind>) -> Self {
        let kinds: Vec<Kind> = answers.outcomes.iter().map(|outcome| Kind::of(answers, outcome, answered)).collect();
        let mut counts = BTreeMap::new();
        for kind in &kinds {
            *counts.entry(kind.clone()).or_default() += 1;
        }
        let mut shown: Vec<usize> = (0..kinds.len()).filter(|i| only.as_ref().is_none_or(|only| kinds[*i] == *only)).collect();
        let sureness =
            |i: &usize| answers.outcomes[*i].as_ref().map_or(-1.0, |answer| answer.confidence.or(answer.standing.lead).unwrap_or(0.0));
        match order {
            Order::Folder => {}
            Order::LeastSure => shown.sort_by(|a, b| sureness(a).total_cmp(&sureness(b))),
            Order::MostSure => shown.sort_by(|a, b| sureness(b).total_cmp(&sureness(a))),
        }
        Self { of: Some((kinds.len(), answered, order, only)), kinds, counts, shown }
    }
}

impl FolderTable {
    /// Opens the table when a folder is recognised that it is not of yet.
    pub(super) fn open_new(&mut self, panel: &Panel<'_>) {
        if let Some(answers) = panel.desk.recognised_folder().answers().filter(|answers| answers.number != self.number) {
            *self = Self { is_open: true, number: answers.number, order: self.order, ..Self::default() };
        }
    }
}

/// The order of the rows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Order {
    #[default]
    Folder,
    LeastSure,
    MostSure,
}

/// A kind of answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Class(String),
    Unknown,
    NoAnswer,
}

impl Kind {
    fn of(answers: &FolderAnswers, outcome: &FileOutcome, answered: Option<f64>) -> Self {
        match outcome {
            Err(_) => Self::NoAnswer,
            Ok(answer) if answers.is_unknown(answer, answered) => Self::Unknown,
            Ok(answer) => Self::Class(answer.class.clone()),
        }
    }

    fn words(&self) -> &str {
        match self {
            Self::Class(class) => class,
            Self::Unknown => "unknown",
            Self::NoAnswer => "no answer",
        }
    }
}

impl Order {
    const ALL: [Self; 3] = [Self::Folder, Self::LeastSure, Self::MostSure];

    fn words(self) -> &'static str {
        match self {
            Self::Folder => "In the folder's order",
            Self::LeastSure => "Least sure first",
            Self::MostSure => "Most sure first",
        }
    }
}

/// Paints the table.
pub(super) fn folder_ui(ui: &mut Ui, panel: &mut Panel<'_>, table: &mut FolderTable) {
    let desk = panel.desk;
    let is_running = desk.jobs().is_running(&JobKind::RecogniseFolder);
    let Some(answers) = desk.recognised_folder().answers() else {
        if is_running {
            nothing_ui(ui, "Looking through the folder", "");
        } else {
            table.is_open = false;
        }
        return;
    };
    head_ui(ui, answers, is_running);
    choices_ui(ui, panel, table, answers.outcomes.len());
    ui.add_space(4.0);
    let wanted = (answers.outcomes.len(), panel.settings.answered, table.order, table.only.clone());
    if table.listed.of.as_ref() != Some(&wanted) {
        table.listed = Listed::of(answers, wanted.1, wanted.2, wanted.3);
    }
    let Listed { kinds, shown, .. } = &table.listed;
    if table.pictures.len() > KEPT {
        table.pictures.clear();
    }
    let mut pressed = None;
    ScrollArea::vertical().id_salt("folder").auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        rows_ui(ui, ROW, shown.len(), |ui, row| {
            let i = shown[row];
            if row_ui(ui, answers, &kinds[i], i, &mut table.pictures) {
                pressed = Some(answers.outcomes[i].as_ref().map_or_else(|(path, _)| path.clone(), |answer| answer.path.clone()));
            }
        });
    });
    if let Some(path) = pressed {
        panel.ask(Command::Recognise(ImageQuery::File(path)));
    }
}

fn head_ui(ui: &mut Ui, answers: &FolderAnswers, is_running: bool) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(display_name(&answers.folder)).strong().size(18.0)).on_hover_text(display(&answers.folder));
        let recognised = answers.outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        let others = match answers.outcomes.len() - recognised {
            0 => String::new(),
            n => format!(", {} not", grouped(n)),
        };
        let words = format!("{} recognised by {}{others}; nothing of it is imported", count(recognised, "image"), answers.by);
        ui.label(RichText::new(words).weak());
        if is_running {
            ui.spinner();
        } else if !answers.is_whole {
            ui.colored_label(ui.visuals().warn_fg_color, "It was stopped: these are not all.");
        }
    });
    if !answers.is_calibrated {
        ui.label(RichText::new("How sure these answers are cannot be said: the recogniser was not judged.").small().weak());
    }
}

fn choices_ui(ui: &mut Ui, panel: &mut Panel<'_>, table: &mut FolderTable, all: usize) {
    let counts = &table.listed.counts;
    ui.horizontal_wrapped(|ui| {
        egui::ComboBox::from_id_salt("order").width(170.0).selected_text(table.order.words()).show_ui(ui, |ui| {
            for order in Order::ALL {
                ui.selectable_value(&mut table.order, order, order.words());
            }
        });
        let words = |kind: Option<&Kind>, n: usize| format!("{} ({})", kind.map_or("All answers", Kind::words), grouped(n));
        let now = table.only.as_ref().map_or(all, |only| counts.get(only).copied().unwrap_or(0));
        let only = egui::ComboBox::from_id_salt("only").width(220.0).height(DROP_DOWN);
        only.selected_text(words(table.only.as_ref(), now)).show_ui(ui, |ui| {
            ui.selectable_value(&mut table.only, None, words(None, all));
            for (kind, n) in counts {
                ui.selectable_value(&mut table.only, Some(kind.clone()), words(Some(kind), *n));
            }
        });
        let save = ui.add_enabled(all > 0, egui::Button::new("Save table…"));
        if save.on_hover_text("A CSV file: path, class, confidence, unknown, runner-up, and why there is no answer").clicked() {
            panel.view.open(Modal::Path(Purpose::SaveAnswers));
        }
        if ui.button("Close table").on_hover_text("Drop these answers").clicked() {
            panel.ask(Command::CloseRecognisedFolder);
        }
    });
}

/// A row; returns whether it was pressed.
fn row_ui(ui: &mut Ui, answers: &FolderAnswers, kind: &Kind, i: usize, pictures: &mut HashMap<usize, TextureHandle>) -> bool {
    let outcome = &answers.outcomes[i];
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let path: &Path = outcome.as_ref().map_or_else(|(path, _)| path, |answer| &answer.path);
    let name = display(path.strip_prefix(&answers.folder).unwrap_or(path));
    let spoken = match outcome {
        Ok(answer) if *kind == Kind::Unknown => format!("{name}: unknown, nearest {}", answer.class),
        Ok(answer) => match answer.confidence {
            Some(confidence) => format!("{name}: {}, {:.0} %", answer.class, 100.0 * confidence),
            None => format!("{name}: {}", answer.class),
        },
        Err((_, problem)) => format!("{name}: {problem}"),
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &spoken));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, CornerRadius::same(4), ui.visuals().faint_bg_color);
    }
    if response.has_focus() {
        ui.painter().rect_stroke(rect, CornerRadius::same(4), theme::focus(ui), egui::StrokeKind::Inside);
    }
    let (text, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    let write = |ui: &Ui, left: f32, width: f32, words: &str, colour| {
        let galley = line_of(ui, TextStyle::Body, words, width - 12.0, colour);
        ui.painter().galley(pos2(left, rect.center().y - galley.size().y / 2.0), galley, colour);
    };
    let picture = Rect::from_min_size(rect.min + vec2(4.0, 2.0), vec2(ROW - 4.0, ROW - 4.0));
    let rest = rect.with_min_x(picture.right() + 10.0);
    let [names, class, bar] = [0.38, 0.24, 0.18].map(|share| share * rest.width());
    write(ui, rest.left(), names, &name, text);
    let at = rest.left() + names;
    match outcome {
        Err((_, problem)) => write(ui, at, rest.right() - at, problem, ui.visuals().warn_fg_color),
        Ok(answer) => {
            let texture = pictures.entry(i).or_insert_with(|| {
                let small = thumbnail::decode(&answer.small).unwrap_or_default();
                ui.ctx().load_texture("answer", colour_image(&small), TextureOptions::LINEAR)
            });
            let [width, height] = texture.size();
            ui.painter().image(texture.id(), fitted((width as u32, height as u32), picture), WHOLE, egui::Color32::WHITE);
            if *kind == Kind::Unknown {
                write(ui, at, class, &format!("unknown, nearest {}", answer.class), ui.visuals().warn_fg_color);
            } else {
                write(ui, at, class, &answer.class, ui.visuals().strong_text_color());
            }
            if let Some(confidence) = answer.confidence.filter(|_| *kind != Kind::Unknown) {
                let track = Rect::from_min_size(pos2(at + class, rest.center().y - 4.0), vec2(bar - 62.0, 8.0));
                ui.painter().rect_filled(track, CornerRadius::same(4), theme::track(ui));
                let full = track.with_max_x(track.left() + track.width() * confidence as f32);
                ui.painter().rect_filled(full, CornerRadius::same(4), theme::accent(ui));
                let font = TextStyle::Body.resolve(ui.style());
                let sure = format!("{:.0} %", 100.0 * confidence);
                ui.painter().text(pos2(track.right() + 8.0, rest.center().y), Align2::LEFT_CENTER, sure, font, text);
            }
            if let Some(second) = &answer.runner_up {
                write(ui, at + class + bar, rest.right() - at - class - bar, &format!("or {second}"), weak);
            }
        }
    }
    response.on_hover_text(format!("{spoken}\nPress to see why")).clicked()
}
