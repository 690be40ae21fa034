//! Labels against the learner at hand, for as long as some centres are consistent with them.

use rand::RngExt;

use super::random_vectors::{across, halves, unit};
use super::stream::Stream;
use crate::ids::ClassId;
use crate::learn::Prediction;
use crate::linalg::double::{dot, norm, scaled};
use crate::random::Rng;

/// Labels against the learner. All centres of an ellipsoid {c + B z} are consistent with the labels
/// so far. The query is across c, where the ellipsoid is longest; the less likely answer is
/// declared right; the ellipsoid is replaced by one inside the half that remains: centre τ along p
/// = B'q, half-lengths τ along p and β across, with β^2 = (1 + sqrt(1 - 4 τ^2))/2 and τ =
/// min(1/sqrt d, 1/2). (On the unit ball, f = τ^2 (1+x)^2 + β^2 (1-x^2) is largest at x =
/// τ^2/(β^2-τ^2), where it is β^4/(β^2-τ^2) = 1.) When the longest extent across c is below 1e-9
/// that is over: w = c/|c|, and queries follow at margins drawn between 1e-9 and 0.1, evenly by
/// their logarithm. Losses are those of the final w.
pub(in super::super) struct Adversary {
    centre: Vec<f64>,
    /// Row-major.
    factor: Vec<f64>,
    over: bool,
    centres: Vec<Vec<f64>>,
    power: f64,
}

impl Adversary {
    pub(in super::super) fn new(d: usize, power: f64, rng: &mut Rng) -> Self {
        let mut factor = vec![0.0; d * d];
        factor.iter_mut().step_by(d + 1).for_each(|x| *x = 0.45);
        Self { centre: scaled(&unit(d, rng), 0.5), factor, over: false, centres: Vec::new(), power }
    }

    fn pulled(&self, q: &[f64]) -> Vec<f64> {
        let d = q.len();
        (0..d).map(|j| (0..d).map(|i| self.factor[i * d + j] * q[i]).sum()).collect()
    }

    fn pushed(&self, p: &[f64]) -> Vec<f64> {
        self.factor.chunks_exact(p.len()).map(|row| dot(row, p)).collect()
    }

    fn direction(&self) -> Vec<f64> {
        scaled(&self.centre, 1.0 / norm(&self.centre))
    }

    /// The unit vector across c along which the ellipsoid is longest, by power iteration, and that
    /// half-length.
    fn longest(&self, rng: &mut Rng) -> (Vec<f64>, f64) {
        let c = self.direction();
        let mut q = across(&c, rng);
        for _ in 0..40 {
            let mut next = self.pushed(&self.pulled(&q));
            for _ in 0..2 {
                let along = dot(&next, &c);
                next.iter_mut().zip(&c).for_each(|(x, c)| *x -= along * c);
            }
            let length = norm(&next);
            if length < 1e-300 {
                break;
            }
            q = scaled(&next, 1.0 / length);
        }
        let p = self.pulled(&q);
        let h = norm(&p);
        (q, h)
    }
}

impl Stream for Adversary {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        if !self.over {
            let (q, h) = self.longest(rng);
            if h >= 1e-9 {
                return Some(q);
            }
            self.over = true;
        }
        let w = self.direction();
        self.centres = halves(&w);
        let margin = 10f64.powf(-9.0 + 8.0 * rng.random::<f64>()) * if rng.random() { 1.0 } else { -1.0 };
        let rest = (1.0 - margin * margin).sqrt();
        Some(across(&w, rng).iter().zip(&w).map(|(z, w)| rest * z + margin * w).collect())
    }

    fn reveal(&mut self, q: &[f64], answer: &Prediction) -> ClassId {
        if self.over {
            return ClassId(u32::from(dot(q, &self.centre) < 0.0));
        }
        let first = answer.expected(|guess| if guess == Some(ClassId(0)) { 1.0 } else { 0.0 });
        let (truth, s) = if first >= 0.5 { (ClassId(1), -1.0) } else { (ClassId(0), 1.0) };
        let d = q.len();
        let p = self.pulled(q);
        let h = norm(&p);
        let p = scaled(&p, 1.0 / h);
        let b = self.pushed(&p);
        let tau = (1.0 / (d as f64).sqrt()).min(0.5);
        let beta = ((1.0 + (1.0 - 4.0 * tau * tau).max(0.0).sqrt()) / 2.0).sqrt();
        self.centre.iter_mut().zip(&b).for_each(|(c, b)| *c += s * tau * b);
        for (row, b) in self.factor.chunks_exact_mut(d).zip(&b) {
            row.iter_mut().zip(&p).for_each(|(x, p)| *x = beta * *x + (tau - beta) * b * p);
        }
        truth
    }

    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { dot(q, &self.direction()).abs().powf(self.power) }
    }

    fn settled(&self) -> bool {
        false
    }

    fn centres(&self) -> Option<&[Vec<f64>]> {
        Some(&self.centres).filter(|centres| !centres.is_empty()).map(Vec::as_slice)
    }
}
