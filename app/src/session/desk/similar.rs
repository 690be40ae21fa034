//! Images of the library that look like one: the query, its neighbours, and the index that names
//! them.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tessera_core::Error;
use tessera_core::eval::candidates::{PartitionCurve, PartitionKind};
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::looks::{FIRST, Look, LookAlike, LookQuery, LookSearch, RECALL};
use tessera_core::library::state::State;

use super::super::partitions::PartitionComparison;
use super::super::reference::{ReferenceImage, load_all};
use super::context::{Context, Event};
use super::notices::problem;
use super::part::Part;
use crate::command::{Crop, ImageQuery};
use crate::job::JobKind;

/// Neighbours that are shown at first, and how many more at a time.
const STEP: usize = 100;
/// Images whose vectors a question loads at most.
const NEW: usize = 256;
/// Former queries that can be gone back to.
const FORMER: usize = 100;

/// The query, its neighbours, and how they are asked for.
pub struct Similar {
    query: Option<Arc<SimilarQuery>>,
    /// Former queries, the last one last.
    former: Vec<Arc<SimilarQuery>>,
    /// The query that is being prepared.
    pending: Option<Pending>,
    /// Why the last query could not be read.
    failure: Option<String>,
    by: Option<Look>,
    recall: f64,
    k: usize,
    answer: Option<Arc<SimilarAnswer>>,
    partitions: Option<ComparedPartitions>,
    /// Whether a question is under way, and whether another one is to follow.
    is_asked: bool,
    is_asked_again: bool,
    /// Whether the page is visible: only then is the answer asked for anew when the library
    /// changes.
    is_watched: bool,
    /// Whether images may have come since it was last looked which indexes are missing.
    may_be_due: bool,
    /// The images there were when each index was last made, or was tried to.
    tried: BTreeMap<Look, usize>,
}

/// An image that neighbours are asked for.
#[derive(Clone, Debug)]
pub struct SimilarQuery {
    /// Where it is from.
    pub source: ImageQuery,
    /// The image, or the part of it that is compared.
    pub image: ReferenceImage,
    /// Whether learned features were on when it was looked at.
    is_learned: bool,
}

/// A query that is being prepared.
#[derive(Clone, Debug)]
struct Pending {
    source: ImageQuery,
    crop: Option<Crop>,
    /// Whether the query before can be gone back to.
    is_new: bool,
}

/// The neighbours of a query.
#[derive(Clone, Debug)]
pub struct SimilarAnswer {
    /// What was asked.
    pub query: Arc<SimilarQuery>,
    /// The vectors that were asked for; `None` for the usual ones.
    pub by: Option<Look>,
    /// The recall that was asked for.
    pub recall: f64,
    /// How many neighbours were asked for.
    pub k: usize,
    /// The neighbours, the most alike first.
    pub alikes: Vec<LookAlike>,
    /// How they were found.
    pub search: LookSearch,
    /// Images of the library that may be neighbours.
    pub images: usize,
    /// How long it took to find them.
    pub time: Duration,
    /// What was measured of the index; `None` where there is none for so many neighbours.
    pub curve: Option<RecallCurve>,
    /// The sets of vectors that were brought: their names, the images that have one, and whether
    /// the query has one.
    pub sets: Vec<(Arc<str>, usize, bool)>,
    /// Images whose vectors are still to be loaded.
    unseen: usize,
    /// The indexes that should be made.
    due: Vec<Look>,
    is_learned: bool,
}

impl SimilarAnswer {
    /// Whether the index of the compared vectors should be made, or made anew.
    pub fn is_due(&self) -> bool {
        self.due.contains(&self.search.by)
    }
}

/// The recall of an index over the images that it compares.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallCurve {
    /// What was measured, the cheapest way first.
    pub points: Vec<RecallPoint>,
    /// The place of the one that answers; `None` where all images are compared.
    pub chosen: Option<usize>,
}

/// A way to search an index, as it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecallPoint {
    /// Images that are compared for a query, in the mean.
    pub compared: f64,
    /// The recall.
    pub recall: f64,
    /// The standard error of the recall.
    pub spread: f64,
}

/// What was measured of kinds of indexes on the library's own images.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedPartitions {
    /// The vectors that were compared.
    pub by: Look,
    /// Images that the indexes were made of.
    pub images: usize,
    /// Other images that were asked for their neighbours.
    pub asked: usize,
    /// How many neighbours.
    pub k: usize,
    /// Each kind with its curve.
    pub curves: Vec<(PartitionKind, RecallCurve)>,
}

impl From<PartitionComparison> for ComparedPartitions {
    fn from(compared: PartitionComparison) -> Self {
        let PartitionComparison { by, images, asked, k, curves } = compared;
        let of_kind = |curve: PartitionCurve| {
            let points = curve.ways.iter().map(|way| point(way.candidates, way.recall, way.spread)).collect();
            (curve.partition, RecallCurve { points, chosen: None })
        };
        Self { by, images, asked, k, curves: curves.into_iter().map(of_kind).collect() }
    }
}

/// Results of the threads that look for neighbours.
pub(super) enum Message {
    /// A query is ready, and so are the vectors of the library.
    Ready(Option<Arc<SimilarQuery>>),
    /// A query cannot be read.
    Failed(String),
    /// Its preparation was stopped.
    Stopped,
    /// The answer to a question.
    Answer(Box<SimilarAnswer>),
    /// All images are to be compared, and these vectors of many are not in memory.
    Unread(Look),
    /// Indexes that should be made whatever is asked.
    Due(Vec<Look>),
    /// Indexes were made.
    Grown,
    /// Kinds of indexes were compared.
    Compared(ComparedPartitions),
}

impl Part for Similar {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Ready(query) => {
                if let Some(query) = query
                    && let Some(pending) = self.pending.take()
                {
                    self.begin(query, pending.is_new);
                }
                // A question that ended without an answer keeps no later one from being asked.
                self.is_asked = false;
                self.ask(ctx);
            }
            Message::Failed(words) => {
                self.pending = None;
                ctx.tell(problem(&words));
                self.failure = Some(words);
            }
            Message::Stopped => self.pending = None,
            Message::Unread(look) => {
                self.is_asked = false;
                self.prepare(ctx, Some(look));
            }
            Message::Answer(answer) => self.answered(ctx, *answer),
            Message::Due(due) => self.grow(ctx, &due, None),
            Message::Grown => self.ask(ctx),
            Message::Compared(compared) => self.partitions = Some(compared),
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            // How neighbours are asked for stays.
            Event::Closed => *self = Self { by: self.by.take(), recall: self.recall, is_watched: self.is_watched, ..Self::default() },
            Event::Opened => self.may_be_due = true,
            Event::Changed if self.is_watched => self.ask(ctx),
            Event::First | Event::Ready | Event::Changed | Event::Seen => {}
            Event::Learned(is_on) => {
                if !is_on && self.answer.as_ref().is_some_and(|answer| answer.search.by.takes_network()) {
                    self.answer = None;
                }
                if self.query.is_some() {
                    self.prepare(ctx, None);
                }
            }
        }
    }
}

impl Default for Similar {
    fn default() -> Self {
        Self {
            query: None,
            former: Vec::new(),
            pending: None,
            failure: None,
            by: None,
            recall: RECALL,
            k: STEP,
            answer: None,
            partitions: None,
            is_asked: false,
            is_asked_again: false,
            is_watched: false,
            may_be_due: false,
            tried: BTreeMap::new(),
        }
    }
}

impl Similar {
    /// The image that neighbours are asked for.
    pub fn query(&self) -> Option<&Arc<SimilarQuery>> {
        self.query.as_ref()
    }

    /// The query before it.
    pub fn former(&self) -> Option<&Arc<SimilarQuery>> {
        self.former.last()
    }

    /// The neighbours of the query; those of the query before until they are there.
    pub fn answer(&self) -> Option<&Arc<SimilarAnswer>> {
        self.answer.as_ref()
    }

    /// What was last measured of kinds of indexes.
    pub fn partitions(&self) -> Option<&ComparedPartitions> {
        self.partitions.as_ref()
    }

    /// Why the last query could not be read.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The vectors that are compared; `None` for the usual ones.
    pub fn by(&self) -> Option<&Look> {
        self.by.as_ref()
    }

    /// The recall that is asked for, 0 to 1.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// Finds images like one, or like a part of it.
    pub(super) fn find(&mut self, ctx: &mut Context, source: ImageQuery, crop: Option<Crop>) {
        self.pending = Some(Pending { source, crop, is_new: true });
        self.prepare(ctx, None);
    }

    /// Finds images like another part of the query, or like all of it.
    pub(super) fn take_part(&mut self, ctx: &mut Context, crop: Option<Crop>) {
        let Some(query) = &self.query else { return };
        self.pending = Some(Pending { source: query.source.clone(), crop, is_new: false });
        self.prepare(ctx, None);
    }

    /// Goes back to the query before.
    pub(super) fn go_back(&mut self, ctx: &mut Context) {
        let Some(query) = self.former.pop() else { return };
        (self.pending, self.failure, self.k) = (None, None, STEP);
        self.query = Some(query);
        self.prepare(ctx, None);
    }

    /// Chooses the vectors that are compared; `None` chooses the usual ones.
    pub(super) fn compare_by(&mut self, ctx: &mut Context, by: Option<Look>) {
        self.by = by;
        if self.query.is_some() || self.pending.is_some() {
            self.prepare(ctx, None);
        }
    }

    /// Sets the recall that is asked for.
    pub(super) fn set_recall(&mut self, ctx: &mut Context, recall: f64) {
        self.recall = recall.clamp(0.0, 1.0);
        self.ask(ctx);
    }

    /// Compares kinds of indexes on the vectors that are compared now.
    pub(super) fn compare_partitions(&self, ctx: &mut Context) {
        let by = self.answer.as_ref().map(|answer| answer.search.by.clone());
        ctx.library_job(JobKind::ComparePartitions, move |session, library| {
            Ok(Message::Compared(session.compare_partitions(library, by.as_ref())?.into()))
        });
    }

    /// Finds more neighbours.
    pub(super) fn show_more(&mut self, ctx: &mut Context) {
        self.k += STEP;
        self.ask(ctx);
    }

    /// Sets whether the page is visible.
    pub(super) fn watch(&mut self, ctx: &mut Context, is_watched: bool) {
        if is_watched && !std::mem::replace(&mut self.is_watched, is_watched) {
            self.ask(ctx);
        }
        self.is_watched = is_watched;
    }

    /// Makes missing indexes of a library that was opened, or into which images came.
    pub(super) fn grow_if_due(&mut self, ctx: &mut Context) {
        if ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::LookWithNetwork) {
            self.may_be_due = true;
        } else if std::mem::take(&mut self.may_be_due) && ctx.state().is_some_and(|state| state.images().nth(FIRST - 1).is_some()) {
            ctx.with_library(|_, library| {
                // A cache that cannot be read is told of where it is needed.
                Message::Due(library.looks_due(None).unwrap_or_default())
            });
        }
    }

    fn begin(&mut self, query: Arc<SimilarQuery>, is_new: bool) {
        (self.failure, self.k) = (None, STEP);
        if let Some(before) = self.query.replace(query).filter(|_| is_new) {
            self.former.push(before);
            if self.former.len() > FORMER {
                self.former.remove(0);
            }
        }
    }

    /// Loads the vectors that will be compared, `all` of them also where there is an index, and
    /// looks at the pending query.
    fn prepare(&self, ctx: &mut Context, all: Option<Look>) {
        let Some(library) = ctx.shared() else { return };
        let (by, pending, quick) = (self.by.clone(), self.pending.clone(), ctx.quick.clone());
        ctx.job(JobKind::FindSimilar, move |session| {
            let quick = quick.with_progress(session.progress());
            let load = || {
                quick.load_looks(&library, by.as_ref())?;
                all.as_ref().map_or(Ok(()), |look| quick.load_all_looks(&library, look))
            };
            match load() {
                Ok(()) => {}
                Err(Error::Cancelled) => return Ok(Message::Stopped),
                Err(error) => return Ok(Message::Failed(error.to_string())),
            }
            let Some(Pending { source, crop, .. }) = pending else { return Ok(Message::Ready(None)) };
            let is_learned = hold(&library).has_learned_features();
            match quick.like(&library, &source, crop) {
                Ok(image) => Ok(Message::Ready(Some(Arc::new(SimilarQuery { source, image, is_learned })))),
                Err(Error::Cancelled) => Ok(Message::Stopped),
                Err(error) => Ok(Message::Failed(error.to_string())),
            }
        });
    }

    /// Asks for the neighbours of the query. While a question is under way the next one waits, so
    /// that a slider that moves leaves no queue behind.
    fn ask(&mut self, ctx: &mut Context) {
        let Some(query) = self.query.clone().filter(|_| ctx.state().is_some()) else { return };
        if std::mem::replace(&mut self.is_asked, true) {
            self.is_asked_again = true;
            return;
        }
        let (by, recall, k) = (self.by.clone(), self.recall, self.k);
        ctx.with_library(move |_, library| match answer(library, query, by, recall, k) {
            Ok(answer) => Message::Answer(Box::new(answer)),
            Err(unread) => Message::Unread(unread),
        });
    }

    fn answered(&mut self, ctx: &mut Context, answer: SimilarAnswer) {
        self.is_asked = false;
        if std::mem::take(&mut self.is_asked_again) || answer.unseen > 0 {
            self.ask(ctx);
        }
        let (is_learned, was_learned) = (answer.is_learned, answer.query.is_learned);
        self.grow(ctx, &answer.due, Some(answer.search.by.clone()));
        let is_current = self.query.as_ref().is_some_and(|query| Arc::ptr_eq(query, &answer.query));
        // A query that the network has not seen has no neighbours by what it sees: the answer
        // before stays until it was looked at.
        if is_current && (was_learned || !is_learned) {
            self.answer = Some(Arc::new(answer));
        }
        if is_current && is_learned != was_learned && self.pending.is_none() {
            let crop = self.query.as_ref().and_then(|query| query.image.crop);
            self.take_part(ctx, crop);
        }
    }

    /// Makes missing indexes in the background. One whose making was stopped or came to nothing is
    /// not tried again until there are twice as many images.
    fn grow(&mut self, ctx: &mut Context, due: &[Look], also: Option<Look>) {
        if ctx.jobs.is_running(&JobKind::GrowLooks) || ctx.jobs.is_importing() {
            return;
        }
        self.tried.retain(|look, _| due.contains(look));
        let images = ctx.state().map_or(0, |state| state.images().count());
        let is_new = |look: &Look| self.tried.get(look).is_none_or(|tried| images >= 2 * tried);
        if !due.iter().any(is_new) {
            return;
        }
        self.tried.extend(due.iter().map(|look| (look.clone(), images)));
        ctx.library_job(JobKind::GrowLooks, move |session, library| {
            session.grow_looks(library, also.as_ref())?;
            Ok(Message::Grown)
        });
    }
}

/// The neighbours of a query, or the vectors of which many would have to be read first.
fn answer(library: &mut Library, query: Arc<SimilarQuery>, by: Option<Look>, recall: f64, k: usize) -> Result<SimilarAnswer, Look> {
    let is_learned = library.has_learned_features();
    let by = query.image.comparable(library, by);
    let wanted = LookQuery { by: by.clone(), recall, ..query.image.query() };
    let wanted = LookQuery { glimpse: wanted.glimpse.filter(|_| is_learned), part: wanted.part.filter(|_| is_learned), ..wanted };
    let look = library.look_of(&wanted);
    // One that cannot be read now is loaded later.
    let mut unseen = library.load_looks(&look, NEW).unwrap_or(0);
    if recall >= 1.0 || library.look_curve(&look, k).is_none() {
        unseen = load_all(library, &look, NEW).unwrap_or(0);
    }
    if unseen > NEW {
        return Err(look);
    }
    let start = Instant::now();
    let found = library.look_alikes(&wanted, k, |image| Some(image) != wanted.of);
    let time = start.elapsed();
    let curve = library.look_curve(&look, k).map(|curve| RecallCurve {
        points: curve.ways.iter().map(|way| point(way.measured.candidates, way.measured.recall, way.measured.spread)).collect(),
        chosen: curve.way_for(recall).filter(|_| found.search.recall.is_some()),
    });
    let images = candidates(library.state(), wanted.of);
    let has_vector = |set: &str| wanted.of.is_some_and(|of| library.state().has_vector(of, set));
    let sets = library.state().vector_sets().into_iter().map(|(set, images)| (set.into(), images, has_vector(set))).collect();
    let due = library.looks_due(Some(&look)).unwrap_or_default();
    Ok(SimilarAnswer { query, by, recall, k, alikes: found.list, search: found.search, images, time, curve, sets, unseen, due, is_learned })
}

fn point(compared: f64, recall: f64, spread: f64) -> RecallPoint {
    RecallPoint { compared, recall, spread }
}

/// The number of images that may be neighbours.
fn candidates(state: &State, of: Option<ItemId>) -> usize {
    state.images().filter(|image| Some(image.id) != of).count()
}
