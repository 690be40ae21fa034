//! The words of a text.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// The words of `text` in their order, in lower case: those of Unicode's Annex 29 between whatever
/// joins the parts of a file's name, so that `Truck_07-left.jpg` has the words truck, 07, left and
/// jpg.
///
/// In scripts without blanks a word is a character, except that a run of Katakana is one word. Both
/// forms of the apostrophe are the same, and so are texts that Unicode's form NFKC makes the same:
/// an accented letter and a letter with an accent of its own, wide and narrow letters. Accents
/// themselves count; [`super::form`] leaves them out.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let text = normal(text);
    let lower = |word: &str| match word.is_ascii() {
        true => word.to_ascii_lowercase(),
        false => normal(&word.to_lowercase().replace('’', "'")).into_owned(),
    };
    let words: Vec<String> = text.split(joins).flat_map(str::unicode_words).map(lower).collect();
    words.into_iter()
}

/// The words of `text` as [`words`] gives them, each with the place in `text` where it begins, in
/// bytes, and how it is written there.
pub fn words_at(text: &str) -> impl Iterator<Item = (usize, &str, String)> {
    let mut end = 0;
    let pieces = text.split_inclusive(joins).map(move |piece| {
        let start = end;
        end += piece.len();
        (start, piece.strip_suffix(joins).unwrap_or(piece))
    });
    let written = pieces.flat_map(|(start, piece)| piece.unicode_word_indices().map(move |(at, word)| (start + at, word)));
    written.flat_map(|(at, written)| words(written).map(move |word| (at, written, word)))
}

/// A text in Unicode's form NFC, in which letters with accents are one character each: two texts
/// that look alike are then equal.
pub fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    }
}

/// A text in Unicode's form NFKC.
fn normal(text: &str) -> Cow<'_, str> {
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfkc().collect()),
    }
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
