//! Searching: what is looked for, and what was found.

use std::io;
use std::sync::Arc;

use tessera_core::Error;
use tessera_core::ids::ItemId;
use tessera_core::text::TextQuery;

use super::super::like::Like;
use super::super::search::{Engine, SearchRequest};
use super::super::why::Why;
use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::notices::problem;
use super::part::Part;
use super::view::Hits;
use crate::command::{Crop, ImageQuery};
use crate::job::JobKind;
use crate::settings::SEARCH_LEAVES;

/// Images whose appearances a search brings into the machine.
const NEW: usize = 64;

/// What is looked for, and what was found.
pub struct Searching {
    /// The search asked for last; answers to earlier ones are stale.
    number: u64,
    /// Its words.
    words: String,
    engine: Engine,
    /// What hits are to look like, and the images among which they are.
    like: Option<Arc<Like>>,
    only: Option<Arc<Vec<ItemId>>>,
    effort: Effort,
    hits: Option<Arc<Hits>>,
    /// Why the search found an image, once that was asked for.
    why: Option<Why>,
}

/// How much a search gives and does.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Effort {
    /// Hits, at most.
    hits: usize,
    /// Leaves of the memory that are looked at.
    leaves: usize,
}

/// What comes back from the threads that search.
pub(super) enum Message {
    /// The answer to a search.
    Hits(Hits),
    /// What hits are to look like.
    Like(Arc<Like>),
    /// Of which search, and why.
    Why(u64, Why),
}

impl Part for Searching {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self {
            number: 0,
            words: String::new(),
            engine: Engine::default(),
            like: None,
            only: None,
            effort: Effort { hits: 100, leaves: SEARCH_LEAVES },
            hits: None,
            why: None,
        })
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Hits(hits) if hits.number == self.number => {
                let is_short = hits.unseen > 0;
                self.hits = Some(Arc::new(hits));
                if is_short {
                    self.search_again(ctx);
                }
            }
            Message::Hits(_) => {}
            Message::Like(like) => {
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
                self.words.clear();
                self.number += 1;
            }
            Event::Opened => {}
            Event::Changed => self.search_again(ctx),
        }
    }
}

impl Searching {
    /// The answer to the last search.
    pub fn hits(&self) -> Option<&Arc<Hits>> {
        self.hits.as_ref()
    }

    /// Why the search found the image that was asked about last.
    pub fn why(&self) -> Option<&Why> {
        let hits = self.hits.as_ref()?;
        self.why.as_ref().filter(|why| hits.hits.iter().any(|hit| hit.image == why.image))
    }

    /// What hits are to look like.
    pub fn like(&self) -> Option<&Arc<Like>> {
        self.like.as_ref()
    }

    /// Who answers searches.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Searches for words, and for what looks like what is shown; an empty search for nothing shows
    /// nothing.
    pub(super) fn search(&mut self, ctx: &mut Context, text: String) {
        self.number += 1;
        let number = self.number;
        self.words.clone_from(&text);
        if text.trim().is_empty() && self.like.is_none() {
            self.hits = None;
            return;
        }
        let request = self.request(&text);
        ctx.with_library(move |session, library| {
            let wanted = request();
            // New images come a few at a time, and one that cannot be had now is found no worse
            // than the others later.
            let unseen = if wanted.like.is_some() { library.load_appearances(NEW).unwrap_or(0) } else { 0 };
            let hits = session.search(library, &wanted);
            let unknown = session.unknown_words(library, &wanted.query);
            let SearchRequest { like, engine, .. } = wanted;
            Message::Hits(Hits {
                number,
                query: text,
                like,
                unseen,
                hits,
                memories: library.words().memories(),
                unknown,
                engine,
                lessons: library.caption_memory().rewards().len(),
            })
        });
    }

    /// Searches again for what was asked for last, whether it was answered or not.
    fn search_again(&mut self, ctx: &mut Context) {
        self.search(ctx, self.words.clone());
    }

    /// Searches from now on with another engine.
    pub(super) fn search_by(&mut self, ctx: &mut Context, engine: Engine) {
        self.engine = engine;
        self.search_again(ctx);
    }

    /// Searches from now on among these images alone.
    pub(super) fn narrow(&mut self, ctx: &mut Context, only: Option<Arc<Vec<ItemId>>>) {
        self.only = only;
        self.search_again(ctx);
    }

    /// Searches from now on for so many hits in so many leaves.
    pub(super) fn set_effort(&mut self, ctx: &mut Context, hits: usize, leaves: usize) {
        let effort = Effort { hits: hits.max(1), leaves: leaves.max(1) };
        if self.effort != effort {
            self.effort = effort;
            self.search_again(ctx);
        }
    }

    /// Searches from now on for what looks like an image, or a part of it, too; none ends that.
    pub(super) fn look_for(&mut self, ctx: &mut Context, like: Option<(ImageQuery, Option<Crop>)>) {
        let Some((query, crop)) = like else {
            ctx.jobs.stop(&JobKind::FindLike);
            self.like = None;
            return self.search_again(ctx);
        };
        let Some(library) = ctx.shared() else { return };
        ctx.job(JobKind::FindLike, move |session| {
            session.load_appearances(&library)?;
            match session.like(&library, &query, crop) {
                Ok(like) => Ok(DeskMessage::from(Message::Like(Arc::new(like)))),
                Err(Error::Cancelled) => Err(Error::Cancelled),
                Err(error) => Ok(problem(error).into()),
            }
        });
    }

    /// Finds out why an image was found.
    pub(super) fn explain(&mut self, ctx: &mut Context, image: ItemId) {
        let Some(hits) = self.hits.clone() else { return };
        let Some(hit) = hits.hits.iter().find(|hit| hit.image == image).cloned() else { return };
        let request = self.request(&hits.query);
        ctx.with_library(move |session, library| Message::Why(hits.number, session.why(library, &request(), &hit)));
    }

    /// What a search for these words is to find now, to be made by the thread that searches.
    fn request(&self, text: &str) -> impl FnOnce() -> SearchRequest + Send + use<> {
        let (query, like, only) = (TextQuery::typing(text), self.like.clone(), self.only.clone());
        let (engine, Effort { hits, leaves }) = (self.engine, self.effort);
        move || SearchRequest {
            query,
            like,
            only: only.map(|only| Arc::new(only.iter().copied().collect())),
            k: hits,
            keeps_judged: true,
            engine,
            leaves,
        }
    }
}
