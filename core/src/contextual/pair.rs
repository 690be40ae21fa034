//! Two classes: what every learner of one pair says about a query, and how it learns.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::random::Rng;

/// Where the hidden vector w lies and how mistakes are counted. w is the first class's centre minus
/// the second's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
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

impl Space {
    /// Queries and centres in the unit ball of `dimension` dimensions, the loss as it is.
    pub fn unit(dimension: usize) -> Self {
        Self { dimension, radius: 2.0, power: 1.0, margin: None }
    }

    /// Makes sure that the space is one.
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

    /// What a mistake at a scale costs at most, and its potential pays: (2 ε)^α; 1 with a known
    /// margin.
    pub fn price(&self, scale: u32) -> f64 {
        if self.margin.is_some() { 1.0 } else { (2.0 * self.width(scale)).powf(self.power) }
    }

    /// The factor f for which D - f L is a game that can be played without loss: see [`super`].
    pub fn share(&self) -> f64 {
        if self.margin.is_some() { 0.5 } else { 2f64.powf(self.power.min(1.0) - 1.0) }
    }

    /// What the two wrong guesses may cost, from bounds on <q, w>, and which class cannot be right.
    pub(super) fn stakes(&self, lo: f64, hi: f64) -> ([f64; 2], [bool; 2]) {
        match self.margin {
            None => ([hi.max(0.0).powf(self.power), (-lo).max(0.0).powf(self.power)], [false; 2]),
            Some(margin) => {
                // Rounding may not exclude what is right.
                let excluded = [hi < margin * (1.0 - 1e-9), -lo < margin * (1.0 - 1e-9)];
                (excluded.map(|is| if is { 0.0 } else { 1.0 }), excluded)
            }
        }
    }
}

/// What a pair's learner knows about a query before the label is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The scale at work: the coarsest at which the query is still open. `None` where it is closed
    /// on all scales, or rounding would decide; a mistake then costs at most what `losses` says and
    /// teaches nothing.
    pub scale: Option<u32>,
    /// Above 0 where the first class is predicted, below 0 where the second is: by ellipsoids <q,
    /// c>, by polytopes how much more of the volume than half is on the first class's side.
    pub middle: f64,
    /// <q, w> is at least this. Never above 0, for 0 is always consistent: constraints are
    /// homogeneous.
    pub lo: f64,
    /// <q, w> is at most this.
    pub hi: f64,
    /// By how much the potential falls at least if the first class is right, and if the second is.
    pub drops: [f64; 2],
    /// What guessing the other class costs at most if the first is right, and if the second is.
    pub losses: [f64; 2],
    /// Whether the first, or the second, cannot be right. Only a known margin can tell.
    pub excluded: [bool; 2],
}

impl Look {
    /// Whether the first class is predicted; it is where both are equal.
    pub fn first(&self) -> bool {
        self.middle >= 0.0
    }

    /// What is known from these bounds, with `price` paid by whichever answer would be a surprise.
    pub(super) fn new(space: &Space, scale: Option<u32>, middle: f64, lo: f64, hi: f64) -> Self {
        let (losses, excluded) = space.stakes(lo, hi);
        let price = scale.map_or(0.0, |scale| space.price(scale));
        let drops = [if middle <= 0.0 { price } else { 0.0 }, if middle >= 0.0 { price } else { 0.0 }];
        Self { scale, middle, lo, hi, drops, losses, excluded }
    }

    /// The same, seen by a learner that has the two classes the other way round.
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
/// never rises, and a mistake lowers it by what the mistake may have cost.
pub trait PairLearner: Clone + Stored {
    /// A learner that knows nothing.
    fn new(space: &Space) -> Self;

    /// Where w lies.
    fn space(&self) -> &Space;

    /// What is known about a query, `(dimension)`, of length 1 at most and finite.
    fn look(&mut self, q: &[f64], rng: &mut Rng) -> Look;

    /// Learns that the first class is right, or the second, for a query that was just looked at. By
    /// how much the potential fell.
    fn learn(&mut self, q: &[f64], look: &Look, first: bool) -> f64;

    /// The potential now.
    fn potential(&self) -> f64;

    /// The potential of a learner that knows nothing: the total loss is at most this, for any
    /// number of rounds, but for those without an active scale, where numbers end.
    fn bound(space: &Space) -> f64;

    /// Lets what is known along `q`, which was just answered otherwise, grow again, and forgets
    /// scales finer than `scale`: for labels that contradict each other. No bound holds afterwards.
    fn inflate(&mut self, q: &[f64], scale: u32);

    /// The least, over all sets, of a set's smallest extent over what the proof promises, squared:
    /// 1 or more but for rounding. `None` where it is promised by chance only. For tests; O(d^3) a
    /// scale.
    fn floor(&self) -> Option<f64>;

    /// How far w is outside what is known, along q and in each set, by a measure that is at most 0
    /// where it is inside: for tests.
    fn outside(&self, q: &[f64], w: &[f64]) -> f64;
}

impl Stored for Space {
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
