//! The labelling desk: the queue of images, the suggestions of the advisers, and the review of
//! labels.

mod advisers;
mod queue;

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::{EventId, UserLabel};
use tessera_core::library::suggest::{LabelOrder, POOL, Reviewed};
use tessera_core::progress::ProgressSnapshot;
use tessera_core::{Error, Result};

use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::{Told, done, note};
use super::part::Part;
use super::told::{self, last_act};
use crate::job::JobKind;
use advisers::{Labeller, Question, Thought, pool};
use queue::KEPT;
pub use queue::{Changed, Given, Keys, LabelReview, Labelling, Lately, Meter, Moved, STRIP, What};

/// The labelling desk and its advisers.
pub struct LabellingDesk {
    shown: Option<Labelling>,
    labeller: Labeller,
    /// The default order.
    order: LabelOrder,
    /// Whether the labelling page is visible.
    is_watched: bool,
    /// Whether the suggestions are stale and are to be computed once that is possible.
    is_stale: bool,
}

/// Results of the threads.
pub(super) enum Message {
    /// A result of the advisers, and the number of the request.
    Thought(u64, Thought),
    /// A label or a rejection is durable.
    Given(Given),
    /// A label or a rejection could not be saved; or one was undone.
    NotGiven,
    /// The outcome of a review.
    Reviewed(Reviewed),
}

impl Part for LabellingDesk {
    type Message = Message;

    fn new(ctx: &Context) -> io::Result<Self> {
        let labeller = Labeller::new(ctx.outbox.clone())?;
        Ok(Self { shown: None, labeller, order: LabelOrder::default(), is_watched: false, is_stale: false })
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Thought(number, thought) => self.take_in_thought(number, thought),
            Message::Given(given) => self.take_in_given(ctx, Some(given)),
            Message::NotGiven => self.take_in_given(ctx, None),
            Message::Reviewed(reviewed) => self.take_in_review(ctx, reviewed),
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => {
                self.shown = None;
                (self.is_watched, self.is_stale) = (false, false);
                self.labeller.stop();
            }
            Event::Opened => {}
            Event::Changed => {
                if let (Some(state), Some(labelling)) = (ctx.state(), &mut self.shown) {
                    labelling.refresh(state);
                    self.think(ctx);
                }
            }
        }
    }
}

impl LabellingDesk {
    /// The queue with its suggestions; `None` before labelling begins.
    pub fn shown(&self) -> Option<&Labelling> {
        self.shown.as_ref()
    }

    /// The progress of the advisers, while they run.
    pub fn thinking(&self) -> Option<ProgressSnapshot> {
        self.shown.as_ref().filter(|labelling| labelling.is_thinking).map(|_| self.labeller.progress())
    }

    /// Sets the default order.
    pub(super) fn set_order(&mut self, order: LabelOrder) {
        self.order = order;
    }

    /// Sets whether the labelling page is visible: only then do the advisers run.
    pub(super) fn watch(&mut self, ctx: &Context, is_watched: bool) {
        self.is_watched = is_watched;
        let has_images = ctx.state().is_some_and(|state| state.images().next().is_some());
        if is_watched && self.shown.is_none() && ctx.library.is_some() && (has_images || !ctx.jobs.is_importing()) {
            self.start(ctx, None, self.order);
        } else if is_watched && self.is_stale {
            self.think(ctx);
        }
    }

    /// Fills the queue with some images, or with all that have no class. The order also becomes the
    /// default.
    pub(super) fn label_from(&mut self, ctx: &Context, only: Option<Arc<Vec<ItemId>>>, order: LabelOrder) {
        self.order = order;
        self.start(ctx, only, order);
    }

    fn start(&mut self, ctx: &Context, only: Option<Arc<Vec<ItemId>>>, order: LabelOrder) {
        let Some(state) = ctx.state() else { return };
        let before = self.shown.take();
        // Another order of the same images brings back neither labelled nor skipped ones.
        let goes_on = before.as_ref().is_some_and(|before| before.only.as_ref().map(Arc::as_ptr) == only.as_ref().map(Arc::as_ptr));
        let mut labelling = before.unwrap_or_default();
        if !goes_on {
            labelling.queue = only.as_ref().map(|only| only.to_vec()).unwrap_or_default();
            labelling.skipped.clear();
        }
        (labelling.only, labelling.order, labelling.is_arranged) = (only, order, false);
        labelling.refresh(state);
        order.arrange(state, &mut labelling.queue, ctx.session.seed());
        let Labelling { queue, skipped, .. } = &mut labelling;
        queue.sort_by_key(|id| skipped.contains(id));
        labelling.is_arranged = !order.is_asked();
        labelling.changed = Changed::default();
        self.shown = Some(labelling);
        self.think(ctx);
    }

    /// Requests suggestions for the next images, if the page is visible.
    fn think(&mut self, ctx: &Context) {
        let is_importing = ctx.jobs.is_importing();
        let is_possible = self.is_watched && !is_importing;
        self.is_stale = !is_possible;
        let (Some(open), Some(labelling)) = (&ctx.library, &mut self.shown) else { return };
        // The advisers do not run during an import: the queue is used as it is.
        labelling.is_arranged |= is_importing;
        if !is_possible {
            return;
        }
        labelling.is_thinking = true;
        let head: HashSet<ItemId> = labelling.queue.iter().take(POOL).copied().collect();
        labelling.suggestions.retain(|id, _| head.contains(id));
        let question = Question {
            queue: labelling.queue.iter().take(KEPT).copied().collect(),
            pool: pool(&labelling.queue, |id| labelling.skipped.contains(id)),
            order: labelling.order,
        };
        self.labeller.ask(&ctx.quick, ctx.outbox.clone(), Arc::clone(&open.shared), question);
    }

    fn take_in_thought(&mut self, number: u64, thought: Thought) {
        let is_of_now = self.labeller.is_now(number);
        let Some(labelling) = &mut self.shown else { return };
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
                    labelling.changed = Changed { moved, asked: arranged.order.len() };
                }
            }
            Thought::Arranged(_) => {}
            Thought::Done if is_of_now => (labelling.is_thinking, labelling.is_arranged) = (false, true),
            Thought::Done => {}
        }
    }

    /// The queue, unless a label is being saved: until then no other act on it is accepted.
    fn free(&mut self) -> Option<&mut Labelling> {
        self.shown.as_mut().filter(|labelling| !labelling.is_saving)
    }

    /// Labels images. The next image comes when the label is durable.
    pub(super) fn give(&mut self, ctx: &mut Context, images: Vec<ItemId>, class: String, keys: usize) {
        let Some(labelling) = self.free() else { return };
        let top = |id: &ItemId| Some(labelling.likeliest(ctx.state()?, *id)?.0);
        let suggested = images.iter().map(top).collect();
        labelling.is_saving = true;
        let given = Given { images, what: What::Class(class.trim().to_owned()), suggested, keys, event: None };
        say(ctx, given, move |library, given| {
            let What::Class(class) = &given.what else { return Ok(None) };
            library.label(&given.images, &UserLabel::Class(class.clone()))
        });
    }

    /// Rejects a class for an image.
    pub(super) fn refuse(&mut self, ctx: &mut Context, image: ItemId, class: String) {
        let Some(labelling) = self.free() else { return };
        labelling.is_saving = true;
        let given = Given { images: vec![image], what: What::Not(class), suggested: Vec::new(), keys: 1, event: None };
        say(ctx, given, move |library, given| {
            let What::Not(class) = &given.what else { return Ok(None) };
            library.reject(&given.images, class, true)
        });
    }

    fn take_in_given(&mut self, ctx: &Context, given: Option<Given>) {
        let Some(labelling) = &mut self.shown else { return };
        labelling.is_saving = false;
        let Some(given) = given else { return };
        if let What::Class(_) = given.what {
            labelling.queue.retain(|id| !given.images.contains(id));
        }
        let changes_nothing = given.event.is_none();
        labelling.given.push(given);
        if changes_nothing {
            self.think(ctx);
        }
    }

    /// Skips an image: it comes again after all others.
    pub(super) fn skip(&mut self, ctx: &Context, image: ItemId) {
        let Some(labelling) = self.free().filter(|labelling| labelling.queue.contains(&image)) else { return };
        labelling.queue.retain(|id| *id != image);
        labelling.queue.push(image);
        labelling.skipped.insert(image);
        if labelling.queue.iter().all(|id| labelling.skipped.contains(id)) {
            // All images were skipped: a new round begins.
            labelling.skipped.clear();
        }
        labelling.given.push(Given { images: vec![image], what: What::Skip, suggested: Vec::new(), keys: 1, event: None });
        self.think(ctx);
    }

    /// Moves an image to the head of the queue.
    pub(super) fn take_up(&mut self, ctx: &Context, image: ItemId) {
        let Some((state, labelling)) = ctx.state().zip(self.free()) else { return };
        labelling.first(&[image], state);
        self.think(ctx);
    }

    /// Undoes the last act on the queue, and goes back to its image.
    pub(super) fn go_back(&mut self, ctx: &mut Context) {
        let Some((state, labelling)) = ctx.state().zip(self.free()) else { return };
        let Some(given) = labelling.given.last().cloned() else {
            return ctx.tell(note("Nothing to go back to"));
        };
        let Some(event) = given.event else {
            labelling.given.pop();
            labelling.first(&given.images, state);
            return self.think(ctx);
        };
        // When the state arrives, the queue puts the image at its head by itself.
        labelling.is_saving = true;
        ctx.with_library(move |_, library| {
            let undo = |library: &mut Library| {
                let is_last = library.state().history().last().is_some_and(|act| act.id == event);
                if is_last { library.undo() } else { Ok(None) }
            };
            let acted = told::act(library, undo, |undone, _| {
                Some(match undone {
                    Some((act, _)) => Told::Logged(done(format!("Undone: {}", act.words))),
                    None => note("Something else was done since: Ctrl+Z takes that back first").into(),
                })
            });
            vec![Message::NotGiven.into(), DeskMessage::Several(acted.told)]
        });
    }

    fn take_in_review(&mut self, ctx: &Context, reviewed: Reviewed) {
        if self.shown.is_none() {
            self.start(ctx, None, self.order);
        }
        if let (Some(state), Some(labelling)) = (ctx.state(), &mut self.shown) {
            labelling.review.reviewed = Some(Arc::new(reviewed));
            labelling.settle(state);
        }
    }

    /// Waits until the thread of the advisers has ended.
    pub(super) fn finish(&mut self) {
        self.labeller.finish();
    }
}

/// Queues a label or a rejection.
fn say(ctx: &mut Context, given: Given, act: impl FnOnce(&mut Library, &Given) -> Result<Option<EventId>> + Send + 'static) {
    ctx.with_library(move |_, library| {
        let logged = |event: &Option<EventId>, library: &Library| event.map(|_| Told::Logged(last_act(library)));
        let acted = told::act(library, |library| act(library, &given), logged);
        // This message comes before the new state, so that the queue knows the act that the state
        // contains.
        let said = acted.outcome.map_or(Message::NotGiven, |event| Message::Given(Given { event, ..given }));
        vec![said.into(), DeskMessage::Several(acted.told)]
    });
}

/// Starts a review of labels: finds those that may be wrong.
pub(super) fn review(ctx: &mut Context) {
    let Some(library) = ctx.shared() else { return };
    ctx.job(JobKind::Review, move |session| {
        let begun = session.begin_review(&library);
        // The library may be closed while labels are compared.
        drop(library);
        match begun {
            Ok(review) => {
                session.on_threads(|| review.judge(session.progress())).map(|reviewed| DeskMessage::from(Message::Reviewed(reviewed)))
            }
            Err(Error::Cancelled) => Ok(note("Stopped before a label was looked at").into()),
            Err(error) => Err(error),
        }
    });
}
