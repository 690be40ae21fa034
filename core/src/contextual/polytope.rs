//! A pair's learner that keeps, for each scale, all that is consistent with its mistakes up to an
//! offset: fewer mistakes by a factor of about d than ellipsoids, by sampling; for d up to 20 or
//! so.
//!
//! # What is kept
//!
//! Scales i have widths ε_i = R 2^-i and offsets z_i = ε_i/(4d). With u_t the unit normals of
//! recorded labels s_t,
//!
//! ```text
//! K_i = { |w_j| <= R + z_i for each j,  s_t <u_t, w> >= -z_i for each t }:
//! ```
//!
//! a polytope that contains the ball of radius z_i around the hidden w. (Liu, Paes Leme and
//! Schneider take the Minkowski sum of the consistent set and that ball instead, whose volume is a
//! value of the Steiner polynomial; K_i contains it, and needs no more than linear constraints.)
//! Its width along u = q/|q| is found exactly by two linear programs. The active scale is the first
//! whose width is more than ε_i. The prediction is the side of <u, w> = 0 with more of K_i's
//! volume, which points drawn by hit-and-run tell up to a share η. A mistake adds its half-space,
//! at all scales.
//!
//! # A mistake takes a quarter of the volume
//!
//! Lemma. A slab of thickness z holds at most d z/W of a convex body's volume, W being the body's
//! width across. For with S the largest area of a section parallel to the slab, the slab holds at
//! most z S; and the body contains the two cones over that section up to the extremes, with volume
//! S W/d.
//!
//! After a wrong guess at the active scale K_i keeps at most the side that was thought smaller, 1/2
//! + η of its volume, and a slab of thickness z_i beyond 0: 1/2 + η + d z_i/ε_i = 3/4 + η.
//!
//! # Total
//!
//! K_i starts with volume (2(R + z_i))^d and keeps that of a ball of radius z_i, V_d z_i^d. So
//! scale i is active in at most N_i = (d ln(2(R + z_i)/z_i) - ln V_d) / -ln(3/4 + η) mistakes.
//! Where it is active, hi - lo <= 2 ε_i: for i = 0 because bounds start from
//! |<u, w>| <= R, otherwise because K_(i-1) has width ε_(i-1) at most. As 0 is in all K_i, lo <= 0 <= hi, and a mistake costs at most
//! (2 ε_i)^α. With n_i the mistakes at scale i, the potential is Σ (2 ε_i)^α (N_i - n_i), and the
//! total loss at most Σ (2 ε_i)^α N_i = O(α^-2 d log d): with high probability, for η comes from
//! sampling. 400 independent points fail with a chance of exp(-8) at a mistake; these are not
//! independent (a walk of 10 d steps from points that were there) and serve all queries until the
//! next mistake, so that the chance is not proven here. The sum ends at scale 20, where the offset
//! comes near to the rounding of linear programs; beyond, and where a linear program is not solved,
//! the loss of a mistake is at most that of its prediction, and no potential covers it.
//!
//! The cube instead of the ball |w| <= R costs d/2 ln d in N_i, against d ln d.
//!
//! # A known margin
//!
//! If |<q, w>| >= γ for all queries of the pair, one scale of width 2γ is enough: where K is
//! narrower, its bounds tell the answer. O(d log(d/γ)) mistakes, the rate of the paper's Theorem 5.

use super::pair::{PairLearner, PairPrediction, PairSpace};
use super::walk::{Body, shape};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::linalg::double::{dot, norm};
use crate::linalg::simplex::maximise;
use crate::random::Rng;
use rand::RngExt;

/// The finest scale.
const FINEST: u32 = 20;
/// Points that stand for a volume.
const POINTS: usize = 400;
/// η: points tell the larger half up to this share. 400 independent ones are further off with a
/// chance of exp(-8).
const DOUBT: f64 = 0.1;
/// Bounds from linear programs are widened by this much of the radius.
const BLUR: f64 = 1e-10;

/// Points in K_i.
#[derive(Clone, Debug, PartialEq)]
struct Cloud {
    scale: u32,
    /// Walls that all points respect.
    seen: usize,
    /// Row-major `(n, dimension)`.
    points: Vec<f64>,
}

/// The ladder of polytopes.
#[derive(Clone, Debug, PartialEq)]
pub struct PolytopeLadder {
    space: PairSpace,
    /// s_t u_t, row-major `(n, dimension)`.
    walls: Vec<f64>,
    /// By ascending scale.
    clouds: Vec<Cloud>,
    /// Mistakes made where each scale was active.
    mistakes: Vec<f64>,
}

impl PolytopeLadder {
    fn width(space: &PairSpace, scale: u32) -> f64 {
        space.margin.map_or_else(|| space.width(scale), |margin| 2.0 * margin * (1.0 - 1e-6))
    }

    fn last_scale(space: &PairSpace) -> u32 {
        if space.margin.is_some() { 0 } else { FINEST }
    }

    /// In how many mistakes a scale can be active: N_i.
    pub fn most_mistakes(space: &PairSpace, scale: u32) -> f64 {
        let d = space.dimension as f64;
        let offset = Self::width(space, scale) / (4.0 * d);
        (d * (2.0 * (space.radius + offset) / offset).ln() - ln_ball(space.dimension)) / -(0.75f64 + DOUBT).ln()
    }

    fn body(&self, scale: u32) -> Body<'_> {
        let slack = Self::width(&self.space, scale) / (4.0 * self.space.dimension as f64);
        Body { walls: &self.walls, slack, reach: self.space.radius + slack }
    }

    /// The largest <u, w> in K_i.
    fn extreme(&self, u: &[f64], sign: f64, scale: u32) -> Option<f64> {
        let (d, body) = (u.len(), self.body(scale));
        // w is the difference of two vectors without negative components.
        let costs: Vec<f64> = u.iter().map(|x| sign * x).chain(u.iter().map(|x| -sign * x)).collect();
        let rows = self.walls.len() / d + 2 * d;
        let mut matrix = Vec::with_capacity(rows * 2 * d);
        for wall in self.walls.chunks_exact(d) {
            matrix.extend(wall.iter().map(|x| -x).chain(wall.iter().copied()));
        }
        let mut right = vec![body.slack; self.walls.len() / d];
        for j in 0..2 * d {
            // w_j <= reach and -w_j <= reach.
            let (j, sign) = (j % d, if j < d { 1.0 } else { -1.0 });
            let mut row = vec![0.0; 2 * d];
            (row[j], row[j + d]) = (sign, -sign);
            matrix.extend(row);
            right.push(body.reach);
        }
        Some(sign * maximise(&costs, &matrix, &right)?.value)
    }

    /// The active scale and bounds on <u, w> for a unit vector.
    fn search(&self, u: &[f64]) -> (Option<u32>, f64, f64) {
        let (mut lo, mut hi) = (-self.space.radius, self.space.radius);
        let (mut width, mut next) = (f64::INFINITY, 0);
        let blur = BLUR * self.space.radius;
        loop {
            // Finer sets are smaller: where this one is narrow enough for a finer scale, that one
            // is closed.
            let scale = (next..=Self::last_scale(&self.space)).find(|&scale| width > Self::width(&self.space, scale));
            let Some(scale) = scale else { return (None, lo, hi) };
            let (Some(low), Some(high)) = (self.extreme(u, -1.0, scale), self.extreme(u, 1.0, scale)) else { return (None, lo, hi) };
            lo = lo.max(low - blur);
            hi = hi.min(high + blur);
            if high - low > Self::width(&self.space, scale) {
                return (Some(scale), lo, hi);
            }
            width = high - low;
            next = scale + 1;
        }
    }

    /// The points of a scale, all inside.
    fn cloud(&mut self, scale: u32, rng: &mut Rng) -> &[f64] {
        let d = self.space.dimension;
        let at = self.clouds.partition_point(|cloud| cloud.scale < scale);
        let n_walls = self.walls.len() / d;
        let (mut points, at) = match self.clouds.get(at).filter(|cloud| cloud.scale == scale) {
            Some(cloud) if cloud.seen == n_walls => return &self.clouds[at].points,
            Some(cloud) => (cloud.points.clone(), at),
            None => {
                // The next coarser set contains this one.
                let points = at.checked_sub(1).map_or_else(Vec::new, |before| self.clouds[before].points.clone());
                self.clouds.insert(at, Cloud { scale, seen: 0, points: Vec::new() });
                (points, at)
            }
        };
        let body = self.body(scale);
        let jitter = 0.01 * body.slack;
        let before = shape(&points, d, jitter);
        let inside: Vec<f64> = points.chunks_exact(d).filter(|x| body.holds(x)).flatten().copied().collect();
        let directions = if inside.len() > d * d { shape(&inside, d, jitter) } else { before };
        let survivors = inside.len() / d;
        points = inside;
        while points.len() < POINTS * d {
            let (mut x, steps) = if survivors == 0 {
                // 0 is inside all sets, if at their very edge.
                (vec![0.0; d], 100 * d)
            } else {
                let chosen = rng.random_range(0..survivors);
                (points[chosen * d..][..d].to_vec(), 10 * d)
            };
            body.walk(&mut x, &directions, steps, rng);
            // Rounding may lead out by a hair.
            if !body.holds(&x) {
                x = vec![0.0; d];
            }
            points.extend(x);
        }
        let cloud = &mut self.clouds[at];
        cloud.points = points;
        cloud.seen = n_walls;
        &cloud.points
    }
}

/// The logarithm of the volume of the unit ball: V_d = V_(d-2) 2π/d.
fn ln_ball(dimension: usize) -> f64 {
    let mut ln = if dimension.is_multiple_of(2) { 0.0 } else { 2f64.ln() };
    for d in (1..=dimension).rev().step_by(2).take_while(|&d| d >= 2) {
        ln += (std::f64::consts::TAU / d as f64).ln();
    }
    ln
}

impl PairLearner for PolytopeLadder {
    fn new(space: &PairSpace) -> Self {
        let scales = Self::last_scale(space) as usize + 1;
        Self { space: *space, walls: Vec::new(), clouds: Vec::new(), mistakes: vec![0.0; scales] }
    }

    fn space(&self) -> &PairSpace {
        &self.space
    }

    fn look(&mut self, q: &[f64], rng: &mut Rng) -> PairPrediction {
        let length = norm(q);
        if length <= f64::MIN_POSITIVE {
            return PairPrediction::new(&self.space, None, 0.0, 0.0, 0.0);
        }
        let u: Vec<f64> = q.iter().map(|x| x / length).collect();
        let (scale, lo, hi) = self.search(&u);
        let middle = match scale {
            Some(scale) => {
                let d = self.space.dimension;
                let points = self.cloud(scale, rng);
                let above = points.chunks_exact(d).filter(|x| dot(x, &u) >= 0.0).count();
                above as f64 / (points.len() / d).max(1) as f64 - 0.5
            }
            None => (lo + hi) / 2.0,
        };
        PairPrediction::new(&self.space, scale, middle, lo * length, hi * length)
    }

    fn learn(&mut self, q: &[f64], look: &PairPrediction, first: bool) -> f64 {
        let s = if first { 1.0 } else { -1.0 };
        let length = norm(q);
        let Some(scale) = look.scale.filter(|_| s * look.middle <= 0.0 && length > f64::MIN_POSITIVE) else { return 0.0 };
        self.walls.extend(q.iter().map(|x| s * x / length));
        if let Some(mistakes) = self.mistakes.get_mut(scale as usize) {
            *mistakes += 1.0;
        }
        self.space.price(scale)
    }

    fn potential(&self) -> f64 {
        let paid: f64 = self.mistakes.iter().zip(0..).map(|(n, scale)| self.space.price(scale) * n).sum();
        Self::bound(&self.space) - paid
    }

    fn bound(space: &PairSpace) -> f64 {
        (0..=Self::last_scale(space)).map(|scale| space.price(scale) * Self::most_mistakes(space, scale)).sum()
    }

    fn inflate(&mut self, _: &[f64], _: u32) {
        // The older half of what was recorded is forgotten.
        let d = self.space.dimension;
        let n = self.walls.len() / d;
        self.walls.drain(..n.div_ceil(2) * d);
        self.clouds.clear();
    }

    fn floor(&self) -> Option<f64> {
        None
    }

    fn outside(&self, q: &[f64], w: &[f64]) -> f64 {
        let beyond = self.walls.chunks_exact(self.space.dimension).map(|wall| -dot(wall, w));
        beyond.fold(dot(q, w).abs() - self.space.radius * norm(q), f64::max)
    }
}

impl Stored for PolytopeLadder {
    fn write(&self, out: &mut Writer) {
        out.put(&self.space);
        out.put(&self.walls);
        out.put(&self.mistakes);
        out.count(self.clouds.len());
        for cloud in &self.clouds {
            out.put(&cloud.scale);
            out.count(cloud.seen);
            out.put(&cloud.points);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let space: PairSpace = from.get()?;
        let d = space.dimension;
        let (walls, mistakes): (Vec<f64>, Vec<f64>) = (from.get()?, from.get()?);
        let is_table = |table: &[f64]| table.len().is_multiple_of(d) && table.iter().all(|x| x.is_finite());
        if !is_table(&walls) || mistakes.len() != Self::last_scale(&space) as usize + 1 || mistakes.iter().any(|n| !n.is_finite()) {
            return Err(from.wrong("walls and counts of their dimension", format!("{} and {} numbers", walls.len(), mistakes.len())));
        }
        let n = from.count()?;
        let mut clouds: Vec<Cloud> = Vec::new();
        for _ in 0..n {
            let (scale, seen, points): (u32, u64, Vec<f64>) = (from.get()?, from.get()?, from.get()?);
            let in_order = clouds.last().is_none_or(|last| last.scale < scale) && scale <= FINEST;
            let seen = usize::try_from(seen).unwrap_or(usize::MAX);
            if !in_order || !is_table(&points) || seen > walls.len() / d {
                return Err(from.wrong("points of scales, finer and finer", format!("scale {scale}")));
            }
            clouds.push(Cloud { scale, seen, points });
        }
        Ok(Self { space, walls, clouds, mistakes })
    }
}
