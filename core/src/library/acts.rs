//! Acts on images: labels, captions, rejections, rewards and removal, each as the changes it makes.

use super::captions::{Captions, Refusal};
use super::draft::{Acts, Draft};
use super::event::{Caption, Change, Field, Reward, Swap, UserLabel};
use super::models::caption_memory::words_of;
use super::state::{Image, State};
use crate::error::Result;
use crate::ids::ItemId;
use crate::plural::count;
use crate::text::TextQuery;

/// The least absolute value of a reward.
pub const LEAST_REWARD: f64 = 0.001;

impl Acts<'_> {
    /// Labels images, in one act. A class that does not exist yet is made.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] and [`crate::Error::Removed`] for an image that is not there;
    /// [`crate::Error::Unfit`] for a name that cannot be a class's.
    pub fn label(&self, images: &[ItemId], label: &UserLabel) -> Result<Draft> {
        let label = &match label {
            UserLabel::Class(name) => UserLabel::Class(self.tidy_name(name)?),
            other => other.clone(),
        };
        let mut changes = Vec::new();
        if let UserLabel::Class(class) = label {
            changes.extend(self.state.new_classes([class.as_str()]));
        }
        for image in self.present(images)? {
            if image.user != *label {
                changes.push(Change::Image(image.id, Field::Label(Swap(image.user.clone(), label.clone()))));
            }
            // A label takes back the rejection of the same class.
            if let UserLabel::Class(class) = label
                && image.rejected.contains(class)
            {
                changes.push(Change::Image(image.id, Field::Rejection(class.clone(), Swap(true, false))));
            }
        }
        let which = which(self.state, images);
        let words = match label {
            UserLabel::Class(class) => format!("Labelled {which} as {class}"),
            UserLabel::NoClass => format!("Took the label off {which}"),
            UserLabel::Unsaid => format!("Left the label of {which} to its folder"),
        };
        Ok(Draft::new(words, changes))
    }

    /// Rejects a class for images (`rejected`), so that it is not suggested for them any more, or
    /// takes the rejection back. Their labels stay.
    ///
    /// # Errors
    /// As [`Acts::label`]; [`crate::Error::NotFound`] when the class does not exist.
    pub fn reject(&self, images: &[ItemId], class: &str, rejected: bool) -> Result<Draft> {
        self.look(class)?;
        let changes = self.present(images)?.into_iter().filter(|image| image.rejected.contains(class) != rejected);
        let change = |image: &Image| Change::Image(image.id, Field::Rejection(class.to_owned(), Swap(!rejected, rejected)));
        let changes = changes.map(change).collect();
        let which = which(self.state, images);
        let words =
            if rejected { format!("Rejected {class} for {which}") } else { format!("Took back the rejection of {class} for {which}") };
        Ok(Draft::new(words, changes))
    }

    /// Rejects all classes that there are for images, in one act: they show something else. Their
    /// labels stay.
    ///
    /// # Errors
    /// As [`Acts::label`].
    pub fn reject_all(&self, images: &[ItemId]) -> Result<Draft> {
        let classes = self.state.classes();
        let mut changes = Vec::new();
        for image in self.present(images)? {
            let new = classes.iter().map(|(class, _)| *class).filter(|class| !image.rejected.contains(*class));
            changes.extend(new.map(|class| Change::Image(image.id, Field::Rejection(class.to_owned(), Swap(false, true)))));
        }
        Ok(Draft::new(format!("Rejected every class for {}", which(self.state, images)), changes))
    }

    /// Confirms the label of an image and rejects the classes `not` for it, in one act. The label
    /// is the user's from now on, no longer its folder's.
    ///
    /// # Errors
    /// As [`Acts::reject`]; [`crate::Error::Unfit`] when it has no label or one of `not`.
    pub fn confirm(&self, image: ItemId, not: &[String]) -> Result<Draft> {
        not.iter().try_for_each(|class| self.look(class).map(|_| ()))?;
        let image = self.present(&[image])?.swap_remove(0);
        let label = image.label().filter(|label| !not.iter().any(|class| class == label)).map(str::to_owned);
        let Some(label) = label else {
            let found = image.label().unwrap_or("none").to_owned();
            return Err(self.unfit("label", found, "a label that is not denied"));
        };
        let (said, mut changes) = (UserLabel::Class(label.clone()), Vec::new());
        if image.user != said {
            changes.push(Change::Image(image.id, Field::Label(Swap(image.user.clone(), said))));
        }
        let fresh = not.iter().filter(|class| !image.rejected.contains(*class));
        changes.extend(fresh.map(|class| Change::Image(image.id, Field::Rejection(class.clone(), Swap(false, true)))));
        Ok(Draft::new(format!("Confirmed {label} for {}", image.file_name()), changes))
    }

    /// Replaces the captions of an image.
    ///
    /// # Errors
    /// As [`Acts::label`].
    pub fn caption(&self, image: ItemId, captions: Vec<Caption>) -> Result<Draft> {
        let captions = self.tidy_captions(captions)?;
        let image = self.present(&[image])?.swap_remove(0);
        if image.captions == captions {
            return Ok(Draft::default());
        }
        let name = image.file_name();
        let words = if captions.is_empty() { format!("Took the captions off {name}") } else { format!("Captioned {name}") };
        let change = Change::Image(image.id, Field::Captions(Swap(image.captions.clone(), captions)));
        Ok(Draft::new(words, vec![change]))
    }

    /// Sets the reward of an image as an answer to a query, -1..=1, rounded to thousandths; `None`
    /// takes it back. Queries of the same words in the same order are one.
    ///
    /// # Errors
    /// As [`Acts::label`]; [`crate::Error::Unfit`] for a query without words or a reward out of
    /// range.
    pub fn reward(&self, query: &str, image: ItemId, reward: Option<f64>) -> Result<Draft> {
        let query = words_of(&TextQuery::parse(query));
        let (n, expected) = (query.chars().count(), "1 to 1000 letters of words");
        if !(1..=1000).contains(&n) {
            return Err(self.unfit("query", format!("{n} letters of words"), expected));
        }
        if let Some(value) = reward.filter(|value| !(-1.0..=1.0).contains(value) || value.abs() < LEAST_REWARD) {
            let expected = "a number from -1 to 1 at least 0.001 from 0, which says nothing; null takes back what was said";
            return Err(self.unfit("reward", value.to_string(), expected));
        }
        let reward = reward.map(|value| Reward((value * 1000.0).round() as i16));
        let image = self.present(&[image])?.swap_remove(0);
        let before = image.rewards.get(&query).copied();
        if before == reward {
            return Ok(Draft::default());
        }
        let name = image.file_name();
        let words = match reward {
            None => format!("Took back the reward of {name} for \u{201c}{query}\u{201d}"),
            Some(Reward(1..)) => format!("Rewarded {name} as an answer to \u{201c}{query}\u{201d}"),
            Some(_) => format!("Rejected {name} as an answer to \u{201c}{query}\u{201d}"),
        };
        Ok(Draft::new(words, vec![Change::Image(image.id, Field::Reward(query, Swap(before, reward)))]))
    }

    /// Takes back the rewards of all images as answers to a query.
    pub fn take_rewards_back(&self, query: &str) -> Draft {
        let query = words_of(&TextQuery::parse(query));
        let rewarded = self.state.images().filter_map(|image| Some((image.id, *image.rewards.get(&query)?)));
        let change = |(id, reward)| Change::Image(id, Field::Reward(query.clone(), Swap(Some(reward), None)));
        let changes: Vec<Change> = rewarded.map(change).collect();
        let words = format!("Took back {} for \u{201c}{query}\u{201d}", count(changes.len(), "reward"));
        Draft::new(words, changes)
    }

    /// Hides images and their influence (`removed`), or brings them back.
    ///
    /// # Errors
    /// As [`Acts::label`].
    pub fn set_removed(&self, images: &[ItemId], removed: bool) -> Result<Draft> {
        let known = self.known(images)?;
        let changes = known
            .iter()
            .filter(|image| image.removed != removed)
            .map(|image| Change::Image(image.id, Field::Removed(Swap(image.removed, removed))))
            .collect();
        let which = which(self.state, images);
        let words = if removed { format!("Removed {which}") } else { format!("Restored {which}") };
        Ok(Draft::new(words, changes))
    }

    fn tidy_captions(&self, captions: Vec<Caption>) -> Result<Vec<Caption>> {
        let n = captions.len();
        let mut tidy = Captions::new(Vec::new());
        for caption in captions {
            let (found, expected) = match tidy.add(&caption.text, caption.by_user) {
                Ok(()) | Err(Refusal::Nothing) => continue,
                Err(Refusal::TooLong(length)) => (format!("{length} characters long"), "at most 10000 characters"),
                Err(Refusal::TooMany) => (format!("{n} of them"), "at most 200 captions of an image"),
                Err(Refusal::TooMuch(length)) => (format!("{length} characters or more in all"), "at most 100000 characters of an image"),
            };
            return Err(self.unfit("caption", found, expected));
        }
        Ok(tidy.list)
    }
}

/// Some images in words: `3 images`, or the file name of a single one.
pub(super) fn which(state: &State, images: &[ItemId]) -> String {
    match images {
        [one] => state.image(*one).map_or_else(|| format!("#{}", one.0), |image| image.file_name()),
        _ => format!("{} images", images.len()),
    }
}
