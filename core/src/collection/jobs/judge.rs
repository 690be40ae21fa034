//! How often a collection's images are recognised by its other images.

use std::collections::BTreeMap;

use super::sample::{ChosenImages, TakenImage};
use super::{AskedImage, RecognitionAnswer, RecognitionJob};
use crate::ckm::accuracy::Accuracy;
use crate::ckm::class_terms::ClassTerms;
use crate::ckm::confidence::Calibration;
use crate::ckm::held_out::HeldOut;
use crate::ckm::judge::judged_elsewhere;
use crate::ckm::{CkmOptions, Scores};
use crate::collection::ImageHash;
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};

/// The report on a collection.
#[derive(Clone, Debug)]
pub struct JudgedCollection {
    /// The names of all classes, in order.
    pub classes: Vec<String>,
    /// How many images each has.
    pub images: Vec<u64>,
    /// How many images were judged.
    pub judged: usize,
    /// The share of right answers, where each class counts by its images; `None` where no image
    /// could be judged.
    pub accuracy: Option<Accuracy>,
    /// `confusion[true][answered]`, in images.
    pub confusion: Vec<Vec<u32>>,
    /// What is added to the scores of classes.
    pub terms: ClassTerms,
    /// Turns leads into confidence.
    pub calibration: Calibration,
}

impl RecognitionJob {
    /// The question that judges images of the collection, each without itself and its object.
    pub fn of_taken(options: CkmOptions, taken: &[(ImageHash, TakenImage)]) -> Self {
        let asked = |(hash, image): &(ImageHash, TakenImage)| AskedImage {
            elements: image.elements.clone(),
            itself: Some(*hash),
            object: image.object.clone(),
        };
        Self { options, images: taken.iter().map(asked).collect() }
    }
}

/// The report on images that were recognised without terms and without their objects, with the
/// answer on each. Images whose class has no other object are not judged.
///
/// # Errors
/// [`Error::Value`] when there is not an answer for each image.
pub fn judged(chosen: &ChosenImages, taken: &[(ImageHash, TakenImage)], answers: &[RecognitionAnswer]) -> Result<JudgedCollection> {
    if answers.len() != taken.len() {
        return Err(Error::value("answers", format!("one for each of {} images", taken.len()), answers.len().to_string()));
    }
    let classes: Vec<String> = chosen.keys().cloned().collect();
    let images: Vec<u64> = chosen.values().map(|(count, _)| *count).collect();
    let place = |name: &str| classes.binary_search_by(|class| class.as_str().cmp(name)).ok();
    let mut raw = Vec::new();
    let mut objects = BTreeMap::new();
    for (i, ((_, image), answer)) in (0..).zip(taken.iter().zip(answers)) {
        let mut scores = Scores { of: vec![None; classes.len()], examples: vec![0; classes.len()], mass: answer.scores.mass };
        for ((name, score), examples) in answer.classes.iter().zip(&answer.scores.of).zip(&answer.scores.examples) {
            if let Some(at) = place(name) {
                (scores.of[at], scores.examples[at]) = (*score, *examples);
            }
        }
        let class = image.class.as_deref().and_then(place);
        let Some((class, predicted)) = class.filter(|at| scores.of[*at].is_some()).zip(scores.ranking().first().map(|best| best.0)) else {
            continue;
        };
        objects.extend(image.object.as_deref().map(|object| (ItemId(i), object)));
        raw.push(HeldOut { id: ItemId(i), class: ClassId(class as u32), predicted, scores, whole: Vec::new(), novelty: None });
    }
    raw.sort_by_key(|held| (held.class, held.id));
    let sizes: Vec<usize> = images.iter().map(|count| *count as usize).collect();
    let (judgement, accuracy) = judged_elsewhere(&classes, &sizes, raw, &objects);
    let mut confusion = vec![vec![0; classes.len()]; classes.len()];
    for held in &judgement.held_out {
        confusion[held.class.index()][held.predicted.index()] += 1;
    }
    let (judged, calibration) = (judgement.held_out.len(), Calibration::fit(&judgement.held_out));
    Ok(JudgedCollection { classes, images, judged, accuracy, confusion, terms: judgement.terms, calibration })
}
