//! Finds images by words, by appearance, or by both, and ranks them by score.
//!
//! By words, an image's score is the caption memory's (see [`super::models::caption_memory`]) or
//! the cosine of the exact index's tf-idf vectors; the memory's answer has guessed words too, of
//! low weight (see [`super::guess`]), and what images look like by a pair of encoders, where one
//! was chosen (see [`super::word_match`]); by appearance, its similarity in 0..=1; by both, the
//! mean of the two. By words, images that have all of them, as far as any image has them, go before
//! those that lack one, unless they were taught otherwise; by words and appearance the score alone
//! ranks. Of equal scores, the higher positive reward for the very query goes first, then the lower
//! identifier, so that a list for fewer images is the beginning of one for more.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::Library;
use super::event::Reward;
use super::guess::{ByGuesses, Guessable, GuessedWord};
use super::looks::{LookAlike, LookQuery};
use super::models::caption_memory::{AskedWord, CANDIDATES, Question, ReadAs, RecallHit, words_of};
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
    fn by_lesson(&self, a: &Found, b: &Found) -> Ordering {
        let good = |one: &Found| one.taught.filter(|_| self.engine == Engine::Memory).map_or(0, |reward| reward.0.max(0));
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
    /// The words that its texts have: those of the query, completions of its last one, and those
    /// that words of the query were read as.
    pub words: Vec<String>,
    /// Of these, the words that the query does not have as they are.
    pub read: Vec<ReadWord>,
    /// Whether its texts have all words of the query that any image has.
    pub has_all: bool,
    /// Whether `caption` has one of `words`.
    pub has_caption: bool,
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

/// A word of an image's texts that a word of the query was read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadWord {
    /// The word, as texts have it.
    pub word: String,
    /// The word of the query.
    pub written: String,
    /// How that was read.
    pub how: ReadAs,
}

/// All images that answer a query, and the first of them in full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchAnswer {
    /// All that answer, best first. By appearance alone, which all images have, only as many as
    /// were asked for.
    pub found: Vec<Found>,
    /// The first of them, and with [`LibraryQuery::keeps_judged`] later ones that were judged.
    pub hits: Vec<SearchHit>,
    /// The words of the query, and how the caption memory reads them.
    pub asked: Vec<AskedWord>,
    /// Of these, the words that are guessed for some image of the library.
    pub guessed: BTreeSet<String>,
    /// Whether the words were compared with what images look like, too.
    pub by_likeness: bool,
}

/// An image that answers a query, and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The image.
    pub image: ItemId,
    /// How well it fits the query.
    pub score: f64,
    /// Whether it has all words of the query that any image has, in its texts.
    pub has_all: bool,
    /// Whether it stands among those that have all words.
    is_first: bool,
    look: Option<f64>,
    probability: Option<f64>,
    taught: Option<Reward>,
}

impl Found {
    fn new(image: ItemId, score: f64) -> Self {
        Self { image, score, has_all: false, is_first: false, look: None, probability: None, taught: None }
    }
}

/// The first images of [`answer`], in full.
pub fn search(library: &Library, query: &LibraryQuery) -> Vec<SearchHit> {
    answer(library, query).hits
}

/// The images that answer, best first, of which the first `k` are given in full: for any k the
/// first of one list.
///
/// # Complexity
/// By words as [`Question::search`] or [`super::models::words::Words::search`]; by looks as
/// [`Library::look_alikes`]; O(words of its texts) for each image that is given in full.
pub fn answer(library: &Library, query: &LibraryQuery) -> SearchAnswer {
    let LibraryQuery { text, look, k, .. } = query;
    let fits = |image| query.fits(image) && library.words().allows(image, text);
    let found: Vec<Found> = match look {
        None if text.is_empty() => listed(library, query, fits),
        Some(look) if text.is_empty() => {
            let found = |LookAlike { image, likeness, probability }| Found {
                look: Some(likeness),
                probability: Some(probability),
                ..Found::new(image, likeness)
            };
            library.look_alikes(look, *k, fits).list.into_iter().map(found).collect()
        }
        _ => return by_words(library, query),
    };
    let first: Vec<Found> = found.iter().take(*k).copied().collect();
    SearchAnswer { hits: in_full(library, query, &first), found, ..SearchAnswer::default() }
}

/// Images of an answer to a query, in full. O(words of their texts).
pub fn in_full(library: &Library, query: &LibraryQuery, found: &[Found]) -> Vec<SearchHit> {
    let question = library.ask(&query.text);
    let matched = if query.engine == Engine::Memory { library.word_match(&query.text) } else { None };
    in_full_of(library, query, &question, matched.as_ref(), found)
}

fn in_full_of(
    library: &Library,
    query: &LibraryQuery,
    question: &Question<'_>,
    matched: Option<&WordMatch<'_>>,
    found: &[Found],
) -> Vec<SearchHit> {
    let text = &query.text;
    let corrected = question.corrected();
    let hit = |one: &Found| {
        let hit = match query.engine {
            _ if text.is_empty() => hit_of(library, text, one.image),
            Engine::Index => indexed_hit(library, text, one.image),
            Engine::Memory => remembered_hit(library, question, &corrected, one.image),
        };
        let likeness = matched.and_then(|matched| matched.of(one.image));
        let Found { score, has_all, look, probability, .. } = *one;
        let taught = one.taught.map(Reward::value).or(hit.taught);
        SearchHit { likeness, score, has_all, look, probability, taught, ..hit }
    };
    found.iter().map(hit).collect()
}

fn by_words(library: &Library, query: &LibraryQuery) -> SearchAnswer {
    let text = &query.text;
    let asked = words_of(text);
    let taught = |image: ItemId| library.state().image(image).and_then(|image| image.rewards.get(&asked).copied());
    let question = library.ask(text);
    let matched = if query.engine == Engine::Memory { library.word_match(text) } else { None };
    let mut guessed = BTreeSet::new();
    let mut found: Vec<Found> = match query.engine {
        Engine::Index => {
            let n_known = known_words(library, text);
            let fitting = library.words().search(text).into_iter().filter(|found| query.fits(found.image));
            let found = fitting.map(|found| {
                let has_all = found.terms.len() >= n_known;
                Found { taught: taught(found.image), has_all, is_first: has_all, ..Found::new(found.image, found.score) }
            });
            found.collect()
        }
        Engine::Memory => {
            let (found, _) = question.search(query.leaves, |image| query.fits(image));
            let found = found.into_iter().map(|one| {
                let RecallHit { image, score, has_all, is_first, taught } = one;
                Found { has_all, is_first, taught, ..Found::new(image, score) }
            });
            let (found, words) = with_more(library, query, &question, found.collect(), matched.as_ref(), taught);
            guessed = words;
            found
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
        }
        let wholes: Vec<(ItemId, f64)> = found.iter().filter_map(|one| Some((one.image, one.look?))).collect();
        let parts: HashMap<ItemId, f64> =
            likeness.as_ref().and_then(|likeness| library.by_parts(look, likeness, &wholes)).into_iter().flatten().collect();
        for one in &mut found {
            one.look = parts.get(&one.image).copied().or(one.look);
            one.score = (one.score + one.look.unwrap_or(0.0)) / 2.0;
            one.is_first = false;
        }
    }
    if query.look.is_some() || query.engine == Engine::Index {
        sort(query, &mut found);
    }
    let mut place = 0..;
    let is_shown = |one: &&Found| place.next().is_some_and(|place| place < query.k) || (query.keeps_judged && one.taught.is_some());
    let first: Vec<Found> = found.iter().filter(is_shown).copied().collect();
    let hits = in_full_of(library, query, &question, matched.as_ref(), &first);
    SearchAnswer { found, hits, asked: question.asked().to_vec(), guessed, by_likeness: matched.is_some() }
}

/// How many words of a query the index has; a beginning counts as one where it has a word with it.
fn known_words(library: &Library, text: &TextQuery) -> usize {
    let index = library.words();
    let asked: BTreeSet<&String> = text.words.iter().chain(text.phrases.iter().flatten()).collect();
    let begun = text.prefix.as_ref().is_some_and(|prefix| !index.complete(prefix, 1).is_empty());
    asked.into_iter().filter(|word| index.knows(word)).count() + usize::from(begun)
}

/// The order of answers to words.
fn sort(query: &LibraryQuery, found: &mut [Found]) {
    found.sort_by(|a, b| {
        b.is_first.cmp(&a.is_first).then(b.score.total_cmp(&a.score)).then(query.by_lesson(a, b)).then(a.image.cmp(&b.image))
    });
}

impl Library {
    /// Prepares a query for the caption memory. A word that no text has is not corrected where the
    /// network may guess it, and may be corrected to one that it guesses.
    pub fn ask<'a>(&'a self, text: &'a TextQuery) -> Question<'a> {
        self.caption_memory().ask_with(self.words(), text, &Guessable::of(self, text))
    }
}

/// Adds to scores what is guessed and what images look like, and images that are found by these
/// alone. Gives the words that are guessed for some image, too.
fn with_more(
    library: &Library,
    query: &LibraryQuery,
    question: &Question<'_>,
    mut found: Vec<Found>,
    matched: Option<&WordMatch<'_>>,
    taught: impl Fn(ItemId) -> Option<Reward>,
) -> (Vec<Found>, BTreeSet<String>) {
    let fits = |image| query.fits(image) && library.words().allows(image, &query.text);
    let ByGuesses { values: mut guessed, words } = library.by_guesses(&question.corrected(), fits);
    let mut seen = matched.map(|matched| matched.best(CANDIDATES, fits)).unwrap_or_default();
    if guessed.is_empty() && seen.is_empty() {
        return (found, words);
    }
    let looks = |image| matched.and_then(|matched| matched.of(image)).map_or(0.0, |likeness| likeness.value);
    for one in &mut found {
        seen.remove(&one.image);
        one.score += guessed.remove(&one.image).unwrap_or(0.0) + looks(one.image);
    }
    let images: BTreeSet<ItemId> = guessed.keys().chain(seen.keys()).copied().collect();
    let alone = |image: ItemId| {
        let score = question.weigh(image).score + guessed.get(&image).unwrap_or(&0.0) + looks(image);
        Found { taught: taught(image), ..Found::new(image, score) }
    };
    found.extend(images.into_iter().map(alone));
    sort(query, &mut found);
    (found, words)
}

/// The images of the filter in the order of their paths, for a query of nothing else.
fn listed(library: &Library, query: &LibraryQuery, fits: impl Fn(ItemId) -> bool) -> Vec<Found> {
    let Some(among) = &query.among else { return Vec::new() };
    let state = library.state();
    let there = state.images().filter(|image| among.contains(&image.id) && fits(image.id));
    let mut images: Vec<(Option<PathBuf>, ItemId)> = there.map(|image| (state.path_of(image), image.id)).collect();
    images.sort();
    images.into_iter().map(|(_, image)| Found::new(image, 0.0)).collect()
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
        read: Vec::new(),
        has_all: false,
        has_caption: false,
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
    let captions = library.state().image(image).map(|image| &image.captions[..]).unwrap_or_default();
    let caption = found.caption.and_then(|n| captions.get(n as usize)).map(|caption| caption.text.clone());
    let has_caption = caption.is_some();
    SearchHit { caption: caption.or(hit.caption), has_caption, words: found.terms.into_iter().map(|(word, _)| word).collect(), ..hit }
}

fn remembered_hit(library: &Library, question: &Question<'_>, corrected: &TextQuery, image: ItemId) -> SearchHit {
    let weighed = question.weigh(image);
    let hit = hit_of(library, &TextQuery::default(), image);
    let captions = library.state().image(image).map(|image| &image.captions[..]).unwrap_or_default();
    let caption = weighed.caption.and_then(|n| captions.get(n as usize)).map(|caption| caption.text.clone());
    let words: BTreeSet<String> = weighed.terms.iter().map(|term| term.word.clone()).collect();
    let read = weighed.terms.iter().filter(|term| term.is_read());
    let read = read.map(|term| ReadWord { word: term.word.clone(), written: term.written.clone(), how: term.how }).collect();
    let lesson = weighed.lessons.into_iter().find(|(_, value)| *value > 0.0).map(|(query, _)| query);
    let guessed = library.state().image(image).map(|image| library.guessed(image, corrected)).unwrap_or_default();
    let has_caption = caption.is_some();
    SearchHit { caption: caption.or(hit.caption), has_caption, words: words.into_iter().collect(), read, lesson, guessed, ..hit }
}
