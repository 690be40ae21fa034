//! The bar at the bottom: jobs under way, what is held; and notices that come and go.

use egui::{Align, Align2, Context, Frame, Layout, Margin, RichText, Ui, vec2};

use super::super::actions::Action;
use super::super::theme;
use super::super::view::{Modal, Panel};
use super::browse::count;
use super::inspector::bytes;
use crate::command::Command;
use crate::session::desk::view::{JobView, Tone};

pub(super) fn bottom_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Nothing leaves this computer").small().weak()).on_hover_text("Tessera has no network code");
        if panel.state().is_some() {
            ui.separator();
            let words = format!(
                "{}, {} on screen",
                count(panel.view.census.images, "image"),
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
    let words = if job.stopping { "Stopping…" } else { "Stop" };
    if ui.add_enabled(!job.stopping, egui::Button::new(words).small()).on_hover_text("What was done till then stays").clicked() {
        panel.ask(Command::Cancel(job.id));
    }
    let (done, total) = (job.snapshot.done, job.snapshot.total);
    if total > 0 {
        let share = (done as f32 / total as f32).clamp(0.0, 1.0);
        ui.add(egui::ProgressBar::new(share).desired_width(110.0).desired_height(10.0));
    } else {
        ui.add(egui::Spinner::new().size(13.0));
    }
    let text = egui::Label::new(RichText::new(job_words(job)).small()).truncate();
    ui.add(text).on_hover_text(&job.name);
}

/// A job in words: what it does, how far it is, how fast, how long it will take.
pub(super) fn job_words(job: &JobView) -> String {
    let (done, total) = (job.snapshot.done, job.snapshot.total);
    let stage = if job.snapshot.stage.is_empty() { &job.name } else { job.snapshot.stage };
    if total == 0 {
        return if done == 0 { stage.to_owned() } else { format!("{stage} {done}") };
    }
    let seconds = job.elapsed.as_secs_f64();
    let rate = done as f64 / seconds.max(0.1);
    let left =
        if done > 0 && done < total && seconds > 2.0 { format!(", {} left", time((total - done) as f64 / rate)) } else { String::new() };
    let rate = if done > 0 && seconds > 2.0 { format!(", {rate:.0} a second{left}") } else { String::new() };
    format!("{stage}: {done} of {total}{rate}")
}

/// Seconds in words.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Notices at the bottom right: short ones go by themselves, problems stay until they are closed.
pub(super) fn toasts_ui(ctx: &Context, panel: &mut Panel<'_>) {
    if panel.view.toasts.is_empty() {
        return;
    }
    let mut closed = None;
    egui::Area::new(egui::Id::unique("toasts")).anchor(Align2::RIGHT_BOTTOM, vec2(-14.0, -44.0)).order(egui::Order::Foreground).show(
        ctx,
        |ui| {
            ui.set_width(380.0);
            // Undo takes back the last act, whatever an older notice tells of.
            let last = panel.state().and_then(|state| state.history().last()).map(|act| act.id);
            for (i, toast) in panel.view.toasts.iter().enumerate() {
                let colour = match toast.notice.tone {
                    Tone::Done => theme::good(ui),
                    Tone::Note => theme::accent(ui),
                    Tone::Problem => ui.visuals().error_fg_color,
                };
                let frame = Frame::new()
                    .fill(ui.visuals().window_fill)
                    .stroke(egui::Stroke::new(1.0, colour))
                    .corner_radius(egui::CornerRadius::same(8))
                    .shadow(ui.visuals().popup_shadow)
                    .inner_margin(Margin::symmetric(12, 8));
                frame.show(ui, |ui| {
                    ui.set_width(354.0);
                    ui.add(egui::Label::new(shortened(&toast.notice.words)).wrap()).on_hover_text(&toast.notice.words);
                    ui.horizontal(|ui| {
                        if last.is_some() && toast.notice.undo == last && ui.small_button("Undo").clicked() {
                            panel.asks.commands.push(Command::Undo);
                            closed = Some(i);
                        }
                        if toast.notice.tone == Tone::Problem && ui.small_button("Copy").clicked() {
                            ui.copy_text(toast.notice.words.clone());
                        }
                        if ui.small_button("Close").clicked() {
                            closed = Some(i);
                        }
                    });
                });
            }
        },
    );
    let has_none = ctx.memory(|memory| memory.focused().is_none()) && panel.view.modal.is_none() && panel.view.viewer.is_none();
    if has_none && panel.view.label.batch.is_none() && ctx.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape)) {
        closed = panel.view.toasts.len().checked_sub(1);
    }
    if let Some(i) = closed {
        panel.view.toasts.remove(i);
    }
}

/// The beginning of a long sentence; the whole is in the log.
fn shortened(words: &str) -> String {
    const LONGEST: usize = 240;
    if words.chars().count() <= LONGEST { words.to_owned() } else { words.chars().take(LONGEST).chain("…".chars()).collect() }
}
