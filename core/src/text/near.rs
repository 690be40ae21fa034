//! Words of an index that are forms of one, or written nearly so.
//!
//! An error of spelling is a letter too many, one that is missing, one in place of another, or two
//! neighbours that have changed places; the distance counts them so that no letter is changed twice
//! (optimal string alignment). All words of the index are looked at: most are ruled out by their
//! length and by which letters they have, in some nanoseconds each.
//!
//! - F. J. Damerau, *A technique for computer detection and correction of spelling errors*, 1964:
//!   four in five wrong words have one error of these four kinds.

use strsim::osa_distance;

use super::forms::{bare, form};
use super::index::TextIndex;
use super::spelling::{Spelling, most_errors};

/// A word of an index that may have been meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearWord {
    /// The word.
    pub word: String,
    /// Errors that lead from one to the other.
    pub errors: usize,
    /// Texts that have it.
    pub texts: usize,
}

/// Letters from which on a word may be meant by its form alone, and from which on where the form
/// has the same letters.
const FORMED: usize = 6;
const SWAPPED: usize = 4;
/// The errors that count between words of which only the forms are near each other, but for two
/// letters that have changed places.
const BY_FORM: usize = 2;

impl TextIndex {
    /// The words of texts with the fewest errors between them and `word`, at most [`most_errors`],
    /// that are no forms of it ([`super::form`]), those of most texts first and of equals the first
    /// in the alphabet; none for a word with digits. Accents are left out of both. Where there are
    /// none, those that begin alike and whose form has one error: `buterflies` may be `butterfly`,
    /// and of short words those in whose form two letters have changed places: `dgos` may be `dog`.
    /// Only words of `least` texts or more count. O(words of the index), a nanosecond for one of
    /// fewer texts.
    pub fn near(&self, word: &str, least: usize) -> Vec<NearWord> {
        let (word, own_form) = (bare(word), form(word));
        let asked = Spelling::of(&word);
        let mut most = most_errors(asked.length);
        let mut found: Vec<NearWord> = Vec::new();
        if most == 0 {
            return found;
        }
        for other in self.words.iter().filter(|other| other.texts.len() >= least.max(1)) {
            if !asked.may_be(other.spelling, most) {
                continue;
            }
            let errors = osa_distance(&word, &bare(&other.word));
            if errors <= most && form(&other.word) != own_form {
                if errors < most {
                    most = errors;
                    found.clear();
                }
                found.push(NearWord { word: other.word.to_string(), errors, texts: other.texts.len() });
            }
        }
        if found.is_empty() && asked.length >= SWAPPED {
            found.extend(self.near_by_form(&word, &own_form, least));
            let fewest = found.iter().map(|near| near.errors).min();
            found.retain(|near| Some(near.errors) == fewest);
        }
        found.sort_by(|a, b| b.texts.cmp(&a.texts).then_with(|| a.word.cmp(&b.word)));
        found
    }

    /// The words of texts that begin with the same letter, of which the form has one error; where
    /// one of both is short, the same letters.
    fn near_by_form<'a>(&'a self, word: &'a str, own_form: &'a str, least: usize) -> impl Iterator<Item = NearWord> + 'a {
        let is_long = word.chars().count() >= FORMED;
        let others = self.words.iter().filter(move |other| other.texts.len() >= least.max(1) && other.spelling.length > 0);
        let alike = others.filter(|other| bare(&other.word).chars().next() == word.chars().next());
        alike.filter_map(move |other| {
            let form = form(&other.word);
            let is_swapped = letters(&form) == letters(own_form);
            let is_near = (is_swapped || is_long && other.spelling.length >= FORMED) && osa_distance(own_form, &form) == 1;
            let errors = if is_swapped { 1 } else { BY_FORM };
            is_near.then(|| NearWord { word: other.word.to_string(), errors, texts: other.texts.len() })
        })
    }

    /// The other words of texts that are forms of `word` ([`super::form`]), those of most texts
    /// first and of equals the first in the alphabet. O(log(index)).
    pub fn forms(&self, word: &str) -> Vec<String> {
        let others = self.of_form(word).filter(|other| &***other != word);
        let mut others: Vec<(usize, &str)> = others.map(|other| (self.texts_with(other), &**other)).collect();
        others.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        others.into_iter().map(|(_, word)| word.to_owned()).collect()
    }
}

/// The letters of a word in the order of the alphabet.
pub(crate) fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}
