//! The caption memory of a library: a memory tree over captions and classes that learns from what
//! users say of its answers.
//!
//! Each caption and each class of an image is a memory under its words. What a user says of an
//! image as an answer to a query is a lesson: the scorer learns it, so that words which led to good
//! answers count more in every query, and the query itself becomes one more memory of the image, so
//! that the same question, and others like it, find the image by it and count it higher. Lessons
//! are taken back exactly: the scorer learns the remaining ones anew. What routers have learned of
//! a memory stays until the trees are grown anew, which is when there are twice or a quarter as
//! many texts as then, and when something is forgotten.
//!
//! Beside the trees it keeps, for each word as it is written, the images that have it, with how
//! much of a text the word is: features are hashes of words, and two words may share one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sources::{Having, MemorySource, Sources};
use crate::bytes::{Reader, Writer};
use crate::ckm::CkmOptions;
use crate::cmt::{Cmt, CmtOptions, Memory};
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::event::{ContentHash, Reward};
use crate::library::models::model::{Model, ModelUpdate};
use crate::library::state::{Image, State};
use crate::nearest::Growth;
use crate::sparse::SparseVec;
use crate::text::hashing::{Idf, Stemming, counts, feature};
use crate::text::{TextQuery, words};

/// A memory tree that follows a library.
pub struct CaptionMemory {
    pub(super) forest: Cmt<()>,
    /// The source of each memory, by its number in the tree.
    pub(super) sources: Sources,
    next: u32,
    /// The inverse document frequencies of words among the present texts, and among those of the
    /// time when the trees were grown.
    idf: Idf,
    grown_at: Idf,
    pub(super) rewards: BTreeMap<(ItemId, String), Reward>,
    /// For each word of classes and captions the images that have it, and how much of a text the
    /// word is: its component of the text's vector of length one, in the text where that is
    /// largest. A function of the texts and of `grown_at`.
    having: HashMap<String, Having>,
}

/// About the bytes of a memory in a tree, in the map from its number, and of the allocator.
const MAPS: usize = 48;

/// When the trees are grown anew, by the number of texts.
const GROWTH: Growth = Growth { first: 64 };
/// How the tree of a library is grown.
pub fn options() -> CmtOptions {
    CmtOptions { reroutes: 2, ..CmtOptions::default() }
}

/// The texts of an image that are remembered.
fn texts(image: &Image) -> Vec<(MemorySource, &str)> {
    if !image.is_live() {
        return Vec::new();
    }
    let class = image.label().map(|class| (MemorySource::Class, class));
    let captions = image.captions.iter().zip(0..).map(|(caption, n)| (MemorySource::Caption(n), caption.text.as_str()));
    class.into_iter().chain(captions).collect()
}

fn rewards(image: Option<&Image>) -> BTreeMap<String, Reward> {
    image.filter(|image| image.is_live()).map(|image| image.rewards.clone()).unwrap_or_default()
}

impl CaptionMemory {
    fn empty() -> Result<Self> {
        Ok(Self {
            forest: Cmt::new(&options())?,
            sources: Sources::default(),
            next: 0,
            idf: Idf::default(),
            grown_at: Idf::default(),
            rewards: BTreeMap::new(),
            having: HashMap::new(),
        })
    }

    /// The number of memories.
    pub fn memories(&self) -> usize {
        self.forest.len()
    }

    /// The tree itself.
    pub fn forest(&self) -> &Cmt<()> {
        &self.forest
    }

    /// The rewards the user gave, by image and query.
    pub fn rewards(&self) -> &BTreeMap<(ItemId, String), Reward> {
        &self.rewards
    }

    pub(super) fn key(&self, text: &str) -> SparseVec {
        self.grown_at.weigh(&counts(text, Stemming::None))
    }

    /// The weight of a word in the trees.
    pub(super) fn weight(&self, word: &str) -> f64 {
        self.grown_at.of(feature(word))
    }

    /// The words of a text, each with its component of the text's vector of length one. O(w log w)
    /// for w words.
    pub(super) fn shares(&self, text: &str) -> Vec<(String, f64)> {
        let mut all: Vec<String> = words(text).collect();
        all.sort_unstable();
        let weight = |same: &[String]| (same[0].clone(), (1.0 + (same.len() as f64).ln()) * self.weight(&same[0]));
        let weights: Vec<(String, f64)> = all.chunk_by(|a, b| a == b).map(weight).collect();
        let length = weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        weights.into_iter().map(|(word, weight)| (word, weight / length)).collect()
    }

    /// The images that have a word in a class or a caption, in order, with how much of a text it
    /// is.
    pub(super) fn having(&self, word: &str) -> impl Iterator<Item = (ItemId, f64)> {
        self.having.get(word).into_iter().flat_map(Having::iter).map(|(image, share)| (image, f64::from(share)))
    }

    /// How much of a text of an image a word is; 0 where its class and captions lack it.
    pub(super) fn share(&self, image: ItemId, word: &str) -> f64 {
        self.having.get(word).and_then(|images| images.get(image)).map_or(0.0, f64::from)
    }

    /// Enters an image with these texts for their words.
    fn enter<'a>(&mut self, image: ItemId, texts: impl IntoIterator<Item = &'a str>) {
        for text in texts {
            for (word, share) in self.shares(text) {
                self.having.entry(word).or_default().put(image, share as f32, f32::max);
            }
        }
    }

    /// Takes an image with these texts out for their words.
    fn take_out<'a>(&mut self, image: ItemId, texts: impl IntoIterator<Item = &'a str>) {
        for word in texts.into_iter().flat_map(words) {
            if let Some(images) = self.having.get_mut(&word) {
                let _ = images.remove(image);
                if images.is_empty() {
                    self.having.remove(&word);
                }
            }
        }
    }

    /// About the bytes that it takes in memory, without the routers of its trees.
    pub fn bytes(&self) -> usize {
        let of_memory = |x: &SparseVec| size_of::<Memory<()>>() + MAPS + size_of_val(x.entries());
        let of_word = |(word, having): (&String, &Having)| size_of::<(String, Having)>() + word.len() + having.bytes();
        let memories: usize = self.forest.iter().map(|memory| of_memory(&memory.x)).sum();
        memories + self.sources.bytes() + self.having.iter().map(of_word).sum::<usize>()
    }

    fn remember(&mut self, image: ItemId, source: MemorySource, text: &str) {
        let x = self.key(text);
        let id = ItemId(self.next);
        // The number is new, for none is used twice between two growths of the trees.
        if !x.is_empty() && self.forest.insert(id, x, ()).is_ok() {
            self.next += 1;
            self.sources.insert(id, image, source);
        }
    }

    fn drop_memory(&mut self, image: ItemId, source: &MemorySource) {
        if let Some(id) = self.sources.remove(image, source) {
            self.forest.remove(id);
        }
    }

    /// Grows the trees anew from the present texts, with words weighed by their present
    /// frequencies.
    fn grow(&mut self, state: &State) {
        self.grown_at = self.idf.clone();
        // The options were checked when this was made.
        if let Ok(forest) = Cmt::new(&options()) {
            self.forest = forest;
        }
        self.sources = Sources::default();
        self.next = 0;
        self.having.clear();
        for image in state.images() {
            for (source, text) in texts(image) {
                self.remember(image.id, source, text);
                self.enter(image.id, [text]);
            }
        }
        let lessons: Vec<(ItemId, String)> = self.rewards.iter().filter(|(_, reward)| reward.0 > 0).map(|(key, _)| key.clone()).collect();
        for (image, query) in lessons {
            self.remember(image, MemorySource::Lesson(query.clone()), &query);
        }
    }

    /// Teaches the scorer all lessons anew, each by the text of its image that answers best.
    fn learn_rewards(&mut self) {
        self.forest.forget_rewards();
        for ((image, query), reward) in &self.rewards {
            let x = self.key(query);
            let of_texts = self.sources.of_image(*image).map(|(_, id)| id);
            let score = |id: &ItemId| self.forest.get(*id).map_or(0.0, |memory| memory.x.cosine(&x));
            if let Some(best) = of_texts.max_by(|a, b| score(a).total_cmp(&score(b)).then(b.cmp(a))) {
                // A reward within -1 and 1 is finite.
                let _ = self.forest.teach(&x, best, reward.value().max(0.0) as f32);
            }
        }
    }
}

/// The words by which a query's lessons are kept: the same while the query is typed and when it is
/// finished.
pub fn words_of(query: &TextQuery) -> String {
    query.words.iter().chain(&query.prefix).chain(query.phrases.iter().flatten()).cloned().collect::<Vec<_>>().join(" ")
}

impl Model for CaptionMemory {
    fn new(_: &CkmOptions) -> Result<Self> {
        Self::empty()
    }

    fn name(&self) -> String {
        "recall-4".into()
    }

    fn clear(&mut self) {
        if let Ok(empty) = Self::empty() {
            *self = empty;
        }
    }

    fn learn(&mut self, update: &ModelUpdate<'_>) -> Result<()> {
        let mut is_taught_anew = false;
        for &id in update.images {
            let (before, after) = (update.before.image(id), update.after.image(id));
            let of = |image: Option<&std::sync::Arc<Image>>| -> BTreeMap<MemorySource, String> {
                image.map(|image| texts(image).into_iter().map(|(source, text)| (source, text.to_owned())).collect()).unwrap_or_default()
            };
            let (old, new) = (of(before), of(after));
            for (source, text) in old.iter().filter(|(source, text)| new.get(*source) != Some(text)) {
                self.idf.remove(&counts(text, Stemming::None));
                self.drop_memory(id, source);
            }
            for (source, text) in new.iter().filter(|(source, text)| old.get(*source) != Some(text)) {
                self.idf.add(&counts(text, Stemming::None));
                self.remember(id, source.clone(), text);
            }
            if old != new {
                self.take_out(id, old.values().map(String::as_str));
                self.enter(id, new.values().map(String::as_str));
            }
            let (said, says) = (rewards(before.map(|image| &**image)), rewards(after.map(|image| &**image)));
            is_taught_anew |= said != says || (old != new && !says.is_empty());
            let queries: BTreeSet<&String> = said.keys().chain(says.keys()).collect();
            for query in queries.into_iter().filter(|query| said.get(*query) != says.get(*query)) {
                self.drop_memory(id, &MemorySource::Lesson(query.clone()));
                match says.get(query) {
                    Some(reward) => {
                        self.rewards.insert((id, query.clone()), *reward);
                        if reward.0 > 0 {
                            self.remember(id, MemorySource::Lesson(query.clone()), query);
                        }
                    }
                    None => {
                        self.rewards.remove(&(id, query.clone()));
                    }
                }
            }
        }
        if GROWTH.is_due(self.idf.texts() as usize, self.grown_at.texts() as usize) {
            self.grow(update.after);
            is_taught_anew |= !self.rewards.is_empty();
        }
        if is_taught_anew {
            self.learn_rewards();
        }
        Ok(())
    }

    fn everything(&self, state: &State) -> Vec<u8> {
        let mut out = Writer::default();
        out.put(&self.forest);
        let hash = |image: &ItemId| state.image(*image).and_then(|image| image.content).map_or(ContentHash(0), |content| content.hash);
        for (id, image, source) in self.sources.iter() {
            out.put(&id.0);
            out.put(&hash(&image));
            out.put(&source);
        }
        for ((image, query), reward) in &self.rewards {
            out.put(&hash(image));
            out.put(query);
            out.put(&reward.0);
        }
        out.finish()
    }

    fn checkpoint(&self, _: &State) -> Vec<u8> {
        let mut out = Writer::default();
        out.put(&self.forest);
        out.put(&self.idf);
        out.put(&self.grown_at);
        out.put(&self.next);
        out.count(self.sources.len());
        for (id, image, source) in self.sources.iter() {
            out.put(&id.0);
            out.put(&image.0);
            out.put(&source);
        }
        out.finish()
    }

    fn restore(&mut self, bytes: &[u8], update: &ModelUpdate<'_>) -> Result<bool> {
        let Ok(mut kept) = read(bytes) else { return Ok(false) };
        update.progress.begin("Reading captions", update.after.records().len() as u64);
        for image in update.after.images() {
            update.progress.step()?;
            for (source, text) in texts(image) {
                // A text without words is no memory.
                if kept.sources.id(image.id, &source).is_none() && words(text).next().is_some() {
                    return Ok(false);
                }
                kept.enter(image.id, [text]);
            }
            kept.rewards.extend(rewards(Some(image)).into_iter().map(|(query, reward)| ((image.id, query), reward)));
        }
        *self = kept;
        Ok(true)
    }
}

fn read(bytes: &[u8]) -> Result<CaptionMemory> {
    let mut from = Reader::new("caption memory", bytes);
    let mut kept =
        CaptionMemory { forest: from.get()?, idf: from.get()?, grown_at: from.get()?, next: from.get()?, ..CaptionMemory::empty()? };
    for _ in 0..from.count()? {
        let (id, image) = (ItemId(from.get()?), ItemId(from.get()?));
        let source: MemorySource = from.get()?;
        kept.sources.insert(id, image, source);
    }
    from.end()?;
    Ok(kept)
}
