//! Draws from a discrete distribution in constant time.
//!
//! - Walker, *An efficient method for generating discrete random variables with general
//!   distributions*, 1977; Vose, *A linear algorithm for generating random numbers with a given
//!   distribution*, 1991. Zaheer et al. 2017, appendix A, has the same as triples.

use rand::RngExt as _;

use crate::error::{Error, Result};
use crate::random::Rng;

/// A distribution over n outcomes: O(n) to build, O(1) for a draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AliasTable {
    /// For each outcome the share of its column that is its own, and the outcome of the rest.
    columns: Vec<(f64, u32)>,
}

impl AliasTable {
    /// The table of weights, which need not add up to 1.
    ///
    /// # Errors
    /// [`Error::Value`] when there are none, one is negative or not finite, or all are 0.
    pub fn new(weights: &[f64]) -> Result<Self> {
        let total: f64 = weights.iter().sum();
        if weights.iter().any(|weight| *weight < 0.0) || !(total > 0.0 && total.is_finite()) {
            let found = format!("{} weights of sum {total}", weights.len());
            return Err(Error::value("weights", "finite weights of 0 or more, and one above 0", found));
        }
        let n = weights.len() as f64;
        let mut columns: Vec<(f64, u32)> = weights.iter().zip(0..).map(|(weight, i)| (weight / total * n, i)).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..weights.len() as u32).partition(|i| columns[*i as usize].0 < 1.0);
        while let (Some(low), Some(&high)) = (small.last().copied(), large.last()) {
            small.pop();
            columns[low as usize].1 = high;
            let rest = (columns[high as usize].0 + columns[low as usize].0) - 1.0;
            columns[high as usize].0 = rest;
            if rest < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        // What is left is full but for rounding.
        for i in small.into_iter().chain(large) {
            columns[i as usize] = (1.0, i);
        }
        Ok(Self { columns })
    }

    /// The number of outcomes.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no outcomes: only before the first weights.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Draws an outcome. O(1).
    pub fn draw(&self, rng: &mut Rng) -> usize {
        let at = rng.random::<f64>() * self.columns.len() as f64;
        let column = (at as usize).min(self.columns.len() - 1);
        let (own, other) = self.columns[column];
        if at - (column as f64) < own { column } else { other as usize }
    }

    /// The probability of each outcome, as the columns have it: `(n)`.
    pub fn law(&self) -> Vec<f64> {
        let mut law = vec![0.0; self.columns.len()];
        for (i, (own, other)) in self.columns.iter().enumerate() {
            law[i] += own / self.columns.len() as f64;
            law[*other as usize] += (1.0 - own) / self.columns.len() as f64;
        }
        law
    }
}
