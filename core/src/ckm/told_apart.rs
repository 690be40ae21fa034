//! Which classes a machine cannot tell apart yet.

use super::accuracy::by_chance;
use super::held_out::HeldOut;
use crate::ids::ClassId;

/// Judged images of a class below which nothing is said of it.
const FEWEST: usize = 5;

/// Standard errors above a coin's share of right answers from which two classes count as told
/// apart.
const ERRORS: f64 = 2.0;

/// Groups of classes between which left-out images were told apart no better than by a coin, as far
/// as their number can tell: images of two classes are right on where their own class has the
/// larger score of the two, and each class counts the same. In a group each class is mixed up with
/// each other one; every such pair is in a group, and a class may be in several. In order of the
/// pairs that the groups begin with; classes with fewer than 5 judged images are in none.
/// O(images * classes + classes^2 * pairs).
pub fn not_told_apart(classes: usize, held_out: &[HeldOut]) -> Vec<Vec<ClassId>> {
    let mut judged = vec![0usize; classes];
    let mut right = vec![0usize; classes * classes];
    for held in held_out {
        let own = held.class.index();
        judged[own] += 1;
        let Some(score) = held.scores.of[own] else { continue };
        for (other, value) in held.scores.of.iter().enumerate() {
            right[own * classes + other] += usize::from(value.is_none_or(|value| score > value));
        }
    }
    let known: Vec<usize> = (0..classes).filter(|&class| judged[class] >= FEWEST).collect();
    let mut mixed = vec![false; classes * classes];
    for (at, &a) in known.iter().enumerate() {
        for &b in &known[at + 1..] {
            let (right_a, right_b) = (right[a * classes + b], right[b * classes + a]);
            let error = (by_chance(right_a, judged[a]) + by_chance(right_b, judged[b])).sqrt() / 2.0;
            let recall = (right_a as f64 / judged[a] as f64 + right_b as f64 / judged[b] as f64) / 2.0;
            let is_mixed = recall < 0.5 + ERRORS * error;
            (mixed[a * classes + b], mixed[b * classes + a]) = (is_mixed, is_mixed);
        }
    }
    groups(&known, |a, b| mixed[a * classes + b])
}

/// Groups in which each two classes are mixed up, such that every pair that is so is in one: each
/// begins with a pair that is in none yet and takes in, in order, every class that fits all in it.
fn groups(known: &[usize], is_mixed: impl Fn(usize, usize) -> bool) -> Vec<Vec<ClassId>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, &a) in known.iter().enumerate() {
        for &b in &known[at + 1..] {
            if !is_mixed(a, b) || groups.iter().any(|group| group.contains(&a) && group.contains(&b)) {
                continue;
            }
            let mut group = vec![a, b];
            for &class in known {
                if !group.contains(&class) && group.iter().all(|&other| is_mixed(class, other)) {
                    group.push(class);
                }
            }
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups.into_iter().map(|group| group.into_iter().map(|class| ClassId(class as u32)).collect()).collect()
}
