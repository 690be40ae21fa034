//! Import: finds image files, recognises those that are known, and takes in the others a few at a
//! time.

mod admit;
mod look;
mod one;
mod options;
mod report;
mod table;
mod words;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::Library;
use super::event::{EventId, RootId};
use super::state::{Place, Root, State};
use super::store::Store;
use crate::data::Labels;
use crate::data::plan::{ImportPlan, KnownFiles, ToldFile, ToldFiles};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;
use admit::Run;
use look::{Known, Look, Refused, Seen, look};
use options::ALL;
use words::{WordsAgain, files_in, known_files, read_words_again, told_inside};

pub use super::hold;
pub use look::holds;
pub(super) use one::enter_known;
pub use one::{TakenFile, import_file};
pub use options::{ImportOptions, ImportRequest, one_class};
pub(super) use report::copy_of;
pub use report::{CUT_OFF, ClassConflict, DUPLICATE, FailedFile, Imported, MASK, TextLeftOut};
pub use table::TableRead;
pub(super) use table::read_table;

/// Images that are decoded at one time, and taken in together.
const BATCH: usize = 64;

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
        let lies_below = state.lies_below(&folder);
        taken_in.flat_map(|image| image.files()).filter(|place| lies_below(place)).map(|place| state.full_path(place)).collect()
    };
    let options = options.with_class_named(&folder)?;
    let known: HashSet<PathBuf> = state.into_iter().flat_map(places).collect();
    let told = |files: &[&Path]| {
        let Some(state) = state else { return Ok(ToldFiles::new()) };
        let told = told_inside(state, &folder, files, progress)?.into_iter().map(|(path, word)| (path, state.understood(&word)));
        Ok(told.map(|(path, word)| (path, ToldFile { class: word.label, object: word.group })).collect())
    };
    let told = KnownFiles { is_known: &|path| known.contains(path), told: &told };
    let plan = ImportPlan::of(&folder, &options.open(state, &folder), &told, progress)?;
    let known_here = || known.iter().filter(|path| path.is_file()).count();
    let known_left_out = if known.len() == plan.known { 0 } else { known_here().saturating_sub(plan.known) };
    Ok(ImportPlan { known_left_out, ..plan })
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
