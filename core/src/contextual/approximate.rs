//! A pair's learner for distances that no map makes linear: an experiment, with several maps that
//! are nearly linear at finer and finer scales.
//!
//! # What is kept
//!
//! The difference f(q) of two classes' nearness is <φ_n(q), w_n> but for e_n at most, for each
//! degree n of the maps by Chebyshev polynomials (see [`super::Lift`]); φ_n(q) are some of the D_n
//! components of a mapped query. The larger n, the smaller e_n, and the more there is to learn: the
//! idea is the paper's (section 4.2), whose appendix E with the algorithm was not at hand. Each
//! degree has an ellipsoid that contains w_n. A label s says s f(q) >= 0, so s <φ_n(q), w_n> >=
//! -e_n: a cut at depth -(s <φ_n(q), c> + e_n)/h for h as with [`super::ellipsoid`], never deeper
//! than the centre, and made only where it takes something. So every w_n stays inside, though
//! labels are linear in none of the maps.
//!
//! # Who answers
//!
//! f(q) is within <φ_n(q), c> -+ (h + e_n) for every n. Degrees are evaluated one after the other,
//! the coarsest first. One answers if 2 h > 4 D_n e_n: then a mistake cuts no further than 1/(2
//! D_n) from the centre, so that there is progress. Otherwise what may be lost is of the size of
//! D_n e_n, and the next degree is evaluated; the last one answers in any case. Below its own error
//! nothing is promised, and no bound on the total loss is given: the paper's needs centres that are
//! apart, and degrees without end.

use super::ellipsoid::{Ellipsoid, SHALLOW, UNIT};
use super::lift::Lift;
use super::pair::{PairLearner, PairPrediction, PairSpace};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::linalg::double::{dot, norm};
use crate::random::Rng;

/// A map's degree and what is known of w_n.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    degree: usize,
    error: f64,
    set: Ellipsoid,
}

/// The ladder of maps.
#[derive(Clone, Debug, PartialEq)]
pub struct ApproximateLadder {
    space: PairSpace,
    /// The degree of the largest map, whose components a query has; 0 without maps.
    degree: usize,
    /// By ascending degree.
    levels: Vec<Level>,
}

impl ApproximateLadder {
    /// A learner that knows nothing, of queries as this map makes them. Without levels where the
    /// map is exact.
    pub fn of(lift: &Lift, space: &PairSpace) -> Self {
        let degrees = lift.degrees();
        let largest = degrees.last().map_or(0, |last| last.degree as usize);
        let level = |own: &super::lift::Degree| {
            let dimension = lift.components() * own.degree as usize + 1;
            let set = Ellipsoid::ball(&PairSpace { dimension, radius: own.radius, ..*space }, 0);
            Level { degree: own.degree as usize, error: own.error, set }
        };
        Self { space: *space, degree: largest, levels: degrees.iter().map(level).collect() }
    }

    /// The components of a level: of each number of a query the first so many polynomials, and the
    /// constant.
    fn part(&self, level: &Level, phi: &[f64]) -> Vec<f64> {
        let (constant, rest) = phi.split_last().map_or((0.0, phi), |(last, rest)| (*last, rest));
        rest.chunks(self.degree.max(1)).flat_map(|one| &one[..level.degree.min(one.len())]).copied().chain([constant]).collect()
    }

    /// The nominal scale whose width is that of the bounds.
    fn scale(&self, lo: f64, hi: f64) -> u32 {
        let half = ((hi - lo) / 2.0).max(f64::MIN_POSITIVE);
        (self.space.radius / half).log2().floor().clamp(0.0, 60.0) as u32
    }
}

impl PairLearner for ApproximateLadder {
    fn new(space: &PairSpace) -> Self {
        Self { space: *space, degree: 0, levels: Vec::new() }
    }

    fn space(&self) -> &PairSpace {
        &self.space
    }

    fn look(&mut self, q: &[f64], _: &mut Rng) -> PairPrediction {
        let reach = self.space.radius * norm(q);
        let (mut lo, mut hi, mut middle, mut answers) = (-reach, reach, 0.0, false);
        for (place, level) in self.levels.iter().enumerate() {
            let part = self.part(level, q);
            let (own, _, h) = level.set.along(&part);
            let blur = 4.0 * part.len() as f64 * UNIT * level.set.size() * norm(&part);
            lo = lo.max(own - h - level.error - blur);
            hi = hi.min(own + h + level.error + blur);
            middle = own;
            answers = h > f64::MIN_POSITIVE;
            if 2.0 * h > 4.0 * part.len() as f64 * level.error || place + 1 == self.levels.len() {
                break;
            }
        }
        let (lo, hi) = (lo.min(0.0), hi.max(0.0));
        PairPrediction::new(&self.space, answers.then(|| self.scale(lo, hi)), middle, lo, hi)
    }

    fn learn(&mut self, q: &[f64], look: &PairPrediction, first: bool) -> f64 {
        let s = if first { 1.0 } else { -1.0 };
        let parts: Vec<Vec<f64>> = self.levels.iter().map(|level| self.part(level, q)).collect();
        for (level, part) in self.levels.iter_mut().zip(&parts) {
            let d = part.len() as f64;
            let (middle, p, h) = level.set.along(part);
            let blur = 4.0 * d * UNIT * level.set.size();
            let depth = (-(s * middle + level.error + blur) / h).min(0.0);
            if h > 1e3 * d * UNIT * level.set.size() && depth >= -SHALLOW / d {
                level.set.cut(&p, h, s, depth);
            }
        }
        look.scale.filter(|_| s * look.middle <= 0.0).map_or(0.0, |scale| self.space.price(scale))
    }

    fn potential(&self) -> f64 {
        f64::INFINITY
    }

    fn bound(_: &PairSpace) -> f64 {
        f64::INFINITY
    }

    fn inflate(&mut self, q: &[f64], _: u32) {
        let parts: Vec<Vec<f64>> = self.levels.iter().map(|level| self.part(level, q)).collect();
        self.levels.iter_mut().zip(&parts).for_each(|(level, part)| level.set.grow(part));
    }

    fn floor(&self) -> Option<f64> {
        None
    }

    fn outside(&self, q: &[f64], w: &[f64]) -> f64 {
        let excess = |level: &Level| {
            let (part, own) = (self.part(level, q), self.part(level, w));
            let (middle, _, h) = level.set.along(&part);
            (dot(&part, &own) - middle).abs() - h
        };
        self.levels.iter().map(excess).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Stored for ApproximateLadder {
    fn write(&self, out: &mut Writer) {
        out.put(&self.space);
        out.count(self.degree);
        out.count(self.levels.len());
        for level in &self.levels {
            out.count(level.degree);
            out.put(&level.error);
            level.set.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let space: PairSpace = from.get()?;
        let (degree, n) = (from.get::<u64>()?, from.count()?);
        let components = (space.dimension as u64 - 1).checked_div(degree).unwrap_or(0);
        let mut levels: Vec<Level> = Vec::new();
        for _ in 0..n {
            let (own, error): (u64, f64) = (from.get()?, from.get()?);
            let is_finer = levels.last().is_none_or(|last| (last.degree as u64) < own);
            if !is_finer
                || own > degree
                || degree > 32
                || components * degree + 1 != space.dimension as u64
                || !(error >= 0.0 && error.is_finite())
            {
                return Err(from.wrong("maps of higher and higher degree", format!("one of degree {own}")));
            }
            let set = Ellipsoid::read(from, (components * own + 1) as usize)?;
            levels.push(Level { degree: own as usize, error, set });
        }
        Ok(Self { space, degree: degree.min(32) as usize, levels })
    }
}
