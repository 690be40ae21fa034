//! Which images are shown, in which order, and how many there are of each kind.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use tessera_core::error::display_name;
use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::library::event::RootId;
use tessera_core::library::state::{Image, State};

use crate::session::class_tree::is_below;
use crate::session::reports::{class_given, is_right};

/// A filter: something images have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Those below a folder of a root.
    Folder(RootId, PathBuf),
    /// Those of a class.
    Class(String),
    /// Those of a class of this name or below it, as `animal/dog` is below `animal`.
    Below(String),
    /// Those without a class.
    Untagged,
    /// Those without a caption.
    Uncaptioned,
    /// Those that the recogniser misclassified.
    Mispredicted,
    /// Those of the first class that were predicted to be of the second.
    Confused(String, String),
    /// Those with a near duplicate among the images that they were evaluated against.
    Leaks,
    /// Those whose files are missing.
    Missing,
    /// Those whose files have changed since the import.
    Changed,
    /// Those that were removed.
    Removed,
    /// These images, with a word for what they are.
    These(String, Vec<ItemId>),
}

impl Scope {
    /// Its name; the state has those of roots.
    pub fn words(&self, state: Option<&State>) -> String {
        let root = |id: &RootId| state?.roots().find(|(other, _)| other == id).map(|(_, root)| display_name(&root.path));
        match self {
            Self::Folder(id, path) if path.as_os_str().is_empty() => format!("in {}", root(id).unwrap_or_else(|| "this folder".into())),
            Self::Folder(_, path) => format!("in {}", tessera_core::error::display(path)),
            Self::Class(name) => name.clone(),
            Self::Below(path) => format!("{path}/…"),
            Self::Untagged => "no label".into(),
            Self::Uncaptioned => "no caption".into(),
            Self::Mispredicted => "mispredicted".into(),
            Self::Confused(truth, given) => format!("{truth}, taken for {given}"),
            Self::Leaks => "near copies across the split".into(),
            Self::Missing => "file missing".into(),
            Self::Changed => "file changed".into(),
            Self::Removed => "removed".into(),
            Self::These(words, _) => words.clone(),
        }
    }
}

/// The sort order of the images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// By path.
    #[default]
    Name,
    /// The last imported first.
    Newest,
    /// By class, then path.
    Class,
    /// Those the recogniser is least sure of first.
    Doubtful,
}

impl Sort {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Name, Self::Newest, Self::Class, Self::Doubtful];

    /// Its name.
    pub fn words(self) -> &'static str {
        match self {
            Self::Name => "Name",
            Self::Newest => "Newest first",
            Self::Class => "Class",
            Self::Doubtful => "Least sure first",
        }
    }
}

/// What the recogniser predicted for an image with its object left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ImagePrediction {
    /// The class it gave.
    pub class: String,
    /// The probability that this is right.
    pub confidence: f64,
    /// Whether it is not the class that the image has now.
    pub wrong: bool,
}

/// How many images there are of each kind, and what was predicted.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Images that are not removed.
    pub images: usize,
    /// Of each class.
    pub classes: HashMap<String, usize>,
    /// Of no class.
    pub untagged: usize,
    /// Without a caption.
    pub uncaptioned: usize,
    /// Predicted to be of another class.
    pub mispredicted: usize,
    /// With a near duplicate among the images that they were evaluated against.
    pub leaks: usize,
    /// Without a file.
    pub missing: usize,
    /// With other contents than at first.
    pub changed: usize,
    /// Removed by the user.
    pub removed: usize,
    /// In each folder, those inside it too.
    pub folders: BTreeMap<(RootId, PathBuf), usize>,
    /// The folders directly inside each folder, in order.
    pub inside: BTreeMap<(RootId, PathBuf), Vec<PathBuf>>,
    /// The prediction for each image that was evaluated.
    pub predictions: HashMap<ItemId, ImagePrediction>,
    /// The rewards of answers: query, image and reward, by query and the highest first.
    pub lessons: Vec<(String, ItemId, f64)>,
    /// Where roots that lie in others are, from the outermost around them.
    nested: BTreeMap<RootId, (RootId, PathBuf)>,
    leaky: Vec<ItemId>,
}

impl Census {
    /// Counts everything once. O(images).
    pub fn new(state: &State, report: Option<&Report>) -> Self {
        let mut census = Self {
            nested: state.roots().filter_map(|(id, root)| Some((id, outermost(state, &root.path)?))).collect(),
            lessons: state.lessons().into_iter().map(|(query, id, reward)| (query, id, reward.value())).collect(),
            ..Self::default()
        };
        if let Some(report) = report {
            for judged in &report.judged {
                let class = class_given(state, report, judged).unwrap_or_default().to_owned();
                let wrong = is_right(state, report, judged) == Some(false);
                census.predictions.insert(judged.image, ImagePrediction { class, confidence: judged.confidence, wrong });
            }
            census.leaky = report.leaks.iter().flat_map(|(a, b)| [*a, *b]).collect();
            census.leaky.sort_unstable();
            census.leaky.dedup();
        }
        for image in state.records() {
            if image.removed && image.content.is_some() {
                census.removed += 1;
            }
            if !image.is_live() {
                continue;
            }
            census.images += 1;
            match image.label() {
                Some(label) => *census.classes.entry(label.to_owned()).or_default() += 1,
                None => census.untagged += 1,
            }
            census.uncaptioned += usize::from(image.captions.is_empty());
            census.missing += usize::from(!image.is_here());
            census.changed += usize::from(image.content.is_some_and(|content| content.changed));
            census.mispredicted += usize::from(census.predictions.get(&image.id).is_some_and(|prediction| prediction.wrong));
            census.leaks += usize::from(census.leaky.binary_search(&image.id).is_ok());
            // Most images are in one place.
            let mut counted = HashSet::new();
            let is_alone = image.places.len() == 1;
            for place in image.found_at() {
                let (root, path) = census.in_outermost(place.root, &place.path);
                for folder in path.ancestors().skip(1).map(|folder| (root, folder.to_owned())) {
                    if is_alone || counted.insert(folder.clone()) {
                        *census.folders.entry(folder).or_default() += 1;
                    }
                }
            }
        }
        for (root, folder) in census.folders.keys() {
            if let Some(parent) = folder.parent() {
                census.inside.entry((*root, parent.to_owned())).or_default().push(folder.clone());
            }
        }
        census
    }

    /// Whether a root lies in another, among whose folders it is shown.
    pub fn is_nested(&self, root: RootId) -> bool {
        self.nested.contains_key(&root)
    }

    /// Names folders of filters from the outermost roots around them, as folders are counted.
    pub fn tidy(&self, scopes: &mut [Scope]) {
        for scope in scopes {
            if let Scope::Folder(root, folder) = scope
                && let Some((outer, from_there)) = self.nested.get(root)
            {
                (*root, *folder) = (*outer, from_there.iter().chain(folder.iter()).collect());
            }
        }
    }

    /// The outermost root around what lies at a path from a root, and its path from there.
    fn in_outermost<'a>(&self, root: RootId, path: &'a Path) -> (RootId, Cow<'a, Path>) {
        match self.nested.get(&root) {
            Some((outer, folder)) => (*outer, Cow::Owned(folder.join(path))),
            None => (root, Cow::Borrowed(path)),
        }
    }

    /// Whether an image passes a filter.
    pub fn fits(&self, image: &Image, scope: &Scope) -> bool {
        match scope {
            Scope::Folder(root, folder) => {
                let mut places = image.found_at().map(|place| self.in_outermost(place.root, &place.path));
                places.any(|(other, path)| other == *root && path.starts_with(folder))
            }
            Scope::Class(name) => image.label() == Some(name),
            Scope::Below(path) => image.label().is_some_and(|label| is_below(label, path)),
            Scope::Untagged => image.label().is_none(),
            Scope::Uncaptioned => image.captions.is_empty(),
            Scope::Mispredicted => self.predictions.get(&image.id).is_some_and(|prediction| prediction.wrong),
            Scope::Confused(truth, given) => {
                image.label() == Some(truth) && self.predictions.get(&image.id).is_some_and(|prediction| prediction.class == *given)
            }
            Scope::Leaks => self.leaky.binary_search(&image.id).is_ok(),
            Scope::Missing => !image.is_here(),
            Scope::Changed => image.content.is_some_and(|content| content.changed),
            Scope::Removed => image.removed,
            Scope::These(_, ids) => ids.contains(&image.id),
        }
    }
}

/// The outermost root around a folder, and the path of that from there.
fn outermost(state: &State, folder: &Path) -> Option<(RootId, PathBuf)> {
    let (id, root) = *state.roots_around(folder).first()?;
    Some((id, folder.strip_prefix(&root.path).ok()?.to_owned()))
}

/// The images that pass all of some filters, in order. O(images * log images).
pub fn list(state: &State, census: &Census, scopes: &[Scope], sort: Sort) -> Vec<ItemId> {
    let removed = scopes.contains(&Scope::Removed);
    let is_meant = |image: &Image| image.content.is_some() && image.removed == removed;
    let mut images: Vec<&Image> = state
        .records()
        .iter()
        .map(AsRef::as_ref)
        .filter(|image| is_meant(image) && scopes.iter().all(|scope| census.fits(image, scope)))
        .collect();
    let path = |image: &Image| {
        image.place().map(|place| census.in_outermost(place.root, &place.path)).map(|(root, path)| (root, path.into_owned()))
    };
    let sure = |image: &Image| census.predictions.get(&image.id).map_or(2.0, |prediction| prediction.confidence);
    match sort {
        Sort::Name => images.sort_by_cached_key(|image| path(image)),
        Sort::Newest => images.sort_by_key(|image| std::cmp::Reverse(image.id)),
        Sort::Class => images.sort_by_cached_key(|image| (image.label().is_none(), image.label().map(str::to_owned), path(image))),
        Sort::Doubtful => images.sort_by(|a, b| sure(a).total_cmp(&sure(b)).then(a.id.cmp(&b.id))),
    }
    images.into_iter().map(|image| image.id).collect()
}
