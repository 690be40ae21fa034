//! The window: the only module that knows egui.
//!
//! Painting changes nothing but how the window stands; what is asked for is gathered and done in `logic`, by the desk.
//! No file, lock or decoder is touched on the thread that paints.

pub mod actions;
pub mod dialogs;
pub mod listing;
mod panels;
pub mod selection;
pub mod textures;
pub mod theme;
pub mod view;
pub mod widgets;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Context, ViewportCommand};
use tessera_core::error::contained;
use tessera_core::ids::ItemId;
use tessera_core::library::event::ContentHash;

use crate::command::{Command, Export, ExportFormat, ImageQuery};
use crate::job::JobKind;
use crate::session::Session;
use crate::session::desk::view::{Notice, Tone};
use crate::session::desk::{Desk, WantedThumbnail};
use crate::session::like::Like;
use crate::settings::Settings;
use actions::Action;
use dialogs::{Dialogs, Native, Purpose};
use listing::Scope;
use textures::Textures;
use view::{Asks, LabelView, Modal, Page, Panel, Pictures, Toast, View};

/// The window.
pub struct App {
    desk: Desk,
    settings: Settings,
    settings_place: Option<PathBuf>,
    saved: Settings,
    dialogs: Box<dyn Dialogs>,
    has_dialogs: bool,
    view: View,
    textures: Textures,
    pictures: Pictures,
    asks: Asks,
    wanted: Vec<(u128, ItemId)>,
    asked_for: Vec<PathBuf>,
    /// What hits were to look like in the last frame.
    liked: Option<*const Like>,
}

/// How long a short notice stays.
const TOAST: Duration = Duration::from_secs(5);
/// How often the progress of jobs is painted.
const TICK: Duration = Duration::from_millis(150);

impl App {
    /// A window on a session. Settings are read from and written to `settings_place`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(ctx: &Context, session: Session, settings_place: Option<PathBuf>, dialogs: Box<dyn Dialogs>) -> anyhow::Result<Self> {
        let (settings, problems) = settings_place.as_deref().map_or_else(Default::default, Settings::load);
        let session = if settings.threads > 0 { session.with_threads(settings.threads)? } else { session };
        let woken = ctx.clone();
        let mut desk = Desk::new(session, Arc::new(move || woken.request_repaint()))?;
        theme::apply(ctx, settings.theme, settings.scale);
        // The keys for that are the window's own, and change the setting.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        desk.set_search(settings.hits, settings.search_leaves);
        desk.limit_picture_memory(settings.picture_megabytes);
        desk.set_label_order(settings.label_order);
        let mut app = Self {
            has_dialogs: dialogs.are_there(),
            desk,
            textures: Textures::new(settings.thumbnail_megabytes << 20),
            saved: settings.clone(),
            settings,
            settings_place,
            dialogs,
            view: View::default(),
            pictures: Pictures::default(),
            asks: Asks::default(),
            wanted: Vec::new(),
            asked_for: Vec::new(),
            liked: None,
        };
        for words in problems {
            app.toast(Notice { words, tone: Tone::Problem, undo: None });
        }
        Ok(app)
    }

    /// Opens something, as when it was named on the command line.
    pub fn open(&mut self, path: PathBuf) {
        self.run(Command::Open(path));
    }

    /// Asks for something, as a panel does.
    pub fn ask(&mut self, command: Command) {
        self.asks.commands.push(command);
    }

    /// The library and what goes on.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// How the window stands.
    pub fn view_mut(&mut self) -> &mut View {
        &mut self.view
    }

    fn toast(&mut self, notice: Notice) {
        // What went well makes room for what is new; problems stay until they are closed.
        let mut older = self.view.toasts.iter().filter(|toast| toast.notice.tone != Tone::Problem).count();
        self.view.toasts.retain(|toast| {
            let stays = toast.notice.tone == Tone::Problem || older < 2;
            older -= usize::from(toast.notice.tone != Tone::Problem);
            stays
        });
        self.view.toasts.push(Toast { notice, since: Instant::now() });
        let surplus = self.view.toasts.len().saturating_sub(6);
        self.view.toasts.drain(..surplus);
    }

    fn run(&mut self, command: Command) {
        match &command {
            Command::Recognise(_) => self.view.turn_to_recognition(),
            Command::Close | Command::OpenSample => self.view.turn_to(Page::Browse),
            _ => {}
        }
        self.desk.run(command);
    }

    /// What has been asked for is done, what has been done is taken in.
    pub fn logic(&mut self, ctx: &Context) {
        if ctx.memory(|memory| memory.top_modal_layer().is_none()) || self.view.modal.is_none() {
            self.asks.actions.extend(Action::pressed(ctx, self.has_own_keys()));
        }
        self.take_dropped(ctx);
        if let Some((purpose, path)) = self.dialogs.poll()
            && let Some(path) = path
        {
            self.view.modal = None;
            self.chose(purpose, path);
        }
        let before = self.desk.source().map(Path::to_owned);
        self.desk.poll();
        let source = self.desk.source().map(Path::to_owned);
        if source != before {
            self.textures.clear();
            self.view.begin_library();
            if let Some(source) = source.filter(|_| self.desk.opening().tray().is_empty()) {
                self.settings.remember(&source);
            }
        }
        if self.desk.source().is_none() && self.asked_for != self.settings.recents {
            self.asked_for.clone_from(&self.settings.recents);
            self.desk.look_for(self.asked_for.clone());
        }
        if self.desk.take_turn() {
            self.view.turn_to_recognition();
        }
        let is_watched = self.view.page == Page::Recognise && self.view.viewer.is_none();
        self.desk.watch_recognition(is_watched);
        self.desk.watch_labelling(self.view.page == Page::Label);
        for notice in self.desk.take_notices() {
            self.toast(notice);
        }
        let Asks { commands, actions, path } = std::mem::take(&mut self.asks);
        if let Some(purpose) = path {
            self.view.open(Modal::Path(purpose));
        }
        for action in actions {
            self.act(ctx, action);
        }
        for command in commands {
            self.run(command);
        }
        if self.view.modal == Some(Modal::ClassFolders) && self.desk.exporting().plan().is_none() {
            self.view.modal = None;
        }
        if self.view.search != self.view.searched {
            self.view.searched.clone_from(&self.view.search);
            // What was selected was an answer to something else.
            self.view.selection.clear();
            self.run(Command::Search(self.view.search.clone()));
        }
        if std::mem::take(&mut self.view.ends_search)
            && (self.desk.searching().like().is_some() || self.desk.jobs().is_running(&JobKind::FindLike))
        {
            self.run(Command::Like(None));
        }
        let like = self.desk.searching().like().map(Arc::as_ptr);
        if std::mem::replace(&mut self.liked, like) != like && like.is_some() {
            self.view.turn_to(Page::Browse);
        }
        let has_changed = self.view.update(&self.desk);
        self.narrow();
        self.ask_why();
        if has_changed {
            self.textures.try_again();
        }
        let shows_health = self.view.page == Page::Library && self.desk.state().is_some();
        if shows_health && (has_changed || !self.view.had_health) {
            self.desk.look_at_health();
        }
        self.view.had_health = shows_health;
        self.fetch(ctx);
        self.leave(ctx);
        self.save_settings(ctx);
        let now = Instant::now();
        self.view.toasts.retain(|toast| toast.notice.tone == Tone::Problem || now - toast.since < TOAST);
        if self.view.toasts.iter().any(|toast| toast.notice.tone != Tone::Problem) {
            ctx.request_repaint_after(Duration::from_millis(500));
        }
        if self.desk.jobs().is_busy() {
            ctx.request_repaint_after(TICK);
        }
    }

    /// Whether letters are the page's own.
    fn has_own_keys(&self) -> bool {
        self.view.page == Page::Label && self.view.viewer.is_none() && self.desk.state().is_some()
    }

    /// What is shown is what is searched.
    fn narrow(&mut self) {
        let only = (!self.view.scopes.is_empty()).then(|| self.view.list());
        if only.as_ref().map(Arc::as_ptr) != self.view.narrowed.as_ref().map(Arc::as_ptr) {
            self.view.narrowed.clone_from(&only);
            self.run(Command::Narrow(only));
        }
    }

    /// The reasons for the hit that is looked at are asked for once.
    fn ask_why(&mut self) {
        let Some(hits) = self.desk.searching().hits() else { return };
        let Some(id) = self.view.selection.one().filter(|id| hits.hits.iter().any(|hit| hit.image == *id)) else { return };
        let wanted = Some((id, hits.number));
        if self.view.page == Page::Browse && self.view.why != wanted {
            self.view.why = wanted;
            self.run(Command::Why(id));
        }
    }

    /// Thumbnails: asks for those that the last frame missed, and takes in those that came.
    fn fetch(&mut self, ctx: &Context) {
        for (hash, picture) in self.desk.take_thumbnails() {
            self.textures.put(hash.0, picture);
        }
        let wanted = self.textures.wanted().to_vec();
        if wanted != self.wanted {
            if let Some(state) = self.desk.state() {
                let list = wanted.iter().rev().map(|(hash, image)| {
                    let path = state.image(*image).and_then(|image| state.path_of(image));
                    WantedThumbnail { hash: ContentHash(*hash), path }
                });
                self.desk.want_thumbnails(list.collect());
            }
            self.wanted = wanted;
        }
        if self.textures.begin(ctx) {
            ctx.request_repaint();
        }
        self.pictures.begin(ctx, &self.desk);
    }

    /// Files dropped on the window are opened; folders join a library that is open.
    fn take_dropped(&mut self, ctx: &Context) {
        let (dropped, pasted) = ctx.input(|input| {
            let pasted = input.events.iter().find_map(|event| match event {
                egui::Event::PasteImage(image) => Some(Arc::clone(image)),
                _ => None,
            });
            (input.raw.dropped_files.clone(), pasted)
        });
        if let Some(image) = pasted {
            let bytes = image.pixels.iter().flat_map(|pixel| {
                let [r, g, b, _] = pixel.to_array();
                [r, g, b]
            });
            if let Some(picture) = image::RgbImage::from_raw(image.size[0] as u32, image.size[1] as u32, bytes.collect()) {
                self.asks.commands.push(Command::Recognise(ImageQuery::Pixels(Arc::new(picture))));
            }
        }
        self.asks.commands.extend(dropped.iter().map(|file| Command::Add(file.path().to_owned())));
    }

    /// A path was chosen.
    fn chose(&mut self, purpose: Purpose, path: PathBuf) {
        if purpose == Purpose::Export(Export::Labels(ExportFormat::ClassFolders)) {
            self.view.open(Modal::ClassFolders);
            return self.asks.commands.push(Command::Plan(Some(path)));
        }
        self.asks.commands.push(match purpose {
            Purpose::Open => Command::Open(path),
            Purpose::AddFolder => Command::Import { folder: path, labels: Default::default(), exclude: Vec::new(), table: None },
            Purpose::ReadTable => Command::ReadTable(path),
            Purpose::Recognise => Command::Recognise(ImageQuery::File(path)),
            Purpose::LoadModel => Command::LoadModel(path),
            Purpose::SaveModel => Command::SaveModel(path),
            Purpose::Export(what) => Command::Export(what, path),
            Purpose::ExportPicture => Command::ExportPicture(path),
        });
    }

    fn act(&mut self, ctx: &Context, action: Action) {
        let has_library = self.desk.state().is_some();
        let selected = self.view.selection.ids();
        let list = match self.desk.searching().hits() {
            Some(hits) if self.view.page == Page::Browse => Arc::new(hits.hits.iter().map(|hit| hit.image).collect()),
            _ => self.view.list(),
        };
        let is_answer = selected.iter().any(|id| list.contains(id));
        match action {
            Action::Open => self.view.open(Modal::Path(Purpose::Open)),
            Action::AddFolder => self.view.open(Modal::Path(if has_library { Purpose::AddFolder } else { Purpose::Open })),
            Action::Sample => self.asks.commands.push(Command::OpenSample),
            Action::ReadTable => self.view.open(Modal::Path(Purpose::ReadTable)),
            Action::Export(what) if has_library => self.view.open(Modal::Path(Purpose::Export(what))),
            Action::Export(_) => self.toast(Notice { words: "Open a folder or a library first".into(), tone: Tone::Note, undo: None }),
            Action::RecogniseFile => self.view.open(Modal::Path(Purpose::Recognise)),
            Action::LoadModel => self.view.open(Modal::Path(Purpose::LoadModel)),
            Action::SaveModel => self.view.open(Modal::Path(Purpose::SaveModel)),
            Action::Close => self.asks.commands.push(Command::Close),
            Action::Rescan => self.asks.commands.push(Command::Rescan),
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Action::Undo => self.asks.commands.push(Command::Undo),
            Action::Redo => self.asks.commands.push(Command::Redo),
            Action::SelectAll => self.view.selection.set(list.iter().copied()),
            Action::SelectNone => self.view.selection.clear(),
            Action::Invert => self.view.selection.invert(&list),
            Action::Remove if !selected.is_empty() => self.asks.commands.push(Command::Remove(selected)),
            Action::Restore if !selected.is_empty() => self.asks.commands.push(Command::Restore(selected)),
            Action::Forget if !selected.is_empty() => self.view.open(Modal::Forget(selected)),
            Action::Find => {
                self.view.turn_to(Page::Browse);
                self.view.focus_search = true;
            }
            Action::Good | Action::Bad | Action::Unsaid => match self.desk.searching().hits() {
                Some(hits) if self.view.page == Page::Browse && is_answer && !hits.query.trim().is_empty() => {
                    let query = hits.query.clone();
                    let answers = selected.into_iter().filter(|id| list.contains(id));
                    self.asks.commands.extend(answers.map(|id| Command::Reward(query.clone(), id, action.reward())));
                }
                _ => self.toast(Notice { words: "Search for words and choose an answer first".into(), tone: Tone::Note, undo: None }),
            },
            Action::Like => {
                if let Some(id) = self.view.selection.one() {
                    let part = self.view.viewer.as_ref().and_then(|viewer| viewer.visible);
                    self.asks.commands.push(Command::Like(Some((ImageQuery::Item(id), part))));
                }
            }
            Action::Lessons => self.view.open(Modal::Lessons),
            Action::Recognise => {
                if let Some(id) = self.view.selection.one() {
                    self.asks.commands.push(Command::Recognise(ImageQuery::Item(id)));
                }
            }
            Action::Train => {
                self.view.turn_to(Page::Train);
                self.asks.commands.push(Command::Train);
            }
            Action::View if !selected.is_empty() => self.view.viewer = Some(view::Viewer::default()),
            Action::Reveal => {
                let path = self.view.selection.one().and_then(|id| self.desk.state().and_then(|state| state.path_of(state.image(id)?)));
                self.asks.commands.extend(path.map(Command::Reveal));
            }
            Action::CopyPath => {
                if let Some(state) = self.desk.state() {
                    let paths = selected.iter().filter_map(|id| state.path_of(state.image(*id)?));
                    let text: Vec<String> = paths.map(|path| path.to_string_lossy().into_owned()).collect();
                    if !text.is_empty() {
                        ctx.copy_text(text.join("\n"));
                        self.toast(Notice { words: "Copied".into(), tone: Tone::Done, undo: None });
                    }
                }
            }
            Action::Browse => self.view.turn_to(Page::Browse),
            Action::ShowLabel => {
                self.view.turn_to(Page::Label);
                self.view.label.reviews = false;
            }
            Action::LabelMany => {
                self.view.turn_to(Page::Label);
                (self.view.label.reviews, self.view.label.wants_batch) = (false, true);
            }
            Action::UsefulFirst | Action::DisputedFirst | Action::ByFolder | Action::ByChance => {
                self.view.turn_to(Page::Label);
                self.view.label.reviews = false;
                let only = self.desk.labelling().shown().and_then(|labelling| labelling.only.clone());
                self.asks.commands.extend(action.order().map(|order| Command::LabelFrom(only, order)));
            }
            Action::LabelThese if !selected.is_empty() => {
                let order = self.settings.label_order;
                self.asks.commands.push(Command::LabelFrom(Some(Arc::new(selected)), order));
                self.view.label = LabelView::default();
                self.view.turn_to(Page::Label);
            }
            Action::Review => {
                self.view.turn_to(Page::Label);
                (self.view.label.reviews, self.view.label.doubt) = (true, 0);
                self.asks.commands.push(Command::Review);
            }
            Action::ShowRecognise => self.view.turn_to(Page::Recognise),
            Action::ShowTrain => self.view.turn_to(Page::Train),
            Action::ShowModels => self.view.turn_to(Page::Models),
            Action::ShowLibrary => self.view.turn_to(Page::Library),
            Action::RenameClass | Action::ColourClass | Action::DeleteClass => {
                let shown = self.view.scopes.iter().find_map(|scope| match scope {
                    Scope::Class(class) => Some(class.clone()),
                    _ => None,
                });
                match shown {
                    Some(class) if action == Action::RenameClass => self.view.open(Modal::ClassName(Some(class))),
                    Some(class) if action == Action::DeleteClass => self.view.open(Modal::DeleteClass(class)),
                    Some(class) => {
                        let look = self.desk.state().and_then(|state| state.class(&class)).unwrap_or_default();
                        let [r, g, b, _] = theme::class(look.position, look.colour).to_array();
                        self.view.open(Modal::Colour(class, [r, g, b]));
                    }
                    None => self.toast(Notice { words: "Show the class first: press it in the tree".into(), tone: Tone::Note, undo: None }),
                }
            }
            Action::Settings => self.view.open(Modal::Settings),
            Action::History => self.view.open(Modal::History),
            Action::Log => self.view.open(Modal::Log),
            Action::Check => self.asks.commands.push(Command::Check),
            Action::Palette => self.view.open(Modal::Palette),
            Action::Keys => self.view.open(Modal::Keys),
            Action::About => self.view.open(Modal::About),
            Action::Larger => self.settings.thumbnail_side = (self.settings.thumbnail_side * 1.25).min(*widgets::grid::SIDES.end()),
            Action::Smaller => self.settings.thumbnail_side = (self.settings.thumbnail_side / 1.25).max(*widgets::grid::SIDES.start()),
            Action::FullScreen => {
                let is_full = ctx.input(|input| input.viewport().fullscreen.unwrap_or(false));
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!is_full));
            }
            Action::LabelThese => {
                let words = "Select the images first, in Browse; Ctrl+2 goes through all without a class".into();
                self.toast(Notice { words, tone: Tone::Note, undo: None });
            }
            Action::Remove | Action::Restore | Action::Forget | Action::View => {}
        }
    }

    /// Leaving while something goes on is asked once.
    fn leave(&mut self, ctx: &Context) {
        if ctx.input(|input| input.viewport().close_requested()) && self.desk.jobs().is_busy() && !self.view.leave {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.view.open(Modal::Quit);
        }
        if self.view.leave && self.view.modal == Some(Modal::Quit) {
            self.view.modal = None;
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
    }

    /// Settings that changed take effect and are written, by another thread.
    fn save_settings(&mut self, ctx: &Context) {
        if let Some(labelling) = self.desk.labelling().shown() {
            self.settings.label_order = labelling.order;
        }
        // While a slider is dragged its value changes with every frame.
        if self.settings == self.saved || ctx.egui_is_using_pointer() {
            return;
        }
        theme::apply(ctx, self.settings.theme, self.settings.scale);
        self.desk.set_search(self.settings.hits, self.settings.search_leaves);
        self.desk.limit_picture_memory(self.settings.picture_megabytes);
        self.saved = self.settings.clone();
        if let Some(place) = &self.settings_place {
            self.desk.save_settings(self.settings.clone(), place.clone());
        }
    }

    /// Paints everything.
    pub fn ui(&mut self, ui: &mut egui::Ui) {
        let Self { desk, settings, view, textures, pictures, asks, dialogs, .. } = self;
        let dialogs_state = (self.has_dialogs, dialogs.is_open());
        let mut panel = Panel { desk, view, textures, pictures, settings, asks, dialogs: dialogs_state };
        let request = panels::window_ui(ui, &mut panel);
        match request {
            Some(panels::Request::Native(purpose, wants)) => {
                let ctx = ui.ctx().clone();
                self.dialogs.ask(purpose, wants, Box::new(move || ctx.request_repaint()));
            }
            Some(panels::Request::GiveUp) => self.dialogs.give_up(),
            Some(panels::Request::Chose(purpose, path)) => {
                self.dialogs.give_up();
                self.chose(purpose, path);
            }
            None => {}
        }
        self.want_pictures();
        if let Some(folder) = self.view.listed.take() {
            self.desk.list_folder(folder);
        }
        if !(self.asks.commands.is_empty() && self.asks.actions.is_empty() && self.asks.path.is_none()) {
            ui.ctx().request_repaint();
        }
    }

    /// Asks for the picture that is looked at and the next one.
    fn want_pictures(&mut self) {
        let looked_at = match self.view.page {
            Page::Label if self.view.viewer.is_none() => self.view.label.shown.as_ref().map(|(id, ..)| *id),
            _ => self.view.selection.one().filter(|_| self.view.viewer.is_some()),
        };
        match looked_at {
            Some(id) => self.desk.want_picture(id, self.view.next),
            None => self.desk.drop_pictures(),
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _: &mut eframe::Frame) {
        App::logic(self, ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        App::ui(self, ui);
    }
}

/// Opens the window and waits until it is closed.
///
/// # Errors
/// When there is no screen, or what is needed to paint on it is missing; the words say which package to install.
pub fn run(open: Option<PathBuf>, session: Session) -> anyhow::Result<()> {
    let icon = eframe::icon_data::from_png_bytes(include_bytes!("../../../assets/icon.png")).unwrap_or_default();
    let viewport = egui::ViewportBuilder::default()
        .with_title("Tessera")
        .with_app_id("tessera")
        .with_icon(icon)
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([760.0, 480.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let start = move |creation: &eframe::CreationContext<'_>| -> Result<Box<dyn eframe::App>, Box<dyn std::error::Error + Send + Sync>> {
        let mut app = App::new(&creation.egui_ctx, session, Settings::place(), Box::new(Native::default()))?;
        if let Some(path) = open {
            app.open(path);
        }
        Ok(Box::new(app))
    };
    // Some libraries that paint panic where a package is missing; the words are the same then.
    let outcome = contained(|| eframe::run_native("Tessera", options, Box::new(start)));
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => anyhow::bail!("cannot open a window: {error}; {WAY_OUT}"),
        Err(words) => anyhow::bail!("cannot open a window: {}; {WAY_OUT}", crate::job::mistake(&words)),
    }
}

const WAY_OUT: &str =
    "run it on a desktop with OpenGL, install the packages that the README lists, or use the command line (`tessera --help`)";

/// A path as it was typed: `~` is the user's own folder.
fn typed_path(text: &str) -> PathBuf {
    let text = text.trim();
    match (text.strip_prefix('~'), dirs::home_dir()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => Path::new(text).to_owned(),
    }
}
