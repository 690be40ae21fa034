//! The models that learn from a library: their trait, the registry of them, and a file for each.

pub mod caption_memory;
pub mod model;
pub mod recogniser;
pub mod registry;
pub mod words;

pub use model::{Model, ModelUpdate};
pub(in crate::library) use registry::Log;
pub use registry::Models;
