//! What a desk does on threads of their own: opening, importing, judging, saving, exporting, forgetting.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tessera_core::data::Labels;
use tessera_core::error::display;
use tessera_core::library::event::EventId;
use tessera_core::library::import::{FailedFile, ImportOptions, Imported, hold};
use tessera_core::library::{DATABASE, Library};
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::thumbnail;
use tessera_core::{Error, Result};

use super::super::Session;
use super::super::library::{Target, what_is};
use super::act::{models, saved_models};
use super::view::{Notice, Tone, Tried};
use super::{Desk, Message, Opened, WAIT, done, note, problem};
use crate::command::{Command, ImageQuery};

/// How often a library that is in use is tried again.
const TRIES: usize = 60;
/// The job that opens a library; there is one at a time.
const OPENING: &str = "Opening";
/// The job that counts what class folders would be.
pub(super) const COUNTING: &str = "Counting";
/// Failed files that are told one by one in the log.
const TOLD: usize = 200;

impl Desk {
    pub(super) fn run_long(&mut self, command: Command) {
        match command {
            Command::Open(path) => self.short(move || {
                let target = what_is(&path);
                Message::Found(path, target, false)
            }),
            Command::Add(path) => self.short(move || {
                let target = what_is(&path);
                Message::Found(path, target, true)
            }),
            Command::OpenSample => {
                self.opening(|session| {
                    let sample = session.sample()?;
                    let mut opened = open_folder(session, &sample.train)?;
                    opened.name = "Sample".into();
                    if let Some(Command::Import { table, .. }) = &mut opened.then {
                        *table = Some(sample.captions);
                    }
                    opened.tray = images_in(session, &sample.try_these);
                    Ok(opened)
                });
            }
            Command::Import { folder, labels, exclude, table } => {
                let options = ImportOptions { labels, exclude };
                // Captions beside the images are read with the folder's first import; later the user has had a say.
                let is_first = self.state().is_some_and(|state| state.roots().all(|(_, root)| !folder.starts_with(&root.path)));
                self.library_job(&format!("Import {}", display(&folder)), move |session, library| {
                    let report = session.import(library, &folder, &options)?;
                    let mut messages = vec![imported(library, &report, &folder)];
                    let found = if is_first { captions_in(&folder) } else { None };
                    if let Some(table) = table.filter(|_| is_first).or(found) {
                        messages.push(read_table(session, library, &table, false).unwrap_or_else(|error| problem(error.to_string())));
                    }
                    Ok(Message::Several(messages))
                });
            }
            Command::Rescan => self.rescan(),
            Command::RestoreSnapshot(path) => {
                let Some(open) = &self.open else { return };
                let (folder, source, name) = (open.folder.clone(), open.source.clone(), open.name.clone());
                self.opening(move |session| {
                    session.restore_snapshot(&folder, &path)?;
                    let library = session.open_library(&folder)?;
                    Ok(opened(session, folder.clone(), source.clone(), name.clone(), library, None))
                });
            }
            Command::Repair(folder) => self.opening(move |session| {
                let repaired = session.repair_library(&folder)?;
                let mut opened = open_library(session, &folder)?;
                opened.news = repaired.done.into_iter().map(|words| format!("Repaired: {words}")).chain(repaired.lost).collect();
                Ok(opened)
            }),
            Command::ReadTable(path) => {
                self.library_job("Reading captions", move |session, library| read_table(session, library, &path, true))
            }
            Command::Forget(images) => self.library_job("Forgetting", move |session, library| {
                hold(library).forget(&images, session.progress())?;
                let library = hold(library);
                let words = format!("Forgot {}; this cannot be taken back", count(images.len(), "image"));
                Ok(Message::Several(vec![Message::State(library.state().clone()), models(session, &library), Message::Notice(done(words))]))
            }),
            Command::Relocate(old, new) => self.library_job("Relocating", move |session, library| {
                let moved = session.relocate(library, &old, &new)?;
                let words = format!("Relocated to {}: {} found, {} missing", display(&new), moved.found, moved.missing);
                Ok(Message::Several(vec![state(library), Message::Notice(done(words))]))
            }),
            Command::Train => self.library_job("Judging the recogniser", |session, library| {
                let report = session.judge(library)?;
                let at = session.last_report(&hold(library)).and_then(|(at, _)| at);
                Ok(Message::Judged(at, Arc::new(report)))
            }),
            Command::SaveModel(to) => self.library_job("Saving the model", move |session, library| {
                let model = session.model(&hold(library))?;
                let bytes = session.save_model(&model, &to)?;
                let words = format!("Saved the model in {} ({:.1} MB)", display(&to), bytes as f64 / 1e6);
                Ok(Message::Several(vec![models(session, &hold(library)), Message::Notice(done(words))]))
            }),
            Command::LoadModel(path) => self.job("Loading the model", true, move |session| {
                let model = session.load_model(&path)?;
                Ok(Message::Loaded(display(Path::new(path.file_name().unwrap_or_default())), Arc::new(model)))
            }),
            Command::Export(what, to) => self.library_job("Exporting", move |session, library| {
                let written = match session.export(library, what, &to, false) {
                    Err(Error::Cancelled) => return Ok(Message::Notice(note("Stopped; nothing was written"))),
                    outcome => outcome?,
                };
                let words = format!("Wrote {} to {}", count(written.n, what.noun()), display(&to));
                let notice = match written.missing {
                    0 => done(words),
                    n => note(format!("{words}; {} left out: their files are not there", count(n, "labelled image"))),
                };
                Ok(Message::Notice(notice))
            }),
            Command::ExportPicture(to) => {
                let Some(drawn) = self.drawn.clone() else { return self.tell(note("Recognise an image first")) };
                self.job("Drawing the explanation", true, move |session| {
                    let find = |id, name: &str| drawn.find(id, name);
                    let drawing = session.draw_explanation(&drawn.model, &drawn.answer, &drawn.explanations, &find);
                    super::super::export::save_png(&drawing.picture, &to)?;
                    Ok(Message::Notice(done(format!("Wrote the explanation to {}", display(&to)))))
                });
            }
            // Every other command is short and was done already.
            _ => {}
        }
    }

    /// Opens what was found at a path.
    pub(super) fn open_target(&mut self, path: PathBuf, target: Target, joins: bool) {
        match target {
            Target::Nothing => {
                let words = format!("{}: expected a folder, a library, a model or an image, found nothing; check the name", display(&path));
                self.tell(Notice { words, tone: Tone::Problem, undo: None });
            }
            Target::Model => {
                self.turns = true;
                self.run_long(Command::LoadModel(path));
            }
            Target::File if is_table(&path) && self.open.is_none() => {
                let expected = "open the library or folder that the captions or labels of this file are about first";
                self.tell(Notice { words: format!("{}: {expected}", display(&path)), tone: Tone::Problem, undo: None });
            }
            Target::File if is_table(&path) => self.run_long(Command::ReadTable(path)),
            Target::File => {
                self.turns = true;
                self.run(Command::Recognise(ImageQuery::File(path)));
            }
            Target::Folder if joins && self.jobs.values().any(|job| job.name() == OPENING) => {
                // It joins the one that is being opened.
                self.waiting.push(path);
            }
            Target::Folder if joins && self.open.is_some() => {
                self.run_long(Command::Import { folder: path, labels: Labels::Auto, exclude: Vec::new(), table: None });
            }
            Target::Library => {
                self.opening(move |session| open_library(session, &path));
            }
            Target::Folder => {
                self.opening(move |session| open_folder(session, &path));
            }
        }
    }

    /// Closes the library that is open, and opens another one, or the same again.
    fn opening(&mut self, open: impl Fn(&Session) -> Result<Opened> + Send + 'static) {
        self.close();
        let (before, gate) = (self.closing.clone(), Arc::clone(&self.gate));
        self.job(OPENING, true, move |session| {
            session.progress().begin("Waiting for the library before", 0);
            while before.strong_count() > 0 {
                if session.progress().is_cancelled() {
                    return Err(Error::Cancelled);
                }
                std::thread::sleep(WAIT);
            }
            // One that was begun before and is not wanted any more may be opening the very same.
            let _gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
            let mut tries = 0;
            let opened = loop {
                match open(session) {
                    // It was opened in vain a moment ago and is about to be dropped.
                    Err(Error::Busy { .. }) if tries < TRIES => tries += 1,
                    Err(ref error @ Error::Data { ref path, .. }) if path.ends_with(DATABASE) => {
                        let folder = path.parent().unwrap_or(path).to_owned();
                        return Ok(Message::Damaged(folder, error.to_string()));
                    }
                    outcome => break outcome?,
                }
                std::thread::sleep(WAIT);
            };
            if session.progress().is_cancelled() { Err(Error::Cancelled) } else { Ok(Message::Opened(Box::new(opened))) }
        });
    }

    fn rescan(&mut self) {
        let Some(state) = self.state() else { return self.tell(note("Open a folder or a library first")) };
        let roots: Vec<(PathBuf, ImportOptions)> = state
            .roots()
            .map(|(_, root)| (root.path.clone(), ImportOptions { labels: labels_of(&root.labels), exclude: root.exclude.clone() }))
            .collect();
        self.library_job("Import again", move |session, library| {
            let mut messages = Vec::new();
            for (root, options) in roots {
                match session.import(library, &root, &options) {
                    Ok(report) => messages.push(imported(library, &report, &root)),
                    Err(Error::Cancelled) => return Err(Error::Cancelled),
                    // A folder that is away now comes back another time.
                    Err(error) => messages.push(problem(format!("{error}; its images stay in the library"))),
                }
            }
            Ok(Message::Several(messages))
        });
    }

    /// Counts what an export into class folders would write, instead of into others.
    pub(super) fn plan_class_folders(&mut self, to: PathBuf) {
        let Some(open) = &self.open else {
            return self.tell(note("Open a folder or a library first"));
        };
        let library = Arc::clone(&open.library);
        self.plan = Some((to.clone(), None));
        self.job(COUNTING, true, move |session| match session.plan_class_folders(&library, &to) {
            Ok(plan) => Ok(Message::Planned(to, plan)),
            Err(Error::Cancelled) => Ok(Message::Notice(note("Stopped; nothing was written"))),
            Err(error) => Err(error),
        });
    }

    /// Forgets that, and counts no further.
    pub(super) fn forget_plan(&mut self) {
        self.jobs.retain(|_, job| job.name() != COUNTING);
        self.plan = None;
    }

    fn library_job(&mut self, name: &str, work: impl FnOnce(&Session, &Mutex<Library>) -> Result<Message> + Send + 'static) {
        let Some(open) = &self.open else {
            return self.tell(note("Open a folder or a library first"));
        };
        let library = Arc::clone(&open.library);
        self.job(name, false, move |session| match work(session, &library) {
            Err(Error::Cancelled) => Ok(Message::Several(vec![state(&library), Message::Notice(note("Stopped; what was done stays"))])),
            outcome => outcome,
        });
    }
}

fn last_act(library: &Mutex<Library>) -> Option<EventId> {
    hold(library).state().history().last().map(|act| act.id)
}

fn state(library: &Mutex<Library>) -> Message {
    Message::State(hold(library).state().clone())
}

fn open_library(session: &Session, folder: &Path) -> Result<Opened> {
    let library = session.open_library(folder)?;
    let name = folder.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(opened(session, folder.to_owned(), folder.to_owned(), name, library, None))
}

/// The library of a plain folder, which is made and filled when there is none yet.
fn open_folder(session: &Session, folder: &Path) -> Result<Opened> {
    let place = session.library_of(folder)?;
    let library = session.open_or_create_library(&place)?;
    let folder = std::fs::canonicalize(folder).map_err(Error::io("read", folder))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let then = Command::Import { folder: folder.clone(), labels: Labels::Auto, exclude: Vec::new(), table: None };
    Ok(opened(session, place, folder, name, library, Some(then)))
}

fn opened(session: &Session, folder: PathBuf, source: PathBuf, name: String, library: Library, then: Option<Command>) -> Opened {
    let report = session.last_report(&library);
    let models = saved_models(session, &folder);
    Opened { folder, source, name, library, report, models, tray: Vec::new(), then, news: Vec::new() }
}

/// The images to try, with small pictures of them.
fn images_in(session: &Session, folder: &Path) -> Vec<Tried> {
    let options = tessera_core::data::OpenOptions { labels: Labels::None, ..Default::default() };
    let data = tessera_core::data::Dataset::open(folder, &options, session.progress());
    let paths = data.map(|data| data.items.iter().map(|item| item.path().to_owned()).collect::<Vec<_>>()).unwrap_or_default();
    let tried = |path: PathBuf| Some(Tried { thumbnail: Arc::new(thumbnail::shrink(&session.picture(&path, SIDE).ok()?.pixels)), path });
    paths.into_iter().filter_map(tried).collect()
}

fn imported(library: &Mutex<Library>, report: &Imported, folder: &Path) -> Message {
    let mut words = format!("{}: {} imported", display(folder), count(report.imported, "image"));
    for (n, what) in [
        (report.unchanged, "unchanged"),
        (report.duplicate, "duplicate"),
        (report.unsupported, "that are no pictures of a known format"),
        (report.failed.len(), "failed (the log says why)"),
        (report.missing, "missing"),
    ] {
        if n > 0 {
            words.push_str(&format!(", {n} {what}"));
        }
    }
    if report.cancelled {
        words.push_str("; stopped, what was done stays");
    } else if !report.layout.is_empty() {
        words.push_str(&format!(" ({})", report.layout));
    }
    let undo = last_act(library).filter(|_| report.imported > 0);
    let mut messages = vec![state(library), Message::Notice(Notice { words, tone: Tone::Done, undo })];
    let failed = |failed: &FailedFile| Message::Logged(Notice { words: failed.detail.clone(), tone: Tone::Problem, undo: None });
    messages.extend(report.failed.iter().take(TOLD).map(failed));
    Message::Several(messages)
}

/// Reads a table; names without an image are told when the user asked for it.
fn read_table(session: &Session, library: &Mutex<Library>, path: &Path, was_asked: bool) -> Result<Message> {
    let table = session.read_table(path)?;
    let read = session.take_table(library, &table, path)?;
    let mut words = format!("{}: {} and {} added", display(path), count(read.captions, "caption"), count(read.labels, "label"));
    for (n, what) in [
        (if was_asked { read.unmatched.len() } else { 0 }, "names without an image"),
        (read.ambiguous.len(), "names that several images have"),
        (read.kept, "labels kept as you gave them"),
        (table.n_problems, "lines that could not be read"),
    ] {
        if n > 0 {
            words.push_str(&format!(", {n} {what}"));
        }
    }
    Ok(Message::Several(vec![
        state(library),
        Message::Notice(Notice { words, tone: Tone::Done, undo: last_act(library).filter(|_| read.captions + read.labels > 0) }),
    ]))
}

/// A file of captions that lies in a folder of images under a name that tells.
fn captions_in(folder: &Path) -> Option<PathBuf> {
    ["tsv", "csv", "jsonl", "json", "txt"].iter().map(|ending| folder.join(format!("captions.{ending}"))).find(|path| path.is_file())
}

/// Whether a file is one of captions or labels, by its ending.
fn is_table(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    ["csv", "tsv", "json", "jsonl", "txt"].contains(&ending.as_str())
}

/// The way of labelling of that name on the command line.
fn labels_of(name: &str) -> Labels {
    [Labels::ClassFolders, Labels::NorbNames, Labels::None].into_iter().find(|labels| labels.name() == name).unwrap_or_default()
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
