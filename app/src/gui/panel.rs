//! The context that panels are painted with, and the trait of pages.

use std::sync::Arc;

use egui::Ui;
use tessera_core::ids::ItemId;
use tessera_core::library::state::State;

use super::actions::Action;
use super::dialogs::SystemDialogs;
use super::key_names::{KEYED, key_of};
use super::listing::Scope;
use super::pictures::PictureTextures;
use super::requests::Request;
use super::textures::Textures;
use super::view::View;
use crate::command::Command;
use crate::job::JobKind;
use crate::session::desk::Desk;
use crate::settings::Settings;

/// The context of a panel: the data that it shows, and the queue for its requests.
pub struct Panel<'a> {
    /// The open library and the running jobs.
    pub desk: &'a Desk,
    /// State that all pages share.
    pub view: &'a mut View,
    /// Thumbnails.
    pub textures: &'a mut Textures,
    /// Large pictures.
    pub pictures: &'a mut PictureTextures,
    /// The settings.
    pub settings: &'a mut Settings,
    /// The requests, in order.
    pub requests: &'a mut Vec<Request>,
    /// The system's dialogs.
    pub dialogs: SystemDialogs,
}

impl Panel<'_> {
    /// State of the open library.
    pub fn state(&self) -> Option<&State> {
        self.desk.state()
    }

    /// The names of all classes, in order.
    pub fn classes(&self) -> Arc<Vec<String>> {
        self.view.shown.classes()
    }

    /// The key that gives a class, if it has one.
    pub fn key_of(&self, class: &str) -> Option<String> {
        self.classes().iter().take(KEYED).position(|other| other == class).and_then(key_of)
    }

    /// The class that an image is labelled with.
    pub fn label_of(&self, image: ItemId) -> Option<&str> {
        self.state()?.image(image)?.label()
    }

    /// The colour of a class.
    pub fn colour(&self, class: &str) -> egui::Color32 {
        let look = self.state().and_then(|state| state.class(class)).unwrap_or_default();
        super::theme::class(look.position, look.colour)
    }

    /// Requests a command of the desk.
    pub fn ask(&mut self, command: Command) {
        self.requests.push(Request::Command(command));
    }

    /// Requests an action.
    pub fn act(&mut self, action: Action) {
        self.requests.push(Request::Action(action));
    }

    /// Requests to filter the images by this alone, on the first page, and to end the search.
    pub fn show(&mut self, scope: Scope) {
        self.requests.push(Request::Show(scope));
    }

    /// Requests to end the search, by words and by similarity.
    pub fn end_search(&mut self) {
        if !self.view.search.text.is_empty() {
            self.ask(Command::Search(String::new()));
        }
        if self.desk.searching().like().is_some() || self.desk.jobs().is_running(&JobKind::FindLike) {
            self.ask(Command::SearchByImage(None));
        }
    }
}

/// A page: its state and its painting.
pub trait PageUi {
    /// Requests data that the page needs. Called when the page is turned to, and when the library
    /// changes while it is on the screen.
    fn refresh(&self, _asks: &mut Vec<Request>) {}

    /// Paints the panels at the sides of the window.
    fn sides_ui(&mut self, _ui: &mut Ui, _panel: &mut Panel<'_>) {}

    /// Paints the page.
    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>);
}
