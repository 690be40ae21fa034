//! Asks where to restore a backup that was opened.

use egui::{RichText, Ui};
use tessera_core::error::display;

use super::field::field_ui;
use crate::command::{Command, Restoration};
use crate::gui::dialogs::{start_folder, typed_path};
use crate::gui::panel::Panel;
use crate::gui::widgets::main_button;
use crate::gui::words::{ago, bytes, count};
use crate::session::desk::OpenedBackup;

/// Returns whether the window is to be closed.
pub(super) fn restore_backup_ui(ui: &mut Ui, panel: &mut Panel<'_>, backup: &OpenedBackup) -> bool {
    ui.heading("Restore a backup");
    let holds = &backup.holds;
    ui.add(egui::Label::new(RichText::new(display(&backup.folder)).weak()).truncate());
    let made = format!("{} of history, {}, made {}", count(holds.events, "event"), bytes(holds.bytes), ago(holds.at));
    ui.label(made).on_hover_text(format!("The fingerprint of its history (its head) is {}", holds.head));
    ui.add_space(6.0);
    ui.label("Make this library of it");
    let entered = field_ui(ui, &mut panel.view.draft, "Library", "/home/you/pictures.tessera");
    let to = start_folder(panel.desk, None).join(typed_path(&panel.view.draft.text));
    if panel.desk.folder() == Some(&to) {
        ui.label("It takes the place of the library that is open, which is renamed and stays beside it.");
    } else {
        ui.label("A library that is there is renamed and stays beside it.");
    }
    ui.checkbox(&mut panel.view.draft.is_ticked, "Also in the place of a library with another history");
    ui.label(RichText::new("Image files are no part of a backup: they stay where they are.").weak());
    ui.add_space(6.0);
    let is_named = !panel.view.draft.text.trim().is_empty();
    ui.horizontal(|ui| {
        let pressed = ui.add_enabled_ui(is_named, |ui| main_button(ui, "Restore")).inner.clicked();
        let confirms = is_named && (pressed || entered);
        if confirms {
            let (from, other_history) = (backup.folder.clone(), panel.view.draft.is_ticked);
            panel.ask(Command::RestoreBackup(Restoration { from, to, other_history }));
        }
        ui.button("Cancel").clicked() || confirms
    })
    .inner
}
