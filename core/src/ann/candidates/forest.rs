//! Splits of a forest that is trained: where the labels of both sides become most likely.

use std::collections::HashMap;

use rand::seq::index::sample;

use super::ground::{Ground, share, some};
use crate::random::Rng;

/// Points of a node by which its split is found.
const SAMPLE: usize = 100;

/// What a split must gain.
const LEAST_GAIN: f64 = 1e-3;

/// Finds splits; what it needs for that is kept from one to the next.
#[derive(Default)]
pub(super) struct Splitter {
    /// v log2 v.
    weighted: Vec<f64>,
    numbers: HashMap<u32, u32>,
    labels: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
}

impl Splitter {
    /// The best split of some points by some of their coordinates: which of these, and the value
    /// up to which points go left.
    pub(super) fn best(&mut self, ground: &Ground<'_>, points: &[u32], rng: &mut Rng) -> Option<(usize, f32)> {
        if ground.points.dimension() == 0 {
            return None;
        }
        let mut coordinates = sample(rng, ground.points.dimension(), share(ground)).into_vec();
        coordinates.sort_unstable();
        self.best_of(ground, points, coordinates, |coordinate, x| x[*coordinate], rng)
    }

    /// The split of most gain in likelihood of the labels, each label of a point by itself (the
    /// paper's *pick all labels*), among some ways to look at points and at most [`SAMPLE`] of
    /// these; none where no split gains.
    pub(super) fn best_of<L>(
        &mut self,
        ground: &Ground<'_>,
        points: &[u32],
        looks: Vec<L>,
        along: impl Fn(&L, &[f32]) -> f32,
        rng: &mut Rng,
    ) -> Option<(L, f32)> {
        let drawn = some(points, SAMPLE, rng);
        let k = ground.labels.count.min(ground.labels.graph.k());
        if drawn.len() < 2 || k == 0 {
            return None;
        }
        self.number(ground, &drawn);
        let most = drawn.len() * k + 1;
        if self.weighted.len() < most {
            self.weighted = (0..most).map(|v| if v == 0 { 0.0 } else { v as f64 * (v as f64).log2() }).collect();
        }
        let mut best: Option<(f64, (L, f32))> = None;
        let mut order: Vec<usize> = (0..drawn.len()).collect();
        for look in looks {
            let values: Vec<f32> = drawn.iter().map(|point| along(&look, ground.points.row(*point as usize))).collect();
            order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]).then(a.cmp(b)));
            if let Some((gain, threshold)) = self.along(&order, |i| values[*i], k)
                && best.as_ref().is_none_or(|(most, _)| gain > *most)
            {
                best = Some((gain, (look, threshold)));
            }
        }
        best.filter(|(gain, _)| *gain > LEAST_GAIN).map(|(_, split)| split)
    }

    /// Numbers the labels of some points from 0.
    fn number(&mut self, ground: &Ground<'_>, drawn: &[u32]) {
        self.numbers.clear();
        self.labels.clear();
        for label in drawn.iter().flat_map(|point| ground.labels.of(*point)) {
            let next = self.numbers.len() as u32;
            self.labels.push(*self.numbers.entry(*label).or_insert(next));
        }
    }

    /// The best place to divide points in this order: the gain, in bits for each point, and the
    /// middle between the values on both sides.
    fn along(&mut self, order: &[usize], value: impl Fn(&usize) -> f32, k: usize) -> Option<(f64, f32)> {
        self.left.clear();
        self.left.resize(self.numbers.len(), 0);
        self.right.clear();
        self.right.resize(self.numbers.len(), 0);
        self.labels.iter().for_each(|label| self.right[*label as usize] += 1);
        let (n, mut sums) = (order.len(), [0.0, self.right.iter().map(|v| self.weighted[*v as usize]).sum::<f64>()]);
        // The entropy of the labels of so many points, times their number.
        let entropy = |points: usize, sum: f64| k as f64 * points as f64 * (points as f64).log2() - sum;
        let all = entropy(n, sums[1]);
        let mut best: Option<(f64, f32)> = None;
        for (done, pair) in (1..).zip(order.windows(2)) {
            for label in &self.labels[pair[0] * k..][..k] {
                let (left, right) = (&mut self.left[*label as usize], &mut self.right[*label as usize]);
                sums[0] += self.weighted[*left as usize + 1] - self.weighted[*left as usize];
                sums[1] -= self.weighted[*right as usize] - self.weighted[*right as usize - 1];
                *left += 1;
                *right -= 1;
            }
            let (here, next) = (value(&pair[0]), value(&pair[1]));
            if here == next {
                continue;
            }
            let gain = (all - entropy(done, sums[0]) - entropy(n - done, sums[1])) / n as f64;
            if best.is_none_or(|(most, _)| gain > most) {
                let middle = here + (next - here) / 2.0;
                best = Some((gain, if middle < next { middle } else { here }));
            }
        }
        best
    }
}
