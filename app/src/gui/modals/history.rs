//! The history of acts, which can be undone step by step, and the log of notices.

use std::sync::Arc;

use egui::{RichText, Role, ScrollArea, Ui, WidgetInfo, vec2};
use tessera_core::library::state::Act;
use tessera_core::utc::utc;

use super::room;
use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::panel::Panel;
use crate::gui::words::{ago, count};
use crate::session::desk::view::{Notice, Tone};

pub(super) fn history_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.heading("History");
    let copies = panel.desk.near_copies();
    let (binned, first) = panel.state().map_or((0, 0), |state| (copies.binned_since(state), copies.undos_first(state)));
    let (done, undone) = panel
        .state()
        .map(|state| {
            let words = |acts: &[Arc<Act>]| acts.iter().map(|act| (act.words.clone(), act.at)).collect::<Vec<_>>();
            (words(state.history()), words(state.future()))
        })
        .unwrap_or_default();
    ui.horizontal(|ui| {
        if ui
            .add_enabled(!done.is_empty() || first > 0, egui::Button::new("Undo").shortcut_text(Action::Undo.key_words(ui.ctx())))
            .clicked()
        {
            panel.ask(Command::Undo);
        }
        if ui.add_enabled(!undone.is_empty(), egui::Button::new("Redo").shortcut_text(Action::Redo.key_words(ui.ctx()))).clicked() {
            panel.ask(Command::Redo);
        }
    });
    if binned > 0 {
        ui.label(
            RichText::new(format!("Files went to the bin {} after the last act; Undo puts them back first.", count(binned, "time"))).weak(),
        );
    }
    if done.is_empty() && undone.is_empty() {
        ui.label(RichText::new("Nothing was done yet.").weak());
    }
    let rows = undone.len() + done.len();
    if rows > 1 {
        ui.label(RichText::new("Press an act to go back to how it was right after it: all that came later is taken back.").weak());
    }
    ScrollArea::vertical().id_salt("history").max_height(room(ui, 400.0)).auto_shrink([false, true]).show_rows(
        ui,
        22.0,
        rows,
        |ui, range| {
            for i in range {
                if let Some((words, at)) = undone.get(i) {
                    let text = RichText::new(format!("(undone) {words}")).weak();
                    let hover = format!("Press to do everything up to here again: {}", count(undone.len() - i, "act"));
                    if row_ui(ui, text, false, *at).on_hover_text(hover).clicked() {
                        (0..undone.len() - i).for_each(|_| panel.ask(Command::Redo));
                    }
                } else if let Some((words, at)) = done.len().checked_sub(1 + i - undone.len()).and_then(|at| done.get(at)) {
                    let after = i - undone.len();
                    let hover = match after {
                        0 => "The last thing that was done; press Undo to take it back".to_owned(),
                        n => format!("Press to take back everything after this: {}", count(n, "act")),
                    };
                    let pressed = row_ui(ui, RichText::new(words), after == 0, *at).on_hover_text(hover).clicked();
                    let undos = if pressed && after > 0 { after + first } else { 0 };
                    (0..undos).for_each(|_| panel.ask(Command::Undo));
                }
            }
        },
    );
}

/// A row as wide as the list, which shows by its colour that it can be pressed, and when that was.
fn row_ui(ui: &mut Ui, text: RichText, is_now: bool, at: i64) -> egui::Response {
    let (words, when) = (text.text().to_owned(), RichText::new(ago(at)).small().weak());
    let row = egui::Button::selectable(is_now, text).truncate().right_text(when);
    let response = ui.add(row.min_size(vec2(ui.available_width(), 0.0)));
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_now, &words));
    response
}

pub(super) fn log_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.horizontal(|ui| {
        ui.heading("Log");
        if !panel.desk.notices().log().is_empty() && ui.button("Copy all").clicked() {
            let line = |notice: &Notice| format!("{} {}", utc(notice.at), notice.words);
            let lines: Vec<String> = panel.desk.notices().log().iter().map(line).collect();
            ui.copy_text(lines.join("\n"));
        }
    });
    if panel.desk.notices().log().is_empty() {
        ui.label(RichText::new("Nothing happened yet.").weak());
    }
    ScrollArea::vertical().id_salt("log").max_height(room(ui, 420.0)).auto_shrink([false, true]).stick_to_bottom(true).show(ui, |ui| {
        for notice in panel.desk.notices().log() {
            let colour = if notice.tone == Tone::Problem { ui.visuals().error_fg_color } else { ui.visuals().text_color() };
            ui.label(RichText::new(ago(notice.at)).small().weak()).on_hover_text(utc(notice.at));
            ui.add(egui::Label::new(RichText::new(&notice.words).color(colour)).wrap());
            ui.add_space(4.0);
        }
    });
}
