//! Images that go while another stays in their place: it takes over what was said of them.

use std::collections::{BTreeMap, BTreeSet};

use super::Library;
use super::captions::Captions;
use super::draft::{Acts, Draft};
use super::event::{Change, EventId, Field, Swap, UserLabel};
use super::state::{Act, Image};
use crate::error::Result;
use crate::ids::ItemId;
use crate::plural::count;

/// How the words of an act end that also moved files to the bin of the system.
const WITH_FILES: &str = ", files to the bin";

/// Images that go, and the one that stays in their place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clearance {
    /// The image that is kept.
    pub kept: Option<ItemId>,
    /// The images that go.
    pub removed: Vec<ItemId>,
}

impl Act {
    /// Whether files went to the bin of the system with it, from which whoever undoes it puts them
    /// back.
    pub fn is_with_files(&self) -> bool {
        self.words.ends_with(WITH_FILES)
    }
}

impl Acts<'_> {
    /// Removes images, in one act; one that is to be kept stays. The image that is kept for some
    /// takes over their captions, as far as it may have more of them, and has their class where it
    /// has none and they have one alone. With `with_files` the words say that the files are moved to the bin of the system
    /// ([`Act::is_with_files`]), which is for whoever asks to do.
    ///
    /// # Errors
    /// As [`Acts::set_removed`]; [`crate::Error::Removed`] for an image to be kept that was
    /// removed.
    pub fn clear(&self, clearances: &[Clearance], with_files: bool) -> Result<Draft> {
        let kept: BTreeSet<ItemId> = clearances.iter().filter_map(|clearance| clearance.kept).collect();
        let all = clearances.iter().flat_map(|clearance| clearance.removed.iter().copied());
        let all: Vec<ItemId> = all.filter(|image| !kept.contains(image)).collect();
        let mut draft = self.set_removed(&all, true)?;
        let mut for_kept: BTreeMap<ItemId, BTreeSet<ItemId>> = BTreeMap::new();
        for clearance in clearances {
            if let Some(kept) = clearance.kept {
                for_kept.entry(kept).or_default().extend(&clearance.removed);
            }
        }
        let (mut captions, mut classes) = (0, 0);
        for (kept, removed) in for_kept {
            let kept = self.present(&[kept])?.swap_remove(0);
            let removed: Vec<ItemId> = removed.into_iter().filter(|image| *image != kept.id).collect();
            let removed: Vec<&Image> = self.known(&removed)?.into_iter().filter(|image| !image.removed).collect();
            let mut both = Captions::new(kept.captions.clone());
            for caption in removed.iter().flat_map(|image| &image.captions) {
                // What is too much stays with the image that goes.
                captions += usize::from(both.add(&caption.text, caption.by_user).is_ok());
            }
            if both.list != kept.captions {
                draft.changes.push(Change::Image(kept.id, Field::Captions(Swap(kept.captions.clone(), both.list))));
            }
            let theirs: BTreeSet<&str> = removed.iter().filter_map(|image| image.label()).collect();
            if let (None, UserLabel::Unsaid, 1, Some(class)) = (kept.label(), &kept.user, theirs.len(), theirs.first())
                && !kept.rejected.contains(*class)
            {
                classes += 1;
                draft.changes.push(Change::Image(kept.id, Field::Label(Swap(UserLabel::Unsaid, UserLabel::Class((*class).to_owned())))));
            }
        }
        let taken: Vec<String> =
            [(captions, "caption"), (classes, "label")].iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)).collect();
        if !taken.is_empty() {
            draft.words += &format!(", {} taken over", taken.join(" and "));
        }
        if with_files {
            draft.words += WITH_FILES;
        }
        Ok(draft)
    }
}

impl Library {
    /// Removes images for which others are kept. Returns its event, or `None` when it would change
    /// nothing.
    ///
    /// # Errors
    /// As [`Acts::clear`]; [`crate::Error::Io`].
    pub fn clear(&mut self, clearances: &[Clearance], with_files: bool) -> Result<Option<EventId>> {
        let draft = self.acts().clear(clearances, with_files)?;
        self.commit(None, super::event::EventKind::Act, draft)
    }
}
