//! The views of a thing that advisers look at: a vector, a small projection of it, words, and what a recogniser says.

use rand::RngExt as _;

use super::mixture::Opinion;
use crate::random;
use crate::sparse::SparseVec;

/// Numbers of the small view besides its constant: the cost of contextual search grows with their square.
const SMALL: usize = 32;

/// The views of one thing.
#[derive(Clone, Debug)]
pub struct Views {
    /// All its numbers, of length 1 at most.
    pub whole: Vec<f64>,
    /// A random projection of `whole` and a last number that is the same for all things, of length 1 at most.
    pub small: Vec<f64>,
    /// The words said of it; empty where there are none.
    pub words: SparseVec,
    /// What a recogniser thinks of it.
    pub recognised: Opinion,
}

/// Makes views of vectors of one dimension.
#[derive(Clone, Debug)]
pub struct Projector {
    dimension: usize,
    /// Row-major `(SMALL, dimension)`; empty where vectors have no more than [`SMALL`] numbers, which stay as they are.
    projection: Vec<f32>,
}

impl Projector {
    /// A projection of vectors with `dimension` numbers: each entry is 1/sqrt(32) or minus that with equal chance, drawn from `seed`
    /// (Achlioptas, *Database-friendly random projections*, 2003). O(dimension).
    pub fn new(dimension: usize, seed: u64) -> Self {
        let mut rng = random::stream(seed, 0);
        let one = 1.0 / (SMALL as f32).sqrt();
        let entries = if dimension > SMALL { SMALL * dimension } else { 0 };
        Self { dimension, projection: (0..entries).map(|_| if rng.random::<bool>() { one } else { -one }).collect() }
    }

    /// The views of a thing with these numbers, which are divided by their length where that is above 1, and these words; no recogniser
    /// was asked. O(dimension).
    pub fn views(&self, mut whole: Vec<f64>, words: SparseVec) -> Views {
        // A length of 1 must not become more by rounding.
        let length = whole.iter().map(|x| x * x).sum::<f64>().sqrt().max(1.0);
        whole.iter_mut().for_each(|x| *x /= length * (1.0 + 1e-12));
        let mut small: Vec<f64> = match self.dimension {
            0..=SMALL => whole.clone(),
            d => self.projection.chunks_exact(d).map(|row| row.iter().zip(&whole).map(|(p, x)| f64::from(*p) * x).sum()).collect(),
        };
        let length = small.iter().map(|x| x * x).sum::<f64>().sqrt().max(1.0);
        small.push(length);
        small.iter_mut().for_each(|x| *x *= std::f64::consts::FRAC_1_SQRT_2 / length);
        Views { whole, small, words, recognised: Opinion::None }
    }
}

/// Numbers of the small view of vectors with `dimension` numbers.
pub(super) fn small_dimension(dimension: usize) -> usize {
    dimension.min(SMALL) + 1
}
