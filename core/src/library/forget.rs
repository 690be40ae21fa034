//! Forgetting: an image's words, features and thumbnails are purged, and every model is taught anew without them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Library;
use super::event::{Change, ContentHash, Event, EventId, EventKind, Field, Swap, UserLabel};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;

impl Library {
    /// Forgets images: their rows, their part in every event, their features and thumbnails are purged from the files of
    /// the library, and the models learn everything else from the first event on. Afterwards each model is equal, byte
    /// for byte, to one that never saw them. The image files themselves stay where they are; a fingerprint keeps later
    /// imports from taking them in again. Cannot be taken back.
    ///
    /// # Errors
    /// [`Error::Option`] for an image that is not there; [`Error::Io`]; [`Error::Cancelled`] before anything was purged.
    ///
    /// # Complexity
    /// O(events): the log is rewritten and replayed.
    pub fn forget(&mut self, images: &[ItemId], progress: &Progress) -> Result<EventId> {
        let gone: BTreeSet<ItemId> = images.iter().copied().collect();
        if let Some(id) = gone.iter().find(|id| self.state.image(**id).is_none()) {
            let found = format!("#{}, which is not there", id.0);
            return Err(Error::Option { name: "image", found, expected: "an image of this library" });
        }
        // A damaged index could hide rows that must go.
        if let Some(found) = self.store.integrity()?.first() {
            return Err(self.store.damaged(found));
        }
        let log = self.store.events_after(0)?;
        progress.step()?;
        let hashes = self.hashes_of(&gone, &log);
        // Identifiers of events are never used twice, also where the last events are purged.
        let id = EventId(log.last().map_or(0, |event| event.id.0) + 1);
        let words = if gone.len() == 1 { "Forget an image".to_owned() } else { format!("Forget {} images", gone.len()) };
        let event = Event { id, at: super::now(), act: id, kind: EventKind::Final, words, changes: Vec::new() };
        let (classes, left) = without(log, &gone);
        self.forget_saved_models()?;
        self.forget_damaged_files()?;
        super::remove_left_overs(&self.folder)?;
        self.drop_all_snapshots()?;
        // The cache first: it can be made again, should this end in the middle.
        let image = |id: &ItemId| self.state.image(*id);
        let paths: Vec<PathBuf> =
            gone.iter().filter_map(image).flat_map(|image| &image.places).map(|place| self.state.full_path(place)).collect();
        self.cache.purge(&hashes, &paths)?;
        let purged = self.store.purge((&gone, &classes), &left, &hashes, &event, self.state.next_image);
        // It may have failed after the database had taken it in.
        self.state = self.store.load()?;
        self.appearances = super::appearance::Appearances::default();
        self.behind = true;
        purged?;
        self.kept_at = None;
        // The purge is done; models that saw half of the rest would be wrong.
        self.catch_up(&Progress::default())?;
        self.keep_models()?;
        Ok(id)
    }

    /// The hashes of all bytes that these images have and had, but those that other images have.
    fn hashes_of(&self, gone: &BTreeSet<ItemId>, log: &[Event]) -> BTreeSet<ContentHash> {
        let content = |change: &Change| match change {
            Change::Image(id, Field::Content(swap)) if gone.contains(id) => vec![swap.0, swap.1],
            _ => Vec::new(),
        };
        let mut hashes: BTreeSet<ContentHash> =
            log.iter().flat_map(|event| &event.changes).flat_map(content).flatten().map(|content| content.hash).collect();
        let (lost, kept): (Vec<_>, Vec<_>) = self.state.records().iter().partition(|image| gone.contains(&image.id));
        hashes.extend(lost.iter().flat_map(|image| &image.places).map(|place| place.hash));
        for content in kept.iter().filter_map(|image| image.content) {
            hashes.remove(&content.hash);
        }
        hashes
    }

    /// Lets later imports take in again what was forgotten, whatever it was.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn allow_forgotten(&mut self, hash: ContentHash) -> Result<()> {
        self.store.unforget(hash)
    }

    /// Damaged files that were kept may hold anything.
    fn forget_damaged_files(&self) -> Result<()> {
        let entries = std::fs::read_dir(&self.folder).map_err(Error::io("list", &self.folder))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_damaged = path.file_name().is_some_and(|name| name.to_string_lossy().contains(".damaged"));
            if is_damaged {
                std::fs::remove_file(&path).map_err(Error::io("delete", &path))?;
            }
        }
        Ok(())
    }

    /// Saved models hold pieces of images.
    fn forget_saved_models(&self) -> Result<()> {
        let folder = self.folder.join(super::MODELS);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("delete", &folder)(error)),
            _ => Ok(()),
        }
    }
}

/// A log without some images: the classes that only they had brought, and of each event that loses something what is
/// left of it, if anything is.
fn without(log: Vec<Event>, gone: &BTreeSet<ItemId>) -> (BTreeSet<String>, Vec<(EventId, Option<Event>)>) {
    let is_gone = |change: &Change| change.image().is_some_and(|image| gone.contains(&image));
    let (losing, whole): (Vec<Event>, Vec<Event>) = log.into_iter().partition(|event| event.changes.iter().any(is_gone));
    let made = |change: &Change| match change {
        Change::Class(name, _) => Some(name.clone()),
        _ => None,
    };
    let mut classes: BTreeSet<String> = losing.iter().flat_map(|event| &event.changes).filter_map(made).collect();
    let others = losing.iter().flat_map(|event| &event.changes).filter(|change| made(change).is_none() && !is_gone(change));
    for change in others.chain(whole.iter().flat_map(|event| &event.changes)) {
        for name in classes_in(change) {
            classes.remove(name);
        }
    }
    let left = losing.into_iter().map(|event| {
        let is_left = |change: &Change| !is_gone(change) && made(change).is_none_or(|name| !classes.contains(&name));
        let changes: Vec<Change> = event.changes.into_iter().filter(is_left).collect();
        let words = match changes.iter().any(|change| change.image().is_some()) {
            true => event.words,
            // The words of an event of one image may name it.
            false => words_of(event.kind, changes.iter().filter_map(made)),
        };
        (event.id, (!changes.is_empty()).then_some(Event { changes, words, ..event }))
    });
    let left = left.collect();
    (classes, left)
}

/// The classes that a change names.
fn classes_in(change: &Change) -> Vec<&str> {
    match change {
        Change::Class(name, _) => vec![name],
        Change::Alias(word, Swap(before, after)) => {
            [Some(word), before.as_ref(), after.as_ref()].into_iter().flatten().map(String::as_str).collect()
        }
        Change::Image(_, Field::Folder(Swap(before, after))) => {
            [&before.label, &after.label].into_iter().flatten().map(String::as_str).collect()
        }
        Change::Image(_, Field::Rejection(class, _)) => vec![class],
        Change::Image(_, Field::Label(Swap(before, after))) => [before, after]
            .into_iter()
            .filter_map(|said| match said {
                UserLabel::Class(class) => Some(class.as_str()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn words_of(kind: EventKind, classes: impl Iterator<Item = String>) -> String {
    let unique: BTreeSet<String> = classes.collect();
    let names = unique.into_iter().collect::<Vec<_>>().join(", ");
    match kind {
        EventKind::Undo(_) => format!("Undo: Classes {names}"),
        EventKind::Redo(_) => format!("Redo: Classes {names}"),
        _ => format!("Classes {names}"),
    }
}
