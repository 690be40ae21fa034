//! What an export into class folders would write, before anything is written.

use egui::{Key, RichText, ScrollArea, Ui};
use tessera_core::error::display;

use super::room;
use crate::command::{Command, Export, ExportFormat};
use crate::gui::panel::Panel;
use crate::gui::widgets::main_button;
use crate::gui::words::count;

/// Returns whether the window is to be closed.
pub(super) fn class_folders_ui(ui: &mut Ui, panel: &mut Panel<'_>) -> bool {
    let mut close = false;
    ui.heading("A folder for each class");
    let Some((to, Some(plan))) = panel.desk.exporting().plan().map(|(to, plan)| (to.to_owned(), plan.cloned())) else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label("Counting");
            close |= ui.button("Cancel").clicked();
        });
        return close;
    };
    ui.add(egui::Label::new(RichText::new(display(&to)).weak()).truncate());
    let megabytes = plan.written.bytes as f64 / 1e6;
    ui.label(format!(
        "{} of the whole library in {}, {megabytes:.1} MB; nothing is written yet",
        count(plan.written.n, "image"),
        count(plan.written.folders.len(), "folder")
    ));
    let has_paths = plan.written.has_paths();
    if has_paths {
        ui.label("Classes that are paths lie in folders inside folders; to import them, choose Paths of folders");
    }
    let height = if has_paths { 180.0 } else { 220.0 };
    ScrollArea::vertical().id_salt("class folders").max_height(room(ui, height)).show(ui, |ui| {
        egui::Grid::new("folders").num_columns(2).striped(true).min_col_width(80.0).show(ui, |ui| {
            for (folder, n) in &plan.written.folders {
                ui.label(folder);
                ui.label(n.to_string());
                ui.end_row();
            }
        });
    });
    if plan.written.renamed > 0 {
        ui.label(format!(
            "{} a number behind the name, for another of the folder has it",
            match plan.written.renamed {
                1 => "One image gets".to_owned(),
                n => format!("{n} images get"),
            }
        ));
    }
    if plan.written.missing > 0 {
        let words =
            format!("{} left out: their files are not there, or hold other pictures now", count(plan.written.missing, "labelled image"));
        ui.colored_label(ui.visuals().warn_fg_color, words);
    }
    if let Some(words) = &plan.in_the_way {
        ui.colored_label(ui.visuals().error_fg_color, words);
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        let mut chosen = None;
        ui.add_enabled_ui(plan.in_the_way.is_none() && plan.written.n > 0, |ui| {
            let enter =
                ui.is_enabled() && ui.memory(|memory| memory.focused().is_none()) && ui.input(|input| input.key_pressed(Key::Enter));
            if main_button(ui, "Copy the images").clicked() || enter {
                chosen = Some(ExportFormat::ClassFolders);
            }
            let hover = "Links take no room, and lead nowhere once the images are moved";
            if ui.button("Link to the images").on_hover_text(hover).clicked() {
                chosen = Some(ExportFormat::ClassLinks);
            }
        });
        if let Some(format) = chosen {
            panel.ask(Command::Export(Export::Labels(format), to));
            close = true;
        }
        close |= ui.button("Cancel").clicked();
    });
    close
}
