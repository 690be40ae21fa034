//! The window's loop: performs what was requested, takes in what the desk has done, then paints
//! everything.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use egui::{Context, ViewportCommand};
use tessera_core::library::event::ContentHash;
use tessera_core::library::suggest::LabelOrder;

use super::actions::Action;
use super::dialogs::{Dialogs, SystemDialogs, start_folder};
use super::kept::KeptSettings;
use super::listing::Scope;
use super::modal::Modal;
use super::page::Page;
use super::pages::Pages;
use super::panel::Panel;
use super::pictures::PictureTextures;
use super::requests::Request;
use super::textures::Textures;
use super::toasts::Toasts;
use super::view::View;
use super::window;
use crate::command::Command;
use crate::session::Session;
use crate::session::desk::view::Tone;
use crate::session::desk::{Desk, WantedThumbnail};

/// The window.
pub struct App {
    pub(super) desk: Desk,
    pub(super) kept: KeptSettings,
    pub(super) dialogs: Box<dyn Dialogs>,
    has_dialogs: bool,
    pub(super) view: View,
    pub(super) pages: Pages,
    textures: Textures,
    pictures: PictureTextures,
    pub(super) requests: Vec<Request>,
    /// Where the library is that was opened last.
    opened_last: Option<PathBuf>,
    /// Whether the window may close although jobs are running.
    may_leave: bool,
    /// Whether a problem was told while it waits for them to end.
    has_problem: bool,
}

/// How often the progress of jobs is painted.
const TICK: Duration = Duration::from_millis(150);

impl App {
    /// A window on a session. Settings are read from and written to `settings_place`.
    ///
    /// # Errors
    /// When the system refuses to start a thread.
    pub fn new(ctx: &Context, session: Session, settings_place: Option<PathBuf>, dialogs: Box<dyn Dialogs>) -> anyhow::Result<Self> {
        let (kept, problems) = KeptSettings::load(settings_place);
        let settings = &kept.settings;
        let session = if settings.threads > 0 { session.with_threads(settings.threads)? } else { session };
        let woken = ctx.clone();
        let mut desk = Desk::new(session, Arc::new(move || woken.request_repaint()))?;
        // The window has zoom keys of its own, which change the setting.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        kept.apply(ctx, &mut desk);
        desk.set_label_order(settings.label_order);
        desk.look_for(settings.recents.clone());
        let mut toasts = Toasts::default();
        problems.into_iter().for_each(|problem| toasts.push(problem));
        Ok(Self {
            has_dialogs: dialogs.are_there(),
            desk,
            textures: Textures::new(settings.thumbnail_megabytes << 20),
            kept,
            dialogs,
            view: View { toasts, ..View::default() },
            pages: Pages::default(),
            pictures: PictureTextures::default(),
            requests: Vec::new(),
            opened_last: None,
            may_leave: false,
            has_problem: false,
        })
    }

    /// Opens something, as when it was named on the command line.
    pub fn open(&mut self, path: PathBuf) {
        self.run(Command::OpenPlanned(path));
    }

    /// Requests a command, as a panel does.
    pub fn ask(&mut self, command: Command) {
        self.requests.push(Request::Command(command));
    }

    /// The desk: the open library and the running jobs.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// The state that all pages share.
    pub fn view_mut(&mut self) -> &mut View {
        &mut self.view
    }

    /// The state of each page.
    pub fn pages_mut(&mut self) -> &mut Pages {
        &mut self.pages
    }

    /// Turns to a page.
    pub fn turn_to(&mut self, page: Page) {
        self.view.turn_to(page);
        self.refresh_page();
    }

    /// Shows the images of one kind on the first page, and ends the search.
    pub fn show(&mut self, scope: Scope) {
        self.view.shown.scopes = vec![scope];
        self.turn_to(Page::Browse);
        self.parts().1.end_search();
    }

    /// Performs what was requested, and takes in what the desk has done.
    pub fn logic(&mut self, ctx: &Context) {
        self.view.began_writing = ctx.text_edit_focused();
        if ctx.memory(|memory| memory.top_modal_layer().is_none()) || self.view.modal.is_none() {
            let page = Some(self.view.page).filter(|_| self.view.viewer.is_none() && self.desk.state().is_some());
            // These pages use plain keys themselves.
            let is_taken = |action: Action| match page {
                Some(Page::Label | Page::Copies) => action != Action::Keys,
                Some(Page::Recognise) => action != Action::Keys && self.desk.recognising().recognition().is_some(),
                Some(Page::Similar) => action == Action::View,
                Some(Page::Clusters) => matches!(action, Action::View | Action::Like),
                _ => false,
            };
            self.requests.extend(Action::pressed(ctx, is_taken).into_iter().map(Request::Action));
        }
        self.take_dropped(ctx);
        if let Some((purpose, Some(path))) = self.dialogs.poll() {
            self.requests.push(Request::Chose(purpose, path));
        }
        self.poll();
        // Performing a request can add others.
        while !self.requests.is_empty() {
            for ask in std::mem::take(&mut self.requests) {
                self.answer(ctx, ask);
            }
        }
        if self.desk.planning().now().is_some() && self.view.modal.is_none() {
            self.view.open(Modal::Import);
        }
        let is_watched = self.view.page == Page::Recognise && self.view.viewer.is_none();
        self.desk.watch_recognition(is_watched);
        self.desk.watch_labelling(self.view.page == Page::Label);
        self.desk.watch_similar(self.view.page == Page::Similar);
        self.desk.watch_map(self.view.page == Page::Map && self.view.viewer.is_none());
        self.desk.watch_clusters(matches!(self.view.page, Page::Clusters | Page::Map | Page::Train));
        self.desk.watch_memory(self.view.page == Page::Library);
        let changes = self.view.refresh(&self.desk);
        if let Some(only) = changes.narrowed {
            self.run(Command::Narrow(only));
        }
        if changes.library {
            self.textures.try_again();
            self.refresh_page();
        }
        self.fetch(ctx);
        self.leave(ctx);
        self.kept.keep(ctx, &mut self.desk);
        self.view.toasts.expire(ctx);
        if self.desk.jobs().is_busy() {
            ctx.request_repaint_after(TICK);
        }
    }

    /// Takes in what the desk has done. Turns to the page of an answer that has come.
    fn poll(&mut self) {
        let like = self.desk.searching().like().map(Arc::as_ptr);
        self.drive(|desk| {
            desk.poll();
        });
        let now = self.desk.searching().like().map(Arc::as_ptr);
        if now.is_some() && now != like {
            self.turn_to(Page::Browse);
        }
        if self.desk.take_turn() {
            self.turn_to_recognition();
        }
        if let Some((what, path)) = self.desk.take_occupied() {
            self.view.open(Modal::Replace(what, path));
        }
        if let Some(backup) = self.desk.take_backup() {
            self.view.open(Modal::RestoreBackup(backup));
        }
        if let Some(act) = self.desk.take_import_to_undo() {
            self.view.open(Modal::UndoImport(act));
        }
        let waits = self.view.modal == Some(Modal::Quit);
        self.has_problem &= waits;
        for notice in self.desk.take_notices() {
            self.has_problem |= waits && notice.tone == Tone::Problem;
            self.view.toasts.push(notice);
        }
    }

    /// Lets the desk work. If that opens or closes a library, the state that belongs to a library
    /// is reset.
    fn drive(&mut self, work: impl FnOnce(&mut Desk)) {
        let before = self.desk.source().map(Path::to_owned);
        work(&mut self.desk);
        let source = self.desk.source().map(Path::to_owned);
        if source == before {
            return;
        }
        // The first images of a library are shown before it is open. Notices of before the first
        // one was open, such as problems with the settings, are of none.
        if before.is_some() {
            self.textures.clear();
            self.view.toasts.clear();
        }
        self.view.begin_library();
        self.pages.begin_library();
        let opened = self.desk.collection().or(self.desk.folder()).map(Path::to_owned);
        if let Some(opened) = opened {
            // Another library begins on the first page; the same one goes on where it was.
            let last = self.opened_last.replace(opened.clone());
            if last.is_some_and(|last| last != opened) {
                self.turn_to(Page::Browse);
            }
        }
        match source {
            // The sample is always at hand, so it is not listed among what was opened lately.
            Some(source) if self.desk.opening().tray().is_empty() => self.kept.settings.remember(&source),
            Some(_) => {}
            None => self.desk.look_for(self.kept.settings.recents.clone()),
        }
    }

    fn answer(&mut self, ctx: &Context, ask: Request) {
        match ask {
            Request::Command(command) => self.run(command),
            Request::Action(action) => self.act(ctx, action),
            Request::TurnTo(page) => self.turn_to(page),
            Request::Show(scope) => self.show(scope),
            Request::OpenDialog(purpose, wants) => {
                let ctx = ctx.clone();
                let begin =
                    (start_folder(&self.desk, self.view.chosen_in.as_deref()), purpose.proposed(self.desk.name().unwrap_or_default()));
                self.dialogs.ask(purpose, wants, begin, Box::new(move || ctx.request_repaint()));
            }
            Request::GiveUpDialog => self.dialogs.give_up(),
            Request::Chose(purpose, path) => {
                self.dialogs.give_up();
                self.view.modal = None;
                self.view.chosen_in = path.parent().map(Path::to_owned);
                self.chose(purpose, path);
            }
            Request::Leave => {
                (self.may_leave, self.view.modal) = (true, None);
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
        }
    }

    /// Runs a command by the desk, and updates the state of the window.
    pub(super) fn run(&mut self, command: Command) {
        match &command {
            Command::Recognise(_) => self.turn_to_recognition(),
            Command::RecogniseFolder(_) => {
                self.pages.recognise.folder.is_open = true;
                self.turn_to(Page::Recognise);
            }
            Command::Similar(..) if self.desk.state().is_some() => self.turn_to(Page::Similar),
            Command::Close | Command::OpenSample => self.turn_to(Page::Browse),
            Command::Open(_) | Command::OpenPlanned(_) if self.desk.state().is_none() => self.turn_to(Page::Browse),
            Command::Search(words) => self.view.begin_search(words),
            // An order that cannot be chosen is no setting.
            Command::LabelFrom(_, LabelOrder::Given) => {}
            Command::LabelFrom(_, order) => self.kept.settings.label_order = *order,
            _ => {}
        }
        self.drive(|desk| desk.run(command));
    }

    fn turn_to_recognition(&mut self) {
        self.pages.recognise.begin();
        self.turn_to(Page::Recognise);
    }

    /// Lets the page on the screen request what it needs of the library.
    fn refresh_page(&mut self) {
        if self.desk.state().is_some() {
            self.pages.of(self.view.page).refresh(&mut self.requests);
        }
    }

    /// Takes in the thumbnails that have come, and requests those that the last frame missed.
    fn fetch(&mut self, ctx: &Context) {
        for (hash, picture) in self.desk.take_thumbnails() {
            self.textures.put(hash.0, picture);
        }
        if let (Some(missing), Some(state)) = (self.textures.missing(), self.desk.state().or_else(|| Some(&self.desk.first()?.state))) {
            let wanted = missing.iter().rev().map(|(hash, image)| {
                let path = state.image(*image).and_then(|image| state.path_of(image));
                WantedThumbnail { hash: ContentHash(*hash), path }
            });
            self.desk.want_thumbnails(wanted.collect());
        }
        if self.textures.begin(ctx) {
            ctx.request_repaint();
        }
        self.pictures.begin(ctx, &self.desk);
    }

    /// Asks for confirmation when the window is closed while jobs are running; once they have
    /// ended, it closes, unless a problem is to be seen.
    fn leave(&mut self, ctx: &Context) {
        if self.view.modal == Some(Modal::Quit) && !self.desk.would_lose_work() && !self.has_problem {
            self.answer(ctx, Request::Leave);
        }
        if ctx.input(|input| input.viewport().close_requested()) && self.desk.would_lose_work() && !self.may_leave {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.view.open(Modal::Quit);
        }
    }

    /// The pages, and the context that they are painted with.
    fn parts(&mut self) -> (&mut Pages, Panel<'_>) {
        let panel = Panel {
            desk: &self.desk,
            view: &mut self.view,
            textures: &mut self.textures,
            pictures: &mut self.pictures,
            settings: &mut self.kept.settings,
            requests: &mut self.requests,
            dialogs: SystemDialogs { are_there: self.has_dialogs, is_open: self.dialogs.is_open() },
        };
        (&mut self.pages, panel)
    }

    /// Paints everything.
    pub fn ui(&mut self, ui: &mut egui::Ui) {
        self.view.pictured = None;
        let (pages, mut panel) = self.parts();
        window::window_ui(ui, pages, &mut panel);
        match self.view.pictured {
            Some(pictured) => self.desk.want_picture(pictured.image, pictured.next),
            None => self.desk.drop_pictures(),
        }
        if !self.requests.is_empty() {
            ui.ctx().request_repaint();
        }
    }
}
