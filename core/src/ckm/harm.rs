//! Which training images mislead: what each does to the answers about images of other objects.
//!
//! A judged image is answered by the machine without its object (see [`super::judge`]). Leaving one
//! more training image out can only lower the score of that image's class, and lowers it only if
//! the image has a part in the class's winning decomposition: any other decomposition was worth no
//! more before, and is worth no more after. So it is enough to look at the images that have a part
//! in the scores of the right class and of the best wrong one, and to score that one class anew
//! without each of them. The result is that of scoring everything anew without every single image.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::accuracy::Estimate;
use super::compare::Queries;
use super::element::Elements;
use super::held_out::{Exclusions, HeldOut};
use super::kernel::LeafKernel;
use super::spf::{Architecture, Evidence, NO_IMAGE, Node};
use super::{Ckm, Example, Object, Without};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;

/// What a training image does to the answers about judged images.
///
/// Each class counts the same, however many of its images were judged: else every image of a rare
/// class would seem to mislead, for it can win few of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Harm {
    /// The training image.
    pub image: ItemId,
    /// Judged images that are taken for a wrong class, and would be right without it.
    pub misled: u32,
    /// Judged images that are right, and would be taken for a wrong class without it.
    pub helped: u32,
    /// By how much the mean of the classes' recalls would be higher without it, with the standard
    /// error of that; views of one object count as one observation.
    pub gain: Estimate,
    /// How far the right class would be further ahead of the best wrong one without it, in scores
    /// divided by [`super::Scores::mass`]: the mean over the classes of the means over their judged
    /// images. Negative where it helps.
    pub lead: f64,
}

impl Harm {
    /// Whether the mean recall would be higher without it, or the same and right answers further
    /// ahead.
    pub fn is_harmful(&self) -> bool {
        self.gain.value > 0.0 || (self.gain.value == 0.0 && self.lead > 0.0)
    }

    /// Whether the mean recall would be higher by at least two standard errors.
    pub fn is_clear(&self) -> bool {
        self.gain.value > 0.0 && self.gain.value >= 2.0 * self.gain.spread
    }
}

/// What leaving one training image out does to the answer about one judged image.
struct Effect {
    image: ItemId,
    /// Right answers that are gained: 1, 0 or -1.
    gained: i32,
    lead: f64,
}

/// What leaving one training image out takes from the score of its class.
struct Drop {
    image: ItemId,
    score: f64,
}

/// What each training image does to the answers about `judged` (see [`super::judge::judge`]), most
/// harmful first: those whose harm is clear ([`Harm::is_clear`]), then by [`Harm::gain`], then by
/// [`Harm::lead`]. Images that have no part in any of the scores are left out. Where the machine
/// compares a shortlist, no other image takes the place of the one that is left out. A class
/// without any image left keeps the worth of its kernels' floors. Equal on any number of threads.
///
/// O(judged * (query elements * elements of two classes + images with a part in a score * images of
/// a class * query elements)).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn harm(ckm: &Ckm, judged: &[HeldOut], progress: &Progress) -> Result<Vec<Harm>> {
    let examples: BTreeMap<ItemId, (ClassId, &Example)> = ckm.examples().map(|(class, example)| (example.id, (class, example))).collect();
    let left_out = Exclusions::new(ckm);
    progress.begin("Leaving out each training image", judged.len() as u64);
    let of_one = |held: &HeldOut| -> Result<Vec<Effect>> {
        progress.step()?;
        let Some(&(class, example)) = examples.get(&held.id) else { return Ok(Vec::new()) };
        let without = left_out.of(class, example);
        let elements = example.elements.get();
        let compared = ckm.compared(&elements, Without::Images(&without));
        Ok(effects(held, |class| ckm.drops(&elements, class, &compared[class.index()])))
    };
    let effects: Vec<Vec<Effect>> = judged.par_iter().map(of_one).collect::<Result<_>>()?;
    let mut of_image: BTreeMap<ItemId, Sums<'_>> = BTreeMap::new();
    let mut judged_of: BTreeMap<ClassId, f64> = BTreeMap::new();
    for held in judged {
        *judged_of.entry(held.class).or_default() += 1.0;
    }
    for (held, effects) in judged.iter().zip(effects) {
        let share = 1.0 / (judged_of[&held.class] * judged_of.len() as f64);
        let object = examples.get(&held.id).map_or(Object::Image(held.id), |(_, example)| example.object());
        for effect in effects {
            of_image.entry(effect.image).or_default().add(&effect, object, share);
        }
    }
    let mut all: Vec<Harm> = of_image.into_iter().map(|(image, sums)| sums.harm(image)).collect();
    let first = |harm: &Harm| (harm.is_clear(), harm.gain.value, harm.lead);
    all.sort_by(|a, b| {
        let (a_first, b_first) = (first(a), first(b));
        b_first.0.cmp(&a_first.0).then(b_first.1.total_cmp(&a_first.1)).then(b_first.2.total_cmp(&a_first.2)).then(a.image.cmp(&b.image))
    });
    Ok(all)
}

/// Sums of the effects of one training image.
#[derive(Default)]
struct Sums<'a> {
    misled: u32,
    helped: u32,
    lead: f64,
    /// What each judged object adds to the gain in mean recall.
    gains: BTreeMap<Object<'a>, f64>,
}

impl<'a> Sums<'a> {
    /// Adds the effect on an image of an object, of which each counts this share.
    fn add(&mut self, effect: &Effect, object: Object<'a>, share: f64) {
        self.misled += u32::from(effect.gained > 0);
        self.helped += u32::from(effect.gained < 0);
        self.lead += share * effect.lead;
        if effect.gained != 0 {
            *self.gains.entry(object).or_default() += share * f64::from(effect.gained);
        }
    }

    fn harm(&self, image: ItemId) -> Harm {
        // Most objects add nothing, so that the variance of the sum is the sum of the squares.
        let squares: f64 = self.gains.values().map(|gain| gain * gain).sum();
        // As many gains as losses of one class are 0, not what rounding leaves.
        let value: f64 = self.gains.values().sum();
        let value = if value.abs() < 1e-12 { 0.0 } else { value };
        Harm { image, misled: self.misled, helped: self.helped, gain: Estimate { value, spread: squares.sqrt() }, lead: self.lead }
    }
}

/// What training images do to the answer about one judged image. `drops` tells what leaving each
/// out takes from the score of a class.
fn effects(held: &HeldOut, drops: impl Fn(ClassId) -> Vec<Drop>) -> Vec<Effect> {
    let ranking = held.scores.ranking();
    let others: Vec<(ClassId, f64)> = ranking.iter().copied().filter(|(class, _)| *class != held.class).collect();
    let right = held.scores.of[held.class.index()];
    let (Some(right), Some(&(rival, wrong))) = (right, others.first()) else { return Vec::new() };
    let third = others.get(1).map_or(f64::NEG_INFINITY, |(_, score)| *score);
    let (is_right, mass) = (held.predicted == held.class, held.scores.mass.max(f64::MIN_POSITIVE));
    let of_rival = drops(rival).into_iter().map(|drop| Effect {
        image: drop.image,
        gained: i32::from(!is_right && right > third && right > wrong - drop.score),
        lead: drop.score.min(wrong - third) / mass,
    });
    let of_right = drops(held.class).into_iter().map(|drop| Effect {
        image: drop.image,
        gained: -i32::from(is_right && right - drop.score < wrong),
        lead: -drop.score / mass,
    });
    of_rival.chain(of_right).collect()
}

/// What the images of one class contribute by one kind of elements.
struct KindOfClass {
    architecture: Architecture,
    /// The best kernels of each compared image, in the order of their places.
    bests: Vec<Vec<f32>>,
    kernel: LeafKernel,
}

impl KindOfClass {
    /// The weighted value without the image at one place, and the places that have a part in it.
    fn value(&self, without: Option<u32>) -> (f64, BTreeSet<u32>) {
        let elements = self.bests.first().map_or(0, Vec::len);
        let mut evidence = Evidence::new(elements, self.architecture.edges.len());
        for (place, bests) in (0..).zip(&self.bests).filter(|(place, _)| Some(*place) != without) {
            evidence.add(place, bests, &self.architecture.edges);
        }
        let (pair_bonus, floor) = (self.kernel.pair_bonus, self.kernel.floor());
        let (value, decomposition) = evidence.root(&self.architecture, pair_bonus, floor);
        let images = self.architecture.decompositions[decomposition].iter().flat_map(|node| match *node {
            Node::Single(j) => [evidence.single(j, floor).1, NO_IMAGE],
            Node::Pair(edge) => evidence.pair(edge, &self.architecture.edges, pair_bonus, floor).1,
        });
        (f64::from(self.kernel.weight) * value, images.filter(|image| *image != NO_IMAGE).collect())
    }
}

impl Ckm {
    /// What leaving out each training image that has a part in the score of `class` takes from it,
    /// where a query is compared with the images at `places` of the class.
    fn drops(&self, query: &Elements, class: ClassId, places: &[usize]) -> Vec<Drop> {
        let examples = &self.classes[class.index()].examples;
        if places.is_empty() {
            return Vec::new();
        }
        let kinds: Vec<KindOfClass> = self
            .options
            .kinds
            .iter()
            .enumerate()
            .map(|(k, kind)| {
                let queries = Queries::new(&query.sets[k], kind);
                let mut comparison = queries.comparison();
                let bests = places.iter().map(|&place| {
                    let mut bests = vec![0.0; queries.len()];
                    comparison.bests(&examples[place].elements.get().sets[k], &mut bests);
                    bests
                });
                KindOfClass { architecture: self.architecture(k, query), bests: bests.collect(), kernel: kind.kernel }
            })
            .collect();
        let with_all: Vec<(f64, BTreeSet<u32>)> = kinds.iter().map(|kind| kind.value(None)).collect();
        let parts: BTreeSet<u32> = with_all.iter().flat_map(|(_, images)| images).copied().collect();
        parts
            .into_iter()
            .map(|part| {
                // A kind in whose value the image has no part keeps it.
                let of_kind = kinds.iter().zip(&with_all).filter(|(_, (_, images))| images.contains(&part));
                let score = of_kind.map(|(kind, (value, _))| value - kind.value(Some(part)).0).sum();
                Drop { image: examples[places[part as usize]].id, score }
            })
            .collect()
    }
}
