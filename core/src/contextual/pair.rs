//! Learners of one pair of classes: their space, their predictions, and the trait of them.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::random::Rng;

/// Where the hidden vector w lies and how mistakes are counted. w is the first class's centre minus
/// the second's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSpace {
    /// Components of a query, 1 or more.
    pub dimension: usize,
    /// The largest length w may have; 2 where centres lie in the unit ball.
    pub radius: f64,
    /// The power of the loss, the paper's α: a mistake costs |<q, w>| to this power.
    pub power: f64,
    /// The least |<q, w>| of any query of the pair, if it is known: every mistake then costs 1,
    /// whatever its size.
    pub margin: Option<f64>,
}

impl PairSpace {
    /// Queries and centres in the unit ball of `dimension` dimensions, with the plain loss (power
    /// 1).
    pub fn unit(dimension: usize) -> Self {
        Self { dimension, radius: 2.0, power: 1.0, margin: None }
    }

    /// Checks that all values are in range.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn check(&self) -> Result<()> {
        let wrong = |name, found: String, expected| Err(Error::Option { name, found, expected });
        if !(1..=4096).contains(&self.dimension) {
            return wrong("dimension", self.dimension.to_string(), "from 1 to 4096");
        }
        if !(self.radius > 0.0 && self.radius <= 1e6) {
            return wrong("radius", self.radius.to_string(), "above 0 and at most 1e6");
        }
        if !(0.01..=16.0).contains(&self.power) {
            return wrong("loss_power", self.power.to_string(), "from 0.01 to 16");
        }
        match self.margin {
            Some(margin) if !(1e-12..=self.radius).contains(&margin) => {
                wrong("margin", margin.to_string(), "from 1e-12 to the largest length of a difference of centres")
            }
            _ => Ok(()),
        }
    }

    /// The width ε of a scale: the radius over 2^scale.
    pub fn width(&self, scale: u32) -> f64 {
        self.radius * 0.5f64.powi(scale as i32)
    }

    /// The largest loss of a mistake at a scale, by which the potential falls: (2 ε)^α; 1 with a
    /// known margin.
    pub fn price(&self, scale: u32) -> f64 {
        if self.margin.is_some() { 1.0 } else { (2.0 * self.width(scale)).powf(self.power) }
    }

    /// The factor f for which D - f L is a game that can be played without loss: see [`super`].
    pub fn share(&self) -> f64 {
        if self.margin.is_some() { 0.5 } else { 2f64.powf(self.power.min(1.0) - 1.0) }
    }

    /// The largest losses of the two wrong guesses, from bounds on <q, w>, and which classes cannot
    /// be right.
    pub(super) fn stakes(&self, lo: f64, hi: f64) -> ([f64; 2], [bool; 2]) {
        match self.margin {
            None => ([hi.max(0.0).powf(self.power), (-lo).max(0.0).powf(self.power)], [false; 2]),
            Some(margin) => {
                // Rounding must not exclude the right class.
                let excluded = [hi < margin * (1.0 - 1e-9), -lo < margin * (1.0 - 1e-9)];
                (excluded.map(|is| if is { 0.0 } else { 1.0 }), excluded)
            }
        }
    }
}

/// The prediction of a pair's learner for a query, before the label is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPrediction {
    /// The active scale: the coarsest at which the query is not decided yet. `None` where it is
    /// decided on all scales, or rounding errors would decide; the loss of a mistake is then at
    /// most that of `losses`, and nothing is learned from it.
    pub scale: Option<u32>,
    /// Above 0 where the first class is predicted, below 0 where the second is: by ellipsoids <q,
    /// c>, by polytopes how much more of the volume than half is on the first class's side.
    pub middle: f64,
    /// A lower bound on <q, w>. Never above 0, for w = 0 is consistent with all labels: constraints
    /// are homogeneous.
    pub lo: f64,
    /// An upper bound on <q, w>.
    pub hi: f64,
    /// By how much the potential falls at least if the first class is right, and if the second is.
    pub drops: [f64; 2],
    /// The largest loss of guessing the other class if the first is right, and if the second is.
    pub losses: [f64; 2],
    /// Whether the first, or the second, cannot be right. Only a known margin can tell.
    pub excluded: [bool; 2],
}

impl PairPrediction {
    /// Whether the first class is predicted; it wins a tie.
    pub fn first(&self) -> bool {
        self.middle >= 0.0
    }

    /// The prediction from these bounds. The potential falls by the price of the scale if the label
    /// contradicts it.
    pub(super) fn new(space: &PairSpace, scale: Option<u32>, middle: f64, lo: f64, hi: f64) -> Self {
        let (losses, excluded) = space.stakes(lo, hi);
        let price = scale.map_or(0.0, |scale| space.price(scale));
        let drops = [if middle <= 0.0 { price } else { 0.0 }, if middle >= 0.0 { price } else { 0.0 }];
        Self { scale, middle, lo, hi, drops, losses, excluded }
    }

    /// The same prediction with the two classes exchanged.
    pub(super) fn turned(self) -> Self {
        let swap = |[a, b]: [f64; 2]| [b, a];
        Self {
            middle: -self.middle,
            lo: -self.hi,
            hi: -self.lo,
            drops: swap(self.drops),
            losses: swap(self.losses),
            excluded: [self.excluded[1], self.excluded[0]],
            ..self
        }
    }
}

/// A learner of one pair of classes with a potential (the paper's Definition 9): the potential
/// never rises, and a mistake lowers it by at least the loss of the mistake.
pub trait PairLearner: Clone + Stored {
    /// A learner that knows nothing.
    fn new(space: &PairSpace) -> Self;

    /// Where w lies.
    fn space(&self) -> &PairSpace;

    /// The prediction for a query, `(dimension)`, finite and of length 1 at most.
    fn look(&mut self, q: &[f64], rng: &mut Rng) -> PairPrediction;

    /// Learns whether the first class is right, or the second, for a query whose prediction is
    /// `look`. Returns by how much the potential fell.
    fn learn(&mut self, q: &[f64], look: &PairPrediction, first: bool) -> f64;

    /// The potential now.
    fn potential(&self) -> f64;

    /// The potential of a learner that knows nothing: an upper bound on the total loss over any
    /// number of rounds, but for those without an active scale, where the precision of numbers
    /// ends.
    fn bound(space: &PairSpace) -> f64;

    /// Inflates the knowledge sets along `q`, whose label contradicts them, and forgets scales
    /// finer than `scale`: for labels that contradict each other. No bound holds afterwards.
    fn inflate(&mut self, q: &[f64], scale: u32);

    /// The least, over all knowledge sets, of the squared ratio of a set's smallest half-length to
    /// the one that the proof guarantees: 1 or more but for rounding. `None` where the proof holds
    /// with high probability only. For the checks of `eval::online` and for tests; O(d^3) a scale.
    fn floor(&self) -> Option<f64>;

    /// How far w is outside the knowledge sets, along q and in each set, by a measure that is at
    /// most 0 where w is inside. For the checks of `eval::online` and for tests.
    fn outside(&self, q: &[f64], w: &[f64]) -> f64;
}

impl Stored for PairSpace {
    fn write(&self, out: &mut Writer) {
        out.count(self.dimension);
        out.put(&self.radius);
        out.put(&self.power);
        out.put(&self.margin.is_some());
        out.put(&self.margin.unwrap_or(0.0));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let dimension: u64 = from.get()?;
        let dimension = usize::try_from(dimension).map_err(|_| from.wrong("a dimension", dimension.to_string()))?;
        let (radius, power, known, margin) = (from.get()?, from.get()?, from.get::<bool>()?, from.get()?);
        let space = Self { dimension, radius, power, margin: known.then_some(margin) };
        space.check().map(|()| space)
    }
}
