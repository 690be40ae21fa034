//! Import: find image files, know those that are known, and take in the others a few at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use rayon::prelude::*;

use super::cache::Cut;
use super::event::{Caption, Change, Content, ContentHash, EventId, Field, FolderWord, Kind, RootId, Swap, UserLabel};
use super::features::{self, hash_file};
use super::state::{Image, Place, Root, State};
use super::store::put_place;
use super::{Library, store};
use crate::ckm::CkmOptions;
use crate::data::tables::{Found, Matcher, Table, sidecar};
use crate::data::{Dataset, Labels, OpenOptions, Source, UNLABELLED};
use crate::error::{self, Error, Result};
use crate::ids::ItemId;
use crate::picture::Decoder;
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

/// What looking at a file gave.
enum Look {
    /// Bytes that no image has.
    New(Content, Cut, Vec<String>),
    /// Bytes that an image of the library has; whether that image's other files are gone.
    Known(ContentHash, bool),
    Forgotten,
}

/// The library, whoever holds it.
pub fn hold(library: &Mutex<Library>) -> MutexGuard<'_, Library> {
    library.lock().unwrap_or_else(PoisonError::into_inner)
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

    let (root, decoder, ckm, forgotten, state) = {
        let mut library = hold(library);
        let root = library.root_for(&folder, options)?;
        let forgotten = library.store.forgotten()?;
        (root, Arc::clone(&library.decoder), library.recogniser.ckm().options().clone(), forgotten, library.state.clone())
    };
    let mut known = Known::of(&state);
    let mut work = Vec::new();
    for item in &data.items {
        let Source::File(path) = &item.source else {
            report.failed.push(FailedFile {
                path: item.path().to_owned(),
                reason: "norb",
                detail: "pictures inside a NORB file: unpack them with `tessera import LIBRARY FOLDER --unpack DIR`".into(),
            });
            continue;
        };
        let label = data.class_name(item.class);
        let label = (label != UNLABELLED).then(|| label.to_owned());
        let word = FolderWord { label, group: item.group.clone(), meta: item.meta.clone() };
        match known.look_up(path, word) {
            Ok(Some(file)) => work.push(file),
            Ok(None) => report.unchanged += 1,
            Err(error) => report.failed.push(failed(path, &error)),
        }
    }
    report.missing = hold(library).mark_missing(&folder, &data.items.iter().map(|item| item.path()).collect())?;

    progress.begin("Importing", work.len() as u64);
    let mut act = None;
    for batch in work.chunks(BATCH) {
        let state = hold(library).state.clone();
        // No thread waits for the library in here: one that holds it may be waiting for these threads.
        let looked: Vec<Result<Look>> = batch
            .par_iter()
            .map(|file| progress.step().and_then(|()| look(file, &known.by_hash, &state, &forgotten, &*decoder, &ckm)))
            .collect();
        report.cancelled |= looked.iter().any(|look| matches!(look, Err(Error::Cancelled)));
        let mut seen = Vec::new();
        for (file, look) in batch.iter().zip(looked) {
            match look {
                Ok(Look::Forgotten) => {
                    report.unchanged += 1;
                    report.forgotten += 1;
                }
                Ok(look) => seen.push((file, look)),
                Err(Error::Cancelled) => {}
                Err(error) => report.failed.push(failed(&file.path, &error)),
            }
        }
        hold(library).admit(root, &folder, seen, &mut known, &mut act, &mut report)?;
        if report.cancelled {
            break;
        }
    }
    if report.cancelled {
        // What was not looked at was not found.
        report.found = report.imported + report.unchanged + report.duplicate + report.unsupported + report.failed.len();
    }
    hold(library).teach_missing()?;
    Ok(report)
}

fn failed(path: &Path, error: &Error) -> FailedFile {
    FailedFile { path: path.to_owned(), reason: error.reason(), detail: error.to_string() }
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

    /// The file when it has to be read; `None` when it is as it was.
    fn look_up(&self, path: &Path, word: FolderWord) -> Result<Option<File>> {
        let meta = fs::metadata(path).map_err(Error::io("read", path))?;
        let modified = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos() as i64);
        let file = File { path: path.to_owned(), word, bytes: meta.len(), modified };
        let Some((_, hash, place)) = self.files.get(path) else { return Ok(Some(file)) };
        let is_same = place.here && place.bytes == file.bytes && place.modified == file.modified && *hash == Some(place.hash);
        Ok(if is_same { None } else { Some(file) })
    }
}

fn look(
    file: &File,
    by_hash: &HashMap<ContentHash, ItemId>,
    state: &State,
    forgotten: &HashSet<ContentHash>,
    decoder: &dyn Decoder,
    options: &CkmOptions,
) -> Result<Look> {
    let hash = hash_file(&file.path)?;
    if let Some(image) = by_hash.get(&hash).and_then(|id| state.image(*id)) {
        let elsewhere = image.places.iter().map(|place| state.full_path(place)).any(|path| path != file.path && path.exists());
        return Ok(Look::Known(hash, !elsewhere));
    }
    if forgotten.contains(&hash) {
        return Ok(Look::Forgotten);
    }
    let picture = decoder.decode(&file.path)?;
    let content = Content { hash, size: picture.dimensions(), bytes: file.bytes, changed: false };
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
        self.store.write(|tx| {
            places.iter().try_for_each(|(image, place, _)| {
                store::put_image(tx, *image)?;
                put_place(tx, *image, place)
            })
        })?;
        for (id, place, before) in places {
            self.state.move_place(*id, place.clone(), *before);
        }
        Ok(())
    }

    /// Takes in files that were looked at.
    fn admit(
        &mut self,
        root: RootId,
        folder: &Path,
        files: Vec<(&File, Look)>,
        known: &mut Known,
        act: &mut Option<EventId>,
        report: &mut Imported,
    ) -> Result<()> {
        let root_path = self.state.roots.get(&root).map_or_else(|| folder.to_owned(), |root| root.path.clone());
        let mut next = self.state.records().last().map_or(1, |image| image.id.0 + 1);
        let (mut changes, mut replaced, mut places, mut cuts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut classes = BTreeSet::new();
        for (file, look) in files {
            let (hash, fresh, moved) = match look {
                Look::New(content, cut, captions) => (content.hash, Some((content, cut, captions)), false),
                Look::Known(hash, moved) => (hash, None, moved),
                Look::Forgotten => continue,
            };
            let word = self.state.understood(&file.word);
            let old = known.files.get(&file.path);
            let before = old.map(|(id, ..)| *id);
            let (place_root, path) = match old {
                Some((_, _, place)) => (place.root, place.path.clone()),
                None => (root, file.path.strip_prefix(&root_path).unwrap_or(&file.path).to_owned()),
            };
            let place = Place { root: place_root, path, hash, bytes: file.bytes, modified: file.modified, here: true };
            if let Some(&id) = known.by_hash.get(&hash) {
                if before == Some(id) {
                    report.unchanged += 1
                } else {
                    report.duplicate += 1
                }
                if let Some(image) = self.state.image(id).filter(|image| moved && image.folder != word) {
                    classes.extend(word.label.clone());
                    changes.push(Change::Image(id, Field::Folder(Swap(image.folder.clone(), word))));
                }
                places.push((id, place, before));
                continue;
            }
            // Known bytes are in `by_hash`, so what comes here is fresh.
            let Some((content, cut, captions)) = fresh else { continue };
            cuts.push(cut);
            report.imported += 1;
            let former = before.and_then(|id| self.state.image(id));
            let is_only_place = |image: &Image| {
                image
                    .places
                    .iter()
                    .all(|other| (other.root, &other.path) == (place.root, &place.path) || !self.state.full_path(other).exists())
            };
            if let Some(image) = former.filter(|image| image.content.is_some() && is_only_place(image)) {
                report.changed += 1;
                let content = Content { changed: true, ..content };
                replaced.push(Change::Image(image.id, Field::Content(Swap(image.content, Some(content)))));
                known.by_hash.insert(hash, image.id);
                places.push((image.id, place, before));
                continue;
            }
            // An image whose import was undone comes back as itself.
            let record = former.filter(|image| image.content.is_none());
            let id = record.map_or(ItemId(next), |image| image.id);
            next += u32::from(record.is_none());
            known.by_hash.insert(hash, id);
            classes.extend(word.label.clone());
            let blank = Image::new(id);
            let record = record.map_or(&blank, |image| image);
            changes.push(Change::Image(id, Field::Content(Swap(None, Some(content)))));
            changes.push(Change::Image(id, Field::Folder(Swap(record.folder.clone(), word))));
            let mut captions: Vec<Caption> = captions.into_iter().map(|text| Caption { text, by_user: false }).collect();
            if let Some(other) = former.filter(|image| image.id != id) {
                // The file was a copy of another image and is one of its own now: what was said of it stays true.
                report.changed += 1;
                changes.push(Change::Image(id, Field::Label(Swap(UserLabel::Unsaid, other.user.clone()))));
                captions.clone_from(&other.captions);
            }
            if record.captions != captions {
                changes.push(Change::Image(id, Field::Captions(Swap(record.captions.clone(), captions))));
            }
            places.push((id, place, before));
        }
        self.cache.put(&self.version, &cuts)?;
        self.put_places(&places)?;
        let mut all = self.state.new_classes(classes.iter().map(String::as_str));
        all.extend(changes);
        let words = format!("Import {} images from {}", report.imported - report.changed, error::display(folder));
        if let Some(event) = self.commit(*act, Kind::Act, &words, all)? {
            act.get_or_insert(event);
        }
        self.commit(None, Kind::Final, &format!("Files with new contents in {}", error::display(folder)), replaced)?;
        Ok(())
    }

    /// Teaches the recogniser the images that it could not have before.
    fn teach_missing(&mut self) -> Result<()> {
        let missing: Vec<ItemId> = self.recogniser.missing().iter().copied().collect();
        if missing.is_empty() { Ok(()) } else { self.teach_again(&missing) }
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
        if let Some(before) = before.filter(|before| *before != id) {
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
                Found::One(id) => id,
                Found::None => {
                    read.unmatched.push(row.path.clone());
                    continue;
                }
                Found::Several(_) => {
                    read.ambiguous.push(row.path.clone());
                    continue;
                }
            };
            read.matched += 1;
            let Some(image) = self.state.image(id) else { continue };
            let list = captions.entry(id).or_insert_with(|| image.captions.clone());
            for text in row.captions.iter().map(|text| text.trim()) {
                if !text.is_empty() && list.iter().all(|caption| caption.text != text) {
                    list.push(Caption { text: text.to_owned(), by_user: false });
                    read.captions += 1;
                }
            }
            if let Some(label) = row.label.as_ref().map(|label| label.trim()).filter(|label| !label.is_empty()) {
                match &image.user {
                    UserLabel::Unsaid => {
                        labels.insert(id, label.to_owned());
                    }
                    UserLabel::Class(class) if class == label => {}
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
        self.commit(None, Kind::Act, &format!("Read {name}"), changes)?;
        Ok(read)
    }
}
