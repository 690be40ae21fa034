//! Points sampled uniformly from a polytope, by hit-and-run.
//!
//! - Smith, *Efficient Monte Carlo procedures for generating points uniformly distributed over
//!   bounded regions*, 1984.
//! - Lovász and Vempala, *Hit-and-run from a corner*, 2006: it mixes from any point of a
//!   well-rounded body.

use rand::RngExt;

use crate::linalg::double::{add_scaled, dot};
use crate::random::Rng;

/// The polytope {|x_j| <= reach for each j, <a, x> >= -slack for each wall a}.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a> {
    /// Row-major `(n_walls, d)`, of unit length each.
    pub(super) walls: &'a [f64],
    pub(super) slack: f64,
    pub(super) reach: f64,
}

impl Body<'_> {
    /// Whether a point is inside.
    pub(super) fn holds(&self, x: &[f64]) -> bool {
        x.iter().all(|x| x.abs() <= self.reach) && self.walls.chunks_exact(x.len().max(1)).all(|wall| dot(wall, x) >= -self.slack)
    }

    /// Walks `steps` steps from a point inside along directions with the covariance of `shape`, a
    /// lower triangular factor.
    pub(super) fn walk(&self, x: &mut [f64], shape: &[f64], steps: usize, rng: &mut Rng) {
        let d = x.len();
        let mut along = vec![0.0; self.walls.len() / d.max(1)];
        let mut direction = vec![0.0; d];
        let mut room: Vec<f64> = self.walls.chunks_exact(d).map(|wall| dot(wall, x) + self.slack).collect();
        for _ in 0..steps {
            direction.fill(0.0);
            for column in 0..d {
                let normal = crate::random::normal(rng);
                for row in column..d {
                    direction[row] += shape[row * d + column] * normal;
                }
            }
            let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut limit = |room: f64, speed: f64| {
                // The steps t with `room` + t * `speed` >= 0.
                if speed > 0.0 {
                    low = low.max(-room / speed);
                } else if speed < 0.0 {
                    high = high.min(-room / speed);
                }
            };
            for (x, speed) in x.iter().zip(&direction) {
                limit(self.reach - x, -speed);
                limit(self.reach + x, *speed);
            }
            for ((wall, along), room) in self.walls.chunks_exact(d).zip(&mut along).zip(&room) {
                *along = dot(wall, &direction);
                limit(*room, *along);
            }
            if !(low.is_finite() && high.is_finite() && low < high) {
                continue;
            }
            let step = low + (high - low) * rng.random::<f64>();
            add_scaled(x, step, &direction);
            add_scaled(&mut room, step, &along);
        }
    }
}

/// The lower triangular factor of the covariance of points, row-major `(n, d)`, with `jitter`
/// squared added to each variance; the unit matrix where there are no more than d points.
pub(super) fn shape(points: &[f64], d: usize, jitter: f64) -> Vec<f64> {
    let n = points.len() / d.max(1);
    let mut shape = vec![0.0; d * d];
    if n <= d {
        shape.iter_mut().step_by(d + 1).for_each(|x| *x = 1.0);
        return shape;
    }
    let mut mean = vec![0.0; d];
    points.chunks_exact(d).for_each(|x| add_scaled(&mut mean, 1.0 / n as f64, x));
    for x in points.chunks_exact(d) {
        let off: Vec<f64> = x.iter().zip(&mean).map(|(x, mean)| x - mean).collect();
        for (row, value) in shape.chunks_exact_mut(d).zip(&off) {
            add_scaled(row, value / n as f64, &off);
        }
    }
    shape.iter_mut().step_by(d + 1).for_each(|x| *x += jitter * jitter);
    // Cholesky, in place.
    for row in 0..d {
        for column in 0..=row {
            let mut sum = shape[row * d + column];
            for k in 0..column {
                sum -= shape[row * d + k] * shape[column * d + k];
            }
            shape[row * d + column] = if row == column { sum.max(jitter * jitter * 1e-6).sqrt() } else { sum / shape[column * d + column] };
        }
        shape[row * d + row + 1..(row + 1) * d].fill(0.0);
    }
    shape
}
