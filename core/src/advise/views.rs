//! The representations of an item that advisers use: a vector, a small projection of it, words, and
//! the recogniser's opinions.

use std::sync::Arc;

use super::mixture::Opinion;
use crate::linalg::double::norm;
use crate::linalg::projection::RandomProjection;
use crate::random;
use crate::sparse::SparseVec;

/// Components of the small view without the constant one: the cost of contextual search grows with
/// their square.
const SMALL: usize = 32;

/// The views of one item.
#[derive(Clone, Debug)]
pub struct Views {
    /// All its components, of norm 1 at most; advisers that keep them share them.
    pub whole: Arc<[f64]>,
    /// A random projection of `whole`, and a last component that is the same for all items; of norm
    /// 1 at most.
    pub small: Vec<f64>,
    /// The words of its captions with their counts; empty where there are none.
    pub words: SparseVec,
    /// The recogniser's opinions on it.
    pub recognised: Recognised,
}

/// The opinions of a recogniser, which learns outside of the ensemble.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recognised {
    /// Its scores, mostly of pieces.
    pub scores: Opinion,
    /// How like the whole image is to those of each class ([`crate::ckm::Ckm::whole_values`]).
    pub whole: Opinion,
}

/// Makes views of vectors of one dimension.
#[derive(Clone, Debug)]
pub struct Projector {
    /// None where vectors have no more than [`SMALL`] components: they stay as they are.
    projection: Option<RandomProjection>,
}

impl Projector {
    /// A projection of vectors with `dimension` components, with signs drawn from `seed`.
    /// O(dimension).
    pub fn new(dimension: usize, seed: u64) -> Self {
        let draw = || RandomProjection::new(dimension, SMALL, &mut random::stream(seed, 0));
        Self { projection: (dimension > SMALL).then(draw) }
    }

    /// The views of an item with these components, divided by their norm where that is above 1, and
    /// these words, without a recogniser's opinions. O(dimension).
    pub fn views(&self, mut whole: Vec<f64>, words: SparseVec) -> Views {
        // Rounding must not make the norm larger than 1.
        let length = norm(&whole).max(1.0);
        whole.iter_mut().for_each(|x| *x /= length * (1.0 + 1e-12));
        let mut small = self.projection.as_ref().map_or_else(|| whole.clone(), |projection| projection.project(&whole));
        let length = norm(&small).max(1.0);
        small.push(length);
        small.iter_mut().for_each(|x| *x *= std::f64::consts::FRAC_1_SQRT_2 / length);
        Views { whole: whole.into(), small, words, recognised: Recognised::default() }
    }
}

/// Components of the small view of vectors with `dimension` components.
pub(super) fn small_dimension(dimension: usize) -> usize {
    dimension.min(SMALL) + 1
}
