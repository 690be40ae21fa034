//! A query to the caption memory: which images answer it, how well, and why.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use super::memory::{CaptionMemory, words_of};
use super::reading::{AskedWord, OtherWords, ReadAs, Reading};
use super::sources::MemorySource;
use crate::cmt::TreePath;
use crate::ids::ItemId;
use crate::library::event::Reward;
use crate::library::models::words::Words;
use crate::nearest::Cost;
use crate::sparse::SparseVec;
use crate::text::TextQuery;
use crate::text::hashing::feature;

/// A query prepared for the caption memory.
pub struct Question<'a> {
    recall: &'a CaptionMemory,
    index: &'a Words,
    query: &'a TextQuery,
    asked: Vec<AskedWord>,
    /// For each reading of each of these words, 1 and what rewards have taught of the word.
    learned: Vec<Vec<f64>>,
    /// The places of a reading: of the word, and among its readings.
    read: HashMap<String, Vec<(usize, usize)>>,
    /// How many of these words images have.
    n_there: u32,
    /// The words it may mean, as a query to the trees.
    x: SparseVec,
}

/// A term of an image's score: a word of the query, and what it adds.
#[derive(Clone, Debug, PartialEq)]
pub struct WordTerm {
    /// The word, as a text of the image has it.
    pub word: String,
    /// The word of the query.
    pub written: String,
    /// How that was taken for it.
    pub how: ReadAs,
    /// What it adds to the score.
    pub value: f64,
    /// Whether the name of its file gives it, and no class or caption as much.
    pub by_name: bool,
}

impl WordTerm {
    /// Whether the query has another word in its place, of which this is a form or a correction.
    pub fn is_read(&self) -> bool {
        matches!(self.how, ReadAs::Form | ReadAs::Corrected) && self.word != self.written
    }
}

/// An image found by the caption memory.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallHit {
    /// The image.
    pub image: ItemId,
    /// How well it answers; the same however many images are wanted.
    pub score: f64,
    /// Whether its texts have all words of the query that any image has, or readings of them.
    pub has_all: bool,
    /// Whether it stands among those that have all: it does, or was taught to, and was not called a
    /// bad answer.
    pub is_first: bool,
    /// The reward the user gave it as an answer to this very query.
    pub taught: Option<Reward>,
}

/// The score of an image, and what it is the sum of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weighed {
    /// The sum of `terms` and `lessons`.
    pub score: f64,
    /// What each word of the query adds, from the text and the reading that give it most; by word.
    pub terms: Vec<WordTerm>,
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

/// What of an image's score comes from one word of the query.
#[derive(Clone, Copy)]
struct Given {
    value: f64,
    /// The place of the reading among those of the word.
    reading: usize,
    by_name: bool,
}

/// Of the memories that the leaves of the trees hold, so many of the best are candidates; and of
/// images found by their looks or by guesses alone, so many are listed.
pub const CANDIDATES: usize = 250;
/// Features of a router that an explanation lists.
const TOLD: usize = 3;
/// The likeness of a lesson that brings an image among those that have all words of a query.
const TAUGHT: f64 = 0.5;

impl CaptionMemory {
    /// Prepares a query, with `index` for how words are read and for the names of files.
    pub fn ask<'a>(&'a self, index: &'a Words, query: &'a TextQuery) -> Question<'a> {
        self.ask_with(index, query, &())
    }

    /// As [`CaptionMemory::ask`], where images can be found by other words, too.
    pub fn ask_with<'a>(&'a self, index: &'a Words, query: &'a TextQuery, other: &dyn OtherWords) -> Question<'a> {
        let asked = self.read(query, index, other);
        let is_there = |one: &&AskedWord| one.readings.iter().any(|reading| index.knows(&reading.word));
        let n_there = asked.iter().filter(is_there).count() as u32;
        let weight = |reading: &Reading| 1.0 + self.forest.learned_weight(feature(&reading.word));
        let learned = asked.iter().map(|one| one.readings.iter().map(weight).collect()).collect();
        let mut read: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        for (of, one) in asked.iter().enumerate() {
            for (at, reading) in one.readings.iter().enumerate() {
                read.entry(reading.word.clone()).or_default().push((of, at));
            }
        }
        // Forms and other corrections are left to the lists of words.
        let is_routed = |at: usize, reading: &Reading| at == 0 || reading.how == ReadAs::Completed;
        let routed = asked.iter().flat_map(|one| one.readings.iter().enumerate().filter(|(at, reading)| is_routed(*at, reading)));
        let routed: Vec<&str> = routed.map(|(_, reading)| reading.word.as_str()).collect();
        let x = self.key(&routed.join(" "));
        Question { recall: self, index, query, asked, learned, read, n_there, x }
    }

    /// The rewards of an image, by query.
    fn said_of(&self, image: ItemId) -> impl Iterator<Item = (&str, Reward)> {
        let all = self.rewards.range((image, String::new())..).take_while(move |((of, _), _)| *of == image);
        all.map(|((_, query), reward)| (query.as_str(), *reward))
    }
}

/// Sums over words for many images, each by its number.
#[derive(Default)]
struct Sums {
    sums: Vec<f64>,
    words: Vec<u32>,
    found: Vec<ItemId>,
    /// What the word being added gives, and to whom.
    given: Vec<f64>,
    to: Vec<ItemId>,
}

impl Sums {
    fn offer(&mut self, image: ItemId, value: f64) {
        let at = image.0 as usize;
        if at >= self.sums.len() {
            let n = (at + 1).next_power_of_two();
            self.sums.resize(n, 0.0);
            self.words.resize(n, 0);
            self.given.resize(n, f64::NEG_INFINITY);
        }
        let given = &mut self.given[at];
        if *given == f64::NEG_INFINITY {
            self.to.push(image);
        }
        *given = given.max(value);
    }

    /// Adds what was offered since the last call.
    fn add(&mut self) {
        for image in self.to.drain(..) {
            let at = image.0 as usize;
            if self.words[at] == 0 {
                self.found.push(image);
            }
            self.words[at] += 1;
            self.sums[at] += std::mem::replace(&mut self.given[at], f64::NEG_INFINITY);
        }
    }
}

impl Question<'_> {
    /// All images that answer and that `fits` admits: first those that have all words of the query
    /// that any image has, unless they were called bad answers, and those that were taught as good
    /// answers to it or to one much like it; then the others. In both parts the best first; of
    /// equals those with the higher positive reward for this very query, then the lower
    /// identifier. Images with a reward for this very query are among them whatever their score.
    ///
    /// The images that have a word come from the lists of words; `leaves` leaves of each tree and
    /// lessons may add others. Each is scored by all its texts, so that more leaves may find more
    /// and change no score. A query without words finds nothing.
    ///
    /// O(images that have a word, for each reading, + n log n) for n images found; O((depth + cap)
    /// words) a leaf, O(words) a lesson.
    pub fn search(&self, leaves: usize, fits: impl Fn(ItemId) -> bool + Sync) -> (Vec<RecallHit>, Cost) {
        let CaptionMemory { forest, sources, rewards, .. } = self.recall;
        if self.asked.is_empty() {
            return (Vec::new(), Cost::default());
        }
        let very = words_of(self.query);
        let is_free = self.query.phrases.is_empty() && self.query.unwanted.is_empty();
        let admits = |image: ItemId| fits(image) && (is_free || self.index.allows(image, self.query));
        let taught = |image: ItemId| self.recall.said_of(image).find(|(query, _)| *query == very).map(|(_, reward)| reward);
        let sums = self.sums();
        let is_taught: BTreeSet<ItemId> = rewards.keys().map(|(image, _)| *image).collect();
        let mut found: Vec<RecallHit> = Vec::with_capacity(sums.found.len());
        for &image in &sums.found {
            if (is_taught.is_empty() || !is_taught.contains(&image)) && admits(image) {
                let (score, has_all) = (sums.sums[image.0 as usize], sums.words[image.0 as usize] == self.n_there);
                found.push(RecallHit { image, score, has_all, is_first: has_all, taught: None });
            }
        }
        let is_found = |image: ItemId| sums.words.get(image.0 as usize).is_some_and(|words| *words > 0);
        let answer = forest.query_budget(&self.x, CANDIDATES, leaves.max(1));
        let reached = answer.hits.iter().filter(|hit| hit.score > 0.0).filter_map(|hit| sources.get(hit.id)).map(|(image, _)| image);
        let mut others: Vec<ItemId> = reached.filter(|image| !is_found(*image)).chain(is_taught.iter().copied()).collect();
        others.sort_unstable();
        others.dedup();
        for image in others.into_iter().filter(|image| admits(*image)) {
            let taught = taught(image);
            let (given, lessons) = self.weigh_parts(image);
            let score = score_of(&given, &lessons);
            let has_all = self.n_there > 0 && given.iter().flatten().count() as u32 == self.n_there;
            let is_good = taught.is_some_and(|reward| reward.0 > 0) || lessons.iter().any(|(_, value)| *value >= TAUGHT);
            let is_bad = taught.is_some_and(|reward| reward.0 < 0);
            if score > 0.0 || taught.is_some() {
                found.push(RecallHit { image, score, has_all, is_first: (has_all || is_good) && !is_bad, taught });
            }
        }
        found.retain(|one| one.score > 0.0 || one.taught.is_some());
        let good = |one: &RecallHit| one.taught.map_or(0, |reward| reward.0.max(0));
        found.par_sort_unstable_by(|a, b| {
            b.is_first.cmp(&a.is_first).then(b.score.total_cmp(&a.score)).then(good(b).cmp(&good(a))).then(a.image.cmp(&b.image))
        });
        (found, answer.cost)
    }

    /// What the words add to the scores of all images that have one.
    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for (one, learned) in self.asked.iter().zip(&self.learned) {
            for (reading, learned) in one.readings.iter().zip(learned) {
                for (image, share) in self.recall.having(&reading.word) {
                    sums.offer(image, value(one, reading, share * learned));
                }
                for (image, share) in self.index.named(&reading.word) {
                    sums.offer(image, value(one, reading, share));
                }
            }
            sums.add();
        }
        sums
    }

    /// The query.
    pub fn query(&self) -> &TextQuery {
        self.query
    }

    /// The words that it asks for, and how each is read.
    pub fn asked(&self) -> &[AskedWord] {
        &self.asked
    }

    /// The query with each word that nothing has replaced by what it was probably meant as.
    pub fn corrected(&self) -> TextQuery {
        let mut query = self.query.clone();
        for one in self.asked.iter().filter(|one| one.is_corrected()) {
            let meant = &one.readings[0].word;
            query.words.iter_mut().chain(&mut query.prefix).filter(|word| **word == one.written).for_each(|word| word.clone_from(meant));
        }
        query
    }

    /// The score of an image by all its texts: each word counts as in the one of its class, its
    /// captions and its file's name where it counts most.
    pub fn weigh(&self, image: ItemId) -> Weighed {
        let (given, lessons) = self.weigh_parts(image);
        let score = score_of(&given, &lessons);
        let term = |(one, given): (&AskedWord, &Option<Given>)| {
            let given = given.as_ref().filter(|given| given.value > 0.0)?;
            let Reading { word, how, .. } = &one.readings[given.reading];
            Some(WordTerm { word: word.clone(), written: one.written.clone(), how: *how, value: given.value, by_name: given.by_name })
        };
        let mut terms: Vec<WordTerm> = self.asked.iter().zip(&given).filter_map(term).collect();
        terms.sort_by(|a, b| a.word.cmp(&b.word));
        let named: f64 = terms.iter().filter(|term| term.by_name).map(|term| term.value).sum();
        let mut weighed = Weighed { score, terms, lessons: Vec::new(), by: None, caption: None };
        let (mut most, mut most_of_captions) = (named, 0.0);
        for (source, id) in self.recall.sources.of_image(image) {
            let sum = match source {
                MemorySource::Lesson(_) => continue,
                MemorySource::Caption(n) => self.sum_of(id, self.index.of_caption(image, n)),
                MemorySource::Class => self.sum_of(id, self.index.of_class_and_name(image)),
            };
            if sum > most {
                most = sum;
                weighed.by = Some((id, source.clone()));
            }
            if let MemorySource::Caption(n) = source
                && sum > most_of_captions
            {
                most_of_captions = sum;
                weighed.caption = Some(n);
            }
        }
        if let Some((query, _)) = lessons.first().filter(|(_, value)| *value > most) {
            let source = MemorySource::Lesson((*query).to_owned());
            if let Some(id) = self.recall.sources.id(image, &source) {
                weighed.by = Some((id, source));
            }
        }
        weighed.lessons = lessons.into_iter().map(|(query, value)| (query.to_owned(), value)).collect();
        weighed
    }

    /// What one text adds by itself, which has these words.
    fn sum_of<'a>(&self, memory: ItemId, words: impl Iterator<Item = &'a str>) -> f64 {
        let Some(memory) = self.recall.forest.get(memory) else { return 0.0 };
        let mut most = vec![0.0f64; self.asked.len()];
        for word in words {
            for &(of, reading) in self.read.get(word).into_iter().flatten() {
                let (one, share) = (&self.asked[of], f64::from(memory.x.get(feature(word))) / memory.x.norm());
                most[of] = most[of].max(value(one, &one.readings[reading], share * self.learned[of][reading]));
            }
        }
        most.into_iter().sum()
    }

    /// What each word of the query adds, and lessons, the best good one first.
    fn weigh_parts(&self, image: ItemId) -> (Vec<Option<Given>>, Vec<(&str, f64)>) {
        let given = self.asked.iter().zip(&self.learned).map(|(one, learned)| self.given(image, one, learned)).collect();
        let mut good: Option<(&str, f64)> = None;
        let mut lessons = Vec::new();
        for (query, reward) in self.recall.said_of(image) {
            let value = self.likeness(query) * reward.value();
            if value < 0.0 {
                lessons.push((query, value));
            } else if value > good.map_or(0.0, |(_, value)| value) {
                good = Some((query, value));
            }
        }
        if let Some(good) = good {
            lessons.insert(0, good);
        }
        (given, lessons)
    }

    /// What a word of the query adds to the score of an image; `None` where no text of it has one
    /// of its readings.
    fn given(&self, image: ItemId, one: &AskedWord, learned: &[f64]) -> Option<Given> {
        let mut most: Option<Given> = None;
        for (at, (reading, learned)) in one.readings.iter().zip(learned).enumerate() {
            let (share, named) = (self.recall.share(image, &reading.word), self.index.name_share(image, &reading.word));
            for (share, factor, by_name) in [(share, *learned, false), (named, 1.0, true)] {
                let value = value(one, reading, share * factor);
                if share > 0.0 && most.is_none_or(|most| value > most.value) {
                    most = Some(Given { value, reading: at, by_name });
                }
            }
        }
        most
    }

    /// The similarity of a lesson's query to this one, 0..=1: the fourth power of their cosine, so
    /// that a query that shares only some words counts little. Of the powers from 1 to 6 this is
    /// the first with which no simulated user was ever worse off for teaching.
    fn likeness(&self, query: &str) -> f64 {
        let shares = self.recall.shares(query);
        // One word of the query answers one of the lesson's.
        let of = |one: &AskedWord| shares.iter().map(|(word, share)| one.weight * one.share_of(word) * share).fold(0.0, f64::max);
        self.asked.iter().map(of).sum::<f64>().min(1.0).powi(4)
    }

    /// Why an image answers as well as it does.
    pub fn explain(&self, image: ItemId) -> RecallExplanation {
        let weighed = self.weigh(image);
        let explained = weighed.by.as_ref().and_then(|(id, _)| self.recall.forest.explain(&self.x, *id, TOLD));
        let readings = self.asked.iter().flat_map(|one| &one.readings);
        let names = readings.map(|reading| (feature(&reading.word), reading.word.clone())).collect();
        RecallExplanation { weighed, paths: explained.map(|explained| explained.paths).unwrap_or_default(), names }
    }
}

/// What a word of the query adds through a reading that is so much of a text.
fn value(one: &AskedWord, reading: &Reading, share: f64) -> f64 {
    (one.weight * reading.share * share).max(0.0)
}

/// The sum of all terms, in the order of the query's words and the lessons.
fn score_of(given: &[Option<Given>], lessons: &[(&str, f64)]) -> f64 {
    let values = given.iter().flatten().map(|given| given.value).chain(lessons.iter().map(|(_, value)| *value));
    values.fold(0.0, |sum, value| sum + value)
}
