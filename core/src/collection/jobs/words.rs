//! Finding images by words, with the scores that one exact index of all texts would give: how many
//! texts have each word comes first, then scores.

use std::collections::BTreeMap;
use std::path::Path;

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::collection::{ImageHash, Shard};
use crate::error::Result;
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::text::{TextIndex, TextKey, TextQuery};

/// Asks how many texts have each word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCounts;

/// How many texts there are, and how many of them have each word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedWords {
    texts: u64,
    words: BTreeMap<String, u64>,
}

/// Asks for the images whose texts fit a query best.
#[derive(Clone, Debug, PartialEq)]
pub struct WordsFound {
    /// What is looked for, as [`TextQuery::parse`] reads it.
    pub query: String,
    /// How many images are wanted.
    pub k: usize,
    /// Of the whole collection.
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

/// The index of a shard, whose items are places in it. The texts of an image are its class and name
/// and then its captions, as in a library.
fn index_of(places: &[String], classes: &[Option<String>], captions: &[Vec<String>]) -> TextIndex {
    let mut index = TextIndex::default();
    for (i, ((place, class), captions)) in places.iter().zip(classes).zip(captions).enumerate() {
        let item = ItemId(i as u32);
        let name = Path::new(place).with_extension("");
        index.insert(TextKey { item, part: 0 }, &format!("{} {}", class.as_deref().unwrap_or_default(), name.to_string_lossy()));
        for (part, caption) in (1..).zip(captions) {
            index.insert(TextKey { item, part }, caption);
        }
    }
    index
}

impl ShardJob for WordCounts {
    type State = CountedWords;
    const NAME: &'static str = "word counts";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<CountedWords> {
        let index = index_of(&shards[0].places()?, &shards[0].classes()?, &shards[0].captions()?);
        let words = index.frequencies().map(|(word, texts)| (word.to_owned(), texts as u64)).collect();
        Ok(CountedWords { texts: index.len() as u64, words })
    }

    fn join(&self, mut one: CountedWords, other: CountedWords) -> Result<CountedWords> {
        one.texts += other.texts;
        for (word, texts) in other.words {
            *one.words.entry(word).or_default() += texts;
        }
        Ok(one)
    }
}

impl WordsFound {
    fn first(&self, mut found: Vec<WordFound>) -> Vec<WordFound> {
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.image.cmp(&b.image)));
        found.truncate(self.k);
        found
    }
}

impl ShardJob for WordsFound {
    type State = Vec<WordFound>;
    const NAME: &'static str = "words found";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<Vec<WordFound>> {
        let (shard, query) = (shards[0], TextQuery::parse(&self.query));
        let (places, captions) = (shard.places()?, shard.captions()?);
        let mut index = index_of(&places, &shard.classes()?, &captions);
        let elsewhere =
            self.counted.words.iter().map(|(word, texts)| (word.clone(), (*texts as usize).saturating_sub(index.texts_with(word))));
        let elsewhere: Vec<(String, usize)> = elsewhere.collect();
        index.count_elsewhere((self.counted.texts as usize).saturating_sub(index.len()), elsewhere.into_iter());
        let found = index.search_items(&query).into_iter().map(|hit| {
            let i = hit.item.0 as usize;
            // Where the name fits best, a caption that fits too is still shown.
            let caption = hit.texts.iter().find(|key| key.part > 0).map(|key| captions[i][key.part as usize - 1].clone());
            WordFound { image: shard.hashes()[i], score: hit.score, place: places[i].clone(), caption, terms: hit.terms }
        });
        Ok(self.first(found.collect()))
    }

    fn join(&self, one: Vec<WordFound>, other: Vec<WordFound>) -> Result<Vec<WordFound>> {
        Ok(self.first([one, other].concat()))
    }
}

impl Stored for WordCounts {
    fn write(&self, out: &mut Writer) {
        out.put(&());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.get::<()>().map(|()| Self)
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
