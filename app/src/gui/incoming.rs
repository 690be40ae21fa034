//! Input from outside: files dropped on the window, pictures pasted into it, paths that were
//! chosen.

use std::path::PathBuf;
use std::sync::Arc;

use egui::Context;

use super::app::App;
use super::dialogs::Purpose;
use super::modal::Modal;
use super::page::Page;
use super::requests::Request;
use crate::command::{Command, Export, ExportFormat, ImageQuery};

impl App {
    /// Files dropped on the window are opened, and folders join a library that is open; a picture
    /// on the clipboard is recognised. On the page of similar images, a dropped or pasted picture
    /// is a query.
    pub(super) fn take_dropped(&mut self, ctx: &Context) {
        let (dropped, pasted) = ctx.input(|input| {
            let pasted = input.events.iter().find_map(|event| match event {
                egui::Event::PasteImage(image) => Some(Arc::clone(image)),
                _ => None,
            });
            (input.raw.dropped_files.clone(), pasted)
        });
        let is_similar = self.view.page == Page::Similar && self.desk.state().is_some();
        if let Some(image) = pasted {
            let bytes = image.pixels.iter().flat_map(|pixel| {
                let [r, g, b, _] = pixel.to_array();
                [r, g, b]
            });
            if let Some(picture) = image::RgbImage::from_raw(image.size[0] as u32, image.size[1] as u32, bytes.collect()) {
                let query = ImageQuery::Pixels(Arc::new(picture));
                self.ask(if is_similar { Command::Similar(query, None) } else { Command::Recognise(query) });
            }
        }
        let add = if is_similar { Command::AddSimilar } else { Command::AddPlanned };
        self.requests.extend(dropped.iter().map(|file| Request::Command(add(file.path().to_owned()))));
    }

    /// Runs the command that a chosen path is for.
    pub(super) fn chose(&mut self, purpose: Purpose, path: PathBuf) {
        let command = match purpose {
            Purpose::Open => Command::OpenPlanned(path),
            Purpose::AddFolder => Command::PlanImport(path, None),
            Purpose::Relocate(folder) => Command::Relocate(folder, path),
            Purpose::SaveReport => Command::SaveReport(path),
            Purpose::ReadTable => Command::ReadTable(path),
            Purpose::Recognise => Command::Recognise(ImageQuery::File(path)),
            Purpose::RecogniseFolder => Command::RecogniseFolder(path),
            Purpose::SaveAnswers => Command::SaveAnswers(path, self.kept.settings.answered),
            Purpose::KeepPicture => match self.pages.recognise.truth.chosen.clone() {
                Some(class) => Command::KeepPicture(path, class),
                None => return,
            },
            Purpose::Similar => Command::Similar(ImageQuery::File(path), None),
            Purpose::LoadModel => Command::LoadModel(path),
            Purpose::AddNetwork => Command::AddNetwork(path, self.pages.models.take_network_name()),
            Purpose::SaveModel => Command::SaveModel(path),
            Purpose::Export(Export::Labels(ExportFormat::ClassFolders)) => {
                self.view.open(Modal::ClassFolders);
                Command::PreviewExport(Some(path))
            }
            Purpose::Export(what) => Command::Export(what, path),
            Purpose::ExportPicture => Command::ExportPicture(path),
            Purpose::RestoreBackup => Command::LookAtBackup(path),
            Purpose::BackUp => Command::BackUp(path),
        };
        self.run(command);
    }
}
