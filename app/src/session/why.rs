//! Why a search found an image: a score as a sum, and the way through the memory.

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::models::recall::{Reasons, Source};

use super::Session;
use super::search::{Engine, Hit, Wanted};

/// Why an image was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The image.
    pub image: ItemId,
    /// What of it answered, in words, where a memory did.
    pub matched: Option<String>,
    /// Its score.
    pub score: f64,
    /// What that is the sum of, but for rounding, the most first.
    pub terms: Vec<(Term, f64)>,
    /// The way through each tree to the memory that answered.
    pub ways: Vec<Way>,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A word that query and memory share.
    Word(String),
    /// An answer to this query was called bad.
    Lesson(String),
    /// The name of its file.
    Name,
    /// What the index says of its texts; it tells no words apart.
    Index,
    /// It looks like what was shown.
    Look,
}

impl Term {
    /// What it is, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Lesson(query) => format!("called a bad answer to “{query}”"),
            Self::Name => "the name of its file".into(),
            Self::Index => "its texts (index)".into(),
            Self::Look => "looks alike".into(),
        }
    }
}

/// A way from the root of a tree to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The tree's number, from 1.
    pub tree: usize,
    /// The routers on the way.
    pub turns: Vec<Turn>,
    /// Memories in the leaf.
    pub memories: usize,
}

/// A router on a way.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// What it says of the query, -1 (left) to 1 (right).
    pub margin: f64,
    /// The side on which the memory lies.
    pub right: bool,
    /// Memories on the left and on the right.
    pub counts: [u32; 2],
    /// The words of the query that moved it most, and by how much.
    pub words: Vec<(String, f64)>,
}

/// So many memories, in words.
pub fn memories(n: usize) -> String {
    if n == 1 { "1 memory".to_owned() } else { format!("{n} memories") }
}

impl Turn {
    /// Whether the router sends the query to the memory's side.
    pub fn follows(&self) -> bool {
        self.right == (self.margin > 0.0)
    }
}

impl Session {
    /// Why an image was found.
    pub fn why(&self, library: &Library, wanted: &Wanted, hit: &Hit) -> Why {
        let has_words = !wanted.query.is_empty();
        let share = if wanted.like.is_some() && has_words { 0.5 } else { 1.0 };
        let mut why = Why { image: hit.image, matched: None, score: hit.score, terms: Vec::new(), ways: Vec::new() };
        let look = hit.look.map(|look| share * look);
        let reasons = hit.remembered.as_ref().and_then(|found| {
            let reasons = library.recall().explain(library.state(), library.words(), &wanted.query, found)?;
            Some((found, reasons))
        });
        match reasons {
            Some((found, reasons)) => {
                why.matched = Some(match &found.source {
                    Source::Class => "its class".to_owned(),
                    Source::Caption(_) => "its caption".to_owned(),
                    Source::Lesson(query) => format!("what you said of it: a good answer to “{query}”"),
                });
                explain(&mut why, reasons, share);
            }
            None if has_words => {
                let term = if wanted.engine == Engine::Index { Term::Index } else { Term::Name };
                why.terms.push((term, hit.score - look.unwrap_or(0.0)));
            }
            None => {}
        }
        why.terms.extend(look.map(|look| (Term::Look, look)));
        why.terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        why
    }
}

fn explain(why: &mut Why, reasons: Reasons, share: f64) {
    let Reasons { words, lessons, paths, names, .. } = reasons;
    why.terms.extend(words.into_iter().map(|(word, value)| (Term::Word(word), share * value)));
    why.terms.extend(lessons.into_iter().map(|(query, value)| (Term::Lesson(query), share * value)));
    why.ways = paths
        .into_iter()
        .map(|path| Way {
            tree: path.tree + 1,
            memories: path.memories,
            turns: path
                .turns
                .into_iter()
                .map(|turn| Turn {
                    margin: turn.margin,
                    right: turn.right,
                    counts: turn.counts,
                    words: turn.features.iter().filter_map(|(feature, value)| Some((names.get(feature)?.clone(), *value))).collect(),
                })
                .collect(),
        })
        .collect();
}
