//! Explains why a search found an image: its score as a sum, and its path through the memory tree.

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::models::caption_memory::{MemorySource, RecallExplanation, Weighed};

use super::Session;
use super::search::{Engine, SearchHit, SearchRequest};

/// The explanation of a hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The image.
    pub image: ItemId,
    /// The text of it that matched best; only where the caption memory answered.
    pub matched: Option<String>,
    /// Its score.
    pub score: f64,
    /// The terms whose sum it is, up to rounding, the largest first.
    pub terms: Vec<(Term, f64)>,
    /// The path through each tree to the memory that answered.
    pub ways: Vec<Way>,
}

/// A term of a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A word of the query in its class or a caption, and how the query has it where that differs.
    Word(String, Option<String>),
    /// The same of the name of its file.
    Name(String, Option<String>),
    /// It was rewarded as a good answer to this query.
    Good(String),
    /// It was rewarded as a bad answer to this query.
    Bad(String),
    /// A word that the network guesses, with its probability in percent.
    Guess(String, u32),
    /// What it looks like fits the query, with the cosine by the pair of encoders in hundredths.
    Likeness(i32),
    /// Its similarity to the image that hits are to resemble.
    Look,
}

impl Term {
    /// The term in words.
    pub fn words(&self) -> String {
        match self {
            Self::Word(word, None) => word.clone(),
            Self::Word(word, Some(typed)) => typed_words(word, typed),
            Self::Name(word, None) => format!("{word} (file name)"),
            Self::Name(word, Some(typed)) => format!("{word} (file name; you typed {typed})"),
            Self::Good(query) => format!("called a good answer to “{query}”"),
            Self::Bad(query) => format!("called a bad answer to “{query}”"),
            Self::Guess(noun, percent) => format!("guessed: {noun}, {:.2}", f64::from(*percent) / 100.0),
            Self::Likeness(hundredths) => format!("by what it looks like, {:.2}", f64::from(*hundredths) / 100.0),
            Self::Look => "looks alike".into(),
        }
    }
}

/// A word that was found in place of one that was typed.
pub fn typed_words(word: &str, typed: &str) -> String {
    format!("{word} (you typed {typed})")
}

/// A path from the root of a tree to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The tree's number, from 1.
    pub tree: usize,
    /// The routers on the path.
    pub turns: Vec<RouterReason>,
    /// Memories in the leaf.
    pub memories: usize,
}

/// A router on a path.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterReason {
    /// Its margin for the query, from -1 (left) to 1 (right).
    pub margin: f64,
    /// The side on which the memory lies.
    pub right: bool,
    /// Memories on the left and on the right.
    pub counts: [u32; 2],
    /// The words of the query that moved it most, and by how much.
    pub words: Vec<(String, f64)>,
}

/// A number of memories in words.
pub fn memories(n: usize) -> String {
    if n == 1 { "1 memory".to_owned() } else { format!("{n} memories") }
}

impl RouterReason {
    /// Whether the router sends the query to the memory's side.
    pub fn follows(&self) -> bool {
        self.right == (self.margin > 0.0)
    }
}

impl Session {
    /// The explanation of a hit.
    pub fn why(&self, library: &Library, wanted: &SearchRequest, hit: &SearchHit) -> Why {
        let has_words = !wanted.query.is_empty();
        let share = if wanted.like.is_some() && has_words { 0.5 } else { 1.0 };
        let mut why = Why { image: hit.image, matched: None, score: hit.score, terms: Vec::new(), ways: Vec::new() };
        let look = hit.look.map(|look| share * look);
        if has_words && wanted.engine == Engine::Index {
            let terms = library.words().weigh(&wanted.query, hit.image).map(|found| found.terms).unwrap_or_default();
            why.terms.extend(terms.into_iter().map(|(word, value)| (Term::Word(word, None), share * value)));
        } else if has_words {
            let reasons = library.ask(&wanted.query).explain(hit.image);
            why.matched = Some(match reasons.weighed.by.as_ref().map(|(_, source)| source) {
                Some(MemorySource::Class) => "its class".to_owned(),
                Some(MemorySource::Caption(_)) => "its caption".to_owned(),
                Some(MemorySource::Lesson(query)) => format!("what you said of it: a good answer to “{query}”"),
                None => "the name of its file".to_owned(),
            });
            if reasons.weighed.score == 0.0 && !hit.guessed.is_empty() {
                why.matched = Some("a guess of the network".to_owned());
            } else if reasons.weighed.score == 0.0 && hit.likeness.is_some() {
                why.matched = Some("what it looks like".to_owned());
            }
            explain(&mut why, reasons, share);
        }
        let percent = |chance: f64| (100.0 * chance).round() as u32;
        let guesses = hit.guessed.iter().map(|word| (Term::Guess(word.guess.noun.clone(), percent(word.guess.chance)), share * word.value));
        why.terms.extend(guesses);
        let hundredths = |cosine: f64| (100.0 * cosine).round() as i32;
        why.terms.extend(hit.likeness.map(|likeness| (Term::Likeness(hundredths(likeness.cosine)), share * likeness.value)));
        why.terms.extend(look.map(|look| (Term::Look, look)));
        why.terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        why
    }
}

fn explain(why: &mut Why, reasons: RecallExplanation, share: f64) {
    let RecallExplanation { weighed, paths, names } = reasons;
    let Weighed { terms, lessons, .. } = weighed;
    why.terms.extend(terms.into_iter().map(|term| {
        let typed = term.is_read().then(|| term.written.clone());
        let kind = if term.by_name { Term::Name } else { Term::Word };
        (kind(term.word, typed), share * term.value)
    }));
    let lesson = |(query, value): (String, f64)| (if value > 0.0 { Term::Good(query) } else { Term::Bad(query) }, share * value);
    why.terms.extend(lessons.into_iter().map(lesson));
    why.ways = paths
        .into_iter()
        .map(|path| Way {
            tree: path.tree + 1,
            memories: path.memories,
            turns: path
                .turns
                .into_iter()
                .map(|turn| RouterReason {
                    margin: turn.margin,
                    right: turn.right,
                    counts: turn.counts,
                    words: turn.features.iter().filter_map(|(feature, value)| Some((names.get(feature)?.clone(), *value))).collect(),
                })
                .collect(),
        })
        .collect();
}
