//! Finds images by words, by appearance, or by both, and ranks them by score.
//!
//! By words, an image's score is the caption memory's (see [`super::models::caption_memory`]) or
//! the cosine of the exact index's tf-idf vectors; the memory's answer has guessed words too, of
//! low weight (see [`super::guess`]), and what images look like by a pair of encoders, where one
//! was chosen (see [`super::word_match`]); by appearance, its similarity in 0..=1; by both, the
//! mean of the two. Of equal scores, the higher positive reward for the very query goes first, then
//! the lower identifier, so that a list for fewer images is the beginning of one for more.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::Library;
use super::event::Reward;
use super::guess::GuessedWord;
use super::looks::{LookAlike, LookQuery};
use super::models::caption_memory::{CANDIDATES, Question, words_of};
use super::state::Image;
use super::word_match::{WordLikeness, WordMatch};
use crate::ids::ItemId;
use crate::text::TextQuery;

/// Which model finds images by words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The caption memory, which learns from rewards.
    #[default]
    Memory,
    /// The exact index of words, which learns nothing.
    Index,
}

/// What is searched for, and how.
#[derive(Clone, Debug)]
pub struct LibraryQuery {
    /// Words of texts. Without words nothing is found by them, but unwanted words leave out images
    /// that are found in other ways, too.
    pub text: TextQuery,
    /// An appearance to be similar to.
    pub look: Option<LookQuery>,
    /// The only images that may be found. Without words and appearance, all of them are found, in
    /// the order of their paths.
    pub among: Option<Arc<HashSet<ItemId>>>,
    /// The most images found.
    pub k: usize,
    /// Whether images with a reward for these words are found besides, whatever their score and
    /// beyond `k`.
    pub keeps_judged: bool,
    /// Which model finds images by words.
    pub engine: Engine,
    /// Leaves of the memory that are searched, in each tree.
    pub leaves: usize,
}

/// The usual number of leaves of the caption memory that are searched.
pub const LEAVES: usize = 64;

impl LibraryQuery {
    /// The `k` images that answer some words best by the caption memory, from [`LEAVES`] leaves of
    /// each tree.
    pub fn words(text: TextQuery, k: usize) -> Self {
        Self { text, look: None, among: None, k, keeps_judged: false, engine: Engine::Memory, leaves: LEAVES }
    }

    /// Whether an image may be found at all.
    fn fits(&self, image: ItemId) -> bool {
        self.among.as_ref().is_none_or(|among| among.contains(&image)) && self.look.as_ref().is_none_or(|look| look.of != Some(image))
    }

    /// Orders equal scores: the higher positive reward first, where the caption memory searches.
    fn by_lesson(&self, a: &Scored, b: &Scored) -> Ordering {
        let good = |one: &Scored| one.taught.filter(|_| self.engine == Engine::Memory).map_or(0, |reward| reward.0.max(0));
        good(b).cmp(&good(a))
    }
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
    /// How well it answers, the same however many are wanted: 1 is a text that is just what was
    /// asked for, and texts that complete each other and lessons can raise it above that. Of words
    /// and appearance each counts half; without either it is 0.
    pub score: f64,
    /// The words of the query, or completions of its last one, that its texts have.
    pub words: Vec<String>,
    /// The query of the lesson that raises its score, if one does.
    pub lesson: Option<String>,
    /// The reward the user gave it as an answer to this query, -1..=1.
    pub taught: Option<f64>,
    /// Words of the query that are guessed for it, with what each adds to its score.
    pub guessed: Vec<GuessedWord>,
    /// How well what it looks like fits the query, where that adds to its score.
    pub likeness: Option<WordLikeness>,
    /// The similarity of its appearance, where the query has one and the image's is known.
    pub look: Option<f64>,
    /// Where it was found by its looks alone, the probability that it is one of the most alike
    /// images of all: see [`LookAlike::probability`].
    pub probability: Option<f64>,
}

/// An image and its score.
struct Scored {
    image: ItemId,
    score: f64,
    look: Option<f64>,
    taught: Option<Reward>,
}

/// The images that answer best, best first: for any k up to [`CANDIDATES`] the first of one list,
/// which more of them may only add to.
///
/// # Complexity
/// By words as [`Question::search`] or [`super::models::words::Words::search`]; by looks as
/// [`Library::look_alikes`].
pub fn search(library: &Library, query: &LibraryQuery) -> Vec<SearchHit> {
    let LibraryQuery { text, look, k, .. } = query;
    let fits = |image| query.fits(image) && library.words().allows(image, text);
    match look {
        None if text.is_empty() => listed(library, query, fits),
        Some(look) if text.is_empty() => {
            let hit = |LookAlike { image, likeness, probability }| {
                let hit = hit_of(library, text, image);
                SearchHit { score: likeness, look: Some(likeness), probability: Some(probability), ..hit }
            };
            library.look_alikes(look, *k, fits).list.into_iter().map(hit).collect()
        }
        _ => by_words(library, query),
    }
}

fn by_words(library: &Library, query: &LibraryQuery) -> Vec<SearchHit> {
    let text = &query.text;
    let asked = words_of(text);
    let taught = |image: ItemId| library.state().image(image).and_then(|image| image.rewards.get(&asked).copied());
    let question = library.caption_memory().ask(library.words(), text);
    let matched = if query.engine == Engine::Memory { library.word_match(text) } else { None };
    let mut found: Vec<Scored> = match query.engine {
        Engine::Index => {
            let fitting = library.words().search(text).into_iter().filter(|found| query.fits(found.image));
            fitting.map(|found| Scored { image: found.image, score: found.score, look: None, taught: taught(found.image) }).collect()
        }
        Engine::Memory => {
            let (found, _) = question.search(query.leaves, query.k.max(CANDIDATES), |image| query.fits(image));
            let found = found.into_iter().map(|one| Scored { image: one.image, score: one.score, look: None, taught: one.taught });
            with_more(library, query, &question, found.collect(), matched.as_ref(), taught)
        }
    };
    if !query.keeps_judged {
        found.retain(|one| one.score > 0.0);
    }
    if let Some(look) = &query.look {
        let likeness = library.likeness_to(look);
        for one in &mut found {
            let likeness = |image: &Arc<Image>| library.likeness_of(likeness.as_ref()?, image);
            one.look = library.state().image(one.image).and_then(likeness);
            one.score = (one.score + one.look.unwrap_or(0.0)) / 2.0;
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(query.by_lesson(a, b)).then(a.image.cmp(&b.image)));
    }
    let mut place = 0..;
    found.retain(|one| place.next().is_some_and(|place| place < query.k) || (query.keeps_judged && one.taught.is_some()));
    let hit = |one: Scored| {
        let hit = match query.engine {
            Engine::Index => indexed_hit(library, text, one.image),
            Engine::Memory => remembered_hit(library, &question, one.image),
        };
        let likeness = matched.as_ref().and_then(|matched| matched.of(one.image));
        SearchHit { likeness, score: one.score, look: one.look, taught: one.taught.map(Reward::value), ..hit }
    };
    found.into_iter().map(hit).collect()
}

/// Adds to scores what is guessed and what images look like, and images that are found by these
/// alone.
fn with_more(
    library: &Library,
    query: &LibraryQuery,
    question: &Question<'_>,
    mut found: Vec<Scored>,
    matched: Option<&WordMatch<'_>>,
    taught: impl Fn(ItemId) -> Option<Reward>,
) -> Vec<Scored> {
    let fits = |image| query.fits(image) && library.words().allows(image, &query.text);
    let k = query.k.max(CANDIDATES);
    let mut guessed = library.by_guesses(&query.text, k, fits);
    let mut seen = matched.map(|matched| matched.best(k, fits)).unwrap_or_default();
    if guessed.is_empty() && seen.is_empty() {
        return found;
    }
    let looks = |image| matched.and_then(|matched| matched.of(image)).map_or(0.0, |likeness| likeness.value);
    for one in &mut found {
        seen.remove(&one.image);
        one.score += guessed.remove(&one.image).unwrap_or(0.0) + looks(one.image);
    }
    let images: BTreeSet<ItemId> = guessed.keys().chain(seen.keys()).copied().collect();
    let alone = |image: ItemId| {
        let score = question.weigh(image).score + guessed.get(&image).unwrap_or(&0.0) + looks(image);
        Scored { image, score, look: None, taught: taught(image) }
    };
    found.extend(images.into_iter().map(alone));
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(query.by_lesson(a, b)).then(a.image.cmp(&b.image)));
    found
}

/// The first images of the filter in the order of their paths, for a query of nothing else.
fn listed(library: &Library, query: &LibraryQuery, fits: impl Fn(ItemId) -> bool) -> Vec<SearchHit> {
    let Some(among) = &query.among else { return Vec::new() };
    let state = library.state();
    let there = state.images().filter(|image| among.contains(&image.id) && fits(image.id));
    let mut images: Vec<(Option<PathBuf>, ItemId)> = there.map(|image| (state.path_of(image), image.id)).collect();
    images.sort();
    images.into_iter().take(query.k).map(|(_, image)| hit_of(library, &query.text, image)).collect()
}

/// An image as a hit without score, words and lesson.
fn hit_of(library: &Library, text: &TextQuery, image: ItemId) -> SearchHit {
    let state = library.state();
    let found = state.image(image);
    SearchHit {
        image,
        path: found.and_then(|image| state.path_of(image)),
        caption: found.and_then(|image| image.captions.first()).map(|caption| caption.text.clone()),
        score: 0.0,
        words: Vec::new(),
        lesson: None,
        taught: found.and_then(|image| image.rewards.get(&words_of(text))).map(|reward| reward.value()),
        guessed: Vec::new(),
        likeness: None,
        look: None,
        probability: None,
    }
}

fn indexed_hit(library: &Library, text: &TextQuery, image: ItemId) -> SearchHit {
    let hit = hit_of(library, text, image);
    let Some(found) = library.words().weigh(text, image) else { return hit };
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
    let guessed = library.state().image(image).map(|image| library.guessed(image, question.query())).unwrap_or_default();
    SearchHit { caption: caption.or(hit.caption), words, lesson, guessed, ..hit }
}
