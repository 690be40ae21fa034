//! The views of a thing that advisers look at: a vector, a small projection of it, words, and what
//! a recogniser says.

use super::mixture::Opinion;
use crate::linalg::double::norm;
use crate::linalg::projection::RandomProjection;
use crate::random;
use crate::sparse::SparseVec;

/// Numbers of the small view besides its constant: the cost of contextual search grows with their
/// square.
const SMALL: usize = 32;

/// The views of one thing.
#[derive(Clone, Debug)]
pub struct Views {
    /// All its numbers, of length 1 at most.
    pub whole: Vec<f64>,
    /// A random projection of `whole` and a last number that is the same for all things, of length
    /// 1 at most.
    pub small: Vec<f64>,
    /// The words said of it; empty where there are none.
    pub words: SparseVec,
    /// What a recogniser thinks of it.
    pub recognised: Opinion,
}

/// Makes views of vectors of one dimension.
#[derive(Clone, Debug)]
pub struct Projector {
    /// None where vectors have no more than [`SMALL`] numbers, which stay as they are.
    projection: Option<RandomProjection>,
}

impl Projector {
    /// A projection of vectors with `dimension` numbers, drawn from `seed`. O(dimension).
    pub fn new(dimension: usize, seed: u64) -> Self {
        let draw = || RandomProjection::new(dimension, SMALL, &mut random::stream(seed, 0));
        Self { projection: (dimension > SMALL).then(draw) }
    }

    /// The views of a thing with these numbers, which are divided by their length where that is
    /// above 1, and these words; no recogniser was asked. O(dimension).
    pub fn views(&self, mut whole: Vec<f64>, words: SparseVec) -> Views {
        // A length of 1 must not become more by rounding.
        let length = norm(&whole).max(1.0);
        whole.iter_mut().for_each(|x| *x /= length * (1.0 + 1e-12));
        let mut small = self.projection.as_ref().map_or_else(|| whole.clone(), |projection| projection.project(&whole));
        let length = norm(&small).max(1.0);
        small.push(length);
        small.iter_mut().for_each(|x| *x *= std::f64::consts::FRAC_1_SQRT_2 / length);
        Views { whole, small, words, recognised: Opinion::None }
    }
}

/// Numbers of the small view of vectors with `dimension` numbers.
pub(super) fn small_dimension(dimension: usize) -> usize {
    dimension.min(SMALL) + 1
}
