//! Eigenvectors of small symmetric matrices, by Jacobi's rotations.
//!
//! - Golub and Van Loan, *Matrix computations*, section 8.5: cyclic by rows.

/// The eigenvectors of a symmetric row-major matrix `(n, n)`, that of the largest eigenvalue first,
/// each of length 1 with its eigenvalue. O(n^3) a sweep, of which there are at most 30.
pub fn symmetric(mut matrix: Vec<f64>, n: usize) -> Vec<(f64, Vec<f64>)> {
    let mut turned: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let size: f64 = matrix.iter().map(|value| value * value).sum();
    for _ in 0..30 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| matrix[i * n + j].powi(2)).sum();
        if off <= 1e-18 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut matrix, &mut turned, n, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| matrix[b * n + b].total_cmp(&matrix[a * n + a]));
    order.into_iter().map(|i| (matrix[i * n + i], std::mem::take(&mut turned[i]))).collect()
}

/// Applies the rotation that makes entry (`p`, `q`) zero to the matrix, and to the eigenvectors in
/// `turned`.
fn rotate(matrix: &mut [f64], turned: &mut [Vec<f64>], n: usize, p: usize, q: usize) {
    let apart = matrix[p * n + q];
    if apart == 0.0 {
        return;
    }
    let theta = (matrix[q * n + q] - matrix[p * n + p]) / (2.0 * apart);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let (c, s) = (1.0 / (t * t + 1.0).sqrt(), t / (t * t + 1.0).sqrt());
    for i in 0..n {
        let (a, b) = (matrix[i * n + p], matrix[i * n + q]);
        (matrix[i * n + p], matrix[i * n + q]) = (c * a - s * b, s * a + c * b);
    }
    for i in 0..n {
        let (a, b) = (matrix[p * n + i], matrix[q * n + i]);
        (matrix[p * n + i], matrix[q * n + i]) = (c * a - s * b, s * a + c * b);
    }
    let (low, high) = turned.split_at_mut(q);
    for (a, b) in low[p].iter_mut().zip(&mut high[0]) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}
