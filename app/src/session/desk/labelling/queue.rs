//! What is on the labelling desk: the queue of images, what is suggested for them, and what was
//! said.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::event::EventId;
use tessera_core::library::state::{Image, State};
use tessera_core::library::suggest::{Doubt, LabelOrder, Reviewed, Suggestion};

/// Images of the queue for which suggestions are kept ready.
pub const STRIP: usize = 12;
/// Images at the head of the queue that no adviser moves: the user looks at them.
pub(super) const KEPT: usize = 2;

/// What is on the labelling desk.
#[derive(Clone, Debug, Default)]
pub struct Labelling {
    /// The order of the queue.
    pub order: LabelOrder,
    /// The images to be labelled, if not all that have no class.
    pub only: Option<Arc<Vec<ItemId>>>,
    /// Images to be labelled, the next one first.
    pub queue: Vec<ItemId>,
    /// Those of them that come after all others.
    pub skipped: HashSet<ItemId>,
    /// Whether the queue is in its order: where advisers are asked for that, it takes a moment.
    pub is_arranged: bool,
    /// What is suggested for the first images.
    pub suggestions: HashMap<ItemId, Suggestion>,
    /// The likeliest class of more images and its chance, at a glance.
    pub glances: HashMap<ItemId, (String, f64)>,
    /// What the last label changed.
    pub changed: Changed,
    /// Labels that the advisers have learned.
    pub learned: usize,
    /// Whether the advisers are thinking.
    pub is_thinking: bool,
    /// Whether a label is being saved: until it is, nothing else can be said.
    pub is_saving: bool,
    /// What was said here, the last at the end. What was taken back is not in it.
    pub given: Vec<Given>,
    /// What was taken back, and may be done again.
    undone: Vec<Given>,
    /// The last review of labels.
    pub review: LabelReview,
}

/// What the last label changed.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// Images for which something else is suggested than before.
    pub moved: Vec<Moved>,
    /// How many images were asked about.
    pub asked: usize,
}

/// An answer that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The image it is about.
    pub image: ItemId,
    /// The class suggested before.
    pub from: String,
    /// The class suggested now.
    pub to: String,
}

/// A review of labels.
#[derive(Clone, Debug, Default)]
pub struct LabelReview {
    /// What came of it, once there was one.
    pub reviewed: Option<Arc<Reviewed>>,
    /// The doubts of it that are not settled.
    pub doubts: Vec<Doubt>,
}

/// Something said at the desk.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Of which images.
    pub images: Vec<ItemId>,
    /// What.
    pub what: What,
    /// What was suggested for each of them.
    pub suggested: Vec<Option<String>>,
    /// Keys or clicks that it took.
    pub keys: usize,
    /// The act, unless nothing changed by it.
    pub event: Option<EventId>,
}

/// What was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It is of this class.
    Class(String),
    /// It is not of this class.
    Not(String),
    /// Something else first.
    Skip,
}

/// How much work the suggestions saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Images labelled at this desk.
    pub labelled: usize,
    /// Of these the ones of another class than was suggested.
    pub corrected: usize,
    /// The last 50 images for which a class was suggested, or as many as there are yet.
    pub lately: Lately,
    /// Keys that labelling took.
    pub keys: Keys,
}

/// How good the suggestions for the last images were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lately {
    /// Images for which the right class was suggested.
    pub right: usize,
    /// Images in all.
    pub of: usize,
}

/// Keys that labelling took, and would have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// What typing every class, with Enter behind it, would have taken.
    pub typing: usize,
    /// What was pressed.
    pub pressed: usize,
}

/// Whether a class is there, and an image is not said not to be of it.
fn may_be(state: &State, image: ItemId, class: &str) -> bool {
    state.class(class).is_some() && state.image(image).is_some_and(|image| !image.rejected.contains(class))
}

impl Labelling {
    /// The image to be labelled now.
    pub fn current(&self) -> Option<ItemId> {
        self.queue.first().copied().filter(|_| self.is_arranged)
    }

    /// How the work goes. O(labels given).
    pub fn meter(&self) -> Meter {
        let mut meter = Meter::default();
        let mut right = Vec::new();
        for given in &self.given {
            meter.keys.pressed += given.keys;
            if let What::Class(class) = &given.what {
                meter.labelled += given.images.len();
                meter.keys.typing += given.images.len() * (class.chars().count() + 1);
                meter.corrected += given.suggested.iter().filter(|suggested| suggested.as_ref().is_some_and(|name| name != class)).count();
                right.extend(given.suggested.iter().flatten().map(|suggested| suggested == class));
            }
        }
        let lately = &right[right.len().saturating_sub(50)..];
        meter.lately = Lately { right: lately.iter().filter(|right| **right).count(), of: lately.len() };
        meter
    }

    /// The classes suggested for an image, without those that it is said not to be of by now or
    /// that are no more.
    pub fn ranking(&self, state: &State, image: ItemId) -> Vec<(String, f64)> {
        let suggestion = self.suggestions.get(&image);
        suggestion.map(|found| found.ranking.iter().filter(|(class, _)| may_be(state, image, class)).cloned().collect()).unwrap_or_default()
    }

    /// The likeliest of these and its chance, or where they were not asked for what a glance
    /// suggests.
    pub fn likeliest(&self, state: &State, image: ItemId) -> Option<(String, f64)> {
        let glance = || self.glances.get(&image).filter(|(class, _)| may_be(state, image, class)).cloned();
        self.ranking(state, image).into_iter().next().or_else(glance)
    }

    /// Whether an image that was to be labelled still is.
    fn may_stay(&self, image: &Image) -> bool {
        image.is_live() && (self.only.is_some() || image.label().is_none())
    }

    /// Whether an image is one of those to be labelled.
    fn is_wanted(&self, image: &Image) -> bool {
        self.may_stay(image) && self.only.as_ref().is_none_or(|only| only.contains(&image.id))
    }

    /// Brings the queue in line with the library: labelled images leave it, others that lost their
    /// label come back.
    pub(super) fn refresh(&mut self, state: &State) {
        let said: HashSet<EventId> = self.given.iter().chain(&self.undone).filter_map(|given| given.event).collect();
        let acts: HashSet<EventId> = state.history().iter().map(|act| act.id).filter(|act| said.contains(act)).collect();
        let holds = |given: &Given| given.event.is_none_or(|event| acts.contains(&event));
        let (given, taken_back): (Vec<Given>, Vec<Given>) = std::mem::take(&mut self.given).into_iter().partition(holds);
        let (again, undone): (Vec<Given>, Vec<Given>) = std::mem::take(&mut self.undone).into_iter().partition(holds);
        let mut back: Vec<ItemId> = taken_back.iter().flat_map(|given| given.images.clone()).collect();
        for given in again.iter().filter(|given| matches!(given.what, What::Class(_))) {
            self.queue.retain(|id| !given.images.contains(id));
        }
        self.given = [given, again].concat();
        self.undone = [undone, taken_back].concat();
        let may_come: HashSet<EventId> = state.future().iter().map(|act| act.id).collect();
        self.undone.retain(|given| given.event.is_some_and(|event| may_come.contains(&event)));
        let known = |id: &ItemId| state.image(*id).map(|image| &**image);
        let mut queue = std::mem::take(&mut self.queue);
        queue.retain(|id| known(id).is_some_and(|image| self.may_stay(image)));
        let mut is_queued = vec![false; state.records().last().map_or(0, |last| last.id.0 as usize + 1)];
        let mut enter = |id: &ItemId| !std::mem::replace(&mut is_queued[id.0 as usize], true);
        // What was taken back comes first, also where it never left.
        back.retain(|id| known(id).is_some_and(|image| self.is_wanted(image)) && enter(id));
        self.skipped.retain(|id| !back.contains(id));
        queue.retain(&mut enter);
        if self.only.is_none() {
            let fresh: Vec<ItemId> =
                state.images().filter(|image| self.is_wanted(image) && enter(&image.id)).map(|image| image.id).collect();
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

    /// Leaves those doubts that still hold, with the classes that are there and were not rejected.
    pub(super) fn settle(&mut self, state: &State) {
        let doubts = self.review.reviewed.iter().flat_map(|reviewed| &reviewed.doubts);
        let open = doubts.filter_map(|doubt| {
            let image = state.image(doubt.image).filter(|image| image.is_live() && image.label() == Some(&doubt.label.0))?;
            let holds = |class: &str| state.class(class).is_some() && !image.rejected.contains(class);
            let instead: Vec<(String, f64)> = doubt.instead.iter().filter(|(class, _)| holds(class)).cloned().collect();
            (!instead.is_empty()).then(|| Doubt { instead, ..doubt.clone() })
        });
        self.review.doubts = open.collect();
    }

    /// Puts those of some images at the head of the queue that are to be labelled.
    pub(super) fn first(&mut self, images: &[ItemId], state: &State) {
        let wanted: Vec<ItemId> = images.iter().copied().filter(|id| state.image(*id).is_some_and(|image| self.is_wanted(image))).collect();
        self.queue.retain(|id| !wanted.contains(id));
        self.skipped.retain(|id| !wanted.contains(id));
        self.queue.splice(..0, wanted);
    }

    /// Takes over an order of the images at the head of the queue.
    pub(super) fn arrange(&mut self, order: &[ItemId]) {
        let places: HashMap<ItemId, usize> = order.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let kept = if self.is_arranged { KEPT.min(self.queue.len()) } else { 0 };
        let skipped = &self.skipped;
        // Sorting is stable: those that were not asked about stay as they are.
        self.queue[kept..].sort_by_cached_key(|id| (skipped.contains(id), places.get(id).copied().unwrap_or(usize::MAX)));
        self.is_arranged = true;
    }
}
