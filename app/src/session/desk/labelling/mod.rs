//! The labelling desk: images in a queue, what advisers suggest for the first of them, and what was said.

mod advisers;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tessera_core::error::contained;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::{EventId, UserLabel};
use tessera_core::library::state::{Image, State};
use tessera_core::library::suggest::{Doubt, LabelOrder, POOL, Reviewed, Suggestion};
use tessera_core::progress::ProgressSnapshot;
use tessera_core::{Error, Result};

use super::view::{Notice, Tone};
use super::{Desk, Message, note, problem};
use crate::job::mistake;
pub(super) use advisers::{Labeller, Thought};
use advisers::{Question, pool};

/// Images of the queue for which suggestions are kept ready.
pub const STRIP: usize = 12;
/// Images at the head of the queue that no adviser moves: the user looks at them.
const KEPT: usize = 2;
/// The name of the job that reviews labels.
pub const REVIEWING: &str = "Reviewing labels";

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
    /// Answers that the last label changed, and how many images were asked about.
    pub moved: Vec<Moved>,
    /// See `moved`.
    pub asked: usize,
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
    /// What came of the last review, and the doubts of it that are not settled.
    pub reviewed: Option<Arc<Reviewed>>,
    /// See `reviewed`.
    pub doubts: Vec<Doubt>,
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
    /// Of the last 50 for which a class was suggested so many were suggested rightly, and how many there are yet.
    pub lately: (usize, usize),
    /// Keys that typing every class, with Enter behind it, would have taken, and keys that were pressed.
    pub keys: (usize, usize),
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
            meter.keys.1 += given.keys;
            if let What::Class(class) = &given.what {
                meter.labelled += given.images.len();
                meter.keys.0 += given.images.len() * (class.chars().count() + 1);
                meter.corrected += given.suggested.iter().filter(|suggested| suggested.as_ref().is_some_and(|name| name != class)).count();
                right.extend(given.suggested.iter().flatten().map(|suggested| suggested == class));
            }
        }
        let lately = &right[right.len().saturating_sub(50)..];
        meter.lately = (lately.iter().filter(|right| **right).count(), lately.len());
        meter
    }

    /// The classes suggested for an image, without those that it is said not to be of by now or that are no more.
    pub fn ranking(&self, state: &State, image: ItemId) -> Vec<(String, f64)> {
        let suggestion = self.suggestions.get(&image);
        suggestion.map(|found| found.ranking.iter().filter(|(class, _)| may_be(state, image, class)).cloned().collect()).unwrap_or_default()
    }

    /// The likeliest of these and its chance, or where they were not asked for what a glance suggests.
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

    /// Brings the queue in line with the library: labelled images leave it, others that lost their label come back.
    fn refresh(&mut self, state: &State) {
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
    fn settle(&mut self, state: &State) {
        let doubts = self.reviewed.iter().flat_map(|reviewed| &reviewed.doubts);
        let open = doubts.filter_map(|doubt| {
            let image = state.image(doubt.image).filter(|image| image.is_live() && image.label() == Some(&doubt.label.0))?;
            let holds = |class: &str| state.class(class).is_some() && !image.rejected.contains(class);
            let instead: Vec<(String, f64)> = doubt.instead.iter().filter(|(class, _)| holds(class)).cloned().collect();
            (!instead.is_empty()).then(|| Doubt { instead, ..doubt.clone() })
        });
        self.doubts = open.collect();
    }

    /// Puts those of some images at the head of the queue that are to be labelled.
    fn first(&mut self, images: &[ItemId], state: &State) {
        let wanted: Vec<ItemId> = images.iter().copied().filter(|id| state.image(*id).is_some_and(|image| self.is_wanted(image))).collect();
        self.queue.retain(|id| !wanted.contains(id));
        self.skipped.retain(|id| !wanted.contains(id));
        self.queue.splice(..0, wanted);
    }

    /// Takes over an order of the images at the head of the queue.
    fn arrange(&mut self, order: &[ItemId]) {
        let places: HashMap<ItemId, usize> = order.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let kept = if self.is_arranged { KEPT.min(self.queue.len()) } else { 0 };
        let skipped = &self.skipped;
        // Sorting is stable: those that were not asked about stay as they are.
        self.queue[kept..].sort_by_cached_key(|id| (skipped.contains(id), places.get(id).copied().unwrap_or(usize::MAX)));
        self.is_arranged = true;
    }
}

impl Desk {
    /// What is on the labelling desk.
    pub fn labelling(&self) -> Option<&Labelling> {
        self.labelling.as_ref()
    }

    /// How far the advisers are, while they think.
    pub fn thinking(&self) -> Option<ProgressSnapshot> {
        self.labelling.as_ref().filter(|labelling| labelling.is_thinking).map(|_| self.labeller.progress.snapshot())
    }

    /// Says whether the labelling desk is looked at: only then do advisers think.
    pub fn watch_labelling(&mut self, is_watched: bool) {
        self.labeller.is_watched = is_watched;
        let has_images = self.state().is_some_and(|state| state.images().next().is_some());
        if is_watched && self.labelling.is_none() && self.open.is_some() && (has_images || !self.is_importing()) {
            self.start_labelling(None, self.label_order);
        } else if is_watched && self.labeller.is_stale {
            self.think();
        }
    }

    /// Begins with some images, or with all that have no class.
    pub(super) fn start_labelling(&mut self, only: Option<Arc<Vec<ItemId>>>, order: LabelOrder) {
        let Some(open) = &self.open else { return };
        let before = self.labelling.take();
        // Another order brings back neither what was labelled nor what was put off.
        let goes_on = before.as_ref().is_some_and(|before| before.only.as_ref().map(Arc::as_ptr) == only.as_ref().map(Arc::as_ptr));
        let mut labelling = before.unwrap_or_default();
        if !goes_on {
            labelling.queue = only.as_ref().map(|only| only.to_vec()).unwrap_or_default();
            labelling.skipped.clear();
        }
        (labelling.only, labelling.order, labelling.is_arranged) = (only, order, false);
        labelling.refresh(&open.state);
        order.arrange(&open.state, &mut labelling.queue, self.session.seed());
        let Labelling { queue, skipped, .. } = &mut labelling;
        queue.sort_by_key(|id| skipped.contains(id));
        labelling.is_arranged = !order.is_asked();
        labelling.moved.clear();
        labelling.asked = 0;
        self.labelling = Some(labelling);
        self.think();
    }

    /// The library has changed.
    pub(super) fn labels_changed(&mut self) {
        if let (Some(open), Some(labelling)) = (&self.open, &mut self.labelling) {
            labelling.refresh(&open.state);
            self.think();
        }
    }

    fn think(&mut self) {
        let is_importing = self.is_importing();
        let is_possible = self.labeller.is_watched && !is_importing;
        self.labeller.is_stale = !is_possible;
        let (Some(open), Some(labelling)) = (&self.open, &mut self.labelling) else { return };
        // Nobody waits for an import: the queue is taken as it is.
        labelling.is_arranged |= is_importing;
        if !is_possible {
            return;
        }
        labelling.is_thinking = true;
        let head: HashSet<ItemId> = labelling.queue.iter().take(POOL).copied().collect();
        labelling.suggestions.retain(|id, _| head.contains(id));
        let question = Question {
            library: self.number,
            queue: labelling.queue.iter().take(KEPT).copied().collect(),
            pool: pool(&labelling.queue, |id| labelling.skipped.contains(id)),
            order: labelling.order,
            send: self.send.clone(),
            wake: Arc::clone(&self.wake),
        };
        self.labeller.ask(&self.quick, Arc::clone(&open.library), question);
    }

    pub(super) fn take_in_thought(&mut self, number: u64, thought: Thought) {
        let is_of_now = self.labeller.is_now(number);
        let Some(labelling) = &mut self.labelling else { return };
        match thought {
            Thought::Learned(n) => labelling.learned = n,
            Thought::Suggested(image, Some(suggestion)) => drop(labelling.suggestions.insert(image, suggestion)),
            Thought::Suggested(image, None) => drop(labelling.suggestions.remove(&image)),
            Thought::Arranged(arranged) if is_of_now => {
                if labelling.order.is_asked() {
                    labelling.arrange(&arranged.order);
                }
                labelling.glances = arranged.glances;
                if let Some(moved) = arranged.moved {
                    (labelling.moved, labelling.asked) = (moved, arranged.order.len());
                }
            }
            Thought::Arranged(_) => {}
            Thought::Done if is_of_now => (labelling.is_thinking, labelling.is_arranged) = (false, true),
            Thought::Done => {}
        }
    }

    /// Says what class images are of. The next image comes when that is durable.
    pub(super) fn give(&mut self, images: Vec<ItemId>, class: String, keys: usize) {
        let Some(labelling) = self.labelling.as_mut().filter(|labelling| !labelling.is_saving) else { return };
        let top = |id: &ItemId| Some(labelling.likeliest(&self.open.as_ref()?.state, *id)?.0);
        let suggested = images.iter().map(top).collect();
        labelling.is_saving = true;
        let given = Given { images, what: What::Class(class.trim().to_owned()), suggested, keys, event: None };
        self.say(given, move |library, given| {
            let What::Class(class) = &given.what else { return Ok(None) };
            library.label(&given.images, &UserLabel::Class(class.clone()))
        });
    }

    /// Says that an image is not of a class.
    pub(super) fn refuse(&mut self, image: ItemId, class: String) {
        let Some(labelling) = self.labelling.as_mut().filter(|labelling| !labelling.is_saving) else { return };
        labelling.is_saving = true;
        let given = Given { images: vec![image], what: What::Not(class), suggested: Vec::new(), keys: 1, event: None };
        self.say(given, move |library, given| {
            let What::Not(class) = &given.what else { return Ok(None) };
            library.reject(&given.images, class, true)
        });
    }

    fn say(&mut self, mut given: Given, act: impl FnOnce(&mut Library, &Given) -> Result<Option<EventId>> + Send + 'static) {
        self.with_library(move |_, library| {
            let outcome = contained(|| act(library, &given));
            let mut messages = Vec::new();
            match outcome {
                Ok(Ok(event)) => {
                    given.event = event;
                    messages.push(Message::Given(given));
                    if event.is_some() {
                        let words = library.state().history().last().map(|act| act.words.clone()).unwrap_or_default();
                        messages.push(Message::Logged(Notice { words, tone: Tone::Done, undo: event }));
                    }
                    messages.extend(library.take_remarks().into_iter().map(problem));
                }
                Ok(Err(error)) => messages.extend([Message::NotGiven, problem(error.to_string())]),
                Err(words) => messages.extend([Message::NotGiven, problem(mistake(&words))]),
            }
            // The queue follows the library, and knows then what was said of it.
            messages.insert(messages.len().min(1), Message::State(library.state().clone()));
            Message::Several(messages)
        });
    }

    pub(super) fn take_in_given(&mut self, given: Option<Given>) {
        let Some(labelling) = &mut self.labelling else { return };
        labelling.is_saving = false;
        let Some(given) = given else { return };
        if let What::Class(_) = given.what {
            labelling.queue.retain(|id| !given.images.contains(id));
        }
        let changes_nothing = given.event.is_none();
        labelling.given.push(given);
        if changes_nothing {
            self.think();
        }
    }

    /// Comes back to an image after all others.
    pub(super) fn skip(&mut self, image: ItemId) {
        let may_be = |labelling: &&mut Labelling| !labelling.is_saving && labelling.queue.contains(&image);
        let Some(labelling) = self.labelling.as_mut().filter(may_be) else { return };
        labelling.queue.retain(|id| *id != image);
        labelling.queue.push(image);
        labelling.skipped.insert(image);
        if labelling.queue.iter().all(|id| labelling.skipped.contains(id)) {
            // A new round.
            labelling.skipped.clear();
        }
        labelling.given.push(Given { images: vec![image], what: What::Skip, suggested: Vec::new(), keys: 1, event: None });
        self.think();
    }

    /// Takes an image up next.
    pub(super) fn take_up(&mut self, image: ItemId) {
        let Some((open, labelling)) = self.open.as_ref().zip(self.labelling.as_mut()) else { return };
        if !labelling.is_saving {
            labelling.first(&[image], &open.state);
            self.think();
        }
    }

    /// Takes back what was said last at the desk, and goes back to its image.
    pub(super) fn go_back(&mut self) {
        let Some((open, labelling)) = self.open.as_ref().zip(self.labelling.as_mut()) else { return };
        if labelling.is_saving {
            return;
        }
        let Some(given) = labelling.given.last().cloned() else {
            return self.tell(note("Nothing to go back to"));
        };
        let Some(event) = given.event else {
            labelling.given.pop();
            labelling.first(&given.images, &open.state);
            return self.think();
        };
        // What was taken back comes back to the head of the queue by itself.
        labelling.is_saving = true;
        self.with_library(move |_, library| {
            let is_last = library.state().history().last().is_some_and(|act| act.id == event);
            let undone = contained(|| if is_last { library.undo() } else { Ok(None) });
            let mut messages = vec![Message::NotGiven, Message::State(library.state().clone())];
            messages.push(match undone {
                Ok(Ok(Some((act, _)))) => Message::Logged(Notice { words: format!("Undone: {}", act.words), tone: Tone::Done, undo: None }),
                Ok(Ok(None)) => Message::Notice(note("Something else was done since: Ctrl+Z takes that back first")),
                Ok(Err(error)) => problem(error.to_string()),
                Err(words) => problem(mistake(&words)),
            });
            Message::Several(messages)
        });
    }

    /// Looks for labels that may be wrong.
    pub(super) fn review(&mut self) {
        let Some(open) = &self.open else {
            return self.tell(note("Open a folder or a library first"));
        };
        let library = Arc::clone(&open.library);
        self.job(REVIEWING, false, move |session| {
            let begun = session.begin_review(&library);
            // The library may be closed while labels are compared.
            drop(library);
            match begun {
                Ok(review) => session.on_threads(|| review.judge(session.progress())).map(Message::Reviewed),
                Err(Error::Cancelled) => Ok(Message::Notice(note("Stopped before a label was looked at"))),
                Err(error) => Err(error),
            }
        });
    }

    pub(super) fn take_in_review(&mut self, reviewed: Reviewed) {
        if self.labelling.is_none() {
            self.start_labelling(None, self.label_order);
        }
        if let (Some(open), Some(labelling)) = (&self.open, &mut self.labelling) {
            labelling.reviewed = Some(Arc::new(reviewed));
            labelling.settle(&open.state);
        }
    }
}
