//! What is added to the values of pieces: a term for each class that keeps it from winning by its
//! number of images or by their clutter, and the likeness of whole images.
//!
//! A score is a maximum over all training elements of a class, so it is larger for every query the
//! more images the class has, and the more there is on them. The terms are fitted to scores of
//! training images that were left out, so they see exactly this advantage: multinomial logistic
//! regression with one scale and one offset a class, in which every class counts the same however
//! many images it has. This is no part of the paper, whose sets have classes of equal size.
//!
//! The same regression has a second scale, for what the whole image says ([`super::whole`]): 0
//! where it tells left-out images apart no better than their pieces do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Scores;
use super::held_out::HeldOut;
use super::regression::{self, LeftOut};
use crate::ids::ClassId;
use crate::once;

/// What is added to each class's score, times the weight of the query's elements
/// ([`Scores::mass`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassTerms {
    #[serde(deserialize_with = "once::map")]
    terms: BTreeMap<String, f64>,
    /// How much the likeness of whole images counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    whole: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl ClassTerms {
    /// The term of the class of that name; 0 for a class that had no left-out image. The terms of
    /// all others have a mean of 0.
    pub fn of(&self, class: &str) -> f64 {
        self.terms.get(class).copied().unwrap_or(0.0)
    }

    /// How much the likeness of whole images counts beside the pieces, 0 or more: a score has this
    /// times [`Scores::mass`] times the value of the whole image.
    pub fn whole(&self) -> f64 {
        self.whole
    }

    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.whole == 0.0
    }

    /// Forgets a class.
    pub(super) fn remove(&mut self, class: &str) {
        self.terms.remove(class);
    }

    /// Whether all terms are numbers, and the whole counts 0 or more.
    pub fn are_valid(&self) -> bool {
        self.terms.values().all(|term| term.is_finite()) && self.whole.is_finite() && self.whole >= 0.0
    }

    /// Fits the terms of `classes`, in the order of their identifiers, to scores without terms of
    /// images that were left out. Classes without such an image get none; whole images keep
    /// `whole_part` of the weight that is fitted for them. O(images * classes) for each of at most
    /// 200 sweeps.
    pub fn fit(classes: &[String], held_out: &[HeldOut], whole_part: f64) -> Self {
        let images: Vec<LeftOut<'_>> =
            held_out.iter().map(|held| LeftOut { class: held.class, kinds: vec![&held.scores], whole: &held.whole }).collect();
        let Some(fitted) = regression::fit(classes.len(), &images, whole_part) else { return Self::default() };
        let one = fitted.unit / fitted.scales[0];
        let whole = if fitted.whole_unit > 0.0 { one * fitted.whole_scale / fitted.whole_unit } else { 0.0 };
        let terms: Vec<f64> = fitted.offsets.iter().map(|offset| offset * one).collect();
        let centre = terms.iter().sum::<f64>() / terms.len() as f64;
        Self { terms: fitted.classes.iter().zip(terms).map(|(&c, term)| (classes[c].clone(), term - centre)).collect(), whole }
    }

    /// Adds the terms to scores, and what the whole image says of each class, which may be nothing.
    pub(super) fn add<'a>(&self, classes: impl Iterator<Item = &'a str>, whole: &[f64], scores: &mut Scores) {
        if self.is_empty() {
            return;
        }
        for (c, (score, class)) in scores.of.iter_mut().zip(classes).enumerate() {
            let added = self.of(class) + self.whole * whole.get(c).copied().unwrap_or(0.0);
            *score = score.map(|score| score + scores.mass * added);
        }
    }

    /// Each left-out image scored with terms that were fitted without its object: what is measured
    /// on these scores holds for new images. The objects of each class are dealt to `folds` folds.
    pub(super) fn cross_fitted<G: Ord>(
        classes: &[String],
        held_out: &[HeldOut],
        object: impl Fn(&HeldOut) -> G,
        folds: usize,
        whole_part: f64,
    ) -> Vec<HeldOut> {
        let fold_of = deal(classes.len(), held_out.iter().map(|held| (held.class, object(held))), folds);
        let mut corrected = held_out.to_vec();
        for fold in 0..folds {
            let others: Vec<HeldOut> = held_out.iter().zip(&fold_of).filter(|(_, of)| **of != fold).map(|(held, _)| held.clone()).collect();
            let terms = Self::fit(classes, &others, whole_part);
            for (held, _) in corrected.iter_mut().zip(&fold_of).filter(|(_, of)| **of == fold) {
                terms.add(classes.iter().map(String::as_str), &held.whole, &mut held.scores);
                held.predicted = held.scores.ranking().first().map_or(ClassId(0), |best| best.0);
            }
        }
        corrected
    }
}

/// The fold of each image, by its class and object: the objects of each class are dealt to the
/// folds in turn.
pub(super) fn deal<G: Ord>(classes: usize, images: impl Iterator<Item = (ClassId, G)>, folds: usize) -> Vec<usize> {
    let mut objects: Vec<BTreeMap<G, usize>> = (0..classes).map(|_| BTreeMap::new()).collect();
    let of_image = |(class, object): (ClassId, G)| {
        let objects = &mut objects[class.index()];
        let next = objects.len();
        *objects.entry(object).or_insert(next) % folds
    };
    images.map(of_image).collect()
}
