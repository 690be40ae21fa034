//! What an import of a folder would take in, and how its files would be understood: from names, and
//! the first bytes of a few files, without decoding a picture.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::dataset::{ClassesFrom, Dataset, ImageSource, Item, Labels, Masks, OpenOptions, Skipped, UNLABELLED, count};
use super::folders::{self, Survey};
use super::norb::NorbSet;
use super::tables::{self, Matcher, PathMatch, beside, sidecar};
use super::{norb, norb_items};
use crate::error::{self, Error, Result};
use crate::ids::ClassId;
use crate::progress::Progress;

/// Examples that are shown.
pub const EXAMPLES: usize = 10;
/// Of these: masks, at most.
const MASK_EXAMPLES: usize = 3;
/// Files that may be tables of captions or labels and are looked into, at most.
const TABLES: usize = 8;
/// The largest of these, in bytes.
const TABLE_BYTES: u64 = 32 << 20;
/// How deep below the folder tables are looked for.
const TABLE_DEPTH: usize = 2;

/// What an import of a folder would do.
#[derive(Clone, Debug, Default)]
pub struct ImportPlan {
    /// The folder.
    pub root: PathBuf,
    /// Images that would be looked at; a stereo pair is one.
    pub images: usize,
    /// Of these, images that are known by their paths.
    pub known: usize,
    /// Images that are known by their paths below the folder and would be left out; they stay.
    pub known_left_out: usize,
    /// Stereo pairs.
    pub pairs: usize,
    /// Picture files by their ending, the most frequent first.
    pub kinds: Vec<(String, usize)>,
    /// Where labels were asked for.
    pub labels: Labels,
    /// Where they would be read; `None` for a folder without pictures.
    pub classes_from: Option<ClassesFrom>,
    /// How the folder was understood, in words.
    pub words: String,
    /// The classes, each with its number of images, by name.
    pub classes: Vec<(String, usize)>,
    /// Objects that are told apart.
    pub objects: usize,
    /// Images without a class.
    pub unlabelled: usize,
    /// Images with the class that a folder inside tells, which was imported by itself.
    pub of_folders_inside: usize,
    /// The sources of labels that fit the folder, with what each would give.
    pub sources: Vec<LabelSource>,
    /// Pictures left out because they are masks or maps of others.
    pub masks: usize,
    /// Pictures that are named like masks and taken in, because they look like photographs.
    pub mask_names: usize,
    /// What was to become of masks.
    pub masks_option: Masks,
    /// Images with a text file of captions beside them.
    pub captioned: usize,
    /// Tables of captions or labels in the folder.
    pub tables: Vec<TableBeside>,
    /// Patterns of what is left out, each with how many files it takes out. A file that fits
    /// several counts for each.
    pub excluded: Vec<(String, usize)>,
    /// Files that would not be taken in, and why.
    pub skipped: Vec<Skipped>,
    /// How many these are, by the reason in one word.
    pub skipped_by_reason: BTreeMap<&'static str, usize>,
    /// Hidden files and folders.
    pub hidden: usize,
    /// The `-dat.mat` file of a NORB set, which has to be unpacked first.
    pub norb: Option<PathBuf>,
    /// A few pictures, spread over the folder, by path.
    pub examples: Vec<PlannedFile>,
}

/// What a source of labels would give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSource {
    /// The source.
    pub labels: Labels,
    /// Images with a class by it.
    pub images: usize,
    /// Classes.
    pub classes: usize,
    /// Objects that are told apart.
    pub objects: usize,
    /// In words.
    pub words: String,
}

/// A table of captions or labels in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableBeside {
    /// Where it lies.
    pub path: PathBuf,
    /// The name of its format.
    pub format: &'static str,
    /// Captions in it.
    pub captions: usize,
    /// Images that it gives a label.
    pub labels: usize,
    /// Those of its captions whose names are those of images of the folder.
    pub matched_captions: usize,
    /// Those of its labels whose names are.
    pub matched_labels: usize,
    /// Different labels.
    pub classes: usize,
    /// Names in it that are those of images of the folder.
    pub matched: usize,
    /// Names that are those of none, or of several.
    pub unmatched: usize,
}

/// A picture, and how it was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedFile {
    /// The picture, below the folder.
    pub path: PathBuf,
    /// Its class.
    pub class: Option<String>,
    /// The object that it shows.
    pub object: Option<String>,
    /// Its first caption in the text file beside it, which every import reads.
    pub caption: Option<String>,
    /// Its first caption in each of [`ImportPlan::tables`], which are read on request.
    pub in_tables: Vec<Option<String>>,
    /// The picture that it is a mask of, below the folder; it would be left out.
    pub mask_of: Option<PathBuf>,
}

impl PlannedFile {
    /// The caption that it would have: that of the table at this place of the plan, if one is to be
    /// read and has any, else that in the text beside it.
    #[must_use]
    pub fn caption_with(&self, table: Option<usize>) -> Option<&str> {
        table.and_then(|table| self.in_tables.get(table)?.as_deref()).or(self.caption.as_deref())
    }
}

/// What a library knows of the files in a folder.
#[derive(Clone, Copy)]
pub struct KnownFiles<'a> {
    /// Whether a file is that of an image.
    pub is_known: &'a dyn Fn(&Path) -> bool,
    /// What is told of those of some files that lie in folders inside, which were imported by
    /// themselves.
    pub told: &'a dyn Fn(&[&Path]) -> Result<ToldFiles>,
}

impl Default for KnownFiles<'_> {
    fn default() -> Self {
        Self { is_known: &|_| false, told: &|_| Ok(ToldFiles::new()) }
    }
}

/// What is told of files, by their paths.
pub type ToldFiles = HashMap<PathBuf, ToldFile>;

/// What the folder that a file lies in was said to tell of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldFile {
    /// The class; none after it was deleted.
    pub class: Option<String>,
    /// The object.
    pub object: Option<String>,
}

impl ImportPlan {
    /// Looks through a folder. [`Dataset::open`] with the same options gives the images that are
    /// planned here.
    ///
    /// # Errors
    /// As [`Dataset::open`].
    ///
    /// # Complexity
    /// One pass over the directory entries, one over the names for each source of labels; of a few
    /// pictures the first bytes are read, and tables of captions of at most 32 MiB.
    pub fn of(folder: &Path, options: &OpenOptions, known: &KnownFiles<'_>, progress: &Progress) -> Result<Self> {
        let options = &OpenOptions { unlabelled_too: true, ..options.clone() };
        if let Some(dat) = norb::dat_of_member(folder).filter(|_| !folder.is_dir()) {
            return Self::of_norb(dat, options, progress);
        }
        let asked = Self { root: folder.to_owned(), labels: options.labels, masks_option: options.masks, ..Self::default() };
        match norb::find(folder)?.as_slice() {
            [] => {}
            [dat] => return Self::of_norb(dat.clone(), options, progress),
            several => return Err(norb::ambiguous(folder, several)),
        }
        let survey = folders::survey(folder, options, true, progress)?;
        let mut data = survey.dataset(options)?;
        let told = (known.told)(&data.items.iter().map(Item::path).collect::<Vec<_>>())?;
        let of_folders_inside = give_classes(&mut data, &told);
        progress.begin("Looking at captions beside", 0);
        let mut plan = Self { of_folders_inside, ..asked.with_classes(&data) };
        plan.images = data.items.len();
        plan.known = data.items.iter().filter(|item| (known.is_known)(item.path())).count();
        plan.pairs = data.layout.pairs;
        plan.words.clone_from(&data.layout.words);
        plan.classes_from = Some(data.layout.classes_from).filter(|_| !data.items.is_empty());
        plan.kinds = kinds(&data);
        plan.masks = data.masks.len();
        plan.mask_names = survey.doubtful;
        plan.excluded = options.exclude.iter().cloned().zip(survey.walk.excluded.iter().copied()).collect();
        plan.hidden = data.layout.hidden;
        plan.sources = sources(&survey, options, progress)?;
        let captions = plan.take_texts(&data, progress)?;
        plan.examples = examples(&data, &captions);
        Ok(plan)
    }

    /// The plan for a NORB set, whose pixels are not read.
    fn of_norb(dat: PathBuf, options: &OpenOptions, progress: &Progress) -> Result<Self> {
        let data = norb_items::dataset(&NorbSet::without_pixels(&dat, progress)?.into(), options);
        let words = format!("{}; unpack it with `tessera import LIBRARY {} --unpack DIR`", data.layout.words, error::display(&dat));
        let root = dat.parent().unwrap_or(&dat).to_owned();
        let asked = Self { root, labels: options.labels, classes_from: Some(data.layout.classes_from), ..Self::default() };
        Ok(Self { pairs: data.layout.pairs, words, norb: Some(dat), ..asked.with_classes(&data) })
    }

    fn with_classes(mut self, data: &Dataset) -> Self {
        let counts = data.by_class().into_iter().zip(&data.classes).map(|(items, name)| (name.clone(), items.len()));
        (self.classes, self.unlabelled) = (Vec::new(), 0);
        for (name, n) in counts {
            if name == UNLABELLED {
                self.unlabelled = n;
            } else {
                self.classes.push((name, n));
            }
        }
        self.objects = data.groups().len();
        self
    }

    /// Sorts what lies beside the pictures into captions, tables and the rest. Returns the first
    /// caption that each table has for each image.
    fn take_texts(&mut self, data: &Dataset, progress: &Progress) -> Result<Vec<BTreeMap<usize, String>>> {
        let others: HashSet<&Path> = data.others.iter().map(PathBuf::as_path).collect();
        let texts: HashSet<PathBuf> =
            data.items.iter().filter_map(|item| beside(item.path())).filter(|text| others.contains(text.as_path())).collect();
        self.captioned = texts.len();
        let mut rest: Vec<&PathBuf> = data.others.iter().filter(|path| !texts.contains(*path)).collect();
        let is_table = |path: &&PathBuf| may_be_table(path) && depth(&data.root, path) <= TABLE_DEPTH;
        let mut candidates: Vec<&PathBuf> = rest.iter().copied().filter(is_table).collect();
        candidates.sort_by_key(|path| (depth(&data.root, path), !is_called_captions(path)));
        let mut matcher = None;
        let mut captions = Vec::new();
        for path in candidates.into_iter().take(TABLES) {
            if !std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= TABLE_BYTES) {
                continue;
            }
            let table = match tables::read(path, progress) {
                Err(error @ Error::Cancelled) => return Err(error),
                Err(_) => continue,
                Ok(table) => table,
            };
            let matcher = matcher.get_or_insert_with(|| Matcher::new(data.items.iter().map(Item::path).enumerate()));
            let mut found = TableBeside {
                path: path.clone(),
                format: table.format.name(),
                captions: table.rows.iter().map(|row| row.captions.len()).sum(),
                labels: table.rows.iter().filter(|row| row.label.is_some()).count(),
                classes: table.rows.iter().filter_map(|row| row.label.as_deref()).collect::<HashSet<_>>().len(),
                matched_captions: 0,
                matched_labels: 0,
                matched: 0,
                unmatched: 0,
            };
            let mut firsts = BTreeMap::new();
            for row in &table.rows {
                match matcher.find_from(&table.folder, &row.path) {
                    PathMatch::One(item) => {
                        found.matched += 1;
                        found.matched_captions += row.captions.len();
                        found.matched_labels += usize::from(row.label.is_some());
                        if let Some(caption) = row.captions.first() {
                            firsts.entry(item).or_insert_with(|| caption.clone());
                        }
                    }
                    PathMatch::None | PathMatch::Several(_) => found.unmatched += 1,
                }
            }
            if found.matched > 0 {
                self.tables.push(found);
                captions.push(firsts);
            }
        }
        rest.retain(|path| self.tables.iter().all(|table| table.path != **path));
        let other = |path: &PathBuf| Skipped { path: path.clone(), reason: NO_PICTURE, detail: not_a_picture(path) };
        self.skipped = data.skipped.iter().cloned().chain(rest.into_iter().map(other)).collect();
        self.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        for file in &self.skipped {
            *self.skipped_by_reason.entry(file.reason).or_insert(0) += 1;
        }
        Ok(captions)
    }

    /// The table that a folder's captions are most likely in: one called `captions`, or else the
    /// only one that has captions of at least half of the images, and no labels.
    pub fn captions_table(&self) -> Option<&TableBeside> {
        let is_called = |table: &&TableBeside| is_called_captions(&table.path) && depth(&self.root, &table.path) == 1;
        let is_of_most = |table: &&TableBeside| 2 * table.matched >= self.images && table.matched_captions > 0 && table.matched_labels == 0;
        let mut of_most = self.tables.iter().filter(is_of_most);
        self.tables.iter().find(is_called).or_else(|| of_most.next().filter(|_| of_most.next().is_none()))
    }
}

/// Gives images the classes and objects that are told of them, whatever their folders and names
/// say. Returns how many have a class so.
fn give_classes(data: &mut Dataset, told: &ToldFiles) -> usize {
    if told.is_empty() {
        return 0;
    }
    let class = |item: &Item| match told.get(item.path()) {
        Some(told) => told.class.as_deref().unwrap_or(UNLABELLED),
        None => data.class_name(item.class),
    };
    let names: Vec<String> = data.items.iter().map(|item| class(item).to_owned()).collect();
    data.classes = names.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let mut given = 0;
    for (item, name) in data.items.iter_mut().zip(&names) {
        item.class = ClassId(data.classes.partition_point(|class| class < name) as u32);
        if let Some(told) = told.get(item.path()) {
            item.group.clone_from(&told.object);
            given += usize::from(told.class.is_some());
        }
    }
    given
}

impl LabelSource {
    /// How many classes, objects and images it gives, in words.
    pub fn counts(&self) -> String {
        let (objects, images) = (count(self.objects, "object"), count(self.images, "labelled image"));
        format!("{}, {objects}, {images}", count(self.classes, "class"))
    }
}

/// The reason for files that are no pictures by their ending.
pub const NO_PICTURE: &str = "no_picture";

/// What is said of a file that is no picture by its ending.
pub fn not_a_picture(path: &Path) -> String {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("txt") => "a text, and no image beside it has its name".into(),
        Some(ending) if may_be_table(path) => {
            format!("a file of kind {}, no picture; captions and labels in it are read on request", ending.to_uppercase())
        }
        Some(ending) => format!("a file of kind {}, no picture", ending.to_uppercase()),
        None => "no picture".into(),
    }
}

/// How many folders a path lies below the root, itself counted.
fn depth(root: &Path, path: &Path) -> usize {
    path.strip_prefix(root).unwrap_or(path).components().count()
}

/// Whether a file may be a table of captions or labels, by its ending.
pub fn may_be_table(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    ["csv", "tsv", "json", "jsonl", "txt"].contains(&ending.as_str())
}

fn is_called_captions(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "captions")
}

/// Picture files by their ending, the most frequent first.
fn kinds(data: &Dataset) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let partners = data.items.iter().filter_map(|item| item.meta.partner.as_deref());
    for path in data.items.iter().map(Item::path).chain(partners).chain(data.masks.iter().map(|mask| mask.path.as_path())) {
        let ending = path.extension().map_or_else(|| "none".to_owned(), |ending| ending.to_string_lossy().to_lowercase());
        *counts.entry(ending).or_default() += 1;
    }
    let mut kinds: Vec<(String, usize)> = counts.into_iter().collect();
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    kinds
}

/// The sources that fit, each with what it gives. Names fit where half of them are of one form,
/// and paths of folders where they are other classes than folders of one level.
fn sources(survey: &Survey, options: &OpenOptions, progress: &Progress) -> Result<Vec<LabelSource>> {
    let mut out = Vec::new();
    let mut by_folders = None;
    for labels in Labels::ALL.into_iter().filter(|labels| *labels != Labels::Auto) {
        progress.step()?;
        let Ok(data) = survey.dataset(&OpenOptions { labels, ..options.clone() }) else { continue };
        let images = match labels {
            Labels::None => 0,
            _ => data.items.iter().filter(|item| data.class_name(item.class) != UNLABELLED).count(),
        };
        if labels == Labels::NorbNames && images * 2 < data.items.len() && options.labels != labels {
            continue;
        }
        let classes = if labels == Labels::None { 0 } else { data.classes.iter().filter(|class| *class != UNLABELLED).count() };
        let objects = data.groups().len();
        if labels == Labels::FolderPaths && by_folders.as_ref() == Some(&(data.classes.clone(), objects)) && options.labels != labels {
            continue;
        }
        if labels == Labels::ClassFolders {
            by_folders = Some((data.classes, objects));
        }
        out.push(LabelSource { labels, images, classes, objects, words: data.layout.words });
    }
    Ok(out)
}

/// A few pictures of the folder, masks among them where there are some.
fn examples(data: &Dataset, captions: &[BTreeMap<usize, String>]) -> Vec<PlannedFile> {
    let below = |path: &Path| path.strip_prefix(&data.root).unwrap_or(path).to_owned();
    let of_masks = spread(data.masks.len(), MASK_EXAMPLES.max(EXAMPLES.saturating_sub(data.items.len())));
    let of_items = spread(data.items.len(), EXAMPLES - of_masks.len().min(EXAMPLES));
    let mut out: Vec<PlannedFile> = of_masks
        .into_iter()
        .map(|i| PlannedFile { path: below(&data.masks[i].path), mask_of: Some(below(&data.masks[i].of)), ..PlannedFile::default() })
        .collect();
    for i in of_items {
        let item = &data.items[i];
        let ImageSource::File(path) = &item.source else { continue };
        out.push(PlannedFile {
            path: below(path),
            class: Some(data.class_name(item.class).to_owned()).filter(|class| class != UNLABELLED),
            object: item.group.clone(),
            caption: sidecar(path).ok().flatten().and_then(|lines| lines.into_iter().next()),
            in_tables: captions.iter().map(|firsts| firsts.get(&i).cloned()).collect(),
            mask_of: None,
        });
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}

/// At most `n` positions of `of`, each in the middle of an equal part.
fn spread(of: usize, n: usize) -> Vec<usize> {
    let n = n.min(of);
    (0..n).map(|i| (2 * i + 1) * of / (2 * n)).collect()
}
