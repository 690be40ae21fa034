//! Farthest-first traversal: selects items of which each is far from those selected before it.
//!
//! - Gonzalez, *Clustering to minimize the maximum intercluster distance*, 1985.

/// Selects at most `count` of `n` items, by number and in order: each is the one of largest
/// `gain(item, distance to the nearest one selected before)`, of equals the first. The distance is
/// infinite as long as none is selected. O(n count) distances.
pub fn farthest_first(
    n: usize,
    count: usize,
    mut distance: impl FnMut(usize, usize) -> f64,
    gain: impl Fn(usize, f64) -> f64,
) -> Vec<usize> {
    let mut nearest = vec![f64::INFINITY; n];
    let mut left: Vec<usize> = (0..n).collect();
    let mut chosen = Vec::with_capacity(count.min(n));
    while chosen.len() < count && !left.is_empty() {
        let gains: Vec<f64> = left.iter().map(|&thing| gain(thing, nearest[thing])).collect();
        let best = (1..gains.len()).fold(0, |best, at| if gains[at] > gains[best] { at } else { best });
        let next = left.remove(best);
        left.iter().for_each(|&thing| nearest[thing] = nearest[thing].min(distance(thing, next)));
        chosen.push(next);
    }
    chosen
}
