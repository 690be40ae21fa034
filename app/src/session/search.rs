//! Find images of a library by words, by what they look like, or both, and say how well they
//! answer.

use std::collections::HashSet;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::search::{self, AppearanceQuery, LibraryQuery};
use tessera_core::text::{TextQuery, words};

use super::Session;
use super::like::Like;
pub use tessera_core::library::search::{Engine, SearchHit};

/// What is searched for, and how.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// By these words. None find nothing by themselves, but what must not be there leaves out also
    /// what is found in other ways.
    pub query: TextQuery,
    /// Looking like this.
    pub like: Option<Arc<Like>>,
    /// Among these images alone; without words and look, these are what is found.
    pub only: Option<Arc<HashSet<ItemId>>>,
    /// At most so many.
    pub k: usize,
    /// Whether images of which something was said as answers to this query are there besides,
    /// whatever their score.
    pub keeps_judged: bool,
    /// Who finds by words.
    pub engine: Engine,
    /// Leaves of the memory that are looked at.
    pub leaves: usize,
}

impl SearchRequest {
    /// The same in the library's terms. An image that was shown as a whole is not found itself; one
    /// that was shown in part may be.
    fn to_query(&self) -> LibraryQuery {
        let look =
            |like: &Arc<Like>| AppearanceQuery { appearance: like.appearance.clone(), of: like.item.filter(|_| like.crop.is_none()) };
        LibraryQuery {
            text: self.query.clone(),
            look: self.like.as_ref().map(look),
            among: self.only.clone(),
            k: self.k,
            keeps_judged: self.keeps_judged,
            engine: self.engine,
            leaves: self.leaves,
        }
    }
}

impl Session {
    /// The images that answer best, best first: see [`search::search`].
    pub fn search(&self, library: &Library, wanted: &SearchRequest) -> Vec<SearchHit> {
        search::search(library, &wanted.to_query())
    }

    /// The words of a query that no text of the library has.
    pub fn unknown_words(&self, library: &Library, query: &TextQuery) -> Vec<String> {
        query.words.iter().chain(query.phrases.iter().flatten()).filter(|word| !library.words().knows(word)).cloned().collect()
    }

    /// Those of some words that lessons have.
    pub fn taught_words(&self, library: &Library, some: &[String]) -> Vec<String> {
        let taught: HashSet<String> = library.caption_memory().rewards().keys().flat_map(|(_, query)| words(query)).collect();
        some.iter().filter(|word| taught.contains(*word)).cloned().collect()
    }
}
