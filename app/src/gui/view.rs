//! How the window stands: page, filter, selection, drafts. Nothing here is lost when it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use egui::{ColorImage, TextureHandle};
use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::library::state::State;
use tessera_core::picture::Picture;

use super::actions::Action;
use super::dialogs::Purpose;
use super::listing::{Census, Scope, Sort, list};
use super::selection::Selection;
use super::textures::{Textures, colour_image};
use crate::command::{Command, Crop};
use crate::session::desk::Desk;
use crate::session::desk::view::{Notice, Recognition, Tried};
use crate::session::like::Like;
use crate::settings::Settings;

/// A page of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// All images.
    #[default]
    Browse,
    /// One image after another, to be labelled.
    Label,
    /// One image, its class and the reasons.
    Recognise,
    /// How good the recogniser is.
    Train,
    /// Saved models.
    Models,
    /// The library itself.
    Library,
}

impl Page {
    /// All of them with their actions.
    pub const ALL: [(Self, Action); 6] = [
        (Self::Browse, Action::Browse),
        (Self::Label, Action::ShowLabel),
        (Self::Recognise, Action::ShowRecognise),
        (Self::Train, Action::ShowTrain),
        (Self::Models, Action::ShowModels),
        (Self::Library, Action::ShowLibrary),
    ];
}

/// A window in front of all others.
#[derive(Clone, Debug, PartialEq)]
pub enum Modal {
    /// A path is asked for.
    Path(Purpose),
    /// All commands by their words.
    Palette,
    /// All keys.
    Keys,
    /// What this is.
    About,
    /// The settings.
    Settings,
    /// The history.
    History,
    /// The log.
    Log,
    /// What was said of answers.
    Lessons,
    /// The name of a new class, or a new name of one that is there.
    ClassName(Option<String>),
    /// A class is to be deleted.
    DeleteClass(String),
    /// A class's colour.
    Colour(String, [u8; 3]),
    /// Images are to be forgotten.
    Forget(Vec<ItemId>),
    /// Class folders are to be written, once it is known what that would be.
    ClassFolders,
    /// A snapshot is to be put back, from so long ago.
    Restore(PathBuf, String),
    /// The window is to be closed while something is going on.
    Quit,
}

/// A notice on the screen.
pub struct Toast {
    /// What it says.
    pub notice: Notice,
    /// When it came.
    pub since: Instant,
}

/// What was asked for while painting.
#[derive(Default)]
pub struct Asks {
    /// To be done by the desk.
    pub commands: Vec<Command>,
    /// To be done by the window.
    pub actions: Vec<Action>,
    /// A path is wanted.
    pub path: Option<Purpose>,
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
    /// Whether dragging marks a part, and the part marked so far, from corner to corner in the picture's pixels.
    pub marks: bool,
    /// See `marks`.
    pub mark: Option<[egui::Pos2; 2]>,
    /// The part of the picture that is visible, as last painted; none when all of it is.
    pub visible: Option<Crop>,
}

/// Textures of large pictures: those of the recognition, and the one that is viewed.
#[derive(Default)]
pub struct Pictures {
    recognition: Option<Arc<Recognition>>,
    query: Option<TextureHandle>,
    tiles: Vec<Option<TextureHandle>>,
    viewed: Option<Viewed>,
    like: Option<(Arc<Like>, TextureHandle)>,
    tray: Vec<TextureHandle>,
    tray_of: Option<PathBuf>,
}

/// The picture in the viewer.
struct Viewed {
    id: ItemId,
    pixels: Arc<image::RgbImage>,
    /// The picture for the graphics card, while another thread makes it.
    coming: Option<Receiver<ColorImage>>,
    texture: Option<TextureHandle>,
    /// Whether its pixels have hard edges, for looking closely, and whether they are to have them.
    hard: (bool, bool),
}

impl Viewed {
    fn new(ctx: &egui::Context, id: ItemId, pixels: &Arc<image::RgbImage>) -> Self {
        let mut viewed = Self { id, pixels: Arc::clone(pixels), coming: None, texture: None, hard: (false, false) };
        viewed.prepare(ctx);
        viewed
    }

    fn prepare(&mut self, ctx: &egui::Context) {
        let (send, coming) = mpsc::channel();
        let (pixels, ctx) = (Arc::clone(&self.pixels), ctx.clone());
        let side = ctx.input(|input| input.max_texture_side) as u32;
        let prepared = thread::Builder::new().name("picture".into()).spawn(move || {
            let image = match pixels.width().max(pixels.height()) > side {
                true => colour_image(&Picture::shrunk((*pixels).clone(), side).pixels),
                false => colour_image(&pixels),
            };
            // Nobody waits when the viewer was closed.
            let _ = send.send(image);
            ctx.request_repaint();
        });
        self.coming = prepared.is_ok().then_some(coming);
    }

    fn begin(&mut self, ctx: &egui::Context) {
        if self.hard.0 != self.hard.1 && self.coming.is_none() {
            self.hard.0 = self.hard.1;
            self.prepare(ctx);
        }
        if let Some(image) = self.coming.as_ref().and_then(|coming| coming.try_recv().ok()) {
            let hard = egui::TextureOptions { magnification: egui::TextureFilter::Nearest, ..egui::TextureOptions::LINEAR };
            let options = if self.hard.0 { hard } else { egui::TextureOptions::LINEAR };
            self.texture = Some(ctx.load_texture("viewed", image, options));
            self.coming = None;
        }
    }
}

impl Pictures {
    /// Puts the pictures that are shown on the graphics card.
    pub fn begin(&mut self, ctx: &egui::Context, desk: &Desk) {
        let now = desk.recognising().recognition();
        let is_new = match (now, &self.recognition) {
            (Some(now), Some(held)) => !Arc::ptr_eq(now, held),
            (None, None) => false,
            _ => true,
        };
        if is_new {
            let load = |picture: &Arc<image::RgbImage>| ctx.load_texture("piece", colour_image(picture), egui::TextureOptions::LINEAR);
            self.query = now.map(|recognition| load(&recognition.picture));
            let tiles = now.map(|recognition| recognition.tiles.iter().map(|tile| tile.picture.as_ref().map(load)).collect());
            self.tiles = tiles.unwrap_or_default();
            self.recognition = now.cloned();
        }
        match desk.pictures().shown() {
            Some((id, Ok(picture)))
                if self.viewed.as_ref().is_none_or(|viewed| viewed.id != id || !Arc::ptr_eq(&viewed.pixels, picture)) =>
            {
                self.viewed = Some(Viewed::new(ctx, id, picture));
            }
            None => self.viewed = None,
            _ => {}
        }
        if let Some(viewed) = &mut self.viewed {
            viewed.begin(ctx);
        }
        if self.like.as_ref().map(|(like, _)| Arc::as_ptr(like)) != desk.searching().like().map(Arc::as_ptr) {
            let load =
                |like: &Arc<Like>| (Arc::clone(like), ctx.load_texture("like", colour_image(&like.picture), egui::TextureOptions::LINEAR));
            self.like = desk.searching().like().map(load);
        }
        if self.tray_of.as_deref() != desk.source() {
            self.tray_of = desk.source().map(Path::to_owned);
            let load = |tried: &Tried| ctx.load_texture("tray", colour_image(&tried.thumbnail), egui::TextureOptions::LINEAR);
            self.tray = desk.opening().tray().iter().map(load).collect();
        }
    }

    /// The picture of what hits are to look like.
    pub fn like(&self) -> Option<&TextureHandle> {
        self.like.as_ref().map(|(_, texture)| texture)
    }

    /// The pictures of the images to try.
    pub fn tray(&self) -> &[TextureHandle] {
        &self.tray
    }

    /// The texture of the query, or of a tile.
    pub fn piece(&self, tile: Option<usize>) -> Option<egui::TextureId> {
        match tile {
            None => self.query.as_ref().map(TextureHandle::id),
            Some(tile) => self.tiles.get(tile).and_then(Option::as_ref).map(TextureHandle::id),
        }
    }

    /// The texture of the image that is viewed at some zoom, once it is there.
    pub fn viewed(&mut self, id: ItemId, zoom: f32) -> Option<&TextureHandle> {
        let viewed = self.viewed.as_mut().filter(|viewed| viewed.id == id)?;
        viewed.hard.1 = zoom > 8.0;
        viewed.texture.as_ref()
    }

    /// Bytes on the card.
    pub fn bytes(&self) -> usize {
        let viewed = self.viewed.as_ref().and_then(|viewed| viewed.texture.as_ref());
        let textures = self.tiles.iter().flatten().chain(&self.query).chain(&self.tray).chain(viewed);
        textures.map(|texture| texture.size()[0] * texture.size()[1] * 4).sum()
    }
}

/// The captions being written.
#[derive(Default)]
pub struct CaptionDrafts {
    /// Whose they are.
    pub image: Option<ItemId>,
    /// The caption under edit and its text.
    pub editing: Option<(usize, String)>,
    /// A new one.
    pub fresh: String,
}

/// How the labelling desk stands.
#[derive(Default)]
pub struct LabelView {
    /// Whether labels are reviewed, not given.
    pub reviews: bool,
    /// The doubted label that is looked at.
    pub doubt: usize,
    /// The image whose label was doubted in the last frame.
    pub reviewing: Option<ItemId>,
    /// The class being typed, and which of the classes that it may become is chosen.
    pub typed: String,
    /// See `typed`.
    pub completion: usize,
    /// Whether what is typed is to have the keyboard.
    pub wants_focus: bool,
    /// Whether anything had the keyboard in the last frame in which keys were the page's.
    pub had_focus: bool,
    /// Many images labelled at once, and whether that is asked for.
    pub batch: Option<Batch>,
    /// See `batch`.
    pub wants_batch: bool,
    /// The image shown with the classes suggested, and when either last changed, in seconds of the window's clock.
    pub shown: Option<(ItemId, Vec<String>, f64)>,
    /// Whether the classes changed before the user's eyes.
    pub has_changed: bool,
    /// When A or X, or a letter soon after it, was pressed, and whether letters came: they were to be a class that begins so.
    pub burst: (f64, bool),
}

/// Images that are labelled at once.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Their class, and whether the user wrote it.
    pub class: String,
    /// See `class`.
    pub is_written: bool,
    /// All of them.
    pub images: Vec<ItemId>,
    /// Those that are left out.
    pub left_out: std::collections::BTreeSet<ItemId>,
    /// Keys and clicks that it took so far.
    pub presses: usize,
    /// The one at which keys are, once they went to one.
    pub at: Option<usize>,
}

/// How the window stands.
#[derive(Default)]
pub struct View {
    /// The page.
    pub page: Page,
    /// What all shown images have in common.
    pub scopes: Vec<Scope>,
    /// Their order.
    pub sort: Sort,
    /// What is in the search box.
    pub search: String,
    /// Whether what hits are to look like does not matter any more.
    pub ends_search: bool,
    /// The search that was asked for last.
    pub searched: String,
    /// Whether the search box is to have the keyboard.
    pub focus_search: bool,
    /// The images selected.
    pub selection: Selection,
    /// The image viewed by itself.
    pub viewer: Option<Viewer>,
    /// The window in front.
    pub modal: Option<Modal>,
    /// What is typed into it.
    pub typed: String,
    /// What is typed on the start page.
    pub start_path: String,
    /// Whether what is typed was just begun.
    pub typed_is_new: bool,
    /// The entry chosen in it.
    pub chosen: usize,
    /// Notices on the screen.
    pub toasts: Vec<Toast>,
    /// The image that will probably be looked at after the one that is.
    pub next: Option<ItemId>,
    /// How the labelling desk stands.
    pub label: LabelView,
    /// Captions being written.
    pub captions: CaptionDrafts,
    /// The piece under the pointer.
    pub piece: Option<usize>,
    /// The name of the training image whose label is being corrected.
    pub tile: Option<String>,
    /// Whether the runner-up's contributions are shown.
    pub runner_up: bool,
    /// Whether the page of the library was shown in the last frame.
    pub had_health: bool,
    /// Whether the window may close though something is going on.
    pub leave: bool,
    /// How many images there are of each kind.
    pub census: Arc<Census>,
    /// The images that the desk was told to search among, if not in all.
    pub narrowed: Option<Arc<Vec<ItemId>>>,
    /// The image whose reasons were asked for last, and in the answer to which search.
    pub why: Option<(ItemId, u64)>,
    list: Arc<Vec<ItemId>>,
    made_for: Option<MadeFor>,
    /// A folder whose entries are wanted, and the one that was asked for last.
    pub listed: Option<PathBuf>,
    /// See `listed`.
    pub listed_last: Option<PathBuf>,
}

/// What counts and list were worked out from.
struct MadeFor {
    state: State,
    report: Option<Arc<Report>>,
    scopes: Vec<Scope>,
    sort: Sort,
}

impl View {
    /// The images shown, in order; worked out anew only when something changed.
    pub fn list(&self) -> Arc<Vec<ItemId>> {
        Arc::clone(&self.list)
    }

    /// Brings counts and list up to date. Returns whether the library has changed.
    pub fn update(&mut self, desk: &Desk) -> bool {
        let Some(state) = desk.state() else {
            if self.made_for.take().is_some() {
                (self.census, self.list) = (Arc::default(), Arc::default());
                self.selection.clear();
                self.scopes.clear();
                self.viewer = None;
            }
            return false;
        };
        let report = desk.recognising().report();
        let is_same_report = |old: &MadeFor| match (&old.report, report) {
            (Some(old), Some((new, _))) => Arc::ptr_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        let same_data = self.made_for.as_ref().is_some_and(|old| old.state.is_same(state) && is_same_report(old));
        if same_data && self.made_for.as_ref().is_some_and(|old| old.scopes == self.scopes && old.sort == self.sort) {
            return false;
        }
        if !same_data {
            // A class that was merged, renamed or deleted is shown no more.
            self.scopes.retain(|scope| !matches!(scope, Scope::Class(class) if state.class(class).is_none()));
            self.census = Arc::new(Census::new(state, report.map(|(report, _)| &**report)));
        }
        self.list = Arc::new(list(state, &self.census, &self.scopes, self.sort));
        self.selection.retain(|id| state.image(id).is_some());
        if self.made_for.as_ref().is_some_and(|old| old.scopes != self.scopes) {
            // What is not shown is not labelled.
            let shown: std::collections::HashSet<ItemId> = self.list.iter().copied().collect();
            self.selection.retain(|id| shown.contains(&id));
        }
        let report = report.map(|(report, _)| Arc::clone(report));
        self.made_for = Some(MadeFor { state: state.clone(), report, scopes: self.scopes.clone(), sort: self.sort });
        !same_data
    }

    /// Turns to a page.
    pub fn turn_to(&mut self, page: Page) {
        (self.page, self.viewer) = (page, None);
    }

    /// Turns to an answer that is coming.
    pub fn turn_to_recognition(&mut self) {
        self.turn_to(Page::Recognise);
        (self.piece, self.tile, self.runner_up) = (None, None, false);
    }

    /// Begins anew with another library.
    pub fn begin_library(&mut self) {
        self.scopes.clear();
        self.selection.clear();
        (self.search, self.searched) = (String::new(), String::new());
        self.captions = CaptionDrafts::default();
        self.label = LabelView::default();
        (self.narrowed, self.why) = (None, None);
        self.viewer = None;
    }

    /// Shows images of one kind on the first page.
    pub fn show(&mut self, scope: Scope) {
        self.scopes = vec![scope];
        self.page = Page::Browse;
        self.search.clear();
        self.ends_search = true;
        self.viewer = None;
    }

    /// Opens a window in front.
    pub fn open(&mut self, modal: Modal) {
        self.typed = match &modal {
            Modal::ClassName(Some(name)) => name.clone(),
            _ => String::new(),
        };
        self.typed_is_new = true;
        self.listed_last = None;
        self.chosen = 0;
        self.modal = Some(modal);
    }
}

/// Everything a panel may look at, and where it puts what it is asked for.
pub struct Panel<'a> {
    /// The library and what goes on.
    pub desk: &'a Desk,
    /// How the window stands.
    pub view: &'a mut View,
    /// Thumbnails.
    pub textures: &'a mut Textures,
    /// Large pictures.
    pub pictures: &'a mut Pictures,
    /// What is remembered.
    pub settings: &'a mut Settings,
    /// What is asked for.
    pub asks: &'a mut Asks,
    /// Whether the system has dialogs of its own, and whether one is open.
    pub dialogs: (bool, bool),
}

impl Panel<'_> {
    /// What the library holds.
    pub fn state(&self) -> Option<&State> {
        self.desk.state()
    }

    /// The class that an image is labelled with.
    pub fn label_of(&self, image: ItemId) -> Option<&str> {
        self.state()?.image(image)?.label()
    }

    /// Asks the desk for something.
    pub fn ask(&mut self, command: Command) {
        self.asks.commands.push(command);
    }

    /// Asks the window for something.
    pub fn act(&mut self, action: Action) {
        self.asks.actions.push(action);
    }

    /// The colour of a class.
    pub fn colour(&self, class: &str) -> egui::Color32 {
        let look = self.state().and_then(|state| state.class(class)).unwrap_or_default();
        super::theme::class(look.position, look.colour)
    }
}
