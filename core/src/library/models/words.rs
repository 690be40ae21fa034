//! The words of a library: captions, classes and names of files, in an exact index.

use crate::bytes::stored;
use crate::ckm::CkmOptions;
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::event::ContentHash;
use crate::library::models::model::{Model, ModelUpdate};
use crate::library::state::{Image, State};
use crate::text::{ItemHit, NearWord, TextIndex, TextKey, TextQuery};

/// An index of words that follows a library.
#[derive(Default)]
pub struct Words {
    index: TextIndex,
    /// The names of files alone, which no memory holds.
    names: TextIndex,
}

/// An image that was found, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct WordMatch {
    /// The image.
    pub image: ItemId,
    /// How well its texts fit: the sum of `terms`. That of one text alone is the cosine of tf-idf
    /// vectors, 0..=1.
    pub score: f64,
    /// The caption that fits best, by its place among those of the image.
    pub caption: Option<u32>,
    /// What each word of the query, or of its completions, adds to the score, by word.
    pub terms: Vec<(String, f64)>,
}

/// The texts of an image: its class and name, then its captions.
fn texts(image: &Image) -> Vec<String> {
    if !image.is_live() {
        return Vec::new();
    }
    let name = format!("{} {}", image.label().unwrap_or_default(), name_of(image));
    std::iter::once(name).chain(image.captions.iter().map(|caption| caption.text.clone())).collect()
}

/// The path of an image from its root, without its ending.
fn name_of(image: &Image) -> String {
    image.place().map(|place| place.path.with_extension("").to_string_lossy().into_owned()).unwrap_or_default()
}

impl Words {
    /// The number of captions.
    pub fn memories(&self) -> usize {
        // Each image has one text of its class and name.
        self.index.len() - self.names.len()
    }

    /// About the bytes that they take in memory.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.names.bytes()
    }

    /// Whether any text has this word.
    pub fn knows(&self, word: &str) -> bool {
        self.index.contains_word(word)
    }

    /// The at most `n` most frequent words that begin with `prefix`.
    pub fn complete(&self, prefix: &str, n: usize) -> Vec<String> {
        self.index.complete(prefix, n)
    }

    /// Whether an image has, in any of its texts, every phrase that a query wants, and in none of
    /// them one that it does not want.
    pub fn allows(&self, image: ItemId, query: &TextQuery) -> bool {
        self.index.allows(image, query)
    }

    /// The images whose files have a word in their names, in order, with how much of the name it
    /// is.
    pub(super) fn named(&self, word: &str) -> Vec<(ItemId, f64)> {
        self.names.shares(word)
    }

    /// How much of the name of an image's file a word is, 0..=1.
    pub(super) fn name_share(&self, image: ItemId, word: &str) -> f64 {
        self.names.share(image, word)
    }

    /// The different words of a caption of an image, by its place in the image's list.
    pub(super) fn of_caption(&self, image: ItemId, caption: u32) -> impl Iterator<Item = &str> {
        self.index.words_of(TextKey { item: image, part: caption + 1 })
    }

    /// The different words of the class of an image and of the name of its file.
    pub(super) fn of_class_and_name(&self, image: ItemId) -> impl Iterator<Item = &str> {
        self.index.words_of(TextKey { item: image, part: 0 })
    }

    /// Whether only names of files have a word.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.texts_with(word) >= self.index.texts_with(word)
    }

    /// The number of texts that have a word.
    pub fn texts_with(&self, word: &str) -> usize {
        self.index.texts_with(word)
    }

    /// Whether captions have a word, and no class or name of a file.
    pub(super) fn is_of_captions_alone(&self, word: &str) -> bool {
        self.index.keys_with(word).all(|key| key.part > 0)
    }

    /// Whether names of files and folders have a word, and no caption.
    pub(super) fn is_of_names_alone(&self, word: &str) -> bool {
        self.index.texts_with(word) == self.names.texts_with(word)
    }

    /// The words of the library that are forms of one: see [`TextIndex::forms`].
    pub fn forms(&self, word: &str) -> Vec<String> {
        self.index.forms(word)
    }

    /// The words of the library that one may have been meant as: see [`TextIndex::near`].
    pub fn near(&self, word: &str, least: usize) -> Vec<NearWord> {
        self.index.near(word, least)
    }

    /// How well an image fits a query by all its texts.
    pub fn weigh(&self, query: &TextQuery, image: ItemId) -> Option<WordMatch> {
        Some(self.found(self.index.weigher(query)?.weigh(image)?))
    }

    fn found(&self, hit: ItemHit) -> WordMatch {
        // Where the name fits best, a caption that fits too is still shown.
        let caption = hit.texts.iter().find(|key| key.part > 0).map(|key| key.part - 1);
        WordMatch { image: hit.item, score: hit.score, caption, terms: hit.terms }
    }

    fn put(&mut self, image: &Image, part: usize, text: &str) {
        let key = TextKey { item: image.id, part: part as u32 };
        self.index.insert(key, text);
        if part == 0 {
            self.names.insert(key, &name_of(image));
        }
    }

    /// The images whose texts fit, best first: each word counts from whichever text of an image
    /// gives it most. Images with a text that has an unwanted word are left out. Cost as
    /// [`TextIndex::search_items`].
    pub fn search(&self, query: &TextQuery) -> Vec<WordMatch> {
        self.index.search_items(query).into_iter().map(|hit| self.found(hit)).collect()
    }
}

impl Model for Words {
    fn new(_: &CkmOptions) -> Result<Self> {
        Ok(Self::default())
    }

    fn name(&self) -> String {
        "words-1".into()
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn learn(&mut self, update: &ModelUpdate<'_>) -> Result<()> {
        for &id in update.images {
            let of = |state: &State| state.image(id).map(|image| texts(image)).unwrap_or_default();
            let (before, after) = (of(update.before), of(update.after));
            if before == after {
                continue;
            }
            for part in 0..before.len().max(after.len()) {
                let key = TextKey { item: id, part: part as u32 };
                match after.get(part) {
                    Some(text) if before.get(part) == Some(text) => {}
                    Some(text) => {
                        if let Some(image) = update.after.image(id) {
                            self.put(image, part, text);
                        }
                    }
                    None => {
                        self.index.remove(key);
                        self.names.remove(key);
                    }
                }
            }
        }
        Ok(())
    }

    /// Empty: an index is a function of the present texts.
    fn checkpoint(&self, _: &State) -> Vec<u8> {
        Vec::new()
    }

    /// The words of all texts. Part 0 is the class and the name, the others are captions.
    fn everything(&self, state: &State) -> Vec<u8> {
        let text = |(key, words): (TextKey, Vec<&str>)| Some((state.image(key.item)?.content?.hash, (key.part, words.join(" "))));
        stored(&self.index.texts().filter_map(text).collect::<Vec<(ContentHash, (u32, String))>>())
    }

    fn restore(&mut self, _bytes: &[u8], update: &ModelUpdate<'_>) -> Result<bool> {
        // Files may have been renamed since; that is no event.
        update.progress.begin("Reading words", update.after.records().len() as u64);
        for image in update.after.images() {
            update.progress.step()?;
            for (part, text) in texts(image).into_iter().enumerate() {
                self.put(image, part, &text);
            }
        }
        Ok(true)
    }
}
