//! The words of a text.

use unicode_segmentation::UnicodeSegmentation as _;

/// The words of a text in lower case, by the word boundaries of Unicode Standard Annex 29; `_` parts words too, for names
/// of files are texts here. Scripts without blanks give one word a character.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split('_').flat_map(|part| part.unicode_words()).map(str::to_lowercase)
}
