//! Notices at the bottom right: most disappear by themselves, problems stay until they are closed
//! or, once there was time to read them, an act succeeds.

use std::time::{Duration, Instant};

use egui::{Align2, Context, CornerRadius, Frame, Margin, vec2};
use tessera_core::library::event::EventId;

use super::theme;
use super::widgets::line;
use crate::session::desk::view::{Notice, Tone};

/// How long a short notice stays, and a problem at least.
pub const STAY: Duration = Duration::from_secs(5);
/// Time between repaints while a short notice is shown.
const TICK: Duration = Duration::from_millis(500);
/// Older short notices that stay when another one comes.
const OLDER: usize = 1;
/// Notices on the screen at most.
const MOST: usize = 6;
/// The height in points from which on the words of a notice scroll.
const HIGHEST: f32 = 150.0;

/// The notices on the screen, the oldest first.
#[derive(Default)]
pub struct Toasts(Vec<Toast>);

/// A notice on the screen.
pub struct Toast {
    /// What it says.
    pub notice: Notice,
    /// What was told in its place: acts follow each other in one notice, and come back when the one
    /// after them is undone.
    pub earlier: Vec<Notice>,
    since: Instant,
}

impl Toast {
    fn is_problem(&self) -> bool {
        self.notice.tone == Tone::Problem
    }
}

impl Toasts {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Toast> {
        self.0.iter()
    }

    /// Shows a notice. Older short ones make room for it; where it tells of a success, so do
    /// problems, unless they have just come. An act that can be undone takes the place of the one
    /// before it, and a problem that is told again stands once.
    pub fn push(&mut self, notice: Notice) {
        self.push_at(notice, Instant::now());
    }

    /// As [`Toasts::push`] at a time.
    pub fn push_at(&mut self, notice: Notice, now: Instant) {
        if notice.tone == Tone::Done {
            self.0.retain(|toast| !toast.is_problem() || now.saturating_duration_since(toast.since) < STAY);
        }
        self.0.retain(|toast| !toast.is_problem() || toast.notice.words != notice.words);
        let is_act = |toast: &Toast| toast.notice.undo.is_some();
        let before = self.0.iter().rposition(is_act).filter(|_| notice.undo.is_some()).map(|place| self.0.remove(place));
        let earlier = before.map_or_else(Vec::new, |Toast { notice, mut earlier, .. }| {
            earlier.push(notice);
            earlier
        });
        let mut short = self.0.iter().filter(|toast| !toast.is_problem()).count();
        self.0.retain(|toast| {
            let stays = toast.is_problem() || short <= OLDER;
            short -= usize::from(!toast.is_problem());
            stays
        });
        self.0.push(Toast { notice, earlier, since: now });
        let surplus = self.0.len().saturating_sub(MOST);
        self.0.drain(..surplus);
    }

    /// Shows a sentence as information.
    pub fn note(&mut self, words: impl Into<String>) {
        self.push(Notice::new(words, Tone::Note));
    }

    /// Drops the short notices that have been shown long enough.
    pub fn expire(&mut self, ctx: &Context) {
        let now = Instant::now();
        self.0.retain(|toast| toast.is_problem() || now - toast.since < STAY);
        if self.0.iter().any(|toast| !toast.is_problem()) {
            ctx.request_repaint_after(TICK);
        }
    }

    /// Closes the notices of acts after `last`, the last act that is not undone; what each took the
    /// place of comes back.
    pub fn close_undone(&mut self, last: Option<EventId>) {
        self.0.retain_mut(|toast| {
            while toast.notice.undo.is_some_and(|act| last.is_none_or(|last| act > last)) {
                let Some(before) = toast.earlier.pop() else { return false };
                (toast.notice, toast.since) = (before, Instant::now());
            }
            true
        });
    }

    /// Closes all: they were of another library.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Closes the newest.
    pub fn close_last(&mut self) {
        self.0.pop();
    }

    /// Paints the notices. `last` is the act that an undo would revert: only its notice offers to
    /// undo. Returns whether that was pressed.
    pub fn ui(&mut self, ctx: &Context, last: Option<EventId>) -> bool {
        let (mut closed, mut undone) = (None, false);
        if self.0.is_empty() {
            return false;
        }
        let area = egui::Area::new(egui::Id::unique("toasts")).anchor(Align2::RIGHT_BOTTOM, vec2(-14.0, -44.0));
        area.order(egui::Order::Foreground).show(ctx, |ui| {
            ui.set_width(380.0);
            for (i, toast) in self.0.iter().enumerate() {
                let colour = match toast.notice.tone {
                    Tone::Done => theme::good(ui),
                    Tone::Note => theme::accent(ui),
                    Tone::Problem => ui.visuals().error_fg_color,
                };
                let frame = Frame::new()
                    .fill(ui.visuals().window_fill)
                    .stroke(egui::Stroke::new(1.0, colour))
                    .corner_radius(CornerRadius::same(8))
                    .shadow(ui.visuals().popup_shadow)
                    .inner_margin(Margin::symmetric(12, 8));
                frame.show(ui, |ui| {
                    ui.set_width(354.0);
                    let words = &toast.notice.words;
                    let rows = egui::ScrollArea::vertical().id_salt(i).max_height(HIGHEST).auto_shrink([false, true]);
                    rows.show(ui, |ui| ui.add(egui::Label::new(words).wrap()));
                    if let [.., before] = toast.earlier.as_slice() {
                        let more = match toast.earlier.len() {
                            1 => String::new(),
                            n => format!(" ({} more before it)", n - 1),
                        };
                        line(ui, egui::RichText::new(format!("Before it: {}{more}", before.words)).small().weak());
                    }
                    ui.horizontal(|ui| {
                        if last.is_some() && toast.notice.undo == last && ui.small_button("Undo").clicked() {
                            undone = true;
                        }
                        if toast.is_problem() && ui.small_button("Copy").clicked() {
                            ui.copy_text(words.clone());
                        }
                        if ui.small_button("Close").clicked() {
                            closed = Some(i);
                        }
                    });
                });
            }
        });
        if let Some(i) = closed {
            self.0.remove(i);
        }
        undone
    }
}
