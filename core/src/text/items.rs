//! The items that fit a query best, by all their texts: each word counts from whichever text of an
//! item gives it most.

use std::cmp::Ordering;

use super::index::TextIndex;
use super::item_texts::{Text, WordId};
use super::keys::TextKey;
use super::query::TextQuery;
use super::search::Asked;
use crate::ids::ItemId;

/// How well an item fits a query, by all its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemHit {
    /// The item.
    pub item: ItemId,
    /// The sum of its terms, so never below the score of a text of it, and above 1 where texts
    /// complete each other.
    pub score: f64,
    /// What each wanted word that it has adds, by word; of words that a prefix begins only the one
    /// that adds most.
    pub terms: Vec<(String, f64)>,
    /// Its texts that have a wanted word, the best first.
    pub texts: Vec<TextKey>,
}

/// A query prepared for scoring items.
pub struct Weigher<'a> {
    index: &'a TextIndex,
    asked: Asked,
}

/// The part of a query that a word of a text matches: a word of the query, or, as `None`, a
/// completion of its prefix.
type Wanted = Option<WordId>;

impl Weigher<'_> {
    /// How well an item fits; `None` if none of its texts has a wanted word. O(w log(index)) for
    /// the w words of its texts.
    pub fn weigh(&self, item: ItemId) -> Option<ItemHit> {
        let mut best: Vec<(Wanted, WordId, f64)> = Vec::new();
        let mut texts: Vec<(f32, TextKey)> = Vec::new();
        for (key, text) in self.index.texts.of_item(item) {
            let terms = self.index.terms(&self.asked, text);
            if terms.is_empty() {
                continue;
            }
            // In single precision, as for texts: scores that should be equal are equal.
            texts.push((terms.iter().map(|(.., value)| value).sum::<f64>() as f32, key));
            for (wanted, word, value) in terms {
                match best.iter_mut().find(|(other, ..)| *other == wanted) {
                    Some(old) if value > old.2 => *old = (wanted, word, value),
                    Some(_) => {}
                    None => best.push((wanted, word, value)),
                }
            }
        }
        if texts.is_empty() {
            return None;
        }
        texts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let word = |(_, word, value): (Wanted, WordId, f64)| (self.index.words[word.index()].word.to_string(), value);
        let mut terms: Vec<(String, f64)> = best.into_iter().map(word).collect();
        terms.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let sum = terms.iter().map(|(_, value)| value).sum::<f64>() as f32;
        Some(ItemHit { item, score: sum.max(texts[0].0).into(), terms, texts: texts.into_iter().map(|(_, key)| key).collect() })
    }
}

impl TextIndex {
    /// Prepares a query for scoring items; `None` if it has a phrase with a word that no text has.
    pub fn weigher(&self, query: &TextQuery) -> Option<Weigher<'_>> {
        Some(Weigher { index: self, asked: self.ask(query)? })
    }

    /// Whether an item has, in any of its texts, every phrase that a query wants, and in none of
    /// them one that it does not want. O(w log(index)) for the w words of its texts.
    pub fn allows(&self, item: ItemId, query: &TextQuery) -> bool {
        let has = |phrase: &Vec<String>| self.texts_of(item).into_iter().any(|part| self.has_phrase(TextKey { item, part }, phrase));
        query.phrases.iter().all(has) && !query.unwanted.iter().any(has)
    }

    /// The items that `query` allows and that have a text with one of its words, best first and of
    /// equals the lower one. Cost as [`TextIndex::search`], with all texts of those items.
    pub fn search_items(&self, query: &TextQuery) -> Vec<ItemHit> {
        let Some(weigher) = self.weigher(query) else { return Vec::new() };
        let mut items: Vec<ItemId> = self.candidates(&weigher.asked).into_iter().map(|key| key.item).collect();
        // Texts are in the order of their items.
        items.dedup();
        let mut found: Vec<ItemHit> =
            items.into_iter().filter(|item| self.allows(*item, query)).filter_map(|item| weigher.weigh(item)).collect();
        found.sort_by(|a, b| -> Ordering { b.score.total_cmp(&a.score).then(a.item.cmp(&b.item)) });
        found
    }

    /// The items that have a word, in order, each with what [`TextIndex::share`] says of it.
    /// O(texts that have it, with their words).
    pub fn shares(&self, word: &str) -> Vec<(ItemId, f64)> {
        let Some(id) = self.vocabulary.get(word) else { return Vec::new() };
        let mut shares: Vec<(ItemId, f64)> = Vec::new();
        for key in self.words[id.index()].texts.iter() {
            let share = self.texts.get(key).map_or(0.0, |text| self.share_of(*id, text));
            match shares.last_mut().filter(|(item, _)| *item == key.item) {
                Some((_, most)) => *most = share.max(*most),
                None => shares.push((key.item, share)),
            }
        }
        shares
    }

    /// How much of a text of an item a word is, 0..=1: its component of the text's vector of length
    /// one, in the text where that is largest. O(w log(index)) for the w words of its texts.
    pub fn share(&self, item: ItemId, word: &str) -> f64 {
        let Some(id) = self.vocabulary.get(word) else { return 0.0 };
        self.texts.of_item(item).map(|(_, text)| self.share_of(*id, text)).fold(0.0, f64::max)
    }

    fn share_of(&self, id: WordId, text: Text<'_>) -> f64 {
        let counts = text.counts();
        let Some(count) = counts.iter().find(|(other, _)| *other == id) else { return 0.0 };
        let square: f64 = counts.iter().map(|count| self.weight(*count).powi(2)).sum();
        self.weight(*count) / square.sqrt()
    }

    /// What each word of a text adds to its score, and which part of the query it matches.
    fn terms(&self, asked: &Asked, text: Text<'_>) -> Vec<(Wanted, WordId, f64)> {
        let counts = text.counts();
        if !counts.iter().any(|(id, _)| asked.weights.contains_key(id) || asked.completions.contains_key(id)) {
            return Vec::new();
        }
        let (length, completion) = self.reading(asked, text);
        let norm = length * counts.iter().map(|count| self.weight(*count).powi(2)).sum::<f64>().sqrt();
        let mut terms = Vec::new();
        for (id, count) in counts {
            let share = self.weight((id, count)) / norm;
            terms.extend(asked.weights.get(&id).map(|wanted| (Some(id), id, wanted * share)));
            terms.extend(completion.filter(|(chosen, _)| *chosen == id).map(|(_, gain)| (None, id, gain * share)));
        }
        terms
    }
}
