//! The page of training: the recogniser's accuracy on objects that it has not seen, and its
//! confusion matrix.

use std::sync::Arc;

use egui::{Align, Button, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};

use tessera_core::ckm::accuracy::Estimate;
use tessera_core::ckm::presets::Subject;
use tessera_core::eval::report::{ClassScore, Report};
use tessera_core::library::state::State;

use super::cluster_errors::cluster_errors_ui;
use super::mislead::harm_ui;
use super::unknown::unknown_ui;
use crate::command::{Command, KindChoice, SearchChoice, WeightChoice, subject_words};
use crate::gui::listing::Scope;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::theme;
use crate::gui::widgets::confusion::{classes_ui, confusion_ui, confusions_ui};
use crate::gui::widgets::{NARROW, card_ui, is_narrow, line, main_button, nothing_ui};
use crate::gui::words::{self, count, grouped};
use crate::job::JobKind;
use crate::session::class_tree::NameFilter;
use crate::session::confusions::{Confusion, chosen, worst};
use crate::session::kinds_kept::KindSetting;
use crate::session::learned::TRAINED_ON;
use crate::session::reports::{against_largest_class, folders_as_objects, told_apart};

/// Classes that the matrix has at most: more cannot be read.
const MATRIX: usize = 20;
/// The share of the page's width that the column of the matrix takes, and the least width of that
/// of lists.
const FOR_MATRIX: f32 = 0.62;
const LISTS: f32 = 280.0;
/// The least height of a window that shows the options without being asked, and the share of the
/// page's height that they take in lower ones.
const ROOMY: f32 = 700.0;
const FOR_OPTIONS: f32 = 0.6;
/// The names of options.
const COMPARED: &str = "An image is compared with";
const PIECES: &str = "Pieces of images count";
const SUBJECT: &str = "The images show";
const KINDS: &str = "Edges, colours and corners count";
const LEARNED: &str = "Learned features";
/// The width of these names, which stand below each other, and the space between their rows.
const LABELS: f32 = 220.0;
const BETWEEN: f32 = 2.0;

/// The state of the page.
#[derive(Default)]
pub struct TrainView {
    /// The text that filters classes.
    filter: String,
    /// Whether a low window shows the options, too.
    shows_options: bool,
    /// What is shown of the report.
    shown: Option<Shown>,
}

impl TrainView {
    /// The options. A low window shows them below a line, when that is pressed.
    fn options_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        if ui.ctx().content_rect().height() >= ROOMY {
            ui.scope(|ui| options_ui(ui, panel));
            return;
        }
        let (short, whole) = chosen_words(panel);
        ui.horizontal(|ui| {
            let words = if self.shows_options { "Hide options" } else { "Options" };
            if ui.add(Button::new(words).selected(self.shows_options)).on_hover_text(&whole).clicked() {
                self.shows_options = !self.shows_options;
            }
            if !self.shows_options {
                line(ui, RichText::new(short).weak()).on_hover_text(whole);
            }
        });
        if self.shows_options {
            let most = FOR_OPTIONS * ui.available_height();
            let area = ScrollArea::vertical().id_salt("options").max_height(most).auto_shrink([false, true]);
            area.show(ui, |ui| options_ui(ui, panel));
        }
    }
}

/// What is shown of a report, by what was typed.
struct Shown {
    report: Arc<Report>,
    filter: String,
    scores: Vec<ClassScore>,
    /// Confusions, the worst first, between classes of which one fits.
    worst: Vec<Confusion>,
    /// The classes of the matrix, and all that fit.
    matrix: Vec<usize>,
    classes: Vec<usize>,
    /// Folders that are objects but may be meant as classes, in words.
    folders: Option<String>,
}

impl Shown {
    fn new(report: &Arc<Report>, text: &str, folders: Option<String>) -> Self {
        let filter = NameFilter::new(text);
        let mut worst = worst(report);
        let classes: Vec<usize> = (0..report.classes.len()).filter(|class| filter.fits(&report.classes[*class])).collect();
        let matrix = chosen(report, &worst, &filter, MATRIX);
        let fits = |class: usize| classes.binary_search(&class).is_ok();
        worst.retain(|one| fits(one.truth) || fits(one.given));
        Self { report: Arc::clone(report), filter: text.to_owned(), scores: report.class_scores(), worst, matrix, classes, folders }
    }
}

fn folders_of(state: &State) -> Option<String> {
    folders_as_objects(state.images().filter_map(|image| Some((image.folder.label.as_deref()?, image.folder.group.as_deref()))))
}

impl PageUi for TrainView {
    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let seeks_unknown = std::mem::take(&mut panel.view.seeks_unknown);
        let labelled: usize = panel.view.shown.census().classes.values().sum();
        let classes = panel.view.shown.census().classes.len();
        let judging = [JobKind::Judge, JobKind::LearnWeights, JobKind::FitKinds].iter().find_map(|kind| panel.desk.jobs().of(kind));
        let weights = panel.desk.recognising().weights();
        let is_weighted = weights.choice == WeightChoice::Learned;
        ui.horizontal_wrapped(|ui| {
            let words = format!("{} of {} learned", count(labelled, "image"), count(classes, "class"));
            ui.label(RichText::new(words).strong().size(16.0));
            ui.label(RichText::new("Learning is one pass: an image counts as soon as it has a class.").weak());
            match &judging {
                Some(job) => {
                    ui.spinner();
                    let doing = match job.kind {
                        JobKind::FitKinds => "finding how edges, colours and corners count",
                        JobKind::Judge if !is_weighted => "judging",
                        _ => "learning how pieces count",
                    };
                    ui.label(format!("{doing}: {} of {}", job.snapshot.done, job.snapshot.total));
                    if ui.button("Stop").clicked() {
                        panel.ask(Command::Cancel(job.id));
                    }
                }
                None if classes >= 2 => {
                    let words = match panel.desk.recognising().report() {
                        Some(_) if is_weighted => "Learn again how pieces count",
                        Some((_, true)) => "Judge again",
                        Some((report, false)) if report.judged.len() < report.images => "Judge more images",
                        Some(_) => "Judge again",
                        None => "Judge the recogniser",
                    };
                    if main_button(ui, words).on_hover_text("Measures how often it is right on objects that it has not seen").clicked() {
                        panel.ask(Command::Evaluate);
                    }
                }
                None => {}
            }
        });
        self.options_ui(ui, panel);
        ui.add_space(6.0);
        let Some((report, is_stale)) = panel.desk.recognising().report().map(|(report, stale)| (std::sync::Arc::clone(report), stale))
        else {
            match classes {
                0 => nothing_ui(ui, "Nothing learned yet", "Label some images of two classes, or import folders that are classes"),
                1 => nothing_ui(ui, "One class so far", "It needs images of another class to tell apart"),
                _ => {
                    nothing_ui(ui, "Not judged yet", "Judging recognises each image without its object, and counts how often that is right")
                }
            }
            return;
        };
        let mut show = None;
        if self.shown.as_ref().is_none_or(|shown| !Arc::ptr_eq(&shown.report, &report) || shown.filter != self.filter) {
            let before = self.shown.take().filter(|shown| Arc::ptr_eq(&shown.report, &report));
            let folders = match before {
                Some(shown) => shown.folders,
                None => panel.state().and_then(folders_of),
            };
            self.shown = Some(Shown::new(&report, &self.filter, folders));
        }
        let (shown, filter) = (self.shown.as_ref(), &mut self.filter);
        let Some(shown) = shown else { return };
        ScrollArea::vertical().id_salt("train").auto_shrink([false, false]).show(ui, |ui| {
            if is_stale {
                ui.colored_label(ui.visuals().warn_fg_color, "The library, or what is compared, has changed since this was measured.");
            }
            card_ui(ui, "", |ui| {
                ui.horizontal_wrapped(|ui| {
                    let share = |of: &Estimate| format!("{:.1} ± {:.1} %", 100.0 * of.value, 100.0 * of.spread);
                    let accuracy = report.accuracy.as_ref().map_or_else(|| "–".to_owned(), |a| share(&a.overall));
                    ui.label(RichText::new(accuracy).size(30.0).strong().color(theme::accent(ui)));
                    ui.vertical(|ui| {
                        let by = if is_weighted {
                            "by a recogniser that had not seen a third of the objects, this one among them"
                        } else if report.objects_unknown == report.images { "without itself" } else { "without all views of its object" };
                        let mean = report.accuracy.as_ref().map_or_else(String::new, |a| format!("; mean over the classes {}", share(&a.mean_recall)));
                        let judged = report.judged.len();
                        let right = report.judged.iter().filter(|judged| judged.class == judged.predicted).count();
                        if report.judged.is_empty() {
                            let words = "No image could be judged: that takes images of two objects of a class, or two images of it.";
                            ui.colored_label(ui.visuals().warn_fg_color, words);
                        }
                        let of = if judged < report.images {
                            format!(
                                "right on all {}, as estimated by {} judged, each {by}: {} of these were right, and each class counts by its images{mean}",
                                count(report.images, "image"),
                                grouped(judged),
                                grouped(right)
                            )
                        } else {
                            format!("of {} judged were right, each {by}{mean}", count(judged, "image"))
                        };
                        ui.label(of).on_hover_text("After ±: the standard error, by objects where they are known");
                        if let (true, Some([uniform, _])) = (is_weighted, weights.right) {
                            ui.label(RichText::new(format!("With all pieces counting alike {:.1} % of these were right.", 100.0 * uniform)).weak());
                        }
                        if let Some(words) = against_largest_class(report.largest_class) {
                            ui.label(RichText::new(words).weak());
                        }
                        if let Some(words) = told_apart(&report.not_told_apart) {
                            ui.colored_label(ui.visuals().warn_fg_color, words);
                        }
                        if report.objects_unknown > 0 {
                            let words = format!(
                                "Of {} images it is not known which object they show: near copies of them may have been left in; then this reads too high.",
                                report.objects_unknown
                            );
                            ui.colored_label(ui.visuals().warn_fg_color, words);
                        }
                        if let Some(folders) = &shown.folders {
                            let words = format!(
                                "{folders}, all images of which were left out together. If they are classes, add the folder again by Paths of folders."
                            );
                            ui.colored_label(ui.visuals().warn_fg_color, words);
                        }
                        if report.leaks.is_empty() && report.objects_unknown == 0 {
                            ui.label(RichText::new("No near copies were found across the split.").weak());
                        } else if !report.leaks.is_empty() {
                            let words = format!("{} have near copies among the images that they were judged by.", count(report.leaks.len(), "judged image"));
                            ui.horizontal_wrapped(|ui| {
                                ui.colored_label(ui.visuals().warn_fg_color, words);
                                if ui.small_button("Show them").clicked() {
                                    show = Some(Scope::Leaks);
                                }
                            });
                        }
                    });
                });
            });
            ui.add_space(6.0);
            columns_ui(ui, |ui, column| match column {
                Column::Matrix => {
                    wide_card_ui(ui, "What was taken for what", |ui| {
                        ui.label(RichText::new("Rows: what they are. Columns: what they were taken for. Press a number to see the images.").small().weak());
                        filter_ui(ui, filter, shown);
                        if let Some((truth, given)) = confusion_ui(ui, &report, &shown.scores, &shown.matrix) {
                            show = Some(if truth == given { Scope::Class(truth) } else { Scope::Confused(truth, given) });
                        }
                    });
                    ui.add_space(6.0);
                    if seeks_unknown {
                        ui.scroll_to_cursor(Some(Align::TOP));
                    }
                    wide_card_ui(ui, "Answered, right and unknown", |ui| unknown_ui(ui, panel, &report));
                }
                Column::Lists => {
                    wide_card_ui(ui, "Worst confusions", |ui| {
                        if shown.worst.is_empty() {
                            ui.label(RichText::new("No judged image was taken for another class.").small().weak());
                        }
                        if let Some((truth, given)) = confusions_ui(ui, &report, &shown.worst) {
                            show = Some(Scope::Confused(truth, given));
                        }
                    });
                    ui.add_space(6.0);
                    wide_card_ui(ui, "Classes", |ui| {
                        if let Some(class) = classes_ui(ui, &report, &shown.scores, &shown.classes) {
                            show = Some(Scope::Class(class));
                        }
                    });
                    ui.add_space(6.0);
                    wide_card_ui(ui, "Images that mislead", |ui| show = harm_ui(ui, panel).or(show.take()));
                    ui.add_space(6.0);
                    wide_card_ui(ui, "Errors by cluster", |ui| cluster_errors_ui(ui, panel, &report));
                }
            });
        });
        if let Some(scope) = show {
            panel.show(scope);
        }
    }
}

/// A column of cards.
enum Column {
    /// The matrix, and what is unknown.
    Matrix,
    /// Confusions, classes, images and clusters.
    Lists,
}

/// Both columns beside each other, or in a narrow page one under the other.
fn columns_ui(ui: &mut Ui, mut contents: impl FnMut(&mut Ui, Column)) {
    let width = ui.available_width();
    if width < NARROW {
        contents(ui, Column::Matrix);
        ui.add_space(6.0);
        return contents(ui, Column::Lists);
    }
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| {
            ui.set_max_width((FOR_MATRIX * width).min(width - LISTS));
            contents(ui, Column::Matrix);
        });
        ui.vertical(|ui| contents(ui, Column::Lists));
    });
}

/// A card as wide as its column.
fn wide_card_ui<R>(ui: &mut Ui, heading: &str, contents: impl FnOnce(&mut Ui) -> R) -> R {
    card_ui(ui, heading, |ui| {
        ui.set_min_width(ui.available_width());
        contents(ui)
    })
}

/// The field that filters classes, and how many of them the matrix has.
fn filter_ui(ui: &mut Ui, filter: &mut String, shown: &Shown) {
    let n = shown.report.classes.len();
    if n <= MATRIX {
        return;
    }
    let edit = TextEdit::singleline(filter).hint_text("Filter classes").desired_width(220.0).char_limit(200);
    ui.add(edit).widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter classes"));
    let words = match shown.matrix.len() {
        0 => format!("None of the {} is called so.", count(n, "class")),
        m if m < shown.classes.len() => format!("{m} of {}, those that are confused most. Type to choose others.", count(n, "class")),
        m => format!("{m} of {}.", count(n, "class")),
    };
    ui.label(RichText::new(words).small().weak());
}

/// What was chosen of kinds of pieces, also while it is being fitted.
fn wished_kinds(panel: &Panel<'_>) -> KindSetting {
    let is_fitting = panel.desk.jobs().is_running(&JobKind::FitKinds);
    panel.desk.recognising().wished_kinds().filter(|_| is_fitting).unwrap_or(panel.desk.recognising().kinds().setting)
}

/// The options in a few words, and each with its name.
fn chosen_words(panel: &Panel<'_>) -> (String, String) {
    let (recognising, kinds) = (panel.desk.recognising(), wished_kinds(panel));
    let learned = match recognising.learned() {
        learned if !learned.is_on => "off",
        learned if learned.recognises => "on",
        _ => "not for the recogniser yet",
    };
    let is_fitting = kinds != recognising.kinds().setting;
    let counted = format!("{}{}", kinds.choice.words().0, if is_fitting { " (being fitted)" } else { "" });
    let chosen = [
        (COMPARED, recognising.search().words().0),
        (PIECES, recognising.weights().choice.words().0),
        (SUBJECT, subject_words(kinds.subject).0),
        (KINDS, counted.as_str()),
        (LEARNED, learned),
    ];
    let short = format!("{}; learned features {learned}", chosen[..4].iter().map(|(_, choice)| *choice).collect::<Vec<_>>().join(", "));
    (short, chosen.map(|(name, choice)| format!("{name}: {choice}")).join("\n"))
}

/// The options of the library's recogniser.
fn options_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.spacing_mut().item_spacing.y = BETWEEN;
    let (search, used) = (panel.desk.recognising().search(), panel.desk.recognising().weights());
    let weights = used.choice;
    row_ui(ui, |ui| {
        if let Some(choice) = choice_ui(ui, COMPARED, &SearchChoice::ALL, search, SearchChoice::words) {
            panel.ask(Command::ChooseSearch(choice));
        }
    });
    row_ui(ui, |ui| {
        if let Some(choice) = choice_ui(ui, PIECES, &WeightChoice::ALL, weights, WeightChoice::words) {
            panel.ask(Command::ChooseWeights(choice));
        }
    });
    let (kinds, wished) = (panel.desk.recognising().kinds().clone(), wished_kinds(panel));
    row_ui(ui, |ui| {
        if let Some(subject) = choice_ui(ui, SUBJECT, &Subject::ALL, wished.subject, subject_words) {
            panel.ask(Command::ChooseSubject(subject));
        }
        if let Some(before) = kinds.before {
            ui.add_space(24.0);
            if ui.small_button("Back to what it was").on_hover_text(before).clicked() {
                panel.ask(Command::KindsBack);
            }
        }
    });
    row_ui(ui, |ui| {
        if let Some(choice) = choice_ui(ui, KINDS, &KindChoice::ALL, wished.choice, KindChoice::words) {
            panel.ask(Command::ChooseKinds(choice));
        }
        let is_other = wished != kinds.setting && wished.choice != KindChoice::Preset;
        let words = if is_other { format!("being fitted; until then {}", kinds.words) } else { kinds.words };
        line(ui, RichText::new(words).weak()).on_hover_text("How much each counts in an answer");
    });
    if let (WeightChoice::Uniform, Some([uniform, learned])) = (weights, used.right) {
        let uniform = format!("{:.1} %", 100.0 * uniform);
        let words = if learned > 0.0 && uniform == format!("{:.1} %", 100.0 * learned) {
            format!(
                "When it was last tried to learn how pieces count, nothing was better on objects left out than all alike: {uniform} right."
            )
        } else {
            format!(
                "When it was last learned how pieces count, {:.1} % were right on objects left out, {uniform} with all alike.",
                100.0 * learned
            )
        };
        ui.label(RichText::new(words).small().weak());
    }
    learned_ui(ui, panel);
}

/// The switch of learned features, and what they are.
fn learned_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let learned = panel.desk.recognising().learned();
    let looking = panel.desk.jobs().of(&JobKind::LookWithNetwork);
    ui.horizontal_wrapped(|ui| {
        let mut on = learned.is_on;
        let hover = "Helps to recognise, to find similar images, and to suggest words and classes. Off, no answer uses it; what was computed is kept";
        if ui.checkbox(&mut on, LEARNED).on_hover_text(hover).changed() {
            panel.ask(Command::UseLearnedFeatures(on));
        }
        ui.label(RichText::new(TRAINED_ON).weak());
        match looking {
            Some(job) => {
                ui.spinner();
                ui.label(words::job(&job)).on_hover_text("What the network sees in an image is kept: it looks at each only once");
                if ui.button("Stop").clicked() {
                    panel.ask(Command::Cancel(job.id));
                }
                if !learned.recognises {
                    ui.label(RichText::new("Until then the recogniser goes on without.").weak());
                }
            }
            None if learned.is_on && !learned.recognises => {
                let words = format!("It has looked at {} of {}: too few for the recogniser.", learned.seen, count(learned.images, "image"));
                ui.colored_label(ui.visuals().warn_fg_color, words);
            }
            None => {}
        }
    });
}

/// A row of choices, which breaks where the window is narrow.
fn row_ui(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    if is_narrow(ui) {
        ui.horizontal_wrapped(contents);
    } else {
        ui.horizontal(contents);
    }
}

/// Offers choices by their names, each with a sentence. Returns another one than is chosen.
fn choice_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    label: &str,
    all: &[T],
    chosen: T,
    words: impl Fn(T) -> (&'static str, &'static str),
) -> Option<T> {
    ui.scope(|ui| {
        ui.set_min_width(if is_narrow(ui) { 0.0 } else { LABELS });
        ui.label(label);
    });
    let mut other = None;
    for choice in all {
        let (name, hover) = words(*choice);
        if ui.selectable_label(*choice == chosen, name).on_hover_text(hover).clicked() && *choice != chosen {
            other = Some(*choice);
        }
    }
    other
}
