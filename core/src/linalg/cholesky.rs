//! The Cholesky factor of a symmetric positive definite matrix, and systems solved with it.
//!
//! G. Golub and C. Van Loan, *Matrix Computations*, 4th edition, section 4.2.

use super::double::{add_scaled, dot};

/// The lower triangular factor `L` of a matrix `L L'`.
#[derive(Clone, Debug)]
pub struct Cholesky {
    n: usize,
    /// Row-major `(n, n)`; above the diagonal it holds nothing of use.
    factor: Vec<f64>,
}

impl Cholesky {
    /// Factors a symmetric matrix `(n, n)`, row-major, of which the lower triangle is read. `None`
    /// where it is not positive definite. O(n^3).
    pub fn new(mut matrix: Vec<f64>, n: usize) -> Option<Self> {
        for i in 0..n {
            let (above, row) = matrix.split_at_mut(i * n);
            for j in 0..i {
                let other = &above[j * n..][..=j];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let square = row[i] - dot(&row[..i], &row[..i]);
            if square.is_nan() || square <= 0.0 {
                return None;
            }
            row[i] = square.sqrt();
        }
        Some(Self { n, factor: matrix })
    }

    /// The `x` for which the matrix times `x` is `right`, in its place. O(n^2).
    pub fn solve(&self, right: &mut [f64]) {
        self.solve_lower(right);
        for i in (0..self.n).rev() {
            right[i] /= self.row(i)[i];
            let factor = -right[i];
            add_scaled(&mut right[..i], factor, &self.row(i)[..i]);
        }
    }

    /// The `x` for which `L x` is `right`, in its place. O(n^2).
    ///
    /// # Panics
    /// For fewer than `n` values.
    pub fn solve_lower(&self, right: &mut [f64]) {
        for i in 0..self.n {
            right[i] = (right[i] - dot(&self.row(i)[..i], &right[..i])) / self.row(i)[i];
        }
    }

    /// Row `i` of `L` up to its diagonal: `i + 1` values.
    ///
    /// # Panics
    /// For a row of `n` or above.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.factor[i * self.n..][..=i]
    }
}
