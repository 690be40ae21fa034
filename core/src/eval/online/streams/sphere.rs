//! Queries from the unit sphere, labelled by the nearest of some centres.

use super::random_vectors::{ball, unit};
use super::stream::Stream;
use crate::contextual::Lift;
use crate::ids::ClassId;
use crate::learn::Prediction;
use crate::random::Rng;

/// Queries from the sphere.
pub(in super::super) struct Sphere {
    lift: Lift,
    centres: Vec<Vec<f64>>,
    /// The centres' images under the lift, where it has them.
    images: Option<Vec<Vec<f64>>>,
    /// Queries whose two best classes are nearer than this are left out.
    margin: f64,
    d: usize,
    power: f64,
}

impl Sphere {
    pub(in super::super) fn new(lift: &Lift, d: usize, k: usize, collinear: bool, margin: f64, power: f64, rng: &mut Rng) -> Self {
        let line = unit(d, rng);
        let on_line = |i: usize, rng: &mut Rng| {
            let along = 0.99 * (2.0 * (i as f64 + 0.5) / k as f64 - 1.0);
            let off = unit(d, rng);
            line.iter().zip(off).map(|(x, off)| along * x + 1e-3 * off).collect()
        };
        let centres: Vec<Vec<f64>> = (0..k).map(|i| if collinear { on_line(i, rng) } else { ball(d, rng) }).collect();
        let images = centres.iter().map(|centre| lift.image(centre)).collect();
        Self { lift: lift.clone(), centres, images, margin, d, power }
    }

    fn best(&self, q: &[f64]) -> (usize, f64) {
        let scores: Vec<f64> = self.centres.iter().map(|centre| self.lift.nearness(q, centre)).collect();
        let best = (0..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
        let others = (0..scores.len()).filter(|&i| i != best).map(|i| scores[i]);
        (best, scores.get(best).copied().unwrap_or(0.0) - others.fold(f64::NEG_INFINITY, f64::max))
    }
}

impl Stream for Sphere {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        // A margin that hardly any query has ends the stream.
        (0..100_000).map(|_| unit(self.d, rng)).find(|q| self.margin <= 0.0 || self.best(q).1 >= self.margin)
    }

    fn reveal(&mut self, q: &[f64], _: &Prediction) -> ClassId {
        ClassId(self.best(q).0 as u32)
    }

    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        let truth = &self.centres[truth.index()];
        let guessed = guess.and_then(|guess| self.centres.get(guess.index()));
        guessed.map_or(2.0, |guess| self.lift.loss(q, guess, truth).max(0.0)).powf(self.power)
    }

    fn centres(&self) -> Option<&[Vec<f64>]> {
        self.images.as_deref()
    }
}
