//! Finds pictures that are masks or maps of other pictures: by their names and folders, and by the
//! first bytes of a few of them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use crate::picture::glance::{Colours, Glance};

/// Words in names of masks, in lower case. Digits may follow them.
const WORDS: [&str; 28] = [
    "annotation",
    "annotations",
    "depth",
    "disparity",
    "groundtruth",
    "gt",
    "label",
    "labels",
    "map",
    "maps",
    "mask",
    "masks",
    "matte",
    "mattes",
    "seg",
    "segm",
    "segmentation",
    "segmentationclass",
    "segmentationobject",
    "segmentations",
    "segs",
    "silhouette",
    "silhouettes",
    "trimap",
    "trimaps",
    "truth",
    "truths",
    "ground",
];

/// Words in names of the pictures that masks belong to, and of their folders, in lower case.
const PICTURES: [&str; 15] = [
    "image",
    "images",
    "img",
    "imgs",
    "jpeg",
    "jpegimages",
    "jpg",
    "original",
    "originals",
    "photo",
    "photos",
    "picture",
    "pictures",
    "png",
    "rgb",
];

/// Files of each kind of which the first bytes are looked at.
const SAMPLE: usize = 8;

/// A picture, as its path below the root says it.
struct Named {
    /// The words of its folders.
    folders: Vec<String>,
    /// The words of its name.
    stem: Vec<String>,
    /// What its name ends with, in lower case.
    ending: String,
}

/// Pictures that are masks of others.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Positions of masks, each with that of its picture.
    pub(super) masks: BTreeMap<usize, usize>,
    /// How many are named like masks, but look like photographs.
    pub(super) doubtful: usize,
}

/// Finds masks among the pictures at `paths`. `trusts_names` takes those that are named like masks
/// without looking at them.
pub(super) fn find<'a>(root: &Path, paths: impl Iterator<Item = &'a Path>, trusts_names: bool) -> Found {
    let paths: Vec<&Path> = paths.collect();
    let named: Vec<Named> = paths.iter().map(|path| Named::of(root, path)).collect();
    let mut found = Found::default();
    for (_, candidates) in candidates(&named) {
        if trusts_names || look_like_masks(&paths, &candidates) {
            found.masks.extend(candidates);
        } else {
            found.doubtful += candidates.len();
        }
    }
    for (_, twins) in twins(&paths, &found.masks) {
        if most_are(&twins, |mask, of| is_outline(paths[mask], paths[of])) {
            found.masks.extend(twins.into_iter().filter(|(mask, _)| flatness(paths[*mask]).is_some_and(|own| own != Flatness::Full)));
        }
    }
    found
}

/// Pictures that have the name of a JPEG beside them but for its ending, by folder and ending.
fn twins(paths: &[&Path], masks: &BTreeMap<usize, usize>) -> BTreeMap<(PathBuf, String), Vec<(usize, usize)>> {
    let ending = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let others = (0..paths.len()).filter(|i| !masks.contains_key(i));
    let (jpegs, rest): (Vec<usize>, Vec<usize>) = others.partition(|i| matches!(&*ending(paths[*i]), "jpg" | "jpeg"));
    let jpegs: HashMap<PathBuf, usize> = jpegs.into_iter().map(|i| (paths[i].with_extension(""), i)).collect();
    let mut twins: BTreeMap<(PathBuf, String), Vec<(usize, usize)>> = BTreeMap::new();
    for i in rest {
        if let Some(of) = jpegs.get(&paths[i].with_extension("")) {
            let folder = paths[i].parent().unwrap_or(paths[i]).to_owned();
            twins.entry((folder, ending(paths[i]))).or_default().push((i, *of));
        }
    }
    twins
}

/// Whether a file is as large a picture as another, perhaps turned, with less than a bit for each
/// pixel where that has more: outlines and areas, of what may be a photograph. `None` where that is
/// unknown.
fn is_outline(path: &Path, of: &Path) -> Option<bool> {
    let bytes = |path: &Path| Some(fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len());
    let (own, other) = (Glance::at(path)?, Glance::at(of)?);
    let pixels = u64::from(own.size.0) * u64::from(own.size.1);
    let is_as_large = own.size == other.size || own.size == (other.size.1, other.size.0);
    Some(own.is_exact && is_as_large && bytes(path)? * 8 < pixels && bytes(of)? * 8 >= pixels)
}

/// What masks of one kind have in common: whether the word stands in their names, the word, their
/// folder, and the ending of their names.
type Kind = (bool, &'static str, String, String);

/// Pictures that are named like masks of others, by their kind.
fn candidates(named: &[Named]) -> BTreeMap<Kind, Vec<(usize, usize)>> {
    let mut pictures: HashMap<(String, String), usize> = HashMap::new();
    let mut kinds: BTreeMap<Kind, Vec<(usize, usize)>> = BTreeMap::new();
    let kind = |is_in_name, word, name: &Named| (is_in_name, word, name.folders.join("/"), name.ending.clone());
    let (in_names, others): (Vec<usize>, Vec<usize>) = (0..named.len()).partition(|i| named[*i].word().is_some());
    let (in_folders, plain): (Vec<usize>, Vec<usize>) = others.into_iter().partition(|i| named[*i].folder_word().is_some());
    for i in plain {
        named[i].enter(&mut pictures, i);
    }
    let mut without = Vec::new();
    for i in in_folders {
        let name = &named[i];
        let key = (name.place(true), name.stem.join("-"));
        match (pictures.get(&key), name.folder_word()) {
            (Some(of), Some(word)) => kinds.entry(kind(false, word, name)).or_default().push((i, *of)),
            _ => without.push(i),
        }
    }
    // What lies in a folder of that name without being a mask may have masks itself.
    for i in without {
        named[i].enter(&mut pictures, i);
    }
    for i in in_names {
        let name = &named[i];
        let places = [name.place(false), name.place(true)];
        let of = name.stems().into_iter().flat_map(|stem| places.clone().map(|place| (place, stem.clone())));
        if let (Some(of), Some(word)) = (of.filter_map(|key| pictures.get(&key)).next(), name.word()) {
            kinds.entry(kind(true, word, name)).or_default().push((i, *of));
        }
    }
    kinds
}

impl Named {
    fn of(root: &Path, path: &Path) -> Self {
        let below = path.strip_prefix(root).unwrap_or(path);
        let folders = below.parent().into_iter().flat_map(Path::iter).flat_map(|name| words(&name.to_string_lossy())).collect();
        let ending = below.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        Self { folders, stem: words(&below.file_stem().unwrap_or_default().to_string_lossy()), ending }
    }

    /// The word of masks in its name: at its end, before a number at its end, or at its beginning.
    fn word(&self) -> Option<&'static str> {
        let stem = &self.stem;
        let last = stem.len().checked_sub(1)?;
        let before = last.checked_sub(1).filter(|_| stem[last].bytes().all(|byte| byte.is_ascii_digit()));
        [Some(last), before, Some(0)].into_iter().flatten().find_map(|i| mask_word(&stem[i]))
    }

    fn folder_word(&self) -> Option<&'static str> {
        self.folders.iter().find_map(|word| mask_word(word))
    }

    /// Its folder without words of pictures, and perhaps without those of masks.
    fn place(&self, drops_masks: bool) -> String {
        let stays = |word: &&String| !(PICTURES.contains(&word.as_str()) || drops_masks && mask_word(word).is_some());
        let words: Vec<&str> = self.folders.iter().filter(stays).map(String::as_str).collect();
        words.join("/")
    }

    /// The names of the picture that it may be a mask of.
    fn stems(&self) -> Vec<String> {
        let is_word = |word: &String| mask_word(word).is_some();
        let mut end = self.stem.len();
        let last = self.stem.last().cloned();
        if end >= 2 && self.stem[end - 1].bytes().all(|byte| byte.is_ascii_digit()) && is_word(&self.stem[end - 2]) {
            end -= 1;
        }
        end -= self.stem[..end].iter().rev().take_while(|word| is_word(word)).count();
        let start = self.stem.iter().take_while(|word| is_word(word)).count();
        match (start, end) {
            // A folder for each picture, in which the mask is called so.
            (_, 0) => {
                let number = last.filter(|_| start < self.stem.len());
                number.into_iter().chain(["image", "img", "photo", "picture", "rgb", "original"].map(str::to_owned)).collect()
            }
            (0, end) => vec![self.stem[..end].join("-")],
            (start, end) if end < self.stem.len() => vec![self.stem[..end].join("-"), self.stem[start..].join("-")],
            (start, _) => vec![self.stem[start..].join("-")],
        }
    }

    /// Enters it as a picture that may have masks.
    fn enter(&self, pictures: &mut HashMap<(String, String), usize>, i: usize) {
        let bare: Vec<&str> = self.stem.iter().map(String::as_str).filter(|word| !PICTURES.contains(word)).collect();
        for place in [self.place(false), self.place(true)] {
            pictures.entry((place.clone(), self.stem.join("-"))).or_insert(i);
            if !bare.is_empty() && bare.len() < self.stem.len() {
                pictures.entry((place, bare.join("-"))).or_insert(i);
            }
        }
    }
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The word of masks that a word is, if it is one; digits may follow it.
fn mask_word(word: &str) -> Option<&'static str> {
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    WORDS.into_iter().find(|known| *known == bare)
}

/// Whether at least three of four of a sample have fewer kinds of colours than their pictures.
/// Those of which nothing is known do not count; there must be others.
fn look_like_masks(paths: &[&Path], candidates: &[(usize, usize)]) -> bool {
    most_are(candidates, |mask, of| Some(flatness(paths[mask])? > flatness(paths[of]).unwrap_or(Flatness::Full)))
}

/// Whether at least three of four of a sample of candidates and their pictures are something, of
/// those of which that is known, if there are any.
fn most_are(candidates: &[(usize, usize)], is: impl Fn(usize, usize) -> Option<bool>) -> bool {
    let n = candidates.len().min(SAMPLE);
    let sample = (0..n).map(|i| candidates[i * candidates.len() / n]);
    let known: Vec<bool> = sample.filter_map(|(mask, of)| is(mask, of)).collect();
    !known.is_empty() && known.iter().filter(|is| **is).count() * 4 >= known.len() * 3
}

/// How few colours a file has, as far as its head tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Flatness {
    /// Many, as photographs have.
    Full,
    /// Few: large areas of one.
    Few,
    /// One channel, or a table of colours.
    One,
}

/// `None` where that is unknown.
fn flatness(path: &Path) -> Option<Flatness> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let glance = Glance::at(path)?;
    let pixels = u64::from(glance.size.0) * u64::from(glance.size.1);
    Some(match glance.colours {
        Colours::Grey | Colours::Table => Flatness::One,
        // Less than a bit for each pixel, as no photograph has.
        Colours::Full if glance.is_exact && meta.len() * 8 < pixels => Flatness::Few,
        Colours::Full => Flatness::Full,
    })
}
