//! What an act would change in one state of a library, worked out before it is performed, or why it
//! is refused.

use std::collections::BTreeSet;
use std::path::Path;

use super::event::{Change, ClassStyle};
use super::state::{Image, State};
use crate::error::{Error, Result};
use crate::ids::ItemId;

/// The changes of an act and its name for the history. Without changes the act has no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The act in words, as the history shows it.
    pub words: String,
    /// What it changes.
    pub changes: Vec<Change>,
}

impl Draft {
    pub(super) fn new(words: impl Into<String>, changes: Vec<Change>) -> Self {
        Self { words: words.into(), changes }
    }
}

/// Works out the changes of acts in one state of a library. Changes nothing itself.
#[derive(Clone, Copy, Debug)]
pub struct Acts<'a> {
    /// The library's folder, which errors name.
    pub library: &'a Path,
    /// What it holds.
    pub state: &'a State,
}

impl Acts<'_> {
    /// The records of some images in order, each once.
    ///
    /// # Errors
    /// [`Error::NotFound`] for one that is not in the library.
    pub(super) fn known(&self, images: &[ItemId]) -> Result<Vec<&Image>> {
        let unique: BTreeSet<ItemId> = images.iter().copied().collect();
        let known = |id: ItemId| self.state.image(id).map(AsRef::as_ref).ok_or_else(|| self.unknown(id));
        unique.into_iter().map(known).collect()
    }

    /// The records of some images that take part (see [`Image::is_live`]), in order, each once.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Removed`] for one that the user removed.
    pub(super) fn present(&self, images: &[ItemId]) -> Result<Vec<&Image>> {
        let known = self.known(images)?;
        match known.iter().find(|image| !image.is_live()) {
            Some(gone) => Err(Error::Removed { library: self.library.to_owned(), image: gone.id.0 }),
            None => Ok(known),
        }
    }

    /// How a class is shown.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it does not exist; it names the class that was probably meant.
    pub fn look(&self, class: &str) -> Result<ClassStyle> {
        self.state.class(class).ok_or_else(|| {
            let near = self.state.class_near(class).map(|near| format!(" (there is `{near}`)")).unwrap_or_default();
            let found = format!("`{class}`, which does not exist{near}");
            Error::not_found(self.library, "class", found, "one of its classes")
        })
    }

    fn unknown(&self, image: ItemId) -> Error {
        Error::not_found(self.library, "image", format!("#{}, which is not there", image.0), "an image of this library")
    }

    /// The error of an act with a value that does not fit the library.
    pub(super) fn unfit(&self, name: &'static str, found: String, expected: &'static str) -> Error {
        Error::Unfit { library: self.library.to_owned(), name, found, expected }
    }
}
