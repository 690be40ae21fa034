//! The page of the library: imported folders and whether they exist, skipped files, snapshots,
//! checks, and disk space.

use egui::{RichText, ScrollArea, Ui};
use tessera_core::error::{display, display_name};
use tessera_core::library::health::{Health, SkippedFile};

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::dialogs::Purpose;
use crate::gui::listing::Scope;
use crate::gui::modal::Modal;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::requests::Request;
use crate::gui::theme;
use crate::gui::toasts::GO_ON;
use crate::gui::widgets::{card_ui, line};
use crate::gui::words::{ago, bytes, count, grouped, reasons};

/// The height of a line of the list of files that were not taken in.
const ROW: f32 = 26.0;

/// The state of the page.
#[derive(Default)]
pub struct LibraryView {
    /// The reason of the files that are listed; `None` lists all.
    reason: Option<String>,
}

impl PageUi for LibraryView {
    fn refresh(&self, requests: &mut Vec<Request>) {
        requests.push(Request::Command(Command::LookAtHealth));
    }

    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let Some(health) = panel.desk.upkeep().health().cloned() else {
            ui.spinner();
            return;
        };
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(ui.available_width().min(1000.0));
            roots_ui(ui, panel, &health);
            ui.add_space(8.0);
            self.skipped_ui(ui, panel);
            ui.add_space(8.0);
            health_ui(ui, panel, &health);
            ui.add_space(8.0);
            memory_ui(ui, panel);
            ui.add_space(8.0);
            room_ui(ui, panel, &health);
        });
    }
}

fn roots_ui(ui: &mut Ui, panel: &mut Panel<'_>, health: &Health) {
    card_ui(ui, "Folders", |ui| {
        ui.set_min_width(ui.available_width());
        if health.roots.is_empty() {
            ui.label(RichText::new("None yet.").weak());
        }
        for root in &health.roots {
            ui.horizontal_wrapped(|ui| {
                let (words, colour) = match (root.is_here, root.missing) {
                    (false, _) => ("not there now", ui.visuals().warn_fg_color),
                    (true, 0) => ("all there", theme::good(ui)),
                    (true, _) => ("some files missing", ui.visuals().warn_fg_color),
                };
                ui.colored_label(colour, words);
                if ui.link(display(&root.path)).on_hover_text("Show its images").clicked() {
                    panel.show(Scope::Folder(root.id, std::path::PathBuf::new()));
                }
                let missing = if root.missing > 0 { format!(", {} missing", root.missing) } else { String::new() };
                ui.label(RichText::new(format!("{}{missing}", count(root.images, "image"))).weak());
                let is_whole = root.is_here && root.missing == 0;
                if !is_whole && ui.small_button("It moved…").on_hover_text(Action::Relocate.words().1).clicked() {
                    panel.view.ask_where_is(root.path.clone());
                }
                if root.is_broken_off && root.is_here && !panel.desk.jobs().is_importing() {
                    ui.colored_label(ui.visuals().warn_fg_color, "not all of it is imported");
                    if ui.small_button("Go on").on_hover_text(GO_ON).clicked() {
                        panel.ask(Command::ImportAgain(root.path.clone()));
                    }
                }
            });
            if let Some(words) = panel.desk.upkeep().imported(&root.path) {
                ui.add(egui::Label::new(RichText::new(words).small().weak()).wrap());
            }
        }
        ui.horizontal(|ui| {
            if ui.button("Look for changes").on_hover_text(Action::Rescan.words().1).clicked() {
                panel.act(Action::Rescan);
            }
            if ui.button("Add folder…").clicked() {
                panel.act(Action::AddFolder);
            }
        });
        if health.roots.iter().any(|root| !root.is_here) {
            let words = "A folder that is away keeps its images, labels and captions here. If it has moved for good, press It moved… beside it \
                         (on the command line: tessera relocate LIBRARY OLD NEW).";
            ui.label(RichText::new(words).small().weak());
        }
    });
}

impl LibraryView {
    /// What was not taken in when folders were last imported, by reason; copies among it.
    fn skipped_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        card_ui(ui, "Not taken in, and copies", |ui| {
            ui.set_min_width(ui.available_width());
            let files = panel.desk.upkeep().not_taken_in();
            if files.is_empty() {
                ui.label(RichText::new("Nothing was left out.").weak());
                return;
            }
            let (mut chosen, mut shown) = (None, files);
            ui.horizontal_wrapped(|ui| {
                let of_all = ui.selectable_label(self.reason.is_none(), format!("All {}", grouped(files.len())));
                for (word, part) in panel.desk.upkeep().by_reason() {
                    let words = reasons(part.len(), word);
                    let is_chosen = ui.selectable_label(self.reason.as_deref() == Some(word), words).clicked();
                    if is_chosen || self.reason.as_deref() == Some(word) && !of_all.clicked() && chosen.is_none() {
                        (chosen, shown) = (Some(word.to_owned()), part);
                    }
                }
            });
            let mut asks = Vec::new();
            ui.horizontal(|ui| {
                if ui.button("Copy list").on_hover_text("Path, reason and the reason in words, parted by tabs").clicked() {
                    let lines: Vec<String> =
                        shown.iter().map(|file| format!("{}\t{}\t{}", display(&file.path), file.reason, file.detail)).collect();
                    ui.copy_text(lines.join("\n"));
                }
                if ui.button("Save report…").on_hover_text("All of them, as JSON lines of path, reason and detail").clicked() {
                    asks.push(Ask::Save);
                }
                if ui.button("Try again").on_hover_text("Also those that brought a decoder down").clicked() {
                    asks.push(Ask::Run(Command::RetrySkipped));
                }
            });
            ScrollArea::vertical().id_salt("skipped").max_height(220.0).auto_shrink([false, true]).show_rows(
                ui,
                ROW,
                shown.len(),
                |ui, rows| {
                    for file in &shown[rows] {
                        file_ui(ui, file, &mut asks);
                    }
                },
            );
            self.reason = chosen;
            for ask in asks {
                match ask {
                    Ask::Save => panel.view.open(Modal::Path(Purpose::SaveReport)),
                    Ask::Run(command) => panel.ask(command),
                }
            }
        });
    }
}

/// What the user asked for in the list.
enum Ask {
    Save,
    Run(Command),
}

/// A file that was not taken in, in one line.
fn file_ui(ui: &mut Ui, file: &SkippedFile, asks: &mut Vec<Ask>) {
    // The sentence begins with the path, which stands before it.
    let path = display(&file.path);
    let sentence = file.detail.strip_prefix(&path).map_or(file.detail.as_str(), |rest| rest.trim_start_matches([':', ' ']));
    ui.horizontal(|ui| {
        ui.set_height(ROW);
        if ui.small_button("Show").on_hover_text("In the file manager").clicked() {
            asks.push(Ask::Run(Command::Reveal(file.path.clone())));
        }
        let name = ui.label(display_name(&file.path)).on_hover_text(&path);
        name.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &path));
        line(ui, RichText::new(sentence).weak());
    });
}

fn health_ui(ui: &mut Ui, panel: &mut Panel<'_>, health: &Health) {
    card_ui(ui, "Health", |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal(|ui| {
            let checked =
                health.checked_at.map_or_else(|| "Not checked yet.".to_owned(), |at| format!("Checked and found sound {}.", ago(at)));
            ui.label(checked);
            if ui.button("Check now").on_hover_text(Action::Check.words().1).clicked() {
                panel.act(Action::Check);
            }
            if ui.button("History").clicked() {
                panel.view.open(Modal::History);
            }
            if ui.button("Back up…").on_hover_text(Action::BackUp.words().1).clicked() {
                panel.act(Action::BackUp);
            }
            if ui.button("Restore…").on_hover_text(Action::RestoreBackup.words().1).clicked() {
                panel.act(Action::RestoreBackup);
            }
        });
        if let Some(head) = &health.head {
            ui.horizontal(|ui| {
                let short: String = head.digest.to_string().chars().take(16).collect();
                ui.label(format!("Fingerprint of the history after event {}: {short}…", head.event.0)).on_hover_text(
                    "The head of the history, which stands for everything that was done. Noted elsewhere, it tells later whether this \
                     is still that history: tessera check LIBRARY --head HEAD",
                );
                if ui.small_button("Copy").on_hover_text(head.to_string()).clicked() {
                    ui.copy_text(head.to_string());
                }
            });
        }
        ui.horizontal(|ui| {
            let last =
                health.snapshots.first().map_or_else(|| "No snapshot yet.".to_owned(), |last| format!("Last snapshot {}.", ago(last.at)));
            ui.label(last).on_hover_text("A verified copy of labels, captions and history; ten are kept");
            if ui.button("Make one now").clicked() {
                panel.ask(Command::TakeSnapshot);
            }
        });
        for snapshot in &health.snapshots {
            ui.horizontal(|ui| {
                ui.label(
                    RichText::new(format!("{}, after event {}, {}", ago(snapshot.at), snapshot.event.0, bytes(snapshot.bytes))).weak(),
                );
                if ui.small_button("Put back…").on_hover_text("What was done since is taken away; the present file is kept").clicked() {
                    panel.view.open(Modal::Restore(snapshot.path.clone(), ago(snapshot.at)));
                }
            });
        }
    });
}

fn memory_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    card_ui(ui, "Memory", |ui| {
        ui.set_min_width(ui.available_width());
        let memory = panel.desk.picture_memory();
        let now = if memory.reserved == 0 { "nothing is being decoded now".to_owned() } else { format!("{} now", bytes(memory.reserved)) };
        let words = format!("Decoding takes {} at most; {now}.", bytes(memory.limit));
        ui.horizontal(|ui| {
            ui.label(words)
                .on_hover_text("Reckoned from what pictures claim before they are decoded; those that do not fit wait for their turn");
            if ui.button("Settings").clicked() {
                panel.view.open(Modal::Settings);
            }
        });
        let Some(held) = panel.desk.upkeep().memory() else { return };
        let words = format!(
            "Of this library about {} are in memory: images and captions {}, words {}, caption memory {}, recogniser {}.",
            bytes(held.total()),
            bytes(held.images),
            bytes(held.words),
            bytes(held.captions),
            bytes(held.recogniser)
        );
        let why =
            "A recogniser with more pieces than fit into its budget reads them when it compares them: tessera --element-memory MEGABYTES";
        ui.add(egui::Label::new(words).wrap()).on_hover_text(why);
    });
}

fn room_ui(ui: &mut Ui, panel: &Panel<'_>, health: &Health) {
    card_ui(ui, "Room it takes", |ui| {
        ui.set_min_width(ui.available_width());
        let all: u64 = health.stored.iter().map(|(_, bytes)| bytes).sum();
        let place = panel.desk.folder().map(display).unwrap_or_default();
        ui.label(format!("{} in {place}; the images themselves lie elsewhere.", bytes(all)));
        for (name, size) in &health.stored {
            ui.horizontal(|ui| {
                ui.label(RichText::new(bytes(*size)).weak());
                ui.label(name);
            });
        }
    });
}
