//! What a user asks for in words: `red truck -boat "left side"`.

use super::tokens::words;

/// A search in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words that a text should have; the more, the better it fits.
    pub wanted: Vec<String>,
    /// The start of a word that is still being typed.
    pub prefix: Option<String>,
    /// Words that a text must not have.
    pub unwanted: Vec<String>,
    /// Words that a text must have side by side, in this order.
    pub phrases: Vec<Vec<String>>,
}

impl Query {
    /// Reads a query: words, `-word` for what must not be there, `"words in quotes"` for what must stand together. A
    /// quote that is not closed goes to the end. Any text is a query.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        for (i, part) in text.split('"').enumerate() {
            if i % 2 == 1 {
                let phrase: Vec<String> = words(part).collect();
                query.wanted.extend(phrase.iter().cloned());
                if phrase.len() > 1 {
                    query.phrases.push(phrase);
                }
                continue;
            }
            for piece in part.split_whitespace() {
                match piece.strip_prefix('-') {
                    Some(unwanted) => query.unwanted.extend(words(unwanted)),
                    None => query.wanted.extend(words(piece)),
                }
            }
        }
        query
    }

    /// Reads a query that is still being typed: unless a blank or a quote follows it, the last word may go on.
    pub fn typing(text: &str) -> Self {
        let mut query = Self::parse(text);
        let is_open = text.chars().next_back().is_some_and(char::is_alphanumeric) && text.matches('"').count().is_multiple_of(2);
        let last_is_wanted = text.split_whitespace().next_back().is_some_and(|piece| !piece.starts_with('-'));
        if is_open && last_is_wanted {
            query.prefix = query.wanted.pop();
        }
        query
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.prefix.is_none()
    }
}
