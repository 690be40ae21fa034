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

/// Letters from which on a word may be meant by its form alone.
const FORMED: usize = 6;
/// The errors that count between words of which only the forms are near each other.
const BY_FORM: usize = 2;

impl TextIndex {
    /// The words of texts with the fewest errors between them and `word`, at most
    /// [`most_errors`], that are no forms of it ([`super::form`]), those of most texts first and of
    /// equals the first in the alphabet; none for a word with digits. Accents are left out of both.
    /// Where there are none, those that begin alike and whose form has one error: `buterflies` may
    /// be `butterfly`. Only words of `least` texts or more count. O(words of the index), a
    /// nanosecond for one of fewer texts.
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
        if found.is_empty() && asked.length >= FORMED {
            found.extend(self.near_by_form(&word, &own_form, least));
        }
        found.sort_by(|a, b| b.texts.cmp(&a.texts).then_with(|| a.word.cmp(&b.word)));
        found
    }

    /// The words of texts that begin with the same letter, of which the form has one error.
    fn near_by_form<'a>(&'a self, word: &'a str, own_form: &'a str, least: usize) -> impl Iterator<Item = NearWord> + 'a {
        let others = self.words.iter().filter(move |other| other.texts.len() >= least.max(1) && other.spelling.length >= FORMED);
        let alike = others.filter(|other| bare(&other.word).chars().next() == word.chars().next());
        let near = alike.filter(|other| osa_distance(own_form, &form(&other.word)) == 1);
        near.map(|other| NearWord { word: other.word.to_string(), errors: BY_FORM, texts: other.texts.len() })
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
