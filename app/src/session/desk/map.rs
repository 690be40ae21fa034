//! The map of the collection: its images as points, at once by their principal components, then by
//! a layout that improves in the background and can be stopped and gone on with.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tessera_core::ids::ItemId;
use tessera_core::layout::{PlanePoint, Tsne, TsneOptions, place_among};
use tessera_core::library::kept_map::KeptMap;
use tessera_core::library::looks::Look;
use tessera_core::library::state::State;
use tessera_core::library::{Library, hold};
use tessera_core::{Error, Result};

use super::super::map::{MapPoints, in_square};
use super::context::{Context, Event};
use super::notices::note;
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
    /// Whether the library changed since it was last looked at for new images.
    is_changed: bool,
    /// Images without such a vector, in order.
    left_out: Vec<ItemId>,
    /// Maps that were begun so far: what arrives of a former one is dropped.
    turn: u64,
    /// Whether it is not shown because it is by what the network sees, and learned features are
    /// off.
    is_hidden: bool,
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

impl ShownMap {
    fn of(kept: &KeptMap) -> Self {
        let square = |places: &[PlanePoint]| Arc::new(in_square(places));
        let (places, components) = (square(&kept.places), square(&kept.components));
        let (by, images) = (kept.look.clone(), Arc::new(kept.images.clone()));
        Self { by, images, components, places, rounds: TsneOptions::default().rounds, trust: Some(kept.trust) }
    }
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
    /// A map that is done, and the images without such a vector.
    Kept(ShownMap, Vec<ItemId>),
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
            News::Kept(map, left_out) => (self.shown, self.left_out, self.work) = (Some(map), left_out, None),
            News::Begun(map, work) => (self.shown, self.work) = (Some(map), Some(work)),
            News::Improved(places, rounds) => {
                if let Some(map) = &mut self.shown {
                    (map.places, map.rounds) = (places, rounds);
                }
            }
            News::Stopped => {}
            News::Failed(words) => self.failure = Some(words),
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed | Event::Opened => *self = Self { turn: self.turn + 1, ..Self::default() },
            Event::First | Event::Ready | Event::Seen => {}
            Event::Changed => (self.is_changed, self.failure) = (true, None),
            Event::Learned(is_on) => self.learned(ctx, is_on),
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

    /// Whether the map is by what the network sees and learned features are off: it is not shown.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Whether the layout was stopped before it was done.
    pub fn is_unfinished(&self) -> bool {
        self.work.is_some()
    }

    /// Rounds of a layout in all.
    pub fn rounds(&self) -> u32 {
        TsneOptions::default().rounds
    }

    /// Shows the map of a library once its page is visible and there are images, and puts images on
    /// it that came since.
    pub(super) fn watch(&mut self, ctx: &mut Context, is_watched: bool) {
        if !is_watched || ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::LayOutMap) {
            return;
        }
        let has_images = || ctx.state().is_some_and(|state| state.images().next().is_some());
        let is_due = if self.is_begun { std::mem::take(&mut self.is_changed) && self.has_new(ctx) } else { has_images() };
        if is_due {
            self.begin(ctx, true);
        }
    }

    /// Drops a map that takes learned features once they are off. One whose vectors nobody chose,
    /// or that can be had without them, is made without when it is next looked at; another one is
    /// back once they are on.
    fn learned(&mut self, ctx: &mut Context, is_on: bool) {
        if is_on {
            if std::mem::take(&mut self.is_hidden) {
                self.is_begun = false;
            }
            return;
        }
        let by = self.shown.as_ref().map(|map| &map.by).or(self.by.as_ref());
        if !self.is_begun || !by.is_none_or(Look::takes_network) {
            return;
        }
        ctx.jobs.stop(&JobKind::LayOutMap);
        let is_hidden = self.by == Some(Look::Network);
        if self.shown.is_some() && !is_hidden {
            ctx.tell(note("The map was by learned features, which are off now: it is made without them"));
        }
        *self = Self { by: self.by.clone(), turn: self.turn + 1, is_begun: is_hidden, is_hidden, ..Self::default() };
    }

    /// Whether there are images that a map that is done knows nothing of. O(images log images).
    fn has_new(&self, ctx: &Context) -> bool {
        let Some(map) = self.shown.as_ref().filter(|map| map.trust.is_some()) else { return false };
        ctx.state().is_some_and(|state| has_others(state, [&map.images, &self.left_out]))
    }

    /// Makes the map by these vectors; `None` chooses the usual ones. By those of the map that is
    /// shown it is laid out anew.
    pub(super) fn lay_out(&mut self, ctx: &mut Context, by: Option<Look>) {
        let is_anew = self.shown.is_some() && self.by == by;
        self.by = by;
        self.begin(ctx, !is_anew);
    }

    /// Makes the map; from the kept one where there is one and it may be used.
    fn begin(&mut self, ctx: &mut Context, uses_kept: bool) {
        let Some(library) = ctx.shared() else { return };
        (self.is_begun, self.failure, self.work, self.is_changed) = (true, None, None, false);
        self.is_hidden = false;
        self.turn += 1;
        let (turn, by, outbox) = (self.turn, self.by.clone(), ctx.outbox.clone());
        ctx.job(JobKind::LayOutMap, move |session| {
            let session = &apart(session);
            let tell = |news| outbox.send(Message(turn, news));
            let kept = if uses_kept { hold(&library).kept_map(by.as_ref()).unwrap_or_default() } else { None };
            let news = make(session, &library, by.as_ref(), kept, &tell).unwrap_or_else(|error| ended(&error));
            Ok(Message(turn, news))
        });
    }

    /// Goes on with a layout that was stopped.
    pub(super) fn go_on(&mut self, ctx: &mut Context) {
        let Some(work) = self.work.clone().filter(|_| !ctx.jobs.is_running(&JobKind::LayOutMap)) else { return };
        let Some(library) = ctx.shared() else { return };
        let (turn, outbox) = (self.turn, ctx.outbox.clone());
        ctx.job(JobKind::LayOutMap, move |session| {
            let tell = |news| outbox.send(Message(turn, news));
            Ok(Message(turn, improve(&apart(session), &library, &work, &tell).unwrap_or_else(|error| ended(&error))))
        });
    }
}

/// The session on threads of its own: a round takes milliseconds, and would wait for the long
/// pieces of other jobs.
fn apart(session: &Session) -> Session {
    session.beside().unwrap_or_else(|_| session.clone())
}

/// Makes the map: the kept one where no image has come since; with the new ones put among the
/// others where they are a tenth at most; else from the components.
fn make(session: &Session, library: &Mutex<Library>, by: Option<&Look>, kept: Option<KeptMap>, tell: &dyn Fn(News)) -> Result<News> {
    if let Some(kept) = &kept {
        // What had no vector may have one by now.
        let has_new = {
            let library = hold(library);
            let left_out: Vec<ItemId> = kept.left_out.iter().copied().filter(|id| !library.has_look(&kept.look, *id)).collect();
            has_others(library.state(), [&kept.images, &left_out])
        };
        let shown = News::Kept(ShownMap::of(kept), kept.left_out.clone());
        if !has_new {
            return Ok(shown);
        }
        tell(shown);
    }
    let points = session.map_points(library, by)?;
    if points.rows.images.is_empty() {
        return Ok(News::Failed("None of the images has such a vector yet".into()));
    }
    if let Some(kept) = kept {
        let images = &points.rows.images;
        let place = |id: &ItemId| kept.images.binary_search(id).ok().map(|at| kept.places[at]);
        let known: Vec<Option<PlanePoint>> = images.iter().map(place).collect();
        if 10 * known.iter().flatten().count() >= 9 * images.len() {
            let places = session.on_threads(|| place_among(&points.components, &known));
            return keep(session, library, &points, &places);
        }
    }
    let components = Arc::new(in_square(&points.components.places()));
    let (by, images) = (points.by.clone(), Arc::new(points.rows.images.clone()));
    let map = ShownMap { by, images, places: Arc::clone(&components), components, rounds: 0, trust: None };
    let work = Arc::new(Mutex::new(Work { points, layout: None }));
    tell(News::Begun(map, Arc::clone(&work)));
    improve(session, library, &work, tell)
}

/// Improves a layout until it is done or stopped, shows it from time to time, and keeps it once it
/// is done.
fn improve(session: &Session, library: &Mutex<Library>, work: &Mutex<Work>, tell: &dyn Fn(News)) -> Result<News> {
    let Work { points, layout } = &mut *work.lock().unwrap_or_else(PoisonError::into_inner);
    let layout = match layout {
        Some(layout) => layout,
        None => layout.insert(session.map_layout(points, TsneOptions { seed: session.seed(), ..TsneOptions::default() })?),
    };
    let progress = session.progress();
    let left = TsneOptions::default().rounds - layout.rounds();
    progress.begin("Laying out the map", left.into());
    let mut last = Instant::now();
    while !layout.is_done() {
        let outcome = session.on_threads(|| layout.improve(TURN, progress));
        if outcome.is_err() || layout.is_done() || last.elapsed() >= SHOWN {
            tell(News::Improved(Arc::new(in_square(layout.places())), layout.rounds()));
            last = Instant::now();
        }
        outcome?;
    }
    keep(session, library, points, layout.places())
}

/// Measures a layout that is done and keeps it.
fn keep(session: &Session, library: &Mutex<Library>, points: &MapPoints, places: &[PlanePoint]) -> Result<News> {
    let trust = session.map_trust(points, places, session.progress())?;
    let (images, left_out) = (points.rows.images.clone(), points.left_out.clone());
    let (look, places, components) = (points.by.clone(), places.to_vec(), points.components.places());
    let kept = KeptMap { look, images, places, components, trust, left_out };
    hold(library).keep_map(&kept)?;
    Ok(News::Kept(ShownMap::of(&kept), kept.left_out))
}

/// Whether there are images that are in neither of two lists, each in order. O(images log images).
fn has_others(state: &State, lists: [&[ItemId]; 2]) -> bool {
    state.images().any(|image| lists.iter().all(|list| list.binary_search(&image.id).is_err()))
}

fn ended(error: &Error) -> News {
    if matches!(error, Error::Cancelled) { News::Stopped } else { News::Failed(error.to_string()) }
}
