//! Guessed words: images without the words of a query are found by the nouns of the classes that
//! the network takes them for, with a low weight; also where a noun is spelled nearly so.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, LazyLock};

use super::Library;
use super::acts::which;
use super::draft::{Acts, Draft};
use super::event::{Change, EventId, Field, Swap};
use super::features::row_or_anew;
use super::glimpse::Glimpse;
use super::models::caption_memory::OtherWords;
use super::state::Image;
use crate::error::Result;
use crate::ids::ItemId;
use crate::network::{CLASSES, Network};
use crate::text::{NearWord, TextIndex, TextKey, TextQuery, form, letters, words};

/// The least probability of a guess.
const LEAST: f64 = 0.02;
/// The least probability of those that count first where nouns are offered: many images in which
/// something is guessed weakly are not many images of it.
const SURE: f64 = 0.3;
/// The score of an image for which every word of a query is guessed with certainty. One word that a
/// caption has gives more, unless nearly all captions have it.
const WEIGHT: f64 = 0.05;

/// Letters from which on a noun may be meant by a word with two errors, or with another letter in
/// the place of one: nothing else speaks for it, and shorter words are often near another one (a
/// glider is no spider, a beach no bench).
const LONG: usize = 7;
/// Letters from which on a noun may be meant by a word with a letter more or less.
const SHORT: usize = 5;

/// A word that is guessed for an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The usual noun of the network's class.
    pub noun: String,
    /// The probability of that class, 0..=1.
    pub chance: f64,
}

/// A word of a query that is guessed for an image, and what that adds to the score.
#[derive(Clone, Debug, PartialEq)]
pub struct GuessedWord {
    /// The likeliest of the guesses that have the word, with the probability of all of them.
    pub guess: Guess,
    /// What it adds to the score.
    pub value: f64,
}

/// The classes by their nouns' last words, which say what things are: a mountain bike is a bike.
static BY_FORM: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut all: HashMap<String, Vec<usize>> = HashMap::new();
    for class in 0..CLASSES {
        for noun in nouns(class) {
            if let Some(last) = words(noun).last() {
                let of = all.entry(form(&last)).or_default();
                if of.last() != Some(&class) {
                    of.push(class);
                }
            }
        }
    }
    all
});

/// The same words as they are spelled, and the plurals that only add an `s`: a text for each class.
static SPELLED: LazyLock<TextIndex> = LazyLock::new(|| {
    let mut all = TextIndex::default();
    for class in 0..CLASSES {
        let last: Vec<String> = nouns(class).iter().filter_map(|noun| words(noun).last()).collect();
        let takes_s = |noun: &&String| !noun.ends_with(['s', 'x', 'z', 'h', 'y']);
        let plurals: Vec<String> = last.iter().filter(takes_s).map(|noun| format!("{noun}s")).collect();
        all.insert(TextKey { item: ItemId(class as u32), part: 0 }, &[last, plurals].concat().join(" "));
    }
    all
});

/// All words of all nouns.
static WORDS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| (0..CLASSES).flat_map(nouns).flat_map(|noun| words(noun).collect::<Vec<_>>()).collect());

fn nouns(class: usize) -> &'static [&'static str] {
    Network::shipped().map_or(&[], |network| network.nouns(class))
}

fn first_noun(class: usize) -> &'static str {
    nouns(class).first().copied().unwrap_or_default()
}

/// The classes by all words of a noun, where it has several.
static BY_NOUN: LazyLock<HashMap<Vec<String>, Vec<usize>>> = LazyLock::new(|| {
    let mut all: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    for class in 0..CLASSES {
        for forms in nouns(class).iter().map(|noun| forms(words(noun))).filter(|forms| forms.len() > 1) {
            let of = all.entry(forms).or_default();
            if of.last() != Some(&class) {
                of.push(class);
            }
        }
    }
    all
});

/// The words of the longest noun.
static LONGEST: LazyLock<usize> = LazyLock::new(|| BY_NOUN.keys().map(Vec::len).max().unwrap_or(1));

fn forms(words: impl Iterator<Item = String>) -> Vec<String> {
    words.map(|word| form(&word)).collect()
}

/// Words of a query that stand for classes of the network.
struct Noun<'a> {
    words: &'a [String],
    classes: &'static [usize],
}

/// The nouns of the network in some words: the longest that begins at each, in full, or else a
/// word that ends one; other words are left out.
fn nouns_in(asked: &[String]) -> Vec<Noun<'_>> {
    let forms = forms(asked.iter().cloned());
    let (mut found, mut at) = (Vec::new(), 0);
    while at < asked.len() {
        let in_full = |end: usize| Some((end, BY_NOUN.get(&forms[at..end])?));
        let noun = (at + 2..=asked.len().min(at + *LONGEST)).rev().find_map(in_full).or_else(|| Some((at + 1, BY_FORM.get(&forms[at])?)));
        let end = noun.map_or(at + 1, |(end, _)| end);
        found.extend(noun.map(|(_, classes)| Noun { words: &asked[at..end], classes }));
        at = end;
    }
    found
}

/// The words that a query asks for, in their order: those outside of quotes, and each phrase. No
/// noun goes from one to another.
fn asked(query: &TextQuery) -> Vec<Vec<String>> {
    let outside: Vec<String> = query.words.iter().chain(&query.prefix).cloned().collect();
    std::iter::once(outside).chain(query.phrases.iter().cloned()).collect()
}

/// The nouns in all parts of a query, and how many words it has.
fn nouns_of(asked: &[Vec<String>]) -> (Vec<Noun<'_>>, usize) {
    (asked.iter().flat_map(|part| nouns_in(part)).collect(), asked.iter().map(Vec::len).sum())
}

impl Library {
    /// Loads the classes that the network takes at most `n` images for into memory, by which words
    /// are guessed, and returns the number of images still to be loaded: call it until that is 0.
    /// Without learned features there is nothing to load. O(images + n rows).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn load_guesses(&mut self, n: usize) -> Result<usize> {
        if self.extraction.cells.is_none() {
            return Ok(0);
        }
        let state = self.state.clone();
        let images = state.images().filter_map(|image| Some((image.content?.hash, image)));
        let wanted: Vec<_> = images.filter(|(hash, _)| !self.seen_classes.contains_key(hash)).collect();
        for &(hash, image) in wanted.iter().take(n) {
            let classes = match self.glimpses.get(&hash) {
                Some(held) => held.as_ref().map(|glimpse| glimpse.seen_classes().clone()),
                None => self.read_glimpse(image)?.map(|glimpse| glimpse.seen_classes().clone()),
            };
            self.seen_classes.insert(hash, classes);
        }
        Ok(wanted.len().saturating_sub(n))
    }

    /// Loads what the network sees in at most `n` images into memory, and returns the number of
    /// images still to be loaded: call it until that is 0. Without learned features there is
    /// nothing to load. O(images + n rows).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn load_glimpses(&mut self, n: usize) -> Result<usize> {
        self.load_glimpses_except(n, |_| false)
    }

    /// As [`Library::load_glimpses`], but for images that are not needed.
    pub(super) fn load_glimpses_except(&mut self, n: usize, is_needless: impl Fn(&Image) -> bool) -> Result<usize> {
        let state = self.state.clone();
        self.load_these_glimpses(state.images().filter(|image| !is_needless(image)), n)
    }

    /// As [`Library::load_glimpses`], but for some images alone, all of them. O(these images).
    ///
    /// # Errors
    /// As [`Library::load_glimpses`].
    pub fn load_glimpses_of(&mut self, images: &[ItemId]) -> Result<()> {
        let state = self.state.clone();
        self.load_these_glimpses(images.iter().filter_map(|id| state.image(*id)), usize::MAX).map(|_| ())
    }

    fn load_these_glimpses<'a>(&mut self, images: impl Iterator<Item = &'a Arc<Image>>, n: usize) -> Result<usize> {
        if self.extraction.cells.is_none() {
            return Ok(0);
        }
        let images = images.filter_map(|image| Some((image.content?.hash, image)));
        let wanted: Vec<_> = images.filter(|(hash, _)| !self.glimpses.contains_key(hash)).collect();
        for &(hash, image) in wanted.iter().take(n) {
            let glimpse = self.read_glimpse(image)?;
            self.glimpses.insert(hash, glimpse);
        }
        Ok(wanted.len().saturating_sub(n))
    }

    /// What the network sees in an image, from the cache.
    fn read_glimpse(&self, image: &Image) -> Result<Option<Glimpse>> {
        let row = row_or_anew(&self.cache, Glimpse::VERSION, image, &self.state, &*self.decoder, &self.extraction)?;
        Ok(row.and_then(|bytes| Glimpse::from_bytes(&bytes)))
    }

    /// What the network sees in an image, if that is in memory and learned features are on.
    pub fn glimpse(&self, image: &Image) -> Option<&Glimpse> {
        self.extraction.cells.as_ref()?;
        self.glimpses.get(&image.content?.hash)?.as_ref()
    }

    /// The words that are guessed for an image, the likeliest first, without those that the user
    /// rejected for it; none that is not in memory ([`Library::load_guesses`]).
    pub fn guesses(&self, image: &Image) -> Vec<Guess> {
        self.guessed_classes(image)
            .into_iter()
            .flatten()
            .map(|(class, chance)| Guess { noun: first_noun(class).to_owned(), chance })
            .collect()
    }

    /// The words of a query that are guessed for an image, in their order.
    pub fn guessed(&self, image: &Image, query: &TextQuery) -> Vec<GuessedWord> {
        let asked = asked(query);
        let (nouns, n_words) = nouns_of(&asked);
        guessed(self, image, &nouns, n_words).into_iter().map(|(_, word)| word).collect()
    }

    /// The words of a query that may be guessed; none where nothing is known of what the network
    /// sees.
    pub fn guessable(&self, query: &TextQuery) -> BTreeSet<String> {
        let asked = asked(query);
        let words: BTreeSet<String> = nouns_of(&asked).0.iter().flat_map(|noun| noun.words).cloned().collect();
        let is_seen = || self.extraction.cells.is_some() && self.state.images().any(|image| self.guessed_classes(image).is_some());
        if words.is_empty() || !is_seen() { BTreeSet::new() } else { words }
    }

    /// Whether what is no word of a noun that may be guessed may become one as it is typed.
    /// O(1).
    pub fn may_guess_from(&self, beginning: &str) -> bool {
        let next = || WORDS.range::<str, _>((Bound::Included(beginning), Bound::Unbounded)).next();
        self.extraction.cells.is_some() && next().is_some_and(|word| word.starts_with(beginning) && word != beginning)
    }

    /// The `n` nouns that are guessed for most images, those surely guessed for most first.
    /// O(images).
    pub fn often_guessed(&self, n: usize) -> Vec<String> {
        let (sure, images) = (self.images_by_guess(SURE), self.images_by_guess(LEAST));
        let mut classes: Vec<usize> = (0..CLASSES).filter(|class| images[*class] > 0.0).collect();
        classes.sort_by(|a, b| sure[*b].total_cmp(&sure[*a]).then(images[*b].total_cmp(&images[*a])));
        let mut nouns: Vec<String> = Vec::new();
        for noun in classes.into_iter().map(first_noun) {
            if nouns.len() < n && !nouns.iter().any(|other| other == noun) {
                nouns.push(noun.to_owned());
            }
        }
        nouns
    }

    /// The classes that are guessed for an image, the likeliest first, with their probabilities, as
    /// far as that is in memory.
    fn guessed_classes(&self, image: &Image) -> Option<impl Iterator<Item = (usize, f64)>> {
        self.extraction.cells.as_ref()?;
        let classes = self.seen_classes.get(&image.content?.hash)?.as_ref()?;
        Some(classes.iter().filter(|(class, chance)| *chance >= LEAST && !image.no_guesses.contains(first_noun(*class))))
    }

    /// For each class of the network, the number of images that it is guessed for: the sum of its
    /// probabilities in them, where it has at least this one.
    fn images_by_guess(&self, least: f64) -> Vec<f64> {
        let mut images = vec![0.0; CLASSES];
        let guesses = self.state.images().filter_map(|image| self.guessed_classes(image)).flatten();
        guesses.filter(|(_, chance)| *chance >= least).for_each(|(class, chance)| images[class] += chance);
        images
    }

    /// The images for which words of a query are guessed. O(images).
    pub(super) fn by_guesses(&self, query: &TextQuery, fits: impl Fn(ItemId) -> bool) -> ByGuesses {
        let asked = asked(query);
        let (nouns, n_words) = nouns_of(&asked);
        let mut found = ByGuesses::default();
        if nouns.is_empty() {
            return found;
        }
        let mut is_guessed = vec![false; nouns.len()];
        for image in self.state.images() {
            let mut value = 0.0;
            for (noun, word) in guessed(self, image, &nouns, n_words) {
                is_guessed[noun] = true;
                value += word.value;
            }
            if value > 0.0 && fits(image.id) {
                found.values.insert(image.id, value);
            }
        }
        let words = nouns.iter().zip(is_guessed).filter(|(_, is_guessed)| *is_guessed).flat_map(|(noun, _)| noun.words);
        found.words.extend(words.cloned());
        found
    }

    /// Rejects a guessed word for images (`rejected`), so that it is not guessed for them any more,
    /// or takes that back. Returns its event, or `None` when it would change nothing.
    ///
    /// # Errors
    /// As [`Acts::reject_guess`]; [`crate::Error::Io`].
    pub fn reject_guess(&mut self, images: &[ItemId], word: &str, rejected: bool) -> Result<Option<EventId>> {
        let draft = self.acts().reject_guess(images, word, rejected)?;
        self.act(draft)
    }
}

/// The images of an answer by guesses.
#[derive(Default)]
pub(super) struct ByGuesses {
    /// What guesses add to the score of each.
    pub(super) values: BTreeMap<ItemId, f64>,
    /// The words of the query that are guessed for any image of the library.
    pub(super) words: BTreeSet<String>,
}

/// What may be guessed in a library, beside the words of its texts.
pub(super) struct Guessable<'a> {
    library: &'a Library,
    /// The words of the query that may be guessed.
    words: BTreeSet<String>,
}

impl<'a> Guessable<'a> {
    pub(super) fn of(library: &'a Library, query: &TextQuery) -> Self {
        Self { library, words: library.guessable(query) }
    }
}

impl OtherWords for Guessable<'_> {
    fn knows(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    fn names_class(&self, word: &str) -> bool {
        self.library.state().classes().iter().any(|(class, _)| words(class).any(|other| other == word))
    }

    /// Nouns of what is guessed for some image, those of most images first, which count as texts
    /// here. O(nouns + images).
    fn near(&self, word: &str) -> Vec<NearWord> {
        let mut near = SPELLED.near(word, 1);
        near.retain(|near| is_likely(word, near));
        if near.is_empty() {
            return near;
        }
        let images = self.library.images_by_guess(LEAST);
        let seen = |near: NearWord| {
            let of: f64 = BY_FORM.get(&form(&near.word))?.iter().map(|class| images[*class]).sum();
            (of > 0.0).then_some(NearWord { texts: of.ceil() as usize, ..near })
        };
        let mut near: Vec<NearWord> = near.into_iter().filter_map(seen).collect();
        near.sort_by_key(|near| std::cmp::Reverse(near.texts));
        near
    }
}

/// Whether a noun may well be meant by a word that nothing has.
fn is_likely(word: &str, near: &NearWord) -> bool {
    let [written, meant] = [word, &near.word].map(letters);
    let has_another_length = written.len() != meant.len();
    near.errors <= 1 && (written == meant || has_another_length && written.len() >= SHORT) || written.len() >= LONG
}

/// The words that are guessed for an image, each with the place of its noun.
fn guessed(library: &Library, image: &Image, nouns: &[Noun<'_>], n_words: usize) -> Vec<(usize, GuessedWord)> {
    let allowed: Vec<(usize, f64)> = library.guessed_classes(image).into_iter().flatten().collect();
    let word = |noun: &Noun<'_>| {
        let mut meant = allowed.iter().filter(|(class, _)| noun.classes.contains(class));
        // The most probable class comes first.
        let (best, chance) = *meant.next()?;
        let chance = chance + meant.map(|(_, chance)| chance).sum::<f64>();
        let guess = Guess { noun: first_noun(best).to_owned(), chance };
        Some(GuessedWord { guess, value: WEIGHT * chance * noun.words.len() as f64 / n_words as f64 })
    };
    nouns.iter().enumerate().filter_map(|(n, noun)| Some((n, word(noun)?))).collect()
}

impl Acts<'_> {
    /// Rejects a guessed word for images (`rejected`), or takes that back.
    ///
    /// # Errors
    /// As [`Acts::label`]; [`crate::Error::Unfit`] for a word that the network never guesses.
    pub fn reject_guess(&self, images: &[ItemId], word: &str, rejected: bool) -> Result<Draft> {
        let is_it = |class: &usize| nouns(*class).iter().any(|noun| noun.eq_ignore_ascii_case(word.trim()));
        let Some(noun) = (0..CLASSES).find(is_it).map(first_noun) else {
            return Err(self.unfit("guessed word", format!("`{word}`"), "a word that is guessed, as `tessera search` shows it"));
        };
        let changes = self.present(images)?.into_iter().filter(|image| image.no_guesses.contains(noun) != rejected);
        let change = |image: &Image| Change::Image(image.id, Field::Guess(noun.to_owned(), Swap(!rejected, rejected)));
        let (changes, which) = (changes.map(change).collect(), which(self.state, images));
        let words =
            if rejected { format!("Rejected the guess {noun} for {which}") } else { format!("Allowed the guess {noun} for {which}") };
        Ok(Draft::new(words, changes))
    }
}
