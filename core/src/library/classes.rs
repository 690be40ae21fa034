//! The classes of a library: making, renaming, joining and deleting them, and what their names may
//! be.

use std::collections::BTreeSet;

use super::draft::{Acts, Draft};
use super::event::{Change, ClassStyle, Field, FolderWord, Swap, UserLabel};
use super::state::State;
use crate::error::Result;
use crate::ids::ItemId;
use crate::text::composed;

/// Longest class name in characters.
const LONGEST_NAME: usize = 200;

impl Acts<'_> {
    /// Makes a class without images.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when there is one of that name or the name cannot be one.
    pub fn new_class(&self, name: &str) -> Result<Draft> {
        let name = self.tidy_name(name)?;
        if self.state.class(&name).is_some() {
            return Err(self.unfit("class", format!("`{name}`, which exists"), "a new name"));
        }
        let changes = self.state.new_classes([name.as_str()]);
        Ok(Draft::new(format!("Made class {name}"), changes))
    }

    /// Gives a class another name; a name that exists already joins the two. Images whose folder
    /// stands for the old name follow, now and in later imports.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when the class does not exist; [`crate::Error::Unfit`] when the
    /// name cannot be one.
    pub fn rename_class(&self, from: &str, to: &str) -> Result<Draft> {
        let to = &self.tidy_name(to)?;
        let look = self.look(from)?;
        if from == to {
            return Ok(Draft::default());
        }
        let joins = self.state.class(to).is_some();
        let mut changes = Vec::new();
        if !joins {
            changes.push(Change::Class(to.clone(), Swap(None, Some(look))));
        }
        changes.extend(self.relabel(from, &UserLabel::Class(to.clone())));
        changes.extend(self.reject_anew(from, Some(to)));
        changes.extend(self.realias(from, Some(to)));
        changes.push(Change::Class(from.to_owned(), Swap(Some(look), None)));
        let words = if joins { format!("Merged class {from} into {to}") } else { format!("Renamed class {from} to {to}") };
        Ok(Draft::new(words, changes))
    }

    /// Gives a class a colour of the user's, or the usual one.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when the class does not exist.
    pub fn recolour_class(&self, class: &str, colour: Option<[u8; 3]>) -> Result<Draft> {
        let look = self.look(class)?;
        if look.colour == colour {
            return Ok(Draft::default());
        }
        let change = Change::Class(class.to_owned(), Swap(Some(look), Some(ClassStyle { colour, ..look })));
        Ok(Draft::new(format!("Coloured class {class}"), vec![change]))
    }

    /// Deletes a class: its images have no class then.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when the class does not exist.
    pub fn delete_class(&self, class: &str) -> Result<Draft> {
        let look = self.look(class)?;
        let mut changes = self.relabel(class, &UserLabel::NoClass);
        changes.extend(self.reject_anew(class, None));
        changes.extend(self.realias(class, None));
        changes.push(Change::Class(class.to_owned(), Swap(Some(look), None)));
        Ok(Draft::new(format!("Deleted class {class}"), changes))
    }

    /// A class's name as it is kept: without blanks around it, with control characters as blanks,
    /// and as [`State::class_spelled`] has it.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when it is empty or too long.
    pub fn tidy_name(&self, name: &str) -> Result<String> {
        let tidy = tidy_name(name).map(|name| self.state.class_spelled(&name));
        tidy.map_err(|found| self.unfit("class", found, "a name of 1 to 200 characters"))
    }

    /// Relabels every image of a class, removed ones too.
    fn relabel(&self, class: &str, to: &UserLabel) -> Vec<Change> {
        let of_class = self.state.records().iter().filter(|image| image.label() == Some(class));
        of_class.map(|image| Change::Image(image.id, Field::Label(Swap(image.user.clone(), to.clone())))).collect()
    }

    /// Moves the rejections of a class to its new name; those of a deleted class are dropped, and
    /// so are those of a class that joins another, for its images may be of that one.
    fn reject_anew(&self, class: &str, to: Option<&String>) -> Vec<Change> {
        let to = to.filter(|to| self.state.class(to).is_none());
        let said = self.state.records().iter().filter(|image| image.rejected.contains(class));
        let change = |id: ItemId, class: &str, now: bool| Change::Image(id, Field::Rejection(class.to_owned(), Swap(!now, now)));
        said.flat_map(|image| [Some(change(image.id, class, false)), to.map(|to| change(image.id, to, true))]).flatten().collect()
    }

    /// Lets every folder's word that stands for `class`, also by an earlier renaming, stand for
    /// `to` from now on.
    fn realias(&self, class: &str, to: Option<&String>) -> Vec<Change> {
        let aliases = &self.state.aliases;
        let mut words: BTreeSet<&str> = aliases.iter().filter(|(_, target)| *target == class).map(|(word, _)| word.as_str()).collect();
        words.insert(class);
        let mut changes: Vec<Change> = words
            .into_iter()
            .filter(|word| to.is_none_or(|to| to != word))
            .map(|word| {
                let before = aliases.get(word).cloned();
                // A folder whose class was deleted gives no class any more.
                let after = Some(to.cloned().unwrap_or_default());
                Change::Alias(word.to_owned(), Swap(before, after))
            })
            .collect();
        // A name that was an alias and is a class again stands for itself.
        if let Some(to) = to
            && let Some(before) = aliases.get(to)
        {
            changes.push(Change::Alias(to.clone(), Swap(Some(before.clone()), None)));
        }
        changes
    }
}

impl State {
    /// The changes that make those classes that do not exist yet, in the order given.
    pub(super) fn new_classes<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<Change> {
        // Most labels are of classes that exist: only a new one asks for its position.
        let mut next = None;
        let mut made = BTreeSet::new();
        let mut changes = Vec::new();
        for name in names {
            if self.class(name).is_none() && made.insert(name) {
                let position = next.unwrap_or_else(|| self.classes.values().map(|look| look.position + 1).max().unwrap_or(0));
                next = Some(position + 1);
                changes.push(Change::Class(name.to_owned(), Swap(None, Some(ClassStyle { position, colour: None }))));
                if self.aliases.contains_key(name) {
                    let before = self.aliases.get(name).cloned();
                    changes.push(Change::Alias(name.to_owned(), Swap(before, None)));
                }
            }
        }
        changes
    }

    /// What a folder says of an image, with its word replaced by the class it stands for in this
    /// library.
    pub(super) fn understood(&self, word: &FolderWord) -> FolderWord {
        FolderWord { label: word.label.as_ref().and_then(|label| self.class_meant(label)), ..word.clone() }
    }

    /// The class that a folder's word stands for in this library; `None` after it was deleted.
    pub(super) fn class_meant(&self, word: &str) -> Option<String> {
        let alias = self.aliases.get(word).or_else(|| self.aliases.get(&*composed(word))).cloned();
        Some(alias.unwrap_or_else(|| self.class_spelled(word))).filter(|class| !class.is_empty())
    }
}

/// A class name without blanks around it, with control characters as blanks; an error says what is
/// wrong with it, in words.
pub(super) fn tidy_name(name: &str) -> Result<String, String> {
    let tidy: String = name.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match tidy.chars().count() {
        0 => Err("empty".into()),
        n if n > LONGEST_NAME => Err(format!("{n} characters long")),
        _ => Ok(tidy),
    }
}
