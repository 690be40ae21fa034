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
/// larger score of the two, each class counts the same, and classes are in one group that such
/// pairs connect. In order of their classes; classes with fewer than 5 judged images are in none.
/// O(images * classes + classes^2).
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
    let mut group: Vec<usize> = (0..classes).collect();
    for (at, &a) in known.iter().enumerate() {
        for &b in &known[at + 1..] {
            let (right_a, right_b) = (right[a * classes + b], right[b * classes + a]);
            let error = (by_chance(right_a, judged[a]) + by_chance(right_b, judged[b])).sqrt() / 2.0;
            let recall = (right_a as f64 / judged[a] as f64 + right_b as f64 / judged[b] as f64) / 2.0;
            if recall < 0.5 + ERRORS * error {
                let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    let members = |first: usize| known.iter().filter(|&&class| group[class] == first).map(|&class| ClassId(class as u32)).collect();
    (0..classes).map(members).filter(|group: &Vec<ClassId>| group.len() > 1).collect()
}
