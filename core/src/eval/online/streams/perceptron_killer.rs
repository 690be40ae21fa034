//! Queries that the Perceptron gets wrong every time.

use rand::RngExt;

use super::random_vectors::{across, halves, unit};
use super::stream::Stream;
use crate::ids::ClassId;
use crate::learn::Prediction;
use crate::linalg::double::{dot, norm, scaled};
use crate::random::Rng;

/// The Perceptron's worst case. w is a unit vector; a shadow Perceptron p (two classes, started at
/// 0) sees every label. With u the direction of p across w and t = γ <p, w> / |p across w|, the
/// query is y (γ w - t u + sqrt(1 - γ^2 - t^2) z) for a random sign y and a random z across both:
/// <p, q> = 0 but for a hair to the wrong side, and <q, w> = y γ. With γ = 1/sqrt(T) the shadow is
/// wrong in all T rounds, and loses sqrt(T). The queries do not depend on the learner. Three
/// dimensions or more.
pub(in super::super) struct PerceptronKiller {
    w: Vec<f64>,
    shadow: Vec<f64>,
    gamma: f64,
    centres: Vec<Vec<f64>>,
    power: f64,
}

impl PerceptronKiller {
    pub(in super::super) fn new(d: usize, gamma: f64, power: f64, rng: &mut Rng) -> Self {
        let w = unit(d, rng);
        Self { shadow: vec![0.0; d], gamma, centres: halves(&w), w, power }
    }
}

impl Stream for PerceptronKiller {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        let d = self.w.len();
        let along = dot(&self.shadow, &self.w);
        let off: Vec<f64> = self.shadow.iter().zip(&self.w).map(|(p, w)| p - along * w).collect();
        let length = norm(&off);
        let (u, t) = if length > 1e-12 {
            (scaled(&off, 1.0 / length), (self.gamma * along / length) * (1.0 + 1e-9) + 1e-13)
        } else {
            (vec![0.0; d], 0.0)
        };
        let mut z = across(&self.w, rng);
        let part = dot(&z, &u);
        z.iter_mut().zip(&u).for_each(|(z, u)| *z -= part * u);
        let size = norm(&z);
        let rest = (1.0 - self.gamma * self.gamma - t * t).max(0.0).sqrt() / size.max(1e-300);
        // At 0 the shadow says the first class.
        let y = if length > 1e-12 && rng.random() { 1.0 } else { -1.0 };
        let query = (0..d).map(|j| y * (self.gamma * self.w[j] - t * u[j] + rest * z[j])).collect::<Vec<f64>>();
        let longest = norm(&query).max(1.0);
        let query = scaled(&query, 1.0 / longest);
        let truth = if dot(&query, &self.w) >= 0.0 { 1.0 } else { -1.0 };
        let says = if dot(&self.shadow, &query) >= 0.0 { 1.0 } else { -1.0 };
        if says != truth {
            self.shadow.iter_mut().zip(&query).for_each(|(p, q)| *p += truth * q);
        }
        Some(query)
    }

    fn reveal(&mut self, q: &[f64], _: &Prediction) -> ClassId {
        ClassId(u32::from(dot(q, &self.w) < 0.0))
    }

    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { dot(q, &self.w).abs().powf(self.power) }
    }

    fn centres(&self) -> Option<&[Vec<f64>]> {
        Some(&self.centres)
    }
}
