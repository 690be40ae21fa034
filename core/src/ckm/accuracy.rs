//! How often a machine is right on new objects, with the spread of that estimate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::held_out::HeldOut;
use super::{Ckm, Object};
use crate::ids::ItemId;

/// A share that was measured on some images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The share, in 0..=1.
    pub value: f64,
    /// Its standard error.
    pub spread: f64,
}

impl Estimate {
    /// The mean of values that come in objects, each with the number of its object. The standard
    /// error is that of a mean over objects, since views of one object are right and wrong
    /// together, and at least that of single images, to which one of each sign is added: it is not
    /// 0 where all agree.
    pub fn of_objects(values: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
        let mut objects: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (object, value) in values {
            let of_object = objects.entry(object).or_default();
            *of_object = (of_object.0 + value, of_object.1 + 1.0);
            (sum, squares, n) = (sum + value, squares + value * value, n + 1.0);
        }
        if n == 0.0 {
            return Self::default();
        }
        let (value, m) = (sum / n, objects.len() as f64);
        let by_image = (squares + 2.0 - n * value * value).max(0.0) / (n * n);
        let deviations: f64 = objects.values().map(|(sum, images)| (sum - value * images).powi(2)).sum();
        let by_object = if m > 1.0 { deviations / (n * n) * m / (m - 1.0) } else { 1.0 };
        Self { value, spread: by_image.max(by_object).sqrt() }
    }
}

/// The accuracy of a machine on left-out images.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The share of images that are right, where each class counts by its images in the machine, or
    /// by those that were tested. Its standard error is that for these sizes of the classes: it is
    /// small where each class is answered alike throughout, be it wrongly.
    pub overall: Estimate,
    /// The mean of the classes' recalls: each class counts the same.
    pub mean_recall: Estimate,
    /// The share of each class's images that are right, in the machine's order; `None` for a class
    /// of which no image was judged.
    pub recalls: Vec<Option<Estimate>>,
}

impl Accuracy {
    /// The accuracy on left-out images of a machine; `None` without any. Views of one object count
    /// as one observation, so that spreads are those on new objects.
    pub fn of(ckm: &Ckm, held_out: &[HeldOut]) -> Option<Self> {
        let objects: BTreeMap<_, _> = ckm.examples().map(|(_, example)| (example.id, example.object())).collect();
        let sizes: Vec<usize> = ckm.classes().iter().map(|class| class.examples.len()).collect();
        Self::of_judged(&sizes, held_out, |id| objects.get(&id).copied().unwrap_or(Object::Image(id)))
    }

    /// As [`Accuracy::of`], for classes of these sizes.
    pub(super) fn of_judged<'a>(sizes: &[usize], held_out: &[HeldOut], object: impl Fn(ItemId) -> Object<'a>) -> Option<Self> {
        let mut classes: Vec<BTreeMap<Object<'_>, (usize, usize)>> = sizes.iter().map(|_| BTreeMap::new()).collect();
        for held in held_out {
            let (right, n) = classes[held.class.index()].entry(object(held.id)).or_default();
            *right += usize::from(held.class == held.predicted);
            *n += 1;
        }
        let recalls: Vec<_> = classes.iter().map(|objects| recall(objects.values().copied())).collect();
        Self::of_recalls(recalls, sizes)
    }

    /// The accuracy where all that is known is how many images of each object of each class were
    /// right, and of how many.
    pub fn of_objects(classes: &[Vec<(usize, usize)>]) -> Option<Self> {
        let sizes: Vec<usize> = classes.iter().map(|objects| objects.iter().map(|(_, n)| n).sum()).collect();
        Self::of_recalls(classes.iter().map(|objects| recall(objects.iter().copied())).collect(), &sizes)
    }

    fn of_recalls(recalls: Vec<Option<Estimate>>, sizes: &[usize]) -> Option<Self> {
        let known: Vec<(Estimate, f64)> = recalls.iter().zip(sizes).filter_map(|(r, size)| r.map(|r| (r, *size as f64))).collect();
        let mean = |weights: Vec<f64>| {
            let all: f64 = weights.iter().sum();
            let value = known.iter().zip(&weights).map(|((r, _), w)| w / all * r.value).sum();
            let variance: f64 = known.iter().zip(&weights).map(|((r, _), w)| (w / all * r.spread).powi(2)).sum();
            Estimate { value, spread: variance.sqrt() }
        };
        (!known.is_empty()).then(|| Self {
            overall: mean(known.iter().map(|(_, size)| *size).collect()),
            mean_recall: mean(vec![1.0; known.len()]),
            recalls,
        })
    }
}

/// The share of right images over objects with so many right ones of so many.
fn recall(objects: impl Iterator<Item = (usize, usize)> + Clone) -> Option<Estimate> {
    let (mut right, mut n, mut m) = (0, 0, 0);
    for (of_object, images) in objects.clone() {
        (right, n, m) = (right + of_object, n + images, m + 1);
    }
    if n == 0 {
        return None;
    }
    let value = right as f64 / n as f64;
    let squares: f64 = objects.map(|(right, images)| (right as f64 - value * images as f64).powi(2)).sum();
    let between = if m > 1 { squares / (n * n) as f64 * m as f64 / (m - 1) as f64 } else { by_chance(right.min(1), 1) };
    Some(Estimate { value, spread: between.max(by_chance(right, n)).sqrt() })
}

/// The variance of a share of `n` independent observations, with one right and one wrong one added
/// so that it is not 0 where all agree.
pub(super) fn by_chance(right: usize, n: usize) -> f64 {
    let share = (right as f64 + 1.0) / (n as f64 + 2.0);
    share * (1.0 - share) / n as f64
}
