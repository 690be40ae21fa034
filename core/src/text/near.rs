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

impl TextIndex {
    /// The words of texts with the fewest errors between them and `word`, at most
    /// [`most_errors`], that are no forms of it ([`super::form`]), those of most texts first and of
    /// equals the first in the alphabet; none for a word with digits. Accents are left out of both.
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
        found.sort_by(|a, b| b.texts.cmp(&a.texts).then_with(|| a.word.cmp(&b.word)));
        found
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
