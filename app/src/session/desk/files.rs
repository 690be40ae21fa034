//! File-system facts that are shown: whether paths exist, and what a folder contains.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::problem;
use super::part::Part;
use super::view::FolderEntry;
use crate::settings::Settings;

/// Entries of a folder that are listed at most.
const LISTED: usize = 2000;

/// Known facts about files and folders.
#[derive(Default)]
pub struct Files {
    there: HashMap<PathBuf, bool>,
    listing: Option<(PathBuf, Vec<FolderEntry>)>,
}

/// Results of the tasks.
pub(super) enum Message {
    /// Whether paths exist.
    There(Vec<(PathBuf, bool)>),
    /// The entries of a folder.
    Listing(PathBuf, Vec<FolderEntry>),
}

impl Part for Files {
    type Message = Message;
    const OUTLIVES_LIBRARY: bool = true;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Message) {
        match message {
            Message::There(paths) => self.there.extend(paths),
            Message::Listing(folder, entries) => self.listing = Some((folder, entries)),
        }
    }

    fn hear(&mut self, _: &mut Context, _: Event) {}
}

impl Files {
    /// Whether a path exists; `None` while that is not known.
    pub fn is_there(&self, path: &Path) -> Option<bool> {
        self.there.get(path).copied()
    }

    /// The folder listed last, with its entries, once they are known.
    pub fn listing(&self) -> Option<(&Path, &[FolderEntry])> {
        self.listing.as_ref().map(|(folder, entries)| (folder.as_path(), entries.as_slice()))
    }
}

/// Checks which of some paths exist.
pub(super) fn look_for(ctx: &Context, paths: Vec<PathBuf>) {
    ctx.short(move || {
        let there = |path: PathBuf| {
            let is_there = path.exists();
            (path, is_there)
        };
        Message::There(paths.into_iter().map(there).collect())
    });
}

/// Lists a folder without its hidden files.
pub(super) fn list_folder(ctx: &Context, folder: PathBuf) {
    ctx.short(move || {
        let mut entries: Vec<FolderEntry> = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            .take(LISTED)
            .map(|entry| FolderEntry { is_folder: entry.path().is_dir(), path: entry.path() })
            .collect();
        entries.sort_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.path.cmp(&b.path)));
        Message::Listing(folder, entries)
    });
}

/// Shows a file in the system's file manager.
pub(super) fn reveal(ctx: &Context, path: PathBuf) {
    ctx.short(move || match opener::reveal(&path) {
        Ok(()) => DeskMessage::from(()),
        Err(error) => problem(format!("{}: no file manager could show it ({error}); its path can be copied", path.display())).into(),
    });
}

/// Writes settings.
pub(super) fn save_settings(ctx: &Context, settings: Settings, place: PathBuf) {
    ctx.short(move || match settings.save(&place) {
        Ok(()) => DeskMessage::from(()),
        Err(error) => problem(error).into(),
    });
}
