//! Vectors far larger than most, which must not decide how all others are rounded.

/// How many times the median of their largest values a vector may have.
const TIMES: f32 = 16.0;

/// Of each vector whether it is of usual size. O(values).
pub(in crate::ann) fn usual<'a>(rows: impl Iterator<Item = &'a [f32]>) -> Vec<bool> {
    let largest: Vec<f32> = rows.map(|row| row.iter().fold(0.0, |most: f32, value| most.max(value.abs()))).collect();
    let mut sorted = largest.clone();
    let middle = sorted.len() / 2;
    let median = if sorted.is_empty() { 0.0 } else { *sorted.select_nth_unstable_by(middle, f32::total_cmp).1 };
    largest.into_iter().map(|size| median == 0.0 || size <= TIMES * median).collect()
}
