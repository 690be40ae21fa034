//! Whole points in seven bits a value, one after another: what candidates are compared with first.

use multiversion::multiversion;
use multiversion::target::match_target;

use super::point_set::PointSet;
use super::rounding::{Query, Rounding, Shortlist};
use super::steps::{ZERO, write};
use crate::linalg::dots::{self, WIDE};
use crate::nearest::Metric;

/// Points of seven bits a value. A quarter of the memory of the points, and as much less is read
/// for a candidate.
#[derive(Clone, Debug, Default)]
pub(super) struct Fine {
    rounding: Rounding,
    /// So many pieces of values for each point.
    pieces: usize,
    values: Vec<[u8; WIDE]>,
}

impl Fine {
    pub(super) fn new(corpus: &PointSet) -> Self {
        Self::with(Rounding::of(corpus), corpus)
    }

    /// The points around a middle and in steps that were found for others.
    pub(super) fn around(middle: Vec<f32>, units: Vec<f32>, corpus: &PointSet) -> Self {
        Self::with(Rounding::around(middle, units, corpus), corpus)
    }

    fn with((rounding, rounded): (Rounding, Vec<u8>), corpus: &PointSet) -> Self {
        let pieces = corpus.dimension().div_ceil(WIDE);
        let mut values = vec![[0; WIDE]; pieces * corpus.len()];
        for (to, row) in values.chunks_exact_mut(pieces.max(1)).zip(rounded.chunks_exact(corpus.dimension().max(1))) {
            to.as_flattened_mut()[..row.len()].copy_from_slice(row);
        }
        Self { rounding, pieces, values }
    }

    /// The middle and the steps of the rounded values.
    pub(super) fn frame(&self) -> (&[f32], &[f32]) {
        (self.rounding.middle(), &self.rounding.units)
    }

    /// Adds a point.
    pub(super) fn push(&mut self, row: &[f32], metric: Metric) {
        let rounded = self.rounding.push(row, metric);
        let start = self.values.len();
        self.values.resize(start + self.pieces, [0; WIDE]);
        self.values[start..].as_flattened_mut()[..rounded.len()].copy_from_slice(&rounded);
    }

    /// Removes point `i`; the last one takes its place.
    pub(super) fn swap_remove(&mut self, i: usize) {
        let last = self.values.len() - self.pieces;
        self.values.copy_within(last.., i * self.pieces);
        self.values.truncate(last);
        self.rounding.swap_remove(i);
    }

    /// Those of some points that may be among the `k` nearest to a prepared query, but for one of
    /// these of ten thousands.
    pub(super) fn nearest(&self, x: &[f32], k: usize, points: &[u32]) -> Vec<u32> {
        let centred = self.rounding.centred(x);
        let mut factors = vec![[0; WIDE]; self.pieces];
        let mut rest = vec![0.0; x.len()];
        let (unit, sum) = write(&centred, &self.rounding.units, factors.as_flattened_mut(), &mut rest);
        let query = self.rounding.likely(&centred, &rest, unit);
        let mut shortlist = Shortlist::new(k);
        offer(self, &factors, (unit, ZERO * sum), query, points, &mut shortlist);
        shortlist.finish().collect()
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.values[..]) + size_of_val(&self.rounding.points[..])
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vnni+avx2", "x86_64+avx2"))]
fn offer(fine: &Fine, factors: &[[u8; WIDE]], (unit, zeros): (f32, i32), query: Query, points: &[u32], shortlist: &mut Shortlist) {
    for point in points {
        let values = &fine.values[*point as usize * fine.pieces..][..fine.pieces];
        let dot = match_target! {
            "x86_64+avx512f+avx512vnni" => dots::vnni_row(values, factors),
            "x86_64+avx2" => dots::avx2_row(values, factors),
            _ => dots::portable_row(values, factors),
        };
        shortlist.offer(*point, fine.rounding.points[*point as usize].bounds(query, (dot - zeros) as f32 * unit));
    }
}
