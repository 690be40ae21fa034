//! The texts that fit a query best, by the cosine of tf-idf vectors.
//!
//! With N texts, a word that df of them have has the weight `idf = ln((1 + N) / (1 + df)) + 1`, and
//! a word that occurs c times in a text or query counts `tf = 1 + ln(c)`. A text or query is the
//! vector of its words' `tf * idf`; a score is the cosine of the angle between two. Lengths are
//! computed at each query, so they are those of the present N and df.
//!
//! - Salton and Buckley, *Term-weighting approaches in automatic text retrieval*, 1988: compares
//!   such weights. The idf here is its inverse frequency made smooth, as if one more text had every
//!   word, and never below 1.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use super::index::TextIndex;
use super::item_texts::{Text, WordId};
use super::keys::TextKey;
use super::query::TextQuery;

/// A text that fits a query.
#[derive(Clone, Debug, PartialEq)]
pub struct TextHit {
    /// The text.
    pub key: TextKey,
    /// How well it fits: above 0, at most 1.
    pub score: f32,
    /// The query's words that the text has, sorted; of words that a prefix begins, the one that
    /// fits best.
    pub words: Vec<String>,
}

/// A query as ids of the index's words.
pub(super) struct Asked {
    /// Its words that the index has.
    pub(super) weights: HashMap<WordId, f64>,
    /// The words its prefix begins.
    pub(super) completions: HashMap<WordId, Completion>,
    /// The least length of its vector, over the completions.
    length: f64,
    phrases: Vec<Vec<WordId>>,
    unwanted: Vec<Vec<WordId>>,
}

/// The change of a query if its prefix is completed to a certain word.
pub(super) struct Completion {
    /// By how much the word's weight in the query grows.
    gain: f64,
    /// The length of the query's vector.
    length: f64,
}

impl TextIndex {
    /// The at most `k` texts that fit `query` best, best first, of equals the one with the lower
    /// key.
    ///
    /// A prefix counts as the word among its completions that gives the text the higher score. A
    /// word that no text has lowers the scores of all alike. A query without wanted words finds
    /// nothing.
    ///
    /// O(p log p + c w log(index)): p is how many texts have each word, summed over the query's
    /// words and completions, or the number of texts that have the rarest word of a phrase; c is
    /// how many different texts these are, w their words.
    pub fn search(&self, query: &TextQuery, k: usize) -> Vec<TextHit> {
        let Some(asked) = self.ask(query) else { return Vec::new() };
        let fitting = self.candidates(&asked).into_iter().filter_map(|key| {
            let text = self.texts.get(key)?;
            let allowed = asked.phrases.iter().all(|phrase| text.has(phrase)) && !asked.unwanted.iter().any(|phrase| text.has(phrase));
            allowed.then(|| (self.score(&asked, text).0, key, text))
        });
        let mut fitting: Vec<(f32, TextKey, Text<'_>)> = fitting.collect();
        let order = |a: &(f32, TextKey, Text<'_>), b: &(f32, TextKey, Text<'_>)| -> Ordering { b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)) };
        if k < fitting.len() {
            fitting.select_nth_unstable_by(k, order);
            fitting.truncate(k);
        }
        fitting.sort_unstable_by(order);
        fitting.into_iter().map(|(score, key, text)| TextHit { key, score, words: self.matched(&asked, text) }).collect()
    }

    /// `None` if a phrase has a word that no text has.
    pub(super) fn ask(&self, query: &TextQuery) -> Option<Asked> {
        let mut counts = BTreeMap::<&str, u32>::new();
        for word in query.words.iter().chain(query.phrases.iter().flatten()) {
            *counts.entry(word).or_default() += 1;
        }
        let completed: Vec<(&str, WordId)> = query.prefix.as_deref().map(|prefix| self.completions(prefix).collect()).unwrap_or_default();
        if let (Some(prefix), true) = (&query.prefix, completed.is_empty()) {
            *counts.entry(prefix).or_default() += 1;
        }

        let mut weights = HashMap::new();
        let mut square = 0.0;
        for (&word, &count) in &counts {
            let id = self.vocabulary.get(word).copied();
            let weight = tf(count) * self.idf(id);
            square += weight * weight;
            weights.extend(id.map(|id| (id, weight)));
        }
        let mut length = if completed.is_empty() { f64::sqrt(square) } else { f64::INFINITY };
        let mut completions = HashMap::new();
        for (word, id) in completed {
            let before = weights.get(&id).copied().unwrap_or(0.0);
            let weight = tf(counts.get(word).copied().unwrap_or(0) + 1) * self.idf(Some(id));
            let completion = Completion { gain: weight - before, length: f64::sqrt(square - before * before + weight * weight) };
            length = length.min(completion.length);
            completions.insert(id, completion);
        }

        let ids = |phrase: &Vec<String>| phrase.iter().map(|word| self.vocabulary.get(word.as_str()).copied()).collect::<Option<Vec<_>>>();
        let phrases = query.phrases.iter().map(ids).collect::<Option<_>>()?;
        let unwanted = query.unwanted.iter().filter_map(ids).collect();
        Some(Asked { weights, completions, length, phrases, unwanted })
    }

    /// The words that begin with `prefix`.
    fn completions<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, WordId)> {
        let from = self.vocabulary.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        from.map(|(word, &id)| (&**word, id)).take_while(move |(word, _)| word.starts_with(prefix))
    }

    /// The texts that have a word of the query; if it has phrases, only those that have the rarest
    /// word of these.
    pub(super) fn candidates(&self, asked: &Asked) -> Vec<TextKey> {
        let texts = |id: &WordId| &self.words[id.index()].texts;
        if let Some(rarest) = asked.phrases.iter().flatten().map(texts).min_by_key(|texts| texts.len()) {
            return rarest.iter().collect();
        }
        let mut keys: Vec<TextKey> = asked.weights.keys().chain(asked.completions.keys()).flat_map(|id| texts(id).iter()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The score of a text and, of the completions that it has, the best.
    pub(super) fn score(&self, asked: &Asked, text: Text<'_>) -> (f32, Option<WordId>) {
        let (product, best) = self.product(asked, text);
        let square: f64 = text.counts().into_iter().map(|count| self.weight(count).powi(2)).sum();
        // A completion that the text lacks can still be the better one, if it makes the query's
        // vector shorter.
        let score = best.map_or(0.0, |(score, ..)| score).max(product / asked.length);
        // In single precision texts that should be equal are equal, in whatever order their words
        // were summed.
        ((score / f64::sqrt(square)) as f32, best.map(|(_, id, _)| id))
    }

    /// How the query is read for a text: the length of its vector and, if a completion makes the
    /// score, which one and its gain.
    pub(super) fn reading(&self, asked: &Asked, text: Text<'_>) -> (f64, Option<(WordId, f64)>) {
        match self.product(asked, text) {
            (product, Some((score, id, completion))) if score > product / asked.length => (completion.length, Some((id, completion.gain))),
            _ => (asked.length, None),
        }
    }

    /// The product of a text's vector with that of the query without its prefix, and the best of
    /// the completions that the text has: the product with it over the query's length, and which it
    /// is.
    fn product<'a>(&self, asked: &'a Asked, text: Text<'_>) -> (f64, Option<(f64, WordId, &'a Completion)>) {
        let mut product = 0.0;
        let mut completed = Vec::new();
        for (id, count) in text.counts() {
            product += asked.weights.get(&id).map_or(0.0, |wanted| wanted * self.weight((id, count)));
            completed.extend(asked.completions.get(&id).map(|completion| (id, completion, completion.gain * self.weight((id, count)))));
        }
        let mut best: Option<(f64, WordId, &Completion)> = None;
        for (id, completion, gain) in completed {
            let score = (product + gain) / completion.length;
            if best.is_none_or(|(other, ..)| score > other) {
                best = Some((score, id, completion));
            }
        }
        (product, best)
    }

    /// The weight in a text of a word that occurs there so often.
    pub(super) fn weight(&self, (id, count): (WordId, u32)) -> f64 {
        tf(count) * self.idf(Some(id))
    }

    fn matched(&self, asked: &Asked, text: Text<'_>) -> Vec<String> {
        let best = self.score(asked, text).1;
        let matched = text.counts().into_iter().filter(|(id, _)| asked.weights.contains_key(id) || best == Some(*id));
        matched.map(|(id, _)| self.words[id.index()].word.to_string()).collect()
    }

    /// The idf of a word, of `None` that of a word no text has.
    fn idf(&self, id: Option<WordId>) -> f64 {
        let df = id.map_or(0, |id| self.words[id.index()].frequency());
        f64::ln((1 + self.all()) as f64 / (1 + df) as f64) + 1.0
    }
}

fn tf(count: u32) -> f64 {
    1.0 + f64::ln(f64::from(count))
}

impl Text<'_> {
    fn has(self, phrase: &[WordId]) -> bool {
        phrase.is_empty() || self.sequence().windows(phrase.len()).any(|words| words == phrase)
    }
}

impl TextIndex {
    /// The at most `n` words that begin with `prefix` and occur in most texts, in that order; of
    /// equals, the first in the alphabet. O(words with that beginning).
    pub fn complete(&self, prefix: &str, n: usize) -> Vec<String> {
        let mut all: Vec<(usize, &str)> = self.completions(prefix).map(|(word, id)| (self.words[id.index()].texts.len(), word)).collect();
        let order = |a: &(usize, &str), b: &(usize, &str)| -> Ordering { b.0.cmp(&a.0).then(a.1.cmp(b.1)) };
        if n < all.len() {
            all.select_nth_unstable_by(n, order);
            all.truncate(n);
        }
        all.sort_unstable_by(order);
        all.into_iter().map(|(_, word)| word.to_owned()).collect()
    }

    /// Whether the text at `key` has these words next to each other in this order.
    pub fn has_phrase(&self, key: TextKey, phrase: &[String]) -> bool {
        let ids: Option<Vec<WordId>> = phrase.iter().map(|word| self.vocabulary.get(word.as_str()).copied()).collect();
        ids.is_some_and(|ids| self.texts.get(key).is_some_and(|text| text.has(&ids)))
    }
}
