//! The models that learn from a library.

pub mod recogniser;
pub mod words;
