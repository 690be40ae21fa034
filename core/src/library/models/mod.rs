//! The models that learn from a library.

pub mod recall;
pub mod recogniser;
pub mod words;
