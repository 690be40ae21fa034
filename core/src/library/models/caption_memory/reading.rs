//! How the words of a query are read: as they are written, completed, in another form, or as what
//! may have been meant.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::CaptionMemory;
use crate::library::models::words::Words;
use crate::text::{NearWord, TextQuery, form, words};

/// How a word of a query is taken for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadAs {
    /// As it is written.
    Written,
    /// As the beginning of it.
    Completed,
    /// As another form of it: plural, singular, with other accents.
    Form,
    /// With errors of spelling, for nothing has it as it is written, nor a form of it.
    Corrected,
}

/// A word that a query may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The word, as texts have it.
    pub word: String,
    /// How the written one is taken for it.
    pub how: ReadAs,
    /// How much it counts beside a word that is there as it is written, above 0 and at most 1.
    pub share: f64,
}

/// A word that a query asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedWord {
    /// The word as it is written in the query.
    pub written: String,
    /// Its component of the query's vector of length one.
    pub weight: f64,
    /// The words that it may mean, the likeliest first; never none.
    pub readings: Vec<Reading>,
    /// Whether a text or a lesson has one of them.
    pub is_known: bool,
    /// Whether a lesson has it.
    pub is_taught: bool,
    /// Where few captions alone have one of them: a word spelled nearly so that many more texts
    /// have. It may be meant, but finds nothing here.
    pub meant: Option<String>,
}

/// Words by which images can be found though no text of the library has them.
pub trait OtherWords {
    /// Whether a word needs no correction.
    fn knows(&self, word: &str) -> bool;
    /// Whether a word is in the name of a class.
    fn names_class(&self, word: &str) -> bool;
    /// The words with the fewest errors of spelling between them and one that nothing has, the
    /// likeliest first.
    fn near(&self, word: &str) -> Vec<NearWord>;
}

/// No other words.
impl OtherWords for () {
    fn knows(&self, _: &str) -> bool {
        false
    }

    fn names_class(&self, _: &str) -> bool {
        false
    }

    fn near(&self, _: &str) -> Vec<NearWord> {
        Vec::new()
    }
}

/// How many times as many texts have a word that may have been meant as one that is there, with
/// one error of spelling between them, and with two.
const MORE_TEXTS: [usize; 2] = [20, 100];

/// The most completions of an unfinished word, forms and corrections of a word.
const COMPLETIONS: usize = 8;
const FORMS: usize = 8;
const CORRECTIONS: usize = 4;
/// How much another form counts, the likeliest correction, and the others.
const FORM_SHARE: f64 = 0.8;
const CORRECTION_SHARE: f64 = 0.6;
const OTHER_SHARE: f64 = 0.4;

impl CaptionMemory {
    /// How the words of a query are read, each once. Words of `other` need no correction, and may
    /// be what was meant where fewer errors lead to them than to the words of texts. Words that
    /// only lessons have are read like unknown ones: answers to what was typed wrongly are
    /// rewarded, too. O(words of the library) for such a word.
    pub(super) fn read(&self, query: &TextQuery, index: &Words, other: &dyn OtherWords) -> Vec<AskedWord> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut asked: Vec<AskedWord> = Vec::new();
        let taught: BTreeSet<String> = self.rewards.keys().flat_map(|(_, query)| words(query)).collect();
        let mut ask = |written: &str, readings: Vec<Reading>, is_known: bool, meant: Option<String>| {
            if !asked.iter().any(|other| other.written == written) {
                let is_taught = taught.contains(written);
                asked.push(AskedWord {
                    written: written.to_owned(),
                    weight: 0.0,
                    readings,
                    is_known: is_known || is_taught,
                    is_taught,
                    meant,
                });
            }
        };
        for written in query.words.iter() {
            *counts.entry(written).or_default() += 1;
            let (readings, is_known) = whole(written, index, other);
            let meant = if taught.contains(written) || other.knows(written) { None } else { meant(written, &readings, index) };
            ask(written, readings, is_known, meant);
        }
        for written in query.phrases.iter().flatten() {
            // What is in quotes is meant as it is written.
            *counts.entry(written).or_default() += 1;
            ask(written, vec![Reading::written(written)], index.knows(written), None);
        }
        if let Some(prefix) = &query.prefix {
            *counts.entry(prefix).or_default() += 1;
            let mut completed = index.complete(prefix, COMPLETIONS);
            completed.extend(
                taught
                    .range(prefix.clone()..)
                    .take_while(|word| word.starts_with(prefix.as_str()))
                    .filter(|word| !index.knows(word))
                    .take(COMPLETIONS)
                    .cloned(),
            );
            // A beginning that is a word itself, or that no word has, is looked for as a word.
            if completed.is_empty() || index.knows(prefix) || taught.contains(prefix) {
                let (readings, is_known) = whole(prefix, index, other);
                let is_finished = completed.iter().all(|word| form(word) == form(prefix));
                let is_doubted = is_finished && !taught.contains(prefix) && !other.knows(prefix);
                let meant = if is_doubted { meant(prefix, &readings, index) } else { None };
                ask(prefix, readings, is_known, meant);
            } else {
                ask(prefix, completed.into_iter().map(|word| Reading { word, how: ReadAs::Completed, share: 1.0 }).collect(), true, None);
            }
        }
        for one in &mut asked {
            let count = f64::from(counts.get(one.written.as_str()).copied().unwrap_or(1));
            one.weight = (1.0 + count.ln()) * one.readings.first().map_or(0.0, |reading| self.weight(&reading.word));
        }
        let length = asked.iter().map(|one| one.weight * one.weight).sum::<f64>().sqrt();
        asked.iter_mut().for_each(|one| one.weight /= length);
        asked
    }
}

/// The readings of a finished word, and whether a text has one of them.
fn whole(written: &str, index: &Words, other: &dyn OtherWords) -> (Vec<Reading>, bool) {
    let forms = index.forms(written).into_iter().take(FORMS);
    let forms = forms.map(|word| Reading { word, how: ReadAs::Form, share: FORM_SHARE });
    if index.knows(written) || other.knows(written) {
        return (std::iter::once(Reading::written(written)).chain(forms).collect(), true);
    }
    let mut readings: Vec<Reading> = forms.collect();
    if readings.is_empty() {
        let mut near = index.near(written, 1);
        near.retain(|near| !is_far_fetched(written, &near.word, index) || other.names_class(&near.word));
        let errors = |some: &[NearWord]| some.first().map_or(usize::MAX, |near| near.errors);
        if errors(&near) > 1 {
            let others = other.near(written);
            near = if errors(&others) < errors(&near) { others } else { near };
        }
        for near in near.into_iter().take(CORRECTIONS) {
            let share = if readings.is_empty() { CORRECTION_SHARE } else { OTHER_SHARE };
            readings.push(Reading { word: near.word, how: ReadAs::Corrected, share });
        }
        // Forms of the likeliest one count as it does.
        if let Some(first) = readings.first().cloned() {
            let of_first = index.forms(&first.word).into_iter().filter(|word| !readings.iter().any(|reading| reading.word == *word));
            let of_first = of_first.take(CORRECTIONS).map(|word| Reading { word, share: FORM_SHARE * first.share, how: ReadAs::Corrected });
            let of_first: Vec<Reading> = of_first.collect();
            readings.extend(of_first);
        }
    }
    let is_known = !readings.is_empty();
    if !is_known {
        readings.push(Reading::written(written));
    }
    (readings, is_known)
}

/// Whether a word is of three letters, and another of which one letter is not its own is but in
/// names of files and folders: these have all kinds of short words, `rex` for `red`.
fn is_far_fetched(written: &str, other: &str, index: &Words) -> bool {
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let (ours, theirs) = (letters(written), letters(other));
    ours.len() == 3 && theirs.len() == 3 && ours != theirs && index.is_of_names_alone(other)
}

/// The word that may have been meant by one that is there, as it is read.
fn meant(written: &str, readings: &[Reading], index: &Words) -> Option<String> {
    let there: Vec<&Reading> = readings.iter().filter(|reading| matches!(reading.how, ReadAs::Written | ReadAs::Form)).collect();
    let texts = there.iter().map(|reading| index.texts_with(&reading.word)).sum::<usize>();
    let is_rare = texts > 0 && texts * MORE_TEXTS[0] <= index.memories();
    if !is_rare || !there.iter().all(|reading| index.is_of_captions_alone(&reading.word)) {
        return None;
    }
    let is_meant = |near: &NearWord| near.texts >= MORE_TEXTS[usize::from(near.errors > 1)] * texts;
    index.near(written, MORE_TEXTS[0] * texts).into_iter().next().filter(is_meant).map(|near| near.word)
}

impl Reading {
    fn written(word: &str) -> Self {
        Self { word: word.to_owned(), how: ReadAs::Written, share: 1.0 }
    }
}

impl AskedWord {
    /// How much a word of a text or a lesson counts for this one; 0 where it is none of its
    /// readings.
    pub(super) fn share_of(&self, word: &str) -> f64 {
        let share = self.readings.iter().find(|reading| reading.word == word).map_or(0.0, |reading| reading.share);
        if self.written == word { 1.0 } else { share }
    }

    /// Whether nothing has it as it is written, and it is read as what may have been meant.
    pub fn is_corrected(&self) -> bool {
        self.readings.first().is_some_and(|reading| reading.how == ReadAs::Corrected)
    }
}
