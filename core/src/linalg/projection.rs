//! Random projections: linear maps to fewer dimensions that nearly preserve distances.
//!
//! - Johnson and Lindenstrauss, *Extensions of Lipschitz mappings into a Hilbert space*, 1984.
//! - Achlioptas, *Database-friendly random projections*, 2003: random signs do as well as normally
//!   distributed entries.

use rand::RngExt;

use crate::random::Rng;

/// A linear map by a matrix of random signs, divided by the square root of the number of outputs.
///
/// The expected squared length of a projected vector is that of the original. Memory: 4 bytes for
/// each of inputs * outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomProjection {
    inputs: usize,
    /// Row-major `(outputs, inputs)`.
    matrix: Vec<f32>,
}

impl RandomProjection {
    /// A projection of `inputs` values to `outputs`, with signs drawn row by row.
    pub fn new(inputs: usize, outputs: usize, rng: &mut Rng) -> Self {
        let one = 1.0 / (outputs as f32).sqrt();
        let sign = |_| if rng.random::<bool>() { one } else { -one };
        Self { inputs, matrix: (0..outputs * inputs).map(sign).collect() }
    }

    /// The projection of `x`: from `(inputs)` to `(outputs)`. O(inputs * outputs).
    pub fn project(&self, x: &[f64]) -> Vec<f64> {
        let rows = self.matrix.chunks_exact(self.inputs.max(1));
        rows.map(|row| row.iter().zip(x).map(|(sign, x)| f64::from(*sign) * x).sum()).collect()
    }

    /// As [`RandomProjection::project`], of a sparse vector, given as indices with their values;
    /// each index is below the number of inputs. O(values * outputs).
    pub fn project_sparse(&self, x: impl Iterator<Item = (usize, f64)> + Clone) -> Vec<f64> {
        let rows = self.matrix.chunks_exact(self.inputs.max(1));
        rows.map(|row| x.clone().map(|(at, x)| f64::from(row[at]) * x).sum()).collect()
    }
}
