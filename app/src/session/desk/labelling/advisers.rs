//! The thread on which the advisers learn labels and compute suggestions.
//!
//! It locks the library while it reads images, not while it computes. A request is abandoned when a
//! newer one has come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
use super::queue::{KEPT, Moved, STRIP};
use crate::session::Session;

/// A result of the thread.
pub(in super::super) enum Thought {
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
    pub(super) moved: Option<Vec<Moved>>,
}

/// The thread, and the state of the advisers.
pub(super) struct Labeller {
    worker: Worker,
    mind: Arc<Mutex<Option<Mind>>>,
    /// The number of the last request.
    asked: Arc<AtomicU64>,
    progress: Progress,
}

/// The state of the advisers, and the number of the library that it is of.
struct Mind {
    library: u64,
    suggester: Suggester,
    /// The quick predictions of the last request, and the value of [`Suggester::changes`] at that
    /// time.
    glances: HashMap<ItemId, String>,
    changes: u64,
}

/// A request for suggestions.
pub(super) struct Question {
    /// The images at the head of the queue, which the user sees.
    pub(super) queue: Vec<ItemId>,
    /// The images of the queue among which the next are chosen.
    pub(super) pool: Vec<ItemId>,
    pub(super) order: LabelOrder,
}

/// A request in work. When it is dropped, it reports that it has ended, however that was.
struct Asked {
    question: Question,
    outbox: Outbox,
    number: u64,
    asked: Arc<AtomicU64>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.tell(Thought::Done);
    }
}

impl Labeller {
    /// # Errors
    /// When the system refuses to start a thread.
    pub(super) fn new(outbox: Outbox) -> std::io::Result<Self> {
        let worker = Worker::new("advisers", move |words| outbox.send(problem(words)))?;
        Ok(Self { worker, mind: Arc::default(), asked: Arc::default(), progress: Progress::default() })
    }

    /// The progress of the advisers.
    pub(super) fn progress(&self) -> ProgressSnapshot {
        self.progress.snapshot()
    }

    /// Cancels the request in work, and drops the state of the advisers.
    pub(super) fn stop(&mut self) {
        self.progress.cancel();
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mind = Arc::clone(&self.mind);
        self.worker.run(move || *mind.lock().unwrap_or_else(PoisonError::into_inner) = None);
    }

    pub(super) fn finish(&mut self) {
        self.stop();
        self.worker.finish();
    }

    /// Whether that is the number of the last request.
    pub(super) fn is_now(&self, number: u64) -> bool {
        self.asked.load(Ordering::Relaxed) == number
    }

    /// Queues a request; earlier ones are abandoned at their next step.
    pub(super) fn ask(&mut self, session: &Session, outbox: Outbox, library: Arc<Mutex<Library>>, question: Question) {
        if self.progress.is_cancelled() {
            self.progress = session.progress().another();
        }
        let session = session.with_progress(&self.progress);
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let (asked, mind) = (Arc::clone(&self.asked), Arc::clone(&self.mind));
        self.worker.run(move || {
            let asked = Asked { question, outbox, number, asked };
            if asked.is_stale() {
                return;
            }
            // After an error the state of the advisers may be incomplete, so it is dropped.
            let mut own = mind.lock().unwrap_or_else(PoisonError::into_inner).take();
            match asked.think(&session, &library, &mut own) {
                Ok(()) | Err(tessera_core::Error::Cancelled) => *mind.lock().unwrap_or_else(PoisonError::into_inner) = own,
                Err(error) => asked.outbox.send(problem(error)),
            }
        });
    }
}

impl Asked {
    fn is_stale(&self) -> bool {
        self.asked.load(Ordering::Relaxed) != self.number
    }

    fn tell(&self, thought: Thought) {
        self.outbox.send(Message::Thought(self.number, thought));
    }

    fn think(&self, session: &Session, library: &Mutex<Library>, mind: &mut Option<Mind>) -> Result<()> {
        let Question { queue, pool, order, .. } = &self.question;
        session.load_appearances(library)?;
        if mind.as_ref().is_none_or(|mind| mind.library != self.outbox.library) {
            let suggester = Suggester::new(session.seed(), LEARNED)?;
            *mind = Some(Mind { library: self.outbox.library, suggester, glances: HashMap::new(), changes: 0 });
        }
        let Some(mind) = mind else { return Ok(()) };
        let moment = mind.suggester.news(&hold(library));
        session.on_threads(|| mind.suggester.learn(&moment, session.progress()))?;
        self.tell(Thought::Learned(mind.suggester.n_learned()));
        for id in queue.iter().take(KEPT) {
            if self.is_stale() {
                return Ok(());
            }
            self.suggest(session, mind, library, &moment, *id)?;
        }
        let seen = mind.suggester.glance(&hold(library), pool);
        if self.is_stale() {
            return Ok(());
        }
        let arranged = mind.suggester.order(&moment, &seen, *order, session.progress())?;
        let top = |(id, suggestion): &(ItemId, Option<Suggestion>)| Some((*id, suggestion.as_ref()?.ranking.first()?.clone()));
        let glances: HashMap<ItemId, (String, f64)> = arranged.iter().filter_map(top).collect();
        let moved = |(image, _): &(ItemId, Option<Suggestion>)| {
            let (from, (to, _)) = (mind.glances.get(image)?, glances.get(image)?);
            (from != to).then(|| Moved { image: *image, from: from.clone(), to: to.clone() })
        };
        // The predictions of the first request have none to be compared with.
        let has_learned = mind.changes != mind.suggester.changes() && !mind.glances.is_empty();
        let moved = has_learned.then(|| arranged.iter().filter_map(moved).collect());
        mind.glances = glances.iter().map(|(id, (class, _))| (*id, class.clone())).collect();
        mind.changes = mind.suggester.changes();
        let order: Vec<ItemId> = arranged.into_iter().map(|(id, _)| id).collect();
        let head: Vec<ItemId> = queue.iter().take(KEPT).copied().collect();
        let next: Vec<ItemId> = order.iter().copied().filter(|id| !head.contains(id)).take(STRIP - KEPT).collect();
        self.tell(Thought::Arranged(Arranged { order, glances, moved }));
        for id in next {
            if self.is_stale() {
                return Ok(());
            }
            self.suggest(session, mind, library, &moment, id)?;
        }
        Ok(())
    }

    fn suggest(&self, session: &Session, mind: &mut Mind, library: &Mutex<Library>, moment: &LabelSnapshot, id: ItemId) -> Result<()> {
        let seen = mind.suggester.see(&hold(library), &[id], session.progress())?;
        let suggestion = match seen.first() {
            Some(seen) => session.on_threads(|| mind.suggester.suggest(moment, seen))?,
            None => None,
        };
        self.tell(Thought::Suggested(id, suggestion));
        Ok(())
    }
}

/// The images of a queue among which the next are chosen: the first that were not skipped.
pub(super) fn pool(queue: &[ItemId], is_put_off: impl Fn(&ItemId) -> bool) -> Vec<ItemId> {
    queue.iter().filter(|id| !is_put_off(id)).take(POOL + KEPT).copied().collect()
}
