//! Queries, parsed from the text that a user types.

use super::tokens::{ends_in_a_word, words};

const QUOTES: [char; 4] = ['"', '“', '”', '„'];

/// What a text should have and must not have; all words as [`words`] gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextQuery {
    /// Words wanted: the more of them a text has, the better.
    pub words: Vec<String>,
    /// Phrases, each of which a text must have: these words next to each other, in this order. They
    /// count as wanted too.
    pub phrases: Vec<Vec<String>>,
    /// Phrases, often of one word, none of which a text may have.
    pub unwanted: Vec<Vec<String>>,
    /// The beginning of one more word wanted.
    pub prefix: Option<String>,
}

impl TextQuery {
    /// Reads `red truck -boat "left side"`: words wanted, words not wanted, words in a row.
    ///
    /// `-"left side"` and `-left_side` do not want these words in a row. A quote that is never
    /// closed quotes nothing, but after a dash reaches to the end. A dash alone means nothing, a
    /// dash inside a word parts two words.
    pub fn parse(text: &str) -> Self {
        read(text, false)
    }

    /// As [`TextQuery::parse`], for a text that is still being typed: a wanted word at its very end
    /// may be unfinished.
    pub fn typing(text: &str) -> Self {
        read(text, true)
    }

    /// Whether nothing is wanted, so that nothing is found.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty() && self.prefix.is_none()
    }
}

fn read(text: &str, typing: bool) -> TextQuery {
    let mut query = TextQuery::default();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let bare = rest.trim_start_matches('-');
        let unwanted = bare.len() < rest.len();
        let list = if unwanted { &mut query.unwanted } else { &mut query.phrases };
        if let Some(quoted) = bare.strip_prefix(QUOTES) {
            let (inside, after) = match quoted.split_once(QUOTES) {
                Some(parts) => parts,
                None if unwanted => (quoted, ""),
                None => ("", quoted),
            };
            list.push(words(inside).collect());
            rest = after.trim_start();
            continue;
        }
        let (term, after) = bare.split_at(bare.find(|c: char| c.is_whitespace() || QUOTES.contains(&c)).unwrap_or(bare.len()));
        if unwanted {
            list.push(words(term).collect());
        } else {
            query.words.extend(words(term));
            if typing && after.is_empty() && ends_in_a_word(term) {
                query.prefix = query.words.pop();
            }
        }
        rest = after.trim_start();
    }
    query.phrases.retain(|phrase| !phrase.is_empty());
    query.unwanted.retain(|phrase| !phrase.is_empty());
    query
}
