//! Finding texts by their words: names of files, captions, tags.
//!
//! ```
//! use tessera_core::ids::ItemId;
//! use tessera_core::text::{TextQuery, TextIndex, TextKey};
//!
//! let mut index = TextIndex::default();
//! index.insert(TextKey { item: ItemId(0), part: 0 }, "red_truck-07.jpg");
//! index.insert(TextKey { item: ItemId(1), part: 0 }, "A red boat");
//! let hits = index.search(&TextQuery::parse("red -boat"), 10);
//! assert_eq!(hits.len(), 1);
//! assert_eq!(hits[0].words, ["red"]);
//! ```

mod forms;
pub mod hashing;
mod index;
mod item_texts;
mod items;
mod keys;
mod near;
mod query;
mod search;
mod spelling;
mod tokens;

pub use forms::form;
pub use index::TextIndex;
pub use items::{ItemHit, Weigher};
pub use keys::TextKey;
pub use near::NearWord;
#[cfg(feature = "library")]
pub(crate) use near::letters;
pub use query::TextQuery;
pub use search::TextHit;
pub use spelling::most_errors;
pub use tokens::{composed, words, words_at};
