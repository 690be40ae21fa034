//! What folders and names say of image files: read, and read again where it has changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::options::ImportOptions;
use super::report::{FailedFile, Imported};
use crate::data::tables::beside;
use crate::data::{Dataset, ImageSource, Meta, OpenOptions, UNLABELLED};
use crate::error::{self, Error, Result};
use crate::ids::ItemId;
use crate::library::Library;
use crate::library::draft::Draft;
use crate::library::event::{Change, EventId, EventKind, Field, FolderReading, FolderWord, RootId, Swap};
use crate::library::state::{Place, Root, State};
use crate::progress::Progress;

/// The image files below a folder with what their folders and names say, and what is left out.
pub(super) fn files_in(folder: &Path, options: &OpenOptions, progress: &Progress) -> Result<(Vec<(PathBuf, FolderWord)>, Imported)> {
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
pub(super) fn known_files(state: &State, root: &Path) -> Vec<(PathBuf, FolderWord)> {
    let is_in = |place: &&Place| state.roots.get(&place.root).is_some_and(|own| own.path == root);
    let paths = state.images().flat_map(|image| &image.places).filter(is_in).map(|place| state.full_path(place));
    paths.filter(|path| path.is_file()).map(|path| (path, FolderWord::default())).collect()
}

/// What folders inside one that were imported by themselves tell of some files, where they tell a
/// class.
pub(super) fn told_inside(state: &State, folder: &Path, files: &[&Path], progress: &Progress) -> Result<HashMap<PathBuf, FolderWord>> {
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

/// What [`read_words_again`] did.
#[derive(Default)]
pub(super) struct WordsAgain {
    pub(super) act: Option<EventId>,
    /// The images that have another class since.
    pub(super) relabelled: BTreeSet<ItemId>,
    /// How the folder is read now, where no event says so yet: it comes with the first images.
    pub(super) reading: Vec<Change>,
}

/// Updates how a folder is read, and what folders and names say of files that have not changed, as
/// the first event of the import's act. Only when a whole root is imported: the names of a folder
/// inside it would be understood in another way.
pub(super) fn read_words_again(
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
