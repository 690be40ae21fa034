//! A baseline: halving by a linear program.
//!
//! All centres consistent with the mistakes so far are a polytope; the guess is that of the centre
//! of the largest ball in it (all components between -1 and 1), found anew after each mistake by
//! one linear program. With a margin γ the exact halving algorithm makes O(k d log(1/γ)) mistakes;
//! the centre of the largest ball stands in for the half of the volume, as in Elzinga and Moore, *A
//! central cutting plane algorithm for the convex programming problem*, 1975.

use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::learn::{OnlineClassifier, Prediction, check_class, check_classes, check_query};
use crate::linalg::double::{dot, norm};
use crate::linalg::simplex::maximise;
use crate::random::Rng;

/// The most numbers that centres may consist of.
pub(super) const MOST_NUMBERS: usize = 512;
/// The tolerance by which constraints of mistakes may be violated.
const HAIR: f64 = 1e-10;
/// The most mistakes kept; beyond it the oldest are dropped.
const MOST_MISTAKES: usize = 2000;

/// A learner whose centres lie in the middle of the consistent set.
#[derive(Clone, Debug)]
pub struct Halving {
    dimension: usize,
    /// Row-major `(k, dimension)`.
    centres: Vec<f64>,
    /// Query, truth and guess of each mistake; the query has length 1.
    mistakes: Vec<(Vec<f64>, usize, usize)>,
}

impl Halving {
    /// A learner without classes.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, centres: Vec::new(), mistakes: Vec::new() }
    }

    /// Moves the centres to the middle of the consistent set. If no centres are consistent with the
    /// mistakes, they stay.
    fn centre(&mut self) {
        // x is the difference of two vectors without negative components, and the last column is
        // the ball's radius: all rows hold at 0.
        let n = self.centres.len();
        let width = 2 * n + 1;
        let mut costs = vec![0.0; width];
        costs[2 * n] = 1.0;
        let (mut matrix, mut right) = (Vec::new(), Vec::new());
        for (number, (q, truth, guess)) in self.mistakes.iter().enumerate() {
            // radius * |(q, -q)| - <q, x_truth - x_guess> <= 0, with a tiny tolerance that differs
            // from row to row: if many rows held with equality at the start, the simplex method
            // could make many steps without progress.
            let mut row = vec![0.0; width];
            for (j, q) in q.iter().enumerate() {
                for (class, sign) in [(truth, -1.0), (guess, 1.0)] {
                    let at = class * self.dimension + j;
                    (row[at], row[at + n]) = (sign * q, -sign * q);
                }
            }
            row[2 * n] = std::f64::consts::SQRT_2;
            matrix.extend(row);
            right.push(HAIR * (1.0 + (number as f64 * 0.618_033_988_749_895).fract()));
        }
        for at in 0..2 * n {
            let mut row = vec![0.0; width];
            (row[at % n], row[at % n + n]) = if at < n { (1.0, -1.0) } else { (-1.0, 1.0) };
            row[2 * n] = 1.0;
            matrix.extend(row);
            right.push(1.0);
        }
        if let Some(best) = maximise(&costs, &matrix, &right).filter(|best| best.value > 2.0 * HAIR) {
            for (at, x) in self.centres.iter_mut().enumerate() {
                *x = best.point[at] - best.point[at + n];
            }
        }
    }
}

impl OnlineClassifier for Halving {
    type Round = Prediction;

    fn announce(&mut self, classes: usize) -> Result<()> {
        check_classes(classes)?;
        let numbers = classes * self.dimension;
        if numbers > MOST_NUMBERS {
            let expected = format!("at most {MOST_NUMBERS} numbers for all centres; take fewer classes or dimensions");
            return Err(Error::value("halving", expected, numbers.to_string()));
        }
        if numbers > self.centres.len() {
            self.centres.resize(numbers, 0.0);
        }
        Ok(())
    }

    fn predict(&mut self, q: &[f64], _: &mut Rng) -> Result<Prediction> {
        check_query(q, self.dimension)?;
        let scores: Vec<f64> = self.centres.chunks_exact(self.dimension).map(|centre| dot(centre, q)).collect();
        let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)));
        Ok(Prediction::certain(best))
    }

    fn learn(&mut self, q: &[f64], round: &Prediction, truth: ClassId, _: &mut Rng) -> Result<()> {
        check_query(q, self.dimension)?;
        let truth = check_class(truth)?;
        self.announce(truth + 1)?;
        let length = norm(q);
        if let Some(guess) = round.guess.map(ClassId::index).filter(|&guess| guess != truth && length > 0.0) {
            self.mistakes.push((q.iter().map(|x| x / length).collect(), truth, guess));
            if self.mistakes.len() > MOST_MISTAKES {
                self.mistakes.remove(0);
            }
            self.centre();
        }
        Ok(())
    }
}
