//! Vectors drawn evenly from a sphere, a ball, or what is orthogonal to a vector.

use rand::RngExt;

use crate::linalg::double::{dot, norm, scaled};
use crate::random::{Rng, normal};

/// A vector drawn evenly from the unit sphere: normal components, divided by their length.
pub(super) fn unit(d: usize, rng: &mut Rng) -> Vec<f64> {
    let x: Vec<f64> = (0..d).map(|_| normal(rng)).collect();
    let length = norm(&x);
    if length > 0.0 { scaled(&x, 1.0 / length) } else { unit(d, rng) }
}

/// A unit vector drawn evenly from those orthogonal to a unit vector.
pub(super) fn across(w: &[f64], rng: &mut Rng) -> Vec<f64> {
    let mut z = unit(w.len(), rng);
    for _ in 0..2 {
        let along = dot(&z, w);
        z.iter_mut().zip(w).for_each(|(z, w)| *z -= along * w);
    }
    let length = norm(&z);
    if length > 1e-12 { scaled(&z, 1.0 / length) } else { vec![0.0; w.len()] }
}

/// A vector drawn evenly from the unit ball.
pub(super) fn ball(d: usize, rng: &mut Rng) -> Vec<f64> {
    let length = rng.random::<f64>().powf(1.0 / d as f64);
    scaled(&unit(d, rng), length)
}

/// Two centres whose difference is w.
pub(super) fn halves(w: &[f64]) -> Vec<Vec<f64>> {
    vec![scaled(w, 0.5), scaled(w, -0.5)]
}
