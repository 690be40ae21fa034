//! Find images of a library by words, by what they look like, or both, and say how well they answer.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::Reward;
use tessera_core::library::models::recall::{CANDIDATES, Question, words_of};
use tessera_core::text::{TextQuery, words};

use super::Session;
use super::like::Like;
pub use crate::command::Engine;

/// What is searched for, and how.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// By these words. None find nothing by themselves, but what must not be there leaves out also what is found in other ways.
    pub query: TextQuery,
    /// Looking like this.
    pub like: Option<Arc<Like>>,
    /// Among these images alone; without words and look, these are what is found.
    pub only: Option<Arc<HashSet<ItemId>>>,
    /// At most so many.
    pub k: usize,
    /// Whether images of which something was said as answers to this query are there besides, whatever their score.
    pub keeps_judged: bool,
    /// Who finds by words.
    pub engine: Engine,
    /// Leaves of the memory that are looked at.
    pub leaves: usize,
}

/// An image that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The image.
    pub image: ItemId,
    /// Its file.
    pub path: Option<PathBuf>,
    /// The caption that fits best, or else its first.
    pub caption: Option<String>,
    /// How well it answers, the same however many are wanted: 1 is a text that is just what was asked for, and texts that complete each
    /// other and lessons can raise it above that. Of words and a look each counts half; where there are neither it is 0.
    pub score: f64,
    /// The words of the query, or what its last may become, that its texts have.
    pub words: Vec<String>,
    /// The query for which it was called a good answer, where that counts here.
    pub lesson: Option<String>,
    /// What the user said of it as an answer to this query, -1..=1.
    pub taught: Option<f64>,
    /// How much it looks like what was shown, if something was and it is known what the image looks like.
    pub look: Option<f64>,
}

/// An image and how well it answers.
struct Scored {
    image: ItemId,
    score: f64,
    look: Option<f64>,
    taught: Option<Reward>,
}

impl SearchRequest {
    /// Whether an image may be found at all: what was shown is not found itself.
    fn fits(&self, image: ItemId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&image))
            && self.like.as_ref().is_none_or(|like| like.item != Some(image) || like.crop.is_some())
    }
}

impl Session {
    /// The images that answer best, best first: for any k up to [`CANDIDATES`] the first of one list, which more of them may only add to.
    pub fn search(&self, library: &Library, wanted: &SearchRequest) -> Vec<SearchHit> {
        let SearchRequest { query, like, k, .. } = wanted;
        let fits = |image| wanted.fits(image) && library.words().allows(image, query);
        match like {
            None if query.is_empty() => listed(library, wanted, fits),
            Some(like) if query.is_empty() => {
                let found = library.look_alikes(&like.appearance, *k, fits);
                found
                    .into_iter()
                    .map(|(image, look)| SearchHit { score: look, look: Some(look), ..hit_of(library, query, image) })
                    .collect()
            }
            _ => self.by_words(library, wanted),
        }
    }

    fn by_words(&self, library: &Library, wanted: &SearchRequest) -> Vec<SearchHit> {
        let query = &wanted.query;
        let asked = words_of(query);
        let taught = |image: ItemId| library.state().image(image).and_then(|image| image.rewards.get(&asked).copied());
        let question = library.recall().ask(library.words(), query);
        let mut found: Vec<Scored> = match wanted.engine {
            Engine::Index => {
                let fitting = library.words().search(query).into_iter().filter(|found| wanted.fits(found.image));
                fitting.map(|found| Scored { image: found.image, score: found.score, look: None, taught: taught(found.image) }).collect()
            }
            Engine::Memory => {
                let (found, _) = question.search(wanted.leaves, wanted.k.max(CANDIDATES), |image| wanted.fits(image));
                found.into_iter().map(|one| Scored { image: one.image, score: one.score, look: None, taught: one.taught }).collect()
            }
        };
        if !wanted.keeps_judged {
            found.retain(|one| one.score > 0.0);
        }
        if let Some(like) = &wanted.like {
            for one in &mut found {
                let image = library.state().image(one.image);
                one.look = image.and_then(|image| library.appearance(image)).map(|found| found.likeness(&like.appearance));
                one.score = (one.score + one.look.unwrap_or(0.0)) / 2.0;
            }
            found.sort_by(|a, b| b.score.total_cmp(&a.score).then(wanted.by_lesson(a, b)).then(a.image.cmp(&b.image)));
        }
        let mut place = 0..;
        found.retain(|one| place.next().is_some_and(|place| place < wanted.k) || (wanted.keeps_judged && one.taught.is_some()));
        let hit = |one: Scored| {
            let hit = match wanted.engine {
                Engine::Index => indexed_hit(library, query, one.image),
                Engine::Memory => remembered_hit(library, &question, one.image),
            };
            SearchHit { score: one.score, look: one.look, taught: one.taught.map(Reward::value), ..hit }
        };
        found.into_iter().map(hit).collect()
    }

    /// The words of a query that no text of the library has.
    pub fn unknown_words(&self, library: &Library, query: &TextQuery) -> Vec<String> {
        query.words.iter().chain(query.phrases.iter().flatten()).filter(|word| !library.words().knows(word)).cloned().collect()
    }

    /// Those of some words that lessons have.
    pub fn taught_words(&self, library: &Library, some: &[String]) -> Vec<String> {
        let taught: HashSet<String> = library.recall().rewards().keys().flat_map(|(_, query)| words(query)).collect();
        some.iter().filter(|word| taught.contains(*word)).cloned().collect()
    }
}

impl SearchRequest {
    /// Of equals, what the memory was taught goes first.
    fn by_lesson(&self, a: &Scored, b: &Scored) -> Ordering {
        let good = |one: &Scored| one.taught.filter(|_| self.engine == Engine::Memory).map_or(0, |reward| reward.0.max(0));
        good(b).cmp(&good(a))
    }
}

/// The first images in the order of their names among those that nothing but the filter is asked of.
fn listed(library: &Library, wanted: &SearchRequest, fits: impl Fn(ItemId) -> bool) -> Vec<SearchHit> {
    let Some(only) = &wanted.only else { return Vec::new() };
    let state = library.state();
    let there = state.images().filter(|image| only.contains(&image.id) && fits(image.id));
    let mut images: Vec<(Option<PathBuf>, ItemId)> = there.map(|image| (state.path_of(image), image.id)).collect();
    images.sort();
    images.into_iter().take(wanted.k).map(|(_, image)| hit_of(library, &wanted.query, image)).collect()
}

/// An image as a hit of nothing in particular.
fn hit_of(library: &Library, query: &TextQuery, image: ItemId) -> SearchHit {
    let state = library.state();
    let found = state.image(image);
    SearchHit {
        image,
        path: found.and_then(|image| state.path_of(image)),
        caption: found.and_then(|image| image.captions.first()).map(|caption| caption.text.clone()),
        score: 0.0,
        words: Vec::new(),
        lesson: None,
        taught: found.and_then(|image| image.rewards.get(&words_of(query))).map(|reward| reward.value()),
        look: None,
    }
}

fn indexed_hit(library: &Library, query: &TextQuery, image: ItemId) -> SearchHit {
    let hit = hit_of(library, query, image);
    let Some(found) = library.words().weigh(query, image) else { return hit };
    SearchHit { caption: found.caption.or(hit.caption), words: found.terms.into_iter().map(|(word, _)| word).collect(), ..hit }
}

fn remembered_hit(library: &Library, question: &Question<'_>, image: ItemId) -> SearchHit {
    let weighed = question.weigh(image);
    let hit = hit_of(library, &TextQuery::default(), image);
    let captions = library.state().image(image).map(|image| &image.captions[..]).unwrap_or_default();
    let caption = weighed.caption.and_then(|n| captions.get(n as usize)).map(|caption| caption.text.clone());
    let mut words: Vec<String> = weighed.words.into_iter().chain(weighed.name).map(|(word, _)| word).collect();
    words.sort();
    let lesson = weighed.lessons.into_iter().find(|(_, value)| *value > 0.0).map(|(query, _)| query);
    SearchHit { caption: caption.or(hit.caption), words, lesson, ..hit }
}
