//! Modal windows: which one is open, and what is being typed into it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::event::UserLabel;
use tessera_core::library::state::Act;

use super::dialogs::Purpose;
use crate::command::Written;
use crate::session::desk::OpenedBackup;
use crate::session::desk::near_copies::CopiesToClear;

/// A modal window.
#[derive(Clone, Debug, PartialEq)]
pub enum Modal {
    /// Choose a path.
    Path(Purpose),
    /// All commands by their words.
    Palette,
    /// All keys.
    Keys,
    /// What this program is.
    About,
    /// The settings.
    Settings,
    /// The history.
    History,
    /// The log.
    Log,
    /// The rewards given to answers.
    Lessons,
    /// Questions to a cluster.
    AskCluster,
    /// The name of a new class, or a new name of one that is there.
    ClassName(Option<String>),
    /// A class is to be deleted.
    DeleteClass(String),
    /// A class's colour.
    Colour(String, [u8; 3]),
    /// This act is to be undone, which took in images.
    UndoImport(Arc<Act>),
    /// Many images are to be labelled by a key.
    LabelMany(Vec<ItemId>, UserLabel),
    /// The copies of all groups are to be removed; whether their files go to the bin of the system.
    ClearCopies(Arc<CopiesToClear>, bool),
    /// Images are to be removed, and their files, so many, moved to the bin of the system.
    RemoveToBin(Vec<Clearance>, usize),
    /// One of several files of an image is to be moved there; the image, the file, one that stays.
    FileToBin(ItemId, PathBuf, PathBuf),
    /// All files of some images but one of each are to be moved there.
    FilesToBin(Arc<Vec<(ItemId, PathBuf)>>),
    /// Images are to be forgotten.
    Forget(Vec<ItemId>),
    /// The plan of an import.
    Import,
    /// The preview of an export into class folders.
    ClassFolders,
    /// Something is to be written where something is already.
    Replace(Written, PathBuf),
    /// A snapshot is to be put back, from so long ago.
    Restore(PathBuf, String),
    /// A backup is to be restored.
    RestoreBackup(OpenedBackup),
    /// The window is to be closed while jobs are running.
    Quit,
}

/// What is being typed into a modal window.
#[derive(Clone, Debug, Default)]
pub struct ModalDraft {
    /// The text.
    pub text: String,
    /// Whether the window has just opened: its field takes the focus.
    pub is_new: bool,
    /// The characters that its field then selects; `None` selects all.
    pub selected: Option<Range<usize>>,
    /// The entry chosen in its list.
    pub chosen: usize,
    /// Whether its box is ticked.
    pub is_ticked: bool,
    /// The class of all images that is being typed before an import.
    pub class: Option<String>,
    /// When its last letter came, in seconds, until the plan is asked to follow.
    pub typed_at: Option<f64>,
}

impl ModalDraft {
    /// The text that a window begins with.
    pub fn new(modal: &Modal) -> Self {
        let text = match modal {
            Modal::ClassName(Some(name)) => name.clone(),
            Modal::RestoreBackup(backup) => backup.place.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        Self { text, is_new: true, selected: None, chosen: 0, is_ticked: false, class: None, typed_at: None }
    }
}
