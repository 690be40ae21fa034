//! What a user says and takes back: labels, captions, classes, removal, undo.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Library;
use super::event::{Caption, Change, ClassLook, ContentHash, EventId, EventKind, Field, Reward, Swap, UserLabel, inverse};
use super::models::recall::words_of;
use super::state::{Act, Image, State};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::text::TextQuery;

/// The least that a reward may say, either way.
pub const LEAST_REWARD: f64 = 0.001;

/// Longest class name and caption in characters.
const LONGEST: (usize, usize) = (200, 10_000);

impl Library {
    /// Says of images what class they are of, in one act. Returns its event; none when that was said already.
    /// A class that does not exist yet is made.
    ///
    /// # Errors
    /// [`Error::Option`] for an image that is not there or a name that cannot be one; [`Error::Io`].
    pub fn label(&mut self, images: &[ItemId], label: &UserLabel) -> Result<Option<EventId>> {
        let label = &tidy_label(label)?;
        let mut changes = Vec::new();
        if let UserLabel::Class(class) = label {
            changes.extend(self.state.new_classes([class.as_str()]));
        }
        for image in self.present(images)? {
            if image.user != *label {
                changes.push(Change::Image(image.id, Field::Label(Swap(image.user.clone(), label.clone()))));
            }
            // Whoever says that it is of a class does not say any more that it is not.
            if let UserLabel::Class(class) = label
                && image.rejected.contains(class)
            {
                changes.push(Change::Image(image.id, Field::Rejection(class.clone(), Swap(true, false))));
            }
        }
        let which = which(&self.state, images);
        let words = match label {
            UserLabel::Class(class) => format!("Label {which} as {class}"),
            UserLabel::NoClass => format!("Take the label off {which}"),
            UserLabel::Unsaid => format!("Leave the label of {which} to its folder"),
        };
        self.commit(None, EventKind::Act, &words, changes)
    }

    /// Says that images are not of a class (`rejected`), so that it is suggested for them no more, or takes that back. Their labels stay.
    /// Returns the event; none when nothing changed.
    ///
    /// # Errors
    /// As [`Library::label`]; [`Error::Option`] when the class is not there.
    pub fn reject(&mut self, images: &[ItemId], class: &str, rejected: bool) -> Result<Option<EventId>> {
        self.look(class)?;
        let changes = self.present(images)?.into_iter().filter(|image| image.rejected.contains(class) != rejected);
        let change = |image: Image| Change::Image(image.id, Field::Rejection(class.to_owned(), Swap(!rejected, rejected)));
        let changes = changes.map(change).collect();
        let which = which(&self.state, images);
        let words = if rejected { format!("{which}: not {class}") } else { format!("{which}: perhaps {class} after all") };
        self.commit(None, EventKind::Act, &words, changes)
    }

    /// Says that the label of an image is right and that it is of none of the classes `not`, in one act: its label is the user's from now on.
    /// Returns the event; none when that was said already.
    ///
    /// # Errors
    /// As [`Library::reject`]; [`Error::Option`] when it has no label or one of `not`.
    pub fn confirm(&mut self, image: ItemId, not: &[String]) -> Result<Option<EventId>> {
        not.iter().try_for_each(|class| self.look(class).map(|_| ()))?;
        let image = self.present(&[image])?.swap_remove(0);
        let label = image.label().filter(|label| !not.iter().any(|class| class == label)).map(str::to_owned);
        let Some(label) = label else {
            let found = image.label().unwrap_or("none").to_owned();
            return Err(Error::Option { name: "label", found, expected: "a label that is not denied" });
        };
        let (said, mut changes) = (UserLabel::Class(label.clone()), Vec::new());
        if image.user != said {
            changes.push(Change::Image(image.id, Field::Label(Swap(image.user.clone(), said))));
        }
        let fresh = not.iter().filter(|class| !image.rejected.contains(*class));
        changes.extend(fresh.map(|class| Change::Image(image.id, Field::Rejection(class.clone(), Swap(false, true)))));
        self.commit(None, EventKind::Act, &format!("Confirm {label} for {}", image.file_name()), changes)
    }

    /// Replaces the captions of an image. Returns the event; none when they are the same.
    ///
    /// # Errors
    /// As [`Library::label`].
    pub fn caption(&mut self, image: ItemId, captions: Vec<Caption>) -> Result<Option<EventId>> {
        let captions = tidy_captions(captions)?;
        let image = self.present(&[image])?.swap_remove(0);
        if image.captions == captions {
            return Ok(None);
        }
        let name = image.file_name();
        let words = if captions.is_empty() { format!("Take the captions off {name}") } else { format!("Caption {name}") };
        let change = Change::Image(image.id, Field::Captions(Swap(image.captions.clone(), captions)));
        self.commit(None, EventKind::Act, &words, vec![change])
    }

    /// Says how well an image answers a query, -1..=1; `None` takes back what was said. The query counts by its words. Returns the
    /// event; none when that was said already.
    ///
    /// # Errors
    /// As [`Library::label`]; [`Error::Option`] for a query without words or a reward out of range.
    pub fn reward(&mut self, query: &str, image: ItemId, reward: Option<f64>) -> Result<Option<EventId>> {
        let query = words_of(&TextQuery::parse(query));
        let (n, expected) = (query.chars().count(), "1 to 1000 letters of words");
        if !(1..=1000).contains(&n) {
            return Err(Error::Option { name: "query", found: format!("{n} letters of words"), expected });
        }
        if let Some(value) = reward.filter(|value| !(-1.0..=1.0).contains(value) || value.abs() < LEAST_REWARD) {
            let expected = "a number from -1 to 1 at least 0.001 from 0, which says nothing; null takes back what was said";
            return Err(Error::Option { name: "reward", found: value.to_string(), expected });
        }
        let reward = reward.map(|value| Reward((value * 1000.0).round() as i16));
        let image = self.present(&[image])?.swap_remove(0);
        let before = image.rewards.get(&query).copied();
        if before == reward {
            return Ok(None);
        }
        let name = image.file_name();
        let words = match reward {
            None => format!("Unteach {name} for \u{201c}{query}\u{201d}"),
            Some(Reward(1..)) => format!("{name} answers \u{201c}{query}\u{201d}"),
            Some(_) => format!("{name} does not answer \u{201c}{query}\u{201d}"),
        };
        self.commit(None, EventKind::Act, &words, vec![Change::Image(image.id, Field::Reward(query, Swap(before, reward)))])
    }

    /// Hides images and their influence (`removed`), or brings them back. Returns the event; none when nothing changed.
    ///
    /// # Errors
    /// As [`Library::label`].
    pub fn set_removed(&mut self, images: &[ItemId], removed: bool) -> Result<Option<EventId>> {
        let known = self.known(images)?;
        let changes = known
            .iter()
            .filter(|image| image.removed != removed)
            .map(|image| Change::Image(image.id, Field::Removed(Swap(image.removed, removed))))
            .collect();
        let which = which(&self.state, images);
        let words = if removed { format!("Remove {which}") } else { format!("Restore {which}") };
        self.commit(None, EventKind::Act, &words, changes)
    }

    /// Makes a class without images.
    ///
    /// # Errors
    /// [`Error::Option`] when there is one of that name or the name cannot be one; [`Error::Io`].
    pub fn new_class(&mut self, name: &str) -> Result<Option<EventId>> {
        let name = tidy_name(name)?;
        if self.state.class(&name).is_some() {
            return Err(Error::Option { name: "class", found: format!("`{name}`, which exists"), expected: "a new name" });
        }
        let changes = self.state.new_classes([name.as_str()]);
        self.commit(None, EventKind::Act, &format!("New class {name}"), changes)
    }

    /// Gives a class another name; a name that exists already joins the two. Images whose folder says the old name
    /// follow, now and in later imports.
    ///
    /// # Errors
    /// [`Error::Option`] when the class is not there or the name cannot be one; [`Error::Io`].
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<Option<EventId>> {
        let to = &tidy_name(to)?;
        let look = self.look(from)?;
        if from == to {
            return Ok(None);
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
        let words = if joins { format!("Merge class {from} into {to}") } else { format!("Rename class {from} to {to}") };
        self.commit(None, EventKind::Act, &words, changes)
    }

    /// Gives a class a colour of the user's, or the usual one.
    ///
    /// # Errors
    /// [`Error::Option`] when the class is not there; [`Error::Io`].
    pub fn recolour_class(&mut self, class: &str, colour: Option<[u8; 3]>) -> Result<Option<EventId>> {
        let look = self.look(class)?;
        if look.colour == colour {
            return Ok(None);
        }
        let change = Change::Class(class.to_owned(), Swap(Some(look), Some(ClassLook { colour, ..look })));
        self.commit(None, EventKind::Act, &format!("Colour class {class}"), vec![change])
    }

    /// Takes a class away: its images are of no class then.
    ///
    /// # Errors
    /// [`Error::Option`] when the class is not there; [`Error::Io`].
    pub fn delete_class(&mut self, class: &str) -> Result<Option<EventId>> {
        let look = self.look(class)?;
        let mut changes: Vec<Change> = self.relabel(class, &UserLabel::NoClass).collect();
        changes.extend(self.reject_anew(class, None));
        changes.extend(self.realias(class, None));
        changes.push(Change::Class(class.to_owned(), Swap(Some(look), None)));
        self.commit(None, EventKind::Act, &format!("Delete class {class}"), changes)
    }

    /// Takes back the last act. Returns it with the event; none when there is nothing left to take back.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] when the log is damaged.
    pub fn undo(&mut self) -> Result<Option<(Arc<Act>, EventId)>> {
        let Some(act) = self.state.history().last().cloned() else { return Ok(None) };
        let events = self.store.events_of(act.id)?.into_iter().filter(|event| event.kind == EventKind::Act);
        let changes = inverse(events.flat_map(|event| event.changes).collect());
        self.history_step(act.clone(), EventKind::Undo(act.id), &format!("Undo: {}", act.words), changes)
    }

    /// Does again what was last taken back. Returns it with the event; none when there is nothing.
    ///
    /// # Errors
    /// As [`Library::undo`].
    pub fn redo(&mut self) -> Result<Option<(Arc<Act>, EventId)>> {
        let Some(act) = self.state.future().last().cloned() else { return Ok(None) };
        let changes = self.store.last_undo_of(act.id)?.map(|event| inverse(event.changes)).unwrap_or_default();
        self.history_step(act.clone(), EventKind::Redo(act.id), &format!("Redo: {}", act.words), changes)
    }

    /// A step in the history is entered even when forgetting has left nothing of its act.
    fn history_step(&mut self, act: Arc<Act>, kind: EventKind, words: &str, changes: Vec<Change>) -> Result<Option<(Arc<Act>, EventId)>> {
        let changes = self.state.fitting(changes);
        let event = self.append_and_teach(None, kind, words, changes)?;
        Ok(Some((act, event)))
    }

    fn look(&self, class: &str) -> Result<ClassLook> {
        self.state.class(class).ok_or_else(|| Error::Option {
            name: "class",
            found: match self.state.class_near(class) {
                Some(near) => format!("`{class}`, which does not exist (there is `{near}`)"),
                None => format!("`{class}`, which does not exist"),
            },
            expected: "the name of a class of this library",
        })
    }

    /// Says of every image of a class, removed ones too, that it is of another.
    fn relabel(&self, class: &str, to: &UserLabel) -> impl Iterator<Item = Change> {
        let of_class = self.state.records().iter().filter(|image| image.label() == Some(class));
        of_class.map(|image| Change::Image(image.id, Field::Label(Swap(image.user.clone(), to.clone())))).collect::<Vec<_>>().into_iter()
    }

    /// What was said not to be of a class is not of what it is called from now on; of a class that is no more nothing is said. Classes that
    /// join say less: what was not of the one may be of the other.
    fn reject_anew(&self, class: &str, to: Option<&String>) -> Vec<Change> {
        let to = to.filter(|to| self.state.class(to).is_none());
        let said = self.state.records().iter().filter(|image| image.rejected.contains(class));
        let change = |id: ItemId, class: &str, now: bool| Change::Image(id, Field::Rejection(class.to_owned(), Swap(!now, now)));
        said.flat_map(|image| [Some(change(image.id, class, false)), to.map(|to| change(image.id, to, true))]).flatten().collect()
    }

    /// What folders say `class` for, or stood for it, stands for `to` from now on.
    fn realias(&self, class: &str, to: Option<&String>) -> Vec<Change> {
        let aliases = &self.state.aliases;
        let mut words: BTreeSet<&str> = aliases.iter().filter(|(_, target)| *target == class).map(|(word, _)| word.as_str()).collect();
        words.insert(class);
        let mut changes: Vec<Change> = words
            .into_iter()
            .filter(|word| to.is_none_or(|to| to != word))
            .map(|word| {
                let before = aliases.get(word).cloned();
                // A folder whose class was deleted says nothing.
                let after = Some(to.cloned().unwrap_or_default());
                Change::Alias(word.to_owned(), Swap(before, after))
            })
            .collect();
        // A name that is used again stands for itself again.
        if let Some(to) = to
            && let Some(before) = aliases.get(to)
        {
            changes.push(Change::Alias(to.clone(), Swap(Some(before.clone()), None)));
        }
        changes
    }

    fn known(&self, images: &[ItemId]) -> Result<Vec<Image>> {
        let unique: BTreeSet<ItemId> = images.iter().copied().collect();
        let known = |id: ItemId| {
            self.state.image(id).map(|image| Image::clone(image)).ok_or_else(|| Error::Option {
                name: "image",
                found: format!("#{}, which is not there", id.0),
                expected: "an image of this library",
            })
        };
        unique.into_iter().map(known).collect()
    }

    fn present(&self, images: &[ItemId]) -> Result<Vec<Image>> {
        let known = self.known(images)?;
        match known.iter().find(|image| !image.is_live()) {
            Some(gone) => Err(Error::Option {
                name: "image",
                found: format!("#{}, which was removed", gone.id.0),
                expected: "an image that is there; restore it first",
            }),
            None => Ok(known),
        }
    }
}

impl State {
    /// The changes of a step in the history as they can be made now. Files change without asking the history, so contents
    /// go from those of the moment, and bytes that have become another image's stay with it.
    fn fitting(&self, changes: Vec<Change>) -> Vec<Change> {
        let holder: HashMap<ContentHash, ItemId> =
            self.records().iter().filter_map(|image| Some((image.content?.hash, image.id))).collect();
        let fit = |change| {
            let Change::Image(id, Field::Content(Swap(_, after))) = change else { return Some(change) };
            let now = self.image(id).and_then(|image| image.content);
            let is_taken = after.is_some_and(|content| holder.get(&content.hash).is_some_and(|holder| *holder != id));
            (now != after && !is_taken).then_some(Change::Image(id, Field::Content(Swap(now, after))))
        };
        changes.into_iter().filter_map(fit).collect()
    }

    /// The changes that make those classes that do not exist yet, in the order given.
    pub(super) fn new_classes<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<Change> {
        let mut position = self.classes.values().map(|look| look.position + 1).max().unwrap_or(0);
        let mut made = BTreeSet::new();
        let mut changes = Vec::new();
        for name in names {
            if self.class(name).is_none() && made.insert(name) {
                changes.push(Change::Class(name.to_owned(), Swap(None, Some(ClassLook { position, colour: None }))));
                if self.aliases.contains_key(name) {
                    let before = self.aliases.get(name).cloned();
                    changes.push(Change::Alias(name.to_owned(), Swap(before, None)));
                }
                position += 1;
            }
        }
        changes
    }
}

/// Images in words: `3 images`, or the name of one.
fn which(state: &State, images: &[ItemId]) -> String {
    match images {
        [one] => state.image(*one).map_or_else(|| format!("#{}", one.0), |image| image.file_name()),
        _ => format!("{} images", images.len()),
    }
}

fn tidy_label(label: &UserLabel) -> Result<UserLabel> {
    Ok(match label {
        UserLabel::Class(name) => UserLabel::Class(tidy_name(name)?),
        other => other.clone(),
    })
}

/// A name without blanks around it and control characters in it.
pub(super) fn tidy_name(name: &str) -> Result<String> {
    let tidy: String = name.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if tidy.is_empty() || tidy.chars().count() > LONGEST.0 {
        let found = if tidy.is_empty() { "empty".to_owned() } else { format!("{} characters long", tidy.chars().count()) };
        return Err(Error::Option { name: "class", found, expected: "a name of 1 to 200 characters" });
    }
    Ok(tidy)
}

fn tidy_captions(captions: Vec<Caption>) -> Result<Vec<Caption>> {
    let mut tidy: Vec<Caption> = Vec::with_capacity(captions.len());
    for caption in captions {
        let text = caption.text.trim();
        if text.chars().count() > LONGEST.1 {
            let found = format!("{} characters long", text.chars().count());
            return Err(Error::Option { name: "caption", found, expected: "at most 10000 characters" });
        }
        if !text.is_empty() && tidy.iter().all(|other| other.text != text) {
            tidy.push(Caption { text: text.to_owned(), by_user: caption.by_user });
        }
    }
    Ok(tidy)
}
