//! Scores of training images by a machine that has not seen their objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::seq::index::sample;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Ckm, Example, Object, Scores, Without};
use crate::error::{Error, Result};
use crate::hash::hash64;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random::Rng;

/// A training image's scores by a machine that has not seen its object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The image.
    pub id: ItemId,
    /// Its class.
    pub class: ClassId,
    /// The class the machine gave it.
    pub predicted: ClassId,
    /// All scores.
    pub scores: Scores,
    /// What the whole image says of each class ([`super::whole`]), which is no part of scores
    /// without terms; empty where whole images have no value.
    #[serde(default)]
    pub whole: Vec<f64>,
    /// How new the image is to the machine ([`Ckm::novelty`]); `None` where whole images have no
    /// value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub novelty: Option<f64>,
}

/// The objects of a class: the images of each group, and each image without one.
struct Objects<'a> {
    of: BTreeMap<Object<'a>, Vec<ItemId>>,
    images: usize,
}

impl<'a> Objects<'a> {
    fn new(examples: &'a [Arc<Example>]) -> Self {
        let mut of: BTreeMap<_, Vec<ItemId>> = BTreeMap::new();
        for example in examples {
            of.entry(example.object()).or_default().push(example.id);
        }
        Self { of, images: examples.len() }
    }

    /// About this share of the images, by objects that differ from query to query; never all.
    fn some(&self, share: f64, query: ItemId) -> Vec<ItemId> {
        let wanted = share * self.images as f64;
        if wanted < 0.5 {
            return Vec::new();
        }
        let number = |object: &Object<'_>| {
            let (id, group) = match *object {
                Object::Group(group) => (0, group),
                Object::Image(id) => (id.0, ""),
            };
            hash64(&[&query.0.to_le_bytes()[..], &u32::to_le_bytes(id), group.as_bytes()].concat())
        };
        let mut order: Vec<(u64, &Vec<ItemId>)> = self.of.iter().map(|(object, images)| (number(object), images)).collect();
        order.sort_unstable();
        order.pop();
        let mut chosen = Vec::new();
        for (_, images) in order {
            if chosen.len() as f64 + images.len() as f64 / 2.0 > wanted {
                break;
            }
            chosen.extend(images);
        }
        chosen
    }
}

/// The training images that the scores of a judged image leave out.
///
/// With its object an image's class loses a share of its images, which lowers its score more the
/// fewer it has. So that no class is at a disadvantage for that, all others lose about the same
/// share.
pub struct Exclusions<'a> {
    classes: Vec<Objects<'a>>,
}

impl<'a> Exclusions<'a> {
    /// Prepares the choice. O(images * log images).
    pub fn new(ckm: &'a Ckm) -> Self {
        Self { classes: ckm.classes().iter().map(|class| Objects::new(&class.examples)).collect() }
    }

    /// Whether anything of a class is left without the object of one of its images.
    fn has_others(&self, class: ClassId) -> bool {
        self.classes[class.index()].of.len() > 1
    }

    /// What the scores of `example`, which is of `class`, leave out: its object, and of the other
    /// classes objects that differ from image to image.
    pub fn of(&self, class: ClassId, example: &Example) -> BTreeSet<ItemId> {
        let own = &self.classes[class.index()];
        let mut without: BTreeSet<ItemId> = own.of[&example.object()].iter().copied().collect();
        let share = without.len() as f64 / own.images as f64;
        for (other, _) in self.classes.iter().zip(0..).filter(|(_, c)| *c != class.0) {
            without.extend(other.some(share, example.id));
        }
        without
    }
}

/// The images of [`super::judge::judge`] with their scores without class terms and with what their
/// whole says.
pub(super) fn held_out(ckm: &Ckm, limit: usize, rng: &mut Rng, known: Vec<HeldOut>, progress: &Progress) -> Result<Vec<HeldOut>> {
    let mut all = held_out_pieces(ckm, limit, rng, known, progress)?;
    let missing: BTreeSet<ItemId> = all.iter().filter(|held| held.novelty.is_none()).map(|held| held.id).collect();
    if !missing.is_empty() {
        let mut wholes = ckm.held_out_wholes(|id| missing.contains(&id));
        for held in &mut all {
            if let Some(whole) = wholes.remove(&held.id) {
                (held.whole, held.novelty) = whole;
            }
        }
    }
    Ok(all)
}

/// As [`held_out`], of pieces alone.
pub(super) fn held_out_pieces(ckm: &Ckm, limit: usize, rng: &mut Rng, known: Vec<HeldOut>, progress: &Progress) -> Result<Vec<HeldOut>> {
    let examples: Vec<_> = ckm.examples().collect();
    let there: BTreeSet<ItemId> = known.iter().map(|held| held.id).collect();
    let left_out = Exclusions::new(ckm);
    let is_wanted = |&i: &usize| !there.contains(&examples[i].1.id) && left_out.has_others(examples[i].0);
    let chosen: Vec<usize> = choose(ckm, limit, rng).into_iter().filter(is_wanted).collect();
    progress.begin("Judging each image without its object", chosen.len() as u64);
    // Where nothing can be judged, no step tells.
    if progress.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let judge = |&i: &usize| -> Result<Option<HeldOut>> {
        progress.step()?;
        let (class, example) = examples[i];
        let without = left_out.of(class, example);
        let scores = ckm.scores_without_terms(&example.elements.get(), Without::Images(&without));
        if scores.of[class.index()].is_none() {
            return Ok(None);
        }
        let predicted = scores.ranking().first().map(|best| best.0);
        Ok(predicted.map(|predicted| HeldOut { id: example.id, class, predicted, scores, whole: Vec::new(), novelty: None }))
    };
    let judged: Vec<Option<HeldOut>> = chosen.par_iter().map(judge).collect::<Result<_>>()?;
    let mut all: Vec<HeldOut> = known.into_iter().chain(judged.into_iter().flatten()).collect();
    all.sort_by_key(|held| (held.class, held.id));
    Ok(all)
}

/// At most `limit` training images, as many of each class as far as it has them, in order.
pub(super) fn choose(ckm: &Ckm, limit: usize, rng: &mut Rng) -> Vec<usize> {
    let mut first = 0;
    let mut turns = Vec::new();
    for (c, class) in ckm.classes().iter().enumerate() {
        let n = class.examples.len();
        // All of them are drawn, so that a larger limit adds to the choice.
        let of_class = sample(rng, n, n);
        turns.extend(of_class.into_iter().enumerate().map(|(turn, i)| (turn, c, first + i)));
        first += n;
    }
    turns.sort_unstable();
    let mut chosen: Vec<usize> = turns.into_iter().take(limit).map(|(.., i)| i).collect();
    chosen.sort_unstable();
    chosen
}
