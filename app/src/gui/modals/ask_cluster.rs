//! Questions about a collection that the machines of a Dask scheduler answer: where these are, the
//! question, how far the work is, and the answer.

use egui::{Button, ProgressBar, RichText, ScrollArea, TextEdit, Ui, WidgetInfo, vec2};

use super::field::field_ui;
use super::room;
use crate::command::{Command, RemoteCluster, RemoteQuestion};
use crate::gui::cell::cell;
use crate::gui::dialogs::typed_path;
use crate::gui::page::Page;
use crate::gui::panel::Panel;
use crate::gui::requests::Request;
use crate::gui::theme;
use crate::gui::widgets::{WHOLE, fitted, line};
use crate::gui::words::{self, count};
use crate::job::JobKind;
use crate::session::remote::RemoteAnswer;

const ROW: f32 = 46.0;
/// Classes of an answer that are shown.
const CLASSES: usize = 8;

pub(super) fn ask_cluster_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.heading("Ask a cluster");
    let intro = "The shards of this collection are asked where their workers are; only answers come here. Nothing is changed.";
    ui.label(RichText::new(intro).weak());
    ui.add_space(4.0);
    egui::Grid::new("cluster").num_columns(2).spacing([12.0, 6.0]).show(ui, |ui| {
        let settings = &mut *panel.settings;
        for (name, text, hint, hover) in [
            (
                "Scheduler",
                &mut settings.scheduler,
                "tcp://10.0.0.1:8786",
                "The address of a Dask scheduler. Empty: all is done on this machine",
            ),
            (
                "Python",
                &mut settings.python,
                "python3",
                "The interpreter that has the package for Python, as `pip install './python[distributed]'` installs it",
            ),
        ] {
            let name = ui.label(name).on_hover_text(hover).id;
            ui.add(TextEdit::singleline(text).hint_text(hint).desired_width(f32::INFINITY).char_limit(1000)).labelled_by(name);
            ui.end_row();
        }
    });
    ui.add_space(4.0);
    field_ui(ui, &mut panel.view.draft, "Question", "Words, or the path of an image");
    let text = panel.view.draft.text.trim().to_owned();
    let path = || typed_path(&text);
    ui.horizontal_wrapped(|ui| {
        for (words, hover, needs_text, question) in [
            ("Search words", "Which images these words are about", true, RemoteQuestion::Search(text.clone())),
            ("Recognise image", "What the image file at this path shows", true, RemoteQuestion::Recognise(path())),
            ("Find similar", "Which images are most like the file at this path", true, RemoteQuestion::Similar(path())),
            (
                "Judge",
                "How often images are recognised rightly, each without its object; answers have a confidence then",
                false,
                RemoteQuestion::Evaluate,
            ),
        ] {
            let button = ui.add_enabled(!needs_text || !text.is_empty(), Button::new(words)).on_hover_text(hover);
            if button.clicked() {
                let cluster = RemoteCluster { scheduler: panel.settings.scheduler.clone(), python: panel.settings.python.clone() };
                panel.ask(Command::AskCluster(cluster, question));
            }
        }
    });
    if let Some(job) = panel.desk.jobs().of(&JobKind::AskCluster) {
        ui.horizontal(|ui| {
            let share = job.snapshot.done as f32 / job.snapshot.total.max(1) as f32;
            ui.add(ProgressBar::new(share.clamp(0.0, 1.0)).desired_width(160.0));
            let stop = ui.add_enabled(!job.stopping, Button::new(if job.stopping { "Stopping…" } else { "Stop" }));
            stop.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, "Stop asking"));
            if stop.clicked() {
                panel.ask(Command::Cancel(job.id));
            }
            line(ui, words::job(&job));
        });
    }
    for words in panel.desk.asked_cluster().log().collect::<Vec<_>>().iter().rev().take(4).rev() {
        ui.label(RichText::new(*words).small().weak());
    }
    answer_ui(ui, panel);
}

fn answer_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let desk = panel.desk;
    let Some((question, answered)) = desk.asked_cluster().answer() else { return };
    ui.separator();
    let of = match question {
        RemoteQuestion::Recognise(path) | RemoteQuestion::Similar(path) => tessera_core::error::display_name(path),
        RemoteQuestion::Search(words) => format!("“{words}”"),
        RemoteQuestion::Evaluate => "This collection".to_owned(),
    };
    match &answered.answer {
        RemoteAnswer::Recognised(scores, confidence) => {
            let Some((best, _)) = scores.first() else {
                ui.label(format!("{of}: no image of the collection has a class"));
                return;
            };
            let sure = confidence.map_or_else(String::new, |sure| format!(", {:.0} % sure", 100.0 * sure));
            ui.label(RichText::new(format!("{of}: {best}{sure}")).strong());
            for (class, score) in scores.iter().take(CLASSES) {
                ui.label(RichText::new(format!("{class}  {score:.1}")).small());
            }
        }
        RemoteAnswer::Judged(report) => {
            let words = match report.accuracy {
                Some((share, spread)) => {
                    format!("{of}: {:.1} % right, ± {:.1} %, of {}", 100.0 * share, 100.0 * spread, count(report.judged as usize, "image"))
                }
                None => format!("{of}: nothing to judge, for no class has two objects"),
            };
            ui.label(RichText::new(words).strong());
        }
        RemoteAnswer::Found(_) => {
            let found = desk.asked_cluster().found();
            ui.label(RichText::new(format!("{of}: {}", count(found.len(), "image"))).strong());
            ScrollArea::vertical().max_height(room(ui, 280.0)).auto_shrink([false, true]).show_rows(ui, ROW, found.len(), |ui, rows| {
                for (image, value) in rows.filter_map(|i| found.get(i)) {
                    hit_ui(ui, panel, *image, *value);
                }
            });
        }
    }
}

fn hit_ui(ui: &mut Ui, panel: &mut Panel<'_>, image: Option<tessera_core::ids::ItemId>, value: f64) {
    ui.horizontal(|ui| {
        ui.set_height(ROW - ui.spacing().item_spacing.y);
        let shown = image.and_then(|image| cell(panel, image));
        let (rect, _) = ui.allocate_exact_size(vec2(ROW - 6.0, ROW - 6.0), egui::Sense::hover());
        match shown.as_ref().and_then(|shown| shown.thumbnail) {
            Some((texture, size)) => {
                ui.painter().image(texture, fitted(size, rect), WHOLE, egui::Color32::WHITE);
            }
            None => {
                ui.painter().rect_filled(rect, egui::CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
            }
        }
        ui.label(format!("{value:.3}"));
        match image.zip(shown) {
            Some((image, shown)) => {
                if ui.link(shown.name).on_hover_text("Select it in Browse").clicked() {
                    panel.view.select_on(Page::Browse, [image]);
                    panel.requests.push(Request::TurnTo(Page::Browse));
                    panel.view.modal = None;
                }
            }
            None => {
                ui.label(RichText::new("came to the collection since it was opened; open it again").weak());
            }
        }
    });
}
