//! Sums over vectors and square matrices of f64, eight lanes at a time.

/// The inner product. O(n).
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (eights, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    for (a, b) in eights.iter().zip(others) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// The square of the Euclidean distance. O(n).
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (eights, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    for (a, b) in eights.iter().zip(others) {
        for i in 0..8 {
            sums[i] += (a[i] - b[i]) * (a[i] - b[i]);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
}

/// Adds `factor` times `x` to `to`. O(n).
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub fn add_scaled(to: &mut [f64], factor: f64, x: &[f64]) {
    for (to, x) in to.iter_mut().zip(x) {
        *to += factor * x;
    }
}

/// `x` times `factor`. O(n).
pub fn scaled(x: &[f64], factor: f64) -> Vec<f64> {
    x.iter().map(|x| x * factor).collect()
}

/// The Euclidean length. O(n).
pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// The product of the transpose of a square row-major matrix with a vector. O(d^2).
pub fn transposed_times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    for (row, x) in matrix.chunks_exact(x.len().max(1)).zip(x) {
        add_scaled(&mut out, *x, row);
    }
    out
}

/// The product of a square row-major matrix with a vector. O(d^2).
pub fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(x.len().max(1)).map(|row| dot(row, x)).collect()
}
