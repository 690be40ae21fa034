//! The thread on which the advisers learn labels and compute suggestions.
//!
//! It locks the library while it reads images, not while it computes. A request is abandoned when a
//! newer one has come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::suggest::{LEARNED, LabelOrder, LabelSnapshot, POOL, Suggester, Suggestion};
use tessera_core::progress::{Progress, ProgressSnapshot};

use super::super::context::Outbox;
use super::super::notices::problem;
use super::super::worker::Worker;
use super::Message;
use super::queue::{ChangedSuggestion, KEPT, STRIP};
use crate::session::Session;

/// Labels that are learned before the first image is shown, at most.
const AT_ONCE: usize = 20;

/// The longest that images wait to be put in order before the next one is shown.
const LONGEST: Duration = Duration::from_millis(900);

/// A result of the thread.
pub(in super::super) enum AdviserResult {
    /// It takes long until images are in order.
    TakesLong,
    Learned(usize),
    Suggested(ItemId, Option<Suggestion>),
    Arranged(Arranged),
    Done,
}

/// The images of a request in their order, with their quick predictions.
pub(in super::super) struct Arranged {
    pub(super) order: Vec<ItemId>,
    pub(super) glances: HashMap<ItemId, (String, f64)>,
    /// The suggestions that were changed by the labels learned since the last request; `None` if
    /// none was learned.
    pub(super) moved: Option<Vec<ChangedSuggestion>>,
}

/// The thread, and the state of the advisers.
pub(super) struct AdviserThread {
    worker: Worker,
    advisers: Arc<Mutex<Option<AdviserState>>>,
    /// The number of the last request.
    asked: Arc<AtomicU64>,
    progress: Progress,
}

/// The state of the advisers, and the number of the library that it is of.
struct AdviserState {
    library: u64,
    suggester: Suggester,
    /// The quick predictions of the last request, and the value of [`Suggester::changes`] at that
    /// time.
    glances: HashMap<ItemId, String>,
    changes: u64,
}

/// A request for suggestions.
pub(super) struct SuggestionRequest {
    /// The images at the head of the queue, which the user sees.
    pub(super) queue: Vec<ItemId>,
    /// The images of the queue among which the next are chosen.
    pub(super) pool: Vec<ItemId>,
    pub(super) order: LabelOrder,
}

/// A request in work. When it is dropped, it reports that it has ended, however that was.
struct PendingRequest {
    request: SuggestionRequest,
    outbox: Outbox,
    number: u64,
    asked: Arc<AtomicU64>,
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.tell(AdviserResult::Done);
    }
}

impl AdviserThread {
    /// # Errors
    /// When the system refuses to start a thread.
    pub(super) fn new(outbox: Outbox) -> std::io::Result<Self> {
        let worker = Worker::new("advisers", move |words| outbox.send(problem(words)))?;
        Ok(Self { worker, advisers: Arc::default(), asked: Arc::default(), progress: Progress::default() })
    }

    /// The progress of the advisers.
    pub(super) fn progress(&self) -> ProgressSnapshot {
        self.progress.snapshot()
    }

    /// Cancels the request in work, and drops the state of the advisers.
    pub(super) fn stop(&mut self) {
        self.progress.cancel();
        self.asked.fetch_add(1, Ordering::Relaxed);
        let advisers = Arc::clone(&self.advisers);
        self.worker.run(move || *advisers.lock().unwrap_or_else(PoisonError::into_inner) = None);
    }

    pub(super) fn finish(&mut self) {
        self.stop();
        self.worker.finish();
    }

    /// Whether that is the number of the last request.
    pub(super) fn is_now(&self, number: u64) -> bool {
        self.asked.load(Ordering::Relaxed) == number
    }

    /// Queues a request; earlier ones are abandoned at their next step. Where no image is shown
    /// until they are in order, that takes [`LONGEST`] at most.
    pub(super) fn request(
        &mut self,
        session: &Session,
        outbox: Outbox,
        library: Arc<Mutex<Library>>,
        request: SuggestionRequest,
        is_shown: bool,
    ) {
        if self.progress.is_cancelled() {
            self.progress = session.progress().another();
        }
        let session = session.with_progress(&self.progress);
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        if !is_shown {
            let outbox = outbox.clone();
            let wait = move || {
                thread::sleep(LONGEST);
                outbox.send(Message::Advisers(number, AdviserResult::TakesLong));
            };
            // Without a thread the first image comes when all are in order.
            let _ = thread::Builder::new().name("first image".into()).spawn(wait);
        }
        let (asked, advisers) = (Arc::clone(&self.asked), Arc::clone(&self.advisers));
        self.worker.run(move || {
            let asked = PendingRequest { request, outbox, number, asked };
            if asked.is_stale() {
                return;
            }
            // After an error the state of the advisers may be incomplete, so it is dropped.
            let mut own = advisers.lock().unwrap_or_else(PoisonError::into_inner).take();
            match asked.compute(&session, &library, &mut own) {
                Ok(()) | Err(tessera_core::Error::Cancelled) => *advisers.lock().unwrap_or_else(PoisonError::into_inner) = own,
                Err(error) => asked.outbox.send(problem(error)),
            }
        });
    }
}

impl PendingRequest {
    fn is_stale(&self) -> bool {
        self.asked.load(Ordering::Relaxed) != self.number
    }

    fn tell(&self, result: AdviserResult) {
        self.outbox.send(Message::Advisers(self.number, result));
    }

    fn compute(&self, session: &Session, library: &Mutex<Library>, advisers: &mut Option<AdviserState>) -> Result<()> {
        let SuggestionRequest { queue, pool, order, .. } = &self.request;
        let suits = |advisers: &AdviserState| advisers.library == self.outbox.library && advisers.suggester.suits(&hold(library));
        if !advisers.as_ref().is_some_and(suits) {
            let suggester = Suggester::of(&hold(library), session.seed(), LEARNED)?;
            *advisers = Some(AdviserState { library: self.outbox.library, suggester, glances: HashMap::new(), changes: 0 });
        }
        let Some(advisers) = advisers else { return Ok(()) };
        // Nothing that is about all images is done while the library is held.
        let state = hold(library).state().clone();
        let fresh = advisers.suggester.fresh(&state);
        let wanted: Vec<ItemId> = fresh.images().chain(queue.iter().chain(pool).copied()).collect();
        session.load_appearances_of(library, &wanted, || self.tell(AdviserResult::TakesLong))?;
        let mut snapshot = advisers.suggester.gather(library, fresh);
        if snapshot.n_fresh() > AT_ONCE {
            self.tell(AdviserResult::TakesLong);
        }
        session.on_threads(|| advisers.suggester.learn(&mut snapshot, session.progress()))?;
        self.tell(AdviserResult::Learned(advisers.suggester.n_learned()));
        for id in queue.iter().take(KEPT) {
            if self.is_stale() {
                return Ok(());
            }
            self.suggest(session, advisers, library, &snapshot, *id)?;
        }
        let seen = advisers.suggester.glance(&hold(library), pool);
        if self.is_stale() {
            return Ok(());
        }
        let arranged = advisers.suggester.order(&snapshot, &seen, *order, session.progress())?;
        let top = |(id, suggestion): &(ItemId, Option<Suggestion>)| Some((*id, suggestion.as_ref()?.ranking.first()?.clone()));
        let glances: HashMap<ItemId, (String, f64)> = arranged.iter().filter_map(top).collect();
        let moved = |(image, _): &(ItemId, Option<Suggestion>)| {
            let (from, (to, _)) = (advisers.glances.get(image)?, glances.get(image)?);
            (from != to).then(|| ChangedSuggestion { image: *image, from: from.clone(), to: to.clone() })
        };
        // The predictions of the first request have none to be compared with.
        let has_learned = advisers.changes != advisers.suggester.changes() && !advisers.glances.is_empty();
        let moved = has_learned.then(|| arranged.iter().filter_map(moved).collect());
        advisers.glances = glances.iter().map(|(id, (class, _))| (*id, class.clone())).collect();
        advisers.changes = advisers.suggester.changes();
        let order: Vec<ItemId> = arranged.into_iter().map(|(id, _)| id).collect();
        let head: Vec<ItemId> = queue.iter().take(KEPT).copied().collect();
        let next: Vec<ItemId> = order.iter().copied().filter(|id| !head.contains(id)).take(STRIP - KEPT).collect();
        self.tell(AdviserResult::Arranged(Arranged { order, glances, moved }));
        for id in next {
            if self.is_stale() {
                return Ok(());
            }
            self.suggest(session, advisers, library, &snapshot, id)?;
        }
        Ok(())
    }

    fn suggest(
        &self,
        session: &Session,
        advisers: &mut AdviserState,
        library: &Mutex<Library>,
        snapshot: &LabelSnapshot,
        id: ItemId,
    ) -> Result<()> {
        let seen = advisers.suggester.see(&hold(library), &[id], session.progress())?;
        let suggestion = match seen.first() {
            Some(seen) => session.on_threads(|| advisers.suggester.suggest(snapshot, seen))?,
            None => None,
        };
        self.tell(AdviserResult::Suggested(id, suggestion));
        Ok(())
    }
}

/// The images of a queue among which the next are chosen: the first that were not skipped.
pub(super) fn pool(queue: &[ItemId], is_put_off: impl Fn(&ItemId) -> bool) -> Vec<ItemId> {
    queue.iter().filter(|id| !is_put_off(id)).take(POOL + KEPT).copied().collect()
}
