//! Online learning in rounds: predict a class, receive the right one, learn.

use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::random::Rng;

/// A learner's prediction in a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// The class guessed; none before the first class is known.
    pub guess: Option<ClassId>,
    /// The probability with which each class was guessed, `(k)`; empty for a learner that draws
    /// nothing at random.
    pub chances: Vec<f64>,
}

impl Prediction {
    /// A guess that was not drawn at random.
    pub fn certain(guess: Option<usize>) -> Self {
        Self { guess: guess.map(|class| ClassId(class as u32)), chances: Vec::new() }
    }

    /// The expected cost, over the classes that might have been guessed.
    pub fn expected(&self, mut cost: impl FnMut(Option<ClassId>) -> f64) -> f64 {
        if self.chances.is_empty() {
            return cost(self.guess);
        }
        let terms = self.chances.iter().zip(0..).filter(|(chance, _)| **chance > 0.0);
        terms.map(|(chance, class)| chance * cost(Some(ClassId(class)))).sum()
    }
}

impl AsRef<Prediction> for Prediction {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A multiclass learner that plays rounds. Classes need not be announced: one is known once it was
/// the right one for the first time.
pub trait OnlineClassifier {
    /// What `predict` returns and `learn` needs.
    type Round: AsRef<Prediction>;

    /// Makes the first `classes` classes known; those that are known already stay.
    ///
    /// # Errors
    /// [`Error::Value`] for more than [`MOST_CLASSES`].
    fn announce(&mut self, classes: usize) -> Result<()>;

    /// Guesses the class of a query.
    ///
    /// # Errors
    /// [`Error::Value`] when it is no query of this learner: see [`check_query`].
    fn predict(&mut self, q: &[f64], rng: &mut Rng) -> Result<Self::Round>;

    /// Learns the right class of the round just played.
    ///
    /// # Errors
    /// As [`OnlineClassifier::predict`].
    fn learn(&mut self, q: &[f64], round: &Self::Round, truth: ClassId, rng: &mut Rng) -> Result<()>;
}

/// The largest number of classes that any learner takes: beyond it, pairs of classes are counted in
/// millions.
pub const MOST_CLASSES: usize = 1024;

/// Checks that a query has `dimension` components, all finite, and a length of at most 1 + 1e-9.
///
/// # Errors
/// [`Error::Value`].
pub fn check_query(q: &[f64], dimension: usize) -> Result<()> {
    if q.len() != dimension {
        return Err(Error::value("query", format!("{dimension} components"), q.len().to_string()));
    }
    let square: f64 = q.iter().map(|x| x * x).sum();
    if !square.is_finite() || square > 1.0 + 2e-9 {
        return Err(Error::value(
            "query",
            "finite components, of length 1 at most; divide by the greatest length",
            square.sqrt().to_string(),
        ));
    }
    Ok(())
}

/// Checks that the number of classes is allowed.
///
/// # Errors
/// [`Error::Value`] for more than [`MOST_CLASSES`].
pub fn check_classes(classes: usize) -> Result<()> {
    if classes <= MOST_CLASSES {
        return Ok(());
    }
    Err(Error::value("classes", format!("at most {MOST_CLASSES}"), classes.to_string()))
}

/// Checks that a class is allowed, and gives its index.
///
/// # Errors
/// [`Error::Value`] from [`MOST_CLASSES`] on.
pub fn check_class(class: ClassId) -> Result<usize> {
    if class.index() < MOST_CLASSES {
        return Ok(class.index());
    }
    Err(Error::value("class", format!("a number below {MOST_CLASSES}"), class.0.to_string()))
}
