//! Find images of a library by words, and say how well they answer.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::Reward;
use tessera_core::library::models::recall::{Reasons, Remembered, Source, text_of, words_of};
use tessera_core::library::models::words::Found;
use tessera_core::text::{Query, words};

use super::Session;
pub use crate::command::Engine;

/// An image that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The image.
    pub image: ItemId,
    /// Its file.
    pub path: Option<PathBuf>,
    /// The caption that fits best, or else its first.
    pub caption: Option<String>,
    /// How well it answers: 1 is as like as can be, and lessons can raise it above that.
    pub score: f64,
    /// The words that it has.
    pub words: Vec<String>,
    /// What the user said of it as an answer to this query, -1..=1.
    pub taught: Option<f64>,
}

/// Leaves of the memory that are looked at before more are needed.
const LEAVES: usize = 64;

impl Session {
    /// The `k` images whose captions, classes and names answer best.
    pub fn search(&self, library: &Library, query: &Query, k: usize, engine: Engine) -> Vec<Hit> {
        match engine {
            Engine::Index => library.words().search(query, k).into_iter().map(|found| hit_of(library, query, found)).collect(),
            Engine::Memory => {
                let mut hits: Vec<Hit> =
                    self.remember(library, query, k).into_iter().map(|found| remembered_hit(library, query, &found)).collect();
                let known: BTreeSet<ItemId> = hits.iter().map(|hit| hit.image).collect();
                let names = library.words().search_names(query, k).into_iter().filter(|found| !known.contains(&found.image));
                hits.extend(names.map(|found| hit_of(library, query, found)));
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.image.cmp(&b.image)));
                hits.truncate(k);
                hits
            }
        }
    }

    fn remember(&self, library: &Library, query: &Query, k: usize) -> Vec<Remembered> {
        let index = library.words();
        let complete = |prefix: &str, n: usize| index.complete(prefix, n);
        let fits = |image: ItemId, source: &Source| index.fits(image, source, query);
        library.recall().search(query, k, LEAVES, complete, fits).0
    }

    /// Why the memory found an image for a query; `None` when it did not find it among the best `k`.
    pub fn reasons(&self, library: &Library, query: &Query, image: ItemId, k: usize) -> Option<Reasons> {
        let found = self.remember(library, query, k).into_iter().find(|found| found.image == image)?;
        library.recall().explain(library.state(), query, &found, |prefix, n| library.words().complete(prefix, n))
    }

    /// The words of a query that no text of the library has.
    pub fn unknown_words(&self, library: &Library, query: &Query) -> Vec<String> {
        query.words.iter().chain(query.phrases.iter().flatten()).filter(|word| !library.words().knows(word)).cloned().collect()
    }
}

fn hit_of(library: &Library, query: &Query, found: Found) -> Hit {
    let state = library.state();
    let image = state.image(found.image);
    let first = || image.and_then(|image| image.captions.first()).map(|caption| caption.text.clone());
    Hit {
        image: found.image,
        path: image.and_then(|image| state.path_of(image)),
        caption: found.caption.or_else(first),
        score: found.score,
        words: found.words,
        taught: taught(image.and_then(|image| image.rewards.get(&words_of(query)).copied())),
    }
}

fn remembered_hit(library: &Library, query: &Query, found: &Remembered) -> Hit {
    let state = library.state();
    let image = state.image(found.image);
    let text = image.and_then(|image| text_of(image, &found.source)).unwrap_or_default();
    let asked: BTreeSet<&String> = query.words.iter().chain(query.phrases.iter().flatten()).collect();
    let is_asked = |word: &String| asked.contains(word) || query.prefix.as_ref().is_some_and(|prefix| word.starts_with(prefix.as_str()));
    let shared: BTreeSet<String> = words(text).filter(is_asked).collect();
    let caption = matches!(found.source, Source::Caption(_)).then(|| text.to_owned());
    Hit {
        image: found.image,
        path: image.and_then(|image| state.path_of(image)),
        caption: caption.or_else(|| image.and_then(|image| image.captions.first()).map(|caption| caption.text.clone())),
        score: found.score,
        words: shared.into_iter().collect(),
        taught: taught(found.taught),
    }
}

fn taught(reward: Option<Reward>) -> Option<f64> {
    reward.map(|reward| f64::from(reward.0) / 1000.0)
}
