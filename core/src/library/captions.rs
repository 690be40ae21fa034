//! How many captions an image has at most, and how long they are, whichever way they come.

use super::event::Caption;
use crate::plural::{count, grouped};

/// Longest caption in characters.
pub const LONGEST_CAPTION: usize = 10_000;
/// Most captions of one image.
pub const MOST_CAPTIONS: usize = 200;
/// Most characters of all captions of one image.
pub const MOST_TEXT: usize = 100_000;

/// Why a caption is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The image has it already, or it is blank.
    Nothing,
    /// It has so many characters.
    TooLong(usize),
    /// The image has as many captions as it may.
    TooMany,
    /// The captions of the image would have so many characters.
    TooMuch(usize),
}

/// The captions of one image while further ones are added.
pub(super) struct Captions {
    pub(super) list: Vec<Caption>,
    characters: usize,
}

impl Captions {
    pub(super) fn new(list: Vec<Caption>) -> Self {
        let characters = list.iter().map(|caption| caption.text.chars().count()).sum();
        Self { list, characters }
    }

    /// Adds a caption without the blanks around it. O(captions of the image).
    pub(super) fn add(&mut self, text: &str, by_user: bool) -> Result<(), Refusal> {
        let text = text.trim();
        let characters = text.chars().count();
        if characters > LONGEST_CAPTION {
            return Err(Refusal::TooLong(characters));
        }
        if text.is_empty() || self.list.iter().any(|caption| caption.text == text) {
            return Err(Refusal::Nothing);
        }
        if self.list.len() >= MOST_CAPTIONS {
            return Err(Refusal::TooMany);
        }
        if self.characters + characters > MOST_TEXT {
            return Err(Refusal::TooMuch(self.characters + characters));
        }
        self.characters += characters;
        self.list.push(Caption { text: text.to_owned(), by_user });
        Ok(())
    }
}

/// What is said of captions that were left out.
pub(super) fn left_out(n: usize) -> String {
    let (were, longest, all) = (if n == 1 { "was" } else { "were" }, grouped(LONGEST_CAPTION), grouped(MOST_TEXT));
    format!(
        "{} {were} left out: an image has at most {MOST_CAPTIONS}, of at most {longest} characters each and {all} in all",
        count(n, "caption")
    )
}
