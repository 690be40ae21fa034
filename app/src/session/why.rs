//! Why a search found an image: a score as a sum, and the way through the memory.

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::models::recall::{Reasons, Source};

use super::Session;
use super::search::{Engine, Wanted};

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
    /// The name of its file, or the index, which tell no words apart.
    Text,
    /// It looks like what was shown.
    Look,
}

impl Term {
    /// What it is, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Lesson(query) => format!("called a bad answer to “{query}”"),
            Self::Text => "its words (index)".into(),
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

impl Turn {
    /// Whether the router sends the query to the memory's side.
    pub fn follows(&self) -> bool {
        self.right == (self.margin > 0.0)
    }
}

impl Session {
    /// Why an image is found; `None` when it is not found.
    pub fn why(&self, library: &Library, wanted: &Wanted, image: ItemId) -> Option<Why> {
        let hit = self.search(library, wanted).into_iter().find(|hit| hit.image == image)?;
        let share = if hit.look.is_some() && !wanted.query.is_empty() { 0.5 } else { 1.0 };
        let mut why = Why { image, matched: None, score: hit.score, terms: Vec::new(), ways: Vec::new() };
        let of_words = hit.look.map_or(hit.score, |look| hit.score - share * look);
        let pool = if hit.look.is_some() { self.search_width(wanted) } else { wanted.k };
        let remembered = match wanted.engine {
            Engine::Memory => self.remember(library, wanted, pool).into_iter().find(|found| found.image == image),
            Engine::Index => None,
        };
        // A name may have answered better than any memory; then the memory is not the reason.
        let reasons = remembered.filter(|found| (share * found.score - of_words).abs() < 1e-9);
        why.matched = reasons.as_ref().map(|found| match &found.source {
            Source::Class => "its class".to_owned(),
            Source::Caption(_) => "its caption".to_owned(),
            Source::Lesson(query) => format!("what you said of it: a good answer to “{query}”"),
        });
        match reasons.and_then(|found| library.recall().explain(library.state(), library.words(), &wanted.query, &found)) {
            Some(reasons) => explain(&mut why, reasons, share),
            None if wanted.query.is_empty() => {}
            None => why.terms.push((Term::Text, of_words)),
        }
        if let Some(look) = hit.look {
            why.terms.push((Term::Look, share * look));
        }
        why.terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        Some(why)
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
