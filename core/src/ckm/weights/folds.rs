//! Objects of the training images, dealt to folds.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;

use super::super::Ckm;
use crate::ids::ItemId;
use crate::random::Rng;

/// The images of each of `n` folds: the objects of each class are dealt to the folds in random
/// order. An image whose object is not known is an object of its own. A class with a single object
/// is in no fold, for without it the class could not be named. O(images log images).
pub(super) fn object_folds(ckm: &Ckm, n: usize, rng: &mut Rng) -> Vec<Vec<ItemId>> {
    let mut folds = vec![Vec::new(); n];
    let mut next = 0;
    for class in ckm.classes() {
        let mut named: BTreeMap<&str, Vec<ItemId>> = BTreeMap::new();
        let mut objects: Vec<Vec<ItemId>> = Vec::new();
        for example in &class.examples {
            match example.group.as_deref() {
                Some(group) => named.entry(group).or_default().push(example.id),
                None => objects.push(vec![example.id]),
            }
        }
        objects.extend(named.into_values());
        if objects.len() < 2 {
            continue;
        }
        objects.shuffle(rng);
        for object in objects {
            folds[next % n].extend(object);
            next += 1;
        }
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds.retain(|fold| !fold.is_empty());
    folds
}
