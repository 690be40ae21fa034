//! What sends a vector to one of two sides, and learns to.

use super::CmtOptions;
use crate::bytes::Stored;
use crate::online_linear::{AdaptiveLinear, Learner};
use crate::sparse::SparseVec;

/// The function g of an inner node: a vector goes right if its prediction is above 0, and left
/// otherwise.
///
/// Theorem 3.3 holds for predictions in -1..1; a router must keep to them. What it predicted last
/// in [`Learner::step`] is what [`Learner::predict`] says of the same vector until it learns again,
/// bit for bit.
pub trait Router: Learner + Stored + Clone {
    /// A router that has learned nothing.
    fn new(options: &CmtOptions) -> Self;

    /// A router that sends right exactly the vectors with x\[`feature`\] above `threshold`, among
    /// vectors in which that component's size is at most `scale`. It is what parts a leaf that
    /// learning has not parted.
    fn step_at(options: &CmtOptions, feature: u32, threshold: f32, scale: f32) -> Self;

    /// What the prediction for `x` is made of before it is clipped: a constant, and for each
    /// feature of `x` that counts its part.
    fn reasons(&self, x: &SparseVec) -> (f64, Vec<(u32, f64)>);

    /// What it predicts before clipping: a constant, and what one unit of each feature adds.
    fn weights(&self) -> (f64, Vec<(u32, f64)>);

    /// For how many features it has a weight.
    fn n_weights(&self) -> usize;

    /// The bytes of what it points to.
    fn bytes(&self) -> usize;
}

impl Router for AdaptiveLinear {
    fn new(options: &CmtOptions) -> Self {
        Self::new(&options.router())
    }

    fn step_at(options: &CmtOptions, feature: u32, threshold: f32, scale: f32) -> Self {
        Self::step_at(&options.router(), feature, threshold, scale)
    }

    fn reasons(&self, x: &SparseVec) -> (f64, Vec<(u32, f64)>) {
        (self.constant(), self.terms(x).filter(|(_, term)| *term != 0.0).collect())
    }

    fn weights(&self) -> (f64, Vec<(u32, f64)>) {
        (self.constant(), self.weights().collect())
    }

    fn n_weights(&self) -> usize {
        self.n_features()
    }

    fn bytes(&self) -> usize {
        self.table_bytes()
    }
}
