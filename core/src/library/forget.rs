//! Forgetting images: what must be purged from the log and from a library's files, so that nothing
//! of them is left.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::event::{Change, ContentHash, Event, EventId, EventKind, Field, FolderReading, RootId, Swap, UserLabel};
use super::files::{CACHE, DATABASE, JOURNAL, MODELS, remove, remove_folder, remove_left_overs};
use super::state::{Root, State};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::text::composed;
use crate::utc::now;

/// Everything that is purged, and what takes its place.
pub(super) struct Purge {
    /// The images.
    pub(super) images: BTreeSet<ItemId>,
    /// The classes that only these images had.
    pub(super) classes: BTreeSet<String>,
    /// What is left of the events that lose changes.
    pub(super) left: Vec<Event>,
    /// The hashes of all bytes that these images have or had, without those that other images have.
    pub(super) hashes: BTreeSet<ContentHash>,
    /// Where their files lie.
    pub(super) paths: Vec<PathBuf>,
    /// Folders of which the library knows only these images' files.
    pub(super) roots: Vec<RootId>,
    /// Folders of which all images were to have a class that is purged.
    pub(super) unnamed: Vec<RootId>,
    /// The event that says that images were forgotten, but not which.
    pub(super) event: Event,
    /// A time after all snapshots of before.
    pub(super) time: i64,
}

impl Purge {
    /// What must be purged with these images, in a library with this state and this log, and with
    /// no snapshot from after `time`; `id` is that of the next event. O(events).
    pub(super) fn of(images: BTreeSet<ItemId>, state: &State, log: Vec<Event>, id: EventId, time: i64) -> Self {
        let hashes = hashes_of(&images, state, &log);
        let records = images.iter().filter_map(|id| state.image(*id));
        let paths = records.flat_map(|image| &image.places).map(|place| state.full_path(place)).collect();
        let roots = roots_of(&images, state, &log);
        let words = if images.len() == 1 { "Forgot an image".to_owned() } else { format!("Forgot {} images", images.len()) };
        let event = Event { id, at: now(), act: id, kind: EventKind::Final, words, changes: Vec::new(), link: None };
        // A folder's word that is in the path of an image that stays may be the word of its class.
        let places = || state.records().iter().filter(|image| !images.contains(&image.id)).flat_map(|image| &image.places);
        let is_in_path = |word: &str| places().any(|place| place.path.to_string_lossy().contains(word));
        let (classes, left) = without(log, &images, &is_in_path);
        let unnamed = state.roots().filter(|(_, root)| names_one_of(&root.reading, &classes)).map(|(id, _)| id).collect();
        Self { images, classes, left, hashes, paths, roots, unnamed, event, time }
    }
}

/// Folders of single files in which these images lie and no others, unless an event names them.
fn roots_of(gone: &BTreeSet<ItemId>, state: &State, log: &[Event]) -> Vec<RootId> {
    let lie_in = |is_gone: bool| {
        let records = state.records().iter().filter(move |image| gone.contains(&image.id) == is_gone);
        records.flat_map(|image| &image.places).map(|place| place.root).collect::<BTreeSet<RootId>>()
    };
    let others = lie_in(false);
    let is_named = |id: RootId| {
        log.iter()
            .flat_map(|event| &event.changes)
            .any(|change| matches!(change, Change::Root(of, _) | Change::Reading(of, _) if *of == id))
    };
    let only_there = lie_in(true).into_iter().filter(|id| !others.contains(id) && !is_named(*id));
    only_there.filter(|id| state.roots.get(id).is_some_and(Root::is_of_files)).collect()
}

fn hashes_of(gone: &BTreeSet<ItemId>, state: &State, log: &[Event]) -> BTreeSet<ContentHash> {
    let content = |change: &Change| match change {
        Change::Image(id, Field::Content(swap)) if gone.contains(id) => vec![swap.0, swap.1],
        _ => Vec::new(),
    };
    let mut hashes: BTreeSet<ContentHash> =
        log.iter().flat_map(|event| &event.changes).flat_map(content).flatten().map(|content| content.hash).collect();
    let (lost, kept): (Vec<_>, Vec<_>) = state.records().iter().partition(|image| gone.contains(&image.id));
    hashes.extend(lost.iter().flat_map(|image| &image.places).map(|place| place.hash));
    for content in kept.iter().filter_map(|image| image.content) {
        hashes.remove(&content.hash);
    }
    hashes
}

/// Deletes the files of a library that hold parts of images or may hold any: saved models, damaged
/// files that were kept, and what a killed program left behind.
pub(super) fn delete_copies(folder: &Path) -> Result<()> {
    remove_folder(&folder.join(MODELS))?;
    let entries = fs::read_dir(folder).map_err(Error::io("list", folder))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_ours = [DATABASE, CACHE, JOURNAL].iter().any(|ours| name.starts_with(ours));
        if is_ours && name.contains(".damaged") {
            if path.is_dir() { remove_folder(&path)? } else { remove(&path)? }
        }
    }
    remove_left_overs(folder)
}

/// A log without some images: the classes that only they had, and what is left of the events that
/// lose changes.
fn without(log: Vec<Event>, gone: &BTreeSet<ItemId>, is_in_path: &impl Fn(&str) -> bool) -> (BTreeSet<String>, Vec<Event>) {
    let is_gone = |change: &Change| [change.image(), change.other_image()].into_iter().flatten().any(|image| gone.contains(&image));
    let classes = only_of(&log, &is_gone, is_in_path);
    let loses_all = |event: &Event| {
        let mut images = event.changes.iter().filter(|change| change.image().is_some()).peekable();
        images.peek().is_some() && images.all(is_gone)
    };
    let is_dropped = |loses_all: bool, change: &Change| match change {
        // How a folder is read goes with the last image that came so.
        Change::Reading(_, Swap(before, after)) => loses_all || [before, after].into_iter().any(|reading| names_one_of(reading, &classes)),
        // What a folder's word stands for goes with the word; with no class left to stand for, too.
        Change::Class(..) | Change::Alias(..) => classes_in(change).into_iter().any(|name| classes.contains(name)),
        _ => is_gone(change),
    };
    let left_of = |event: Event| {
        let loses_all = loses_all(&event);
        let is_losing = event.changes.iter().any(|change| is_dropped(loses_all, change));
        is_losing.then(|| event.without(|change| !is_dropped(loses_all, change)))
    };
    let left = log.into_iter().filter_map(left_of).collect();
    (classes, left)
}

/// Whether the one class of all images of a folder that is read so is one of these, written in any
/// of Unicode's forms.
fn names_one_of(reading: &FolderReading, classes: &BTreeSet<String>) -> bool {
    let class = FolderReading::with_class(&reading.labels).1.map(composed);
    class.is_some_and(|class| classes.iter().any(|name| composed(name) == class))
}

/// The classes, and the words of folders that stand for classes, that came with images that are
/// gone, and that nothing else has: no other image, no class that the user made by itself.
fn only_of(log: &[Event], is_gone: &impl Fn(&Change) -> bool, is_in_path: &impl Fn(&str) -> bool) -> BTreeSet<String> {
    let (mut gone, mut kept, mut known) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for event in log {
        let is_losing = event.changes.iter().any(is_gone);
        for change in &event.changes {
            let is_of_others = change.image().is_some() && !is_gone(change);
            for name in classes_in(change) {
                let is_new = known.insert(name.to_owned());
                // A name that first stands in an event without these images is the user's own.
                let is_kept = is_of_others || (is_new && !is_losing);
                if is_kept { &mut kept } else { &mut gone }.insert(name.to_owned());
            }
        }
    }
    // A word that stays keeps the classes that it stands for, or stood for.
    loop {
        let aliases = log.iter().flat_map(|event| &event.changes).filter(|change| match change {
            Change::Alias(word, _) => kept.contains(word) || is_in_path(word),
            _ => false,
        });
        let more: BTreeSet<String> = aliases.flat_map(classes_in).filter(|name| !kept.contains(*name)).map(str::to_owned).collect();
        if more.is_empty() {
            return gone.difference(&kept).filter(|name| !name.is_empty()).cloned().collect();
        }
        kept.extend(more);
    }
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
