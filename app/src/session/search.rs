//! Find images of a library by words, by what they look like, or both, and say how well they answer.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::Reward;
use tessera_core::library::models::recall::{Remembered, Source, text_of, words_of};
use tessera_core::library::models::words::Found;
use tessera_core::text::{Query, words};

use super::Session;
use super::like::Like;
pub use crate::command::Engine;

/// What is searched for, and how.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// By these words; none find nothing by themselves.
    pub query: Query,
    /// Looking like this.
    pub like: Option<Arc<Like>>,
    /// Among these images alone.
    pub only: Option<Arc<HashSet<ItemId>>>,
    /// At most so many.
    pub k: usize,
    /// Who finds by words.
    pub engine: Engine,
    /// Leaves of the memory that are looked at.
    pub leaves: usize,
}

/// An image that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The image.
    pub image: ItemId,
    /// Its file.
    pub path: Option<PathBuf>,
    /// The caption that fits best, or else its first.
    pub caption: Option<String>,
    /// How well it answers: 1 is as like as can be, and lessons can raise it above that. Of words and a look each counts half.
    pub score: f64,
    /// The words that it has.
    pub words: Vec<String>,
    /// What the user said of it as an answer to this query, -1..=1.
    pub taught: Option<f64>,
    /// How much it looks like what was shown, if something was and it is known what the image looks like.
    pub look: Option<f64>,
    /// The memory that answered, where one did.
    pub remembered: Option<Remembered>,
}

/// Images found by words from among which the most alike are chosen, for each one wanted.
const POOL: usize = 10;

impl Wanted {
    /// Whether an image may be found at all: what was shown is not found itself.
    fn fits(&self, image: ItemId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&image))
            && self.like.as_ref().is_none_or(|like| like.item != Some(image) || like.crop.is_some())
    }
}

impl Session {
    /// The images that answer best, best first.
    pub fn search(&self, library: &Library, wanted: &Wanted) -> Vec<Hit> {
        let Some(like) = &wanted.like else { return self.by_words(library, wanted, wanted.k) };
        if wanted.query.is_empty() {
            let found = library.look_alikes(&like.appearance, wanted.k, |image| wanted.fits(image));
            return found.into_iter().map(|(image, look)| look_alike(library, image, look)).collect();
        }
        let mut hits = self.by_words(library, wanted, wanted.k.saturating_mul(POOL));
        for hit in &mut hits {
            let image = library.state().image(hit.image);
            hit.look = image.and_then(|image| library.appearance(image)).map(|found| found.likeness(&like.appearance));
            hit.score = (hit.score + hit.look.unwrap_or(0.0)) / 2.0;
        }
        best(hits, wanted.k)
    }

    fn by_words(&self, library: &Library, wanted: &Wanted, k: usize) -> Vec<Hit> {
        let query = &wanted.query;
        let of = |found: Vec<Found>| -> Vec<Hit> {
            let fitting = found.into_iter().filter(|found| wanted.fits(found.image)).take(k);
            fitting.map(|found| hit_of(library, query, found)).collect()
        };
        // What a filter leaves out makes room for others.
        let some = if wanted.only.is_some() || wanted.like.is_some() { usize::MAX } else { k };
        match wanted.engine {
            Engine::Index => of(library.words().search(query, some)),
            Engine::Memory => {
                let mut hits: Vec<Hit> =
                    self.remember(library, wanted, k).iter().map(|found| remembered_hit(library, query, found)).collect();
                let known: BTreeSet<ItemId> = hits.iter().map(|hit| hit.image).collect();
                let names = of(library.words().search_names(query, some));
                hits.extend(names.into_iter().filter(|found| !known.contains(&found.image)));
                best(hits, k)
            }
        }
    }

    fn remember(&self, library: &Library, wanted: &Wanted, k: usize) -> Vec<Remembered> {
        library.recall().search(library.words(), &wanted.query, k, wanted.leaves, |image| wanted.fits(image)).0
    }

    /// The words of a query that no text of the library has.
    pub fn unknown_words(&self, library: &Library, query: &Query) -> Vec<String> {
        query.words.iter().chain(query.phrases.iter().flatten()).filter(|word| !library.words().knows(word)).cloned().collect()
    }
}

/// The `k` best, and those of which something was said.
fn best(mut hits: Vec<Hit>, k: usize) -> Vec<Hit> {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.image.cmp(&b.image)));
    let mut place = 0..;
    hits.retain(|hit| place.next().is_some_and(|place| place < k) || hit.taught.is_some());
    hits
}

fn look_alike(library: &Library, image: ItemId, look: f64) -> Hit {
    let found = Found { image, score: look, caption: None, words: Vec::new() };
    Hit { look: Some(look), ..hit_of(library, &Query::default(), found) }
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
        taught: image.and_then(|image| image.rewards.get(&words_of(query))).map(|reward| reward.value()),
        look: None,
        remembered: None,
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
        taught: found.taught.map(Reward::value),
        look: None,
        remembered: Some(found.clone()),
    }
}
