//! Takes in files that were examined: new images, known bytes at new places, files with other bytes
//! than before.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::look::{Known, Look, NewFile, Words, holds};
use super::report::{ClassConflict, Imported};
use crate::error::{self, Result};
use crate::ids::ItemId;
use crate::library::Library;
use crate::library::cache::Cut;
use crate::library::draft::Draft;
use crate::library::event::{Change, Content, ContentHash, EventId, EventKind, Field, FolderWord, RootId, Swap, UserLabel};
use crate::library::state::{Act, Image, Place, State};
use crate::plural::count;

/// How the words of an act begin that takes images in.
const IMPORTED: &str = "Imported ";

impl Act {
    /// Whether it took in several images, which leave the library when it is undone.
    pub fn takes_in_several(&self) -> bool {
        self.words.strip_prefix(IMPORTED).is_some_and(|words| !words.starts_with("1 "))
    }
}

/// The state of an import that is running.
pub(super) struct Run {
    pub(super) root: RootId,
    pub(super) folder: PathBuf,
    pub(super) known: Known,
    /// The act that takes in new images, once there is one, and how many it has taken in.
    pub(super) act: Option<EventId>,
    pub(super) in_act: usize,
    pub(super) reads_words: bool,
    /// How the folder is read, until an event says so.
    pub(super) reading: Vec<Change>,
    /// The library before the import, and the images in it that have another class by their folders
    /// since.
    pub(super) before: State,
    pub(super) relabelled: BTreeSet<ItemId>,
    pub(super) report: Imported,
}

/// The changes that a batch of files makes.
#[derive(Default)]
struct Batch {
    changes: Vec<Change>,
    /// Contents of files that changed, which undo does not reach.
    replaced: Vec<Change>,
    places: Vec<(ItemId, Place, Option<ItemId>)>,
    cuts: Vec<Cut>,
    classes: BTreeSet<String>,
    /// Images that are new.
    new: usize,
}

impl Batch {
    /// What these changes make the folder's word of an image.
    fn word_of(&mut self, id: ItemId) -> Option<&mut FolderWord> {
        self.changes.iter_mut().rev().find_map(|change| match change {
            Change::Image(of, Field::Folder(Swap(_, word))) if *of == id => Some(word),
            _ => None,
        })
    }

    /// Gives an image the word of a copy of its file in the place of its own, where only that of
    /// the copy tells a class. Returns whether it does; `known` is its word before these changes,
    /// if it is in the library.
    fn take_word_of_copy(&mut self, id: ItemId, known: Option<&FolderWord>, word: FolderWord) -> bool {
        let own = self.word_of(id);
        let is_told = own.as_deref().or(known).is_none_or(|own| own.label.is_some());
        if is_told || word.label.is_none() {
            return false;
        }
        let class = word.label.clone();
        match (own, known) {
            (Some(own), _) => *own = word,
            (None, Some(known)) => self.changes.push(Change::Image(id, Field::Folder(Swap(known.clone(), word)))),
            (None, None) => {}
        }
        self.classes.extend(class);
        true
    }
}

impl Run {
    /// Takes in files that were examined.
    pub(super) fn admit(&mut self, library: &mut Library, files: Vec<(&NewFile, Look)>) -> Result<()> {
        let (mut familiar, mut fresh) = (Vec::new(), Vec::new());
        let forgotten = library.store().forgotten()?;
        for (file, look) in files {
            let look = match look {
                Look::New(content, ..) if forgotten.contains(&content.hash) => Look::Forgotten,
                look => look,
            };
            match look {
                Look::Known(hash, moved) => familiar.push((file, hash, moved)),
                Look::New(content, cut, words, is_cut_off) => {
                    if is_cut_off {
                        self.report.cut_off.push(file.path.clone());
                    }
                    fresh.push((file, content, cut, words));
                }
                // It was reported when it was met.
                Look::Fatal(..) => {}
                Look::Forgotten => {
                    self.report.unchanged += 1;
                    self.report.forgotten += 1;
                }
            }
        }
        let mut batch = Batch::default();
        // Known bytes go first: where a known file has moved away, a new one may lie now.
        self.admit_known(library, familiar, &mut batch)?;
        self.admit_new(library.state(), fresh, &mut batch);
        library.features().keep(&batch.cuts)?;
        library.put_places(&batch.places)?;
        let mut changes = std::mem::take(&mut self.reading);
        changes.extend(library.state().new_classes(batch.classes.iter().map(String::as_str)));
        changes.extend(batch.changes);
        // After another act of the user's, the rest of the import is an act of its own.
        if self.act.is_some() && self.act != library.state().history().last().map(|act| act.id) {
            (self.act, self.in_act) = (None, 0);
        }
        self.in_act += batch.new;
        let folder = error::display(&self.folder);
        let words = match self.in_act {
            0 if !self.relabelled.is_empty() => format!("Read the folders of {folder} again"),
            0 => format!("Look through {folder} again"),
            n => format!("{IMPORTED}{} from {folder}", count(n, "image")),
        };
        if let Some(event) = library.commit(self.act, EventKind::Act, Draft::new(words, changes))? {
            self.act.get_or_insert(event);
        }
        library.commit(None, EventKind::Final, Draft::new(format!("Files with new contents in {folder}"), batch.replaced))?;
        Ok(())
    }

    /// Enters how the folder is read where no image came with it.
    pub(super) fn tell_reading(&mut self, library: &mut Library) -> Result<()> {
        let words = format!("Chose how {} is read", error::display(&self.folder));
        library.commit(None, EventKind::Act, Draft::new(words, std::mem::take(&mut self.reading)))?;
        Ok(())
    }

    /// Where a file lies, and the image that had this place before.
    fn place_of(&self, state: &State, file: &NewFile, hash: ContentHash) -> (Place, Option<ItemId>) {
        let old = self.known.files.get(&file.path);
        let (root, path) = match old {
            Some((_, _, place)) => (place.root, place.path.clone()),
            None => {
                let root_path = state.roots.get(&self.root).map_or(&self.folder, |root| &root.path);
                (self.root, file.path.strip_prefix(root_path).unwrap_or(&file.path).to_owned())
            }
        };
        let before = old.map(|(id, ..)| *id).filter(|id| state.image(*id).is_some());
        (Place { root, path, hash, bytes: file.bytes, modified: file.modified, here: true }, before)
    }

    /// Counts an image that has another class by its folder, if it was in the library before.
    fn note_relabelled(&mut self, id: ItemId) {
        let was_there = self.before.image(id).is_some_and(|image| image.content.is_some());
        if was_there {
            self.relabelled.insert(id);
        }
    }

    /// Notes that a file has the bytes of an image, of which `first` is a file; `word` is what the
    /// folder of that one says, where the image keeps it.
    fn note_copy(&mut self, file: &NewFile, first: Option<PathBuf>, word: Option<&FolderWord>, state: &State) {
        let Some(first) = first else { return };
        let class = state.understood(&file.word).label;
        if let Some((class, kept)) = class.zip(word.and_then(|word| word.label.clone())).filter(|(class, kept)| class != kept) {
            self.report.conflicts.push(ClassConflict { path: file.path.clone(), class, first: first.clone(), kept });
        }
        self.report.copies.push((file.path.clone(), first));
    }

    /// Enters files whose bytes an image has.
    fn admit_known(&mut self, library: &mut Library, files: Vec<(&NewFile, ContentHash, bool)>, batch: &mut Batch) -> Result<()> {
        let state = library.state();
        let mut places: Vec<(ItemId, Place, Option<ItemId>)> = Vec::new();
        let mut moved_already = BTreeSet::new();
        for (file, hash, moved) in files {
            let (place, before) = self.place_of(state, file, hash);
            let Some(image) = self.known.by_hash.get(&hash).and_then(|id| state.image(*id)) else {
                // It was forgotten a moment ago.
                self.report.unchanged += 1;
                self.report.forgotten += 1;
                continue;
            };
            // Of several files with the bytes of one that is gone, the first is that one.
            let is_moved = moved && moved_already.insert(image.id);
            if before == Some(image.id) {
                self.report.unchanged += 1;
            } else {
                self.report.duplicate += 1;
                if is_moved {
                    self.report.moved += 1;
                } else {
                    let first = match moved {
                        true => places.iter().find(|(id, ..)| *id == image.id).map(|(_, place, _)| place),
                        false => image.places.iter().filter(|other| other.hash == hash).min_by_key(|other| !other.here),
                    };
                    let first = first.map(|other| state.full_path(other));
                    let word = batch.word_of(image.id).map_or(&image.folder, |word| word);
                    self.note_copy(file, first, (!moved).then_some(word), state);
                }
            }
            let word = state.understood(&file.word);
            if self.reads_words && is_moved && image.folder != word {
                if image.folder.label != word.label {
                    self.note_relabelled(image.id);
                }
                batch.classes.extend(word.label.clone());
                batch.changes.push(Change::Image(image.id, Field::Folder(Swap(image.folder.clone(), word))));
            } else if self.reads_words && batch.take_word_of_copy(image.id, Some(&image.folder), word) {
                self.note_relabelled(image.id);
            }
            places.push((image.id, place, before));
        }
        library.put_places(&places)
    }

    /// Works out the changes for files with bytes that no image has.
    fn admit_new(&mut self, state: &State, files: Vec<(&NewFile, Content, Cut, Words)>, batch: &mut Batch) {
        let mut next = state.next_image;
        let mut replaced = BTreeSet::new();
        for (file, content, cut, words) in files {
            let (place, before) = self.place_of(state, file, content.hash);
            let same = self.known.by_hash.get(&content.hash).copied();
            if let Some(id) = same.filter(|id| id.0 >= state.next_image || state.image(*id).is_some()) {
                // Another file of this batch has the same bytes.
                if before == Some(id) {
                    self.report.unchanged += 1;
                } else {
                    self.report.duplicate += 1;
                    let first = batch.places.iter().find(|(other, ..)| *other == id).map(|(_, place, _)| state.full_path(place));
                    self.note_copy(file, first, batch.word_of(id).as_deref(), state);
                }
                let known = state.image(id).map(|image| &image.folder);
                if batch.take_word_of_copy(id, known, state.understood(&file.word)) {
                    self.note_relabelled(id);
                }
                batch.places.push((id, place, before));
                continue;
            }
            batch.cuts.push(cut);
            self.report.imported += 1;
            let former = before.and_then(|id| state.image(id));
            if let Some((image, old)) = former.and_then(|image| Some((image, image.content?)))
                && is_only_place(state, image, old.hash, &place)
                && replaced.insert(image.id)
            {
                self.report.changed += 1;
                let content = Content { changed: true, ..content };
                batch.replaced.push(Change::Image(image.id, Field::Content(Swap(Some(old), Some(content)))));
                self.known.by_hash.remove(&old.hash);
                self.known.by_hash.insert(content.hash, image.id);
                batch.places.push((image.id, place, before));
                continue;
            }
            // An image whose import was undone comes back as itself.
            let record = former.filter(|image| image.content.is_none() && replaced.insert(image.id));
            let id = record.map_or(ItemId(next), |image| image.id);
            next += u32::from(record.is_none());
            self.known.by_hash.insert(content.hash, id);
            let word = state.understood(&file.word);
            batch.classes.extend(word.label.clone());
            let blank = Image::new(id);
            let record = record.map_or(&blank, |image| image);
            batch.changes.push(Change::Image(id, Field::Content(Swap(None, Some(content)))));
            batch.changes.push(Change::Image(id, Field::Folder(Swap(record.folder.clone(), word))));
            let Words { mut captions, left_out } = words;
            self.report.texts_left_out.extend(left_out);
            match former.filter(|image| image.id != id && image.content.is_some()) {
                Some(other) => {
                    // The file was a copy of another image and is one of its own now: what was said
                    // of it stays true.
                    self.report.changed += 1;
                    if other.user != UserLabel::Unsaid {
                        batch.changes.push(Change::Image(id, Field::Label(Swap(UserLabel::Unsaid, other.user.clone()))));
                    }
                    captions.clone_from(&other.captions);
                }
                None => batch.new += 1,
            }
            if record.captions != captions {
                batch.changes.push(Change::Image(id, Field::Captions(Swap(record.captions.clone(), captions))));
            }
            batch.places.push((id, place, before));
        }
    }
}

/// Whether no file but the one at `place` has the bytes of an image.
fn is_only_place(state: &State, image: &Image, hash: ContentHash, place: &Place) -> bool {
    let is_other = |other: &&Place| (other.root, &other.path) != (place.root, &place.path) && other.hash == hash;
    !image.places.iter().filter(is_other).any(|other| holds(&state.full_path(other), other))
}
