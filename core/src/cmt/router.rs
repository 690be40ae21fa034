//! Routers, which send a vector to one of two sides and learn where good answers are.

use super::CmtOptions;
use crate::bytes::Stored;
use crate::online_linear::{AdaptiveLinear, OnlineRegressor};
use crate::sparse::SparseVec;

/// The function g of an inner node: a vector goes right if its prediction is above 0, and left
/// otherwise.
///
/// Theorem 3.3 holds for predictions in -1..1, so a router must keep to that range. Until it learns
/// again, [`OnlineRegressor::predict`] must return for the same vector, bit for bit, what
/// [`OnlineRegressor::step`] returned last.
pub trait Router: OnlineRegressor + Stored + Clone {
    /// A router that has learned nothing.
    fn new(options: &CmtOptions) -> Self;

    /// A router that sends right exactly the vectors with x\[`feature`\] above `threshold`, among
    /// vectors in which that component's size is at most `scale`. It splits a leaf that a trained
    /// router did not split.
    fn step_at(options: &CmtOptions, feature: u32, threshold: f32, scale: f32) -> Self;

    /// The parts of the prediction for `x` before clipping: a constant, and the contribution of
    /// each feature of `x` that has one.
    fn reasons(&self, x: &SparseVec) -> (f64, Vec<(u32, f64)>);

    /// The function before clipping: a constant, and what one unit of each feature adds.
    fn weights(&self) -> (f64, Vec<(u32, f64)>);

    /// The number of features that it has a weight for.
    fn n_weights(&self) -> usize;

    /// The bytes of memory that it points to.
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
