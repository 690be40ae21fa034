//! Sums over dense vectors and square matrices of f64, in an order that is the same on every machine.

/// The inner product. O(d).
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
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

/// Adds `factor` times `x` to `to`. O(d).
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn add(to: &mut [f64], factor: f64, x: &[f64]) {
    for (to, x) in to.iter_mut().zip(x) {
        *to += factor * x;
    }
}

/// The Euclidean length. O(d).
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// B' q for a square row-major matrix B. O(d^2).
pub(crate) fn transposed_times(b: &[f64], q: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; q.len()];
    for (row, q) in b.chunks_exact(q.len().max(1)).zip(q) {
        add(&mut out, *q, row);
    }
    out
}

/// B p for a square row-major matrix B. O(d^2).
pub(crate) fn times(b: &[f64], p: &[f64]) -> Vec<f64> {
    b.chunks_exact(p.len().max(1)).map(|row| dot(row, p)).collect()
}
