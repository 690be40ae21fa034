//! An inverted index: texts and, for each word, the texts that have it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::forms::{bare, form};
use super::item_texts::{ItemTexts, Text, WordId};
use super::keys::{Keys, TextKey};
use super::spelling::Spelling;
use super::tokens::words;
use crate::hash::hash64;
use crate::ids::ItemId;

/// An inverted index to which texts can be added and from which they can be removed;
/// [`TextIndex::search`] queries it.
///
/// It answers as an index would that was built anew from its present texts, whatever the order of
/// insertions and removals.
#[derive(Clone, Debug, Default)]
pub struct TextIndex {
    pub(super) texts: ItemTexts,
    pub(super) vocabulary: BTreeMap<Arc<str>, WordId>,
    /// By [`WordId`]. The slots in `vacant` belong to words that no text has any more; new words
    /// take them.
    pub(super) words: Vec<Word>,
    vacant: Vec<WordId>,
    /// The words of the vocabulary by the hash of what their forms have in common.
    forms: BTreeSet<(u64, WordId)>,
    /// How many texts other indexes hold that count here too.
    elsewhere: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) word: Arc<str>,
    pub(super) spelling: Spelling,
    pub(super) texts: Keys,
    /// How many texts elsewhere have it.
    elsewhere: usize,
}

impl Word {
    /// How many texts have it, here and elsewhere.
    pub(super) fn frequency(&self) -> usize {
        self.texts.len() + self.elsewhere
    }
}

/// About the bytes that an entry of a map takes beside its own.
const ENTRY: usize = 24;

/// The hash of what the forms of a word have in common.
fn form_hash(word: &str) -> u64 {
    hash64(form(word).as_bytes())
}

impl TextIndex {
    /// Stores `text` at `key`, in place of what was there before. O(w log(index)) for the w words
    /// of both.
    pub fn insert(&mut self, key: TextKey, text: &str) {
        self.remove(key);
        let sequence: Vec<WordId> = words(text).map(|word| self.id_of(word)).collect();
        let mut sorted = sequence.clone();
        sorted.sort_unstable_by(|a, b| self.words[a.index()].word.cmp(&self.words[b.index()].word));
        sorted.dedup();
        for id in &sorted {
            self.words[id.index()].texts.insert(key);
        }
        self.texts.insert(key, &sorted, &sequence);
    }

    /// Removes the text at `key`. Returns whether there was one. O(w log(index)) for its w words.
    pub fn remove(&mut self, key: TextKey) -> bool {
        let Some(counts) = self.texts.get(key).map(Text::counts) else { return false };
        self.texts.remove(key);
        for (id, _) in counts {
            let word = &mut self.words[id.index()];
            word.texts.remove(key);
            if word.frequency() == 0 {
                self.vocabulary.remove(&word.word);
                self.forms.remove(&(form_hash(&word.word), id));
                word.word = Arc::default();
                self.vacant.push(id);
            }
        }
        if self.vocabulary.is_empty() {
            self.words = Vec::new();
            self.vacant = Vec::new();
        }
        true
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Counts texts that other indexes hold, so that the texts here are weighed as in one index of
    /// all of them: how many there are elsewhere, and how many of these have each word, which is
    /// written as [`words`] gives it. O(words log(index)).
    pub fn count_elsewhere(&mut self, texts: usize, words: impl Iterator<Item = (String, usize)>) {
        self.elsewhere = texts;
        for (word, texts) in words.filter(|(_, texts)| *texts > 0) {
            let id = self.id_of(word);
            self.words[id.index()].elsewhere = texts;
        }
    }

    /// The number of texts, here and elsewhere.
    pub(super) fn all(&self) -> usize {
        self.texts.len() + self.elsewhere
    }

    /// The words of all texts, each in its order, by key.
    pub fn texts(&self) -> impl Iterator<Item = (TextKey, Vec<&str>)> {
        let word = |id: WordId| &*self.words[id.index()].word;
        self.texts.iter().map(move |(key, text)| (key, text.sequence().into_iter().map(word).collect()))
    }

    /// About the bytes that it takes in memory.
    pub fn bytes(&self) -> usize {
        let of_word = |word: &Word| 3 * ENTRY + size_of::<Word>() + 2 * size_of::<Arc<str>>() + word.word.len() + word.texts.bytes();
        self.texts.bytes() + self.words.iter().map(of_word).sum::<usize>()
    }

    /// The words of texts that have this form.
    pub(super) fn of_form(&self, form_of: &str) -> impl Iterator<Item = &Arc<str>> {
        let (hash, form_of) = (form_hash(form_of), form(form_of));
        let ids = self.forms.range((hash, WordId(0))..=(hash, WordId(u32::MAX)));
        ids.map(|(_, id)| &self.words[id.index()].word).filter(move |word| form(word) == form_of)
    }

    /// Which texts an item has.
    pub fn texts_of(&self, item: ItemId) -> Vec<u32> {
        self.texts.of_item(item).map(|(key, _)| key.part).collect()
    }

    /// The number of different words in all texts.
    pub fn n_words(&self) -> usize {
        self.vocabulary.len()
    }

    /// Whether a text has `word`, in capitals or not; `false` for what is not exactly one word.
    pub fn contains_word(&self, word: &str) -> bool {
        let mut parts = words(word);
        parts.next().is_some_and(|word| self.vocabulary.contains_key(word.as_str())) && parts.next().is_none()
    }

    /// All words with the number of texts here that have them, in the words' order.
    pub fn frequencies(&self) -> impl Iterator<Item = (&str, usize)> {
        self.vocabulary.iter().map(|(word, id)| (&**word, self.words[id.index()].texts.len()))
    }

    /// The number of texts that have a word, which is written as [`words`] gives it.
    pub fn texts_with(&self, word: &str) -> usize {
        self.vocabulary.get(word).map_or(0, |id| self.words[id.index()].texts.len())
    }

    /// The texts that have a word, which is written as [`words`] gives it, in ascending order.
    pub fn keys_with(&self, word: &str) -> impl Iterator<Item = TextKey> {
        self.vocabulary.get(word).into_iter().flat_map(|id| self.words[id.index()].texts.iter())
    }

    /// The different words of the text at `key`.
    pub fn words_of(&self, key: TextKey) -> impl Iterator<Item = &str> {
        self.texts.get(key).into_iter().flat_map(Text::counts).map(|(id, _)| &*self.words[id.index()].word)
    }

    /// The id of a word, given to it now if it is new.
    fn id_of(&mut self, word: String) -> WordId {
        if let Some(&id) = self.vocabulary.get(word.as_str()) {
            return id;
        }
        let word: Arc<str> = word.into();
        let entry = Word { word: word.clone(), spelling: Spelling::of(&bare(&word)), texts: Keys::default(), elsewhere: 0 };
        let id = match self.vacant.pop() {
            Some(id) => {
                self.words[id.index()] = entry;
                id
            }
            None => {
                self.words.push(entry);
                WordId(self.words.len() as u32 - 1)
            }
        };
        self.forms.insert((form_hash(&word), id));
        self.vocabulary.insert(word, id);
        id
    }
}
