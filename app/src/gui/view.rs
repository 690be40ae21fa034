//! State of the window that all pages share: page, filter, selection, search box, modal, toasts.
//! Nothing of it is saved.

use std::collections::HashSet;
use std::path::PathBuf;

use tessera_core::ids::ItemId;

use super::catalogue::{Catalogue, Changes};
use super::dialogs::Purpose;
use super::modal::{Modal, ModalDraft};
use super::page::Page;
use super::selection::Selection;
use super::toasts::Toasts;
use crate::command::Crop;
use crate::session::desk::Desk;

/// State of the window that all pages share.
#[derive(Default)]
pub struct View {
    /// Whether a text field had the keyboard when the frame began: the keys of the frame are its
    /// own, also those that came with the Enter by which it gave the keyboard up.
    pub began_writing: bool,
    /// The page that is shown.
    pub page: Page,
    /// The filter, and the images that pass it.
    pub shown: Catalogue,
    /// The search box.
    pub search: SearchBox,
    /// The selected images of the page on the screen.
    pub selection: Selection,
    /// Those of Browse and Map, while another page is shown.
    pub browsed: Selection,
    /// Whether the menu is to be opened, or closed if it is open.
    pub wants_menu: bool,
    /// Whether the page Train is to show when an image is unknown.
    pub seeks_unknown: bool,
    /// The viewer, while it is open; it shows the selected image.
    pub viewer: Option<Viewer>,
    /// The picture that this frame needs in full size.
    pub pictured: Option<Pictured>,
    /// The modal window, while one is open.
    pub modal: Option<Modal>,
    /// Whether it has just been opened: menus that are open behind it are to be closed.
    pub closes_menus: bool,
    /// What is typed into the modal window.
    pub draft: ModalDraft,
    /// The folder in which a path was chosen last.
    pub chosen_in: Option<PathBuf>,
    /// Notices on the screen.
    pub toasts: Toasts,
}

/// The search box.
#[derive(Default)]
pub struct SearchBox {
    /// The text in it.
    pub text: String,
    /// Whether it takes the focus in the next frame.
    pub wants_focus: bool,
    /// The list of completions below it.
    pub completions: CompletionList,
}

/// The list of completions below the search box.
#[derive(Clone, Debug, Default)]
pub struct CompletionList {
    /// The chosen one: a place in the list.
    pub chosen: Option<usize>,
    /// Whether it was open in the last frame.
    pub is_open: bool,
    /// Whether the pointer was over it in the last frame.
    pub is_hovered: bool,
    /// Whether it stays closed until more is typed.
    pub is_closed: bool,
}

/// State of the viewer, which shows one image.
#[derive(Clone, Debug, Default)]
pub struct Viewer {
    /// Points per pixel of the picture; `None` fits it into the window.
    pub zoom: Option<f32>,
    /// Offset of the picture's centre from the window's, in points.
    pub offset: egui::Vec2,
    /// The zoom at which it fits, as last painted.
    pub fit: f32,
    /// Whether dragging marks a part.
    pub marks: bool,
    /// The part marked so far: two opposite corners, in the picture's pixels.
    pub mark: Option<[egui::Pos2; 2]>,
    /// The part of the picture that is visible, as last painted; none when all of it is.
    pub visible: Option<Crop>,
}

/// A picture that is needed in full size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pictured {
    /// The image.
    pub image: ItemId,
    /// The one that will probably be needed after it, to be decoded ahead.
    pub next: Option<ItemId>,
}

impl View {
    /// Whether the keys of this frame are those of a text field.
    pub fn is_writing(&self, ctx: &egui::Context) -> bool {
        self.began_writing || ctx.text_edit_focused()
    }

    /// Turns to a page. Nothing is selected there that it does not show, for keys act on the
    /// selection; what was selected elsewhere is, on Browse and Map, which show all images.
    pub fn turn_to(&mut self, page: Page) {
        if page == Page::Browse && self.page == Page::Map {
            self.selection.seek();
        }
        if page != self.page && !(are_browsed(page) && are_browsed(self.page)) {
            let left = std::mem::take(&mut self.selection);
            if !left.is_empty() || are_browsed(self.page) {
                self.browsed = left;
            }
            if are_browsed(page) {
                self.selection = std::mem::take(&mut self.browsed);
                let shown: HashSet<ItemId> = self.shown.list().iter().copied().filter(|id| self.selection.contains(*id)).collect();
                self.selection.retain(|id| shown.contains(&id));
            }
        }
        (self.page, self.viewer) = (page, None);
    }

    /// Turns to a page and selects images there.
    pub fn select_on(&mut self, page: Page, images: impl IntoIterator<Item = ItemId>) {
        self.turn_to(page);
        self.selection.set(images);
        if matches!(page, Page::Browse | Page::Clusters) {
            self.selection.seek();
        }
    }

    /// Selects an image and opens the viewer on it.
    pub fn look_at(&mut self, image: ItemId) {
        self.selection.set([image]);
        self.viewer = Some(Viewer::default());
    }

    /// Opens a modal window.
    pub fn open(&mut self, modal: Modal) {
        self.draft = ModalDraft::new(&modal);
        (self.modal, self.closes_menus) = (Some(modal), true);
    }

    /// Asks where a folder of the library that has moved is now.
    pub fn ask_where_is(&mut self, folder: PathBuf) {
        self.open(Modal::Path(Purpose::Relocate(folder)));
    }

    /// Notes the words of another search, and clears the selection.
    pub fn begin_search(&mut self, words: &str) {
        if self.search.text != words {
            words.clone_into(&mut self.search.text);
        }
        // The selected images were hits of another search.
        self.selection.clear();
        self.browsed.clear();
    }

    /// Resets what belongs to a library: another one was opened, or it was closed.
    pub fn begin_library(&mut self) {
        self.shown.clear();
        self.selection.clear();
        self.browsed.clear();
        self.search.text.clear();
        self.viewer = None;
    }

    /// Brings list, counts and selection up to date with the library.
    pub fn refresh(&mut self, desk: &Desk) -> Changes {
        self.shown.refresh(desk, &mut self.selection, are_browsed(self.page))
    }
}

/// Whether a page shows the images that pass the filter.
fn are_browsed(page: Page) -> bool {
    matches!(page, Page::Browse | Page::Map)
}
