//! The smallest half-length of an ellipsoid, to check the bound that the proof gives for it.

use crate::linalg::double::{add_scaled, dot};
use crate::linalg::eigen::symmetric;

/// The least eigenvalue of B B' for a square row-major B: one over the largest of B^-T B^-1. O(d^3)
/// a sweep.
pub(super) fn least_eigenvalue(factor: &[f64], d: usize) -> f64 {
    let mut rows: Vec<Vec<f64>> =
        factor.chunks_exact(d).map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, d)).collect()).collect();
    for (i, row) in rows.iter_mut().enumerate() {
        row[d + i] = 1.0;
    }
    for column in 0..d {
        let pivot = (column..d).max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs())).unwrap_or(column);
        rows.swap(column, pivot);
        let inverse = 1.0 / rows[column][column];
        rows[column].iter_mut().for_each(|x| *x *= inverse);
        let own = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = row[column];
            add_scaled(row, -factor, &own);
        }
    }
    let inverse: Vec<&[f64]> = rows.iter().map(|row| &row[d..]).collect();
    let form = inverse.iter().flat_map(|a| inverse.iter().map(|b| dot(a, b))).collect();
    symmetric(form, d).first().map_or(f64::INFINITY, |(largest, _)| 1.0 / largest)
}
