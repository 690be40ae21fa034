//! Sums over vectors of f32, eight lanes at a time.
//!
//! The forms for many rows pick the processor's instructions once for all of them; each value is
//! the same as that of the form for two vectors.

use multiversion::multiversion;

#[inline(always)]
fn product(a: &[f32], b: &[f32]) -> f32 {
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

#[inline(always)]
fn square<T: Copy + Into<f32>>(a: &[f32], b: &[T]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (eights, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    let square = |a: f32, b: T| (a - b.into()) * (a - b.into());
    for (a, b) in eights.iter().zip(others) {
        for i in 0..8 {
            sums[i] += square(a[i], b[i]);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().zip(other_rest).map(|(a, b)| square(*a, *b)).sum::<f32>()
}

#[inline(always)]
fn long_square<T: Copy + Into<f32>>(a: &[f32], b: &[T]) -> f32 {
    let [mut s, mut t, mut u, mut v] = [[0.0f32; 16]; 4];
    let (longs, rest) = a.as_chunks::<64>();
    let (others, other_rest) = b.as_chunks::<64>();
    for (a, b) in longs.iter().zip(others) {
        let add = |sums: &mut [f32; 16], start: usize| {
            for ((sum, a), b) in sums.iter_mut().zip(&a[start..start + 16]).zip(&b[start..start + 16]) {
                *sum += (a - (*b).into()) * (a - (*b).into());
            }
        };
        add(&mut s, 0);
        add(&mut t, 16);
        add(&mut u, 32);
        add(&mut v, 48);
    }
    let sums: [f32; 16] = std::array::from_fn(|i| (s[i] + t[i]) + (u[i] + v[i]));
    let halves: [f32; 8] = std::array::from_fn(|i| sums[i] + sums[8 + i]);
    halves.iter().sum::<f32>() + square(rest, other_rest)
}

/// The square of the Euclidean distance, from 64 partial sums: quicker than [`squared_distance`]
/// for long vectors, and another value in its last bits. O(n).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn long_squared_distance(a: &[f32], b: &[f32]) -> f32 {
    long_square(a, b)
}

/// As [`long_squared_distance`], the same value, where `b` holds bytes.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub fn long_squared_distance_to_bytes(a: &[f32], b: &[u8]) -> f32 {
    long_square(a, b)
}

/// The inner product. O(n).
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    product(a, b)
}

/// The inner products of `x` with the rows of a row-major matrix `(n, d)`, into `out`, `(n)`.
/// O(n d).
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn dots(x: &[f32], rows: &[f32], out: &mut [f32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(x.len().max(1))) {
        *out = product(x, row);
    }
}

/// The square of the Euclidean distance. O(n).
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    square(a, b)
}

/// The squares of the Euclidean distances of `x` to the rows of a row-major matrix `(n, d)`, into
/// `out`, `(n)`. O(n d).
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn squared_distances(x: &[f32], rows: &[f32], out: &mut [f32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(x.len().max(1))) {
        *out = square(x, row);
    }
}

/// Adds `factor` times `x` to `to`. O(n).
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn add_scaled(to: &mut [f32], factor: f32, x: &[f32]) {
    for (sum, value) in to.iter_mut().zip(x) {
        *sum += value * factor;
    }
}

/// The Euclidean length. O(n).
pub fn norm(x: &[f32]) -> f32 {
    dot(x, x).sqrt()
}

/// The vector of length 1 in the direction of `x`; zeros stay zeros.
pub fn direction(x: &[f32]) -> Vec<f32> {
    let length = x.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    x.iter().map(|value| if length > 0.0 { (f64::from(*value) / length) as f32 } else { 0.0 }).collect()
}

/// Whether any value is as asked, told without a branch for each.
#[inline(always)]
pub fn any<const LANES: usize>(values: &[f32; LANES], is: impl Fn(f32) -> bool) -> bool {
    values.iter().fold(false, |any, value| any | is(*value))
}

/// The place of the least of the first `n` values, which lie block by block; of equals the first,
/// and 0 where there is none below infinity. O(n).
pub fn least<const LANES: usize>(values: &[[f32; LANES]], n: usize) -> usize {
    let mut best = (f32::INFINITY, 0);
    for (values, start) in values.iter().zip((0..n).step_by(LANES)) {
        if any(values, |value| value < best.0) {
            for (value, i) in values.iter().zip(start..n) {
                if *value < best.0 {
                    best = (*value, i);
                }
            }
        }
    }
    best.1
}

/// The places of the `count` least of the first `n` values, which lie block by block, the least
/// first; of equals the first. O(n) for a small `count`, O(n log n) for all.
pub fn least_few<const LANES: usize>(values: &[[f32; LANES]], n: usize, count: usize) -> Vec<u32> {
    let mut nearest: Vec<(f32, u32)> = Vec::with_capacity(count.min(n) + 1);
    if count >= n {
        nearest.extend(values.as_flattened().iter().copied().zip(0..n as u32));
        // Adding 0 makes -0 equal to 0.
        nearest.sort_unstable_by(|a, b| (a.0 + 0.0).total_cmp(&(b.0 + 0.0)).then(a.1.cmp(&b.1)));
    } else {
        let mut bar = f32::INFINITY;
        for (values, start) in values.iter().zip((0..n).step_by(LANES)) {
            if !any(values, |value| value < bar) {
                continue;
            }
            for (value, place) in values.iter().zip(start..n) {
                if *value < bar {
                    let at = nearest.partition_point(|(other, _)| *other <= *value);
                    nearest.truncate(count - 1);
                    nearest.insert(at, (*value, place as u32));
                    if nearest.len() == count {
                        bar = nearest[count - 1].0;
                    }
                }
            }
        }
    }
    nearest.into_iter().map(|(_, place)| place).collect()
}
