//! Finding images by words with a memory tree for each shard: few texts are looked at, and some
//! images may be missed. How many is measured on texts of the shard itself. What trees name is
//! then weighed with the counts of the whole collection, so that a score is that of the exact
//! index.
//!
//! The questions of that test are words. What trees find of words in a row, or where some words are
//! not wanted, was never measured: for such a query the index of the shard is asked.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::recall::{MeasuredRecall, RecallCurve, RecallWay, promised, read_recall, way_for};
use super::words::{CountedWords, WordFound, WordsFound, needed_of, text_index, texts_of, wanted};
use super::{ShardJob, job_bytes, read_state};
use crate::bytes::{Reader, Stored, Writer};
use crate::cmt::{Cmt, CmtOptions};
use crate::collection::{ImageHash, Shard};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::random::{drawn, stream};
use crate::sparse::SparseVec;
use crate::text::hashing::{Idf, Stemming, counts};
use crate::text::{TextIndex, TextQuery, words};

/// Texts that a way to search is chosen by, and as many by which its recall is told.
const ASKED: usize = 150;
/// Images for which recall is measured.
const WANTED: [usize; 2] = [10, 100];
/// Words that a text is asked for by, at most.
const WORDS: usize = 3;
/// Memories that are looked at beside twice the images that are wanted of a shard.
const MORE: usize = 32;

/// Makes the memory tree of a shard's texts, which any number of questions can use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextMemories;

/// A memory tree of the texts of a shard.
#[derive(Debug)]
pub struct TextMemory {
    forest: Cmt<()>,
    /// The image of each memory.
    images: Vec<u32>,
    /// How often words are in the shard.
    idf: Idf,
    /// For few images first.
    curves: Vec<RecallCurve>,
}

/// Asks the memory trees of shards for the images whose texts fit a query best.
#[derive(Clone, Debug, PartialEq)]
pub struct RememberedWords {
    /// What is looked for, as [`TextQuery::parse`] reads it.
    pub query: String,
    /// How many images are wanted.
    pub k: usize,
    /// The share of the exact answer that is to be found: above 0 and below 1.
    pub recall: f64,
}

/// An image that a memory tree named.
#[derive(Clone, Debug, PartialEq)]
pub struct RememberedImage {
    image: ImageHash,
    place: String,
    /// As an index has them: class and name, and then captions.
    texts: Vec<String>,
}

/// What memory trees named.
#[derive(Clone, Debug, PartialEq)]
pub struct RememberedImages {
    images: Vec<RememberedImage>,
    /// What share of the exact answer these are likely to have.
    pub recall: MeasuredRecall,
}

/// How many images of a shard are named where so many are wanted: more than these, as the words of
/// the whole collection weigh otherwise than those of a shard.
fn named(k: usize) -> usize {
    k.saturating_mul(2)
}

impl TextMemory {
    fn key<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> SparseVec {
        let text: Vec<&str> = words.into_iter().collect();
        self.idf.weigh(&counts(&text.join(" "), Stemming::None))
    }

    /// The images of the best memories in so many leaves, the best first.
    fn images(&self, x: &SparseVec, k: usize, leaves: usize) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let hits = self.forest.query_budget(x, named(k).saturating_mul(2).saturating_add(MORE), leaves).hits;
        let image = hits.into_iter().filter_map(|hit| self.images.get(hit.id.0 as usize).copied());
        image.map(|image| image as usize).filter(|image| seen.insert(*image)).collect()
    }

    /// What one question finds in so many leaves, and what it should.
    fn asked(&self, (question, index): (&Question, &TextIndex), k: usize, leaves: usize) -> (u64, u64) {
        let truth = k.min(question.scores.len());
        let Some((least, weigher)) = truth.checked_sub(1).map(|last| question.scores[last]).zip(index.weigher(&question.query)) else {
            return (0, 0);
        };
        let images = self.images(&question.x, k, leaves);
        // Where several images are equally good, any of them is right.
        let is_right = |image: &&usize| weigher.weigh(ItemId(**image as u32)).is_some_and(|hit| hit.score >= least);
        (images.iter().take(named(k)).filter(is_right).count().min(truth) as u64, truth as u64)
    }

    /// What ways to search find, for answers of k images: chosen by the first half of the
    /// questions, told of the second.
    fn curve(&self, questions: &[Question], index: &TextIndex, k: usize, progress: &Progress) -> Result<RecallCurve> {
        let all = self.forest.shapes().iter().map(|shape| shape.leaves).sum::<usize>().max(1);
        let mut ways: Vec<RecallWay> = Vec::new();
        let mut leaves = 1;
        loop {
            progress.step()?;
            let found: Vec<(u64, u64)> = questions.par_iter().map(|question| self.asked((question, index), k, leaves)).collect();
            let half = |first: usize| found.iter().skip(first).step_by(2).filter(|(_, wanted)| *wanted > 0);
            let shares: Vec<f64> = half(0).map(|(found, wanted)| *found as f64 / *wanted as f64).collect();
            let m = shares.len().max(1) as f64;
            let mean = shares.iter().sum::<f64>() / m;
            let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / m;
            let promised = promised(mean, (variance / m).sqrt(), shares.len());
            let told = half(1).fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            ways.push(RecallWay { way: (leaves as u64, 0), promised, told });
            if leaves >= all {
                return Ok(RecallCurve { k: k as u64, ways });
            }
            leaves = (2 * leaves).min(all);
        }
    }
}

/// A question that is made of some words of a text.
struct Question {
    query: TextQuery,
    x: SparseVec,
    /// The scores of the exact answer by the words of the shard, the best first.
    scores: Vec<f64>,
}

impl ShardJob for TextMemories {
    type State = TextMemory;
    const NAME: &'static str = "text memory";

    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<TextMemory> {
        let texts = texts_of(shards[0])?;
        let all: Vec<(usize, &String)> = texts.iter().enumerate().flat_map(|(i, own)| own.iter().map(move |text| (i, text))).collect();
        progress.begin("Remembering texts", all.len() as u64);
        let counted: Vec<SparseVec> = all.par_iter().map(|(_, text)| counts(text, Stemming::None)).collect();
        let mut idf = Idf::default();
        counted.iter().for_each(|counts| idf.add(counts));
        let mut memory = TextMemory {
            forest: Cmt::new(&CmtOptions { reroutes: 2, ..CmtOptions::default() })?,
            images: Vec::new(),
            idf,
            curves: Vec::new(),
        };
        for ((image, _), counts) in all.iter().zip(&counted) {
            progress.step()?;
            let x = memory.idf.weigh(counts);
            if !x.is_empty() {
                memory.forest.insert(ItemId(memory.images.len() as u32), x, ())?;
                memory.images.push(*image as u32);
            }
        }
        let index = text_index(texts.iter().enumerate().map(|(i, own)| (i, &own[..])));
        let most = WANTED[WANTED.len() - 1];
        let question = |at: &usize| {
            let own: BTreeSet<String> = words(all[*at].1).collect();
            let own: Vec<String> = own.into_iter().collect();
            let chosen = drawn(own.len(), WORDS, &mut stream(2, *at as u64));
            let query = TextQuery { words: chosen.into_iter().map(|i| own[i].clone()).collect(), ..TextQuery::default() };
            let scores = index.search_items(&query).into_iter().take(most).map(|hit| hit.score).collect();
            Question { x: memory.key(wanted(&query)), query, scores }
        };
        let sample = drawn(all.len(), 2 * ASKED, &mut stream(1, 0));
        let questions: Vec<Question> = sample.par_iter().map(question).collect();
        progress.begin("Asking for some texts", 0);
        let curves = WANTED.into_iter().map(|k| memory.curve(&questions, &index, k, progress)).collect::<Result<_>>()?;
        memory.curves = curves;
        Ok(memory)
    }

    fn join(&self, _: TextMemory, _: TextMemory) -> Result<TextMemory> {
        Err(Error::value("states", "one: a memory tree is of one shard", "more"))
    }
}

impl RememberedWords {
    /// Whether the query is one of those that recall was measured on.
    fn is_words_alone(&self) -> bool {
        let query = TextQuery::parse(&self.query);
        query.phrases.is_empty() && query.unwanted.is_empty()
    }

    /// The images that a shard's memory tree names; those of an index of its texts where the tree
    /// does not reach the recall, and where the query is not of words alone.
    fn by(&self, shard: &Shard, memory: Option<&TextMemory>) -> Result<RememberedImages> {
        let (texts, query) = (texts_of(shard)?, TextQuery::parse(&self.query));
        let n = texts.len();
        let memory = memory.filter(|_| self.is_words_alone());
        let way = memory.and_then(|memory| Some((memory, way_for(&memory.curves, self.k, self.recall)?)));
        let (mut images, recall): (Vec<usize>, MeasuredRecall) = match way {
            Some((memory, way)) => {
                let named = memory.images(&memory.key(wanted(&query)), self.k, way.way.0 as usize);
                let named: Vec<usize> = named.into_iter().filter(|i| *i < n).collect();
                let index = text_index(named.iter().map(|i| (*i, &texts[*i][..])));
                let fits = |i: &usize| index.allows(ItemId(*i as u32), &query);
                (named.into_iter().filter(fits).collect(), MeasuredRecall::of(n, way.told))
            }
            None => {
                // Of all texts, as images are chosen by the counts of the shard.
                let hits = text_index(texts.iter().enumerate().map(|(i, own)| (i, &own[..]))).search_items(&query);
                (hits.into_iter().map(|hit| hit.item.0 as usize).collect(), MeasuredRecall::exact(n))
            }
        };
        images.truncate(named(self.k));
        let places = if images.is_empty() { Vec::new() } else { shard.places()? };
        let image = |i: usize| RememberedImage { image: shard.hashes()[i], place: places[i].clone(), texts: texts[i].clone() };
        let mut images: Vec<RememberedImage> = images.into_iter().map(image).collect();
        images.sort_by_key(|image| image.image);
        Ok(RememberedImages { images, recall })
    }

    fn texts_named(state: &RememberedImages) -> TextIndex {
        text_index(state.images.iter().enumerate().map(|(i, image)| (i, &image.texts[..])))
    }

    /// The words of the texts that were found, which matter to their scores.
    pub fn needed(&self, state: &RememberedImages) -> Vec<String> {
        needed_of(&Self::texts_named(state), &TextQuery::parse(&self.query))
    }

    /// The best of the images that were named, with the scores of the exact index. `counted` are
    /// the counts of the whole collection for the words that [`super::WordCounts::of`] asks for.
    pub fn answers(&self, state: &RememberedImages, counted: &CountedWords) -> Vec<WordFound> {
        let known = |i: usize| (state.images[i].image, &*state.images[i].place, &state.images[i].texts[..]);
        WordsFound::of(&self.query, self.k, counted).answers(Self::texts_named(state), known)
    }
}

impl ShardJob for RememberedWords {
    type State = RememberedImages;
    const NAME: &'static str = "remembered words";

    fn index(&self) -> Option<Vec<u8>> {
        self.is_words_alone().then(|| job_bytes(&TextMemories))
    }

    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<RememberedImages> {
        let memory = if self.is_words_alone() { Some(TextMemories.state(shards, progress)?) } else { None };
        self.by(shards[0], memory.as_ref())
    }

    fn state_by(&self, shards: &[&Shard], index: &[u8], _: &Progress) -> Result<RememberedImages> {
        self.by(shards[0], Some(&read_state(&TextMemories, index)?))
    }

    fn join(&self, mut one: RememberedImages, other: RememberedImages) -> Result<RememberedImages> {
        one.images.extend(other.images);
        one.images.sort_by_key(|image| image.image);
        one.images.dedup_by_key(|image| image.image);
        Ok(RememberedImages { images: one.images, recall: one.recall.plus(other.recall) })
    }
}

impl Stored for TextMemories {
    fn write(&self, out: &mut Writer) {
        out.put(&());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.get::<()>().map(|()| Self)
    }
}

impl Stored for TextMemory {
    fn write(&self, out: &mut Writer) {
        out.put(&self.forest);
        out.put(&self.images);
        out.put(&self.idf);
        out.put(&self.curves);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { forest: from.get()?, images: from.get()?, idf: from.get()?, curves: from.get()? })
    }
}

impl Stored for RememberedWords {
    fn write(&self, out: &mut Writer) {
        out.put(&self.query);
        out.count(self.k);
        out.put(&self.recall);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { query: from.get()?, k: from.get::<u64>()? as usize, recall: read_recall(from)? })
    }
}

impl Stored for RememberedImage {
    fn write(&self, out: &mut Writer) {
        out.put(&self.image);
        out.put(&self.place);
        out.put(&self.texts);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { image: from.get()?, place: from.get()?, texts: from.get()? })
    }
}

impl Stored for RememberedImages {
    fn write(&self, out: &mut Writer) {
        out.put(&self.images);
        out.put(&self.recall);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { images: from.get()?, recall: from.get()? })
    }
}
