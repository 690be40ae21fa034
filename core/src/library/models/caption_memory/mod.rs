//! The caption memory of a library: what it remembers and learns, and how it answers questions.

mod memory;
mod question;
mod reading;
mod runs;
mod sources;

pub use memory::{CaptionMemory, options, words_of};
pub use question::{CANDIDATES, Question, RecallExplanation, RecallHit, Weighed, WordTerm};
pub use reading::{AskedWord, OtherWords, ReadAs, Reading};
pub use sources::MemorySource;
