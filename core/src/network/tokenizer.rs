//! From words to the numbers that a text encoder takes: byte-pair encoding as CLIP has it.
//!
//! Source: R. Sennrich and others, *Neural machine translation of rare words with subword units*,
//! arXiv 1508.07909; the format is `tokenizer.json` of Hugging Face.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::advice;
use crate::error::{Error, Result};
use crate::json;

/// What the last piece of a word ends in.
const END: &str = "</w>";
/// Bytes of a text that are read.
const LONGEST_TEXT: usize = 4096;
/// Tokens of a text, where the file does not tell.
const USUAL_LENGTH: usize = 77;
/// Tokens of a text, at most.
const LONGEST: usize = 4096;

/// A tokenizer of CLIP's kind.
#[derive(Debug)]
pub struct BytePairs {
    /// The token of each byte within a word, and of each that ends one.
    bytes: Vec<[u32; 2]>,
    /// Of two neighbours that become one: how late, and which.
    merges: HashMap<(u32, u32), (usize, u32)>,
    start: u32,
    end: u32,
    padding: u32,
    length: usize,
}

impl BytePairs {
    /// Reads the text of the `tokenizer.json` at `path`.
    ///
    /// # Errors
    /// [`Error::Data`] when it is of another format, or of another kind than CLIP's.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let wrong = |found: String| Error::data(path, "a tokenizer of byte pairs as CLIP has it", found, advice::TAKE_TOKENIZER);
        let all: Value = json::parse(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        let model = &all["model"];
        if let Some(kind) = model["type"].as_str().filter(|kind| *kind != "BPE") {
            return Err(wrong(format!("one of the kind {kind}")));
        }
        if model["end_of_word_suffix"].as_str() != Some(END) {
            return Err(wrong(format!("one whose words do not end in `{END}`")));
        }
        let (Some(vocabulary), Some(pairs)) = (model["vocab"].as_object(), model["merges"].as_array()) else {
            return Err(wrong("no vocabulary, or no merges".into()));
        };
        let token = |name: &str| vocabulary.get(name).and_then(Value::as_u64).and_then(|token| u32::try_from(token).ok());
        let known = |name: &str| token(name).ok_or_else(|| wrong(format!("no token for `{name}`")));
        let bytes = (0..=255)
            .map(|byte| {
                let letter = letter_of(byte);
                Ok([known(&letter.to_string())?, known(&format!("{letter}{END}"))?])
            })
            .collect::<Result<_>>()?;
        let mut merges = HashMap::with_capacity(pairs.len());
        for (rank, pair) in pairs.iter().enumerate() {
            let parts = match pair {
                Value::String(pair) => pair.split_once(' '),
                _ => pair[0].as_str().zip(pair[1].as_str()),
            };
            let (left, right) = parts.ok_or_else(|| wrong(format!("the merge {pair}")))?;
            merges.entry((known(left)?, known(right)?)).or_insert((rank, known(&format!("{left}{right}"))?));
        }
        let added = |name: &str| {
            let is_it = |token: &&Value| token["content"].as_str() == Some(name);
            let found = all["added_tokens"].as_array().into_iter().flatten().find(is_it);
            found.and_then(|token| u32::try_from(token["id"].as_u64()?).ok()).or_else(|| token(name))
        };
        // The names that the file gives them, or else CLIP's.
        let special = |part: &str, usual: &str| {
            let name = all["post_processor"][part][0].as_str().unwrap_or(usual);
            added(name).ok_or_else(|| wrong(format!("no token `{name}`")))
        };
        let (start, end) = (special("cls", "<|startoftext|>")?, special("sep", "<|endoftext|>")?);
        let padding = all["padding"]["pad_id"].as_u64().and_then(|token| u32::try_from(token).ok()).unwrap_or(end);
        let length = all["truncation"]["max_length"].as_u64().map_or(USUAL_LENGTH, |length| length.min(LONGEST as u64) as usize);
        Ok(Self { bytes, merges, start, end, padding, length: length.max(3) })
    }

    /// The tokens of a text between those of start and end, at most `length` in all, or as many as
    /// the tokenizer allows. Case does not matter. O(l^2) for words of l letters.
    pub fn tokens(&self, text: &str, length: Option<usize>) -> Vec<u32> {
        let text = &text[..text.floor_char_boundary(LONGEST_TEXT)];
        let mut tokens = vec![self.start];
        for word in words(&text.to_lowercase()) {
            tokens.extend(self.merged(word));
        }
        tokens.truncate(length.unwrap_or(self.length).saturating_sub(1).max(1));
        tokens.push(self.end);
        tokens
    }

    /// What fills a text up to a fixed length.
    pub fn padding(&self) -> u32 {
        self.padding
    }

    /// The tokens of a word.
    fn merged(&self, word: &str) -> Vec<u32> {
        let last = word.len() - 1;
        let mut tokens: Vec<u32> =
            word.bytes().enumerate().map(|(i, byte)| self.bytes[usize::from(byte)][usize::from(i == last)]).collect();
        let found = |tokens: &[u32]| {
            let merges = tokens.windows(2).enumerate().filter_map(|(at, pair)| Some((self.merges.get(&(pair[0], pair[1]))?, at)));
            merges.min_by_key(|((rank, _), at)| (*rank, *at)).map(|((_, token), at)| (*token, at))
        };
        while let Some((token, at)) = found(&tokens) {
            tokens[at] = token;
            tokens.remove(at + 1);
        }
        tokens
    }
}

/// The letter that stands for a byte in vocabularies: itself where it can be seen.
fn letter_of(byte: u8) -> char {
    let is_seen = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..);
    if is_seen(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|byte| !is_seen(*byte)).count() as u32;
    char::from_u32(256 + before).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The words of a text: endings such as `'s`, letters, single digits, and runs of other signs.
fn words(text: &str) -> Vec<&str> {
    const ENDINGS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];
    let is_sign = |c: char| !(c.is_whitespace() || c.is_alphabetic() || c.is_numeric());
    let mut rest = text;
    let mut words = Vec::new();
    while let Some(first) = rest.chars().next() {
        let run = |is_in: &dyn Fn(char) -> bool| rest.find(|c| !is_in(c)).unwrap_or(rest.len());
        let length = match first {
            '\'' if ENDINGS.iter().any(|ending| rest.starts_with(ending)) => {
                ENDINGS.iter().find(|ending| rest.starts_with(**ending)).map_or(1, |ending| ending.len())
            }
            _ if first.is_alphabetic() => run(&char::is_alphabetic),
            _ if is_sign(first) => run(&is_sign),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if !first.is_whitespace() {
            words.push(word);
        }
        rest = after;
    }
    words
}
