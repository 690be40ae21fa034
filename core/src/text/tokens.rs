//! The words of a text.

use unicode_segmentation::UnicodeSegmentation;

/// The words of `text` in their order, in lower case: those of Unicode's Annex 29 between whatever
/// joins the parts of a file's name, so that `Truck_07-left.jpg` has the words truck, 07, left and
/// jpg.
///
/// In scripts without blanks a word is a character, except that a run of Katakana is one word. Both
/// forms of the apostrophe are the same. Accents count, and text is not normalised: an accent of
/// its own differs from an accented letter.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(joins).flat_map(str::unicode_words).map(|word| word.to_lowercase().replace('’', "'"))
}

/// Whether `text` ends inside a word, so that the next letter could belong to it.
pub(super) fn ends_in_a_word(text: &str) -> bool {
    let end = text.rsplit(joins).next().unwrap_or_default();
    end.unicode_word_indices().next_back().is_some_and(|(start, word)| start + word.len() == end.len())
}

/// Whether a character that Annex 29 allows inside a word joins two words here: connectors, dots,
/// colons, commas.
fn joins(c: char) -> bool {
    let connects = matches!(c, '\u{202f}' | '‿' | '⁀' | '⁔' | '︳' | '︴' | '﹍' | '﹎' | '﹏' | '＿' | '．' | '：');
    connects || (c.is_ascii_punctuation() && c != '\'')
}
