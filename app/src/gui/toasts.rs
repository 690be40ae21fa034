//! Notices: short ones stand in the bar at the bottom, in the place of what is told there, and
//! disappear by themselves. Problems, and others that are too long for it, stand above the bar in a
//! strip of their own; problems stay until they are closed or, once there was time to read them, an
//! act succeeds. None lies over anything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use egui::{Context, CornerRadius, Frame, Label, Margin, RichText, ScrollArea, Stroke, TextStyle, Ui};
use tessera_core::library::event::EventId;

use super::theme;
use super::widgets::{line, line_of};
use crate::session::desk::view::{Notice, Tone};

/// How long a short notice stays, and a problem at least.
pub const STAY: Duration = Duration::from_secs(5);
/// Time between repaints while a short notice is shown.
const TICK: Duration = Duration::from_millis(500);
/// Older short notices that stay when another one comes.
const OLDER: usize = 1;
/// Notices on the screen at most.
const MOST: usize = 6;
/// What going on with an import does.
pub const GO_ON: &str = "Imports the rest of the folder; what is in is not read again";
/// The height in points from which on the strip scrolls.
const HIGHEST: f32 = 130.0;
/// What frame and buttons of a notice take of its width, and the least width for words beside them.
const AROUND: f32 = 150.0;
const LEAST: f32 = 100.0;

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
    /// Whether it stands in the strip, as the bar was painted last.
    is_in_strip: bool,
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
        self.0.push(Toast { notice, earlier, since: now, is_in_strip: false });
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

    /// Paints the notices that fit into so much of the bar: that of the last act, cut where it must
    /// be, then the newest. `last` is the act that an undo would revert: only its notice offers to
    /// undo. Returns whether any is painted, and whether an undo was asked for.
    pub fn bar_ui(&mut self, ui: &mut Ui, mut room: f32, last: Option<EventId>) -> (bool, bool) {
        let (mut is_any, mut undone, mut closed) = (false, false, None);
        let (acts, others): (Vec<usize>, Vec<usize>) = (0..self.0.len()).rev().partition(|i| self.0[*i].notice.undo.is_some());
        for i in acts.into_iter().chain(others) {
            let toast = &mut self.0[i];
            let is_act = toast.notice.undo.is_some();
            let words = &toast.notice.words;
            let wanted = line_of(ui, TextStyle::Body, words, f32::INFINITY, ui.visuals().text_color()).size().x;
            toast.is_in_strip = toast.is_problem() || !is_act && (words.contains('\n') || wanted + AROUND > room);
            if toast.is_in_strip {
                continue;
            }
            is_any = true;
            let shown = frame(ui, toast.notice.tone).inner_margin(Margin::symmetric(8, 0)).show(ui, |ui| {
                ui.scope(|ui| {
                    ui.set_max_width((room - AROUND).max(LEAST));
                    line(ui, words);
                    if let [.., before] = toast.earlier.as_slice()
                        && ui.available_width() > LEAST
                    {
                        let more = match toast.earlier.len() {
                            1 => String::new(),
                            n => format!(" ({} more before it)", n - 1),
                        };
                        line(ui, RichText::new(format!("Before it: {}{more}", before.words)).small().weak());
                    }
                });
                if last.is_some() && toast.notice.undo == last && ui.small_button("Undo").clicked() {
                    undone = true;
                }
                if ui.small_button("Close").clicked() {
                    closed = Some(i);
                }
            });
            room -= shown.response.rect.width() + ui.spacing().item_spacing.x;
        }
        if let Some(i) = closed {
            self.0.remove(i);
        }
        (is_any, undone)
    }

    /// Whether any stands in the strip.
    pub fn has_strip(&self) -> bool {
        self.0.iter().any(|toast| toast.is_in_strip)
    }

    /// Paints the notices of the strip, the newest first. Returns the folder whose import is to go
    /// on, if that was asked for.
    pub fn strip_ui(&mut self, ui: &mut Ui) -> Option<PathBuf> {
        let (mut closed, mut goes_on) = (None, None);
        // It is as high as they are from the first frame on.
        let rows = ScrollArea::vertical().max_height(HIGHEST).min_scrolled_height(HIGHEST).auto_shrink([false, true]);
        rows.show(ui, |ui| {
            for (i, toast) in self.0.iter().enumerate().rev().filter(|(_, toast)| toast.is_in_strip) {
                let frame = frame(ui, toast.notice.tone).inner_margin(Margin::symmetric(8, 3));
                frame.show(ui, |ui| {
                    ui.horizontal_top(|ui| {
                        ui.vertical(|ui| {
                            ui.set_width((ui.available_width() - AROUND).max(LEAST));
                            ui.add(Label::new(&toast.notice.words).wrap());
                        });
                        if let Some(folder) = &toast.notice.go_on
                            && ui.small_button("Go on").on_hover_text(GO_ON).clicked()
                        {
                            (goes_on, closed) = (Some(folder.clone()), Some(i));
                        }
                        if toast.is_problem() && ui.small_button("Copy").clicked() {
                            ui.copy_text(toast.notice.words.clone());
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
        goes_on
    }
}

/// A frame in the colour of a tone.
fn frame(ui: &Ui, tone: Tone) -> Frame {
    let colour = match tone {
        Tone::Done => theme::good(ui),
        Tone::Note => theme::accent(ui),
        Tone::Problem => ui.visuals().error_fg_color,
    };
    Frame::new().stroke(Stroke::new(1.0, colour)).corner_radius(CornerRadius::same(theme::ROUNDING))
}
