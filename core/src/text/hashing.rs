//! Texts as sparse vectors: words hashed to 2^20 features, weighted by inverse document frequency.

use std::collections::BTreeMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::tokens::words;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::hash::hash64;
use crate::sparse::SparseVec;

/// Bits of a feature's number.
pub const FEATURE_BITS: u32 = 20;

/// Which words count as the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stemming {
    /// Those written alike, in capitals or not.
    #[default]
    None,
    /// Those of one stem in English: Porter's algorithm in its second form, by Snowball.
    English,
}

/// The stemmed form of a word as [`words`] gives it: words of one form count as the same.
pub fn stem(word: &str, stemming: Stemming) -> String {
    match stemming {
        Stemming::None => word.to_owned(),
        Stemming::English => Stemmer::create(Algorithm::English).stem(word).into_owned(),
    }
}

/// The feature of a word: different words rarely share one.
pub fn feature(word: &str) -> u32 {
    (hash64(word.as_bytes()) >> (64 - FEATURE_BITS)) as u32
}

/// How often each feature occurs in a text, as a vector. O(letters).
pub fn counts(text: &str, stemming: Stemming) -> SparseVec {
    vector(words(text).map(|word| (feature(&stem(&word, stemming)), 1.0)))
}

fn vector(entries: impl Iterator<Item = (u32, f32)>) -> SparseVec {
    // Finite numbers of words have finite counts.
    SparseVec::from_pairs(entries).unwrap_or_default()
}

/// Inverse document frequencies: the rarer a feature is among the texts, the larger its weight.
/// Texts can be added and removed.
///
/// With N texts of which df have a feature, `idf = ln((1 + N) / (1 + df)) + 1`; a feature that
/// occurs c times in a text counts `1 + ln(c)` times its idf, as in [`super::TextIndex`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idf {
    texts: u32,
    having: BTreeMap<u32, u32>,
}

impl Idf {
    /// Adds a text, by its [`counts`]. O(features log vocabulary).
    pub fn add(&mut self, counts: &SparseVec) {
        self.texts += 1;
        for &(feature, _) in counts.entries() {
            *self.having.entry(feature).or_default() += 1;
        }
    }

    /// Removes a text that was added. O(features log vocabulary).
    pub fn remove(&mut self, counts: &SparseVec) {
        self.texts = self.texts.saturating_sub(1);
        for &(feature, _) in counts.entries() {
            if let Some(having) = self.having.get_mut(&feature) {
                *having -= 1;
                if *having == 0 {
                    self.having.remove(&feature);
                }
            }
        }
    }

    /// The number of texts.
    pub fn texts(&self) -> u32 {
        self.texts
    }

    /// The weight of a feature: its idf.
    pub fn of(&self, feature: u32) -> f64 {
        let having = self.having.get(&feature).copied().unwrap_or(0);
        ((1.0 + f64::from(self.texts)) / (1.0 + f64::from(having))).ln() + 1.0
    }

    /// The tf-idf vector of a vector of counts. O(features log vocabulary).
    pub fn weigh(&self, counts: &SparseVec) -> SparseVec {
        let weighed = |&(feature, count): &(u32, f32)| (feature, ((1.0 + f64::from(count.abs().max(1.0)).ln()) * self.of(feature)) as f32);
        vector(counts.entries().iter().map(weighed))
    }
}

impl Stored for Idf {
    fn write(&self, out: &mut Writer) {
        out.put(&self.texts);
        out.count(self.having.len());
        for (feature, having) in &self.having {
            out.put(feature);
            out.put(having);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let texts = from.get()?;
        let having: BTreeMap<u32, u32> = (0..from.count()?).map(|_| Ok((from.get()?, from.get()?))).collect::<Result<_>>()?;
        match having.iter().find(|(_, having)| **having == 0) {
            Some((feature, _)) => Err(from.wrong("features that texts have", format!("feature {feature} of no text"))),
            None => Ok(Self { texts, having }),
        }
    }
}
