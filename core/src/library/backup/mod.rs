//! Backups of a library: everything in its folder that cannot be computed again, verified by the
//! head of its history. The image files stay where they are.

mod contents;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::cache::Cache;
use super::chain::{ChainSummary, Head, Joint};
use super::event::{ContentHash, EventId};
use super::features::Stamp;
use super::files::{CACHE, DATABASE, MODELS, beside, check_ordinary, is_library, remove, with_ending};
use super::fork::Fork;
use super::journal::{self, Line, told_identity};
use super::lock;
use super::opening::check_has_database;
use super::read_only::{ReadCopy, ReadOnly};
use super::repair::has_lost_its_database;
use super::state::{Image, State};
use super::store::inspect::{copy, fact_of, identity_of, joints_of, next_event_of, salvage, verify};
use super::store::{LIBRARY, REPAIR, RESTORED, Store};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::plural::count;
use crate::progress::Progress;
use crate::storage::{Disk, Storage};
use crate::utc::now;
use contents::{BackupFolder, BackupList, KeptFile, RESULTS};

pub use contents::BACKUP;

/// Times that models are copied again because another program saved one.
const TRIES: u32 = 50;
/// The time between these.
const WAIT: Duration = Duration::from_millis(100);
/// The file in a folder into which a backup is being restored.
const RESTORING: &str = "unfinished-restore";

/// A backup, made or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The end of the history in it.
    pub head: Head,
    /// How many events are in it.
    pub events: usize,
    /// The bytes of its files.
    pub bytes: u64,
    /// How many of its files were copied; the others were there already.
    pub copied: usize,
    /// Where what was there before a backup was restored is now.
    pub kept: Option<PathBuf>,
    /// Images of a restored backup that the library before had forgotten.
    pub came_back: Vec<ItemId>,
}

/// What a finished backup holds, by its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    /// The number of its library.
    library: i64,
    /// The end of the history in it.
    pub head: Head,
    /// How many events are in it.
    pub events: usize,
    /// When it was made, in milliseconds since 1970.
    pub at: i64,
    /// The bytes of its files.
    pub bytes: u64,
}

impl BackupSummary {
    /// Whether it is a backup of the library in `folder`, of whatever history.
    pub fn is_of(&self, folder: &Path, progress: &Progress) -> bool {
        let told = || told_identity(&lines_of(folder)).map(|(library, _)| library);
        fact_of(&folder.join(DATABASE), LIBRARY, progress).or_else(told) == Some(self.library)
    }
}

/// Whether a folder is a finished backup.
pub fn is_backup(folder: &Path) -> bool {
    BackupFolder::at(folder).is_one() && !is_library(folder)
}

/// What the backup in `folder` holds.
///
/// # Errors
/// [`Error::Data`] when no backup was finished there, or its list is not as it was written,
/// [`Error::Io`].
pub fn summary(folder: &Path) -> Result<BackupSummary> {
    let list = list_of(folder)?;
    Ok(BackupSummary { library: list.library, head: list.head(), events: list.events, at: list.at, bytes: list.bytes() })
}

/// The list of the backup in `folder`.
fn list_of(folder: &Path) -> Result<BackupList> {
    let advice = "name the folder that `tessera backup LIBRARY TO` made";
    let none = || Error::data(folder, format!("a backup with a `{BACKUP}`"), "none", advice);
    BackupFolder::at(folder).list()?.ok_or_else(none)
}

/// Makes a backup of the library in `folder` in the folder `to`, or brings the one there up to
/// date: only what is missing or wrong in it is copied. Other programs may work with the library
/// meanwhile. When this ends early, the backup of before is as it was, and the next call goes on.
/// Where `reads_only`, no file of the library is changed: a database that would be is copied first.
///
/// # Errors
/// [`Error::Data`] when the library is damaged, its journal tells events that its database lacks,
/// or in `to` are other things, a backup of another library, or one with events that the library
/// lacks; [`Error::Busy`]; [`Error::Io`]; [`Error::Cancelled`].
pub fn back_up(folder: &Path, to: &Path, reads_only: bool, progress: &Progress) -> Result<BackupReport> {
    check_has_database(folder)?;
    if !is_library(folder) {
        return Err(Error::data(folder, "a library", "none", "name the folder of a library"));
    }
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if full(to).starts_with(full(folder)) {
        return Err(Error::data(to, "a folder outside of the library", "one in it", "choose another folder, best on another disk"));
    }
    check_ordinary(folder)?;
    let backup = BackupFolder::at(to);
    let _marker = backup.prepare()?;
    let draft = backup.draft();
    remove(&draft)?;
    progress.begin("Copying the database", 0);
    // Read first: an event is in the journal once it is in the database.
    let told = journal::text_of(folder).unwrap_or_default();
    copy_database(folder, &draft, reads_only, progress)?;
    verify(&draft, progress).map_err(|error| match error {
        Error::Data { found, .. } => Error::data(&folder.join(DATABASE), "a sound library", found, REPAIR),
        other => other,
    })?;
    let joints = joints_of(&draft, progress)?;
    check_told(&folder.join(DATABASE), &told, &draft, &joints, progress)?;
    let library = fact_of(&draft, LIBRARY, progress).unwrap_or(0);
    // A list that is damaged is no backup any more.
    if let Ok(Some(before)) = backup.list() {
        check_same(to, &before, library, &joints)?;
    }
    let (files, copied) = take_in_all(&backup, folder, &draft, progress)?;
    let chain = ChainSummary::of(&joints);
    let list = BackupList::new(library, chain.head, chain.events, now(), files);
    backup.finish(&list)?;
    Ok(BackupReport { head: chain.head, events: chain.events, bytes: list.bytes(), copied, kept: None, came_back: Vec::new() })
}

/// Copies the database of a library as it is at one moment.
fn copy_database(folder: &Path, to: &Path, reads_only: bool, progress: &Progress) -> Result<()> {
    let database = folder.join(DATABASE);
    let from_copy = || {
        let readable = ReadCopy::of(folder)?;
        Store::open_copy(&readable.database(), progress)?.settle();
        copy(&readable.database(), to, progress).map(drop)
    };
    if reads_only {
        return from_copy();
    }
    match copy(&database, to, progress) {
        Ok(true) => {}
        Ok(false) => {
            // An earlier version's events get their links first.
            let _lock = lock::take(folder)?;
            Store::open(&database, false, Arc::new(Disk), progress)?.settle();
            copy(&database, to, progress)?;
        }
        Err(error) if ReadOnly::of(&error, folder).is_some() => from_copy()?,
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Takes all files of a library into a backup, with this copy of its database. Returns their
/// entries, and how many were copied.
fn take_in_all(backup: &BackupFolder, folder: &Path, database: &Path, progress: &Progress) -> Result<(Vec<KeptFile>, usize)> {
    let results = with_ending(database, ".results");
    let cache = folder.join(CACHE);
    let kept = if cache.is_file() { Cache::open_read_only(&cache, false)?.results()? } else { Vec::new() };
    fs::write(&results, serde_json::to_vec(&kept).unwrap_or_default()).map_err(Error::io("write", &results))?;
    let first = [(database.to_owned(), PathBuf::from(DATABASE)), (results.clone(), PathBuf::from(RESULTS))];
    progress.begin("Copying", 0);
    let take_in = |files: Vec<(PathBuf, PathBuf)>| -> Result<Vec<(KeptFile, bool)>> {
        files.into_iter().map(|(from, path)| backup.take_in(&from, path, progress)).collect()
    };
    let mut taken = take_in(first.into())?;
    // Models that another program saves or deletes meanwhile are copied again.
    let mut tries = 0;
    let models = loop {
        let before = models_in(folder)?;
        let taken = take_in(before.iter().map(|(path, _)| (folder.join(path), path.clone())).collect());
        match taken {
            taken if models_in(folder)? == before => break taken?,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            _ if tries == TRIES => {
                return Err(Error::Busy { path: folder.join(MODELS), holder: "another program, which saves models there".into() });
            }
            _ => tries += 1,
        }
        std::thread::sleep(WAIT);
    };
    taken.extend(models);
    remove(database)?;
    remove(&results)?;
    let copied = taken.iter().filter(|(_, is_new)| *is_new).count();
    Ok((taken.into_iter().map(|(file, _)| file).collect(), copied))
}

/// Refuses a database of which its own journal tells another history, or shows events that it
/// lacks.
fn check_told(database: &Path, text: &[u8], draft: &Path, joints: &[Joint], progress: &Progress) -> Result<()> {
    let lines = journal::read(text).0;
    if told_identity(&lines) != identity_of(draft, progress) {
        return Ok(());
    }
    if let Some(fork) = Fork::between(draft, &lines, progress) {
        return Err(fork.error(database));
    }
    let last = joints.last().map_or(EventId(0), |joint| joint.after.event);
    let (first, reached) = (next_event_of(draft, last, progress), journal::reached(text));
    if reached < first {
        return Ok(());
    }
    let found = format!("{} that only the journal tells or shows", count((reached.0 - first.0) as usize + 1, "event"));
    Err(Error::data(database, "all events in the database", found, REPAIR))
}

/// Refuses to replace a backup of another library, or one with events that this one lacks.
fn check_same(to: &Path, before: &BackupList, library: i64, joints: &[Joint]) -> Result<()> {
    let expected = "a new folder, or an older backup of this library";
    let advice = "choose another folder, or restore that backup if it is the one you want";
    if before.library != library {
        return Err(Error::data(to, expected, "a backup of another library", advice));
    }
    let head = before.head();
    if head.event.0 == 0 || joints.iter().any(|joint| joint.after == head) {
        return Ok(());
    }
    let last = joints.last().map_or(0, |joint| joint.after.event.0);
    let found = match head.event.0 > last {
        true => format!("one with events to number {}, where the library ends at event {last}", head.event.0),
        false => format!("one of another history: its event {} is not that of the library", head.event.0),
    };
    Err(Error::data(to, expected, found, advice))
}

/// The files of the models saved in a library, as paths in its folder, in order; without those that
/// are being written.
fn models_in(folder: &Path) -> Result<Vec<(PathBuf, Stamp)>> {
    let models = folder.join(MODELS);
    if !models.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for model in fs::read_dir(&models).map_err(Error::io("list", &models))?.flatten() {
        for file in fs::read_dir(model.path()).into_iter().flatten().flatten().filter(|file| file.path().is_file()) {
            let path = Path::new(MODELS).join(model.file_name()).join(file.file_name());
            // One that is gone by now is not copied.
            let stamp = Stamp::of(&file.path()).ok().filter(|_| !file.file_name().to_string_lossy().ends_with(".part"));
            found.extend(stamp.map(|stamp| (path, stamp)));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Puts the backup in the folder `from` in the place of the library in `folder`, once it is found
/// whole. What was there is renamed, not deleted. Unless `other_history` is true, it must be a
/// backup of the history that is there, earlier or later.
///
/// # Errors
/// [`Error::Data`] when the backup is damaged or none, or of another history; [`Error::Busy`] when
/// a program has the library; [`Error::Io`]; [`Error::Cancelled`]. The library is as it was then.
pub fn restore_backup(folder: &Path, from: &Path, other_history: bool, progress: &Progress) -> Result<BackupReport> {
    // A path that ends in a slash has no place beside it for what is made.
    let folder = &folder.components().collect::<PathBuf>();
    let backup = BackupFolder::at(from);
    let list = list_of(from)?;
    backup.check(&list, progress)?;
    if fs::symlink_metadata(folder).is_ok_and(|meta| !meta.is_dir()) {
        return Err(Error::data(folder, "a library, an empty folder or a new name", "a file or a link", "choose another name"));
    }
    let is_there = is_library(folder) || has_lost_its_database(folder);
    if !is_there && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::data(folder, "a library, an empty folder or a new name", "a folder of other things", "choose another name"));
    }
    let mut lock = if is_there { Some(lock::take(folder)?) } else { None };
    let staged = with_ending(folder, ".restoring");
    let prepare = || {
        let restored = make_again(&backup, &list, &staged, progress)?;
        if is_there && !other_history {
            check_related(folder, from, &list, &joints_of(&staged.join(DATABASE), progress)?, progress)?;
        }
        progress.step()?;
        let forgotten = if is_there { forgotten_in(folder, progress) } else { HashSet::new() };
        let is_back = |image: &&Arc<Image>| image.content.is_some_and(|content| forgotten.contains(&content.hash));
        Ok(restored.records().iter().filter(is_back).map(|image| image.id).collect())
    };
    let came_back = prepare().inspect_err(|_| drop(remove_unfinished(&staged)))?;
    let kept = is_there.then(|| beside(folder));
    if !cfg!(unix) {
        // A folder with an open file in it cannot be renamed there.
        lock = None;
    }
    match &kept {
        Some(kept) => fs::rename(folder, kept).map_err(Error::io("rename", folder))?,
        None => drop(fs::remove_dir(folder)),
    }
    fs::rename(&staged, folder).map_err(Error::io("rename", &staged))?;
    remove(&folder.join(RESTORING))?;
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Disk.sync_folder(parent).map_err(Error::io("write", parent))?;
    }
    drop(lock);
    Ok(BackupReport { head: list.head(), events: list.events, bytes: list.bytes(), copied: list.files.len(), kept, came_back })
}

/// The lines of the journal of the library in `folder`, as far as they can be read.
fn lines_of(folder: &Path) -> Vec<Line> {
    journal::text_of(folder).map(|text| journal::read(&text).0).unwrap_or_default()
}

/// The bytes that the library in `folder` has forgotten, by its database, or by its journal where
/// that cannot be read.
fn forgotten_in(folder: &Path, progress: &Progress) -> HashSet<ContentHash> {
    let by_database = ReadCopy::of(folder).and_then(|copy| Store::open_copy(&copy.database(), progress)?.forgotten());
    by_database.unwrap_or_else(|_| {
        let mut forgotten = HashSet::new();
        for line in lines_of(folder) {
            match line {
                Line::Forgotten(hash) => drop(forgotten.insert(hash)),
                Line::Again(hash) => drop(forgotten.remove(&hash)),
                _ => {}
            }
        }
        forgotten
    })
}

/// Deletes a folder into which a backup was being restored.
fn remove_unfinished(staged: &Path) -> Result<()> {
    if staged.join(RESTORING).is_file() { fs::remove_dir_all(staged).map_err(Error::io("delete", staged)) } else { Ok(()) }
}

/// Makes a library of a backup in a new folder, and verifies it. Returns what it holds.
fn make_again(backup: &BackupFolder, list: &BackupList, staged: &Path, progress: &Progress) -> Result<State> {
    remove_unfinished(staged)?;
    let marker = staged.join(RESTORING);
    if let Some(parent) = staged.parent() {
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    }
    fs::create_dir(staged).map_err(Error::io("create", staged))?;
    fs::write(&marker, "").map_err(Error::io("create", &marker))?;
    progress.begin("Restoring", list.bytes() >> 20);
    for file in &list.files {
        let place = staged.join(&file.path.0);
        if file.path.0 == Path::new(RESULTS) {
            let results: Vec<(String, String)> = serde_json::from_slice(&backup.read(file)?).unwrap_or_default();
            let cache = Cache::open(&staged.join(CACHE))?;
            results.iter().try_for_each(|(name, text)| cache.put_result(name, text))?;
            continue;
        }
        let parent = place.parent().unwrap_or(staged);
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        backup.hand_out(file, &place, progress)?;
    }
    let database = staged.join(DATABASE);
    verify(&database, progress)?;
    let head = ChainSummary::of(&joints_of(&database, progress)?).head;
    if head != list.head() {
        let advice = "take another backup";
        return Err(Error::data(&database, format!("a history with the head {}", list.head()), format!("{head}"), advice));
    }
    let mut store = Store::open(&database, false, Arc::new(Disk), progress)?;
    store.set_fact(RESTORED, now())?;
    let mut state = store.load()?;
    store.tend_journal(&mut state)?;
    store.settle();
    drop(store);
    Disk.sync(&database).map_err(Error::io("write", &database))?;
    Ok(state)
}

/// Refuses a backup that is neither the past nor the future of the history that is there. What
/// cannot be read any more cannot be compared, and is kept all the same.
fn check_related(folder: &Path, from: &Path, list: &BackupList, theirs: &[Joint], progress: &Progress) -> Result<()> {
    let told = lines_of(folder);
    let events = salvage(&folder.join(DATABASE), progress).into_iter().chain(told.into_iter().filter_map(Line::into_event));
    let own: Vec<Head> = events.filter_map(|event| Some(Head { event: event.id, digest: event.link?.head })).collect();
    let is_past = own.contains(&list.head()) || list.head().event.0 == 0;
    let newest = own.iter().max_by_key(|head| head.event);
    let is_future = newest.is_some_and(|newest| theirs.iter().any(|joint| joint.after == *newest));
    if own.is_empty() || is_past || is_future {
        return Ok(());
    }
    let found = format!("one of another history, which ends at the head {}", list.head());
    let advice =
        "restore it under another name, or confirm by --other-history that it takes the place of this one, which is kept beside it";
    Err(Error::data(from, "a backup of the history of this library", found, advice))
}
