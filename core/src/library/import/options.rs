//! How a folder is imported: what the user says, and what is kept with the folder.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::data::{Labels, Masks, OpenOptions, UNLABELLED, class_of_folder, is_date};
use crate::error::{Error, Result};
use crate::library::classes::tidy_name;
use crate::library::event::{FolderReading, RootId};
use crate::library::state::{Image, Root, State};
use crate::text::composed;

/// The pattern that takes every file out.
pub(super) const ALL: &str = "*";

/// How a folder is imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Where labels are looked for.
    pub labels: Labels,
    /// The class of all images by [`Labels::WholeFolder`]; the folder's name where none is given.
    pub one_class: Option<String>,
    /// Patterns of files and folders that are left out, such as `*.tmp` or `drafts/**`.
    pub exclude: Vec<String>,
    /// What becomes of pictures that are masks of others.
    pub masks: Masks,
}

/// What the user says of how a folder is imported; the rest is as before.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// Where labels are looked for. A source that is named begins anew: nothing is as before.
    pub labels: Option<Labels>,
    /// The class of all images, which are then read by [`Labels::WholeFolder`].
    pub one_class: Option<String>,
    /// Patterns of what is left out.
    pub exclude: Vec<String>,
    /// What becomes of pictures that are masks of others.
    pub masks: Option<Masks>,
}

impl ImportRequest {
    /// Refuses what does not go together.
    ///
    /// # Errors
    /// As [`one_class`]; [`Error::Option`] for one class beside another source of labels.
    pub fn check(&self) -> Result<()> {
        let Some(class) = &self.one_class else { return Ok(()) };
        one_class(class)?;
        match self.labels {
            Some(other) if other != Labels::WholeFolder => {
                let expected = "whole-folder or left out where one class of all images is named";
                Err(Error::Option { name: "labels", found: other.name().into(), expected })
            }
            _ => Ok(()),
        }
    }

    /// How the folder is imported.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn options(self, state: Option<&State>, folder: &Path) -> Result<ImportOptions> {
        self.check()?;
        let before = ImportOptions::earlier(state.filter(|_| self.labels.is_none()), folder);
        let labels = self.labels.or(self.one_class.is_some().then_some(Labels::WholeFolder));
        Ok(ImportOptions {
            labels: labels.unwrap_or(before.labels),
            one_class: self.one_class.or(before.one_class),
            exclude: if self.exclude.is_empty() { before.exclude } else { self.exclude },
            masks: self.masks.unwrap_or(before.masks),
        })
    }
}

/// What stands between the source of labels and what becomes of masks, where a root says both.
const AND_MASKS: &str = ", masks ";

/// The name of the one class of all images as it is kept: tidy as that of any class, and composed.
///
/// # Errors
/// [`Error::Value`] when it is empty, too long, or the name for images without a class.
pub fn one_class(name: &str) -> Result<String> {
    let tidy =
        tidy_name(name).and_then(|name| if name == UNLABELLED { Err(format!("`{name}`")) } else { Ok(composed(&name).into_owned()) });
    tidy.map_err(|found| Error::value("class", format!("a name of 1 to 200 characters other than `{UNLABELLED}`"), found))
}

impl ImportOptions {
    /// Those that a folder was imported with.
    pub fn of(root: &Root) -> Self {
        let FolderReading { labels, exclude } = &root.reading;
        let (rest, class) = FolderReading::with_class(labels);
        let (labels, masks) = rest.split_once(AND_MASKS).unwrap_or((rest, ""));
        let labels = Labels::ALL.into_iter().find(|known| known.name() == labels).unwrap_or_default();
        let masks = [Masks::Keep, Masks::LeaveOut].into_iter().find(|known| known.name() == masks).unwrap_or_default();
        Self { labels, one_class: class.map(str::to_owned), exclude: exclude.clone(), masks }
    }

    /// These with the name of the one class of all images of a folder, where there is one class.
    ///
    /// # Errors
    /// As [`one_class`]; [`Error::Data`] when none is given and the folder has no name of a class.
    pub(super) fn with_class_named(&self, folder: &Path) -> Result<Self> {
        let named = match (self.labels, &self.one_class) {
            (Labels::WholeFolder, Some(name)) => Some(one_class(name)?),
            (Labels::WholeFolder, None) => Some(one_class(&class_of_folder(folder)?)?),
            _ => None,
        };
        Ok(Self { one_class: named, ..self.clone() })
    }

    /// The root with this canonical path, or else one of its name that is not where it was, which
    /// may have moved here; `None` where there is neither.
    fn root_of<'a>(state: &'a State, folder: &Path) -> Option<(RootId, &'a Root)> {
        let folders = || state.roots().filter(|(_, root)| !root.is_of_files());
        let moved = || folders().find(|(_, root)| root.path.file_name() == folder.file_name() && !root.path.is_dir());
        folders().find(|(_, root)| root.path == folder).or_else(moved)
    }

    /// Those that a folder was imported with; the one class of all images has the name that it was
    /// given since.
    fn of_folder(state: &State, folder: &Path) -> Option<Self> {
        let before = Self::root_of(state, &fs::canonicalize(folder).ok()?).map(|(_, root)| Self::of(root))?;
        let one_class = before.one_class.map(|class| state.class_meant(&class).unwrap_or(class));
        Some(Self { one_class, ..before })
    }

    /// Those to propose for a folder: as it was imported with before; without labels where the
    /// folder that was imported last was to have none. What tells the classes of one folder tells
    /// nothing of those of another.
    pub fn proposed(state: &State, folder: &Path) -> Self {
        Self::of_folder(state, folder).unwrap_or_else(|| {
            let last = state.roots().map(|(_, root)| root).filter(|root| !root.is_of_files()).last();
            let has_none = last.is_some_and(|root| Self::of(root).labels == Labels::None);
            Self { labels: if has_none { Labels::None } else { Labels::default() }, ..Self::default() }
        })
    }

    /// Those that a folder was imported with before; the usual ones where it was not.
    pub fn earlier(state: Option<&State>, folder: &Path) -> Self {
        state.and_then(|state| Self::of_folder(state, folder)).unwrap_or_default()
    }

    /// How a folder is read that is imported with these, of which the one class has its name.
    pub(super) fn reading(&self) -> FolderReading {
        let (labels, masks) = (self.labels.name(), self.masks.name());
        let labels = match &self.one_class {
            Some(class) => format!("{labels}{AND_MASKS}{masks}{}{class}", FolderReading::CLASS),
            None if self.masks == Masks::Auto => labels.to_owned(),
            None => format!("{labels}{AND_MASKS}{masks}"),
        };
        FolderReading { labels, exclude: self.exclude.clone() }
    }

    /// How an import opens a folder, by its canonical path. Folders that are dates tell no classes,
    /// but where images of the library have such classes from this folder already: they keep them.
    /// O(images).
    pub fn open(&self, state: Option<&State>, folder: &Path) -> OpenOptions {
        let (labels, masks) = (self.labels, self.masks);
        let (one_class, exclude) = (self.one_class.clone(), self.exclude.clone());
        let has_class = |id: RootId| {
            let is_date = |image: &Arc<Image>| image.folder.label.as_ref().is_some_and(|label| label.split('/').any(is_date));
            let is_of_it = |image: &Arc<Image>| is_date(image) && image.places.iter().all(|place| place.root == id);
            state.is_some_and(|state| state.images().any(is_of_it))
        };
        let root = state.and_then(|state| Self::root_of(state, folder));
        let passes_dates = labels == Labels::Auto && !root.is_some_and(|(id, _)| has_class(id));
        OpenOptions { labels, one_class, exclude, masks, unlabelled_too: true, passes_dates, ..OpenOptions::default() }
    }
}

impl Root {
    /// A folder from which only single files are taken in ([`super::import_file`]).
    pub(super) fn of_files(folder: &Path) -> Self {
        Self { path: folder.to_owned(), reading: FolderReading { labels: Labels::None.name().to_owned(), exclude: vec![ALL.into()] } }
    }

    /// Whether only single files were taken in from it ([`super::import_file`]).
    pub fn is_of_files(&self) -> bool {
        self.reading.exclude == [ALL]
    }
}
