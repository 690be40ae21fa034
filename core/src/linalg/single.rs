//! Sums over vectors of f32, eight lanes at a time.

/// The inner product. O(n).
#[multiversion::multiversion(targets("x86_64+avx2+fma"))]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (eights, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    for (a, b) in eights.iter().zip(others) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f32>() + rest.iter().zip(other_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// The square of the Euclidean distance. O(n).
#[multiversion::multiversion(targets("x86_64+avx2+fma"))]
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (eights, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    for (a, b) in eights.iter().zip(others) {
        for i in 0..8 {
            sums[i] += (a[i] - b[i]) * (a[i] - b[i]);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().zip(other_rest).map(|(a, b)| (a - b) * (a - b)).sum::<f32>()
}

/// Adds `factor` times `x` to `to`. O(n).
#[multiversion::multiversion(targets("x86_64+avx2+fma"))]
pub fn add_scaled(to: &mut [f32], factor: f32, x: &[f32]) {
    for (sum, value) in to.iter_mut().zip(x) {
        *sum += value * factor;
    }
}

/// The Euclidean length. O(n).
pub fn norm(x: &[f32]) -> f32 {
    dot(x, x).sqrt()
}
