//! For labels that may contradict each other: contextual search beside the averaged Perceptron; the
//! one with fewer mistakes so far answers.
//!
//! The bounds of contextual search hold for labels of centres in the ball only. With wrong labels
//! its scales use up their cuts all the same, while the averaged Perceptron is hardly affected.

use super::multiclass::{Contextual, ContextualOptions, Round};
use super::pair::PairLearner;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::ClassId;
use crate::learn::{OnlineClassifier, Prediction};
use crate::online_linear::{Multiclass, Rule};
use crate::random::Rng;

/// The scale from which on a mistake is taken for a contradiction.
pub const GUARD: u32 = 4;

/// Contextual search and the averaged Perceptron.
#[derive(Clone, Debug, PartialEq)]
pub struct Served<P> {
    contextual: Contextual<P>,
    averaged: Multiclass,
    /// The mean number of mistakes of contextual search, and those of the Perceptron.
    wrong: [f64; 2],
}

/// The predictions of both; the answer is that of the one with fewer mistakes so far.
#[derive(Clone, Debug)]
pub struct ServedRound {
    answer: Prediction,
    contextual: Round,
    averaged: Prediction,
}

impl AsRef<Prediction> for ServedRound {
    fn as_ref(&self) -> &Prediction {
        &self.answer
    }
}

impl<P: PairLearner> Served<P> {
    /// A learner without classes, with the guard at [`GUARD`] where the options have none.
    ///
    /// # Errors
    /// [`crate::Error::Option`].
    pub fn new(options: &ContextualOptions) -> Result<Self> {
        let options = ContextualOptions { guard: options.guard.or(Some(GUARD)), ..*options };
        let averaged = Multiclass::new(Rule::Averaged, options.space.dimension);
        Ok(Self { contextual: Contextual::new(&options)?, averaged, wrong: [0.0; 2] })
    }

    /// Contextual search.
    pub fn contextual(&self) -> &Contextual<P> {
        &self.contextual
    }

    /// The averaged Perceptron.
    pub fn averaged(&self) -> &Multiclass {
        &self.averaged
    }

    /// How contextual search ranks classes: see [`Contextual::scores`].
    ///
    /// # Errors
    /// As [`OnlineClassifier::predict`].
    pub fn contextual_scores(&mut self, q: &[f64], rng: &mut Rng) -> Result<Vec<f64>> {
        self.contextual.scores(q, rng)
    }

    /// Whether contextual search answers now.
    pub fn trusts_contextual(&self) -> bool {
        self.wrong[0] <= self.wrong[1]
    }

    /// Mistakes so far: the mean number of contextual search's, and the Perceptron's.
    pub fn mistakes(&self) -> [f64; 2] {
        self.wrong
    }
}

impl<P: PairLearner> OnlineClassifier for Served<P> {
    type Round = ServedRound;

    fn announce(&mut self, classes: usize) -> Result<()> {
        self.contextual.announce(classes)?;
        self.averaged.announce(classes)
    }

    fn predict(&mut self, q: &[f64], rng: &mut Rng) -> Result<ServedRound> {
        let contextual = self.contextual.predict(q, rng)?;
        let averaged = self.averaged.predict(q, rng)?;
        let answer = if self.trusts_contextual() { contextual.answer.clone() } else { averaged.clone() };
        Ok(ServedRound { answer, contextual, averaged })
    }

    fn learn(&mut self, q: &[f64], round: &ServedRound, truth: ClassId, rng: &mut Rng) -> Result<()> {
        let is_wrong = |guess: Option<ClassId>| if guess == Some(truth) { 0.0 } else { 1.0 };
        self.wrong[0] += round.contextual.answer.expected(is_wrong);
        self.wrong[1] += round.averaged.expected(is_wrong);
        self.contextual.learn(q, &round.contextual, truth, rng)?;
        self.averaged.learn(q, &round.averaged, truth, rng)
    }
}

impl<P: PairLearner> Stored for Served<P> {
    fn write(&self, out: &mut Writer) {
        out.put(&self.contextual);
        out.put(&self.averaged);
        self.wrong.iter().for_each(|x| out.put(x));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let served = Self { contextual: from.get()?, averaged: from.get()?, wrong: [from.get()?, from.get()?] };
        if served.wrong.iter().all(|x| *x >= 0.0 && x.is_finite()) {
            return Ok(served);
        }
        Err(from.wrong("counts of mistakes", format!("{:?}", served.wrong)))
    }
}
