//! The smallest half-length of an ellipsoid, to check the bound that the proof gives for it.

use crate::linalg::double::{add_scaled, dot};

/// The least eigenvalue of B B' for a square row-major B: one over the largest of B^-T B^-1, by
/// Jacobi's rotations. O(d^3) a sweep.
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
    let mut form: Vec<Vec<f64>> = inverse.iter().map(|a| inverse.iter().map(|b| dot(a, b)).collect()).collect();
    for _ in 0..12 {
        for p in 0..d {
            for q in p + 1..d {
                if form[p][q].abs() > 1e-17 * (form[p][p] * form[q][q]).abs().sqrt() {
                    rotate(&mut form, p, q);
                }
            }
        }
    }
    1.0 / (0..d).map(|i| form[i][i]).fold(0.0, f64::max)
}

/// Applies the rotation that makes entry (`p`, `q`) zero.
fn rotate(form: &mut [Vec<f64>], p: usize, q: usize) {
    let theta = (form[q][q] - form[p][p]) / (2.0 * form[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in form.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    // p comes before q.
    let (low, high) = form.split_at_mut(q);
    for (x, y) in low[p].iter_mut().zip(&mut high[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}
