//! The map of the collection: its images as points, at once by their principal components, then by
//! a layout that improves in the background and can be stopped and gone on with.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tessera_core::Error;
use tessera_core::ids::ItemId;
use tessera_core::layout::{PlanePoint, Tsne, TsneOptions};
use tessera_core::library::looks::Look;

use super::super::map::{MapPoints, in_square};
use super::context::{Context, Event};
use super::part::Part;
use crate::job::JobKind;
use crate::session::Session;

/// Time between two states of the layout that are shown.
const SHOWN: Duration = Duration::from_millis(200);
/// Rounds for which the threads are taken at a time.
const TURN: u32 = 5;

/// The map of the collection.
#[derive(Default)]
pub struct CollectionMap {
    by: Option<Look>,
    shown: Option<ShownMap>,
    /// Why there is none.
    failure: Option<String>,
    /// What a layout is gone on with; nothing once it is done.
    work: Option<Arc<Mutex<Work>>>,
    /// Whether the map was asked for since the library was opened.
    is_begun: bool,
    /// Maps that were begun so far: what arrives of a former one is dropped.
    turn: u64,
}

/// A map that is shown. Clones are cheap.
#[derive(Clone, Debug)]
pub struct ShownMap {
    /// By which vectors.
    pub by: Look,
    /// Its images, in order.
    pub images: Arc<Vec<ItemId>>,
    /// Where they are by their principal components, in the unit square.
    pub components: Arc<Vec<PlanePoint>>,
    /// Where they are by the layout that keeps neighbours together; at first as by components.
    pub places: Arc<Vec<PlanePoint>>,
    /// Rounds of the layout that are done.
    pub rounds: u32,
    /// How far its neighbours can be trusted, once it is done.
    pub trust: Option<f64>,
}

/// A layout under way.
struct Work {
    points: MapPoints,
    layout: Option<Tsne>,
}

/// What arrives from the job, and for which turn.
pub(super) struct Message(u64, News);

enum News {
    /// The map by its components, and the work that improves it.
    Begun(ShownMap, Arc<Mutex<Work>>),
    /// The places after so many rounds.
    Improved(Arc<Vec<PlanePoint>>, u32),
    /// It is done, and is worth so much.
    Done(f64),
    /// It was stopped.
    Stopped,
    Failed(String),
}

impl Part for CollectionMap {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, Message(turn, news): Message) {
        if turn != self.turn {
            return;
        }
        match news {
            News::Begun(map, work) => (self.shown, self.work) = (Some(map), Some(work)),
            News::Improved(places, rounds) => {
                if let Some(map) = &mut self.shown {
                    (map.places, map.rounds) = (places, rounds);
                }
            }
            News::Done(trust) => {
                self.work = None;
                if let Some(map) = &mut self.shown {
                    map.trust = Some(trust);
                }
            }
            News::Stopped => {}
            News::Failed(words) => self.failure = Some(words),
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        match event {
            Event::Closed | Event::Opened => *self = Self { turn: self.turn + 1, ..Self::default() },
            Event::Changed => {}
        }
    }
}

impl CollectionMap {
    /// The map, as soon as its components are there.
    pub fn shown(&self) -> Option<&ShownMap> {
        self.shown.as_ref()
    }

    /// Why there is no map.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The vectors that were chosen; `None` for the usual ones.
    pub fn by(&self) -> Option<&Look> {
        self.by.as_ref()
    }

    /// Whether the layout was stopped before it was done.
    pub fn is_unfinished(&self) -> bool {
        self.work.is_some()
    }

    /// Rounds of a layout in all.
    pub fn rounds(&self) -> u32 {
        TsneOptions::default().rounds
    }

    /// Makes the map of a library once its page is visible and there are images.
    pub(super) fn watch(&mut self, ctx: &mut Context, is_watched: bool) {
        let has_images = || ctx.state().is_some_and(|state| state.images().next().is_some());
        if is_watched && !self.is_begun && has_images() && !ctx.jobs.is_importing() {
            self.begin(ctx);
        }
    }

    /// Makes the map anew, by these vectors; `None` chooses the usual ones.
    pub(super) fn lay_out(&mut self, ctx: &mut Context, by: Option<Look>) {
        self.by = by;
        self.begin(ctx);
    }

    fn begin(&mut self, ctx: &mut Context) {
        let Some(library) = ctx.shared() else { return };
        (self.is_begun, self.failure, self.work) = (true, None, None);
        self.turn += 1;
        let (turn, by, outbox) = (self.turn, self.by.clone(), ctx.outbox.clone());
        ctx.job(JobKind::LayOutMap, move |session| {
            let session = &apart(session);
            let tell = |news| outbox.send(Message(turn, news));
            let points = match session.map_points(&library, by.as_ref()) {
                Ok(points) if points.rows.images.is_empty() => {
                    return Ok(Message(turn, News::Failed("None of the images has such a vector yet".into())));
                }
                Ok(points) => points,
                Err(error) => return Ok(Message(turn, ended(&error))),
            };
            let components = Arc::new(in_square(&points.components.places()));
            let map = ShownMap {
                by: points.by.clone(),
                images: Arc::new(points.rows.images.clone()),
                places: Arc::clone(&components),
                components,
                rounds: 0,
                trust: None,
            };
            let work = Arc::new(Mutex::new(Work { points, layout: None }));
            tell(News::Begun(map, Arc::clone(&work)));
            Ok(Message(turn, improve(session, &work, &tell)))
        });
    }

    /// Goes on with a layout that was stopped.
    pub(super) fn go_on(&mut self, ctx: &mut Context) {
        let Some(work) = self.work.clone().filter(|_| !ctx.jobs.is_running(&JobKind::LayOutMap)) else { return };
        let (turn, outbox) = (self.turn, ctx.outbox.clone());
        ctx.job(JobKind::LayOutMap, move |session| {
            Ok(Message(turn, improve(&apart(session), &work, &|news| outbox.send(Message(turn, news)))))
        });
    }
}

/// The session on threads of its own: a round takes milliseconds, and would wait for the long
/// pieces of other jobs.
fn apart(session: &Session) -> Session {
    session.beside().unwrap_or_else(|_| session.clone())
}

/// Improves a layout until it is done or stopped, and shows it from time to time.
fn improve(session: &Session, work: &Mutex<Work>, tell: &dyn Fn(News)) -> News {
    let Work { points, layout } = &mut *work.lock().unwrap_or_else(PoisonError::into_inner);
    let mut run = || {
        let layout = match layout {
            Some(layout) => layout,
            None => layout.insert(session.map_layout(points, TsneOptions { seed: session.seed(), ..TsneOptions::default() })?),
        };
        let progress = session.progress();
        let left = TsneOptions::default().rounds - layout.rounds();
        progress.begin("Laying out the map", left.into());
        let mut last = Instant::now();
        let show = |layout: &Tsne| tell(News::Improved(Arc::new(in_square(layout.places())), layout.rounds()));
        while !layout.is_done() {
            let outcome = session.on_threads(|| layout.improve(TURN, progress));
            if outcome.is_err() || layout.is_done() || last.elapsed() >= SHOWN {
                show(layout);
                last = Instant::now();
            }
            outcome?;
        }
        session.map_trust(points, layout.places(), progress)
    };
    match run() {
        Ok(trust) => News::Done(trust),
        Err(error) => ended(&error),
    }
}

fn ended(error: &Error) -> News {
    if matches!(error, Error::Cancelled) { News::Stopped } else { News::Failed(error.to_string()) }
}
