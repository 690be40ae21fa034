//! Words: what texts are cut into, what a user asks for, and an exact index of who has which.

pub mod index;
pub mod query;
pub mod tokens;

pub use index::{Hit, TextIndex, TextKey};
pub use query::Query;
pub use tokens::words;
