//! Find images of a library by words.

use std::path::PathBuf;

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::text::Query;

use super::Session;

/// An image that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The image.
    pub image: ItemId,
    /// Its file.
    pub path: Option<PathBuf>,
    /// The caption that fits best, or else its first.
    pub caption: Option<String>,
    /// How well it fits, 0..=1.
    pub score: f64,
    /// The words that it has.
    pub words: Vec<String>,
}

impl Session {
    /// The `k` images whose captions, classes and names fit best.
    pub fn search(&self, library: &Library, query: &Query, k: usize) -> Vec<Hit> {
        let state = library.state();
        let found = library.words().search(query, k).into_iter();
        found
            .map(|found| {
                let image = state.image(found.image);
                let first = || image.and_then(|image| image.captions.first()).map(|caption| caption.text.clone());
                Hit {
                    image: found.image,
                    path: image.and_then(|image| state.path_of(image)),
                    caption: found.caption.or_else(first),
                    score: found.score,
                    words: found.words,
                }
            })
            .collect()
    }

    /// The words of a query that no text of the library has.
    pub fn unknown_words(&self, library: &Library, query: &Query) -> Vec<String> {
        query.words.iter().chain(query.phrases.iter().flatten()).filter(|word| !library.words().knows(word)).cloned().collect()
    }
}
