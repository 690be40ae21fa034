//! The labelling desk: images in a queue, what advisers suggest for the first of them, and what was said.
//!
//! Advisers think on a thread of their own and hold the library only while they look at an image, so that a label never waits for them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::{EventId, UserLabel};
use tessera_core::library::import::hold;
use tessera_core::library::state::State;
use tessera_core::library::suggest::{Moment, Order, POOL, Reviewed, Suggester, Suggestion};
use tessera_core::progress::{Progress, Snapshot};

use super::super::Session;
use super::view::{Notice, Tone};
use super::worker::Worker;
use super::{Desk, Message, Wake, note, problem};

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
    pub order: Order,
    /// The images to be labelled, if not all that have no class.
    pub only: Option<Arc<Vec<ItemId>>>,
    /// Images to be labelled, the next one first.
    pub queue: Vec<ItemId>,
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
    /// What came of the last review.
    pub reviewed: Option<Arc<Reviewed>>,
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
    /// Of the last 50 so many were suggested rightly, and how many there are yet.
    pub lately: (usize, usize),
    /// Keys that typing every class, with Enter behind it, would have taken, and keys that were pressed.
    pub keys: (usize, usize),
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
                right.extend(given.suggested.iter().map(|suggested| suggested.as_ref() == Some(class)));
            }
        }
        let lately = &right[right.len().saturating_sub(50)..];
        meter.lately = (lately.iter().filter(|right| **right).count(), lately.len());
        meter
    }

    /// The classes suggested for an image, without those that it is said not to be of by now or that are no more.
    pub fn ranking(&self, state: &State, image: ItemId) -> Vec<(String, f64)> {
        let known = state.image(image);
        let holds = |class: &str| state.class(class).is_some() && known.is_some_and(|image| !image.rejected.contains(class));
        let suggestion = self.suggestions.get(&image);
        suggestion.map(|found| found.ranking.iter().filter(|(class, _)| holds(class)).cloned().collect()).unwrap_or_default()
    }

    /// Brings the queue in line with the library: labelled images leave it, others that lost their label come back.
    fn refresh(&mut self, state: &State) {
        let acts: HashSet<EventId> = state.history().iter().map(|act| act.id).collect();
        let taken_back = |given: &Given| given.event.is_some_and(|event| !acts.contains(&event));
        let mut back: Vec<ItemId> = self.given.iter().filter(|given| taken_back(given)).flat_map(|given| given.images.clone()).collect();
        self.given.retain(|given| !taken_back(given));
        let is_live = |id: &ItemId| state.image(*id).is_some_and(|image| image.is_live());
        match &self.only {
            Some(only) => {
                self.queue.retain(is_live);
                let queued: HashSet<ItemId> = self.queue.iter().copied().collect();
                back.retain(|id| is_live(id) && only.contains(id) && !queued.contains(id));
            }
            None => {
                let wanted: Vec<ItemId> = state.images().filter(|image| image.label().is_none()).map(|image| image.id).collect();
                let is_wanted: HashSet<ItemId> = wanted.iter().copied().collect();
                self.queue.retain(|id| is_wanted.contains(id));
                let queued: HashSet<ItemId> = self.queue.iter().copied().collect();
                back.retain(|id| is_wanted.contains(id) && !queued.contains(id));
                let first: HashSet<ItemId> = back.iter().copied().collect();
                self.queue.extend(wanted.into_iter().filter(|id| !queued.contains(id) && !first.contains(id)));
            }
        }
        self.queue.splice(..0, back);
        if let Some(reviewed) = &mut self.reviewed {
            let holds = |image: ItemId, label: &str, instead: &str| {
                let image = state.image(image).filter(|image| image.is_live());
                image.is_some_and(|image| image.label() == Some(label) && !image.rejected.contains(instead))
            };
            if reviewed.doubts.iter().any(|doubt| !holds(doubt.image, &doubt.label.0, &doubt.instead[0].0)) {
                Arc::make_mut(reviewed).doubts.retain(|doubt| holds(doubt.image, &doubt.label.0, &doubt.instead[0].0));
            }
        }
    }

    /// Puts images at the head of the queue.
    fn first(&mut self, images: &[ItemId]) {
        self.queue.retain(|id| !images.contains(id));
        self.queue.splice(..0, images.iter().copied());
    }

    /// Takes over an order of some of the images.
    fn arrange(&mut self, order: &[ItemId]) {
        let places: HashMap<ItemId, usize> = order.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let kept = if self.is_arranged { KEPT.min(self.queue.len()) } else { 0 };
        self.queue[kept..].sort_by_key(|id| places.get(id).copied().unwrap_or(usize::MAX));
        self.is_arranged = true;
    }
}

/// What the advisers' thread says.
pub(super) enum Thought {
    Learned(usize),
    Suggested(Suggestion),
    Arranged { order: Vec<ItemId>, glances: HashMap<ItemId, (String, f64)>, moved: Vec<Moved> },
    Done,
}

/// The advisers' thread.
pub(super) struct Labeller {
    worker: Worker,
    mind: Arc<Mutex<Option<Mind>>>,
    /// What is to be thought of now: older questions are dropped.
    asked: Arc<AtomicU64>,
    progress: Progress,
    is_watched: bool,
    is_stale: bool,
}

/// What the advisers know, of which library.
struct Mind {
    library: u64,
    suggester: Suggester,
    /// The classes suggested at a glance, when last asked.
    glances: HashMap<ItemId, String>,
}

/// A question to the advisers.
struct Question {
    library: u64,
    number: u64,
    asked: Arc<AtomicU64>,
    queue: Vec<ItemId>,
    order: Order,
    send: Sender<(u64, Message)>,
    wake: Wake,
}

impl Labeller {
    pub(super) fn new(complain: impl Fn(String) + Send + 'static) -> std::io::Result<Self> {
        Ok(Self {
            worker: Worker::new("advisers", complain)?,
            mind: Arc::default(),
            asked: Arc::default(),
            progress: Progress::default(),
            is_watched: false,
            is_stale: false,
        })
    }

    /// Stops thinking, and lets go of the library.
    pub(super) fn stop(&mut self) {
        self.progress.cancel();
        self.asked.fetch_add(1, Ordering::Relaxed);
        (self.is_watched, self.is_stale) = (false, false);
        let mind = Arc::clone(&self.mind);
        self.worker.run(move || *mind.lock().unwrap_or_else(PoisonError::into_inner) = None);
    }

    pub(super) fn finish(&mut self) {
        self.stop();
        self.worker.finish();
    }
}

impl Question {
    fn is_stale(&self) -> bool {
        self.asked.load(Ordering::Relaxed) != self.number
    }

    fn tell(&self, thought: Thought) {
        // Nobody listens when the desk is gone.
        let _ = self.send.send((self.library, Message::Thought(self.number, thought)));
        (self.wake)();
    }

    fn think(&self, session: &Session, library: &Mutex<Library>, mind: &mut Option<Mind>) -> Result<()> {
        session.bring_appearances(library)?;
        if mind.as_ref().is_none_or(|mind| mind.library != self.library) {
            *mind = Some(Mind { library: self.library, suggester: Suggester::new(session.seed())?, glances: HashMap::new() });
        }
        let Some(mind) = mind else { return Ok(()) };
        let moment = mind.suggester.news(&hold(library));
        mind.suggester.learn(&moment, session.progress())?;
        self.tell(Thought::Learned(mind.suggester.n_learned()));
        for id in self.queue.iter().take(KEPT) {
            if self.is_stale() {
                return Ok(());
            }
            self.suggest(mind, library, &moment, *id)?;
        }
        let pool: Vec<ItemId> = self.queue.iter().take(POOL).copied().collect();
        let seen = mind.suggester.glance(&hold(library), &pool);
        let arranged = mind.suggester.order(&moment, &seen, self.order, session.progress())?;
        let top = |(id, suggestion): &(ItemId, Option<Suggestion>)| Some((*id, suggestion.as_ref()?.ranking.first()?.clone()));
        let glances: HashMap<ItemId, (String, f64)> = arranged.iter().filter_map(top).collect();
        let moved = |(image, _): &(ItemId, Option<Suggestion>)| {
            let (from, (to, _)) = (mind.glances.get(image)?, glances.get(image)?);
            (from != to).then(|| Moved { image: *image, from: from.clone(), to: to.clone() })
        };
        let moved = arranged.iter().filter_map(moved).collect();
        mind.glances = glances.iter().map(|(id, (class, _))| (*id, class.clone())).collect();
        let order: Vec<ItemId> = arranged.into_iter().map(|(id, _)| id).collect();
        let head = self.queue.iter().take(KEPT).copied();
        let next: Vec<ItemId> = head.clone().chain(order.iter().copied().filter(|id| !head.clone().any(|kept| kept == *id))).collect();
        self.tell(Thought::Arranged { order, glances, moved });
        for id in next.iter().take(STRIP).skip(KEPT) {
            if self.is_stale() {
                return Ok(());
            }
            self.suggest(mind, library, &moment, *id)?;
        }
        self.tell(Thought::Done);
        Ok(())
    }

    fn suggest(&self, mind: &mut Mind, library: &Mutex<Library>, moment: &Moment, id: ItemId) -> Result<()> {
        let seen = mind.suggester.see(&hold(library), &[id], &Progress::default())?;
        for seen in &seen {
            if let Some(suggestion) = mind.suggester.suggest(moment, seen)? {
                self.tell(Thought::Suggested(suggestion));
            }
        }
        Ok(())
    }
}

impl Desk {
    /// What is on the labelling desk.
    pub fn labelling(&self) -> Option<&Labelling> {
        self.labelling.as_ref()
    }

    /// How far the advisers are, while they think.
    pub fn thinking(&self) -> Option<Snapshot> {
        self.labelling.as_ref().filter(|labelling| labelling.is_thinking).map(|_| self.labeller.progress.snapshot())
    }

    /// Says whether the labelling desk is looked at: only then do advisers think.
    pub fn watch_labelling(&mut self, is_watched: bool) {
        self.labeller.is_watched = is_watched;
        if is_watched && self.labelling.is_none() && self.open.is_some() && !self.is_importing() {
            self.start_labelling(None, Order::default());
        } else if is_watched && std::mem::take(&mut self.labeller.is_stale) {
            self.think();
        }
    }

    /// Begins with some images, or with all that have no class.
    pub(super) fn start_labelling(&mut self, only: Option<Arc<Vec<ItemId>>>, order: Order) {
        let Some(open) = &self.open else { return };
        let mut labelling = self.labelling.take().unwrap_or_default();
        labelling.queue = only.as_ref().map(|only| only.to_vec()).unwrap_or_default();
        (labelling.only, labelling.order) = (only, order);
        labelling.refresh(&open.state);
        order.arrange(&open.state, &mut labelling.queue, self.session.seed());
        labelling.is_arranged = !order.is_asked();
        labelling.moved.clear();
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
        let (Some(open), Some(labelling)) = (&self.open, &mut self.labelling) else { return };
        if !self.labeller.is_watched {
            self.labeller.is_stale = true;
            return;
        }
        labelling.is_thinking = true;
        let head: HashSet<ItemId> = labelling.queue.iter().take(POOL).copied().collect();
        labelling.suggestions.retain(|id, _| head.contains(id));
        let question = Question {
            library: self.number,
            number: self.labeller.asked.fetch_add(1, Ordering::Relaxed) + 1,
            asked: Arc::clone(&self.labeller.asked),
            queue: labelling.queue.iter().take(POOL + KEPT).copied().collect(),
            order: labelling.order,
            send: self.send.clone(),
            wake: Arc::clone(&self.wake),
        };
        if self.labeller.progress.is_cancelled() {
            self.labeller.progress = self.session.progress().another();
        }
        let session = self.quick.with_progress(&self.labeller.progress);
        let (library, mind) = (Arc::clone(&open.library), Arc::clone(&self.labeller.mind));
        self.labeller.worker.run(move || {
            if question.is_stale() {
                return;
            }
            let mut mind = mind.lock().unwrap_or_else(PoisonError::into_inner);
            match question.think(&session, &library, &mut mind) {
                Ok(()) | Err(tessera_core::Error::Cancelled) => {}
                Err(error) => {
                    let _ = question.send.send((question.library, problem(error.to_string())));
                    question.tell(Thought::Done);
                }
            }
        });
    }

    pub(super) fn take_in_thought(&mut self, number: u64, thought: Thought) {
        let is_of_now = self.labeller.asked.load(Ordering::Relaxed) == number;
        let Some(labelling) = &mut self.labelling else { return };
        match thought {
            Thought::Learned(n) => labelling.learned = n,
            Thought::Suggested(suggestion) => {
                labelling.suggestions.insert(suggestion.image, suggestion);
            }
            Thought::Arranged { order, glances, moved } if is_of_now => {
                if labelling.order.is_asked() || !labelling.is_arranged {
                    labelling.arrange(&order);
                }
                (labelling.moved, labelling.asked, labelling.glances) = (moved, order.len(), glances);
            }
            Thought::Arranged { .. } => {}
            Thought::Done => labelling.is_thinking &= !is_of_now,
        }
    }

    /// Says what class images are of. The next image comes when that is durable.
    pub(super) fn give(&mut self, images: Vec<ItemId>, class: String, keys: usize) {
        let Some(labelling) = self.labelling.as_mut().filter(|labelling| !labelling.is_saving) else { return };
        let top = |id: &ItemId| {
            let asked = self.open.as_ref().and_then(|open| labelling.ranking(&open.state, *id).into_iter().next());
            asked.or_else(|| labelling.glances.get(id).cloned()).map(|(name, _)| name)
        };
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
            let outcome = act(library, &given);
            let mut messages = vec![Message::State(library.state().clone())];
            match outcome {
                Ok(event) => {
                    given.event = event;
                    let words = library.state().history().last().map(|act| act.words.clone()).unwrap_or_default();
                    messages.push(Message::Given(given));
                    messages.push(Message::Logged(Notice { words, tone: Tone::Done, undo: event }));
                    messages.extend(library.take_remarks().into_iter().map(problem));
                }
                Err(error) => messages.extend([Message::NotGiven, problem(error.to_string())]),
            }
            Message::Several(messages)
        });
    }

    pub(super) fn take_in_given(&mut self, given: Option<Given>) {
        let Some(labelling) = &mut self.labelling else { return };
        labelling.is_saving = false;
        let Some(given) = given else { return };
        if matches!(given.what, What::Class(_)) {
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
        let Some(labelling) = self.labelling.as_mut().filter(|labelling| !labelling.is_saving) else { return };
        labelling.queue.retain(|id| *id != image);
        labelling.queue.push(image);
        labelling.given.push(Given { images: vec![image], what: What::Skip, suggested: Vec::new(), keys: 1, event: None });
        self.think();
    }

    /// Takes an image up next.
    pub(super) fn take_up(&mut self, image: ItemId) {
        if let Some(labelling) = self.labelling.as_mut().filter(|labelling| !labelling.is_saving) {
            labelling.first(&[image]);
            self.think();
        }
    }

    /// Takes back what was said last at the desk, and goes back to its image.
    pub(super) fn go_back(&mut self) {
        let Some((open, labelling)) = self.open.as_ref().zip(self.labelling.as_mut()) else { return };
        let Some(given) = labelling.given.last().filter(|_| !labelling.is_saving).cloned() else {
            return self.tell(note("Nothing to go back to"));
        };
        if given.event.is_some() && open.state.history().last().map(|act| act.id) != given.event {
            return self.tell(note("Something else was done since: Ctrl+Z takes that back first"));
        }
        if given.event.is_none() {
            labelling.given.pop();
            labelling.first(&given.images);
            return self.think();
        }
        // What was taken back comes back to the head of the queue by itself.
        labelling.is_saving = true;
        self.with_library(move |_, library| {
            let outcome = library.undo();
            let mut messages = vec![Message::State(library.state().clone()), Message::NotGiven];
            match outcome {
                Ok(act) => {
                    let words = act.map(|(act, _)| format!("Undone: {}", act.words)).unwrap_or_default();
                    messages.push(Message::Logged(Notice { words, tone: Tone::Done, undo: None }));
                }
                Err(error) => messages.push(problem(error.to_string())),
            }
            Message::Several(messages)
        });
    }

    /// Looks for labels that may be wrong.
    pub(super) fn review(&mut self) {
        let Some(open) = &self.open else {
            return self.tell(note("Open a folder or a library first"));
        };
        let library = Arc::clone(&open.library);
        self.job(REVIEWING, false, move |session| Ok(Message::Reviewed(session.review(&library)?)));
    }

    pub(super) fn take_in_review(&mut self, reviewed: Reviewed) {
        let labelling = self.labelling.get_or_insert_with(Labelling::default);
        labelling.reviewed = Some(Arc::new(reviewed));
        // What was settled while it went on is not doubted any more.
        if let Some(open) = &self.open {
            labelling.refresh(&open.state);
        }
    }
}
