//! Answers of settings about the same held-out images, compared image by image.

use std::collections::BTreeMap;

use crate::ckm::accuracy::Estimate;
use crate::ids::ItemId;

/// Whether each held-out image was right.
pub(super) type Answers = BTreeMap<ItemId, bool>;

/// The share of right answers, with its standard error.
pub(super) fn share(answers: &Answers, object: &BTreeMap<ItemId, usize>) -> Estimate {
    mean(answers.iter().map(|(id, right)| (object[id], f64::from(u8::from(*right)))))
}

/// How much larger the share of right answers is than that of `other`, on the images that both
/// answered, with the standard error of that difference.
pub(super) fn difference(answers: &Answers, other: &Answers, object: &BTreeMap<ItemId, usize>) -> Estimate {
    let both = answers.iter().filter_map(|(id, right)| other.get(id).map(|other| (*id, *right, *other)));
    mean(both.map(|(id, right, other)| (object[&id], f64::from(i8::from(right) - i8::from(other)))))
}

/// The mean of values that come in objects. The standard error is that of a mean over objects,
/// since views of one object are right and wrong together, and at least that of single images, to
/// which one of each sign is added: it is not 0 where all agree.
pub(in crate::ckm) fn mean(values: impl Iterator<Item = (usize, f64)>) -> Estimate {
    let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
    let mut objects: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (object, value) in values {
        let of_object = objects.entry(object).or_default();
        *of_object = (of_object.0 + value, of_object.1 + 1.0);
        (sum, squares, n) = (sum + value, squares + value * value, n + 1.0);
    }
    if n == 0.0 {
        return Estimate::default();
    }
    let (value, m) = (sum / n, objects.len() as f64);
    let by_image = (squares + 2.0 - n * value * value).max(0.0) / (n * n);
    let deviations: f64 = objects.values().map(|(sum, images)| (sum - value * images).powi(2)).sum();
    let by_object = if m > 1.0 { deviations / (n * n) * m / (m - 1.0) } else { 1.0 };
    Estimate { value, spread: by_image.max(by_object).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_of_one_object_count_as_one_observation() {
        let answers = |right: &dyn Fn(u32) -> bool| -> Answers { (0..100).map(|i| (ItemId(i), right(i))).collect() };
        let alone: BTreeMap<ItemId, usize> = (0..100).map(|i| (ItemId(i), i as usize)).collect();
        let in_tens: BTreeMap<ItemId, usize> = (0..100).map(|i| (ItemId(i), i as usize / 10)).collect();
        let first_half = answers(&|i| i < 50);
        assert_eq!(share(&first_half, &alone).value, 0.5);
        assert!((share(&first_half, &alone).spread - 0.05).abs() < 0.003);
        assert!((share(&first_half, &in_tens).spread - 0.167).abs() < 0.003);
        let (all, same) = (answers(&|_| true), difference(&first_half, &first_half, &alone));
        assert!(same.value == 0.0 && same.spread > 0.0);
        assert_eq!(difference(&all, &first_half, &alone).value, 0.5);
        assert_eq!(difference(&first_half, &all, &alone).value, -0.5);
    }
}
