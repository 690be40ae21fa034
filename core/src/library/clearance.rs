//! Images that go while another stays in their place: it takes over what was said of them.

use std::collections::{BTreeMap, BTreeSet};

use super::Library;
use super::captions::{Captions, Refusal};
use super::copies::Copy;
use super::draft::{Acts, Draft};
use super::event::{Change, EventId, EventKind, Field, Swap, UserLabel};
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

impl Clearance {
    /// That of a group of copies of which one image is kept; `None` where there is no other.
    pub fn keeping(kept: ItemId, group: &[Copy]) -> Option<Self> {
        let mut removed: Vec<ItemId> = group.iter().map(|copy| copy.image).filter(|image| *image != kept).collect();
        removed.dedup();
        (!removed.is_empty()).then_some(Self { kept: Some(kept), removed })
    }

    /// The images that go, in order: those that are kept in place of some stay.
    pub fn going(clearances: &[Self]) -> Vec<ItemId> {
        let kept: BTreeSet<ItemId> = clearances.iter().filter_map(|clearance| clearance.kept).collect();
        let removed: BTreeSet<ItemId> = clearances.iter().flat_map(|clearance| clearance.removed.iter().copied()).collect();
        removed.difference(&kept).copied().collect()
    }
}

/// How much is taken over from images that go, and how much is not.
#[derive(Default)]
struct TakenOver {
    captions: usize,
    labels: usize,
    /// Captions that were too many for one image.
    left_out: usize,
    /// Images whose copies have several classes, of which they are given none.
    undecided: usize,
}

impl TakenOver {
    /// Words that follow those of the removal.
    fn in_words(&self) -> String {
        let taken = [(self.captions, "caption"), (self.labels, "label")];
        let taken: Vec<String> = taken.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)).collect();
        let mut words = if taken.is_empty() { String::new() } else { format!(", {} taken over", taken.join(" and ")) };
        if self.left_out > 0 {
            words += &format!(", {} too many left out", count(self.left_out, "caption"));
        }
        if self.undecided > 0 {
            words += &format!(", several classes of the copies of {} left out", count(self.undecided, "image"));
        }
        words
    }
}

impl Acts<'_> {
    /// Removes images, in one act; one that is to be kept stays. The image that is kept for some
    /// takes over their captions, as far as it may have more of them, and their class: that which
    /// the user gave them, unless they gave it another, and else that of their folders, if it has
    /// none. Where they have several classes it takes over none. With `with_files` the words say
    /// that the files are moved to the bin of the system ([`Act::is_with_files`]), which is for
    /// whoever asks to do.
    ///
    /// # Errors
    /// As [`Acts::set_removed`]; [`crate::Error::Removed`] for an image to be kept that was
    /// removed.
    pub fn clear(&self, clearances: &[Clearance], with_files: bool) -> Result<Draft> {
        let going = Clearance::going(clearances);
        let mut draft = self.set_removed(&going, true)?;
        let mut copies: BTreeMap<ItemId, BTreeSet<ItemId>> = BTreeMap::new();
        for clearance in clearances {
            if let Some(kept) = clearance.kept {
                copies.entry(kept).or_default().extend(clearance.removed.iter().filter(|image| going.binary_search(image).is_ok()));
            }
        }
        let mut taken = TakenOver::default();
        for (kept, removed) in copies {
            let kept = self.present(&[kept])?.swap_remove(0);
            let removed: Vec<ItemId> = removed.into_iter().collect();
            let removed: Vec<&Image> = self.known(&removed)?.into_iter().filter(|image| !image.removed).collect();
            draft.changes.extend(captions_of(kept, &removed, &mut taken));
            draft.changes.extend(class_of(kept, &removed, &mut taken));
        }
        draft.words += &taken.in_words();
        if with_files {
            draft.words += WITH_FILES;
        }
        Ok(draft)
    }
}

/// The captions of an image with those of its copies.
fn captions_of(kept: &Image, removed: &[&Image], taken: &mut TakenOver) -> Option<Change> {
    let mut both = Captions::new(kept.captions.clone());
    for caption in removed.iter().flat_map(|image| &image.captions) {
        match both.add(&caption.text, caption.by_user) {
            Ok(()) => taken.captions += 1,
            Err(Refusal::Nothing) => {}
            Err(_) => taken.left_out += 1,
        }
    }
    (both.list != kept.captions).then(|| Change::Image(kept.id, Field::Captions(Swap(kept.captions.clone(), both.list))))
}

/// The class that an image takes over from its copies.
fn class_of(kept: &Image, removed: &[&Image], taken: &mut TakenOver) -> Option<Change> {
    if kept.user != UserLabel::Unsaid {
        return None;
    }
    let is_said = |image: &&&Image| matches!(image.user, UserLabel::Class(_));
    let said: BTreeSet<&str> = removed.iter().filter(is_said).filter_map(|image| image.label()).collect();
    let theirs: BTreeSet<&str> = removed.iter().filter_map(|image| image.label()).collect();
    let theirs = match (said.is_empty(), kept.label()) {
        (false, _) => said,
        (true, None) => theirs,
        (true, Some(_)) => return None,
    };
    let class = match theirs.len() {
        0 => return None,
        1 => (*theirs.first()?).to_owned(),
        _ => {
            taken.undecided += 1;
            return None;
        }
    };
    if kept.label() == Some(&class) || kept.rejected.contains(&class) {
        return None;
    }
    taken.labels += 1;
    Some(Change::Image(kept.id, Field::Label(Swap(UserLabel::Unsaid, UserLabel::Class(class)))))
}

impl Library {
    /// Removes images for which others are kept. Returns its event, or `None` when it would change
    /// nothing.
    ///
    /// # Errors
    /// As [`Acts::clear`]; [`crate::Error::Io`].
    pub fn clear(&mut self, clearances: &[Clearance], with_files: bool) -> Result<Option<EventId>> {
        let draft = self.acts().clear(clearances, with_files)?;
        self.commit(None, EventKind::Act, draft)
    }
}
