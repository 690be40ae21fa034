//! How the window stands, whatever page it shows: page, filter, selection, search, what is in
//! front. Nothing here is lost when it is.

use tessera_core::ids::ItemId;

use super::catalogue::{Catalogue, Changes};
use super::modal::{Draft, Modal};
use super::page::Page;
use super::selection::Selection;
use super::toasts::Toasts;
use crate::command::Crop;
use crate::session::desk::Desk;

/// How the window stands, whatever page it shows.
#[derive(Default)]
pub struct View {
    /// The page.
    pub page: Page,
    /// The images that are shown.
    pub shown: Catalogue,
    /// The search box.
    pub search: SearchBox,
    /// The images selected.
    pub selection: Selection,
    /// The image viewed by itself: the one that is selected.
    pub viewer: Option<Viewer>,
    /// The large picture that was painted in this frame.
    pub pictured: Option<Pictured>,
    /// The window in front.
    pub modal: Option<Modal>,
    /// What is typed into it.
    pub draft: Draft,
    /// Notices on the screen.
    pub toasts: Toasts,
}

/// The search box.
#[derive(Default)]
pub struct SearchBox {
    /// What is in it.
    pub text: String,
    /// Whether it is to have the keyboard.
    pub wants_focus: bool,
}

/// The image that is looked at by itself.
#[derive(Clone, Debug, Default)]
pub struct Viewer {
    /// Points for one pixel of the picture; none fits it into the window.
    pub zoom: Option<f32>,
    /// Where the picture's middle is, in points from the window's middle.
    pub offset: egui::Vec2,
    /// The zoom at which it fits, as last painted.
    pub fit: f32,
    /// Whether dragging marks a part.
    pub marks: bool,
    /// The part marked so far, from corner to corner in the picture's pixels.
    pub mark: Option<[egui::Pos2; 2]>,
    /// The part of the picture that is visible, as last painted; none when all of it is.
    pub visible: Option<Crop>,
}

/// A picture that is looked at in its own pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pictured {
    /// The image.
    pub image: ItemId,
    /// The one that will probably be looked at after it.
    pub next: Option<ItemId>,
}

impl View {
    /// Turns to a page.
    pub fn turn_to(&mut self, page: Page) {
        (self.page, self.viewer) = (page, None);
    }

    /// Opens the viewer on an image, which is selected by that.
    pub fn look_at(&mut self, image: ItemId) {
        self.selection.set([image]);
        self.viewer = Some(Viewer::default());
    }

    /// Opens a window in front.
    pub fn open(&mut self, modal: Modal) {
        self.draft = Draft::new(&modal);
        self.modal = Some(modal);
    }

    /// The search is another one.
    pub fn begin_search(&mut self, words: &str) {
        if self.search.text != words {
            words.clone_into(&mut self.search.text);
        }
        // What was selected was an answer to something else.
        self.selection.clear();
    }

    /// Begins anew with another library, or with none.
    pub fn begin_library(&mut self) {
        self.shown.clear();
        self.selection.clear();
        self.search.text.clear();
        self.viewer = None;
    }

    /// Brings what is shown up to date with the library.
    pub fn refresh(&mut self, desk: &Desk) -> Changes {
        self.shown.refresh(desk, &mut self.selection)
    }
}
