//! Images that come with all that is computed of a file, such as those of a collection: they are
//! entered without reading their files, which may be elsewhere.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::Library;
use super::cache::Cut;
use super::draft::Draft;
use super::event::{Caption, Change, Content, ContentHash, EventId, EventKind, Field, FolderReading, FolderWord, RootId, Swap};
use super::state::{Image, Place, Root, State};
use crate::ckm::element::Elements;
use crate::copies;
use crate::data::Labels;
use crate::error::Result;
use crate::ids::ItemId;
use crate::picture::perceptual_hash::perceptual_hash;
use crate::picture::{appearance, thumbnail};

/// An image with what is known of it.
#[derive(Clone, Debug)]
pub struct ReadyImage {
    /// The hash of its file's bytes.
    pub hash: ContentHash,
    /// Where its file is: a full path, or else a name below the folder that it is entered with.
    pub place: PathBuf,
    /// Its class.
    pub class: Option<String>,
    /// The object it shows.
    pub object: Option<String>,
    /// Its captions.
    pub captions: Vec<String>,
    /// Its elements; those of kinds that the library's recogniser does not have are left out.
    pub elements: Elements,
    /// [`appearance::Appearance::to_bytes`].
    pub appearance: Vec<u8>,
    /// [`copies::Signature::bytes`]; empty where there is none.
    pub signature: Vec<u8>,
    /// A thumbnail as JPEG; empty where there is none.
    pub thumbnail: Vec<u8>,
}

/// The images that are there, while others are entered.
#[derive(Debug, Default)]
pub struct ReadyKnown {
    hashes: HashSet<ContentHash>,
    paths: HashSet<PathBuf>,
}

impl ReadyKnown {
    /// Those of a library. O(images).
    pub fn of(state: &State) -> Self {
        let hashes = state.images().filter_map(|image| Some(image.content?.hash)).collect();
        Self { hashes, paths: state.images().flat_map(|image| &image.places).map(|place| state.full_path(place)).collect() }
    }
}

impl Library {
    /// Enters images that are not there already, as one act; `known` are those that are. `folder`
    /// is what names of files are below that are no full paths. Files are not read; only whether
    /// they are there is looked up. Returns how many images are new. O(new images).
    ///
    /// # Errors
    /// [`crate::Error::Io`], [`crate::Error::ReadOnly`].
    pub fn enter_ready(&mut self, known: &mut ReadyKnown, folder: &Path, images: Vec<ReadyImage>, words: &str) -> Result<usize> {
        let (mut next, mut classes) = (self.state.next_image, BTreeSet::new());
        let (mut changes, mut places, mut cuts) = (Vec::new(), Vec::new(), Vec::new());
        let mut new = 0;
        for image in images {
            if !known.hashes.insert(image.hash) {
                continue;
            }
            let id = ItemId(next);
            next += 1;
            new += 1;
            let place = self.place_of(folder, &image, &mut known.paths)?;
            let content = Content { hash: image.hash, size: image.elements.size, bytes: place.bytes, changed: false };
            let word = FolderWord { label: image.class.clone(), group: image.object.clone(), ..FolderWord::default() };
            classes.extend(word.label.clone());
            changes.push(Change::Image(id, Field::Content(Swap(None, Some(content)))));
            if word != FolderWord::default() {
                changes.push(Change::Image(id, Field::Folder(Swap(FolderWord::default(), word))));
            }
            if !image.captions.is_empty() {
                let captions = image.captions.iter().map(|text| Caption { text: text.clone(), by_user: false }).collect();
                changes.push(Change::Image(id, Field::Captions(Swap(Image::new(id).captions, captions))));
            }
            cuts.push(self.extraction.ready_made(image));
            places.push((id, place, None));
        }
        self.cache.put(&cuts)?;
        self.put_places(&places)?;
        let mut all = self.state.new_classes(classes.iter().map(String::as_str));
        all.extend(changes);
        self.commit(None, EventKind::Act, Draft::new(words, all)).map(|_: Option<EventId>| new)
    }

    /// Where the file of an image lies. Names below a folder need not be unique, for they may be
    /// below folders that are not known any more.
    fn place_of(&mut self, folder: &Path, image: &ReadyImage, taken: &mut HashSet<PathBuf>) -> Result<Place> {
        let top = image.place.ancestors().last().filter(|top| image.place.is_absolute() && *top != image.place);
        let below = top.unwrap_or(folder);
        let mut path = image.place.strip_prefix(below).unwrap_or(&image.place).to_owned();
        if !taken.insert(below.join(&path)) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
            path.set_file_name(format!("{name}~{:032x}{ending}", image.hash.0));
            taken.insert(below.join(&path));
        }
        let meta = below.join(&path).metadata().ok().filter(std::fs::Metadata::is_file);
        let root = self.root_at(below)?;
        let bytes = meta.as_ref().map_or(0, std::fs::Metadata::len);
        Ok(Place { root, path, hash: image.hash, bytes, modified: 0, here: meta.is_some() })
    }

    fn root_at(&mut self, folder: &Path) -> Result<RootId> {
        let known = self.state.roots().find(|(_, root)| root.path == folder).map(|(id, _)| id);
        let reading = FolderReading { labels: Labels::None.name().to_owned(), exclude: Vec::new() };
        known.map_or_else(|| self.enter_root(Root { path: folder.to_owned(), reading }), Ok)
    }
}

impl super::features::Extraction {
    /// What the cache keeps of an image.
    fn ready_made(&self, image: ReadyImage) -> Cut {
        let mut rows = self.rows_of(&image.elements);
        rows.push((appearance::VERSION.to_owned(), image.appearance));
        if !image.signature.is_empty() {
            rows.push((copies::VERSION.to_owned(), image.signature));
        }
        let small = thumbnail::decode(&image.thumbnail);
        Cut { hash: image.hash, rows, look: small.map(|small| perceptual_hash(&small)).unwrap_or_default(), jpeg: image.thumbnail }
    }
}
