//! The queue of images to be labelled, with the suggestions for them and the labels given.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::event::EventId;
use tessera_core::library::state::{Image, State};
use tessera_core::library::suggest::{Doubt, LabelOrder, Reviewed, Suggestion};

/// Images of the queue for which suggestions are computed ahead.
pub const STRIP: usize = 12;
/// Images at the head of the queue that keep their places: the user sees them.
pub(super) const KEPT: usize = 2;

/// The queue of images to be labelled, and what is known of them.
#[derive(Clone, Debug, Default)]
pub struct Labelling {
    /// The order of the queue.
    pub order: LabelOrder,
    /// The images to be labelled, if not all that have no class.
    pub only: Option<Arc<Vec<ItemId>>>,
    /// Images to be labelled, the next one first.
    pub queue: Vec<ItemId>,
    /// The skipped ones of them, which come after all others.
    pub skipped: HashSet<ItemId>,
    /// Whether the queue is in its order; an order that needs the advisers takes a moment.
    pub is_arranged: bool,
    /// Suggestions for the first images.
    pub suggestions: HashMap<ItemId, Suggestion>,
    /// The likeliest class of further images and its probability, from a quick prediction without
    /// the recogniser.
    pub glances: HashMap<ItemId, (String, f64)>,
    /// How the last label changed the suggestions.
    pub changed: SuggestionChanges,
    /// Labels that the advisers have learned.
    pub learned: usize,
    /// Whether the advisers are running.
    pub is_computing: bool,
    /// Whether a label is being saved: until then no other act is accepted.
    pub is_saving: bool,
    /// The acts on the queue, the last at the end, without those that were undone.
    pub acts: Vec<LabelAct>,
    /// The acts that were undone and may be redone.
    undone: Vec<LabelAct>,
    /// The last review of labels.
    pub review: LabelReview,
    /// The state that the queue was last brought in line with.
    seen: Option<State>,
}

/// How the last label changed the suggestions.
#[derive(Clone, Debug, Default)]
pub struct SuggestionChanges {
    /// Images whose suggested class has changed.
    pub moved: Vec<ChangedSuggestion>,
    /// How many images were compared.
    pub asked: usize,
}

/// A change of the class that is suggested for an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSuggestion {
    /// The image.
    pub image: ItemId,
    /// The class suggested before.
    pub from: String,
    /// The class suggested now.
    pub to: String,
}

/// A review of labels.
#[derive(Clone, Debug, Default)]
pub struct LabelReview {
    /// Its outcome, once there is one.
    pub reviewed: Option<Arc<Reviewed>>,
    /// Those of its doubts that still hold.
    pub doubts: Vec<Doubt>,
    /// Whether other labels than the doubted ones have changed since.
    pub is_stale: bool,
    /// The last state known in which they had not; none where they had before it was loaded.
    pub(super) of: Option<State>,
}

/// An act on the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelAct {
    /// The images.
    pub images: Vec<ItemId>,
    /// The kind of act.
    pub kind: LabelActKind,
    /// The class that was suggested for each of them, if any.
    pub suggested: Vec<Option<String>>,
    /// Key presses or clicks that it took.
    pub keys: usize,
    /// Its event in the library; none if it changed nothing there.
    pub event: Option<EventId>,
}

/// The kind of an act on the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelActKind {
    /// The images were labelled with this class.
    Label(String),
    /// This class was rejected.
    Reject(String),
    /// All classes were rejected.
    RejectAll,
    /// The image was skipped.
    Skip,
}

impl LabelActKind {
    /// Whether its images leave the queue by it for good.
    pub(super) fn ends_an_image(&self) -> bool {
        matches!(self, Self::Label(_) | Self::RejectAll)
    }
}

/// Statistics of how much work the suggestions saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabellingStatistics {
    /// Images labelled here.
    pub labelled: usize,
    /// Those of them whose class was not the suggested one.
    pub corrected: usize,
    /// The accuracy of the suggestions for the last 50 images that had one, or for as many as there
    /// are yet.
    pub recent: RecentAccuracy,
    /// Key presses that labelling took.
    pub keys: Keys,
}

/// The accuracy of recent suggestions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentAccuracy {
    /// Images whose suggestion was right.
    pub right: usize,
    /// Images in all.
    pub of: usize,
}

/// Key presses that labelling took, and would have taken without suggestions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// Key presses for typing the name of every class and Enter.
    pub typing: usize,
    /// Key presses that were made.
    pub pressed: usize,
}

/// Whether a class exists and is not rejected for an image.
fn may_be(state: &State, image: ItemId, class: &str) -> bool {
    state.class(class).is_some() && state.image(image).is_some_and(|image| !image.rejected.contains(class))
}

/// The label of an image that takes part.
fn label_of(state: &State, image: ItemId) -> Option<&str> {
    state.image(image).filter(|image| image.is_live())?.label()
}

impl Labelling {
    /// The image to be labelled now.
    pub fn current(&self) -> Option<ItemId> {
        self.queue.first().copied().filter(|_| self.is_arranged)
    }

    /// The statistics. O(labels given).
    pub fn statistics(&self) -> LabellingStatistics {
        let mut statistics = LabellingStatistics::default();
        let mut right = Vec::new();
        for act in &self.acts {
            statistics.keys.pressed += act.keys;
            if let LabelActKind::Label(class) = &act.kind {
                statistics.labelled += act.images.len();
                statistics.keys.typing += act.images.len() * (class.chars().count() + 1);
                statistics.corrected +=
                    act.suggested.iter().filter(|suggested| suggested.as_ref().is_some_and(|name| name != class)).count();
                right.extend(act.suggested.iter().flatten().map(|suggested| suggested == class));
            }
        }
        let lately = &right[right.len().saturating_sub(50)..];
        statistics.recent = RecentAccuracy { right: lately.iter().filter(|right| **right).count(), of: lately.len() };
        statistics
    }

    /// The classes suggested for an image with their probabilities, without those that were
    /// rejected or deleted since.
    pub fn ranking(&self, state: &State, image: ItemId) -> Vec<(String, f64)> {
        let suggestion = self.suggestions.get(&image);
        suggestion.map(|found| found.ranking.iter().filter(|(class, _)| may_be(state, image, class)).cloned().collect()).unwrap_or_default()
    }

    /// The first of [`Labelling::ranking`]; without a suggestion, the class of the quick
    /// prediction.
    pub fn likeliest(&self, state: &State, image: ItemId) -> Option<(String, f64)> {
        let glance = || self.glances.get(&image).filter(|(class, _)| may_be(state, image, class)).cloned();
        self.ranking(state, image).into_iter().next().or_else(glance)
    }

    /// Whether an image in the queue may stay there.
    fn may_stay(&self, state: &State, image: &Image) -> bool {
        image.is_live() && (self.only.is_some() || image.label().is_none() && (!state.is_of_none(image) || self.is_being_named(image.id)))
    }

    /// Whether a class was rejected for an image last: the user is about to name another.
    fn is_being_named(&self, image: ItemId) -> bool {
        self.acts.last().is_some_and(|act| matches!(act.kind, LabelActKind::Reject(_)) && act.images == [image])
    }

    /// Whether an image belongs in the queue.
    fn is_wanted(&self, state: &State, image: &Image) -> bool {
        self.may_stay(state, image) && self.only.as_ref().is_none_or(|only| only.contains(&image.id))
    }

    /// As [`Labelling::refresh`], looking at all images.
    pub(super) fn refresh_wholly(&mut self, state: &State) {
        self.seen = None;
        self.refresh(state);
    }

    /// Brings the queue in line with the library: labelled images leave it, others that lost their
    /// label come back, and with a new class those that were of none. Only images are looked at
    /// that have changed since the last call and, if classes have, those with a rejected class.
    pub(super) fn refresh(&mut self, state: &State) {
        let changed = self.seen.replace(state.clone()).map(|seen| {
            let mut changed = state.changed_since(&seen);
            if seen.classes() != state.classes() {
                changed.extend(state.images().filter(|image| !image.rejected.is_empty()).map(|image| image.id));
                changed.sort_unstable();
                changed.dedup();
            }
            changed
        });
        let said: HashSet<EventId> = self.acts.iter().chain(&self.undone).filter_map(|act| act.event).collect();
        let acts: HashSet<EventId> = state.history().iter().map(|act| act.id).filter(|act| said.contains(act)).collect();
        let holds = |act: &LabelAct| act.event.is_none_or(|event| acts.contains(&event));
        let (kept, taken_back): (Vec<LabelAct>, Vec<LabelAct>) = std::mem::take(&mut self.acts).into_iter().partition(holds);
        let (again, undone): (Vec<LabelAct>, Vec<LabelAct>) = std::mem::take(&mut self.undone).into_iter().partition(holds);
        let mut back: Vec<ItemId> = taken_back.iter().flat_map(|act| act.images.clone()).collect();
        for act in again.iter().filter(|act| act.kind.ends_an_image()) {
            self.queue.retain(|id| !act.images.contains(id));
        }
        self.acts = [kept, again].concat();
        self.undone = [undone, taken_back].concat();
        let may_come: HashSet<EventId> = state.future().iter().map(|act| act.id).collect();
        self.undone.retain(|act| act.event.is_some_and(|event| may_come.contains(&event)));
        let known = |id: &ItemId| state.image(*id).map(|image| &**image);
        let mut queue = std::mem::take(&mut self.queue);
        let may_differ = |id: &ItemId| changed.as_ref().is_none_or(|changed| changed.binary_search(id).is_ok());
        queue.retain(|id| !may_differ(id) || known(id).is_some_and(|image| self.may_stay(state, image)));
        let mut is_queued = vec![false; state.records().last().map_or(0, |last| last.id.0 as usize + 1)];
        let mut enter = |id: &ItemId| !std::mem::replace(&mut is_queued[id.0 as usize], true);
        // The images of undone acts come first, even if they had not left the queue.
        back.retain(|id| known(id).is_some_and(|image| self.is_wanted(state, image)) && enter(id));
        self.skipped.retain(|id| !back.contains(id));
        queue.retain(&mut enter);
        if self.only.is_none() {
            let mut is_fresh = |image: &Image| self.is_wanted(state, image) && enter(&image.id);
            let fresh: Vec<ItemId> = match &changed {
                Some(changed) => changed.iter().copied().filter(|id| known(id).is_some_and(&mut is_fresh)).collect(),
                None => state.images().filter(|image| is_fresh(image)).map(|image| image.id).collect(),
            };
            if !fresh.is_empty() {
                queue.extend(fresh);
                let kept = if self.is_arranged { KEPT.min(queue.len()) } else { 0 };
                if self.order == LabelOrder::Folder {
                    self.order.arrange(state, &mut queue[kept..], 0);
                }
            }
        }
        queue.splice(..0, back);
        self.queue = queue;
        self.skipped.retain(|id| is_queued.get(id.0 as usize).copied().unwrap_or(false));
        self.settle(state);
    }

    /// Keeps those doubts of the review that still hold, without classes that were deleted or
    /// rejected.
    pub(super) fn settle(&mut self, state: &State) {
        let doubts = self.review.reviewed.iter().flat_map(|reviewed| &reviewed.doubts);
        let open = doubts.filter_map(|doubt| {
            let image = state.image(doubt.image).filter(|image| image.is_live() && image.label() == Some(&doubt.label.0))?;
            let holds = |class: &str| state.class(class).is_some() && !image.rejected.contains(class);
            let instead: Vec<(String, f64)> = doubt.instead.iter().filter(|(class, _)| holds(class)).cloned().collect();
            (!instead.is_empty()).then(|| Doubt { instead, ..doubt.clone() })
        });
        self.review.doubts = open.collect();
        let Some(reviewed) = &self.review.reviewed else { return };
        let doubted: HashSet<ItemId> = reviewed.doubts.iter().map(|doubt| doubt.image).collect();
        let is_other = |of: &State, id| !doubted.contains(&id) && label_of(of, id) != label_of(state, id);
        let has_other = |of: &State| state.changed_since(of).into_iter().any(|id| is_other(of, id));
        self.review.is_stale = self.review.of.as_ref().is_none_or(has_other);
        if !self.review.is_stale {
            self.review.of = Some(state.clone());
        }
    }

    /// Moves images to the head of the queue, as far as they belong in it.
    pub(super) fn first(&mut self, images: &[ItemId], state: &State) {
        let wanted: Vec<ItemId> =
            images.iter().copied().filter(|id| state.image(*id).is_some_and(|image| self.is_wanted(state, image))).collect();
        self.queue.retain(|id| !wanted.contains(id));
        self.skipped.retain(|id| !wanted.contains(id));
        self.queue.splice(..0, wanted);
    }

    /// Sorts the queue by an order of some of its images; the first [`KEPT`] keep their places, and
    /// skipped ones come last.
    pub(super) fn arrange(&mut self, order: &[ItemId]) {
        let places: HashMap<ItemId, usize> = order.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let kept = if self.is_arranged { KEPT.min(self.queue.len()) } else { 0 };
        let skipped = &self.skipped;
        // Sorting is stable: images that are not in `order` keep theirs.
        self.queue[kept..].sort_by_cached_key(|id| (skipped.contains(id), places.get(id).copied().unwrap_or(usize::MAX)));
        self.is_arranged = true;
    }
}
