//! A pair's learner that keeps an ellipsoid for each scale: deterministic, O(d^2) a scale and
//! query.
//!
//! # What is kept
//!
//! The hidden w has |w| <= R. Scales i = 0, 1, ... have widths ε_i = R 2^-i. Each has an ellipsoid
//! E_i = {c + B z : |z| <= 1} that contains w. With p = B' q and h = |p|, <q, w> lies in <q, c> -+
//! h. A scale that does not exist stands for a copy of the next coarser one that does, and at last
//! of the ball |w| <= R; it comes into being with its first cut. The active scale of a query is the
//! first with 2 h > ε_i.
//!
//! # The cut
//!
//! The label says s <q, w> >= 0 for s = 1 or -1. With z = B^-1 (w - c) and t = s <p, z> / h that is
//! t >= α for the depth α = -s <q, c> / h. On a mistake the centre is on the wrong side, and the
//! cut goes through it: α = 0 (deeper ones were tried, capped at 1/(sqrt 2 d): 10 % less loss for a
//! bound that is looser by a constant). Where the middle is right but near, -0.9/d <= α < 0, a
//! shallow cut is made: it costs no mistake, and the loss on the streams of `eval online` is about
//! half of that without. In the unit ball what has t >= α is contained in the ellipsoid with its
//! centre at t = τ = (1 + dα)/(d+1), half-length a = d (1-α)/(d+1) along p and ρ = d
//! sqrt((1-α^2)/(d^2-1)) across:
//!
//! ```text
//! f(t) = (t - τ)^2 / a^2 + (1 - t^2) / ρ^2
//! ```
//!
//! is 1 at t = 1 and at t = α, and convex between them as a < ρ. Written for the factor, with b = B
//! p / h: c becomes c + s τ b, and B becomes ρ (B - (1 - a/ρ) b p'/h). For d = 1 that is a B. A = B
//! B' is never formed: constraints are homogeneous, so nothing is learned about |w|, E_i becomes
//! long along w and thin (about ε_i) across, and A's condition number passes 1/u at scale 15 or so,
//! long before B's does.
//!
//! # Volume
//!
//! A cut through the centre lowers ln vol E by δ_d = -ln(d/(d+1)) - (d-1) ln(d/sqrt(d^2-1)). As
//! -ln(1-x) >= x and ln(1+x) <= x, δ_d >= 1/(d+1) - (d-1)/2 / (d^2-1) = 1/(2(d+1)). A shallow cut
//! lowers it by less, and counts as that part of a cut.
//!
//! # Floor
//!
//! A scale is cut only where 2h > ε_i. With A = B B', u = q/|q| and |q| <= 1, u'Au = h^2/|q|^2 >
//! ε_i^2/4. By Sherman and Morrison A_new^-1 = g (A^-1 + κ u u'/u'Au) with g = (d^2-1)/(d^2
//! (1-α^2)) and κ = 2 (1+dα)/((d-1)(1-α)). So y = 1/λ_min(A) becomes at most g (y + 4κ/ε_i^2). As
//! |α| < 1/d, g < 1: the map contracts towards 8(d+1)/((1-α)(1-dα) ε_i^2), which is largest at α =
//! 0. The start lies below 8(d+1)/ε_i^2: 1/R^2 for the ball, and for a copy of scale j < i
//! 8(d+1)/ε_j^2. So λ_min >= ε_i^2 / (8(d+1)) for ever; for d = 1, A_new = ((1-α)/2)^2 A >= A/4 >
//! ε_i^2/16, the same.
//!
//! # Total
//!
//! vol E_i starts at most at vol(R B) and never goes below that of the ball of radius ε_i /
//! sqrt(8(d+1)), so scale i is cut at most N_i = d/δ_d ln(R sqrt(8(d+1)) / ε_i) times, whatever the
//! labels. If i is the active scale of a query, hi - lo <= 2 ε_i: for i = 0 from
//! |<q, w>| <= R |q| <= ε_0, otherwise because scale i-1 was closed, 2h <= ε_(i-1) = 2 ε_i. As 0 is consistent with every label,
//! lo <= 0 <= hi, and a mistake costs at most (2 ε_i)^α; and it cuts scale i. With n_i the cuts of
//! scale i (those of its original included), the potential Σ_i (2 ε_i)^α (N_i - n_i) never rises, a
//! mistake lowers it by (2 ε_i)^α or more, and it is never negative. It starts, and with it the
//! total loss is at most, for r = 2^-α,
//!
//! ```text
//! (2R)^α d/δ_d [ ln(8(d+1)) / (2 (1-r)) + ln 2 r / (1-r)^2 ].
//! ```
//!
//! For α = 1, with 1/δ_d <= 2(d+1), that is 4 R d (d+1) ln(32 (d+1)): no number of rounds and no
//! margin in it.
//!
//! # A known margin
//!
//! If |<q, w>| >= γ for all queries of the pair, one scale of width ε = 2γ (a millionth less, for
//! rounding) is enough: on a mistake h >= |<q, w - c>| >= γ, so it is cut, and there are at most
//! d/δ_d ln(R sqrt(8(d+1)) / ε) mistakes: O(d^2 log(d/γ)).
//!
//! # Rounding
//!
//! h is known to about 4 d u |B| (u = 2^-53, |B| the Frobenius norm), by which bounds are widened.
//! A scale is not cut where ε_i < 1000 d u |B_i|; a mistake there costs at most what the scale
//! above leaves open, and no potential pays for it: [`super::Contextual::unpaid`] counts it.
//!
//! # Labels that contradict each other
//!
//! After a contradiction of the label of q the ellipsoids grow along p alone, by sqrt 2: in
//! directions that no query has, nothing would ever cut them again, and at last rounding would
//! decide everywhere. Cuts let those directions grow, too, if slowly; an ellipsoid of more than
//! 10^4 times the ball's size is given up, and stands for a copy of the next coarser one again.

use std::sync::Arc;

use super::check::least_eigenvalue;
use super::pair::{PairLearner, PairPrediction, PairSpace};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::linalg::double::{add_scaled, dot, norm, times, transposed_times};
use crate::random::Rng;

/// Half of the distance from 1 to the next number.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;
/// A cut is at most this over d from the centre: one at 1/d would take nothing.
pub(super) const SHALLOW: f64 = 0.9;
/// An ellipsoid that contradictions let grow is given up at this many times the ball's size.
const LARGEST: f64 = 1e4;
/// No scale is finer, whatever the dimension.
const FINEST: u32 = 60;

/// An ellipsoid {c + B z : |z| <= 1} and how often it was cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Ellipsoid {
    /// The scale it belongs to.
    scale: u32,
    /// Cuts, those of its original included; what an inflation gave back is taken off.
    cuts: f64,
    /// c, `(dimension)`.
    centre: Vec<f64>,
    /// B, row-major `(dimension, dimension)`.
    factor: Vec<f64>,
    /// The Frobenius norm of B.
    size: f64,
}

impl Ellipsoid {
    /// The ball of a radius around 0.
    pub(super) fn ball(space: &PairSpace, scale: u32) -> Self {
        let d = space.dimension;
        let mut factor = vec![0.0; d * d];
        factor.iter_mut().step_by(d + 1).for_each(|x| *x = space.radius);
        Self { scale, cuts: 0.0, centre: vec![0.0; d], size: norm(&factor), factor }
    }

    /// The scale it belongs to.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// How often it was cut, its original's cuts included.
    pub fn cuts(&self) -> f64 {
        self.cuts
    }

    /// c, `(dimension)`.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// B, row-major `(dimension, dimension)`.
    pub fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// The Frobenius norm of B.
    pub(super) fn size(&self) -> f64 {
        self.size
    }

    /// <q, c>, B'q and its length.
    pub(super) fn along(&self, q: &[f64]) -> (f64, Vec<f64>, f64) {
        let p = transposed_times(&self.factor, q);
        let h = norm(&p);
        (dot(q, &self.centre), p, h)
    }

    /// Keeps what has s <q, w - c> >= depth h, for p = B'q of length h. By how much ln vol falls,
    /// in units of [`cut_drop`].
    pub(super) fn cut(&mut self, p: &[f64], h: f64, s: f64, depth: f64) -> f64 {
        let d = self.centre.len();
        let n = d as f64;
        let unit: Vec<f64> = p.iter().map(|x| x / h).collect();
        let b = times(&self.factor, &unit);
        add_scaled(&mut self.centre, s * (1.0 + n * depth) / (n + 1.0), &b);
        let along = n * (1.0 - depth) / (n + 1.0);
        let mut fallen = -along.ln();
        if d == 1 {
            self.factor.iter_mut().for_each(|x| *x *= along);
        } else {
            let across = n * ((1.0 - depth * depth) / ((n - 1.0) * (n + 1.0))).sqrt();
            fallen -= (n - 1.0) * across.ln();
            let inward = 1.0 - ((1.0 - depth) * (n - 1.0) / ((1.0 + depth) * (n + 1.0))).sqrt();
            for (row, b) in self.factor.chunks_exact_mut(d).zip(&b) {
                add_scaled(row, -inward * b, &unit);
                row.iter_mut().for_each(|x| *x *= across);
            }
        }
        self.size = norm(&self.factor);
        let fallen = if depth == 0.0 { 1.0 } else { fallen / cut_drop(d) };
        self.cuts += fallen;
        fallen
    }

    /// Makes it longer by sqrt 2 along p = B'q.
    pub(super) fn grow(&mut self, q: &[f64]) {
        let d = self.centre.len();
        let (_, p, h) = self.along(q);
        if h > f64::MIN_POSITIVE {
            let unit: Vec<f64> = p.iter().map(|x| x / h).collect();
            let b = times(&self.factor, &unit);
            for (row, b) in self.factor.chunks_exact_mut(d).zip(&b) {
                add_scaled(row, (std::f64::consts::SQRT_2 - 1.0) * b, &unit);
            }
            self.size = norm(&self.factor);
            self.cuts -= 2f64.ln() / 2.0 / cut_drop(d);
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.put(&self.scale);
        out.put(&self.cuts);
        self.centre.iter().chain(&self.factor).for_each(|x| out.put(x));
    }

    /// Reads an ellipsoid of so many dimensions.
    pub(super) fn read(from: &mut Reader<'_>, dimension: usize) -> Result<Self> {
        let (scale, cuts): (u32, f64) = (from.get()?, from.get()?);
        let numbers = |from: &mut Reader<'_>, n: usize| -> Result<Vec<f64>> { (0..n).map(|_| from.get()).collect() };
        let centre = numbers(from, dimension)?;
        let factor = numbers(from, dimension * dimension)?;
        let finite = [cuts].iter().chain(&centre).chain(&factor).all(|x: &f64| x.is_finite());
        if !finite || scale > FINEST {
            return Err(from.wrong("an ellipsoid of finite numbers", format!("one at scale {scale}")));
        }
        Ok(Self { scale, cuts, centre, size: norm(&factor), factor })
    }
}

/// By how much a cut lowers the logarithm of the volume: δ_d.
pub fn cut_drop(dimension: usize) -> f64 {
    if dimension <= 1 {
        return 2f64.ln();
    }
    let d = dimension as f64;
    -(-1.0 / (d + 1.0)).ln_1p() - (d - 1.0) / 2.0 * (1.0 / ((d - 1.0) * (d + 1.0))).ln_1p()
}

/// The ladder of ellipsoids.
#[derive(Clone, Debug, PartialEq)]
pub struct EllipsoidLadder {
    space: PairSpace,
    /// By ascending scale; those between stand for copies. Clones of a ladder share those that
    /// neither has cut since, so that checkpoints take little memory.
    scales: Vec<Arc<Ellipsoid>>,
}

impl EllipsoidLadder {
    /// The ellipsoids there are, by ascending scale.
    pub fn ellipsoids(&self) -> &[Arc<Ellipsoid>] {
        &self.scales
    }

    /// How often a scale can be cut: N_i.
    pub fn most_cuts(space: &PairSpace, scale: u32) -> f64 {
        let d = space.dimension as f64;
        d / cut_drop(space.dimension) * (space.radius * (8.0 * (d + 1.0)).sqrt() / Self::width(space, scale)).ln()
    }

    /// ε of a scale; that of a known margin has but one.
    fn width(space: &PairSpace, scale: u32) -> f64 {
        space.margin.map_or_else(|| space.width(scale), |margin| 2.0 * margin * (1.0 - 1e-6))
    }

    fn last_scale(&self) -> u32 {
        if self.space.margin.is_some() { 0 } else { FINEST }
    }

    /// Whether a cut at this width is well above rounding errors.
    fn is_sharp(&self, width: f64, size: f64) -> bool {
        width >= 1e3 * self.space.dimension as f64 * UNIT * size
    }

    /// The active scale if there is one, <q, c> there or else at the last scale evaluated, and
    /// bounds on <q, w>.
    fn search(&self, q: &[f64]) -> (Option<u32>, f64, f64, f64) {
        let reach = self.space.radius * norm(q);
        let (mut lo, mut hi) = (-reach, reach);
        // What the scale before is a copy of.
        let (mut middle, mut h, mut size) = (0.0, reach, self.space.radius * (self.space.dimension as f64).sqrt());
        let mut next = 0;
        let blur = 4.0 * self.space.dimension as f64 * UNIT * norm(q);
        for own in self.scales.iter().map(Some).chain([None]) {
            let end = own.map_or(self.last_scale() + 1, |own| own.scale);
            if let Some(scale) = (next..end).find(|&scale| 2.0 * h > Self::width(&self.space, scale)) {
                let sharp = self.is_sharp(Self::width(&self.space, scale), size);
                return (sharp.then_some(scale), middle, lo, hi);
            }
            let Some(own) = own else { break };
            (middle, _, h) = own.along(q);
            size = own.size;
            lo = lo.max(middle - h - blur * size);
            hi = hi.min(middle + h + blur * size);
            let width = Self::width(&self.space, own.scale);
            if 2.0 * h > width {
                let sharp = self.is_sharp(width, size);
                return (sharp.then_some(own.scale), middle, lo, hi);
            }
            next = own.scale + 1;
        }
        (None, middle, lo, hi)
    }
}

impl PairLearner for EllipsoidLadder {
    fn new(space: &PairSpace) -> Self {
        Self { space: *space, scales: Vec::new() }
    }

    fn space(&self) -> &PairSpace {
        &self.space
    }

    fn look(&mut self, q: &[f64], _: &mut Rng) -> PairPrediction {
        let (scale, middle, lo, hi) = self.search(q);
        PairPrediction::new(&self.space, scale, middle, lo, hi)
    }

    fn learn(&mut self, q: &[f64], look: &PairPrediction, first: bool) -> f64 {
        let s = if first { 1.0 } else { -1.0 };
        let mut drop = 0.0;
        if let Some(scale) = look.scale
            && s * look.middle <= 0.0
        {
            let position = self.scales.partition_point(|own| own.scale < scale);
            if self.scales.get(position).is_none_or(|own| own.scale != scale) {
                let copy = match position.checked_sub(1).and_then(|before| self.scales.get(before)) {
                    Some(original) => Ellipsoid { scale, ..Ellipsoid::clone(original) },
                    None => Ellipsoid::ball(&self.space, scale),
                };
                drop += self.space.price(scale) * copy.cuts;
                self.scales.insert(position, Arc::new(copy));
            }
        }
        let (space, d) = (self.space, self.space.dimension as f64);
        for own in &mut self.scales {
            let (middle, p, h) = own.along(q);
            let width = Self::width(&space, own.scale);
            // Where the middle is on the right side, rounding may not make the cut deeper than it
            // is.
            let blur = 4.0 * d * UNIT * own.size / h;
            let depth = if s * middle <= 0.0 { 0.0 } else { -s * middle / h - blur };
            if 2.0 * h > width && depth >= -SHALLOW / d && width >= 1e3 * d * UNIT * own.size {
                drop += space.price(own.scale) * Arc::make_mut(own).cut(&p, h, s, depth);
            }
        }
        drop
    }

    fn potential(&self) -> f64 {
        let paid: f64 = self.scales.iter().map(|own| self.space.price(own.scale) * own.cuts).sum();
        Self::bound(&self.space) - paid
    }

    fn bound(space: &PairSpace) -> f64 {
        if space.margin.is_some() {
            return Self::most_cuts(space, 0);
        }
        let d = space.dimension as f64;
        let r = 2f64.powf(-space.power);
        let sum = (8.0 * (d + 1.0)).ln() / (2.0 * (1.0 - r)) + 2f64.ln() * r / ((1.0 - r) * (1.0 - r));
        (2.0 * space.radius).powf(space.power) * d / cut_drop(space.dimension) * sum
    }

    fn inflate(&mut self, q: &[f64], scale: u32) {
        self.scales.retain(|own| own.scale <= scale);
        let d = self.space.dimension;
        self.scales.iter_mut().for_each(|own| Arc::make_mut(own).grow(q));
        let largest = LARGEST * self.space.radius * (d as f64).sqrt();
        self.scales.retain(|own| own.size <= largest);
    }

    fn floor(&self) -> Option<f64> {
        let d = self.space.dimension;
        let ratio = |own: &Arc<Ellipsoid>| {
            let width = Self::width(&self.space, own.scale);
            least_eigenvalue(&own.factor, d) * 8.0 * (d as f64 + 1.0) / (width * width)
        };
        Some(self.scales.iter().map(ratio).fold(f64::INFINITY, f64::min))
    }

    fn outside(&self, q: &[f64], w: &[f64]) -> f64 {
        let truth = dot(q, w);
        let excess = |own: &Arc<Ellipsoid>| {
            let (middle, _, h) = own.along(q);
            (truth - middle).abs() - h
        };
        self.scales.iter().map(excess).fold(truth.abs() - self.space.radius * norm(q), f64::max)
    }
}

impl Stored for EllipsoidLadder {
    fn write(&self, out: &mut Writer) {
        out.put(&self.space);
        out.count(self.scales.len());
        for own in &self.scales {
            own.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let space: PairSpace = from.get()?;
        let n = from.count()?;
        let mut scales: Vec<Arc<Ellipsoid>> = Vec::new();
        for _ in 0..n {
            let own = Ellipsoid::read(from, space.dimension)?;
            if scales.last().is_some_and(|last| last.scale >= own.scale) {
                return Err(from.wrong("ellipsoids finer and finer", format!("one at scale {}", own.scale)));
            }
            scales.push(Arc::new(own));
        }
        Ok(Self { space, scales })
    }
}
