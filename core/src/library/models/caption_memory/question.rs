//! A query to the caption memory: which images answer it, how well, and why.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::memory::{CaptionMemory, MemorySource, words_of};
use crate::cmt::TreePath;
use crate::ids::ItemId;
use crate::library::event::Reward;
use crate::library::models::words::Words;
use crate::nearest::Cost;
use crate::sparse::SparseVec;
use crate::text::hashing::feature;
use crate::text::{TextQuery, Weigher, words};

/// A query prepared for the caption memory.
pub struct Question<'a> {
    recall: &'a CaptionMemory,
    index: &'a Words,
    query: &'a TextQuery,
    /// The words it asks for, with the completions of its unfinished one.
    asked: Vec<String>,
    /// The same by their features, each once.
    by_feature: Vec<(u32, String)>,
    x: SparseVec,
    names: Option<Weigher<'a>>,
}

/// The score of an image, in terms of a prepared query.
struct Tally<'a> {
    score: f64,
    /// What each word adds to the score, in the order of features, and whether the name of a file
    /// gives it.
    words: Vec<(f64, bool)>,
    lessons: Vec<(&'a str, f64)>,
    by: Option<(ItemId, MemorySource)>,
    caption: Option<u32>,
}

/// An image found by the caption memory.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallHit {
    /// The image.
    pub image: ItemId,
    /// How well it answers; the same however many images are wanted.
    pub score: f64,
    /// The reward the user gave it as an answer to this very query.
    pub taught: Option<Reward>,
}

/// The score of an image, and what it is the sum of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weighed {
    /// The sum of `words`, `name` and `lessons`.
    pub score: f64,
    /// What each word in its class or a caption adds, from the text that gives it most; by word.
    pub words: Vec<(String, f64)>,
    /// The same of words for which the name of its file gives more.
    pub name: Vec<(String, f64)>,
    /// What lessons add or take away, by their queries: of those it answers well the one that adds
    /// most, and all of those that it does not answer.
    pub lessons: Vec<(String, f64)>,
    /// The text that gives most, and the number of its memory; none where the name of its file
    /// gives most.
    pub by: Option<(ItemId, MemorySource)>,
    /// Its caption that gives most, if one gives anything.
    pub caption: Option<u32>,
}

/// Why an image answers a query as well as it does.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallExplanation {
    /// The score, and what it is the sum of.
    pub weighed: Weighed,
    /// The path in each tree to the memory that gives most, with each router's margin and its
    /// weightiest features.
    pub paths: Vec<TreePath>,
    /// Words of the query, by their features.
    pub names: BTreeMap<u32, String>,
}

/// The most completions of an unfinished word.
const COMPLETIONS: usize = 8;
/// The usual number of candidates, and the least: many more could not be scored while someone
/// types.
pub const CANDIDATES: usize = 250;
/// Features of a router that an explanation lists.
const TOLD: usize = 3;

impl CaptionMemory {
    /// Prepares a query, with `index` for the completions of words and for the names of files.
    pub fn ask<'a>(&'a self, index: &'a Words, query: &'a TextQuery) -> Question<'a> {
        let asked = self.asked(query, index);
        let x = self.key(&asked.join(" "));
        let names = if asked.is_empty() { None } else { index.names_weigher(&asked) };
        let by_feature: BTreeMap<u32, String> = asked.iter().map(|word| (feature(word), word.clone())).collect();
        Question { recall: self, index, query, asked, by_feature: by_feature.into_iter().collect(), x, names }
    }

    /// The words that a query asks for, with the completions of its unfinished one.
    fn asked(&self, query: &TextQuery, index: &Words) -> Vec<String> {
        let mut asked: Vec<String> = query.words.iter().chain(query.phrases.iter().flatten()).cloned().collect();
        if let Some(prefix) = &query.prefix {
            let taught: BTreeSet<String> =
                self.rewards.keys().flat_map(|(_, query)| words(query)).filter(|word| word.starts_with(prefix.as_str())).collect();
            let mut completions = index.complete(prefix, COMPLETIONS);
            completions.extend(taught.iter().filter(|word| !index.knows(word)).take(COMPLETIONS).cloned());
            // A prefix that is a word itself, or that no word begins with, is looked for as it is.
            match completions.is_empty() || index.knows(prefix) || taught.contains(prefix) {
                true => asked.push(prefix.clone()),
                false => asked.extend(completions),
            }
        }
        asked
    }

    /// The rewards of an image, by query.
    fn said_of(&self, image: ItemId) -> impl Iterator<Item = (&str, Reward)> {
        let all = self.rewards.range((image, String::new())..).take_while(move |((of, _), _)| *of == image);
        all.map(|((_, query), reward)| (query.as_str(), *reward))
    }
}

impl Question<'_> {
    /// The images that answer and that `fits` admits, best first; of equals those with the higher
    /// positive reward for this very query, then the lower identifier. Images with a reward for
    /// this very query are among them whatever their score.
    ///
    /// Candidates are the images with one of the best `candidates` memories in `leaves` leaves of
    /// each tree, with one of the as many texts that have one of the words, the rarest words first,
    /// and with a lesson like it. Each is scored by all its texts, so that more leaves may find
    /// more and change no score. A query without words finds nothing.
    ///
    /// O((depth + cap) words) a leaf, O(words) a lesson, and O(words of all texts) a candidate.
    pub fn search(&self, leaves: usize, candidates: usize, fits: impl Fn(ItemId) -> bool + Sync) -> (Vec<RecallHit>, Cost) {
        let CaptionMemory { forest, sources, rewards, .. } = self.recall;
        if self.x.is_empty() {
            return (Vec::new(), Cost::default());
        }
        let answer = forest.query_budget(&self.x, forest.len(), leaves.max(1));
        let of = |id: &ItemId| sources.get(id).map(|(image, _)| *image).filter(|image| fits(*image));
        let reached = answer.hits.iter().filter(|hit| hit.score > 0.0).filter_map(|hit| of(&hit.id)).take(candidates);
        let very = words_of(self.query);
        // Many lessons are of one query.
        let mut likeness: BTreeMap<&str, f64> = BTreeMap::new();
        let told = rewards.iter().filter(|((_, query), reward)| {
            let mut is_like = || *likeness.entry(query).or_insert_with(|| self.likeness(query)) > 0.0;
            *query == very || (reward.0 > 0 && is_like())
        });
        let told = told.map(|((image, _), _)| *image);
        let mut images: Vec<ItemId> = self.index.having(&self.asked, candidates, &fits);
        images.extend(reached.chain(told));
        images.sort_unstable();
        images.dedup();
        let taught = |image: ItemId| self.recall.said_of(image).find(|(query, _)| *query == very).map(|(_, reward)| reward);
        let weigh = |image: ItemId| RecallHit { image, score: self.tally(image).score, taught: taught(image) };
        let mut found: Vec<RecallHit> =
            images.into_par_iter().filter(|image| fits(*image) && self.index.allows(*image, self.query)).map(weigh).collect();
        found.retain(|one| one.score > 0.0 || one.taught.is_some());
        let good = |one: &RecallHit| one.taught.map_or(0, |reward| reward.0.max(0));
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(good(b).cmp(&good(a))).then(a.image.cmp(&b.image)));
        (found, answer.cost)
    }

    /// The query.
    pub fn query(&self) -> &TextQuery {
        self.query
    }

    /// The score of an image by all its texts: each word counts as in the one of its class, its
    /// captions and its file's name where it counts most.
    pub fn weigh(&self, image: ItemId) -> Weighed {
        let Tally { score, words, lessons, by, caption } = self.tally(image);
        let of = |by_name: bool| {
            let given = words.iter().zip(&self.by_feature).filter(|((value, name), _)| *value > 0.0 && *name == by_name);
            let mut given: Vec<(String, f64)> = given.map(|((value, _), (_, word))| (word.clone(), *value)).collect();
            given.sort_by(|a, b| a.0.cmp(&b.0));
            given
        };
        let lessons = lessons.into_iter().map(|(query, value)| (query.to_owned(), value)).collect();
        Weighed { score, words: of(false), name: of(true), lessons, by, caption }
    }

    fn tally(&self, image: ItemId) -> Tally<'_> {
        let words = vec![(0.0, false); self.by_feature.len()];
        let mut tally = Tally { score: 0.0, words, lessons: Vec::new(), by: None, caption: None };
        let at = |feature: u32| self.by_feature.binary_search_by_key(&feature, |(other, _)| *other).ok();
        let (mut most, mut most_of_captions) = (0.0, 0.0);
        for ((_, source), id) in self.recall.of_image(image).filter(|((_, source), _)| !matches!(source, MemorySource::Lesson(_))) {
            let terms = self.recall.forest.terms(&self.x, *id).unwrap_or_default();
            let sum: f64 = terms.iter().map(|(_, value)| value).sum();
            if sum > most {
                most = sum;
                tally.by = Some((*id, source.clone()));
            }
            if let MemorySource::Caption(n) = source
                && sum > most_of_captions
            {
                most_of_captions = sum;
                tally.caption = Some(*n);
            }
            for (feature, value) in terms {
                if let Some(old) = at(feature).map(|at| &mut tally.words[at]) {
                    old.0 = value.max(old.0);
                }
            }
        }
        if let Some(name) = self.names.as_ref().and_then(|names| names.weigh(image)) {
            if name.score > most {
                most = name.score;
                tally.by = None;
            }
            for (word, value) in name.terms {
                if let Some(old) = at(feature(&word)).map(|at| &mut tally.words[at]).filter(|old| value > old.0) {
                    *old = (value, true);
                }
            }
        }
        self.add_lessons(image, most, &mut tally);
        let values = tally.words.iter().map(|(value, _)| value).chain(tally.lessons.iter().map(|(_, value)| value));
        tally.score = values.fold(0.0, |sum, value| sum + value);
        tally
    }

    fn add_lessons<'a>(&'a self, image: ItemId, most: f64, tally: &mut Tally<'a>) {
        let mut good: Option<(&str, f64)> = None;
        for (query, reward) in self.recall.said_of(image) {
            let value = self.likeness(query) * reward.value();
            if value < 0.0 {
                tally.lessons.push((query, value));
            } else if value > good.map_or(0.0, |(_, value)| value) {
                good = Some((query, value));
            }
        }
        if let Some((query, value)) = good {
            tally.lessons.insert(0, (query, value));
            let source = MemorySource::Lesson(query.to_owned());
            if value > most
                && let Some(id) = self.recall.memories.get(&(image, source.clone()))
            {
                tally.by = Some((*id, source));
            }
        }
    }

    /// The similarity of a lesson's query to this one, 0..=1: the fourth power of their cosine, so
    /// that a query that shares only some words counts little. Of the powers from 1 to 6 this is
    /// the first with which no simulated user was ever worse off for teaching.
    fn likeness(&self, query: &str) -> f64 {
        self.x.cosine(&self.recall.key(query)).powi(4)
    }

    /// Why an image answers as well as it does.
    pub fn explain(&self, image: ItemId) -> RecallExplanation {
        let weighed = self.weigh(image);
        let explained = weighed.by.as_ref().and_then(|(id, _)| self.recall.forest.explain(&self.x, *id, TOLD));
        let names = self.asked.iter().map(|word| (feature(word), word.clone())).collect();
        RecallExplanation { weighed, paths: explained.map(|explained| explained.paths).unwrap_or_default(), names }
    }
}
