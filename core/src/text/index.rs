//! An inverted index: texts and, for each word, the texts that have it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::forms::form;
use super::spelling::Spelling;
use super::tokens::words;
use crate::ids::ItemId;

/// One of the texts of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextKey {
    /// The item.
    pub item: ItemId,
    /// Which of its texts.
    pub part: u32,
}

/// An inverted index to which texts can be added and from which they can be removed;
/// [`TextIndex::search`] queries it.
///
/// It answers as an index would that was built anew from its present texts, whatever the order of
/// insertions and removals.
#[derive(Clone, Debug, Default)]
pub struct TextIndex {
    pub(super) texts: BTreeMap<TextKey, Text>,
    pub(super) vocabulary: BTreeMap<Arc<str>, WordId>,
    /// By [`WordId`]. The slots in `vacant` belong to words that no text has any more; new words
    /// take them.
    pub(super) words: Vec<Word>,
    vacant: Vec<WordId>,
    /// The words of the vocabulary by what their forms have in common.
    pub(super) forms: BTreeMap<String, BTreeSet<Arc<str>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WordId(u32);

#[derive(Clone, Debug)]
pub(super) struct Text {
    text: String,
    pub(super) sequence: Vec<WordId>,
    /// How often each word occurs. In the words' order, not that of their ids, so that sums do not
    /// depend on the past.
    pub(super) counts: Vec<(WordId, u32)>,
}

#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) word: Arc<str>,
    pub(super) spelling: Spelling,
    pub(super) texts: BTreeSet<TextKey>,
}

impl WordId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl TextIndex {
    /// Stores `text` at `key`, in place of what was there before. O(w log(index)) for the w words
    /// of both.
    pub fn insert(&mut self, key: TextKey, text: &str) {
        self.remove(key);
        let sequence: Vec<WordId> = words(text).map(|word| self.id_of(word)).collect();
        let mut sorted = sequence.clone();
        sorted.sort_unstable_by(|a, b| self.words[a.index()].word.cmp(&self.words[b.index()].word));
        let counts: Vec<(WordId, u32)> = sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
        for (id, _) in &counts {
            self.words[id.index()].texts.insert(key);
        }
        self.texts.insert(key, Text { text: text.to_owned(), sequence, counts });
    }

    /// Removes the text at `key`. Returns whether there was one. O(w log(index)) for its w words.
    pub fn remove(&mut self, key: TextKey) -> bool {
        let Some(text) = self.texts.remove(&key) else { return false };
        for (id, _) in text.counts {
            let word = &mut self.words[id.index()];
            word.texts.remove(&key);
            if word.texts.is_empty() {
                self.vocabulary.remove(&word.word);
                let form = form(&word.word);
                if let Some(words) = self.forms.get_mut(&form) {
                    words.remove(&word.word);
                    if words.is_empty() {
                        self.forms.remove(&form);
                    }
                }
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

    /// All texts as they were put in, in the order of their keys.
    pub fn texts(&self) -> impl Iterator<Item = (TextKey, &str)> {
        self.texts.iter().map(|(&key, text)| (key, text.text.as_str()))
    }

    /// The text of that key.
    pub fn text(&self, key: TextKey) -> Option<&str> {
        self.texts.get(&key).map(|text| text.text.as_str())
    }

    /// Which texts an item has.
    pub fn texts_of(&self, item: ItemId) -> Vec<u32> {
        self.texts.range(TextKey { item, part: 0 }..=TextKey { item, part: u32::MAX }).map(|(key, _)| key.part).collect()
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

    /// The number of texts that have a word, which is written as [`words`] gives it.
    pub fn texts_with(&self, word: &str) -> usize {
        self.vocabulary.get(word).map_or(0, |id| self.words[id.index()].texts.len())
    }

    /// The different words of the text at `key`.
    pub fn words_of(&self, key: TextKey) -> impl Iterator<Item = &str> {
        self.texts.get(&key).into_iter().flat_map(|text| &text.counts).map(|(id, _)| &*self.words[id.index()].word)
    }

    /// The id of a word, given to it now if it is new.
    fn id_of(&mut self, word: String) -> WordId {
        if let Some(&id) = self.vocabulary.get(word.as_str()) {
            return id;
        }
        let word: Arc<str> = word.into();
        let entry = Word { word: word.clone(), spelling: Spelling::of(&word), texts: BTreeSet::new() };
        self.forms.entry(form(&word)).or_default().insert(word.clone());
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
        self.vocabulary.insert(word, id);
        id
    }
}
