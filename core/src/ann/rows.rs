//! Vectors in the layout for searching: sixteen side by side, value by value.

use multiversion::multiversion;

use crate::hamming::LANES;

/// Value `d` of vector `i` is `values[i / LANES * dimension + d][i % LANES]`.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    dimension: usize,
    values: Vec<[f32; LANES]>,
    len: usize,
}

impl Rows {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, values: Vec::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn push(&mut self, row: &[f32]) {
        if self.len.is_multiple_of(LANES) {
            self.values.extend(std::iter::repeat_n([0.0; LANES], self.dimension));
        }
        self.len += 1;
        self.set(self.len - 1, row);
    }

    fn set(&mut self, i: usize, row: &[f32]) {
        for (lanes, value) in self.values[i / LANES * self.dimension..].iter_mut().zip(row) {
            lanes[i % LANES] = *value;
        }
    }

    pub(super) fn row(&self, i: usize) -> Vec<f32> {
        self.values[i / LANES * self.dimension..][..self.dimension].iter().map(|lanes| lanes[i % LANES]).collect()
    }

    /// Removes row `i`; the last one takes its place.
    pub(super) fn swap_remove(&mut self, i: usize) {
        let last = self.row(self.len - 1);
        self.set(i, &last);
        self.len -= 1;
        self.values.truncate(self.len.div_ceil(LANES) * self.dimension);
    }

    /// The squared Euclidean distances of `x` to all rows, block by block; lanes beyond the last
    /// row hold anything. O(rows * dimension).
    pub(super) fn squares(&self, x: &[f32], out: &mut Vec<[f32; LANES]>) {
        out.clear();
        if self.dimension == 0 {
            out.resize(self.len.div_ceil(LANES), [0.0; LANES]);
        } else {
            squares(x, &self.values, out);
        }
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn squares(x: &[f32], values: &[[f32; LANES]], out: &mut Vec<[f32; LANES]>) {
    for block in values.chunks_exact(x.len()) {
        let mut sums = [0.0; LANES];
        for (lanes, value) in block.iter().zip(x) {
            for i in 0..LANES {
                sums[i] += (lanes[i] - value) * (lanes[i] - value);
            }
        }
        out.push(sums);
    }
}
