//! Finding images by words, with the scores that one exact index of all texts would give.
//!
//! A score depends on how many texts have each word of the query, and each other word of the texts
//! that it finds, for all these make the length of a text. So three questions follow each other:
//! which words matter ([`NeededWords`]), how many texts have each of them ([`WordCounts`]), and the
//! scores ([`WordsFound`]). Words that no text found has, such as the names of all other files, are
//! never sent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::collection::{ImageHash, Shard};
use crate::error::Result;
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::text::{TextIndex, TextKey, TextQuery, words};

/// Asks which words matter to the scores of a query: those of the texts that have a word of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededWords {
    /// What is looked for, as [`TextQuery::parse`] reads it.
    pub query: String,
}

/// Asks how many texts have each of some words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordCounts {
    /// The words, as [`words`] gives them.
    pub words: BTreeSet<String>,
}

/// How many texts there are, and how many of them have each word that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedWords {
    pub(super) texts: u64,
    pub(super) words: BTreeMap<String, u64>,
}

/// Asks for the images whose texts fit a query best.
#[derive(Clone, Debug, PartialEq)]
pub struct WordsFound {
    /// What is looked for, as [`TextQuery::parse`] reads it.
    pub query: String,
    /// How many images are wanted.
    pub k: usize,
    /// Of the whole collection, for the words that [`WordCounts::of`] asks for.
    pub counted: CountedWords,
}

/// An image that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct WordFound {
    /// The image.
    pub image: ImageHash,
    /// How well its texts fit.
    pub score: f64,
    /// Where it was found.
    pub place: String,
    /// The caption that fits best.
    pub caption: Option<String>,
    /// What each word adds to the score.
    pub terms: Vec<(String, f64)>,
}

/// The texts of each image of a shard: its class and name, as in a library, and then its captions.
pub(super) fn texts_of(shard: &Shard) -> Result<Vec<Vec<String>>> {
    let known = shard.names()?.into_iter().zip(shard.classes()?).zip(shard.captions()?);
    let texts = known.map(|((name, class), captions)| {
        let name = Path::new(&name).with_extension("");
        let first = format!("{} {}", class.as_deref().unwrap_or_default(), name.to_string_lossy());
        std::iter::once(first).chain(captions).collect()
    });
    Ok(texts.collect())
}

/// The index of some images by the words of their texts; the items are the numbers of the images.
pub(super) fn text_index<'a>(images: impl Iterator<Item = (usize, &'a [String])>) -> TextIndex {
    let mut index = TextIndex::default();
    for (i, texts) in images {
        for (part, text) in (0..).zip(texts) {
            index.insert(TextKey { item: ItemId(i as u32), part }, text);
        }
    }
    index
}

/// The words that a query wants.
pub(super) fn wanted(query: &TextQuery) -> BTreeSet<&str> {
    query.words.iter().chain(query.phrases.iter().flatten()).map(String::as_str).collect()
}

/// The index of those images of a shard of which a text has a word that the query wants.
pub(super) fn index_for(texts: &[Vec<String>], query: &TextQuery) -> TextIndex {
    let wanted = wanted(query);
    let has = |text: &String| words(text).any(|word| wanted.contains(word.as_str()));
    let having: Vec<usize> = (0..texts.len()).into_par_iter().filter(|i| texts[*i].iter().any(has)).collect();
    text_index(having.into_iter().map(|i| (i, &texts[i][..])))
}

/// The words of the texts that a query finds.
pub(super) fn needed_of(index: &TextIndex, query: &TextQuery) -> Vec<String> {
    let found = index.search_items(query).into_iter().flat_map(|hit| hit.texts);
    let words: BTreeSet<&str> = found.flat_map(|key| index.words_of(key)).collect();
    words.into_iter().map(str::to_owned).collect()
}

impl ShardJob for NeededWords {
    type State = Vec<String>;
    const NAME: &'static str = "needed words";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<Vec<String>> {
        let query = TextQuery::parse(&self.query);
        Ok(needed_of(&index_for(&texts_of(shards[0])?, &query), &query))
    }

    fn join(&self, one: Vec<String>, other: Vec<String>) -> Result<Vec<String>> {
        let all: BTreeSet<String> = one.into_iter().chain(other).collect();
        Ok(all.into_iter().collect())
    }
}

impl WordCounts {
    /// The question for what a query needs: its own words, and those of the texts that it finds.
    pub fn of(query: &str, needed: &[String]) -> Self {
        let query = TextQuery::parse(query);
        Self { words: wanted(&query).into_iter().chain(needed.iter().map(String::as_str)).map(str::to_owned).collect() }
    }
}

impl ShardJob for WordCounts {
    type State = CountedWords;
    const NAME: &'static str = "word counts";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<CountedWords> {
        let texts = texts_of(shards[0])?;
        let of_text = |text: &String| -> BTreeSet<String> { words(text).filter(|word| self.words.contains(word)).collect() };
        let found: Vec<Vec<String>> = texts.par_iter().map(|texts| texts.iter().flat_map(of_text).collect()).collect();
        let mut counted = CountedWords { texts: texts.iter().map(|texts| texts.len() as u64).sum(), words: BTreeMap::new() };
        for word in found.into_iter().flatten() {
            *counted.words.entry(word).or_default() += 1;
        }
        Ok(counted)
    }

    fn join(&self, mut one: CountedWords, other: CountedWords) -> Result<CountedWords> {
        one.texts = one.texts.saturating_add(other.texts);
        for (word, texts) in other.words {
            let counted = one.words.entry(word).or_default();
            *counted = counted.saturating_add(texts);
        }
        Ok(one)
    }
}

impl CountedWords {
    /// Counts the texts that an index does not have, so that it weighs its own as one of all would.
    pub(super) fn count_elsewhere(&self, index: &mut TextIndex) {
        let elsewhere = |(word, texts): (&String, &u64)| (word.clone(), (*texts as usize).saturating_sub(index.texts_with(word)));
        let elsewhere: Vec<(String, usize)> = self.words.iter().map(elsewhere).collect();
        index.count_elsewhere((self.texts as usize).saturating_sub(index.len()), elsewhere.into_iter());
    }
}

impl WordsFound {
    /// The question, with no more counts than it needs: a word of one text alone, as the names of
    /// most files are, counts the same where only that text is known.
    pub fn of(query: &str, k: usize, counted: &CountedWords) -> Self {
        let parsed = TextQuery::parse(query);
        let own = wanted(&parsed);
        let mut counted = counted.clone();
        counted.words.retain(|word, texts| *texts > 1 || own.contains(word.as_str()));
        Self { query: query.to_owned(), k, counted }
    }

    fn first(&self, mut found: Vec<WordFound>) -> Vec<WordFound> {
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.image.cmp(&b.image)));
        found.truncate(self.k);
        found
    }

    /// The best of some images, with the scores that the counts give them. Of each image its hash,
    /// its place and its texts are asked for by its number in the index.
    pub(super) fn answers<'a>(&self, mut index: TextIndex, known: impl Fn(usize) -> (ImageHash, &'a str, &'a [String])) -> Vec<WordFound> {
        self.counted.count_elsewhere(&mut index);
        let found = index.search_items(&TextQuery::parse(&self.query)).into_iter().map(|hit| {
            let (image, place, texts) = known(hit.item.0 as usize);
            // Where the name fits best, a caption that fits too is still shown.
            let caption = hit.texts.iter().find(|key| key.part > 0).and_then(|key| texts.get(key.part as usize)).cloned();
            WordFound { image, score: hit.score, place: place.to_owned(), caption, terms: hit.terms }
        });
        self.first(found.collect())
    }
}

impl ShardJob for WordsFound {
    type State = Vec<WordFound>;
    const NAME: &'static str = "words found";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<Vec<WordFound>> {
        let (places, texts) = (shards[0].places()?, texts_of(shards[0])?);
        let index = index_for(&texts, &TextQuery::parse(&self.query));
        Ok(self.answers(index, |i| (shards[0].hashes()[i], &*places[i], &texts[i][..])))
    }

    fn join(&self, one: Vec<WordFound>, other: Vec<WordFound>) -> Result<Vec<WordFound>> {
        Ok(self.first([one, other].concat()))
    }
}

impl Stored for NeededWords {
    fn write(&self, out: &mut Writer) {
        out.put(&self.query);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { query: from.get()? })
    }
}

impl Stored for WordCounts {
    fn write(&self, out: &mut Writer) {
        out.put(&self.words.iter().cloned().collect::<Vec<String>>());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { words: from.get::<Vec<String>>()?.into_iter().collect() })
    }
}

impl Stored for CountedWords {
    fn write(&self, out: &mut Writer) {
        out.put(&self.texts);
        out.count(self.words.len());
        for (word, texts) in &self.words {
            out.put(word);
            out.put(texts);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let texts = from.get()?;
        let n = from.count()?;
        Ok(Self { texts, words: (0..n).map(|_| from.get::<(String, u64)>()).collect::<Result<_>>()? })
    }
}

impl Stored for WordsFound {
    fn write(&self, out: &mut Writer) {
        out.put(&self.query);
        out.count(self.k);
        out.put(&self.counted);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { query: from.get()?, k: from.get::<u64>()? as usize, counted: from.get()? })
    }
}

impl Stored for WordFound {
    fn write(&self, out: &mut Writer) {
        out.put(&self.image);
        out.put(&self.score);
        out.put(&self.place);
        out.put(&self.caption);
        out.put(&self.terms);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { image: from.get()?, score: from.get()?, place: from.get()?, caption: from.get()?, terms: from.get()? })
    }
}
