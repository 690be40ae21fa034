//! A baseline: each pair has a vote, and the class with most votes is guessed.
//!
//! With the paper's update, which teaches only the pair of guess and truth, this may make mistakes
//! for ever while no potential falls: the pair of guess and truth may be right while others vote
//! wrongly (Guruganesh et al. 2021, Remark 3.4).

use super::multiclass::{ContextualOptions, PairUpdate, pair_index};
use super::pair::PairLearner;
use crate::error::Result;
use crate::ids::ClassId;
use crate::learn::{OnlineClassifier, Prediction, check_class, check_classes, check_query};
use crate::random::Rng;

/// The majority of pairs.
#[derive(Clone, Debug)]
pub struct MajorityVote<P> {
    options: ContextualOptions,
    classes: usize,
    pairs: Vec<P>,
}

impl<P: PairLearner> MajorityVote<P> {
    /// A learner without classes; it has no guard.
    ///
    /// # Errors
    /// [`crate::Error::Option`].
    pub fn new(options: &ContextualOptions) -> Result<Self> {
        options.check()?;
        Ok(Self { options: *options, classes: 0, pairs: Vec::new() })
    }
}

impl<P: PairLearner> OnlineClassifier for MajorityVote<P> {
    type Round = Prediction;

    fn announce(&mut self, classes: usize) -> Result<()> {
        check_classes(classes)?;
        self.classes = self.classes.max(classes);
        while self.pairs.len() < self.classes * self.classes.saturating_sub(1) / 2 {
            self.pairs.push(P::new(&self.options.space));
        }
        Ok(())
    }

    fn predict(&mut self, q: &[f64], rng: &mut Rng) -> Result<Prediction> {
        check_query(q, self.options.space.dimension)?;
        let mut votes = vec![0usize; self.classes];
        for a in 0..self.classes {
            for b in a + 1..self.classes {
                if let Some(pair) = self.pairs.get_mut(pair_index(a, b)) {
                    votes[if pair.look(q, rng).first() { a } else { b }] += 1;
                }
            }
        }
        Ok(Prediction::certain((0..self.classes).max_by_key(|&class| (votes[class], std::cmp::Reverse(class)))))
    }

    fn learn(&mut self, q: &[f64], round: &Prediction, truth: ClassId, rng: &mut Rng) -> Result<()> {
        check_query(q, self.options.space.dimension)?;
        let truth = check_class(truth)?;
        self.announce(truth + 1)?;
        for other in (0..self.classes).filter(|&other| other != truth) {
            let taught = self.options.update == PairUpdate::AllPairs || round.guess.map(ClassId::index) == Some(other);
            if let Some(pair) = self.pairs.get_mut(pair_index(truth, other)).filter(|_| taught) {
                let look = pair.look(q, rng);
                pair.learn(q, &look, truth < other);
            }
        }
        Ok(())
    }
}
