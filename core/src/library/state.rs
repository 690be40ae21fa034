//! What a library holds at one moment: images, classes, roots and history. Clones are cheap and
//! never change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::brought_vector::BroughtVector;
use super::event::{Bond, Caption, ClassStyle, Content, ContentHash, EventId, FolderReading, FolderWord, Reward, RootId, UserLabel};
use crate::data::tables::Matcher;
use crate::error;
use crate::ids::ItemId;
use crate::text::composed;

/// An image as the library knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its identifier, for ever.
    pub id: ItemId,
    /// Its bytes; `None` when its import was undone.
    pub content: Option<Content>,
    /// What its folder and file name say.
    pub folder: FolderWord,
    /// The user's label.
    pub user: UserLabel,
    /// Its captions.
    pub captions: Vec<Caption>,
    /// The user's rewards of it as an answer to queries, by their words.
    pub rewards: BTreeMap<String, Reward>,
    /// The classes that the user rejected for it.
    pub rejected: BTreeSet<String>,
    /// The guessed words that the user rejected for it.
    pub no_guesses: BTreeSet<String>,
    /// Its vectors, by the set that the user brought.
    pub vectors: BTreeMap<String, BroughtVector>,
    /// Images of which the user said that they are no copies of it.
    pub not_copies: BTreeSet<ItemId>,
    /// What the user said of it and images with higher numbers.
    pub bonds: BTreeMap<ItemId, Bond>,
    /// Whether the user removed it.
    pub removed: bool,
    /// Where files with its bytes lie, in order of their paths.
    pub places: Vec<Place>,
}

/// A file of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The root it lies below.
    pub root: RootId,
    /// Its path from there.
    pub path: PathBuf,
    /// The hash of its bytes when it was last examined.
    pub hash: ContentHash,
    /// Its length in bytes then.
    pub bytes: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified: i64,
    /// Whether it was there when it was last looked for.
    pub here: bool,
}

impl Image {
    pub(super) fn new(id: ItemId) -> Self {
        Self {
            id,
            content: None,
            folder: FolderWord::default(),
            user: UserLabel::default(),
            captions: Vec::new(),
            rewards: BTreeMap::new(),
            rejected: BTreeSet::new(),
            no_guesses: BTreeSet::new(),
            vectors: BTreeMap::new(),
            not_copies: BTreeSet::new(),
            bonds: BTreeMap::new(),
            removed: false,
            places: Vec::new(),
        }
    }

    /// Whether it takes part: imported and not removed.
    pub fn is_live(&self) -> bool {
        self.content.is_some() && !self.removed
    }

    /// Its label: the user's, or where there is none the folder's.
    pub fn label(&self) -> Option<&str> {
        match &self.user {
            UserLabel::Class(class) => Some(class),
            UserLabel::NoClass => None,
            UserLabel::Unsaid => self.folder.label.as_deref(),
        }
    }

    /// The place where it is found: the first that is there, or the first.
    pub fn place(&self) -> Option<&Place> {
        self.places.iter().find(|place| place.here).or(self.places.first())
    }

    /// Whether a file of it was there when it was last looked for.
    pub fn is_here(&self) -> bool {
        self.places.iter().any(|place| place.here)
    }

    /// The places where files of it were when they were last looked for.
    pub fn files(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.here)
    }

    /// The places where files of it are, or that where it was when there are none.
    pub fn found_at(&self) -> impl Iterator<Item = &Place> {
        let is_here = self.is_here();
        self.files().chain(self.place().filter(|_| !is_here))
    }

    /// Its path from its root, for people and for models.
    pub fn name(&self) -> String {
        self.place().map_or_else(|| format!("#{}", self.id.0), |place| error::display(&place.path))
    }

    /// The last part of its name.
    pub fn file_name(&self) -> String {
        let name = self.place().and_then(|place| place.path.file_name());
        name.map_or_else(|| format!("#{}", self.id.0), |name| error::display(Path::new(name)))
    }
}

/// A folder that images were imported from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its path.
    pub path: PathBuf,
    /// How it is read.
    pub reading: FolderReading,
}

/// An act of the user, as the history shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Its first event.
    pub id: EventId,
    /// Milliseconds since 1970.
    pub at: i64,
    /// What it was, in words.
    pub words: String,
}

/// What a library holds at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    images: Arc<Vec<Arc<Image>>>,
    pub(super) classes: Arc<BTreeMap<String, ClassStyle>>,
    pub(super) aliases: Arc<BTreeMap<String, String>>,
    pub(super) roots: Arc<BTreeMap<RootId, Root>>,
    pub(super) done: Arc<Vec<Arc<Act>>>,
    pub(super) undone: Arc<Vec<Arc<Act>>>,
    /// The identifier of the next new image: none is used twice, also when its image was forgotten.
    pub(super) next_image: u32,
    pub(super) last: Option<EventId>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            images: Arc::default(),
            classes: Arc::default(),
            aliases: Arc::default(),
            roots: Arc::default(),
            done: Arc::default(),
            undone: Arc::default(),
            next_image: 1,
            last: None,
        }
    }
}

impl State {
    /// Whether this is the same state as `other`, so that nothing computed for one need be computed
    /// again for the other. May be false for equal states. O(1).
    pub fn is_same(&self, other: &Self) -> bool {
        self.last == other.last && Arc::ptr_eq(&self.images, &other.images) && Arc::ptr_eq(&self.roots, &other.roots)
    }

    /// About the bytes that the records of images take in memory. O(images and their captions).
    pub(super) fn bytes(&self) -> usize {
        let of_place = |place: &Place| size_of::<Place>() + place.path.as_os_str().len();
        let of_image = |image: &Arc<Image>| {
            let captions: usize = image.captions.iter().map(|caption| size_of::<Caption>() + caption.text.len()).sum();
            let places: usize = image.places.iter().map(of_place).sum();
            let vectors: usize = image.vectors.values().map(|vector| size_of_val(vector.values())).sum();
            size_of::<Image>() + captions + places + vectors + image.label().map_or(0, str::len)
        };
        self.images.iter().map(of_image).sum()
    }

    /// All image records in order of their identifiers, removed ones too.
    pub fn records(&self) -> &[Arc<Image>] {
        &self.images
    }

    /// The images whose records are not those of `before`, another state of the library, in order.
    /// O(images), but records that both share are not looked at.
    pub fn changed_since(&self, before: &Self) -> Vec<ItemId> {
        if Arc::ptr_eq(&self.images, &before.images) {
            return Vec::new();
        }
        let (mut now, mut then) = (&self.images[..], &before.images[..]);
        let mut changed = Vec::new();
        loop {
            let same = now.iter().zip(then).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
            (now, then) = (&now[same..], &then[same..]);
            let id = match (now.first(), then.first()) {
                (None, None) => return changed,
                (Some(one), None) | (None, Some(one)) => one.id,
                (Some(a), Some(b)) => a.id.min(b.id),
            };
            changed.push(id);
            let after = |images: &[Arc<Image>]| usize::from(images.first().is_some_and(|image| image.id == id));
            (now, then) = (&now[after(now)..], &then[after(then)..]);
        }
    }

    /// The images that take part, in order of their identifiers.
    pub fn images(&self) -> impl Iterator<Item = &Arc<Image>> {
        self.images.iter().filter(|image| image.is_live())
    }

    /// The record of that identifier.
    pub fn image(&self, id: ItemId) -> Option<&Arc<Image>> {
        self.images.binary_search_by_key(&id, |image| image.id).ok().map(|at| &self.images[at])
    }

    /// The classes in the order in which they are shown.
    pub fn classes(&self) -> Vec<(&str, ClassStyle)> {
        let mut classes: Vec<_> = self.classes.iter().map(|(name, look)| (name.as_str(), *look)).collect();
        classes.sort_by_key(|(_, look)| look.position);
        classes
    }

    /// Whether the user has said of an image that it shows none of the classes that there are.
    pub fn is_of_none(&self, image: &Image) -> bool {
        !image.rejected.is_empty() && self.classes.keys().all(|class| image.rejected.contains(class))
    }

    /// How a class is shown, if it exists.
    pub fn class(&self, name: &str) -> Option<ClassStyle> {
        self.classes.get(name).copied()
    }

    /// A class whose name differs from this one in capitals alone.
    pub fn class_like(&self, name: &str) -> Option<&str> {
        let folded = composed(name).to_lowercase();
        self.classes.keys().find(|other| *other != name && composed(other).to_lowercase() == folded).map(String::as_str)
    }

    /// A class's name as this library has it: that of a class which looks the same, whose accents
    /// may be written otherwise, and else with accented letters as one character each.
    pub fn class_spelled(&self, name: &str) -> String {
        let whole = composed(name);
        let there = self.classes.contains_key(name).then_some(name);
        let there = there.or_else(|| self.classes.keys().find(|other| composed(other) == whole).map(String::as_str));
        there.unwrap_or(&whole).to_owned()
    }

    /// The class that was probably meant by a name that none has: one that differs in capitals
    /// alone, begins so, or is written nearly so, with the same numbers in it.
    pub fn class_near(&self, name: &str) -> Option<&str> {
        let numbers = |name: &str| -> Vec<String> {
            name.split(|c: char| !c.is_numeric()).filter(|number| !number.is_empty()).map(str::to_owned).collect()
        };
        let folded = name.to_lowercase();
        let length = folded.chars().count();
        let most = (length / 3).clamp(1, 3);
        let far = |other: &str| {
            let other = other.to_lowercase();
            let is_alike = length > most && other.chars().count().abs_diff(length) <= most;
            match other.strip_prefix(&folded) {
                Some(rest) => Some(usize::from(!rest.is_empty())),
                None if is_alike => Some(strsim::damerau_levenshtein(&folded, &other)).filter(|far| *far <= most),
                None => None,
            }
        };
        let others = self.classes.keys().filter(|other| *other != name && length > 0 && numbers(other) == numbers(name));
        others.filter_map(|other| Some((far(other)?, other))).min().map(|(_, other)| other.as_str())
    }

    /// What a class of that name is called now: it may have been renamed, or joined with another.
    pub fn class_now<'a>(&'a self, name: &'a str) -> &'a str {
        if self.classes.contains_key(name) { name } else { self.aliases.get(name).map_or(name, String::as_str) }
    }

    /// The roots in the order in which they came.
    pub fn roots(&self) -> impl Iterator<Item = (RootId, &Root)> {
        self.roots.iter().map(|(id, root)| (*id, root))
    }

    /// The roots that a path lies in, the outermost first; one at the path itself is not among
    /// them. O(roots).
    pub fn roots_around(&self, path: &Path) -> Vec<(RootId, &Root)> {
        let mut around: Vec<_> = self.roots().filter(|(_, root)| root.path != path && path.starts_with(&root.path)).collect();
        around.sort_by_key(|(_, root)| root.path.components().count());
        around
    }

    /// The roots that lie in a folder; one at the folder itself is not among them.
    pub(super) fn roots_inside(&self, folder: &Path) -> impl Iterator<Item = (RootId, &Root)> {
        self.roots().filter(move |(_, root)| root.path != folder && root.path.starts_with(folder))
    }

    /// Whether a file lies below a folder, which may be known as one of a root around it or inside
    /// it.
    pub(super) fn lies_below(&self, folder: &Path) -> impl Fn(&Place) -> bool + use<> {
        let below_root = |root: &Root| match folder.strip_prefix(&root.path) {
            Ok(rest) => Some(rest.to_owned()),
            Err(_) => root.path.starts_with(folder).then(PathBuf::new),
        };
        let starts: BTreeMap<RootId, PathBuf> = self.roots().filter_map(|(id, root)| Some((id, below_root(root)?))).collect();
        move |place| starts.get(&place.root).is_some_and(|start| place.path.starts_with(start))
    }

    /// The innermost imported folder that a folder lies in.
    pub(super) fn folder_around(&self, folder: &Path) -> Option<(RootId, &Root)> {
        self.roots_around(folder).into_iter().rfind(|(_, root)| !root.is_of_files())
    }

    /// What the user did last and has not taken back, the oldest first: all of it, or the last
    /// 10,000 acts or more.
    pub fn history(&self) -> &[Arc<Act>] {
        &self.done
    }

    /// What was taken back and can be done again, the last taken back at the end.
    pub fn future(&self) -> &[Arc<Act>] {
        &self.undone
    }

    /// The last event that made this state: equal for equal states of one library.
    pub fn last_event(&self) -> Option<EventId> {
        self.last
    }

    /// The full path of a place.
    pub fn full_path(&self, place: &Place) -> PathBuf {
        self.roots.get(&place.root).map_or_else(|| place.path.clone(), |root| root.path.join(&place.path))
    }

    /// The full path where an image is found.
    pub fn path_of(&self, image: &Image) -> Option<PathBuf> {
        image.place().map(|place| self.full_path(place))
    }

    /// Images that were found below one of these folders, of which no file is there any more, not
    /// even elsewhere. O(images).
    pub fn missing_below(&self, folders: &[PathBuf]) -> usize {
        let is_below = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
        let was_there = |image: &&Arc<Image>| image.places.iter().any(|place| is_below(&self.full_path(place)));
        self.images().filter(|image| !image.is_here()).filter(was_there).count()
    }

    /// What finds images by the paths of tables. O(images log images).
    pub(super) fn matcher(&self) -> Matcher<ItemId> {
        let paths: Vec<(ItemId, PathBuf)> =
            self.images().flat_map(|image| image.places.iter().map(|place| (image.id, self.full_path(place)))).collect();
        Matcher::new(paths.iter().map(|(id, path)| (*id, path.as_path())))
    }

    /// The record with these bytes, in O(images).
    pub fn with_hash(&self, hash: ContentHash) -> Option<&Arc<Image>> {
        self.images.iter().find(|image| image.content.is_some_and(|content| content.hash == hash))
    }

    /// Changes a record, which is made when it is not there.
    pub(super) fn edit(&mut self, id: ItemId) -> &mut Image {
        let images = Arc::make_mut(&mut self.images);
        let at = match images.binary_search_by_key(&id, |image| image.id) {
            Ok(at) => at,
            Err(at) => {
                images.insert(at, Arc::new(Image::new(id)));
                self.next_image = self.next_image.max(id.0 + 1);
                at
            }
        };
        Arc::make_mut(&mut images[at])
    }

    /// The lessons: query, image and reward, by query, the highest reward first. O(images).
    pub fn lessons(&self) -> Vec<(String, ItemId, Reward)> {
        let of = |image: &Arc<Image>| image.rewards.iter().map(|(query, reward)| (query.clone(), image.id, *reward)).collect::<Vec<_>>();
        let mut lessons: Vec<_> = self.images().flat_map(of).collect();
        lessons.sort_by(|a, b| a.0.cmp(&b.0).then(b.2.cmp(&a.2)).then(a.1.cmp(&b.1)));
        lessons
    }

    /// The same records and places without anything else: the state before the first event.
    pub(super) fn without_words(&self) -> Self {
        let blank = |image: &Arc<Image>| Arc::new(Image { places: image.places.clone(), ..Image::new(image.id) });
        Self {
            images: Arc::new(self.images.iter().map(blank).collect()),
            roots: Arc::clone(&self.roots),
            next_image: self.next_image,
            ..Self::default()
        }
    }

    /// Only some of the records.
    pub(super) fn part(&self, images: &[ItemId]) -> Self {
        let images = images.iter().filter_map(|id| self.image(*id).cloned()).collect();
        Self { images: Arc::new(images), roots: Arc::clone(&self.roots), ..Self::default() }
    }
}
