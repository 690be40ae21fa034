//! Libraries for commands: opened, waited for, closed; and the images in them, by path or `#ID`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::import::hold;
use tessera_core::library::{Library, spellings};

use super::args::Global;
use super::output::Output;
use crate::session::Session;
use crate::session::library::{Target, what_is, with_ending};
pub(super) use tessera_core::plural::count;

/// Time between attempts to open a busy library.
const AGAIN: Duration = Duration::from_millis(100);

/// Opens libraries for a command.
pub(super) struct Librarian<'a> {
    pub(super) session: &'a Session,
    pub(super) out: &'a Output,
    wait: Duration,
    /// The seed that was given.
    pub(super) seed: Option<u64>,
}

/// Refuses a backup where a library is meant.
fn refuse_backup(path: &Path) -> Result<(), Error> {
    let advice = "make a library of it by `tessera backup LIBRARY --restore FROM`";
    if what_is(path) == Target::Backup { Err(Error::data(path, "a library", "the backup of one", advice)) } else { Ok(()) }
}

impl<'a> Librarian<'a> {
    /// A librarian that waits for a library that is busy as long as `global` says.
    pub(super) fn new(session: &'a Session, out: &'a Output, global: &Global) -> Self {
        Self { session, out, wait: Duration::from_secs(global.wait.into()), seed: global.seed }
    }

    /// Opens the library at `path`, or that of the collection there.
    pub(super) fn open(&self, path: &Path) -> Result<Library, Error> {
        let path = self.named(path);
        if what_is(&path) == Target::Collection {
            return self.patiently(|| self.session.open_collection(&path));
        }
        if what_is(&path) == Target::Model {
            let advice = "name the library that it was trained from; `tessera classify` recognises images with a model";
            return Err(Error::data(&path, "a library", "a model, which holds no images", advice));
        }
        refuse_backup(&path)?;
        self.patiently(|| self.session.open_library(&path))
    }

    /// Opens the library at `path`, or makes one there.
    pub(super) fn open_or_create(&self, path: &Path) -> Result<Library, Error> {
        let path = self.named(path);
        self.patiently(|| self.session.open_or_create_library(&path))
    }

    /// The library that a path names where a command takes nothing but libraries: with the ending
    /// `.tessera` if only there is one, which a note says.
    pub(super) fn named(&self, path: &Path) -> PathBuf {
        let other = if what_is(path).has_images() { None } else { with_ending(path) };
        if let Some(library) = &other {
            self.out.note(&format!("{} is no library; {} is one, and is meant.", display(path), display(library)));
        }
        other.unwrap_or_else(|| path.to_owned())
    }

    /// As [`Librarian::named`] where a command is about the files of a library, which a collection
    /// does not have.
    pub(super) fn named_itself(&self, path: &Path) -> Result<PathBuf, Error> {
        let path = self.named(path);
        if what_is(&path) == Target::Collection {
            let advice =
                "name a library; shards are checked by their hashes whenever they are read, and any copy of the folder is a backup";
            return Err(Error::data(&path, "a library", "a collection", advice));
        }
        refuse_backup(&path)?;
        Ok(path)
    }

    /// As [`Librarian::named`] where a command takes other things, too: what lies at the path is
    /// meant, unless that is nothing.
    pub(super) fn named_if_nothing(&self, path: &Path) -> PathBuf {
        if what_is(path) == Target::Nothing { self.named(path) } else { path.to_owned() }
    }

    /// Retries `open` while the library is busy, as long as the user allows.
    pub(super) fn patiently<T>(&self, open: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        let start = Instant::now();
        self.out.watched(self.session.progress(), || {
            loop {
                match open() {
                    Err(Error::Busy { .. }) if start.elapsed() < self.wait => {}
                    outcome => return outcome,
                }
                if self.session.progress().is_cancelled() {
                    return Err(Error::Cancelled);
                }
                thread::sleep(AGAIN);
            }
        })
    }

    /// Adds the head of a library to an acknowledgement if it was asked for.
    pub(super) fn add_head(&self, library: &Library, answer: &mut Value) {
        if self.out.wants_head() {
            answer["head"] = json!(library.head().ok().map(|head| head.to_string()));
        }
    }

    /// Has networks look at the images of a library that they have not looked at, as after a backup
    /// was put back or `cache.db` was lost. Returns how many images learned features are missing of
    /// then: those whose files cannot be read, or all where nothing may be written.
    pub(super) fn complete(&self, library: &Mutex<Library>) -> Result<usize, Error> {
        let missing = || missing(&hold(library));
        if missing()? > 0 && hold(library).read_only().is_none() {
            let looked = self.out.watched(self.session.progress(), || self.session.compute_learned_features(library))?;
            if looked > 0 {
                self.out.note(&format!("The network looked at {} first: what it saw in them was not there.", count(looked, "image")));
            }
        }
        let missing = missing()?;
        if missing > 0 {
            let which = count(missing, "image");
            self.out.note(&format!("Learned features of {which} are missing, so that nothing is guessed of them."));
        }
        Ok(missing)
    }

    /// Says which labelled images are compared with nothing, if there are some.
    pub(super) fn note_unlearned(&self, library: &Library) {
        if let Some(error) = library.unlearned() {
            self.out.note(&error.to_string());
        }
    }

    /// Opens the library at `path`, works on it, and closes it however the work ended.
    pub(super) fn with<T>(&self, path: &Path, work: impl FnOnce(&mut Library) -> Result<T>) -> Result<T> {
        let mut library = self.open(path)?;
        let outcome = work(&mut library);
        self.close(library, outcome)
    }

    /// As [`Librarian::with`], for work that shares the library between threads.
    pub(super) fn with_shared<T>(&self, library: Library, work: impl FnOnce(&Mutex<Library>) -> Result<T>) -> Result<T> {
        let library = Mutex::new(library);
        let outcome = work(&library);
        self.close(library.into_inner().unwrap_or_else(PoisonError::into_inner), outcome)
    }

    /// Closes a library however the work on it ended.
    pub(super) fn close<T>(&self, library: Library, outcome: Result<T>) -> Result<T> {
        self.end(library, outcome, Library::close)
    }

    /// Closes a library that was created for work which then could not begin. One that is still
    /// empty is deleted.
    pub(super) fn take_away(&self, library: Library) -> Result<()> {
        self.end(library, Ok(()), Library::close_or_delete_empty)
    }

    fn end<T>(&self, mut library: Library, outcome: Result<T>, close: impl FnOnce(Library) -> Result<(), Error>) -> Result<T> {
        for remark in library.take_remarks() {
            self.out.note(&remark);
        }
        let closed = close(library);
        let value = outcome?;
        // Everything acknowledged is on disk. Models that cannot be saved now are learned again
        // when the library is next opened.
        if let Err(error) = closed {
            self.out.note(&error.to_string());
        }
        Ok(value)
    }
}

/// The images of a library that learned features are missing of, where they are on.
fn missing(library: &Library) -> Result<usize, Error> {
    if !library.has_learned_features() {
        return Ok(0);
    }
    let learned = library.learned_features()?;
    let pair = library.words_network()?.filter(|pair| pair.name.is_some());
    Ok((learned.images - learned.seen).max(pair.map_or(0, |pair| pair.images - pair.seen)))
}

/// Characters of a long text that messages repeat.
const SHOWN: usize = 200;

/// A text, or its beginning where it is long.
pub(super) fn start(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The number in `#ID`.
pub(super) fn number(image: &Path) -> Option<ItemId> {
    image.to_str()?.strip_prefix('#')?.parse().ok().map(ItemId)
}

/// Finds images of a library by their paths or `#ID`s, as long as no file moves.
#[derive(Default)]
pub(super) struct Finder {
    /// Built when the first path is looked up.
    by_path: Option<HashMap<PathBuf, ItemId>>,
}

impl Finder {
    /// The image of that path or `#ID`.
    pub(super) fn find(&mut self, library: &Library, image: &Path) -> Result<ItemId, Error> {
        let unknown = |found: &str| {
            let advice = "check the name; `tessera search LIBRARY WORDS` shows the #ID of images";
            Error::data(Path::new(&start(&image.to_string_lossy())), "an image of this library", found, advice)
        };
        if let Some(id) = number(image) {
            return library.state().image(id).map(|image| image.id).ok_or_else(|| unknown("no image of that number"));
        }
        let by_path = self.by_path.get_or_insert_with(|| library.by_path());
        let found = spellings(image).find_map(|path| by_path.get(&path).copied());
        found.ok_or_else(|| unknown(if image.is_file() { "a file that is not in it" } else { "none of that path" }))
    }
}

/// The images of those paths or `#ID`s, each once.
pub(super) fn find_all(library: &Library, images: &[PathBuf]) -> Result<Vec<ItemId>, Error> {
    let mut finder = Finder::default();
    let mut found: Vec<ItemId> = images.iter().map(|image| finder.find(library, image)).collect::<Result<_, _>>()?;
    let mut seen = HashSet::new();
    found.retain(|id| seen.insert(*id));
    Ok(found)
}
