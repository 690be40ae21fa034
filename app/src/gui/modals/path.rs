//! Chooses a path: a field to type it into, a listing of its folder, and the system's own dialog.

use std::path::{Path, PathBuf};

use egui::{RichText, ScrollArea, Ui};
use tessera_core::error::display;
use tessera_core::picture::decode::EXTENSIONS;

use super::field::field_ui;
use crate::command::Command;
use crate::gui::dialogs::{ALL_FILES, Purpose, Wants, start_folder, typed_path};
use crate::gui::panel::Panel;
use crate::gui::requests::Request;
use crate::gui::widgets::main_button;
use crate::session::desk::view::FolderEntry;

/// The typed path in its parts.
struct Typed {
    /// The folder in which it lies.
    folder: PathBuf,
    /// The beginning of a name in that folder, in small letters.
    begun: String,
}

impl Typed {
    fn new(text: &str, base: &Path) -> Self {
        let path = base.join(typed_path(text));
        if text.ends_with('/') {
            return Self { folder: path, begun: String::new() };
        }
        let begun = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        Self { folder: path.parent().unwrap_or(&path).to_owned(), begun }
    }
}

/// Returns whether the window is to be closed.
pub(super) fn path_ui(ui: &mut Ui, panel: &mut Panel<'_>, purpose: &Purpose) -> bool {
    let (heading, words) = purpose.words();
    ui.heading(heading);
    ui.label(RichText::new(words).weak());
    if let Purpose::Relocate(folder) = purpose {
        ui.add(egui::Label::new(format!("It was {}", display(folder))).truncate());
    }
    let base = start_folder(panel.desk, panel.view.chosen_in.as_deref());
    // The listing follows the field; pressing an entry changes the field, too.
    let before = (!panel.view.draft.is_new).then(|| Typed::new(&panel.view.draft.text, &base).folder);
    if panel.view.draft.is_new && panel.view.draft.text.is_empty() {
        let folder = format!("{}/", base.to_string_lossy().trim_end_matches('/'));
        let name = purpose.proposed(panel.desk.name().unwrap_or_default()).unwrap_or_default();
        // Of a name that is proposed all but its ending is selected.
        let (start, stem) = (folder.chars().count(), name.split('.').next().unwrap_or_default().chars().count());
        panel.view.draft.selected = (!name.is_empty()).then_some(start..start + stem);
        panel.view.draft.text = folder + &name;
    }
    let entered = field_ui(ui, &mut panel.view.draft, "Path", "/home/you/pictures");
    let path = base.join(typed_path(&panel.view.draft.text));
    listing_ui(ui, panel, purpose, &base);
    let folder = Typed::new(&panel.view.draft.text, &base).folder;
    if before.as_ref() != Some(&folder) {
        panel.ask(Command::ListFolder(folder));
    }
    let mut close = false;
    ui.horizontal(|ui| {
        let ready = !panel.view.draft.text.trim().is_empty();
        let verb = match purpose {
            Purpose::Relocate(_) => "Choose",
            purpose if purpose.is_new() => "Save",
            _ => "Open",
        };
        let pressed = ui.add_enabled_ui(ready, |ui| main_button(ui, verb)).inner.clicked();
        // Where a file is asked for, the name of a folder opens that.
        let wants_file = !purpose.is_new() && purpose.wants() == [Wants::File];
        let is_listed = |(_, entries): (_, &[FolderEntry])| entries.iter().any(|entry| entry.is_folder && entry.path == path);
        let is_folder = || panel.view.draft.text.ends_with('/') || panel.desk.files().listing().is_some_and(is_listed);
        if ready && (pressed || entered) && wants_file && is_folder() {
            let text = format!("{}/", path.to_string_lossy().trim_end_matches('/'));
            let end = text.chars().count();
            let draft = &mut panel.view.draft;
            (draft.text, draft.is_new, draft.selected) = (text, true, Some(end..end));
        } else if ready && (pressed || entered) {
            panel.requests.push(Request::Chose(purpose.clone(), path));
            close = true;
        }
        if panel.dialogs.is_open {
            ui.spinner();
            if ui.button("Give up on the system's dialog").clicked() {
                panel.requests.push(Request::GiveUpDialog);
            }
        } else if panel.dialogs.are_there {
            let both = purpose.wants().len() > 1;
            for wants in purpose.wants() {
                let words = match wants {
                    Wants::Folder if both => "Browse folders…",
                    Wants::File if both => "Browse files…",
                    _ => "Browse…",
                };
                if ui.button(words).on_hover_text("The system's own dialog").clicked() {
                    panel.requests.push(Request::OpenDialog(purpose.clone(), *wants));
                }
            }
        }
        close |= ui.button("Cancel").clicked();
        if purpose.is_image() {
            ui.checkbox(&mut panel.view.draft.is_ticked, ALL_FILES).on_hover_text("Lists files whose names are not those of images, too");
        }
    });
    close
}

/// The entries of the folder that is being typed, those that begin as typed where something is to
/// be opened; pressing one puts it into the field.
fn listing_ui(ui: &mut Ui, panel: &mut Panel<'_>, purpose: &Purpose, base: &Path) {
    let Typed { folder, begun } = Typed::new(&panel.view.draft.text, base);
    let listing = panel.desk.files().listing().filter(|(listed, _)| *listed == folder);
    let entries = listing.map(|(_, entries)| entries.to_vec()).unwrap_or_default();
    let mut taken = None;
    let height = (ui.ctx().content_rect().height() - 240.0).clamp(80.0, 240.0);
    ScrollArea::vertical().id_salt("listing").max_height(height).min_scrolled_height(height).auto_shrink([false, false]).show(ui, |ui| {
        if let Some(parent) = folder.parent()
            && ui.selectable_label(false, "..").on_hover_text("The folder above").clicked()
        {
            taken = Some((parent.to_owned(), true));
        }
        let fits = |path: &Path| {
            purpose.is_new() || path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with(&begun))
        };
        let is_image = |path: &Path| {
            let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
            ending.is_some_and(|ending| EXTENSIONS.contains(&ending.as_str()))
        };
        let lists_all = !purpose.is_image() || panel.view.draft.is_ticked;
        let is_wanted = |entry: &&FolderEntry| fits(&entry.path) && (lists_all || entry.is_folder || is_image(&entry.path));
        for entry in entries.iter().filter(is_wanted) {
            let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let words = if entry.is_folder { format!("{name}/") } else { name };
            if ui.add(egui::Button::selectable(false, words).truncate()).clicked() {
                taken = Some((entry.path.clone(), entry.is_folder));
            }
        }
    });
    if let Some((path, is_folder)) = taken {
        panel.view.draft.text = path.to_string_lossy().into_owned();
        if is_folder && !panel.view.draft.text.ends_with('/') {
            panel.view.draft.text.push('/');
        }
        // The field has the focus again, with the caret at the end.
        let end = panel.view.draft.text.chars().count();
        (panel.view.draft.is_new, panel.view.draft.selected) = (true, Some(end..end));
    }
}
