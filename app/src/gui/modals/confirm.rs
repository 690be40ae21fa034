//! Confirmation of commands that cannot be undone or delete much.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Event, Key, Ui};
use tessera_core::error::{display, display_name};
use tessera_core::ids::ItemId;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::event::UserLabel;
use tessera_core::library::state::Act;

use crate::command::{Command, Written};
use crate::gui::panel::Panel;
use crate::gui::requests::Request;
use crate::gui::widgets::main_button;
use crate::gui::words::{self, count};

/// A question, and the command to run when it is confirmed.
pub(super) struct Question {
    heading: String,
    words: String,
    verb: &'static str,
    command: Command,
    /// Whether Enter confirms it: what it does can be undone.
    by_enter: bool,
}

/// Asks whether to delete a class with so many images.
pub(super) fn delete_class(class: &str, images: usize) -> Question {
    Question {
        heading: format!("Delete class {class}?"),
        words: format!("Its {} will have no class. This can be undone.", count(images, "image")),
        verb: "Delete",
        command: Command::DeleteClass(class.to_owned()),
        by_enter: false,
    }
}

/// Asks whether a key was meant to undo an import, which took in images.
pub(super) fn undo_import(act: &Act) -> Question {
    Question {
        heading: "Take the import back?".into(),
        words: format!(
            "This is the last act: {}. Undone, its images leave the library. Their files stay where they are, and Redo (Ctrl+Shift+Z) \
             brings the images back with their labels.",
            act.words
        ),
        verb: "Undo the import",
        command: Command::UndoAct(act.id),
        by_enter: false,
    }
}

/// Asks whether a key was meant to label so many images.
pub(super) fn label_many(images: &[ItemId], label: &UserLabel) -> Question {
    let images = images.to_vec();
    let n = count(images.len(), "selected image");
    let (heading, verb) = match label {
        UserLabel::Class(class) => (format!("Label {n} as {class}?"), "Label all"),
        UserLabel::NoClass | UserLabel::Unsaid => (format!("Take the class off {n}?"), "Take it off all"),
    };
    let words = "One key would do it to all of them. This can be undone.".into();
    Question { heading, words, verb, command: Command::Label(images, label.clone()), by_enter: true }
}

/// Asks whether to remove images and move their files to the bin.
pub(super) fn remove_to_bin(cleared: &[Clearance], files: usize) -> Question {
    let images = cleared.iter().map(|clearance| clearance.removed.len()).sum();
    Question {
        heading: format!("Move {} of {} to the bin?", count(files, "file"), count(images, "image")),
        words: "The images leave the library, and their files go to the bin of the system. Nothing is deleted: an undo brings the images \
                back and the files where they were, as long as they are in the bin. Files that have changed stay, and those for which the \
                file that is kept is not there."
            .into(),
        verb: "Move to the bin",
        command: Command::RemoveToBin(cleared.to_vec()),
        by_enter: false,
    }
}

/// Asks whether to move a file to the bin, where `other` has the same bytes.
pub(super) fn file_to_bin(image: ItemId, file: &Path, other: &Path) -> Question {
    Question {
        heading: format!("Move {} to the bin?", display_name(file)),
        words: format!("{} has the same bytes and stays. The file is not deleted: an undo puts it back from the bin.", display(other)),
        verb: "Move to the bin",
        command: Command::FilesToBin(Arc::new(vec![(image, file.to_owned())])),
        by_enter: false,
    }
}

/// Asks whether to move files to the bin, each of an image of which another file stays.
pub(super) fn files_to_bin(files: &Arc<Vec<(ItemId, PathBuf)>>) -> Question {
    Question {
        heading: format!("Move {} to the bin?", count(files.len(), "file")),
        words: "Of each image the oldest file of the same bytes stays; a file is moved only while another one is there. The files \
                are not deleted: an undo puts them back from the bin."
            .into(),
        verb: "Move to the bin",
        command: Command::FilesToBin(Arc::clone(files)),
        by_enter: false,
    }
}

/// Asks whether to forget images.
pub(super) fn forget(images: &[ItemId]) -> Question {
    Question {
        heading: format!("Forget {} for good?", count(images.len(), "image")),
        words: "Their labels, captions, features and thumbnails are purged from the library, its history and everything it learned, and \
                saved models of this library are deleted. The image files stay where they are. This cannot be undone."
            .into(),
        verb: "Forget",
        command: Command::Forget(images.to_vec()),
        by_enter: false,
    }
}

/// Asks whether to write something in place of what is there.
pub(super) fn replace(what: Written, path: &Path) -> Question {
    let found = match what {
        Written::Export(_) => "An older export of the same kind",
        Written::Model => "A model",
        Written::Explanation | Written::Picture => "A file",
        Written::Answers => "An older table of answers",
    };
    Question {
        heading: format!("Replace {}?", display_name(path)),
        words: format!("{found} is there: {}. This cannot be undone.", display(path)),
        verb: "Replace",
        command: Command::Replace(what, path.to_owned()),
        by_enter: false,
    }
}

/// Asks whether to restore a snapshot; `when` says how long ago it was made.
pub(super) fn restore(snapshot: &Path, when: &str) -> Question {
    Question {
        heading: format!("Put back the snapshot of {when}?"),
        words: "Labels, captions and history are as they were then; what was done since is taken away. The present file is kept in the \
                library's folder."
            .into(),
        verb: "Put back",
        command: Command::RestoreSnapshot(snapshot.to_owned()),
        by_enter: false,
    }
}

/// Returns whether the window is to be closed.
pub(super) fn confirm_ui(ui: &mut Ui, panel: &mut Panel<'_>, question: Question) -> bool {
    ui.heading(question.heading);
    ui.label(question.words);
    ui.horizontal(|ui| {
        // A key that is held from before has not answered, nor has Enter on another button.
        let is_enter = |event: &Event| matches!(event, Event::Key { key: Key::Enter, pressed: true, repeat: false, .. });
        let is_free = ui.memory(|memory| memory.focused().is_none());
        let entered = question.by_enter && is_free && ui.input(|input| input.events.iter().any(is_enter));
        let confirms = main_button(ui, question.verb).clicked() || entered;
        if confirms {
            panel.ask(question.command);
        }
        ui.button("Cancel").clicked() || confirms
    })
    .inner
}

/// Asks whether to close the window while jobs are running, or after one that told a problem.
/// Returns whether it stays open.
pub(super) fn quit_ui(ui: &mut Ui, panel: &mut Panel<'_>) -> bool {
    let goes_on = panel.desk.would_lose_work();
    ui.heading(if goes_on { "Something is still going on" } else { "Nothing is going on any more" });
    for job in panel.desk.jobs().list() {
        ui.label(words::job(&job));
    }
    for waiting in panel.desk.opening().waiting() {
        ui.label(format!("{waiting}: waits until words and pieces are read"));
    }
    ui.label(match goes_on {
        true => "The window closes by itself once this is done. Leave now and the rest is not done; what was done so far is saved.",
        false => "There was a problem, which is told at the bottom of the window. What was done is saved.",
    });
    ui.horizontal(|ui| {
        if main_button(ui, "Leave").clicked() || ui.input(|input| input.key_pressed(Key::Enter)) {
            panel.requests.push(Request::Leave);
        }
        ui.button("Stay").clicked()
    })
    .inner
}
