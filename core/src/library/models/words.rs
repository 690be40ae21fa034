//! The words of a library: captions, classes and names of files, in an exact index.

use serde::Serialize;

use crate::error::Result;
use crate::ids::ItemId;
use crate::library::apply::{Lesson, Model};
use crate::library::event::ContentHash;
use crate::library::state::{Image, State};
use crate::text::{Query, TextIndex, TextKey};

/// An index of words that follows a library.
#[derive(Default)]
pub struct Words {
    index: TextIndex,
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
    let place = image.place().map(|place| place.path.with_extension("").to_string_lossy().into_owned());
    let name = [image.label().map(str::to_owned), place].into_iter().flatten().collect::<Vec<_>>().join(" ");
    std::iter::once(name).chain(image.captions.iter().map(|caption| caption.text.clone())).collect()
}

impl Words {
    /// Captions remembered.
    pub fn memories(&self) -> usize {
        self.index.texts().filter(|(key, _)| key.part > 0).count()
    }

    /// Whether any text has this word.
    pub fn knows(&self, word: &str) -> bool {
        self.index.contains_word(word)
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
        self.index = TextIndex::default();
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
                    Some(text) => self.index.insert(key, text),
                    None => {
                        self.index.remove(key);
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
                self.index.insert(TextKey { item: image.id, part: part as u32 }, &text);
            }
        }
        Ok(true)
    }
}
