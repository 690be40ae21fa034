//! Searches images of a library by words, by visual similarity, or both.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::looks::{Look, LookQuery};
use tessera_core::library::models::caption_memory::{AskedWord, ReadAs, Reading};
use tessera_core::library::search::{self, LibraryQuery};
use tessera_core::text::{TextQuery, words_at};

use super::Session;
use super::reference::ReferenceImage;
pub use tessera_core::library::search::{Engine, Found, ReadWord, SearchAnswer, SearchHit};

/// Words of what is often seen, at most.
const OFTEN_SEEN: usize = 12;

/// A search: the query and its limits.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The words. Without words there is no search by words; excluded words also apply to images
    /// found in other ways.
    pub query: TextQuery,
    /// The image that hits are to resemble.
    pub like: Option<Arc<ReferenceImage>>,
    /// The vectors by which they are to resemble it; the usual ones where none are named.
    pub by: Option<Look>,
    /// The share of the most alike images that an index is to find, where one answers.
    pub recall: f64,
    /// The images to search among; without words and an image to resemble, all of these are found.
    pub only: Option<Arc<HashSet<ItemId>>>,
    /// The number of hits, at most.
    pub k: usize,
    /// Whether images that were rewarded for this query are added, whatever their score.
    pub keeps_judged: bool,
    /// The engine that searches by words.
    pub engine: Engine,
    /// Leaves of the caption memory that are visited.
    pub leaves: usize,
}

impl SearchRequest {
    /// The search as the library takes it. An image that hits are to resemble as a whole is not
    /// found itself; one of which only a part was given may be.
    fn to_query(&self) -> LibraryQuery {
        LibraryQuery {
            text: self.query.clone(),
            look: self.like.as_ref().map(|like| LookQuery { by: self.by.clone(), recall: self.recall, ..like.query() }),
            among: self.only.clone(),
            k: self.k,
            keeps_judged: self.keeps_judged,
            engine: self.engine,
            leaves: self.leaves,
        }
    }
}

impl Session {
    /// The images that answer, best first: see [`search::answer`].
    pub fn search(&self, library: &Library, wanted: &SearchRequest) -> SearchAnswer {
        search::answer(library, &wanted.to_query())
    }

    /// Images of an answer in full: see [`search::in_full`].
    pub fn hits_in_full(&self, library: &Library, wanted: &SearchRequest, found: &[Found]) -> Vec<SearchHit> {
        search::in_full(library, &wanted.to_query(), found)
    }

    /// Loads what networks see in the images of a library, so that words can be guessed and
    /// compared with what images look like.
    ///
    /// # Errors
    /// As [`Library::load_guesses`] and [`Library::load_image_vectors`].
    pub fn load_seen(&self, library: &mut Library) -> Result<()> {
        library.load_guesses(usize::MAX)?;
        library.load_image_vectors(usize::MAX).map(|_| ())
    }

    /// Where nothing answers for nothing has a word of the query, words of what the network sees in
    /// many images.
    pub fn often_seen(&self, library: &Library, wanted: &SearchRequest, answer: &SearchAnswer) -> Vec<String> {
        let is_unknown = !answer.asked.is_empty() && answer.asked.iter().all(|one| !one.is_known);
        let may_guess = wanted.engine == Engine::Memory && wanted.only.is_none();
        if answer.found.is_empty() && is_unknown && may_guess { library.often_guessed(OFTEN_SEEN) } else { Vec::new() }
    }

    /// The words of a query that no text of the library contains; one that is being typed is among
    /// them once no word that may find anything begins so.
    pub fn unknown_words(&self, library: &Library, query: &TextQuery, answer: &SearchAnswer) -> Vec<String> {
        let is_begun = |reading: &Reading| reading.how == ReadAs::Completed;
        let has_begun = |begun: &String| answer.asked.iter().any(|one| one.written == *begun && one.readings.iter().any(is_begun));
        let goes_on = |begun: &String| has_begun(begun) || library.may_guess_from(begun);
        let typed = query.prefix.iter().filter(|begun| !goes_on(begun));
        let all = query.words.iter().chain(query.phrases.iter().flatten()).chain(typed);
        let mut there = HashSet::new();
        all.filter(|word| !library.words().knows(word) && there.insert(word.as_str())).cloned().collect()
    }

    /// Those of some words that no text has in the place of which nothing was looked for: they are
    /// in no lesson, are read as no other word, and guessed for no image; `may_have` are those that
    /// may be guessed for images that are not seen yet.
    pub fn missing_words(&self, answer: &SearchAnswer, some: &[String], engine: Engine, may_have: &BTreeSet<String>) -> Vec<String> {
        if engine == Engine::Index {
            return some.to_vec();
        }
        if answer.by_likeness {
            return Vec::new();
        }
        let is_other = |reading: &Reading| reading.how != ReadAs::Written;
        let is_read = |one: &AskedWord| one.is_taught || one.readings.iter().any(is_other);
        let finds = |word: &String| answer.guessed.contains(word) || may_have.contains(word);
        let is_missing = |word: &&String| !finds(word) && !answer.asked.iter().any(|one| one.written == **word && is_read(one));
        some.iter().filter(is_missing).cloned().collect()
    }

    /// Those of some words that no text has, but another form of them, each with the form that
    /// most have; the index looks for words as they are written.
    pub fn words_in_other_forms(&self, answer: &SearchAnswer, some: &[String], engine: Engine) -> Vec<(String, String)> {
        if engine == Engine::Index {
            return Vec::new();
        }
        let form = |one: &AskedWord| {
            let reading = one.readings.iter().find(|reading| reading.how == ReadAs::Form)?;
            some.contains(&one.written).then(|| (one.written.clone(), reading.word.clone()))
        };
        answer.asked.iter().filter_map(form).collect()
    }

    /// Those of some words that occur in lessons.
    pub fn taught_words(&self, answer: &SearchAnswer, some: &[String]) -> Vec<String> {
        let is_taught = |word: &&String| answer.asked.iter().any(|one| one.is_taught && one.written == **word);
        some.iter().filter(is_taught).cloned().collect()
    }
}

/// What is told beside words of a query that nothing has, where the others found images.
pub fn others_words(asked: usize, missing: usize, found: usize) -> &'static str {
    match if found == 0 { 0 } else { asked.saturating_sub(missing) } {
        0 => "",
        1 => "; the other word was looked for",
        _ => "; the other words were looked for",
    }
}

/// The words of a search that nothing has, each with the one that it is read as.
pub fn corrections(answer: &SearchAnswer) -> Vec<(String, String)> {
    let corrected = answer.asked.iter().filter(|one| one.is_corrected());
    corrected.map(|one| (one.written.clone(), one.readings[0].word.clone())).collect()
}

/// What was probably meant by the text of a search: the same with each word that nothing has, or
/// that is there much more often spelled nearly so, replaced by the likeliest one; `None` where
/// there is no such word.
pub fn did_you_mean(text: &str, answer: &SearchAnswer) -> Option<String> {
    let better = |one: &AskedWord| if one.is_corrected() { Some(one.readings[0].word.clone()) } else { one.meant.clone() };
    let meant = |word: &str| answer.asked.iter().find(|one| one.written == word).and_then(better);
    let (mut corrected, mut rest, mut any) = (String::new(), 0, false);
    for (at, written, word) in words_at(text) {
        // One piece of the text may have two words, of which the first stands for it.
        if let Some(meant) = meant(&word).filter(|_| at >= rest) {
            corrected.push_str(&text[rest..at]);
            corrected.push_str(&meant);
            (rest, any) = (at + written.len(), true);
        }
    }
    corrected.push_str(&text[rest..]);
    any.then_some(corrected)
}
