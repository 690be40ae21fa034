//! Commutative semirings over numbers, and the slopes of their sums and products.

use crate::error::{Error, Result};

/// A commutative semiring over 64-bit numbers, with the derivatives that back-propagation needs.
///
/// Both operations are associative and commutative, products distribute over sums, [`zero`] is the
/// neutral element of sums and absorbs in products, [`one`] is the neutral element of products.
///
/// [`zero`]: Semiring::zero
/// [`one`]: Semiring::one
pub trait Semiring {
    /// The neutral element of sums.
    fn zero(&self) -> f64;

    /// The neutral element of products.
    fn one(&self) -> f64;

    /// Whether a number belongs to the semiring.
    fn contains(&self, value: f64) -> bool;

    /// The product of two numbers.
    fn times(&self, a: f64, b: f64) -> f64;

    /// The sum of numbers, in their order. O(terms).
    fn sum(&self, terms: &[f64]) -> f64;

    /// The derivative of the sum with respect to each term, where `total` is the sum. Of a sum that
    /// is not differentiable, one subgradient. O(terms).
    fn sum_slopes(&self, terms: &[f64], total: f64, slopes: &mut Vec<f64>);

    /// The derivative of the product with respect to each factor. O(factors).
    fn product_slopes(&self, factors: &[f64], slopes: &mut Vec<f64>);

    /// The product of numbers, in their order. O(factors).
    fn product(&self, factors: &[f64]) -> f64 {
        factors.iter().fold(self.one(), |product, &factor| self.times(product, factor))
    }
}

/// The largest term and the sum of factors, over the numbers and minus infinity: the value of the
/// best virtual instance. Its subgradient is 1 for the first of the largest terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxSum;

impl Semiring for MaxSum {
    fn zero(&self) -> f64 {
        f64::NEG_INFINITY
    }

    fn one(&self) -> f64 {
        0.0
    }

    fn contains(&self, value: f64) -> bool {
        value < f64::INFINITY
    }

    fn times(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn sum(&self, terms: &[f64]) -> f64 {
        terms.iter().copied().fold(self.zero(), f64::max)
    }

    fn sum_slopes(&self, terms: &[f64], total: f64, slopes: &mut Vec<f64>) {
        slopes.clear();
        slopes.resize(terms.len(), 0.0);
        if let Some(first) = terms.iter().position(|&term| term == total && total > self.zero()) {
            slopes[first] = 1.0;
        }
    }

    fn product_slopes(&self, factors: &[f64], slopes: &mut Vec<f64>) {
        slopes.clear();
        slopes.resize(factors.len(), 1.0);
    }
}

/// Ordinary sums and products of numbers above 0 in the log domain, scaled by a temperature T: the
/// number x stands for exp(x / T), so a sum is `T ln(exp(a / T) + exp(b / T))` and a product `a +
/// b`; minus infinity stands for 0. As T goes to 0 it becomes [`MaxSum`]. The slopes of a sum are
/// the terms' posterior probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSumProduct {
    temperature: f64,
}

impl Default for LogSumProduct {
    /// Temperature 1.
    fn default() -> Self {
        Self { temperature: 1.0 }
    }
}

impl LogSumProduct {
    /// The semiring of a temperature.
    ///
    /// # Errors
    /// [`Error::Value`] unless it is a number above 0.
    pub fn at(temperature: f64) -> Result<Self> {
        if temperature > 0.0 && temperature.is_finite() {
            Ok(Self { temperature })
        } else {
            Err(Error::value("temperature", "a number above 0", temperature.to_string()))
        }
    }

    /// The temperature.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }
}

impl Semiring for LogSumProduct {
    fn zero(&self) -> f64 {
        f64::NEG_INFINITY
    }

    fn one(&self) -> f64 {
        0.0
    }

    fn contains(&self, value: f64) -> bool {
        value < f64::INFINITY
    }

    fn times(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn sum(&self, terms: &[f64]) -> f64 {
        let most = MaxSum.sum(terms);
        if most == self.zero() {
            return most;
        }
        let sum: f64 = terms.iter().map(|term| ((term - most) / self.temperature).exp()).sum();
        most + self.temperature * sum.ln()
    }

    fn sum_slopes(&self, terms: &[f64], total: f64, slopes: &mut Vec<f64>) {
        slopes.clear();
        let posterior = |term: &f64| if total > self.zero() { ((term - total) / self.temperature).exp() } else { 0.0 };
        slopes.extend(terms.iter().map(posterior));
    }

    fn product_slopes(&self, factors: &[f64], slopes: &mut Vec<f64>) {
        MaxSum.product_slopes(factors, slopes);
    }
}

/// Sums and products of real numbers of either sign as they are, for weights such as those of a
/// support vector machine. Products of many small factors underflow: see [`LogSumProduct`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Real;

impl Semiring for Real {
    fn zero(&self) -> f64 {
        0.0
    }

    fn one(&self) -> f64 {
        1.0
    }

    fn contains(&self, value: f64) -> bool {
        value.is_finite()
    }

    fn times(&self, a: f64, b: f64) -> f64 {
        a * b
    }

    fn sum(&self, terms: &[f64]) -> f64 {
        terms.iter().sum()
    }

    fn sum_slopes(&self, terms: &[f64], _total: f64, slopes: &mut Vec<f64>) {
        slopes.clear();
        slopes.resize(terms.len(), 1.0);
    }

    fn product_slopes(&self, factors: &[f64], slopes: &mut Vec<f64>) {
        // The product of all other factors, without a division: a factor may be 0.
        slopes.clear();
        let mut before = 1.0;
        for factor in factors {
            slopes.push(before);
            before *= factor;
        }
        let mut after = 1.0;
        for (slope, factor) in slopes.iter_mut().zip(factors).rev() {
            *slope *= after;
            after *= factor;
        }
    }
}
