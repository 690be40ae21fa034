//! How the text of a search may go on: by words of captions and names, and by classes.

use std::collections::{HashMap, HashSet};

use tessera_core::library::Library;
use tessera_core::text::{TextQuery, words, words_at};

use super::Session;

/// A way in which the text of a search may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The whole text with it.
    pub text: String,
    /// The word or the class.
    pub word: String,
    /// Where it comes from.
    pub source: CompletionSource,
    /// How many texts have it; of a class, how many images.
    pub count: usize,
}

/// Where a completion comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionSource {
    /// A class.
    Class,
    /// Captions, and perhaps classes and names.
    Caption,
    /// Names of files alone.
    Name,
    /// What was probably meant by a word that nothing has.
    Meant,
}

impl CompletionSource {
    /// It in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Caption => "caption",
            Self::Name => "name",
            Self::Meant => "meant",
        }
    }
}

/// Words of a class that are compared with the end of a text.
const CLASS_WORDS: usize = 4;

impl Session {
    /// At most `n` ways in which the last word of a text may go on: classes first, then words,
    /// those that most texts have first. Where there are none, the words that it may have been
    /// meant as. O(images + words with that beginning).
    pub fn complete(&self, library: &Library, text: &str, n: usize) -> Vec<Completion> {
        let Some(prefix) = TextQuery::typing(text).prefix else { return Vec::new() };
        let starts: Vec<usize> = words_at(text).map(|(at, ..)| at).collect();
        let Some(&last) = starts.last() else { return Vec::new() };
        let mut all = classes(library, text, &starts);
        all.truncate(n);
        let index = library.words();
        let of = |word: String, source: CompletionSource| Completion {
            text: format!("{}{word}", &text[..last]),
            count: index.texts_with(&word),
            word,
            source,
        };
        let source = |word: &str| if index.is_name(word) { CompletionSource::Name } else { CompletionSource::Caption };
        let begun = index.complete(&prefix, n.saturating_add(1)).into_iter().filter(|word| *word != prefix);
        all.extend(begun.map(|word| of(word.clone(), source(&word))));
        if all.is_empty() && !index.knows(&prefix) && index.forms(&prefix).is_empty() {
            all.extend(index.near(&prefix, 1).into_iter().map(|near| of(near.word, CompletionSource::Meant)));
        }
        let mut there = HashSet::new();
        all.retain(|one| there.insert(one.text.clone()));
        all.truncate(n);
        all
    }
}

/// The classes that begin with the last words of a text, of as many words as possible.
fn classes(library: &Library, text: &str, starts: &[usize]) -> Vec<Completion> {
    let folded = |text: &str| words(text).collect::<Vec<_>>().join(" ");
    let state = library.state();
    let named: Vec<(&str, String)> = state.classes().into_iter().map(|(class, _)| (class, folded(class))).collect();
    for &start in starts.iter().rev().take(CLASS_WORDS).rev() {
        let begun = folded(&text[start..]);
        let fitting = named.iter().filter(|(_, name)| name.starts_with(&begun) && *name != begun);
        let mut found: Vec<Completion> = fitting
            .map(|(class, _)| Completion {
                text: format!("{}{class}", &text[..start]),
                word: (*class).to_owned(),
                source: CompletionSource::Class,
                count: 0,
            })
            .collect();
        if !found.is_empty() {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for class in state.images().filter_map(|image| image.label()) {
                *counts.entry(class).or_default() += 1;
            }
            found.iter_mut().for_each(|one| one.count = counts.get(one.word.as_str()).copied().unwrap_or(0));
            found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.word.cmp(&b.word)));
            return found;
        }
    }
    Vec::new()
}
