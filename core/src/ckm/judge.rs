//! Judges a machine on its own training images, each without its object.

use std::collections::BTreeMap;

use super::accuracy::Accuracy;
use super::class_terms::ClassTerms;
use super::held_out::{HeldOut, held_out};
use super::told_apart::not_told_apart;
use super::{Ckm, Object};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random::Rng;

/// The machine's answers about training images whose objects it had not seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The images, each scored with class terms that were fitted without its object.
    pub held_out: Vec<HeldOut>,
    /// The class terms, fitted to all of them.
    pub terms: ClassTerms,
    /// The images with their scores without class terms, from which judging can go on.
    pub raw: Vec<HeldOut>,
    /// Groups of classes that cannot be told apart yet.
    pub not_told_apart: Vec<Vec<String>>,
}

/// The folds in which class terms are fitted for judging.
const FOLDS: usize = 5;

/// Judges a machine on at most `limit` of its training images, each with its whole group left out,
/// or where no group is known itself, and fits the terms of its classes, which are not set. When
/// there are more images, as many of each class are chosen at random, as far as it has them. Images
/// whose class has no other group cannot be judged and are left out. `known` are images that were
/// judged by the same machine before: with the same generator and a larger limit they are among
/// those chosen, and are not scored again. What the machine's own terms are does not matter. Equal
/// on any number of threads. O(limit * query elements * training elements).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn judge(ckm: &Ckm, limit: usize, rng: &mut Rng, known: Vec<HeldOut>, progress: &Progress) -> Result<Judgement> {
    Ok(corrected(ckm, held_out(ckm, limit, rng, known, progress)?))
}

/// Fits the terms of the classes to images that were scored without their objects and without
/// terms.
pub(super) fn corrected(ckm: &Ckm, raw: Vec<HeldOut>) -> Judgement {
    let classes: Vec<String> = ckm.classes().iter().map(|class| class.name.clone()).collect();
    let objects: BTreeMap<ItemId, Object<'_>> = ckm.examples().map(|(_, example)| (example.id, example.object())).collect();
    corrected_by(&classes, raw, ckm.whole_part(), |id| objects.get(&id).copied().unwrap_or(Object::Image(id)))
}

fn corrected_by<'a>(classes: &[String], raw: Vec<HeldOut>, whole_part: f64, object: impl Fn(ItemId) -> Object<'a>) -> Judgement {
    let held_out = ClassTerms::cross_fitted(classes, &raw, |held| object(held.id), FOLDS, whole_part);
    let names = |group: Vec<ClassId>| group.into_iter().map(|class| classes[class.index()].clone()).collect();
    let not_told_apart = not_told_apart(classes.len(), &held_out).into_iter().map(names).collect();
    Judgement { held_out, terms: ClassTerms::fit(classes, &raw, whole_part), raw, not_told_apart }
}

/// As [`judge`], where images were scored elsewhere, by pieces alone, without terms and without
/// their objects: `sizes` are the images of each class, `groups` what images show where that is
/// known.
pub fn judged_elsewhere(
    classes: &[String],
    sizes: &[usize],
    raw: Vec<HeldOut>,
    groups: &BTreeMap<ItemId, &str>,
) -> (Judgement, Option<Accuracy>) {
    let object = |id: ItemId| groups.get(&id).map_or(Object::Image(id), |group| Object::Group(group));
    let judgement = corrected_by(classes, raw, 0.0, object);
    let accuracy = Accuracy::of_judged(sizes, &judgement.held_out, object);
    (judgement, accuracy)
}
