//! Groups of copies around the best of each.

use std::collections::HashMap;

/// Groups of pictures by pairs of copies. Each group is one picture and its copies that are in no
/// group before it; `best_first` says which pictures are taken for that first. Pictures of one
/// group that are not copies of its first are in none with it. Groups of one are left out.
/// O(pictures + pairs).
pub fn groups(best_first: &[usize], pairs: impl IntoIterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let rank: HashMap<usize, usize> = best_first.iter().zip(0..).map(|(picture, rank)| (*picture, rank)).collect();
    let mut copies: HashMap<usize, Vec<usize>> = HashMap::new();
    for (a, b) in pairs {
        copies.entry(a).or_default().push(b);
        copies.entry(b).or_default().push(a);
    }
    let (mut found, mut is_taken) = (Vec::new(), vec![false; best_first.len()]);
    for (at, picture) in best_first.iter().enumerate() {
        if is_taken[at] {
            continue;
        }
        let of = copies.get(picture).into_iter().flatten();
        let mut members: Vec<usize> =
            of.filter_map(|copy| rank.get(copy)).copied().filter(|rank| !is_taken[*rank] && *rank != at).collect();
        members.sort_unstable();
        members.dedup();
        if members.is_empty() {
            continue;
        }
        is_taken[at] = true;
        members.iter().for_each(|rank| is_taken[*rank] = true);
        found.push(std::iter::once(at).chain(members).map(|rank| best_first[rank]).collect());
    }
    found
}
