//! Answers of settings about the same held-out images, compared image by image.

use std::collections::BTreeMap;

use crate::ckm::accuracy::Estimate;
use crate::ids::ItemId;

/// Whether each held-out image was right.
pub(super) type Answers = BTreeMap<ItemId, bool>;

/// The share of right answers, with its standard error.
pub(super) fn share(answers: &Answers, object: &BTreeMap<ItemId, usize>) -> Estimate {
    Estimate::of_objects(answers.iter().map(|(id, right)| (object[id], f64::from(u8::from(*right)))))
}

/// How much larger the share of right answers is than that of `other`, on the images that both
/// answered, with the standard error of that difference.
pub(super) fn difference(answers: &Answers, other: &Answers, object: &BTreeMap<ItemId, usize>) -> Estimate {
    let both = answers.iter().filter_map(|(id, right)| other.get(id).map(|other| (*id, *right, *other)));
    Estimate::of_objects(both.map(|(id, right, other)| (object[&id], f64::from(i8::from(right) - i8::from(other)))))
}
