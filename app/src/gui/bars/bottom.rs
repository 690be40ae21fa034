//! The bar at the bottom: the number of images, the memory of pictures, and the running jobs.

use egui::{Align, Layout, RichText, Ui};

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::words::{self, bytes, count};
use crate::session::desk::view::JobView;

pub(in crate::gui) fn bottom_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.horizontal(|ui| {
        let (words, hover) = match panel.desk.asked_cluster().is_elsewhere() {
            true => ("Only questions to your cluster leave this computer", "Python asks the scheduler that you named"),
            false => ("Nothing leaves this computer", "Tessera has no network code"),
        };
        ui.label(RichText::new(words).small().weak()).on_hover_text(hover);
        if panel.state().is_some() {
            ui.separator();
            let words = format!(
                "{}, {} on screen",
                count(panel.view.shown.census().images, "image"),
                bytes((panel.textures.bytes() + panel.pictures.bytes()) as u64)
            );
            ui.label(RichText::new(words).small().weak())
                .on_hover_text("Memory that pictures take on the graphics card; the limit for thumbnails is in the settings");
        }
        if ui.small_button("Log").on_hover_text(Action::Log.words().1).clicked() {
            panel.view.open(Modal::Log);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for job in panel.desk.jobs().list() {
                job_ui(ui, panel, &job);
            }
        });
    });
}

fn job_ui(ui: &mut Ui, panel: &mut Panel<'_>, job: &JobView) {
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
        ui.add(egui::ProgressBar::new(share).desired_width(110.0).desired_height(10.0));
    } else {
        ui.add(egui::Spinner::new().size(13.0));
    }
    let text = egui::Label::new(RichText::new(words::job(job)).small()).truncate();
    ui.add(text).on_hover_text(&job.name);
}
