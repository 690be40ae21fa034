//! Learned weights of training elements.
//!
//! A weight is added to an element's kernel, so an element that draws images of other classes is
//! pushed down, and one that holds its own class together is lifted (R. Gens and P. Domingos,
//! *Compositional Kernel Machines*, section 3.3). Weights are learned on scores of training images
//! without their object, by [`descent`] on candidate [`lists`].
//!
//! After learning, even these scores are right for nearly every training image and say nothing
//! about new ones. So [`learn`] first learns on all objects but those of a fold, for each fold,
//! judges the images of these after every epoch, and then learns on all objects for the number of
//! epochs that was best, which may be none.

pub mod descent;
mod folds;
pub mod lists;

use std::sync::Arc;

use rand::seq::index::sample;
use rayon::prelude::*;

use super::element::Elements;
use super::held_out::HeldOut;
use super::judge::{self, Judgement};
use super::{Ckm, Example, Search, Without};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random;
use descent::{Descent, Method, StepOptions};
use lists::{ListSize, Lists};

/// The weights of an image's elements: `weights[k]` has one for each element of kind `k`.
pub type ImageWeights = Vec<Vec<f32>>;

/// How weights are learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnOptions {
    /// What descent minimises and how far it goes.
    pub steps: StepOptions,
    /// The order of steps.
    pub method: Method,
    /// Passes over the training images at most.
    pub epochs: usize,
    /// Folds of objects that choose the number of passes, 2 or more.
    pub folds: usize,
    /// Images that are judged after each pass, at most: a random part of more.
    pub judged: usize,
    /// How much candidate lists keep, memory permitting.
    pub lists: ListSize,
    /// Bytes that candidate lists may take: they are shortened to fit, and where the shortest do
    /// not, weights are learned from a random part of the images.
    pub memory: usize,
}

impl Default for LearnOptions {
    /// Margin and step were chosen on objects 1 to 4 of ETH-80 (`docs/benchmarks/recognition.md`).
    fn default() -> Self {
        Self {
            steps: StepOptions { margin: 1.0, step: 0.0003, lowest: -0.3, highest: 0.0 },
            method: Method::Stochastic,
            epochs: 8,
            folds: 3,
            judged: 600,
            lists: ListSize { images: 8, pair_images: 2, rivals: 4 },
            memory: 1 << 30,
        }
    }
}

impl LearnOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] for the first that is not.
    pub fn check(&self) -> Result<()> {
        let StepOptions { margin, step, lowest, highest } = self.steps;
        let numbers = [("margin", margin), ("step", step)];
        if let Some((name, value)) = numbers.into_iter().find(|(_, value)| !(*value > 0.0 && value.is_finite())) {
            return Err(Error::Option { name, found: value.to_string(), expected: "above 0" });
        }
        for (name, sign, value, expected) in [("lowest", -1.0, lowest, "0 or less"), ("highest", 1.0, highest, "0 or more")] {
            if !(sign * value >= 0.0 && value.is_finite()) {
                return Err(Error::Option { name, found: value.to_string(), expected });
            }
        }
        let counts = [("images", self.lists.images), ("pair_images", self.lists.pair_images), ("rivals", self.lists.rivals)];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(Error::Option { name, found: "0".into(), expected: "1 or more" });
        }
        if self.folds < 2 {
            return Err(Error::Option { name: "folds", found: self.folds.to_string(), expected: "2 or more" });
        }
        Ok(())
    }

    /// The longest lists, and the number of images of `n` they can be made for, within the memory.
    fn fitted(&self, ckm: &Ckm, n: usize) -> (ListSize, usize) {
        let kinds = ckm.options().kinds.len();
        let elements: usize = ckm.examples().map(|(_, e)| e.elements.counts().take(kinds).sum::<usize>()).sum();
        let mean = elements.div_ceil(ckm.examples().count().max(1));
        let mut size = ListSize { rivals: self.lists.rivals.min(ckm.classes().len() - 1), ..self.lists };
        loop {
            let bytes = size.bytes(mean, ckm.options().neighbours).max(1);
            if bytes * n <= self.memory || (size.images, size.pair_images) == (1, 1) {
                return (size, n.min((self.memory / bytes).max(1)));
            }
            size = ListSize { images: size.images.div_ceil(2), pair_images: size.pair_images.div_ceil(2), ..size };
        }
    }
}

/// What learning came to.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnReport {
    /// Passes over the training images: the best number on held-out objects.
    pub epochs: usize,
    /// The share of held-out images that were right after 0, 1, 2 ... passes, with class terms;
    /// empty where no class has two objects.
    pub held_out: Vec<f64>,
    /// The held-out images by the weights after the chosen number of passes, and class terms that
    /// go with them. Scores of images that weights were learned from would flatter such terms.
    pub judgement: Judgement,
    /// How much candidate lists kept.
    pub lists: ListSize,
    /// Images that weights were learned from.
    pub images: usize,
}

/// A training image as a query: its class, its elements, and what its scores leave out.
type Query<'a> = (ClassId, &'a Elements, Without<'a>);

/// Learns the weights of a machine's elements, in place of those it has. Images of one object are
/// left out of each other's scores, so they should have a common group; where an object is not
/// known only the image itself is left out, and weights lean on near copies. An image whose class
/// has no other object takes no part. Equal on any number of threads.
///
/// # Errors
/// [`Error::Option`] when an option is out of range, [`Error::Cancelled`].
///
/// # Complexity
/// As scoring each training image as often as there are folds, and each that is judged once for
/// each pass; and O(length of its lists) for each image, fold and pass.
pub fn learn(ckm: &mut Ckm, options: &LearnOptions, seed: u64, progress: &Progress) -> Result<LearnReport> {
    options.check()?;
    ckm.clear_weights()?;
    let all: Vec<ItemId> = ckm.examples().map(|(_, example)| example.id).collect();
    let n = all.len();
    if ckm.classes().len() < 2 {
        return Ok(LearnReport { epochs: 0, held_out: Vec::new(), judgement: Judgement::default(), lists: options.lists, images: 0 });
    }
    let (size, images) = options.fitted(ckm, n);
    let mut rng = random::stream(seed, 0);
    // Sorted, so that images come in the machine's order.
    let mut chosen: Vec<ItemId> = sample(&mut rng, n, images).into_iter().map(|i| all[i]).collect();
    chosen.sort_unstable();
    let is_chosen = |example: &Example| chosen.binary_search(&example.id).is_ok();
    let mut judged: Vec<ItemId> =
        sample(&mut random::stream(seed, u64::MAX - 1), images, options.judged.min(images)).into_iter().map(|i| chosen[i]).collect();
    judged.sort_unstable();

    // The held-out images of all folds, after 0, 1, 2 ... passes.
    let mut raw: Vec<Vec<HeldOut>> = vec![Vec::new(); options.epochs + 1];
    for (fold, stream) in folds::object_folds(ckm, options.folds, &mut rng).iter().zip(1..) {
        let is_held = |example: &Example| fold.binary_search(&example.id).is_ok();
        let mut part = ckm.clone();
        part.without_index(|part| {
            for id in fold {
                part.remove(*id);
            }
            Ok(())
        })?;
        // Every class has another object, so classes keep their positions.
        let held: Vec<(ClassId, &Example)> = ckm.examples().filter(|(_, e)| is_held(e) && judged.binary_search(&e.id).is_ok()).collect();
        let judged = learn_fold(&part, &held, is_chosen, size, options, random::stream(seed, stream), progress)?;
        raw.iter_mut().zip(judged).for_each(|(all, of_fold)| all.extend(of_fold));
    }
    let mut judgements: Vec<Judgement> = raw.into_par_iter().map(|raw| judge::corrected(ckm, raw)).collect();
    let share = |judgement: &Judgement| {
        let right = judgement.held_out.iter().filter(|held| held.class == held.predicted).count();
        right as f64 / judgement.held_out.len() as f64
    };
    let held_out: Vec<f64> = judgements.iter().filter(|judgement| !judgement.held_out.is_empty()).map(share).collect();
    // Of equals the fewest passes.
    let epochs = (0..held_out.len()).reduce(|best, epoch| if held_out[epoch] > held_out[best] { epoch } else { best }).unwrap_or(0);
    let judgement = judgements.swap_remove(epochs);
    if epochs > 0 {
        let lists = own_lists(ckm, is_chosen, size, progress)?;
        let weights = lists.numbering().weights(ckm);
        let mut descent = Descent::new(lists, weights, options.steps);
        progress.begin("Learning weights", (epochs * descent.lists().images.len()) as u64);
        let mut rng = random::stream(seed, u64::MAX);
        for _ in 0..epochs {
            descent.epoch(options.method, &mut rng, progress)?;
        }
        let weights = descent.lists().numbering().split(&descent.mean());
        ckm.set_all_weights(all.iter().zip(&weights))?;
    }
    Ok(LearnReport { epochs, held_out, judgement, lists: size, images })
}

/// The lists of a machine's own images, each without its object.
fn own_lists(ckm: &Ckm, is_chosen: impl Fn(&Example) -> bool, size: ListSize, progress: &Progress) -> Result<Lists> {
    let chosen: Vec<_> =
        ckm.examples().filter(|(_, e)| is_chosen(e)).map(|(class, e)| (class, e.elements.get(), e.without_itself())).collect();
    let queries: Vec<Query<'_>> = chosen.iter().map(|(class, elements, without)| (*class, &**elements, *without)).collect();
    progress.begin("Comparing training images", queries.len() as u64);
    Lists::make(ckm, &queries, size, progress)
}

/// Learns weights without the images of a fold, and judges these after 0, 1, 2 ... passes.
fn learn_fold(
    part: &Ckm,
    held: &[(ClassId, &Example)],
    is_chosen: impl Fn(&Example) -> bool,
    size: ListSize,
    options: &LearnOptions,
    mut rng: random::Rng,
    progress: &Progress,
) -> Result<Vec<Vec<HeldOut>>> {
    let own = own_lists(part, is_chosen, size, progress)?;
    let ids: Vec<ItemId> = part.examples().map(|(_, example)| example.id).collect();
    // By full scores: lists made before learning do not know the elements that take over.
    let mut machine = part.clone();
    let novelties: Vec<Option<f64>> =
        held.par_iter().map(|(_, example)| machine.novelty(&example.elements.get(), Without::Nothing)).collect();
    let mut judge = |weights: &[Vec<Vec<f32>>]| -> Result<Vec<HeldOut>> {
        machine.set_all_weights(ids.iter().zip(weights))?;
        progress.begin("Judging held-out objects", held.len() as u64);
        let answer = |(&(class, example), &novelty): (&(ClassId, &Example), &Option<f64>)| {
            progress.step()?;
            let elements = example.elements.get();
            let scores = machine.scores_without_terms(&elements, Without::Nothing);
            let predicted = scores.ranking().first().map_or(class, |best| best.0);
            let whole = machine.whole_values(&elements, Without::Nothing);
            Ok(HeldOut { id: example.id, class, predicted, scores, whole, novelty })
        };
        held.par_iter().zip(&novelties).map(answer).collect()
    };
    let weights = own.numbering().weights(part);
    let mut judged = vec![judge(&own.numbering().split(&weights))?];
    let mut descent = Descent::new(own, weights, options.steps);
    for _ in 0..options.epochs {
        progress.begin("Learning weights", descent.lists().images.len() as u64);
        descent.epoch(options.method, &mut rng, progress)?;
        judged.push(judge(&descent.lists().numbering().split(&descent.mean()))?);
    }
    Ok(judged)
}

impl Ckm {
    /// Sets all weights to 0. O(elements).
    fn clear_weights(&mut self) -> Result<()> {
        let blank: Vec<(ItemId, ImageWeights)> =
            self.examples().map(|(_, e)| (e.id, e.elements.counts().map(|count| vec![0.0; count]).collect())).collect();
        self.set_all_weights(blank.iter().map(|(id, weights)| (id, weights)))
    }

    /// Sets the weights of many training images, as [`Ckm::set_weights`] for each; those that are
    /// not there are passed over. O(elements), and with an index the time of making it.
    pub(crate) fn set_all_weights<'a>(&mut self, all: impl IntoIterator<Item = (&'a ItemId, &'a ImageWeights)>) -> Result<()> {
        self.without_index(|ckm| all.into_iter().try_for_each(|(id, weights)| ckm.set_weights(*id, weights).map(|_| ())))
    }

    /// Changes many images at once: an index is made anew afterwards, which is faster than
    /// following them one by one.
    fn without_index(&mut self, change: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let search = self.search();
        if let Search::Index { .. } = search {
            self.set_search(Search::Exact)?;
        }
        let outcome = change(self);
        self.set_search(search)?;
        outcome
    }

    /// Sets the weights of a training image's elements: `weights[k]` has one for each element of
    /// kind `k`. An image begins with weights of 0 and keeps what was set, also in copies of the
    /// machine. Returns whether the image is there. O(images + elements of the image), with an
    /// index O(elements of the class), and a copy of its elements where machines share it.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of weights than elements, or one that is not finite.
    pub fn set_weights(&mut self, id: ItemId, weights: &[Vec<f32>]) -> Result<bool> {
        let mut classes = self.classes.iter_mut().enumerate();
        let found = classes.find_map(|(c, class)| {
            let at = class.examples.binary_search_by_key(&id, |example| example.id).ok()?;
            Some((c, at, &mut class.examples[at]))
        });
        let Some((class, place, example)) = found else { return Ok(false) };
        if !weights.iter().map(Vec::len).eq(example.elements.counts()) {
            let found = weights.iter().map(Vec::len).sum::<usize>().to_string();
            return Err(Error::value("weights", format!("one for each of {} elements, by kind", example.elements.len()), found));
        }
        if let Some(weight) = weights.iter().flatten().find(|weight| !weight.is_finite()) {
            return Err(Error::value("weights", "finite numbers", weight.to_string()));
        }
        if example.elements.has_weights(weights) {
            return Ok(true);
        }
        Arc::make_mut(example).elements.set_weights(weights);
        if let Some(index) = self.pieces.changing() {
            index.set_weights(class, place, weights);
        }
        Ok(true)
    }

    /// Whether an element has a weight other than 0. O(elements).
    pub fn is_weighted(&self) -> bool {
        self.examples().any(|(_, example)| example.elements.is_weighted())
    }
}
