//! Contextual search: every inequality that its proofs claim, each against the hidden truth or a
//! slow and obvious version.

mod classes;
mod game;
mod lift;
mod noise;
mod pairs;
mod polytope;
mod save;

use rand::RngExt;
use tessera_core::random::Rng;

/// A vector drawn evenly from the unit sphere.
fn unit(d: usize, rng: &mut Rng) -> Vec<f64> {
    let normal = |rng: &mut Rng| (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt() * (std::f64::consts::TAU * rng.random::<f64>()).cos();
    let x: Vec<f64> = (0..d).map(|_| normal(rng)).collect();
    let length = dot(&x, &x).sqrt();
    x.iter().map(|x| x / length).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A unit vector with `<q, w>` = margin, and otherwise at random.
fn beside(w: &[f64], margin: f64, rng: &mut Rng) -> Vec<f64> {
    let square = dot(w, w);
    let z = unit(w.len(), rng);
    let along = dot(&z, w) / square;
    let across: Vec<f64> = z.iter().zip(w).map(|(z, w)| z - along * w).collect();
    let length = dot(&across, &across).sqrt();
    if length < 1e-9 {
        return w.iter().map(|w| w * margin.signum() / square.sqrt()).collect();
    }
    let rest = (1.0 - margin * margin / square).max(0.0).sqrt();
    across.iter().zip(w).map(|(x, w)| x / length * rest + w * margin / square).collect()
}

/// The class whose centre has the largest inner product.
fn truth(centres: &[Vec<f64>], q: &[f64]) -> usize {
    (0..centres.len()).max_by(|&a, &b| dot(&centres[a], q).total_cmp(&dot(&centres[b], q))).unwrap()
}

/// Centres in the unit ball.
fn centres(k: usize, d: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    (0..k).map(|_| unit(d, rng).iter().map(|x| x * (0.3 + 0.7 * rng.random::<f64>())).collect()).collect()
}
