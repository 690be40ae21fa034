//! The words of a library: captions, classes and names of files, in an exact index.

use serde::Serialize;

use crate::error::Result;
use crate::ids::ItemId;
use crate::library::apply::{Lesson, Model};
use crate::library::event::ContentHash;
use crate::library::models::recall::Source;
use crate::library::state::{Image, State};
use crate::text::{Query, TextIndex, TextKey};

/// An index of words that follows a library.
#[derive(Default)]
pub struct Words {
    index: TextIndex,
    /// The names of files alone, which no memory holds.
    names: TextIndex,
}

/// An image that was found, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The image.
    pub image: ItemId,
    /// How well the best of its texts fits, 0..=1: the cosine of tf-idf vectors.
    pub score: f64,
    /// That text, when it is a caption.
    pub caption: Option<String>,
    /// The words of the query, or their completions, that it has.
    pub words: Vec<String>,
}

/// All texts. Part 0 is the class and the name, the others are captions.
#[derive(Serialize)]
struct Kept {
    texts: Vec<(ContentHash, u32, String)>,
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
    /// Captions remembered.
    pub fn memories(&self) -> usize {
        // Each image has one text of its class and name.
        self.index.len() - self.names.len()
    }

    /// Whether any text has this word.
    pub fn knows(&self, word: &str) -> bool {
        self.index.contains_word(word)
    }

    /// The at most `n` most frequent words that begin with `prefix`.
    pub fn complete(&self, prefix: &str, n: usize) -> Vec<String> {
        self.index.complete(prefix, n)
    }

    /// Whether an image has, in the text of a memory or for a lesson in any of its texts, every phrase that a query wants and none that it
    /// does not want.
    pub fn fits(&self, image: ItemId, source: &Source, query: &Query) -> bool {
        let fits = |part: u32| {
            let key = TextKey { item: image, part };
            query.phrases.iter().all(|phrase| self.index.has_phrase(key, phrase))
                && !query.unwanted.iter().any(|phrase| self.index.has_phrase(key, phrase))
        };
        match source {
            Source::Class => fits(0),
            Source::Caption(n) => fits(n + 1),
            Source::Lesson(_) if query.phrases.is_empty() && query.unwanted.is_empty() => true,
            Source::Lesson(_) => {
                let parts = self.index.texts_of(image);
                parts.into_iter().any(fits)
            }
        }
    }

    /// At most `n` texts of memories that have one of some words, those with the rarest words first. Cost as [`TextIndex::having`].
    pub fn having(&self, words: &[String], n: usize, fits: impl Fn(ItemId) -> bool) -> impl Iterator<Item = (ItemId, Source)> {
        let source = |part: u32| part.checked_sub(1).map_or(Source::Class, Source::Caption);
        self.index.having(words, n, fits).into_iter().map(move |key| (key.item, source(key.part)))
    }

    /// The `k` images whose file names fit best. Cost as [`TextIndex::search`].
    pub fn search_names(&self, query: &Query, k: usize) -> Vec<Found> {
        let found = |hit: crate::text::Hit| Found { image: hit.key.item, score: f64::from(hit.score), caption: None, words: hit.words };
        self.names.search(query, k).into_iter().map(found).collect()
    }

    fn put(&mut self, image: &Image, part: usize, text: &str) {
        let key = TextKey { item: image.id, part: part as u32 };
        self.index.insert(key, text);
        if part == 0 {
            self.names.insert(key, &name_of(image));
        }
    }

    /// The `k` images whose texts fit best; each is there once, with its best text. Cost as [`TextIndex::search`].
    pub fn search(&self, query: &Query, k: usize) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let mut at = std::collections::HashMap::new();
        for hit in self.index.search(query, usize::MAX) {
            if let Some(&seen) = at.get(&hit.key.item) {
                let best: &mut Found = &mut found[seen];
                // A name that fits best still has a caption worth showing.
                if best.caption.is_none() && hit.key.part > 0 {
                    best.caption = self.index.text(hit.key).map(str::to_owned);
                }
                continue;
            }
            at.insert(hit.key.item, found.len());
            let caption = if hit.key.part > 0 { self.index.text(hit.key).map(str::to_owned) } else { None };
            found.push(Found { image: hit.key.item, score: f64::from(hit.score), caption, words: hit.words });
        }
        found.truncate(k);
        found
    }
}

impl Model for Words {
    fn name(&self) -> String {
        "words-1".into()
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn learn(&mut self, lesson: &Lesson<'_>) -> Result<()> {
        for &id in lesson.images {
            let of = |state: &State| state.image(id).map(|image| texts(image)).unwrap_or_default();
            let (before, after) = (of(lesson.before), of(lesson.after));
            if before == after {
                continue;
            }
            for part in 0..before.len().max(after.len()) {
                let key = TextKey { item: id, part: part as u32 };
                match after.get(part) {
                    Some(text) if before.get(part) == Some(text) => {}
                    Some(text) => {
                        if let Some(image) = lesson.after.image(id) {
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

    /// An index is a function of the texts of the moment.
    fn checkpoint(&self, _: &State) -> Vec<u8> {
        Vec::new()
    }

    fn everything(&self, state: &State) -> Vec<u8> {
        let kept = |(key, text): (TextKey, &str)| Some((state.image(key.item)?.content?.hash, key.part, text.to_owned()));
        serde_json::to_vec(&Kept { texts: self.index.texts().filter_map(kept).collect() }).unwrap_or_default()
    }

    fn restore(&mut self, _bytes: &[u8], lesson: &Lesson<'_>) -> Result<bool> {
        // Files may have moved since, without an event.
        for image in lesson.after.images() {
            for (part, text) in texts(image).into_iter().enumerate() {
                self.put(image, part, &text);
            }
        }
        Ok(true)
    }
}
