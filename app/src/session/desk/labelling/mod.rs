//! The labelling desk: the queue of images, the suggestions of the advisers, and the review of
//! labels.

mod advisers;
mod queue;

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::event::{EventId, UserLabel};
use tessera_core::library::state::State;
use tessera_core::library::suggest::{LabelOrder, POOL, Reviewed};
use tessera_core::library::{Library, hold};
use tessera_core::progress::ProgressSnapshot;
use tessera_core::{Error, Result};

use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::library_act::{self, last_act};
use super::notices::{NewNotice, done, note, problem};
use super::part::Part;
use crate::job::JobKind;
use advisers::{AdviserResult, AdviserThread, SuggestionRequest, pool};
use queue::KEPT;
pub use queue::{
    ChangedSuggestion, Keys, LabelAct, LabelActKind, LabelReview, Labelling, LabellingStatistics, RecentAccuracy, STRIP, SuggestionChanges,
};

/// The labelling desk and its advisers.
pub struct LabellingDesk {
    shown: Option<Labelling>,
    thread: AdviserThread,
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
    Advisers(u64, AdviserResult),
    /// A label or a rejection is durable.
    Saved(LabelAct),
    /// A label or a rejection could not be saved; or one was undone.
    NotSaved,
    /// The outcome of a review, and a state with the labels that it is of.
    Reviewed(Reviewed, State),
    /// That of the last one that the library kept; no state where labels have changed since.
    Kept(Option<(Reviewed, Option<State>)>),
}

impl Part for LabellingDesk {
    type Message = Message;

    fn new(ctx: &Context) -> io::Result<Self> {
        let thread = AdviserThread::new(ctx.outbox.clone())?;
        Ok(Self { shown: None, thread, order: LabelOrder::default(), is_watched: false, is_stale: false })
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Advisers(number, result) => self.take_in_result(number, result),
            Message::Saved(act) => self.take_in_saved(ctx, Some(act)),
            Message::NotSaved => self.take_in_saved(ctx, None),
            Message::Reviewed(reviewed, of) => {
                let reviewed = Arc::new(reviewed);
                self.take_in_review(ctx, Arc::clone(&reviewed), Some(of));
                ctx.with_library(move |_, library| match library.keep_review(&reviewed) {
                    Ok(()) => DeskMessage::from(()),
                    Err(error) => problem(error).into(),
                });
            }
            Message::Kept(Some((reviewed, of))) if self.shown.as_ref().is_some_and(|labelling| labelling.review.reviewed.is_none()) => {
                self.take_in_review(ctx, Arc::new(reviewed), of);
            }
            Message::Kept(_) => {}
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => {
                self.shown = None;
                (self.is_watched, self.is_stale) = (false, false);
                self.thread.stop();
            }
            Event::First | Event::Opened | Event::Ready | Event::Seen => {}
            // The advisers begin anew, with other vectors.
            Event::Learned(_) => self.request_suggestions(ctx),
            Event::Changed => {
                if let (Some(state), Some(labelling)) = (ctx.state(), &mut self.shown) {
                    labelling.refresh(state);
                    self.request_suggestions(ctx);
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
    pub fn progress(&self) -> Option<ProgressSnapshot> {
        self.shown.as_ref().filter(|labelling| labelling.is_computing).map(|_| self.thread.progress())
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
            self.request_suggestions(ctx);
        }
    }

    /// Fills the queue with some images, or with all that have no class. The order also becomes the
    /// default, if it can be chosen.
    pub(super) fn label_from(&mut self, ctx: &Context, only: Option<Arc<Vec<ItemId>>>, order: LabelOrder) {
        if order != LabelOrder::Given {
            self.order = order;
        }
        self.start(ctx, only, order);
    }

    fn start(&mut self, ctx: &Context, only: Option<Arc<Vec<ItemId>>>, order: LabelOrder) {
        let Some(state) = ctx.state() else { return };
        let before = self.shown.take();
        if let (None, Some(open)) = (&before, &ctx.library) {
            let library = Arc::clone(&open.shared);
            ctx.short(move || {
                let (kept, state) = {
                    let library = hold(&library);
                    (library.kept_review().unwrap_or_default(), library.state().clone())
                };
                Message::Kept(kept.map(|reviewed| {
                    let of = reviewed.is_of(&state).then_some(state);
                    (reviewed, of)
                }))
            });
        }
        // Another order of the same images brings back neither labelled nor skipped ones.
        let goes_on = before.as_ref().is_some_and(|before| before.only.as_ref().map(Arc::as_ptr) == only.as_ref().map(Arc::as_ptr));
        let mut labelling = before.unwrap_or_default();
        if !goes_on {
            labelling.queue = only.as_ref().map(|only| only.to_vec()).unwrap_or_default();
            labelling.skipped.clear();
        }
        (labelling.only, labelling.order, labelling.is_arranged) = (only, order, false);
        labelling.refresh_wholly(state);
        order.arrange(state, &mut labelling.queue, ctx.session.seed());
        let Labelling { queue, skipped, .. } = &mut labelling;
        queue.sort_by_key(|id| skipped.contains(id));
        labelling.is_arranged = !order.is_asked();
        labelling.changed = SuggestionChanges::default();
        self.shown = Some(labelling);
        self.request_suggestions(ctx);
    }

    /// Requests suggestions for the next images, if the page is visible.
    fn request_suggestions(&mut self, ctx: &Context) {
        let is_importing = ctx.jobs.is_importing();
        let is_possible = self.is_watched && !is_importing && ctx.is_ready();
        self.is_stale = !is_possible;
        let (Some(open), Some(labelling)) = (&ctx.library, &mut self.shown) else { return };
        // The advisers do not run during an import, nor before the models know the library: the
        // queue is used as it is.
        labelling.is_arranged |= is_importing || !ctx.is_ready();
        if !is_possible {
            return;
        }
        labelling.is_computing = true;
        let head: HashSet<ItemId> = labelling.queue.iter().take(POOL).copied().collect();
        labelling.suggestions.retain(|id, _| head.contains(id));
        let request = SuggestionRequest {
            queue: labelling.queue.iter().take(KEPT).copied().collect(),
            pool: pool(&labelling.queue, |id| labelling.skipped.contains(id)),
            order: labelling.order,
        };
        let is_shown = labelling.is_arranged;
        self.thread.request(&ctx.quick, ctx.outbox.clone(), Arc::clone(&open.shared), request, is_shown);
    }

    fn take_in_result(&mut self, number: u64, result: AdviserResult) {
        let is_of_now = self.thread.is_now(number);
        let Some(labelling) = &mut self.shown else { return };
        match result {
            // The first image is shown at once; those after it are put in order meanwhile.
            AdviserResult::TakesLong => labelling.is_arranged |= is_of_now,
            AdviserResult::Learned(n) => labelling.learned = n,
            AdviserResult::Suggested(image, Some(suggestion)) => drop(labelling.suggestions.insert(image, suggestion)),
            AdviserResult::Suggested(image, None) => drop(labelling.suggestions.remove(&image)),
            AdviserResult::Arranged(arranged) if is_of_now => {
                if labelling.order.is_asked() {
                    labelling.arrange(&arranged.order);
                }
                labelling.glances = arranged.glances;
                if let Some(moved) = arranged.moved {
                    labelling.changed = SuggestionChanges { moved, asked: arranged.order.len() };
                }
            }
            AdviserResult::Arranged(_) => {}
            AdviserResult::Done if is_of_now => (labelling.is_computing, labelling.is_arranged) = (false, true),
            AdviserResult::Done => {}
        }
    }

    /// The queue, unless a label is being saved: until then no other act on it is accepted.
    fn free(&mut self) -> Option<&mut Labelling> {
        self.shown.as_mut().filter(|labelling| !labelling.is_saving)
    }

    /// Labels images. The next image comes when the label is durable.
    pub(super) fn label(&mut self, ctx: &mut Context, images: Vec<ItemId>, class: String, keys: usize) {
        let Some(labelling) = self.free() else { return };
        let top = |id: &ItemId| Some(labelling.likeliest(ctx.state()?, *id)?.0);
        let suggested = images.iter().map(top).collect();
        labelling.is_saving = true;
        let act = LabelAct { images, kind: LabelActKind::Label(class.trim().to_owned()), suggested, keys, event: None };
        save(ctx, act, |library, act| {
            let LabelActKind::Label(class) = &act.kind else { return Ok(None) };
            library.label(&act.images, &UserLabel::Class(class.clone()))
        });
    }

    /// Rejects a class for an image.
    pub(super) fn reject(&mut self, ctx: &mut Context, image: ItemId, class: String) {
        let Some(labelling) = self.free() else { return };
        labelling.is_saving = true;
        let act = LabelAct { images: vec![image], kind: LabelActKind::Reject(class), suggested: Vec::new(), keys: 1, event: None };
        save(ctx, act, |library, act| {
            let LabelActKind::Reject(class) = &act.kind else { return Ok(None) };
            library.reject(&act.images, class, true)
        });
    }

    /// Rejects all classes for an image, which leaves the queue.
    pub(super) fn reject_all(&mut self, ctx: &mut Context, image: ItemId) {
        let Some(labelling) = self.free() else { return };
        labelling.is_saving = true;
        let act = LabelAct { images: vec![image], kind: LabelActKind::RejectAll, suggested: Vec::new(), keys: 1, event: None };
        save(ctx, act, |library, act| library.reject_all(&act.images));
    }

    fn take_in_saved(&mut self, ctx: &Context, act: Option<LabelAct>) {
        let Some(labelling) = &mut self.shown else { return };
        labelling.is_saving = false;
        let Some(act) = act else { return };
        if act.kind.ends_an_image() {
            labelling.queue.retain(|id| !act.images.contains(id));
        }
        let changes_nothing = act.event.is_none();
        labelling.acts.push(act);
        if changes_nothing {
            self.request_suggestions(ctx);
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
        labelling.acts.push(LabelAct { images: vec![image], kind: LabelActKind::Skip, suggested: Vec::new(), keys: 1, event: None });
        self.request_suggestions(ctx);
    }

    /// Moves an image to the head of the queue.
    pub(super) fn take_up(&mut self, ctx: &Context, image: ItemId) {
        let Some((state, labelling)) = ctx.state().zip(self.free()) else { return };
        labelling.first(&[image], state);
        self.request_suggestions(ctx);
    }

    /// Undoes the last act on the queue, and goes back to its image.
    pub(super) fn go_back(&mut self, ctx: &mut Context) {
        let Some((state, labelling)) = ctx.state().zip(self.free()) else { return };
        let Some(act) = labelling.acts.last().cloned() else {
            return ctx.tell(note("Nothing to go back to"));
        };
        let Some(event) = act.event else {
            labelling.acts.pop();
            labelling.first(&act.images, state);
            return self.request_suggestions(ctx);
        };
        // When the state arrives, the queue puts the image at its head by itself.
        labelling.is_saving = true;
        ctx.with_library(move |_, library| {
            let undo = |library: &mut Library| {
                let is_last = library.state().history().last().is_some_and(|act| act.id == event);
                if is_last { library.undo() } else { Ok(None) }
            };
            let acted = library_act::act(library, undo, |undone, _| {
                Some(match undone {
                    Some((act, _)) => NewNotice::Logged(done(format!("Undone: {}", act.words))),
                    None => note("Something else was done since: Ctrl+Z takes that back first").into(),
                })
            });
            vec![Message::NotSaved.into(), DeskMessage::Several(acted.told)]
        });
    }

    fn take_in_review(&mut self, ctx: &Context, reviewed: Arc<Reviewed>, of: Option<State>) {
        if self.shown.is_none() {
            self.start(ctx, None, self.order);
        }
        if let (Some(state), Some(labelling)) = (ctx.state(), &mut self.shown) {
            (labelling.review.reviewed, labelling.review.of) = (Some(reviewed), of);
            labelling.settle(state);
        }
    }

    /// Waits until the thread of the advisers has ended.
    pub(super) fn finish(&mut self) {
        self.thread.finish();
    }
}

/// Queues a label or a rejection.
fn save(ctx: &mut Context, act: LabelAct, write: impl FnOnce(&mut Library, &LabelAct) -> Result<Option<EventId>> + Send + 'static) {
    ctx.with_library(move |_, library| {
        let told = |event: &Option<EventId>, library: &Library| event.map(|_| last_act(library).into());
        let acted = library_act::act(library, |library| write(library, &act), told);
        // This message comes before the new state, so that the queue knows the act that the state
        // contains.
        let said = acted.outcome.map_or(Message::NotSaved, |event| Message::Saved(LabelAct { event, ..act }));
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
                let state = review.state().clone();
                let judged = session.on_threads(|| review.judge(session.progress()));
                judged.map(|reviewed| DeskMessage::from(Message::Reviewed(reviewed, state)))
            }
            Err(Error::Cancelled) => Ok(note("Stopped before a label was looked at").into()),
            Err(error) => Err(error),
        }
    });
}
