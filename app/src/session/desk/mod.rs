//! A desk: one open library, worked at by someone who never waits.
//!
//! [`Desk::run`] starts what is asked for and returns at once; [`Desk::poll`] takes in what has been done since. Everything
//! that is shown is plain data that the desk holds itself, so that looking at it never waits for a file or a lock. Short
//! tasks go through one thread in the order in which they were asked for; long ones are jobs of their own.

mod act;
pub mod labelling;
mod long;
mod pictures;
mod recognition;
mod thumbnails;
pub mod view;
mod worker;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use image::RgbImage;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::library::event::EventId;
use tessera_core::library::health::Health;
use tessera_core::library::state::State;
use tessera_core::library::suggest::{LabelOrder, Reviewed};
use tessera_core::library::{CACHE, Library};
use tessera_core::picture::MemoryBudget;
use tessera_core::progress::Progress;

use super::Session;
use super::copies::Plan;
use super::library::Target;
use super::like::Like;
use super::search::Engine;
use super::why::Why;
use crate::command::{Command, ImageQuery, JobId};
use crate::job::Job;
use crate::settings::{SEARCH_LEAVES, Settings};
use labelling::{Given, Labeller, Labelling, Thought};
use pictures::Pictures;
use recognition::Drawn;
use thumbnails::Thumbnails;
pub use thumbnails::{Fetched, WantedThumbnail};
use view::{FolderEntry, Hits, JobView, Notice, Recognition, SavedModel, Tone, Tried};
use worker::Worker;

/// What wakes whoever shows the desk.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// An open library and everything that is going on with it.
pub struct Desk {
    session: Session,
    /// For what a user is waiting for.
    quick: Session,
    wake: Wake,
    worker: Worker,
    /// Messages with the number of the library they are about.
    send: Sender<(u64, Message)>,
    messages: Receiver<(u64, Message)>,
    open: Option<Open>,
    /// Counts openings and closings: what is said of another library than the one that is open is not taken in.
    number: u64,
    /// The library that is being closed, and the threads that close.
    closing: Weak<Mutex<Library>>,
    /// Held by the job that opens a library.
    gate: Arc<Mutex<()>>,
    closers: Vec<JoinHandle<()>>,
    jobs: BTreeMap<JobId, Job<Message>>,
    next_job: u64,
    /// The search asked for last; answers to earlier ones are stale.
    searched: u64,
    /// Its words.
    words: String,
    hits: Option<Arc<Hits>>,
    /// Why the search found an image, once that was asked for.
    why: Option<Why>,
    engine: Engine,
    /// What hits are to look like, and the images among which they are.
    like: Option<Arc<Like>>,
    only: Option<Arc<Vec<ItemId>>>,
    loaded: Option<(String, Arc<RecogniserModel>)>,
    recognition: Option<Arc<Recognition>>,
    drawn: Option<Drawn>,
    asked: Option<ImageQuery>,
    /// Whether an answer is looked at, and whether it is of an earlier state of the library.
    is_watched: bool,
    is_stale: bool,
    /// Whether an answer is to be shown that was asked for in a roundabout way.
    turns: bool,
    pictures: Pictures,
    notices: Vec<Notice>,
    log: Vec<Notice>,
    refreshed: Instant,
    hit_limit: usize,
    search_leaves: usize,
    label_order: LabelOrder,
    there: HashMap<PathBuf, bool>,
    listing: Option<(PathBuf, Vec<FolderEntry>)>,
    health: Option<Health>,
    damaged: Option<(PathBuf, String)>,
    /// Folders that join the library that is being opened.
    waiting: Vec<PathBuf>,
    /// Where class folders are to be written, and what that would be.
    plan: Option<(PathBuf, Option<Plan>)>,
    labelling: Option<Labelling>,
    labeller: Labeller,
}

/// A library that is open.
struct Open {
    folder: PathBuf,
    source: PathBuf,
    name: String,
    library: Arc<Mutex<Library>>,
    state: State,
    report: Option<(Option<EventId>, Arc<Report>)>,
    models: Vec<SavedModel>,
    tray: Vec<Tried>,
    thumbnails: Thumbnails,
    tried_to_judge: bool,
}

/// What comes back from the threads.
enum Message {
    Nothing,
    /// Worth keeping in the log, not worth interrupting for.
    Logged(Notice),
    Found(PathBuf, Target, bool),
    There(Vec<(PathBuf, bool)>),
    Listing(PathBuf, Vec<FolderEntry>),
    Notice(Notice),
    Opened(Box<Opened>),
    State(State),
    Hits(u64, Hits),
    Like(Arc<Like>),
    /// Of which search, and why.
    Why(u64, Why),
    Recognised(Box<(Recognition, Drawn)>),
    NotRecognised(String),
    Health(Box<Health>),
    /// A library whose database is damaged, with what was found.
    Damaged(PathBuf, String),
    Loaded(String, Arc<RecogniserModel>),
    Models(Vec<SavedModel>),
    Judged(Option<EventId>, Arc<Report>),
    /// To which question of the labelling desk.
    Thought(u64, Thought),
    Given(Given),
    /// What was to be said could not be.
    NotGiven,
    Reviewed(Reviewed),
    Planned(PathBuf, Plan),
    Several(Vec<Message>),
}

struct Opened {
    folder: PathBuf,
    /// What the user named.
    source: PathBuf,
    name: String,
    library: Library,
    report: Option<(Option<EventId>, Report)>,
    models: Vec<SavedModel>,
    tray: Vec<Tried>,
    then: Option<Command>,
    /// What is worth knowing of the opening.
    news: Vec<String>,
}

/// The longer side, in pixels, of pictures in the viewer.
const VIEWED: u32 = 8192;
/// Entries of a folder that are listed.
const LISTED: usize = 2000;
/// How often it is looked whether a library is free.
const WAIT: Duration = Duration::from_millis(5);
/// Lines that the log keeps.
const LOG: usize = 500;
/// How often an import shows what it has done so far.
const REFRESH: Duration = Duration::from_millis(700);

impl Desk {
    /// A desk without a library. `wake` is called from other threads when there is something to poll.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(session: Session, wake: Wake) -> anyhow::Result<Self> {
        let (send, messages) = mpsc::channel();
        let (complain, woken) = (send.clone(), Arc::clone(&wake));
        let complain = move |words| {
            let _ = complain.send((0, problem(words)));
            woken();
        };
        let worker = Worker::new("library", complain.clone())?;
        Ok(Self {
            quick: session.beside()?,
            session,
            wake,
            worker,
            send,
            messages,
            open: None,
            number: 0,
            closing: Weak::new(),
            gate: Arc::default(),
            closers: Vec::new(),
            jobs: BTreeMap::new(),
            next_job: 0,
            searched: 0,
            words: String::new(),
            hits: None,
            why: None,
            engine: Engine::default(),
            like: None,
            only: None,
            loaded: None,
            recognition: None,
            drawn: None,
            asked: None,
            is_watched: true,
            is_stale: false,
            turns: false,
            pictures: Pictures::default(),
            notices: Vec::new(),
            log: Vec::new(),
            refreshed: Instant::now(),
            hit_limit: 100,
            search_leaves: SEARCH_LEAVES,
            label_order: LabelOrder::default(),
            there: HashMap::new(),
            listing: None,
            health: None,
            damaged: None,
            waiting: Vec::new(),
            plan: None,
            labelling: None,
            labeller: Labeller::new(complain)?,
        })
    }

    /// The folder of the open library.
    pub fn folder(&self) -> Option<&Path> {
        self.open.as_ref().map(|open| open.folder.as_path())
    }

    /// What the user named to open it: a library, or a folder of images.
    pub fn source(&self) -> Option<&Path> {
        self.open.as_ref().map(|open| open.source.as_path())
    }

    /// Asks which of some paths are there.
    pub fn look_for(&self, paths: Vec<PathBuf>) {
        self.short(move || {
            let there = |path: PathBuf| {
                let is_there = path.exists();
                (path, is_there)
            };
            Message::There(paths.into_iter().map(there).collect())
        });
    }

    /// Whether a path is there, as far as it is known.
    pub fn is_there(&self, path: &Path) -> Option<bool> {
        self.there.get(path).copied()
    }

    /// Asks what is in a folder; an answer replaces the one before.
    pub fn list_folder(&self, folder: PathBuf) {
        self.short(move || {
            let mut entries: Vec<FolderEntry> = std::fs::read_dir(&folder)
                .into_iter()
                .flatten()
                .flatten()
                .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
                .take(LISTED)
                .map(|entry| FolderEntry { is_folder: entry.path().is_dir(), path: entry.path() })
                .collect();
            entries.sort_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.path.cmp(&b.path)));
            Message::Listing(folder, entries)
        });
    }

    /// What is in the folder asked for last, once it is known.
    pub fn listing(&self) -> Option<(&Path, &[FolderEntry])> {
        self.listing.as_ref().map(|(folder, entries)| (folder.as_path(), entries.as_slice()))
    }

    /// The name of the open library.
    pub fn name(&self) -> Option<&str> {
        self.open.as_ref().map(|open| open.name.as_str())
    }

    /// What the open library holds.
    pub fn state(&self) -> Option<&State> {
        self.open.as_ref().map(|open| &open.state)
    }

    /// The last report on the recogniser, and whether the library has changed since.
    pub fn report(&self) -> Option<(&Arc<Report>, bool)> {
        let open = self.open.as_ref()?;
        open.report.as_ref().map(|(at, report)| (report, *at != open.state.last_event()))
    }

    /// The answer to the last search.
    pub fn hits(&self) -> Option<&Arc<Hits>> {
        self.hits.as_ref()
    }

    /// Whether it is being found out what hits are to look like.
    pub fn is_looking(&self) -> bool {
        self.jobs.values().any(|job| job.name() == act::LOOKING)
    }

    /// Why the search found the image that was asked about last.
    pub fn why(&self) -> Option<&Why> {
        let hits = self.hits.as_ref()?;
        self.why.as_ref().filter(|why| hits.hits.iter().any(|hit| hit.image == why.image))
    }

    /// What hits are to look like.
    pub fn like(&self) -> Option<&Arc<Like>> {
        self.like.as_ref()
    }

    /// The image that was recognised last.
    pub fn recognition(&self) -> Option<&Arc<Recognition>> {
        self.recognition.as_ref()
    }

    /// The model that answers in place of the library's own recogniser.
    pub fn loaded_model(&self) -> Option<&str> {
        self.loaded.as_ref().map(|(name, _)| name.as_str())
    }

    /// The models saved with the library.
    pub fn models(&self) -> &[SavedModel] {
        self.open.as_ref().map_or(&[], |open| &open.models)
    }

    /// How the library is, as last asked for with [`Desk::look_at_health`].
    pub fn health(&self) -> Option<&Health> {
        self.health.as_ref()
    }

    /// Asks how the library is.
    pub fn look_at_health(&mut self) {
        self.with_library(|_, library| health(library));
    }

    /// The library that could not be opened because it is damaged, and what was found.
    pub fn damaged(&self) -> Option<(&Path, &str)> {
        self.damaged.as_ref().map(|(folder, words)| (folder.as_path(), words.as_str()))
    }

    /// Where class folders are to be written, and what that would be once it is known.
    pub fn plan(&self) -> Option<(&Path, Option<&Plan>)> {
        self.plan.as_ref().map(|(to, plan)| (to.as_path(), plan.as_ref()))
    }

    /// Images to try the recogniser on, which come with the sample.
    pub fn tray(&self) -> &[Tried] {
        self.open.as_ref().map_or(&[], |open| &open.tray)
    }

    /// The picture asked for with [`Desk::want_picture`], once it is there, or why it cannot be had.
    pub fn picture(&self) -> Option<(ItemId, Result<&Arc<RgbImage>, &str>)> {
        self.pictures.shown()
    }

    /// Says whether the answer of the recogniser is looked at: only then is it kept up with the library.
    pub fn watch_recognition(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
        if is_watched && std::mem::take(&mut self.is_stale) {
            self.recognise_again();
        }
    }

    /// Whether an answer is to be shown that was asked for by opening an image or a model; once.
    pub fn take_turn(&mut self) -> bool {
        std::mem::take(&mut self.turns)
    }

    /// Jobs under way, the oldest first.
    pub fn jobs(&self) -> Vec<JobView> {
        let view = |(id, job): (&JobId, &Job<Message>)| JobView {
            id: *id,
            name: job.name().to_owned(),
            snapshot: job.snapshot(),
            elapsed: job.elapsed(),
            stopping: job.is_cancelled(),
        };
        self.jobs.iter().map(view).collect()
    }

    /// The memory for pictures that are being decoded.
    pub fn picture_memory(&self) -> MemoryBudget {
        self.session.picture_memory()
    }

    /// Sets how much memory, in megabytes, they may need from now on, all together.
    pub fn limit_picture_memory(&mut self, megabytes: u64) {
        self.session.limit_picture_memory(megabytes);
    }

    /// Who answers searches.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Says how many hits a search gives at most, and how many leaves of the memory it looks at.
    pub fn set_search(&mut self, hits: usize, leaves: usize) {
        let (hits, leaves) = (hits.max(1), leaves.max(1));
        if (self.hit_limit, self.search_leaves) != (hits, leaves) {
            (self.hit_limit, self.search_leaves) = (hits, leaves);
            self.search_again();
        }
    }

    /// Whether anything is under way that would be lost by leaving.
    pub fn is_busy(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// What happened since this was last asked.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Everything that happened, the oldest first.
    pub fn log(&self) -> &[Notice] {
        &self.log
    }

    /// Says which thumbnails are wanted now, the most wanted last.
    pub fn want_thumbnails(&self, wanted: Vec<WantedThumbnail>) {
        if let Some(open) = &self.open {
            open.thumbnails.want(wanted);
        }
    }

    /// The thumbnails that came since this was last asked.
    pub fn take_thumbnails(&self) -> Vec<Fetched> {
        self.open.as_ref().map(|open| open.thumbnails.take()).unwrap_or_default()
    }

    /// Sets the order in which images are labelled where none is asked for.
    pub fn set_label_order(&mut self, order: LabelOrder) {
        self.label_order = order;
    }

    /// Asks for the pixels of an image; they are there some polls later. Then those of the image that is likely to be asked for next.
    pub fn want_picture(&mut self, image: ItemId, next: Option<ItemId>) {
        let state = self.open.as_ref().map(|open| &open.state);
        let key = |id: ItemId| (id, state.and_then(|state| Some(state.image(id)?.content?.hash)));
        self.pictures.want(key(image), next.map(key), |(image, _)| {
            let path = state.and_then(|state| state.path_of(state.image(image)?))?;
            let (session, wake) = (self.quick.clone(), Arc::clone(&self.wake));
            let decode = move |progress: &Progress| {
                let picture = session.with_progress(progress).picture(&path, VIEWED);
                picture.map(|picture| Arc::new(picture.pixels)).map_err(|error| error.to_string())
            };
            Some(Job::spawn("Picture", self.quick.progress().another(), move || wake(), decode))
        });
    }

    /// Lets go of pictures.
    pub fn drop_pictures(&mut self) {
        self.pictures = Pictures::default();
    }

    /// Writes settings in its turn.
    pub fn save_settings(&self, settings: Settings, place: PathBuf) {
        self.short(move || match settings.save(&place) {
            Ok(()) => Message::Nothing,
            Err(error) => problem(error.to_string()),
        });
    }

    /// Takes in what was done since the last time. Returns whether anything changed. Never waits.
    pub fn poll(&mut self) -> bool {
        let number = self.number;
        let heard = |(of, message): (u64, Message)| if of == number { message } else { message.told() };
        let mut news: Vec<Message> = self.messages.try_iter().map(heard).collect();
        let mut ended = Vec::new();
        for (id, job) in &self.jobs {
            if let Some(outcome) = job.poll() {
                ended.push(*id);
                news.push(outcome.unwrap_or_else(|words| problem(format!("{}: {words}", job.name()))));
            }
        }
        for id in ended {
            self.jobs.remove(&id);
        }
        let changed = !news.is_empty() | self.pictures.poll();
        for message in news {
            self.take_in(message);
        }
        if !self.jobs.values().any(|job| job.name() == long::COUNTING) {
            // It ended without an answer.
            self.plan.take_if(|(_, plan)| plan.is_none());
        }
        if changed {
            self.judge_if_due();
        }
        if self.open.is_some() && self.is_importing() && self.refreshed.elapsed() > REFRESH {
            self.refreshed = Instant::now();
            self.with_library(|_, library| Message::State(library.state().clone()));
        }
        changed
    }

    fn is_importing(&self) -> bool {
        self.jobs.values().any(|job| job.name().starts_with("Import"))
    }

    fn take_in(&mut self, message: Message) {
        match message {
            Message::Nothing => {}
            Message::Logged(notice) => self.log_line(notice),
            Message::Found(path, target, joins) => self.open_target(path, target, joins),
            Message::There(paths) => self.there.extend(paths),
            Message::Listing(folder, entries) => self.listing = Some((folder, entries)),
            Message::Several(messages) => messages.into_iter().for_each(|message| self.take_in(message)),
            Message::Notice(notice) => self.tell(notice),
            Message::Opened(opened) => self.opened(*opened),
            Message::State(state) => self.changed(state),
            Message::Hits(number, hits) => {
                if number == self.searched {
                    let is_short = hits.unseen > 0;
                    self.hits = Some(Arc::new(hits));
                    if is_short {
                        self.search_again();
                    }
                }
            }
            Message::Like(like) => {
                self.like = Some(like);
                self.search_again();
            }
            Message::Why(number, why) => {
                if self.hits.as_ref().is_some_and(|hits| hits.number == number) {
                    self.why = Some(why);
                }
            }
            Message::Recognised(answer) => {
                let (mut recognition, drawn) = *answer;
                if let Some(last) = &self.recognition
                    && last.name == recognition.name
                    && last.by == recognition.by
                    && last.scores != recognition.scores
                {
                    recognition.before = Some(last.scores.clone());
                }
                self.recognition = Some(Arc::new(recognition));
                self.drawn = Some(drawn);
            }
            Message::NotRecognised(words) => {
                (self.asked, self.recognition, self.drawn) = (None, None, None);
                self.take_in(problem(words));
            }
            Message::Health(health) => self.health = Some(*health),
            Message::Damaged(folder, words) => {
                self.take_in(problem(words.clone()));
                self.damaged = Some((folder, words));
            }
            Message::Loaded(name, model) => {
                self.tell(done(format!("Recognising with {name}")));
                self.loaded = Some((name, model));
                self.recognise_again();
            }
            Message::Models(models) => {
                if let Some(open) = &mut self.open {
                    open.models = models;
                }
            }
            Message::Judged(at, report) => {
                if let Some(open) = &mut self.open {
                    open.report = Some((at, report));
                }
                self.recognise_again();
            }
            Message::Thought(number, thought) => self.take_in_thought(number, thought),
            Message::Given(given) => self.take_in_given(Some(given)),
            Message::NotGiven => self.take_in_given(None),
            Message::Planned(to, plan) => {
                if let Some((_, made)) = self.plan.as_mut().filter(|(asked, _)| *asked == to) {
                    *made = Some(plan);
                }
            }
            Message::Reviewed(reviewed) => self.take_in_review(reviewed),
        }
    }

    fn opened(&mut self, opened: Opened) {
        let Opened { folder, source, name, library, report, models, tray, then, news } = opened;
        self.close();
        let state = library.state().clone();
        let thumbnails = Thumbnails::new(&self.session, &folder.join(CACHE), &self.wake);
        self.open = Some(Open {
            folder,
            source,
            name,
            library: Arc::new(Mutex::new(library)),
            state,
            report: report.map(|(at, report)| (at, Arc::new(report))),
            models,
            tray,
            thumbnails,
            tried_to_judge: false,
        });
        for words in news {
            self.tell(note(words));
        }
        if let Some(command) = then {
            self.run(command);
        }
        for folder in std::mem::take(&mut self.waiting) {
            self.run(Command::Import { folder, labels: Default::default(), exclude: Vec::new(), table: None });
        }
    }

    fn forget_answers(&mut self) {
        (self.hits, self.recognition, self.drawn, self.asked) = (None, None, None, None);
        (self.why, self.like, self.only) = (None, None, None);
        self.words.clear();
        self.drop_pictures();
        self.is_stale = false;
        (self.health, self.damaged) = (None, None);
        self.loaded = None;
        (self.plan, self.labelling) = (None, None);
        self.labeller.stop();
        self.searched += 1;
    }

    fn changed(&mut self, state: State) {
        let Some(open) = &mut self.open else { return };
        // A job tells of the moment at which it ended; the user may have been quicker.
        if state.last_event() < open.state.last_event() {
            return;
        }
        let is_new = open.state.last_event() != state.last_event();
        open.state = state;
        if is_new {
            self.search_again();
            self.labels_changed();
            if !self.is_importing() {
                self.recognise_again();
            }
        }
    }

    /// What was recognised by the library is recognised anew when the library has changed.
    fn recognise_again(&mut self) {
        match self.asked.clone() {
            Some(query) if self.is_watched => self.recognise(query),
            Some(_) => self.is_stale = true,
            None => {}
        }
    }

    /// A library that has two classes and no report is judged, once, without being asked.
    fn judge_if_due(&mut self) {
        let is_importing = self.is_importing();
        let Some(open) = &mut self.open else { return };
        let of_class = |class: &str| open.state.images().any(|image| image.label() == Some(class));
        if open.report.is_none() && !open.tried_to_judge && !is_importing {
            let classes = open.state.classes().into_iter().filter(|(name, _)| of_class(name)).take(2).count();
            if classes == 2 {
                open.tried_to_judge = true;
                self.run(Command::Train);
            }
        }
    }

    fn log_line(&mut self, notice: Notice) {
        if self.log.len() >= LOG {
            self.log.remove(0);
        }
        self.log.push(notice);
    }

    fn tell(&mut self, notice: Notice) {
        self.log_line(notice.clone());
        self.notices.push(notice);
    }

    /// Has a task done in its turn, without the library.
    fn short(&self, task: impl FnOnce() -> Message + Send + 'static) {
        let (send, wake, number) = (self.send.clone(), Arc::clone(&self.wake), self.number);
        self.worker.run(move || {
            // Nobody listens when the desk is gone.
            let _ = send.send((number, task()));
            wake();
        });
    }

    /// Starts a job. One of the same name that is still running is left to it, unless it is replaced.
    fn job(&mut self, name: &str, replace: bool, work: impl FnOnce(&Session) -> tessera_core::Result<Message> + Send + 'static) {
        let running = self.jobs.iter().find(|(_, job)| job.name() == name).map(|(id, _)| *id);
        match running {
            Some(id) if replace => {
                self.jobs.remove(&id);
            }
            Some(_) => return self.tell(note(format!("{name}: already under way"))),
            None => {}
        }
        let (session, wake) = (self.session.clone(), Arc::clone(&self.wake));
        let (woken, progress) = (Arc::clone(&wake), session.progress().another());
        let job = Job::spawn(
            name,
            progress,
            move || woken(),
            move |progress| work(&session.with_progress(progress)).map_err(|error| error.to_string()),
        );
        self.next_job += 1;
        self.jobs.insert(JobId(self.next_job), job);
        wake();
    }
}

impl Drop for Desk {
    /// Jobs are cancelled. What was asked for before is done, and the library is closed, before this returns.
    fn drop(&mut self) {
        self.close();
        self.labeller.finish();
        self.worker.finish();
        for closer in self.closers.drain(..) {
            // A thread that panicked has nothing more to do.
            let _ = closer.join();
        }
    }
}

impl Message {
    /// What is worth telling of it once the library that it is about is not open any more.
    fn told(self) -> Self {
        match self {
            Self::Several(messages) => Self::Several(messages.into_iter().map(Self::told).collect()),
            Self::Notice(notice) => Self::Notice(Notice { undo: None, ..notice }),
            Self::Logged(notice) => Self::Logged(Notice { undo: None, ..notice }),
            Self::State(_)
            | Self::Hits(..)
            | Self::Like(_)
            | Self::Why(..)
            | Self::Recognised(_)
            | Self::Models(_)
            | Self::Health(_)
            | Self::Judged(..)
            | Self::Thought(..)
            | Self::Given(_)
            | Self::NotGiven
            | Self::Reviewed(_)
            | Self::Planned(..) => Self::Nothing,
            message => message,
        }
    }
}

fn health(library: &Library) -> Message {
    library.health().map_or_else(|error| problem(error.to_string()), |health| Message::Health(Box::new(health)))
}

fn done(words: impl Into<String>) -> Notice {
    Notice { words: words.into(), tone: Tone::Done, undo: None }
}

fn note(words: impl Into<String>) -> Notice {
    Notice { words: words.into(), tone: Tone::Note, undo: None }
}

fn problem(words: impl Into<String>) -> Message {
    Message::Notice(Notice { words: words.into(), tone: Tone::Problem, undo: None })
}
