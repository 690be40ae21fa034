//! Opening whatever lies at a path; opening, creating, restoring and repairing libraries, and
//! closing them without waiting.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use tessera_core::data::{Dataset, Labels, OpenOptions};
use tessera_core::error::display;
use tessera_core::library::backup::{self, BackupSummary};
use tessera_core::library::fork::{self, Fork, Side};
use tessera_core::library::import::hold;
use tessera_core::library::read_only::ReadOnly;
use tessera_core::library::repair::repair;
use tessera_core::library::{DATABASE, Library, first_images, snapshot};
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::thumbnail;
use tessera_core::{Error, Result};

use super::super::Session;
use super::super::library::{ENDING, Target, named, refuse_network, what_is};
use super::Message as DeskMessage;
use super::context::{Context, Event, First, OpenLibrary};
use super::notices::{count, note, problem};
use super::part::Part;
use super::recognising;
use super::view::{Notice, Tried};
use crate::command::{Command, ImageQuery, JobId, Restoration};
use crate::job::JobKind;

/// Attempts to open a library that is in use.
const TRIES: usize = 60;
/// Time between checks whether a library is free.
const WAIT: Duration = Duration::from_millis(5);
/// Images that are shown while a library is opened, at most.
const FIRST: usize = 400;
/// What is said of a backup that was restored where its images are not.
const AWAY: &str = "Images of this backup are not where they were: press It moved… beside their folder on the page Library";
/// After so long it is told that a command waits for the models.
const TOLD_AFTER: Duration = Duration::from_millis(300);

/// The state of opening and closing.
#[derive(Default)]
pub struct Opening {
    /// The library that is being closed, and the threads that close.
    closing: Weak<Mutex<Library>>,
    closers: Vec<JoinHandle<()>>,
    /// Held by the job that opens a library.
    gate: Arc<Mutex<()>>,
    /// Folders to be imported into the library that is being opened, and whether that is planned
    /// first.
    waiting: Vec<(PathBuf, bool)>,
    damaged: Option<Damaged>,
    /// A backup that was opened, until it is asked where to restore it.
    backup: Option<OpenedBackup>,
    tray: Vec<Tried>,
    /// Whether the page of recognition is to be shown because an image or a model was opened.
    turns: bool,
    /// Commands that need the models, until these have learned everything.
    held_back: Vec<Command>,
    /// Which pages that need the models are visible, and whether something came to need them while
    /// they were being stopped.
    watched: [bool; NeedsModels::COUNT],
    is_wanted: bool,
}

/// A page that needs models which have learned everything.
#[derive(Clone, Copy)]
pub(super) enum NeedsModels {
    Recognition,
    Labelling,
    Similar,
    Map,
    Clusters,
}

impl NeedsModels {
    /// How many they are.
    const COUNT: usize = Self::Clusters as usize + 1;
}

/// A library that cannot be opened because its database is damaged.
pub struct Damaged {
    /// Its folder.
    pub folder: PathBuf,
    /// The damage that was found, in words.
    pub words: String,
    /// Its two histories, where database and journal went apart.
    pub fork: Option<Fork>,
}

impl Damaged {
    /// The library that an error is about, if that is damage of its database.
    fn of(session: &Session, error: &Error) -> Option<Self> {
        let Error::Data { path, .. } = error else { return None };
        let folder = path.parent().filter(|folder| path.ends_with(DATABASE) && folder.is_dir())?;
        Some(Self { folder: folder.to_owned(), words: error.to_string(), fork: fork::fork_of(folder, session.progress()) })
    }
}

/// A backup that was opened, to be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedBackup {
    /// Its folder.
    pub folder: PathBuf,
    /// What it holds.
    pub holds: BackupSummary,
    /// Where it is proposed to restore it: in the place of the library that is open, or could not
    /// be, if it is a backup of that one, or under a new name beside it.
    pub place: PathBuf,
}

/// Results of opening.
pub(super) enum Message {
    /// What lies at a path.
    Found(Found),
    /// The first images of the library that is being opened, and the number of the opening.
    First(u64, First),
    /// A folder has pictures, or a library already; and whether an import is planned first.
    Fillable(PathBuf, bool),
    /// A library was opened.
    Opened(Box<Opened>),
    /// A library could not be opened because it is damaged.
    Damaged(Damaged),
    /// A backup was opened.
    Backup(OpenedBackup),
    /// The models of the open library have learned everything.
    Ready,
    /// They were stopped before.
    Stopped,
    /// They could not, so that the library is closed: why, and the library if it is damaged.
    NotReady(String, Option<Damaged>),
}

/// What lies at a path.
pub(super) struct Found {
    path: PathBuf,
    target: Target,
    joins: Joins,
}

/// What a path is to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// Nothing.
    No,
    /// The open library: a folder is imported.
    Library,
    /// The open library, but the user sees first what an import of a folder would take in.
    LibraryPlanned,
    /// The same, but an image is a query for images like it.
    Similar,
    /// Nothing, but the user sees first what an import of a folder would take in.
    Planned,
}

impl Joins {
    /// Whether the user sees first what an import would take in.
    fn plans(self) -> bool {
        matches!(self, Self::LibraryPlanned | Self::Similar | Self::Planned)
    }

    /// Whether a folder joins the open library.
    fn is_library(self) -> bool {
        matches!(self, Self::Library | Self::LibraryPlanned | Self::Similar)
    }
}

/// A library that was opened.
pub(super) struct Opened {
    folder: PathBuf,
    /// The path that the user opened; in full, however they wrote it, unless it is a collection.
    source: PathBuf,
    name: String,
    library: Library,
    /// Images to try the recogniser on.
    tray: Vec<Tried>,
    /// A command to run once it is open.
    then: Option<Command>,
    /// Notices about the opening.
    news: Vec<Notice>,
    /// Whether it shows a collection.
    is_collection: bool,
}

impl Part for Opening {
    type Message = Message;
    const OUTLIVES_LIBRARY: bool = true;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Found(found) => self.open_found(ctx, found),
            Message::First(number, first) => {
                if ctx.outbox.library == number && ctx.library.is_none() {
                    ctx.first = Some(first);
                    ctx.announce(Event::First);
                }
            }
            Message::Fillable(folder, plans) => {
                let of = folder.clone();
                self.open(ctx, move |session| session.library_of(&of).ok(), move |session| open_folder(session, &folder, plans));
            }
            Message::Opened(opened) => self.opened(ctx, *opened),
            Message::Damaged(damaged) => {
                ctx.tell(problem(&damaged.words));
                self.damaged = Some(damaged);
            }
            Message::Backup(opened) => self.backup = Some(opened),
            Message::Ready => {
                if let Some(open) = &mut ctx.library {
                    open.is_ready = true;
                    ctx.announce(Event::Ready);
                }
                std::mem::take(&mut self.held_back).into_iter().for_each(|command| ctx.ask(command));
            }
            Message::Stopped => {
                if std::mem::take(&mut self.is_wanted) {
                    catch_up(ctx);
                } else {
                    ctx.tell(note("Words and pieces are read as soon as something needs them"));
                }
            }
            Message::NotReady(words, damaged) => {
                self.close(ctx);
                ctx.tell(problem(words));
                self.damaged = damaged;
            }
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        if event == Event::Closed {
            self.is_wanted = false;
            self.drop_waiting(ctx, "Not done, for the library was closed");
            self.held_back.clear();
        }
    }
}

impl Opening {
    /// The library that could not be opened because it is damaged.
    pub fn damaged(&self) -> Option<&Damaged> {
        self.damaged.as_ref()
    }

    /// The backup that was opened; once.
    pub(super) fn take_backup(&mut self) -> Option<OpenedBackup> {
        self.backup.take()
    }

    /// Images to try the recogniser on; only the sample has some.
    pub fn tray(&self) -> &[Tried] {
        &self.tray
    }

    /// Whether the page of recognition is to be shown because an image or a model was opened; true
    /// once.
    pub(super) fn take_turn(&mut self) -> bool {
        std::mem::take(&mut self.turns)
    }

    /// What waits for the models and would not be done if the library were closed now, in words.
    pub fn waiting(&self) -> impl Iterator<Item = String> {
        self.held_back.iter().filter_map(Command::if_dropped)
    }

    /// Drops what waits for the models, and tells of it. The last questions stay: they change
    /// nothing, and are answered once the models are there.
    fn drop_waiting(&mut self, ctx: &mut Context, why: &str) {
        let dropped: Vec<String> = self.waiting().collect();
        if !dropped.is_empty() {
            ctx.tell(problem(format!("{why}: {}", dropped.join("; "))));
        }
        self.held_back.retain(Command::is_replaced);
    }

    /// Cancels a job. When that teaches the models, what waits for them is not done.
    pub(super) fn cancel(&mut self, ctx: &mut Context, id: JobId) {
        if ctx.jobs.of(&JobKind::CatchUp).is_some_and(|job| job.id == id) {
            self.is_wanted = false;
            self.drop_waiting(ctx, "Not done, for it needs words and pieces that are not read");
        }
        ctx.jobs.cancel(id);
    }

    /// Sets whether a page that needs the models is visible. When it is turned to after these were
    /// stopped, they go on. Returns whether it is visible and they have learned everything, or no
    /// library is open.
    pub(super) fn watch(&mut self, ctx: &mut Context, page: NeedsModels, is_watched: bool) -> bool {
        let was_watched = std::mem::replace(&mut self.watched[page as usize], is_watched);
        if is_watched && !was_watched && ctx.waits_for_models() {
            self.need_models(ctx);
        }
        is_watched && !ctx.waits_for_models()
    }

    fn open_found(&mut self, ctx: &mut Context, Found { path, target, joins }: Found) {
        match target {
            Target::Nothing => {
                let expected = "expected a folder, a library, a model or an image, found nothing; check the name";
                ctx.tell(problem(format!("{}: {expected}", display(&path))));
            }
            Target::Model => {
                self.turns = true;
                ctx.ask(Command::LoadModel(path));
            }
            Target::File if is_table(&path) && ctx.library.is_none() => {
                let expected = "open the library or folder that the captions or labels of this file are about first";
                ctx.tell(problem(format!("{}: {expected}", display(&path))));
            }
            Target::File if is_table(&path) => ctx.ask(Command::ReadTable(path)),
            Target::File if joins == Joins::Similar && ctx.library.is_some() => ctx.ask(Command::Similar(ImageQuery::File(path), None)),
            Target::File => {
                self.turns = true;
                ctx.ask(Command::Recognise(ImageQuery::File(path)));
            }
            // It is imported into the library that is being opened.
            Target::Folder if joins.is_library() && ctx.jobs.is_running(&JobKind::Open) => self.waiting.push((path, joins.plans())),
            Target::Folder if joins.is_library() && ctx.library.is_some() => ctx.ask(import_of(path, joins.plans())),
            Target::Library => {
                let folder = path.clone();
                self.open(ctx, move |_| Some(folder), move |session| open_library(session, &path));
            }
            Target::Backup => self.look_at_backup(ctx, path),
            Target::Collection => self.open(ctx, nothing_first, move |session| open_collection(session, &path)),
            Target::Folder => look_into(ctx, path, joins.plans()),
        }
    }

    /// Opens the built-in sample.
    pub(super) fn open_sample(&mut self, ctx: &mut Context) {
        self.open(ctx, nothing_first, |session| {
            let sample = session.sample()?;
            let mut opened = open_folder(session, &sample.train, false)?;
            opened.name = "Sample".into();
            if let Some(Command::Import { table, .. }) = &mut opened.then {
                *table = Some(sample.captions);
            }
            opened.tray = images_in(session, &sample.try_these);
            Ok(opened)
        });
    }

    /// Puts a snapshot in the place of the open library's database, and opens it again.
    pub(super) fn restore_snapshot(&mut self, ctx: &mut Context, path: PathBuf) {
        let Some(open) = &ctx.library else { return };
        let (folder, source, name) = (open.folder.clone(), open.source.clone(), open.name.clone());
        self.open(ctx, nothing_first, move |session| {
            snapshot::restore(&folder, &path, session.progress())?;
            let library = session.open_library_first(&folder, false)?;
            Ok(Opened::new(folder.clone(), source.clone(), name.clone(), library))
        });
    }

    /// Repairs a damaged library from its snapshots and its journal, and opens it.
    pub(super) fn repair(&mut self, ctx: &mut Context, folder: PathBuf) {
        self.open(ctx, nothing_first, move |session| {
            let repaired = repair(&folder, session.progress())?;
            let mut opened = open_library(session, &folder)?;
            let done = repaired.done.into_iter().map(|words| note(format!("Repaired: {words}")));
            opened.news.extend(done.chain(repaired.lost.into_iter().map(problem)));
            Ok(opened)
        });
    }

    /// Goes on with one of the two histories of a library, saves the other beside it, and opens it.
    pub(super) fn keep_history(&mut self, ctx: &mut Context, folder: PathBuf, side: Side) {
        // A library that is still being closed is waited for; what was done once is not done again.
        let done = OnceLock::new();
        self.open(ctx, nothing_first, move |session| {
            let (lost, other) = match done.get() {
                Some(kept) => kept,
                None => {
                    let kept = fork::keep(&folder, side, session.progress())?;
                    done.get_or_init(|| kept)
                }
            };
            let mut opened = open_library(session, &folder)?;
            let saved = format!("The other history is saved as {}", display(other));
            opened.news.extend(lost.iter().map(problem).chain([note(saved)]));
            Ok(opened)
        });
    }

    /// Reads what a backup holds, which is then asked where to restore.
    pub(super) fn look_at_backup(&mut self, ctx: &mut Context, folder: PathBuf) {
        let damaged = self.damaged.as_ref().map(|damaged| damaged.folder.clone());
        let own = ctx.library.as_ref().map(|open| open.folder.clone()).or(damaged);
        ctx.job(JobKind::Open, move |session| {
            let holds = backup::summary(&folder)?;
            let own = own.filter(|own| holds.is_of(own, session.progress()));
            let place = own.unwrap_or_else(|| new_name(&folder));
            Ok(Message::Backup(OpenedBackup { folder, holds, place }))
        });
    }

    /// Puts a backup in a library's place, and opens it. Where that is refused, the library that
    /// was open is opened again.
    pub(super) fn restore_backup(&mut self, ctx: &mut Context, restoration: Restoration) {
        let before = ctx.library.as_ref().map(|open| (open.folder.clone(), open.source.clone(), open.name.clone()));
        let done = OnceLock::new();
        self.open(ctx, nothing_first, move |session| {
            let Restoration { from, to, other_history } = &restoration;
            let restore = || {
                refuse_network(to)?;
                backup::restore_backup(to, from, *other_history, session.progress())
            };
            let report = match (done.get(), &before) {
                (Some(report), _) => report,
                (None, before) => match (restore(), before) {
                    (Ok(report), _) => done.get_or_init(|| report),
                    (Err(error @ (Error::Busy { .. } | Error::Cancelled)), _) | (Err(error), None) => return Err(error),
                    (Err(error), Some((folder, source, name))) => {
                        let library = session.open_library_first(folder, false)?;
                        let opened = Opened::new(folder.clone(), source.clone(), name.clone(), library);
                        return Ok(Opened { news: vec![problem(error)], ..opened });
                    }
                },
            };
            let kept = report.kept.as_ref().map_or_else(String::new, |kept| format!("; what was there is now {}", display(kept)));
            let back = count(report.came_back.len(), "image");
            let back = note(format!("{back} that the library had forgotten came back from the backup"));
            let mut opened = open_library(session, to)?;
            let holds = format!("{}, {}", count(opened.library.state().images().count(), "image"), count(report.events, "event"));
            let told = note(format!("Restored from {}: {holds}{kept}", display(from)));
            let is_away = opened.library.state().roots().any(|(_, root)| !root.path.is_dir());
            let news = [Some(told), (!report.came_back.is_empty()).then_some(back), is_away.then(|| note(AWAY))];
            opened.news.extend(news.into_iter().flatten());
            Ok(opened)
        });
    }

    /// Closes the open library, then starts a job that opens another one or the same again; the
    /// first images of the library in the folder that `first` names are shown meanwhile.
    fn open(
        &mut self,
        ctx: &mut Context,
        first: impl FnOnce(&Session) -> Option<PathBuf> + Send + 'static,
        open: impl Fn(&Session) -> Result<Opened> + Send + 'static,
    ) {
        self.close(ctx);
        let (before, gate, outbox) = (self.closing.clone(), Arc::clone(&self.gate), ctx.outbox.clone());
        ctx.job(JobKind::Open, move |session| {
            if before.strong_count() > 0 {
                session.progress().begin("Waiting for the library before", 0);
            }
            while before.strong_count() > 0 {
                if session.progress().is_cancelled() {
                    return Err(Error::Cancelled);
                }
                std::thread::sleep(WAIT);
            }
            // An earlier job that was cancelled may still be opening the same library.
            let _gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(folder) = first(session)
                && let Some(images) = first_images(&folder, FIRST, session.is_read_only)
            {
                outbox.send(Message::First(outbox.library, First { folder, images }));
            }
            let mut tries = 0;
            let opened = loop {
                match open(session) {
                    // A cancelled job has opened it a moment ago and is about to drop it.
                    Err(Error::Busy { .. }) if tries < TRIES => tries += 1,
                    Err(error) => match Damaged::of(session, &error) {
                        Some(damaged) => return Ok(Message::Damaged(damaged)),
                        None => return Err(error),
                    },
                    Ok(opened) => break opened,
                }
                std::thread::sleep(WAIT);
            };
            if session.progress().is_cancelled() {
                return Err(Error::Cancelled);
            }
            Ok(Message::Opened(Box::new(opened)))
        });
    }

    fn opened(&mut self, ctx: &mut Context, opened: Opened) {
        let Opened { folder, source, name, library, tray, then, news, is_collection } = opened;
        self.close(ctx);
        let (state, read_only) = (library.state().clone(), library.read_only());
        let shared = Arc::new(Mutex::new(library));
        ctx.library = Some(OpenLibrary { folder, source, name, shared, state, is_ready: false, is_collection });
        ctx.announce(Event::Opened);
        catch_up(ctx);
        self.tray = tray;
        if let Some(why) = read_only.filter(|why| *why != ReadOnly::Collection) {
            let (first, rest) = why.words().split_at(1);
            ctx.tell(note(first.to_uppercase() + rest));
        }
        news.into_iter().for_each(|notice| ctx.tell(notice));
        let joining = std::mem::take(&mut self.waiting).into_iter().map(|(folder, plans)| import_of(folder, plans));
        then.into_iter().chain(joining).for_each(|command| ctx.ask(command));
    }

    /// Keeps a command that needs the models until these have learned everything; it takes the
    /// place of an earlier one of its kind.
    pub(super) fn hold_back(&mut self, ctx: &mut Context, command: Command) {
        let kind = std::mem::discriminant(&command);
        let before = self.held_back.len();
        if command.is_replaced() {
            self.held_back.retain(|other| std::mem::discriminant(other) != kind);
        }
        let is_first = self.held_back.len() == before;
        self.held_back.push(command);
        if self.need_models(ctx).is_some_and(|elapsed| is_first && elapsed > TOLD_AFTER) {
            ctx.tell(note("This comes as soon as the library's words and pieces are read"));
        }
    }

    /// Lets the models learn, which something needs, if they were stopped. Returns for how long
    /// they have been at it.
    fn need_models(&mut self, ctx: &mut Context) -> Option<Duration> {
        let job = ctx.jobs.of(&JobKind::CatchUp);
        match &job {
            None => catch_up(ctx),
            Some(job) => self.is_wanted |= job.stopping,
        }
        job.map(|job| job.elapsed)
    }

    /// Cancels all jobs, and closes the library on another thread once the tasks queued before are
    /// done. Returns at once.
    pub(super) fn close(&mut self, ctx: &mut Context) {
        ctx.outbox.library += 1;
        (ctx.first, self.damaged) = (None, None);
        ctx.jobs.stop_all();
        ctx.announce(Event::Closed);
        self.tray.clear();
        let Some(open) = ctx.library.take() else { return };
        self.closing = Arc::downgrade(&open.shared);
        let (mut library, outbox) = (open.shared, ctx.outbox.clone());
        let closer = std::thread::Builder::new().name("closing".into()).spawn(move || {
            let library = loop {
                // Cancelled jobs and queued acts still hold it.
                match Arc::try_unwrap(library) {
                    Ok(library) => break library,
                    Err(shared) => library = shared,
                }
                std::thread::sleep(WAIT);
            };
            if let Ok(library) = library.into_inner()
                && let Err(error) = library.close()
            {
                outbox.send(problem(error));
            }
        });
        // Without a thread it is closed by being dropped, which loses nothing.
        self.closers.retain(|closer| !closer.is_finished());
        self.closers.extend(closer);
    }

    /// Waits until all libraries are closed.
    pub(super) fn finish(&mut self) {
        for closer in self.closers.drain(..) {
            // A thread that panicked has nothing more to do.
            let _ = closer.join();
        }
    }
}

/// Shows nothing while a library is opened.
fn nothing_first(_: &Session) -> Option<PathBuf> {
    None
}

/// Teaches the models of the open library, which can be used meanwhile. When it is cancelled, they
/// learn as soon as something needs them.
fn catch_up(ctx: &mut Context) {
    let Some(library) = ctx.shared() else { return };
    ctx.job(JobKind::CatchUp, move |session| match session.catch_up(&library) {
        Ok(()) => Ok(vec![DeskMessage::from(recognising::known(&hold(&library))), Message::Ready.into()]),
        Err(Error::Cancelled) => Ok(vec![Message::Stopped.into()]),
        Err(error) => Ok(vec![Message::NotReady(error.to_string(), Damaged::of(session, &error)).into()]),
    });
}

/// Opens the library of a folder of images if there is one already, or pictures to fill it with:
/// otherwise the library that is open stays.
fn look_into(ctx: &mut Context, folder: PathBuf, plans: bool) {
    ctx.job(JobKind::Open, move |session| {
        if what_is(&session.library_of(&folder)?) != Target::Library {
            Dataset::open(&folder, &OpenOptions { labels: Labels::None, ..Default::default() }, session.progress())?;
        }
        Ok(Message::Fillable(folder, plans))
    });
}

/// A name for the library of a backup, beside that, which nothing has yet.
fn new_name(backup: &Path) -> PathBuf {
    let name = backup.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(" backup").unwrap_or(&name);
    let plain = backup.with_file_name(format!("{stem}.{ENDING}"));
    let numbered = |n: u32| backup.with_file_name(format!("{stem}-{n}.{ENDING}"));
    std::iter::once(plain.clone()).chain((2..1000).map(numbered)).find(|path| !path.exists()).unwrap_or(plain)
}

/// Opens whatever lies at a path.
pub(super) fn open_path(ctx: &Context, path: PathBuf, joins: Joins) {
    ctx.short(move || {
        let path = named(&path);
        let target = what_is(&path);
        Message::Found(Found { path, target, joins })
    });
}

impl Opened {
    fn new(folder: PathBuf, source: PathBuf, name: String, library: Library) -> Self {
        Self { folder, source, name, library, tray: Vec::new(), then: None, news: Vec::new(), is_collection: false }
    }
}

fn open_library(session: &Session, folder: &Path) -> Result<Opened> {
    let mut library = session.open_library_first(folder, false)?;
    let name = folder.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // The library of a plain folder is the same by whichever of both it was opened.
    let full = folder.canonicalize().map_err(Error::io("read", folder))?;
    let is_its_folder = |root: &PathBuf| {
        let place = session.library_of(root).ok().and_then(|place| place.canonicalize().ok());
        place.is_some_and(|place| place == full)
    };
    let plain = library.state().roots().map(|(_, root)| root.path.clone()).find(is_its_folder);
    let source = plain.unwrap_or(full);
    let broken_off = if library.read_only().is_none() { library.tell_broken_off().unwrap_or_default() } else { Vec::new() };
    let broken_off = broken_off.into_iter().map(|(root, images)| {
        let (images, are) = (count(images, "image"), if images == 1 { "is" } else { "are" });
        let words = format!("The import of {} was not finished; {images} of it {are} in the library so far", display(&root));
        Notice { go_on: root.is_dir().then_some(root), ..problem(words) }
    });
    Ok(Opened { news: broken_off.collect(), ..Opened::new(folder.to_owned(), source, name, library) })
}

/// Opens the library of a collection, which is made first where there is none of its version.
fn open_collection(session: &Session, collection: &Path) -> Result<Opened> {
    let library = session.open_collection(collection)?;
    let name = collection.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let opened = Opened::new(library.folder().to_owned(), collection.to_owned(), name, library);
    let news = vec![note("It shows a collection: look, search and recognise; what would change it is refused")];
    Ok(Opened { is_collection: true, news, ..opened })
}

/// Opens the library of a plain folder of images; it is created and filled when there is none yet.
fn open_folder(session: &Session, folder: &Path, plans: bool) -> Result<Opened> {
    let place = session.library_of(folder)?;
    let library = session.open_library_first(&place, true)?;
    let folder = std::fs::canonicalize(folder).map_err(Error::io("read", folder))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // After its import was undone it is as one that never was imported.
    let is_known = library.state().roots().any(|(_, root)| root.path == folder && !root.is_of_files());
    let then = Some(if is_known { Command::ImportAgain(folder.clone()) } else { import_of(folder.clone(), plans) });
    Ok(Opened { then, ..Opened::new(place, folder, name, library) })
}

/// The command that imports a folder, or plans that.
fn import_of(folder: PathBuf, plans: bool) -> Command {
    match plans {
        true => Command::PlanImport(folder, None),
        false => Command::Import { folder, labels: Labels::Auto, exclude: Vec::new(), table: None },
    }
}

/// The images in a folder, with their thumbnails.
fn images_in(session: &Session, folder: &Path) -> Vec<Tried> {
    let options = OpenOptions { labels: Labels::None, ..Default::default() };
    let data = Dataset::open(folder, &options, session.progress());
    let paths = data.map(|data| data.items.iter().map(|item| item.path().to_owned()).collect::<Vec<_>>()).unwrap_or_default();
    let tried = |path: PathBuf| Some(Tried { thumbnail: Arc::new(thumbnail::shrink(&session.picture(&path, SIDE).ok()?.pixels)), path });
    paths.into_iter().filter_map(tried).collect()
}

/// Whether a file is a table of captions or labels, by its extension.
fn is_table(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    ["csv", "tsv", "json", "jsonl", "txt"].contains(&ending.as_str())
}
