//! Import: finds image files, recognises those that are known, and takes in the others a few at a
//! time.

mod admit;
mod look;
mod one;
mod report;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::Library;
use super::classes::tidy_name;
use super::draft::Draft;
use super::event::{Change, EventId, EventKind, Field, FolderReading, FolderWord, RootId, Swap};
use super::state::{Image, Place, Root, State};
use super::store::Store;
use crate::data::plan::{ImportPlan, KnownFiles, ToldFile, ToldFiles};
use crate::data::tables::beside;
use crate::data::{Dataset, ImageSource, Labels, Masks, Meta, OpenOptions, UNLABELLED, class_of_folder, is_date};
use crate::error::{self, Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::text::composed;
use admit::Run;
use look::{Known, Look, Refused, Seen, look};

pub use super::hold;
pub use look::holds;
pub(super) use one::enter_known;
pub use one::{TakenFile, import_file};
pub(super) use report::copy_of;
pub use report::{CUT_OFF, ClassConflict, DUPLICATE, FailedFile, Imported, MASK, TextLeftOut};
pub use table::TableRead;
pub(super) use table::read_table;

/// Images that are decoded at one time, and taken in together.
const BATCH: usize = 64;

/// The pattern that takes every file out.
const ALL: &str = "*";

/// How a folder is imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Where labels are looked for.
    pub labels: Labels,
    /// The class of all images by [`Labels::WholeFolder`]; the folder's name where none is given.
    pub one_class: Option<String>,
    /// Patterns of files and folders that are left out, such as `*.tmp` or `drafts/**`.
    pub exclude: Vec<String>,
    /// What becomes of pictures that are masks of others.
    pub masks: Masks,
}

/// What the user says of how a folder is imported; the rest is as before.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// Where labels are looked for. A source that is named begins anew: nothing is as before.
    pub labels: Option<Labels>,
    /// The class of all images, which are then read by [`Labels::WholeFolder`].
    pub one_class: Option<String>,
    /// Patterns of what is left out.
    pub exclude: Vec<String>,
    /// What becomes of pictures that are masks of others.
    pub masks: Option<Masks>,
}

impl ImportRequest {
    /// Refuses what does not go together.
    ///
    /// # Errors
    /// As [`one_class`]; [`Error::Option`] for one class beside another source of labels.
    pub fn check(&self) -> Result<()> {
        let Some(class) = &self.one_class else { return Ok(()) };
        one_class(class)?;
        match self.labels {
            Some(other) if other != Labels::WholeFolder => {
                let expected = "whole-folder or left out where one class of all images is named";
                Err(Error::Option { name: "labels", found: other.name().into(), expected })
            }
            _ => Ok(()),
        }
    }

    /// How the folder is imported.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn options(self, state: Option<&State>, folder: &Path) -> Result<ImportOptions> {
        self.check()?;
        let before = ImportOptions::earlier(state.filter(|_| self.labels.is_none()), folder);
        let labels = self.labels.or(self.one_class.is_some().then_some(Labels::WholeFolder));
        Ok(ImportOptions {
            labels: labels.unwrap_or(before.labels),
            one_class: self.one_class.or(before.one_class),
            exclude: if self.exclude.is_empty() { before.exclude } else { self.exclude },
            masks: self.masks.unwrap_or(before.masks),
        })
    }
}

/// What stands between the source of labels and what becomes of masks, where a root says both.
const AND_MASKS: &str = ", masks ";

/// The name of the one class of all images as it is kept: tidy as that of any class, and composed.
///
/// # Errors
/// [`Error::Value`] when it is empty, too long, or the name for images without a class.
pub fn one_class(name: &str) -> Result<String> {
    let tidy =
        tidy_name(name).and_then(|name| if name == UNLABELLED { Err(format!("`{name}`")) } else { Ok(composed(&name).into_owned()) });
    tidy.map_err(|found| Error::value("class", format!("a name of 1 to 200 characters other than `{UNLABELLED}`"), found))
}

impl ImportOptions {
    /// Those that a folder was imported with.
    pub fn of(root: &Root) -> Self {
        let FolderReading { labels, exclude } = &root.reading;
        let (rest, class) = FolderReading::with_class(labels);
        let (labels, masks) = rest.split_once(AND_MASKS).unwrap_or((rest, ""));
        let labels = Labels::ALL.into_iter().find(|known| known.name() == labels).unwrap_or_default();
        let masks = [Masks::Keep, Masks::LeaveOut].into_iter().find(|known| known.name() == masks).unwrap_or_default();
        Self { labels, one_class: class.map(str::to_owned), exclude: exclude.clone(), masks }
    }

    /// These with the name of the one class of all images of a folder, where there is one class.
    ///
    /// # Errors
    /// As [`one_class`]; [`Error::Data`] when none is given and the folder has no name of a class.
    fn with_class_named(&self, folder: &Path) -> Result<Self> {
        let named = match (self.labels, &self.one_class) {
            (Labels::WholeFolder, Some(name)) => Some(one_class(name)?),
            (Labels::WholeFolder, None) => Some(one_class(&class_of_folder(folder)?)?),
            _ => None,
        };
        Ok(Self { one_class: named, ..self.clone() })
    }

    /// The root with this canonical path, or else one of its name that is not where it was, which
    /// may have moved here; `None` where there is neither.
    fn root_of<'a>(state: &'a State, folder: &Path) -> Option<(RootId, &'a Root)> {
        let folders = || state.roots().filter(|(_, root)| !root.is_of_files());
        let moved = || folders().find(|(_, root)| root.path.file_name() == folder.file_name() && !root.path.is_dir());
        folders().find(|(_, root)| root.path == folder).or_else(moved)
    }

    /// Those that a folder was imported with, by its canonical path; the one class of all images
    /// has the name that it was given since.
    fn of_folder(state: &State, folder: &Path) -> Option<Self> {
        let before = Self::root_of(state, folder).map(|(_, root)| Self::of(root))?;
        let one_class = before.one_class.map(|class| state.class_meant(&class).unwrap_or(class));
        Some(Self { one_class, ..before })
    }

    /// Those to propose for a folder: as it was imported with before; without labels where the
    /// folder that was imported last was to have none. What tells the classes of one folder tells
    /// nothing of those of another.
    pub fn proposed(state: &State, folder: &Path) -> Self {
        let before = fs::canonicalize(folder).ok().and_then(|folder| Self::of_folder(state, &folder));
        before.unwrap_or_else(|| {
            let last = state.roots().map(|(_, root)| root).filter(|root| !root.is_of_files()).last();
            let has_none = last.is_some_and(|root| Self::of(root).labels == Labels::None);
            Self { labels: if has_none { Labels::None } else { Labels::default() }, ..Self::default() }
        })
    }

    /// Those that a folder was imported with before; the usual ones where it was not.
    pub fn earlier(state: Option<&State>, folder: &Path) -> Self {
        let folder = fs::canonicalize(folder).ok();
        folder.zip(state).and_then(|(folder, state)| Self::of_folder(state, &folder)).unwrap_or_default()
    }

    /// How a folder is read that is imported with these, of which the one class has its name.
    fn reading(&self) -> FolderReading {
        let (labels, masks) = (self.labels.name(), self.masks.name());
        let labels = match &self.one_class {
            Some(class) => format!("{labels}{AND_MASKS}{masks}{}{class}", FolderReading::CLASS),
            None if self.masks == Masks::Auto => labels.to_owned(),
            None => format!("{labels}{AND_MASKS}{masks}"),
        };
        FolderReading { labels, exclude: self.exclude.clone() }
    }

    /// How an import opens a folder, by its canonical path. Folders that are dates tell no classes,
    /// but where images of the library have such classes from this folder already: they keep them.
    /// O(images).
    pub fn open(&self, state: Option<&State>, folder: &Path) -> OpenOptions {
        let (labels, masks) = (self.labels, self.masks);
        let (one_class, exclude) = (self.one_class.clone(), self.exclude.clone());
        let has_class = |id: RootId| {
            let is_date = |image: &Arc<Image>| image.folder.label.as_ref().is_some_and(|label| label.split('/').any(is_date));
            let is_of_it = |image: &Arc<Image>| is_date(image) && image.places.iter().all(|place| place.root == id);
            state.is_some_and(|state| state.images().any(is_of_it))
        };
        let root = state.and_then(|state| Self::root_of(state, folder));
        let passes_dates = labels == Labels::Auto && !root.is_some_and(|(id, _)| has_class(id));
        OpenOptions { labels, one_class, exclude, masks, unlabelled_too: true, passes_dates, ..OpenOptions::default() }
    }
}

impl Root {
    /// A folder from which only single files are taken in ([`import_file`]).
    fn of_files(folder: &Path) -> Self {
        Self { path: folder.to_owned(), reading: FolderReading { labels: Labels::None.name().to_owned(), exclude: vec![ALL.into()] } }
    }

    /// Whether only single files were taken in from it ([`import_file`]).
    pub fn is_of_files(&self) -> bool {
        self.reading.exclude == [ALL]
    }
}

/// What an import of `folder` into a library in this state would take in, without taking anything
/// in.
///
/// # Errors
/// As [`ImportPlan::of`] and [`one_class`].
///
/// # Complexity
/// As [`ImportPlan::of`], a look through each folder inside that was imported by itself, and
/// O(files of the library).
pub fn plan(state: Option<&State>, folder: &Path, options: &ImportOptions, progress: &Progress) -> Result<ImportPlan> {
    let folder = fs::canonicalize(folder).map_err(Error::io("read", folder))?;
    let places = |state: &State| -> Vec<PathBuf> {
        let taken_in = state.records().iter().filter(|image| image.content.is_some());
        taken_in.flat_map(|image| image.files()).map(|place| state.full_path(place)).collect()
    };
    let options = options.with_class_named(&folder)?;
    let known: HashSet<PathBuf> = state.into_iter().flat_map(places).collect();
    let told = |files: &[&Path]| {
        let Some(state) = state else { return Ok(ToldFiles::new()) };
        let told = told_inside(state, &folder, files, progress)?.into_iter().map(|(path, word)| (path, state.understood(&word)));
        Ok(told.map(|(path, word)| (path, ToldFile { class: word.label, object: word.group })).collect())
    };
    let known = KnownFiles { is_known: &|path| known.contains(path), told: &told };
    ImportPlan::of(&folder, &options.open(state, &folder), &known, progress)
}

/// The name of the fact in the store that tells how far the import of a root came: one of those
/// below.
fn importing(root: RootId) -> String {
    format!("importing root {}", root.0)
}

/// All of it was gone through.
const DONE: i64 = 0;
/// It is under way or was broken off.
const UNDER_WAY: i64 = 1;
/// It was broken off, and that was told.
const TOLD: i64 = 2;

/// Whether the import of a root is under way or was broken off.
pub(super) fn is_unfinished(store: &Store, root: RootId) -> Result<bool> {
    Ok(store.fact(&importing(root))?.is_some_and(|fact| fact != DONE))
}

/// Imports the image files below `folder`. The library is held only for moments, so that others can
/// use it meanwhile. All new images are one act. Cancelling keeps what was done.
///
/// # Errors
/// [`Error::Io`] when the folder or the library cannot be read or written, [`Error::Data`] when the
/// folder is a library or a pattern is none, [`Error::Option`], [`one_class`].
///
/// # Complexity
/// One pass over the directory entries, and one more over those of folders inside that were
/// imported by themselves; only files that are new or changed are read.
pub fn import(library: &Mutex<Library>, folder: &Path, options: &ImportOptions, progress: &Progress) -> Result<Imported> {
    take_in(library, folder, options, true, progress)
}

/// Imports; `reads_words` says whether images that moved get the labels of their new folders.
pub(super) fn take_in(
    library: &Mutex<Library>,
    folder: &Path,
    options: &ImportOptions,
    reads_words: bool,
    progress: &Progress,
) -> Result<Imported> {
    let mut under_way = UnderWay { library, act: None };
    run(library, folder, options, reads_words, &mut under_way, progress)
}

/// Tells the library which act an import that is running enters images by.
struct UnderWay<'a> {
    library: &'a Mutex<Library>,
    act: Option<EventId>,
}

impl UnderWay<'_> {
    fn tell(&mut self, library: &mut Library, act: Option<EventId>) {
        (self.act, library.importing) = (act, act);
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // Whoever holds the library next recovers it if a thread has panicked.
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        if library.importing == self.act {
            library.importing = None;
        }
    }
}

fn run(
    library: &Mutex<Library>,
    folder: &Path,
    options: &ImportOptions,
    reads_words: bool,
    under_way: &mut UnderWay<'_>,
    progress: &Progress,
) -> Result<Imported> {
    let folder = fs::canonicalize(folder).map_err(Error::io("read", folder))?;
    let is_of_files = |(_, root): (RootId, &Root)| root.path == folder && root.is_of_files();
    let options = &options.with_class_named(&folder)?;
    let only_known = options.exclude == [ALL] && hold(library).state().roots().any(is_of_files);
    let state = hold(library).state().clone();
    let opened = options.open(Some(&state), &folder);
    let (mut files, mut report) =
        if only_known { (known_files(hold(library).state(), &folder), Imported::default()) } else { files_in(&folder, &opened, progress)? };
    if !only_known {
        // What was said of a folder inside holds for it, too.
        let paths: Vec<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
        let mut told = told_inside(&state, &folder, &paths, progress)?;
        for (path, word) in &mut files {
            if let Some(own) = told.remove(path) {
                *word = own;
            }
        }
    }
    report.found += files.len();

    let (root, decoder, state) = {
        let mut library = hold(library);
        let root = root_for(&mut library, &folder, options, reads_words)?;
        (root, Arc::clone(library.decoder()), library.state().clone())
    };
    let deaths = decoder.deaths();
    let known = Known::of(&state);
    let (mut work, mut unchanged) = (Vec::new(), Vec::new());
    progress.begin("Looking for new files", files.len() as u64);
    for (path, word) in &files {
        progress.step()?;
        match known.look_up(path, word.clone()) {
            Ok(Seen::Anew(file)) => work.push(file),
            Ok(Seen::AsBefore(image, word)) => {
                report.unchanged += 1;
                unchanged.push((image, path.as_path(), word));
            }
            Err(error) => report.failed.push(FailedFile::new(path, &error)),
        }
    }
    let WordsAgain { act, relabelled, reading } = if reads_words && !only_known {
        let mut held = hold(library);
        let again = read_words_again(&mut held, &folder, &options.reading(), root, unchanged)?;
        under_way.tell(&mut held, again.act);
        again
    } else {
        WordsAgain::default()
    };
    mark_missing(&mut hold(library), &folder, &files.iter().map(|(path, _)| path.as_path()).collect())?;

    let is_root = state.roots.get(&root).is_some_and(|root| root.path == folder);
    if is_root && !work.is_empty() {
        hold(library).store().set_fact(&importing(root), UNDER_WAY)?;
    }
    progress.begin("Importing", work.len() as u64);
    let mut run = Run { root, folder: folder.clone(), known, act, in_act: 0, reads_words, reading, before: state, relabelled, report };
    for batch in work.chunks(BATCH) {
        let (state, watch, extraction) = {
            let held = hold(library);
            let watch = Refused { forgotten: held.store().forgotten()?, quarantine: held.cache().quarantine()? };
            (held.state().clone(), watch, held.extraction().clone())
        };
        // No thread waits for the library in here: one that holds it may be waiting for these
        // threads.
        let looked: Vec<Result<Look>> = batch
            .par_iter()
            .map(|file| progress.step().and_then(|()| look(file, &run.known.by_hash, &state, &watch, &*decoder, &extraction, progress)))
            .collect();
        run.report.cancelled |= looked.iter().any(|look| matches!(look, Err(Error::Cancelled)));
        let mut seen = Vec::new();
        for (file, look) in batch.iter().zip(looked) {
            match look {
                Ok(Look::Fatal(hash, error)) => {
                    if let Error::Fatal { found, .. } = &error {
                        hold(library).cache().put_quarantine(&[(hash, found.clone())])?;
                    }
                    run.report.failed.push(FailedFile::new(&file.path, &error));
                }
                Ok(look) => seen.push((file, look)),
                Err(Error::Cancelled) => {}
                Err(error) => run.report.failed.push(FailedFile::new(&file.path, &error)),
            }
        }
        let mut held = hold(library);
        run.admit(&mut held, seen)?;
        under_way.tell(&mut held, run.act);
        drop(held);
        if run.report.cancelled {
            break;
        }
    }
    if !run.report.cancelled {
        run.tell_reading(&mut hold(library))?;
    }
    let mut report = Imported { relabelled: run.relabelled.len(), ..run.report };
    report.worker_deaths = decoder.deaths() - deaths;
    if report.cancelled {
        // Files that were not examined are not counted.
        report.found = report.imported + report.unchanged + report.duplicate + report.unsupported + report.failed.len();
    }
    if report.cancelled {
        return Ok(report);
    }
    let held = hold(library);
    report.missing = held.state().missing_below(std::slice::from_ref(&folder));
    // Other files that were left out are not noted: their names may tell of an image that is
    // forgotten later.
    held.cache().put_skipped(&folder, report.failed.iter().map(|file| (file.path.as_path(), file.reason, file.detail.as_str())))?;
    if is_root && is_unfinished(held.store(), root)? {
        held.store().set_fact(&importing(root), DONE)?;
    }
    drop(held);
    match learn_found(library, progress) {
        Err(Error::Cancelled) => report.cancelled = true,
        learned => learned?,
    }
    Ok(report)
}

/// Teaches the recogniser the images that it could not have before and whose files are there now.
/// The library is held for a batch at a time.
pub(super) fn learn_found(library: &Mutex<Library>, progress: &Progress) -> Result<()> {
    let found: Vec<ItemId> = {
        let library = hold(library);
        let is_here = |id: &&ItemId| library.path(**id).is_some_and(|path| path.is_file());
        library.recogniser().missing().iter().filter(is_here).copied().collect()
    };
    if found.is_empty() {
        return Ok(());
    }
    progress.begin("Reading pieces", found.len() as u64);
    for batch in found.chunks(BATCH) {
        let mut library = hold(library);
        let state = library.state().clone();
        library.teach(&state, batch);
        drop(library);
        batch.iter().try_for_each(|_| progress.step())?;
    }
    Ok(())
}

/// The image files below a folder with what their folders and names say, and what is left out.
fn files_in(folder: &Path, options: &OpenOptions, progress: &Progress) -> Result<(Vec<(PathBuf, FolderWord)>, Imported)> {
    let data = Dataset::open(folder, options, progress)?;
    let mut report = Imported { layout: data.layout.words.clone(), ..Imported::default() };
    for skipped in &data.skipped {
        report.found += 1;
        if skipped.reason == "unsupported" {
            report.unsupported += 1;
            report.unsupported_files.push(FailedFile::skipped(skipped));
        } else {
            report.failed.push(FailedFile::skipped(skipped));
        }
    }
    report.masks.clone_from(&data.masks);
    let texts: HashSet<PathBuf> = data.items.iter().filter_map(|item| beside(item.path())).collect();
    report.others = data.others.iter().filter(|path| !texts.contains(*path)).cloned().collect();
    let mut files = Vec::new();
    for item in &data.items {
        let ImageSource::File(path) = &item.source else {
            report.found += 1;
            report.failed.push(FailedFile {
                path: item.path().to_owned(),
                reason: "norb",
                detail: "pictures inside a NORB file: unpack them with `tessera import LIBRARY FOLDER --unpack DIR`".into(),
            });
            continue;
        };
        let label = data.class_name(item.class);
        let label = (label != UNLABELLED).then(|| label.to_owned());
        // The partner of a stereo pair is not stored: its name follows from this one's.
        let meta = Meta { partner: None, ..item.meta.clone() };
        files.push((path.clone(), FolderWord { label, group: item.group.clone(), meta }));
    }
    Ok((files, report))
}

/// The files of a root that the library has and that are there.
fn known_files(state: &State, root: &Path) -> Vec<(PathBuf, FolderWord)> {
    let is_in = |place: &&Place| state.roots.get(&place.root).is_some_and(|own| own.path == root);
    let paths = state.images().flat_map(|image| &image.places).filter(is_in).map(|place| state.full_path(place));
    paths.filter(|path| path.is_file()).map(|path| (path, FolderWord::default())).collect()
}

/// What folders inside one that were imported by themselves tell of some files, where they tell a
/// class.
fn told_inside(state: &State, folder: &Path, files: &[&Path], progress: &Progress) -> Result<HashMap<PathBuf, FolderWord>> {
    let has_any = |root: &&Root| !root.is_of_files() && files.iter().any(|file| file.starts_with(&root.path));
    let mut inside: Vec<&Root> = state.roots_inside(folder).map(|(_, root)| root).filter(has_any).collect();
    inside.sort_by_key(|root| root.path.components().count());
    let mut told = HashMap::new();
    for root in inside {
        let options = ImportOptions::of(root).with_class_named(&root.path);
        match options.and_then(|options| files_in(&root.path, &options.open(Some(state), &root.path), progress)) {
            Ok((files, _)) => told.extend(files.into_iter().filter(|(_, word)| word.label.is_some())),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            // An import of that folder tells why.
            Err(_) => {}
        }
    }
    Ok(told)
}

/// The root that files below `folder` belong to: its own, one above it, or a new one. Where all of
/// its images are to be of a class that the one above does not give them, it has one of its own.
/// A new one is as one of single files until the import's act says how it is read, and is so again
/// when that is undone; where the import does not read words, it is read as given from now on.
fn root_for(library: &mut Library, folder: &Path, options: &ImportOptions, reads_words: bool) -> Result<RootId> {
    let inside = fs::canonicalize(library.folder()).is_ok_and(|own| folder.starts_with(&own));
    if inside {
        return Err(Error::data(folder, "a folder of images", "the library's own folder", "name the folder that the images lie in"));
    }
    let own = library.state().roots().find(|(_, root)| root.path == folder);
    let above = library.state().folder_around(folder);
    let may_be_in = |root: &Root| options.labels != Labels::WholeFolder || ImportOptions::of(root).one_class == options.one_class;
    match (own, above.filter(|(_, root)| may_be_in(root))) {
        (Some((id, root)), above) if above.is_none() || !root.is_of_files() => Ok(id),
        (_, Some((id, _))) => Ok(id),
        _ if reads_words => library.enter_root(Root::of_files(folder)),
        _ => library.enter_root(Root { path: folder.to_owned(), reading: options.reading() }),
    }
}

/// What [`read_words_again`] did.
#[derive(Default)]
struct WordsAgain {
    act: Option<EventId>,
    /// The images that have another class since.
    relabelled: BTreeSet<ItemId>,
    /// How the folder is read now, where no event says so yet: it comes with the first images.
    reading: Vec<Change>,
}

/// Updates how a folder is read, and what folders and names say of files that have not changed, as
/// the first event of the import's act. Only when a whole root is imported: the names of a folder
/// inside it would be understood in another way.
fn read_words_again(
    library: &mut Library,
    folder: &Path,
    reading: &FolderReading,
    root: RootId,
    files: Vec<(ItemId, &Path, FolderWord)>,
) -> Result<WordsAgain> {
    let mut state = library.state().clone();
    let Some(before) = state.roots.get(&root).filter(|root| root.path == folder).map(|root| root.reading.clone()) else {
        return Ok(WordsAgain::default());
    };
    let is_as_before = before.labels == reading.labels;
    let is_inside = state.folder_around(folder).is_some();
    let mut read = Vec::new();
    if before != *reading {
        read.push(Change::Reading(root, Swap(before, reading.clone())));
    }
    // A class that is named now is that class, also where its name stood for another.
    let named = FolderReading::with_class(&reading.labels).1.filter(|class| !is_as_before && state.aliases.contains_key(*class));
    let named: Vec<Change> = named.into_iter().flat_map(|class| state.new_classes([class])).collect();
    let names_class = !named.is_empty();
    read.extend(named);
    read.iter().for_each(|change| state.apply(change));
    let mut said: BTreeMap<ItemId, Vec<(&Path, FolderWord)>> = BTreeMap::new();
    for (id, path, word) in files {
        said.entry(id).or_default().push((path, state.understood(&word)));
    }
    let mut changes = Vec::new();
    let mut classes = BTreeSet::new();
    let mut relabelled = BTreeSet::new();
    for (id, words) in said {
        let Some(image) = state.image(id).filter(|image| image.content.is_some()) else { continue };
        // An image in several folders keeps what it has as long as one of them may say so: a copy
        // changes nothing, but for a class where there is none. Otherwise it has what the first of
        // them says that tells a class. A class that a file told which is gone stays, as long as
        // labels are read where they were, and so does that of a folder around this one.
        let has_class = |word: &FolderWord| word.label.is_some();
        let is_elsewhere = image.files().count() > words.len();
        let may_stay = is_elsewhere || words.iter().any(|(_, word)| *word == image.folder);
        if may_stay && (has_class(&image.folder) || !words.iter().any(|(_, word)| has_class(word))) {
            continue;
        }
        let first = words.iter().find(|(path, _)| state.path_of(image).as_deref() == Some(path));
        let told = first.filter(|(_, word)| has_class(word)).or_else(|| words.iter().find(|(_, word)| has_class(word)));
        let is_gone = || image.places.iter().any(|place| !place.here);
        if told.is_none() && has_class(&image.folder) && is_as_before && (is_inside || is_gone()) {
            continue;
        }
        if let Some((_, word)) = told.or(first).cloned() {
            classes.extend(word.label.clone());
            if word.label != image.folder.label {
                relabelled.insert(id);
            }
            changes.push(Change::Image(id, Field::Folder(Swap(image.folder.clone(), word))));
        }
    }
    let new = state.new_classes(classes.iter().map(String::as_str));
    if changes.is_empty() && !names_class {
        return Ok(WordsAgain { reading: read, ..WordsAgain::default() });
    }
    let words = format!("Read the folders of {} again", error::display(folder));
    let act = library.commit(None, EventKind::Act, Draft::new(words, read.into_iter().chain(new).chain(changes).collect()))?;
    Ok(WordsAgain { act, relabelled, reading: Vec::new() })
}

impl Library {
    /// Folders whose import was broken off, each with the number of its images that are in, where
    /// any are. Each is told once.
    ///
    /// # Errors
    /// [`Error::Io`] when that cannot be read or noted.
    pub fn tell_broken_off(&mut self) -> Result<Vec<(PathBuf, usize)>> {
        let mut told = Vec::new();
        for (id, root) in self.state().roots() {
            if self.store().fact(&importing(id))? != Some(UNDER_WAY) {
                continue;
            }
            let lies_below = self.state().lies_below(&root.path);
            let images = self.state().images().filter(|image| image.found_at().any(&lies_below)).count();
            if images > 0 {
                self.store().set_fact(&importing(id), TOLD)?;
                told.push((root.path.clone(), images));
            }
        }
        Ok(told)
    }

    /// Notes which files of an image are there: those that are gone, and those that came back with
    /// its bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when that cannot be written.
    pub fn note_files(&mut self, image: ItemId) -> Result<()> {
        let Some(image) = self.state().image(image).cloned() else { return Ok(()) };
        let changed = image.places.iter().filter_map(|place| {
            let path = self.state().full_path(place);
            let here = if place.here { path.exists() } else { holds(&path, place) };
            (here != place.here).then(|| (image.id, Place { here, ..place.clone() }, Some(image.id)))
        });
        let changed: Vec<_> = changed.collect();
        self.put_places(&changed)
    }
}

/// Marks the files below `folder` that are gone.
fn mark_missing(library: &mut Library, folder: &Path, there: &HashSet<&Path>) -> Result<()> {
    let state = library.state();
    let mut changed = Vec::new();
    for image in state.records() {
        for place in &image.places {
            let path = state.full_path(place);
            if path.starts_with(folder) {
                // A file that is left out by a pattern, or the other half of a pair, is there all
                // the same.
                let here = there.contains(path.as_path()) || path.exists();
                if place.here && !here {
                    changed.push((image.id, Place { here, ..place.clone() }, Some(image.id)));
                }
            }
        }
    }
    library.put_places(&changed)
}
