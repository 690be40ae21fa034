//! Searching: the current query and its answer.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::library::looks::{Look, LookQuery, RECALL};
use tessera_core::library::models::caption_memory::{ReadAs, Reading};
use tessera_core::text::TextQuery;
use tessera_core::{Error, Result};

use super::super::Session;
use super::super::reference::{ReferenceImage, load_all};
use super::super::search::{Engine, Found, SearchAnswer, SearchHit, SearchRequest, corrections, did_you_mean};
use super::super::why::Why;
use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::problem;
use super::part::Part;
use super::view::Hits;
use crate::command::{Crop, ImageQuery};
use crate::job::JobKind;
use crate::settings::SEARCH_LEAVES;

/// Images whose appearances a search adds to the index at most.
const NEW: usize = 64;
/// Ways in which the text of a search may go on, at most.
const COMPLETIONS: usize = 8;
/// Images of which a search reads what the network sees, at most.
const SEEN: usize = 400;

/// The current query and its answer.
pub struct Searching {
    /// The number of the last search: earlier ones that wait for their turn are not answered, and
    /// answers to them are stale.
    latest: Arc<AtomicU64>,
    /// Its words.
    words: String,
    engine: Engine,
    /// The image that hits are to resemble, and the images to search among.
    like: Option<Arc<ReferenceImage>>,
    only: Option<Arc<Vec<ItemId>>>,
    /// The vectors by which hits are to resemble it; `None` for the usual ones.
    by: Option<Look>,
    /// The image that is being prepared to be it.
    pending: Option<(ImageQuery, Option<Crop>)>,
    effort: Effort,
    /// The number of the last search that the user asked for. Answers after the first to it leave
    /// images where they are on the screen.
    asked: u64,
    hits: Option<Arc<Hits>>,
    /// Later images of the answer in full, and those that are on their way.
    more: HashMap<ItemId, SearchHit>,
    wanted: HashSet<ItemId>,
    /// Why the search found an image, once requested.
    why: Option<Why>,
}

/// The limits of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Effort {
    /// Hits, at most.
    hits: usize,
    /// Leaves of the caption memory that are visited.
    leaves: usize,
}

/// Results of the threads that search.
pub(super) enum Message {
    /// The answer to a search.
    Hits(Arc<Hits>),
    /// A search was not answered, for there is a later one.
    Late,
    /// The number of a search, and images of its answer in full.
    More(u64, Vec<SearchHit>),
    /// The image that hits are to resemble.
    Like(Arc<ReferenceImage>),
    /// The number of a search, and why it found an image.
    Why(u64, Why),
}

impl Part for Searching {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self {
            latest: Arc::default(),
            words: String::new(),
            engine: Engine::default(),
            like: None,
            only: None,
            by: None,
            pending: None,
            effort: Effort { hits: 100, leaves: SEARCH_LEAVES },
            asked: 0,
            hits: None,
            more: HashMap::new(),
            wanted: HashSet::new(),
            why: None,
        })
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Hits(hits) if hits.number == self.number() => {
                let is_short = hits.unseen > 0;
                let is_first = self.kept().is_none();
                self.hits = Some(hits);
                self.more.clear();
                self.wanted.clear();
                if is_short && is_first {
                    self.search_again(ctx);
                } else if is_short {
                    self.ask(ctx);
                }
            }
            Message::Hits(_) | Message::Late => {}
            Message::More(number, hits) => {
                if self.hits.as_ref().is_some_and(|of| of.number == number) {
                    self.more.extend(hits.into_iter().map(|hit| (hit.image, hit)));
                }
            }
            Message::Like(like) => {
                self.pending = None;
                self.like = Some(like);
                self.search_again(ctx);
            }
            Message::Why(number, why) => {
                if self.hits.as_ref().is_some_and(|hits| hits.number == number) {
                    self.why = Some(why);
                }
            }
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => {
                (self.hits, self.why, self.like, self.only) = (None, None, None, None);
                (self.by, self.pending) = (None, None);
                self.words.clear();
                self.next_number();
            }
            Event::First | Event::Opened | Event::Ready | Event::Seen => {}
            Event::Changed | Event::Learned(_) => self.ask(ctx),
        }
    }
}

/// The words that an engine finds for those of a query.
fn readings(answer: &SearchAnswer, engine: Engine) -> Vec<String> {
    let is_exact = |reading: &&Reading| matches!(reading.how, ReadAs::Written | ReadAs::Completed);
    let all = answer.asked.iter().flat_map(|one| &one.readings);
    all.filter(|reading| engine == Engine::Memory || is_exact(reading)).map(|reading| reading.word.clone()).collect()
}

/// Images in the order of an earlier answer; those that were not in it come last.
fn in_order_of(before: &[ItemId], images: &[ItemId]) -> Vec<ItemId> {
    let place: HashMap<ItemId, usize> = before.iter().enumerate().map(|(place, image)| (*image, place)).collect();
    let mut images = images.to_vec();
    images.sort_by_cached_key(|image| place.get(image).copied().unwrap_or(usize::MAX));
    images
}

/// Loads what the images are compared by that are to resemble one, of some that are not loaded yet,
/// and returns how many are left. One that cannot be read is loaded later.
fn load(library: &mut Library, like: &ReferenceImage, by: Option<Look>, k: usize) -> usize {
    let look = library.look_of(&LookQuery { by, ..like.query() });
    let left = library.load_looks(&look, NEW).unwrap_or(0);
    if library.look_curve(&look, k).is_some() { left } else { load_all(library, &look, NEW).unwrap_or(0) }
}

/// As [`load`], all of them. `by` is what was chosen.
fn load_all_of(session: &Session, library: &Mutex<Library>, like: &ReferenceImage, by: Option<Look>, k: usize) -> Result<()> {
    let by = like.comparable(&hold(library), by);
    let loaded = session.load_looks(library, by.as_ref())?;
    let look = hold(library).look_of(&LookQuery { by, ..like.query() });
    if look != loaded {
        session.load_looks(library, Some(&look))?;
    }
    if hold(library).look_curve(&look, k).is_none() {
        session.load_all_looks(library, &look)?;
    }
    Ok(())
}

impl Searching {
    /// The answer to the last search.
    pub fn hits(&self) -> Option<&Arc<Hits>> {
        self.hits.as_ref()
    }

    /// Why the search found the image of the last [`Command::Why`](crate::command::Command::Why).
    pub fn why(&self) -> Option<&Why> {
        let hits = self.hits.as_ref()?;
        self.why.as_ref().filter(|why| hits.images.contains(&why.image))
    }

    /// An image of the last answer in full: the first are, later ones after
    /// [`Command::HitsInFull`].
    ///
    /// [`Command::HitsInFull`]: crate::command::Command::HitsInFull
    pub fn hit(&self, image: ItemId) -> Option<&SearchHit> {
        let first = self.hits.as_ref().and_then(|hits| hits.hits.iter().find(|hit| hit.image == image));
        first.or_else(|| self.more.get(&image))
    }

    /// The image that hits are to resemble.
    pub fn like(&self) -> Option<&Arc<ReferenceImage>> {
        self.like.as_ref()
    }

    /// The engine that answers searches.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Searches by words, and by visual similarity if an image to resemble is set. Without either
    /// there is no answer.
    pub(super) fn search(&mut self, ctx: &mut Context, text: String) {
        self.words = text;
        self.search_again(ctx);
    }

    /// The answer whose order the next one keeps: what the user judges and labels must not move
    /// away under the pointer.
    fn kept(&self) -> Option<&Arc<Hits>> {
        self.hits.as_ref().filter(|before| before.number >= self.asked)
    }

    /// Repeats the last search, whether it was answered or not; the best come first.
    pub(super) fn search_again(&mut self, ctx: &mut Context) {
        self.asked = self.number() + 1;
        self.ask(ctx);
    }

    fn number(&self) -> u64 {
        self.latest.load(Ordering::Relaxed)
    }

    /// The number of a new search, which is the last from now on.
    fn next_number(&self) -> u64 {
        self.latest.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn ask(&mut self, ctx: &mut Context) {
        let (number, text, latest) = (self.next_number(), self.words.clone(), Arc::clone(&self.latest));
        if text.trim().is_empty() && self.like.is_none() {
            self.hits = None;
            return;
        }
        let request = self.request(&text);
        // Answers to earlier searches are stale, so that this one is the last until the next comes.
        let kept = self.kept().map(|before| before.images.clone());
        ctx.with_library(move |session, library| {
            if latest.load(Ordering::Relaxed) != number {
                return Message::Late;
            }
            let wanted = request(library);
            // New images are added a few at a time; one that cannot be read now is added later and
            // ranks no worse then.
            let unseen = wanted.like.as_ref().map_or(0, |like| load(library, like, wanted.by.clone(), wanted.k));
            // What networks see is read from the cache alone, for words.
            let unseen = match wanted.query.is_empty() {
                true => unseen,
                false => unseen + library.load_guesses(SEEN).unwrap_or(0) + library.load_image_vectors(SEEN).unwrap_or(0),
            };
            let answer = session.search(library, &wanted);
            let mut unknown = session.unknown_words(library, &wanted.query, &answer);
            let in_other_forms = session.words_in_other_forms(&answer, &unknown, wanted.engine);
            let by_memory = wanted.engine == Engine::Memory;
            // What is not seen yet may have it.
            let guessable = if by_memory && unseen > 0 { library.guessable(&wanted.query) } else { BTreeSet::new() };
            let missing = session.missing_words(&answer, &unknown, wanted.engine, &guessable);
            let is_other = |word: &String| in_other_forms.iter().any(|(other, _)| other == word);
            let is_guessed = |word: &String| answer.guessed.contains(word) || guessable.contains(word) && !answer.found.is_empty();
            unknown.retain(|word| !is_other(word) && !is_guessed(word));
            let did_you_mean = did_you_mean(&text, &answer).filter(|_| by_memory);
            let corrections = if by_memory { corrections(&answer) } else { Vec::new() };
            let asked = answer.asked.len();
            let often_seen = if unseen == 0 { session.often_seen(library, &wanted, &answer) } else { Vec::new() };
            let completions = session.complete(library, &text, COMPLETIONS);
            let SearchRequest { like, by, engine, .. } = wanted;
            // They are offered beside an image to resemble.
            let sets = like.as_ref().map_or_else(Default::default, |_| library.state().vector_sets());
            let sets = sets.into_iter().map(|(set, images)| (set.into(), images)).collect();
            let readings = readings(&answer, engine);
            let best_first: Vec<ItemId> = answer.found.iter().map(|one| one.image).collect();
            let images = kept.map_or_else(|| best_first.clone(), |before| in_order_of(&before, &best_first));
            Message::Hits(Arc::new(Hits {
                number,
                query: text,
                like,
                unseen,
                is_best_first: images == best_first,
                images: Arc::new(images),
                with_all: answer.found.iter().filter(|one| one.has_all).count(),
                found: Arc::new(answer.found),
                hits: answer.hits,
                did_you_mean,
                corrections,
                often_seen,
                readings,
                completions,
                memories: library.words().memories(),
                unknown,
                missing,
                asked,
                engine,
                lessons: library.caption_memory().rewards().len(),
                by,
                sets,
            }))
        });
    }

    /// Gives images of the last answer in full.
    pub(super) fn give_in_full(&mut self, ctx: &mut Context, images: &[ItemId]) {
        let Some(hits) = self.hits.clone() else { return };
        let new: HashSet<ItemId> = images.iter().copied().filter(|image| self.wanted.insert(*image)).collect();
        if new.is_empty() {
            return;
        }
        let request = self.request(&hits.query);
        ctx.with_library(move |session, library| {
            let found: Vec<Found> = hits.found.iter().filter(|one| new.contains(&one.image)).copied().collect();
            Message::More(hits.number, session.hits_in_full(library, &request(library), &found))
        });
    }

    /// Sets the engine, and repeats the search.
    pub(super) fn search_by(&mut self, ctx: &mut Context, engine: Engine) {
        self.engine = engine;
        self.search_again(ctx);
    }

    /// Sets the images to search among, and repeats the search.
    pub(super) fn narrow(&mut self, ctx: &mut Context, only: Option<Arc<Vec<ItemId>>>) {
        self.only = only;
        self.search_again(ctx);
    }

    /// Sets how many hits are returned and how many leaves are visited, and repeats the search.
    pub(super) fn set_effort(&mut self, ctx: &mut Context, hits: usize, leaves: usize) {
        let effort = Effort { hits: hits.max(1), leaves: leaves.max(1) };
        if self.effort != effort {
            self.effort = effort;
            self.search_again(ctx);
        }
    }

    /// Sets the image, or the part of one, that hits are to resemble, and repeats the search;
    /// `None` ends the search by similarity.
    pub(super) fn look_for(&mut self, ctx: &mut Context, like: Option<(ImageQuery, Option<Crop>)>) {
        let Some((query, crop)) = like else {
            ctx.jobs.stop(&JobKind::FindLike);
            (self.like, self.pending) = (None, None);
            return self.search_again(ctx);
        };
        let Some(library) = ctx.shared() else { return };
        self.pending = Some((query.clone(), crop));
        let (k, by) = (self.effort.hits, self.by.clone());
        ctx.job(JobKind::FindLike, move |session| match session.like(&library, &query, crop) {
            Ok(like) => {
                load_all_of(session, &library, &like, by, k)?;
                Ok(DeskMessage::from(Message::Like(Arc::new(like))))
            }
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => Ok(problem(error).into()),
        });
    }

    /// Sets the vectors by which hits are to resemble an image, and repeats the search; `None` for
    /// the usual ones.
    pub(super) fn compare_by(&mut self, ctx: &mut Context, by: Option<Look>) {
        self.by.clone_from(&by);
        if let Some(pending) = self.pending.take() {
            return self.look_for(ctx, Some(pending));
        }
        let (Some(like), k) = (self.like.clone(), self.effort.hits) else { return };
        let Some(library) = ctx.shared() else { return };
        ctx.job(JobKind::FindLike, move |session| {
            load_all_of(session, &library, &like, by, k)?;
            Ok(Message::Like(like))
        });
    }

    /// Explains why an image was found.
    pub(super) fn explain(&mut self, ctx: &mut Context, image: ItemId) {
        let Some(hits) = self.hits.clone() else { return };
        let Some(hit) = self.hit(image).cloned() else { return };
        let request = self.request(&hits.query);
        ctx.with_library(move |session, library| Message::Why(hits.number, session.why(library, &request(library), &hit)));
    }

    /// A search for these words with the current settings. The thread that searches builds the
    /// request.
    fn request(&self, text: &str) -> impl FnOnce(&Library) -> SearchRequest + Send + use<> {
        let (query, like, only) = (TextQuery::typing(text), self.like.clone(), self.only.clone());
        let (by, engine, Effort { hits, leaves }) = (self.by.clone(), self.engine, self.effort);
        move |library| SearchRequest {
            query,
            by: like.as_ref().and_then(|like| like.comparable(library, by)),
            like,
            recall: RECALL,
            only: only.map(|only| Arc::new(only.iter().copied().collect())),
            k: hits,
            keeps_judged: true,
            engine,
            leaves,
        }
    }
}
