//! Chooses the kernels of a machine's kinds of elements on its own images: the weight of each kind,
//! 0 included, and if wanted what lying elsewhere costs, from where on.
//!
//! Each of some training images is scored without its object, by each kind alone. A score is the
//! weighted sum over the kinds, so these scores tell what any weights come to, and elements are cut
//! once. What is compared is the mean log loss of the class, with class terms
//! ([`super::class_terms`]), each image judged by what was fitted without its fold of objects:
//!
//! 1. Weights, the same for all classes, are the scales of multinomial logistic regression. A kind
//!    whose values then hardly differ from class to class gets weight 0.
//! 2. They are taken only if weights that were fitted without a fold lower the loss on that fold,
//!    by more than two standard errors of the difference, by objects. Where nothing can be told the
//!    kernels stay as they are (after the one-standard-error rule of L. Breiman and others,
//!    *Classification and regression trees*, 1984, section 3.4.3; with one, photographs of two
//!    insects lost points).
//! 3. If places are to be fitted, other costs and reaches are tried before that, kind by kind, and
//!    taken by the same rule.
//! 4. So are other scales, if these are to be fitted: the images are cut once more for all of them.
//!    The weight of a kind follows the number of its elements, so that it counts as much as before.
//!
//! Work is counted in steps, never in time, and is the same for a seed on any number of threads.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::accuracy::Estimate;
use super::class_terms::deal;
use super::element::Elements;
use super::held_out::{Exclusions, choose};
use super::kept::Kept;
use super::kernel::LeafKernel;
use super::regression::{self, LeftOut};
use super::scales::machine_of;
use super::tune::parts::objects;
use super::{Ckm, CkmOptions, ElementKind, ElementSource, Scores, Search, Without};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random;

/// Images that are scored, at most.
pub const JUDGED: usize = 256;

/// The factors of cost and reach that are tried instead of those of before.
const PLACES: [(f32, f32); 5] = [(0.0, 1.0), (0.5, 1.0), (2.0, 1.0), (1.0, 0.5), (1.0, 2.0)];
/// The standard errors by which others must be better.
const CLEARLY: f64 = 2.0;
/// The share of all kinds' values below which a kind gets weight 0.
const HARDLY: f64 = 0.05;
/// Folds of objects.
const FOLDS: usize = 5;
/// Images below which nothing is chosen.
const FEW: usize = 40;
/// Images that all kinds judge before others are.
const TURN: usize = 32;

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelFit {
    /// The kernels of before, one for each kind.
    pub before: Vec<LeafKernel>,
    /// Those that were chosen, for [`Ckm::with_kernels`]: those of before where none are better.
    pub kernels: Vec<LeafKernel>,
    /// The scales that were chosen: the kind, and where its elements come from now. Kernels are for
    /// these. None unless scales were tried and others are better.
    pub scales: Vec<(usize, ElementSource)>,
    /// The mean log loss of left-out images, in nats, with the kernels of before and with those
    /// that were chosen.
    pub loss: [f64; 2],
    /// Images that were judged.
    pub judged: usize,
    /// Steps that were made: judgements of an image by one kind of elements.
    pub steps: u64,
    /// Whether scales were to be tried and were not, for the machine of them had other images.
    pub is_without_scales: bool,
    /// Whether it was cancelled before its end.
    pub is_cancelled: bool,
}

impl KernelFit {
    /// Whether it was cancelled before enough images were judged to choose anything.
    pub fn is_cut_short(&self) -> bool {
        self.is_cancelled && self.judged < FEW
    }

    /// Whether other kernels were chosen than those of before.
    pub fn is_other(&self) -> bool {
        self.kernels != self.before
    }

    /// The options of the machine with the scales and kernels that were chosen.
    pub fn options(&self, before: &CkmOptions) -> CkmOptions {
        let mut options = before.with_kernels(&self.kernels);
        for (k, source) in &self.scales {
            options.kinds[*k].source = source.clone();
        }
        options
    }
}

/// What is tried besides other weights.
enum Besides<'a, L> {
    Nothing,
    Places,
    /// Scales, and what learns a machine of them on the same images.
    Scales(&'a [(usize, ElementSource)], L),
}

/// Chooses kernels by at most `images` of a machine's training images ([`JUDGED`] is usual), costs
/// and reaches of place only if `with_places`. When cancelled, it answers with the best so far, by
/// the images that all kinds have judged by then. Nothing is chosen by fewer than 40 images: the
/// kernels of before stay. Learned weights of elements should not be there: they know the images
/// that they were learned from. Equal on any number of threads.
///
/// # Errors
/// Those of judging; never [`Error::Cancelled`].
///
/// # Complexity
/// As scoring each of the images, once or with places six times.
pub fn fit(ckm: &Ckm, images: usize, with_places: bool, seed: u64, progress: &Progress) -> Result<KernelFit> {
    type Learn = fn(&CkmOptions) -> Result<Ckm>;
    let besides: Besides<'_, Learn> = if with_places { Besides::Places } else { Besides::Nothing };
    run(ckm, images, besides, seed, progress)
}

/// As [`fit`] without places, but chooses among `scales` too ([`super::scales::other_scales`] has
/// the usual ones): the kind, and another source of its elements. `learn` trains a machine of the
/// options that it is given, those of `ckm` with the scales as kinds, on the same images in the
/// same order; where it could not, scales are not tried. A scale is taken only if it is clearly
/// better; when cancelled, it answers with the best so far. The machine of the chosen scales is
/// trained by [`KernelFit::options`]; see that it [`has_images_of`] the one of before.
///
/// # Errors
/// As [`fit`], and those of `learn`.
///
/// # Complexity
/// As scoring each of the images once by each kind and each scale.
pub fn fit_scales(
    ckm: &Ckm,
    images: usize,
    scales: &[(usize, ElementSource)],
    learn: impl FnOnce(&CkmOptions) -> Result<Ckm>,
    seed: u64,
    progress: &Progress,
) -> Result<KernelFit> {
    run(ckm, images, Besides::Scales(scales, learn), seed, progress)
}

fn run<L: FnOnce(&CkmOptions) -> Result<Ckm>>(
    ckm: &Ckm,
    images: usize,
    besides: Besides<'_, L>,
    seed: u64,
    progress: &Progress,
) -> Result<KernelFit> {
    let before = ckm.options.kernels();
    let (kernels, scales) = (before.clone(), Vec::new());
    let mut found =
        KernelFit { before, kernels, scales, loss: [0.0; 2], judged: 0, steps: 0, is_without_scales: false, is_cancelled: false };
    let used: Vec<usize> = (0..found.before.len()).filter(|&k| found.before[k].weight > 0.0).collect();
    let passes = if matches!(besides, Besides::Places) { 1 + PLACES.len() } else { 1 };
    let mut trial = Trial::new(ckm, images, seed, (used.len() * passes) as u64, progress);
    found.judged = trial.images.len();
    if ckm.classes.len() < 2 || trial.images.len() < FEW {
        return Ok(found);
    }
    let kinds: Vec<(usize, LeafKernel)> = used.iter().map(|&k| (k, found.before[k])).collect();
    let mut table: Vec<Vec<Scores>> = found.before.iter().map(|_| Vec::new()).collect();
    found.is_cancelled = trial.judge(&kinds, &mut table)?;
    (found.judged, found.steps) = (trial.images.len(), trial.steps);
    if found.judged < FEW {
        return Ok(found);
    }
    let weights = |kernels: &[LeafKernel]| kernels.iter().map(|kernel| f64::from(kernel.weight)).collect::<Vec<_>>();
    let mut losses = trial.losses(&table, &weights(&found.before));
    found.loss = [share(&losses); 2];
    let outcome = match besides {
        _ if found.is_cancelled => Ok(()),
        Besides::Nothing => Ok(()),
        Besides::Places => trial.places(&used, &weights(&found.before), &mut table, &mut losses, &mut found.kernels),
        Besides::Scales([], _) => Ok(()),
        Besides::Scales(scales, learn) => learn_scales(ckm, scales, learn).and_then(|machine| match machine {
            Some(machine) => trial.scales(scales, &machine, &mut table, &mut losses, &mut found),
            None => {
                found.is_without_scales = true;
                Ok(())
            }
        }),
    };
    match outcome {
        Err(Error::Cancelled) => found.is_cancelled = true,
        outcome => outcome?,
    }
    let preset = weights(&found.kernels);
    let learned = trial.learned_losses(&table, &preset);
    if trial.is_less(&learned, &losses, CLEARLY) {
        let all: Vec<usize> = (0..trial.images.len()).collect();
        let weights = trial.weights(&all, &table, &preset);
        found.kernels.iter_mut().zip(&weights).for_each(|(kernel, weight)| kernel.weight = *weight as f32);
        losses = learned;
    }
    found.loss[1] = share(&losses);
    found.steps = trial.steps;
    Ok(found)
}

/// The machine that judges images by some scales, one a kind; none if it has other images than
/// `ckm`.
fn learn_scales(ckm: &Ckm, scales: &[(usize, ElementSource)], learn: impl FnOnce(&CkmOptions) -> Result<Ckm>) -> Result<Option<Ckm>> {
    let mut machine = learn(&machine_of(&ckm.options, scales))?;
    if !has_images_of(&machine, ckm) {
        return Ok(None);
    }
    // An index takes no part in fitting.
    if let Search::Shortlist { .. } = ckm.search {
        machine.set_search(ckm.search)?;
    }
    Ok(Some(machine))
}

/// Whether a machine has the training images of another, in the same order. O(images).
pub fn has_images_of(machine: &Ckm, other: &Ckm) -> bool {
    let images = |ckm: &Ckm| ckm.examples().map(|(class, example)| (class, example.id)).collect::<Vec<_>>();
    images(machine) == images(other)
}

fn share(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

/// An image that is judged.
struct Image {
    /// Its place among all training images, and its class.
    place: usize,
    class: ClassId,
    object: usize,
    fold: usize,
    /// What the whole image says of each class.
    whole: Vec<f64>,
    /// What its scores leave out.
    without: BTreeSet<ItemId>,
}

/// The images that are judged, by whatever kernels.
struct Trial<'a> {
    ckm: &'a Ckm,
    images: Vec<Image>,
    progress: &'a Progress,
    steps: u64,
}

impl<'a> Trial<'a> {
    fn new(ckm: &'a Ckm, images: usize, seed: u64, passes: u64, progress: &'a Progress) -> Self {
        let examples: Vec<_> = ckm.examples().collect();
        let exclusions = Exclusions::new(ckm);
        let chosen = choose(ckm, images, &mut random::seeded(seed)).into_iter();
        // Images whose class has no other object cannot be judged.
        let chosen: Vec<(usize, BTreeSet<ItemId>)> = chosen
            .map(|place| (place, exclusions.of(examples[place].0, examples[place].1)))
            .filter(|(place, without)| ckm.counts(Without::Images(without))[examples[*place].0.index()] > 0)
            .collect();
        let object = objects(ckm);
        let of_image = |place: usize| (examples[place].0, object[&examples[place].1.id]);
        let folds = deal(ckm.classes.len(), chosen.iter().map(|(place, _)| of_image(*place)), FOLDS);
        let ids: BTreeSet<ItemId> = chosen.iter().map(|(place, _)| examples[*place].1.id).collect();
        let mut whole = ckm.held_out_whole_values(|id| ids.contains(&id));
        let image = |((place, without), fold): ((usize, BTreeSet<ItemId>), usize)| {
            let (class, object) = of_image(place);
            Image { place, class, object, fold, whole: whole.remove(&examples[place].1.id).unwrap_or_default(), without }
        };
        let images: Vec<Image> = chosen.into_iter().zip(folds).map(image).collect();
        progress.begin("Choosing the weights of kinds", passes * images.len() as u64);
        Self { ckm, images, progress, steps: 0 }
    }

    /// Has all images judged by each of some kinds alone, some images of all classes at a time.
    /// When cancelled, only images that all of these kinds have judged stay. Returns whether it
    /// was.
    fn judge(&mut self, kinds: &[(usize, LeafKernel)], table: &mut [Vec<Scores>]) -> Result<bool> {
        let mut of_class: BTreeMap<ClassId, usize> = BTreeMap::new();
        let mut order: Vec<(usize, usize)> = Vec::new();
        for (i, image) in self.images.iter().enumerate() {
            let turn = of_class.entry(image.class).or_default();
            order.push((*turn, i));
            *turn += 1;
        }
        order.sort_unstable();
        let mut judged: Vec<BTreeMap<usize, Scores>> = kinds.iter().map(|_| BTreeMap::new()).collect();
        let mut stay: BTreeSet<usize> = BTreeSet::new();
        let mut is_cancelled = false;
        for turn in order.chunks(TURN) {
            let images: Vec<usize> = turn.iter().map(|(_, i)| *i).collect();
            match kinds.iter().map(|(k, kernel)| self.scores(*k, *kernel, &images)).collect::<Result<Vec<_>>>() {
                Ok(scores) => judged.iter_mut().zip(scores).for_each(|(judged, scores)| judged.extend(images.iter().copied().zip(scores))),
                Err(Error::Cancelled) => {
                    is_cancelled = true;
                    break;
                }
                Err(error) => return Err(error),
            }
            stay.extend(images);
        }
        for ((k, _), judged) in kinds.iter().zip(judged) {
            table[*k] = judged.into_values().collect();
        }
        let mut i = 0..;
        self.images.retain(|_| i.next().is_some_and(|i| stay.contains(&i)));
        Ok(is_cancelled)
    }

    /// The scores of some images by kind `k` alone with this kernel, its weight taken as 1.
    fn scores(&mut self, k: usize, kernel: LeafKernel, images: &[usize]) -> Result<Vec<Scores>> {
        self.scores_by(self.ckm, k, kernel, images)
    }

    /// The same by kind `k` of another machine of the same images.
    fn scores_by(&mut self, ckm: &Ckm, k: usize, kernel: LeafKernel, images: &[usize]) -> Result<Vec<Scores>> {
        let kind = ElementKind { kernel, ..ckm.options.kinds[k].clone() };
        let examples: Vec<&Kept> = ckm.examples().map(|(_, example)| &example.elements).collect();
        let judge = |image: &Image| {
            self.progress.step()?;
            Ok(ckm.kind_scores(k, &kind, &examples[image.place].get(), Without::Images(&image.without)))
        };
        let scores = images.par_iter().map(|&i| judge(&self.images[i])).collect::<Result<Vec<Scores>>>()?;
        self.steps += images.len() as u64;
        Ok(scores)
    }

    /// Takes, kind by kind, the place that is clearly better than the one before.
    fn places(
        &mut self,
        used: &[usize],
        weights: &[f64],
        table: &mut [Vec<Scores>],
        losses: &mut Vec<f64>,
        kernels: &mut [LeafKernel],
    ) -> Result<()> {
        let all: Vec<usize> = (0..self.images.len()).collect();
        for &k in used {
            let before = kernels[k];
            let start = losses.clone();
            for (cost, reach) in PLACES {
                let kernel = LeafKernel { cost: cost * before.cost, reach: reach * before.reach, ..before };
                let scores = self.scores(k, kernel, &all)?;
                let now = std::mem::replace(&mut table[k], scores);
                let other = self.losses(table, weights);
                if self.is_less(&other, &start, CLEARLY) && share(&other) < share(losses) {
                    (kernels[k], *losses) = (kernel, other);
                } else {
                    table[k] = now;
                }
            }
        }
        Ok(())
    }

    /// Takes, kind by kind, the scale that is clearly better than the one before; `machine` has one
    /// kind for each.
    fn scales(
        &mut self,
        scales: &[(usize, ElementSource)],
        machine: &Ckm,
        table: &mut [Vec<Scores>],
        losses: &mut Vec<f64>,
        found: &mut KernelFit,
    ) -> Result<()> {
        let all: Vec<usize> = (0..self.images.len()).collect();
        self.progress.begin("Choosing the scales of pieces", (scales.len() * all.len()) as u64);
        let mass = |scores: &[Scores]| scores.iter().map(|scores| scores.mass).sum::<f64>();
        let mut weights: Vec<f64> = found.before.iter().map(|kernel| f64::from(kernel.weight)).collect();
        for k in 0..table.len() {
            let (start, elements, weight) = (losses.clone(), mass(&table[k]), weights[k]);
            for (j, (_, source)) in scales.iter().enumerate().filter(|(_, (of, _))| *of == k) {
                let scores = self.scores_by(machine, j, found.before[k], &all)?;
                let even = (1e6 * weight * elements / mass(&scores)).round() / 1e6;
                if !(even > 0.0 && even.is_finite()) {
                    continue;
                }
                let now = (std::mem::replace(&mut table[k], scores), std::mem::replace(&mut weights[k], even));
                let other = self.losses(table, &weights);
                if self.is_less(&other, &start, CLEARLY) && share(&other) < share(losses) {
                    *losses = other;
                    found.kernels[k].weight = even as f32;
                    found.scales.retain(|(of, _)| *of != k);
                    found.scales.push((k, source.clone()));
                } else {
                    (table[k], weights[k]) = now;
                }
            }
        }
        Ok(())
    }

    /// Whether losses are less than others by so many standard errors of the difference.
    fn is_less(&self, losses: &[f64], than: &[f64], errors: f64) -> bool {
        let gains = self.images.iter().zip(losses.iter().zip(than)).map(|(image, (loss, than))| (image.object, than - loss));
        let gain = Estimate::of_objects(gains);
        gain.value > errors * gain.spread
    }

    /// The log loss of each image, by class terms that were fitted without its fold.
    fn losses(&self, table: &[Vec<Scores>], weights: &[f64]) -> Vec<f64> {
        self.by_folds(|_| weights.to_vec(), table)
    }

    /// The log loss of each image, by weights and class terms that were fitted without its fold.
    fn learned_losses(&self, table: &[Vec<Scores>], weights: &[f64]) -> Vec<f64> {
        self.by_folds(|others| self.weights(others, table, weights), table)
    }

    /// The log loss of each image, by the weights that `weights` has for the images of other folds.
    fn by_folds(&self, weights: impl Fn(&[usize]) -> Vec<f64> + Sync, table: &[Vec<Scores>]) -> Vec<f64> {
        let of_fold = |fold: usize| -> Vec<(usize, f64)> {
            let (own, others): (Vec<usize>, Vec<usize>) = (0..self.images.len()).partition(|&i| self.images[i].fold == fold);
            let mixed = mixed(table, &weights(&others));
            let left_out = |i: usize| LeftOut { class: self.images[i].class, kinds: vec![&mixed[i]], whole: &self.images[i].whole };
            let others: Vec<LeftOut<'_>> = others.into_iter().map(left_out).collect();
            let fitted = regression::fit(self.ckm.classes.len(), &others, self.ckm.whole_part());
            own.into_iter().map(|i| (i, fitted.as_ref().map_or(0.0, |fitted| fitted.loss(&left_out(i))))).collect()
        };
        let losses: BTreeMap<usize, f64> = (0..FOLDS).into_par_iter().flat_map_iter(of_fold).collect();
        losses.into_values().collect()
    }

    /// The weights of kinds by regression on some of the images, to three digits; the largest is
    /// the largest of `preset`.
    fn weights(&self, images: &[usize], table: &[Vec<Scores>], preset: &[f64]) -> Vec<f64> {
        let used: Vec<usize> = (0..preset.len()).filter(|&k| preset[k] > 0.0).collect();
        let weighted: Vec<Vec<Scores>> =
            used.iter().map(|&k| table[k].iter().map(|scores| sum(std::iter::once((scores, preset[k])))).collect()).collect();
        let left_out = |&i: &usize| LeftOut {
            class: self.images[i].class,
            kinds: weighted.iter().map(|scores| &scores[i]).collect(),
            whole: &self.images[i].whole,
        };
        let images: Vec<LeftOut<'_>> = images.iter().map(left_out).collect();
        let Some(fitted) = regression::fit(self.ckm.classes.len(), &images, self.ckm.whole_part()) else {
            return preset.to_vec();
        };
        let parts: Vec<f64> = fitted.scales.iter().zip(&fitted.spreads).map(|(scale, spread)| scale * spread).collect();
        let all: f64 = parts.iter().sum();
        let mut weights = vec![0.0; preset.len()];
        for ((&k, scale), part) in used.iter().zip(&fitted.scales).zip(&parts) {
            weights[k] = if *part > HARDLY * all { preset[k] * scale } else { 0.0 };
        }
        let largest = |weights: &[f64]| weights.iter().copied().fold(0.0, f64::max);
        let unit = largest(preset) / largest(&weights);
        if !unit.is_finite() {
            return preset.to_vec();
        }
        weights.iter().map(|weight| (1000.0 * unit * weight).round() / 1000.0).collect()
    }
}

/// The scores of each image by all kinds with these weights; kinds of weight 0 may have none.
fn mixed(table: &[Vec<Scores>], weights: &[f64]) -> Vec<Scores> {
    let used: Vec<(&Vec<Scores>, f64)> = table.iter().zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0).collect();
    let images = used.first().map_or(0, |(scores, _)| scores.len());
    (0..images).map(|i| sum(used.iter().map(|(scores, weight)| (&scores[i], *weight)))).collect()
}

/// The weighted sum of scores by several kinds.
fn sum<'a>(kinds: impl Iterator<Item = (&'a Scores, f64)>) -> Scores {
    let mut sum: Option<Scores> = None;
    for (scores, weight) in kinds {
        let of = scores.of.iter().map(|score| score.map(|score| weight * score));
        match &mut sum {
            None => sum = Some(Scores { of: of.collect(), examples: scores.examples.clone(), mass: weight * scores.mass }),
            Some(sum) => {
                sum.of.iter_mut().zip(of).for_each(|(sum, score)| *sum = sum.zip(score).map(|(sum, score)| sum + score));
                sum.mass += weight * scores.mass;
            }
        }
    }
    sum.unwrap_or(Scores { of: Vec::new(), examples: Vec::new(), mass: 0.0 })
}

impl Ckm {
    /// The scores of a query by kind `k` alone, compared as `kind` says, with a weight of 1; an
    /// index is not used.
    fn kind_scores(&self, k: usize, kind: &ElementKind, query: &Elements, without: Without<'_>) -> Scores {
        let evidence = self.kinds_evidence(&[(k, kind)], query, &self.compared(query, without));
        let examples = self.counts(without);
        let root = |c: usize| evidence[0].classes[c].root(&evidence[0].architecture, kind.kernel.pair_bonus, kind.kernel.floor()).0;
        let of = (0..self.classes.len()).map(|c| (examples[c] > 0).then(|| root(c))).collect();
        Scores { of, examples, mass: query.sets[k].len() as f64 }
    }
}
