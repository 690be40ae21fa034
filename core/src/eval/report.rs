//! A report on a recogniser by its own images, each judged without its object (holdout): what the
//! window shows after training.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ckm::Ckm;
use crate::ckm::accuracy::Accuracy;
use crate::ckm::class_terms::ClassTerms;
use crate::ckm::confidence::Calibration;
use crate::ckm::held_out::HeldOut;
use crate::ckm::judge::Judgement;
use crate::ckm::model::Metrics;
use crate::ckm::unknown::{NoveltyBar, UnknownBar, UnknownBars, UnknownCurve};
use crate::descriptor::Descriptor;
use crate::hamming::NearDescriptors;
use crate::ids::ItemId;

/// A report on a recogniser by its own images.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Names of all classes, in order; rows and columns of `confusion`.
    pub classes: Vec<String>,
    /// Images that were judged.
    pub judged: Vec<Judged>,
    /// `confusion[true][predicted]`, in images.
    pub confusion: Vec<Vec<u32>>,
    /// The calibration from margins to confidence.
    pub calibration: Calibration,
    /// Training images in all.
    pub images: usize,
    /// Training images whose object is not known: near copies of them may have been left in.
    pub objects_unknown: usize,
    /// How often the recogniser is right on new objects; `None` when no image was judged.
    #[serde(default)]
    pub accuracy: Option<Accuracy>,
    /// The terms of the classes, fitted to the judged images.
    #[serde(default)]
    pub terms: ClassTerms,
    /// The share of training images that the largest class has: so often would always answering
    /// with it be right.
    #[serde(default)]
    pub largest_class: f64,
    /// Groups of classes that cannot be told apart yet (see [`crate::ckm::told_apart`]).
    #[serde(default)]
    pub not_told_apart: Vec<Vec<String>>,
    /// Below which lead an image looks like none of the classes; `None` where that cannot be told.
    #[serde(default)]
    pub unknown: Option<UnknownBar>,
    /// What other bars would do.
    #[serde(default)]
    pub unknown_curve: UnknownCurve,
    /// Above which novelty an image looks unlike all training images; `None` where that cannot be
    /// told.
    #[serde(default)]
    pub novelty: Option<NoveltyBar>,
    /// The judged images with their scores, from which judging can go on.
    #[serde(default)]
    pub raw: Vec<HeldOut>,
    /// Judged images with a near copy among the images they were judged by, each with that copy.
    pub leaks: Vec<(ItemId, ItemId)>,
}

/// An image judged by the machine without its object.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The image.
    pub image: ItemId,
    /// Its class, as a position in `classes`.
    pub class: u32,
    /// The class it was given.
    pub predicted: u32,
    /// The probability that this is right.
    pub confidence: f64,
}

/// How one class does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassScore {
    /// Images of the class that were judged.
    pub images: u32,
    /// Of those that were taken for the class, the share that are of it; `None` when none was taken
    /// for it.
    pub precision: Option<f64>,
    /// Of those that are of the class, the share that were taken for it; `None` when none was
    /// judged.
    pub recall: Option<f64>,
}

impl Report {
    /// A report on judged images. `perceptual_hashes` are the perceptual hashes of training images
    /// (see [`crate::picture::perceptual_hash`]); images without one are taken to have no near
    /// copies. O(judged * images) for those.
    pub fn new(ckm: &Ckm, judgement: Judgement, perceptual_hashes: &BTreeMap<ItemId, Descriptor>) -> Self {
        let Judgement { held_out, terms, raw, not_told_apart } = judgement;
        let classes: Vec<String> = ckm.classes().iter().map(|class| class.name.clone()).collect();
        let calibration = Calibration::fit(&held_out);
        let one = |held: &HeldOut| {
            let confidence = calibration.confidence(&held.scores);
            Judged { image: held.id, class: held.class.0, predicted: held.predicted.0, confidence }
        };
        let judged: Vec<Judged> = held_out.iter().map(one).collect();
        let UnknownBars { lead: unknown, curve: unknown_curve, novelty } = UnknownBars::fit(&held_out, &terms);
        Self {
            confusion: confusion(classes.len(), &judged),
            classes,
            calibration,
            images: ckm.examples().count(),
            objects_unknown: ckm.examples().filter(|(_, example)| example.group.is_none()).count(),
            leaks: leaks(ckm, &judged, perceptual_hashes),
            accuracy: Accuracy::of(ckm, &held_out),
            terms,
            raw,
            not_told_apart,
            unknown,
            unknown_curve,
            novelty,
            largest_class: ckm.largest_class(),
            judged,
        }
    }

    /// Whether the judged images are of its classes and the confusion counts them, as in every
    /// report that was made and not in every one that can be read. O(classes² + judged).
    pub fn is_whole(&self) -> bool {
        let n = self.classes.len();
        self.confusion.len() == n
            && self.confusion.iter().all(|row| row.len() == n)
            && self.judged.iter().all(|judged| judged.class.max(judged.predicted) < n as u32)
            && self.confusion == confusion(n, &self.judged)
    }

    /// Precision and recall of each class.
    pub fn class_scores(&self) -> Vec<ClassScore> {
        let share = |part: u32, of: u32| (of > 0).then(|| f64::from(part) / f64::from(of));
        (0..self.classes.len())
            .map(|c| {
                let images: u32 = self.confusion[c].iter().sum();
                let taken: u32 = self.confusion.iter().map(|row| row[c]).sum();
                let right = self.confusion[c][c];
                ClassScore { images, precision: share(right, taken), recall: share(right, images) }
            })
            .collect()
    }

    /// The metrics of this report that a model file holds.
    pub fn metrics(&self) -> Metrics {
        let measured = Metrics::new(self.accuracy.as_ref(), self.judged.len(), self.objects_unknown);
        let (not_told_apart, unknown_curve) = (self.not_told_apart.clone(), self.unknown_curve.clone());
        Metrics { not_told_apart, unknown: self.unknown, unknown_curve, novelty: self.novelty, ..measured }
    }
}

/// How often images of each of so many classes were given each class.
fn confusion(classes: usize, judged: &[Judged]) -> Vec<Vec<u32>> {
    let mut confusion = vec![vec![0; classes]; classes];
    for judged in judged {
        confusion[judged.class as usize][judged.predicted as usize] += 1;
    }
    confusion
}

/// The most bits of 256 in which the perceptual hashes of near copies differ.
const NEAR: u32 = 12;

/// For each judged image the nearest copy among the images that it was judged by, if there is one.
fn leaks(ckm: &Ckm, judged: &[Judged], perceptual_hashes: &BTreeMap<ItemId, Descriptor>) -> Vec<(ItemId, ItemId)> {
    let groups: BTreeMap<ItemId, Option<&str>> = ckm.examples().map(|(_, example)| (example.id, example.group.as_deref())).collect();
    let known = perceptual_hashes.iter().filter(|(id, _)| groups.contains_key(id));
    let near: NearDescriptors = known.map(|(id, perceptual_hash)| (*id, *perceptual_hash)).collect();
    let leak = |judged: &Judged| {
        let group = groups.get(&judged.image)?;
        let is_left_in = |other: ItemId| other != judged.image && (group.is_none() || groups.get(&other) != Some(group));
        Some((judged.image, near.nearest(perceptual_hashes.get(&judged.image)?, NEAR, &is_left_in)?.id))
    };
    judged.par_iter().filter_map(leak).collect()
}
