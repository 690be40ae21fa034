//! Linear functions of sparse vectors that learn one example at a time, and of dense ones for many
//! classes ([`Multiclass`]).
//!
//! - Ross, Mineiro and Langford, *Normalized online learning*, UAI 2013: rates that do not depend
//!   on the scale of a feature.
//! - Duchi, Hazan and Singer, *Adaptive subgradient methods*, JMLR 2011: a rate for each feature,
//!   from its past gradients.
//! - Karampatziakis and Langford, *Online importance weight aware updates*, UAI 2011: an example of
//!   importance h teaches what h examples would, in the limit of small steps, and never overshoots
//!   its label.
//!
//! ```
//! use tessera_core::online_linear::{AdaptiveLinear, OnlineRegressor, LinearOptions};
//! use tessera_core::sparse::SparseVec;
//!
//! let mut learner = AdaptiveLinear::new(&LinearOptions::default());
//! let (warm, cold) = (SparseVec::new(&[0], &[1.0])?, SparseVec::new(&[1], &[1.0])?);
//! for _ in 0..9 {
//!     learner.update(&warm, 1.0, 1.0);
//!     learner.update(&cold, -1.0, 1.0);
//! }
//! assert!(learner.predict(&warm) > 0.5 && learner.predict(&cold) < -0.5);
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod multiclass;
mod rows;
mod table;

use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::sparse::SparseVec;
pub use multiclass::{Multiclass, Rule};
pub use rows::FeatureRows;
use table::{ABSENT, Slot, Table};

/// A function of sparse vectors that predicts a number and learns from the right one.
pub trait OnlineRegressor {
    /// The prediction for `x`. Always finite.
    fn predict(&self, x: &SparseVec) -> f64;

    /// Predicts, calls `teach` with the prediction to get the label and its importance, learns
    /// them, and returns the new prediction. An importance that is not above zero, or anything that
    /// is not finite, teaches nothing.
    fn step(&mut self, x: &SparseVec, teach: impl FnOnce(f64) -> (f32, f32)) -> f64;

    /// Learns that `x` has the label `y`, as if it came `importance` times.
    fn update(&mut self, x: &SparseVec, y: f32, importance: f32) {
        self.step(x, |_| (y, importance));
    }
}

/// How a linear function learns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearOptions {
    /// How far an example moves the prediction towards its label: above 0, at most 100. With r
    /// features seen for the first time and the label 1, a prediction of 0 becomes about 1 -
    /// exp(-rate sqrt(r)).
    pub rate: f32,
    /// Whether there is a constant feature besides those of the vectors.
    pub constant: bool,
    /// Whether predictions are clipped to -1..1, the range of the labels.
    pub clipped: bool,
}

impl Default for LinearOptions {
    fn default() -> Self {
        Self { rate: 0.5, constant: true, clipped: true }
    }
}

impl LinearOptions {
    /// Makes sure that the options are in range.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn check(&self) -> Result<()> {
        check_rate("rate", self.rate)
    }
}

/// Makes sure that a rate of learning is in range.
///
/// # Errors
/// [`Error::Option`] under the name `name`.
pub fn check_rate(name: &'static str, rate: f32) -> Result<()> {
    if rate > 0.0 && rate <= 100.0 {
        return Ok(());
    }
    Err(Error::Option { name, found: rate.to_string(), expected: "above 0 and at most 100" })
}

/// Squared loss, learned with rates that adapt to each feature's gradients and scale, by steps that
/// respect importance.
///
/// With N the largest size of a feature seen so far, everything is kept for the feature divided by
/// N: its weight is then the same at any scale, and nothing overflows. In these units an example
/// with features q, label y, prediction p and importance h adds h (2 (p - y) q)^2 to each feature's
/// G; with r = sqrt(W / S), W the importance and S the importance times |q|^2 of all examples, and
/// v = r sum(q^2 / sqrt(G)), weights grow by (y - p) (1 - exp(-2 rate h v)) / v times r q /
/// sqrt(G). When N grows to N', G shrinks by (N / N')^2 and the weight stays.
///
/// 16 bytes a feature in a table at least half full. Predicting and learning are O(features of x).
#[derive(Clone, Debug)]
pub struct AdaptiveLinear {
    options: LinearOptions,
    table: Table,
    /// The weight and G of the constant feature.
    constant: (f32, f32),
    /// W and S.
    importance: f64,
    scaled: f64,
}

/// Vectors with no more features than this are learned without allocating.
const KEPT: usize = 64;

impl AdaptiveLinear {
    /// A function that is zero everywhere. It allocates nothing before it learns.
    pub fn new(options: &LinearOptions) -> Self {
        Self { options: *options, table: Table::default(), constant: (0.0, 0.0), importance: 0.0, scaled: 0.0 }
    }

    /// A function with the sign of x\[feature\] - `threshold`, exactly, and 0 where they are equal,
    /// as if it had learned it from one example. `scale` is about the size of that component. It
    /// has a constant feature.
    pub fn step_at(options: &LinearOptions, feature: u32, threshold: f32, scale: f32) -> Self {
        // Dividing by a power of two does not round, as long as the quotient is not too small.
        let unit = |size: f32| 2f64.powi(f64::from(size.abs()).clamp(1e-30, 1e30).log2().ceil() as i32) as f32;
        let mut scale = unit(scale);
        if threshold != 0.0 && (threshold / scale).abs() < 1e-30 {
            scale = unit(threshold);
        }
        let mut made = Self::new(&LinearOptions { constant: true, ..*options });
        made.table.reserve(1);
        made.table.enter(Slot { index: feature, weight: 1.0, gradient: 1.0, scale });
        made.constant = (-threshold / scale, 1.0);
        (made.importance, made.scaled) = (1.0, 2.0);
        made
    }

    /// The options it learns by.
    pub fn options(&self) -> &LinearOptions {
        &self.options
    }

    /// The number of features it has learned about.
    pub fn n_features(&self) -> usize {
        self.table.len()
    }

    /// The bytes of the table of features.
    pub fn table_bytes(&self) -> usize {
        self.table.size() * size_of::<Slot>()
    }

    /// What one unit of a feature adds to the prediction.
    pub fn weight(&self, index: u32) -> f64 {
        self.table.get(self.table.find(index)).map_or(0.0, |slot| slot.term(1.0))
    }

    /// What one unit of each feature that it has learned about adds to the prediction, by ascending
    /// feature.
    pub fn weights(&self) -> impl Iterator<Item = (u32, f64)> {
        self.table.sorted().into_iter().map(|slot| (slot.index, slot.term(1.0)))
    }

    /// What the constant feature adds to every prediction.
    pub fn constant(&self) -> f64 {
        f64::from(self.constant.0)
    }

    /// What each feature of `x` adds to its prediction. They and [`AdaptiveLinear::constant`] sum
    /// up to it, before clipping.
    pub fn terms<'a>(&'a self, x: &'a SparseVec) -> impl Iterator<Item = (u32, f64)> + 'a {
        let term = |&(index, value): &(u32, f32)| Some((index, self.table.get(self.table.find(index))?.term(value)));
        x.entries().iter().filter_map(term)
    }

    fn bounded(&self, sum: f64) -> f64 {
        if self.options.clipped { sum.clamp(-1.0, 1.0) } else { sum }
    }

    /// [`OnlineRegressor::step`] for features that need not be a vector's: ascending, each once,
    /// finite, not zero.
    pub(crate) fn step_on(&mut self, x: &[(u32, f32)], teach: impl FnOnce(f64) -> (f32, f32)) -> f64 {
        let mut few = [ABSENT; KEPT];
        let mut many = Vec::new();
        let places: &mut [u32] = if x.len() <= KEPT {
            &mut few[..x.len()]
        } else {
            many.resize(x.len(), ABSENT);
            &mut many
        };
        let mut sum = self.constant();
        let mut new = 0;
        for (place, &(index, value)) in places.iter_mut().zip(x) {
            *place = self.table.find(index);
            match self.table.get(*place) {
                Some(slot) => sum += slot.term(value),
                None => new += 1,
            }
        }
        let before = self.bounded(sum);
        let (label, importance) = teach(before);
        let error = f64::from(label) - before;
        let importance = f64::from(importance);
        let gradient = 4.0 * importance * error * error;
        // The squares are kept as f32: below this they would be zero, above infinite.
        let learns = importance > 0.0 && gradient >= f64::from(f32::MIN_POSITIVE) && gradient < 1e30;
        if !learns || (x.is_empty() && !self.options.constant) {
            return before;
        }
        if new > 0 {
            if self.table.reserve(new) {
                places.fill(ABSENT);
            }
            for (place, &(index, value)) in places.iter_mut().zip(x) {
                if *place == ABSENT {
                    *place = self.table.enter(Slot { index, weight: 0.0, gradient: 0.0, scale: value.abs() });
                }
            }
        }
        let (mut square, mut spread) = (0.0, 0.0);
        if self.options.constant {
            self.constant.1 += gradient as f32;
            square = 1.0;
            spread = 1.0 / f64::from(self.constant.1).sqrt();
        }
        for (&place, &(_, value)) in places.iter().zip(x) {
            let slot = self.table.at(place);
            slot.see(value);
            let q = slot.unit(value);
            slot.gradient = (f64::from(slot.gradient) + gradient * q * q) as f32;
            square += q * q;
            spread += q * q / f64::from(slot.gradient).sqrt();
        }
        self.importance += importance;
        self.scaled += importance * square;
        let rate = (self.importance / self.scaled).sqrt();
        let per_unit = rate * spread;
        let exponent = 2.0 * f64::from(self.options.rate) * importance * per_unit;
        let unit = error * if exponent < 1e-6 { exponent } else { -(-exponent).exp_m1() } / per_unit * rate;
        let moved = |weight: f32, q: f64, gradient: f32| {
            let weight = f64::from(weight) + unit * q / f64::from(gradient).sqrt();
            weight.clamp(-1e30, 1e30) as f32
        };
        if self.options.constant {
            self.constant.0 = moved(self.constant.0, 1.0, self.constant.1);
        }
        let mut sum = self.constant();
        for (&place, &(_, value)) in places.iter().zip(x) {
            let slot = self.table.at(place);
            slot.weight = moved(slot.weight, slot.unit(value), slot.gradient);
            sum += slot.term(value);
        }
        self.bounded(sum)
    }
}

impl OnlineRegressor for AdaptiveLinear {
    fn predict(&self, x: &SparseVec) -> f64 {
        self.bounded(self.terms(x).fold(self.constant(), |sum, (_, term)| sum + term))
    }

    fn step(&mut self, x: &SparseVec, teach: impl FnOnce(f64) -> (f32, f32)) -> f64 {
        self.step_on(x.entries(), teach)
    }
}

/// By ascending feature, so that equal functions have equal bytes.
impl Stored for AdaptiveLinear {
    fn write(&self, out: &mut Writer) {
        out.put(&self.options.rate);
        out.put(&self.options.constant);
        out.put(&self.options.clipped);
        out.put(&self.constant.0);
        out.put(&self.constant.1);
        out.put(&self.importance);
        out.put(&self.scaled);
        let slots = self.table.sorted();
        out.count(slots.len());
        for slot in slots {
            out.put(&slot.index);
            out.put(&slot.weight);
            out.put(&slot.gradient);
            out.put(&slot.scale);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let options = LinearOptions { rate: from.get()?, constant: from.get()?, clipped: from.get()? };
        options.check()?;
        let mut made = Self::new(&options);
        made.constant = (from.finite()?, from.finite()?);
        (made.importance, made.scaled) = (from.get()?, from.get()?);
        let sum = |sum: f64| sum.is_finite() && sum >= 0.0;
        if !(sum(made.importance) && sum(made.scaled) && made.constant.1 >= 0.0) {
            return Err(from.wrong("sums of squares", format!("{}, {} and {}", made.importance, made.scaled, made.constant.1)));
        }
        let n = from.count()?;
        made.table.reserve(n);
        let mut last = None;
        for _ in 0..n {
            let slot = Slot { index: from.get()?, weight: from.finite()?, gradient: from.get()?, scale: from.finite()? };
            if !(slot.gradient > 0.0 && slot.scale > 0.0) || last.is_some_and(|last| last >= slot.index) {
                return Err(from.wrong("features in order with sizes above zero", format!("{slot:?}")));
            }
            last = Some(slot.index);
            made.table.enter(slot);
        }
        Ok(made)
    }
}
