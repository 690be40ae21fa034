//! Reads classes and objects from the folders and names of image files.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::dataset::{
    ClassesFrom, Dataset, ImageSource, Item, Labels, Layout, Mask, Masks, OpenOptions, Skipped, UNLABELLED, count, group_name, preview,
};
use super::dates::{is_date, is_part_of_date};
use super::masks;
use super::names::{self, Choice, Name, NamePattern};
use super::shot::{Camera, Meta};
use super::walk::{Walk, walk};
use crate::error::{self, Error, Result};
use crate::ids::ClassId;
use crate::progress::Progress;
use crate::text::composed;

/// Inner folders that one outer folder alone has, from which on they are classes rather than
/// objects where they have words for names.
const MANY: usize = 20;

/// Folders that say which part of a set they hold, or nothing at all, in lower case: never classes.
const SPLITS: [&str; 24] = [
    "all",
    "data",
    "dataset",
    "dev",
    "eval",
    "evaluation",
    "holdout",
    "image",
    "images",
    "img",
    "imgs",
    "jpeg",
    "jpg",
    "pictures",
    "png",
    "samples",
    "test",
    "testing",
    "tests",
    "train",
    "training",
    "val",
    "valid",
    "validation",
];

/// An image file and the folders above it, outermost first and without splits.
struct Found {
    path: PathBuf,
    folders: Vec<Folder>,
    /// The name without its ending; empty when it is not text.
    stem: String,
}

impl Found {
    /// The parts of the name; a word that cameras write is a category only where the folder has the
    /// same name.
    fn name(&self, pattern: &NamePattern) -> Option<Name> {
        let is_folder = |category: &str| self.folders.last().is_some_and(|folder| folder.name.to_lowercase() == category);
        pattern.read(&self.stem, is_folder)
    }
}

struct Folder {
    name: String,
    /// Whether it lies directly in a split.
    in_split: bool,
}

/// Where classes are taken from.
enum Plan {
    /// The folder at this level below the root; names of files add the other parts where they
    /// agree.
    Folders { level: usize },
    /// The path of the folders from this level below the root on; names of files add the other
    /// parts where they agree with the innermost.
    Paths { level: usize },
    /// The category in the name.
    Names,
    /// One class, which all pictures have.
    Whole { class: String },
    Nowhere {
        /// The folder whose name is a date, where that is why.
        date: Option<String>,
    },
}

/// What a folder holds, before anything is said of classes.
pub(super) struct Survey {
    root: PathBuf,
    files: Vec<Found>,
    masks: Vec<Mask>,
    /// Pictures that are named like masks and look like photographs.
    pub(super) doubtful: usize,
    pub(super) walk: Walk,
}

/// Reads a folder of images.
pub(super) fn read(root: &Path, options: &OpenOptions, progress: &Progress) -> Result<Dataset> {
    survey(root, options, false, progress)?.dataset(options)
}

/// Looks through a folder; `counts` counts what each pattern takes out.
pub(super) fn survey(root: &Path, options: &OpenOptions, counts: bool, progress: &Progress) -> Result<Survey> {
    let mut walk = walk(root, &options.exclude, counts, progress)?;
    let pictures = std::mem::take(&mut walk.pictures);
    let mut marked = masks::Found::default();
    if options.masks != Masks::Keep {
        marked = masks::find(root, pictures.iter().map(PathBuf::as_path), options.masks == Masks::LeaveOut);
    }
    let masks = marked.masks.iter().map(|(mask, of)| Mask { path: pictures[*mask].clone(), of: pictures[*of].clone() }).collect();
    let files = pictures.into_iter().enumerate().filter(|(i, _)| !marked.masks.contains_key(i)).map(|(_, path)| found(root, path));
    Ok(Survey { root: root.to_owned(), files: files.collect(), masks, doubtful: marked.doubtful, walk })
}

impl Survey {
    /// The pictures with the classes that these options give them.
    pub(super) fn dataset(&self, options: &OpenOptions) -> Result<Dataset> {
        let Self { root, files, walk, .. } = self;
        if files.is_empty() && (walk.skipped.is_empty() || !options.unlabelled_too) {
            return Err(no_pictures(root, walk));
        }
        let mut choice = names::choose_by(files, Found::name);
        let plan = match plan(root, options, files, choice.as_ref()) {
            Err(_) if options.unlabelled_too && options.labels == Labels::Auto => Plan::Nowhere { date: None },
            plan => plan?,
        };
        choice = choice.filter(|choice| match plan {
            Plan::Folders { level } => agrees(choice, files, |folders| folders.get(level)),
            Plan::Paths { .. } => agrees(choice, files, <[Folder]>::last),
            Plan::Names => true,
            Plan::Whole { .. } | Plan::Nowhere { .. } => choice.is_convincing(),
        });

        let class_folders: BTreeSet<&str> = match plan {
            Plan::Folders { level } => files.iter().filter_map(|file| file.folders.get(level)).map(|folder| folder.name.as_str()).collect(),
            _ => BTreeSet::new(),
        };

        let mut skipped = walk.skipped.clone();
        let mut labelled = Vec::with_capacity(files.len());
        let mut splits = BTreeSet::new();
        for file in files {
            splits.extend(folders_of(root, &file.path).filter(|name| is_split(name)));
            let name = choice.as_ref().and_then(|choice| file.name(choice.pattern));
            match label(file, &plan, &class_folders, name) {
                Ok(item) => labelled.push(item),
                Err(_) if options.unlabelled_too => {
                    let class = UNLABELLED.to_owned();
                    labelled.push(Labelled { path: file.path.clone(), class, group: None, meta: Meta::default() });
                }
                Err(detail) => skipped.push(Skipped { path: file.path.clone(), reason: "no_class", detail }),
            }
        }
        let pairs = join_pairs(&mut labelled, options.camera);
        skipped.sort_by(|a, b| a.path.cmp(&b.path));

        // Names that look alike are one class, however their accents are written.
        for item in &mut labelled {
            if let Cow::Owned(name) = composed(&item.class) {
                item.class = name;
            }
        }
        let classes: Vec<String> = labelled.iter().map(|item| item.class.clone()).collect::<BTreeSet<_>>().into_iter().collect();
        let items: Vec<Item> = labelled
            .into_iter()
            .map(|Labelled { path, class, group, meta }| {
                let class = ClassId(classes.partition_point(|name| *name < class) as u32);
                Item { source: ImageSource::File(path), class, group, meta }
            })
            .collect();
        let n_classes = classes.iter().filter(|class| *class != UNLABELLED || !options.unlabelled_too).count();
        let layout = Layout {
            classes_from: match plan {
                Plan::Folders { .. } => ClassesFrom::Folders,
                Plan::Paths { .. } => ClassesFrom::Paths,
                Plan::Names => ClassesFrom::Names,
                Plan::Whole { .. } => ClassesFrom::WholeFolder,
                Plan::Nowhere { .. } => ClassesFrom::Nowhere,
            },
            pattern: choice.as_ref().map(|choice| choice.pattern.name),
            words: self.words(&plan, choice.as_ref(), &splits, n_classes, pairs, options.camera),
            preview: preview(&items, &classes),
            pairs,
            ignored: walk.others.len(),
            hidden: walk.hidden,
        };
        Ok(Dataset { root: root.clone(), classes, items, layout, skipped, masks: self.masks.clone(), others: walk.others.clone() })
    }

    /// How the files were understood.
    fn words(
        &self,
        plan: &Plan,
        choice: Option<&Choice>,
        splits: &BTreeSet<String>,
        n_classes: usize,
        pairs: usize,
        camera: Camera,
    ) -> String {
        let files = &self.files;
        let mut parts = vec![match plan {
            Plan::Folders { level } => {
                let inner: BTreeSet<&str> = files.iter().filter_map(|file| file.folders.get(level + 1)).map(|f| f.name.as_str()).collect();
                let wrappers = files.iter().filter_map(|file| file.folders.get(level.checked_sub(1)?)).map(|folder| folder.name.as_str());
                let wrappers: Vec<&str> = wrappers.collect::<BTreeSet<_>>().into_iter().take(3).collect();
                let wrapper = if wrappers.is_empty() { String::new() } else { format!(" inside {}", wrappers.join(", ")) };
                let inner = match inner.first() {
                    Some(first) => format!("; the folders inside them, such as {first}, are single objects, seen several times"),
                    None => String::new(),
                };
                format!("the folders{wrapper} are the classes ({n_classes}){inner}")
            }
            Plan::Paths { level } => {
                let longest = files.iter().filter_map(|file| file.folders.get(*level..)).max_by_key(|folders| folders.len());
                let example: Vec<&str> = longest.into_iter().flatten().map(|folder| folder.name.as_str()).collect();
                format!("the paths of folders, such as {}, are the classes ({n_classes})", example.join("/"))
            }
            Plan::Names => format!("the names of the files tell the classes ({n_classes})"),
            Plan::Whole { class } => format!("all pictures are of one class: {class}"),
            Plan::Nowhere { date: Some(date) } => {
                format!("the folders are dates, such as {date}, and tell no classes; the pictures have no labels")
            }
            Plan::Nowhere { date: None } => "the pictures have no labels".into(),
        }];
        if !splits.is_empty() {
            let splits: Vec<&str> = splits.iter().map(String::as_str).collect();
            parts.push(format!("not taken for classes: {}", splits.join(", ")));
        }
        if let Some(choice) = choice {
            let (pattern, fits, of) = (choice.pattern, choice.fits, choice.of);
            parts.push(format!("names are read as {}, like {} ({fits} of {of})", pattern.name, pattern.example));
        }
        if pairs > 0 {
            let side = if camera == Camera::Left { "left" } else { "right" };
            parts.push(format!("{} are one item each, seen by the {side} camera", count(pairs, "stereo pair")));
        }
        match self.masks.len() {
            0 => {}
            1 => parts.push("1 mask or map of another picture is left out".into()),
            n => parts.push(format!("{n} masks or maps of other pictures are left out")),
        }
        parts.join("; ")
    }
}

fn found(root: &Path, path: PathBuf) -> Found {
    let mut folders = Vec::new();
    let mut in_split = false;
    for name in folders_of(root, &path) {
        if is_split(&name) {
            in_split = true;
        } else {
            folders.push(Folder { name, in_split });
            in_split = false;
        }
    }
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
    Found { path, folders, stem }
}

/// The names of the folders between `root` and the file at `path`.
fn folders_of(root: &Path, path: &Path) -> impl Iterator<Item = String> {
    let between = path.strip_prefix(root).ok().and_then(Path::parent).unwrap_or(Path::new(""));
    between.components().filter_map(|component| match component {
        Component::Normal(name) => Some(text(name)),
        _ => None,
    })
}

/// A name as text, so that different names stay different: bytes that are none become `\xE9` and
/// the like, and so does a backslash that would look like one of these.
fn text(name: &OsStr) -> String {
    let mut out = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        out.push_str(&chunk.valid().replace("\\x", "\\x5Cx"));
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02X}")));
    }
    out
}

fn is_split(folder: &str) -> bool {
    SPLITS.contains(&folder.to_lowercase().as_str())
}

/// The name of a folder as the class of all its pictures.
///
/// # Errors
/// [`Error::Data`] where it is none, as of a folder called `images` or `train`.
pub fn class_of_folder(folder: &Path) -> Result<String> {
    let name = folder.file_name().map(text).unwrap_or_default();
    if name.is_empty() || is_split(&name) || name == UNLABELLED {
        let found = if name.is_empty() { "one without a name".to_owned() } else { format!("one that is called {name}") };
        return Err(Error::data(folder, "a folder whose name is a class", found, "name the class, or read labels elsewhere"));
    }
    Ok(name)
}

fn plan(root: &Path, options: &OpenOptions, files: &[Found], choice: Option<&Choice>) -> Result<Plan> {
    let n_in_folders = files.iter().filter(|file| !file.folders.is_empty()).count();
    let agreed = choice.and_then(|choice| (0..4).find(|&level| agrees(choice, files, |folders| folders.get(level))));
    let folders = Plan::Folders { level: agreed.unwrap_or_else(|| class_level(files)) };
    let date = || if options.passes_dates && agreed.is_none() { date_folder(root, files) } else { None };
    match options.labels {
        Labels::None => Ok(Plan::Nowhere { date: None }),
        Labels::ClassFolders if n_in_folders > 0 => Ok(folders),
        Labels::FolderPaths if n_in_folders > 0 => Ok(Plan::Paths { level: class_level(files) }),
        Labels::ClassFolders | Labels::FolderPaths => Err(no_classes(root, files, "a folder for each class")),
        Labels::WholeFolder => Ok(Plan::Whole { class: options.one_class.clone().map_or_else(|| class_of_folder(root), Ok)? }),
        Labels::NorbNames if choice.is_some() => Ok(Plan::Names),
        Labels::NorbNames => Err(no_classes(root, files, "names such as truck_07_3_12_4_lt.png")),
        Labels::Auto => match choice.filter(|choice| choice.is_convincing()) {
            // One folder around everything explains less than names that tell several classes
            // apart, and so do folders that only number these classes.
            Some(choice) if agreed.is_none() && choice.n_categories > 1 && (n_class_folders(files) == 1 || are_numbered(choice, files)) => {
                Ok(Plan::Names)
            }
            Some(_) if 2 * n_in_folders < files.len() => Ok(Plan::Names),
            convincing => match (date(), convincing) {
                (Some(_), Some(_)) => Ok(Plan::Names),
                (date @ Some(_), None) => Ok(Plan::Nowhere { date }),
                _ if n_in_folders > 0 && agreed.is_none() && are_tree(files) => Ok(Plan::Paths { level: class_level(files) }),
                _ if n_in_folders > 0 => Ok(folders),
                _ => Err(no_classes(root, files, "a folder for each class, or names such as truck_07_3_12_4_lt.png")),
            },
        },
    }
}

/// Whether the folders of classes have numbers for names, and nearly all names in each have one
/// category, which no other folder has.
fn are_numbered(choice: &Choice, files: &[Found]) -> bool {
    let level = class_level(files);
    let mut folders: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for file in files {
        if let (Some(folder), Some(name)) = (file.folders.get(level), file.name(choice.pattern)) {
            *folders.entry(&folder.name).or_default().entry(name.category).or_default() += 1;
        }
    }
    let mut categories = BTreeSet::new();
    folders.iter().all(|(folder, names)| {
        let all: usize = names.values().sum();
        let largest = names.iter().max_by_key(|(_, n)| **n);
        largest.is_some_and(|(category, n)| !folder.contains(char::is_alphabetic) && n * 20 >= all * 19 && categories.insert(category))
    })
}

fn n_class_folders(files: &[Found]) -> usize {
    let level = class_level(files);
    files.iter().filter_map(|file| file.folders.get(level)).map(|folder| &folder.name).collect::<BTreeSet<_>>().len()
}

/// The level of the folders that are classes: the outermost, unless that is one folder wrapped
/// around all others. But one folder with nothing but numbers in it is a class with its objects
/// (`truck/07`), if no split stands between them (`mnist/train/3`).
fn class_level(files: &[Found]) -> usize {
    let inside: Vec<&[Folder]> = files.iter().map(|file| file.folders.as_slice()).filter(|folders| !folders.is_empty()).collect();
    let Some(least) = inside.iter().map(|folders| folders.len()).min() else {
        return 0;
    };
    let level = (0..least - 1).take_while(|&k| inside.iter().all(|folders| folders[k].name == inside[0][k].name)).count();
    let names: BTreeSet<&str> = inside.iter().map(|folders| folders[level].name.as_str()).collect();
    let are_objects = names.iter().all(|name| !name.contains(char::is_alphabetic)) && !inside.iter().all(|folders| folders[level].in_split);
    if names.len() > 1 && !are_objects { level } else { 0 }
}

/// A folder with a date for a name, where at least half of the folders have one, with at least half
/// of the pictures in folders: of those that would be classes, or of those inside the folders
/// around all pictures. Below a year months and days may be bare numbers.
fn date_folder(root: &Path, files: &[Found]) -> Option<String> {
    let at = |level: usize| files.iter().filter_map(move |file| Some(file.folders.get(level)?.name.as_str()));
    let deepest = files.iter().map(|file| file.folders.len()).max().filter(|depth| *depth > 0)? - 1;
    let inside = (0..deepest).find(|&level| at(level).collect::<BTreeSet<_>>().len() > 1).unwrap_or(deepest);
    let is_below_year = root.file_name().is_some_and(|name| is_date(&text(name)));
    [class_level(files), inside].into_iter().find_map(|level| {
        let names: BTreeSet<&str> = at(level).collect();
        let is_dated = |name: &str| is_date(name) || is_below_year && level == 0 && is_part_of_date(name);
        let dates: BTreeSet<&str> = names.iter().copied().filter(|name| is_dated(name)).collect();
        let dated = at(level).filter(|name| dates.contains(name)).count();
        dates.first().filter(|_| dates.len() * 2 >= names.len() && dated * 2 >= at(0).count()).map(|name| (*name).to_owned())
    })
}

/// Whether the folders are a tree of classes rather than classes with their single objects in them:
/// a tenth of the pictures or more lie at another depth than most, or some in folders three deep,
/// or there are twenty inner folders or more, and the inner folders have words for names, more that
/// stand below one outer folder alone than there are outer ones.
fn are_tree(files: &[Found]) -> bool {
    let level = class_level(files);
    let below: Vec<&[Folder]> = files.iter().filter_map(|file| file.folders.get(level..)).filter(|below| !below.is_empty()).collect();
    let mut depths: BTreeMap<usize, usize> = BTreeMap::new();
    let mut above: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for folders in &below {
        *depths.entry(folders.len()).or_default() += 1;
        for folder in &folders[1..] {
            above.entry(&folder.name).or_default().insert(&folders[0].name);
        }
    }
    let outer: BTreeSet<&str> = below.iter().map(|folders| folders[0].name.as_str()).collect();
    let usual = depths.values().max().copied().unwrap_or_default();
    let are_deep = (below.len() - usual) * 10 >= below.len().max(1) || depths.keys().any(|depth| *depth > 2);
    let words = above.keys().filter(|name| !name.contains(char::is_numeric)).count();
    let own = above.values().filter(|outer| outer.len() == 1).count();
    (are_deep || own >= MANY) && words * 10 >= above.len() * 9 && own > outer.len()
}

/// Whether at least four of five names have the name of this one of their folders as their
/// category.
fn agrees(choice: &Choice, files: &[Found], folder: impl Fn(&[Folder]) -> Option<&Folder>) -> bool {
    let parsed = files.iter().filter_map(|file| Some((folder(&file.folders)?, file.name(choice.pattern)?)));
    let n_same = parsed.filter(|(folder, name)| is_same_class(&name.category, &folder.name)).count();
    let n_in_folders = files.iter().filter(|file| !file.folders.is_empty()).count();
    choice.fits_most() && n_same > 0 && n_same * 5 >= n_in_folders * 4
}

/// Compares letters and digits only, and forgives a plural.
fn is_same_class(a: &str, b: &str) -> bool {
    let bare = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    bare(a).trim_end_matches('s') == bare(b).trim_end_matches('s')
}

struct Labelled {
    path: PathBuf,
    class: String,
    group: Option<String>,
    meta: Meta,
}

/// The item of a file, or why it has no class.
fn label(file: &Found, plan: &Plan, class_folders: &BTreeSet<&str>, name: Option<Name>) -> Result<Labelled, String> {
    let item = |class: &str, instance: Option<String>, meta| Labelled {
        path: file.path.clone(),
        class: class.to_owned(),
        group: instance.map(|instance| group_name(class, &instance)),
        meta,
    };
    let instance = |name: &Name| name.meta.instance.map(|instance| instance.to_string());
    match (plan, name) {
        (Plan::Folders { level }, name) => match (file.folders.get(*level), name) {
            (Some(folder), Some(name)) if is_same_class(&name.category, &folder.name) => Ok(item(&folder.name, instance(&name), name.meta)),
            (Some(folder), _) => {
                let inner = file.folders.get(level + 1).map(|inner| inner.name.clone());
                let meta = Meta { instance: inner.as_ref().and_then(|inner| inner.parse().ok()), ..Meta::default() };
                Ok(item(&folder.name, inner, meta))
            }
            (None, Some(name)) => {
                let same = class_folders.iter().find(|folder| is_same_class(&name.category, folder));
                Ok(item(same.copied().unwrap_or(&name.category), instance(&name), name.meta))
            }
            (None, None) => Err("lies beside the folders that are the classes, not in one of them".into()),
        },
        (Plan::Paths { level }, name) => {
            let path: Vec<&str> = file.folders.iter().skip(*level).map(|folder| folder.name.as_str()).collect();
            let Some(innermost) = path.last() else {
                return Err("lies beside the folders whose paths are the classes, not in one of them".into());
            };
            let class = path.join("/");
            match name.filter(|name| is_same_class(&name.category, innermost)) {
                Some(name) => Ok(item(&class, instance(&name), name.meta)),
                None => Ok(item(&class, None, Meta::default())),
            }
        }
        (Plan::Names, Some(name)) => Ok(item(&name.category, instance(&name), name.meta)),
        (Plan::Names, None) => Err("its name is not of the form of the others".into()),
        (Plan::Whole { class }, name) => match name.filter(|name| is_same_class(&name.category, class)) {
            Some(name) => Ok(item(class, instance(&name), name.meta)),
            None => Ok(item(class, None, Meta::default())),
        },
        (Plan::Nowhere { .. }, name) => {
            let group = name.as_ref().and_then(|name| Some(group_name(&name.category, &instance(name)?)));
            Ok(Labelled { group, ..item(UNLABELLED, None, name.map(|name| name.meta).unwrap_or_default()) })
        }
    }
}

/// Makes one item of the two halves of each stereo pair, and counts the pairs. `l` and `r` name
/// cameras only where the pattern says so: elsewhere they may be sizes. `left` and `right` may be
/// what a picture shows, unless most pictures of a folder come in pairs.
fn join_pairs(items: &mut Vec<Labelled>, wanted: Camera) -> usize {
    let mut halves: BTreeMap<_, Vec<(Camera, usize)>> = BTreeMap::new();
    for (i, item) in items.iter().enumerate() {
        let stem = item.path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let Some((before, camera, kind)) = names::split_camera(stem) else { continue };
        if kind > 1 || item.meta.camera.is_some() {
            let ending = item.path.extension().map(OsStr::to_ascii_lowercase);
            let key = (item.path.parent().map(Path::to_owned), before.to_lowercase(), kind, ending);
            halves.entry(key).or_default().push((camera, i));
        }
    }
    let mut folders: BTreeMap<Option<PathBuf>, (usize, usize)> = BTreeMap::new();
    for item in items.iter() {
        folders.entry(item.path.parent().map(Path::to_owned)).or_default().0 += 1;
    }
    halves.retain(|_, pair| matches!(pair[..], [(first, _), (second, _)] if first != second));
    for (folder, ..) in halves.keys() {
        folders.entry(folder.clone()).or_default().1 += 2;
    }
    let is_paired = |folder: &Option<PathBuf>| folders.get(folder).is_some_and(|(of, in_pairs)| in_pairs * 2 > *of);
    let mut dropped = BTreeSet::new();
    for ((folder, _, kind, _), mut pair) in halves {
        pair.sort_by_key(|(camera, _)| *camera != wanted);
        if let [(first, keep), (_, other)] = pair[..]
            && (kind < 4 || items[keep].meta.camera.is_some() || is_paired(&folder))
        {
            let partner = items[other].path.clone();
            let meta = &mut items[keep].meta;
            (meta.camera, meta.partner) = (Some(first), Some(partner));
            dropped.insert(other);
        }
    }
    let mut i = 0;
    items.retain(|_| {
        i += 1;
        !dropped.contains(&(i - 1))
    });
    dropped.len()
}

fn no_pictures(root: &Path, walk: &Walk) -> Error {
    let expected = "PNG, JPEG, GIF, WebP, BMP, TIFF or Netpbm pictures";
    if let Some(matrix) = &walk.matrix {
        let advice = "unpack the .gz files if there are any, and name one of the -dat.mat files";
        return Error::data(root, expected, format!("none, but {}", error::display(matrix)), advice);
    }
    let skipped = |reason| walk.skipped.iter().filter(|skipped| skipped.reason == reason).count();
    let counts = [
        (skipped("unsupported"), "file of an unknown format"),
        (skipped("link"), "link to a folder or to nothing"),
        (skipped("io"), "unreadable folder"),
        (walk.others.len(), "other file"),
    ];
    let found: Vec<String> = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what)).collect();
    let found = if found.is_empty() { "nothing".into() } else { found.join(", ") };
    Error::data(root, expected, found, "name the folder that the pictures themselves lie in, or convert those of other formats")
}

fn no_classes(root: &Path, files: &[Found], expected: &str) -> Error {
    let example = files.first().map(|file| error::display(Path::new(file.path.file_name().unwrap_or_default())));
    let found = format!("{} without them, such as {}", count(files.len(), "picture"), example.unwrap_or_default());
    Error::data(root, expected, found, "move the pictures of each class into a folder of their own")
}
