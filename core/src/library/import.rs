//! Import: find image files, know those that are known, and take in the others a few at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::UNIX_EPOCH;

use rayon::prelude::*;

use super::Library;
use super::acts::tidy_name;
use super::cache::Cut;
use super::event::{Caption, Change, Content, ContentHash, EventId, EventKind, Field, FolderWord, RootId, Swap, UserLabel};
use super::features::{self, hash_file, hash_while};
use super::state::{Image, Place, Root, State};
use crate::ckm::CkmOptions;
use crate::data::tables::{Matcher, PathMatch, Table, sidecar};
use crate::data::{Dataset, ImageSource, Labels, Meta, OpenOptions, UNLABELLED};
use crate::error::{self, Error, Result};
use crate::ids::ItemId;
use crate::picture::decode::SIDE;
use crate::picture::{Decoder, Limits};
use crate::progress::Progress;

/// Images that are decoded at one time, and taken in together.
const BATCH: usize = 64;

/// How a folder is imported.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Where labels are looked for.
    pub labels: Labels,
    /// Patterns of files and folders that are left out, such as `*.tmp` or `drafts/**`.
    pub exclude: Vec<String>,
}

/// What an import did. Every image file found is counted once: `found` is the sum of the five that follow it.
#[derive(Debug, Default)]
pub struct Imported {
    /// Image files; the two halves of a stereo pair are one.
    pub found: usize,
    /// New images, and known files with other bytes than before.
    pub imported: usize,
    /// Files that are known and have not changed.
    pub unchanged: usize,
    /// Files whose bytes are already there under another name.
    pub duplicate: usize,
    /// Those files, each with a file that has its bytes.
    pub copies: Vec<(PathBuf, PathBuf)>,
    /// Pictures of a format that cannot be read.
    pub unsupported: usize,
    /// Files that could not be taken in.
    pub failed: Vec<FailedFile>,
    /// Of `imported`: known files with other bytes than before.
    pub changed: usize,
    /// Of `unchanged`: files that the user wanted forgotten.
    pub forgotten: usize,
    /// Files that are not there any more; their images stay.
    pub missing: usize,
    /// Processes that files brought down while they were decoded.
    pub worker_deaths: u64,
    /// How the folder was understood, in words.
    pub layout: String,
    /// Whether it was cancelled; what was done till then stays.
    pub cancelled: bool,
}

/// A file that could not be taken in.
#[derive(Clone, Debug)]
pub struct FailedFile {
    /// The file.
    pub path: PathBuf,
    /// One word for programs.
    pub reason: &'static str,
    /// The reason in words.
    pub detail: String,
}

/// A file to be taken in.
struct File {
    path: PathBuf,
    word: FolderWord,
    bytes: u64,
    modified: i64,
}

/// A file beside what the library knows of it.
enum Seen {
    /// It has to be read.
    Anew(File),
    /// It is as it was, and this is what its folder says today.
    AsBefore(ItemId, FolderWord),
}

/// What looking at a file gave.
enum Look {
    /// Bytes that no image has.
    New(Content, Cut, Vec<String>),
    /// Bytes that an image of the library has; whether no other file has them any more.
    Known(ContentHash, bool),
    Forgotten,
    /// Bytes that no decoder survived, for the first time.
    Fatal(ContentHash, Error),
}

/// Bytes that are not looked at any more.
struct Refused {
    forgotten: HashSet<ContentHash>,
    quarantine: HashMap<ContentHash, String>,
}

/// The library, whoever holds it. After a panic of whoever held it, everything is read from its files again.
pub fn hold(library: &Mutex<Library>) -> MutexGuard<'_, Library> {
    library.lock().unwrap_or_else(|poisoned| {
        let mut held = poisoned.into_inner();
        held.recover();
        library.clear_poison();
        held
    })
}

/// Imports the image files below `folder`. The library is held only for moments, so that others can use it meanwhile.
/// All new images are one act. Cancelling keeps what was done.
///
/// # Errors
/// [`Error::Io`] when the folder or the library cannot be read or written, [`Error::Data`] when the folder is a library or
/// a pattern is none, [`Error::Option`].
///
/// # Complexity
/// One pass over the directory entries; only files that are new or changed are read.
pub fn import(library: &Mutex<Library>, folder: &Path, options: &ImportOptions, progress: &Progress) -> Result<Imported> {
    take_in(library, folder, options, true, progress)
}

/// Imports; `reads_words` says whether images that moved are now what their new folders say.
pub(super) fn take_in(
    library: &Mutex<Library>,
    folder: &Path,
    options: &ImportOptions,
    reads_words: bool,
    progress: &Progress,
) -> Result<Imported> {
    let folder = fs::canonicalize(folder).map_err(Error::io("read", folder))?;
    let open = OpenOptions { labels: options.labels, exclude: options.exclude.clone(), unlabelled_too: true, ..OpenOptions::default() };
    let data = Dataset::open(&folder, &open, progress)?;
    let mut report = Imported { layout: data.layout.words.clone(), ..Imported::default() };
    for skipped in &data.skipped {
        report.found += 1;
        if skipped.reason == "unsupported" {
            report.unsupported += 1;
        } else {
            report.failed.push(FailedFile { path: skipped.path.clone(), reason: skipped.reason, detail: skipped.detail.clone() });
        }
    }
    report.found += data.items.len();

    let (root, decoder, ckm, state) = {
        let mut library = hold(library);
        let root = library.root_for(&folder, options)?;
        (root, Arc::clone(&library.decoder), library.recogniser.ckm().options().clone(), library.state.clone())
    };
    let deaths = decoder.deaths();
    let known = Known::of(&state);
    let (mut work, mut unchanged) = (Vec::new(), Vec::new());
    progress.begin("Looking for new files", data.items.len() as u64);
    for item in &data.items {
        progress.step()?;
        let ImageSource::File(path) = &item.source else {
            report.failed.push(FailedFile {
                path: item.path().to_owned(),
                reason: "norb",
                detail: "pictures inside a NORB file: unpack them with `tessera import LIBRARY FOLDER --unpack DIR`".into(),
            });
            continue;
        };
        let label = data.class_name(item.class);
        let label = (label != UNLABELLED).then(|| label.to_owned());
        // The other half of a pair can be found again, and is not written down.
        let meta = Meta { partner: None, ..item.meta.clone() };
        let word = FolderWord { label, group: item.group.clone(), meta };
        match known.look_up(path, word) {
            Ok(Seen::Anew(file)) => work.push(file),
            Ok(Seen::AsBefore(image, word)) => {
                report.unchanged += 1;
                unchanged.push((image, path.as_path(), word));
            }
            Err(error) => report.failed.push(failed(path, &error)),
        }
    }
    let act = if reads_words { hold(library).read_words_again(&folder, unchanged)? } else { None };
    report.missing = hold(library).mark_missing(&folder, &data.items.iter().map(|item| item.path()).collect())?;

    progress.begin("Importing", work.len() as u64);
    let mut run = Run { root, folder: folder.clone(), known, act, in_act: 0, reads_words, report };
    for batch in work.chunks(BATCH) {
        let (state, watch) = {
            let held = hold(library);
            let watch = Refused { forgotten: held.store.forgotten()?, quarantine: held.cache.quarantine()? };
            (held.state.clone(), watch)
        };
        // No thread waits for the library in here: one that holds it may be waiting for these threads.
        let looked: Vec<Result<Look>> = batch
            .par_iter()
            .map(|file| progress.step().and_then(|()| look(file, &run.known.by_hash, &state, &watch, &*decoder, &ckm, progress)))
            .collect();
        run.report.cancelled |= looked.iter().any(|look| matches!(look, Err(Error::Cancelled)));
        let mut seen = Vec::new();
        for (file, look) in batch.iter().zip(looked) {
            match look {
                Ok(Look::Fatal(hash, error)) => {
                    if let Error::Fatal { found, .. } = &error {
                        hold(library).cache.put_quarantine(&[(hash, found.clone())])?;
                    }
                    run.report.failed.push(failed(&file.path, &error));
                }
                Ok(look) => seen.push((file, look)),
                Err(Error::Cancelled) => {}
                Err(error) => run.report.failed.push(failed(&file.path, &error)),
            }
        }
        hold(library).admit(&mut run, seen)?;
        if run.report.cancelled {
            break;
        }
    }
    let mut report = run.report;
    report.worker_deaths = decoder.deaths() - deaths;
    if report.cancelled {
        // What was not looked at was not found.
        report.found = report.imported + report.unchanged + report.duplicate + report.unsupported + report.failed.len();
    }
    let mut library = hold(library);
    if !report.cancelled {
        library.cache.put_skipped(&folder, &report.failed)?;
    }
    library.teach_missing();
    Ok(report)
}

fn failed(path: &Path, error: &Error) -> FailedFile {
    FailedFile { path: path.to_owned(), reason: error.reason(), detail: error.to_string() }
}

/// An import under way.
struct Run {
    root: RootId,
    folder: PathBuf,
    known: Known,
    /// The act that takes in new images, once there is one, and how many it has taken in.
    act: Option<EventId>,
    in_act: usize,
    reads_words: bool,
    report: Imported,
}

/// What a few files lead to.
#[derive(Default)]
struct Draft {
    changes: Vec<Change>,
    /// Contents of files that changed, which undo does not reach.
    replaced: Vec<Change>,
    places: Vec<(ItemId, Place, Option<ItemId>)>,
    cuts: Vec<Cut>,
    classes: BTreeSet<String>,
    /// Images that are new.
    new: usize,
}

/// What the library knew when an import began, and what was taken in since.
struct Known {
    /// Files by full path.
    files: HashMap<PathBuf, (ItemId, Option<ContentHash>, Place)>,
    by_hash: HashMap<ContentHash, ItemId>,
}

impl Known {
    fn of(state: &State) -> Self {
        let each = |image: &Arc<Image>| {
            let (id, hash) = (image.id, image.content.map(|content| content.hash));
            image.places.clone().into_iter().map(move |place| (state.full_path(&place), (id, hash, place)))
        };
        Self {
            files: state.records().iter().flat_map(each).collect(),
            by_hash: state.records().iter().filter_map(|image| Some((image.content?.hash, image.id))).collect(),
        }
    }

    /// Whether a file has to be read.
    fn look_up(&self, path: &Path, word: FolderWord) -> Result<Seen> {
        let meta = fs::metadata(path).map_err(Error::io("read", path))?;
        let file = File { path: path.to_owned(), word, bytes: meta.len(), modified: modified(&meta) };
        let Some((id, hash, place)) = self.files.get(path) else { return Ok(Seen::Anew(file)) };
        let is_same = place.here && place.bytes == file.bytes && place.modified == file.modified && *hash == Some(place.hash);
        Ok(if is_same { Seen::AsBefore(*id, file.word) } else { Seen::Anew(file) })
    }
}

fn modified(meta: &fs::Metadata) -> i64 {
    meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos() as i64)
}

/// Whether the file of a place has the bytes it had when it was last looked at.
fn holds(path: &Path, place: &Place) -> bool {
    let is_same = |meta: fs::Metadata| (meta.len(), modified(&meta)) == (place.bytes, place.modified);
    fs::metadata(path).is_ok_and(is_same) || hash_file(path).is_ok_and(|hash| hash == place.hash)
}

fn look(
    file: &File,
    by_hash: &HashMap<ContentHash, ItemId>,
    state: &State,
    refused: &Refused,
    decoder: &dyn Decoder,
    options: &CkmOptions,
    progress: &Progress,
) -> Result<Look> {
    // Before all of it is read for nothing.
    Limits::default().check_bytes(&file.path, file.bytes)?;
    let hash = hash_while(&file.path, progress)?;
    if let Some(image) = by_hash.get(&hash).and_then(|id| state.image(*id)) {
        let elsewhere = image.places.iter().filter(|place| place.hash == hash).any(|place| {
            let path = state.full_path(place);
            path != file.path && holds(&path, place)
        });
        return Ok(Look::Known(hash, !elsewhere));
    }
    if refused.forgotten.contains(&hash) {
        return Ok(Look::Forgotten);
    }
    if let Some(found) = refused.quarantine.get(&hash) {
        return Err(Error::Fatal { path: file.path.clone(), found: format!("{found}; it is not tried again") });
    }
    let picture = match decoder.decode(&file.path, SIDE, progress) {
        Err(error @ Error::Fatal { .. }) => return Ok(Look::Fatal(hash, error)),
        outcome => outcome?,
    };
    let content = Content { hash, size: picture.size, bytes: file.bytes, changed: false };
    let captions = sidecar(&file.path)?.unwrap_or_default();
    Ok(Look::New(content, features::cut(hash, &picture, options)?, captions))
}

impl Library {
    /// The root that files below `folder` belong to: one above it that is there already, or a new one.
    fn root_for(&mut self, folder: &Path, options: &ImportOptions) -> Result<RootId> {
        let inside = fs::canonicalize(&self.folder).is_ok_and(|own| folder.starts_with(&own));
        if inside {
            return Err(Error::data(folder, "a folder of images", "the library's own folder", "name the folder that the images lie in"));
        }
        if let Some((id, _)) = self.state.roots().find(|(_, root)| folder != root.path && folder.starts_with(&root.path)) {
            return Ok(id);
        }
        let root = Root { path: folder.to_owned(), labels: options.labels.name().to_owned(), exclude: options.exclude.clone() };
        let id = self.store.root(&root)?;
        Arc::make_mut(&mut self.state.roots).insert(id, root);
        Ok(id)
    }

    /// Takes over what folders and names say today of files that have not changed, as the beginning of the import's act. Only a look at a whole root counts: the
    /// names of a folder inside it are understood in another way.
    fn read_words_again(&mut self, folder: &Path, files: Vec<(ItemId, &Path, FolderWord)>) -> Result<Option<EventId>> {
        if self.state.roots().all(|(_, root)| root.path != folder) {
            return Ok(None);
        }
        let mut changes = Vec::new();
        let mut classes = BTreeSet::new();
        for (id, path, word) in files {
            let word = self.state.understood(&word);
            // An image in several folders keeps the word of the first.
            let image = self.state.image(id).filter(|image| image.content.is_some() && self.state.path_of(image).as_deref() == Some(path));
            if let Some(image) = image.filter(|image| image.folder != word) {
                classes.extend(word.label.clone());
                changes.push(Change::Image(id, Field::Folder(Swap(image.folder.clone(), word))));
            }
        }
        let new = self.state.new_classes(classes.iter().map(String::as_str));
        let words = format!("Read the folders of {} again", error::display(folder));
        self.commit(None, EventKind::Act, &words, new.into_iter().chain(changes).collect())
    }

    /// Notes which files below `folder` are gone, and which are back. Returns how many are gone.
    fn mark_missing(&mut self, folder: &Path, there: &HashSet<&Path>) -> Result<usize> {
        let mut changed = Vec::new();
        let mut missing = 0;
        for image in self.state.records() {
            for place in &image.places {
                let path = self.state.full_path(place);
                if path.starts_with(folder) {
                    // A file that is left out by a pattern, or the other half of a pair, is there all the same.
                    let here = there.contains(path.as_path()) || path.exists();
                    missing += usize::from(!here);
                    if place.here && !here {
                        changed.push((image.id, Place { here, ..place.clone() }, Some(image.id)));
                    }
                }
            }
        }
        self.put_places(&changed)?;
        Ok(missing)
    }

    /// Enters places with images; each comes with whichever image had it before.
    pub(super) fn put_places(&mut self, places: &[(ItemId, Place, Option<ItemId>)]) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        self.store.put_places(&places.iter().map(|(image, place, _)| (*image, place)).collect::<Vec<_>>())?;
        let before = self.state.clone();
        for (id, place, former) in places {
            self.state.move_place(*id, place.clone(), *former);
        }
        // Models know images by the names of their files.
        let images: BTreeSet<ItemId> = places.iter().flat_map(|(id, _, former)| [Some(*id), *former]).flatten().collect();
        self.teach(&before, &images.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    /// Takes in files that were looked at.
    fn admit(&mut self, run: &mut Run, files: Vec<(&File, Look)>) -> Result<()> {
        let (mut familiar, mut fresh) = (Vec::new(), Vec::new());
        let forgotten = self.store.forgotten()?;
        for (file, look) in files {
            let look = match look {
                Look::New(content, ..) if forgotten.contains(&content.hash) => Look::Forgotten,
                look => look,
            };
            match look {
                Look::Known(hash, moved) => familiar.push((file, hash, moved)),
                Look::New(content, cut, captions) => fresh.push((file, content, cut, captions)),
                // Told where it was met.
                Look::Fatal(..) => {}
                Look::Forgotten => {
                    run.report.unchanged += 1;
                    run.report.forgotten += 1;
                }
            }
        }
        let mut draft = Draft::default();
        // Known bytes go first: a file that has moved is no longer where a new one may lie now.
        self.admit_known(run, familiar, &mut draft)?;
        self.admit_new(run, fresh, &mut draft);
        self.cache.put(&self.version, &draft.cuts)?;
        self.put_places(&draft.places)?;
        let mut changes = self.state.new_classes(draft.classes.iter().map(String::as_str));
        changes.extend(draft.changes);
        // What the user did meanwhile comes between two acts.
        if run.act.is_some() && run.act != self.state.history().last().map(|act| act.id) {
            (run.act, run.in_act) = (None, 0);
        }
        run.in_act += draft.new;
        let folder = error::display(&run.folder);
        let words = match run.in_act {
            0 => format!("Look through {folder} again"),
            1 => format!("Import 1 image from {folder}"),
            n => format!("Import {n} images from {folder}"),
        };
        if let Some(event) = self.commit(run.act, EventKind::Act, &words, changes)? {
            run.act.get_or_insert(event);
        }
        self.commit(None, EventKind::Final, &format!("Files with new contents in {folder}"), draft.replaced)?;
        Ok(())
    }

    /// Where a file lies, and the image that had this place before.
    fn place_of(&self, run: &Run, file: &File, hash: ContentHash) -> (Place, Option<ItemId>) {
        let old = run.known.files.get(&file.path);
        let (root, path) = match old {
            Some((_, _, place)) => (place.root, place.path.clone()),
            None => {
                let root_path = self.state.roots.get(&run.root).map_or(&run.folder, |root| &root.path);
                (run.root, file.path.strip_prefix(root_path).unwrap_or(&file.path).to_owned())
            }
        };
        let before = old.map(|(id, ..)| *id).filter(|id| self.state.image(*id).is_some());
        (Place { root, path, hash, bytes: file.bytes, modified: file.modified, here: true }, before)
    }

    /// Enters files whose bytes an image has.
    fn admit_known(&mut self, run: &mut Run, files: Vec<(&File, ContentHash, bool)>, draft: &mut Draft) -> Result<()> {
        let mut places = Vec::new();
        let mut moved_already = BTreeSet::new();
        for (file, hash, moved) in files {
            let (place, before) = self.place_of(run, file, hash);
            let Some(image) = run.known.by_hash.get(&hash).and_then(|id| self.state.image(*id)) else {
                // It was forgotten a moment ago.
                run.report.unchanged += 1;
                run.report.forgotten += 1;
                continue;
            };
            if before == Some(image.id) {
                run.report.unchanged += 1;
            } else {
                run.report.duplicate += 1;
                let others = image.places.iter().filter(|other| other.hash == hash).map(|other| self.state.full_path(other));
                run.report.copies.extend(others.take(1).map(|other| (file.path.clone(), other)));
            }
            let word = self.state.understood(&file.word);
            if run.reads_words && moved && image.folder != word && moved_already.insert(image.id) {
                draft.classes.extend(word.label.clone());
                draft.changes.push(Change::Image(image.id, Field::Folder(Swap(image.folder.clone(), word))));
            }
            places.push((image.id, place, before));
        }
        self.put_places(&places)
    }

    /// Drafts what files with bytes that no image has lead to.
    fn admit_new(&self, run: &mut Run, files: Vec<(&File, Content, Cut, Vec<String>)>, draft: &mut Draft) {
        let mut next = self.state.next_image;
        let mut replaced = BTreeSet::new();
        for (file, content, cut, captions) in files {
            let (place, before) = self.place_of(run, file, content.hash);
            let same = run.known.by_hash.get(&content.hash).copied();
            if let Some(id) = same.filter(|id| id.0 >= self.state.next_image || self.state.image(*id).is_some()) {
                // Another file of these few has the same bytes.
                if before == Some(id) {
                    run.report.unchanged += 1;
                } else {
                    run.report.duplicate += 1;
                    let first = draft.places.iter().find(|(other, ..)| *other == id).map(|(_, place, _)| self.state.full_path(place));
                    run.report.copies.extend(first.map(|first| (file.path.clone(), first)));
                }
                draft.places.push((id, place, before));
                continue;
            }
            draft.cuts.push(cut);
            run.report.imported += 1;
            let former = before.and_then(|id| self.state.image(id));
            if let Some((image, old)) = former.and_then(|image| Some((image, image.content?)))
                && self.is_only_place(image, old.hash, &place)
                && replaced.insert(image.id)
            {
                run.report.changed += 1;
                let content = Content { changed: true, ..content };
                draft.replaced.push(Change::Image(image.id, Field::Content(Swap(Some(old), Some(content)))));
                run.known.by_hash.remove(&old.hash);
                run.known.by_hash.insert(content.hash, image.id);
                draft.places.push((image.id, place, before));
                continue;
            }
            // An image whose import was undone comes back as itself.
            let record = former.filter(|image| image.content.is_none() && replaced.insert(image.id));
            let id = record.map_or(ItemId(next), |image| image.id);
            next += u32::from(record.is_none());
            run.known.by_hash.insert(content.hash, id);
            let word = self.state.understood(&file.word);
            draft.classes.extend(word.label.clone());
            let blank = Image::new(id);
            let record = record.map_or(&blank, |image| image);
            draft.changes.push(Change::Image(id, Field::Content(Swap(None, Some(content)))));
            draft.changes.push(Change::Image(id, Field::Folder(Swap(record.folder.clone(), word))));
            let mut captions: Vec<Caption> = captions.into_iter().map(|text| Caption { text, by_user: false }).collect();
            match former.filter(|image| image.id != id && image.content.is_some()) {
                Some(other) => {
                    // The file was a copy of another image and is one of its own now: what was said of it stays true.
                    run.report.changed += 1;
                    if other.user != UserLabel::Unsaid {
                        draft.changes.push(Change::Image(id, Field::Label(Swap(UserLabel::Unsaid, other.user.clone()))));
                    }
                    captions.clone_from(&other.captions);
                }
                None => draft.new += 1,
            }
            if record.captions != captions {
                draft.changes.push(Change::Image(id, Field::Captions(Swap(record.captions.clone(), captions))));
            }
            draft.places.push((id, place, before));
        }
    }

    /// Whether no file but the one at `place` has the bytes of an image.
    fn is_only_place(&self, image: &Image, hash: ContentHash, place: &Place) -> bool {
        let is_other = |other: &&Place| (other.root, &other.path) != (place.root, &place.path) && other.hash == hash;
        !image.places.iter().filter(is_other).any(|other| holds(&self.state.full_path(other), other))
    }

    /// Teaches the recogniser the images that it could not have before.
    fn teach_missing(&mut self) {
        let missing: Vec<ItemId> = self.recogniser.missing().iter().copied().collect();
        if !missing.is_empty() {
            self.teach(&self.state.clone(), &missing);
        }
    }
}

impl State {
    /// What a folder says, in the words of this library's classes.
    fn understood(&self, word: &FolderWord) -> FolderWord {
        let label = word.label.as_ref().map(|label| self.aliases.get(label).unwrap_or(label).clone());
        FolderWord { label: label.filter(|label| !label.is_empty()), ..word.clone() }
    }

    /// Enters a place with an image, and takes it from the one that had it.
    pub(super) fn move_place(&mut self, id: ItemId, place: Place, before: Option<ItemId>) {
        let is_it = |other: &Place| other.root == place.root && other.path == place.path;
        if let Some(before) = before.filter(|before| *before != id && self.image(*before).is_some()) {
            self.edit(before).places.retain(|other| !is_it(other));
        }
        let places = &mut self.edit(id).places;
        places.retain(|other| !is_it(other));
        let at = places.partition_point(|other| (other.root, &other.path) < (place.root, &place.path));
        places.insert(at, place);
    }
}

/// What reading a table of captions and labels did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableRead {
    /// Rows whose image was found.
    pub matched: usize,
    /// Paths without an image.
    pub unmatched: Vec<String>,
    /// Paths that several images have.
    pub ambiguous: Vec<String>,
    /// Captions added.
    pub captions: usize,
    /// Captions that their image has already, or that the table gives it twice.
    pub repeated: usize,
    /// Labels set.
    pub labels: usize,
    /// Labels that were not set because the user had said something else.
    pub kept: usize,
}

impl Library {
    /// Takes over the captions and labels of a table, in one act. A label the user gave is kept.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn read_table(&mut self, table: &Table, name: &str) -> Result<TableRead> {
        let mut read = TableRead::default();
        let paths: Vec<(ItemId, PathBuf)> =
            self.state.images().flat_map(|image| image.places.iter().map(|place| (image.id, self.state.full_path(place)))).collect();
        let matcher = Matcher::new(paths.iter().map(|(id, path)| (*id, path.as_path())));
        let mut captions: BTreeMap<ItemId, Vec<Caption>> = BTreeMap::new();
        let mut labels: BTreeMap<ItemId, String> = BTreeMap::new();
        for row in &table.rows {
            let id = match matcher.find(&row.path) {
                PathMatch::One(id) => id,
                PathMatch::None => {
                    read.unmatched.push(row.path.clone());
                    continue;
                }
                PathMatch::Several(_) => {
                    read.ambiguous.push(row.path.clone());
                    continue;
                }
            };
            read.matched += 1;
            let Some(image) = self.state.image(id) else { continue };
            let list = captions.entry(id).or_insert_with(|| image.captions.clone());
            for text in row.captions.iter().map(|text| text.trim()) {
                if text.is_empty() {
                    continue;
                }
                if list.iter().any(|caption| caption.text == text) {
                    read.repeated += 1;
                    continue;
                }
                list.push(Caption { text: text.to_owned(), by_user: false });
                read.captions += 1;
            }
            if let Some(label) = row.label.as_ref().and_then(|label| tidy_name(label).ok()) {
                match &image.user {
                    UserLabel::Unsaid => {
                        labels.insert(id, label);
                    }
                    UserLabel::Class(class) if *class == label => {}
                    _ => read.kept += 1,
                }
            }
        }
        let classes: BTreeSet<&str> = labels.values().map(String::as_str).collect();
        let mut changes = self.state.new_classes(classes);
        for (id, list) in captions {
            if let Some(image) = self.state.image(id).filter(|image| image.captions != list) {
                changes.push(Change::Image(id, Field::Captions(Swap(image.captions.clone(), list))));
            }
        }
        for (id, label) in labels {
            if let Some(image) = self.state.image(id).filter(|image| image.label() != Some(&label)) {
                read.labels += 1;
                changes.push(Change::Image(id, Field::Label(Swap(image.user.clone(), UserLabel::Class(label)))));
            }
        }
        self.commit(None, EventKind::Act, &format!("Read {name}"), changes)?;
        Ok(read)
    }
}
