//! Choosing a path: a field to type it into, and the system's own dialog if there is one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

use tessera_core::picture::decode::EXTENSIONS;

use super::actions::Action;
use crate::command::{Export, ExportFormat};
use crate::session::desk::Desk;

/// What shows files that are no images, too, where an image is chosen.
pub const ALL_FILES: &str = "All files";

/// The purpose of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be opened, whatever it is.
    Open,
    /// A folder to be imported.
    AddFolder,
    /// Where this folder of the library is now that has moved.
    Relocate(PathBuf),
    /// A file of captions or labels.
    ReadTable,
    /// An image to be recognised.
    Recognise,
    /// A folder of images to be recognised.
    RecogniseFolder,
    /// Where the answers about the images of a folder are written.
    SaveAnswers,
    /// Where a pasted picture is saved that is taken into the library.
    KeepPicture,
    /// An image whose similar images are to be found.
    Similar,
    /// A model to be loaded.
    LoadModel,
    /// A network to be added.
    AddNetwork,
    /// Where the recogniser is saved.
    SaveModel,
    /// Where something is written.
    Export(Export),
    /// Where the drawn explanation is written.
    ExportPicture,
    /// The folder of a backup.
    BackUp,
    /// A backup to be restored.
    RestoreBackup,
    /// Where the list of what was not taken in is written.
    SaveReport,
}

impl Purpose {
    /// The heading and the explanation shown with the field.
    pub fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Open => ("Open", "A folder of images, a library, a collection, a backup, a model or an image"),
            Self::AddFolder => ("Add folder", "A folder of images"),
            Self::Relocate(_) => ("Where is this folder now?", "The folder that its images lie in now"),
            Self::ReadTable => ("Read captions or labels", "A CSV, TSV, JSON lines, COCO JSON or Flickr8k token file"),
            Self::KeepPicture => ("Add the pasted picture", "A new file whose name ends in .png; the library takes it in from there"),
            Self::Recognise => ("Recognise an image", "An image file"),
            Self::RecogniseFolder => ("Recognise a folder", "A folder of images; nothing of it is imported"),
            Self::SaveAnswers => ("Save answers", "A file name that ends in .csv"),
            Self::Similar => ("Similar to an image", "An image file, of this library or not"),
            Self::LoadModel => ("Load model", "A model's folder, or a .tessera-model file"),
            Self::AddNetwork => {
                ("Add a network", "An ONNX file of an image encoder, or a folder with it, a text encoder and tokenizer.json")
            }
            Self::SaveModel => ("Save model", "A new folder, or a file name that ends in .tessera-model"),
            Self::Export(what) => {
                let words = Action::Export(*what).words().0.trim_end_matches('…');
                let wanted = match what {
                    Export::Captions(ExportFormat::Sidecar) => "A folder; no file of it is replaced",
                    what if what.is_folder() => "A new or empty folder",
                    _ => "A new file, or an older export of the same kind to replace",
                };
                (words, wanted)
            }
            Self::ExportPicture => ("Save explanation", "A file name that ends in .png"),
            Self::SaveReport => ("Save report", "A new file of JSON lines, or an older report to replace"),
            Self::BackUp => (
                "Back up",
                "A new or empty folder, or an older backup of this library. Labels, captions, history and saved models go there; image files stay where they are",
            ),
            Self::RestoreBackup => ("Restore a backup", "The folder that a backup was made in"),
        }
    }

    /// Whether the path is that of an image to be read.
    pub fn is_image(&self) -> bool {
        matches!(self, Self::Recognise | Self::Similar)
    }

    /// Whether the path is that of something to be written.
    pub fn is_new(&self) -> bool {
        matches!(
            self,
            Self::KeepPicture
                | Self::SaveModel
                | Self::Export(_)
                | Self::ExportPicture
                | Self::BackUp
                | Self::SaveReport
                | Self::SaveAnswers
        )
    }

    /// The name that is proposed for what is written of a library with this name.
    pub fn proposed(&self, library: &str) -> Option<String> {
        let library = if library.is_empty() { "model" } else { library };
        Some(match self {
            Self::SaveModel => format!("{library}.tessera-model"),
            Self::Export(what) => {
                let (noun, format) = match *what {
                    Export::Labels(format) => ("labels", format),
                    Export::Captions(format) => ("captions", format),
                    Export::Predictions(format) => ("predictions", format),
                    Export::Events => ("events", ExportFormat::JsonLines),
                };
                match format {
                    ExportFormat::Csv => format!("{library} {noun}.csv"),
                    ExportFormat::Tsv => format!("{library} {noun}.tsv"),
                    ExportFormat::JsonLines => format!("{library} {noun}.jsonl"),
                    ExportFormat::Coco => format!("{library} {noun}.json"),
                    ExportFormat::Flickr8k => format!("{library} {noun}.token.txt"),
                    ExportFormat::Sidecar => format!("{library} captions"),
                    ExportFormat::ClassFolders | ExportFormat::ClassLinks | ExportFormat::NorbNames => format!("{library} by class"),
                }
            }
            Self::ExportPicture => "explanation.png".to_owned(),
            Self::SaveAnswers => "answers.csv".to_owned(),
            Self::SaveReport => format!("{library} not taken in.jsonl"),
            Self::BackUp => format!("{library} backup"),
            _ => return None,
        })
    }

    /// What can be chosen in the system's dialogs, which show either files or folders.
    pub fn wants(&self) -> &'static [Wants] {
        match self {
            Self::Open | Self::LoadModel | Self::AddNetwork => &[Wants::Folder, Wants::File],
            Self::AddFolder | Self::Relocate(_) | Self::RecogniseFolder | Self::BackUp | Self::RestoreBackup => &[Wants::Folder],
            Self::Export(what) if what.is_folder() => &[Wants::Folder, Wants::File],
            _ => &[Wants::File],
        }
    }
}

/// What a dialog shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Files.
    File,
    /// Folders.
    Folder,
}

/// The state of the system's dialogs, as panels see it.
#[derive(Clone, Copy, Debug)]
pub struct SystemDialogs {
    /// Whether there are any.
    pub are_there: bool,
    /// Whether one is open.
    pub is_open: bool,
}

/// The folder in which dialogs begin: the last one that was chosen in, that of what is open, or the
/// user's own.
pub fn start_folder(desk: &Desk, last: Option<&Path>) -> PathBuf {
    if let Some(last) = last {
        return last.to_owned();
    }
    desk.source().and_then(Path::parent).map(Path::to_owned).or_else(dirs::home_dir).unwrap_or_else(|| PathBuf::from("/"))
}

/// A path as it was typed: `~` is the user's own folder.
pub fn typed_path(text: &str) -> PathBuf {
    let text = text.trim();
    match (text.strip_prefix('~'), dirs::home_dir()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => Path::new(text).to_owned(),
    }
}

/// The system's dialogs, or a substitute in tests.
pub trait Dialogs {
    /// Whether there are any.
    fn are_there(&self) -> bool;
    /// Opens a dialog for a path, which begins at a folder and proposes a name for what is new; the
    /// answer comes some polls later. `wake` is called when it is there.
    fn ask(&mut self, purpose: Purpose, wants: Wants, begin: (PathBuf, Option<String>), wake: Box<dyn FnOnce() + Send>);
    /// The answer, once; `None` inside is a dialog that was closed.
    fn poll(&mut self) -> Option<(Purpose, Option<PathBuf>)>;
    /// Whether one is open.
    fn is_open(&self) -> bool;
    /// Stops waiting for the open dialog.
    fn give_up(&mut self);
}

/// The dialogs of the system, through its portal or zenity.
#[derive(Default)]
pub struct Native {
    open: Option<(Purpose, Receiver<Option<PathBuf>>)>,
}

impl Dialogs for Native {
    fn are_there(&self) -> bool {
        if !cfg!(target_os = "linux") {
            return true;
        }
        let has_bus = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
        let path = std::env::var_os("PATH").unwrap_or_default();
        has_bus || std::env::split_paths(&path).any(|folder| folder.join("zenity").is_file())
    }

    fn ask(&mut self, purpose: Purpose, wants: Wants, (folder, name): (PathBuf, Option<String>), wake: Box<dyn FnOnce() + Send>) {
        if self.open.is_some() {
            return;
        }
        let (send, receive) = mpsc::channel();
        let asked_for = purpose.clone();
        let asked = thread::Builder::new().name("dialog".into()).spawn(move || {
            let dialog = rfd::FileDialog::new().set_title(purpose.words().0).set_directory(folder);
            let dialog = if let Some(name) = name { dialog.set_file_name(name) } else { dialog };
            let dialog = if purpose.is_image() {
                // Some systems tell capital letters from small ones.
                let endings: Vec<String> = EXTENSIONS.iter().flat_map(|ending| [(*ending).to_owned(), ending.to_uppercase()]).collect();
                dialog.add_filter("Images", &endings).add_filter(ALL_FILES, &["*"])
            } else {
                dialog
            };
            let answer = match purpose {
                _ if wants == Wants::Folder => dialog.pick_folder(),
                _ if purpose.is_new() => dialog.save_file(),
                _ => dialog.pick_file(),
            };
            // The receiver is gone when nobody waits for the dialog any more.
            let _ = send.send(answer);
            wake();
        });
        if asked.is_ok() {
            self.open = Some((asked_for, receive));
        }
    }

    fn poll(&mut self) -> Option<(Purpose, Option<PathBuf>)> {
        let (purpose, answer) = self.open.as_ref()?;
        let answer = match answer.try_recv() {
            Ok(path) => path.filter(|path| !path.as_os_str().is_empty()),
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
        };
        let purpose = purpose.clone();
        self.open = None;
        Some((purpose, answer))
    }

    fn is_open(&self) -> bool {
        self.open.is_some()
    }

    fn give_up(&mut self) {
        self.open = None;
    }
}

/// Dialogs with scripted answers, for tests.
#[derive(Default)]
pub struct Scripted {
    answers: std::collections::VecDeque<Option<PathBuf>>,
    asked: Option<Purpose>,
}

impl Scripted {
    /// Answers with these paths one after another, and then with none.
    pub fn new(answers: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { answers: answers.into_iter().map(Some).collect(), asked: None }
    }
}

impl Dialogs for Scripted {
    fn are_there(&self) -> bool {
        true
    }

    fn ask(&mut self, purpose: Purpose, _: Wants, _: (PathBuf, Option<String>), wake: Box<dyn FnOnce() + Send>) {
        self.asked = Some(purpose);
        wake();
    }

    fn poll(&mut self) -> Option<(Purpose, Option<PathBuf>)> {
        self.asked.take().map(|purpose| (purpose, self.answers.pop_front().flatten()))
    }

    fn is_open(&self) -> bool {
        self.asked.is_some()
    }

    fn give_up(&mut self) {
        self.asked = None;
    }
}
