//! Two convex regions of which nothing can be learned.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::stream::Stream;
use crate::ids::ClassId;
use crate::learn::Prediction;
use crate::linalg::double::dot;
use crate::random::Rng;

/// Two convex regions, of which the labels seen say nothing about those to come (Guruganesh et al.,
/// Theorem 4; their proof is in an appendix that was not at hand, so this construction is ours).
/// Points p_t lie on the unit sphere of d-1 dimensions, each pair s or more apart: a grid of T
/// points in a cube inside the unit ball of d-2 dimensions, lifted to the sphere. Labels are fair
/// coins. In the last dimension points lie on either side of a hyperplane by amounts that separate
/// their labels; as real numbers these may be arbitrarily small (the t-th halves what the first t-1
/// left open), so here they are 0. Regions are the convex hulls of the points of each label:
/// disjoint, for the hyperplane is between them. The distance of p_t to the hull of other points is
/// 1 - max <p_t, p_s> or more, so s^2/2 or more, which is what a mistake is taken to cost. With s
/// about T^(-1/(d-2)) and half of T mistakes, that is about T^((d-4)/(d-2)), for every learner.
pub(in super::super) struct ConvexLowerBound {
    points: Vec<Vec<f64>>,
    next: usize,
    cost: f64,
    truth: ClassId,
}

impl ConvexLowerBound {
    pub(in super::super) fn new(d: usize, rounds: usize, power: f64, rng: &mut Rng) -> Self {
        let m = d - 2;
        let side = (1..).find(|n: &usize| n.checked_pow(m as u32).is_none_or(|all| all >= rounds)).unwrap_or(1);
        // The cube's corners are just inside the ball.
        let half = 0.95 / (m as f64).sqrt();
        let step = if side > 1 { 2.0 * half / (side - 1) as f64 } else { 2.0 * half };
        let point = |number: usize| {
            let (mut rest, mut x) = (number, vec![0.0; d]);
            for x in x.iter_mut().take(m) {
                *x = (rest % side) as f64 * step - half;
                rest /= side;
            }
            x[m] = (1.0 - dot(&x, &x)).max(0.0).sqrt();
            x
        };
        let mut points: Vec<Vec<f64>> = (0..rounds).map(point).collect();
        points.shuffle(rng);
        Self { points, next: 0, cost: (step * step / 2.0).powf(power), truth: ClassId(0) }
    }
}

impl Stream for ConvexLowerBound {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        self.truth = ClassId(u32::from(rng.random::<bool>()));
        self.next += 1;
        self.points.get(self.next - 1).cloned()
    }

    fn reveal(&mut self, _: &[f64], _: &Prediction) -> ClassId {
        self.truth
    }

    fn loss(&self, _: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { self.cost }
    }
}
