//! The game of a round: which class to guess so that the fall of the pairs' potentials covers the
//! expected loss.
//!
//! - Guruganesh, Liu, Schneider and Wang, *Margin-independent online multiclass learning via convex
//!   geometry*, NeurIPS 2021, section 3.2 and Lemma 3.2.

use crate::linalg::simplex::maximise;

/// A square game, row-major: `matrix[truth * k + guess]` is how much guessing `guess` pays when
/// `truth` is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    k: usize,
    matrix: Vec<f64>,
}

/// A mixed strategy for a game, and what it pays.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedStrategy {
    /// The probability of guessing each class, `(k)`: not negative, with the sum 1.
    pub chances: Vec<f64>,
    /// The least expected pay over all truths.
    pub value: f64,
}

impl Game {
    /// A game of `k` classes that pays nothing.
    pub fn new(k: usize) -> Self {
        Self { k, matrix: vec![0.0; k * k] }
    }

    /// Sets what guessing `guess` pays when `truth` is right. Both must be below k.
    pub fn set(&mut self, truth: usize, guess: usize, pays: f64) {
        if let Some(entry) = self.matrix.get_mut(truth * self.k + guess) {
            *entry = pays;
        }
    }

    /// The row of a truth: what each guess pays.
    pub fn row(&self, truth: usize) -> &[f64] {
        self.matrix.get(truth * self.k..).and_then(|rest| rest.get(..self.k)).unwrap_or_default()
    }

    /// The least entry of M + M', the diagonal of zeros included: the game can be played without
    /// loss where this is not negative.
    pub fn least_symmetric(&self) -> f64 {
        let pairs = (0..self.k).flat_map(|a| (0..=a).map(move |b| (a, b)));
        pairs.map(|(a, b)| self.row(a)[b] + self.row(b)[a]).fold(f64::INFINITY, f64::min)
    }

    /// The size of the largest entry.
    pub fn largest(&self) -> f64 {
        self.matrix.iter().fold(0.0f64, |most, x| most.max(x.abs()))
    }

    /// The mixed strategy that pays most in the worst case. A single class that never pays less
    /// than 0 is taken at once, the lowest of several; otherwise the linear program "largest t with
    /// M v >= t, v a distribution" is solved exactly. With m the largest size of an entry, M/m + 2
    /// has entries from 1 to 3; the program "largest sum of y with (M/m + 2)' y <= 1, y >= 0" has
    /// as its prices v over its value. O(k^2) a step of the simplex method.
    pub fn solve(&self) -> MixedStrategy {
        let k = self.k;
        let pure = |guess: usize| {
            let mut chances = vec![0.0; k];
            if let Some(chance) = chances.get_mut(guess) {
                *chance = 1.0;
            }
            MixedStrategy { value: self.paid(&chances), chances }
        };
        if let Some(guess) = (0..k).find(|&guess| (0..k).all(|truth| self.matrix[truth * k + guess] >= 0.0)) {
            return pure(guess);
        }
        let most = self.largest();
        let mut transposed = vec![0.0; k * k];
        for truth in 0..k {
            for guess in 0..k {
                transposed[guess * k + truth] = self.matrix[truth * k + guess] / most + 2.0;
            }
        }
        let ones = vec![1.0; k];
        let prices = maximise(&ones, &transposed, &ones).map(|best| best.prices).filter(|prices| prices.iter().sum::<f64>() > 0.0);
        match prices {
            Some(prices) => {
                let sum: f64 = prices.iter().sum();
                let chances: Vec<f64> = prices.iter().map(|price| price / sum).collect();
                MixedStrategy { value: self.paid(&chances), chances }
            }
            None => pure(0),
        }
    }

    /// The least expected pay of these chances over all truths.
    fn paid(&self, chances: &[f64]) -> f64 {
        let row = |truth: usize| self.row(truth).iter().zip(chances).map(|(pays, chance)| pays * chance).sum::<f64>();
        (0..self.k).map(row).fold(f64::INFINITY, f64::min)
    }
}
