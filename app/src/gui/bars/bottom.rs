//! The bar at the bottom: short notices, or else the number of images and the memory of pictures;
//! and the running jobs.

use egui::{Align, Layout, RichText, Ui, vec2};

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::widgets::{line, one_line};
use crate::gui::words::{self, bytes, count};
use crate::session::desk::view::JobView;

/// The least width for a job.
const LEAST: f32 = 300.0;
/// The least width of the bar in which jobs leave room for what pictures take.
const WIDE: f32 = 1000.0;
/// The room for the button of the log.
const LOG: f32 = 60.0;

pub(in crate::gui) fn bottom_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.horizontal(|ui| {
        let jobs = panel.desk.jobs().list();
        let for_jobs = if jobs.is_empty() { 0.0 } else { LEAST };
        let tells_memory = jobs.is_empty() || ui.available_width() >= WIDE;
        if panel.desk.asked_cluster().is_elsewhere() {
            small_ui(ui, "Only questions to your cluster leave this computer", "Python asks the scheduler that you named");
        }
        if !notices_ui(ui, panel, ui.available_width() - LOG - for_jobs) {
            state_ui(ui, panel, tells_memory);
        }
        if ui.small_button("Log").on_hover_text(Action::Log.words().1).clicked() {
            panel.view.open(Modal::Log);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let fit = ((ui.available_width() / LEAST) as usize).max(1);
            let (shown, others) = jobs.split_at(fit.min(jobs.len()));
            if !others.is_empty() {
                let all = others.iter().map(words::job).collect::<Vec<_>>().join("\n");
                small_ui(ui, &format!("and {} more", others.len()), &all);
            }
            let width = ui.available_width() / shown.len().max(1) as f32;
            for job in shown {
                let size = vec2(width - ui.spacing().item_spacing.x, ui.available_height());
                ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| job_ui(ui, panel, job, shown.len() == 1));
            }
        });
    });
}

/// Paints the notices that fit into so much room. Returns whether there are any.
fn notices_ui(ui: &mut Ui, panel: &mut Panel<'_>, room: f32) -> bool {
    let last = panel.state().and_then(|state| state.history().last()).map(|act| act.id);
    panel.view.toasts.close_undone(last);
    // Files that went to the bin after it are put back first.
    let last = last.filter(|_| panel.state().is_some_and(|state| panel.desk.near_copies().undos_first(state) == 0));
    let (is_any, is_undone) = panel.view.toasts.bar_ui(ui, room, last);
    if is_undone {
        panel.ask(Command::Undo);
    }
    is_any
}

/// That nothing leaves this computer, if that is so; and what the library and its pictures take,
/// if that is told.
fn state_ui(ui: &mut Ui, panel: &Panel<'_>, tells_memory: bool) {
    if !panel.desk.asked_cluster().is_elsewhere() {
        small_ui(ui, "Nothing leaves this computer", "Tessera has no network code");
    }
    if tells_memory && panel.state().is_some() {
        ui.separator();
        let words = format!(
            "{}, {} on screen",
            count(panel.view.shown.census().images, "image"),
            bytes((panel.textures.bytes() + panel.pictures.bytes()) as u64)
        );
        small_ui(ui, &words, "Memory that pictures take on the graphics card; the limit for thumbnails is in the settings");
    }
}

fn small_ui(ui: &mut Ui, words: &str, hover: &str) {
    ui.label(RichText::new(words).small().weak()).on_hover_text(hover);
}

/// A job with its bar, words and buttons; one that has not the bar to itself in short.
fn job_ui(ui: &mut Ui, panel: &mut Panel<'_>, job: &JobView, is_alone: bool) {
    let stop = if job.stopping { "Stopping…" } else { "Stop" };
    if ui.add_enabled(!job.stopping, egui::Button::new(stop).small()).on_hover_text("What was done till then stays").clicked() {
        panel.ask(Command::Cancel(job.id));
    }
    if let Some(is_put_off) = job.put_off {
        let (words, hover) = match is_put_off {
            true => ("Go on", "Let it go on whenever nothing else is running"),
            false => ("Later", "Put it off until you let it go on; what was done till then stays"),
        };
        if ui.small_button(words).on_hover_text(hover).clicked() {
            panel.ask(Command::PutOff(job.id, !is_put_off));
        }
    }
    let (done, total) = (job.snapshot.done, job.snapshot.total);
    if total > 0 {
        let share = (done as f32 / total as f32).clamp(0.0, 1.0);
        ui.add(egui::ProgressBar::new(share).desired_width(if is_alone { 110.0 } else { 60.0 }).desired_height(10.0));
    } else {
        ui.add(egui::Spinner::new().size(13.0));
    }
    let [begin, whole, short] = words::job_parts(job);
    // Its numbers are seen, whatever is cut before them.
    let wide = one_line(ui, &whole, f32::INFINITY, ui.visuals().text_color()).size().x;
    let numbers = if is_alone && wide <= ui.available_width() { &whole } else { &short };
    let hover = format!("{}\n{}", job.name, words::job(job));
    for words in [numbers, &begin].into_iter().filter(|words| !words.is_empty()) {
        line(ui, RichText::new(words).small()).on_hover_text(&hover);
    }
}
