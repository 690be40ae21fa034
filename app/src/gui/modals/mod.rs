//! Modal windows, one file each.

mod about;
mod ask_cluster;
mod class;
mod class_folders;
mod clear_copies;
mod confirm;
mod field;
mod history;
mod import;
mod keys;
mod lessons;
mod palette;
mod path;
mod restore_backup;
mod settings;

use egui::{Align, Context, CornerRadius, Frame, Id, Layout, Margin, Modal as Front, Ui};

use super::modal::Modal;
use super::panel::Panel;
use super::requests::Request;
use crate::command::Command;

/// The height of what stands around the list of a window, and the least height of a list.
const AROUND: f32 = 150.0;
const LEAST: f32 = 100.0;

/// Paints the modal window, if one is open.
pub(super) fn modals_ui(ctx: &Context, panel: &mut Panel<'_>) {
    let Some(modal) = panel.view.modal.clone() else { return };
    if modal == Modal::ClassFolders && panel.desk.exporting().plan().is_none() {
        // The preview ended without a result.
        panel.view.modal = None;
        return;
    }
    let style = ctx.global_style();
    let frame = Frame::popup(&style).inner_margin(Margin::same(18)).corner_radius(CornerRadius::same(10));
    // Each kind by itself: where one is shown at first would depend on the size of another.
    let id = Id::unique("modal").with(std::mem::discriminant(&modal));
    let response = Front::new(id).frame(frame).show(ctx, |ui| {
        let width: f32 = match modal {
            Modal::Palette
            | Modal::Path(_)
            | Modal::RestoreBackup(_)
            | Modal::History
            | Modal::Log
            | Modal::Lessons
            | Modal::AskCluster => 560.0,
            Modal::Import => 1000.0,
            Modal::Keys => 640.0,
            Modal::About | Modal::Settings | Modal::ClearCopies(..) => 480.0,
            _ => 400.0,
        };
        ui.set_width(width.min(ctx.content_rect().width() - 60.0));
        match &modal {
            Modal::Path(purpose) => path::path_ui(ui, panel, purpose),
            Modal::Palette => palette::palette_ui(ui, panel),
            Modal::Keys => closable_ui(ui, keys::keys_ui),
            Modal::About => closable_ui(ui, about::about_ui),
            Modal::Settings => closable_ui(ui, |ui| settings::settings_ui(ui, panel)),
            Modal::History => closable_ui(ui, |ui| history::history_ui(ui, panel)),
            Modal::Log => closable_ui(ui, |ui| history::log_ui(ui, panel)),
            Modal::Lessons => closable_ui(ui, |ui| lessons::lessons_ui(ui, panel)),
            Modal::AskCluster => closable_ui(ui, |ui| ask_cluster::ask_cluster_ui(ui, panel)),
            Modal::ClassFolders => class_folders::class_folders_ui(ui, panel),
            Modal::Import => import::import_ui(ui, panel),
            Modal::ClassName(old) => class::class_name_ui(ui, panel, old.as_deref()),
            Modal::Colour(class, colour) => class::colour_ui(ui, panel, class, *colour),
            Modal::DeleteClass(class) => {
                let images = panel.view.shown.census().classes.get(class).copied().unwrap_or(0);
                confirm::confirm_ui(ui, panel, confirm::delete_class(class, images))
            }
            Modal::UndoImport(act) => confirm::confirm_ui(ui, panel, confirm::undo_import(act)),
            Modal::LabelMany(images, label) => confirm::confirm_ui(ui, panel, confirm::label_many(images, label)),
            Modal::ClearCopies(copies, to_bin) => clear_copies::clear_copies_ui(ui, panel, copies, *to_bin),
            Modal::RemoveToBin(cleared, files) => confirm::confirm_ui(ui, panel, confirm::remove_to_bin(cleared, *files)),
            Modal::FileToBin(image, file, other) => confirm::confirm_ui(ui, panel, confirm::file_to_bin(*image, file, other)),
            Modal::FilesToBin(files) => confirm::confirm_ui(ui, panel, confirm::files_to_bin(files)),
            Modal::Forget(images) => confirm::confirm_ui(ui, panel, confirm::forget(images)),
            Modal::Replace(what, path) => confirm::confirm_ui(ui, panel, confirm::replace(*what, path)),
            Modal::Restore(snapshot, when) => confirm::confirm_ui(ui, panel, confirm::restore(snapshot, when)),
            Modal::RestoreBackup(backup) => restore_backup::restore_backup_ui(ui, panel, backup),
            Modal::Quit => confirm::quit_ui(ui, panel),
        }
    });
    // Its place follows its size in the next frame.
    let size = response.response.rect.size();
    let before = ctx.data_mut(|data| std::mem::replace(data.get_temp_mut_or(id, size), size));
    if before != size {
        ctx.request_repaint();
    }
    // A click beside it must not lose what was chosen there.
    let is_left = response.should_close() && !(modal == Modal::Import && response.backdrop_response.clicked());
    if response.inner || is_left {
        if modal == Modal::ClassFolders {
            panel.ask(Command::PreviewExport(None));
        }
        if modal == Modal::Import && !response.inner {
            panel.ask(Command::GiveUpImport);
        }
        panel.view.modal = None;
        if panel.dialogs.is_open {
            panel.requests.push(Request::GiveUpDialog);
        }
    }
}

/// The height of a list that would take so much, in a window with a heading and buttons around it.
fn room(ui: &Ui, wanted: f32) -> f32 {
    wanted.min(ui.ctx().content_rect().height() - AROUND).max(LEAST)
}

/// A window that only shows something, with a button that closes it.
fn closable_ui(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) -> bool {
    contents(ui);
    ui.add_space(8.0);
    ui.with_layout(Layout::right_to_left(Align::Min), |ui| ui.button("Close").clicked()).inner
}
