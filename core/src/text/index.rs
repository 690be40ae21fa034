//! An exact index of words: tf-idf and the cosine, over an inverted index that grows and shrinks with every text.
//!
//! A text is a vector with one dimension for each word: `(1 + ln count) * idf`, where `idf = ln((1 + n) / (1 + n_with)) + 1`
//! for `n` texts of which `n_with` have the word (G. Salton and C. Buckley, *Term-weighting approaches in automatic text
//! retrieval*, 1988; the ones smooth the logarithm). A hit's score is the cosine between its vector and the query's.
//! Everything is reckoned with the counts of the moment, so an index is a function of the texts in it, whatever came and
//! went before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::query::Query;
use super::tokens::words;
use crate::ids::ItemId;

/// A text: an item may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextKey {
    /// Whose text it is.
    pub item: ItemId,
    /// Which of its texts.
    pub part: u32,
}

/// A text that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The text.
    pub key: TextKey,
    /// The cosine between its vector and the query's, above 0 and at most 1.
    pub score: f64,
    /// The words of the query, or their completions, that it has, in order of the alphabet.
    pub words: Vec<String>,
}

#[derive(Clone, Debug)]
struct Text {
    text: String,
    /// Its words with their counts, in order of the alphabet.
    counts: Vec<(String, u32)>,
}

/// An index of texts.
#[derive(Clone, Debug, Default)]
pub struct TextIndex {
    texts: BTreeMap<TextKey, Text>,
    /// Of each word the texts that have it, and how often.
    postings: BTreeMap<String, BTreeMap<TextKey, u32>>,
}

/// Completions of a word being typed that are looked at.
const COMPLETIONS: usize = 64;

impl TextIndex {
    /// An index without texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Enters a text, in place of the one that had its key. O(words * log texts).
    pub fn insert(&mut self, key: TextKey, text: &str) {
        self.remove(key);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for word in words(text) {
            *counts.entry(word).or_default() += 1;
        }
        for (word, &count) in &counts {
            self.postings.entry(word.clone()).or_default().insert(key, count);
        }
        self.texts.insert(key, Text { text: text.to_owned(), counts: counts.into_iter().collect() });
    }

    /// Takes out a text. Returns whether it was there. O(words * log texts).
    pub fn remove(&mut self, key: TextKey) -> bool {
        let Some(text) = self.texts.remove(&key) else { return false };
        for (word, _) in &text.counts {
            if let Some(posting) = self.postings.get_mut(word) {
                posting.remove(&key);
                if posting.is_empty() {
                    self.postings.remove(word);
                }
            }
        }
        true
    }

    /// All texts in order of their keys.
    pub fn texts(&self) -> impl Iterator<Item = (TextKey, &str)> {
        self.texts.iter().map(|(key, text)| (*key, text.text.as_str()))
    }

    /// The text of that key.
    pub fn text(&self, key: TextKey) -> Option<&str> {
        self.texts.get(&key).map(|text| text.text.as_str())
    }

    /// Whether any text has this word, in lower case.
    pub fn contains_word(&self, word: &str) -> bool {
        self.postings.contains_key(word)
    }

    /// The `k` texts that fit best, the best first; ties go by key. A text must have a word of the query to be found, all
    /// its phrases, and none of the words it must not have. A word being typed stands for its best-fitting completion.
    ///
    /// # Complexity
    /// O(postings of the query's words + candidates * words of a text).
    pub fn search(&self, query: &Query, k: usize) -> Vec<Hit> {
        let mut wanted: BTreeMap<&str, u32> = BTreeMap::new();
        for word in &query.wanted {
            *wanted.entry(word).or_default() += 1;
        }
        let completions: Vec<&str> = match &query.prefix {
            Some(prefix) => self.completions(prefix),
            None => Vec::new(),
        };
        let mut candidates: BTreeSet<TextKey> = BTreeSet::new();
        for word in wanted.keys().chain(&completions) {
            candidates.extend(self.postings.get(*word).into_iter().flat_map(BTreeMap::keys));
        }
        let mut idf: HashMap<&str, f64> = HashMap::new();
        let mut hits: Vec<Hit> = candidates
            .into_iter()
            .filter(|key| !query.unwanted.iter().any(|word| self.has(word, *key)))
            .filter_map(|key| Some((key, self.texts.get(&key)?)))
            .filter(|(_, text)| query.phrases.iter().all(|phrase| has_phrase(&text.text, phrase)))
            .filter_map(|(key, text)| self.hit(key, text, &wanted, &completions, &mut idf))
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        hits.truncate(k);
        hits
    }

    fn has(&self, word: &str, key: TextKey) -> bool {
        self.postings.get(word).is_some_and(|posting| posting.contains_key(&key))
    }

    /// Words that begin with `prefix`, those that most texts have first.
    fn completions(&self, prefix: &str) -> Vec<&str> {
        let range = self.postings.range(prefix.to_owned()..).take_while(|(word, _)| word.starts_with(prefix));
        let mut found: Vec<(&str, usize)> = range.map(|(word, posting)| (word.as_str(), posting.len())).collect();
        // The word as it stands comes first, whatever its completions are.
        found.sort_by_key(|(word, texts)| (*word != prefix, std::cmp::Reverse(*texts), *word));
        found.into_iter().take(COMPLETIONS).map(|(word, _)| word).collect()
    }

    fn hit<'a>(
        &'a self,
        key: TextKey,
        text: &'a Text,
        wanted: &BTreeMap<&'a str, u32>,
        completions: &[&'a str],
        idf: &mut HashMap<&'a str, f64>,
    ) -> Option<Hit> {
        let mut idf = |word: &'a str| *idf.entry(word).or_insert_with(|| self.idf(word));
        let weight = |count: u32| 1.0 + f64::from(count).ln();
        let (mut squares, mut own) = (0.0, BTreeMap::new());
        for (word, count) in &text.counts {
            let value = weight(*count) * idf(word);
            squares += value * value;
            own.insert(word.as_str(), value);
        }
        let (mut dot, mut asked) = (0.0, 0.0);
        let mut matched = BTreeSet::new();
        for (word, count) in wanted {
            let value = weight(*count) * idf(word);
            asked += value * value;
            if let Some(theirs) = own.get(word) {
                dot += value * theirs;
                matched.insert((*word).to_owned());
            }
        }
        let mut completed = Vec::new();
        for word in completions.iter().filter(|word| own.contains_key(*word)) {
            // A word that is wanted already is wanted once more.
            let count = wanted.get(word).copied().unwrap_or(0);
            let old = if count > 0 { weight(count) * idf(word) } else { 0.0 };
            completed.push((*word, old, weight(count + 1) * idf(word)));
        }
        let cosine = |dot: f64, asked: f64| if dot > 0.0 { dot / (squares * asked).sqrt() } else { 0.0 };
        // A completion is one more word of the query; which one is up to the text.
        let best = completed
            .into_iter()
            .map(|(word, old, new)| (cosine(dot + (new - old) * own[word], asked + new * new - old * old), word))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)));
        let score = match best {
            Some((score, word)) => {
                matched.insert(word.to_owned());
                score
            }
            None => cosine(dot, asked),
        };
        (score > 0.0).then(|| Hit { key, score: score.min(1.0), words: matched.into_iter().collect() })
    }

    fn idf(&self, word: &str) -> f64 {
        let with = self.postings.get(word).map_or(0, BTreeMap::len);
        ((1.0 + self.len() as f64) / (1.0 + with as f64)).ln() + 1.0
    }
}

fn has_phrase(text: &str, phrase: &[String]) -> bool {
    let words: Vec<String> = words(text).collect();
    words.windows(phrase.len()).any(|part| part == phrase)
}
